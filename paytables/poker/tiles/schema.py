"""The model of a definition of pai gow with tiles: the stake, the commission, how the bank sets its tiles."""

from typing import Annotated

from pydantic import Field

from paytables.definition import NaturalInt, Strict
from paytables.poker.policy import Policy
from paytables.poker.proof import Exact
from paytables.poker.two_hands import Chances, TwoHandsDefinition

Counts = Annotated[tuple[NaturalInt, ...], Field(min_length=30, max_length=30)]


class BankWay(Strict):
    """The values by which the bank chooses how to set its four tiles: one list per hand, low and high.

    Each list is for 0 to 9 points, then for the combinations from the twentieth to the first.
    """

    low: Counts
    """The value of each possible low hand."""
    high: Counts
    """The value of each possible high hand."""


class Proof(Chances):
    """The exact figures of a pai gow game: the chances of a win, push and loss with the best settings.

    ``worst`` is the mean net of the worst settings, ``simplest`` that of the bank's own way, which is the
    simplest published strategy.
    """

    worst: Exact
    """The mean net of the worst settings."""
    simplest: Exact
    """The mean net of a player who sets tiles as the bank does."""
    policy: Policy = Field(description="which way of each four tiles, in the order of their combinations")
    """The best setting of each set of four tiles, as packed data."""


class PaiGowDefinition(TwoHandsDefinition):
    """The definition of a game of pai gow with tiles.

    The rules leave open how the bank sets its tiles. Here it uses the way whose two hands have the highest
    combined value, by ``bank``; of equal ways, the one with the better low hand. ``worthless_low_loses``: a
    low hand without value beats no other (s.109, 1).
    """

    bank: BankWay
    """The values by which the bank chooses how to set its tiles."""
    worthless_low_loses: bool = True
    """Whether a low hand without value never beats another (s. 109, 1)."""
    proved: Proof | None = Field(None, description="as `python -m tools.dev prove` says")
    """The stored exact figures, or None."""
