"""The frame loop: hear the machine, take touches, let time pass, show the picture. It alone holds the view."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

import pygame

from egm.link.client import Client, Heard
from egm.link.messages import BenchCommand, Intent
from egm.screen.outcome import OutcomeError
from egm.screen.picture import Picture
from egm.screen.sound import Sounds
from egm.screen.theme import Theme
from egm.screen.view import Action, View, heard, lost, pressed, ticked

FRAMES_PER_SECOND: Final = 60


@dataclass(frozen=True, slots=True)
class Tap:
    """A touch, as shares of the picture's width and height."""

    x: float
    y: float


class Surface(Protocol):
    """Where the picture is shown: a window, a bare console, a browser."""

    @property
    def picture(self) -> Picture:
        """The picture at the size shown now."""
        ...

    def inputs(self) -> list[Tap | Action] | None:
        """What people did since last asked; None when the surface was closed."""
        ...

    def frame(self) -> pygame.Surface | None:
        """The surface to draw the next frame on; None while nobody could see it."""
        ...

    def show(self) -> None:
        """Show what was drawn."""
        ...

    def close(self) -> None:
        """Let it go."""
        ...


def complain(words: str) -> None:
    """Say on the error stream what the screen could not use; the machine's log keeps it."""
    print(f"screen: {words}", file=sys.stderr, flush=True)


class App:
    """One screen process. ``clock`` gives monotonic seconds."""

    def __init__(self, *, theme: Theme, surface: Surface, machine: Client, bench: Client | None, sounds: Sounds,
                 clock: Callable[[], float] = time.monotonic, reduced_motion: bool = False) -> None:
        now = clock()
        self.theme = theme
        self.surface = surface
        self.machine = machine
        self.bench = bench
        self.sounds = sounds
        self.clock = clock
        self.view = View(now=now, active_at=now, with_bench=bench is not None, reduced_motion=reduced_motion)

    def step(self) -> bool:
        """One frame; False when the surface was closed."""
        now = self.clock()
        before = self.view
        self.view = replace(self.view, now=now)
        self._hear(now)
        did = self.surface.inputs()
        if did is None:
            return False
        for one in did:
            action = self.surface.picture.touched(self.view, *self._units(one)) if isinstance(one, Tap) else one
            if action is not None:
                self.act(action)
        self.view, wishes = ticked(self.view, now, self.theme)
        self._send(wishes)
        self.sounds.follow(before, self.view)
        target = self.surface.frame()
        if target is not None:
            self.surface.picture.draw(target, self.view)
            self.surface.show()
        return True

    def act(self, action: Action) -> None:
        """What a touch or a key does."""
        self.view, messages = pressed(self.view, action, self.theme)
        self._send(messages)

    def _units(self, tap: Tap) -> tuple[float, float]:
        width, height = self.surface.picture.layout.size
        return tap.x * width, tap.y * height

    def _send(self, messages: tuple[Intent | BenchCommand, ...]) -> None:
        for message in messages:
            client = self.bench if isinstance(message, BenchCommand) else self.machine
            if client is not None:
                client.send(message)

    def _hear(self, now: float) -> None:
        self._take(self.machine.poll(now), from_bench=False)
        if self.bench is not None:
            self._take(self.bench.poll(now), from_bench=True)

    def _take(self, news: Heard, *, from_bench: bool) -> None:
        for message in news.messages:
            try:
                self.view = heard(self.view, message)
            except OutcomeError as error:
                complain(str(error))
        if from_bench and (news.up or news.down):
            self.view = replace(self.view, bench_linked=not news.down)
        if news.down and not from_bench:
            self.view = lost(self.view)
        if news.error:
            complain(f"{'bench' if from_bench else 'machine'}: {news.error}")

    def run(self, frames_per_second: int = FRAMES_PER_SECOND) -> None:
        """Frames until the surface is closed."""
        pace = pygame.time.Clock()
        try:
            while self.step():
                pace.tick(frames_per_second)
        finally:
            self.surface.close()
            self.machine.close()
            if self.bench is not None:
                self.bench.close()


def clients(state: Path, *, bench: bool) -> tuple[Client, Client | None]:
    """The links of a machine's state folder."""
    run = state / "run"
    machine = Client(run / "screen.sock", run / "screen.token")
    return machine, Client(run / "bench.sock", run / "bench.token") if bench else None
