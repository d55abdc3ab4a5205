"""Reading of a journal whose copies are damaged: what can still be read, and what part of it is authenticated.

Nothing here guesses and nothing is changed. Each copy is first read alone up to its first damage. Then both are
read together: where one is damaged, the reading continues with the other. Entries that form one hash chain count as
one history, whichever copy each was read from. Entries in only one copy, or on which the copies disagree, are suspect
(A-06, A-28).

An entry is readable if its copy yields it, and intact if it also continues the hash chain and (with a key) has a valid
MAC. It is acknowledged if it was durable in both copies; the journal heads state the last such entry.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from meters.archive import ARCHIVE_FOLDER, find_archive_in_folder
from meters.copies import SECOND_FOLDER, JournalLocation, check_mac
from meters.database import DatabaseReader, verify_pages
from meters.entry import StoredEntry, decode, encode_canonical_json
from meters.errors import JournalDamaged
from meters.journal_head import JournalHeadFile
from meters.ledger import Ledger
from meters.log import AuthenticatedEntry
from meters.machine_key import MachineKey
from meters.reading import read_meters
from meters.storage import DiskStorage, Storage
from meters.transaction import JSON


class EntryVisitor(Protocol):
    """Interface of an object that receives the intact entries of a damaged journal, in order."""

    def visit(self, entry: StoredEntry) -> None:
        """Process the next intact entry of the journal."""
        ...


class IgnoringVisitor:
    """Visitor that ignores every entry, for a caller that needs only the totals of a damaged journal."""

    def visit(self, entry: StoredEntry) -> None:
        """Ignore the entry."""


VisitorT = TypeVar("VisitorT", bound=EntryVisitor)
#: A function that yields the readable entries of a journal copy after the entry with the given number.
EntryReader = Callable[[int], Iterable[AuthenticatedEntry]]


@dataclass(frozen=True, slots=True)
class SalvagedJournal(Generic[VisitorT]):
    """The intact part of a damaged journal, from one copy or from both.

    It ends before the first entry that none of the copies read has intact.
    """

    sequence: int
    """The number of the last intact entry."""
    head_hex: str
    """The hash of the last intact entry."""
    meter_values: dict[str, int]
    """The value of each meter as of the last intact entry, by meter name."""
    credits_cents: int
    """The player's credit as of the last intact entry."""
    damage: str
    """What is damaged after the last intact entry; empty if nothing is."""
    ledger: Ledger = field(repr=False)
    """The ledger as of the last intact entry."""
    visitor: VisitorT = field(repr=False)
    """The visitor that received every intact entry."""

    def to_json(self) -> dict[str, JSON]:
        """Return the intact part, as the JSON that the first entry of a new journal stores after a clear."""
        return {
            "sequence": self.sequence,
            "head": self.head_hex,
            "why": self.damage,
            "credits_cents": self.credits_cents,
            "meters": self.meter_values,
        }


@dataclass(frozen=True, slots=True)
class JournalInspection(Generic[VisitorT]):
    """The result of inspecting a damaged journal: readings of the first copy, of the second, and of both."""

    first_reading: SalvagedJournal[VisitorT]
    """The intact part of the first copy alone."""
    second_reading: SalvagedJournal[VisitorT]
    """The intact part of the second copy alone."""
    best_reading: SalvagedJournal[VisitorT]
    """The intact part of both copies together; if they disagree, of the longer one alone."""
    copies_agree: bool
    """Whether the copies have the same entries up to the end of the shorter one; if so, the longer one is newer.

    An empty copy agrees with any other.
    """
    acknowledged_sequence: int
    """The number of the last entry that the machine is known to have acknowledged; 0 if unknown."""

    @property
    def agreed_meters(self) -> dict[str, int]:
        """Return the value of each meter that has the same value in both copies of the journal, by meter name."""
        return {
            k: v
            for k, v in self.first_reading.meter_values.items()
            if self.second_reading.meter_values.get(k) == v
        }

    @property
    def differing_meters(self) -> dict[str, tuple[int | None, int | None]]:
        """Return (value in the first copy, value in the second copy) for each meter in which the copies differ.

        There is no value (None) if that copy lacks the meter. The keys are the meter names.
        """
        names = sorted(self.first_reading.meter_values.keys() | self.second_reading.meter_values.keys())
        value_pairs = (
            (n, self.first_reading.meter_values.get(n), self.second_reading.meter_values.get(n))
            for n in names
        )
        return {
            name: (first_value, second_value)
            for name, first_value, second_value in value_pairs
            if first_value != second_value
        }

    @property
    def is_complete(self) -> bool:
        """Return whether it is proved that no acknowledged entry of the journal is missing.

        One intact copy is enough: every acknowledged entry is in both.
        """
        return self.copies_agree and 0 < self.acknowledged_sequence <= self.best_reading.sequence

    @property
    def challenge(self) -> str:
        """Return eight hex digits computed from this inspection; a memory clear must quote them.

        This ensures that the clear is for the memory that was inspected.
        """
        return hashlib.sha256(encode_canonical_json(self.to_json())).hexdigest()[:8]

    def to_json(self) -> dict[str, JSON]:
        """Return the inspection as the JSON that the first entry of a new journal stores after a clear."""
        return {
            "first": self.first_reading.to_json(),
            "second": self.second_reading.to_json(),
            "together": {"sequence": self.best_reading.sequence, "head": self.best_reading.head_hex},
            "agree": self.copies_agree,
            "acknowledged": self.acknowledged_sequence,
        }


