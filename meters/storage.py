"""The interface to the media: how the journal accesses SQLite and files.

It is one small interface, so that a power-loss test rig can replace the disk. The journal opens no file of the media
itself, except the folder lock, which must vanish with the process.
"""

import errno
import os
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final, Protocol, TypeAlias
from urllib.parse import quote
from weakref import finalize

from meters.errors import JournalUnwritable, MediumFull

#: The folder in which a temporary file uses no disk space (Linux).
_MEMORY_FOLDER: Final = Path("/dev/shm")  # noqa: S108 (a private folder is made in it)
#: The folder for temporary files if there is no folder in memory.
_TEMPORARY_FOLDER: Final = Path("/tmp")  # noqa: S108 (a private folder is made in it)
#: System errors of a medium without space.
_NO_SPACE_ERRNOS: Final = (errno.ENOSPC, errno.EDQUOT)


class MediumError(Exception):
    """Raised if SQLite refused a statement; the text is SQLite's error."""


class DatabaseRows(Protocol):
    """Interface of the rows that a database statement returns."""

    def fetchone(self) -> Any:
        """Return the next row of the query's result, or None after the last one."""

    def fetchall(self) -> list[Any]:
        """Return all remaining rows of the query's result."""

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the remaining rows of the query's result."""


class Database(Protocol):
    """Interface of one SQLite connection in autocommit mode. Errors are :class:`MediumError`."""

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> DatabaseRows:
        """Run one SQL statement and return its rows."""

    def close(self) -> None:
        """Close the SQLite connection."""


class StorageFile(Protocol):
    """Interface of an open file. Its operations raise :class:`JournalUnwritable` naming the path."""

    def read_at(self, offset: int, size: int) -> bytes:
        """Return up to ``size`` bytes of the file from ``offset``."""

    def write_at(self, offset: int, data: bytes) -> None:
        """Write all of ``data`` to the file at ``offset``; durable only after :meth:`sync`."""

    def truncate(self, size: int) -> None:
        """Set the file's size to ``size`` bytes."""

    def allocate(self, size: int) -> None:
        """Extend the file to ``size`` bytes, with space reserved on the medium."""

    def size(self) -> int:
        """Return the file's size in bytes."""

    def sync(self) -> None:
        """Return once everything written to the file is durable."""

    def close(self) -> None:
        """Close the file."""


class Storage(Protocol):
    """Interface to storage media: SQLite files and plain files in folders.

    If a medium refuses an operation, :class:`JournalUnwritable` is raised.
    """

    def connect(self, path: Path, *, read_only: bool) -> Database:
        """Open a connection to the SQLite database ``path``, creating the file unless ``read_only``."""

    def open_file(self, path: Path, *, write: bool) -> StorageFile:
        """Open the file ``path``, creating it if ``write``."""

    def exists(self, path: Path) -> bool:
        """Return whether a file or folder exists."""

    def list_names(self, folder: Path) -> list[str]:
        """Return the names of the files and folders in ``folder``, sorted; empty if it is absent."""

    def make_folder(self, folder: Path) -> None:
        """Create ``folder`` and its parents, readable by the owner only."""

    def rename(self, old_path: Path, new_path: Path) -> None:
        """Rename ``old_path`` to ``new_path``, replacing an existing file; durable only after :meth:`sync_folder`."""

    def remove(self, path: Path) -> None:
        """Remove the file ``path`` if it exists; durable only after :meth:`sync_folder`."""

    def sync_folder(self, folder: Path) -> None:
        """Return once the creation, renaming and removal of files in ``folder`` are durable."""

    def sync_together(self, files: Sequence[StorageFile]) -> None:
        """Return once everything written to all these files is durable.

        They are on several media and may be synced in any order.
        """

    def count_free_bytes(self, folder: Path) -> int:
        """Return the free bytes on the medium of ``folder``."""

    def make_private(self, path: Path) -> bool:
        """Restrict access to the file ``path`` to its owner; return whether others had access."""

    def random_bytes(self, count: int) -> bytes:
        """Return ``count`` unpredictable bytes, for keys, salts and the numbers of media."""


def read_file(storage: Storage, path: Path) -> bytes | None:
    """Return the contents of the file ``path``, or None if it is absent."""
    if not storage.exists(path):
        return None
    file = storage.open_file(path, write=False)
    try:
        return file.read_at(0, file.size())
    finally:
        file.close()


def replace_file(storage: Storage, path: Path, data: bytes) -> None:
    """Replace the contents of the file ``path``, durably.

    After a power loss the file has the old or the new contents.
    """
    new_path = path.with_name(path.name + ".new")
    file = storage.open_file(new_path, write=True)
    try:
        file.truncate(0)
        file.write_at(0, data)
        file.sync()
    finally:
        file.close()
    storage.rename(new_path, path)
    storage.sync_folder(path.parent)


