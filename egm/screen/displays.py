"""Displays of a computer without a desktop, driven by the kernel's mode setting alone (DRM/KMS).

The processor draws the pictures, so a display needs only two plain ("dumb") buffers that alternate: no
OpenGL, and no driver but the kernel's. The player's screen owns the card and its first display. If there is a
second display, the player's screen starts the top screen for it: a separate process that may use only that
display (by a DRM lease). A fault of the top screen, or of its plug, therefore does not affect the first
display.

Source: Linux, include/uapi/drm/drm_mode.h and Documentation/gpu/drm-uapi.rst.
"""

import errno
import fcntl
import mmap
import os
import select
import signal
import socket
import struct
import time
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

import pygame

from egm.terminal import echo

#: The folder of the graphics cards' devices.
_GRAPHICS_CARDS_FOLDER: Final = Path("/dev/dri")


class IoctlCall(Enum):
    """One of the kernel's mode-setting calls (DRM ioctls): its number, and the format of its structure."""

    GETRESOURCES = (0xA0, "4Q8I")
    SETCRTC = (0xA2, "Q7I68s")
    GETENCODER = (0xA6, "5I")
    GETCONNECTOR = (0xA7, "4Q12I")
    ADDFB = (0xAE, "7I")
    PAGE_FLIP = (0xB0, "4IQ")
    CREATE_DUMB = (0xB2, "6IQ")
    MAP_DUMB = (0xB3, "2IQ")
    CREATE_LEASE = (0xC6, "Q4I")


#: The netlink protocol of the kernel's device events (NETLINK_KOBJECT_UEVENT).
_NETLINK_DEVICE_EVENTS: Final = 15
#: The netlink group in which the kernel itself reports events; udev reports in another.
_NETLINK_KERNEL_GROUP: Final = 1
#: The structure of a display mode (``drm_mode_modeinfo``).
_MODE_STRUCT: Final = struct.Struct("I10H3I32s")
#: The bit in a mode's type that marks the display's preferred mode.
_PREFERRED_MODE_BIT: Final = 1 << 3
#: The status of a connector with a display.
_CONNECTED_STATUS: Final = 1
#: The flag of a page flip that requests an event when the frame is shown.
_PAGE_FLIP_EVENT_FLAG: Final = 1
#: Longest wait, in seconds, for a frame to be shown. A display that is off may never report it.
_FRAME_SHOWN_SECONDS_MAX: Final = 0.1
#: Seconds between two attempts to start the top screen.
_TOP_SCREEN_RETRY_SECONDS: Final = 10.0


class DisplayError(OSError):
    """Raised if no display or no CRTC is available, a different display was connected, or a call failed.

    The message says which.
    """


@dataclass(frozen=True, slots=True)
class DisplayConnector:
    """A connector of the graphics card, with its encoders and the modes of its display.

    It has no modes if no display is connected.
    """

    connector_id: int
    """The kernel's id of the connector."""
    encoder_ids: tuple[int, ...]
    modes: tuple[bytes, ...]
    """The modes of the connected display, each as the bytes of the kernel's mode structure."""

    @property
    def preferred_mode(self) -> bytes:
        """Return the mode that the display prefers, or else its first mode."""
        return next(
            (mode for mode in self.modes if _MODE_STRUCT.unpack(mode)[13] & _PREFERRED_MODE_BIT),
            self.modes[0],
        )


