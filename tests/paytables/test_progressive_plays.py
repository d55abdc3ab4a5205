"""The levels that a wager plays for, with stake, exact odds and return."""

import math
from fractions import Fraction
from math import comb
from pathlib import Path

import pytest
from click.testing import CliRunner
from rigs.rounds import play_decisions

from egm.progressive.level import Level, LevelTerms
from paytables import AnalysisDepth, RecordingDrawSource, analyse, load_game
from tools.cli import main

THREE = Path(__file__).parents[1] / "vectors" / "three-levels.toml"


@pytest.mark.requirement("I-03", "I-01")
def test_reels_play_for_every_level_their_mode_can_win_and_the_reset_grows_with_the_bet():
    game = load_game(THREE)
    (bet,) = analyse(game, AnalysisDepth.RETURN).bets
    for times in (1, 2):
        plays = {play.level: play for play in game.list_levels(game.build_wager(10 * times))}
        assert list(plays) == ["top", "luck", "mystery"]
        assert {p.level: p.rate for p in bet.progressives} == {name: p.hit_rate for name, p in plays.items()}
        assert (plays["top"].stake_credits, plays["top"].reset_credits) == (10 * times, 300 * times)
        assert plays["top"].hit_rate == Fraction(3, 8)  # one stop in four, and half of another one's jars
        assert plays["mystery"].ceiling_credits == 110 * times
    assert load_game("maple-classic").list_levels(load_game("maple-classic").build_wager(1)) == ()
    wheel = load_game("river-wheel")
    assert wheel.list_levels(wheel.build_wager(wheel.bet_options[0])) == ()


@pytest.mark.requirement("I-03")
def test_a_keno_ticket_plays_for_a_level_only_with_the_spots_and_the_stake():
    game = load_game("archipelago-keno")
    marks = {"groups": [8], "stakes": {"8": 1}}
    (play,) = game.list_levels(game.build_wager(1, selections=[marks]))
    assert (play.level, play.stake_credits, play.reset_credits) == ("lighthouse", 1, 20_000)
    assert play.hit_rate == Fraction(comb(8, 8) * comb(72, 12), comb(80, 20))
    six = {"groups": [6], "stakes": {"6": 1}}
    assert game.list_levels(game.build_wager(1, selections=[six])) == ()
    both = game.list_levels(game.build_wager(2, selections=[marks, {"groups": [7], "stakes": {"7": 1}}]))
    assert [play.level for play in both] == ["lighthouse", "buoy"]


def test_played_games_hit_levels_at_the_stated_odds(seeded_draw):
    """Played games hit as often as the odds say, within 5 sigma; the proof is in the analysis."""
    game = load_game(THREE)
    odds = {play.level: play.hit_rate for play in game.list_levels(game.build_wager(10))}
    hits = 0
    games = 4000
    for seed in range(games):
        draw = RecordingDrawSource(seeded_draw(seed))
        play = play_decisions(game, game.build_wager(10), draw)
        try:
            next(play)
            play.close()
        except StopIteration as end:
            hits += end.value.progressives.count("top")
    direct = Fraction(1, 4)  # the stop that gives it; the jars ask first
    assert odds["top"] > direct
    assert abs(hits - games * direct) < 5 * (games * direct * (1 - direct)) ** 0.5


@pytest.mark.requirement("R-09", "C-05", "C-09")
def test_the_return_is_stated_at_reset_at_a_meter_and_as_the_jurisdiction_counts_it():
    (bet,) = analyse(load_game("lantern-harbour"), AnalysisDepth.RETURN).bets
    harbour, grand = bet.progressives
    assert bet.compute_rtp_including_levels("nothing") == bet.rtp
    assert bet.compute_rtp_including_levels("reset") == bet.rtp + harbour.rtp_at_reset + grand.rtp_at_reset
    assert bet.compute_rtp_including_levels("all") == bet.rtp_with_progressives < 1
    even = harbour.break_even_credits
    assert bet.rtp + harbour.rate * even / bet.cost_credits == 1
    run = CliRunner().invoke(main, ["par", "lantern-harbour", "--meter", "harbour=1500"])
    assert run.exit_code == 0
    assert (
        f"{math.floor(10**6 * harbour.compute_rtp_at(1500, 10)) / 10**4:.4f} %" in run.output
    )  # never stated higher
    for wrong, expected_text in (("bay=3", "no level 'bay'"), ("harbour=x", "LEVEL=CREDITS")):
        run = CliRunner().invoke(main, ["par", "lantern-harbour", "--meter", wrong])
        assert run.exit_code == 1
        assert expected_text in run.output


@pytest.mark.requirement("R-09", "C-09")
def test_the_return_of_a_mystery_level_at_a_value_is_that_of_the_next_wager():
    """Its odds rise with its meter, as in the level's own draws; at the ceiling it is won with certainty."""
    (bet,) = analyse(load_game(THREE), AnalysisDepth.RETURN).bets
    mystery = next(share for share in bet.progressives if share.level == "mystery")
    terms = LevelTerms(base_cents=100, increment=Fraction(1, 90), ceiling_cents=110, is_mystery=True)
    level = Level.open(terms)
    for _ in range(90):
        favourable, bound = level.compute_mystery_hit_chance(10)
        assert mystery.compute_rate_at(level.current_amount, 10) == Fraction(favourable, bound)
        assert (
            mystery.compute_rtp_at(level.current_amount, 10)
            == Fraction(favourable, bound) * level.current_amount / 10
        )
        level = level.add_contribution(10)
    assert level.current_amount == 110
    assert mystery.compute_rate_at(110, 10) == mystery.compute_rate_at(200, 10) == 1
    assert (
        mystery.compute_rate_at(100, 10) < mystery.rate < mystery.compute_rate_at(109, 10)
    )  # the mean is between them
    even = mystery.break_even_credits
    assert 0 < even < 110
    assert bet.rtp + mystery.compute_rtp_at(even, 10) == 1
    top = next(share for share in bet.progressives if share.level == "top")
    assert top.compute_rate_at(1, 10) == top.compute_rate_at(10**6, 10) == top.rate
