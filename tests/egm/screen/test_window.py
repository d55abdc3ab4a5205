"""The window: touches are mapped to the picture, keys act like the deck, and a kiosk does not close."""

import ctypes
import itertools
import os
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pygame
import pytest

from egm.kernel.messages import Hello, Intent, ScreenHeartbeat, decode_message
from egm.kernel.touch import CALIBRATION_CROSSES, COORDINATE_UNIT, fit_calibration
from egm.links.screen.client import PollResult, ScreenClient
from egm.screen.app import ScreenApp, TouchFraction, create_clients, is_staff_signed_in
from egm.screen.audio.cues import SoundPlayer
from egm.screen.controls import ACTION_BY_KEY_NAME, find_action_by_key_name, find_action_by_sdl_code
from egm.screen.layout import LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT
from egm.screen.message_reducer import apply_message
from egm.screen.view import Action, Scene
from egm.screen.window import Window
from egm.unix_sockets import open_socket_address
from tools.dev.gallery import pages
from tools.lab.views import build_idle_view


@pytest.fixture
def window(theme):
    opened = Window(theme)
    yield opened
    opened.close()


def test_a_touch_is_a_fraction_of_the_picture(window):
    window_rect = window._picture_rect
    pygame.event.post(pygame.event.Event(pygame.MOUSEBUTTONDOWN, button=1, pos=window_rect.center))
    pygame.event.post(pygame.event.Event(pygame.MOUSEBUTTONDOWN, button=3, pos=window_rect.center))
    (tap,) = [did for did in window.take_inputs() if isinstance(did, TouchFraction)]
    assert tap.x == pytest.approx(0.5, abs=0.01)
    assert tap.y == pytest.approx(0.5, abs=0.01)


def post_finger_event(kind, number, x=0.5, y=0.5):
    """Post SDL's event of a finger, with a position in shares of the window."""
    event = {"touch_id": 1, "finger_id": number, "x": x, "y": y, "dx": 0, "dy": 0, "pressure": 1}
    pygame.event.post(pygame.event.Event(kind, event))


def post_touch_mouse_event(kind):
    """Post the mouse event that SDL makes of the first finger."""
    pygame.event.post(pygame.event.Event(kind, pos=(300, 200), button=1, touch=True))


def test_each_finger_is_one_touch_whatever_mouse_sdl_makes_of_it(window):
    """Regression: a second finger was ignored, and so was one after a panel had been unplugged during a touch."""
    post_finger_event(pygame.FINGERDOWN, 0)
    post_touch_mouse_event(pygame.MOUSEBUTTONDOWN)
    post_finger_event(pygame.FINGERDOWN, 1, 0.25, 0.75)
    post_finger_event(pygame.FINGERMOTION, 1, 0.3, 0.75)
    for number in (0, 1):
        post_finger_event(pygame.FINGERUP, number)
    post_touch_mouse_event(pygame.MOUSEBUTTONUP)
    post_finger_event(
        pygame.FINGERDOWN, 2
    )  # SDL makes no mouse event of it: the first finger's panel is unplugged
    first, second, third = window.take_inputs()
    assert first == third == TouchFraction(pytest.approx(0.5, abs=0.01), pytest.approx(0.5, abs=0.01))
    width, height = window._display.get_size()
    x, y = window._picture_rect.topleft
    assert (second.x * window._picture_rect.width + x) / width == pytest.approx(0.25, abs=0.001)
    assert (second.y * window._picture_rect.height + y) / height == pytest.approx(0.75, abs=0.001)
    assert window.take_inputs() == []


def test_a_window_reports_keys_and_its_closing(window):
    pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_SPACE))
    pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_F9))
    assert window.take_inputs() == [Action("play", typed_character=" ")]
    typed = pygame.event.Event(pygame.KEYDOWN, key=pygame.K_q, mod=pygame.KMOD_SHIFT, unicode="Q")
    pygame.event.post(typed)
    assert window.take_inputs() == [Action("", typed_character="Q")]
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    assert window.take_inputs() is None


def test_a_cabinet_cannot_be_closed_by_its_player(theme):
    kiosk = Window(theme, fullscreen=True)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_ESCAPE))
    assert kiosk.take_inputs() == [Action("close")]
    kiosk.close()


def test_a_kiosk_closes_for_staff_who_have_signed_in_and_keeps_the_keyboard(theme):
    kiosk = Window(theme, fullscreen=True)
    assert pygame.event.get_grab()
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    assert kiosk.take_inputs() == []
    kiosk.can_be_closed = True
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    assert kiosk.take_inputs() is None
    kiosk.close()


def test_only_a_page_behind_the_sign_in_counts_as_staff_signed_in(published):
    idle_view = build_idle_view(published, published[0], "en")
    assert not is_staff_signed_in(idle_view)
    sign_in_page = pages.build_sign_in_page()
    assert not is_staff_signed_in(
        apply_message(idle_view, idle_view.snapshot.model_copy(update={"service_page": sign_in_page}))
    )
    assert is_staff_signed_in(
        apply_message(
            idle_view, idle_view.snapshot.model_copy(update={"service_page": pages.build_menu_page()})
        )
    )


