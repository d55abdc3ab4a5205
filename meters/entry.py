"""A stored journal entry: a transaction at its place in the hash chain, as canonical JSON bytes.

The bytes (the body) of an entry contain the SHA-256 of the previous body, so the hash of the last entry covers
all entries. Canonical JSON means: UTF-8, sorted keys, no spaces, no floats, empty members omitted.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final, NamedTuple

from meters.errors import InvalidTransaction, JournalDamaged
from meters.fields import build_field_error
from meters.transaction import (
    AMOUNT_CENTS_MAX,
    JSON,
    TRANSACTION_ID_LENGTH_MAX,
    PeriodMark,
    Phase,
    Transaction,
    Transfer,
    are_printable_names,
    is_kind,
)

#: Maximum length of an accepted journal entry, in bytes; real entries have a few thousand.
BODY_BYTES_MAX: Final = 64 << 20

#: Digits of a hash.
_HASH_DIGIT_COUNT: Final = 64
#: JSON with at most this number of brackets is nested at most this deep, which every reader supports.
_SAFE_NESTING_DEPTH: Final = 200
#: The number of elements in the stored list of a transfer without dimensions: source, target and amount.
_MEMBERS_OF_TRANSFER_WITHOUT_DIMENSIONS: Final = 3
_PHASE_NAMES: Final = tuple(map(str, Phase))
_PERIOD_MARK_NAMES: Final = tuple(map(str, PeriodMark))
#: How many characters of unknown member names an error message shows.
_SHOWN_CHARACTERS_MAX: Final = 80
#: Names of all members of an entry.
_ENTRY_MEMBERS: Final = frozenset(
    {
        *("sequence", "time", "previous", "id", "kind", "transfers", "phase", "ref"),
        *("dims", "counts", "marks", "state", "record"),
    }
)
#: Members that few entries have.
_OPTIONAL_ENTRY_MEMBERS: Final = frozenset({"phase", "ref", "marks"})
#: The value of dimensions, counts or state that an entry does not have.
_EMPTY_MEMBER_VALUE: Final[dict[str, object]] = {}
#: Sets a field of a frozen dataclass.
_set_frozen_field: Final = object.__setattr__
#: The value that the first journal entry states as the hash of the previous entry.
GENESIS_HASH: Final = "0" * _HASH_DIGIT_COUNT


class StoredEntry(NamedTuple):
    """One entry of the journal: its number, the transaction that it records, its encoded bytes and their hash."""

    sequence: int
    """The number of the entry; the first is 1."""
    time_utc: datetime
    """The time when the entry was written."""
    previous_hex: str
    """The hash of the entry before this one."""
    hash_hex: str
    """The SHA-256 of the entry's bytes."""
    transaction: Transaction
    """The transaction that the entry records."""
    body: bytes
    """The bytes of the entry, as hashed and stored."""

    @property
    def id(self) -> str:
        """Return the id of the entry's transaction, which the caller chose."""
        return self.transaction.id

    @property
    def kind(self) -> str:
        """Return the kind of the entry, such as ``bill.in``."""
        return self.transaction.kind

    @property
    def transfers(self) -> tuple[Transfer, ...]:
        """Return the transfers of value that the entry records."""
        return self.transaction.transfers

    @property
    def phase(self) -> Phase:
        """Return the entry's phase: whether it moves value at once, or reserves, settles or voids a reservation."""
        return self.transaction.phase

    @property
    def ref(self) -> str | None:
        """Return the id of the transaction that this entry settles, voids or belongs to, or None."""
        return self.transaction.ref

    @property
    def counts(self) -> Mapping[str, int]:
        """Return the numbers that the entry adds to occurrence meters, by meter name."""
        return self.transaction.counts

    @property
    def state(self) -> Mapping[str, JSON]:
        """Return the values that the entry stores, by storage key; None removes a key."""
        return self.transaction.state

    @property
    def record(self) -> JSON:
        """Return the details that the entry records, for recall and audit."""
        return self.transaction.record


