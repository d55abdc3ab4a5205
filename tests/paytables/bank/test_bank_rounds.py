"""Millions of rounds of the games against the bank, from the texts, beside what is exact of each."""

from collections import Counter
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from paytables import analyse, load_game
from tests.paytables.bank import bank_fast as fast
from tools.lab.simulation import SimulationTally, judge

PLAYED = {
    **{
        name: partial(fast.baccarat, name)
        for name in ("quebec-baccarat", "monaco-punto-banco", "monaco-punto-2000")
    },
    "monaco-banque-a-tout-va": fast.banque,
    "monaco-chemin-de-fer": fast.chemin,
    "quebec-super-pan-9": fast.super_pan,
    "quebec-red-dog": fast.red_dog,
    "quebec-war": fast.war,
    "monaco-trente-et-quarante": fast.trente,
}


def add_up_rounds(lots):
    """Add up lots of rounds: by bet the cost, how often each win came, how often each name with its credits."""
    costs, wins, named = {}, {}, {}
    for lot in lots:
        for bet, (cost, back, names) in lot.items():
            costs[bet] = cost
            wins.setdefault(bet, Counter()).update(
                dict(zip(*(array.tolist() for array in np.unique(back, return_counts=True)), strict=True))
            )
            for name, where in names.items():
                key = (
                    name
                    if isinstance(name, tuple)
                    else (name, bet, int(back[where][0]) if where.any() else 0)
                )
                named.setdefault(bet, Counter())[key] += int(where.sum())
    return costs, wins, named


def hold(name, rounds, seed=20261123):
    """Hold each bet's mean, each of its wins and each of its settlements; return every z by what it is of."""
    game = load_game(name)
    decks = game.rules.definition.shoe.decks
    costs, wins, named = add_up_rounds(PLAYED[name](decks, np.random.default_rng(seed), rounds))  # noqa: TID251
    found = {}
    bets = analyse(game).bets
    assert {spot for bet in bets for spot in bet.options["bets"]} == set(costs)
    for bet in bets:
        if bet.bet not in costs:  # the same bet at another stake: test_a_commission_on_a_part_is_stated
            continue
        assert bet.cost_credits == costs[bet.bet]
        counts = wins[bet.bet]
        assert sum(counts.values()) == rounds
        assert set(counts) <= set(bet.distribution.counts)
        total = sum(win * count for win, count in counts.items())
        tally = SimulationTally(rounds, total, sum(win * win * count for win, count in counts.items()))
        verdict = judge(tally, bet.cost_credits, bet.rtp, bet.variance)
        found[bet.bet, "return"] = verdict.z_score
        for win, cases in bet.distribution.counts.items():
            found[bet.bet, win] = fast.z_of(counts[win], rounds, Fraction(cases, bet.distribution.total))
        rates = {(prize.name, prize.stage_or_spot, prize.credits): prize.rate for prize in bet.prizes}
        settled = named[bet.bet]
        assert set(rates) == {key for key, count in settled.items() if count}
        for key, rate in rates.items():
            found[bet.bet, *key] = fast.z_of(settled[key], rounds, rate)
    return found


def compare_with_figures(found):
    """Hold each as near as 99.9 % of honest simulations; the seed is one, so that chance decides no test."""
    away = {key: z for key, z in found.items() if abs(z) > fast.NEAR}
    assert not away, (away, len(found))
    return found


@pytest.mark.parametrize("name", PLAYED)
def test_rounds_played_by_the_rules_agree_with_the_exact_figures(name):
    compare_with_figures(hold(name, fast.ROWS))


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("name", PLAYED)
def test_ten_million_rounds_played_by_the_rules_agree_with_the_exact_figures(name):
    compare_with_figures(hold(name, 10_000_000))
