"""The journal: the only place where money, meters and stored values are written."""

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from meters import checkpoint, stop_flag
from meters.archive import ArchiveEnd
from meters.archiving import Archivist
from meters.copies import SECOND_FOLDER, JournalCopies, JournalLocation, check_mac
from meters.disk_reserve import DiskReserve
from meters.entry import StoredEntry, encode, has_same_content
from meters.errors import (
    JournalDamaged,
    JournalError,
    JournalUnwritable,
    MediumFull,
    MediumMissing,
    SelfAuditFailed,
    TransactionIdConflict,
)
from meters.journal_creation import check_missing_journal_is_allowed, complete_first_start, load_or_create_key
from meters.ledger import Ledger
from meters.lock import FolderLock
from meters.log import AuthenticatedEntry
from meters.machine_key import MachineKey
from meters.media import SECOND_MEDIUM_NAME, MediaPairing, find_pairing, write_labels
from meters.memory_findings import MemoryFinding, MemoryFindingKind
from meters.policy import JournalPolicy
from meters.storage import DiskStorage, Storage
from meters.transaction import JSON, AppendResult, Transaction
from meters.view import JournalView, load_ledger, read_checkpoint_archive_end

#: Version of the journal's format.
JOURNAL_FORMAT: Final = 1
#: Checks before play between two attempts to archive entries, after a medium has refused.
_CHECKS_BEFORE_NEXT_ARCHIVING: Final = 1000
#: Checks before play until the next comparison of the archives, after a medium has refused it or damage was found.
_CHECKS_BEFORE_NEXT_COMPARISON: Final = 10_000
#: Entries between two moves of SQLite's WAL into the database file while a medium is full, besides each checkpoint.
_ENTRIES_BETWEEN_WAL_MOVES: Final = 50


