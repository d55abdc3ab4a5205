"""``egm keno`` prints exact odds of a typed ticket, and refuses invalid tickets with a reason."""

import json
import re
import tomllib
from fractions import Fraction

import jsonschema
import pytest
from click.testing import CliRunner

from egm.screen.text import Texts
from paytables import AnalysisDepth, analyse, load_game
from paytables.definition import parse, read_source
from paytables.keno.printed_ticket import build_slip
from tools.cli.commands import game as game_command
from tools.cli.commands.keno import command, compute_win_interval
from tools.lab.simulation import INTERVAL_Z_SCORE


def run(*arguments):
    return CliRunner().invoke(command, arguments)


def odds(*arguments):
    result = run("odds", *arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def test_a_straight_ticket_has_the_odds_of_the_par_sheet():
    bet = next(b for b in analyse(load_game("aurora-keno")).bets if b.bet == "6 spots at 1 + northern-lights")
    ticket_odds = odds("aurora-keno", "1,2,3,4,5,6", "--bonus", "northern-lights")
    assert ticket_odds["cost_credits"] == 2
    assert Fraction(ticket_odds["return"]["exact"]) == bet.rtp
    assert Fraction(ticket_odds["variance_credits2"]["exact"]) == bet.variance
    assert sum(Fraction(p) for p in ticket_odds["distribution"].values()) == 1
    assert odds("aurora-keno", "?6", "--bonus", "northern-lights") == ticket_odds


def test_a_way_ticket_is_entered_with_groups_and_stakes():
    ticket_odds = odds("aurora-keno", "3,11,27/42,80@3:1,5:2", "7,8@2:5", "--draws", "3")
    assert ticket_odds["cost_credits"] == (1 + 2 + 5) * 3


def test_a_distribution_too_costly_to_compute_is_reported_and_can_be_simulated():
    cards = [",".join(str((7 * i + 11 * j * (j + i)) % 80 + 1) for j in range(7)) for i in range(24)]
    good = [card for card in cards if len(set(card.split(","))) == 7][:16]
    ticket_odds = odds("archipelago-keno", *good)
    assert ticket_odds["distribution"] is None
    assert "too costly to compute exactly" in ticket_odds["notes"][0]
    assert ticket_odds["variance_credits2"] is not None
    played = odds("archipelago-keno", *good, "--games", "50")["played"]
    assert played["games"] == 50
    low, high = played["hit_interval"]
    assert 0 < low < high <= 1
    assert played["return_interval"][0] < played["return"] < played["return_interval"][1]
    assert "too costly to compute exactly" in " ".join(run("odds", "archipelago-keno", *good).output.split())


def test_the_hit_interval_is_the_wilson_interval():
    """E. B. Wilson, JASA 22 (1927): the p with (p - k/n)^2 = z^2 p (1 - p) / n."""
    for hits, games in ((0, 50), (3, 40), (20, 40), (40, 40)):
        for p in compute_win_interval(hits, games):
            assert abs((p - hits / games) ** 2 - INTERVAL_Z_SCORE**2 * p * (1 - p) / games) < 1e-12


def test_the_odds_are_printed_as_text():
    result = run("odds", "archipelago-keno", "1,2,3,4,5,6,7,8", "--games", "50")
    assert "Played 50 times: returns" in result.output
    assert result.exit_code == 0
    assert "returns 86.8" in result.output
    assert "Progressive lighthouse" in result.output


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("aurora-keno", "1,1"), "marked twice"),
        (("aurora-keno", "1,x"), "write it as"),
        (("aurora-keno", "1,2@2"), "write it as"),
        (("river-wheel", "1,2"), "river-wheel is a wheel game"),
        (("no-such-game", "1,2"), "not in the library"),
    ],
)
def test_an_invalid_ticket_is_refused_with_the_reason(arguments, reason):
    result = run("odds", *arguments)
    assert result.exit_code != 0
    assert reason in " ".join(result.output.split())


@pytest.mark.requirement("M-02", "M-17")
def test_the_slip_states_its_limits_in_both_languages():
    shown = json.loads(run("slip", "aurora-keno", "--json").output)
    assert (shown["fewest_spots"], shown["most_spots"]) == (2, 10)
    for name in ("aurora-keno", "archipelago-keno", "summit-keno"):
        definition = load_game(name).rules.definition
        facts = build_slip(definition)
        for language, words in (("en", "Mark {} to {} numbers"), ("fr", "Cochez de {} à {} numéros")):
            paper = run("slip", name, "--language", language).output
            assert words.format(facts["fewest_spots"], facts["most_spots"]) in paper
            most = Texts(language).format_number(facts["most_paid_a_draw_credits"])
            assert re.search(rf": {most} \w", paper)
            assert (definition.game.help.model_dump() if facts["rules_at"] is None else facts["rules_at"])[
                language
            ] in paper
            boxes = re.findall(r"\[ \] (\d\d)\b", paper)
            everything = [f"{n:02d}" for n in range(1, definition.field.number_count + 1)]
            assert boxes[: len(everything)] == everything
            two = run("slip", name, "--language", language, "--selections", "2").output
            assert (paper.count("[ ] 01"), two.count("[ ] 01")) == (1, 2)
            assert all(bonus.name.model_dump()[language] in paper for bonus in definition.bonuses)
    assert (
        "a ticket of this game has at most 20 selections"
        in run("slip", "archipelago-keno", "--selections", "21").output
    )


def work(*arguments):
    result = CliRunner().invoke(game_command.command, arguments)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize(("family", "lowest"), [("keno", "285/316"), ("wheel", "9/10")])
def test_a_new_definition_is_valid_and_can_be_tuned(tmp_path, family, lowest):
    file = tmp_path / "mine.toml"
    work("new", str(file), "--family", family)
    assert analyse(load_game(file), AnalysisDepth.RETURN).minimum_rtp == Fraction(lowest)
    assert "mine 0.1.0 is valid" in work("check", str(file))
    assert tomllib.loads(file.read_text(encoding="utf-8"))["game"]["family"] == family
    bet, key = ("5 spots at 1", "table.1.pays.5") if family == "keno" else ("star", "area.2.pays.star")
    output = work("tune", str(file), "--return", "0.8", "--bet", bet, "--pay", key)
    assert key in output
    assert "->" in output


@pytest.mark.parametrize(
    ("family", "games"), [("keno", ["aurora-keno", "archipelago-keno"]), ("wheel", ["river-wheel"])]
)
def test_the_published_schema_accepts_shipped_games_and_rejects_a_misspelt_key(family, games):
    schema = json.loads(work("schema", family))
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    for name in games:
        data = json.loads(json.dumps(parse(read_source(name)), default=str))
        assert not list(validator.iter_errors(data))
        assert list(validator.iter_errors({**data, "colour": "red"}))
        assert list(validator.iter_errors({k: v for k, v in data.items() if k != "form"}))
