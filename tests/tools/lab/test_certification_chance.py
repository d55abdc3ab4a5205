"""The certification rules about chance, for every library game and for definitions that break each rule."""

from dataclasses import replace
from fractions import Fraction

import pytest

from egm.profiles import load_profile
from paytables import AnalysisDepth, analyse, build_game, list_non_table_games, load_game
from paytables.definition import parse, read_source
from tools.dev.gallery import FixedDraws
from tools.lab.certification.chance import CHANCE_RULES, check_chance_decides, check_strategy
from tools.lab.certification.finding import CertificationCase, FindingStatus


def list_findings(game, **awards):
    """Return the findings of the rules under a profile with these ``[awards]``."""
    profile = load_profile("quebec-casino")
    profile = profile.model_copy(update={"awards": profile.awards.model_copy(update=awards)})
    case = CertificationCase(
        game, game.id, analyse(game, AnalysisDepth.VOLATILITY), profile, FixedDraws("case"), 0
    )
    return [finding for rule in CHANCE_RULES for finding in rule(case)]


def failed(found):
    return {finding.rule: finding.evidence for finding in found if finding.status is FindingStatus.FAIL}


def build_changed_game(name, *path, to):
    """Return a library game with one value of its definition changed."""
    data = parse(read_source(name))
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = to
    return build_game(data, "test")


@pytest.mark.requirement("B-01", "B-09", "B-12", "B-17", "P-10")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if name == "comet-respin" else name
        for name in list_non_table_games()
    ],
)
def test_every_library_game_passes_the_rules_about_chance(name):
    findings = list_findings(load_game(name))
    assert failed(findings) == {}
    assert {finding.rule for finding in findings} >= {
        "chance-decides", "draw-on-every-path", "strategy", "depicted-odds", "prizes-at-every-bet",
    }  # fmt: skip


@pytest.mark.requirement("P-10", "C-10")
def test_the_best_and_the_worst_strategy_are_stated():
    words = [f.evidence for f in list_findings(load_game("hold-fast")) if f.rule == "strategy"]
    assert "95.0302 % at best, 2.5700 % at worst: hold the reels worth most" in words[0]
    assert "95.0302 % for the best of 1 bet, 2.5700 % for the worst" in words[1]
    words = [f.evidence for f in list_findings(load_game("orchard-picnic")) if f.rule == "strategy"]
    assert "91.0036 % however the player decides: double-up: any way" in words[0]


@pytest.mark.requirement("P-10")
@pytest.mark.parametrize("missing", [{"strategy": None}, {"worst_rtp": Fraction(2)}], ids=["best", "worst"])
def test_a_game_with_choices_fails_without_a_best_or_a_worst_strategy(missing):
    """The worst way to play must not return more than the best one."""
    game, profile = load_game("orchard-picnic"), load_profile("quebec-casino")
    analysis = analyse(game, AnalysisDepth.RETURN)
    for changes, status in (({}, FindingStatus.PASS), (missing, FindingStatus.FAIL)):
        bets = tuple(replace(bet, **changes) for bet in analysis.bets)
        case = CertificationCase(game, game.id, replace(analysis, bets=bets), profile, FixedDraws("case"), 0)
        assert {finding.status for finding in list(check_strategy(case))[: len(bets)]} == {status}


@pytest.mark.requirement("P-10", "B-01")
def test_a_game_with_choices_in_which_chance_changes_no_win_fails():
    game, profile = load_game("orchard-picnic"), load_profile("quebec-casino")
    analysis = analyse(game, AnalysisDepth.RETURN)
    for variance, status in ((Fraction(1), FindingStatus.PASS), (Fraction(0), FindingStatus.FAIL)):
        bets = tuple(replace(bet, variance=variance) for bet in analysis.bets)
        case = CertificationCase(game, game.id, replace(analysis, bets=bets), profile, FixedDraws("case"), 0)
        assert {finding.status for finding in check_chance_decides(case)} == {status}


