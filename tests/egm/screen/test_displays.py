"""Displays without a desktop: the player's picture on the first, the top screen's process on the second."""

import errno
import os
import signal
import sys
import time

import pygame
import pytest
from rigs.graphics_card import GraphicsCard, pack_mode

from egm.screen.app import TouchFraction
from egm.screen.displays import DisplayError, DisplayOutput, DrmCard, IoctlCall, TopScreenProcess
from egm.screen.view import View
from egm.screen.window import Window

FIRST, SECOND, THIRD = 31, 32, 33
SIZE = (320, 180)
ONE, OTHER = pack_mode(*SIZE), pack_mode(400, 300)


@pytest.fixture
def card():
    """A card with two displays; the second prefers another size than the first that it lists."""
    opened = GraphicsCard({FIRST: (ONE,), SECOND: (pack_mode(64, 48, preferred=False), OTHER), THIRD: ()})
    yield opened
    opened.close()


def frame(colour):
    surface = pygame.Surface(SIZE)
    surface.fill(colour)
    return surface


def test_frames_alternate_between_the_buffers_of_the_first_display(card):
    output = DisplayOutput(card)
    assert output.size == SIZE
    assert not card.lit, "what was shown before stands until there is a frame"
    shown = []
    for red in (10, 20, 30):
        output.show_frame(frame((red, 1, 2)))
        ((page, connector, lit),) = card.lit.values()
        assert (connector, lit) == (FIRST, ONE)
        assert {card.read_frame(FIRST).get_at(pixel)[:3] for pixel in ((0, 0), (319, 179))} == {(red, 1, 2)}
        shown.append(page)
    assert shown[0] == shown[2] != shown[1]


@pytest.mark.parametrize(("display", "connector"), [(0, FIRST), (1, SECOND), (7, SECOND)])
def test_the_configured_display_is_used(card, display, connector):
    assert DisplayOutput(card, display).connector_id == connector


def test_an_unplugged_display_is_turned_on_again_when_reconnected(card):
    output = DisplayOutput(card)
    output.show_frame(frame((9, 1, 2)))
    card.plug(FIRST)
    output.show_frame(frame((10, 1, 2)))
    card.lit.clear()  # some cards do this
    card.refused = {IoctlCall.PAGE_FLIP: errno.EBUSY}
    output.show_frame(frame((11, 1, 2)))
    assert not card.lit
    card.refused = {}
    card.plug(FIRST, ONE)
    output.show_frame(frame((12, 1, 2)))
    assert card.read_frame(FIRST).get_at((5, 5))[:3] == (12, 1, 2)


def test_a_different_display_ends_the_process_so_that_it_restarts(card):
    output = DisplayOutput(card)
    output.show_frame(frame((9, 1, 2)))
    card.plug(FIRST)
    output.show_frame(frame((10, 1, 2)))
    card.plug(FIRST, OTHER)
    with pytest.raises(DisplayError, match=f"connector {FIRST}: a different display"):
        output.show_frame(frame((10, 1, 2)))


def test_the_players_picture_moves_to_its_display_when_connected_not_when_removed(card):
    card.plug(FIRST)
    output = DisplayOutput(card)
    assert output.connector_id == SECOND, "the only one"
    card.plug(FIRST, ONE)
    with pytest.raises(DisplayError, match="was connected elsewhere"):
        output.show_frame(frame((10, 1, 2)))
    output = DisplayOutput(card)
    output.show_frame(frame((9, 1, 2)))
    card.plug(FIRST)
    output.show_frame(frame((10, 1, 2)))
    assert output.connector_id == FIRST


def test_an_early_frame_is_dropped_and_a_display_in_another_mode_is_turned_on(card):
    output = DisplayOutput(card)
    output.show_frame(frame((10, 1, 2)))
    card.refused = {IoctlCall.PAGE_FLIP: errno.EBUSY}
    before = dict(card.lit)
    output.show_frame(frame((20, 1, 2)))
    assert card.lit == before
    card.refused = {IoctlCall.PAGE_FLIP: errno.EINVAL}
    card.lit.clear()
    output.show_frame(frame((30, 1, 2)))
    assert card.read_frame(FIRST).get_at((0, 0))[:3] == (30, 1, 2)
    card.refused |= {IoctlCall.SETCRTC: errno.ENODEV}
    with pytest.raises(DisplayError, match="SETCRTC"):
        output.show_frame(frame((40, 1, 2)))


class Signs:
    """The processes of top screens: each writes down its arguments and waits until it is stopped."""

    def __init__(self, card, folder):
        self.now_s, self.file, self.started = 0.0, folder / "environment", 0
        self.output = DisplayOutput(card)
        self.above = TopScreenProcess(self.output, self.command, lambda: self.now_s)

    def command(self, lease):
        self.started += 1
        code = (
            f"import os, time; os.fstat({lease})\n"
            f"open({str(self.file)!r}, 'w').write(os.environ.get('NOTIFY_SOCKET', 'none'))\n"
            "time.sleep(600)"
        )
        return (sys.executable, "-c", code)

    def step(self):
        self.now_s += 1.0
        self.output.show_frame(frame((1, 2, 3)))
        self.above.start_if_possible()

    def end(self):
        """Let the process end by itself, as after a failure."""
        os.kill(self.above._process_id, signal.SIGKILL)
        os.waitid(os.P_PID, self.above._process_id, os.WEXITED | os.WNOWAIT)


