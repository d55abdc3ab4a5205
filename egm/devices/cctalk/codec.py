"""Encoding and decoding of ccTalk: frames, headers and the replies used here, without input or output.

Frame: ``destination n source header data[n] checksum``; all bytes add up to 0 modulo 256. There is no start
byte: a receiver resynchronises at the silence between messages. The line is 9600 8N1 on a single wire, so a
host receives its own bytes first; the host's address is 1. A reply's header is 0; one without data is an
acknowledgement.

Known answer: simple poll to address 2 is ``02 00 01 FE FF``.

Reliability: frame, common headers, coin and note events are in several independent public implementations; the
hopper's headers, sorter paths, the layout of the accept counter (three bytes) and everything about bar codes
are general knowledge only. The CRC and encrypted variants are not implemented.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, NamedTuple

from egm.devices.framing import FrameCut, ProtocolError

#: The name of this protocol in error messages.
CCTALK_PROTOCOL: Final = "cctalk"
#: Address of the machine on the bus.
HOST_ADDRESS: Final = 1
#: Default address of a coin acceptor.
COIN_ACCEPTOR_ADDRESS: Final = 2
#: Default address of a hopper.
HOPPER_ADDRESS: Final = 3
#: Default address of a bill acceptor.
BILL_ACCEPTOR_ADDRESS: Final = 40
#: Bytes of a frame in addition to its data.
_PACKET_OVERHEAD_BYTES: Final = 5
#: Number of events in a reply to a query for events; each event has two bytes.
_BUFFERED_EVENT_COUNT: Final = 5


class Header(IntEnum):
    """The header of a ccTalk message, which names the command or query."""

    REPLY = 0
    RESET = 1
    COMMS_REVISION = 4
    READ_BARCODE = 129
    OPERATING_MODE = 153
    ROUTE_BILL = 154
    COUNTRY_SCALING = 156
    BILL_ID = 157
    READ_BILL_EVENTS = 159
    TEST_HOPPER = 163
    ENABLE_HOPPER = 164
    HOPPER_STATUS = 166
    DISPENSE = 167
    LIFETIME_PAID_COUNT = 168
    EMERGENCY_STOP = 172
    COIN_ID = 184
    BUILD_CODE = 192
    SORTER_PATH = 210
    PAYOUT_HIGH_LOW_STATUS = 217
    ACCEPT_COUNT = 225
    MASTER_INHIBIT = 228
    READ_CREDITS = 229
    INHIBIT_MASK = 231
    SOFTWARE = 241
    SERIAL = 242
    PRODUCT = 244
    CATEGORY = 245
    MANUFACTURER = 246
    POLLING_PRIORITY = 249
    SIMPLE_POLL = 254


class BillRoute(IntEnum):
    """The machine's routing orders for the bill in escrow, and the bill acceptor's refusal of them."""

    RETURN = 0
    STACK = 1
    EXTEND_ESCROW_TIME = 255
    ESCROW_EMPTY = 254  # reply: nothing is in escrow


#: The byte that arms a hopper.
HOPPER_ENABLE_BYTE: Final = 0xA5

#: Default values of coin slots, in minor units. Real acceptors are programmed, so the cabinet file may state others.
COIN_CENTS_BY_SLOT: Final[Mapping[int, int]] = {1: 5, 2: 10, 3: 25, 4: 1_00, 5: 2_00}
#: Default values of note codes (the specification's bill types), in minor units; the cabinet file may state others.
BILL_CENTS_BY_NOTE_CODE: Final[Mapping[int, int]] = {1: 5_00, 2: 10_00, 3: 20_00, 4: 50_00, 5: 100_00}

#: Sorter path to the hopper.
SORTER_PATH_HOPPER: Final = 1
#: Sorter path to the drop box.
SORTER_PATH_DROP_BOX: Final = 2


class CoinError(IntEnum):
    """Codes of a coin acceptor's error events (first byte 0); REJECTED and INHIBITED report a refused coin."""

    REJECTED = 1
    INHIBITED = 2
    SORTER_TIMEOUT = 7
    CREDIT_SENSOR_NOT_READY = 10
    VALIDATION_SENSOR_NOT_READY = 13
    CREDIT_SENSOR_BLOCKED = 14
    SORTER_BLOCKED = 15
    COIN_MOVED_BACKWARDS = 17
    COIN_ON_STRING = 20
    REJECT_SENSOR_BLOCKED = 26
    COIN_WRONGLY_SORTED = 39
    COIN_RETURN_LEVER_PRESSED = 254


