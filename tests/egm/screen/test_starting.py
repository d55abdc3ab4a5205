"""A machine that takes its time to start says what it does, and the screen says it before there is any answer."""

import asyncio
from pathlib import Path

import pygame
import pytest

from egm.app.process import MachineProcess
from egm.config.cabinet_file import GameTable, StateFolder, load_cabinet
from egm.links.screen.starting import StartUpActivity, read_start_up_activity, write_start_up_activity
from egm.screen.picture import Picture
from egm.screen.text import Texts
from egm.screen.theme import load_theme
from egm.screen.view import Scene, View
from egm.testing.machine import StoppedClock


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
        "egm.app.process.starting.write_start_up_activity", lambda _file, doing: activities.append(doing)
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
    assert waiting.scene is Scene.BOOT
    drawn = []
    for view in (waiting, View(), View(start_up_activity=StartUpActivity("unheard-of"))):
        surface = pygame.Surface(picture.size_pixels)
        picture.draw_view(surface, view)
        drawn.append(pygame.image.tobytes(surface, "RGB"))
    assert drawn[0] != drawn[1]
    assert drawn[2] == drawn[1]