class DrmCard:
    """A graphics card that this process controls, or the part of a card that was leased to it (DRM lease)."""

    def __init__(self, descriptor: int) -> None:
        """Take control of the card with this file descriptor, and open the socket for hot-plug events.

        The descriptor may also be of a lease, which is a part of a card.
        """
        self.descriptor = descriptor
        self._event_socket = socket.socket(
            socket.AF_NETLINK, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK, _NETLINK_DEVICE_EVENTS
        )
        self._event_socket.bind((0, _NETLINK_KERNEL_GROUP))

    def have_displays_changed(self) -> bool:
        """Return whether a display was connected or disconnected since the last call.

        The connectors must be queried to find out which display it was.
        """
        has_event = False
        while True:
            try:
                has_event |= b"HOTPLUG=1" in self._event_socket.recv(8192).split(b"\0")
            except BlockingIOError:
                return has_event
            except OSError:  # The event buffer overflowed: assume a change.
                return True

    @classmethod
    def open(cls, folder: Path = _GRAPHICS_CARDS_FOLDER) -> "DrmCard":
        """Return the first graphics card in the device folder ``folder`` that has a display.

        Raises DisplayError if no card has one. If the displays of a card cannot be queried, the error says why.
        """
        reported_error = DisplayError(f"{folder}: no card has a display that answers")
        for path in sorted(folder.glob("card*")):
            card = cls(os.open(path, os.O_RDWR | os.O_CLOEXEC))
            try:
                if card.list_connected():
                    return card
            except DisplayError as error:
                if error.errno != errno.EOPNOTSUPP:  # The error of a card that only computes.
                    reported_error = error
            card.close()
        raise reported_error

    def close(self) -> None:
        """Close the graphics card; the kernel then shows its console on the card's displays again."""
        os.close(self.descriptor)
        self._event_socket.close()

    def execute_ioctl(self, call: IoctlCall, *field_values: int | bytes) -> tuple[int, ...]:
        """Make one kernel call (ioctl) on the card, and return the values in its structure after the call.

        Raises DisplayError if the call fails.
        """
        call_number, structure_format = call.value
        structure_bytes = bytearray(struct.pack(structure_format, *field_values))
        try:
            fcntl.ioctl(
                self.descriptor,
                3 << 30 | len(structure_bytes) << 16 | ord("d") << 8 | call_number,
                structure_bytes,
            )
        except OSError as error:
            raise DisplayError(error.errno, error.strerror, f"graphics card: {call.name}") from error
        return struct.unpack(structure_format, structure_bytes)

    def read_resources(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the ids of the card's CRTCs and of its connectors, in the kernel's order.

        A CRTC is the part of the card that sends the contents of a buffer to a display.
        """
        counts = self.execute_ioctl(IoctlCall.GETRESOURCES, *(0,) * 12)[4:8]
        _, crtc_ids, connector_ids, _ = id_arrays = [array("I", bytes(4 * count)) for count in counts]
        structure = self.execute_ioctl(
            IoctlCall.GETRESOURCES,
            0,
            _get_memory_address(crtc_ids),
            _get_memory_address(connector_ids),
            0,
            0,
            *map(len, id_arrays[1:3]),
            *(0,) * 5,
        )
        crtc_count, connector_count = structure[5:7]
        return tuple(crtc_ids[:crtc_count]), tuple(connector_ids[:connector_count])

    def list_connected(self) -> list[DisplayConnector]:
        """Return the connectors to which a display is connected, in the kernel's order.

        This may take tenths of a second.
        """
        _, connector_ids = self.read_resources()
        return [connector for connector in map(self._read_connector, connector_ids) if connector.modes]

    def _read_connector(self, connector_id: int) -> DisplayConnector:
        """Return the connector with the id ``connector_id``, with its encoders and modes. This queries its display."""
        structure = self.execute_ioctl(IoctlCall.GETCONNECTOR, *(0,) * 8, connector_id, *(0,) * 7)
        mode_count, encoder_count, connection_status = structure[4], structure[6], structure[11]
        modes_bytes, encoder_ids = (
            array("B", bytes(_MODE_STRUCT.size * mode_count)),
            array("I", bytes(4 * encoder_count)),
        )
        counts_and_id = (mode_count, 0, encoder_count, 0, connector_id)
        if mode_count:
            self.execute_ioctl(
                IoctlCall.GETCONNECTOR,
                _get_memory_address(encoder_ids),
                _get_memory_address(modes_bytes),
                0,
                0,
                *counts_and_id,
                *(0,) * 7,
            )
        has_display = connection_status == _CONNECTED_STATUS
        mode_offsets = range(0, len(modes_bytes) if has_display else 0, _MODE_STRUCT.size)
        return DisplayConnector(
            connector_id,
            tuple(encoder_ids),
            tuple(modes_bytes[i : i + _MODE_STRUCT.size].tobytes() for i in mode_offsets),
        )

    def find_crtc(self, connector: DisplayConnector, taken_crtc_ids: Sequence[int] = ()) -> int:
        """Return the id of a CRTC that can serve the connector and is not in ``taken_crtc_ids``.

        Raises DisplayError if there is no such CRTC.
        """
        crtc_ids, _ = self.read_resources()
        for encoder_id in connector.encoder_ids:
            *_, crtc_mask, _ = self.execute_ioctl(IoctlCall.GETENCODER, encoder_id, 0, 0, 0, 0)
            for crtc_index, crtc_id in enumerate(crtc_ids):
                if crtc_mask & 1 << crtc_index and crtc_id not in taken_crtc_ids:
                    return crtc_id
        raise DisplayError(f"connector {connector.connector_id}: the card can drive no more displays at once")

    def lease_display(self, connector_id: int, crtc_id: int) -> int:
        """Return a file descriptor that gives another process control of this connector and CRTC only.

        Raises OSError.
        """
        object_ids = array("I", (connector_id, crtc_id))
        return self.execute_ioctl(
            IoctlCall.CREATE_LEASE, _get_memory_address(object_ids), len(object_ids), os.O_CLOEXEC, 0, 0
        )[4]


class DisplayOutput:
    """The output of frames to one display, with the kernel's mode setting. ``size`` is its size in pixels."""

    def __init__(self, card: DrmCard, display_index: int = 0) -> None:
        """Choose a display of the card and create the two frame buffers for it.

        ``display_index`` is its index among the connected displays, in the kernel's order. If fewer displays are
        connected, the last one is chosen. Raises DisplayError if none is connected.
        """
        self.card, self._display_index = card, display_index
        connectors = card.list_connected()
        if not connectors:
            raise DisplayError("no display answers")
        connector = self._choose_connector(connectors)
        self.connector_id, self._mode = connector.connector_id, connector.preferred_mode
        self.crtc_id = card.find_crtc(connector)
        self.other_connectors = [other for other in connectors if other is not connector]
        """The connectors whose displays are connected but not used by this output."""
        _, width, _, _, _, _, height, *_ = _MODE_STRUCT.unpack(self._mode)
        self.size: tuple[int, int] = (width, height)
        self._buffers = [self._create_buffer() for _ in range(2)]
        #: Whether the display is connected and its mode is set; None before the first frame.
        self._is_on: bool | None = None
        self._is_flip_pending = False

    def _choose_connector(self, connectors: list[DisplayConnector]) -> DisplayConnector:
        """Return the connector of the display with the configured index.

        If fewer displays are connected, return the connector of the last one.
        """
        return connectors[min(self._display_index, len(connectors) - 1)]

    def _create_buffer(self) -> tuple[int, pygame.Surface]:
        """Create a frame buffer on the card. Return its id, and a surface that draws into its memory."""
        (width, height), execute_ioctl = self.size, self.card.execute_ioctl
        *_, handle, stride, length = execute_ioctl(IoctlCall.CREATE_DUMB, height, width, 32, 0, 0, 0, 0)
        buffer_id = execute_ioctl(IoctlCall.ADDFB, 0, width, height, stride, 32, 24, handle)[0]
        memory = mmap.mmap(
            self.card.descriptor, length, offset=execute_ioctl(IoctlCall.MAP_DUMB, handle, 0, 0)[2]
        )
        visible_memory = memoryview(memory)[: stride * height]  # The buffer is padded to whole memory pages.
        return buffer_id, pygame.image.frombuffer(visible_memory, self.size, "BGRA", stride)

    def _turn_on(self) -> None:
        """Set the display's mode. This turns the display on and shows the current buffer."""
        connector_ids = array("I", (self.connector_id,))
        buffer_id = self._buffers[0][0]
        self.card.execute_ioctl(
            IoctlCall.SETCRTC,
            _get_memory_address(connector_ids),
            1,
            self.crtc_id,
            buffer_id,
            0,
            0,
            0,
            1,
            self._mode,
        )

    def show_frame(self, frame: pygame.Surface) -> None:
        """Show a frame of the size :attr:`size`, once the previous frame has been shown.

        If the previous frame is still not shown after a short wait, the new one is skipped. A display that was
        unplugged shows nothing; when it is plugged in again, it is turned on. Raises DisplayError if a different
        display was plugged in, if the display with the configured index was plugged in only now, or if the card is
        gone.
        """
        if (
            self._is_flip_pending
            and select.select([self.card.descriptor], [], [], _FRAME_SHOWN_SECONDS_MAX)[0]
        ):
            os.read(self.card.descriptor, 1024)
        self._buffers.reverse()
        buffer_id, surface = self._buffers[0]
        surface.blit(frame, (0, 0))
        if self.card.have_displays_changed() or self._is_on is None:
            self._update_connected_displays()
        try:
            self.card.execute_ioctl(IoctlCall.PAGE_FLIP, self.crtc_id, buffer_id, _PAGE_FLIP_EVENT_FLAG, 0, 0)
            self._is_flip_pending = True
        except DisplayError as error:
            self._is_flip_pending = False
            if error.errno != errno.EBUSY:  # The previous frame is not shown yet: skip this one.
                self._turn_on()

    def _update_connected_displays(self) -> None:
        """Detect which displays are connected. If this display was plugged in again, turn it on.

        Raises DisplayError if a different display was plugged in, or if another display now has the configured index.
        """
        connectors = self.card.list_connected()
        own_connector = next(
            (connector for connector in connectors if connector.connector_id == self.connector_id), None
        )
        self.other_connectors = [connector for connector in connectors if connector is not own_connector]
        if own_connector is not None and own_connector is not self._choose_connector(connectors):
            raise DisplayError(
                f"connector {self.connector_id}: the display that should show this picture was connected elsewhere"
            )
        if own_connector is not None and not self._is_on:
            if self._mode not in own_connector.modes:
                raise DisplayError(f"connector {self.connector_id}: a different display was connected")
            self._turn_on()
        self._is_on = own_connector is not None


class TopScreenProcess:
    """The process that draws the top screen, on a display that the player's screen does not use."""

    def __init__(
        self,
        output: DisplayOutput,
        build_command: Callable[[int], Sequence[str]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare the process without starting it.

        ``build_command`` returns the command line that starts the process, for the file descriptor of a DRM lease. The
        lease gives the process the use of its display.
        """
        self._output = output
        self._clock = clock
        self._build_command = build_command
        self._process_id: int | None = None
        self._next_start_at = clock()

    def start_if_possible(self) -> None:
        """Start the process if a second display is connected and the process is not running.

        If the process has ended, it is started again only some seconds after its last start. A failed start is only
        reported.
        """
        if self._is_running() or not self._output.other_connectors:
            return
        now = self._clock()
        if now < self._next_start_at:
            return
        self._next_start_at = now + _TOP_SCREEN_RETRY_SECONDS
        card, connector = self._output.card, self._output.other_connectors[0]
        # Only the player's screen sends the watchdog notices to systemd.
        environment = {name: value for name, value in os.environ.items() if name != "NOTIFY_SOCKET"}
        lease_descriptor = None
        try:
            lease_descriptor = card.lease_display(
                connector.connector_id, card.find_crtc(connector, (self._output.crtc_id,))
            )
            os.set_inheritable(lease_descriptor, True)
            command = tuple(self._build_command(lease_descriptor))
            self._process_id = os.posix_spawn(command[0], command, environment)
        except OSError as error:  # The player's screen runs without a top screen.
            echo(f"screen: no top screen: {error}", err=True)
        finally:
            if lease_descriptor is not None:
                os.close(lease_descriptor)

    def stop(self) -> None:
        """Stop the process of the top screen, if it is running."""
        if self._process_id is not None and self._is_running():
            os.kill(self._process_id, signal.SIGKILL)  # It has no data to save, and may hang.
            os.waitpid(self._process_id, 0)
            self._process_id = None

    def _is_running(self) -> bool:
        """Return whether the process of the top screen is running."""
        if self._process_id is not None and os.waitpid(self._process_id, os.WNOHANG)[0]:
            self._process_id = None
        return self._process_id is not None


def _get_memory_address(items: "array[int]") -> int:
    """Return the memory address of an array's data, to be passed in a kernel call."""
    return items.buffer_info()[0]