def test_the_sdl_of_the_wheel_can_drive_a_bare_console():
    """The SDL library in the wheel supports a kiosk's touch screen."""
    (library,) = (Path(pygame.__file__).parent.parent / "pygame_ce.libs").glob("libSDL2-2*")
    sdl = ctypes.CDLL(str(library))
    sdl.SDL_GetVideoDriver.restype = ctypes.c_char_p
    drivers = {sdl.SDL_GetVideoDriver(i).decode().lower() for i in range(sdl.SDL_GetNumVideoDrivers())}
    assert {"evdev", "x11", "wayland", "offscreen"} <= drivers


def test_a_missing_console_is_explained(tmp_path):
    """The kernel's message is printed, and the exit status is 2."""
    arguments = [sys.executable, "-m", "egm.screen", "--state", str(tmp_path), "--mode", "kmsdrm", "--silent"]
    clean = {key: value for key, value in os.environ.items() if not key.startswith("SDL_")}
    ended = subprocess.run(arguments, env=clean, capture_output=True, text=True, timeout=120, check=False)
    if Path("/dev/dri").exists():
        pytest.skip("this computer may have a console that opens")
    assert ended.returncode == 2
    assert "/dev/dri: no card has a display that answers" in ended.stderr


def test_a_full_screen_without_a_desktop_is_drawn_off_screen(tmp_path):
    """SDL's off-screen display replaces the console: the kiosk opens on it and draws its frames."""
    code = (
        "import os\nimport pygame\nfrom egm.screen.theme import load_theme\n"
        "from egm.screen.window import Window\nfrom egm.screen.view import View\n"
        "pygame.font.init()\nkiosk = Window(load_theme(), fullscreen=True)\n"
        "kiosk.picture.draw_view(kiosk.get_drawing_surface(), View(now=1.0))\nkiosk.show_frame()\n"
        "print(pygame.display.get_driver(), len(set(kiosk.get_drawing_surface().get_buffer().raw[::4001])) > 20)\n"
    )
    environment = {**os.environ, "SDL_VIDEODRIVER": "offscreen"}
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        cwd=tmp_path,
    )
    assert ended.stdout.split()[-2:] == ["offscreen", "True"]


def test_an_upright_display_gets_the_upright_picture(theme, window):
    assert window.picture.layout is LANDSCAPE_LAYOUT
    window._display = pygame.display.set_mode((540, 960))
    window._fit_picture()
    assert window.picture.layout is PORTRAIT_LAYOUT
    assert window.get_drawing_surface().get_size() == window.picture.size_pixels


def test_every_key_name_has_a_key_code():
    codes = {find_action_by_sdl_code(code) for code in range(2048)} | {
        find_action_by_sdl_code(getattr(pygame, name)) for name in dir(pygame) if name.startswith("K_")
    }
    assert {find_action_by_key_name(name) for name in ACTION_BY_KEY_NAME} <= codes
    assert find_action_by_key_name("KeyQ") is None


def build_app(theme, window, machine, clock):
    """Return the screen's loop without a bench."""
    return ScreenApp(
        theme=theme,
        surface=window,
        machine_client=machine,
        bench_client=None,
        sound_player=SoundPlayer(theme),
        clock=clock,
    )


def test_the_loop_runs_without_a_machine(theme, window, tmp_path):
    """Without a machine, the screen says so, and ends when its window is closed."""
    clock = iter(range(1000))
    machine = ScreenClient(tmp_path / "none.sock", tmp_path / "none.token")
    app = build_app(theme, window, machine, lambda: float(next(clock)))
    for _ in range(3):
        assert app.run_frame()
    assert app.view.scene is Scene.STARTING
    app.apply_action(Action("play"))
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    assert not app.run_frame()


class RecordingMachine:
    """A connected machine whose messages the test supplies."""

    def __init__(self):
        self.news, self.received = [], []

    def poll(self, _now):
        return self.news.pop(0) if self.news else PollResult()

    def send(self, message):
        self.received.append(message)
        return True

    def close(self):
        """It has nothing to close."""


def test_keys_pressed_before_the_machines_greeting_request_nothing(theme, window, published):
    """The connection is open before the machine has sent its greeting: the player does not see the game yet."""
    machine = RecordingMachine()
    app = build_app(theme, window, machine, lambda: 5.0)
    snapshot = build_idle_view(published, published[0], "en").snapshot
    greeting = (Hello(games=published), snapshot.model_copy(update={"accepted_inputs": ("play", "cash_out")}))
    machine.news = [PollResult(greeting, has_link_opened=True)]
    app.run_frame()
    app.apply_action(Action("play"))
    requests = [message for message in machine.received if isinstance(message, Intent)]
    assert [request.name for request in requests] == ["play"]

    machine.news = [PollResult(has_link_been_lost=True), PollResult(has_link_opened=True)]
    for _ in range(2):
        app.run_frame()
    assert app.view.scene is Scene.CONNECTION_LOST
    for name in ("play", "cash_out", "bet_max", "attendant"):
        app.apply_action(Action(name))
    assert [message for message in machine.received if isinstance(message, Intent)] == requests


