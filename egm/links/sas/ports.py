"""Ports of SAS lines: a real serial port, a pseudo-terminal, or a serial server on the network.

All are opened non-blocking and read with a time limit, on the line's own thread. Bytes with the wakeup bit
(ninth bit) arrive as a Linux UART marks them (see :mod:`egm.links.sas.wire`), except from a serial server,
which has no ninth bit.
"""

import os
import select
import termios
import tty
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

import serial

from egm.devices.line import LineLostError, is_pseudo_terminal

#: Bits per second of a SAS line.
SAS_BAUD_RATE: Final = 19_200
#: Most bytes read at a time.
_READ_BYTES_MAX: Final = 4096
#: Indices of the input flags and the control flags in the terminal attributes of ``termios``.
_INPUT_FLAGS_INDEX, _CONTROL_FLAGS_INDEX = 0, 2
#: The Linux flag for mark or space parity (asm-generic/termbits.h), which the termios module does not define.
_MARK_SPACE_PARITY_FLAG: Final = 0o10000000000
#: The longest wait in seconds of one read from a serial server.
#:
#: A waiting read cannot be ended early.
_SERVER_READ_SECONDS_MAX: Final = 0.05


class SasPort(Protocol):
    """Interface of an open port to a SAS host."""

    def read(self, seconds: float) -> bytes:
        """Return the bytes received from the SAS host within ``seconds``; empty if none came, or after :meth:`wake`.

        Raises LineLostError.
        """
        ...

    def write(self, data: bytes, *, has_wakeup_bit: bool = False) -> None:
        """Send all of ``data`` to the SAS host, or drop it if nobody reads. Raises LineLostError."""
        ...

    def wake(self) -> None:
        """End a waiting read of the SAS port; may be called from any thread."""
        ...

    def close(self) -> None:
        """Close the SAS port."""
        ...


class _FileDescriptorPort:
    """A port to a SAS host that is an open file descriptor: a serial port or a pseudo-terminal."""

    def __init__(self, path: str, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor
        self._wake_read_descriptor, self._wake_write_descriptor = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._descriptor_poller = select.poll()
        self._descriptor_poller.register(descriptor, select.POLLIN)
        self._descriptor_poller.register(self._wake_read_descriptor, select.POLLIN)

    def read(self, seconds: float) -> bytes:
        """Return the bytes received from the SAS host within ``seconds``; empty if none came, or after :meth:`wake`."""
        ready_descriptors = self._descriptor_poller.poll(seconds * 1000)
        if any(descriptor == self._wake_read_descriptor for descriptor, _ in ready_descriptors):
            os.read(self._wake_read_descriptor, _READ_BYTES_MAX)
        if not any(descriptor == self._descriptor for descriptor, _ in ready_descriptors):
            return b""
        try:
            data = os.read(self._descriptor, _READ_BYTES_MAX)
        except BlockingIOError:
            return b""
        except OSError as error:
            raise LineLostError(self._path, f"cannot be read: {error}") from error
        if not data:
            raise LineLostError(self._path, "was closed by the other end")
        return data

    def write(self, data: bytes, *, has_wakeup_bit: bool = False) -> None:
        """Send all of ``data`` to the SAS host, or drop it if nobody reads.

        ``has_wakeup_bit``: the first byte has the wakeup bit.
        """
        if has_wakeup_bit:
            self._prepare_wakeup()
        try:
            os.write(self._descriptor, data)
        except BlockingIOError:  # nobody reads: the host will poll again
            return
        except OSError as error:
            raise LineLostError(self._path, f"cannot be written: {error}") from error
        if has_wakeup_bit:
            self._clear_wakeup()

    def _prepare_wakeup(self) -> None:
        """Set the wakeup bit for the next byte sent to the SAS host; do nothing on a port without a ninth bit."""

    def _clear_wakeup(self) -> None:
        """Clear the wakeup bit again, after the address byte."""

    def wake(self) -> None:
        """End a waiting read of the SAS port; may be called from any thread."""
        with suppress(OSError):
            os.write(self._wake_write_descriptor, b"\0")

    def close(self) -> None:
        """Close the pipe that wakes a waiting read; the subclasses also close the port."""
        os.close(self._wake_read_descriptor)
        os.close(self._wake_write_descriptor)


class PseudoTerminalPort(_FileDescriptorPort):
    """A port of a SAS line that is a pseudo-terminal, for a SAS host program on this computer.

    The host program opens the other end by a path in the state folder. This process also keeps the other end open, so
    that the line stays up when the host program closes it.
    """

    def __init__(self, link: Path) -> None:
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        super().__init__(str(link), self._master)
        link.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(os.ttyname(self._slave))

    def _prepare_wakeup(self) -> None:
        """Discard output that nobody has read, so that the next SAS host does not begin with outdated data."""
        termios.tcflush(self._slave, termios.TCIFLUSH)

    def close(self) -> None:
        """Close both ends of the SAS port's pseudo-terminal."""
        super().close()
        os.close(self._master)
        os.close(self._slave)


class SerialPort(_FileDescriptorPort):
    """A real serial port of a SAS line.

    With strict framing (messages begin with the wakeup bit), it sends with space parity, and reads the UART's marks of
    parity errors, which show that bit. If the port is another program's pseudo-terminal, which has no parity, that
    program must write the marks. Without strict framing, the port has no parity.
    """

    def __init__(self, path: str, *, is_strict: bool) -> None:
        try:
            self._has_ninth_bit = is_strict and not is_pseudo_terminal(path)
            self._serial = serial.Serial(
                path,
                baudrate=SAS_BAUD_RATE,
                parity=serial.PARITY_SPACE if self._has_ninth_bit else serial.PARITY_NONE,
                timeout=0,
                write_timeout=0,
                exclusive=True,
            )
        except (serial.SerialException, OSError, termios.error) as error:
            raise LineLostError(path, f"cannot be opened: {error}") from error
        super().__init__(path, self._serial.fileno())
        if self._has_ninth_bit:
            self._mark_parity()

    def _mark_parity(self) -> None:
        """Have the UART mark parity errors in the input, which show the wakeup bit.

        pyserial clears this setting whenever it configures the port.
        """
        settings = termios.tcgetattr(self._descriptor)
        settings[_INPUT_FLAGS_INDEX] |= termios.INPCK | termios.PARMRK
        settings[_INPUT_FLAGS_INDEX] &= ~termios.IGNPAR
        termios.tcsetattr(self._descriptor, termios.TCSANOW, settings)

    def _prepare_wakeup(self) -> None:
        """Send the next byte with mark parity, which is the wakeup bit."""
        self._set_parity(is_mark=True)

    def _clear_wakeup(self) -> None:
        """Return to space parity after the address byte."""
        self._set_parity(is_mark=False)

    def _set_parity(self, *, is_mark: bool) -> None:
        """Switch to mark parity (to space parity unless ``is_mark``), after everything written has been sent."""
        if not self._has_ninth_bit:
            return
        settings = termios.tcgetattr(self._descriptor)
        settings[_CONTROL_FLAGS_INDEX] |= termios.PARENB | _MARK_SPACE_PARITY_FLAG
        if is_mark:
            settings[_CONTROL_FLAGS_INDEX] |= termios.PARODD
        else:
            settings[_CONTROL_FLAGS_INDEX] &= ~termios.PARODD
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, settings)

    def close(self) -> None:
        """Close the serial port of the SAS host, and the descriptors that wake a waiting read."""
        super().close()
        self._serial.close()


