"""Encode the polls of the host and decode the replies of the machine.

A reply can only be interpreted together with its poll. A reply that may be one byte or a frame ends when the line is
silent. These functions do not wait; :func:`is_complete_answer` returns whether no more bytes can follow.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from egm.links.sas.crc import CRC_SIZE_BYTES as _CRC
from egm.links.sas.crc import append_crc, has_valid_crc
from tools.dev.host.fields import (
    Layout,
    LayoutError,
    LengthPrefixedGroup,
    Values,
    compute_fixed_size,
    read_layout,
    write_layout,
)
from tools.dev.host.poll import Type
from tools.dev.host.polls import EVENTS, POLLS

SYNC: Final = bytes((0x80,))
"""A general poll to address 0, which no machine answers."""
_EVENT: Final = 0xFF
_BUSY: Final = 0x00
_SIGNATURE: Final = 0x21
_HEADER_BYTES: Final = 2
_FOR_ONE_DENOMINATION: Final = 0xB0


class Outcome(StrEnum):
    """What kind of reply arrived, if any."""

    SILENCE = "silence"
    NOTHING = "nothing to report"
    EXCEPTION = "exception"
    EVENT = "event"
    DATA = "data"
    ACK = "acknowledged"
    NACK = "refused"
    BUSY = "busy"
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class Answer:
    """One reply: its bytes, its kind and its values.

    ``code`` is the code of the exception, the event or the poll. ``error`` says why a reply is damaged.
    """

    outcome: Outcome
    data: bytes = b""
    code: int = 0
    values: Values = field(default_factory=dict)
    error: str = ""


# ---------------------------------------------------------------- the host's side
def encode_general_poll(address: int) -> bytes:
    """Return the general poll for a machine's address (1 to 127), which requests its next exception."""
    return bytes((0x80 | address,))


def encode_long_poll(address: int, code: int, values: Mapping[str, Any] | None = None) -> bytes:
    """Return the bytes of a long poll; address 0 broadcasts. Raises LayoutError for a value that does not fit."""
    poll = POLLS[code]
    body = bytes((address, code)) + write_layout(poll.request, values or {})
    return body if poll.type is Type.READ else append_crc(body)


def is_general_poll(request: bytes) -> bool:
    """Return whether a host's message is a general poll: one byte with its top bit set."""
    return len(request) == 1 and bool(request[0] & 0x80)


def expects_answer(request: bytes) -> bool:
    """Return whether a machine answers the request; address 0 is never answered."""
    return bool(request[0] & 0x7F)


# ---------------------------------------------------------------- the machine's side
def is_complete_answer(request: bytes, received: bytes) -> bool:
    """Return whether no more bytes of the reply can follow. If it returns False, silence ends the reply."""
    if not received:
        return False
    address = request[0] & 0x7F
    if received[0] != address:
        return is_general_poll(request) or received[0] == (address | 0x80)
    if len(received) < _HEADER_BYTES:
        return False
    size = _compute_answer_size(request, received)
    return size is not None and len(received) >= size


def _compute_answer_size(request: bytes, received: bytes) -> int | None:
    """Return the size of a reply frame in bytes, or None if the bytes so far do not determine it."""
    if received[1] == _BUSY:
        return _HEADER_BYTES
    if received[1] == _EVENT:
        about = compute_fixed_size(EVENTS.get(received[2], ())) if len(received) > _HEADER_BYTES else None
        return None if about is None else _HEADER_BYTES + 1 + about + _CRC
    poll = POLLS.get(received[1])
    if poll is None or poll.answer is None or (not is_general_poll(request) and received[1] != request[1]):
        return None
    size = compute_fixed_size(poll.answer)
    if size is None and isinstance(poll.answer[0], LengthPrefixedGroup) and len(received) > _HEADER_BYTES:
        size = 1 + received[_HEADER_BYTES]
    return None if size is None else _HEADER_BYTES + size + _CRC


def decode_answer(request: bytes, received: bytes) -> Answer:
    """Decode the answer to ``request``. Bytes that cannot be read are DAMAGED, with the reason; nothing is raised."""
    address = request[0] & 0x7F
    if not received:
        return Answer(Outcome.SILENCE)
    if len(received) == 1:
        return _decode_one_byte(request, received)
    if received[0] != address:
        return Answer(Outcome.DAMAGED, received, error=f"address {received[0]}, not {address}")
    if received[1] == _BUSY and len(received) == _HEADER_BYTES:
        return Answer(Outcome.BUSY, received)
    try:
        return _decode_frame(request, received)
    except LayoutError as error:
        return Answer(Outcome.DAMAGED, received, error=str(error))


def _decode_one_byte(request: bytes, received: bytes) -> Answer:
    address, byte = request[0] & 0x7F, received[0]
    if is_general_poll(request):
        return Answer(Outcome.EXCEPTION if byte else Outcome.NOTHING, received, byte)
    if byte == address and POLLS[request[1]].answer is not None:
        return Answer(Outcome.DAMAGED, received, error="the reply ends after the address")
    if byte == address:
        return Answer(Outcome.ACK, received, request[1])
    if byte == address | 0x80:
        return Answer(Outcome.NACK, received, request[1])
    return Answer(Outcome.DAMAGED, received, error=f"{byte:02X} is neither ACK nor NACK of {address}")


def _decode_frame(request: bytes, received: bytes) -> Answer:
    """Return the reply in a frame with a CRC. Raises LayoutError if it does not match the poll's layout."""
    if not has_valid_crc(received):
        raise LayoutError(f"CRC: wrong: should be {append_crc(received[:-_CRC])[-_CRC:].hex(' ')}")
    code, data = received[1], received[_HEADER_BYTES:-_CRC]
    if code == _EVENT and data:
        event = data[0]
        return Answer(
            Outcome.EVENT if event else Outcome.NOTHING,
            received,
            event,
            read_layout(EVENTS.get(event, ()), data[1:]),
        )
    expected_code = _SIGNATURE if is_general_poll(request) else request[1]
    if code != expected_code:
        raise LayoutError(f"answers poll {code:02X}, not {expected_code:02X}")
    layout = _find_answer_layout(code)
    if layout is None:
        raise LayoutError(f"poll {code:02X} has no data in its answer")
    values = read_layout(layout, data)
    if code == _FOR_ONE_DENOMINATION and (inner := _find_answer_layout(values["poll"])) is not None:
        values = read_layout(inner, bytes.fromhex(values["data"])) | values
    return Answer(Outcome.DATA, received, code, values)


def _find_answer_layout(code: int) -> Layout | None:
    poll = POLLS.get(code)
    return None if poll is None else poll.answer
