"""The certification rules, for real definitions and for definitions that break each rule."""

import itertools
import random
from fractions import Fraction

import pytest

from egm.profiles import load_profile
from paytables import AnalysisDepth, analyse, load_game
from paytables.definition import read_source
from paytables.odds import list_awards
from tools.dev.gallery import FixedDraws
from tools.lab.certification.finding import CertificationCase, FindingStatus
from tools.lab.certification.rules import check_longest_odds, check_return_by_stake, check_return_floor


def build_case(game, profile=None):
    """Return a game with its exact analysis, as the certification rules receive it."""
    profile = profile or load_profile("quebec-casino")
    return CertificationCase(game, game.id, analyse(game, AnalysisDepth.FULL), profile, FixedDraws("case"), 0)


@pytest.mark.requirement("C-08")
def test_a_return_that_falls_as_the_stake_rises_is_noted_with_both_figures(tmp_path):
    definition_text = read_source("seven-rivers").path.read_text(encoding="utf-8")
    (fine,) = check_return_by_stake(build_case(load_game("seven-rivers")))
    assert fine.status is FindingStatus.PASS
    (single,) = check_return_by_stake(build_case(load_game("maple-classic")))
    assert (single.status, single.evidence) == (
        FindingStatus.NOT_APPLICABLE,
        "1 way to bet, all with the same stake",
    )
    worse = tmp_path / "worse.toml"
    assert "pays = { 3 = [0, 333, 300] }" in definition_text
    worse.write_text(
        definition_text.replace("pays = { 3 = [0, 333, 300] }", "pays = { 3 = [0, 312, 300] }"), "utf-8"
    )
    game = load_game(worse)
    lowest_bet, next_bet, *_ = sorted(
        analyse(game, AnalysisDepth.RETURN).bets, key=lambda bet: bet.cost_credits
    )
    assert lowest_bet.rtp - Fraction(1, 1_000) < next_bet.rtp < lowest_bet.rtp - Fraction(1, 10_000)
    (finding,) = check_return_by_stake(build_case(game))
    assert finding.status is FindingStatus.NOTED
    assert "two" in finding.evidence
    assert "after one" in finding.evidence


def judge_rule(rule, table, **keys):
    """Return the status of a rule's first finding about maple-classic under a profile with these values in a table."""
    profile = load_profile("generic")
    changed = getattr(profile, table).model_copy(update=keys)
    case = build_case(load_game("maple-classic"), profile.model_copy(update={table: changed}))
    return next(iter(rule(case))).status


@pytest.mark.requirement("C-05", "R-09", "B-12")
def test_the_return_floor_and_the_longest_odds_are_compared_exactly():
    """A floor equal to the game's return and odds equal to its rarest award pass; the slightest excess fails."""
    (bet,) = analyse(load_game("maple-classic"), AnalysisDepth.FULL).bets
    hair = Fraction(1, 10**12)
    assert judge_rule(check_return_floor, "returns", reels_return_min=bet.rtp) is FindingStatus.PASS
    assert judge_rule(check_return_floor, "returns", reels_return_min=bet.rtp + hair) is FindingStatus.FAIL
    one_in = int(1 / list_awards(bet)[0].rate)
    assert judge_rule(check_longest_odds, "awards", longest_odds_one_in=one_in) is FindingStatus.PASS
    assert judge_rule(check_longest_odds, "awards", longest_odds_one_in=one_in - 1) is FindingStatus.FAIL


@pytest.mark.requirement("C-07", "C-10:b")
def test_the_return_of_a_game_of_skill_is_that_of_its_best_strategy():
    """The advice matches the best of all eight ways to hold, with every second spin played after twenty first spins."""
    game = load_game("hold-fast")
    assert analyse(game, AnalysisDepth.RETURN).bets[0].rtp >= Fraction(83, 100)
    stage = next(iter(game.rules.stages.values())).get_stage("base")
    strips = [range(len(strip)) for strip in stage.reels.strips]

    def worth(stops, mask):
        """The mean credits of holding the reels of a mask: every second spin counted once."""
        stops_by_reel = [[stop] if mask >> x & 1 else strips[x] for x, stop in enumerate(stops)]
        spins = list(itertools.product(*stops_by_reel))
        return Fraction(sum(stage.reels.evaluate_stops(spin)[0] for spin in spins), len(spins))

    anew = worth([0, 0, 0], 0)
    generator = random.Random(1)
    for _ in range(20):
        stops = [generator.choice(strip) for strip in strips]
        values = [anew, *(worth(stops, mask) for mask in range(1, 8))]
        assert values[stage.find_best_hold(stops)] == max(values), stops
