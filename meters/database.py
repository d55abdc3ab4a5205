"""The journal's first copy: entries in SQLite (WAL, synchronous=FULL, STRICT, append-only by trigger).

Archived entries are removed in the transactions of later entries; their space in the file is reused.
"""

import heapq
import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from operator import itemgetter
from pathlib import Path
from typing import Final, Self, TypeAlias

from meters.entry import GENESIS_HASH, StoredEntry, decode, decode_next_entry
from meters.errors import JournalDamaged, JournalUnwritable, MediumFull
from meters.log import AuthenticatedEntry
from meters.machine_key import MachineKey
from meters.packing import pack_entry, unpack_entry
from meters.page_checksums import DATABASE_PAGE_SIZE_BYTES, PAGE_CHECKSUMS_SUFFIX, PageChecksums
from meters.storage import Database, DatabaseRows, MediumError, Storage

#: File name of the database.
DATABASE_FILE_NAME: Final = "journal.sqlite"
#: The format that this program writes.
DATABASE_FORMAT: Final = 2
#: The formats of the database file that can be read.
#:
#: Format 1 stored entries uncompressed; such a file is rebuilt from the log.
_READABLE_DATABASE_FORMATS: Final = (1, DATABASE_FORMAT)
#: Time to wait for another process's lock.
_BUSY_TIMEOUT_MS: Final = 2000

