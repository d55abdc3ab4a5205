"""Rules of a position for residual credit, which is too small to play or pay out, as recorded in the journal."""

from dataclasses import dataclass, field
from typing import Literal

from egm.kernel.machine import PositionMachine
from egm.play.keys import PlayKey
from egm.record_codec import stored_as
from egm.record_fields import CentsOrZero


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidualTerms:
    """The rules for residual credit: what the player may do with it, and the smallest amount that is not residual."""

    treatment: Literal["stays", "given_up", "played"] = field(metadata=stored_as("way"))
    """``stays``: nothing may be done with it; ``given_up``: the player may give it up; ``played``: may stake it."""
    smallest_useful_cents: CentsOrZero = field(metadata=stored_as("useful_cents"))
    """The smallest amount that buys a game or a coin, in minor units; 0 if nothing can be bought."""


def build_residual_terms(machine: PositionMachine) -> ResidualTerms:
    """Return a position's rules for residual credit, from the profile and the games offered.

    They change only when the machine is restarted.
    """
    smallest_bets_cents = [
        cents * machine.find_smallest_stake_credits(game_id, cents)
        for game_id, denominations in machine.denominations_cents.items()
        for cents in denominations
    ]
    coin_cents = machine.profile.coins.hopper_coin_cents
    smallest_useful_cents = min(
        [*smallest_bets_cents, coin_cents] if coin_cents else smallest_bets_cents, default=0
    )
    return ResidualTerms(
        treatment=machine.profile.pay_out.residual_credit_treatment,
        smallest_useful_cents=smallest_useful_cents,
    )


def build_residual_terms_change(machine: PositionMachine) -> dict[str, object]:
    """Return the state change that records the present rules for residual credit; empty if they are recorded."""
    terms = build_residual_terms(machine)
    return (
        {}
        if machine.memory.read(ResidualTerms, PlayKey.RESIDUAL_CREDIT_TERMS) == terms
        else {PlayKey.RESIDUAL_CREDIT_TERMS: terms}
    )
