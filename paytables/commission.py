"""The commission that a table takes from a won stake (by-law, ss. 32, 47 and 111)."""

from pydantic import Field

from paytables.definition import PositiveInt, StrictTable
from paytables.wording import format_count


class Commission(StrictTable):
    """A commission on a won stake: ``credits`` for each ``of`` credits staked.

    A remainder of less than ``of`` credits is charged like ``of`` credits.
    """

    credits_per_part: PositiveInt = Field(default=1, alias="credits")
    """The credits taken for each ``part_credits`` credits staked."""
    part_credits: PositiveInt = Field(default=20, alias="of")
    """The size of the parts into which the stake is divided. The commission is taken for each part, also for a smaller
    last one."""

    def compute_credits(self, stake_credits: int) -> int:
        """Return the commission on a winning stake, in credits."""
        return -(-stake_credits // self.part_credits) * self.credits_per_part

    def describe(self) -> dict[str, str]:
        """Return the text on the commission that follows the odds of a bet, by language."""
        return {
            "en": f"less {format_count(self.credits_per_part, 'credit')} for each {self.part_credits} "
            "staked or part of them",
            "fr": f"moins {format_count(self.credits_per_part, 'crédit')} par {self.part_credits} misés "
            f"ou fraction de {self.part_credits}",
        }


class BaccaratCommission(Commission):
    """A commission of a baccarat game, whose key ``per`` (the size of a part) must be present.

    Québec s.32 counts 5 % of the stake, or of the next higher multiple of ten: if ten dollars are 20 credits,
    ``per = 20``.
    """

    part_credits: PositiveInt = Field(alias="per")
    """The size of the parts into which the stake is divided; ``credits_per_part`` are taken for each."""
