"""Reserved space on each storage medium, so that a full medium can still record what is owed.

Each medium holds a reserve file of a fixed size. If the free space falls below a fraction of that size, if it cannot
be read, or if a write fails for lack of space, the reserve files on both media are deleted. Payouts and records can
then still be written, but the machine starts nothing new until somebody has freed space and the reserve files exist
again.
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from meters.errors import JournalUnwritable
from meters.storage import Storage

#: Name of the reserve file.
RESERVE_FILE_NAME: Final = "reserve"


class DiskReserve:
    """Reserved space on the storage media: a file of ``size_bytes`` bytes in each of ``folders``.

    If ``size_bytes`` is 0, there are no such files.
    """

    def __init__(self, storage: Storage, folders: Sequence[Path], size_bytes: int) -> None:
        self._storage = storage
        self._folders = tuple(dict.fromkeys(folders)) if size_bytes else ()
        self._size_bytes = size_bytes

    def maintain_reserves_and_find_full_medium_error(self) -> str:
        """Check free space and reserve files, and restore missing files; return which medium is full and why, or "".

        A medium with its reserve file is full if less than a quarter of the file's size is free. A medium without
        it is full if less than twice the file's size is free, so that the file is restored only if there is room
        for later writes as well. A medium that cannot be checked counts as full. If any medium is full, the reserve
        files of all media are deleted.
        """
        full_medium_error = ""
        for folder in self._folders:
            try:
                free_bytes = self._storage.count_free_bytes(folder)
                is_intact = self._is_reserve_intact(folder)
                if free_bytes >= (self._size_bytes // 4 if is_intact else 2 * self._size_bytes):
                    if not is_intact:
                        self._allocate_reserve(folder)
                    continue
                full_medium_error = full_medium_error or f"{folder}: {free_bytes >> 20} MiB left"
            except JournalUnwritable as error:
                full_medium_error = full_medium_error or str(error)
        if full_medium_error:
            self.release()
        return full_medium_error

    def release(self) -> bool:
        """Delete the reserve file on every medium to free its space; return whether there was such a file."""
        is_released = False
        for folder in self._folders:
            with suppress(JournalUnwritable):
                if self._storage.exists(folder / RESERVE_FILE_NAME):
                    self._storage.remove(folder / RESERVE_FILE_NAME)
                    self._storage.sync_folder(folder)
                    is_released = True
        return is_released

    def _is_reserve_intact(self, folder: Path) -> bool:
        """Return whether the reserve file in ``folder`` exists and has its full size."""
        path = folder / RESERVE_FILE_NAME
        if not self._storage.exists(path):
            return False
        file = self._storage.open_file(path, write=False)
        try:
            return file.size() >= self._size_bytes
        finally:
            file.close()

    def _allocate_reserve(self, folder: Path) -> None:
        """Create the reserve file in ``folder`` with its full size, durably."""
        file = self._storage.open_file(folder / RESERVE_FILE_NAME, write=True)
        try:
            file.allocate(self._size_bytes)
        finally:
            file.close()
        self._storage.sync_folder(folder)
