"""A GAT 3.50 verifier for tests and inspections: it queries a machine as an inspector's terminal does.

It is written from the protocol description and shares no code with the machine's implementation, so that each
tests the other: it has its own packets, CRC and parser of replies.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import serial

#: The default reply timeout. It applies twice to a reply: to its first two bytes, and to the others.
#:
#: A verifier in the field waits about 0.2 s.
DEFAULT_REPLY_TIMEOUT_SECONDS: Final = 0.5
#: Seconds between a reply and the next query.
_QUERY_PAUSE_SECONDS: Final = 0.01
#: The authentication level with which special functions are started.
_AUTHENTICATION_LEVEL: Final = 0xBA
#: The states of a calculation, by their number in the status.
_CALCULATION_STATES: Final = ("requested", "finished", "calculating", "error")
#: The most frames of one result.
_FRAMES_MAX: Final = 65535


class GatError(Exception):
    """A missing or invalid GAT reply; the text names the query and the bytes received."""


@dataclass(frozen=True, slots=True)
class GatStatus:
    """The status in a machine's reply; ``formats`` has the offered result formats, ``text`` or ``xml`` or both."""

    version: str
    is_calculating: bool
    """Whether a calculation is running, such as one of a signature."""
    has_results: bool
    """Whether the results of a calculation can be read."""
    state: str
    """The state of the last calculation, as text, such as ``finished``."""
    formats: tuple[str, ...]


def compute_crc(data: bytes) -> int:
    """Return the 16-bit CRC of ``data``: polynomial 0x8005 (bits reflected), initial value 0xFFFF."""
    crc = 0xFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            carry = crc & 1
            crc >>= 1
            if carry:
                crc ^= 0xA001
    return crc


class GatVerifier:
    """The verifier's side of a GAT connection over an open port.

    ``reply_timeout_seconds`` applies twice to a reply: to its first two bytes, and to the others.
    """

    def __init__(
        self, port: serial.Serial, *, reply_timeout_seconds: float = DEFAULT_REPLY_TIMEOUT_SECONDS
    ) -> None:
        self._port = port
        self._reply_timeout_seconds = reply_timeout_seconds

    def read_status(self) -> GatStatus:
        """Return the machine's status. Raises GatError."""
        reply = self._query(0x01, b"")
        if len(reply) != 4:
            raise GatError(f"status: expected 4 bytes, received {reply.hex(' ')}")
        major_version, minor_version, status_bits, format_bits = reply
        return GatStatus(
            version=f"{major_version:x}.{minor_version:02x}",
            is_calculating=bool(status_bits & 0b1),
            has_results=bool(status_bits & 0b10),
            state=_CALCULATION_STATES[status_bits >> 2 & 0b11],
            formats=tuple(name for bit, name in ((1, "text"), (2, "xml")) if format_bits & bit),
        )

    def read_last_authentication(self) -> tuple[int, int]:
        """Return the level of the machine's last authentication, and the seconds since it ended.

        Raises GatError.
        """
        reply = self._query(0x02, b"")
        if len(reply) != 5:
            raise GatError(f"last authentication: expected 5 bytes, received {reply.hex(' ')}")
        return reply[0], int.from_bytes(reply[1:], "big")

    def start_special_function(self, *parameters: str) -> None:
        """Order the machine to start a special function, such as a software signature, with the given parameters.

        Raises GatError if the machine refuses, or does not reply correctly.
        """
        payload = bytes((_AUTHENTICATION_LEVEL, 0)) + "\t".join(parameters).encode("latin-1")
        reply = self._query(0x04, payload)
        if reply != b"\0":
            request = " ".join(parameters)
            raise GatError(
                f"{request}: the machine refused it ({reply.hex(' ')}); `egm gat functions` lists its functions"
            )

    def wait_for_calculation(self, limit_seconds: float, poll_seconds: float = 1.0) -> None:
        """Query the machine until its calculation has ended.

        Raises GatError if the calculation fails or takes longer than ``limit_seconds``.
        """
        deadline = time.monotonic() + limit_seconds
        while (status := self.read_status()).is_calculating or status.state == "requested":
            if time.monotonic() > deadline:
                raise GatError(f"still calculating after {limit_seconds:.0f} s")
            time.sleep(poll_seconds)
        if not status.has_results or status.state != "finished":
            raise GatError(f"the calculation ended in state {status.state}")

    def read_results(self, output_format: str) -> bytes:
        """Return the machine's last results, joined from all frames, as ``text`` or ``xml`` (``output_format``).

        Raises GatError.
        """
        data = b""
        for frame_number in range(1, _FRAMES_MAX + 1):
            reply = self._query(
                0x03, bytes((1 if output_format == "text" else 2,)) + frame_number.to_bytes(2, "big")
            )
            if len(reply) < 3 or reply[0] & 0b1:
                raise GatError(f"results, frame {frame_number}: not available ({reply[:3].hex(' ')})")
            if int.from_bytes(reply[1:3], "big") != frame_number:
                raise GatError(f"results: expected frame {frame_number}, received frame {reply[1:3].hex()}")
            data += reply[3:]
            if reply[0] & 0b10:
                return data
        raise GatError("results: the machine marked no frame as the last one")

    def run_special_function(
        self, parameters: Sequence[str], output_format: str, limit_seconds: float = 1200.0
    ) -> bytes:
        """Start a special function of the machine, wait for it, and return its results. Raises GatError."""
        self.start_special_function(*parameters)
        self.wait_for_calculation(limit_seconds)
        return self.read_results(output_format)

    def _query(self, command: int, payload: bytes) -> bytes:
        """Send one query and return the payload of the reply. Raises GatError."""
        body = bytes((command, len(payload) + 4)) + payload
        time.sleep(_QUERY_PAUSE_SECONDS)
        self._port.reset_input_buffer()
        self._port.write(body + compute_crc(body).to_bytes(2, "big"))
        self._port.timeout = self._reply_timeout_seconds
        head = self._port.read(2)
        if len(head) < 2:
            raise GatError(f"query {command:02X}: the machine did not reply")
        reply_code, packet_length = head
        remainder = self._port.read(max(packet_length - 2, 0))
        packet = head + remainder
        if (
            reply_code != command | 0x80
            or len(packet) != packet_length
            or compute_crc(packet[:-2]) != int.from_bytes(packet[-2:], "big")
        ):
            raise GatError(f"query {command:02X}: the reply is damaged: {packet.hex(' ')}")
        return packet[2:-2]
