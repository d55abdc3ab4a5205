"""A machine that is slow to start reports what it does, and the screen shows that it starts before any message."""

import asyncio
import itertools
from dataclasses import replace
from pathlib import Path

import pygame
import pytest

from egm.app.process import MachineProcess
from egm.config.cabinet_file import GameTable, StateFolder, load_cabinet
from egm.kernel.messages import Hello
from egm.links.screen.start_up_activity import (
    StartUpActivity,
    read_start_up_activity,
    write_start_up_activity,
)
from egm.screen.layout import LANDSCAPE_LAYOUT
from egm.screen.message_reducer import apply_message, mark_machine_connection_lost, show_start_up_activity
from egm.screen.painter import Painter
from egm.screen.picture import Picture
from egm.screen.scenes.drawing_context import DrawingContext
from egm.screen.scenes.lockup import describe_lockup
from egm.screen.text import Texts
from egm.screen.theme import load_theme
from egm.screen.view import Scene, View
from egm.testing.machine import StoppedClock
from tools.lab.views import build_idle_view


@pytest.fixture
def idle_view(published):
    return build_idle_view(published, published[0], "en")


def test_the_progress_of_a_start_is_read_back_and_other_files_are_ignored(tmp_path):
    file = tmp_path / "starting.json"
    assert read_start_up_activity(file) is None
    doing = StartUpActivity("game", {"number": 2, "count": 12, "game": "icebreak"})
    write_start_up_activity(file, doing)
    assert read_start_up_activity(file) == doing
    for nonsense in (b"", b"\xff", b"[]", b'{"what": 1}', b'{"what": "game", "values": 5}'):
        file.write_bytes(nonsense)
        assert read_start_up_activity(file) is None
    write_start_up_activity(file, None)
    assert not list(tmp_path.iterdir())
    write_start_up_activity(Path("/nowhere/starting.json"), doing)  # which stops no machine


def test_a_starting_machine_names_each_game_it_examines_until_it_answers(tmp_path, monkeypatch):
    activities = []
    monkeypatch.setattr(
        "egm.app.process.start_up_activity.write_start_up_activity",
        lambda _file, doing: activities.append(doing),
    )

    async def not_yet(_):
        """Its devices and people are another test's."""

    monkeypatch.setattr(MachineProcess, "_run_until_stopped", not_yet)
    games = (GameTable(game="maple-classic"), GameTable(game="icebreak"))
    folder = StateFolder(tmp_path)
    folder.create_private_folders()
    asyncio.run(
        MachineProcess(folder, load_cabinet().model_copy(update={"games": games}), StoppedClock()).run()
    )
    assert [doing.activity_code for doing in activities[:-1]] == ["memory", "game", "game", "self_test"]
    assert activities[2].values == {"number": 2, "count": 2, "game": "icebreak"}
    assert activities[-1] is None


@pytest.mark.parametrize("language", ["en", "fr"])
def test_every_step_of_the_start_has_a_text(language):
    texts = Texts(language)
    for activity in ("memory", "game", "self_test", "link"):
        assert texts.has_text(f"boot.{activity}")


def test_the_first_picture_names_the_step_of_the_start():
    pygame.font.init()
    picture = Picture(load_theme())
    waiting = View(start_up_activity=StartUpActivity("game", {"number": 3, "count": 12, "game": "icebreak"}))
    assert waiting.scene is Scene.STARTING
    drawn = []
    for view in (waiting, View(), View(start_up_activity=StartUpActivity("unheard-of"))):
        surface = pygame.Surface(picture.size_pixels)
        picture.draw_view(surface, view)
        drawn.append(pygame.image.tobytes(surface, "RGB"))
    assert drawn[0] != drawn[1]
    assert drawn[2] == drawn[1]


def test_a_machine_that_starts_again_shows_its_steps_and_is_waited_for_anew(idle_view):
    """A machine that started again after a missing medium was reported as one that does not respond."""
    lost = mark_machine_connection_lost(replace(idle_view, now=100.0))
    assert lost.scene is Scene.CONNECTION_LOST
    starting = show_start_up_activity(replace(lost, now=150.0), StartUpActivity("memory"))
    assert starting.scene is Scene.STARTING
    given_up = show_start_up_activity(replace(starting, now=400.0), None)
    assert (given_up.scene, given_up.scene_began_at) == (Scene.CONNECTION_LOST, 400.0)
    still_lost = show_start_up_activity(replace(given_up, now=500.0), None)
    assert still_lost.scene_began_at == 400.0
    answered = apply_message(starting, Hello())
    assert (answered.scene, answered.start_up_activity) == (idle_view.scene, None)


def test_a_machine_that_starts_again_is_described_with_the_step_of_its_start(idle_view, theme):
    starting = replace(
        mark_machine_connection_lost(idle_view), start_up_activity=StartUpActivity("self_test")
    )
    for view in (starting, replace(starting, snapshot=None)):
        context = DrawingContext(Painter(theme), Texts("en"), LANDSCAPE_LAYOUT, view)
        lines = describe_lockup(context, view.scene).lines
        assert lines == tuple(Texts(language).translate("boot.self_test") for language in ("en", "fr"))


@pytest.mark.parametrize("steps", [[StartUpActivity("memory")], [StartUpActivity("memory"), None]])
def test_an_attendant_is_called_if_a_machine_starts_or_restarts_for_longer_than_a_start(
    idle_view, theme, steps
):
    """Each attempt wrote its step and removed it, and each time the minute until the call began anew."""
    view = mark_machine_connection_lost(replace(idle_view, now=100.0))
    calls = []
    for second, step in zip(range(0, 1000, 20), itertools.cycle(steps), strict=False):
        view = show_start_up_activity(replace(view, now=100.0 + second), step)
        context = DrawingContext(Painter(theme), Texts("en"), LANDSCAPE_LAYOUT, view)
        calls.append("attendant" in describe_lockup(context, view.scene).remedy)
    assert calls == [False] * 45 + [True] * 5


def test_the_step_of_another_version_does_not_end_the_screen(theme):
    view = View(start_up_activity=StartUpActivity("game", {}))
    context = DrawingContext(Painter(theme), Texts("en"), LANDSCAPE_LAYOUT, view)
    lines = describe_lockup(context, Scene.STARTING).lines
    assert lines == tuple(Texts(language).translate("boot.link") for language in ("en", "fr"))
