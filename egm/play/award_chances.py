"""Odds shown to players: how often a game wins, and which awards are rare (Ontario 10.1)."""

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from egm.kernel.messages import BetChances, LongOdds
from paytables import BetAnalysis
from paytables.odds import OddsLimits, list_awards, list_awards_to_disclose

#: The name of a settlement that only returns the stake.
_PUSH_PRIZE_NAME: Final = "push"


class _RareAward(NamedTuple):
    """An award with long odds: its name, where it is won, and in how many games it is won once."""

    name: str
    stage_or_spot: str
    one_in: int


def list_long_odds(bets: Sequence[BetAnalysis], limits: OddsLimits) -> tuple[LongOdds, ...]:
    """Return the awards whose odds must be displayed, because they are longer than ``limits`` allow; rarest first.

    If several ways to bet give an award with the same odds, it is listed once, with the cost of each of these ways in
    credits. Each analysis in ``bets`` must include the prizes. The odds are computed exactly and rounded to whole
    games.
    """
    costs_by_award: dict[_RareAward, list[int]] = {}
    for bet in bets:
        for award in list_awards_to_disclose(list_awards(bet), limits):
            rare_award = _RareAward(award.name, award.stage_or_spot, award.one_in)
            costs_by_award.setdefault(rare_award, []).append(bet.cost_credits)
    return tuple(
        LongOdds(
            name=rare_award.name,
            stage=rare_award.stage_or_spot,
            one_in=rare_award.one_in,
            bets=tuple(sorted(set(costs_by_award[rare_award]))),
        )
        for rare_award in sorted(costs_by_award, key=lambda rare_award: (-rare_award.one_in, rare_award))
    )


def list_bet_chances(bets: Sequence[BetAnalysis]) -> tuple[BetChances, ...]:
    """Return how often each way to bet wins; Keno cards with the same count of numbers are listed once.

    Each analysis in ``bets`` must include the prizes. The odds of the top award add up all stages of the game in
    which it can be won. At a table, analyses of the same spots in the same table state are one way to bet: the first
    of them is used, whatever its stakes or strategy.
    """
    chances_by_bet: dict[object, BetChances] = {}
    for bet in bets:
        top_awards = [award for award in list_awards(bet) if award.is_top]
        if not top_awards:
            continue
        top_award = top_awards[-1]  # in the stage where it is most likely
        top_rate = sum((award.rate for award in top_awards if award.name == top_award.name), Fraction(0))
        # for Keno: the number of spots, without stake and bought options
        bet_name = bet.bet.partition(" at ")[0]
        spots = _list_spots(bet)
        win_probability = _compute_win_probability(bet)
        chances_by_bet.setdefault(
            (spots, json.dumps(bet.table, sort_keys=True)) if spots else bet_name,
            BetChances(
                bet=bet_name,
                cost_credits=bet.cost_credits,
                hit_percent="" if win_probability is None else _format_tenths(win_probability * 100),
                prizes_in_100=_format_tenths(_compute_prize_rate(bet) * 100),
                features=tuple(
                    (feature.feature, round(1 / feature.rate)) for feature in bet.features if feature.rate
                ),
                top=top_award.name,
                top_stage=top_award.stage_or_spot,
                top_credits=top_award.credits or 0,
                top_one_in=round(1 / top_rate),
                spots=spots,
                hands=_count_hands(bet),
            ),
        )
    return tuple(chances_by_bet.values())


def _compute_prize_rate(bet: BetAnalysis) -> Fraction:
    """Return the average number of prizes per game for a way to bet; returned stakes do not count."""
    rates = (prize.rate for prize in bet.prizes if prize.credits and prize.name != _PUSH_PRIZE_NAME)
    return sum(rates, Fraction(0))


def _list_spots(bet: BetAnalysis) -> tuple[str, ...]:
    """Return the ids of the betting spots on which a way to bet places chips."""
    bets = bet.options.get("bets")
    return tuple(map(str, bets)) if isinstance(bets, Mapping) else ()


def _count_hands(bet: BetAnalysis) -> int:
    """Return how many hands a way to bet plays at once; 0 if the game has no choice of hands."""
    hands = bet.options.get("hands")
    return hands if isinstance(hands, int) else 0


def _compute_win_probability(bet: BetAnalysis) -> Fraction | None:
    """Return the probability that a game wins a prize (at a table: more than was staked), or None if unknown."""
    if not _list_spots(bet):
        return bet.hit_probability
    if bet.profit_probability is not None:
        return bet.profit_probability
    every_prize_exceeds_cost = all(prize.credits > bet.cost_credits for prize in bet.prizes if prize.credits)
    return bet.hit_probability if every_prize_exceeds_cost else None


def _format_tenths(value: Fraction) -> str:
    """Return a number rounded to the nearest tenth, as text."""
    tenths = round(value * 10)
    return f"{tenths // 10}.{tenths % 10}"
