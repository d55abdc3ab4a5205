"""A simulated medium that loses unsynced data: at a power loss the data is lost, torn or reordered.

The real folder always holds what running programs see, so that ordinary readers can read it. For each file the
information to undo its unsynced changes is held in memory. At a power loss any subset of the unsynced writes survives,
and the last of these may be torn at any byte. Creations, renamings and removals that no sync of their folder has made
durable survive in order up to a random point; all later ones are undone. SQLite accesses its files through a VFS
(apsw), everything else through :class:`ForgetfulStorage`.
"""

import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Final

import apsw

from meters.errors import JournalUnwritable
from meters.storage import Database, DatabaseRows, DiskStorage, MediumError, StorageFile

#: Numbers that make each name of an SQLite VFS unique.
_vfs_numbers: Final = count()


@dataclass(slots=True)
class _UnsyncedChange:
    """One unsynced change of a file on a simulated medium: a write, or a new size."""

    offset: int
    """Where the written bytes begin; for a new size of the file, the new size."""
    replaced_bytes: bytes
    """The bytes that were in the file before the change, at its offset."""
    size_before: int
    """The size of the file before the change, in bytes."""
    written_bytes: bytes | None
    """The bytes that were written; None if only the size of the file changed."""


@dataclass(slots=True)
class _MediumFile:
    """A file of the simulated medium with its unsynced changes; it stays the same object when it is renamed."""

    unsynced_changes: list[_UnsyncedChange] = field(default_factory=list)
    """The changes since the last sync, oldest first."""
    last_content: bytes = b""
    """The content that the file had when it was removed or replaced."""

    def draw_content_after_power_loss(
        self, current_content: bytes, random_source: random.Random, survival_probability: float
    ) -> bytes:
        """Return the file's content after a power loss; chance decides which of its unsynced changes survive."""
        content = bytearray(current_content)
        for change in reversed(self.unsynced_changes):
            _write_at(content, change.offset, change.replaced_bytes)
            _resize_content(content, change.size_before)
        surviving_changes = [
            change for change in self.unsynced_changes if random_source.random() < survival_probability
        ]
        for change in surviving_changes:
            if change.written_bytes is None:
                _resize_content(content, change.offset)
            elif change is surviving_changes[-1] and random_source.random() < 0.5:
                _write_at(
                    content,
                    change.offset,
                    change.written_bytes[: random_source.randrange(len(change.written_bytes) + 1)],
                )
            else:
                _write_at(content, change.offset, change.written_bytes)
        return bytes(content)


def _write_at(content: bytearray, offset: int, data: bytes) -> None:
    """Write bytes into a file's content, which grows if necessary."""
    if data:
        _resize_content(content, max(len(content), offset + len(data)))
        content[offset : offset + len(data)] = data


def _resize_content(content: bytearray, size: int) -> None:
    """Cut a file's content to a size, or extend it with zero bytes."""
    del content[size:]
    content.extend(bytes(size - len(content)))


#: One creation, renaming or removal of a file: old path (None: created), new path (None: removed), and the file.
_NameChange = tuple[Path | None, Path | None, _MediumFile]


