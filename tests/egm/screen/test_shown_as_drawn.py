"""The screen shows the drawn stops and nothing else: no other symbol, and no time that reveals a result."""

import itertools
from dataclasses import replace

import pygame
import pytest
from rigs.library import REELS
from rigs.painters import TextPainter

from egm.screen.motion import ReelTravel
from egm.screen.picture import Picture
from egm.screen.presentation import build_timeline
from egm.screen.reel_data import ReelSpin
from egm.screen.scenes import reels
from egm.screen.scenes.reels import _choose_strip
from egm.screen.theme import load_theme
from egm.screen.view import build_view_timeline
from egm.testing.machine import ScriptedStep
from paytables import Round, load_game
from paytables.definition import read_source
from tools.dev.gallery import play_game, show_outcome
from tools.lab.views import build_game_view, build_idle_view

THEME = load_theme()
GAMES = 60


def iter_shown_outcomes(name):
    """Yield outcomes of a game, each as the screen shows it after the previous one."""
    game = load_game(name)
    game_view = build_game_view(game)
    view = build_idle_view((game_view,), game_view, "en")
    for number in range(GAMES):
        outcome = play_game(game, f"{name}/{number}", max(game.bet_options))
        yield show_outcome(view, game_view, outcome), outcome


@pytest.mark.requirement("B-08", "B-17")
@pytest.mark.parametrize("name", REELS)
def test_each_reel_comes_to_rest_on_the_window_of_the_outcome_along_its_own_strip(name):
    spins = 0
    for view, outcome in iter_shown_outcomes(name):
        steps = [step for step in outcome.display["steps"] if "stops" in step]
        results = [step for step in view.presentation.steps if isinstance(step, ReelSpin)]
        for step, result in zip(steps, results, strict=True):
            assert [list(column) for column in result.window] == step["window"]
            reel_data = view.reel_data_by_game[name][result.stage]
            for reel, column in enumerate(step["window"]):
                strip, start, target = _choose_strip(reel_data, result, None, reel)
                travel = ReelTravel(start, target, len(strip), 2.0)
                strip_position = int(travel.find_position(60.0, THEME.motion))
                assert [strip[(strip_position + row) % len(strip)] for row in range(len(column))] == column
                assert strip == reel_data.reel_strips[reel]
                spins += 1
    assert spins >= GAMES


@pytest.mark.requirement("A-20")
@pytest.mark.parametrize("name", ["comet-respin", "icebreak", "northern-ways", "seven-rivers"])
def test_before_the_first_game_the_reels_show_a_losing_window(name, monkeypatch):
    """At the first stops of these games' strips, some bet wins."""
    drawn = []
    monkeypatch.setattr(reels, "_draw_cell", lambda *cell: drawn.append(cell[3:]))
    view, _ = next(iter_shown_outcomes(name))
    reel_data = view.reel_data_by_game[name]["base"]
    reels.draw_stopped_reels(Picture(THEME)._build_context(view), reel_data, None)
    initial_stops = load_game(name).build_presentation()["rest"]
    assert drawn == [
        (reel, row, reel_data.reel_strips[reel][(stop + row) % len(reel_data.reel_strips[reel])])
        for reel, stop in enumerate(initial_stops)
        for row in range(reel_data.reel_heights[reel])
    ]
    starts = [
        _choose_strip(reel_data, view.presentation.steps[0], None, reel)[1]
        for reel in range(reel_data.reel_count)
    ]
    assert starts == initial_stops != [0] * reel_data.reel_count


@pytest.mark.requirement("B-17")
@pytest.mark.parametrize("name", ["maple-classic", "aurora-twenty"])
def test_symbols_drawn_on_reels_at_rest_are_those_of_the_outcome(name, monkeypatch):
    """Checked at the end of the game's display, and on the idle screen that shows the last game."""
    picture = Picture(THEME)
    picture.painter = TextPainter(THEME)
    surface, drawn = pygame.Surface(picture.size_pixels), {}
    monkeypatch.setattr(
        reels,
        "_draw_cell",
        lambda context, grid, reel_data, reel, row, symbol, **_: drawn.update({(reel, row): symbol}),
    )
    game, compared = build_game_view(load_game(name)), 0
    for view, outcome in itertools.islice(iter_shown_outcomes(name), 12):
        if len(outcome.display["steps"]) > 1:
            continue
        window = outcome.display["steps"][0]["window"]
        idle = build_idle_view((game,), game, "en", last_display=outcome.to_json()["display"])
        for shown in (replace(view, now=100 + build_view_timeline(view, THEME).end_seconds), idle):
            drawn.clear()
            picture.draw_view(surface, shown)
            visible = {cell: symbol for cell, symbol in drawn.items() if cell[1] in range(len(window[0]))}
            assert visible == {
                (reel, row): symbol for reel, column in enumerate(window) for row, symbol in enumerate(column)
            }
            compared += 1
    assert compared > 10


