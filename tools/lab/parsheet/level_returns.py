"""The return of a game at the present amounts of its progressive levels.

The return of a level is its mean number of hits per game times its present amount, divided by the bet. A machine's
amounts are read from its journal; otherwise any amount in credits can be given.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from egm.progressive.entries import LEVEL_OPENED
from egm.progressive.level import Level
from meters import JournalView
from paytables import Analysis, Game
from paytables.wording import format_count


class LevelAmountError(Exception):
    """Raised if a level's amount is negative or is given for a level that the game does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelReturn:
    """The return of one progressive level for one bet, at the level's present amount.

    Stake and amount are both in minor units if they come from a machine, or both in credits.
    """

    bet: str
    level: str
    level_stake: int
    """The cost of the whole bet for an amount in credits; on a machine, the stake for which the level was opened."""
    level_amount: int
    """The level's present amount."""
    level_return: Fraction
    """The return of the level alone, as a share of the bet."""
    bet_return: Fraction
    """The return of the bet, including this level and excluding all others."""


def compute_level_returns(analysis: Analysis, credits_by_level: Mapping[str, int]) -> list[LevelReturn]:
    """Compute the return of each level named in ``credits_by_level`` (credits by level id) for every bet.

    Raises :class:`LevelAmountError`.
    """
    level_ids = {figures.level for bet in analysis.bets for figures in bet.progressives}
    for level, credits_ in credits_by_level.items():
        if level not in level_ids:
            raise LevelAmountError(
                f"there is no level {level!r}; the game has {', '.join(sorted(level_ids)) or 'no level'}"
            )
        if credits_ < 0:
            raise LevelAmountError(f"{level}: the amount cannot be {format_count(credits_, 'credit')}")
    return [
        LevelReturn(
            bet=bet.bet,
            level=figures.level,
            level_stake=bet.cost_credits,
            level_amount=credits_by_level[figures.level],
            level_return=figures.compute_rtp_at(credits_by_level[figures.level], bet.cost_credits),
            bet_return=bet.rtp + figures.compute_rtp_at(credits_by_level[figures.level], bet.cost_credits),
        )
        for bet in analysis.bets
        for figures in bet.progressives
        if figures.level in credits_by_level
    ]


def compute_present_level_returns(game: Game, analysis: Analysis, view: JournalView) -> list[LevelReturn]:
    """Return what the game's levels return at the amounts in this machine's journal (minor units)."""
    returns = []
    for entry in view.entries(LEVEL_OPENED.kind):
        record: Any = entry.record
        if record["game"] != game.id:
            continue
        stored_level: Any = view.state(f"level:{record['pool']}")
        level = Level.from_json(stored_level)
        for bet in analysis.bets:
            for figures in bet.progressives:
                if figures.level == record["level"]:
                    # convert to the definition's credits: the base, base_cents on this machine, is reset_credits there
                    level_credits = Fraction(
                        level.shown_cents * figures.reset_credits, level.terms.base_cents
                    )
                    mean_return = figures.compute_rtp_at(level_credits, bet.cost_credits)
                    returns.append(
                        LevelReturn(
                            bet=bet.bet,
                            level=figures.level,
                            level_stake=record["stake_cents"],
                            level_amount=level.shown_cents,
                            level_return=mean_return,
                            bet_return=bet.rtp + mean_return,
                        )
                    )
    return returns
