"""The screen's picture in a window, full screen, or on a console without a desktop."""

import os
from typing import Final

import pygame

from egm.screen.app import TouchFraction
from egm.screen.controls import find_action_by_sdl_code
from egm.screen.displays import DisplayOutput, TopScreenProcess
from egm.screen.layout import LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT
from egm.screen.picture import Picture
from egm.screen.theme import Theme
from egm.screen.view import Action

#: The SDL video drivers that show nothing.
_INVISIBLE_DRIVERS: Final = frozenset({"dummy", "offscreen", "evdev"})


def _read_typed_character(event: pygame.event.Event) -> str:
    """Return the character that a key event types, or "".

    On a console without a keyboard layout, it is the character of the key itself; Shift and Caps Lock make a letter
    upper case.
    """
    modifiers = event.dict.get("mod", 0)
    if modifiers & (pygame.KMOD_CTRL | pygame.KMOD_META | pygame.KMOD_LALT):
        return ""
    key_character = chr(event.key) if event.key < 0x7F else ""
    if modifiers & (pygame.KMOD_SHIFT | pygame.KMOD_CAPS):
        key_character = key_character.upper()
    return str(event.dict.get("unicode") or key_character)


class WindowError(Exception):
    """Raised if no window or console could be opened. The message has the reason that SDL states."""


def _refuse_invisible_video_driver() -> None:
    """Raise pygame.error if SDL has itself chosen a video driver that shows nothing.

    Such a driver is permitted if the environment names it explicitly.
    """
    if "SDL_VIDEODRIVER" not in os.environ and pygame.display.get_driver() in _INVISIBLE_DRIVERS:
        raise pygame.error("no display answers; --screen web shows the picture in a browser")


