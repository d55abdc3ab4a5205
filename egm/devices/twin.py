"""Common base of simulated devices, each with a plug, a power switch and mechanics that run by themselves.

A simulated device is a state machine on the event loop of the bench (the process of the simulated devices). It receives
bytes and replies through its :class:`SimulatedPort`. It schedules its mechanics with :meth:`Twin._schedule_step`; they
continue while no machine is connected, as in a real device.

The port stands for the cable. It simulates every line fault (no reply, delay, corruption, split bytes, unplugged), so
every simulated device has them all.
"""

import asyncio
import inspect
import itertools
import os
import pty
import tty
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Generic, TypeVar

from egm.devices.bench_line import build_owner_lock_path, lock_terminal_link
from egm.devices.framing import FrameCutter, FrameReader, ProtocolError

MessageT = TypeVar("MessageT")

#: Most bytes read at a time.
_READ_BYTES_MAX: Final = 4096
#: The number of lines in a device's log.
_LOG_LINES_MAX: Final = 200
#: A line is omitted from the log, as polling, if it is equal to one of this many last lines.
_LOG_LINES_COMPARED_FOR_REPEATS: Final = 8
#: A pause of this length ends a message, complete or not.
_PAUSE_SECONDS_THAT_END_MESSAGE: Final = 0.05
#: Time between the bytes of a split reply.
_SECONDS_BETWEEN_SPLIT_BYTES: Final = 0.001

#: The values of a bench command, by name.
BenchActionValues = Mapping[str, int | str | bool]
#: A manual action on a simulated device. Its keyword parameters, of type int, bool or str, are the values of a command;
#: a parameter's name ends in an underscore if the value's name is a Python keyword or built-in. It returns a
#: description of the result.
BenchAction = Callable[..., str]

#: The largest number in a command: what a device stores in four bytes.
ACTION_VALUE_MAX: Final = 0xFFFF_FFFF

#: What a value of an action must be, by its type.
_TEXT_BY_VALUE_TYPE: Final[Mapping[type, str]] = {
    bool: "true or false",
    int: f"a whole number from 0 to {ACTION_VALUE_MAX:,}",
    str: "text",
}


class ActionError(Exception):
    """Raised if a simulated device cannot perform a manual action; the text says why, and what is possible instead."""


def create_terminal_pair(link: Path) -> tuple[int, int]:
    """Create a pseudo-terminal and return the descriptors of its master and its slave end.

    The symbolic link ``link`` is set to the slave, in place of any earlier link.
    """
    master, slave = pty.openpty()
    tty.setraw(slave)
    link.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new_symlink = link.with_name(f".{link.name}.new")
    new_symlink.unlink(missing_ok=True)
    new_symlink.symlink_to(os.ttyname(slave))
    new_symlink.replace(link)
    return master, slave


