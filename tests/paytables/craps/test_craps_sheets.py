"""The figures of craps on the command line, for a layout of bets and for a strategy."""

import json

import pytest
from click.testing import CliRunner

from tools.cli import main


def run(*args, code=0):
    result = CliRunner().invoke(main, [str(argument) for argument in args])
    assert result.exit_code == code, result.output
    return result.output


@pytest.mark.requirement("P-07", "C-08")
def test_the_house_edge_of_a_strategy_is_stated_of_its_total_stake():
    output = run("par", "quebec-craps", "--strategy", "pass-odds")
    assert "of all that is staked  99.6256 %  1863/1870" in output
    assert "the house keeps 0.3743 % (7/1870), a throw 0.004189 (7/1671)" in output
    assert "there are: pass, pass-odds, dontpass-odds, three-point-molly" in run(
        "par", "quebec-craps", "--strategy", "martingale", code=1
    )
    assert "can only be named for craps" in run("par", "river-wheel", "--strategy", "x", code=1)


@pytest.mark.requirement("P-07", "C-08")
def test_a_combination_of_bets_has_its_own_par_sheet():
    data = json.loads(run("par", "quebec-craps", "--bet", "pass=5", "--bet", "right-6=6", "--json"))
    (bet,) = data["bets"]
    assert bet["cost_credits"] == 11
    assert bet["return"]["exact"] == "1073/1089"  # (5 x 488/495 + 6 x 65/66) / 11
    assert "the shooter of a come-out" in run("par", "quebec-craps", "--bet", "field=5", code=1)
