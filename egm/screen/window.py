"""The picture in a window, full screen, or on a bare console (KMSDRM, or the plain frame buffer)."""

import mmap
import os
from pathlib import Path
from typing import Final

import pygame

from egm.screen.app import Tap
from egm.screen.controls import by_code
from egm.screen.layout import LANDSCAPE, PORTRAIT
from egm.screen.picture import Picture
from egm.screen.theme import Theme
from egm.screen.view import Action

_BLIND: Final = frozenset({"dummy", "offscreen", "evdev"})
"""SDL's drivers that show nothing."""


#: The plain frame buffer of a console, and what the kernel says of it.
_BUFFER: Final = Path("/dev/fb0")
_BUFFER_FACTS: Final = Path("/sys/class/graphics/fb0")


class WindowError(Exception):
    """No window or console could be opened: says what SDL said."""


def _refuse_no_display() -> None:
    """SDL draws into nothing where no display answers; only who names such a driver means it."""
    if "SDL_VIDEODRIVER" not in os.environ and pygame.display.get_driver() in _BLIND:
        raise pygame.error("no display answers; --screen web shows the picture in a browser")


class FrameBuffer:
    """A console's frame buffer of 32 bits a dot: for a computer whose graphics processor has no driver.

    No OpenGL stands between, in place of whose processor Mesa would draw with this computer's: its console
    driver (22.3) ends the program in the middle of a frame. Frames may tear.
    """

    def __init__(self, device: Path = _BUFFER, facts: Path = _BUFFER_FACTS) -> None:
        """Raises OSError where there is none, or one of another kind."""
        wide, high = (int(word) for word in (facts / "virtual_size").read_text().split(","))
        bits, self._stride = (int((facts / name).read_text()) for name in ("bits_per_pixel", "stride"))
        if bits != 32:
            raise OSError(f"{device}: {bits} bits a dot are not 32")
        self.size = (wide, high)
        with device.open("r+b", buffering=0) as file:
            self._memory = mmap.mmap(file.fileno(), self._stride * high)

    def show(self, frame: pygame.Surface) -> None:
        """Copy a frame of :attr:`size`."""
        wide, high = self.size
        drawn = pygame.image.tobytes(frame, "BGRA")
        if self._stride == 4 * wide:
            self._memory[:] = drawn
            return
        for y in range(high):
            self._memory[y * self._stride : y * self._stride + 4 * wide] = drawn[
                4 * wide * y : 4 * wide * (y + 1)
            ]


class Window:
    """A pygame display.

    A kiosk (full screen or bare console) keeps keyboard and mouse to itself and cannot be closed by a player:
    it closes only while staff are signed in to the service menu.
    """

    def __init__(
        self,
        theme: Theme,
        *,
        fullscreen: bool = False,
        console: bool = False,
        buffer: FrameBuffer | None = None,
        title: str = "Open EGM",
        display: int = 0,
        make: type[Picture] = Picture,
    ) -> None:
        """``buffer``: where a console without a graphics processor shows its frames. Raises WindowError."""
        self._buffer = buffer
        if buffer is not None:
            os.environ["SDL_VIDEODRIVER"] = "evdev"  # draws into memory, and hears touch screens
        elif console:
            os.environ["SDL_VIDEODRIVER"] = "kmsdrm"
            # A console's context is of OpenGL ES. SDL would take its renderer for desktop OpenGL first, whose
            # calls then fail in silence: every frame is shown, and black.
            os.environ["SDL_RENDER_DRIVER"] = os.environ["SDL_FRAMEBUFFER_ACCELERATION"] = "opengles2"
        self._kiosk = fullscreen or console
        if self._kiosk:  # the grab below takes the keys of the desktop too, and losing it hides nothing
            os.environ["SDL_GRAB_KEYBOARD"] = "1"
            os.environ["SDL_VIDEO_MINIMIZE_ON_FOCUS_LOSS"] = "0"
        self.unlocked = False
        self._theme = theme
        self._make = make
        try:
            pygame.display.init()
            _refuse_no_display()
            pygame.display.set_caption(title)
            if self._kiosk:
                size, how = (buffer.size, 0) if buffer else ((0, 0), pygame.FULLSCREEN)
                self._display = pygame.display.set_mode(size, how, display=display)
                pygame.mouse.set_visible(not console)
                pygame.event.set_grab(True)
            else:
                self._display = pygame.display.set_mode(
                    self._comfortable(), pygame.RESIZABLE, display=display
                )
        except pygame.error as error:
            raise WindowError(f"no {'console' if console else 'window'} could be opened: {error}") from error
        self._fit()

    @staticmethod
    def _comfortable() -> tuple[int, int]:
        """The largest 16:9 window that leaves the desktop some room."""
        wide, high = pygame.display.get_desktop_sizes()[0]
        scale = min(wide * 0.9 / LANDSCAPE.size[0], high * 0.85 / LANDSCAPE.size[1], 1.0)
        return max(640, round(LANDSCAPE.size[0] * scale)), max(360, round(LANDSCAPE.size[1] * scale))

    def _fit(self) -> None:
        """The picture as large as the display allows, in the middle, upright where the display is upright."""
        wide, high = self._display.get_size()
        layout = PORTRAIT if high > wide else LANDSCAPE
        scale = min(wide / layout.size[0], high / layout.size[1])
        self.picture = self._make(self._theme, scale=scale, layout=layout)
        w, h = self.picture.pixels
        place = pygame.Rect((wide - w) // 2, (high - h) // 2, w, h).clip(self._display.get_rect())
        self._display.fill((0, 0, 0))
        self._target = self._display.subsurface(place)
        self._place = place

    def inputs(self) -> list[Tap | Action] | None:
        """Touches and keys; None when the window was closed."""
        did: list[Tap | Action] = []
        for event in pygame.event.get():
            if event.type == pygame.QUIT and (self.unlocked or not self._kiosk):
                return None
            if event.type == pygame.VIDEORESIZE:
                self._display = pygame.display.get_surface() or self._display
                self._fit()
            elif event.type == pygame.MOUSEBUTTONDOWN and event.button == 1:
                x, y = self._pointed(event)
                did.append(
                    Tap((x - self._place.x) / self._place.width, (y - self._place.y) / self._place.height)
                )
            elif event.type == pygame.KEYDOWN:
                action = by_code(event.key)
                if action is not None:
                    did.append(action)
        return did

    def _pointed(self, event: pygame.event.Event) -> tuple[float, float]:
        """Where on the display a touch or a click was.

        SDL's driver without a display has one size of its own, and says by it where a pointer is.
        """
        x, y = event.pos
        if self._buffer is None or event.touch:
            return x, y
        (wide, high), (here_wide, here_high) = pygame.display.get_desktop_sizes()[0], self._display.get_size()
        return x * here_wide / wide, y * here_high / high

    def frame(self) -> pygame.Surface | None:
        """The part of the display the picture covers."""
        return self._target

    def show(self) -> None:
        """Put the frame on the display."""
        if self._buffer is not None:
            self._buffer.show(self._display)
        else:
            pygame.display.flip()

    def tell(self, words: str) -> None:
        """Nobody listens beside a window."""

    def close(self) -> None:
        """Close the display."""
        pygame.display.quit()
