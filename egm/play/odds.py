"""Odds shown to players: how often a game wins, and which awards are rare (Ontario 10.1)."""

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final

from egm.kernel.messages import Chances, LongOdds
from egm.profiles.profile import Awards
from paytables import BetAnalysis
from paytables.odds import awards, longer

#: The name of a settlement that gives back just the stake.
_PUSH: Final = "push"


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

    The analysis must hold prizes. An award that is won in several stages is counted in all of them. Figures
    of the same spots of a table, as it stands, are one way to bet, whatever the stake or the strategy.
    """
    found: dict[object, Chances] = {}
    for bet in bets:
        tops = [award for award in awards(bet) if award.top]
        if not tops:
            continue
        top = tops[-1]  # the likeliest place
        rate = sum((award.rate for award in tops if award.name == top.name), Fraction(0))
        way = bet.bet.partition(" at ")[0]  # a Keno card of so many spots, whatever is staked or bought on it
        spots = _spots(bet)
        hit = _hit_probability(bet)
        found.setdefault(
            (spots, json.dumps(bet.table, sort_keys=True)) if spots else way,
            Chances(
                bet=way,
                cost_credits=bet.cost_credits,
                hit_percent="" if hit is None else _tenths(hit * 100),
                prizes_in_100=_tenths(_prize_rate(bet) * 100),
                features=tuple((each.feature, round(1 / each.rate)) for each in bet.features if each.rate),
                top=top.name,
                top_stage=top.where,
                top_credits=top.credits or 0,
                top_one_in=round(1 / rate),
                spots=spots,
                hands=_hands(bet),
            ),
        )
    return tuple(found.values())


def _prize_rate(bet: BetAnalysis) -> Fraction:
    """Return how many prizes one game wins on average, without stakes that are only given back."""
    rates = (prize.rate for prize in bet.prizes if prize.credits and prize.name != _PUSH)
    return sum(rates, Fraction(0))


def _spots(bet: BetAnalysis) -> tuple[str, ...]:
    """Return the spots of a table that a way to bet lays chips on."""
    laid = bet.options.get("bets")
    return tuple(map(str, laid)) if isinstance(laid, Mapping) else ()


def _hands(bet: BetAnalysis) -> int:
    """Return how many hands are played at once, or 0 where that is not chosen."""
    hands = bet.options.get("hands")
    return hands if isinstance(hands, int) else 0


def _hit_probability(bet: BetAnalysis) -> Fraction | None:
    """Return how likely a game wins a prize; at the spots of a table, more than was staked."""
    if not _spots(bet):
        return bet.hit_probability
    if bet.profit_probability is not None:
        return bet.profit_probability
    more = all(prize.credits > bet.cost_credits for prize in bet.prizes if prize.credits)
    return bet.hit_probability if more else None


def _tenths(value: Fraction) -> str:
    """A number to the nearest tenth."""
    tenths = round(value * 10)
    return f"{tenths // 10}.{tenths % 10}"
