"""Every feature has a complete and exact sheet, which can be printed in every format."""

import csv
import io
import json
from fractions import Fraction
from math import comb
from pathlib import Path

import pytest
from click.testing import CliRunner

from paytables import AnalysisDepth, analyse, list_non_table_games, list_table_games, load_game
from tools.cli import main
from tools.lab.parsheet.features import build_feature_sheets

THREE = Path(__file__).parents[2] / "vectors" / "three-levels.toml"
LONG = Path(__file__).parents[2] / "vectors" / "long-odds.toml"


def sheets(name, depth=AnalysisDepth.PRIZES):
    game = load_game(name)
    analysis = analyse(game, depth)
    return {s["sheet"]: s for s in build_feature_sheets(game, analysis)}, analysis


def column(sheet, name):
    column_index = sheet["columns"].index(name)
    return [
        Fraction(row[column_index]["exact"]) if isinstance(row[column_index], dict) else row[column_index]
        for row in sheet["rows"]
    ]


@pytest.mark.requirement("R-04")
def test_keno_has_a_sheet_of_every_catch_of_every_number_of_spots():
    sheets_by_name, _ = sheets("archipelago-keno")
    pays = {t.spot_count: t.pay_by_catch for t in load_game("archipelago-keno").rules.definition.pay_tables}
    tables = {n: s for n, s in sheets_by_name.items() if n.startswith("Keno, ")}
    assert len(tables) == len(pays)
    for name, sheet in tables.items():
        spots = int(name.split()[1])
        assert column(sheet, "catch") == list(range(spots, -1, -1))
        assert sum(column(sheet, "draws")) == 3_535_316_142_212_174_320  # 20 of 80
        assert sum(column(sheet, "probability")) == 1
        won = sum(n * comb(spots, c) * comb(80 - spots, 20 - c) for c, n in pays[spots].items())
        assert sum(column(sheet, "return")) == Fraction(won, comb(80, 20))
    facts = dict(sheets_by_name["Keno"]["facts"])
    assert facts["field"] == "20 of 80 numbers, without replacement"
    level = dict(sheets_by_name["Progressive level lighthouse"]["facts"])
    assert level == {
        "name": "Lighthouse / Phare",
        "won by": "a way of 8 spots that catches 8",
        "stake of the way, credits": "1 or more",
        "reset, credits": 20_000,
        "increment, share of each eligible wager": "1/100",
        "stored by": "the machine",
    }
    assert facts["bonus beacon"] == "ball 20 on the way multiplies its win by 2; part of every bet"


@pytest.mark.requirement("R-04")
def test_a_keno_sheet_states_each_limit_and_the_price_of_a_bonus():
    sheets_by_name, _ = sheets("aurora-keno")
    facts = dict(sheets_by_name["Keno"]["facts"])
    limits = ("stakes, credits per way", "most selections per ticket", "most groups per selection")
    limits += ("most draws per ticket", "highest cost of a ticket per draw, credits")
    assert [facts[name] for name in limits] == ["1, 2, 5, 10", 4, 10, 20, 200]
    assert facts["highest pay of a ticket per draw, credits"] == 2_000_000
    weights = "1 (9 in 20), 2 (6 in 20), 3 (3 in 20), 5 (2 in 20)"
    assert (
        facts["bonus northern-lights"] == f"every win times {weights}; bought for 1 credit per credit staked"
    )


@pytest.mark.requirement("R-04")
def test_every_progressive_level_states_all_its_parameters():
    sheets_by_name, analysis = sheets(THREE)
    (bet,) = analysis.bets
    won = {
        name: dict(sheets_by_name[f"Progressive level {name}"]["facts"])
        for name in ("top", "luck", "mystery")
    }
    assert won["top"]["won by"] == "a prize that gives it"
    assert won["luck"]["won by"] == "chance of its own, 1 in 200 games"
    assert won["mystery"]["won by"].startswith("its amount reaching a secret amount")
    assert won["mystery"]["ceiling, credits at bet level 1"] == 110
    assert [level["increment, share of each wager"] for level in won.values()] == ["1/70", "1/150", "1/90"]
    assert [level["reset, credits at bet level 1"] for level in won.values()] == [300, 100, 100]
    assert won["top"]["name"] == "Top / Sommet"
    assert {level["stored by"] for level in won.values()} == {"the machine"}
    (linked, *_) = (sheet for name, sheet in sheets("lantern-harbour")[0].items() if "level" in name)
    assert dict(linked["facts"])["stored by"] == "a controller, for linked machines"
    for share in bet.progressives:
        (row,) = sheets_by_name[f"Progressive level {share.level}"]["rows"]
        exact = [Fraction(c["exact"]) for c in row[2:]]
        both = share.rtp_at_reset + share.increment
        assert row[:2] == [bet.bet, bet.cost_credits]
        assert exact == [share.rate, share.rtp_at_reset, share.increment, both, share.break_even_credits]


