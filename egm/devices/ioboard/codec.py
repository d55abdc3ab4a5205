"""Encoding and decoding of the I/O board's own protocol, which this module defines, without input or output.

Line: 115200 8N1. Frame, both ways::

    A5  len  type  data...  crcLo crcHi

``len`` counts the whole frame (5 to 255); the CRC is CRC-16/KERMIT from ``A5`` on; integers are
little-endian.

===== ============================== =======================================================================
type  from                           data
===== ============================== =======================================================================
01    machine, IDENTITY_QUERY        none; answered by 81
02    machine, POLL                  ack u16, wait u8, lamps u16, tower u8, bell u8; answered by 82
03    machine, HARD_METER_TOTALS     six totals u32; answered by 83
81    board, IDENTITY_REPLY          boot u16, text (ASCII: model and firmware)
82    board, STATUS                  boot u16, levels u32, flags u8, first u16, then one byte per edge (max. 32)
83    board, HARD_METER_PULSE_COUNTS boot u16, six counts u32
===== ============================== =======================================================================

*No edge is lost.* Every change of an input is an **edge** with a number (1 to 65535, then 1 again). The board
stores edges, battery-backed, until a poll's ``ack`` names them or a later one, whether a machine is connected
or not. ``first`` is the number of the first edge in the reply. An edge byte is: bits 0-4 the input, bit 6
**unobserved** (no poll for a second before it), bit 7 the new level. ``flags`` bit 0: edges have been lost
(the memory holds 256), so the levels must be used instead. ``ack`` 0 acknowledges nothing. ``boot`` changes
when the board has lost its edges.

*The board replies when there is news.* It may delay its reply to a poll for ``wait`` hundredths of a second, and
replies at once when an edge occurs. A new poll replaces one that has had no reply yet.

*Hard meters receive totals, not pulses.* The board drives six electromechanical counters and stores,
battery-backed, how many pulses it has given each. HARD_METER_TOTALS states how many pulses each counter should
have received since the board was fitted. The board gives the missing pulses one at a time, and
HARD_METER_PULSE_COUNTS reports its progress. After a loss of power or of frames, a repeated total therefore
moves no counter twice, and the next total makes up for a lost one. A total below the count is ignored, because
counters cannot turn back. The board records a pulse before it gives it. If it loses power during a pulse, it
may have given one pulse fewer than recorded, never more.

*Outputs are states, not commands*: every poll states all of them. Without a poll for a second the board
switches the lamps and the bell off and lights the tower's ``tilt``, so that a dead machine is noticed.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from egm.devices.crc import compute_crc_kermit
from egm.devices.framing import FrameCut, ProtocolError, skip_to_start_byte

#: The name of this protocol in error messages.
IO_BOARD_PROTOCOL: Final = "ioboard"
#: First byte of a frame.
_SYNC_BYTE: Final = 0xA5
#: Shortest frame, in bytes.
_FRAME_BYTES_MIN: Final = 5
#: Most edges in one status.
STATUS_EDGES_MAX: Final = 32
#: Number of electromechanical counters.
HARD_METER_COUNT: Final = 6

#: The doors, in the order of their input numbers.
DOORS: Final = ("main", "logic", "belly", "drop", "cash_box", "stacker", "top", "hopper")
#: The doors of areas that hold money.
MONEY_DOORS: Final = frozenset({"belly", "drop", "cash_box", "stacker", "hopper"})
#: The key switches, in the order of their input numbers.
KEYS: Final = ("attendant", "operator", "audit", "reset")
#: The buttons, in the order of their input numbers.
BUTTONS: Final = (
    "play",
    "cash_out",
    "max_bet",
    "bet_up",
    "bet_down",
    "service",
    "menu",
    "language",
    *(f"select_{number}" for number in range(1, 9)),
)
#: The sensors, in the order of their input numbers.
SENSORS: Final = ("mains_good", "battery_good")
#: Input number -> (group, name). 0-7 doors, 8-11 keys, 12-27 buttons, 28-29 sensors.
INPUTS: Final = (
    *(("door", name) for name in DOORS),
    *(("key", name) for name in KEYS),
    *(("button", name) for name in BUTTONS),
    *(("sensor", name) for name in SENSORS),
)
#: The lights of the tower by meaning, in bit order.
TOWER_LIGHTS: Final = ("service", "door", "jackpot", "tilt")
#: The levels of a cabinet in its normal state: doors closed, keys off, nothing pressed, mains and battery good (the
#: sensors are inputs 28 and 29).
IDLE_INPUT_LEVELS_MASK: Final = 0b11 << 28


class FrameType(IntEnum):
    """The type of a frame of the I/O board."""

    IDENTITY_QUERY = 0x01
    POLL = 0x02
    HARD_METER_TOTALS = 0x03
    IDENTITY_REPLY = 0x81
    STATUS = 0x82
    HARD_METER_PULSE_COUNTS = 0x83


@dataclass(frozen=True, slots=True)
class IdentityQuery:
    """The machine's query of the I/O board's identity: model, firmware and boot number."""

    def encode(self) -> bytes:
        """Return the query of the I/O board's identity as the bytes to send."""
        return _encode_frame(FrameType.IDENTITY_QUERY, b"")


