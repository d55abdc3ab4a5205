"""Input to the journal: transfers of value, counts and stored values, recorded all or nothing.

Value flows from a source account to a target account, so every transaction is double entry by construction:
nothing can be added in one place without being taken from another.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Final, TypeAlias

from meters.errors import InvalidTransaction

#: JSON values that may be recorded in the journal. Floats are refused, for money, odds and times alike.
JSON: TypeAlias = "Mapping[str, JSON] | Sequence[JSON] | str | int | bool | None"

#: The dimensions of an amount, by which meters split it: ``game``, ``paytable``, ``denomination_cents`` ...
Dimensions: TypeAlias = Mapping[str, str | int]

#: Longest id of a transaction.
TRANSACTION_ID_LENGTH_MAX: Final = 200
#: Maximum of one transfer, in minor units, and of one count: the capacity of a 15-digit meter.
AMOUNT_CENTS_MAX: Final = 10**15 - 1
#: The maximum nesting depth of a record and of an entry's state; every reader of the journal supports it.
JSON_DEPTH_MAX: Final = 50
#: Characters of a wrong value that an error shows.
_SHOWN_CHARACTERS_MAX: Final = 120
#: Cache of names that were found valid.
_VALID_NAMES_CACHE: Final[set[object]] = set()
#: The most names that the cache of valid names holds.
_CACHED_NAMES_MAX: Final = 4096
#: Form of an entry's kind.
KIND_PATTERN: Final = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)*")


@lru_cache(maxsize=1024)
def is_kind(kind: str) -> bool:
    """Return whether ``kind`` has the form of a journal entry's kind, such as ``bill.in``."""
    return KIND_PATTERN.fullmatch(kind) is not None


class Phase(StrEnum):
    """The ways in which a transaction moves value: at once, or by a reservation that is later settled or voided."""

    POST = "post"
    """Move the value immediately."""
    RESERVE = "reserve"
    """Reserve the value until a later transaction settles or voids it; it cannot be spent meanwhile."""
    SETTLE = "settle"
    """Move the value that the transaction with the id ``ref`` reserved. It can be moved only once."""
    VOID = "void"
    """Cancel the reservation made by the transaction with the id ``ref``; no value moves."""


class PeriodMark(StrEnum):
    """An event, such as a power-up, since which occurrence meters are also counted (D-14)."""

    POWER_UP = "power_up"
    """The machine was switched on."""
    DOOR_CLOSE = "door_close"
    """A door of the machine was closed."""


