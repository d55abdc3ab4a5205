"""Commands that a person or a script may give a host: each verb takes words and returns a document."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from egm.errors import OperatorError, PeerError
from tools.dev.host.fields import Field, Layout, Many, Sized, Values
from tools.dev.host.host import Host
from tools.dev.host.live import METERS, money
from tools.dev.host.messages import Answer, Outcome, long_poll
from tools.dev.host.poll import METER_NAMES
from tools.dev.host.polls import POLLS
from tools.dev.host.store import Amounts, TransferState
from tools.dev.host.transfers import BONUS_TO_MACHINE, IN_HOUSE_TO_HOST, IN_HOUSE_TO_MACHINE

#: Maximum number of codes in a 6F message: the smaller of the two public limits.
_CODES_MAX: Final = 11
_TYPES: Final = {"in": IN_HOUSE_TO_MACHINE, "bonus": BONUS_TO_MACHINE, "out": IN_HOUSE_TO_HOST}
_SECONDS: Final = 30.0
_HOST_CASHOUT: Final = {"set": 0, "enable": 1, "hard": 2}


class VerbError(OperatorError):
    """A verb that cannot be done: which word is wrong, or what the machine said."""


def cents(word: str) -> int:
    """Read an amount such as 5 or 5.00 as cents. Raises :class:`VerbError`."""
    try:
        amount = Decimal(word) * 100
    except InvalidOperation:
        raise VerbError(f"{word!r} is not an amount") from None
    if not amount.is_finite() or amount != int(amount) or amount <= 0:
        raise VerbError(f"{word!r} is not an amount of whole cents above nothing")
    return int(amount)


def read_meters(host: Host, codes: Sequence[int], game: int = 0) -> dict[int, int | None]:
    """Read meters by code with 6F and AF in turn; None for what the machine does not have."""
    values: dict[int, int | None] = {}
    for n, start in enumerate(range(0, len(codes), _CODES_MAX)):
        part = [{"code": code} for code in codes[start : start + _CODES_MAX]]
        answer = host.answer_to(0xAF if n % 2 else 0x6F, {"game": game, "codes": part})
        values |= {row["code"]: row["value"] for row in answer.values["meters"]}
    return values


def meters(host: Host, words: Sequence[str]) -> Values:
    """Read the meters, those of a game where a number is given."""
    game = _whole(words[0]) if words else 0
    values = read_meters(host, tuple(METER_NAMES), game)
    return {f"{code:02X} {METER_NAMES[code]}": value for code, value in values.items() if value is not None}


def identity(host: Host, _words: Sequence[str]) -> Values:
    """Say who the machine is, what it can, and its games."""
    games = host.answer_to(0x51).values["games"]
    return {
        "serial": host.known.serial,
        "version": host.known.version,
        "identity": host.known.identity,
        "features": host.known.features,
        "games": {game: host.answer_to(0x53, {"game": game}).values for game in range(1, games + 1)},
    }


def send(host: Host, words: Sequence[str]) -> Values:
    """Send POLL (two hexadecimal digits), with field=value for what it asks; codes=00,01 for lists."""
    if not words:
        raise VerbError("send: which poll?")
    try:
        code = int(words[0], 16)
        poll = POLLS[code]
    except (ValueError, KeyError):
        raise VerbError(f"send: {words[0]!r} is not a poll this host knows") from None
    values: Values = {}
    for word in words[1:]:
        name, sign, text = word.partition("=")
        if not sign:
            raise VerbError(f"send: {word!r} is not field=value")
        values[name] = _value(poll.request, name, text)
    return _document(host.answer_to_bytes(long_poll(host.conversation.address, code, values)))


def _value(layout: Layout, name: str, text: str) -> Any:
    """Return a word in the type of its field: a list of rows for a repeated field, else a number or text."""
    parts = [inner for part in layout for inner in (part.parts if isinstance(part, Sized) else (part,))]
    part = next((part for part in parts if part.name == name), None)
    if part is None:
        names = ", ".join(part.name for part in parts) or "none"
        raise VerbError(f"send: no field {name!r}; there are: {names}")
    if isinstance(part, Many):
        inner = part.parts[0]
        if len(part.parts) != 1 or not isinstance(inner, Field):
            raise VerbError(f"send: {name} has several fields in a row; use the library")
        return [{inner.name: int(word, 16)} for word in text.split(",")]
    return text


def _document(answer: Answer) -> Values:
    return {"answer": str(answer.outcome), "bytes": answer.data.hex(" "), "values": answer.values}


def aft(host: Host, words: Sequence[str]) -> Values:
    """Transfer money: in, bonus or out, an amount, and perhaps its kind (restricted, nonrestricted)."""
    match words:
        case [way, amount, *rest] if way in _TYPES and len(rest) <= 1:
            kind = rest[0] if rest else "cashable"
        case _:
            raise VerbError(
                "aft: in, bonus or out; then an amount; then cashable, restricted or nonrestricted"
            )
    if kind not in {"cashable", "restricted", "nonrestricted"}:
        raise VerbError(f"aft: no kind of credit is called {kind!r}")
    transfer = host.transfers.order(_TYPES[way], Amounts(**{f"{kind}_cents": cents(amount)}))
    host.run_until(lambda: not host.store.open_transfers(host.known.serial), _SECONDS)
    done = next(known for known in host.store.transfers() if known.id == transfer.id)
    if done.state is not TransferState.DONE:
        status = "no status" if done.status is None else f"status {done.status:02X}"
        raise VerbError(f"transfer {done.id} is {done.state}, {status}")
    return {"id": done.id, "moved_cents": done.amounts.total_cents, **asdict(done.amounts)}


def register(host: Host, _words: Sequence[str]) -> Values:
    """Register for transfers."""
    host.transfers.register()
    host.run_until(lambda: host.conversation.idle, _SECONDS)
    return asdict(host.transfers.registration)


def reset(host: Host, words: Sequence[str]) -> Values:
    """Reset a hand-pay from here; with the word credit, to the credit meter where that is possible."""
    if list(words) == ["credit"]:
        host.answer_to(0xA8, {"method": 1})
    return _document(host.answer_to(0x94))


def _acknowledged(host: Host, code: int, values: Mapping[str, Any] | None = None) -> Values:
    answer = host.answer_to(code, values)
    if answer.outcome is not Outcome.ACK:
        raise VerbError(f"{POLLS[code].name}: {answer.outcome}")
    return {"answer": str(answer.outcome)}


def enable(host: Host, _words: Sequence[str]) -> Values:
    """Let the machine be played."""
    return _acknowledged(host, 0x02)


def disable(host: Host, _words: Sequence[str]) -> Values:
    """Lock the machine out of play."""
    return _acknowledged(host, 0x01)


def clock(host: Host, words: Sequence[str]) -> Values:
    """Read the machine's date and time, or give it one: 2026-01-31T23:59:59."""
    if not words:
        values = host.answer_to(0x7E).values
        return {"date": values["date"], "time": values["time"]}
    try:
        when = datetime.fromisoformat(words[0])
    except ValueError:
        raise VerbError(f"clock: {words[0]!r} is not a date and time") from None
    return _acknowledged(host, 0x7F, {"date": f"{when:%m%d%Y}", "time": f"{when:%H%M%S}"})


