"""Declarations of journal entries: for each kind its record, transfers of value, counts and stored values.

A feature declares each of its entries once (:attr:`egm.kernel.feature.Feature.entry_declarations`).
:meth:`egm.kernel.machine.PositionMachine.post` checks an entry against its declaration and then writes it. The audit
makes the same check again from the bytes of the journal, and the entry reference is generated from the
declarations. A kind of entry that has several forms has one declaration for each.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from fnmatch import translate
from functools import cached_property
from types import ModuleType, NoneType
from typing import Any, Final, Generic, TypeAlias, TypeVar

from egm.errors import InvariantError, check_invariant
from egm.kernel.keys import StorageKey, StorageKeys
from egm.kernel.logs import Log
from egm.kernel.significance import Significance, find_significance_by_pattern
from egm.record_codec import RecordError, check_value, get_stored_key, list_conditions
from egm.record_fields import KEY_SWITCH_NAME_CONDITION
from meters import JournalView, PeriodMark, Phase, Transaction
from meters.entry import StoredEntry
from meters.transaction import JSON

RecordT = TypeVar("RecordT")


class EntryError(InvariantError):
    """Raised if an entry differs from its declaration.

    The text names the entry's kind, the part that differs and what was expected.
    """


@dataclass(frozen=True, slots=True)
class PermittedTransfer:
    """A transfer of value that a journal entry may contain: from account ``source`` to account ``target``.

    ``*`` in an account name matches any text.
    """

    source: str
    target: str


@dataclass(frozen=True, kw_only=True)
class EntryDeclaration(Generic[RecordT]):
    """Declaration of one kind of journal entry, or of one form of a kind that has several.

    ``record`` is the class of the entry's record: NoneType if it has none, or a ``Mapping`` type if a device or
    a game decides its members. ``closed_reservations`` are the reservations that the entry may settle or void,
    as declarations, or as kinds if a feature of a higher layer declares them.
    """

    kind: str
    record: type[RecordT]
    description: str = ""
    """What has happened if the journal has an entry of this kind.

    By default it is the first line of the record class's docstring.
    """
    phase: Phase = Phase.POST
    closed_reservations: tuple["AnyEntryDeclaration | str", ...] = ()
    permitted_transfers: tuple[PermittedTransfer, ...] = ()
    """The transfers between accounts that an entry of this kind may contain."""
    counts: Mapping[str, int | None] = field(default_factory=dict)
    """The occurrence meters that an entry of this kind advances, with the number added to each.

    None in place of a number means that the code writing the entry chooses the number, and may leave the meter
    out. ``*`` in a meter's name matches any text.
    """
    written_keys: tuple[StorageKey, ...] = ()
    """The storage keys, or prefixes of keys, that every entry of this kind sets or removes."""
    optional_keys: tuple[StorageKey, ...] = ()
    """The storage keys that some entries of this kind set or remove."""
    marks: tuple[PeriodMark, ...] = ()
    """The periods of occurrence meters that every entry of this kind starts anew, such as the period since power-up."""
    dimension_names: frozenset[str] = frozenset()
    """The names of the dimensions of the entry's amounts and counts, other than the position."""
    subject_field: str = ""
    """The field of the record that names what the entry is about, such as a door, a fault or a menu."""
    significance: Significance | Mapping[str, Significance] | None = None
    """For a significant event: its effect on the machine, who clears it, and its SAS code. None for other entries.

    If these depend on what the entry is about, such as the fault's code, it is a mapping from patterns of that
    subject to them; the first pattern that matches applies.
    """
    logs: tuple[Log, ...] = ()
    """The logs that show the entry, in addition to the log of all events."""
    is_omitted_from_event_log: bool = False
    """Whether the log of all events omits the entry: a step of a game, or an entry that only serves the journal."""
    is_technical: bool = False
    """Whether the sheet of an intervention (logged staff work) lists the entry even if it names no person.

    Doors and faults are examples.
    """

    def __post_init__(self) -> None:
        check_invariant(bool(self.meaning), f"the entry {self.kind} does not say what it means")
        ends_reservation = self.phase in {Phase.SETTLE, Phase.VOID}
        check_invariant(
            ends_reservation is bool(self.closed_reservations),
            f"the entry {self.kind}: `closed_reservations` belongs to entries that settle or void",
        )

    @property
    def closed_reservation_kinds(self) -> tuple[str, ...]:
        """Return the kinds of the reservations that a journal entry of this kind may settle or void."""
        return tuple(
            reservation if isinstance(reservation, str) else reservation.kind
            for reservation in self.closed_reservations
        )

    @property
    def meaning(self) -> str:
        """Return in one sentence what has happened if the journal has an entry of this kind."""
        docstring = self.record.__doc__ if self.record is not NoneType else ""
        return self.description or (docstring or "").partition("\n")[0]

    def check_transaction(self, transaction: Transaction, keys: StorageKeys) -> None:
        """Raise :class:`EntryError` if a journal transaction differs from this declaration in any part.

        ``keys`` are the machine's storage keys, which state the type of each stored value.
        """
        if transaction.kind != self.kind or transaction.phase is not self.phase:
            raise self._build_error(
                f"phase: expected {self.phase}, found {transaction.phase} of {transaction.kind}"
            )
        if transaction.marks != self.marks:
            raise self._build_error(f"marks: expected {[*self.marks]}, found {[*transaction.marks]}")
        if not transaction.dims.keys() <= self.dimension_names | {"position"}:
            raise self._build_error(
                f"dims: expected at most {sorted(self.dimension_names | {'position'})}, found {[*transaction.dims]}"
            )
        self._check_record(transaction.record)
        self._check_state(transaction.state, keys)
        self._check_counts(transaction.counts)
        for transfer in transaction.transfers:
            if not any(
                source.match(transfer.source) and target.match(transfer.target)
                for source, target in self._account_patterns
            ):
                raise self._build_error(
                    f"transfers: the entry's declaration has none from {transfer.source} to {transfer.target}"
                )

    def _build_error(self, reason: str) -> EntryError:
        """Return the error for this kind of entry with the text ``reason``, which names the part that differs."""
        return EntryError(f"{self.kind}: {reason}")

    def _check_record(self, record: JSON) -> None:
        """Raise :class:`EntryError` if a transaction's record is not of the declared class.

        The journal stores an empty record as None.
        """
        try:
            check_value(
                self.record, {} if record is None and self.record is not NoneType else record, "record"
            )
        except RecordError as error:
            raise self._build_error(str(error)) from None

    def _check_state(self, state: Mapping[str, JSON], keys: StorageKeys) -> None:
        """Raise :class:`EntryError` if a transaction writes an undeclared key or value, or omits a required key."""
        written_keys: set[StorageKey] = set()
        for name, value in state.items():
            key = keys.find_key(name)
            if key is None or key not in self._permitted_keys:
                raise self._build_error(f"state.{name}: the entry's declaration does not allow this key")
            written_keys.add(key)
            try:
                keys.check_value(key, name, value)
            except RecordError as error:
                raise self._build_error(str(error)) from None
        missing_keys = sorted({*self.written_keys} - written_keys)
        if missing_keys:
            raise self._build_error(f"state.{missing_keys[0]} is missing")

    def _check_counts(self, counts: Mapping[str, int]) -> None:
        """Raise :class:`EntryError` if a transaction's counts differ from the declaration.

        It may not advance an undeclared occurrence meter, or a declared one by a different increment, and may not
        omit a meter whose increment is declared.
        """
        for name, increment in counts.items():
            declared_increments = [
                declared_increment
                for pattern, declared_increment in self._count_patterns
                if pattern.match(name)
            ]
            if not declared_increments or declared_increments[0] not in {None, increment}:
                raise self._build_error(f"counts.{name}: the entry's declaration does not allow {increment}")
        for (pattern, declared_increment), name in zip(self._count_patterns, self.counts, strict=True):
            if declared_increment is not None and not any(map(pattern.match, counts)):
                raise self._build_error(f"counts.{name} is missing")

    def format_subject(self, entry: StoredEntry) -> str:
        """Return as text what a journal entry of this kind is about, such as the name of a door or a fault code.

        A truth value becomes ``on`` or ``off``. Return "" if the kind has no subject.
        """
        record = entry.record if isinstance(entry.record, Mapping) else {}
        value = record.get(self.subject_field)
        if isinstance(value, bool):
            return "on" if value else "off"
        return "" if value is None else str(value)

    def find_significance(self, subject: str) -> Significance | None:
        """Return the significance of an entry about ``subject``, or None if it is not a significant event."""
        significance = self.significance
        return (
            find_significance_by_pattern(significance, subject)
            if isinstance(significance, Mapping)
            else significance
        )

    @cached_property
    def key_switch_fields(self) -> tuple[str, ...]:
        """Return the stored keys of the record's fields that name a key switch."""
        record_fields = fields(self.record) if is_dataclass(self.record) else ()
        return tuple(
            get_stored_key(record_field)
            for record_field in record_fields
            if KEY_SWITCH_NAME_CONDITION in list_conditions(record_field.type)
        )

    @cached_property
    def fixed_counts(self) -> Mapping[str, int]:
        """Return the occurrence meters that every entry of this kind advances by a fixed number, each with that number.

        Meters that are declared by a pattern of names are left out.
        """
        return {
            name: increment
            for name, increment in self.counts.items()
            if increment is not None and "*" not in name
        }

    @cached_property
    def _permitted_keys(self) -> frozenset[StorageKey]:
        """Return the storage keys that an entry of this kind may set or remove."""
        return frozenset((*self.written_keys, *self.optional_keys))

    @cached_property
    def _count_patterns(self) -> list[tuple[re.Pattern[str], int | None]]:
        """Return (pattern of the meter name, number added or None if it varies) for each declared occurrence meter."""
        return [(re.compile(translate(name)), increment) for name, increment in self.counts.items()]

    @cached_property
    def _account_patterns(self) -> list[tuple[re.Pattern[str], re.Pattern[str]]]:
        """Return (pattern of the source account, pattern of the target account) for each permitted transfer."""
        return [
            (re.compile(translate(transfer.source)), re.compile(translate(transfer.target)))
            for transfer in self.permitted_transfers
        ]