def _format_short_value(value: object) -> str:
    """Return ``value`` shortened for an error message; never raises."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        return f"a {type(value).__name__}"
    return text if len(text) <= _SHOWN_CHARACTERS_MAX else f"{text[:_SHOWN_CHARACTERS_MAX]}..."


def _is_name(name: object) -> bool:
    """Return whether ``name`` is non-empty printable text. Unprintable characters are refused."""
    return isinstance(name, str) and name != "" and name.isprintable()


def are_printable_names(names: Collection[object]) -> bool:
    """Return whether all ``names`` are printable texts. Valid names are cached, because they repeat."""
    if _VALID_NAMES_CACHE.issuperset(names):
        return True
    if not all(map(_is_name, names)):
        return False
    if len(_VALID_NAMES_CACHE) < _CACHED_NAMES_MAX:
        _VALID_NAMES_CACHE.update(names)
    return True


def _check_dimensions(subject: str, dims: object) -> None:
    """Raise :class:`InvalidTransaction` unless dimensions map names to names or numbers.

    ``subject`` says, in the error message, whose dimensions they are.
    """
    if not isinstance(dims, Mapping):
        raise InvalidTransaction(f"{subject}: dims {_format_short_value(dims)} must be a mapping")
    for key, value in dims.items():
        is_plain = (type(value) is int and -AMOUNT_CENTS_MAX <= value <= AMOUNT_CENTS_MAX) or (
            type(value) is str and (not value or value.isprintable())
        )
        if not _is_name(key) or not is_plain:
            raise InvalidTransaction(
                f"{subject}: dimension {_format_short_value(key)}={_format_short_value(value)} must be printable text,"
                " or a whole number of at most 15 digits, named by printable text"
            )


#: Types of containers that need no conversion.
_PLAIN_CONTAINERS: Final = frozenset({dict, list, tuple})


def _check_json(value: object, depth: int) -> None:
    """Raise ``TypeError`` or ``ValueError`` unless JSON can represent ``value`` exactly, within ``depth`` levels."""
    parts = [value]
    while parts:  # every entry is checked here, and one loop is faster than a call for each value
        members: list[object] = []
        for part in parts:
            part_class = type(part)
            if part_class is int or (part_class is str and part.isascii()) or part is None:  # type: ignore[attr-defined]
                continue
            is_plain = part_class in _PLAIN_CONTAINERS  # most containers are; the other tests are slow
            if not is_plain and isinstance(part, str | int):
                str(part).encode()
                continue
            if not depth:
                raise ValueError(f"nested deeper than {JSON_DEPTH_MAX}")
            if part_class is dict or (not is_plain and isinstance(part, Mapping)):
                _check_keys(part)  # type: ignore[arg-type]
                members += part.values()  # type: ignore[attr-defined]
            elif is_plain or isinstance(part, list | tuple):
                members += part  # type: ignore[arg-type]
            else:
                raise TypeError(f"the {part_class.__name__} {_format_short_value(part)}")
        parts, depth = members, depth - 1


def _check_keys(value: Mapping[object, object]) -> None:
    """Raise ``TypeError`` or ``ValueError`` unless a JSON object's keys are text or integers that differ as text."""
    if are_printable_names(value):
        return
    for key in value:
        if not isinstance(key, str | int):
            raise TypeError(f"the key {_format_short_value(key)}")
        str(key).encode()
    if len({str(key) for key in value}) != len(value):
        raise ValueError(f"two keys of {_format_short_value([*value])} are the same text")


