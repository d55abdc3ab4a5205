"""The frame loop: receive messages, take input, advance time and show the picture. Only this module owns the view."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

import pygame

from egm.kernel.messages import BenchCommand, BenchReply, Intent, PlayButtonPress, ScreenHeartbeat
from egm.kernel.touch import COORDINATE_UNIT, calibrate_touch
from egm.links.screen.client import ScreenClient
from egm.links.screen.start_up_activity import read_start_up_activity
from egm.links.systemd import READY_NOTIFICATION, WATCHDOG_NOTIFICATION, notify_systemd
from egm.screen.audio.cues import SoundPlayer
from egm.screen.input_reducer import REPEATED_MENU_KEY_ACTION, apply_action
from egm.screen.message_reducer import (
    advance_time,
    apply_bench_reply,
    apply_message,
    mark_machine_connection_lost,
    show_start_up_activity,
)
from egm.screen.picture import Picture
from egm.screen.reel_data import GameDataError
from egm.screen.theme import Theme
from egm.screen.view import Action, View
from egm.terminal import echo

#: Frames drawn per second at most, unless the caller of :meth:`ScreenApp.run` sets another number.
FRAMES_PER_SECOND: Final = 60
#: Seconds between queries for the state of the simulated devices while their drawer is open.
BENCH_QUERY_INTERVAL_SECONDS: Final = 0.4
#: Seconds between the heartbeats of the frame loop.
HEARTBEAT_INTERVAL_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class TouchFraction:
    """A touch, as fractions of the picture's width and height."""

    x: float
    """The distance from the picture's left edge, as a share of its width; it may be outside 0 to 1."""
    y: float
    """The distance from the picture's upper edge, as a share of its height; it may be outside 0 to 1."""


class DisplaySurface(Protocol):
    """An output on which the picture is shown: a window, a console without a desktop, or a browser."""

    can_be_closed: bool
    """Whether a person may close the screen of a kiosk now: true while staff are signed in to the service menu."""

    @property
    def picture(self) -> Picture:
        """Return the renderer that draws the picture at the surface's present size."""
        ...

    def take_inputs(self) -> list[TouchFraction | Action] | None:
        """Return the touches and key presses since the last call, or None if a person closed the surface."""
        ...

    def get_drawing_surface(self) -> pygame.Surface | None:
        """Return the surface to draw the next frame on, or None if no frame would be shown now."""
        ...

    def show_frame(self) -> None:
        """Show the frame that was drawn on the surface returned by :meth:`get_drawing_surface`."""
        ...

    def set_text(self, screen_reader_text: str) -> None:
        """Set the text that describes the picture to screen readers."""
        ...

    def close(self) -> None:
        """Close the window or connection that shows the picture."""
        ...


#: Seconds between reads of a starting machine's progress.
_START_UP_PROGRESS_READ_INTERVAL_SECONDS: Final = 0.2


def report_problem(problem_text: str) -> None:
    """Write a text about a problem to standard error, which the machine logs. The screen continues to run."""
    echo(f"screen: {problem_text}", err=True)


