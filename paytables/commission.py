"""The commission that a table charges on a winning bet (Québec by-law, ss. 32, 47 and 111)."""

from pydantic import Field

from paytables.definition import PositiveInt, StrictTable
from paytables.wording import format_count


class Commission(StrictTable):
    """A commission on a winning bet: in the file, ``credits`` for each ``of`` credits staked.

    The stake is divided into parts of ``of`` credits. A last, smaller part is charged in full.
    """

    credits_per_part: PositiveInt = Field(default=1, alias="credits")
    """The credits charged for each part of the stake."""
    part_credits: PositiveInt = Field(default=20, alias="of")
    """The size of the parts into which the stake is divided, in credits."""

    def compute_credits(self, stake_credits: int) -> int:
        """Return the commission on a winning bet with this stake, in credits."""
        return -(-stake_credits // self.part_credits) * self.credits_per_part

    def describe(self) -> dict[str, str]:
        """Return a text about the commission, by language; it is printed after the odds of a bet."""
        return {
            "en": f"less {format_count(self.credits_per_part, 'credit')} for each {self.part_credits} "
            "staked or part of them",
            "fr": f"moins {format_count(self.credits_per_part, 'crédit')} par {self.part_credits} misés "
            f"ou fraction de {self.part_credits}",
        }


class BaccaratCommission(Commission):
    """A commission of a baccarat game. The file's key for the size of a part is ``per``, and it must be present.

    Québec by-law, s. 32: 5 % of the stake, rounded up to a multiple of ten dollars. With credits of 50 cents, ten
    dollars are 20 credits, so ``per = 20`` (and ``credits = 1``).
    """

    part_credits: PositiveInt = Field(alias="per")
    """The size of the parts into which the stake is divided, in credits."""