@pytest.mark.requirement("P-10", "B-01")
def test_a_game_with_choices_that_draws_no_number_fails():
    reels = {
        "kind": "reels", "heights": [1], "lines": [[0]], "pay": [{"of": "birch", "pays": {1: 1}}],
        "strips": ["birch"], "player_holds": True,
    }  # fmt: skip
    found = failed(list_findings(build_changed_game("maple-classic", "stage", to={"base": reels})))
    assert found["draw-on-every-path"] == "bet line, always the first option: no random number was drawn"


@pytest.mark.requirement("B-01")
def test_a_game_with_only_one_win_or_no_draw_fails():
    reels = {
        "kind": "reels", "heights": [1], "lines": [[0]], "pay": [{"of": "birch", "pays": {1: 1}}],
    }  # fmt: skip
    for strip, rule, expected_text in (
        ("birch birch", "chance-decides", "2 equally likely first results; every game wins the same amount"),
        ("birch", "draw-on-every-path", "always the first option: no random number was drawn"),
    ):
        game = build_changed_game("maple-classic", "stage", to={"base": {**reels, "strips": [strip]}})
        assert expected_text in failed(list_findings(game))[rule]


@pytest.mark.requirement("B-12", "B-17")
def test_a_prize_hidden_behind_a_higher_one_fails():
    pays = parse(read_source("maple-classic"))["stage"]["base"]["pay"]
    hidden = [*pays, {"pattern": ["loon", "loon", "loon"], "pay": 1, "id": "hidden"}]
    failures = failed(list_findings(build_changed_game("maple-classic", "stage", "base", "pay", to=hidden)))
    assert failures["prizes-at-every-bet"].endswith("no result wins base hidden")


@pytest.mark.requirement("B-09", "B-10", "B-17")
def test_a_stop_displayed_but_never_drawn_fails_and_an_unequal_one_is_noted():
    strips = parse(read_source("maple-classic"))["stage"]["base"]["strips"]
    even = [[1] * len(strip.split()) for strip in strips]
    never = [[0, *even[0][1:]], *even[1:]]
    failures = failed(
        list_findings(build_changed_game("maple-classic", "stage", "base", "weights", to=never))
    )
    assert failures["depicted-odds"] == "base, reel 1: 1 of 24 stops are displayed but never drawn"
    rare = [even[0], [5, *even[1][1:]], even[2]]
    noted = list_findings(build_changed_game("maple-classic", "stage", "base", "weights", to=rare))
    assert failed(noted) == {}
    assert [f.status for f in noted if f.rule == "depicted-odds"] == [
        FindingStatus.PASS, FindingStatus.NOTED, FindingStatus.PASS,
    ]  # fmt: skip


@pytest.mark.requirement("B-12")
def test_a_profile_may_require_every_prize_at_every_bet():
    game = load_game("seven-rivers")
    noted = [
        f for f in list_findings(game) if f.status is FindingStatus.NOTED and f.rule == "prizes-at-every-bet"
    ]
    assert [f.evidence for f in noted] == [
        "bet one: 6 prizes; only other bets win 3 salmon, 3 seven",
        "bet two: 7 prizes; only other bets win 3 seven",
    ]
    assert "prizes-at-every-bet" in failed(list_findings(game, requires_every_prize_at_every_bet=True))
    assert failed(list_findings(load_game("maple-classic"), requires_every_prize_at_every_bet=True)) == {}


@pytest.mark.requirement("B-12", "B-17")
def test_a_feature_that_no_bet_leads_to_fails():
    data = parse(read_source("maple-classic"))
    data["stage"]["lost"] = {"kind": "wheel", "items": [{"credits": 1000}, {"credits": 1}]}
    failures = failed(list_findings(build_game(data, "test")))
    assert failures["stages-played"] == "lost: no bet leads to this stage"