def config(host: Host, words: Sequence[str]) -> Values:
    """Read what the machine does with tickets, or set days (cashable, restricted) and the texts on them.

    Words: cashable_days=30 restricted_days=7 location=... address1=... address2=...
    """
    given = dict(word.partition("=")[::2] for word in words)
    days = {name: _whole(given.pop(name)) for name in ("cashable_days", "restricted_days") if name in given}
    texts = [{"code": n, "text": given.pop(name)} for n, name in enumerate(_TEXTS) if name in given]
    if given:
        raise VerbError(f"config: no setting is called {next(iter(given))!r}")
    request: Values = {"mask": 0, "states": 0, "cashable_days": 0, "restricted_days": 0}
    said: Values = {"status": host.answer_to(0x7B, request | days).values}
    if texts:
        said["texts"] = host.answer_to(0x7C, {"elements": texts}).values
    return said


_TEXTS: Final = ("location", "address1", "address2")


def tickets(host: Host, _words: Sequence[str]) -> Values:
    """List the tickets this host knows."""
    return {
        ticket.number: f"{money(ticket.amount_cents)} {ticket.kind} {ticket.state}"
        for ticket in host.store.tickets()
    }


VERBS: Final[Mapping[str, Callable[[Host, Sequence[str]], Values]]] = {
    verb.__name__: verb
    for verb in (meters, identity, send, aft, register, reset, enable, disable, clock, config, tickets)
}
"""Verb -> what it does. The first line of its docstring is its help."""


def obey(host: Host, words: Sequence[str]) -> Values:
    """Do what the words say. Raises VerbError, or what the host raises."""
    if not words or words[0] not in VERBS:
        raise VerbError(f"{' '.join(words)!r}: the verbs are {', '.join(VERBS)}")
    try:
        return VERBS[words[0]](host, words[1:])
    except PeerError as error:
        raise VerbError(f"{words[0]}: {error}") from error


def refresh(host: Host) -> None:
    """Read the meters of the live picture, once the machine is known."""
    if host.known.serial:
        rows = [{"code": code} for code in METERS]
        host.ask(0x6F, {"game": 0, "codes": rows}, lambda answer: _shown(host, answer))


def _shown(host: Host, answer: Answer) -> None:
    if answer.outcome is Outcome.DATA:
        host.known.meters = {str(row["code"]): row["value"] for row in answer.values["meters"]}


def _whole(word: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise VerbError(f"{word!r} is not a whole number") from None
