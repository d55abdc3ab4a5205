"""Complete messages: a poll as the host sends it, and an answer as the machine gives it.

An answer can only be interpreted together with its poll, and an answer that may be one byte or a frame ends
when the line is silent. Nothing here waits: :func:`is_whole` says whether more bytes must follow.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from egm.links.sas.crc import SIZE as _CRC
from egm.links.sas.crc import append_crc, is_intact
from tools.dev.host.fields import Layout, LayoutError, Sized, Values, fixed_size, read, write
from tools.dev.host.poll import Type
from tools.dev.host.polls import EVENTS, POLLS

SYNC: Final = bytes((0x80,))
"""A general poll to address 0: nobody answers, and every machine takes it for a poll to somebody else."""
_EVENT: Final = 0xFF
_BUSY: Final = 0x00
_SIGNATURE: Final = 0x21
_HEAD: Final = 2
_FOR_ONE_DENOMINATION: Final = 0xB0


class Outcome(StrEnum):
    """Kind of answer that arrived."""

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
    """One answer: its bytes, what they are, and the values they carry.

    ``code`` is the exception, the event or the poll. ``trouble`` says why a damaged answer is damaged.
    """

    outcome: Outcome
    data: bytes = b""
    code: int = 0
    values: Values = field(default_factory=dict)
    trouble: str = ""


# ---------------------------------------------------------------- the host's side
def general_poll(address: int) -> bytes:
    """Ask a machine (1 to 127) for its next exception."""
    return bytes((0x80 | address,))


def long_poll(address: int, code: int, values: Mapping[str, Any] | None = None) -> bytes:
    """Encode a poll of the table; address 0 broadcasts. Raises LayoutError for a value that does not fit."""
    poll = POLLS[code]
    body = bytes((address, code)) + write(poll.request, values or {})
    return body if poll.type is Type.READ else append_crc(body)


def is_general(request: bytes) -> bool:
    """Whether a host's message is a general poll: one byte, its top bit set."""
    return len(request) == 1 and bool(request[0] & 0x80)


def expects_answer(request: bytes) -> bool:
    """Whether anybody answers: address 0 never does."""
    return bool(request[0] & 0x7F)


# ---------------------------------------------------------------- the machine's side
def is_whole(request: bytes, got: bytes) -> bool:
    """Whether an answer surely ends here. Where it may go on, the silence after it decides."""
    if not got:
        return False
    address = request[0] & 0x7F
    if got[0] != address:
        return is_general(request) or got[0] == (address | 0x80)
    if len(got) < _HEAD:
        return False
    size = _size(request, got)
    return size is not None and len(got) >= size


def _size(request: bytes, got: bytes) -> int | None:
    """Return the length of an answer frame, or None if the bytes so far do not determine it."""
    if got[1] == _BUSY:
        return _HEAD
    if got[1] == _EVENT:
        about = fixed_size(EVENTS.get(got[2], ())) if len(got) > _HEAD else None
        return None if about is None else _HEAD + 1 + about + _CRC
    poll = POLLS.get(got[1])
    if poll is None or poll.answer is None or (not is_general(request) and got[1] != request[1]):
        return None
    size = fixed_size(poll.answer)
    if size is None and isinstance(poll.answer[0], Sized) and len(got) > _HEAD:
        size = 1 + got[_HEAD]
    return None if size is None else _HEAD + size + _CRC


def parse(request: bytes, got: bytes) -> Answer:
    """Say what an answer to ``request`` is. Never raises: what cannot be read is DAMAGED, with the reason."""
    address = request[0] & 0x7F
    if not got:
        return Answer(Outcome.SILENCE)
    if len(got) == 1:
        return _one_byte(request, got)
    if got[0] != address:
        return Answer(Outcome.DAMAGED, got, trouble=f"address {got[0]}, not {address}")
    if got[1] == _BUSY and len(got) == _HEAD:
        return Answer(Outcome.BUSY, got)
    try:
        return _frame(request, got)
    except LayoutError as error:
        return Answer(Outcome.DAMAGED, got, trouble=str(error))


def _one_byte(request: bytes, got: bytes) -> Answer:
    address, byte = request[0] & 0x7F, got[0]
    if is_general(request):
        return Answer(Outcome.EXCEPTION if byte else Outcome.NOTHING, got, byte)
    if byte == address:
        return Answer(Outcome.ACK, got, request[1])
    if byte == address | 0x80:
        return Answer(Outcome.NACK, got, request[1])
    return Answer(Outcome.DAMAGED, got, trouble=f"{byte:02X} is neither ACK nor NACK of {address}")


def _frame(request: bytes, got: bytes) -> Answer:
    """Read an answer with a CRC. Raises LayoutError."""
    if not is_intact(got):
        raise LayoutError(f"CRC: wrong: should be {append_crc(got[:-_CRC])[-_CRC:].hex(' ')}")
    code, data = got[1], got[_HEAD:-_CRC]
    if code == _EVENT and data:
        event = data[0]
        return Answer(
            Outcome.EVENT if event else Outcome.NOTHING,
            got,
            event,
            read(EVENTS.get(event, ()), data[1:]),
        )
    asked = _SIGNATURE if is_general(request) else request[1]
    if code != asked:
        raise LayoutError(f"answers poll {code:02X}, not {asked:02X}")
    layout = _answer_layout(code)
    if layout is None:
        raise LayoutError(f"poll {code:02X} has no data in its answer")
    values = read(layout, data)
    if code == _FOR_ONE_DENOMINATION and (inner := _answer_layout(values["poll"])) is not None:
        values = read(inner, bytes.fromhex(values["data"])) | values
    return Answer(Outcome.DATA, got, code, values)


def _answer_layout(code: int) -> Layout | None:
    poll = POLLS.get(code)
    return None if poll is None else poll.answer