def _to_dict(value: object) -> object:
    """Convert a mapping to a dict for the JSON encoder. Raises ``TypeError`` for any other value."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} {value!r} is not JSON")


#: Encoder of canonical JSON.
_encoder = json.JSONEncoder(
    sort_keys=True,
    separators=(",", ":"),
    ensure_ascii=False,
    allow_nan=False,
    check_circular=False,
    default=_to_dict,
)


#: A number with more digits than Python converts by default, with the name of its member if it has one.
_LONG_NUMBER_PATTERN: Final = re.compile(r'(?:"(\w{1,40})"\s*:\s*)?-?(?<![0-9])[0-9]{4301}')


def _reject_float(text: str) -> int:
    """Raise ValueError for the number ``text``, which has a fraction or an exponent.

    A journal entry must not contain such a number.
    """
    raise ValueError(f"the number {text[:40]} is not a whole number")


#: Decoder of JSON without floats.
_decoder = json.JSONDecoder(parse_float=_reject_float, parse_constant=_reject_float)


def encode_canonical_json(value: object) -> bytes:
    """Return the canonical JSON bytes of ``value``; raise :class:`InvalidTransaction` if it cannot be encoded."""
    try:
        return _encoder.encode(value).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidTransaction(f"not recordable as JSON: {error}") from error


def parse_json(data: bytes) -> Any:
    """Return the value in JSON bytes; raise ``ValueError`` for invalid JSON and for floats."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 from byte {error.start + 1} on") from None
    try:
        value, end = _decoder.raw_decode(text)
    except RecursionError:
        raise ValueError("JSON nested deeper than any entry") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON from character {error.pos + 1} on") from None
    except ValueError:
        # The number has more digits than the interpreter reads. Its own error text gives advice that does not apply.
        long_number = _LONG_NUMBER_PATTERN.search(text)
        if long_number is None:
            raise
        raise ValueError(f"{long_number[1] or 'a value'} is a number of more than 64 bits") from None
    if end != len(text) and text[end:].strip():
        raise ValueError(f"unexpected text after the JSON value, from character {end} on")
    return value


def encode(transaction: Transaction, sequence: int, time_utc: datetime, previous_hex: str) -> StoredEntry:
    """Return the journal entry that stores ``transaction`` at its place in the hash chain.

    The returned entry contains the transaction *as read back from its bytes*, so the ledger applies exactly what a
    later replay will apply. Raises :class:`InvalidTransaction` for values that JSON cannot represent exactly.
    """
    content = build_entry_content(transaction) | {
        "sequence": sequence,
        "time": time_utc.astimezone(UTC).isoformat(timespec="microseconds"),
        "previous": previous_hex,
    }
    body = encode_canonical_json(content)
    if len(body) > BODY_BYTES_MAX:
        raise InvalidTransaction(
            f"{transaction.id}: the entry has {len(body)} bytes; at most {BODY_BYTES_MAX} can be written"
        )
    try:
        raw = parse_json(body)
        if raw != content:  # if they are equal, all names in it are text, and the bytes are canonical
            _check_canonical(raw, body)
        return _decode_content(raw, body)
    except ValueError as error:
        raise InvalidTransaction(f"{transaction.id}: cannot be recorded: {error}") from error


def build_entry_content(transaction: Transaction) -> dict[str, object]:
    """Return the members of an entry's JSON that come from its transaction; empty members are omitted."""
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


def has_same_content(stored_entry: StoredEntry, transaction: Transaction) -> bool:
    """Return whether ``stored_entry`` records a transaction with exactly the content of ``transaction``."""
    # Encode and parse it, as the stored entry was: keys that are not text have become text.
    given_content = parse_json(encode_canonical_json(build_entry_content(transaction)))
    return encode_canonical_json(build_entry_content(stored_entry.transaction)) == encode_canonical_json(
        given_content
    )


def decode(body: bytes) -> StoredEntry:
    """Return the journal entry in these bytes; raise ``ValueError`` if they are not a valid entry.

    Every field of the result has its declared type, regardless of who wrote the bytes, so readers need no
    further checks.
    """
    try:
        raw = parse_json(body)
        if type(raw) is not dict:
            raise ValueError("not an entry: it is not a JSON object")
        if not raw.keys() <= _ENTRY_MEMBERS:
            unknown_names = ", ".join(sorted(raw.keys() - _ENTRY_MEMBERS))
            raise ValueError(f"not an entry: no entry has a field {unknown_names[:_SHOWN_CHARACTERS_MAX]}")
        _check_canonical(raw, body)
    except (TypeError, RecursionError) as error:
        raise ValueError(f"not an entry: {error}") from error
    return _decode_content(raw, body)


def _decode_content(raw: dict[str, object], body: bytes) -> StoredEntry:
    """Return the journal entry of the bytes ``body``; ``raw`` is their parsed JSON.

    Raises ``ValueError`` if it is not a valid entry.
    """
    try:
        sequence, previous_hex = raw["sequence"], raw["previous"]
        if type(sequence) is not int or sequence < 1:
            raise build_field_error(raw, "sequence", "an entry number of 1 or more")
        if type(previous_hex) is not str or len(previous_hex) != _HASH_DIGIT_COUNT:
            raise build_field_error(raw, "previous", f"a hash of {_HASH_DIGIT_COUNT} digits")
        return StoredEntry(
            sequence=sequence,
            time_utc=_parse_time(raw["time"]),
            previous_hex=previous_hex,
            hash_hex=hashlib.sha256(body).hexdigest(),
            transaction=_read_back(raw, body),
            body=body,
        )
    except KeyError as error:
        raise ValueError(f"not an entry: {error.args[0]} is missing") from error
    except (TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"not an entry: {error}") from error