#: An :class:`EntryDeclaration` with a record of any class.
AnyEntryDeclaration: TypeAlias = EntryDeclaration[Any]


def list_entries(module: ModuleType) -> tuple[AnyEntryDeclaration, ...]:
    """Return the declarations of journal entries that a module defines as constants."""
    return tuple(value for value in vars(module).values() if isinstance(value, EntryDeclaration))


class EntryDeclarations:
    """All journal entries that a machine's features declare, by kind."""

    def __init__(self, declarations: Iterable[AnyEntryDeclaration]) -> None:
        """Combine the features' declarations. Raises InvariantError if the same declaration occurs twice."""
        self._declarations_by_kind: Final[dict[str, tuple[AnyEntryDeclaration, ...]]] = {}
        for declaration in declarations:
            check_invariant(declaration not in self, f"the entry {declaration.kind} is declared twice")
            earlier_declarations = self._declarations_by_kind.get(declaration.kind, ())
            self._declarations_by_kind[declaration.kind] = (*earlier_declarations, declaration)

    def __iter__(self) -> Iterator[AnyEntryDeclaration]:
        return (
            declaration
            for declarations in self._declarations_by_kind.values()
            for declaration in declarations
        )

    def __contains__(self, searched_declaration: AnyEntryDeclaration) -> bool:
        return any(
            declaration is searched_declaration
            for declaration in self._declarations_by_kind.get(searched_declaration.kind, ())
        )

    def format_kind_and_subject(self, entry: StoredEntry) -> str:
        """Return an entry's kind and what it is about, as ``kind:subject`` (``door.opened:main``).

        If the kind has no subject, return the kind alone.
        """
        declaration = self._find_first_declaration(entry.kind)
        subject = "" if declaration is None else declaration.format_subject(entry)
        return f"{entry.kind}:{subject}" if subject else entry.kind

    def list_actors(self, entry: StoredEntry) -> tuple[str, ...]:
        """Return the persons or the key switch that caused a journal entry, by name; empty if it names none.

        Persons who acted together are in the recorded order. An entry without a list of persons may name one
        person or, failing that, the key switch that was turned (E-12).
        """
        record: Mapping[str, Any] = entry.record if isinstance(entry.record, Mapping) else {}
        if persons := record.get("persons"):
            return tuple(map(str, persons))
        if person := record.get("person"):
            return (str(person),)
        key_switches = (
            record.get(stored_key)
            for declaration in self.list_declarations(entry.kind)
            for stored_key in declaration.key_switch_fields
        )
        return tuple(str(key_switch) for key_switch in key_switches if key_switch)[:1]

    def is_on_intervention_sheet(self, entry: StoredEntry) -> bool:
        """Return whether the sheet of an intervention (logged staff work) lists an entry written during it.

        The sheet lists the entries caused by persons or key switches, and those declared as technical.
        """
        return any(declaration.is_technical for declaration in self.list_declarations(entry.kind)) or bool(
            self.list_actors(entry)
        )

    def find_significance(self, entry: StoredEntry) -> Significance | None:
        """Return the significance of a journal entry, or None if it is no significant event."""
        declaration = self._find_first_declaration(entry.kind)
        return (
            None if declaration is None else declaration.find_significance(declaration.format_subject(entry))
        )

    def iter_significant_kinds(self) -> Iterator[tuple[str, Significance]]:
        """Yield (kind of entry, its significance) for each kind of significant event.

        If the significance depends on the subject, yield ``kind:pattern`` for each pattern of the subject
        instead.
        """
        for kind in self._declarations_by_kind:
            declaration = self._find_first_declaration(kind)
            declared_significance = None if declaration is None else declaration.significance
            if isinstance(declared_significance, Mapping):
                yield from (
                    (f"{kind}:{pattern}", significance)
                    for pattern, significance in declared_significance.items()
                )
            elif declared_significance is not None:
                yield kind, declared_significance

    def belongs_to_log(self, entry_kind: str, log: Log) -> bool:
        """Return whether the log ``log`` shows entries of this kind."""
        return (
            self.belongs_to_event_log(entry_kind)
            if log is Log.EVENTS
            else any(log in declaration.logs for declaration in self.list_declarations(entry_kind))
        )

    def read_log(
        self, view: JournalView, log: Log, entry_count_max: int | None = None
    ) -> Iterator[StoredEntry]:
        """Yield the entries of a log, newest first, at most ``entry_count_max`` of them.

        Without ``entry_count_max``, yield at most the number of entries that the log shows by default.
        """
        kinds = [kind for kind in view.list_kinds() if self.belongs_to_log(kind, log)]
        if not kinds:
            return iter(())
        return view.entries(
            kinds,
            limit=log.default_entry_count if entry_count_max is None else entry_count_max,
            newest_first=True,
        )

    def belongs_to_event_log(self, entry_kind: str) -> bool:
        """Return whether the log of all events shows entries of this kind; True for a kind that no feature declares."""
        return not any(
            declaration.is_omitted_from_event_log for declaration in self.list_declarations(entry_kind)
        )

    def _find_first_declaration(self, entry_kind: str) -> AnyEntryDeclaration | None:
        """Return the first declared form of a kind of journal entry, or None if the kind is not declared."""
        return next(iter(self.list_declarations(entry_kind)), None)

    def list_declarations(self, entry_kind: str) -> tuple[AnyEntryDeclaration, ...]:
        """Return all declared forms of a kind of journal entry; empty for a kind that is not declared."""
        return self._declarations_by_kind.get(entry_kind, ())
