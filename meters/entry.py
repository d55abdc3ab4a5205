"""A stored entry: a transaction with its place in the hash chain, as canonical JSON bytes.

The body holds the SHA-256 of the body before it, so the hash of the last entry vouches for all of them.
Canonical JSON here is: UTF-8, keys sorted, no spaces, no floats, empty members left out.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final, NamedTuple

from meters.errors import InvalidTransaction, JournalDamaged
from meters.transaction import (
    AMOUNT_MAX,
    ID_LENGTH_MAX,
    JSON,
    Mark,
    Phase,
    Transaction,
    Transfer,
    are_names,
    is_kind,
)

BODY_BYTES_MAX: Final = 64 << 20
"""Bytes of the longest entry; real ones are a few thousand."""

_HASH_DIGITS: Final = 64
_PLAIN_DEPTH: Final = 200
"""With no more brackets than this, nothing is nested too deep for any reader."""
_PLAIN_TRANSFER: Final = 3
"""Source, target and amount: a transfer with no dimensions of its own."""
_FIELDS: Final = frozenset(
    {
        *("sequence", "time", "previous", "id", "kind", "transfers", "phase", "ref"),
        *("dims", "counts", "marks", "state", "record"),
    }
)
_SELDOM: Final = frozenset({"phase", "ref", "marks"})
_NOTHING: Final[dict[str, object]] = {}
_put: Final = object.__setattr__
GENESIS_HASH: Final = "0" * _HASH_DIGITS
"""What the first entry names as the hash before it."""


class StoredEntry(NamedTuple):
    """One entry of the journal: ``transaction`` at ``sequence`` (from 1), with its bytes and their hash."""

    sequence: int
    time_utc: datetime
    previous_hex: str
    hash_hex: str
    transaction: Transaction
    body: bytes

    @property
    def id(self) -> str:
        """The caller's id."""
        return self.transaction.id

    @property
    def kind(self) -> str:
        """The kind of fact."""
        return self.transaction.kind

    @property
    def transfers(self) -> tuple[Transfer, ...]:
        """Value moved or set aside."""
        return self.transaction.transfers

    @property
    def phase(self) -> Phase:
        """How the value moves."""
        return self.transaction.phase

    @property
    def ref(self) -> str | None:
        """The entry this one settles, voids or belongs to."""
        return self.transaction.ref

    @property
    def counts(self) -> Mapping[str, int]:
        """Occurrence meters added to."""
        return self.transaction.counts

    @property
    def state(self) -> Mapping[str, JSON]:
        """Machine state keys set."""
        return self.transaction.state

    @property
    def record(self) -> JSON:
        """The whole story."""
        return self.transaction.record


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} {value!r} is not JSON")


_encoder = json.JSONEncoder(
    sort_keys=True,
    separators=(",", ":"),
    ensure_ascii=False,
    allow_nan=False,
    check_circular=False,
    default=_plain,
)


_LONG: Final = re.compile(r'(?:"(\w{1,40})"\s*:\s*)?-?(?<![0-9])[0-9]{4301}')


def _no_float(text: str) -> int:
    raise ValueError(f"the float {text[:40]}")


_decoder = json.JSONDecoder(parse_float=_no_float, parse_constant=_no_float)


def canonical(value: object) -> bytes:
    """Return the canonical JSON bytes of ``value``; raise :class:`InvalidTransaction` if it has none."""
    try:
        return _encoder.encode(value).encode()
    except (TypeError, ValueError, RecursionError) as why:
        raise InvalidTransaction(f"not recordable as JSON: {why}") from why


def parse(data: bytes) -> Any:
    """Read JSON bytes back; floats are refused with ``ValueError``."""
    text = data.decode()
    try:
        value, end = _decoder.raw_decode(text)
    except RecursionError:
        raise ValueError("JSON nested deeper than any entry") from None
    except json.JSONDecodeError:
        raise
    except ValueError:  # the interpreter reads no number of so many digits, and says how to make it
        long = _LONG.search(text)
        if long is None:
            raise
        raise ValueError(f"{long[1] or 'a value'} is a number of more than 64 bits") from None
    if end != len(text) and text[end:].strip():
        raise ValueError(f"more after the JSON value, from character {end} on")
    return value