def _reject_duplicate_names(members: list[tuple[str, object]]) -> dict[str, object]:
    """Return a JSON object's members as a dictionary; raise ``ValueError`` for a name that occurs twice."""
    members_by_name = dict(members)
    if len(members_by_name) != len(members):
        raise ValueError("not canonical JSON as a journal writes it: a duplicate name")
    return members_by_name


def _check_canonical(raw: object, body: bytes) -> None:
    """Raise ValueError unless ``body`` is the canonical encoding of ``raw``, the JSON parsed from it.

    Only the order of keys that are integers may differ. In any other encoding, two readers could disagree, for example
    about a duplicate name, although the hash is the same.
    """
    try:
        canonical = encode_canonical_json(raw)
    except InvalidTransaction as error:
        raise ValueError(str(error)) from None
    if canonical == body:
        return
    if len(canonical) != len(body):
        raise ValueError("not canonical JSON as a journal writes it: a duplicate name, or another encoding")
    # The writer sorts keys that are integers as numbers (2 before 10) before they become text, so their order may
    # differ from that of texts. This is accepted if no name occurs twice.
    json.loads(body, object_pairs_hook=_reject_duplicate_names)


def _read_back(raw: dict[str, object], body: bytes) -> Transaction:
    """Return the transaction in an entry's bytes ``body``; ``raw`` is their parsed JSON.

    Parsed JSON can still be nested too deeply, or contain lone surrogates (from Unicode escapes). If the bytes rule
    out both, the check of each value is skipped, which is faster.
    """
    # Searching for one byte is much faster than for two, and most bodies contain no backslash.
    if body.count(b"[") + body.count(b"{") > _SAFE_NESTING_DEPTH or (b"\\" in body and b"\\u" in body):
        return decode_transaction(raw)
    transaction = _decode_transaction_fast(raw) if _OPTIONAL_ENTRY_MEMBERS.isdisjoint(raw) else None
    if transaction is not None:
        return transaction
    record, state = raw.pop("record", None), _check_object(raw.pop("state", {}), "state")
    transaction = decode_transaction(raw)
    if "" in state or not all(map(str.isprintable, state)):
        raise ValueError("state: each key must be printable text")
    _set_frozen_field(transaction, "record", record)
    _set_frozen_field(transaction, "state", state)
    return transaction


def _decode_transaction_fast(raw: dict[str, Any]) -> Transaction | None:
    """Return the transaction of an entry that posts value at once and has no ref or marks, after quick checks.

    Return None if the full checks of :class:`Transaction` are necessary; otherwise they would give the same result.
    ``raw`` is the parsed JSON; the caller has ruled out that its record is nested too deeply or has lone surrogates.
    """
    entry_id, kind, transfers = raw["id"], raw["kind"], raw.get("transfers", ())
    dims = raw.get("dims", _EMPTY_MEMBER_VALUE)
    counts = raw.get("counts", _EMPTY_MEMBER_VALUE)
    state = raw.get("state", _EMPTY_MEMBER_VALUE)
    if not (
        type(entry_id) is str
        and 0 < len(entry_id) <= TRANSACTION_ID_LENGTH_MAX
        and entry_id.isprintable()
        and type(kind) is str
        and is_kind(kind)
        and type(dims) is type(counts) is type(state) is dict
        and type(transfers) in (list, tuple)
        and are_printable_names(dims)
        and are_printable_names(counts)
        and "" not in state
        and all(map(str.isprintable, state))
    ):
        return None
    for value in dims.values():
        if type(value) is int:
            if not -AMOUNT_CENTS_MAX <= value <= AMOUNT_CENTS_MAX:
                return None
        elif type(value) is not str or not value.isprintable():
            return None
    for count in counts.values():
        if type(count) is not int or not 0 < count <= AMOUNT_CENTS_MAX:
            return None
    decoded_transfers = _decode_plain_transfers(transfers)
    if decoded_transfers is None:
        return None
    transaction = object.__new__(Transaction)
    _set_frozen_field(transaction, "id", entry_id)
    _set_frozen_field(transaction, "kind", kind)
    _set_frozen_field(transaction, "transfers", decoded_transfers)
    _set_frozen_field(transaction, "phase", Phase.POST)
    _set_frozen_field(transaction, "ref", None)
    _set_frozen_field(transaction, "dims", dims)
    _set_frozen_field(transaction, "counts", counts)
    _set_frozen_field(transaction, "marks", ())
    _set_frozen_field(transaction, "state", state)
    _set_frozen_field(transaction, "record", raw.get("record"))
    return transaction


