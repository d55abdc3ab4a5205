"""The commission that a table takes from a won stake (by-law, ss. 32, 47 and 111)."""

from pydantic import Field

from paytables.definition import PositiveInt, StrictTable
from paytables.wording import format_count


class Commission(StrictTable):
    """A commission on a won stake: ``credits`` for each ``of`` credits staked.

    A remainder of less than ``of`` credits is charged like ``of`` credits.
    """

    credits: PositiveInt = 1
    """The credits taken for each ``of`` credits staked."""
    of: PositiveInt = 20
    """The size of the parts into which the stake is divided; ``credits`` are taken for each, also for a smaller last
    part."""

    def compute_credits(self, stake_credits: int) -> int:
        """Return the commission on a winning stake, in credits."""
        return -(-stake_credits // self.of) * self.credits

    def describe(self) -> dict[str, str]:
        """Return the text on the commission that follows the odds of a bet, by language."""
        return {
            "en": f"less {format_count(self.credits, 'credit')} for each {self.of} staked or part of them",
            "fr": f"moins {format_count(self.credits, 'crédit')} par {self.of} misés ou fraction de {self.of}",
        }


class BaccaratCommission(Commission):
    """A commission of a baccarat game, whose key ``per`` gives the number ``of`` and must be present.

    Québec s.32 counts 5 % of the stake, or of the next higher multiple of ten: if ten dollars are 20 credits,
    ``per = 20``.
    """

    of: PositiveInt = Field(alias="per")
    """The size of the parts into which the stake is divided; ``credits`` are taken for each."""