def inspect_journal(
    state_folder: Path,
    *,
    second_folder: Path | None = None,
    storage: Storage | None = None,
    create_visitor: Callable[[], VisitorT] = IgnoringVisitor,  # type: ignore[assignment]  # VisitorT is IgnoringVisitor where none is given
) -> JournalInspection[VisitorT]:
    """Read each copy of a journal as far as it is intact; if the copies agree, also read both together.

    Copies agree if they have the same entry at the end of the shorter one; the hash chain then proves that all entries
    before it are the same. Damage raises no error, and nothing is changed. ``create_visitor`` is called for each of
    these readings; the visitor that it returns receives the entries.
    """
    storage = storage or DiskStorage()
    second_folder = second_folder or state_folder / SECOND_FOLDER
    key = _load_key(storage, state_folder, second_folder)
    with ExitStack() as open_files:
        first_reader, damage = _open_first_copy(storage, state_folder, key, open_files)
        second_reader: EntryReader = (
            JournalLocation(storage, state_folder, second_folder).open_log_copy().iter_entries
        )
        if key is not None:
            first_reader = _prepend_archive(first_reader, storage, state_folder, key)
            second_reader = _prepend_archive(second_reader, storage, second_folder, key)
        first_reading = _replay_copies((first_reader,), create_visitor, key, damage)
        second_reading = _replay_copies((second_reader,), create_visitor, key, "")
        copies_agree = _do_copies_agree(first_reader, second_reader, first_reading, second_reading)
        best_reading = (
            _replay_copies((first_reader, second_reader), create_visitor, key, "")
            if copies_agree
            else _choose_longer(first_reading, second_reading)
        )
    return JournalInspection(
        first_reading=first_reading,
        second_reading=second_reading,
        best_reading=best_reading,
        copies_agree=copies_agree,
        acknowledged_sequence=_find_acknowledged_sequence(storage, key, state_folder, second_folder),
    )


def _open_first_copy(
    storage: Storage, state_folder: Path, key: MachineKey | None, open_files: ExitStack
) -> tuple[EntryReader, str]:
    """Return (function that reads the journal's first copy, what is wrong with the copy's file or "").

    Entries may be readable even if something is wrong.
    """
    damage = ""
    try:
        if key is not None:
            verify_pages(storage, state_folder, key)
    except Exception as error:  # noqa: BLE001 (its entries are still read, each verified by itself)
        damage = str(error)
    try:
        database = DatabaseReader.open(storage, state_folder)
    except Exception as error:  # noqa: BLE001 (the other copy must be read after any error)
        return lambda _: (), str(error)
    open_files.callback(database.close)
    return database.iter_entries, damage


def _prepend_archive(read_copy: EntryReader, storage: Storage, folder: Path, key: MachineKey) -> EntryReader:
    """Return a function that reads a medium's archive and then the copy that ``read_copy`` reads.

    Archived entries have no MACs of their own; the segment's signature authenticates them. So a MAC is computed for
    each here, which the reader of the copies then checks like any other.
    """

    def read_archive_then_copy(after_sequence: int) -> Iterator[AuthenticatedEntry]:
        """Yield the entries after ``after_sequence``: those in the archive, then those in the copy."""
        for sequence, body, hash_hex in find_archive_in_folder(
            storage, folder / ARCHIVE_FOLDER, key.public_key
        ).iter_bodies(after_sequence):
            after_sequence = sequence
            yield AuthenticatedEntry(decode(body), key.compute_mac(bytes.fromhex(hash_hex)))
        yield from read_copy(after_sequence)

    return read_archive_then_copy