def encode(transaction: Transaction, sequence: int, time_utc: datetime, previous_hex: str) -> StoredEntry:
    """Give ``transaction`` its place in the chain.

    The returned entry holds the transaction *as read back from its bytes*, so what the ledger applies now is
    exactly what a replay will apply. Raises :class:`InvalidTransaction` for anything JSON cannot carry whole.
    """
    body = canonical(
        content_of(transaction)
        | {
            "sequence": sequence,
            "time": time_utc.astimezone(UTC).isoformat(timespec="microseconds"),
            "previous": previous_hex,
        }
    )
    if len(body) > BODY_BYTES_MAX:
        raise InvalidTransaction(
            f"{transaction.id}: {len(body)} bytes, an entry has at most {BODY_BYTES_MAX}"
        )
    try:
        return decode(body)
    except ValueError as why:
        raise InvalidTransaction(f"{transaction.id}: {why} cannot be recorded") from why


def content_of(transaction: Transaction) -> dict[str, object]:
    """What the caller said, without what the journal adds; empty members left out."""
    content: dict[str, object] = {"id": transaction.id, "kind": transaction.kind}
    if transaction.transfers:
        content["transfers"] = [
            [t.source, t.target, t.amount_cents, t.dims] if t.dims else [t.source, t.target, t.amount_cents]
            for t in transaction.transfers
        ]
    if transaction.phase is not Phase.POST:
        content["phase"] = transaction.phase
    for name in ("ref", "dims", "counts", "marks", "state", "record"):
        value = getattr(transaction, name)
        if value not in (None, (), {}):
            content[name] = value
    return content


def same_content(stored: StoredEntry, transaction: Transaction) -> bool:
    """Whether ``transaction`` says exactly what ``stored`` recorded."""
    # Through JSON once, as what is stored went: keys that are not text have become text.
    given = parse(canonical(content_of(transaction)))
    return canonical(content_of(stored.transaction)) == canonical(given)


def decode(body: bytes) -> StoredEntry:
    """Read an entry back from its bytes; raise ``ValueError`` when they are not one.

    Every field has its type here, whoever wrote it: nothing that reads an entry need ask again.
    """
    try:
        raw = parse(body)
        if not raw.keys() <= _FIELDS:
            raise ValueError(f"not an entry (fields {sorted(raw.keys() - _FIELDS)})")
        _check_written(raw, body)
        sequence, previous = raw["sequence"], raw["previous"]
        if type(sequence) is not int or sequence < 1:
            raise ValueError(f"not an entry (sequence {sequence!r})")
        if type(previous) is not str or len(previous) != _HASH_DIGITS:
            raise ValueError(f"not an entry (previous {previous!r})")
        return StoredEntry(
            sequence=sequence,
            time_utc=_time(raw["time"]),
            previous_hex=previous,
            hash_hex=hashlib.sha256(body).hexdigest(),
            transaction=_read_back(raw, body),
            body=body,
        )
    except (KeyError, TypeError, AttributeError, RecursionError) as why:
        raise ValueError(f"not an entry ({type(why).__name__}: {why})") from why


def _each_once(members: list[tuple[str, object]]) -> dict[str, object]:
    told = dict(members)
    if len(told) != len(members):
        raise ValueError("not written as a journal writes it: a name told twice")
    return told


def _check_written(raw: object, body: bytes) -> None:
    """Whoever reads the bytes reads the same: a name told twice is two stories under one hash.

    Raises ValueError where they are not the canonical ones of what was read.
    """
    try:
        written = canonical(raw)
    except InvalidTransaction as why:
        raise ValueError(str(why)) from None
    if written == body:
        return
    if len(written) != len(body):
        raise ValueError("not written as a journal writes it: a name told twice, or in other words")
    json.loads(body, object_pairs_hook=_each_once)  # keys that were numbers stand in their order


def _read_back(raw: dict[str, object], body: bytes) -> Transaction:
    """The transaction of an entry's bytes; its story is looked through where they may hide something.

    What a parser of JSON has read is JSON: only depth, and characters that are none, are left to ask about.
    """
    # One byte is found far sooner than two, and most bodies have none.
    if body.count(b"[") + body.count(b"{") > _PLAIN_DEPTH or (b"\\" in body and b"\\u" in body):
        return transaction_of(raw)
    transaction = _at_a_glance(raw) if _SELDOM.isdisjoint(raw) else None
    if transaction is not None:
        return transaction
    record, state = raw.pop("record", None), _object(raw.pop("state", {}), "state")
    transaction = transaction_of(raw)
    if "" in state or not all(map(str.isprintable, state)):
        raise ValueError(f"not an entry (state {list(state)})")
    object.__setattr__(transaction, "record", record)
    object.__setattr__(transaction, "state", state)
    return transaction


