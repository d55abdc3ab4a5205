"""Encode the polls of the host and decode the replies of the machine.

A reply can only be interpreted together with its poll. A reply that may be one byte or a frame ends when the line is
silent. These functions do not wait; :func:`is_complete_reply` returns whether no more bytes can follow.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from egm.links.sas.crc import CRC_SIZE_BYTES as _CRC_SIZE_BYTES
from egm.links.sas.crc import append_crc, has_valid_crc
from tools.dev.host.fields import (
    Layout,
    LayoutError,
    LengthPrefixedGroup,
    Values,
    compute_fixed_size,
    decode_layout,
    encode_layout,
)
from tools.dev.host.poll import LongPollType
from tools.dev.host.polls import EVENT_LAYOUT_BY_CODE, POLL_BY_CODE

#: A general poll to address 0, to which no machine replies.
SYNC_POLL: Final = bytes((0x80,))
_EVENT_CODE: Final = 0xFF
_BUSY_CODE: Final = 0x00
_SIGNATURE_POLL_CODE: Final = 0x21
_HEADER_SIZE_BYTES: Final = 2
_DENOMINATION_POLL_CODE: Final = 0xB0


class ReplyKind(StrEnum):
    """The kind of a reply, or that none arrived."""

    NO_REPLY = "silence"
    NOTHING_TO_REPORT = "nothing to report"
    EXCEPTION = "exception"
    REAL_TIME_EVENT = "event"
    DATA = "data"
    ACK = "acknowledged"
    NACK = "refused"
    BUSY = "busy"
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class SasReply:
    """One reply: its bytes, its kind and its values.

    ``code`` is the code of the exception, the event or the poll. ``error`` says why a reply is damaged.
    """

    kind: ReplyKind
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
    poll = POLL_BY_CODE[code]
    body = bytes((address, code)) + encode_layout(poll.request, values or {})
    return body if poll.type is LongPollType.READ else append_crc(body)


def is_general_poll(request: bytes) -> bool:
    """Return whether a host's message is a general poll: one byte with its top bit set."""
    return len(request) == 1 and bool(request[0] & 0x80)


def expects_reply(request: bytes) -> bool:
    """Return whether a machine replies to the request; no machine replies to address 0."""
    return bool(request[0] & 0x7F)


# ---------------------------------------------------------------- the machine's side
def is_complete_reply(request: bytes, received: bytes) -> bool:
    """Return whether no more bytes of the reply can follow. If it returns False, silence ends the reply."""
    if not received:
        return False
    address = request[0] & 0x7F
    if received[0] != address:
        return is_general_poll(request) or received[0] == (address | 0x80)
    if len(received) < _HEADER_SIZE_BYTES:
        return False
    size = _compute_reply_size(request, received)
    return size is not None and len(received) >= size


def _compute_reply_size(request: bytes, received: bytes) -> int | None:
    """Return the size of a reply frame in bytes, or None if the bytes so far do not determine it."""
    if received[1] == _BUSY_CODE:
        return _HEADER_SIZE_BYTES
    if received[1] == _EVENT_CODE:
        data_size = (
            compute_fixed_size(EVENT_LAYOUT_BY_CODE.get(received[2], ()))
            if len(received) > _HEADER_SIZE_BYTES
            else None
        )
        return None if data_size is None else _HEADER_SIZE_BYTES + 1 + data_size + _CRC_SIZE_BYTES
    poll = POLL_BY_CODE.get(received[1])
    if poll is None or poll.reply is None or (not is_general_poll(request) and received[1] != request[1]):
        return None
    size = compute_fixed_size(poll.reply)
    if size is None and isinstance(poll.reply[0], LengthPrefixedGroup) and len(received) > _HEADER_SIZE_BYTES:
        size = 1 + received[_HEADER_SIZE_BYTES]
    return None if size is None else _HEADER_SIZE_BYTES + size + _CRC_SIZE_BYTES


def decode_reply(request: bytes, received: bytes) -> SasReply:
    """Decode the reply to ``request``. Bytes that cannot be read are DAMAGED, with the reason; nothing is raised."""
    address = request[0] & 0x7F
    if not received:
        return SasReply(ReplyKind.NO_REPLY)
    if len(received) == 1:
        return _decode_one_byte(request, received)
    if received[0] != address:
        return SasReply(ReplyKind.DAMAGED, received, error=f"address {received[0]}, not {address}")
    if received[1] == _BUSY_CODE and len(received) == _HEADER_SIZE_BYTES:
        return SasReply(ReplyKind.BUSY, received)
    try:
        return _decode_frame(request, received)
    except LayoutError as error:
        return SasReply(ReplyKind.DAMAGED, received, error=str(error))


def _decode_one_byte(request: bytes, received: bytes) -> SasReply:
    address, byte = request[0] & 0x7F, received[0]
    if is_general_poll(request):
        return SasReply(ReplyKind.EXCEPTION if byte else ReplyKind.NOTHING_TO_REPORT, received, byte)
    if byte == address:
        # A signature is acknowledged, and sent in reply to a later general poll.
        if request[1] == _SIGNATURE_POLL_CODE or POLL_BY_CODE[request[1]].reply is None:
            return SasReply(ReplyKind.ACK, received, request[1])
        return SasReply(ReplyKind.DAMAGED, received, error="the reply ends after the address")
    if byte == address | 0x80:
        return SasReply(ReplyKind.NACK, received, request[1])
    return SasReply(ReplyKind.DAMAGED, received, error=f"{byte:02X} is neither ACK nor NACK of {address}")


def _decode_frame(request: bytes, received: bytes) -> SasReply:
    """Return the reply in a frame with a CRC. Raises LayoutError if it does not match the poll's layout."""
    if not has_valid_crc(received):
        raise LayoutError(
            f"CRC: wrong: should be {append_crc(received[:-_CRC_SIZE_BYTES])[-_CRC_SIZE_BYTES:].hex(' ')}"
        )
    code, data = received[1], received[_HEADER_SIZE_BYTES:-_CRC_SIZE_BYTES]
    if code == _EVENT_CODE and data:
        event = data[0]
        return SasReply(
            ReplyKind.REAL_TIME_EVENT if event else ReplyKind.NOTHING_TO_REPORT,
            received,
            event,
            decode_layout(EVENT_LAYOUT_BY_CODE.get(event, ()), data[1:]),
        )
    expected_code = _SIGNATURE_POLL_CODE if is_general_poll(request) else request[1]
    if code != expected_code:
        raise LayoutError(f"replies to poll {code:02X}, not {expected_code:02X}")
    layout = _find_reply_layout(code)
    if layout is None:
        raise LayoutError(f"poll {code:02X} has no data in its reply")
    values = decode_layout(layout, data)
    if code == _DENOMINATION_POLL_CODE and (inner_layout := _find_reply_layout(values["poll"])) is not None:
        values = decode_layout(inner_layout, bytes.fromhex(values["data"])) | values
    return SasReply(ReplyKind.DATA, received, code, values)


def _find_reply_layout(code: int) -> Layout | None:
    poll = POLL_BY_CODE.get(code)
    return None if poll is None else poll.reply
