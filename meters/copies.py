"""The journal's two copies as one memory: each entry is in both; each copy is checked and can repair the other.

Order of writes for one entry: committed in SQLite (synced), written to the log and synced, then the journal heads.
The first copy is durable before the second is written, so that a person with access to the second medium cannot
read an outcome that could still be undone. Whenever the power fails:

* An acknowledged entry is intact and synced in both copies.
* The entry that was being written is intact in both copies, in one, or in none. If it is intact in one copy, it is
  written to the other too. That is safe: the entry had passed every check, and a caller that posts it again gets the
  stored entry, so nothing is counted twice. If it is in none, its caller repeats it. Nothing is guessed.
* A torn log record is detected by its CRC, a torn SQLite commit by SQLite itself.

Damage in one copy is repaired from the other, the rewritten copy is verified completely, and a finding is
recorded in the journal. The machine stops (:class:`JournalDamaged`) until an authorised clear if both copies
are damaged, if the copies disagree, if the journal ends before a journal head, or if no head is left.

If the second medium is missing (:mod:`meters.media`), the first copy continues alone; the second is brought up
to date when its medium is back.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from meters.archive import ARCHIVE_FOLDER
from meters.database import DATABASE_FILE_NAME, WritableDatabase
from meters.errors import JournalDamaged, JournalUnwritable
from meters.journal_head import JOURNAL_HEAD_FILE_NAME, JournalHead, JournalHeadFile, JournalHeadReading
from meters.log import LOG_SEGMENT_SIZE_BYTES, AuthenticatedEntry, LogCopy, LogScan
from meters.machine_key import MachineKey
from meters.memory_findings import MemoryFinding, MemoryFindingKind
from meters.storage import Storage

#: Folder of the second copy within the state folder, unless the operator names another medium.
SECOND_FOLDER: Final = "second"
#: Name of the first copy in messages.
FIRST_COPY_NAME: Final = "first copy"
#: Name of the second copy in messages.
SECOND_COPY_NAME: Final = "second copy"
#: The damaged segment of a log that must be rewritten from its beginning: the one with entry 1.
_REWRITE_WHOLE_LOG: Final = 1
#: Pages of the database that are checked at a time.
_SCRUB_PAGE_COUNT: Final = 16
#: Bytes of the log that are checked at a time.
_SCRUB_SIZE_BYTES: Final = 64 << 10


@dataclass(frozen=True, slots=True)
class JournalLocation:
    """The location of one machine's journal: two folders, on media that the operator chooses."""

    storage: Storage
    state_folder: Path
    """The folder of the first copy, on the first medium."""
    second_folder: Path
    """The folder of the second copy, on the second medium."""
    segment_size_bytes: int = LOG_SEGMENT_SIZE_BYTES
    """Size of a log segment file, in bytes."""
    is_second_medium_missing: bool = False
    """Whether the second medium is missing, so that its folder is neither read nor written."""

    @property
    def medium_folders(self) -> tuple[Path, ...]:
        """Return the folder of the first medium and, unless the second medium is missing, that of the second."""
        return (
            (self.state_folder,) if self.is_second_medium_missing else (self.state_folder, self.second_folder)
        )

    @property
    def has_journal(self) -> bool:
        """Return whether any part of a journal is in these folders."""
        files = [folder / JOURNAL_HEAD_FILE_NAME for folder in self.medium_folders] + [
            self.state_folder / DATABASE_FILE_NAME
        ]
        return any(self.storage.exists(p) for p in files) or (
            not self.is_second_medium_missing and bool(self.open_log_copy().list_segment_starts())
        )

    @property
    def archive_folders(self) -> tuple[Path, ...]:
        """Return the archive folder of each medium in use."""
        return tuple(folder / ARCHIVE_FOLDER for folder in self.medium_folders)

    def open_log_copy(self) -> LogCopy:
        """Return the journal's log (its second copy) in the second folder; it is not scanned yet."""
        return LogCopy(self.storage, self.second_folder, segment_size_bytes=self.segment_size_bytes)


