"""``egm par`` for several bets together, and the certification of tables against each kind of minimum return."""

import json

import pytest
from click.testing import CliRunner

from tools.cli import main

GAME = "monaco-roulette-european"


def run(*args, code=0):
    result = CliRunner().invoke(main, [str(a) for a in args])
    assert result.exit_code == code, result.output
    return result.output


@pytest.mark.requirement("P-10")
def test_the_sheet_of_a_layout_combines_its_bets():
    sheet = json.loads(run("par", GAME, "--bet", "red=8", "--bet", "straight-17=2", "--json"))
    (bet,) = sheet["bets"]
    assert bet["return"]["exact"] == "182/185"  # (8 x 73/74 + 2 x 36/37) / 10
    assert bet["cost_credits"] == 10
    output = run("par", GAME, "--bet", "red=8")
    assert "return if every stake is left in prison at zero: 98.63 %" in output


@pytest.mark.parametrize(
    ("bets", "reason"),
    [
        (("red",), "--bet red: write SPOT=CREDITS"),
        (("red=x",), "--bet red=x: write SPOT=CREDITS"),
        (("mauve=8",), "there is no spot 'mauve'"),
        (("red=7",), "would be 7 credits; 8 to 2,000"),
        (("red=10",), "10 credits: not a multiple of 4"),
    ],
)
def test_invalid_bets_of_a_layout_are_refused(bets, reason):
    assert reason in run("par", GAME, *(part for bet in bets for part in ("--bet", bet)), code=1)


@pytest.mark.requirement("C-05")
def test_a_table_bet_below_the_floor_of_its_jurisdiction_is_named(tmp_path):
    output = run("par", "quebec-sic-bo", "--bet", "double-3=1", "--jurisdiction", "quebec-casino", code=1)
    assert "66.66" in output
    output = run("par", "quebec-sic-bo", "--bet", "small=5", "--jurisdiction", "quebec-vlt")
    assert "97.22" in output