@pytest.mark.requirement("R-04", "C-20")
def test_the_double_up_has_a_sheet_round_by_round():
    sheets_by_name, analysis = sheets("orchard-picnic", AnalysisDepth.FULL)
    sheet = sheets_by_name["Double-up"]
    assert column(sheet, "round") == [1, 2, 3, 4, 5]
    assert column(sheet, "probability of winning every round so far") == [
        Fraction(1, 2**n) for n in range(1, 6)
    ]
    assert column(sheet, "return of the win") == [1] * 5
    facts = dict(sheet["facts"])
    assert (facts["most rounds"], facts["highest doubled win, credits"]) == (5, 5000)
    assert facts["return of a round"]["exact"] == "1"
    bet = analysis.bets[0]
    offered = Fraction(facts[f"bet {bet.bet}, bet level 1: games whose win may be doubled"]["exact"])
    assert bet.hit_probability * Fraction(9, 10) < offered < bet.hit_probability


@pytest.mark.requirement("R-04")
@pytest.mark.parametrize("name", list_non_table_games())
def test_every_feature_of_every_library_game_has_a_sheet(name):
    sheets_by_name, analysis = sheets(name)
    for bet in analysis.bets:
        for feature in bet.features:
            assert name == "river-wheel" or any(
                s.startswith(f"Feature {feature.feature}") for s in sheets_by_name
            )
    for sheet in sheets_by_name.values():
        if "share" in sheet["columns"]:
            assert sum(column(sheet, "share")) == 1


@pytest.mark.requirement("R-04")
@pytest.mark.parametrize("name", ["seven-rivers", "hold-fast", "aurora-keno", "river-wheel"])
def test_the_feature_sheets_are_in_every_output_format(name):
    sheets_by_name, _ = sheets(name)
    run = CliRunner()
    text = run.invoke(main, ["par", name]).output
    rows = list(csv.reader(io.StringIO(run.invoke(main, ["par", name, "--csv"]).output)))
    full_sheet = json.loads(run.invoke(main, ["par", name, "--json"]).output)
    assert [s["sheet"] for s in full_sheet["feature_sheets"]] == list(sheets_by_name)
    for sheet in sheets_by_name:
        assert sheet in text
        assert any(row[1] == sheet for row in rows if row)


@pytest.mark.requirement("R-04")
def test_the_wheel_sheet_counts_every_part():
    sheets_by_name, _ = sheets("river-wheel")
    assert sum(column(sheets_by_name["Wheel"], "parts")) == 54
    assert sum(column(sheets_by_name["Wheel"], "probability")) == 1


@pytest.mark.requirement("C-23")
def test_the_sheet_prints_the_odds_that_the_jurisdiction_requires(tmp_path):
    page = tmp_path / "par.html"
    run = CliRunner().invoke(
        main, ["par", str(LONG), "--html", "--out", str(page), "--jurisdiction", "generic"]
    )
    assert run.exit_code == 0, run.output
    text = page.read_text(encoding="utf-8")
    assert text.count("odds shown to the player") == 4
    assert "1 in 27,000,000.00" in text
    output = CliRunner().invoke(main, ["par", str(LONG)]).output
    assert "shown to the player, bet two: base 3 star 1 in 27,000,000.00" in " ".join(output.split())