class Journal(JournalView):
    """An append-only, hash-chained journal of double-entry transactions, in two copies.

    A state folder contains the journal of one machine, used by one thread. :meth:`append` returns once the
    entry is durable in both copies, or in the first while the second medium is missing. If it raises an error,
    either nothing was written because the transaction was refused, or a medium failed
    (:class:`JournalUnwritable`). In that case reopen the journal and append the same transaction again: the
    result says whether it had been stored.
    """

    def __init__(
        self,
        location: JournalLocation,
        key: MachineKey,
        pairing: MediaPairing,
        locks: list[FolderLock],
        now: Callable[[], datetime],
        policy: JournalPolicy,
    ) -> None:
        self._location = location
        self._key = key
        self._locks = locks
        self._now = now
        self._policy = policy
        self._failure: JournalError | None = None
        """The error after which the journal refuses to append and to check, or None."""
        self._second_medium_error = pairing.second_medium_error
        """Why the second medium cannot be used, or "" if it is in use."""
        self._disk_reserve = DiskReserve(location.storage, location.medium_folders, policy.reserve_size_bytes)
        """The reserve files on the media, deleted when a medium is full."""
        self._full_medium_error = ""
        """Which medium is full and why, or ""."""
        self._copies = JournalCopies(
            location,
            key,
            journal_exists=pairing.journal_exists,
            must_refill_second=pairing.must_refill_second,
        )
        self._copies.findings[:0] = [*pairing.findings, *key.findings]
        if location.is_second_medium_missing:
            self._copies.findings.append(
                MemoryFinding(
                    MemoryFindingKind.MEDIUM_MISSING, SECOND_MEDIUM_NAME, pairing.second_medium_error
                )
            )
        self._segment_in_progress: Generator[None, None, Transaction] | None = None
        """The generator that writes an archive segment step by step, or None if none is being written."""
        self._comparison_in_progress: Generator[None, None, list[Path]] | None = None
        """The generator that compares the archives of both media step by step, or None if no comparison is running."""
        self._archive_checks_to_skip = 0
        """The number of further :meth:`check` calls that do no archiving.

        It is set after a medium refused archiving or the archive was damaged.
        """
        self._comparison_checks_to_skip = 0
        """The number of further :meth:`check` calls that do not compare the archives.

        It is set after a medium refused the comparison or damage was found.
        """
        super().__init__(
            self._copies.database,
            Ledger(),
            key.public_key,
            key,
            storage=location.storage,
            archives=location.archive_folders,
        )

    @classmethod
    def open(
        cls,
        state_folder: Path,
        *,
        now: Callable[[], datetime],
        second_folder: Path | None = None,
        machine_id: str = "",
        policy: JournalPolicy | None = None,
        storage: Storage | None = None,
        memory_clear_record: JSON = None,
        allow_missing_second: bool = False,
        check_new_journal_allowed: Callable[[], None] = lambda: None,
    ) -> "Journal":
        """Open the journal in ``state_folder``, creating it at the first start, and rebuild balances, meters and state.

        If one copy is damaged, it is repaired from the other and an event is recorded.

        Args:
            state_folder: The folder of the first copy.
            now: Returns the time, with time zone.
            second_folder: The folder of the second copy, on the second medium.
            machine_id: Is written into a new journal; a journal of a different machine is refused (A-23).
            policy: The journal settings.
            storage: The access to files; None: the disk.
            memory_clear_record: What the first entry of a new journal records about a memory clear, or None.
            allow_missing_second: If the second medium is missing, continue on the first;
                :attr:`second_medium_error` has the reason.
            check_new_journal_allowed: Is called before a new journal is started without a clear; raises an error
                if none may be started.

        Raises :class:`JournalLocked`, :class:`MediumMissing` unless ``allow_missing_second``,
        :class:`JournalUnwritable`, :class:`JournalDamaged` or :class:`SelfAuditFailed`.
        """
        storage = storage or DiskStorage()
        second_copy_folder = second_folder or state_folder / SECOND_FOLDER
        pairing = find_pairing(storage, state_folder, second_copy_folder, machine_id)
        if memory_clear_record is not None:
            pairing = MediaPairing(second_medium_error=pairing.second_medium_error)
        opening = _OpeningArguments(
            storage,
            state_folder,
            second_copy_folder,
            machine_id,
            now,
            policy or JournalPolicy(),
            memory_clear_record,
            check_new_journal_allowed,
        )
        if not pairing.second_medium_error:
            try:
                return cls._open_releasing_reserve_if_full(opening, pairing)
            except JournalUnwritable as error:
                if not allow_missing_second or isinstance(error, MediumFull):
                    raise
                # Either medium may have failed; opening the first alone shows whether it was the second.
                pairing = replace(pairing, second_medium_error=str(error))
        elif not allow_missing_second:
            raise MediumMissing(pairing.second_medium_error)
        if not pairing.journal_exists:
            raise JournalUnwritable(f"a new journal needs both media: {pairing.second_medium_error}")
        return cls._open_releasing_reserve_if_full(opening, pairing)

    @classmethod
    def _open_releasing_reserve_if_full(
        cls, opening: "_OpeningArguments", pairing: MediaPairing
    ) -> "Journal":
        """Open the journal.

        If a medium is full, delete the reserve files and try once more.
        """
        try:
            return cls._open_once(opening, pairing)
        except MediumFull:
            medium_folders = (
                (opening.state_folder,)
                if pairing.second_medium_error
                else (opening.state_folder, opening.second_folder)
            )
            if not DiskReserve(opening.storage, medium_folders, opening.policy.reserve_size_bytes).release():
                raise
            return cls._open_once(opening, pairing)

    @classmethod
    def _open_once(cls, opening: "_OpeningArguments", pairing: MediaPairing) -> "Journal":
        """Lock both media, check that the journal may be opened, open its copies and load the ledger."""
        location = JournalLocation(
            opening.storage,
            opening.state_folder,
            opening.second_folder,
            opening.policy.segment_size_bytes,
            bool(pairing.second_medium_error),
        )
        locks: list[FolderLock] = []
        journal = None
        try:
            locks.extend(FolderLock(folder) for folder in dict.fromkeys(location.medium_folders))
            if opening.memory_clear_record is None:
                stop_flag.check_stop_flag(location.storage, location.medium_folders)
            if pairing.label_for_blank_first_medium is not None:
                pairing.label_for_blank_first_medium.write(location.storage, location.state_folder)
            if (
                opening.memory_clear_record is None
                and not pairing.journal_exists
                and not location.has_journal
            ):
                check_missing_journal_is_allowed(location)
                opening.check_new_journal_allowed()
            journal = cls(location, load_or_create_key(location), pairing, locks, opening.now, opening.policy)
            if (
                opening.memory_clear_record is None
                and not pairing.journal_exists
                and journal._database.read_head()[0] == 0
            ):
                opening.check_new_journal_allowed()
            journal._rebuild_or_begin_journal(opening.machine_id, opening.memory_clear_record)
            write_labels(location.storage, location.medium_folders, journal._key, opening.machine_id)
            complete_first_start(location)
            journal.refresh_full_medium_error()
        except BaseException:
            if journal is not None:
                journal._copies.close()
            for lock in locks:
                lock.release()
            raise
        return journal

    @property
    def medium_folders(self) -> tuple[Path, ...]:
        """Return the folder of the first medium and, unless the second medium is missing now, that of the second.

        Small values are mirrored in these folders (:mod:`meters.mirror`).
        """
        return self._location.medium_folders

    @property
    def second_medium_error(self) -> str:
        """Return why the second medium is not in use, or "" if it is."""
        return self._second_medium_error

    @property
    def full_medium_error(self) -> str:
        """Return which medium was full at the last check or failed write and why, or "" if none was."""
        return self._full_medium_error

    def refresh_full_medium_error(self) -> str:
        """Check that each medium has free space and its reserve file; return which medium is full and why, or "".

        If a medium is full, delete the reserve files and record this. The result is also stored in
        :attr:`full_medium_error`. While a medium is full no new game may start, but what is owed can still be recorded.
        """
        if self._failure is None:
            full_before = self._full_medium_error
            self._full_medium_error = self._disk_reserve.maintain_reserves_and_find_full_medium_error()
            if self._full_medium_error and not full_before:
                self._record_findings(
                    (MemoryFinding(MemoryFindingKind.FULL, "reserve", self._full_medium_error),)
                )
        return self._full_medium_error

    def derive_key(self, purpose: bytes) -> bytes:
        """Return this machine's 32-byte secret key for ``purpose``, such as ``b"tickets"``."""
        return self._key.derive_key(purpose)

    def _rebuild_or_begin_journal(self, machine_id: str, memory_clear_record: JSON) -> None:
        """Rebuild the state of an existing journal or begin a new one, and record every repair."""
        if self._copies.database.read_head()[0] == 0:
            record: dict[str, JSON] = {"format": JOURNAL_FORMAT, "machine_id": machine_id}
            record["public_key"] = self.public_key.hex()
            if memory_clear_record is not None:
                record["cleared"] = memory_clear_record
            self._write(
                Transaction(id=f"genesis:{self.fingerprint}", kind=checkpoint.GENESIS_KIND, record=record)
            )
        else:
            self._rebuild_ledger(machine_id)
            self._record_clock_set_back()
        self._record_findings(self._copies.findings)

    def _record_findings(self, findings: Iterable[MemoryFinding]) -> None:
        """Append one entry for each finding about the media and copies: what was damaged, lost, full or repaired."""
        for number, finding in enumerate(findings):
            self._write(
                Transaction(
                    id=f"{finding.kind}:{self.sequence + 1}:{number}",
                    kind="event",
                    counts={finding.kind: 1},
                    state=finding.state_until_fault_raised,
                    record={"code": finding.kind, "where": finding.location, "why": finding.reason},
                )
            )

    def _record_clock_set_back(self) -> None:
        """If the machine's clock was set back since the last entry, record it.

        Entries are ordered by their sequence, never by their time.
        """
        last_time_utc = next(
            self._copies.database.iter_entries_between((), 0, None, 1, newest_first=True)
        ).time_utc
        now = self._now()
        if now < last_time_utc:
            self._write(
                Transaction(
                    id=f"clock.changed:{self.sequence + 1}",
                    kind="clock.changed",
                    record={"last_entry": last_time_utc.isoformat(), "now": now.isoformat()},
                )
            )

    def _rebuild_ledger(self, machine_id: str) -> None:
        """Rebuild the ledger from the journal's entries, run the self-audit, and repair the archive's index of ids.

        Raises :class:`JournalDamaged`, also if the journal belongs to a machine other than ``machine_id``, or if the
        archive has later entries than both copies.
        """
        ledger, public_key = load_ledger(self._copies.database, self._key)
        if public_key != self.public_key:
            raise JournalDamaged(
                str(self._location.state_folder), "the machine key is not the one this journal names"
            )
        self._ledger = ledger
        genesis = self.genesis.record
        recorded_machine_id = genesis.get("machine_id") if isinstance(genesis, Mapping) else None
        if machine_id and recorded_machine_id and recorded_machine_id != machine_id:
            raise JournalDamaged(
                str(self._location.state_folder),
                f"the journal belongs to machine {recorded_machine_id}, not {machine_id}",
            )
        ledger.run_full_audit()
        if newest_archived_sequence := self._archive.find_newer_archived_sequence(
            self.sequence, self.genesis
        ):
            raise JournalDamaged(
                str(self._location.state_folder),
                f"both copies end at entry {self.sequence}, but the archive has entries up to"
                f" {newest_archived_sequence}",
            )
        try:
            written_files = self._create_archivist().repair_index(self._load_identifier_index())
        except JournalUnwritable as error:
            written_files = []
            self._copies.findings.append(
                MemoryFinding(MemoryFindingKind.ARCHIVE_DELAYED, "the archive", str(error))
            )
        self._copies.findings += [
            MemoryFinding(
                MemoryFindingKind.REPAIRED, str(path), "the index of identifiers was missing or damaged"
            )
            for path in written_files
        ]
        newest_checkpoint = next(
            self._database.iter_entries_between((checkpoint.CHECKPOINT_KIND,), 0, None, 1, newest_first=True),
            None,
        )
        self._allow_removal_of_archived(
            None if newest_checkpoint is None else read_checkpoint_archive_end(newest_checkpoint)
        )

    def close(self) -> None:
        """Sign a last checkpoint (unless the journal has failed), close its files and release its folders."""
        try:
            if self._failure is None:
                self.append_checkpoint()
        finally:
            self.close_without_checkpoint()

    def close_without_checkpoint(self) -> None:
        """Close the journal's files and release its folders, without a last checkpoint."""
        self._copies.close()
        for lock in self._locks:
            lock.release()

    # ------------------------------------------------------------------ writing
    def append(self, transaction: Transaction) -> AppendResult:
        """Record ``transaction`` completely or not at all; it is durable in both copies when this returns.

        If the id was recorded before with the same content, nothing is written, and the number and hash of that
        entry are returned with ``already_existed`` True. Raises :class:`TransactionIdConflict`,
        :class:`InvalidTransaction` and its subclasses, :class:`AccountOverdrawn`, :class:`UnknownReservation`,
        :class:`ExcessiveIncrement` (nothing written), :class:`SelfAuditFailed` (the machine must stop) or
        :class:`JournalUnwritable` (reopen).
        """
        if self._failure is not None:
            raise JournalUnwritable(
                f"the journal stopped and must be reopened: {self._failure}"
            ) from self._failure
        try:
            stored_entry = self._database.find_by_id(transaction.id)
        except JournalDamaged as error:
            self._repair_and_reopen(error)
            stored_entry = self._database.find_by_id(transaction.id)
        stored_entry = stored_entry or self._find_archived_entry(transaction.id)
        if stored_entry is not None:
            if not has_same_content(stored_entry, transaction):
                raise TransactionIdConflict(
                    f"id {transaction.id} was already used by entry {stored_entry.sequence}, with other content"
                )
            return AppendResult(stored_entry.sequence, stored_entry.hash_hex, already_existed=True)
        try:
            append_result = self._write(transaction)
        except MediumFull as error:
            append_result = self._write_after_releasing_reserve(transaction, error)
        try:
            if append_result.sequence % self._policy.entries_per_checkpoint == 0:
                self.append_checkpoint()
            elif self._full_medium_error and append_result.sequence % _ENTRIES_BETWEEN_WAL_MOVES == 0:
                self._copies.database.move_wal_into_file()  # so that the WAL does not need to grow
        except JournalUnwritable as error:
            # The caller's entry is durable nevertheless; the next append reports that the medium fails.
            self._failure = error
            if isinstance(error, MediumFull):
                with suppress(JournalUnwritable):
                    self._reopen_after_releasing_reserve(error)
        return append_result

    def _find_archived_entry(self, entry_id: str) -> StoredEntry | None:
        """Return the archived entry with this id, or None if the archive has none.

        Raises :class:`TransactionIdConflict` if the segment that has the entry with this id cannot be read.
        """
        try:
            return self._archive.find_by_id(entry_id, self.journal_tag, self._load_identifier_index())
        except JournalDamaged as error:
            raise TransactionIdConflict(
                f"id {entry_id} belongs to an archived entry that cannot be read: {error}"
            ) from error

    def _write_after_releasing_reserve(self, transaction: Transaction, error: MediumFull) -> AppendResult:
        """After a write failed for lack of space, delete the reserve files and write the transaction again.

        It is not written again if the first copy has stored it already. ``error`` is the failure.
        """
        self._reopen_after_releasing_reserve(error)
        stored_entry = self._database.find_by_id(transaction.id)
        if stored_entry is not None:  # the first copy had space for it
            return AppendResult(stored_entry.sequence, stored_entry.hash_hex, already_existed=False)
        return self._write(transaction)

    def _reopen_after_releasing_reserve(self, error: MediumFull) -> None:
        """Delete the reserve files on all media, because one is full, and open both copies of the journal again.

        Raises ``error`` if there is no reserve file.
        """
        if not self._disk_reserve.release():
            raise error
        self._reopen(error)
        self._full_medium_error = str(error)
        self._failure = None
        self._rebuild_or_begin_journal("", None)
        self._record_findings((MemoryFinding(MemoryFindingKind.FULL, "reserve", self._full_medium_error),))

    def _write(self, transaction: Transaction) -> AppendResult:
        """Append the transaction to both copies, then update the ledger.

        A transaction that the ledger or the policy does not allow is refused, and nothing is written. If a write or
        the self-audit fails, the journal refuses all further writes.
        """
        entry = encode(transaction, self.sequence + 1, self._now(), self.head_hash)
        effect = self._ledger.compute_effect(entry.transaction)
        self._policy.check_increments(transaction.id, effect.transfers)
        try:
            self._ledger.self_audit()
            self._copies.append(
                AuthenticatedEntry(entry, self._key.compute_mac(bytes.fromhex(entry.hash_hex)))
            )
            self._ledger.apply_effect(effect, entry)
            self._ledger.self_audit()
        except SelfAuditFailed as error:
            self._failure = error
            stop_flag.write_stop_flag(self._location.storage, self._location.medium_folders, str(error))
            raise
        except JournalError as error:
            self._failure = error
            raise
        return AppendResult(entry.sequence, entry.hash_hex, already_existed=False)

    def append_checkpoint(self) -> None:
        """Append a signed checkpoint, unless the last entry is one.

        SQLite's write-ahead log (WAL) is moved into the database file first, because the checkpoint's own
        commit restarts the WAL and invalidates its previous content.
        """
        self._copies.database.move_wal_into_file()
        if self._database.find_by_id(f"{checkpoint.CHECKPOINT_KIND}:{self.sequence}") is None:
            self._ledger.run_full_audit()
            self._write(checkpoint.build_checkpoint(self._ledger, self._key))
            # Only from this checkpoint on can a start find the end of the archive without the archived
            # entries.
            self._allow_removal_of_archived(self._read_archive_end())

    # ------------------------------------------------------------------ checking while running
    def check(self) -> None:
        """Check before play (A-03): the self-audit, the last entry of both copies, and the next part of each copy.

        Damage to one copy is repaired at once. Raises :class:`JournalDamaged` if both are damaged, and
        :class:`SelfAuditFailed` if the self-audit fails; the machine must then stop.
        """
        if self._failure is not None:
            raise JournalUnwritable(
                f"the journal stopped and must be reopened: {self._failure}"
            ) from self._failure
        self._ledger.self_audit()
        try:
            self._copies.check(self.sequence, self.head_hash)
        except JournalDamaged as error:
            self._repair_and_reopen(error)
        self._run_archiving_step()

    # ------------------------------------------------------------------ the archive
    def _create_archivist(self) -> Archivist:
        """Return the writer of archive segments for this journal."""
        return Archivist(self._location.storage, self._archive, self._database, self._key, check_mac)

    def _allow_removal_of_archived(self, archive_end: ArchiveEnd | None) -> None:
        """Allow both copies to remove the entries up to ``archive_end``, the end of the archive."""
        self._copies.allow_removal_through(0 if archive_end is None else archive_end.last_sequence)

    def _run_archiving_step(self) -> None:
        """Take one small step of archiving old entries or, if there are too few, of comparing the media's archives.

        If a medium refuses the write or is missing, archiving is only delayed: the entries stay in the copies.
        """
        if self._location.is_second_medium_missing or self._archive_checks_to_skip:
            self._archive_checks_to_skip = max(0, self._archive_checks_to_skip - 1)
            return
        try:
            if self._segment_in_progress is None:
                self._segment_in_progress = self._begin_next_segment()
            if self._segment_in_progress is not None:
                next(self._segment_in_progress)
            elif self._archive.last_sequence:
                self._run_archive_comparison_step()
        except StopIteration as result:
            self._segment_in_progress = None
            self.append(result.value)
        except (JournalUnwritable, JournalDamaged) as error:
            self._segment_in_progress = None
            self._archive_checks_to_skip = _CHECKS_BEFORE_NEXT_ARCHIVING
            self._record_archive_event(MemoryFindingKind.ARCHIVE_DELAYED, str(error))

    def _run_archive_comparison_step(self) -> None:
        """Take one small step of comparing the archives of both media; damage in one is repaired from the other."""
        if self._comparison_checks_to_skip:
            self._comparison_checks_to_skip -= 1
            return
        try:
            if self._comparison_in_progress is None:
                self._comparison_in_progress = self._create_archivist().compare_and_repair_copies_in_steps()
            next(self._comparison_in_progress)
        except StopIteration as result:
            self._comparison_in_progress = None
            if result.value:
                names = ", ".join(path.name for path in result.value)
                self._record_archive_event(
                    MemoryFindingKind.REPAIRED, f"copied from the other medium: {names}"
                )
        except (JournalUnwritable, JournalDamaged) as error:
            self._comparison_in_progress = None
            self._comparison_checks_to_skip = _CHECKS_BEFORE_NEXT_COMPARISON
            self._record_archive_event("memory.archive_damaged", str(error))

    def _begin_next_segment(self) -> Generator[None, None, Transaction] | None:
        """Return a generator that writes the next archive segment step by step.

        Return None if there are too few entries for a segment.
        """
        policy, archive_end, archivist = self._policy, self._read_archive_end(), self._create_archivist()
        last_archived_sequence = 0 if archive_end is None else archive_end.last_sequence
        if (
            self.sequence - last_archived_sequence
            < policy.entries_archived_together_min + policy.newest_entries_not_archived
        ):
            return None
        segment_last_sequence = archivist.find_next_segment_end(
            archive_end,
            policy.entries_archived_together_min,
            policy.newest_entries_not_archived,
            self.sequence,
        )
        return (
            None
            if segment_last_sequence is None
            else archivist.write_segment_in_steps(
                archive_end, segment_last_sequence, self.genesis.body.decode()
            )
        )

    def _record_archive_event(self, code: str, reason: str) -> None:
        """Append an event entry about the archive; ``code`` is the event's code, ``reason`` the explanation."""
        self.append(
            Transaction(
                id=f"{code}:{self.sequence + 1}:0",
                kind="event",
                counts={code: 1},
                record={"code": code, "where": "the archive", "why": reason},
            )
        )

    def _repair_and_reopen(self, damage: JournalDamaged) -> None:
        """After ``damage`` was found, close both copies of the journal and open them as at start-up.

        That checks everything, repairs and verifies the damaged copy, and records the repair.
        """
        acknowledged_head = (self.sequence, self.head_hash)
        self._reopen(damage)
        if self._database.read_head() != acknowledged_head:
            raise damage
        if not self._copies.findings:
            # The damaged page was about to be overwritten from SQLite's WAL, and now has been.
            self._copies.findings.append(
                MemoryFinding(MemoryFindingKind.REPAIRED, damage.location, damage.reason)
            )
        self._failure = None
        self._rebuild_or_begin_journal("", None)

    def _reopen(self, error: JournalError) -> None:
        """Close both copies and open them again, which checks them completely.

        Until that succeeds, :meth:`append` and :meth:`check` fail because of ``error``.
        """
        self._failure = error
        self._segment_in_progress = self._comparison_in_progress = None
        self._copies.close()
        self._copies = JournalCopies(self._location, self._key, journal_exists=True)
        self._database = self._copies.database


@dataclass(frozen=True, slots=True)
class _OpeningArguments:
    """The arguments of :meth:`Journal.open`, which a second attempt needs again."""

    storage: Storage
    state_folder: Path
    second_folder: Path
    machine_id: str
    now: Callable[[], datetime]
    policy: JournalPolicy
    memory_clear_record: JSON
    """What the first entry of a new journal records about a memory clear, or None."""
    check_new_journal_allowed: Callable[[], None]
    """The function called before a new journal is created; it raises if none may be created."""
