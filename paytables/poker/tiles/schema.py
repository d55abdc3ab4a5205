"""The model of a pai gow definition: the stake, the commission, how the bank sets its tiles."""

from typing import Annotated

from pydantic import Field

from paytables.definition import NaturalInt, PositiveInt, Strict, Text
from paytables.layout import Limits, TableDefinition
from paytables.poker.policy import Policy
from paytables.poker.proof import Exact


class Commission(Strict):
    """What a win pays: ``credits`` for each ``of`` credits staked, begun ones whole (s.111)."""

    credits: PositiveInt = 1
    of: PositiveInt = 20

    def on(self, stake: int) -> int:
        """Return the commission on a stake, in credits."""
        return -(-stake // self.of) * self.credits


Counts = Annotated[tuple[NaturalInt, ...], Field(min_length=30, max_length=30)]


class BankWay(Strict):
    """What a low and a high hand count: of 0 to 9 points, then of the combinations from the twentieth up."""

    low: Counts
    high: Counts


class Proof(Strict):
    """The best settings' chances; the mean net of the worst ones and of the simplest, the bank's own."""

    win: Exact
    push: Exact
    lose: Exact
    worst: Exact
    simplest: Exact
    policy: Policy = Field(description="which way of each four tiles, in the order of their combinations")


class PaiGowDefinition(TableDefinition):
    """A whole game of pai gow with tiles.

    The text leaves open how the bank sets its tiles. Here it takes the way whose two hands together count
    most, by ``bank``; of equal ways that with the better low hand. ``worthless_low_loses``: a low hand
    without value beats no other (s.109, 1).
    """

    stake: Limits = Limits(least=20, most=1000, step=20)
    commission: Commission = Commission()
    bank: BankWay
    worthless_low_loses: bool = True
    spot_name: Text = Text(en="Stake", fr="Mise")
    proved: Proof | None = Field(None, description="as `python -m tools.dev prove` says")
