"""The journal's storage on the simulated disk: plain files, and SQLite through an apsw VFS."""

import contextlib
import functools
import itertools
import os
from pathlib import Path

import apsw
from powercut_disk import DiskFull, Inode, PowerCut

from meters.errors import JournalUnwritable, MediumFull
from meters.storage import MediumError

_names = itertools.count()


def refusals(method):
    """Report a full disk with SQLite's own error; after a power cut nothing has an effect.

    SQLite is let run on into the void, and :class:`SimDatabase` raises the cut when it returns.
    """

    @functools.wraps(method)
    def call(self, *arguments):
        if "_disk" not in vars(self):  # collected together with a connection that SQLite closes only now
            return None
        try:
            return method(self, *arguments)
        except PowerCut:
            return None
        except DiskFull:
            raise apsw.FullError("database or disk is full") from None

    return call


class SimFile:
    """:class:`meters.storage.StorageFile` on the simulated disk."""

    def __init__(self, disk, path):
        self._disk, self._path, self._inode = disk, path, disk.names[path]

    def read_at(self, offset, size):
        return bytes(self._inode.seen[offset : offset + size])

    def write_at(self, offset, data):
        self._full(self._disk.write, offset, data)

    def truncate(self, size):
        self._full(self._disk.truncate, size)

    def allocate(self, size):
        self._full(self._disk.truncate, size)
        self.sync()

    def size(self):
        return len(self._inode.seen)

    def sync(self):
        self._disk.sync(self._path, self._inode)

    def close(self):
        pass

    def _full(self, change, *arguments):
        try:
            change(self._path, self._inode, *arguments)
        except DiskFull:
            raise MediumFull(f"{self._path}: No space left on device") from None


class SimStorage:
    """:class:`meters.storage.Storage` on the simulated disk."""

    def __init__(self, disk):
        self.disk = disk
        self._vfs = SimVFS(disk)
        self._databases = []

    def connect(self, path, *, read_only):
        database = SimDatabase(self.disk, path, self._vfs, read_only)
        self._databases.append(database)
        return database

    def leave(self):
        """Close the connections of an ended process; on a disk without power this has no effect.

        SQLite would keep its view of the disk, and with it every byte, for as long as Python lives.
        """
        for database in self._databases:
            with contextlib.suppress(PowerCut):
                database.close()
        self._databases.clear()
        self._vfs.unregister()

    def open_file(self, path, *, write):
        if path not in self.disk.names:
            if not write:
                raise JournalUnwritable(f"{path}: No such file or directory")
            self._full(self.disk.create, path)
        return SimFile(self.disk, path)

    def exists(self, path):
        return path in self.disk.names

    def list_names(self, folder):
        return sorted(p.name for p in self.disk.names if p.parent == folder)

    def make_folder(self, folder):
        pass

    def rename(self, old, new):
        self._full(self.disk.move, old, new)

    def remove(self, path):
        if path in self.disk.names:
            self._full(self.disk.unlink, path)

    def sync_folder(self, folder):
        self.disk.sync_folder(folder)

    def sync_together(self, files):
        """Sync one file after the other, so that a cut may fall between any two."""
        for file in files:
            file.sync()

    def count_free_bytes(self, folder):
        return self.disk.count_free_bytes()

    def make_private(self, path):
        return False

    def random_bytes(self, count):
        return os.urandom(count)  # noqa: TID251

    def _full(self, change, *arguments):
        try:
            change(*arguments)
        except DiskFull:
            raise MediumFull(f"{arguments[0]}: No space left on device") from None


class SimDatabase:
    """:class:`meters.storage.Database` on apsw over the simulated disk.

    The shared-memory index of WAL mode is not part of the medium; exclusive locking keeps it in the process.
    """

    def __init__(self, disk, path, vfs, read_only):
        self._disk = disk
        flags = (
            apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        )
        self._connection = self._guard(lambda: apsw.Connection(str(path), flags=flags, vfs=vfs.name))
        self.execute("PRAGMA locking_mode=EXCLUSIVE").fetchall()

    def execute(self, sql, parameters=()):
        return SimRows(self._guard(lambda: list(self._connection.execute(sql, tuple(parameters)))))

    def close(self):
        with contextlib.suppress(apsw.Error):
            self._connection.close(True)
        if self._disk.dead:
            raise PowerCut

    def _guard(self, run):
        try:
            result = run()
        except apsw.Error as error:
            if self._disk.dead:
                raise PowerCut from None
            raise MediumError(f"{type(error).__name__}: {error}") from error
        if self._disk.dead:
            raise PowerCut
        return result


class SimRows:
    def __init__(self, rows):
        self._rows = iter(rows)

    def fetchone(self):
        return next(self._rows, None)

    def fetchall(self):
        return list(self._rows)

    def __iter__(self):
        return self._rows


class SimVFS(apsw.VFS):
    """SQLite's view of the simulated disk."""

    def __init__(self, disk):
        self.name = f"powercut{next(_names)}"
        self._disk = disk
        super().__init__(self.name, "")

    def xFullPathname(self, name):
        return name

    @refusals
    def xOpen(self, name, flags):
        filename = name.filename() if isinstance(name, apsw.URIFilename) else name
        path = Path(filename) if filename else Path(f"/temporary/{next(_names)}")
        is_new = path not in self._disk.names
        if is_new:
            if not flags[0] & apsw.SQLITE_OPEN_CREATE:
                raise apsw.CantOpenError
            try:
                self._disk.create(path)
            except PowerCut:
                self._disk.names.setdefault(path, Inode())
        # SQLite's unix VFS syncs the folder at the first sync of a journal or WAL it made.
        journals = apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL
        flags[1] = flags[0]
        return SimVFSFile(self._disk, path, sync_name=is_new and bool(flags[0] & journals))

    @refusals
    def xDelete(self, name, sync_folder):
        path = Path(name)
        self._disk.unlink(path)
        if sync_folder:
            self._disk.sync_folder(path.parent)

    def xAccess(self, name, flags):
        return Path(name) in self._disk.names


class SimVFSFile:
    """One file of SQLite on the simulated disk."""

    def __init__(self, disk, path, *, sync_name):
        self._disk, self._path, self._inode, self._sync_name = disk, path, disk.names[path], sync_name

    def xRead(self, amount, offset):
        return bytes(self._inode.seen[offset : offset + amount])

    @refusals
    def xWrite(self, data, offset):
        self._disk.write(self._path, self._inode, offset, data)

    @refusals
    def xTruncate(self, size):
        self._disk.truncate(self._path, self._inode, size)

    @refusals
    def xSync(self, flags):
        self._disk.sync(self._path, self._inode)
        if self._sync_name:
            self._disk.sync_folder(self._path.parent)
            self._sync_name = False

    def xFileSize(self):
        return len(self._inode.seen)

    def xClose(self):
        pass

    def xLock(self, level):
        pass

    def xUnlock(self, level):
        pass

    def xCheckReservedLock(self):
        return False

    def xFileControl(self, op, pointer):
        return False

    def xSectorSize(self):
        return 4096

    def xDeviceCharacteristics(self):
        # No promise at all: no atomic writes, no ordered appends, no safe overwrite.
        return 0
