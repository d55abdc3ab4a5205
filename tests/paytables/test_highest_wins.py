"""Highest wins without enumerating the cycle, and the chance of winning nothing."""

import itertools
import subprocess
import sys
from fractions import Fraction
from math import prod

import paytables_brute as brute
import pytest
from hypothesis import given, settings
from test_reels_exact import definition, line_games, ways_games

from paytables import AnalysisDepth, DefinitionError, analyse, build_game, load_game
from paytables.reels.highest_pays import find_top_pays
from paytables.reels.run import find_top_pays_by_awards
from tests.rigs.examples import scale_examples

SMALL = settings(max_examples=scale_examples(120), deadline=None, derandomize=True)


def check(data):
    try:
        stage = build_game(data, "random").rules.stages["m"].get_stage("base")
    except DefinitionError:
        return
    assert stage.find_top_pays() == find_top_pays_by_awards(stage.compute_distribution())


@pytest.mark.requirement("R-02")
@SMALL
@given(line_games())
def test_the_highest_win_of_lines_equals_that_of_the_distribution(data):
    check(data)


@SMALL
@given(ways_games())
def test_the_highest_win_of_ways_equals_that_of_the_distribution(data):
    check(data)


@pytest.mark.parametrize(
    ("name", "stage"), [("northern-ways", "base"), ("orchard-picnic", "ante"), ("seven-rivers", "base")]
)
def test_highest_wins_of_library_games_equal_those_of_their_distributions(name, stage):
    stage_rules = next(iter(load_game(name).rules.stages.values())).get_stage(stage)
    found = find_top_pays(stage_rules.reels)
    assert {
        given: (most, Fraction(n, stage_rules.reels.cycle)) for given, (most, n) in found.items()
    } == find_top_pays_by_awards(stage_rules.compute_distribution())
    assert len(found) > 1 or name == "seven-rivers"


def build_looped_definition():
    """Return two features that start each other, both of which can end without a win."""
    reels = {"heights": [1, 1], "strips": ["a a b c c c", "a b b c c c"], "lines": [[0, 0]]}
    names = {"one": "two", "two": "one"}
    data = definition(
        {
            **reels,
            "pay": [
                {"of": "a", "pays": {2: 0}, "gives": [{"stage": "one", "times": 2}]},
                {"of": "b", "pays": {2: 5}},
            ],
        }
    )
    for name, other in names.items():
        data["stage"][name] = {
            **reels,
            "pay": [{"of": "b", "pays": {2: 0}, "gives": [{"stage": other}]}, {"of": "a", "pays": {2: 3}}],
        }
    return data


def test_the_hit_frequency_of_features_that_start_one_another_is_known():
    """In 2 of 36 windows a feature starts the other, in 2 it pays: its chance of nothing is z = (32 + 2 z) / 36."""
    (bet,) = analyse(build_game(build_looped_definition(), "loop"), AnalysisDepth.FULL).bets
    nothing = Fraction(32, 34)
    no_hit_share = Fraction(36 - 2 - 2, 36) + Fraction(2, 36) * nothing**2
    assert abs(bet.hit_probability - (1 - no_hit_share)) < Fraction(1, 1 << 40)
    assert any("features that start one another" in note for note in bet.notes)
    assert any("no distribution" in note for note in bet.notes)
    assert bet.variance is not None


def test_a_feature_that_pays_nothing_does_not_count_as_a_hit():
    """All free games may lose; the hit frequency is that of the whole game, from every path."""
    data = build_looped_definition()
    del data["stage"]["two"]
    free = data["stage"]["one"]
    free["pay"] = [{"of": "a", "pays": {2: 3}}]
    (bet,) = analyse(build_game(data, "free"), AnalysisDepth.FULL).bets
    once = sum(weight for weight, window in brute.windows(free) if window == [["a"], ["a"]])
    base = data["stage"]["base"]
    lost = Fraction(0)
    for weight, window in brute.windows(base):
        if window == [["a"], ["a"]]:
            lost += Fraction(weight, 36) * Fraction(36 - once, 36) ** 2
        elif window != [["b"], ["b"]]:
            lost += Fraction(weight, 36)
    assert bet.hit_probability == 1 - lost
    assert bet.notes == () or not any("rounded" in note for note in bet.notes)


def test_highest_wins_need_no_laboratory_package():
    """Without numpy, as on a cabinet, the largest prize equals that of brute force over the cycle."""
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "from paytables import AnalysisDepth, analyse, load_game\n"
        "bet = analyse(load_game('seven-rivers'), AnalysisDepth.HIGHEST).bets[2]\n"
        "print(bet.max_win_credits, bet.max_win_probability)\n"
        "full = analyse(load_game('seven-rivers'), AnalysisDepth.FULL).bets[2]\n"
        "print('laboratory packages' in ' '.join(full.notes), full.variance == bet.variance)\n"
        "print(full.hit_probability, any('hit frequency' in note for note in full.notes))\n"
    )
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    stage = load_game("seven-rivers").rules.stages["three"].get_stage("base").reels
    paid = [
        (stage.evaluate_stops(stops)[0], prod(w[s] for w, s in zip(stage.stop_weights, stops, strict=True)))
        for stops in itertools.product(*(range(len(strip)) for strip in stage.strips))
    ]
    most = max(credits_ for credits_, weight in paid if weight)
    odds = Fraction(sum(weight for credits_, weight in paid if credits_ == most), stage.cycle)
    hit = Fraction(sum(weight for credits_, weight in paid if credits_), stage.cycle)
    assert output == [
        str(most),
        str(odds),
        "True",
        "True",
        str(hit),
        "False",
    ]  # no note contradicts a known figure


#: Reel games whose windows that win nothing are counted at every start of a machine.
LONG = [pytest.param(name, marks=pytest.mark.slow) for name in ("maple-classic-92", "northern-ways")]
COUNTED = ("maple-classic", "maple-classic-95", "seven-rivers", *LONG)


@pytest.mark.library_only("C-25")
@pytest.mark.parametrize("name", COUNTED)
def test_a_machine_without_laboratory_packages_counts_how_often_few_lines_win(name):
    exact = [bet.hit_probability for bet in analyse(load_game(name), AnalysisDepth.FULL).bets]
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "from paytables import AnalysisDepth, analyse, load_game\n"
        f"print(*(bet.hit_probability for bet in analyse(load_game({name!r}), AnalysisDepth.PRIZES).bets))"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert [Fraction(share) for share in output.split()] == exact


@pytest.mark.parametrize("name", ["aurora-twenty", "icebreak", "hold-fast"])
def test_a_hit_frequency_that_takes_long_is_not_computed_at_start_up(name):
    assert [bet.hit_probability for bet in analyse(load_game(name), AnalysisDepth.PRIZES).bets] == [None]
