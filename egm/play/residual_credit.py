"""Residual credit: too small for anything, it is given up or staked on one draw, where the place offers it.

Played off, so many minor units are as many chances of winning the smallest amount that can be used here, out
of as many as that amount has: its return is exactly the whole of the stake. Stake and win have meters of
their own (NZ 1.22.40; Annex D), and the draw is in the journal.
"""

from typing import Final

from egm.kernel.credits import CreditKind
from egm.kernel.events import Event, EventType, SupersededBy
from egm.kernel.machine import Machine
from egm.kernel.messages import Notice, Residual
from egm.play.player_protection import play_is_paused
from egm.records.keys import IntegrityKey
from egm.records.residual import residual_terms
from meters import Transfer
from rng import RngError

PURPOSE: Final = "residual"


def view(machine: Machine) -> Residual | None:
    """What a player may do with the rest on the meter; None where there is none, or nothing may be done."""
    played = residual_may_be_played(machine, Event(EventType.RESIDUAL))
    if not played and not residual_may_go(machine, Event(EventType.RESIDUAL)):
        return None
    prize_cents = residual_terms(machine).useful_cents if played else 0
    return Residual(amount_cents=machine.credit_cents, prize_cents=prize_cents)


# ---------------------------------------------------------------------------------------------- guards
def residual_may_go(machine: Machine, _: Event) -> bool:
    """The place lets a rest be given up, and the credit buys no game here and no coin."""
    offered = machine.profile.pay_out.residual == "given_up"
    return offered and 0 < machine.credit_cents < residual_terms(machine).useful_cents


def residual_may_be_played(machine: Machine, _: Event) -> bool:
    """The place lets a rest be played off, machine and player may play, and the credit buys nothing here."""
    return (
        machine.profile.pay_out.residual == "played"
        and machine.chance is not None
        and machine.memory.get(IntegrityKey.OUT_OF_SERVICE) is None
        and not play_is_paused(machine)
        and 0 < machine.credit_cents < residual_terms(machine).useful_cents
    )


# ---------------------------------------------------------------------------------------------- effects
def remove_residual(machine: Machine, _: Event) -> None:
    """The player gives up a rest that is too small for anything (NZ 1.22.40)."""
    amount_cents = machine.credit_cents
    machine.record(
        "residual.removed",
        transfers=machine.take(amount_cents, "house:residual"),
        counts={"residuals": 1},
        details={"amount_cents": amount_cents},
    )
    machine.notice = Notice(code="residual_removed", values={"amount_cents": amount_cents})


def play_residual(machine: Machine, _: Event) -> None:
    """Stake the rest on one draw: drawn, decided and journalled at once, like a game."""
    if machine.chance is None:
        raise SupersededBy(Event(EventType.CHANCE_FAILED, {"detail": "no generator"}))
    machine.journal.check()  # nothing is played on a memory that has just gone bad
    amount_cents, prize_cents = machine.credit_cents, residual_terms(machine).useful_cents
    try:
        with machine.chance.step() as step:
            value = step.below(prize_cents, PURPOSE)
    except RngError as error:
        raise SupersededBy(Event(EventType.CHANCE_FAILED, {"detail": str(error)})) from error
    won_cents = prize_cents if value < amount_cents else 0
    stake = machine.take(amount_cents, "house:residual")
    credit = machine.credit(CreditKind.CASHABLE)
    win = (Transfer("house:residual_win", credit, won_cents),) if won_cents else ()
    machine.record(
        "residual.played",
        transfers=(*stake, *win),
        counts={"residuals": 1},
        details={
            "amount_cents": amount_cents,
            "prize_cents": prize_cents,
            "draws": [[prize_cents, value, PURPOSE]],
            "won_cents": won_cents,
        },
    )
    code = "residual_won" if won_cents else "residual_lost"
    machine.notice = Notice(code=code, values={"amount_cents": won_cents or amount_cents})
