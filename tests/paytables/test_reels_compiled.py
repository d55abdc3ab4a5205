"""The compiled evaluator has the same source and gives the same results as the interpreted one."""

import hashlib
from itertools import product

import numpy as np
import pytest
from rigs.library import REELS

from paytables import AnalysisDepth, AnalysisError, analyse, load_game
from paytables.reels.compiled import (
    _allocate_work_arrays,
    _compile_kernel,
    _compute_credits_won_by_window,
    build_arrays,
    enumerate_cycle,
    find_reason_not_to_simulate,
    simulate,
)
from paytables.reels.spin import ReelSpinStage


def cases_of(reels, games, seed):
    """Return cases from SHA-256 of a counter, the same on every machine."""
    words = b"".join(
        hashlib.sha256(f"{seed}/{n}".encode()).digest()
        for n in range(games * len(reels.case_counts) // 4 + 1)
    )
    table = np.frombuffer(words, dtype=">u8")[: games * len(reels.case_counts)].reshape(games, -1)
    return (table % np.array(reels.case_counts, dtype=np.uint64)).astype(np.int64)


def evaluate(t, cases, totals, room):
    """Write the credits that each spin wins to ``totals``; the product's kernels are compiled into it."""
    starts, ends, weights, _, _ = room
    for game in range(len(totals)):
        totals[game] = _compute_credits_won_by_window(t, cases[game], starts, ends, weights)


def evaluate_many(reels, cases):
    """The credits that each spin wins at level 1; a row of ``cases`` has the case of each reel."""
    names = sorted({a.name for e in reels.graph.ends if e.prize for a in e.prize.awards} | {""})
    totals = np.zeros(len(cases), dtype=np.int64)
    work = _allocate_work_arrays(len(reels.components))
    _compile_kernel(evaluate)(build_arrays(reels, names), cases, totals, work)
    return totals


def check_agreement(reels, games):
    cases = cases_of(reels, games, reels.name)
    totals = evaluate_many(reels, cases)
    wide = [[stop for stop, w in enumerate(weights) for _ in range(w)] for weights in reels.stop_weights]
    for case, total in zip(cases.tolist(), totals.tolist(), strict=True):
        stops = [wide[x][c] for x, c in enumerate(case)]
        assert reels.evaluate_stops(stops)[0] * reels.multiplier == total
    assert totals.any()


@pytest.mark.parametrize("name", REELS)
def test_compiled_and_interpreted_evaluation_agree(name, subtests):
    rules = load_game(name).rules
    for (mode, mode_stages), stage in product(rules.stages.items(), rules.definition.stages):
        if isinstance(mode_stages.get_stage(stage), ReelSpinStage):
            with subtests.test(mode=mode, stage=stage):
                check_agreement(mode_stages.get_stage(stage).reels, 4_000)


@pytest.mark.slow
def test_compiled_and_interpreted_evaluation_agree_on_a_million_draws():
    check_agreement(load_game("aurora-twenty").rules.stages["twenty"].get_stage("base").reels, 1_000_000)


@pytest.mark.requirement("R-10")
def test_enumerating_the_full_cycle_equals_the_exact_analysis():
    stage = load_game("seven-rivers").rules.stages["three"].get_stage("base")
    total, squares = enumerate_cycle(stage.reels, stage.reels.cycle)
    table = stage.compute_figures(with_second_moment=True)
    assert (table.mean, table.second_moment) == (total / stage.reels.cycle, squares / stage.reels.cycle)


def test_a_compiled_simulation_with_free_games_lies_in_its_confidence_interval():
    game = load_game("aurora-twenty")
    (bet,) = analyse(game, AnalysisDepth.VOLATILITY).bets
    games = 100_000
    sample = simulate(game.rules.stages["twenty"], games, seed=5)
    error = (float(bet.variance) / games) ** 0.5
    assert abs(sample.win_sum / games - float(bet.mean_credits)) < 3.3 * error
    assert sample == simulate(game.rules.stages["twenty"], games, seed=5)
    assert sample != simulate(game.rules.stages["twenty"], games, seed=6)


@pytest.mark.parametrize(
    ("name", "mode", "reason"),
    [
        ("northern-ways", "ways", "stage free keeps state during its series"),
        ("icebreak", "eight", "stage base is not a plain spin"),
        ("comet-respin", "ten", "stage base keeps state during its series"),
    ],
)
def test_a_game_that_cannot_be_simulated_compiled_is_refused_with_the_reason(name, mode, reason):
    stages = load_game(name).rules.stages[mode]
    assert find_reason_not_to_simulate(stages) == reason
    with pytest.raises(AnalysisError, match=reason):
        simulate(stages, 10, seed=1)
