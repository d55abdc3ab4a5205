"""The window: touches land where the picture is, keys mean what the deck means, a kiosk does not close."""

import pygame
import pytest

from egm.link.client import Client
from egm.screen.app import App, Tap
from egm.screen.controls import BY_NAME, by_code, by_name
from egm.screen.layout import LANDSCAPE, PORTRAIT
from egm.screen.sound import Sounds
from egm.screen.view import Action, Scene
from egm.screen.window import Window


@pytest.fixture
def window(theme):
    found = Window(theme)
    yield found
    found.close()
    pygame.display.init()
    pygame.display.set_mode((8, 8))


def test_a_touch_is_a_share_of_the_picture(window):
    place = window._place
    pygame.event.post(pygame.event.Event(pygame.MOUSEBUTTONDOWN, button=1, pos=place.center))
    pygame.event.post(pygame.event.Event(pygame.MOUSEBUTTONDOWN, button=3, pos=place.center))
    (tap,) = [did for did in window.inputs() if isinstance(did, Tap)]
    assert tap.x == pytest.approx(0.5, abs=0.01)
    assert tap.y == pytest.approx(0.5, abs=0.01)


def test_keys_and_the_closing_of_a_window(window):
    pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_SPACE))
    pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_F9))
    assert window.inputs() == [Action("play")]
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    assert window.inputs() is None


def test_a_cabinet_cannot_be_closed_by_its_player(theme):
    kiosk = Window(theme, fullscreen=True)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_ESCAPE))
    assert kiosk.inputs() == [Action("close")]
    kiosk.close()
    pygame.display.init()
    pygame.display.set_mode((8, 8))


def test_an_upright_display_gets_the_upright_picture(theme, window):
    assert window.picture.layout is LANDSCAPE
    window._display = pygame.display.set_mode((540, 960))
    window._fit()
    assert window.picture.layout is PORTRAIT
    assert window.frame().get_size() == window.picture.pixels


def test_every_key_by_name_is_a_key_by_code():
    codes = {by_code(code) for code in range(2048)} | {
        by_code(getattr(pygame, name)) for name in dir(pygame) if name.startswith("K_")
    }
    assert {by_name(name) for name in BY_NAME} <= codes
    assert by_name("KeyQ") is None


def test_the_loop_runs_without_a_machine(theme, window, tmp_path):
    """No machine yet: the screen says so, and ends when its window is closed."""
    clock = iter(range(1000))
    machine = Client(tmp_path / "none.sock", tmp_path / "none.token")
    app = App(
        theme=theme,
        surface=window,
        machine=machine,
        bench=None,
        sounds=Sounds(theme),
        clock=lambda: float(next(clock)),
    )
    for _ in range(3):
        assert app.step()
    assert app.view.scene is Scene.BOOT
    app.act(Action("play"))
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    assert not app.step()
