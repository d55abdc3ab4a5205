"""The seam to the medium: how the journal reaches SQLite and files.

One small boundary, so that a power-cut rig can stand where the disk is. Nothing above it opens a file; the
folder lock alone lives outside, for it must vanish with the process.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

from meters.errors import JournalUnwritable


class MediumError(Exception):
    """SQLite refused a statement; the text says which error and why."""


class Rows(Protocol):
    """The rows a statement gives."""

    def fetchone(self) -> Any:
        """Return the next row, or None."""

    def fetchall(self) -> list[Any]:
        """Return the remaining rows."""

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the remaining rows."""


class Database(Protocol):
    """One SQLite connection in autocommit: SQL in, rows out. Errors are :class:`MediumError`."""

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> Rows:
        """Run one statement."""

    def close(self) -> None:
        """Close the connection."""


class StorageFile(Protocol):
    """An open file. Its operations raise :class:`JournalUnwritable` naming the path."""

    def read_at(self, offset: int, size: int) -> bytes:
        """Return up to ``size`` bytes from ``offset``."""

    def write_at(self, offset: int, data: bytes) -> None:
        """Write all of ``data`` at ``offset``; durable only after :meth:`sync`."""

    def truncate(self, size: int) -> None:
        """Set the file's size."""

    def size(self) -> int:
        """Return the file's size in bytes."""

    def sync(self) -> None:
        """Return when everything written is durable."""

    def start_sync(self) -> Callable[[], None]:
        """Begin to make everything written durable; what is returned waits for it, or raises."""

    def close(self) -> None:
        """Close the file."""


class Storage(Protocol):
    """A medium: SQLite files and plain files in folders. Refusals raise :class:`JournalUnwritable`."""

    def connect(self, path: Path, *, read_only: bool) -> Database:
        """Open the SQLite file ``path``, making it unless ``read_only``."""

    def open_file(self, path: Path, *, write: bool) -> StorageFile:
        """Open ``path``, making it when ``write``."""

    def exists(self, path: Path) -> bool:
        """Whether a file or folder is there."""

    def names(self, folder: Path) -> list[str]:
        """Return the names in ``folder``, sorted; none when it is absent."""

    def make_folder(self, folder: Path) -> None:
        """Make ``folder`` and those above it, readable by its owner only."""

    def rename(self, old: Path, new: Path) -> None:
        """Rename ``old`` to ``new``, replacing a file; durable only after :meth:`sync_folder`."""

    def remove(self, path: Path) -> None:
        """Remove the file ``path`` if it is there; durable only after :meth:`sync_folder`."""

    def sync_folder(self, folder: Path) -> None:
        """Return when the names in ``folder`` are durable."""


def read_file(storage: Storage, path: Path) -> bytes | None:
    """Return the whole file, or None when it is absent."""
    if not storage.exists(path):
        return None
    file = storage.open_file(path, write=False)
    try:
        return file.read_at(0, file.size())
    finally:
        file.close()


def replace_file(storage: Storage, path: Path, data: bytes) -> None:
    """Make ``data`` the whole content of ``path``, durably: after a power cut it is the old or the new."""
    fresh = path.with_name(path.name + ".new")
    file = storage.open_file(fresh, write=True)
    try:
        file.truncate(0)
        file.write_at(0, data)
        file.sync()
    finally:
        file.close()
    storage.rename(fresh, path)
    storage.sync_folder(path.parent)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as why:
        raise JournalUnwritable(f"{path}: {why.strerror or why}") from why


class _SqliteDatabase:
    """:class:`Database` on the standard library's sqlite3."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> Rows:
        try:
            return self._connection.execute(sql, parameters)
        except sqlite3.Error as why:
            raise MediumError(f"{type(why).__name__}: {why}") from why

    def close(self) -> None:
        with suppress(sqlite3.Error):
            self._connection.close()


class _DiskFile:
    """:class:`StorageFile` on a file descriptor."""

    def __init__(self, path: Path, *, write: bool) -> None:
        self._path = path
        self._beside: ThreadPoolExecutor | None = None
        with _named(path):
            flags = os.O_RDWR | os.O_CREAT if write else os.O_RDONLY
            self._fd = os.open(path, flags | os.O_CLOEXEC, 0o600)

    # The three below run for every entry: plain try, not the context manager.
    def read_at(self, offset: int, size: int) -> bytes:
        try:
            return os.pread(self._fd, size, offset)
        except OSError as why:
            raise JournalUnwritable(f"{self._path}: {why.strerror}") from why

    def write_at(self, offset: int, data: bytes) -> None:
        try:
            done = os.pwrite(self._fd, data, offset)
            while done < len(data):
                done += os.pwrite(self._fd, data[done:], offset + done)
        except OSError as why:
            raise JournalUnwritable(f"{self._path}: {why.strerror}") from why

    def sync(self) -> None:
        try:
            os.fdatasync(self._fd)
        except OSError as why:
            raise JournalUnwritable(f"{self._path}: {why.strerror}") from why

    def start_sync(self) -> Callable[[], None]:
        if self._beside is None:
            self._beside = ThreadPoolExecutor(1, thread_name_prefix="sync")
        return self._beside.submit(self.sync).result

    def truncate(self, size: int) -> None:
        with _named(self._path):
            os.ftruncate(self._fd, size)

    def size(self) -> int:
        with _named(self._path):
            return os.fstat(self._fd).st_size

    def close(self) -> None:
        if self._beside is not None:
            self._beside.shutdown()
        os.close(self._fd)


class DiskStorage:
    """The real medium."""

    def connect(self, path: Path, *, read_only: bool) -> Database:
        """Open ``path``; beside a closed machine on a read-only medium, a reader opens it as immutable."""
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

    def open_file(self, path: Path, *, write: bool) -> StorageFile:
        """Open ``path``."""
        return _DiskFile(path, write=write)

    def exists(self, path: Path) -> bool:
        """Whether ``path`` is there."""
        return path.exists()

    def names(self, folder: Path) -> list[str]:
        """Return the names in ``folder``."""
        with _named(folder):
            return sorted(p.name for p in folder.iterdir()) if folder.exists() else []

    def make_folder(self, folder: Path) -> None:
        """Make ``folder``."""
        with _named(folder):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def rename(self, old: Path, new: Path) -> None:
        """Rename ``old`` to ``new``."""
        with _named(old):
            old.replace(new)

    def remove(self, path: Path) -> None:
        """Remove ``path``."""
        with _named(path):
            path.unlink(missing_ok=True)

    def sync_folder(self, folder: Path) -> None:
        """Make the names in ``folder`` durable."""
        with _named(folder):
            fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)