class SerialServerPort:
    """A port to a SAS host behind a network address, ``socket://`` or ``rfc2217://``, by pyserial."""

    def __init__(self, url: str) -> None:
        self._url = url
        try:
            self._serial = serial.serial_for_url(
                url, baudrate=SAS_BAUD_RATE, timeout=_SERVER_READ_SECONDS_MAX
            )
        except (serial.SerialException, OSError, ValueError) as error:
            raise LineLostError(url, f"cannot be opened: {error}") from error

    def read(self, seconds: float) -> bytes:
        """Return the bytes received from the SAS host; empty if none came within ``seconds`` or, at most, 50 ms."""
        try:
            self._serial.timeout = min(seconds, _SERVER_READ_SECONDS_MAX)
            first_byte = self._serial.read(1)
            return first_byte + self._serial.read(self._serial.in_waiting) if first_byte else b""
        except (serial.SerialException, OSError) as error:
            raise LineLostError(self._url, f"cannot be read: {error}") from error

    def write(self, data: bytes, *, has_wakeup_bit: bool = False) -> None:
        """Send all of ``data`` to the SAS host, without the wakeup bit: a serial server has no ninth bit."""
        del has_wakeup_bit
        try:
            self._serial.write(data)
        except (serial.SerialException, OSError) as error:
            raise LineLostError(self._url, f"cannot be written: {error}") from error

    def wake(self) -> None:
        """Do nothing: a read from a serial server never waits long."""

    def close(self) -> None:
        """Close the network connection to the serial server."""
        self._serial.close()


def open_port(port_name: str, *, is_strict: bool, link: Path) -> SasPort:
    """Open the SAS port named in a cabinet file; ``link`` is the path for a pseudo-terminal's other end.

    With ``is_strict``, a serial port uses the wakeup bit (ninth bit), which marks the first byte of every message.
    """
    if port_name == "pty":
        return PseudoTerminalPort(link)
    if "://" in port_name:
        return SerialServerPort(port_name)
    return SerialPort(port_name, is_strict=is_strict)