class SimulatedMedium:
    """The simulated medium of one computer: its files, their unsynced changes, and whether the power is on.

    At operation number ``power_loss_at_operation`` the power fails and ``on_power_loss`` is called. From then on the
    dying process can change no file, and its reads fail, so that it cannot act on half of a file.
    """

    def __init__(self, random_source: random.Random) -> None:
        self._random = random_source
        self.operation_count = 0
        self.power_loss_at_operation: int | None = None
        self.is_without_power = False
        self.on_power_loss: Callable[[], None] = lambda: None
        self._file_by_path: dict[Path, _MediumFile] = {}
        self._durable_file_by_path: dict[Path, _MediumFile] = {}
        self._unsynced_name_changes: list[_NameChange] = []

    def _count_operation(self) -> None:
        """Count one operation on the medium, and cut the power at operation ``power_loss_at_operation``."""
        self.operation_count += 1
        if self.power_loss_at_operation is not None and self.operation_count >= self.power_loss_at_operation:
            self.cut_power()

    def cut_power(self) -> None:
        """Cut the simulated power now; unsynced data may be lost."""
        if not self.is_without_power:
            self.is_without_power = True
            self.on_power_loss()

    def check_power(self, path: Path) -> None:
        """Raise :class:`JournalUnwritable` if the power is off: then ``path`` can be neither read nor written."""
        if self.is_without_power:
            raise JournalUnwritable(f"{path}: the simulated medium has no power")

    def lose_unsynced_data_and_power_on(self) -> None:
        """Set the files to what survives of them, and switch the power on.

        Unsynced changes survive by chance. No program may have the files open.
        """
        survival_probability = self._random.choice((0.0, 0.5, 0.9, 1.0))
        surviving_file_by_path = dict(self._durable_file_by_path)
        for name_change in self._unsynced_name_changes:
            if self._random.random() >= survival_probability:
                break
            _apply_name_change(surviving_file_by_path, name_change)
        content_by_file = {
            id(file): path.read_bytes() for path, file in self._file_by_path.items() if path.exists()
        }
        for path in sorted({*self._file_by_path, *surviving_file_by_path}):
            file = surviving_file_by_path.get(path)
            if file is None:
                path.unlink(missing_ok=True)
            elif file.unsynced_changes or file is not self._file_by_path.get(path):
                path.write_bytes(
                    file.draw_content_after_power_loss(
                        content_by_file.get(id(file), file.last_content), self._random, survival_probability
                    )
                )
                path.chmod(0o600)
        self._file_by_path.clear()
        self._durable_file_by_path.clear()
        self._unsynced_name_changes.clear()
        self.is_without_power, self.power_loss_at_operation, self.operation_count = False, None, 0

    # ------------------------------------------------------------ what happens to files
    def track_file(self, path: Path, *, is_created: bool) -> _MediumFile:
        """Return the medium's file at ``path``. ``is_created``: a program has just created it by opening it."""
        if is_created and not self.is_without_power:
            self._record_name_change((None, path, _MediumFile()))
        if path not in self._file_by_path:  # it existed before, so it is durable
            self._file_by_path[path] = self._durable_file_by_path[path] = _MediumFile()
        return self._file_by_path[path]

    def rename(self, old_path: Path, new_path: Path) -> None:
        """Rename a file of the simulated medium; an existing file of the new name is replaced."""
        if self.is_without_power:
            return
        file = self.track_file(old_path, is_created=False)
        if new_path.exists():
            self.track_file(new_path, is_created=False).last_content = new_path.read_bytes()
        old_path.replace(new_path)
        self._record_name_change((old_path, new_path, file))

    def remove(self, path: Path) -> None:
        """Remove a file of the simulated medium."""
        if self.is_without_power:
            return
        file = self.track_file(path, is_created=False)
        file.last_content = path.read_bytes()
        path.unlink()
        self._record_name_change((path, None, file))

    def _record_name_change(self, name_change: _NameChange) -> None:
        """Record a creation, renaming or removal, which a power loss may undo until the folder is synced."""
        self._unsynced_name_changes.append(name_change)
        _apply_name_change(self._file_by_path, name_change)
        self._count_operation()

    def sync_folder(self, folder: Path) -> None:
        """Make creations, renamings and removals in a folder durable, so that a power loss does not undo them."""
        if not self.is_without_power:
            self._count_operation()
        if self.is_without_power:
            return
        remaining_name_changes = []
        for name_change in self._unsynced_name_changes:
            if folder in {path.parent for path in name_change[:2] if path is not None}:
                _apply_name_change(self._durable_file_by_path, name_change)
            else:
                remaining_name_changes.append(name_change)
        self._unsynced_name_changes = remaining_name_changes

    def write(self, file: _MediumFile, content_access: "_ContentAccess", offset: int, data: bytes) -> None:
        """Write bytes to the simulated medium: after a power loss they may be lost, torn or complete."""
        if not self.is_without_power:
            file.unsynced_changes.append(
                _UnsyncedChange(
                    offset, content_access.read(offset, len(data)), content_access.size(), bytes(data)
                )
            )
            content_access.write(offset, data)
            self._count_operation()

    def truncate(self, file: _MediumFile, content_access: "_ContentAccess", size: int) -> None:
        """Change the size of a file of the simulated medium."""
        if not self.is_without_power:
            size_before = content_access.size()
            file.unsynced_changes.append(
                _UnsyncedChange(
                    size, content_access.read(size, max(0, size_before - size)), size_before, None
                )
            )
            content_access.resize(size)
            self._count_operation()

    def sync(self, file: _MediumFile) -> None:
        """Make durable what was written to a file of the simulated medium."""
        if not self.is_without_power:
            self._count_operation()
        if not self.is_without_power:
            file.unsynced_changes.clear()


def _apply_name_change(file_by_path: dict[Path, _MediumFile], name_change: _NameChange) -> None:
    """Apply one creation, renaming or removal of a file to ``file_by_path``, the files by path."""
    old_path, new_path, file = name_change
    if old_path is not None:
        file_by_path.pop(old_path, None)
    if new_path is not None:
        file_by_path[new_path] = file


