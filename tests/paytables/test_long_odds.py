"""Very long odds are computed exactly, shown to the player, printed on the sheet and checked by certification."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from egm.config.cabinet_file import GameTable
from egm.config.levels import ProgressiveLevelTable
from egm.play.installed_games import admit_games
from egm.profiles import load_profile
from egm.profiles.profile import AwardOddsRules
from paytables import AnalysisDepth, analyse, list_non_table_games, load_game
from paytables.odds import DEFAULT_ODDS_LIMITS, OddsLimits, list_awards, list_awards_to_disclose
from tools.cli import main

GAME = Path(__file__).parents[1] / "vectors" / "long-odds.toml"
#: Library games whose whole analysis takes seconds, and a quick one of the same kind.
LONG = ("comet-respin", "aurora-twenty", "northern-ways")


@pytest.mark.requirement("C-23")
def test_long_odds_of_top_and_other_awards_are_reported():
    first, second = analyse(load_game(GAME), AnalysisDepth.PRIZES).bets
    reported_odds = {
        bet.bet: [
            (a.name, a.one_in, a.is_top)
            for a in list_awards_to_disclose(list_awards(bet), DEFAULT_ODDS_LIMITS)
        ]
        for bet in (first, second)
    }
    # 300 cases a reel: three comets are one game in 27,000,000. They are the top award of one credit only.
    assert reported_odds["one"] == [("sky", 40_000_000, False), ("3 comet", 27_000_000, True)]
    assert reported_odds["two"] == [("sky", 40_000_000, False), ("3 star", 27_000_000, True)]
    exactly = list_awards_to_disclose(list_awards(second), OddsLimits(27_000_000, 40_000_000))
    assert exactly == []  # odds of exactly the limit are not beyond it
    assert list_awards_to_disclose(list_awards(second), OddsLimits(None, None)) == []


@pytest.mark.requirement("C-23")
def test_the_odds_of_a_prize_in_kind_are_disclosed():
    bet = analyse(load_game("orchard-picnic"), AnalysisDepth.PRIZES).bets[0]
    longer = list_awards_to_disclose(list_awards(bet), OddsLimits(None, 5_000_000))
    assert [(award.name, award.one_in) for award in longer] == [("hamper", 5_688_889)]


@pytest.mark.requirement("C-23")
def test_a_machine_reports_long_odds_to_the_screen_without_duplicates():
    level = ProgressiveLevelTable(game="long-odds", level="sky")
    admitted, refusals = admit_games((GameTable(game=str(GAME)),), load_profile("generic"), (level,))
    assert not refusals
    reported_odds = [(row.name, row.stage, row.one_in, row.bets) for row in admitted["long-odds"].long_odds]
    assert reported_odds == [
        ("sky", "", 40_000_000, (1, 2)),
        ("3 comet", "base", 27_000_000, (1,)),
        ("3 star", "base", 27_000_000, (2,)),
    ]


@pytest.mark.requirement("C-23", "B-12")
def test_certification_lists_long_odds_and_fails_those_beyond_the_limit(tmp_path, monkeypatch):
    command = ["certify", str(GAME), "--jurisdiction", "generic", "--games-played", "200"]
    run = CliRunner().invoke(main, [*command, "--out", str(tmp_path)])
    findings = json.loads((tmp_path / "long-odds" / "findings.json").read_text())
    long_odds_findings = [f for f in findings if f["rule"] == "long-odds"]
    assert [f["status"] for f in long_odds_findings] == ["noted", "noted"]
    assert "top award base 3 comet 1 in 27,000,000" in long_odds_findings[0]["evidence"]
    longest = [f for f in findings if f["rule"] == "longest-odds"]
    assert {f["status"] for f in longest} == {"pass"}
    strict = load_profile("generic").model_copy(update={"awards": AwardOddsRules(longest_one_in=39_999_999)})
    monkeypatch.setattr("tools.cli.commands.certify.load_named_profile", lambda _name: strict)
    run = CliRunner().invoke(main, [*command, "--out", str(tmp_path / "strict")])
    assert run.exit_code == 1
    findings = json.loads((tmp_path / "strict" / "long-odds" / "findings.json").read_text())
    longest = [f for f in findings if f["rule"] == "longest-odds"]
    assert {f["status"] for f in longest} == {"fail"}
    assert "sky 1 in 40,000,000.00; at most 1 in 39,999,999" in longest[0]["evidence"]


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in LONG else ()) for name in list_non_table_games()],
)
def test_awards_are_the_prizes_and_levels_of_the_analysis_and_prizes_need_no_variance(name):
    for quick, full in zip(
        analyse(load_game(name), AnalysisDepth.PRIZES).bets,
        analyse(load_game(name), AnalysisDepth.VOLATILITY).bets,
        strict=True,
    ):
        assert quick.prizes == full.prizes
        found = list_awards(quick)
        assert all(a.rate > 0 for a in found)
        assert [a.rate for a in found] == sorted(a.rate for a in found)
        tops = {a.credits for a in found if a.is_top}
        assert len(tops) == (1 if found else 0)
        assert all(a.credits is None or a.credits <= max(tops) for a in found)