class Window:
    """A display opened with pygame.

    A kiosk (full screen or console) grabs keyboard and mouse. A person can close it only while staff are signed in to
    the service menu.
    """

    def __init__(
        self,
        theme: Theme,
        *,
        fullscreen: bool = False,
        output: DisplayOutput | None = None,
        top_screen: TopScreenProcess | None = None,
        ignores_touches: bool = False,
        title: str = "Open EGM",
        display_index: int = 0,
        picture_class: type[Picture] = Picture,
    ) -> None:
        """Open the display. Raises WindowError.

        Args:
            fullscreen: Whether the window covers the whole display of a desktop.
            output: The display of a console without a desktop; None for a window on a desktop.
            top_screen: The process of the top screen, which ends with this window.
            ignores_touches: Whether this process reads no touches and keys on a console, because another one does.
            display_index: The number of the desktop's display, from 0; not used with ``output``.
            picture_class: The class that draws the picture.
        """
        self._output, self._top_screen = output, top_screen
        if output is not None:  # SDL draws into memory; with evdev it also reads touch screens and keyboards.
            os.environ["SDL_VIDEODRIVER"] = "dummy" if ignores_touches else "evdev"
        self._is_kiosk = fullscreen or output is not None
        if self._is_kiosk:  # grab the desktop's keys, too, and stay visible without focus
            os.environ["SDL_GRAB_KEYBOARD"] = "1"
            os.environ["SDL_VIDEO_MINIMIZE_ON_FOCUS_LOSS"] = "0"
        self.can_be_closed = False
        self._theme = theme
        self._picture_class = picture_class
        try:
            pygame.display.init()
            _refuse_invisible_video_driver()
            pygame.display.set_caption(title)
            if self._is_kiosk:
                size, display_flags = (output.size, 0) if output else ((0, 0), pygame.FULLSCREEN)
                self._display = pygame.display.set_mode(
                    size, display_flags, display=0 if output else display_index
                )
                pygame.mouse.set_visible(output is None)
                pygame.event.set_grab(True)
            else:
                self._display = pygame.display.set_mode(
                    self._choose_window_size(), pygame.RESIZABLE, display=display_index
                )
        except pygame.error as error:
            raise WindowError(f"no {'console' if output else 'window'} could be opened: {error}") from error
        self._fit_picture()

    @staticmethod
    def _choose_window_size() -> tuple[int, int]:
        """Return the size of a window in landscape that leaves some room on the first display of the desktop.

        It is at most the size of the landscape layout, and at least a third of it.
        """
        width, height = pygame.display.get_desktop_sizes()[0]
        scale = min(width * 0.9 / LANDSCAPE_LAYOUT.size[0], height * 0.85 / LANDSCAPE_LAYOUT.size[1], 1.0)
        return max(640, round(LANDSCAPE_LAYOUT.size[0] * scale)), max(
            360, round(LANDSCAPE_LAYOUT.size[1] * scale)
        )

    def _fit_picture(self) -> None:
        """Create the picture in the display's orientation, as large as the display allows, and centred."""
        width, height = self._display.get_size()
        layout = PORTRAIT_LAYOUT if height > width else LANDSCAPE_LAYOUT
        scale = min(width / layout.size[0], height / layout.size[1])
        self.picture = self._picture_class(self._theme, scale=scale, layout=layout)
        w, h = self.picture.size_pixels
        picture_rect = pygame.Rect((width - w) // 2, (height - h) // 2, w, h).clip(self._display.get_rect())
        self._display.fill((0, 0, 0))
        self._picture_surface = self._display.subsurface(picture_rect)
        self._picture_rect = picture_rect

    def take_inputs(self) -> list[TouchFraction | Action] | None:
        """Return the touches and keys since the last call, or None if the window was closed.

        If the window's size has changed, fit the picture to it.
        """
        inputs: list[TouchFraction | Action] = []
        for event in pygame.event.get():
            if event.type == pygame.QUIT and (self.can_be_closed or not self._is_kiosk):
                return None
            if event.type == pygame.VIDEORESIZE:
                self._display = pygame.display.get_surface() or self._display
                self._fit_picture()
            elif (point := self._find_touch_point(event)) is not None:
                x, y = point
                rect = self._picture_rect
                inputs.append(TouchFraction((x - rect.x) / rect.width, (y - rect.y) / rect.height))
            elif event.type == pygame.KEYDOWN:
                action = find_action_by_sdl_code(event.key, _read_typed_character(event))
                if action is not None:
                    inputs.append(action)
        return inputs

    def _find_touch_point(self, event: pygame.event.Event) -> tuple[float, float] | None:
        """Return the point on the display that a finger or a mouse click touched, or None for any other event.

        Fingers are read from finger events. SDL also turns them into mouse events, but only one finger at a time, and
        none after a panel was unplugged while touched; those mouse events are ignored.
        """
        if event.type == pygame.FINGERDOWN:
            width, height = self._display.get_size()
            return event.x * width, event.y * height
        if event.type != pygame.MOUSEBUTTONDOWN or event.button != 1 or event.dict.get("touch"):
            return None
        return self._find_click_point(*event.pos)

    def _find_click_point(self, x: float, y: float) -> tuple[float, float]:
        """Return the point on the display of a mouse click at (x, y).

        If SDL draws without a display, it reports positions within its own size, which are converted.
        """
        if self._output is None:
            return x, y
        sdl_width, sdl_height = pygame.display.get_desktop_sizes()[0]
        display_width, display_height = self._display.get_size()
        return x * display_width / sdl_width, y * display_height / sdl_height

    def get_drawing_surface(self) -> pygame.Surface | None:
        """Return the part of the display's surface on which the picture is drawn."""
        return self._picture_surface

    def show_frame(self) -> None:
        """Show the drawn frame on the display, and keep the top screen running if there is one."""
        if self._output is None:
            pygame.display.flip()
            return
        self._output.show_frame(self._display)
        if self._top_screen is not None:
            self._top_screen.start_if_possible()

    def set_text(self, screen_reader_text: str) -> None:
        """Do nothing: a window has no screen reader."""

    def close(self) -> None:
        """Close the display, and the top screen with it."""
        if self._top_screen is not None:
            self._top_screen.stop()
        pygame.display.quit()