def test_the_returns_at_reset_and_with_increments_are_stated_separately():
    bet = json.loads(CliRunner().invoke(main, ["par", str(THREE), "--json"]).output)["bets"][0]
    at_reset = Fraction(bet["return_with_progressives_at_reset"]["exact"])
    both = Fraction(bet["return_with_progressives_and_increments"]["exact"])
    assert both - at_reset == Fraction(1, 70) + Fraction(1, 150) + Fraction(1, 90)


@pytest.mark.requirement("P-10", "C-10")
def test_games_with_choices_state_the_returns_of_best_and_worst_play():
    sheets_by_name, analysis = sheets("hold-fast")
    for bet in analysis.bets:
        assert bet.worst_rtp < bet.rtp
        sheet = sheets_by_name[f"Reels held at bet {bet.bet}, base"]
        facts = dict(sheet["facts"])
        assert Fraction(facts["mean credits of the best strategy"]["exact"]) == bet.mean_credits
        assert (
            Fraction(facts["mean credits of the worst strategy"]["exact"]) == bet.worst_rtp * bet.cost_credits
        )
        often, then = column(sheet, "probability"), column(sheet, "mean credits if held")
        assert sum(often) == 1
        assert sum(p * mean for p, mean in zip(often, then, strict=True)) == bet.mean_credits
    output = " ".join(CliRunner().invoke(main, ["par", "hold-fast"]).output.split())
    assert f"of the worst choices {float(100 * analysis.bets[0].worst_rtp):.4f} %" in output


class NoDrawError(Exception):
    """Raised when a random number is requested."""


class NoDraw:
    def below(self, bound, purpose):
        raise NoDrawError(bound, purpose)


@pytest.mark.requirement("B-01", "P-10")
@pytest.mark.parametrize("name", list_non_table_games())
def test_no_decision_or_result_precedes_the_first_draw(name):
    """In games that start with a choice of the player, too, nothing is decided before the first draw."""
    game = load_game(name)
    for bet in game.bet_options:
        with pytest.raises(NoDrawError):
            next(game.play(game.build_wager(bet), NoDraw()))


@pytest.mark.requirement("R-04", "P-01")
@pytest.mark.parametrize(
    "name", [name for name in list_table_games() if load_game(name).family in {"blackjack", "poker"}]
)
def test_a_table_game_states_its_best_simplest_and_worst_play(name):
    sheet = json.loads(CliRunner().invoke(main, ["par", name, "--json"]).output)
    (stake,) = [bet for bet in sheet["bets"] if bet["bet"] in {"main", "seven"}]
    best, worst = (Fraction(stake[key]["exact"]) for key in ("return", "return_of_the_worst_choices"))
    assert worst < best
    if stake["simplest_choices"] is not None:  # of the French hold'em no simple play is published
        assert worst < Fraction(stake["return_of_the_simplest_choices"]["exact"]) <= best
    assert (stake["simplest_choices"] is None) == (name == "france-casino-holdem")
    if sheet["family"] == "blackjack":
        (chart,) = [sheet for sheet in sheet["feature_sheets"] if sheet["sheet"] == "chart"]
        assert len(chart["columns"]) == 11
        facts = dict(chart["facts"])
        assert facts["insurance"] == "half of the bet, at a dealer's ace; pays 2:1"
        assert 0 < Fraction(facts["return of insurance, always taken, fresh shoe"]["exact"]) < 1
        assert {row[0] for row in chart["rows"]} >= {"hard 16", "soft 18", "pair of 8", "pair of aces"}


@pytest.mark.requirement("R-04")
def test_every_wheel_has_a_feature_sheet():
    """Regression: for a wheel at a table, `egm par` and `egm certify` ended with an AttributeError."""
    wheels = [
        game
        for game in map(load_game, (*list_non_table_games(), *list_table_games()))
        if game.family == "wheel"
    ]
    assert {"river-wheel", "monaco-big-wheel", "quebec-wheel-of-fortune"} <= {game.id for game in wheels}
    for game in wheels:
        (sheet,) = build_feature_sheets(game, analyse(game, AnalysisDepth.RETURN))
        part_count = dict(sheet["facts"])["equal parts"]
        assert sum(column(sheet, "parts")) == part_count
        assert sum(column(sheet, "probability")) == 1
