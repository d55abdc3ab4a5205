"""The common part of definitions of card games against the bank: the shoe, and bets by kind with their odds."""

from collections.abc import Mapping
from typing import Self

from pydantic import Field, model_validator

from paytables.bank.dealing import ShoeRules
from paytables.definition import Identifier, StrictTable, Text
from paytables.layout import BetLimits, Odds, TableDefinition, WrittenOdds


class BankBet(StrictTable):
    """A bet of a card game against the bank, as its definition describes it, and the betting spot for it."""

    id: Identifier
    """The id of the bet and of its betting spot."""
    name: Text
    """The name of the bet on the screen."""
    odds: WrittenOdds = Field(alias="pays")
    """The odds of the bet."""
    limits: BetLimits = BetLimits()
    """The limits of the bet."""
    required_spot: Identifier | None = Field(
        default=None, description="the bet that must be placed with this one", alias="needs"
    )
    """The id of the bet that must be placed with this one, or None."""

    def list_every_pay(self) -> tuple[Odds, ...]:
        """Return all the odds that this bet may pay."""
        return (self.odds,)

    def compute_commission(self, credits_: int) -> int:  # noqa: ARG002 (overridden by bets with a commission)
        """Return the commission on this bet if it wins with a stake of ``credits_``, in credits."""
        return 0

    def describe_pay(self) -> Mapping[str, str] | None:
        """Return, by language, the text on what a win pays, or None if the bet's odds alone say it."""
        return None


class BankDefinition(TableDefinition):
    """A card game against the bank as its definition file describes it; each game adds its bets."""

    shoe: ShoeRules = ShoeRules()
    """The number of decks and when they are shuffled."""

    @model_validator(mode="after")
    def _check_players(self) -> Self:
        """Refuse more seats than the definition's shoe allows."""
        self.shoe.check_player_count(self.table.seat_count)
        return self