@pytest.fixture
def signs(card, tmp_path):
    opened = Signs(card, tmp_path)
    yield opened
    opened.above.stop()


def test_with_one_display_there_is_no_top_screen(card, signs):
    card.plug(SECOND)
    for _ in range(30):
        signs.step()
    assert not signs.started
    assert not card.leases


def test_a_second_display_is_leased_to_the_top_screen_when_it_appears(card, signs):
    card.plug(SECOND)
    signs.step()
    card.plug(SECOND, OTHER)
    for _ in range(30):
        signs.step()
    assert signs.started == 1
    (lent,) = card.leases
    assert lent[0] == SECOND
    assert lent[1] in {crtc for crtc in card.crtcs if crtc not in card.lit}, (
        "not what lights the player's display"
    )
    card.plug(SECOND)
    signs.step()
    card.plug(SECOND, OTHER)
    signs.step()
    assert signs.started == 1, "unplugged it waits: its own display is its own affair"
    assert card.read_frame(FIRST).get_at((0, 0))[:3] == (1, 2, 3)


def test_a_top_screen_that_ends_is_started_again_some_seconds_later(card, signs, monkeypatch):
    monkeypatch.setenv("NOTIFY_SOCKET", "the player's screen's own")
    signs.step()
    signs.end()
    for _ in range(9):
        signs.step()
    assert signs.started == 1
    signs.step()
    assert signs.started == 2
    while not signs.file.exists() or not (content := signs.file.read_text()):
        assert signs.above._is_running(), "it has what it is lent"
        time.sleep(0.01)
    assert content == "none", "systemd hears of the player's screen alone"
    card.plug(SECOND)
    signs.step()
    signs.end()
    for _ in range(30):
        signs.step()
    assert signs.started == 2, "no display, no top screen"


def test_a_card_without_leases_does_not_stop_the_players_picture(card, signs, capsys):
    card.refused = {IoctlCall.CREATE_LEASE: errno.EOPNOTSUPP}
    for _ in range(15):
        signs.step()
    assert not signs.started
    assert capsys.readouterr().err.count("no top screen") == 2
    assert card.read_frame(FIRST).get_at((0, 0))[:3] == (1, 2, 3)


def test_a_missing_graphics_card_is_named(tmp_path, card):
    with pytest.raises(DisplayError, match="no card has a display"):
        DrmCard.open(tmp_path)
    (tmp_path / "card0").touch()
    with pytest.raises(DisplayError, match="GETRESOURCES"):
        DrmCard.open(tmp_path)
    for number in card.connectors:
        card.plug(number)
    with pytest.raises(DisplayError, match="no display answers"):
        DisplayOutput(card)


def test_a_card_without_a_free_crtc_is_named(card):
    first, second = card.list_connected()
    with pytest.raises(DisplayError, match=f"connector {SECOND}: the card can drive no more"):
        card.find_crtc(second, taken_crtc_ids=card.crtcs)
    assert card.find_crtc(first, taken_crtc_ids=card.crtcs[:1]) == card.crtcs[1]


@pytest.fixture
def bare(monkeypatch):
    """SDL's settings in a process without a desktop."""
    for name in ("SDL_VIDEODRIVER", "SDL_GRAB_KEYBOARD", "SDL_VIDEO_MINIMIZE_ON_FOCUS_LOSS"):
        monkeypatch.setenv(name, os.environ.get(name, ""))  # put back afterwards
    pygame.display.quit()
    yield
    pygame.display.quit()


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize(("deaf", "driver"), [(False, "evdev"), (True, "dummy")])
def test_a_console_window_draws_and_receives_input(theme, card, deaf, driver):
    window = Window(theme, output=DisplayOutput(card), ignores_touches=deaf)
    assert pygame.display.get_driver() == driver
    window.picture.draw_view(window.get_drawing_surface(), View(now=1.0))
    window.show_frame()
    assert len(set(card.read_frame(FIRST).get_buffer().raw[::4001])) > 20
    assert window.take_inputs() == []
    window.close()


@pytest.mark.usefixtures("bare")
def test_touches_and_pointer_map_to_their_positions(theme, card):
    """SDL reports a pointer in pixels of its driver, and a finger as a share of the display."""
    window = Window(theme, output=DisplayOutput(card))
    width, height = pygame.display.get_desktop_sizes()[0]
    assert (width, height) != SIZE
    mouse = {"button": 1, "pos": (width // 2, height // 2), "touch": False}
    for kind, event in ((pygame.MOUSEBUTTONDOWN, mouse), (pygame.FINGERDOWN, {"x": 0.5, "y": 0.5})):
        pygame.event.post(pygame.event.Event(kind, event))
        (tap,) = [did for did in window.take_inputs() if isinstance(did, TouchFraction)]
        assert (tap.x, tap.y) == (pytest.approx(0.5, abs=0.01), pytest.approx(0.5, abs=0.01))
    window.close()


@pytest.mark.usefixtures("bare")
def test_closing_the_players_window_ends_the_top_screen(theme, card, signs):
    window = Window(theme, output=signs.output, top_screen=signs.above)
    for _ in range(3):
        assert window.take_inputs() == []
        window.show_frame()
    assert signs.started == 1
    process = signs.above._process_id
    assert signs.above._is_running()
    window.close()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