class JournalCopies:
    """Both copies of the journal, proved intact and equal, and open for writing.

    While the second medium is missing, it is the first copy alone. ``findings`` lists the repairs made while opening.
    """

    def __init__(
        self,
        location: JournalLocation,
        key: MachineKey,
        *,
        journal_exists: bool = False,
        must_refill_second: bool = False,
    ) -> None:
        """Open, check and if necessary repair both copies of the journal in ``location``.

        If ``journal_exists``, a journal was started here, so no new one is created if none is found. If
        ``must_refill_second``, the second medium is new and is filled from the first. Raises
        :class:`JournalDamaged` if the copies cannot be repaired, :class:`JournalUnwritable` if a medium refuses access.
        """
        self.findings: list[MemoryFinding] = []
        self._location = location
        self._key = key
        self._journal_exists = journal_exists
        for folder in location.medium_folders:
            location.storage.make_folder(folder)
        self.log = None if location.is_second_medium_missing else location.open_log_copy()
        """The second copy, or None while the second medium is missing."""
        self._database: WritableDatabase | None = None
        self._head_files: list[JournalHeadFile] = []
        """The file of the journal head on each medium."""
        try:
            if self.log is None:
                self._open_first_copy_only()
            else:
                if must_refill_second:
                    self.log.rename_as_evidence(1)
                self._open(self.log)
            self._check_and_renew_heads()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close all files of both copies.

        SQLite would move its write-ahead log (WAL) into the database file when the last connection closes. This
        method moves it first, so that the page checksums are recorded. If a failing medium prevents that,
        the next start finds pages that differ from their checksums and repairs them from the journal's log.
        """
        if self.log is not None:
            self.log.close()
        if self._database is not None:
            with suppress(JournalUnwritable):
                self._database.move_wal_into_file()
            self._database.close()
            self._database = None
        for head_file in self._head_files:
            head_file.close()
        self._head_files.clear()

    @property
    def database(self) -> WritableDatabase:
        """Return the journal's first copy, the SQLite database. Raises :class:`JournalDamaged` if it is not open."""
        if self._database is None:
            raise JournalDamaged(str(self._location.state_folder), "the first copy is not open")
        return self._database

    # ------------------------------------------------------------------ opening
    def _open(self, log: LogCopy) -> None:
        """Open both copies of the journal.

        If one is damaged or ends earlier, repair, rebuild or complete it from the other.
        """
        location = self._location
        scan = log.scan()
        damage = self._open_database_or_return_error()
        is_database_missing = not location.storage.exists(location.state_folder / DATABASE_FILE_NAME)
        is_database_empty = is_database_missing or (not damage and self.database.read_head()[0] == 0)
        acknowledged_sequence = max(
            reading.last_sequence_lower_bound for reading in self._read_head_files().values()
        )
        if (
            not self._journal_exists
            and not scan.last_sequence
            and is_database_empty
            and not acknowledged_sequence
        ):
            self._create_empty_copies(log, scan, is_database_missing=is_database_missing)
        elif damage and scan.damage and self._remove_unacknowledged_record(log, scan):
            self.findings.append(
                MemoryFinding(
                    MemoryFindingKind.REPAIRED, SECOND_COPY_NAME, f"never acknowledged: {scan.damage}"
                )
            )
            self._rebuild_database(log, damage)
            scan = log.scan()
        elif damage and (scan.damage or not scan.last_sequence):
            raise JournalDamaged("both copies", f"{damage}; {scan.damage or 'the log is empty'}")
        elif damage:
            self._rebuild_database(log, damage)
        else:
            scan = self._check_log_beginning(log, scan)
            if scan.damage:
                scan = self._rebuild_log(log, scan)
        self._complete_shorter_copy(log, scan)

    def _remove_unacknowledged_record(self, log: LogCopy, scan: LogScan) -> bool:
        """Remove an incomplete last record from the log; return whether the log is now intact.

        The record is only removed if it was certainly never acknowledged: every journal head is intact, the damage is
        in the log's last segment, and the newest journal head does not include the record. Otherwise return False.
        """
        readings = [reading for reading in self._read_head_files().values() if reading.head is not None]
        if (
            not readings
            or not all(reading.is_intact for reading in readings)
            or scan.damaged_segment_start != log.list_segment_starts()[-1]
        ):
            return False
        head = max((reading.head for reading in readings if reading.head), key=lambda head: head.sequence)
        return log.remove_unacknowledged_record(head.sequence, head.hash_hex)

    def _open_first_copy_only(self) -> None:
        """Open the journal's first copy while the second medium is missing.

        Raises :class:`JournalDamaged` if it is damaged.
        """
        damage = self._open_database_or_return_error()
        if damage:
            raise JournalDamaged("both copies", f"{damage}; the second medium is missing")

    def _open_database_or_return_error(self) -> str:
        """Open the journal's first copy, the database.

        Return why it could not be opened, or "" if it was opened.
        """
        try:
            self._database = WritableDatabase.open_verified(
                self._location.storage, self._location.state_folder, self._key
            )
        except JournalDamaged as error:
            return str(error)
        return ""

    def _create_empty_copies(self, log: LogCopy, scan: LogScan, *, is_database_missing: bool) -> None:
        """Make both copies of the journal empty and usable, because no entry was ever acknowledged here.

        If ``is_database_missing``, there is no database file yet, and one is created. A damaged log is renamed as
        evidence.
        """
        location = self._location
        if is_database_missing:
            WritableDatabase.create_with_entries(location.storage, location.state_folder, self._key, ())
            self._database = WritableDatabase.open_verified(
                location.storage, location.state_folder, self._key
            )
        if scan.damage:
            log.rename_as_evidence(1)
            log.scan()

    def _rebuild_database(self, log: LogCopy, damage: str) -> None:
        """Build a new database (first copy) from the authentic entries of the log.

        The damaged database is renamed as evidence.
        """
        location = self._location
        WritableDatabase.rename_as_evidence(location.storage, location.state_folder)
        WritableDatabase.create_with_entries(
            location.storage,
            location.state_folder,
            self._key,
            self._iter_entries_checking_macs(log.iter_entries()),
        )
        self._database = WritableDatabase.open_verified(location.storage, location.state_folder, self._key)
        self.findings.append(MemoryFinding(MemoryFindingKind.REPAIRED, FIRST_COPY_NAME, damage))

    def _check_log_beginning(self, log: LogCopy, scan: LogScan) -> LogScan:
        """Return the log's scan, marked as damaged if the log lacks the entry with which the first copy begins.

        Archived entries are removed from the first copy (the database) before they are removed from the log. An
        intact log therefore never begins later than the first copy.
        """
        sequence_before_first, _ = self.database.read_head_before_first()
        log_sequence_before_first, _ = log.head_before_first
        if scan.damage or log_sequence_before_first <= sequence_before_first <= scan.last_sequence:
            return scan
        reason = (
            f"it has entries {log_sequence_before_first + 1} to {scan.last_sequence},"
            f" but must have all after {sequence_before_first}"
        )
        return replace(scan, damage=reason, damaged_segment_start=_REWRITE_WHOLE_LOG)

    def _rebuild_log(self, log: LogCopy, scan: LogScan) -> LogScan:
        """Rewrite the log from its damaged segment on with entries of the first copy.

        Then verify the log and return the new scan.
        """
        database_last_sequence, _ = self.database.read_head()
        sequence_before_first, hash_before_first = self.database.read_head_before_first()
        # Entries that the first copy no longer has are archived, so the log may begin where the copy does.
        damaged_segment_start = (
            scan.damaged_segment_start
            if scan.damaged_segment_start > sequence_before_first
            else _REWRITE_WHOLE_LOG
        )
        last_intact_sequence = max(scan.damaged_segment_start - 1, sequence_before_first)
        if scan.last_sequence > database_last_sequence or last_intact_sequence > database_last_sequence:
            raise JournalDamaged(
                "both copies",
                f"the first ends at entry {database_last_sequence}, and the second is damaged: {scan.damage}",
            )
        log.rename_as_evidence(damaged_segment_start)
        scan_before = log.scan()
        if not log.list_segment_starts() and sequence_before_first:
            log.begin_after(sequence_before_first, hash_before_first)
            scan_before = LogScan(sequence_before_first, hash_before_first)
        if (
            scan_before.damage
            or scan_before.last_sequence != last_intact_sequence
            or scan_before.head_hex != self.database.read_hash(last_intact_sequence)
        ):
            raise JournalDamaged(
                "both copies", f"they disagree at entry {last_intact_sequence}; {scan.damage}"
            )
        _append_all(log, self._iter_entries_checking_macs(self.database.iter_entries(last_intact_sequence)))
        scan_after = log.scan()
        if scan_after.damage or scan_after.last_sequence != database_last_sequence:
            raise JournalDamaged(
                SECOND_COPY_NAME, f"it cannot be rewritten: {scan_after.damage}; before: {scan.damage}"
            )
        self.findings.append(MemoryFinding(MemoryFindingKind.REPAIRED, SECOND_COPY_NAME, scan.damage))
        return scan_after

    def _complete_shorter_copy(self, log: LogCopy, scan: LogScan) -> None:
        """Add the missing last entries to the copy of the journal that has fewer, from the copy that has more.

        Raises :class:`JournalDamaged` if the copies differ in an entry that both have.
        """
        database_last_sequence, head_hex = self.database.read_head()
        last_common_sequence = min(database_last_sequence, scan.last_sequence)
        database_hash = (
            head_hex
            if last_common_sequence == database_last_sequence
            else self.database.read_hash(last_common_sequence)
        )
        log_hash = (
            scan.head_hex
            if last_common_sequence == scan.last_sequence
            else log.read_hash(last_common_sequence)
        )
        if database_hash != log_hash:
            raise JournalDamaged(
                "both copies",
                f"they differ at entry {last_common_sequence}: the first has the hash {database_hash},"
                f" the second {log_hash}",
            )
        missing_entry_count = max(database_last_sequence, scan.last_sequence) - last_common_sequence
        if not missing_entry_count:
            return
        if database_last_sequence < scan.last_sequence:
            self.database.append_entries(
                self._iter_entries_checking_macs(log.iter_entries(database_last_sequence))
            )
        else:
            _append_all(
                log, self._iter_entries_checking_macs(self.database.iter_entries(last_common_sequence))
            )
        copy_name = FIRST_COPY_NAME if database_last_sequence < scan.last_sequence else SECOND_COPY_NAME
        kind = MemoryFindingKind.LAST_ENTRY_COPIED if missing_entry_count == 1 else MemoryFindingKind.REPAIRED
        self.findings.append(
            MemoryFinding(
                kind,
                copy_name,
                f"{missing_entry_count} entries after {last_common_sequence} were in the other copy only",
            )
        )

    def _iter_entries_checking_macs(
        self, authenticated_entries: Iterable[AuthenticatedEntry]
    ) -> Iterable[AuthenticatedEntry]:
        """Yield the entries in order after checking the MAC of each, so that no forged entry is copied.

        Raises :class:`JournalDamaged` at the first entry without this machine's valid MAC.
        """
        for authenticated_entry in authenticated_entries:
            check_mac(authenticated_entry, self._key)
            yield authenticated_entry

    def _read_head_files(self) -> dict[Path, JournalHeadReading]:
        """Return what each medium's file of the journal head contains, by the medium's folder."""
        location = self._location
        return {
            folder: JournalHeadFile.read(location.storage, folder, self._key)
            for folder in location.medium_folders
        }

    def _check_and_renew_heads(self) -> None:
        """Check that the journal contains the entry in each journal head; then write its last entry as the new head.

        A head that is lost or torn on one medium is added to the findings. Raises :class:`JournalDamaged` if entries
        are missing or differ, or if the head is lost on every medium.
        """
        location = self._location
        sequence, head_hex = self.database.read_head()
        readings = self._read_head_files()
        heads = [reading.head for reading in readings.values() if reading.head is not None]
        if not heads and (self._journal_exists or sequence):
            raise JournalDamaged(
                " and ".join(str(folder / JOURNAL_HEAD_FILE_NAME) for folder in location.medium_folders),
                "every journal head is missing or damaged, so entries may be missing at the end undetected",
            )
        # In a damaged file, the lost slot may have been the older one: then its bound is one entry too high.
        intact_readings = [reading for reading in readings.values() if reading.is_intact]
        acknowledged_sequence = max(
            reading.last_sequence_lower_bound for reading in intact_readings or readings.values()
        )
        if acknowledged_sequence > sequence:
            raise JournalDamaged(
                "both copies",
                f"they end at entry {sequence}, but entry {acknowledged_sequence} was acknowledged:"
                " entries are missing",
            )
        sequence_before_first, _ = self.database.read_head_before_first()
        for head in heads:
            if (
                head.sequence >= sequence_before_first
                and self.database.read_hash(head.sequence) != head.hash_hex
            ):
                raise JournalDamaged(
                    "both copies", f"entry {head.sequence} differs from the acknowledged one"
                )
        for folder, reading in readings.items():
            if heads and not reading.is_intact:
                path = folder / JOURNAL_HEAD_FILE_NAME
                self.findings.append(
                    MemoryFinding(
                        MemoryFindingKind.JOURNAL_HEAD_LOST,
                        str(path),
                        "the journal head is missing or damaged",
                    )
                )
            self._head_files.append(
                JournalHeadFile(location.storage, folder, self._key, JournalHead(sequence, head_hex))
            )

    # ------------------------------------------------------------------ running
    def append(self, authenticated_entry: AuthenticatedEntry) -> None:
        """Make a journal entry durable in both copies.

        After any error the journal must be reopened. If the commit to the first copy fails, nothing is stored.
        After the commit the entry exists; if writing it to the second copy then fails, the next opening writes
        it there.
        """
        try:
            self.database.insert(authenticated_entry)
            self.database.commit()
        except BaseException:
            self.database.rollback()
            raise
        if self.log is not None:
            self.log.write(authenticated_entry)
            self.log.sync()
        head = JournalHead(authenticated_entry.entry.sequence, authenticated_entry.entry.hash_hex)
        for head_file in self._head_files:
            head_file.write(head)
        self._location.storage.sync_together([head_file.file for head_file in self._head_files])

    def allow_removal_through(self, sequence: int) -> None:
        """Allow both copies to remove the archived entries up to ``sequence``; they do so in small steps later.

        While the second medium is missing, nothing is removed.
        """
        if self.log is not None:
            self.database.allow_removal_through(sequence)

    def check(self, sequence: int, head_hex: str) -> None:
        """Check that both copies end with the entry of this number and hash, and that their next part is intact (A-03).

        It is called before play. Each call continues in the copies where the previous one ended, and after the
        end starts again at the beginning, so the whole of both copies is read repeatedly while the machine
        runs. Raises :class:`JournalDamaged`.
        """
        last_head = self.database.read_head()
        if last_head != (sequence, head_hex):
            raise JournalDamaged(
                FIRST_COPY_NAME, f"it ends at entry {last_head[0]}, but entry {sequence} was acknowledged"
            )
        self.database.scrub(_SCRUB_PAGE_COUNT)
        if self.log is not None:
            self.log.check_last(sequence, head_hex)
            self.log.check_next_part(_SCRUB_SIZE_BYTES)
            self.log.remove_oldest_segment_through(self.database.read_first_sequence() - 1)


def _append_all(log: LogCopy, authenticated_entries: Iterable[AuthenticatedEntry]) -> None:
    """Append ``authenticated_entries`` to the journal's log and make them durable."""
    for authenticated_entry in authenticated_entries:
        log.write(authenticated_entry)
    log.sync()


def check_mac(authenticated_entry: AuthenticatedEntry, key: MachineKey) -> None:
    """Raise :class:`JournalDamaged` unless the MAC of this entry was made with the machine's ``key``."""
    if not key.is_mac_valid(bytes.fromhex(authenticated_entry.entry.hash_hex), authenticated_entry.mac):
        raise JournalDamaged(
            f"entry {authenticated_entry.entry.sequence}", "its HMAC was not made with this machine's key"
        )