@dataclass(slots=True)
class _ContentAccess:
    """The functions that read, write and resize one open file, provided by SQLite or by plain Python."""

    read: Callable[[int, int], bytes]
    """The function that reads bytes of the open file: (offset, size) -> bytes."""
    write: Callable[[int, bytes], object]
    resize: Callable[[int], object]
    size: Callable[[], int]


class _ForgetfulFile:
    """:class:`~meters.storage.StorageFile` on a simulated medium."""

    def __init__(
        self, medium: SimulatedMedium, path: Path, file_on_disk: StorageFile, file: _MediumFile
    ) -> None:
        self._medium, self._path, self._file_on_disk, self._file = medium, path, file_on_disk, file
        self._content_access = _ContentAccess(
            file_on_disk.read_at, file_on_disk.write_at, file_on_disk.truncate, file_on_disk.size
        )
        self.close = file_on_disk.close

    def read_at(self, offset: int, size: int) -> bytes:
        """Return up to ``size`` bytes from ``offset``."""
        self._medium.check_power(self._path)
        return self._file_on_disk.read_at(offset, size)

    def size(self) -> int:
        """Return the file's size in bytes."""
        self._medium.check_power(self._path)
        return self._file_on_disk.size()

    def write_at(self, offset: int, data: bytes) -> None:
        """Write ``data`` at ``offset``; not durable before :meth:`sync`."""
        self._medium.write(self._file, self._content_access, offset, data)

    def truncate(self, size: int) -> None:
        """Set the size of the file."""
        self._medium.truncate(self._file, self._content_access, size)

    def allocate(self, size: int) -> None:
        """Set the file's size, and make it durable with the file's content."""
        self.truncate(size)
        self.sync()

    def sync(self) -> None:
        """Make the file's content durable."""
        self._medium.sync(self._file)


class ForgetfulStorage(DiskStorage):
    """The journal's storage on a simulated medium. Its random bytes come from the function ``random_bytes``.

    Use one for each run of a process: :meth:`close_open_files` closes what it has open.
    """

    def __init__(self, medium: SimulatedMedium, random_bytes: Callable[[int], bytes]) -> None:
        self._medium = medium
        self._random_bytes = random_bytes
        self._vfs = _Vfs(medium)
        self._databases: list[_ForgetfulDatabase] = []

    def close_open_files(self) -> None:
        """Close the files that the stopped process left open."""
        for database in self._databases:
            database.close()
        self._vfs.unregister()

    def connect(self, path: Path, *, read_only: bool) -> Database:
        """Open the database at ``path``, creating it unless ``read_only``."""
        self._databases.append(_ForgetfulDatabase(path, self._vfs.name, read_only=read_only))
        return self._databases[-1]

    def open_file(self, path: Path, *, write: bool) -> StorageFile:
        """Open the file at ``path``, creating it if ``write``."""
        self._medium.check_power(path)
        is_created = write and not path.exists()
        file_on_disk = super().open_file(path, write=write)
        # A file that is only read has nothing to undo, so its _MediumFile is never used.
        file = self._medium.track_file(path, is_created=is_created) if write else _MediumFile()
        return _ForgetfulFile(self._medium, path, file_on_disk, file)

    def exists(self, path: Path) -> bool:
        """Return whether a file or folder exists on the simulated medium."""
        self._medium.check_power(path)
        return super().exists(path)

    def list_names(self, folder: Path) -> list[str]:
        """Return the names in ``folder``, sorted; empty if it is absent."""
        self._medium.check_power(folder)
        return super().list_names(folder)

    def rename(self, old: Path, new: Path) -> None:
        """Rename a file of the simulated medium from ``old`` to ``new``."""
        self._medium.rename(old, new)

    def remove(self, path: Path) -> None:
        """Remove a file of the simulated medium."""
        if path.exists():
            self._medium.remove(path)

    def sync_folder(self, folder: Path) -> None:
        """Make creations, renamings and removals of files in ``folder`` durable."""
        self._medium.sync_folder(folder)

    def sync_together(self, files: Sequence[StorageFile]) -> None:
        """Sync several files one after the other, so that the power may fail between any two."""
        for file in files:
            file.sync()

    def random_bytes(self, count: int) -> bytes:
        """Return ``count`` bytes of the function that this storage was created with."""
        return self._random_bytes(count)


class _ForgetfulDatabase:
    """:class:`~meters.storage.Database` on a simulated medium, opened with apsw and locked exclusively.

    The locks and the index of the write-ahead log are in the process, not in files of the medium.
    """

    def __init__(self, path: Path, vfs_name: str, *, read_only: bool) -> None:
        write_flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        flags = apsw.SQLITE_OPEN_READONLY if read_only else write_flags
        with _convert_sqlite_errors():
            self._connection = apsw.Connection(str(path), flags=flags, vfs=vfs_name)
        self.execute("PRAGMA locking_mode=EXCLUSIVE")

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> DatabaseRows:
        """Run one SQL statement, and return its rows."""
        with _convert_sqlite_errors():
            return _Rows(list(self._connection.execute(sql, tuple(parameters))))

    def close(self) -> None:
        """Close the connection to the database."""
        with suppress(apsw.Error):
            self._connection.close(force=True)