class BillEvent(IntEnum):
    """Codes of a bill acceptor's status events (first byte 0)."""

    MASTER_INHIBIT_ACTIVE = 0
    BILL_RETURNED_FROM_ESCROW = 1
    BILL_REFUSED_AT_VALIDATION = 2
    BILL_REFUSED_AFTER_TRANSPORT_PROBLEM = 3
    BILL_INHIBITED_BY_SERIAL_COMMAND = 4
    BILL_INHIBITED_BY_DIP_SWITCH = 5
    BILL_JAMMED_IN_TRANSPORT = 6
    BILL_JAMMED_IN_STACKER = 7
    BILL_PULLED_BACK = 8
    TAMPER = 9
    STACKER_OK = 10
    STACKER_REMOVED = 11
    STACKER_INSERTED = 12
    STACKER_FAULTY = 13
    STACKER_FULL = 14
    STACKER_JAMMED = 15
    BILL_JAMMED_SAFE = 16
    FRAUD_OPTO = 17
    FRAUD_STRING = 18
    BARCODE_DETECTED = 20
    UNKNOWN_BILL_STACKED = 21


#: Second byte of a bill event: the bill was stacked.
BILL_STACKED_RESULT: Final = 0
#: Second byte of a bill event: the bill is in escrow.
BILL_IN_ESCROW_RESULT: Final = 1


@dataclass(frozen=True, slots=True)
class CctalkFrame:
    """A complete ccTalk message with a valid checksum."""

    destination: int
    source: int
    header: int
    data: bytes = b""

    def encode(self) -> bytes:
        """Return the ccTalk message as the bytes to send."""
        body = bytes((self.destination, len(self.data), self.source, self.header)) + self.data
        return body + bytes((-sum(body) & 0xFF,))


def cut_frame(buffer: bytes) -> FrameCut[CctalkFrame] | None:
    """Separate the first ccTalk frame from the received bytes; return None until it is complete.

    The result has the frame, or the error of invalid bytes, and the number of bytes that it used.
    """
    if len(buffer) < _PACKET_OVERHEAD_BYTES:
        return None
    size = _PACKET_OVERHEAD_BYTES + buffer[1]
    if len(buffer) < size:
        return None
    frame = buffer[:size]
    if sum(frame) & 0xFF:
        return FrameCut(
            1,
            ProtocolError(
                CCTALK_PROTOCOL, "wrong checksum: the bytes of the message do not add up to 0", frame
            ),
        )
    return FrameCut(size, CctalkFrame(frame[0], frame[2], frame[3], frame[4:-1]))


# ---------------------------------------------------------------- layouts of replies
@dataclass(frozen=True, slots=True)
class CctalkEvent:
    """One event in a ccTalk device's event buffer: a credit, an error or a status, in two bytes.

    The specification calls the bytes result A and result B.
    """

    result_a: int
    """The coin slot or note code; 0 if ``result_b`` is the code of an error or a status."""
    result_b: int
    """If ``result_a`` is not 0, the path of the coin or where the bill is; otherwise an error or status code."""


@dataclass(frozen=True, slots=True)
class EventBuffer:
    """The event buffer of a ccTalk device: its event counter, and the stored events, newest first.

    The counter is 0 after a reset, then runs from 1 to 255 and starts again at 1.
    """

    event_counter: int
    events: tuple[CctalkEvent, ...]

    def encode(self) -> bytes:
        """Return the events as data of a ccTalk reply."""
        return bytes(
            (
                self.event_counter,
                *(byte for event in self.events for byte in (event.result_a, event.result_b)),
            )
        )


def decode_event_buffer(data: bytes) -> EventBuffer:
    """Decode a reply to READ_CREDITS or READ_BILL_EVENTS. Raises :class:`ProtocolError`."""
    if len(data) != 1 + 2 * _BUFFERED_EVENT_COUNT:
        raise ProtocolError(
            CCTALK_PROTOCOL, f"{len(data)} bytes of events, not {1 + 2 * _BUFFERED_EVENT_COUNT}", data
        )
    return EventBuffer(data[0], tuple(CctalkEvent(data[i], data[i + 1]) for i in range(1, len(data), 2)))


@dataclass(frozen=True, slots=True)
class HopperStatus:
    """The status of a hopper: the number of dispense orders since the last reset, and its coins.

    ``remaining_coins`` is the number of coins that the order in progress has still to pay. ``paid_coins`` and
    ``unpaid_coins`` are the numbers of coins that the last order has paid and has left unpaid.
    """

    order_counter: int
    remaining_coins: int
    paid_coins: int
    unpaid_coins: int

    def encode(self) -> bytes:
        """Return the hopper status as data of a ccTalk reply."""
        return bytes((self.order_counter, self.remaining_coins, self.paid_coins, self.unpaid_coins))