class SimulatedPort:
    """The simulated device's end of the line: a pseudo-terminal whose slave the machine opens as its serial port.

    ``link`` is the path of the slave while the cable is plugged in. This process also keeps the slave open, so that the
    line does not hang up when the machine disconnects.
    """

    def __init__(self, link: Path, character_seconds: float = 0.0) -> None:
        """Create the port, unplugged.

        ``character_seconds`` is the time of one character in both directions; 0 transmits at once.
        """
        self.link = link
        self._character_seconds = character_seconds
        self._master = -1
        self._slave = -1
        self._lock_descriptor = -1
        self._listeners: list[Callable[[bytes], None]] = []
        self._sending_until = 0.0
        self._receiving_until = 0.0
        self._pending_received_blocks: deque[bytes] = deque()
        self._pending_sent_blocks: deque[tuple[bytes, int]] = deque()
        self.is_echoing = False  # single-wire bus: the sender receives its own bytes
        self.is_silent = False
        self.reply_delay_seconds = 0.0
        self.is_split = False
        self.replies_to_corrupt_count = 0
        self.replies_to_lose_count = 0

    @property
    def is_plugged_in(self) -> bool:
        """Return whether the cable is plugged in."""
        return self._master >= 0

    def add_listener(self, listener: Callable[[bytes], None]) -> None:
        """Register a simulated device as a listener to the machine's bytes; a bus line has several."""
        self._listeners.append(listener)

    def plug(self) -> None:
        """Plug the cable in: the line is a new pseudo-terminal under the same name."""
        if self.is_plugged_in:
            return
        self._master, self._slave = self._open_both_ends()
        os.set_blocking(self._master, False)
        asyncio.get_running_loop().add_reader(self._master, self._read_available)

    def _open_both_ends(self) -> tuple[int, int]:
        """Create the pseudo-terminal, lock its link for this process, and return the descriptors of both ends."""
        descriptors = create_terminal_pair(self.link)
        self._lock_descriptor = lock_terminal_link(self.link, os.ttyname(descriptors[1]))
        return descriptors

    def unplug(self) -> None:
        """Unplug the cable: the machine's port hangs up, and the link by which it opens the port is removed."""
        if not self.is_plugged_in:
            return
        asyncio.get_running_loop().remove_reader(self._master)
        self.link.unlink(missing_ok=True)
        if self._lock_descriptor >= 0:
            build_owner_lock_path(self.link).unlink(missing_ok=True)
            os.close(self._lock_descriptor)
        os.close(self._master)
        os.close(self._slave)
        self._master = self._slave = self._lock_descriptor = -1

    def _read_available(self) -> None:
        """Read the bytes that the machine has sent; process them at the line's speed."""
        try:
            data = os.read(self._master, _READ_BYTES_MAX)
        except (BlockingIOError, OSError):
            return
        loop = asyncio.get_running_loop()
        for block in self._split_data(data):
            if not self._character_seconds:
                self.receive(block)
                continue
            self._receiving_until = max(loop.time(), self._receiving_until) + self._character_seconds * len(
                block
            )
            self._pending_received_blocks.append(block)
            loop.call_at(self._receiving_until, self._process_received_block)

    def _process_received_block(self) -> None:
        """Process the next block of bytes that the simulated device received."""
        self.receive(
            self._pending_received_blocks.popleft()
        )  # not the timer's own block: see _write_next_bytes

    def receive(self, data: bytes) -> None:
        """Pass the machine's bytes to the simulated devices on this line; on a single-wire bus, echo them first."""
        if self.is_silent:
            return
        if self.is_echoing:
            self.send(data)
        for listener in self._listeners:
            listener(data)

    def _split_data(self, data: bytes) -> list[bytes]:
        """Return ``data`` as single bytes if bytes are to be sent one at a time, otherwise as one block."""
        return [data[i : i + 1] for i in range(len(data))] if self.is_split else [data]

    def send(self, data: bytes) -> None:
        """Send a reply to the machine, with the simulated faults of the cable."""
        if self.is_silent or not self.is_plugged_in:
            return
        if self.replies_to_lose_count:
            self.replies_to_lose_count -= 1
            return
        if self.replies_to_corrupt_count:
            self.replies_to_corrupt_count -= 1
            middle = len(data) // 2
            data = data[:middle] + bytes((data[middle] ^ 0x15,)) + data[middle + 1 :]
        loop = asyncio.get_running_loop()
        sent_at = max(loop.time() + self.reply_delay_seconds, self._sending_until)
        for block in self._split_data(data):
            sent_at += max(
                self._character_seconds * len(block), _SECONDS_BETWEEN_SPLIT_BYTES if self.is_split else 0.0
            )
            self._pending_sent_blocks.append((block, self._master))
            loop.call_at(sent_at, self._write_next_bytes)
        self._sending_until = sent_at

    def _write_next_bytes(self) -> None:
        """Write the next bytes of a reply to the line; drop them if the cable was replaced or nobody reads."""
        # Timers of the same instant may fire in any order, but the bytes must keep theirs: hence the queue.
        data, master = self._pending_sent_blocks.popleft()
        if master == self._master:  # not if the cable has been replaced meanwhile
            try:
                os.write(master, data)
            except BlockingIOError:
                return  # nobody reads and the buffer is full: lost, as on a wire