@dataclass(frozen=True, slots=True, kw_only=True)
class IoBoardPoll:
    """The machine's poll of the I/O board, which sets all outputs.

    It acknowledges the edges (numbered changes of inputs) up to ``acknowledged_edge_number``. The board replies when an
    input changes, at the latest after ``wait_hundredths`` hundredths of a second.
    """

    acknowledged_edge_number: int
    wait_hundredths: int
    button_lamps: frozenset[str] = frozenset()
    tower_lights: frozenset[str] = frozenset()
    is_bell_on: bool = False

    def encode(self) -> bytes:
        """Return the poll of the I/O board as the bytes to send. Raises ValueError for an unknown lamp or light."""
        data = self.acknowledged_edge_number.to_bytes(2, "little") + bytes((self.wait_hundredths,))
        data += _encode_bits(self.button_lamps, BUTTONS).to_bytes(2, "little")
        data += bytes((_encode_bits(self.tower_lights, TOWER_LIGHTS), self.is_bell_on))
        return _encode_frame(FrameType.POLL, data)


@dataclass(frozen=True, slots=True)
class IdentityReply:
    """The I/O board's reply with its identity."""

    boot_number: int
    identity_text: str

    def encode(self) -> bytes:
        """Return the I/O board's identity as the bytes to send."""
        return _encode_frame(
            FrameType.IDENTITY_REPLY,
            self.boot_number.to_bytes(2, "little") + self.identity_text.encode("ascii"),
        )


@dataclass(frozen=True, slots=True)
class HardMeterTotals:
    """The machine's message with the number of pulses that each hard meter should have been given in all.

    The count starts when the board is fitted.
    """

    pulse_totals: tuple[int, ...]

    def encode(self) -> bytes:
        """Return the hard meters' totals as the bytes to send.

        Raises ValueError unless there are six totals that fit their fields.
        """
        return _encode_frame(FrameType.HARD_METER_TOTALS, _encode_pulse_counts(self.pulse_totals))


@dataclass(frozen=True, slots=True)
class HardMeterPulseCounts:
    """The I/O board's report of the pulses that it has given each hard meter."""

    boot_number: int
    pulse_counts: tuple[int, ...]

    def encode(self) -> bytes:
        """Return the I/O board's pulse counts as the bytes to send.

        Raises ValueError unless there are six counts that fit their fields.
        """
        return _encode_frame(
            FrameType.HARD_METER_PULSE_COUNTS,
            self.boot_number.to_bytes(2, "little") + _encode_pulse_counts(self.pulse_counts),
        )


@dataclass(frozen=True, slots=True)
class InputEdge:
    """One change of one input of the I/O board, with its number."""

    edge_number: int
    input_index: int
    is_on: bool
    was_unobserved: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class InputStatus:
    """The levels of the I/O board's inputs, and its oldest unacknowledged edges (changes of an input).

    There are at most 32 edges, in order and without a gap.

    ``input_levels_mask`` has one bit for each input, by its number.
    """

    boot_number: int
    input_levels_mask: int
    are_edges_lost: bool
    edges: tuple[InputEdge, ...] = ()

    def encode(self) -> bytes:
        """Return the I/O board's status as the bytes to send."""
        first_edge_number = self.edges[0].edge_number if self.edges else 0
        data = (
            self.boot_number.to_bytes(2, "little")
            + self.input_levels_mask.to_bytes(4, "little")
            + bytes((self.are_edges_lost,))
        )
        data += first_edge_number.to_bytes(2, "little")
        # Bits 0 to 4: the input; bit 6: unobserved; bit 7: the new level.
        data += bytes(edge.input_index | edge.was_unobserved << 6 | edge.is_on << 7 for edge in self.edges)
        return _encode_frame(FrameType.STATUS, data)


#: Any message of the protocol, in either direction.
IoBoardMessage = (
    IdentityQuery | IoBoardPoll | HardMeterTotals | IdentityReply | InputStatus | HardMeterPulseCounts
)


def compute_next_edge_number(edge_number: int) -> int:
    """Return the number of the next edge (change of an input) after ``edge_number``; after 65535 comes 1."""
    return edge_number % 0xFFFF + 1


def count_edges_after(edge_number: int, later_edge_number: int) -> int:
    """Return how many edges (changes of an input) come after ``edge_number``, up to and with ``later_edge_number``.

    The numbers run from 1 to 65535 and start again at 1.
    """
    return (later_edge_number - edge_number) % 0xFFFF


def _encode_pulse_counts(pulse_counts: tuple[int, ...]) -> bytes:
    """Return pulse counts as 32-bit little-endian integers."""
    if len(pulse_counts) != HARD_METER_COUNT or not all(0 <= count < 1 << 32 for count in pulse_counts):
        raise ValueError(
            f"{IO_BOARD_PROTOCOL}: expected {HARD_METER_COUNT} pulse counts below 2^32, found {pulse_counts}"
        )
    return b"".join(count.to_bytes(4, "little") for count in pulse_counts)


