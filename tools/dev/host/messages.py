"""Complete messages: a poll as the host sends it, an answer as the machine gives it, byte by byte.

An answer can only be interpreted together with its poll, and an answer that may be one byte or a frame ends
when the line is silent. Nothing here waits: :func:`is_whole` says whether more bytes must follow.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from egm.links.sas.crc import SIZE as _CRC
from egm.links.sas.crc import append_crc, is_intact
from egm.links.sas.tables.exceptions import EXCEPTIONS
from tools.dev.host.fields import Piece, Sized, Values, fixed_size, read, write
from tools.dev.host.poll import Poll, Type
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
    pieces: tuple[Piece, ...] = ()
    trouble: str = ""


# ---------------------------------------------------------------- the host's side
def general_poll(address: int) -> bytes:
    """Ask a machine (1 to 127) for its next exception."""
    if not 1 <= address <= 0x7F:
        raise ValueError(f"address {address}: 1 to 127")
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


def explain_request(data: bytes) -> tuple[str, tuple[Piece, ...]]:
    """Say what a host's message is, and name every byte of it."""
    if is_general(data):
        whom = f"machine {data[0] & 0x7F}" if data[0] & 0x7F else "address 0: synchronises, nobody answers"
        return f"general poll to {whom}", (Piece("general poll", 0, data, data[0] & 0x7F, whom),)
    address = Piece("address", 0, data[:1], data[0], str(data[0]) if data[0] else "0 broadcast")
    if len(data) < _HEAD:
        return "incomplete poll", (address,)
    poll = POLLS.get(data[1])
    if poll is None:
        rest = Piece("unknown", _HEAD, data[_HEAD:], "", data[_HEAD:].hex(" "))
        return f"unknown poll {data[1]:02X}", (address, _named(data[1]), rest)
    body, crc = (data, ()) if poll.type is Type.READ else _split(data)
    _, pieces = _read(poll, body[_HEAD:], asking=True)
    return f"{poll.name} ({poll.type})", (address, _named(data[1]), *pieces, *crc)


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
    head = Piece("address", 0, got[:1], got[0], str(got[0]), "" if got[0] == address else "another address")
    if got[0] != address:
        return Answer(Outcome.DAMAGED, got, pieces=(head,), trouble=f"address {got[0]}, not {address}")
    if got[1] == _BUSY and len(got) == _HEAD:
        return Answer(Outcome.BUSY, got, pieces=(head, Piece("busy", 1, got[1:], 0, "busy")))
    return _frame(request, got, head)


def _one_byte(request: bytes, got: bytes) -> Answer:
    address, byte = request[0] & 0x7F, got[0]
    if is_general(request):
        outcome = Outcome.EXCEPTION if byte else Outcome.NOTHING
        return Answer(outcome, got, byte, pieces=(Piece("exception", 0, got, byte, exception_name(byte)),))
    if byte == address:
        return Answer(Outcome.ACK, got, request[1], pieces=(Piece("ACK", 0, got, byte, str(address)),))
    if byte == address | 0x80:
        return Answer(Outcome.NACK, got, request[1], pieces=(Piece("NACK", 0, got, byte, str(address)),))
    return Answer(Outcome.DAMAGED, got, trouble=f"{byte:02X} is neither ACK nor NACK of {address}")


def _frame(request: bytes, got: bytes, head: Piece) -> Answer:
    body, crc = _split(got)
    code, outcome = got[1], Outcome.DATA
    values: Values = {}
    pieces: tuple[Piece, ...] = ()
    asked = _SIGNATURE if is_general(request) else request[1]
    trouble = "" if code in (asked, _EVENT) else f"answers poll {code:02X}, not {asked:02X}"
    if code == _EVENT and len(body) > _HEAD:
        code, outcome = body[2], Outcome.EVENT if body[2] else Outcome.NOTHING
        event = Piece("event", 2, body[2:3], code, exception_name(code))
        reading = read(EVENTS.get(code, ()), body[3:], 3)
        values, pieces = (
            reading.values,
            (Piece("event frame", 1, got[1:2], _EVENT, "FF"), event, *reading.pieces),
        )
    elif (poll := POLLS.get(code)) is not None and poll.answer is not None:
        values, pieces = _read(poll, body[_HEAD:], asking=False)
        pieces = (_named(code), *pieces)
    else:
        pieces = (_named(code), Piece("unknown", _HEAD, body[_HEAD:], "", body[_HEAD:].hex(" ")))
    pieces = (head, *pieces, *crc)
    trouble = next((f"{piece.name}: {piece.trouble}" for piece in reversed(pieces) if piece.trouble), trouble)
    return Answer(Outcome.DAMAGED if trouble else outcome, got, code, values, pieces, trouble)


def exception_name(code: int) -> str:
    """Return an exception's code and name."""
    known = EXCEPTIONS.get(code)
    return f"{code:02X} {known.name if known else 'unknown exception'}"


def _named(code: int) -> Piece:
    poll = POLLS.get(code)
    known = f"{poll.name} [{poll.confidence}]" if poll is not None else "unknown poll"
    return Piece("poll", 1, bytes((code,)), code, f"{code:02X} {known}")


def _split(data: bytes) -> tuple[bytes, tuple[Piece]]:
    """Cut the CRC off a frame and say whether it is right."""
    body, tail = data[:-_CRC], data[-_CRC:]
    right = append_crc(body)[-_CRC:].hex(" ").upper()
    trouble = "" if is_intact(data) else f"wrong: should be {right}"
    crc = Piece("CRC", len(body), tail, int.from_bytes(tail, "little"), trouble or "right", trouble)
    return body, (crc,)


def _read(poll: Poll, data: bytes, *, asking: bool) -> tuple[Values, tuple[Piece, ...]]:
    """Return a poll's data; a request for one denomination has the layout of the poll inside it."""
    layout = poll.request if asking else poll.answer
    reading = read(layout or (), data, _HEAD)
    inner = POLLS.get(reading.values.get("poll", 0)) if poll.code == _FOR_ONE_DENOMINATION else None
    layout = None if inner is None else inner.request if asking else inner.answer
    if layout is None or reading.trouble:
        return reading.values, tuple(reading.pieces)
    *outer, last = reading.pieces
    inside = read(layout, last.data, last.at)
    return {**inside.values, **reading.values}, (*outer, *inside.pieces)
