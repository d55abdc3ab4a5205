"""Which awards of a game are so rare that the player is told their odds (Ontario 10.1)."""

from collections.abc import Sequence

from egm.link.messages import LongOdds
from egm.profiles.profile import Awards
from paytables import BetAnalysis
from paytables.odds import awards, longer


def long_odds(bets: Sequence[BetAnalysis], rules: Awards) -> tuple[LongOdds, ...]:
    """Return the awards with odds the place wants told, rarest first; equal at several bets: told once.

    The analysis must hold prizes. The odds are exact, and rounded only to whole games.
    """
    found: dict[tuple[str, str, int], list[int]] = {}
    for bet in bets:
        for award in longer(awards(bet), rules.top_told_one_in, rules.other_told_one_in):
            found.setdefault((award.name, award.where, award.one_in), []).append(bet.cost_credits)
    return tuple(
        LongOdds(name=name, stage=stage, one_in=one_in, bets=tuple(sorted(set(costs))))
        for (name, stage, one_in), costs in sorted(found.items(), key=lambda row: (-row[0][2], row[0]))
    )
