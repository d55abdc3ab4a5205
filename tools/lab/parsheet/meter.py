"""What a game returns while its progressive levels stand where they stand now.

The return of a level is its odds times what its meter shows, over the stake. On a machine that is read from
the machine's own journal, level by level and stake by stake; in credits it can be asked for any value.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from egm.progressive.level import Level
from meters import JournalView
from paytables import Analysis, Game
from paytables.wording import counted


class MeterError(Exception):
    """A meter that no level of the game has, or that shows less than nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A level as it stands: at what stake, what it shows, and what that returns of a wager.

    ``shown`` and ``stake`` are in one unit: minor units on a machine, credits where a value was asked for.
    ``whole`` is the return of the bet with this level as it stands and nothing counted of the others.
    """

    bet: str
    level: str
    stake: int
    shown: int
    returned: Fraction
    whole: Fraction


def asked(analysis: Analysis, meters: Mapping[str, int]) -> list[Standing]:
    """Return every bet's levels at the ``meters`` asked for (credits). Raises :class:`MeterError`."""
    known = {share.level for bet in analysis.bets for share in bet.progressives}
    for level, credits_ in meters.items():
        if level not in known:
            raise MeterError(f"no level {level!r}; the game has {', '.join(sorted(known)) or 'none'}")
        if credits_ < 0:
            raise MeterError(f"{level}: a meter of {counted(credits_, 'credit')}")
    return [
        Standing(
            bet=bet.bet,
            level=share.level,
            stake=bet.cost_credits,
            shown=meters[share.level],
            returned=share.rtp_at(meters[share.level], bet.cost_credits),
            whole=bet.rtp + share.rtp_at(meters[share.level], bet.cost_credits),
        )
        for bet in analysis.bets
        for share in bet.progressives
        if share.level in meters
    ]


def present(game: Game, analysis: Analysis, view: JournalView) -> list[Standing]:
    """Return the levels of ``game`` this machine keeps, as its journal shows them (minor units)."""
    found = []
    for entry in view.entries("progressive.opened"):
        record: Any = entry.record
        if record["game"] != game.id:
            continue
        stored: Any = view.state(f"level:{record['pool']}")
        level = Level.from_json(stored)
        for bet in analysis.bets:
            for share in bet.progressives:
                if share.level == record["level"]:
                    # In the credits the analysis counts in: what the base is in the definition.
                    meter = Fraction(level.shown_cents * share.reset_credits, level.terms.base_cents)
                    returned = share.rtp_at(meter, bet.cost_credits)
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
