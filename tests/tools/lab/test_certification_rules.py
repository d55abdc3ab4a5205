"""Rules a game is held against in certification, on real definitions and on ones made to break them."""

import itertools
import random
from fractions import Fraction

import pytest

from egm.profiles import load_profile
from paytables import Depth, analyse, load_game
from paytables.definition import read_source
from tools.dev.gallery import Walk
from tools.lab.certification.finding import Case, Status
from tools.lab.certification.rules import return_by_stake


def case_of(game):
    """A game as certification sees it, its analysis exact."""
    profile = load_profile("quebec-casino")
    return Case(game, game.id, analyse(game, Depth.FULL), profile, Walk("case"), 0)


@pytest.mark.requirement("C-08")
def test_a_return_that_falls_as_the_stake_rises_is_noted_with_both_figures(tmp_path):
    whole = read_source("seven-rivers").path.read_text(encoding="utf-8")
    (fine,) = return_by_stake(case_of(load_game("seven-rivers")))
    assert fine.status is Status.PASS
    (single,) = return_by_stake(case_of(load_game("maple-classic")))
    assert (single.status, single.evidence) == (Status.NOTHING, "1 way to bet, of one stake")
    worse = tmp_path / "worse.toml"
    assert "pays = { 3 = [0, 333, 300] }" in whole
    worse.write_text(whole.replace("pays = { 3 = [0, 333, 300] }", "pays = { 3 = [0, 312, 300] }"), "utf-8")
    game = load_game(worse)
    one, two, *_ = sorted(analyse(game, Depth.RETURN).bets, key=lambda bet: bet.cost_credits)
    assert one.rtp - Fraction(1, 1_000) < two.rtp < one.rtp - Fraction(1, 10_000)
    (finding,) = return_by_stake(case_of(game))
    assert finding.status is Status.NOTED
    assert "two" in finding.evidence
    assert "after one" in finding.evidence


@pytest.mark.requirement("C-07", "C-10:b")
def test_the_return_of_a_game_of_skill_is_that_of_its_best_strategy():
    """The advice is the best of all eight ways to hold, by playing every second spin of twenty first ones."""
    game = load_game("hold-fast")
    assert analyse(game, Depth.RETURN).bets[0].rtp >= Fraction(83, 100)
    stage = next(iter(game.rules.stages.values())).stage("base")
    strips = [range(len(strip)) for strip in stage.reels.strips]

    def worth(stops, mask):
        """The mean credits of holding the reels of a mask: every second spin counted once."""
        held = [[stop] if mask >> x & 1 else strips[x] for x, stop in enumerate(stops)]
        spins = list(itertools.product(*held))
        return Fraction(sum(stage.reels.evaluate_stops(spin)[0] for spin in spins), len(spins))

    anew = worth([0, 0, 0], 0)
    chance = random.Random(1)
    for _ in range(20):
        stops = [chance.choice(strip) for strip in strips]
        values = [anew, *(worth(stops, mask) for mask in range(1, 8))]
        assert values[stage.find_best_hold(stops)] == max(values), stops
