"""Awards of a game with their odds, which must be disclosed to the player if they are very long (Ontario 10.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, NamedTuple

from paytables.analysis import BetAnalysis


class OddsLimits(NamedTuple):
    """Limits N of the odds "1 in N games": if an award's odds are longer than its limit, they must be displayed.

    There is one limit for top awards and one for other awards. Without a limit (None), odds are never displayed.
    """

    top_one_in: int | None
    """A top award must have its odds displayed if they are longer than 1 in N, this number; None: never."""
    other_one_in: int | None
    """Any other award must have its odds displayed if they are longer than 1 in N, this number; None: never."""


#: The limits that a profile has unless it states others (Ontario 10.1).
DEFAULT_ODDS_LIMITS: Final = OddsLimits(17_000_000, 34_000_000)


@dataclass(frozen=True, slots=True)
class DisclosedAward:
    """An award of a game with its odds, for disclosure to the player."""

    name: str
    """The name of the award."""
    stage_or_spot: str
    """The stage, betting spot or side bet in which the award is won; empty for levels and prizes in kind."""
    credits: int | None
    """The pay without multipliers, or a level's reset value; None for a prize in kind."""
    rate: Fraction
    """The exact average number of times that one game wins the award."""
    is_top: bool = False
    """Whether this is a top award of the game."""

    @property
    def one_in(self) -> int:
        """Return N of the award's odds "1 in N" games, rounded to the nearest game."""
        return round(1 / self.rate)


def list_awards(bet: BetAnalysis) -> list[DisclosedAward]:
    """Return every award that a way to bet can win, rarest first. The top awards are those that pay the most.

    The analysis must include prizes (:attr:`paytables.AnalysisDepth.PRIZES` or more).
    """
    prizes_and_levels = [(p.name, p.stage_or_spot, p.credits, p.rate) for p in bet.prizes if p.credits]
    prizes_and_levels += [(p.level, "", p.reset_credits, p.rate) for p in bet.progressives]
    win_max = max((credits_ for _, _, credits_, _ in prizes_and_levels), default=0)
    awards = [
        DisclosedAward(name, stage_or_spot, credits_, rate, is_top=credits_ == win_max)
        for name, stage_or_spot, credits_, rate in prizes_and_levels
        if rate
    ]
    awards += [DisclosedAward(m.prize, "", None, m.rate) for m in bet.merchandise if m.rate]
    return sorted(awards, key=lambda award: (award.rate, award.stage_or_spot, award.name))


def list_awards_to_disclose(awards: Sequence[DisclosedAward], limits: OddsLimits) -> list[DisclosedAward]:
    """Return the awards whose odds are longer than the applicable limit, and so must be displayed."""
    return [
        award
        for award in awards
        if (limit := limits.top_one_in if award.is_top else limits.other_one_in) is not None
        and award.rate * limit < 1
    ]
