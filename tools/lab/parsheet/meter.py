"""The return of a game at the present values of its progressive levels.

The return of a level is its odds times its meter, divided by the stake. For a machine the meters are read
from its journal, level by level and stake by stake; otherwise any value in credits can be given.
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


class MeterError(Exception):
    """A meter that no level of the game has, or with a negative value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A level's present state: its stake, the amount it shows, and its share of the return.

    ``shown`` and ``stake`` are in one unit: minor units on a machine, credits for a given value. ``whole`` is
    the return of the bet with this level at its present value, and without the other levels.
    """

    bet: str
    level: str
    stake: int
    shown: int
    returned: Fraction
    whole: Fraction


def standings_at(analysis: Analysis, meters: Mapping[str, int]) -> list[Standing]:
    """Return every bet's levels at the given ``meters`` (credits). Raises :class:`MeterError`."""
    known = {share.level for bet in analysis.bets for share in bet.progressives}
    for level, credits_ in meters.items():
        if level not in known:
            raise MeterError(
                f"there is no level {level!r}; the game has {', '.join(sorted(known)) or 'none'}"
            )
        if credits_ < 0:
            raise MeterError(f"{level}: the meter cannot be {format_count(credits_, 'credit')}")
    return [
        Standing(
            bet=bet.bet,
            level=share.level,
            stake=bet.cost_credits,
            shown=meters[share.level],
            returned=share.compute_rtp_at(meters[share.level], bet.cost_credits),
            whole=bet.rtp + share.compute_rtp_at(meters[share.level], bet.cost_credits),
        )
        for bet in analysis.bets
        for share in bet.progressives
        if share.level in meters
    ]


def present(game: Game, analysis: Analysis, view: JournalView) -> list[Standing]:
    """Return the levels of ``game`` on this machine, as its journal shows them (minor units)."""
    found = []
    for entry in view.entries(LEVEL_OPENED.kind):
        record: Any = entry.record
        if record["game"] != game.id:
            continue
        stored: Any = view.state(f"level:{record['pool']}")
        level = Level.from_json(stored)
        for bet in analysis.bets:
            for share in bet.progressives:
                if share.level == record["level"]:
                    # Converted to the credits of the analysis: what the base is in the definition.
                    meter = Fraction(level.shown_cents * share.reset_credits, level.terms.base_cents)
                    returned = share.compute_rtp_at(meter, bet.cost_credits)
                    found.append(
                        Standing(
                            bet=bet.bet,
                            level=share.level,
                            stake=record["stake_cents"],
                            shown=level.shown_cents,
                            returned=returned,
                            whole=bet.rtp + returned,
                        )
                    )
    return found
