"""A stored entry: a transaction with its place in the hash chain, as canonical JSON bytes.

The body holds the SHA-256 of the body before it, so the hash of the last entry vouches for all of them.
Canonical JSON here is: UTF-8, keys sorted, no spaces, no floats, empty members left out.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from meters.errors import InvalidTransaction, JournalDamaged
from meters.transaction import JSON, Mark, Phase, Transaction, Transfer

BODY_BYTES_MAX: Final = 64 << 20
"""Bytes of the longest entry; real ones are a few thousand."""

GENESIS_HASH: Final = "0" * 64
"""What the first entry names as the hash before it."""


@dataclass(frozen=True, slots=True)
class StoredEntry:
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


def _no_float(text: str) -> int:
    raise ValueError(f"the float {text}")


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
    value, end = _decoder.raw_decode(text)
    if text[end:].strip():
        raise ValueError(f"more after the JSON value, from character {end} on")
    return value


def encode(transaction: Transaction, sequence: int, time_utc: datetime, previous_hex: str) -> StoredEntry:
    """Give ``transaction`` its place in the chain.

    The returned entry holds the transaction *as read back from its bytes*, so what the ledger applies now is
    exactly what a replay will apply. Raises :class:`InvalidTransaction` for anything JSON cannot carry whole.
    """
    body = canonical(
        _content(transaction)
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


def _content(transaction: Transaction) -> dict[str, object]:
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
    given = parse(canonical(_content(transaction)))
    return canonical(_content(stored.transaction)) == canonical(given)


def decode(body: bytes) -> StoredEntry:
    """Read an entry back from its bytes; raise ``ValueError`` when they are not one."""
    try:
        raw = parse(body)
        return StoredEntry(
            sequence=raw["sequence"],
            time_utc=datetime.fromisoformat(raw["time"]),
            previous_hex=raw["previous"],
            hash_hex=hashlib.sha256(body).hexdigest(),
            transaction=_transaction(raw),
            body=body,
        )
    except (KeyError, TypeError, AttributeError) as why:
        raise ValueError(f"not an entry ({type(why).__name__}: {why})") from why


def _transaction(raw: Mapping[str, Any]) -> Transaction:
    return Transaction(
        id=raw["id"],
        kind=raw["kind"],
        transfers=tuple([Transfer(*t) for t in raw["transfers"]]) if "transfers" in raw else (),
        phase=Phase(raw["phase"]) if "phase" in raw else Phase.POST,
        ref=raw.get("ref"),
        dims=raw.get("dims", {}),
        counts=raw.get("counts", {}),
        marks=tuple([Mark(m) for m in raw["marks"]]) if "marks" in raw else (),
        state=raw.get("state", {}),
        record=raw.get("record"),
    )


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