def _build_access_error(path: Path, error: OSError) -> JournalUnwritable:
    """Return the error for a file that the operating system refused to read or write, with the reason."""
    error_class = MediumFull if error.errno in _NO_SPACE_ERRNOS else JournalUnwritable
    return error_class(f"{path}: {error.strerror or error}")


@contextmanager
def _convert_os_errors(path: Path) -> Iterator[None]:
    """Convert each ``OSError`` in the block to :class:`JournalUnwritable` for ``path``."""
    try:
        yield
    except OSError as error:
        raise _build_access_error(path, error) from error


class _SqliteDatabase:
    """A SQLite connection with the interface :class:`Database`, using the standard library's sqlite3.

    ``temporary_folder`` is a temporary folder that contains the file, or None; closing the connection removes it.
    """

    def __init__(self, connection: sqlite3.Connection, temporary_folder: Path | None = None) -> None:
        self._connection = connection
        self._temporary_folder = temporary_folder
        """The temporary folder that closing removes, or None."""

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> DatabaseRows:
        """Run one SQL statement. Raises :class:`MediumError`."""
        try:
            return self._connection.execute(sql, parameters)
        except sqlite3.Error as error:
            raise MediumError(f"{type(error).__name__}: {error}") from error

    def close(self) -> None:
        """Close the connection, and remove the temporary folder if there is one."""
        with suppress(sqlite3.Error):
            self._connection.close()
        if self._temporary_folder is not None:
            shutil.rmtree(self._temporary_folder, ignore_errors=True)


def _connect(path: Path, query: str) -> sqlite3.Connection:
    """Return a connection to the SQLite database ``path``, opened with the URI parameters ``query``.

    Raises :class:`JournalUnwritable`, also if the file does not exist.
    """
    try:
        return sqlite3.connect(
            f"file:{quote(str(path))}?{query}", uri=True, isolation_level=None, check_same_thread=False
        )
    except sqlite3.Error as error:
        if not path.exists():
            no_machine_error = (
                f"{path.parent}: no machine has been started in this folder: there is no {path.name}"
            )
            raise JournalUnwritable(no_machine_error) from error
        raise JournalUnwritable(f"cannot open {path}: {error}") from error


def _create_folder_in_memory() -> Path:
    """Create a new private folder in a file system in RAM, or else in /tmp; return its path."""
    for number in count():
        folder = (_MEMORY_FOLDER if _MEMORY_FOLDER.is_dir() else _TEMPORARY_FOLDER) / f"egm-reading-{number}"
        with suppress(FileExistsError):
            folder.mkdir(0o700)
            return folder
    raise AssertionError  # unreachable: the loop is infinite


def _open_copy_in_memory(path: Path, wal_path: Path) -> Database:
    """Open an in-memory copy of the SQLite file ``path`` and its WAL for reading.

    It is deleted with the connection.
    """
    with _convert_os_errors(path):
        temporary_folder = _create_folder_in_memory()
        for file in (path, wal_path):
            shutil.copy(file, temporary_folder)
    return _SqliteDatabase(_connect(temporary_folder / path.name, "mode=rw"), temporary_folder)


class _DiskFile:
    """An open file on disk with the interface :class:`StorageFile`, using a file descriptor."""

    def __init__(self, path: Path, *, write: bool) -> None:
        self._path = path
        with _convert_os_errors(path):
            flags = os.O_RDWR | os.O_CREAT if write else os.O_RDONLY
            self._fd = os.open(path, flags | os.O_CLOEXEC, 0o600)

    # The next three methods run for every entry, hence plain try instead of the context manager.
    def read_at(self, offset: int, size: int) -> bytes:
        """Return up to ``size`` bytes of the file from ``offset``."""
        try:
            return os.pread(self._fd, size, offset)
        except OSError as error:
            raise _build_access_error(self._path, error) from error

    def write_at(self, offset: int, data: bytes) -> None:
        """Write all of ``data`` to the file at ``offset``."""
        try:
            written_bytes = os.pwrite(self._fd, data, offset)
            while written_bytes < len(data):
                written_bytes += os.pwrite(self._fd, data[written_bytes:], offset + written_bytes)
        except OSError as error:
            raise _build_access_error(self._path, error) from error

    def sync(self) -> None:
        """Return once everything written to the file is durable."""
        try:
            os.fdatasync(self._fd)
        except OSError as error:
            raise _build_access_error(self._path, error) from error

    def truncate(self, size: int) -> None:
        """Set the file's size."""
        with _convert_os_errors(self._path):
            os.ftruncate(self._fd, size)

    def allocate(self, size: int) -> None:
        """Extend the file to ``size`` bytes, with space reserved on the medium."""
        with _convert_os_errors(self._path):
            os.posix_fallocate(self._fd, 0, size)

    def size(self) -> int:
        """Return the file's size in bytes."""
        with _convert_os_errors(self._path):
            return os.fstat(self._fd).st_size

    def close(self) -> None:
        """Close the file's descriptor."""
        os.close(self._fd)


