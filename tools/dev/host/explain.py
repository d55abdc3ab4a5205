"""A recording explained: messages put together, every byte named, and what broke the timing marked."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from tools.dev.host.fields import Piece
from tools.dev.host.messages import (
    Answer,
    Outcome,
    exception_name,
    expects_answer,
    explain_request,
    is_general,
    is_whole,
    parse,
)
from tools.dev.host.polls import POLLS
from tools.dev.host.trace import Portion, Side

ANSWER_US: Final = 20_000
"""An answer begins within 20 ms of the poll's last byte."""
INSIDE_US: Final = 5_000
"""A pause of more than 5 ms inside a message ends it."""
POLL_US: Final = 200_000
"""A host polls at least every 200 ms."""


@dataclass(slots=True)
class Message:
    """One message of the recording: when (microseconds), who, its bytes, and what it says."""

    us: int
    side: Side
    data: bytes
    title: str = ""
    pieces: tuple[Piece, ...] = ()
    notes: list[str] = field(default_factory=list)
    end_us: int = 0

    @property
    def trouble(self) -> bool:
        """Whether something about it is wrong."""
        return bool(self.notes) or any(piece.trouble for piece in self.pieces)

    def document(self) -> dict[str, Any]:
        """Return the message in the form for scripts."""
        return {
            "us": self.us,
            "from": str(self.side),
            "bytes": self.data.hex(" "),
            "title": self.title,
            "fields": [
                {
                    "at": piece.at,
                    "bytes": piece.data.hex(" "),
                    "name": piece.name,
                    "value": piece.value,
                    "text": piece.text,
                    **({"trouble": piece.trouble} if piece.trouble else {}),
                }
                for piece in self.pieces
            ],
            "notes": self.notes,
        }


def explain(portions: Iterable[Portion]) -> Iterator[Message]:
    """Put the portions of a recording together into messages, and say what each is."""
    request: Message | None = None
    answer: Message | None = None
    for portion in portions:
        if portion.side is Side.HOST:
            if request is not None and answer is None and _continues(request, portion):
                request.data += portion.data
                request.end_us = portion.us
                continue
            yield from _closed(request, answer)
            previous, request, answer = request, _message(portion), None
            if previous is not None and portion.us - previous.end_us > POLL_US:
                request.notes.append(f"the host was silent for {_ms(portion.us - previous.end_us)}")
        elif request is None or not expects_answer(request.data) or _is_over(request, answer, portion):
            yield from _closed(request, answer)
            request = answer = None
            yield _unasked(_message(portion))
        elif answer is None:
            answer = _message(portion)
            if portion.us - request.end_us > ANSWER_US:
                answer.notes.append(f"began {_ms(portion.us - request.end_us)} after the poll (limit 20 ms)")
        else:
            if portion.us - answer.end_us > INSIDE_US:
                answer.notes.append(
                    f"{_ms(portion.us - answer.end_us)} of silence before byte {len(answer.data)} (limit 5)"
                )
            answer.data += portion.data
            answer.end_us = portion.us
    yield from _closed(request, answer)


def _message(portion: Portion) -> Message:
    return Message(portion.us, portion.side, portion.data, end_us=portion.us)


def _continues(request: Message, portion: Portion) -> bool:
    """Return whether the host's portion continues the message before: no wakeup, no pause, not a general poll."""
    return not portion.wake and not is_general(request.data) and portion.us - request.end_us <= INSIDE_US


def _is_over(request: Message, answer: Message | None, portion: Portion) -> bool:
    """Whether the answer had ended before this portion: it was whole, or good as it was when silence fell."""
    if answer is None:
        return False
    fell_silent = portion.us - answer.end_us > INSIDE_US
    whole = is_whole(request.data, answer.data)
    return whole or (fell_silent and parse(request.data, answer.data).outcome is not Outcome.DAMAGED)


def _closed(request: Message | None, answer: Message | None) -> Iterator[Message]:
    """Yield a request and its answer, explained together."""
    if request is None:
        return
    request.title, request.pieces = explain_request(request.data)
    if answer is None and expects_answer(request.data):
        request.notes.append("no answer")
    yield request
    if answer is not None:
        said = parse(request.data, answer.data)
        answer.title, answer.pieces = _title(request.data, said), said.pieces
        if said.trouble:
            answer.notes.append(said.trouble)
        yield answer


def _unasked(message: Message) -> Message:
    chirp = len(set(message.data)) == 1 and 1 <= message.data[0] <= 0x7F
    message.title = (
        f"unasked: machine {message.data[0]} sees no polls (loop break)" if chirp else "unasked bytes"
    )
    message.pieces = (Piece("unasked", 0, message.data, "", message.data.hex(" ")),)
    return message


def _title(request: bytes, said: Answer) -> str:
    match said.outcome:
        case Outcome.EXCEPTION | Outcome.EVENT:
            return f"{said.outcome} {exception_name(said.code)}"
        case Outcome.DATA:
            poll = POLLS.get(said.code)
            return f"{poll.name} [{poll.confidence}]" if poll else f"answer to unknown poll {said.code:02X}"
        case Outcome.ACK | Outcome.NACK | Outcome.BUSY:
            return f"{said.outcome}: poll {request[1]:02X}"
        case _:
            return str(said.outcome)


def _ms(us: int) -> str:
    return f"{us / 1000:.1f} ms"
