"""Millions of rounds of the games against the bank, simulated from the texts and compared with the exact figures."""

from collections import Counter
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from paytables import analyse, load_game
from tests.paytables.bank import bank_fast as fast
from tools.lab.simulation import SimulationTally, judge_return

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
    """Return, by bet, the total cost, the number of each win, and the number of each settlement with its credits."""
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


def compare_bets(name, rounds, seed=20261123):
    """Compare each bet's mean, wins and settlements with the exact figures; return every deviate by name."""
    game = load_game(name)
    decks = game.rules.definition.shoe.deck_count
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
        assert set(counts) <= set(bet.distribution.case_count_by_win)
        total = sum(win * count for win, count in counts.items())
        tally = SimulationTally(rounds, total, sum(win * win * count for win, count in counts.items()))
        verdict = judge_return(tally, bet.cost_credits, bet.rtp, bet.variance)
        found[bet.bet, "return"] = verdict.z_score
        for win, cases in bet.distribution.case_count_by_win.items():
            found[bet.bet, win] = fast.z_of(counts[win], rounds, Fraction(cases, bet.distribution.case_count))
        rates = {(prize.name, prize.stage_or_spot, prize.credits): prize.rate for prize in bet.prizes}
        settled = named[bet.bet]
        assert set(rates) == {key for key, count in settled.items() if count}
        for key, rate in rates.items():
            found[bet.bet, *key] = fast.z_of(settled[key], rounds, rate)
    return found


def compare_with_figures(found):
    """Check that each deviate is within the bound of 99.9 % of honest simulations; the seed is fixed."""
    away = {key: z for key, z in found.items() if abs(z) > fast.NEAR}
    assert not away, (away, len(found))
    return found


@pytest.mark.parametrize("name", PLAYED)
def test_rounds_played_by_the_rules_agree_with_the_exact_figures(name):
    compare_with_figures(compare_bets(name, fast.ROWS))


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("name", PLAYED)
def test_ten_million_rounds_played_by_the_rules_agree_with_the_exact_figures(name):
    compare_with_figures(compare_bets(name, 10_000_000))