def test_the_frame_loop_reports_every_two_seconds_that_it_runs(theme, window, tmp_path, monkeypatch):
    """Only the frame loop reports to the machine and to systemd, so that a hanging frame stops the reports.

    systemd's watchdog runs from the first frame on, because a slow computer needs longer until then.
    """
    monkeypatch.setenv("NOTIFY_SOCKET", "@open-egm-test-window")  # an abstract address: no path, no length
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "screen.token").write_text("secret")
    now_s = [100.0]
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd,
    ):
        systemd.bind("\0open-egm-test-window")
        systemd.setblocking(False)
        with open_socket_address(tmp_path / "run" / "screen.sock") as address:
            listener.bind(address)
        listener.listen()
        machine, _ = create_clients(tmp_path, with_bench=False)
        app = build_app(theme, window, machine, lambda: now_s[0])
        with pytest.raises(BlockingIOError):
            systemd.recv(100)
        for now_s[0] in (100.0, 100.5, 101.9, 102.0, 102.1, 103.9, 104.5, 104.6):
            assert app.run_frame()
        machine.close()
        link, _ = listener.accept()
        with link, link.makefile("rb") as lines:
            assert [decode_message(line) for line in lines] == [
                Hello(token="secret", sends_heartbeats=True),
                *[ScreenHeartbeat()] * 3,
            ]
        assert [systemd.recv(100) for _ in range(3)] == [b"READY=1\nWATCHDOG=1", *[b"WATCHDOG=1"] * 2]
        with pytest.raises(BlockingIOError):
            systemd.recv(100)


def test_a_frame_that_takes_minutes_to_draw_feeds_the_watchdog_after_each_part(
    theme, window, tmp_path, monkeypatch, published
):
    """Regression: on a very slow computer the watchdog ended the screen in its first picture of a game, each time.

    The time before the first frame is the start's own; a part that is never finished feeds nothing.
    """
    monkeypatch.setenv("NOTIFY_SOCKET", "@open-egm-test-parts")  # an abstract address: no path, no length
    machine = ScreenClient(tmp_path / "none.sock", tmp_path / "none.token")
    minutes = itertools.count()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind("\0open-egm-test-parts")
        systemd.setblocking(False)

        def receive_reports():
            with suppress(BlockingIOError):
                while True:
                    reports.append(systemd.recv(100))

        def read_clock():
            """Return the time of a computer on which each part of a picture takes a minute; systemd reads along."""
            receive_reports()
            return 60.0 * next(minutes)

        reports = []
        app = build_app(theme, window, machine, read_clock)
        assert app.run_frame()
        receive_reports()
        assert reports == [b"READY=1\nWATCHDOG=1"]
        reports.clear()
        app.view = build_idle_view(published, published[0], "en")
        began = next(minutes)
        assert app.run_frame()
        receive_reports()
        assert set(reports) == {b"WATCHDOG=1"}
        assert len(reports) >= next(minutes) - began - 5 > 15


@pytest.mark.requirement("J-14")
def test_a_misaligned_touch_panel_can_be_calibrated(theme, window, tmp_path, published):
    """Every cross is touched on a panel that is rotated by half a turn, small and shifted; then a key."""
    idle_view = build_idle_view(published, published[0], "en")
    machine = ScreenClient(tmp_path / "none.sock", tmp_path / "none.token")
    clock = iter(range(1000))
    app = build_app(theme, window, machine, lambda: float(next(clock)))
    sent = []
    app._send = sent.extend

    def finger(x, y):
        window_rect = window._picture_rect
        point = (
            window_rect.x + window_rect.w * (0.95 - 0.9 * x),
            window_rect.y + window_rect.h * (0.92 - 0.8 * y),
        )
        pygame.event.post(pygame.event.Event(pygame.MOUSEBUTTONDOWN, button=1, pos=point))
        assert app.run_frame()

    def shown(page, **changes):
        app.view = apply_message(
            app.view, idle_view.snapshot.model_copy(update={"service_page": page, **changes})
        )

    shown(pages.build_pattern_page("calibrate"))
    for x, y in CALIBRATION_CROSSES:
        finger(x / COORDINATE_UNIT, y / COORDINATE_UNIT)
    (request,) = [request for request in sent if getattr(request, "name", "") == "answer"]
    assert request.value == "crosses"
    numbers = [int(word) for word in request.options["input"].split()]
    touch = fit_calibration([*zip(numbers[::2], numbers[1::2], strict=True)])
    shown(pages.build_pattern_page("touch"), touch_calibration=touch)
    width, height = window.picture.layout.size
    for number in (0, 5):
        found = next(
            t for t in window.picture.list_touch_targets(app.view) if t.action == Action("target", number)
        )
        x, y, w, h = found.rect
        finger((x + w / 2) / width, (y + h / 2) / height)
    assert app.view.page_input.touched_targets == {0, 5}
