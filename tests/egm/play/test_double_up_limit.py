"""The win after a double-up counts against the jurisdiction's limit and is included in the game's figures."""

import re
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from rigs.rounds import play_decisions

import egm.profiles
from egm.config.cabinet_file import GameTable
from egm.play.installed_games import admit_games
from egm.profiles import load_profile
from paytables import AnalysisDepth, ReplayDrawSource, analyse, load_game
from paytables.contract import Choice
from paytables.definition import LIBRARY_FOLDER
from tools.lab.parsheet import build_sheet


def game(tmp_path, *, double_up=""):
    """Write maple-classic with or without a double-up; return its path."""
    path = tmp_path / f"twice{len(double_up)}.toml"
    path.write_text((LIBRARY_FOLDER / "maple-classic.toml").read_text() + double_up)
    return path


TABLE = "\n[double_up]\nmost_rounds = 10\nmost_credits = 5120\n"


@pytest.mark.requirement("C-20", "F-05")
def test_with_a_prize_limit_no_double_up_beyond_it_is_offered(tmp_path):
    plain, doubled = game(tmp_path), game(tmp_path, double_up=TABLE.replace("5120", "1000000"))
    profile_file = tmp_path / "place.toml"
    text = Path(egm.profiles.__file__).with_name("generic.toml").read_text()
    text = text.replace("[play]", "[play]\nwin_limit_cents = 500000")
    profile_file.write_text(re.sub(r"prizes_in_kind = .*", 'prizes_in_kind = "refused"', text))
    profile = load_profile(profile_file)
    limit_cents = profile.play.win_max_cents
    assert limit_cents is not None
    admitted, refusals = admit_games((GameTable(game=str(plain)),), profile)
    assert admitted, refusals
    admitted, refusals = admit_games((GameTable(game=str(doubled)),), profile)
    assert not admitted
    assert "it can win" in refusals[0].reason


@pytest.mark.requirement("C-20")
def test_the_exact_figures_include_the_double_up(tmp_path):
    """The test compares them with every path of the game, with as many doubles as permitted."""
    found = load_game(game(tmp_path, double_up=TABLE))
    (bet,) = [b for b in analyse(found, AnalysisDepth.FULL).bets if b.cost_credits == 1]
    plain = load_game(game(tmp_path))
    (before,) = [b for b in analyse(plain, AnalysisDepth.FULL).bets if b.cost_credits == 1]
    assert (bet.rtp, bet.distribution, bet.variance) == (before.rtp, before.distribution, before.variance)
    assert before.double_up is None
    assert before.distribution is not None
    second = Fraction(0)
    most = 0
    law = {0: Fraction(0)}
    for win, count in before.distribution.case_count_by_win.items():
        rounds, now = 0, win
        while now and rounds < 10 and 2 * now <= 5120:
            rounds, now = rounds + 1, 2 * now
        here = Fraction(count, before.distribution.case_count)
        second += here * Fraction(1, 2**rounds) * now**2
        law[now] = law.get(now, Fraction(0)) + here / 2**rounds
        law[0] += here * (1 - Fraction(1, 2**rounds))
        most = max(most, now)
    assert bet.double_up is not None
    assert bet.double_up.variance == second - before.mean_credits**2
    assert most <= bet.max_win_credits_with_double_up <= max(5120, before.max_win_credits)
    distribution = bet.double_up.distribution
    assert {
        win: Fraction(count, distribution.case_count) for win, count in distribution.case_count_by_win.items()
    } == law
    assert (distribution.compute_moment(1), distribution.compute_variance()) == (
        before.mean_credits,
        bet.double_up.variance,
    )
    sheet = build_sheet(found, analyse(found, AnalysisDepth.FULL))
    (facts,) = (dict(page["facts"]) for page in sheet["feature_sheets"] if page["sheet"] == "Double-up")
    assert (
        Fraction(facts[f"bet {bet.bet}, bet level 1: hit frequency, always doubled"]["exact"]) == 1 - law[0]
    )
    data = sheet["bets"][0]
    doubled, plain = data["distribution_when_always_doubled"], data["distribution"]
    assert Fraction(doubled["nothing"]["exact"]) == law[0] > Fraction(plain["nothing"]["exact"])
    assert sum(Fraction(row["return"]["exact"]) for row in doubled["classes"]) == bet.rtp


@pytest.mark.requirement("C-20")
def test_no_game_wins_more_than_its_stated_maximum(tmp_path):
    found = load_game(game(tmp_path, double_up="\n[double_up]\nmost_rounds = 3\nmost_credits = 100\n"))
    (bet,) = [b for b in analyse(found, AnalysisDepth.FULL).bets if b.cost_credits == 1]
    reached = 0
    for stops in product(range(24), repeat=3):
        record = [(24, stop, f"base.reel{n}") for n, stop in enumerate(stops, 1)]
        record += [(2, 0, "double_up")] * 3
        play = play_decisions(found, found.build_wager(1), ReplayDrawSource(record))
        try:
            next(play)
            while True:
                play.send(Choice("red"))
        except StopIteration as end:
            reached = max(reached, end.value.returned_credits)
    assert reached <= bet.max_win_credits_with_double_up