def _choose_longer(
    first_reading: SalvagedJournal[VisitorT], second_reading: SalvagedJournal[VisitorT]
) -> SalvagedJournal[VisitorT]:
    """Return the reading that has more intact entries; ``first_reading`` if both have equally many."""
    return first_reading if first_reading.sequence >= second_reading.sequence else second_reading


def _replay_copies(
    copies: tuple[EntryReader, ...],
    create_visitor: Callable[[], VisitorT],
    key: MachineKey | None,
    damage: str,
) -> SalvagedJournal[VisitorT]:
    """Replay the entries of these copies of the journal; where one is damaged, continue with the other.

    ``damage`` is what is already known to be wrong with the copies, or "".
    """
    ledger, replay_visitor = Ledger(), create_visitor()
    unsuccessful_reads = 0  # consecutive reads of a copy that gave no new entry
    while unsuccessful_reads < len(copies):
        for read_copy in copies:
            sequence_before = ledger.sequence
            try:
                for entry in _iter_intact_entries(read_copy, ledger, key):
                    effect = ledger.compute_effect(entry.transaction)
                    ledger.apply_effect(effect, entry)
                    replay_visitor.visit(entry)
            except Exception as error:  # noqa: BLE001 (any error of a damaged entry ends the reading)
                damage = damage or str(error)
            unsuccessful_reads = 0 if ledger.sequence > sequence_before else unsuccessful_reads + 1
    return SalvagedJournal(
        sequence=ledger.sequence,
        head_hex=ledger.head_hex,
        meter_values=_read_meter_values(ledger),
        credits_cents=ledger.credits_cents(),
        damage=damage,
        ledger=ledger,
        visitor=replay_visitor,
    )


def _iter_intact_entries(
    read_copy: EntryReader, ledger: Ledger, key: MachineKey | None
) -> Iterator[StoredEntry]:
    """Yield the entries of a copy that follow the last one of ``ledger``, verifying the hash chain.

    With a key the MACs are verified too. Raises :class:`JournalDamaged` at the first entry that is not intact.
    """
    for item in read_copy(ledger.sequence):
        entry = item.entry
        if (entry.sequence, entry.previous_hex) != (ledger.sequence + 1, ledger.head_hex):
            raise JournalDamaged(
                f"entry {entry.sequence}", "its previous hash is not the hash of the entry before it"
            )
        if key is not None:
            check_mac(item, key)
        yield entry


def _read_meter_values(ledger: Ledger) -> dict[str, int]:
    """Return the value of every meter in a ledger; none if it has no entries."""
    return read_meters(ledger).values if ledger.sequence else {}


def _do_copies_agree(
    first_reader: EntryReader,
    second_reader: EntryReader,
    first_reading: SalvagedJournal[VisitorT],
    second_reading: SalvagedJournal[VisitorT],
) -> bool:
    """Return whether both copies have the same entry where the shorter one ends; True if one has no intact entry."""
    last_common_sequence = min(first_reading.sequence, second_reading.sequence)
    longer_reader = second_reader if first_reading.sequence == last_common_sequence else first_reader
    shorter_reading = first_reading if first_reading.sequence == last_common_sequence else second_reading
    if last_common_sequence == 0 or first_reading.head_hex == second_reading.head_hex:
        return True
    try:
        return next(iter(longer_reader(last_common_sequence - 1))).entry.hash_hex == shorter_reading.head_hex
    except Exception:  # noqa: BLE001 (this part was readable before, so the medium is failing)
        return False


def _load_key(storage: Storage, *folders: Path) -> MachineKey | None:
    """Return the machine's key, which verifies the journal's MACs; None if it cannot be read."""
    try:
        return MachineKey.load(storage, *folders)
    except Exception:  # noqa: BLE001 (without a key, only the hash chain can be verified)
        return None


def _find_acknowledged_sequence(storage: Storage, key: MachineKey | None, *folders: Path) -> int:
    """Return the number of the last acknowledged entry according to the journal heads, or 0."""
    acknowledged_sequence = 0
    if key is None:
        return acknowledged_sequence
    for folder in folders:
        with suppress(Exception):  # an unreadable medium contributes nothing
            acknowledged_sequence = max(
                acknowledged_sequence, JournalHeadFile.read(storage, folder, key).last_sequence_lower_bound
            )
    return acknowledged_sequence