class ScreenApp:
    """The frame loop of a screen process.

    ``clock`` returns monotonic seconds. If ``is_top_screen``, the screen only shows: it sends no requests and no
    heartbeats to the machine.
    """

    def __init__(
        self,
        *,
        theme: Theme,
        surface: DisplaySurface,
        machine_client: ScreenClient,
        bench_client: ScreenClient | None,
        devices: frozenset[str] = frozenset(),
        sound_player: SoundPlayer,
        clock: Callable[[], float] = time.monotonic,
        is_motion_reduced: bool = False,
        is_top_screen: bool = False,
        start_up_file: Path | None = None,
    ) -> None:
        """Create the frame loop.

        Args:
            devices: Names of the simulated devices that the drawer operates; all if empty.
            start_up_file: File with the progress of a machine that is starting.
        """
        now = clock()
        self.theme = theme
        self.surface = surface
        self.machine_client = machine_client
        self.bench_client = bench_client
        self._devices = devices
        self.sound_player = sound_player
        self.clock = clock
        self._is_top_screen = is_top_screen
        self._start_up_file = start_up_file
        self._next_start_up_read_at = now
        self._next_bench_query_at = 0.0
        self._next_heartbeat_at = now
        self._is_started = False
        self._next_progress_report_at = 0.0
        self.view = View(
            now=now,
            disconnected_at=now,
            last_activity_at=now,
            has_device_drawer=bench_client is not None,
            is_motion_reduced=is_motion_reduced,
        )

    def run_frame(self) -> bool:
        """Run one frame. Return False if the surface was closed."""
        now = self.clock()
        view_before = self.view
        self.view = replace(self.view, now=now)
        self._apply_machine_messages(now)
        self.surface.can_be_closed = is_staff_signed_in(self.view)
        inputs = self.surface.take_inputs()
        if inputs is None:
            return False
        for touch_or_key in inputs:
            self._take_input(touch_or_key)
        self.view, requests = advance_time(self.view, now, self.theme)
        self._send(requests)
        self.sound_player.play_changes(view_before, self.view)
        drawing_surface = self.surface.get_drawing_surface()
        if drawing_surface is not None:
            # Set it for every frame: when the window's size changes, another picture replaces this one.
            self.surface.picture.painter.on_surface_created = self._report_progress
            self.surface.picture.draw_view(drawing_surface, self.view)
            self.surface.show_frame()
            self.surface.set_text(self.surface.picture.build_screen_reader_text(self.view))
        if now >= self._next_heartbeat_at:
            self._next_heartbeat_at = now + HEARTBEAT_INTERVAL_SECONDS
            notify_systemd(
                WATCHDOG_NOTIFICATION
                if self._is_started
                else f"{READY_NOTIFICATION}\n{WATCHDOG_NOTIFICATION}"
            )
            self._is_started = True
            if not self._is_top_screen:
                self.machine_client.send(ScreenHeartbeat())
        return True

    def _report_progress(self) -> None:
        """Report to systemd's watchdog that a frame makes progress: the first picture of a game takes long to draw.

        The machine receives no heartbeat, because nobody sees the frame before it is complete.
        """
        now = self.clock()
        if self._is_started and now >= max(self._next_heartbeat_at, self._next_progress_report_at):
            self._next_progress_report_at = now + HEARTBEAT_INTERVAL_SECONDS
            notify_systemd(WATCHDOG_NOTIFICATION)

    def _take_input(self, touch_or_key: TouchFraction | Action) -> None:
        """Apply a touch or a key press. If this raises an exception, report it and keep the view as it was."""
        view_before = self.view
        try:
            action = (
                self._find_touch_action(touch_or_key)
                if isinstance(touch_or_key, TouchFraction)
                else touch_or_key
            )
            if action is not None and action.name == "calm":  # Set by the player's browser; this is no touch.
                self.view = replace(self.view, is_motion_reduced=bool(action.value))
            elif action is not None:
                self.apply_action(action)
        except Exception as error:  # noqa: BLE001 (no touch may end the screen)
            self.view = view_before
            report_problem(f"{touch_or_key}: {type(error).__name__}: {error}")

    def apply_action(self, action: Action) -> None:
        """Apply an action to the view, and send the messages that it causes to the machine and bench."""
        selectable_actions = self.surface.picture.list_selectable_actions(self.view)
        self.view, messages = apply_action(self.view, action, self.theme, selectable_actions)
        self._send(messages)

    def _find_touch_action(self, touch: TouchFraction) -> Action | None:
        """Return the action of the target at a touch, or None; the touch calibration is applied to the touch first.

        During a calibration, return an action with the uncorrected point.
        """
        snapshot = self.view.snapshot
        touch_point = (round(touch.x * COORDINATE_UNIT), round(touch.y * COORDINATE_UNIT))
        if (
            snapshot is not None
            and snapshot.service_page is not None
            and snapshot.service_page.pattern == "calibrate"
        ):
            return Action("calibration_touch", touch_point)
        if snapshot is not None and snapshot.touch_calibration:
            x, y = calibrate_touch(snapshot.touch_calibration, *touch_point)
            touch = TouchFraction(x / COORDINATE_UNIT, y / COORDINATE_UNIT)
        width, height = self.surface.picture.layout.size
        return self.surface.picture.find_touched_action(self.view, touch.x * width, touch.y * height)

    def _send(self, messages: tuple[Intent | BenchCommand, ...]) -> None:
        """Send requests to the machine and commands to the bench.

        A top screen sends nothing. Requests made before the machine's greeting are dropped: the
        player does not see yet what they would cause.
        """
        if self._is_top_screen:
            return
        for message in messages:
            if isinstance(message, Intent):
                if self.view.is_machine_connected:
                    self.machine_client.send(message)
            elif self.bench_client is not None:
                self.bench_client.send(message)

    def _apply_machine_messages(self, now: float) -> None:
        """Apply the messages received from the machine to the view; handle reported button presses as input.

        Without a connection, read the progress of a starting machine. Also apply the bench's replies.
        """
        received = self.machine_client.poll(now)
        if (
            not self.view.is_machine_connected
            and self._start_up_file is not None
            and now >= self._next_start_up_read_at
        ):
            self._next_start_up_read_at = now + _START_UP_PROGRESS_READ_INTERVAL_SECONDS
            self.view = show_start_up_activity(self.view, read_start_up_activity(self._start_up_file))
        for message in received.messages:
            if isinstance(message, PlayButtonPress):
                self._take_input(Action(message.button))
                continue
            try:
                self.view = apply_message(self.view, message)
            except GameDataError as error:
                report_problem(str(error))
        if received.has_link_been_lost:
            self.view = mark_machine_connection_lost(self.view)
            if received.error_text:
                report_problem(f"machine: {received.error_text}")
        if self.bench_client is not None:
            self._apply_bench_messages(self.bench_client, now)

    def _apply_bench_messages(self, bench_client: ScreenClient, now: float) -> None:
        """Apply the replies of the bench to the view.

        While the drawer of simulated devices is open, also query the devices' state.
        """
        received = bench_client.poll(now)
        for message in received.messages:
            if isinstance(message, BenchReply):
                states_before = self.view.state_by_device
                self.view = apply_bench_reply(self.view, message, self._devices)
                if self.view.is_key_turn_pending and self.view.state_by_device is not states_before:
                    self.view = replace(self.view, is_key_turn_pending=False)
                    self.apply_action(REPEATED_MENU_KEY_ACTION)
        if received.has_link_opened or received.has_link_been_lost:
            self.view = replace(
                self.view, is_bench_connected=not received.has_link_been_lost, is_key_turn_pending=False
            )
        if self.view.is_drawer_open and now >= self._next_bench_query_at:
            self._next_bench_query_at = now + BENCH_QUERY_INTERVAL_SECONDS
            bench_client.send(BenchCommand(device="bench", action="state"))

    def run(self, frames_per_second: int = FRAMES_PER_SECOND) -> None:
        """Run frames until the surface is closed."""
        frame_clock = pygame.time.Clock()
        try:
            while self.run_frame():
                frame_clock.tick(frames_per_second)
        finally:
            self.surface.close()
            self.machine_client.close()
            if self.bench_client is not None:
                self.bench_client.close()


def is_staff_signed_in(view: View) -> bool:
    """Return whether a staff member has signed in to the service menu."""
    page = view.service_page
    return view.is_machine_connected and page is not None and page.person is not None


def create_clients(
    state_folder: Path, *, with_bench: bool, position: int = 1, is_onlooker: bool = False
) -> tuple[ScreenClient, ScreenClient | None]:
    """Return the client of a screen to its machine, and its client to the bench.

    The screen belongs to the player position ``position``; ``state_folder`` is the machine's state folder. If
    ``with_bench`` is false, there is no second client (None). ``is_onlooker`` says that no player uses the screen; the
    client then promises no heartbeats.
    """
    sockets = state_folder / "run"
    name = "screen" if position == 1 else f"screen-{position}"
    machine_client = ScreenClient(
        sockets / f"{name}.sock",
        sockets / f"{name}.token",
        is_onlooker=is_onlooker,
        sends_heartbeats=not is_onlooker,
    )
    bench_client = ScreenClient(sockets / "bench.sock", sockets / "bench.token") if with_bench else None
    return machine_client, bench_client