def _at_a_glance(raw: dict[str, Any]) -> Transaction | None:
    """Nearly every entry: a plain fact whose every part is seen at once to be right. None: ask part by part.

    ``raw`` is of a parser, its story proved; what is made here, :class:`Transaction` would make of it.
    """
    tx_id, kind, transfers = raw["id"], raw["kind"], raw.get("transfers", ())
    dims, counts, state = raw.get("dims", _NOTHING), raw.get("counts", _NOTHING), raw.get("state", _NOTHING)
    if not (
        type(tx_id) is str
        and 0 < len(tx_id) <= ID_LENGTH_MAX
        and tx_id.isprintable()
        and type(kind) is str
        and is_kind(kind)
        and type(dims) is type(counts) is type(state) is dict
        and are_names(dims)
        and are_names(counts)
        and "" not in state
        and all(map(str.isprintable, state))
    ):
        return None
    for value in dims.values():
        if type(value) is int:
            if not -AMOUNT_MAX <= value <= AMOUNT_MAX:
                return None
        elif type(value) is not str or not value.isprintable():
            return None
    for times in counts.values():
        if type(times) is not int or not 0 < times <= AMOUNT_MAX:
            return None
    moved = []
    for transfer in transfers:
        if type(transfer) is not list or len(transfer) != _PLAIN_TRANSFER:
            return None
        moved.append(_plain_transfer(*transfer))
    transaction = object.__new__(Transaction)
    _put(transaction, "id", tx_id)
    _put(transaction, "kind", kind)
    _put(transaction, "transfers", tuple(moved))
    _put(transaction, "phase", Phase.POST)
    _put(transaction, "ref", None)
    _put(transaction, "dims", dims)
    _put(transaction, "counts", counts)
    _put(transaction, "marks", ())
    _put(transaction, "state", state)
    _put(transaction, "record", raw.get("record"))
    return transaction


@lru_cache(maxsize=4096, typed=True)
def _plain_transfer(source: object, target: object, amount_cents: object) -> Transfer:
    """A transfer without dimensions: a machine makes the same ones again and again."""
    return _transfer([source, target, amount_cents])


def _time(text: str) -> datetime:
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        raise ValueError(f"not an entry (time {text!r} is of no zone)")
    return time


def transaction_of(raw: Mapping[str, Any]) -> Transaction:
    """Read back what :func:`content_of` said. Raises KeyError, TypeError or ValueError where it is none."""
    ref = raw.get("ref")
    if ref is not None and type(ref) is not str:
        raise ValueError(f"not an entry (ref {ref!r})")
    return Transaction(
        id=raw["id"],
        kind=raw["kind"],
        transfers=tuple([_transfer(t) for t in raw["transfers"]]) if "transfers" in raw else (),
        phase=Phase(raw["phase"]) if "phase" in raw else Phase.POST,
        ref=ref,
        dims=raw.get("dims", {}),
        counts=_object(raw["counts"], "counts") if "counts" in raw else {},
        marks=tuple([Mark(m) for m in raw["marks"]]) if "marks" in raw else (),
        state=_object(raw["state"], "state") if "state" in raw else {},
        record=raw.get("record"),
    )


def _transfer(raw: object) -> Transfer:
    if type(raw) is not list or type(raw[0]) is not str or type(raw[1]) is not str:
        raise ValueError(f"not an entry (transfer {raw!r})")
    return Transfer(*raw)


def _object(raw: Any, name: str) -> dict[str, Any]:
    if type(raw) is not dict:
        raise ValueError(f"not an entry ({name} {raw!r})")
    return raw


def follow(body: bytes, hash_hex: str, sequence: int, previous_hex: str, where: str) -> StoredEntry:
    """Decode ``body`` and prove it is entry ``sequence`` following ``previous_hex``.

    Raises :class:`JournalDamaged` naming ``where`` when hash, sequence or chain disagree.
    """
    try:
        entry = decode(body)
    except ValueError as why:
        raise JournalDamaged(f"{where} entry {sequence}", str(why)) from why
    for name, found, expected in (
        ("hash", hash_hex, entry.hash_hex),
        ("sequence", entry.sequence, sequence),
        ("previous hash", entry.previous_hex, previous_hex),
    ):
        if found != expected:
            raise JournalDamaged(f"{where} entry {sequence}", f"{name} is {found}, expected {expected}")
    return entry
