"""The display of an overhead sign: in a window, or as a single picture in a file."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

import pygame

from egm.config.levels import ProgressiveLinkTable
from egm.screen.layout import LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT
from egm.screen.theme import load_theme
from egm.screen.window import Window
from tools.floor.progressive.heartbeat import HeartbeatSource
from tools.floor.progressive.sign import VALUE_AGE_MAX_NS, Plate, Sign, SignMonitor, listen
from tools.floor.progressive.sign_picture import SignPicture

#: Seconds between two frames.
_FRAME_SECONDS: Final = 1 / 30
#: The time by which an existing level has sent a value, and its drums have stopped.
_STILL_PICTURE_DELAY_NS: Final = 2_000_000_000


class SignDisplay(Protocol):
    """The interface of a display for a sign's picture: a window or a file."""

    def show(self, plates: tuple[Plate, ...], now_ns: int) -> bool:
        """Display the sign's levels (plates).

        Return False if the display was closed or is complete, so that no more pictures follow.
        """
        ...

    def close(self) -> None:
        """Close the display."""
        ...


class SignWindow:
    """A display of a sign in a window or on a full display. Raises WindowError if there is no display."""

    def __init__(self, currency: str, *, fullscreen: bool = False, display: int = 0) -> None:
        pygame.font.init()
        title = "Open EGM: progressive jackpots"
        self._currency = currency
        self._window = Window(
            load_theme(), fullscreen=fullscreen, title=title, display_index=display, picture_class=SignPicture
        )
        self._window.can_be_closed = True  # it is not a player's screen: anybody at its keyboard may close it

    def show(self, plates: tuple[Plate, ...], now_ns: int) -> bool:
        """Draw the sign's levels (plates) in the window; return False once a person has closed it."""
        if self._window.take_inputs() is None:
            return False
        target, picture = self._window.get_drawing_surface(), self._window.picture
        if target is not None and isinstance(picture, SignPicture):
            picture.paint(target, plates, now_ns, self._currency)
            self._window.show_frame()
        return True

    def close(self) -> None:
        """Close the sign's window."""
        self._window.close()


class SignFile:
    """A display of a sign that writes one picture (PNG).

    The picture is written when every level has an amount and the drums have stopped. If amounts are missing,
    it is written once the time in which a value must arrive has passed.
    """

    def __init__(self, currency: str, path: Path, *, portrait: bool = False) -> None:
        pygame.font.init()
        self._currency = currency
        self._path = path
        self._picture = SignPicture(load_theme(), layout=PORTRAIT_LAYOUT if portrait else LANDSCAPE_LAYOUT)
        self._start_ns: int | None = None

    def show(self, plates: tuple[Plate, ...], now_ns: int) -> bool:
        """Write the sign's picture to the file when it is due; return False once it is written, True before.

        Raises OSError if the file cannot be written.
        """
        if self._start_ns is None:
            self._start_ns = now_ns
        is_lit = bool(plates) and all(plate.amount_thousandths is not None for plate in plates)
        if now_ns - self._start_ns < (_STILL_PICTURE_DELAY_NS if is_lit else VALUE_AGE_MAX_NS):
            return True
        surface = pygame.Surface(self._picture.size_pixels)
        self._picture.paint(surface, plates, now_ns, self._currency)
        pygame.image.save(surface, self._path)
        return False

    def close(self) -> None:
        """Do nothing: the file with the sign's picture stays unchanged."""


async def show_sign(
    link_table: ProgressiveLinkTable,
    display: SignDisplay,
    *,
    levels: tuple[str, ...],
    name: str,
    report: Callable[[str], None],
    now_ns: Callable[[], int] = time.monotonic_ns,
) -> None:
    """Show the overhead sign ``name`` until its display is closed or the task is cancelled.

    ``levels`` are the levels to display; see :class:`Sign`.
    """
    sign = Sign(levels)
    monitor = SignMonitor(sign, report)
    heartbeats = HeartbeatSource(name)
    listen_task = asyncio.create_task(
        listen(sign, link_table, now_ns, report, name=name, build_heartbeat=heartbeats.build_due_heartbeat)
    )
    try:
        while not listen_task.done():
            frame_ns = now_ns()
            plates = monitor.report_changes(frame_ns)
            if not display.show(plates, frame_ns):
                return
            heartbeats.store_frame(plates, frame_ns)
            await asyncio.sleep(_FRAME_SECONDS)
        listen_task.result()
    finally:
        listen_task.cancel()
        await asyncio.gather(listen_task, return_exceptions=True)
        display.close()