def _decode_plain_transfers(transfers: list[Any] | tuple[Any, ...]) -> tuple[Transfer, ...] | None:
    """Return the transfers in an entry's JSON if none of them has dimensions.

    Return None if they must be checked one by one.
    """
    decoded_transfers = []
    for transfer in transfers:
        if type(transfer) is not list or len(transfer) != _MEMBERS_OF_TRANSFER_WITHOUT_DIMENSIONS:
            return None
        source, target, amount_cents = transfer
        if type(source) is not str or type(target) is not str or type(amount_cents) is not int:
            return None
        decoded_transfers.append(_create_plain_transfer(source, target, amount_cents))
    return tuple(decoded_transfers)


@lru_cache(maxsize=4096, typed=True)
def _create_plain_transfer(source: str, target: str, amount_cents: int) -> Transfer:
    """Return a transfer without dimensions; cached, because a machine records the same transfers often."""
    return Transfer(source, target, amount_cents)


def is_time(text: str) -> bool:
    """Return whether ``text`` is a time that an entry may have: ISO 8601, with its offset from UTC."""
    try:
        _parse_time(text)
    except ValueError:
        return False
    return True


def _parse_time(text: object) -> datetime:
    """Return the time in an entry's text.

    Raises ``ValueError`` unless it is an ISO 8601 time with its offset from UTC.
    """
    try:
        time = datetime.fromisoformat(text) if type(text) is str else None
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        raise build_field_error({"time": text}, "time", "a time with its offset from UTC")
    return time


def decode_transaction(raw: Mapping[str, Any]) -> Transaction:
    """Rebuild a transaction from its stored content: the inverse of :func:`build_entry_content`.

    Raises KeyError, TypeError or ValueError if it is invalid.
    """
    ref = raw.get("ref")
    if ref is not None and type(ref) is not str:
        raise build_field_error(raw, "ref", "the id of an entry")
    for name in ("transfers", "marks"):
        if name in raw and type(raw[name]) is not list:
            raise build_field_error(raw, name, "a list")
    if "phase" in raw and raw["phase"] not in _PHASE_NAMES:
        raise build_field_error(raw, "phase", f"one of {', '.join(_PHASE_NAMES)}")
    marks = raw.get("marks", ())
    if not all(mark in _PERIOD_MARK_NAMES for mark in marks):
        raise build_field_error(raw, "marks", f"a list of {' and '.join(_PERIOD_MARK_NAMES)}")
    return Transaction(
        id=raw["id"],
        kind=raw["kind"],
        transfers=tuple([_parse_transfer(t) for t in raw["transfers"]]) if "transfers" in raw else (),
        phase=Phase(raw["phase"]) if "phase" in raw else Phase.POST,
        ref=ref,
        dims=raw.get("dims", {}),
        counts=_check_object(raw["counts"], "counts") if "counts" in raw else {},
        marks=tuple([PeriodMark(mark) for mark in marks]),
        state=_check_object(raw["state"], "state") if "state" in raw else {},
        record=raw.get("record"),
    )


def _parse_transfer(raw: object) -> Transfer:
    """Return the transfer of value in an entry's parsed JSON. Raises TypeError or ValueError if it is not one."""
    if (
        type(raw) is not list
        or len(raw)
        not in (_MEMBERS_OF_TRANSFER_WITHOUT_DIMENSIONS, _MEMBERS_OF_TRANSFER_WITHOUT_DIMENSIONS + 1)
        or not all(type(name) is str for name in raw[:2])
    ):
        raise build_field_error(
            {"a transfer": raw}, "a transfer", "a list of source, target, amount and perhaps dimensions"
        )
    return Transfer(*raw)


def _check_object(raw: Any, name: str) -> dict[str, Any]:
    """Return ``raw`` if it is a JSON object. Raises an error that names the entry's field ``name`` otherwise."""
    if type(raw) is not dict:
        raise build_field_error({name: raw}, name, "a JSON object")
    return raw


def decode_next_entry(
    body: bytes, hash_hex: str, sequence: int, previous_hex: str, location: str
) -> StoredEntry:
    """Return the journal entry in ``body`` after verifying its number, its hash and the previous entry's hash.

    Raises :class:`JournalDamaged`, naming ``location``, if one of them differs from these arguments.
    """
    try:
        entry = decode(body)
    except ValueError as error:
        raise JournalDamaged(f"{location} entry {sequence}", str(error)) from error
    for name, value, expected in (
        ("hash", hash_hex, entry.hash_hex),
        ("sequence", entry.sequence, sequence),
        ("previous hash", entry.previous_hex, previous_hex),
    ):
        if value != expected:
            raise JournalDamaged(f"{location} entry {sequence}", f"{name} is {value}, expected {expected}")
    return entry