#: A file to sync, and the queue that receives the error, or None once the file is durable.
_SyncRequest: TypeAlias = tuple[StorageFile, SimpleQueue[Exception | None]]


def _sync_requested_files(requests: SimpleQueue[_SyncRequest | None]) -> None:
    """Sync each requested file and report the result; this runs in its own thread until None is requested."""
    while (request := requests.get()) is not None:
        file, results = request
        try:
            file.sync()
        except Exception as error:  # noqa: BLE001 (the requesting thread raises it)
            results.put(error)
        else:
            results.put(None)


class DiskStorage:
    """The operating system's files with the interface :class:`Storage`."""

    _sync_requests: SimpleQueue[_SyncRequest | None] | None = None
    """The queue of the thread that syncs a second file at the same time, or None until that is needed."""

    def connect(self, path: Path, *, read_only: bool) -> Database:
        """Open the SQLite file ``path``.

        To read beside SQLite's write-ahead log (WAL), SQLite needs a little space for an index of it, unless a
        running machine provides the index. If the medium is full or read-only, the file is opened as immutable.
        If a machine also stopped with data in the WAL, a copy in memory is read.
        """
        if not read_only:
            return _SqliteDatabase(_connect(path, "mode=rwc"))
        wal_path = path.with_name(path.name + "-wal")
        can_use_wal = wal_path.exists() or os.access(path.parent, os.W_OK)
        connection = _connect(path, "mode=ro" if can_use_wal else "mode=ro&immutable=1")
        try:
            connection.execute("SELECT 1 FROM sqlite_schema").fetchone()
        except sqlite3.OperationalError:
            connection.close()
            if wal_path.exists():
                return _open_copy_in_memory(path, wal_path)
            connection = _connect(path, "mode=ro&immutable=1")
        except sqlite3.Error:
            pass  # damage to the file is reported by its reader
        return _SqliteDatabase(connection)

    def open_file(self, path: Path, *, write: bool) -> StorageFile:
        """Open the file ``path``, creating it if ``write``."""
        return _DiskFile(path, write=write)

    def exists(self, path: Path) -> bool:
        """Return whether the file or folder ``path`` exists."""
        return path.exists()

    def list_names(self, folder: Path) -> list[str]:
        """Return the names of the files and folders in ``folder``, sorted; empty if it is absent."""
        with _convert_os_errors(folder):
            return sorted(p.name for p in folder.iterdir()) if folder.exists() else []

    def make_folder(self, folder: Path) -> None:
        """Create ``folder`` and its parents, readable by the owner only."""
        with _convert_os_errors(folder):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def rename(self, old_path: Path, new_path: Path) -> None:
        """Rename the file or folder ``old_path`` to ``new_path``, replacing an existing file."""
        with _convert_os_errors(old_path):
            old_path.replace(new_path)

    def remove(self, path: Path) -> None:
        """Remove the file ``path`` if it exists."""
        with _convert_os_errors(path):
            path.unlink(missing_ok=True)

    def sync_folder(self, folder: Path) -> None:
        """Make the creation, renaming and removal of files in ``folder`` durable."""
        with _convert_os_errors(folder):
            fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)

    def sync_together(self, files: Sequence[StorageFile]) -> None:
        """Sync the first file while another thread syncs the others, so that two media are synced at the same time."""
        first_file, *later_files = files
        if self._sync_requests is None:
            self._sync_requests = SimpleQueue()
            Thread(
                target=_sync_requested_files, args=(self._sync_requests,), name="sync", daemon=True
            ).start()
            finalize(self, self._sync_requests.put, None)  # the thread ends with this object
        results: SimpleQueue[Exception | None] = SimpleQueue()
        for file in later_files:
            self._sync_requests.put((file, results))
        try:
            first_file.sync()
        finally:
            errors = [results.get() for _ in later_files]  # waits for all of them
        for error in errors:
            if error is not None:
                raise error

    def count_free_bytes(self, folder: Path) -> int:
        """Return the space that the medium of ``folder`` still has for unprivileged users."""
        with _convert_os_errors(folder):
            status = os.statvfs(folder)
            return status.f_bavail * status.f_frsize

    def make_private(self, path: Path) -> bool:
        """Remove the access of everybody but the owner to the file ``path``; return whether others had access."""
        with _convert_os_errors(path):
            mode = path.stat().st_mode
            if not mode & 0o077:
                return False
            path.chmod(mode & 0o700)
            return True

    def random_bytes(self, count: int) -> bytes:
        """Return random bytes from the operating system's generator."""
        return os.urandom(count)  # noqa: TID251 (it makes keys)