class _convert_sqlite_errors:  # noqa: N801 (a context manager, named like those of contextlib)
    """Context manager that converts SQLite's errors into the storage errors of :mod:`meters.storage`."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, apsw.Error):
            raise MediumError(f"{type(error).__name__}: {error}") from error


class _Rows(list[tuple[object, ...]]):
    """The rows that an SQL statement returned, all read at once."""

    def fetchone(self) -> tuple[object, ...] | None:
        """Remove and return the next row; return None if there is none left."""
        return self.pop(0) if self else None

    def fetchall(self) -> list[tuple[object, ...]]:
        """Return the remaining rows."""
        return list(self)


class _Vfs(apsw.VFS):
    """The VFS through which SQLite accesses a simulated medium, on top of SQLite's own unix VFS."""

    def __init__(self, medium: SimulatedMedium) -> None:
        self.name = f"forgetful{next(_vfs_numbers)}"
        self._medium = medium
        super().__init__(self.name, "unix")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> "_VfsFile":  # noqa: N802 (signature of apsw)
        """Open a file of a database."""
        if name is None:
            raise apsw.CantOpenError("a temporary file has no medium here")
        if self._medium.is_without_power:
            raise apsw.CantOpenError("the simulated medium has no power")
        path = Path(name.filename() if isinstance(name, apsw.URIFilename) else name)
        return _VfsFile(self._medium, path, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802, FBT001 (signature of apsw)
        """Remove a file of a database."""
        self._medium.remove(Path(filename))
        if syncdir:
            self._medium.sync_folder(Path(filename).parent)


class _VfsFile(apsw.VFSFile):
    """An open file of SQLite on the simulated medium."""

    def __init__(
        self, medium: SimulatedMedium, path: Path, name: str | apsw.URIFilename, flags: list[int]
    ) -> None:
        is_created = not path.exists()
        super().__init__("unix", name, flags)
        self._medium = medium
        self._file = medium.track_file(path, is_created=is_created)
        self._folder = path.parent
        self._is_read_only = bool(flags[0] & apsw.SQLITE_OPEN_READONLY)
        # SQLite's unix VFS syncs the folder at the first sync of a rollback journal or WAL that it made.
        new_log_flags = apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL
        self._must_sync_folder = is_created and bool(flags[0] & new_log_flags)
        self._content_access = _ContentAccess(self._read, self._write, super().xTruncate, super().xFileSize)

    def _read(self, offset: int, amount: int) -> bytes:
        """Return up to ``amount`` bytes from ``offset``, as the medium shows them."""
        available = max(0, min(amount, super().xFileSize() - offset))
        return super().xRead(available, offset) if available else b""

    def _write(self, offset: int, data: bytes) -> None:
        """Write bytes at ``offset``; not durable before a sync."""
        super().xWrite(data, offset)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        """Return up to ``amount`` bytes (SQLite's interface)."""
        if self._medium.is_without_power:
            raise apsw.IOError("the simulated medium has no power")
        return super().xRead(amount, offset)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        """Write ``data`` at ``offset`` (SQLite's interface)."""
        self._medium.write(self._file, self._content_access, offset, data)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        """Set the size of the file (SQLite's interface)."""
        self._medium.truncate(self._file, self._content_access, newsize)

    def xLock(self, level: int) -> None:  # noqa: N802
        """Lock the file (SQLite's interface).

        A file that is open for reading only is not locked. With the index of the write-ahead log in the process, SQLite
        wants an exclusive lock even to read, and Linux refuses that lock for such a file. No other process has the file
        open.
        """
        if not self._is_read_only:
            super().xLock(level)

    def xUnlock(self, level: int) -> None:  # noqa: N802
        """Unlock the file (SQLite's interface)."""
        if not self._is_read_only:
            super().xUnlock(level)

    def xSync(self, flags: int) -> None:  # noqa: N802, ARG002
        """Make the file's content durable (SQLite's interface)."""
        self._medium.sync(self._file)
        if self._must_sync_folder:
            self._medium.sync_folder(self._folder)
            self._must_sync_folder = False

    def xDeviceCharacteristics(self) -> int:  # noqa: N802
        """Return 0: the medium promises no atomic writes, ordered appends or safe overwrites."""
        return 0