def _decode_pulse_counts(data: bytes) -> tuple[int, ...]:
    """Return the 32-bit little-endian pulse counts in a report of the I/O board."""
    return tuple(int.from_bytes(data[offset : offset + 4], "little") for offset in range(0, len(data), 4))


def _encode_bits(names: frozenset[str], name_by_bit: tuple[str, ...]) -> int:
    """Return the bit mask of these lamps or other outputs; ``name_by_bit`` has the name of each bit."""
    unknown_names = names.difference(name_by_bit)
    if unknown_names:
        raise ValueError(
            f"{IO_BOARD_PROTOCOL}: unknown {', '.join(sorted(unknown_names))}; "
            f"expected names of {', '.join(name_by_bit)}"
        )
    return sum(1 << name_by_bit.index(name) for name in names)


def _decode_names(bits: int, name_by_bit: tuple[str, ...]) -> frozenset[str]:
    """Return the names of the bits that are set in ``bits``; ``name_by_bit`` has the name of each bit."""
    return frozenset(name for index, name in enumerate(name_by_bit) if bits >> index & 1)


def _encode_frame(frame_type: FrameType, data: bytes) -> bytes:
    """Return a frame of this type with these data, completed by its length and CRC, as the bytes to send."""
    body = bytes((_SYNC_BYTE, _FRAME_BYTES_MIN + len(data), frame_type)) + data
    return body + compute_crc_kermit(body).to_bytes(2, "little")


def cut_message(buffer: bytes) -> FrameCut[IoBoardMessage] | None:
    """Separate the first message on the I/O board's line from the received bytes; return None until it is complete.

    The result has the message, or the error of invalid bytes, and the number of bytes that it used.
    """
    if (garbage := skip_to_start_byte(buffer, _SYNC_BYTE, IO_BOARD_PROTOCOL)) is not None:
        return garbage
    if len(buffer) < 2:
        return None
    size = buffer[1]
    if size < _FRAME_BYTES_MIN:
        return FrameCut(
            1,
            ProtocolError(
                IO_BOARD_PROTOCOL,
                f"message length is {size}; expected at least {_FRAME_BYTES_MIN}",
                buffer[:2],
            ),
        )
    if len(buffer) < size:
        return None
    frame = buffer[:size]
    if compute_crc_kermit(frame[:-2]) != int.from_bytes(frame[-2:], "little"):
        return FrameCut(1, ProtocolError(IO_BOARD_PROTOCOL, "wrong CRC", frame))
    return FrameCut(size, _decode_message(frame[2], frame[3:-2]))


def _decode_message(frame_type: int, data: bytes) -> IoBoardMessage | ProtocolError:
    """Decode the data of a frame of this type, or return the error."""
    message: IoBoardMessage | ProtocolError
    match frame_type:
        case FrameType.IDENTITY_QUERY if not data:
            message = IdentityQuery()
        case FrameType.POLL if len(data) == 7:
            message = IoBoardPoll(
                acknowledged_edge_number=int.from_bytes(data[:2], "little"),
                wait_hundredths=data[2],
                button_lamps=_decode_names(int.from_bytes(data[3:5], "little"), BUTTONS),
                tower_lights=_decode_names(data[5], TOWER_LIGHTS),
                is_bell_on=bool(data[6]),
            )
        case FrameType.HARD_METER_TOTALS if len(data) == 4 * HARD_METER_COUNT:
            message = HardMeterTotals(_decode_pulse_counts(data))
        case FrameType.HARD_METER_PULSE_COUNTS if len(data) == 2 + 4 * HARD_METER_COUNT:
            message = HardMeterPulseCounts(int.from_bytes(data[:2], "little"), _decode_pulse_counts(data[2:]))
        case FrameType.IDENTITY_REPLY if len(data) >= 2 and data[2:].isascii():
            message = IdentityReply(int.from_bytes(data[:2], "little"), data[2:].decode("ascii"))
        case FrameType.STATUS if 9 <= len(data) <= 9 + STATUS_EDGES_MAX:
            message = _decode_status(data)
        case _:
            message = ProtocolError(
                IO_BOARD_PROTOCOL,
                f"unknown message of type {frame_type:02X} with {len(data)} data bytes",
                data,
            )
    return message


def _decode_status(data: bytes) -> InputStatus | ProtocolError:
    """Decode the board's status, or return the error."""
    edge_number = int.from_bytes(data[7:9], "little")
    edges = []
    for byte in data[9:]:
        if edge_number == 0 or byte & 0x1F >= len(INPUTS):
            return ProtocolError(
                IO_BOARD_PROTOCOL, f"unknown input {byte & 0x1F} or edge number {edge_number}", data
            )
        edges.append(InputEdge(edge_number, byte & 0x1F, bool(byte & 0x80), bool(byte & 0x40)))
        edge_number = compute_next_edge_number(edge_number)
    return InputStatus(
        boot_number=int.from_bytes(data[:2], "little"),
        input_levels_mask=int.from_bytes(data[2:6], "little"),
        are_edges_lost=bool(data[6] & 1),
        edges=tuple(edges),
    )