@dataclass(frozen=True, slots=True)
class Transfer:
    """A transfer of value from the account ``source`` to the account ``target``."""

    source: str
    """The account that the value flows out of."""
    target: str
    """The account that the value flows into."""
    amount_cents: int
    """The amount in minor units, above zero."""
    dims: Dimensions = field(default_factory=dict)
    """The dimensions of this transfer alone: names and values, such as the game, by which meters split amounts."""

    def __post_init__(self) -> None:
        if not (_is_name(self.source) and _is_name(self.target)):
            raise InvalidTransaction(
                f"transfer {_format_short_value(self.source)} -> {_format_short_value(self.target)}:"
                " the name of an account must be printable text"
            )
        if type(self.amount_cents) is not int or not 0 < self.amount_cents <= AMOUNT_CENTS_MAX:
            raise InvalidTransaction(
                f"transfer {self.source} -> {self.target}: amount_cents is {_format_short_value(self.amount_cents)},"
                f" it must be a whole number above zero and at most {AMOUNT_CENTS_MAX}"
            )
        if self.source == self.target:
            raise InvalidTransaction(f"transfer from {self.source} to itself")
        if self.dims != {}:
            _check_dimensions(f"transfer {self.source} -> {self.target}", self.dims)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """One fact to be recorded in the journal, completely or not at all.

    The caller creates the id, which must be globally unique, and stores it before acting. If the same id is
    appended again with the same content, it is recognised and counted once. Each combination of dimensions is a
    meter cell, so use dimensions with few values: a game or a denomination, never an id. Raises
    :class:`InvalidTransaction` if malformed.
    """

    id: str
    """The unique id that the caller chose."""
    kind: str
    """The kind of the entry, such as ``bill.in``."""
    transfers: tuple[Transfer, ...] = ()
    """The flows of value to record."""
    phase: Phase = Phase.POST
    """Whether the value moves at once, or is reserved, settled or voided."""
    ref: str | None = None
    """The id of the transaction that this one settles, voids or belongs to."""
    dims: Dimensions = field(default_factory=dict)
    """The dimensions of each transfer and count, unless a transfer states its own."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """The number to add to each occurrence meter, by meter name."""
    marks: tuple[PeriodMark, ...] = ()
    """The events, such as a power-up, that occur with the transaction and since which meters are also counted."""
    state: Mapping[str, JSON] = field(default_factory=dict)
    """The stored values to set, by storage key; None removes a key."""
    record: JSON = None
    """The details for recall and audit."""

    def __post_init__(self) -> None:
        if not _is_name(self.id) or len(self.id) > TRANSACTION_ID_LENGTH_MAX:
            raise InvalidTransaction(
                f"id {_format_short_value(self.id)}: it must have 1 to {TRANSACTION_ID_LENGTH_MAX} printable characters"
            )
        if type(self.kind) is not str or not is_kind(self.kind):
            raise InvalidTransaction(
                f"{self.id}: kind {_format_short_value(self.kind)} must look like 'bill.in'"
            )
        if self.ref is not None and not _is_name(self.ref):
            raise InvalidTransaction(f"{self.id}: ref {_format_short_value(self.ref)} must be an id, or None")
        if type(self.phase) is not Phase:
            raise InvalidTransaction(
                f"{self.id}: phase {_format_short_value(self.phase)} is not one of {[*map(str, Phase)]}"
            )
        self._check_members("transfers", self.transfers, Transfer)
        self._check_members("marks", self.marks, PeriodMark)
        if self.phase is not Phase.POST:
            self._check_phase()
        self._check_details()

    def _check_details(self) -> None:
        """Raise :class:`InvalidTransaction` unless the dimensions, counts, state and record are valid."""
        if self.dims != {}:
            _check_dimensions(self.id, self.dims)
        if self.counts != {}:
            self._check_counts()
        try:
            if self.state != {}:
                self._check_state()
            if self.record is not None:
                _check_json(self.record, JSON_DEPTH_MAX)
        except (TypeError, ValueError) as error:
            raise InvalidTransaction(f"{self.id}: not recordable: {error}") from error

    def _check_state(self) -> None:
        """Raise ``TypeError`` or ``ValueError`` unless the state keys are names and JSON can represent their values."""
        if not isinstance(self.state, Mapping) or not are_printable_names(self.state):
            raise TypeError(
                f"the state {_format_short_value(self.state)}, which must be named by printable text"
            )
        _check_json(self.state, JSON_DEPTH_MAX)

    def _check_members(self, name: str, members: object, member_class: type) -> None:
        """Raise :class:`InvalidTransaction` unless the field ``name`` is a tuple of instances of ``member_class``."""
        if type(members) is not tuple or not all(type(member) is member_class for member in members):
            raise InvalidTransaction(
                f"{self.id}: {name} {_format_short_value(members)} must be a tuple of {member_class.__name__}"
            )

    def _check_counts(self) -> None:
        """Raise :class:`InvalidTransaction` unless every occurrence count has a name and is above zero."""
        if not isinstance(self.counts, Mapping):
            raise InvalidTransaction(
                f"{self.id}: counts {_format_short_value(self.counts)} must be a mapping"
            )
        for name, count in self.counts.items():
            if not _is_name(name):
                raise InvalidTransaction(
                    f"{self.id}: a count is named by printable text, not {_format_short_value(name)}"
                )
            if type(count) is not int or not 0 < count <= AMOUNT_CENTS_MAX:
                raise InvalidTransaction(
                    f"{self.id}: count {name} is {_format_short_value(count)}, it must be a whole number above zero"
                    f" and at most {AMOUNT_CENTS_MAX}"
                )

    def _check_phase(self) -> None:
        """Raise :class:`InvalidTransaction` if the phase does not allow these transfers or this ``ref``."""
        if self.phase is Phase.RESERVE:
            if not self.transfers:
                raise InvalidTransaction(f"{self.id}: a reservation must have at least one transfer")
        elif self.ref is None or self.transfers:
            raise InvalidTransaction(
                f"{self.id}: a {self.phase} must name its reservation in ref, and must have no transfers"
            )


@dataclass(frozen=True, slots=True)
class AppendResult:
    """The result of appending a transaction: its entry number and hash, and whether it was stored before."""

    sequence: int
    """The number of the entry that records the transaction."""
    hash_hex: str
    """The hash of the entry that records the transaction."""
    already_existed: bool
    """Whether the transaction was in the journal before, so that nothing was written."""
