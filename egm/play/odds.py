"""Odds shown to players: how often a game wins, and which awards are rare (Ontario 10.1)."""

from collections.abc import Sequence
from fractions import Fraction

from egm.kernel.messages import Chances, LongOdds
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


def chances(bets: Sequence[BetAnalysis]) -> tuple[Chances, ...]:
    """Return how often each way to bet wins; Keno cards of as many spots are told once.

    The analysis must hold prizes. An award that is won in several stages is counted in all of them.
    """
    found: dict[str, Chances] = {}
    for bet in bets:
        tops = [award for award in awards(bet) if award.top]
        if not tops:
            continue
        top = tops[-1]  # the likeliest place
        rate = sum((award.rate for award in tops if award.name == top.name), Fraction(0))
        way = bet.bet.partition(" at ")[0]  # a Keno card of so many spots, whatever is staked or bought on it
        found.setdefault(
            way,
            Chances(
                bet=way,
                cost_credits=bet.cost_credits,
                hit_percent="" if bet.hit_probability is None else _tenths(bet.hit_probability * 100),
                prizes_in_100=_tenths(sum((p.rate for p in bet.prizes if p.credits), Fraction(0)) * 100),
                features=tuple((each.feature, round(1 / each.rate)) for each in bet.features if each.rate),
                top=top.name,
                top_stage=top.where,
                top_credits=top.credits or 0,
                top_one_in=round(1 / rate),
            ),
        )
    return tuple(found.values())


def _tenths(value: Fraction) -> str:
    """A number to the nearest tenth."""
    tenths = round(value * 10)
    return f"{tenths // 10}.{tenths % 10}"