class Twin(ABC, Generic[MessageT]):
    """A simulated peripheral that receives messages of type ``MessageT``.

    ``kind`` is the name of the kind of device, for display. :meth:`list_actions` returns the possible manual
    actions, such as inserting a bill.
    """

    kind: str = ""
    currency: str = "USD"
    """The currency for which a money device is programmed, ISO 4217."""

    def __init__(
        self, name: str, port: SimulatedPort, cutter: FrameCutter[MessageT], speed: float = 1.0
    ) -> None:
        """Create the simulated device.

        Its mechanics run ``speed`` times as fast as real ones; the time limits of its protocol are unchanged.
        """
        self.name = name
        self.port = port
        self.is_powered = True
        self._speed = speed
        self._timers: set[asyncio.TimerHandle] = set()
        self._cutter = cutter
        self._reader = FrameReader(cutter)
        self._last_received_at = 0.0
        self._log: deque[str] = deque(maxlen=_LOG_LINES_MAX)
        #: Called whenever :meth:`export_retained_state` may have changed.
        self.on_change: Callable[[], None] = lambda: None
        port.add_listener(self._handle_data)

    # ------------------------------------------------------------ for the simulated device's class
    @abstractmethod
    def process_message(self, message: MessageT) -> None:
        """Handle a valid message from the machine. A damaged one gets no reply, as with real devices."""

    @abstractmethod
    def handle_power_loss(self) -> None:
        """Handle the loss of power: delete everything that the real device does not retain without power."""

    @abstractmethod
    def handle_power_return(self) -> None:
        """Handle the return of power, as the real device would."""

    def start_autonomous_behaviour(self) -> None:
        """Start what the device does by itself, such as a wheel's spins; the bench calls it when it starts."""

    def export_retained_state(self) -> dict[str, object]:
        """Return what the device retains without power, as JSON data."""
        return {}

    def restore_retained_state(self, retained_state: Mapping[str, object]) -> None:
        """Restore the state that :meth:`export_retained_state` returned, as if the device were switched on again."""

    @abstractmethod
    def describe_state(self) -> dict[str, object]:
        """Return what a person could see on or in the simulated device, for display."""

    @abstractmethod
    def list_actions(self) -> dict[str, BenchAction]:
        """Return the manual actions on this device by name; each function performs one and describes the result."""

    def _handle_data(self, data: bytes) -> None:
        """Pass received bytes to the frame reader and handle each message; without power the bytes are lost.

        A pause on the line discards an unfinished message.
        """
        if not self.is_powered:
            return
        now = asyncio.get_running_loop().time()
        if now - self._last_received_at > _PAUSE_SECONDS_THAT_END_MESSAGE:
            self._reader = FrameReader(self._cutter)  # an interrupted message is discarded
        self._last_received_at = now
        self.log_line(f"received {data.hex(' ')}")
        for parsed_frame in self._reader.feed(data):
            if not isinstance(parsed_frame, ProtocolError):
                self.process_message(parsed_frame)
        self.on_change()

    def _send(self, data: bytes) -> None:
        """Send bytes to the machine, unless the device has no power."""
        if self.is_powered:
            self.log_line(f"sent     {data.hex(' ')}")
            self.port.send(data)

    def log_line(self, text: str) -> None:
        """Write a line with a time stamp in the device's log, unless one of the last lines has the same text."""
        recent_texts = (
            line.partition(" ")[2]
            for line in itertools.islice(reversed(self._log), _LOG_LINES_COMPARED_FOR_REPEATS)
        )
        if text not in recent_texts:
            self._log.append(f"{asyncio.get_running_loop().time():.3f} {text}")

    def _schedule_step(self, seconds: float, callback: Callable[[], None]) -> asyncio.TimerHandle:
        """Schedule a later step of the device's mechanics; a power loss cancels it."""
        return self._start_timer(seconds / self._speed, callback)

    def _schedule_time_limit(self, seconds: float, callback: Callable[[], None]) -> asyncio.TimerHandle:
        """Schedule the end of a wait for the machine; a power loss cancels it.

        The time limit is not scaled by the mechanics' speed, because it is part of the protocol.
        """
        return self._start_timer(seconds, callback)

    def _start_timer(self, seconds: float, callback: Callable[[], None]) -> asyncio.TimerHandle:
        """Start a timer of the device, which a power loss cancels."""

        def run_step() -> None:
            """Run the scheduled step of the simulated device, and report that its state has changed."""
            self._timers.discard(timer)
            callback()
            self.on_change()

        timer = asyncio.get_running_loop().call_later(seconds, run_step)
        self._timers.add(timer)
        return timer

    def _stop_timers(self) -> None:
        """Cancel the scheduled steps of the device's mechanics, and its time limits."""
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()

    # ------------------------------------------------------------ for the bench
    def shut_down(self) -> None:
        """Stop the device for good, in the state in which a power loss would leave it."""
        self.is_powered = False
        self._stop_timers()
        self.on_change()
        self.on_change = lambda: None
        self.port.unplug()

    def perform_action(self, action: str, values: BenchActionValues) -> str:
        """Perform the manual action ``action``; return a description of the result. Raises :class:`ActionError`."""
        action_by_name = {**self._list_line_actions(), **self.list_actions()}
        if action not in action_by_name:
            raise ActionError(
                f"{self.name}: there is no action {action!r}; expected one of {', '.join(sorted(action_by_name))}"
            )
        result_text = action_by_name[action](**_read_action_values(action_by_name[action], values))
        if action not in {"state", "log"}:
            self.log_line(f"hand  {action} {dict(values) or ''}: {result_text}")
        self.on_change()
        return result_text

    def describe(self) -> dict[str, object]:
        """Return the device's state for display, and whether it is plugged in and powered."""
        return {
            "kind": self.kind,
            "powered": self.is_powered,
            "plugged": self.port.is_plugged_in,
            **self.describe_state(),
        }

    def _list_line_actions(self) -> dict[str, BenchAction]:
        """Return the manual actions on power, cable and line that every simulated device has."""
        return {
            "power_off": self._switch_power_off,
            "power_on": self._switch_power_on,
            "unplug": self._unplug_cable,
            "plug": self._plug_cable_in,
            "silence": self._set_replies_withheld,
            "late": self._set_reply_delay,
            "corrupt": self._corrupt_next_replies,
            "drop": self._drop_next_replies,
            "split": self._set_replies_split,
            "clear_line": self._clear_line_faults,
            "state": lambda: "",
            "log": lambda: "\n".join(self._log),
        }

    def _switch_power_off(self) -> str:
        """Cut the power of the simulated device."""
        if self.is_powered:
            self.is_powered = False
            self._stop_timers()
            self._reader = FrameReader(self._cutter)
            self.handle_power_loss()
        return "without power"

    def _switch_power_on(self) -> str:
        """Restore the device's power."""
        if not self.is_powered:
            self.is_powered = True
            self.handle_power_return()
        return "powered"

    def _unplug_cable(self) -> str:
        """Unplug the device's cable."""
        self.port.unplug()
        return "cable unplugged"

    def _plug_cable_in(self) -> str:
        """Plug the device's cable in."""
        self.port.plug()
        return "cable plugged in"

    def _set_replies_withheld(self, *, on: bool = True) -> str:
        """Set whether the device sends no replies (``on``)."""
        self.port.is_silent = on
        return "silent" if self.port.is_silent else "replying"

    def _set_reply_delay(self, *, milliseconds: int) -> str:
        """Delay every reply by ``milliseconds``."""
        self.port.reply_delay_seconds = milliseconds / 1000
        return f"replies {self.port.reply_delay_seconds:g} s late"

    def _corrupt_next_replies(self, *, answers: int = 1) -> str:
        """Damage the next replies (``answers``: how many)."""
        self.port.replies_to_corrupt_count = answers
        return f"the next {self.port.replies_to_corrupt_count} replies are damaged"

    def _drop_next_replies(self, *, answers: int = 1) -> str:
        """Lose the next replies (``answers``: how many)."""
        self.port.replies_to_lose_count = answers
        return f"the next {self.port.replies_to_lose_count} replies are lost"

    def _set_replies_split(self, *, on: bool = True) -> str:
        """Set whether replies are sent one byte at a time (``on``)."""
        self.port.is_split = on
        return "one byte at a time" if self.port.is_split else "whole replies"

    def _clear_line_faults(self) -> str:
        """End all simulated faults of the line."""
        self.port.is_silent = self.port.is_split = False
        self.port.reply_delay_seconds = 0.0
        self.port.replies_to_corrupt_count = self.port.replies_to_lose_count = 0
        return "the line is good"


def _read_action_values(action: BenchAction, values: BenchActionValues) -> dict[str, int | str | bool]:
    """Return the values of a manual action's parameters, by name, from the command ``values``.

    Raises :class:`ActionError`, which names the value, if it belongs to no parameter, is missing, has the wrong type or
    exceeds :data:`ACTION_VALUE_MAX`. The action is then not started.
    """
    parameters = {
        name.rstrip("_"): parameter for name, parameter in inspect.signature(action).parameters.items()
    }
    for name in values:
        if name not in parameters:
            raise ActionError(
                f"{name}: not a value of this action; expected {', '.join(parameters) or 'none'}"
            )
    named_values = {}
    for name, parameter in parameters.items():
        value, value_type = values.get(name, parameter.default), parameter.annotation
        if value is parameter.empty:
            raise ActionError(f"{name} is missing: write {name}=... ({_TEXT_BY_VALUE_TYPE[value_type]})")
        if type(value) is not value_type or (value_type is int and not 0 <= value <= ACTION_VALUE_MAX):
            raise ActionError(f"{name}: expected {_TEXT_BY_VALUE_TYPE[value_type]}, not {value!r}")
        named_values[parameter.name] = value
    return named_values
