"""What callers hand to the journal: transfers of value, counts, and machine state, all or nothing.

Value flows from a source account to a target account, so every transaction is double entry by
construction: nothing can be added in one place without being taken from another.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Final, TypeAlias

from meters.errors import InvalidTransaction

JSON: TypeAlias = "Mapping[str, JSON] | Sequence[JSON] | str | int | bool | None"
"""What may be recorded. No floats: a float is refused, for money, odds and times alike."""

Dims: TypeAlias = Mapping[str, str | int]
"""Dimensions of an amount: ``game``, ``paytable``, ``denomination_cents``, ``bill_cents`` ..."""

ID_LENGTH_MAX: Final = 200
KIND: Final = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)*")


@lru_cache(maxsize=1024)
def _is_kind(kind: str) -> bool:
    return KIND.fullmatch(kind) is not None


class Phase(StrEnum):
    """How a transaction moves value."""

    POST = "post"
    """At once."""
    RESERVE = "reserve"
    """Set aside until a settle or a void names this id; what is set aside cannot be spent."""
    SETTLE = "settle"
    """Move what the reservation ``ref`` set aside, once."""
    VOID = "void"
    """Give up the reservation ``ref``: nothing moves."""


class Mark(StrEnum):
    """Moments since which occurrence meters are also read (D-14)."""

    POWER_UP = "power_up"
    DOOR_CLOSE = "door_close"


@dataclass(frozen=True, slots=True)
class Transfer:
    """``amount_cents`` (> 0, minor units) from ``source`` to ``target``, broken down by ``dims``."""

    source: str
    target: str
    amount_cents: int
    dims: Dims = field(default_factory=dict)

    def __post_init__(self) -> None:
        if type(self.amount_cents) is not int or self.amount_cents <= 0:
            raise InvalidTransaction(
                f"transfer {self.source} -> {self.target}: amount_cents is {self.amount_cents!r},"
                " it must be an int above zero"
            )
        if self.source == self.target:
            raise InvalidTransaction(f"transfer from {self.source} to itself")
        for key, value in self.dims.items():
            if type(key) is not str or type(value) not in {str, int}:
                raise InvalidTransaction(
                    f"transfer {self.source} -> {self.target}: dimension {key!r}={value!r}"
                    " must be a str named by a str, or an int"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """One fact to be recorded, all or nothing.

    ``id`` is made by the caller, unique for ever, and stored by the caller before it acts: a repeat of the
    same id with the same content is recognised and counted once. ``dims`` applies to every transfer (whose
    own dims win) and every count; each combination of dimensions is a meter cell, so they take few values:
    a game, a denomination, never an id. ``counts`` adds to occurrence meters. ``state`` sets machine state
    keys (``None`` removes one). ``record`` is the whole story, for recall and audit. ``marks`` are the
    moments this transaction is. Raises :class:`InvalidTransaction` when malformed.
    """

    id: str
    kind: str
    transfers: tuple[Transfer, ...] = ()
    phase: Phase = Phase.POST
    ref: str | None = None
    dims: Dims = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    marks: tuple[Mark, ...] = ()
    state: Mapping[str, JSON] = field(default_factory=dict)
    record: JSON = None

    def __post_init__(self) -> None:
        if type(self.id) is not str or not 0 < len(self.id) <= ID_LENGTH_MAX:
            raise InvalidTransaction(f"id {self.id!r}: it must be a str of 1 to {ID_LENGTH_MAX} characters")
        if type(self.kind) is not str or not _is_kind(self.kind):
            raise InvalidTransaction(f"{self.id}: kind {self.kind!r} must look like 'bill.in'")
        if self.phase is not Phase.POST:
            self._check_phase()
        for name, times in self.counts.items():
            if type(times) is not int or times <= 0:
                raise InvalidTransaction(
                    f"{self.id}: count {name} is {times!r}, it must be an int above zero"
                )

    def _check_phase(self) -> None:
        if self.phase is Phase.RESERVE:
            if not self.transfers:
                raise InvalidTransaction(
                    f"{self.id}: a reservation sets value aside, and this one names no transfer"
                )
        elif self.ref is None or self.transfers:
            raise InvalidTransaction(
                f"{self.id}: a {self.phase} names its reservation in ref, and moves nothing else"
            )


@dataclass(frozen=True, slots=True)
class Posted:
    """The journal's answer: where the transaction stands, and whether it already stood there."""

    sequence: int
    hash_hex: str
    existed: bool