#: SQL statements that create the tables.
_CREATE_TABLES_SQL: Final = (
    """CREATE TABLE entries (
         sequence INTEGER PRIMARY KEY,
         id TEXT NOT NULL UNIQUE,
         kind TEXT NOT NULL,
         ref TEXT,
         hash BLOB NOT NULL,
         seal BLOB NOT NULL,
         body BLOB NOT NULL
       ) STRICT""",
    "CREATE INDEX entries_by_kind ON entries (kind, sequence)",
    "CREATE INDEX entries_by_ref ON entries (ref, sequence) WHERE ref IS NOT NULL",
    """CREATE TRIGGER entries_never_change BEFORE UPDATE ON entries
       BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END""",
    "CREATE TABLE archived (through INTEGER NOT NULL) STRICT",
    """CREATE TRIGGER entries_leave_when_archived BEFORE DELETE ON entries
       WHEN OLD.sequence > (SELECT through FROM archived)
       BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END""",
)
#: A row of the table of entries: sequence, hash, body, id, kind and ref.
_EntryRow: TypeAlias = tuple[int, bytes | str, bytes, str, str, str | None]
#: SQL statement that reads rows of the table of entries.
_SELECT_ENTRIES_SQL: Final = "SELECT sequence, hash, body, id, kind, ref FROM entries"
#: Largest batch of rows read at a time.
_ROWS_PER_READ_BATCH: Final = 1000
#: Most archived entries that are removed at a time.
_ENTRIES_REMOVED_AT_ONCE_MAX: Final = 64
#: Number of new entries between two removals of a batch of archived entries from the database.
_ENTRIES_BETWEEN_REMOVALS: Final = 16
#: SQL statement that inserts an entry.
_INSERT_ENTRY_SQL: Final = (
    "INSERT INTO entries (sequence, id, kind, ref, hash, seal, body) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
#: The highest number that an entry can have; the upper bound of a query without a limit.
_SEQUENCE_MAX: Final = 2**63 - 1
#: SQLite's error text when the medium is full.
_DISK_FULL_TEXT: Final = "is full"
#: SQLite's error texts when the file, not the medium, is at fault.
_DAMAGE_TEXTS: Final = (
    "not a database",
    "malformed",
    "no such table",
    "no such column",
    "unsupported file format",
)


class EntriesArchived(JournalDamaged):
    """Raised if the requested entries are no longer in the database, because they were moved to the archive."""


class DatabaseReader:
    """Reader of the journal's first copy, the entries in one SQLite file.

    Before an entry is returned, its hash is verified, and the columns by which it was found are compared with it.
    If a damaged column or index hides an entry, the entry is not found at all: only :meth:`PageChecksums.verify`
    detects that.
    """

    def __init__(self, database: Database, path: Path) -> None:
        """Create a reader on the open connection ``database``; ``path`` is the file that error messages name."""
        self._database = database
        self._path = path
        self._format = DATABASE_FORMAT
        """The version of the file's layout."""

    @classmethod
    def open(cls, storage: Storage, folder: Path) -> Self:
        """Open the journal's first copy in ``folder`` read-only, whether the machine is running or stopped.

        Raises :class:`JournalUnwritable` if it cannot be opened, :class:`JournalDamaged` if it is not a
        journal.
        """
        path = folder / DATABASE_FILE_NAME
        reader = cls(storage.connect(path, read_only=True), path)
        try:
            reader.read_format()
        except BaseException:
            reader.close()
            raise
        return reader

    def read_format(self) -> None:
        """Read the format of the SQLite file; raise :class:`JournalDamaged` if this program cannot read that format."""
        self.run_sql(f"PRAGMA busy_timeout={_BUSY_TIMEOUT_MS}")
        self._format = self.run_sql("PRAGMA user_version").fetchone()[0]
        if self._format not in _READABLE_DATABASE_FORMATS:
            raise JournalDamaged(
                str(self._path),
                f"is in format {self._format}; this program reads {_READABLE_DATABASE_FORMATS} "
                f"and writes {DATABASE_FORMAT}",
            )

    def run_sql(self, sql: str, parameters: Sequence[object] = ()) -> DatabaseRows:
        """Run one SQL statement and return its rows.

        Raises :class:`JournalDamaged` or :class:`JournalUnwritable` if SQLite refuses it.
        """
        try:
            return self._database.execute(sql, parameters)
        except MediumError as error:
            text = str(error)
            if any(damage_text in text for damage_text in _DAMAGE_TEXTS):
                raise JournalDamaged(str(self._path), text) from error
            error_class = MediumFull if _DISK_FULL_TEXT in text else JournalUnwritable
            raise error_class(f"{self._path}: {text}") from error

    def close(self) -> None:
        """Close the database file."""
        self._database.close()

    def read_head(self) -> tuple[int, str]:
        """Return the number and hash of the last entry in the file.

        If the file is empty, return 0 and the hash that a journal's first entry states as its predecessor's.
        """
        row = self.run_sql("SELECT sequence, hash FROM entries ORDER BY sequence DESC LIMIT 1").fetchone()
        return (0, GENESIS_HASH) if row is None else (row[0], _to_hex(row[1]))

    def read_head_before_first(self) -> tuple[int, str]:
        """Return the number and hash of the entry before the first one in the file.

        That entry and all earlier ones are archived. If the file is empty or begins with entry 1, return 0 and the
        hash that a journal's first entry states as its predecessor's.
        """
        row = self.run_sql(f"{_SELECT_ENTRIES_SQL} ORDER BY sequence LIMIT 1").fetchone()
        return (
            (0, GENESIS_HASH)
            if row is None or row[0] == 1
            else (row[0] - 1, self._decode_row(row).previous_hex)
        )

    def read_first_sequence(self) -> int:
        """Return the number of the first entry in the database (1 if it has none)."""
        return int(self.run_sql("SELECT min(sequence) FROM entries").fetchone()[0] or 1)

    def read_hash(self, sequence: int) -> str:
        """Return the hash of the entry ``sequence``, which must be in the file or come directly before its first one.

        Raises :class:`JournalDamaged` for any other entry.
        """
        if sequence == 0:
            return GENESIS_HASH
        row = self.run_sql("SELECT hash FROM entries WHERE sequence = ?", (sequence,)).fetchone()
        if row is None:
            sequence_before_first, hash_before_first = self.read_head_before_first()
            if sequence == sequence_before_first:
                return hash_before_first
            raise JournalDamaged(f"{self._path} entry {sequence}", "the entry is missing")
        return _to_hex(row[0])

    def iter_entries(self, after_sequence: int = 0) -> Iterator[AuthenticatedEntry]:
        """Yield every entry after ``after_sequence`` with its MAC, checking that each continues the hash chain."""
        head_hex = self.read_hash(after_sequence)
        sequence = after_sequence
        while True:
            rows = self.run_sql(
                "SELECT hash, seal, body, id, kind, ref FROM entries"
                " WHERE sequence > ? ORDER BY sequence LIMIT ?",
                (sequence, _ROWS_PER_READ_BATCH),
            ).fetchall()
            for digest, mac, stored_body, entry_id, kind, ref in rows:
                body = self._unpack_body(sequence + 1, stored_body)
                entry = decode_next_entry(body, _to_hex(digest), sequence + 1, head_hex, str(self._path))
                self._check_columns(entry, entry_id, kind, ref)
                sequence, head_hex = entry.sequence, entry.hash_hex
                yield AuthenticatedEntry(entry, mac)
            if len(rows) < _ROWS_PER_READ_BATCH:
                return

    def find_by_id(self, entry_id: str) -> StoredEntry | None:
        """Return the entry with this id in the database file, or None."""
        row = self.run_sql(f"{_SELECT_ENTRIES_SQL} WHERE id = ?", (entry_id,)).fetchone()
        return None if row is None else self._decode_row(row)

    def list_kinds(self) -> list[str]:
        """Return every kind of entry in the database, sorted; each takes one look-up in the index of kinds."""
        kinds: list[str] = []
        while True:
            last_kind = kinds[-1] if kinds else ""
            row = self.run_sql(
                "SELECT kind FROM entries WHERE kind > ? ORDER BY kind LIMIT 1", (last_kind,)
            ).fetchone()
            if row is None:
                return kinds
            kinds.append(row[0])

    def iter_entries_between(
        self,
        kinds: Sequence[str],
        after_sequence: int,
        before_sequence: int | None,
        limit: int | None,
        *,
        newest_first: bool,
    ) -> Iterator[StoredEntry]:
        """Yield up to ``limit`` journal entries of these kinds (all if empty) between two entry numbers, both excluded.

        Entries are read in batches of limited size in short transactions, so that writing never waits for a slow
        reader. Raises :class:`EntriesArchived` if the entries to yield next have been moved to the archive;
        this can only happen when reading oldest first.
        """
        bounds = after_sequence, _SEQUENCE_MAX if before_sequence is None else before_sequence
        sources = [self._iter_rows(kind, bounds, newest_first=newest_first) for kind in kinds or (None,)]
        rows = heapq.merge(*sources, key=itemgetter(0), reverse=newest_first)
        for row in itertools.islice(rows, limit):
            yield self._decode_row(row)

    def _iter_rows(
        self, kind: str | None, bounds: tuple[int, int], *, newest_first: bool
    ) -> Iterator[_EntryRow]:
        """Yield the table rows of entries of ``kind`` (None: all) with numbers between ``bounds``, both excluded.

        They are read in growing batches. Raises :class:`EntriesArchived` like :meth:`iter_entries_between`.
        """
        after_sequence, before_sequence = bounds
        kind_condition, parameters = ("", ()) if kind is None else ("AND kind = ?", (kind,))
        order = "DESC" if newest_first else "ASC"
        batch_row_count = 8
        while True:
            rows = self.run_sql(
                f"{_SELECT_ENTRIES_SQL} WHERE sequence > ? AND sequence < ? {kind_condition} "
                f"ORDER BY sequence {order} LIMIT ?",
                (after_sequence, before_sequence, *parameters, batch_row_count),
            ).fetchall()
            if not newest_first and self.read_first_sequence() - 1 > after_sequence:
                raise EntriesArchived(str(self._path), f"entries after {after_sequence} were archived")
            yield from rows
            if len(rows) < batch_row_count:
                return
            after_sequence, before_sequence = (
                (after_sequence, rows[-1][0]) if newest_first else (rows[-1][0], before_sequence)
            )
            batch_row_count = min(2 * batch_row_count, _ROWS_PER_READ_BATCH)

    def _unpack_body(self, sequence: int, stored_body: bytes) -> bytes:
        """Return the JSON bytes of entry ``sequence`` from its stored (compressed) form.

        Raises :class:`JournalDamaged`.
        """
        try:
            return unpack_entry(stored_body)
        except ValueError as error:
            raise JournalDamaged(f"{self._path} entry {sequence}", str(error)) from error

    def _check_columns(self, entry: StoredEntry, entry_id: str, kind: str, ref: str | None) -> None:
        """Raise :class:`JournalDamaged` unless id, kind and ref in an entry's table row equal those in the entry."""
        if (entry_id, kind, ref) == (entry.id, entry.kind, entry.ref):
            return
        value_pairs = {"id": (entry_id, entry.id), "kind": (kind, entry.kind), "ref": (ref, entry.ref)}
        for column, (column_value, entry_value) in value_pairs.items():
            if column_value != entry_value:
                raise JournalDamaged(
                    f"{self._path} entry {entry.sequence}",
                    f"the column {column!r} is {column_value!r}; expected {entry_value!r}, as in the entry",
                )

    def _decode_row(self, row: _EntryRow) -> StoredEntry:
        """Return the journal entry in a table row after verifying its hash and its columns.

        Raises :class:`JournalDamaged`.
        """
        sequence, digest, stored_body, entry_id, kind, ref = row
        body = self._unpack_body(sequence, stored_body)
        try:
            entry = decode(body)
        except ValueError as error:
            raise JournalDamaged(f"{self._path} entry {sequence}", str(error)) from error
        if entry.hash_hex != _to_hex(digest) or entry.sequence != sequence:
            raise JournalDamaged(f"{self._path} entry {sequence}", "the entry is not what was written")
        self._check_columns(entry, entry_id, kind, ref)
        return entry


class WritableDatabase(DatabaseReader):
    """The journal's first copy as the machine writes it: the SQLite file, and the checksums of its pages."""

    def __init__(self, database: Database, path: Path, page_checksums: PageChecksums) -> None:
        super().__init__(database, path)
        self._page_checksums = page_checksums
        self._scrub_page = 1
        """The number of the page with which the next call of :meth:`scrub` begins."""
        self._has_unmoved_wal = True
        """Whether SQLite's write-ahead log (WAL) may have changes that are not in the database file yet."""
        self._first_sequence = 1
        """The number of the first entry in the database file.

        After a failed commit it may be wrong; the copy is then opened again.
        """
        self._last_archived_sequence = 0
        """The number of the last archived entry; entries up to it may be removed from the file."""

    @classmethod
    def create_with_entries(
        cls,
        storage: Storage,
        folder: Path,
        key: MachineKey,
        authenticated_entries: Iterable[AuthenticatedEntry],
    ) -> None:
        """Create the journal's first copy in ``folder`` with these entries, completely or not at all.

        No such file may exist yet. It is built under a temporary name and renamed, so that a power loss never
        leaves an incomplete file.
        """
        path = folder / DATABASE_FILE_NAME
        new_path = path.with_name(DATABASE_FILE_NAME + ".new")
        for suffix in ("", "-wal", "-shm", "-journal"):
            storage.remove(new_path.with_name(new_path.name + suffix))
        reader = DatabaseReader(storage.connect(new_path, read_only=False), new_path)
        try:
            reader.run_sql(f"PRAGMA page_size={DATABASE_PAGE_SIZE_BYTES}")
            reader.run_sql("PRAGMA synchronous=FULL")
            reader.run_sql("BEGIN IMMEDIATE")
            for statement in _CREATE_TABLES_SQL:
                reader.run_sql(statement)
            sequence_before = None
            for authenticated_entry in authenticated_entries:
                sequence_before = (
                    authenticated_entry.entry.sequence - 1 if sequence_before is None else sequence_before
                )
                reader.run_sql(_INSERT_ENTRY_SQL, _build_row(authenticated_entry))
            reader.run_sql("INSERT INTO archived VALUES (?)", (sequence_before or 0,))
            reader.run_sql(f"PRAGMA user_version={DATABASE_FORMAT}")
            reader.run_sql("COMMIT")
            reader.run_sql("PRAGMA journal_mode=WAL")
        finally:
            reader.close()
        page_checksums = PageChecksums(storage, new_path, key)
        page_checksums.record_all()
        page_checksums.close()
        # Rename the checksums first, so that a database file that exists always has its checksums.
        storage.rename(
            new_path.with_name(new_path.name + PAGE_CHECKSUMS_SUFFIX),
            path.with_name(path.name + PAGE_CHECKSUMS_SUFFIX),
        )
        storage.sync_folder(folder)
        storage.rename(new_path, path)
        storage.sync_folder(folder)

    @staticmethod
    def rename_as_evidence(storage: Storage, folder: Path) -> None:
        """Rename the damaged database file in ``folder``, so that a new one can be built.

        The renamed file is kept as evidence; one from an earlier repair is replaced.
        """
        path = folder / DATABASE_FILE_NAME
        for suffix in ("", "-wal"):
            old_path = path.with_name(path.name + suffix)
            if storage.exists(old_path):
                storage.rename(old_path, old_path.with_name(old_path.name + ".damaged"))
        storage.remove(path.with_name(path.name + "-shm"))
        storage.sync_folder(folder)

    @classmethod
    def open_verified(cls, storage: Storage, folder: Path, key: MachineKey) -> Self:
        """Check every page of the journal's first copy in ``folder``, and open it for writing.

        Raises :class:`JournalDamaged` naming what is wrong, or :class:`JournalUnwritable`.
        """
        path = folder / DATABASE_FILE_NAME
        if not storage.exists(path):
            raise JournalDamaged(str(path), "the file is missing")
        page_checksums = PageChecksums(storage, path, key)
        try:
            page_checksums.verify()
            copy = cls(storage.connect(path, read_only=False), path, page_checksums)
        except BaseException:
            page_checksums.close()
            raise
        try:
            copy.read_format()
            if copy._format != DATABASE_FORMAT:
                raise JournalDamaged(str(path), f"it is in format {copy._format}; expected {DATABASE_FORMAT}")
            copy.run_sql("PRAGMA synchronous=FULL")
            # Only move_wal_into_file() moves the WAL into the file, because it keeps the page checksums.
            copy.run_sql("PRAGMA wal_autocheckpoint=0")
            if copy.run_sql("PRAGMA journal_mode").fetchone()[0] != "wal":
                raise JournalDamaged(str(path), "the file is not in WAL mode")
            if page_checksums.is_wal_move_unfinished:
                copy.move_wal_into_file()
            copy._check_entries_are_contiguous()
        except BaseException:
            copy.close()
            raise
        return copy

    def _check_entries_are_contiguous(self) -> None:
        """Check that the file's entries directly follow the archived ones, and that none is missing between them.

        Raises :class:`JournalDamaged`.
        """
        first_sequence, last_sequence, count = self.run_sql(
            "SELECT min(sequence), max(sequence), count(*) FROM entries"
        ).fetchone()
        last_archived_sequence = self.run_sql("SELECT through FROM archived").fetchone()[0]
        if count and (first_sequence, last_sequence) != (
            last_archived_sequence + 1,
            last_archived_sequence + count,
        ):
            raise JournalDamaged(
                str(self._path),
                f"expected {count} entries from {last_archived_sequence + 1} to {last_archived_sequence + count}, found"
                f" {first_sequence} to {last_sequence}",
            )
        self._first_sequence = first_sequence or 1

    def close(self) -> None:
        """Close SQLite's files of the database, and after them the file descriptor used for page checksums."""
        super().close()
        self._page_checksums.close()

    # ------------------------------------------------------------------ writing
    def insert(self, authenticated_entry: AuthenticatedEntry) -> None:
        """Begin a transaction and insert the journal entry ``authenticated_entry``; :meth:`commit` makes it durable.

        At intervals the transaction also removes some archived entries (:meth:`allow_removal_through`).
        """
        self.run_sql("BEGIN IMMEDIATE")
        self._has_unmoved_wal = True
        self.run_sql(_INSERT_ENTRY_SQL, _build_row(authenticated_entry))
        if (
            self._first_sequence <= self._last_archived_sequence
            and authenticated_entry.entry.sequence % _ENTRIES_BETWEEN_REMOVALS == 0
        ):
            self._remove_some_archived()

    def allow_removal_through(self, sequence: int) -> None:
        """Allow the entries up to ``sequence`` to be removed, because they are archived. Later inserts remove them."""
        self._last_archived_sequence = sequence

    def _remove_some_archived(self) -> None:
        """Remove the oldest archived entries from the file, at most ``_ENTRIES_REMOVED_AT_ONCE_MAX`` of them."""
        last_removed_sequence = min(
            self._last_archived_sequence, self._first_sequence + _ENTRIES_REMOVED_AT_ONCE_MAX - 1
        )
        self.run_sql("UPDATE archived SET through = ?", (last_removed_sequence,))
        self.run_sql("DELETE FROM entries WHERE sequence <= ?", (last_removed_sequence,))
        self._first_sequence = last_removed_sequence + 1

    def append_entries(self, authenticated_entries: Iterable[AuthenticatedEntry]) -> None:
        """Append journal entries in one SQLite transaction, to repair this copy from the other one."""
        try:
            self.run_sql("BEGIN IMMEDIATE")
            self._has_unmoved_wal = True
            for authenticated_entry in authenticated_entries:
                self.run_sql(_INSERT_ENTRY_SQL, _build_row(authenticated_entry))
            self.run_sql("COMMIT")
        except BaseException:
            self.rollback()
            raise

    def commit(self) -> None:
        """Commit the SQLite transaction; the inserted entries are durable when this returns."""
        self.run_sql("COMMIT")

    def rollback(self) -> None:
        """Discard the journal entries inserted since the last commit; never raises."""
        with suppress(JournalUnwritable, JournalDamaged):
            self.run_sql("ROLLBACK")

    def move_wal_into_file(self) -> None:
        """Move SQLite's write-ahead log (WAL) into the database file and record the new page checksums.

        If a reader is using the WAL, this does not wait and leaves the rest for the next call. Once all of the WAL
        has been moved, SQLite writes it again from its beginning, because overwriting it costs half as much per sync
        as growing it. If nothing was written since the last complete move, this does nothing.
        """
        if self._has_unmoved_wal:
            self._has_unmoved_wal = not self._page_checksums.move_wal_and_record(self._checkpoint_wal)

    def _checkpoint_wal(self) -> bool:
        """Move SQLite's WAL into the database file; return False if a reader prevents that now."""
        self.run_sql("PRAGMA busy_timeout=0")
        try:
            is_busy, _, _ = self.run_sql("PRAGMA wal_checkpoint(RESTART)").fetchone()
        except JournalUnwritable as error:
            if "locked" not in str(error):
                raise
            is_busy = 1
        finally:
            self.run_sql(f"PRAGMA busy_timeout={_BUSY_TIMEOUT_MS}")
        return not is_busy

    def scrub(self, page_count: int) -> None:
        """Check the next ``page_count`` pages of the file against their checksums.

        After the last page, it continues with the first.

        Raises :class:`JournalDamaged` at a page that does not match.
        """
        self._scrub_page = self._page_checksums.verify_page_range(self._scrub_page, page_count)


def verify_pages(storage: Storage, folder: Path, key: MachineKey) -> None:
    """Check every page of the journal's first copy in ``folder`` against its stored checksum.

    Raises :class:`JournalDamaged` for a page that does not match. The process that writes the copy must not
    call this (:class:`PageChecksums`).
    """
    page_checksums = PageChecksums(storage, folder / DATABASE_FILE_NAME, key)
    try:
        page_checksums.verify()
    finally:
        page_checksums.close()


def _build_row(
    authenticated_entry: AuthenticatedEntry,
) -> tuple[int, str, str, str | None, bytes, bytes, bytes]:
    """Return the columns of a journal entry's table row, in the order of the table."""
    entry = authenticated_entry.entry
    body = pack_entry(entry.body, entry.previous_hex)
    return (
        entry.sequence,
        entry.id,
        entry.kind,
        entry.ref,
        bytes.fromhex(entry.hash_hex),
        authenticated_entry.mac,
        body,
    )


def _to_hex(digest: bytes | str) -> str:
    """Return a stored hash in hexadecimal; it is stored in binary or, in format 1, as hexadecimal text."""
    return digest if isinstance(digest, str) else digest.hex()
