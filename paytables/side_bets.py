"""Side bets on a progressive level: their stake feeds the level, and pay-table rows pay all or part of it.

Such a pay is written as the rules print it, in percent: ``"100%"``, ``"10%"``. A part is paid in whole minor
units, rounded down, and the remainder stays in the level. If several rows win in one round, each is paid from
the remainder after the previous one.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Final, TypeAlias

from pydantic import BeforeValidator, Field, WithJsonSchema

from paytables.analysis import ProgressiveFigures
from paytables.contract import LevelHit, LevelParticipation, PartialLevelHit
from paytables.definition import Identifier, PositiveInt, StrictTable, Text
from paytables.errors import DefinitionError
from paytables.layout import ODDS_PATTERN, BetLimits, Odds
from paytables.wording import format_count, format_known_names

_PERCENT_PATTERN: Final = re.compile(r"(100|[1-9]\d?)%", re.ASCII)


def _parse_pay(pay_text: object) -> object:
    """Return a row's pay in a definition: odds, or a share of the level if it is written in percent."""
    if not isinstance(pay_text, str):
        return pay_text
    match = _PERCENT_PATTERN.fullmatch(pay_text)
    return (
        Odds.parse(pay_text) if match is None else Odds(pay_text, Fraction(-1), Fraction(int(match[1]), 100))
    )


#: Odds, or a percentage of the bet's progressive level.
OddsOrLevelShare: TypeAlias = Annotated[
    Odds,
    BeforeValidator(_parse_pay),
    WithJsonSchema({"type": "string", "pattern": f"^(?:{ODDS_PATTERN.pattern}|{_PERCENT_PATTERN.pattern})$"}),
]


class SideBetProgressiveLevel(StrictTable):
    """A progressive level that the bets on one spot feed and can win. The cabinet stores its amount and pays it."""

    id: Identifier
    name: Text
    spot: Identifier
    """The spot whose bets contribute to the level and can win it."""
    reset_credits: PositiveInt
    """The level's amount after a hit, in credits."""
    increment: Annotated[str, Field(pattern=r"^\d+/[1-9]\d*$")] = "0/1"
    """The part of each bet on the spot that is added to the level's amount, as a fraction."""


@dataclass(frozen=True)
class SideBet:
    """A side bet that plays for a progressive level: the level, its spots, the stake in credits, exact hit rates."""

    level: SideBetProgressiveLevel
    """The progressive level that the side bet feeds and can win."""
    spots: tuple[str, ...]
    """The betting spots that play for the level."""
    stake_credits: int
    """The credits that one side bet costs."""
    hit_rate_by_share: Mapping[Fraction, Fraction]
    """Mean hits per stake, by share of the level; hits of the whole level have share 1."""

    def build_level_participation(self, bet_count: int = 1) -> LevelParticipation:
        """Return what a wager with several of these side bets adds to the progressive level, and how often it hits."""
        return LevelParticipation(
            level=self.level.id,
            names=self.level.name.model_dump(),
            stake_credits=self.stake_credits,
            hit_rate=self.hit_rate_by_share[Fraction(1)],
            increment=Fraction(self.level.increment),
            reset_credits=self.level.reset_credits,
            spots=self.spots,
            qualifying_credits=self.stake_credits * bet_count,
            partial_hit_rates={share: rate for share, rate in self.hit_rate_by_share.items() if share < 1},
        )

    def compute_level_figures(self, other_win_credits: Fraction, bet_count: int = 1) -> ProgressiveFigures:
        """Return the figures of the progressive level for a wager with ``bet_count`` of these side bets.

        ``other_win_credits`` is what one of them wins on average in addition to the level.
        """
        mean_share = sum((share * rate for share, rate in self.hit_rate_by_share.items()), Fraction(0))
        return ProgressiveFigures(
            level=self.level.id,
            rate=bet_count * self.hit_rate_by_share[Fraction(1)],
            reset_credits=self.level.reset_credits,
            rtp_at_reset=mean_share * self.level.reset_credits / self.stake_credits,
            increment=Fraction(self.level.increment),
            break_even_credits=(self.stake_credits - other_win_credits) / mean_share,
            partial_hit_rates={
                share: bet_count * rate for share, rate in self.hit_rate_by_share.items() if share < 1
            },
        )


def build_level_hit(level: SideBetProgressiveLevel, odds: Odds) -> LevelHit:
    """Return what a side bet's winning row wins of its progressive level: all of it, or a share."""
    return level.id if odds.level_share == 1 else PartialLevelHit(level.id, odds.level_share)


def levels_to_json(levels: Iterable[SideBetProgressiveLevel]) -> list[dict[str, object]]:
    """Return the progressive levels of a game's side bets as the screen reads them before the first round."""
    return [
        {"id": level.id, "name": level.name.model_dump(), "reset_credits": level.reset_credits}
        for level in levels
    ]


def check_levels(
    levels: Sequence[SideBetProgressiveLevel],
    limits_and_odds_by_spot: Mapping[str, tuple[BetLimits, Sequence[Odds]]],
    file: str,
) -> None:
    """Check that the limits and pays of side bets fit the progressive levels for which the bets play.

    ``limits_and_odds_by_spot`` has the limits and the odds of each spot. Raises :class:`DefinitionError`, which names
    the wrong key.
    """
    level_by_spot = {level.spot: level for level in levels}
    for n, level in enumerate(levels):
        key = f"progressive.{n}"
        if level.id in {other.id for other in levels[:n]}:
            raise DefinitionError(file, f"{key}.id", f"{level.id!r} is listed twice")
        if level.spot not in limits_and_odds_by_spot or level_by_spot[level.spot] is not level:
            reason = (
                "another level has it"
                if level.spot in limits_and_odds_by_spot
                else f"there is no such spot; {format_known_names(level.spot, limits_and_odds_by_spot)}"
            )
            raise DefinitionError(file, f"{key}.spot", f"{level.spot!r}: {reason}")
        limits, pays = limits_and_odds_by_spot[level.spot]
        if limits.bet_min != limits.bet_max:
            raise DefinitionError(
                file,
                f"{key}.spot",
                f"{limits.bet_min:,} to {format_count(limits.bet_max, 'credit')} may be staked on {level.spot!r}: "
                "all bets that play for a level are of one stake",
            )
        shares = [odds.level_share for odds in pays if odds.level_share]
        if Fraction(1) not in shares:
            raise DefinitionError(
                file, f"{key}.spot", f'a row of {level.spot!r} must pay "100%" of the level'
            )
        if level.reset_credits * min(shares) < 1:
            reason = (
                f"{format_count(level.reset_credits, 'credit')}: a row would pay less than one credit of it"
            )
            raise DefinitionError(file, f"{key}.reset_credits", reason)
        if Fraction(level.increment) >= 1:
            raise DefinitionError(
                file, f"{key}.increment", f"is {level.increment}; expected a part of the bet, below 1"
            )
    for spot, (_, pays) in limits_and_odds_by_spot.items():
        if spot not in level_by_spot and any(odds.level_share for odds in pays):
            raise DefinitionError(
                file, f"spot {spot}", "a row pays a share of a level, but no level has this spot"
            )