@pytest.mark.requirement("B-17", "C-13")
@pytest.mark.parametrize("name", REELS)
def test_the_time_at_which_a_reel_stops_reveals_nothing(name):
    """A reel may only stop later because of the reels before it, never because of itself or a later reel."""
    paused = {}
    for view, _ in iter_shown_outcomes(name):
        first = view.presentation.steps[0]
        reel_data = view.reel_data_by_game[view.game.id][first.stage]
        held_count = sum(a == b for a, b in zip(first.stops_before_hold, first.stops, strict=False))
        line = build_timeline(view.presentation, THEME.motion, 0)
        if held_count or line.steps[-1].last_stop_seconds > 40:
            continue  # reels that stand do not stop, and a long show is paced as a whole
        for reel, stop in enumerate(line.steps[0].stop_seconds):
            before = line.steps[0].stop_seconds[reel - 1] if reel else 0.0
            show_outcome = tuple(
                sum(column.count(symbol) for column in first.window[:reel])
                for symbol in sorted(reel_data.trigger_count_by_symbol)
            )
            paused.setdefault((reel, show_outcome), set()).add(round(stop - before, 6))
            if reel in first.anticipation_reels:
                seen = dict(zip(sorted(reel_data.trigger_count_by_symbol), show_outcome, strict=True))
                assert any(
                    needed - seen[symbol] == 1 for symbol, needed in reel_data.trigger_count_by_symbol.items()
                )
                windows = [
                    [strip[(stop + row) % len(strip)] for row in range(reel_data.reel_heights[reel])]
                    for strip in [reel_data.reel_strips[reel]]
                    for stop in range(len(strip))
                ]
                brings = sum(
                    any(symbol in column for symbol in reel_data.trigger_count_by_symbol)
                    for column in windows
                )
                assert brings * 25 >= len(windows)  # no light is thrown on what hardly ever comes
    assert paused
    assert all(len(pauses) == 1 for pauses in paused.values())


@pytest.mark.requirement("B-17", "C-13")
def test_no_anticipation_for_a_reel_that_cannot_complete_the_prize(tmp_path):
    """With two stars, a third one starts the free games: a reel without stars has no light, the next one has."""
    text = read_source("aurora-twenty").data.decode()
    for old, new in (
        ("kayak star king kayak", "kayak owl king kayak"),
        ("king ten queen star owl", "king ten queen owl owl"),
        ("pays = { 3 = 2, 4 = 10, 5 = 50 }", "pays = { 3 = 2, 4 = 10 }"),
        ("times = { 3 = 10, 4 = 15, 5 = 20 }", "times = { 3 = 10, 4 = 15 }"),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    path = tmp_path / "no-star.toml"
    path.write_text(text)
    game = load_game(path)
    game_view = build_game_view(game)
    view = build_idle_view((game_view,), game_view, "en")
    reel_data = view.reel_data_by_game[game_view.id]["base"]
    assert ["star" in strip for strip in reel_data.reel_strips] == [True, True, False, True, True]
    stops = [reel_data.reel_strips[0].index("star"), reel_data.reel_strips[1].index("star"), 0, 0, 0]
    wager = game.build_wager(max(game.bet_options))
    round_ = Round(game.play(wager, ScriptedStep(stops)), wager)
    round_.advance()
    assert show_outcome(view, game_view, round_.outcome).presentation.steps[0].anticipation_reels == (3, 4)


@pytest.mark.requirement("B-17")
@pytest.mark.parametrize("name", REELS)
def test_only_symbols_of_a_paid_prize_are_lit(name):
    for view, outcome in iter_shown_outcomes(name):
        steps = [step for step in outcome.display["steps"] if "stops" in step]
        results = [step for step in view.presentation.steps if isinstance(step, ReelSpin)]
        for step, result in zip(steps, results, strict=True):
            paid = {tuple(cell) for win in step["wins"] for cell in win.get("positions", ())}
            lit = {
                (reel, row)
                for _, wins in result.windows_to_show
                for win in wins
                for reel, row in win.positions
            }
            assert lit <= paid
            assert bool(lit) <= bool(step["credits"] or step["awards"])
