"""``egm keno``: exact odds of a ticket as typed, and refusals a person can act on."""

import json
from fractions import Fraction

import pytest
from click.testing import CliRunner

from paytables import analyse, load_game
from tools.commands.keno import command


def run(*arguments):
    return CliRunner().invoke(command, arguments)


def odds(*arguments):
    result = run("odds", *arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def test_a_straight_ticket_has_the_odds_of_the_par_sheet():
    bet = next(b for b in analyse(load_game("aurora-keno")).bets if b.bet == "6 spots at 1 + northern-lights")
    found = odds("aurora-keno", "1,2,3,4,5,6", "--bonus", "northern-lights")
    assert found["cost_credits"] == 2
    assert Fraction(found["return"]["exact"]) == bet.rtp
    assert Fraction(found["variance_credits2"]["exact"]) == bet.variance
    assert sum(Fraction(p) for p in found["distribution"].values()) == 1
    assert odds("aurora-keno", "?6", "--bonus", "northern-lights") == found


def test_a_way_ticket_is_written_with_groups_and_stakes():
    found = odds("aurora-keno", "3,11,27/42,80@3:1,5:2", "7,8@2:5", "--draws", "3")
    assert found["cost_credits"] == (1 + 2 + 5) * 3


def test_overlap_beyond_reach_is_said():
    cards = [",".join(str((7 * i + 11 * j * (j + i)) % 80 + 1) for j in range(7)) for i in range(24)]
    good = [card for card in cards if len(set(card.split(","))) == 7][:16]
    found = odds("archipelago-keno", *good)
    assert found["distribution"] is None
    assert "beyond exact reach" in found["notes"][0]
    assert found["variance_credits2"] is not None
    assert "beyond exact reach" in " ".join(run("odds", "archipelago-keno", *good).output.split())


def test_it_prints_for_people_too():
    result = run("odds", "archipelago-keno", "1,2,3,4,5,6,7,8")
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
def test_what_cannot_be_is_refused_in_words(arguments, reason):
    result = run("odds", *arguments)
    assert result.exit_code != 0
    assert reason in " ".join(result.output.split())


@pytest.mark.requirement("M-02")
def test_the_slip_is_printed():
    shown = json.loads(run("slip", "aurora-keno").output)
    assert (shown["fewest_spots"], shown["most_spots"]) == (2, 10)
