"""Packets of GAT 3.50, encoded and decoded without input or output.

A packet is ``command, length, payload..., crc high, crc low``: the length counts the whole packet, the CRC is
CRC-16/MODBUS over everything before it, sent high byte first. A reply carries the command with its top bit
set. The layout of reply 84 (to "initiate") is not public, except that it is short; here it is one byte: 00 started,
01 refused. What GAT calls an authentication is the calculation of a signature; its *authentication level* is a number
that the verifier chooses and that the machine only reports back. Results too long for one packet are divided into
*frames* (GAT's word).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType
from typing import Final, TypeAlias

from egm.devices.crc import compute_crc_modbus
from egm.devices.framing import FrameCut, ProtocolError

#: The name of this protocol in error messages.
GAT_PROTOCOL: Final = "GAT"
#: The GAT version 3.50 as the status reply states it, in binary coded decimal (BCD).
GAT_PROTOCOL_VERSION: Final = b"\x03\x50"
#: The largest GAT packet, in bytes.
PACKET_BYTES_MAX: Final = 255
#: Bytes of a packet around its payload: command, length and CRC.
_PACKET_OVERHEAD_SIZE_BYTES: Final = 4
#: The bit that distinguishes a reply's command byte from its request's.
_REPLY_BIT: Final = 0x80
#: Data bytes in one frame of results: the rest of a packet after status and frame number.
RESULTS_DATA_BYTES_PER_FRAME_MAX: Final = PACKET_BYTES_MAX - _PACKET_OVERHEAD_SIZE_BYTES - 3


class GatCommand(IntEnum):
    """The command bytes of the requests that a GAT verifier may send to the machine."""

    STATUS = 0x01
    LAST_AUTHENTICATION_STATUS = 0x02
    LAST_AUTHENTICATION_RESULTS = 0x03
    INITIATE_CALCULATION = 0x04


class ReportFormat(IntEnum):
    """The formats in which the results of a GAT signature calculation are sent."""

    TEXT = 0x01
    XML = 0x02


class CalculationStatus(IntEnum):
    """Progress of the last signature calculation (bits 2-3 of the GAT status).

    The only public GAT host program uses these values, and reads results only if it receives them.
    """

    REQUESTED = 0
    FINISHED = 1
    CALCULATING = 2
    ERROR = 3


@dataclass(frozen=True, slots=True)
class GatPacket:
    """A packet of the GAT protocol, without length and CRC: command byte and payload."""

    command: int
    payload: bytes = b""

    def encode(self) -> bytes:
        """Return the GAT packet as the bytes to send. Raises ProtocolError if the payload does not fit."""
        size = len(self.payload) + _PACKET_OVERHEAD_SIZE_BYTES
        if size > PACKET_BYTES_MAX:
            raise ProtocolError(
                GAT_PROTOCOL,
                f"the packet has {size} bytes; at most {PACKET_BYTES_MAX} can be sent",
                self.payload,
            )
        body = bytes((self.command, size)) + self.payload
        return body + compute_crc_modbus(body).to_bytes(2, "big")


@dataclass(frozen=True, slots=True)
class GatStatusQuery:
    """The verifier's query of the machine's current status."""


@dataclass(frozen=True, slots=True)
class LastAuthenticationStatusQuery:
    """The verifier's query about the last authentication of the software: its level, and how long ago it ended."""


@dataclass(frozen=True, slots=True)
class ResultsQuery:
    """The verifier's request for one frame of the last signature calculation's results.

    Results too long for one packet are divided into frames, numbered from 1.
    """

    report_format: int
    frame_number: int


@dataclass(frozen=True, slots=True)
class InitiateCalculation:
    """The verifier's request to start a signature calculation.

    ``parameters`` are the special function's name (GAT's term for what is computed) and its arguments.
    """

    authentication_level: int
    parameters: tuple[str, ...]


#: Any request that a GAT verifier may send.
GatVerifierRequest: TypeAlias = (
    GatStatusQuery | LastAuthenticationStatusQuery | ResultsQuery | InitiateCalculation
)


def cut_packet(buffer: bytes) -> FrameCut[GatPacket] | None:
    """Separate the first GAT packet from the received bytes; return None until it is complete.

    The result is the packet or a :class:`ProtocolError`, with the number of bytes that it used, as for every
    :data:`~egm.devices.framing.FrameCutter`.
    """
    if len(buffer) < 2:
        return None
    size = buffer[1]
    if size < _PACKET_OVERHEAD_SIZE_BYTES:
        return FrameCut(
            1,  # skip one byte only: a packet may begin at the next one
            ProtocolError(
                GAT_PROTOCOL,
                f"packet length is {size}; expected at least {_PACKET_OVERHEAD_SIZE_BYTES}",
                buffer[:1],
            ),
        )
    if len(buffer) < size:
        return None
    body, crc = buffer[: size - 2], int.from_bytes(buffer[size - 2 : size], "big")
    if compute_crc_modbus(body) != crc:
        return FrameCut(size, ProtocolError(GAT_PROTOCOL, "wrong CRC", buffer[:size]))
    return FrameCut(size, GatPacket(body[0], body[2:]))


