"""The charge for the time played at a poker room's table (Québec by-law, s. 67.108).

The definition of a poker room may state a charge (``[time_charge]``): an amount that each player pays for each
period. A game takes the charge if the player's paid time at this table has ended; the new period begins at its
start. The game's table stakes come first; a player whose credit does not cover both is not dealt in.
Promotional credit that can only be played does not pay the charge. If power is lost between the start of the
game and the charge, the next game takes it.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from egm.kernel.credits import CASH_OUT_CREDIT_KINDS, CreditKind
from egm.kernel.events import Event
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice
from egm.kernel.rules import refusal_code
from egm.play import player_protection
from egm.play.entries import TIME_CHARGED, TimeCharged
from egm.play.keys import PlayKey
from egm.play.records.game_record import GameRecord
from egm.play.records.games import find_game_start
from egm.play.records.paid_playing_time import PaidPlayingTime
from egm.progressive.bet import find_current_bet
from paytables.contract import TimeCharge

#: The account that receives the charges.
TIME_CHARGE_ACCOUNT: Final = "house:time_charge"


def find_due_charge(machine: PositionMachine) -> TimeCharge | None:
    """Return the time charge that the next game at the selected table takes, or None if none is due."""
    game = machine.games.get(machine.selection.game_id)
    charge = None if game is None else game.rules.time_charge
    if game is None or charge is None:
        return None
    paid_time = machine.memory.read(PaidPlayingTime, PlayKey.PAID_PLAYING_TIME)
    if paid_time is None or paid_time.digest != game.digest:
        return charge
    return charge if machine.clock.now() >= datetime.fromisoformat(paid_time.paid_until) else None


@refusal_code("time_charge_is_covered")
def credits_cover_time_charge(machine: PositionMachine, _: Event) -> bool:
    """Return whether the player's money covers the selected bet and the time charge that is due, if any."""
    charge, bet = find_due_charge(machine), find_current_bet(machine)
    if charge is None or bet is None:
        return True
    staked_money_cents = max(0, bet.bet_cents - machine.read_credit_cents(CreditKind.RESTRICTED))
    return charge.credits * bet.denomination_cents <= machine.cashable_cents - staked_money_cents


def collect_time_charge(machine: PositionMachine, game_record: GameRecord) -> None:
    """If a time charge is due for the game that has just started, take it and record the time that it pays for.

    The period begins at the start of the game. The charge counts towards the session's net spending. If the paid
    time has ended only since the bet was checked, and the credit left does not cover the charge, a later game takes it.
    """
    charge = find_due_charge(machine)
    if charge is None:
        return
    amount_cents = charge.credits * game_record.denomination_cents
    if amount_cents > machine.cashable_cents:
        return
    paid_until = (
        find_game_start(machine, game_record.play_id).entry.time_utc + timedelta(minutes=charge.minutes)
    ).isoformat()
    machine.post(
        TIME_CHARGED,
        TimeCharged(
            digest=game_record.game_reference.digest,
            play_id=game_record.play_id,
            amount_cents=amount_cents,
            minutes=charge.minutes,
            paid_until=paid_until,
        ),
        transfers=machine.build_debit_transfers(amount_cents, TIME_CHARGE_ACCOUNT, CASH_OUT_CREDIT_KINDS),
        state={
            PlayKey.PAID_PLAYING_TIME: PaidPlayingTime(
                digest=game_record.game_reference.digest, paid_until=paid_until
            ),
            **player_protection.build_session_change(machine, wagered_cents=amount_cents),
        },
    )
    machine.notice = Notice(
        code="time_charge_taken", values={"amount_cents": amount_cents, "minutes": charge.minutes}
    )


def iter_time_charge_notices(machine: PositionMachine) -> Iterator[Notice]:
    """Yield a notice that the next game takes a time charge, if one is due and the player has credit."""
    charge = find_due_charge(machine)
    if charge is not None and machine.credit_cents:
        values: dict[str, int | str] = {
            "amount_cents": charge.credits * machine.selection.denomination_cents,
            "minutes": charge.minutes,
        }
        yield Notice(code="time_charge_due", values=values, is_lasting=True)
