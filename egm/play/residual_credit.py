"""Residual credit, too small to play or pay out: the profile may let players give it to the venue or stake it.

A residual of *n* minor units is staked with the chance *n* in *m* to win *m* minor units, the smallest amount
that can be played or paid out. The return is therefore exactly 100 %. Stake and win have separate meters (NZ
1.22.40; Annex D), and the draw is in the journal.
"""

from typing import Final

from egm.integrity.events import FailureDetail
from egm.integrity.keys import IntegrityKey
from egm.kernel.credits import CreditKind
from egm.kernel.events import Event, EventReplacement, EventType
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice, ResidualCreditView
from egm.kernel.rules import refusal_code
from egm.play.entries import RESIDUAL_GIVEN_UP, RESIDUAL_PLAYED, ResidualGivenUp, ResidualPlayed
from egm.play.player_protection import is_play_paused
from egm.play.records.residual_terms import build_residual_terms
from meters import Transfer
from rng import RngError

#: The recorded purpose of the draw.
RESIDUAL_DRAW_PURPOSE: Final = "residual"


def build_residual_view(machine: PositionMachine) -> ResidualCreditView | None:
    """Return, for the screen, the residual credit and what the player may do with it; None if they may do nothing."""
    is_playable = residual_credit_can_be_staked(machine, Event(EventType.USE_RESIDUAL_CREDIT))
    if not is_playable and not residual_credit_can_be_given_up(machine, Event(EventType.USE_RESIDUAL_CREDIT)):
        return None
    prize_cents = build_residual_terms(machine).smallest_useful_cents if is_playable else 0
    return ResidualCreditView(amount_cents=machine.credit_cents, prize_cents=prize_cents)


# ---------------------------------------------------------------------------------------------- guards
@refusal_code("residual_may_go")
def residual_credit_can_be_given_up(machine: PositionMachine, _: Event) -> bool:
    """Return whether the credit is residual and the profile lets players give up residual credit.

    Credit is residual if it is too small for a game and for a coin.
    """
    is_offered = machine.profile.pay_out.residual_credit_treatment == "given_up"
    return is_offered and 0 < machine.credit_cents < build_residual_terms(machine).smallest_useful_cents


@refusal_code("residual_may_be_played")
def residual_credit_can_be_staked(machine: PositionMachine, _: Event) -> bool:
    """Return whether the player may stake the residual credit: the profile offers it and play is possible."""
    return (
        machine.profile.pay_out.residual_credit_treatment == "played"
        and machine.random_service is not None
        and machine.memory.get(IntegrityKey.OUT_OF_SERVICE) is None
        and not is_play_paused(machine)
        and 0 < machine.credit_cents < build_residual_terms(machine).smallest_useful_cents
    )


# ---------------------------------------------------------------------------------------------- effects
def give_up_residual_credit(machine: PositionMachine, _: Event) -> None:
    """Remove residual credit that the player gives up (NZ 1.22.40)."""
    amount_cents = machine.credit_cents
    machine.post(
        RESIDUAL_GIVEN_UP,
        ResidualGivenUp(amount_cents=amount_cents),
        transfers=machine.build_debit_transfers(amount_cents, "house:residual"),
    )
    machine.notice = Notice(code="residual_removed", values={"amount_cents": amount_cents})


def play_residual_credit(machine: PositionMachine, _: Event) -> None:
    """Stake the residual credit on one random draw, which is decided and recorded at once, like a game."""
    if machine.random_service is None:
        raise EventReplacement(
            Event(
                EventType.GENERATOR_FAILED,
                FailureDetail(detail="the random number generator is not running"),
            )
        )
    machine.journal.check()  # do not play on a journal that has just gone bad
    amount_cents, prize_cents = machine.credit_cents, build_residual_terms(machine).smallest_useful_cents
    try:
        with machine.random_service.step() as generator_step:
            drawn_number = generator_step.below(prize_cents, RESIDUAL_DRAW_PURPOSE)
    except RngError as error:
        raise EventReplacement(Event(EventType.GENERATOR_FAILED, FailureDetail(detail=str(error)))) from error
    won_cents = prize_cents if drawn_number < amount_cents else 0
    stake_transfers = machine.build_debit_transfers(amount_cents, "house:residual")
    credit_account = machine.name_credit_account(CreditKind.CASHABLE)
    win_transfers = (Transfer("house:residual_win", credit_account, won_cents),) if won_cents else ()
    machine.post(
        RESIDUAL_PLAYED,
        ResidualPlayed(
            amount_cents=amount_cents,
            prize_cents=prize_cents,
            draws=((prize_cents, drawn_number, RESIDUAL_DRAW_PURPOSE),),
            won_cents=won_cents,
        ),
        transfers=(*stake_transfers, *win_transfers),
    )
    code = "residual_won" if won_cents else "residual_lost"
    machine.notice = Notice(code=code, values={"amount_cents": won_cents or amount_cents})