def decode_request(packet: GatPacket) -> GatVerifierRequest:
    """Decode a GAT verifier's request. Raises ProtocolError for an unknown command or a malformed payload."""
    decode = _DECODER_BY_COMMAND.get(packet.command)
    if decode is None:
        raise ProtocolError(GAT_PROTOCOL, f"unknown command {packet.command:02X}", packet.payload)
    return decode(packet.payload)


def _decode_status_query(payload: bytes) -> GatStatusQuery:
    _require_payload_size(payload, 0)
    return GatStatusQuery()


def _decode_last_status_query(payload: bytes) -> LastAuthenticationStatusQuery:
    _require_payload_size(payload, 0)
    return LastAuthenticationStatusQuery()


def _decode_results_query(payload: bytes) -> ResultsQuery:
    _require_payload_size(payload, 3)
    return ResultsQuery(payload[0], int.from_bytes(payload[1:], "big"))


def _decode_initiate(payload: bytes) -> InitiateCalculation:
    if len(payload) < 3 or payload[1]:
        raise ProtocolError(GAT_PROTOCOL, "expected a level, the byte 00 and a function", payload)
    return InitiateCalculation(payload[0], tuple(payload[2:].decode("latin-1").split("\t")))


def _require_payload_size(payload: bytes, expected_size: int) -> None:
    """Raise ProtocolError unless the GAT packet's payload has exactly ``expected_size`` bytes."""
    if len(payload) != expected_size:
        raise ProtocolError(
            GAT_PROTOCOL, f"expected {expected_size} bytes of payload, received {len(payload)}", payload
        )


#: Decoder of each command's payload.
_DECODER_BY_COMMAND: Final[Mapping[int, Callable[[bytes], GatVerifierRequest]]] = MappingProxyType(
    {
        GatCommand.STATUS: _decode_status_query,
        GatCommand.LAST_AUTHENTICATION_STATUS: _decode_last_status_query,
        GatCommand.LAST_AUTHENTICATION_RESULTS: _decode_results_query,
        GatCommand.INITIATE_CALCULATION: _decode_initiate,
    }
)


# ------------------------------------------------------------------ replies
def encode_status_reply(calculation: CalculationStatus, *, has_results: bool) -> GatPacket:
    """Encode GAT reply 81: protocol version, progress of the last calculation, and available result formats.

    ``has_results``: the results of that calculation can be read.
    """
    is_calculating = calculation is CalculationStatus.CALCULATING
    # Bit 0: calculating; bit 1: results can be read; bits 2 and 3: the progress.
    status_bits = int(is_calculating) | int(has_results) << 1 | calculation << 2
    available_formats = ReportFormat.TEXT | ReportFormat.XML
    return GatPacket(
        GatCommand.STATUS | _REPLY_BIT, GAT_PROTOCOL_VERSION + bytes((status_bits, available_formats))
    )


def encode_last_status_reply(authentication_level: int, seconds_since_end: int) -> GatPacket:
    """Encode GAT reply 82: the level of the last authentication and how many seconds ago it ended."""
    seconds_since_end = max(0, min(seconds_since_end, 0xFFFFFFFF))
    return GatPacket(
        GatCommand.LAST_AUTHENTICATION_STATUS | _REPLY_BIT,
        bytes((authentication_level,)) + seconds_since_end.to_bytes(4, "big"),
    )


def encode_results_reply(data: bytes, frame_number: int, *, is_last: bool) -> GatPacket:
    """Encode GAT reply 83: frame ``frame_number`` (a part of the calculation's results) with its bytes.

    ``is_last``: no further frame follows.
    """
    return GatPacket(
        GatCommand.LAST_AUTHENTICATION_RESULTS | _REPLY_BIT,
        bytes((is_last << 1,)) + frame_number.to_bytes(2, "big") + data,  # bit 1: the last frame
    )


def encode_no_results_reply(frame_number: int) -> GatPacket:
    """Encode GAT reply 83 if there are no results or none with this frame number."""
    return GatPacket(
        GatCommand.LAST_AUTHENTICATION_RESULTS | _REPLY_BIT, b"\x01" + frame_number.to_bytes(2, "big")
    )


def encode_initiated_reply(*, has_started: bool) -> GatPacket:
    """Encode GAT reply 84: whether the signature calculation has started."""
    return GatPacket(GatCommand.INITIATE_CALCULATION | _REPLY_BIT, bytes((not has_started,)))
