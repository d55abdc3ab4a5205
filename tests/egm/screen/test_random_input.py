"""Random touches and key presses in any scene never stop the screen."""

import random
import re
from dataclasses import replace
from pathlib import Path

import pygame
import pytest

from egm.kernel.messages import BenchCommand
from egm.screen.controls import ACTION_BY_KEY_NAME, DIGIT_BY_KEY_NAME, find_action_by_key_name
from egm.screen.input_reducer import apply_action
from egm.screen.layout import LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT
from egm.screen.message_reducer import advance_time, apply_message, mark_machine_connection_lost
from egm.screen.picture import Picture
from tools.dev.gallery import iter_game_scenes
from tools.dev.gallery.machine import iter_machine_scenes

#: Requests that a screen may send; the machine refuses invalid ones.
INTENTS = {"play", "choose", "bet", "game", "denomination", "cash_out", "language", "shown", "service"}
INTENTS |= {"acknowledge", "limit", "residual", "menu", "answer"}


@pytest.mark.parametrize("turns", [500, pytest.param(3000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("layout", [LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT], ids=["landscape", "portrait"])
def test_no_order_of_touches_keys_and_messages_stops_the_screen(published, outcomes, theme, layout, turns):
    hands = random.Random(7 if layout is LANDSCAPE_LAYOUT else 11)
    picture = Picture(theme, scale=0.2, layout=layout)
    surface = pygame.Surface(picture.size_pixels)
    scenes = [view for _, view in iter_machine_scenes(published, "fr", theme)]
    for game in published:
        if game.id in {"orchard-picnic", "archipelago-keno", "river-wheel", "hold-fast"}:
            scenes += [
                view for _, view in iter_game_scenes(published, game, outcomes[game.id], "en", theme, layout)
            ]
    keys = [
        action
        for name in (*ACTION_BY_KEY_NAME, *DIGIT_BY_KEY_NAME)
        if (action := find_action_by_key_name(name)) is not None
    ]
    view = scenes[0]
    sent = set()
    for turn in range(turns):
        now = view.now + hands.choice((0.01, 0.3, 4.0))
        view, requests = advance_time(replace(view, now=now), now, theme)
        touches = [touch.action for touch in picture.list_touch_targets(view) if touch.action.name]
        action = hands.choice(touches if touches and hands.random() < 0.7 else keys)
        view, action_requests = apply_action(view, action, theme, picture.list_selectable_actions(view))
        sent |= {
            request.name for request in (*requests, *action_requests) if not isinstance(request, BenchCommand)
        }
        if turn % 9 == 0:
            other = hands.choice(scenes)
            snapshot = other.snapshot
            view = (
                mark_machine_connection_lost(view)
                if snapshot is None
                else apply_message(replace(view, game_by_id=other.game_by_id), snapshot)
            )
            view = replace(other, now=view.now) if hands.random() < 0.5 else view
        if turn % 5 == 0:
            picture.draw_view(surface, view)
    assert sent <= INTENTS
    assert len(sent) > 6


#: The names of keys in README that are not the browsers' names without their first word.
NAMED = {"Enter": {"Enter", "NumpadEnter"}, "Up": {"ArrowUp"}, "Down": {"ArrowDown"}}
NAMED |= {"Left": {"ArrowLeft"}, "Right": {"ArrowRight"}, "0` to `9": set(DIGIT_BY_KEY_NAME)}


@pytest.mark.requirement("C-19")
def test_every_key_is_in_the_table_of_keys_and_has_an_effect():
    page = Path("README.md").read_text("utf-8")
    table = page.partition("| key | what it does |")[2].partition("\n\n")[0]
    keys = [
        key
        for line in table.splitlines()[2:]
        for key in re.findall(r"`(\w+` to `\w+|\w+)`", line.split("|")[1])
    ]
    named = [NAMED.get(key, {f"Key{key}" if len(key) == 1 else key}) for key in keys]
    assert set().union(*named) == {*ACTION_BY_KEY_NAME, *DIGIT_BY_KEY_NAME}
    assert sum(map(len, named)) == len({*ACTION_BY_KEY_NAME, *DIGIT_BY_KEY_NAME})