def decode_hopper_status(data: bytes) -> HopperStatus:
    """Decode a reply to HOPPER_STATUS. Raises :class:`ProtocolError`."""
    if len(data) != 4:
        raise ProtocolError(CCTALK_PROTOCOL, f"{len(data)} bytes of hopper status, not 4", data)
    return HopperStatus(*data)


@dataclass(frozen=True, slots=True)
class HopperTestFlags:
    """The results of a hopper's self-test; results that the driver does not use are left out."""

    jammed: bool = False
    timed_out: bool = False
    fraud_attempted: bool = False
    exit_sensor_blocked: bool = False
    power_up_detected: bool = False
    payout_disabled: bool = False

    def encode(self) -> bytes:
        """Return the hopper's self-test results as data of a ccTalk reply."""
        fraud, blocked = self.fraud_attempted, self.exit_sensor_blocked
        flags = (
            *(self.jammed, self.timed_out, False, False, fraud, blocked),
            *(self.power_up_detected, self.payout_disabled),
        )
        return bytes((sum(flag << index for index, flag in enumerate(flags)),))


def decode_hopper_test(data: bytes) -> HopperTestFlags:
    """Decode a hopper's reply to TEST_HOPPER, one to three bytes by model. Raises :class:`ProtocolError`."""
    if not 1 <= len(data) <= 3:
        raise ProtocolError(CCTALK_PROTOCOL, f"{len(data)} bytes of hopper test, not 1 to 3", data)
    bits = data[0]
    return HopperTestFlags(
        jammed=bool(bits & 0x01),
        timed_out=bool(bits & 0x02),
        fraud_attempted=bool(bits & 0x18),
        exit_sensor_blocked=bool(bits & 0x20),
        power_up_detected=bool(bits & 0x40),
        payout_disabled=bool(bits & 0x80),
    )


#: Bit of a reply to PAYOUT_HIGH_LOW_STATUS: the upper sensor is fitted and covered.
_HIGH_LEVEL_COVERED_BIT: Final = 0x02
#: Bit of a reply to PAYOUT_HIGH_LOW_STATUS: an upper sensor is fitted.
_HIGH_LEVEL_FITTED_BIT: Final = 0x20


def decode_high_level_reply(data: bytes) -> bool:
    """Return whether a hopper's reply to PAYOUT_HIGH_LOW_STATUS says that coins cover its upper level sensor.

    Return False if no such sensor is fitted. Raises ProtocolError.
    """
    if len(data) != 1:
        raise ProtocolError(CCTALK_PROTOCOL, f"{len(data)} bytes of level sensors, not 1", data)
    return (
        data[0] & (_HIGH_LEVEL_COVERED_BIT | _HIGH_LEVEL_FITTED_BIT)
        == _HIGH_LEVEL_COVERED_BIT | _HIGH_LEVEL_FITTED_BIT
    )


def encode_high_level_reply(*, is_full: bool) -> bytes:
    """Encode a hopper's reply to PAYOUT_HIGH_LOW_STATUS. ``is_full``: coins cover its upper level sensor."""
    return bytes((_HIGH_LEVEL_FITTED_BIT | (_HIGH_LEVEL_COVERED_BIT if is_full else 0),))


class CountryScaling(NamedTuple):
    """How the value in the name of a country's note is converted to the major unit of its currency.

    The value is multiplied by ``factor``, then divided by ten to the power ``decimal_places``.
    """

    factor: int
    decimal_places: int


def decode_country_scaling(data: bytes) -> CountryScaling:
    """Decode a reply to COUNTRY_SCALING. Raises ProtocolError."""
    if len(data) != 3:
        raise ProtocolError(CCTALK_PROTOCOL, f"{len(data)} bytes of country scaling, not 3", data)
    return CountryScaling(int.from_bytes(data[:2], "little"), data[2])


def decode_coin_or_bill_name(data: bytes, digit_count: int) -> tuple[str, int | None]:
    """Decode the name of a coin or bill; return its country and its value in the country's own unit.

    A name is two letters, ``digit_count`` digits and an issue letter (``US025A``, ``EU0010B``). Dots mean that
    nothing is programmed: value 0. For any other name there is no value (None).
    """
    name = data.decode("ascii", "replace")
    if name and not name.strip("."):
        return "", 0
    value = name[2 : 2 + digit_count]
    is_valid_name = len(name) == digit_count + 3 and value.isascii() and value.isdigit()
    return name[:2], int(value) if is_valid_name else None


def decode_three_byte_number(data: bytes) -> int:
    """Decode a serial number or lifetime counter from its three bytes, low first. Raises :class:`ProtocolError`."""
    if len(data) != 3:
        raise ProtocolError(CCTALK_PROTOCOL, f"{len(data)} bytes of a count, not 3", data)
    return int.from_bytes(data, "little")
