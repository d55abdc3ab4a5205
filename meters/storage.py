"""The seam to the medium: how the journal reaches SQLite and files.

One small boundary so that a power-cut rig can stand where the disk is. Nothing above it opens a file.
"""

import os
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

from meters.errors import JournalUnwritable


class MediumError(Exception):
    """The medium or SQLite refused an operation; the cause says which and why."""


class Rows(Protocol):
    """The rows a statement gives."""

    def fetchone(self) -> Any:
        """Return the next row, or None."""

    def fetchall(self) -> list[Any]:
        """Return the remaining rows."""

    def __iter__(self) -> Any:
        """Iterate over the remaining rows."""


class Database(Protocol):
    """One SQLite connection in autocommit: SQL in, rows out. Errors are :class:`MediumError`."""

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> Rows:
        """Run one statement."""

    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each row of ``parameters``."""

    def close(self) -> None:
        """Close the connection."""


class Storage(Protocol):
    """Where a journal lives."""

    def connect(self, path: Path, *, read_only: bool) -> Database:
        """Open the SQLite file ``path``, making it unless ``read_only``."""


class _SqliteDatabase:
    """:class:`Database` on the standard library's sqlite3."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> Rows:
        try:
            return self._connection.execute(sql, parameters)
        except sqlite3.Error as why:
            raise MediumError(f"{type(why).__name__}: {why}") from why

    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]]) -> None:
        try:
            self._connection.executemany(sql, parameters)
        except sqlite3.Error as why:
            raise MediumError(f"{type(why).__name__}: {why}") from why

    def close(self) -> None:
        with suppress(sqlite3.Error):
            self._connection.close()


class DiskStorage:
    """The real medium."""

    def connect(self, path: Path, *, read_only: bool) -> Database:
        """Open ``path``; a reader beside a closed machine on a read-only medium opens it as immutable."""
        query = "mode=rwc"
        if read_only:
            live = path.with_name(path.name + "-wal").exists() or os.access(path.parent, os.W_OK)
            query = "mode=ro" if live else "mode=ro&immutable=1"
        try:
            connection = sqlite3.connect(
                f"file:{quote(str(path))}?{query}", uri=True, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as why:
            raise JournalUnwritable(f"cannot open {path}: {why}") from why
        return _SqliteDatabase(connection)
