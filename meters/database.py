"""The first copy: entries in SQLite (WAL, synchronous=FULL, STRICT, append-only by trigger)."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from meters.entry import GENESIS_HASH, StoredEntry, decode, follow
from meters.errors import JournalDamaged, JournalUnwritable
from meters.storage import Database, MediumError, Rows, Storage

FILE_NAME: Final = "journal.sqlite"
FORMAT: Final = 1
_BUSY_MS: Final = 2000

_SCHEMA: Final = (
    """CREATE TABLE entries (
         sequence INTEGER PRIMARY KEY,
         id TEXT NOT NULL UNIQUE,
         kind TEXT NOT NULL,
         ref TEXT,
         hash TEXT NOT NULL,
         body BLOB NOT NULL
       ) STRICT""",
    "CREATE INDEX entries_by_kind ON entries (kind, sequence)",
    "CREATE INDEX entries_by_ref ON entries (ref, sequence) WHERE ref IS NOT NULL",
    """CREATE TRIGGER entries_never_change BEFORE UPDATE ON entries
       BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END""",
    """CREATE TRIGGER entries_never_leave BEFORE DELETE ON entries
       BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END""",
)
_SELECT: Final = "SELECT sequence, hash, body FROM entries"
_BATCH: Final = 1000
_NO_LIMIT: Final = 2**63 - 1


class DatabaseCopy:
    """The entries in one SQLite file. Every read proves the hash of what it read."""

    def __init__(self, database: Database, path: Path) -> None:
        self._database = database
        self._path = path

    @classmethod
    def open(cls, storage: Storage, folder: Path, *, read_only: bool) -> "DatabaseCopy":
        """Open or make the copy in ``folder``.

        Raises :class:`JournalUnwritable` when the medium refuses, :class:`JournalDamaged` when the file is
        no journal of this format.
        """
        path = folder / FILE_NAME
        copy = cls(storage.connect(path, read_only=read_only), path)
        try:
            copy._prepare(read_only=read_only)
        except BaseException:
            copy.close()
            raise
        return copy

    def _prepare(self, *, read_only: bool) -> None:
        self._run(f"PRAGMA busy_timeout={_BUSY_MS}")
        if not read_only:
            self._run("PRAGMA journal_mode=WAL")
            self._run("PRAGMA synchronous=FULL")
            if self._run("PRAGMA user_version").fetchone()[0] == 0:
                self._run("BEGIN IMMEDIATE")
                for statement in _SCHEMA:
                    self._run(statement)
                self._run(f"PRAGMA user_version={FORMAT}")
                self._run("COMMIT")
        found = self._run("PRAGMA user_version").fetchone()[0]
        if found != FORMAT:
            raise JournalDamaged(str(self._path), f"format {found}, this program keeps format {FORMAT}")

    def _run(self, sql: str, parameters: Sequence[Any] = ()) -> Rows:
        try:
            return self._database.execute(sql, parameters)
        except MediumError as why:
            text = str(why)
            if "not a database" in text or "malformed" in text or "no such table" in text:
                raise JournalDamaged(str(self._path), text) from why
            raise JournalUnwritable(f"{self._path}: {text}") from why

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    # ------------------------------------------------------------------ writing
    def append(self, entry: StoredEntry) -> None:
        """Write ``entry`` and make it durable; on :class:`JournalUnwritable` nothing of it stays here."""
        try:
            self._run("BEGIN IMMEDIATE")
            self._run(
                "INSERT INTO entries (sequence, id, kind, ref, hash, body) VALUES (?, ?, ?, ?, ?, ?)",
                (entry.sequence, entry.id, entry.kind, entry.ref, entry.hash_hex, entry.body),
            )
            self._run("COMMIT")
        except JournalUnwritable:
            with suppress(JournalUnwritable):
                self._run("ROLLBACK")
            raise

    # ------------------------------------------------------------------ reading
    def by_id(self, tx_id: str) -> StoredEntry | None:
        """Return the entry with this id, or None."""
        row = self._run(f"{_SELECT} WHERE id = ?", (tx_id,)).fetchone()
        return None if row is None else self._entry(row)

    def by_ref(self, ref: str) -> list[StoredEntry]:
        """Return the entries naming ``ref``, oldest first."""
        return [self._entry(row) for row in self._run(f"{_SELECT} WHERE ref = ? ORDER BY sequence", (ref,))]

    def walk(
        self, kinds: Sequence[str], since: int, limit: int | None, *, newest_first: bool
    ) -> Iterator[StoredEntry]:
        """Yield up to ``limit`` entries after sequence ``since``, of ``kinds`` (all when empty).

        Pages of a bounded size, each its own short read: writing never waits for a slow reader.
        """
        left = _NO_LIMIT if limit is None else limit
        low, high = since, _NO_LIMIT
        kind_is = f"AND kind IN ({','.join('?' * len(kinds))})" if kinds else ""
        order = "DESC" if newest_first else "ASC"
        while left > 0:
            rows = self._run(
                f"{_SELECT} WHERE sequence > ? AND sequence < ? {kind_is} ORDER BY sequence {order} LIMIT ?",
                (low, high, *kinds, min(left, _BATCH)),
            ).fetchall()
            for row in rows:
                yield self._entry(row)
            if len(rows) < _BATCH:
                return
            left -= len(rows)
            low, high = (low, rows[-1][0]) if newest_first else (rows[-1][0], high)

    def chain(self, sequence: int = 0, head_hex: str = GENESIS_HASH) -> Iterator[StoredEntry]:
        """Yield every entry after ``sequence`` in order, proving the chain from ``head_hex`` on.

        Raises :class:`JournalDamaged` at the first entry that is missing, altered or out of place.
        """
        where = str(self._path)
        while True:
            rows = self._run(
                f"{_SELECT} WHERE sequence > ? ORDER BY sequence LIMIT {_BATCH}", (sequence,)
            ).fetchall()
            for _, hash_hex, body in rows:
                entry = follow(body, hash_hex, sequence + 1, head_hex, where)
                sequence, head_hex = entry.sequence, entry.hash_hex
                yield entry
            if len(rows) < _BATCH:
                return

    def _entry(self, row: tuple[int, str, bytes]) -> StoredEntry:
        sequence, hash_hex, body = row
        try:
            entry = decode(body)
        except ValueError as why:
            raise JournalDamaged(f"{self._path} entry {sequence}", str(why)) from why
        if entry.hash_hex != hash_hex or entry.sequence != sequence:
            raise JournalDamaged(f"{self._path} entry {sequence}", "the entry is not what was written")
        return entry
