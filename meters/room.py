"""Room kept in reserve on each medium, so that a full one still takes what is owed.

A file of its own size lies on each medium. Where less room than a part of it is left, or a write is refused
for want of room, both reserves are given up: there is room again for paying out and recording, and the
machine begins nothing new until somebody has made room and the reserves are back.
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from meters.errors import JournalUnwritable
from meters.storage import Storage

FILE_NAME: Final = "reserve"


class Room:
    """The reserve of ``size`` bytes in each of ``folders``; none where ``size`` is 0."""

    def __init__(self, storage: Storage, folders: Sequence[Path], size: int) -> None:
        self._storage = storage
        self._folders = tuple(dict.fromkeys(folders)) if size else ()
        self._size = size

    def look(self) -> str:
        """Return which medium is full and how; nothing when every reserve is there, or could be made again.

        It is made again only where twice as much room is left, so that what is done next does not need it.
        """
        full = ""
        for folder in self._folders:
            try:
                free = self._storage.free_bytes(folder)
                whole = self._is_whole(folder)
                if free >= (self._size // 4 if whole else 2 * self._size):
                    if not whole:
                        self._make(folder)
                    continue
                full = full or f"{folder}: {free >> 20} MiB left"
            except JournalUnwritable as why:
                full = full or str(why)
        if full:
            self.release()
        return full

    def release(self) -> bool:
        """Give every reserve up; whether there was one."""
        given = False
        for folder in self._folders:
            with suppress(JournalUnwritable):
                if self._storage.exists(folder / FILE_NAME):
                    self._storage.remove(folder / FILE_NAME)
                    self._storage.sync_folder(folder)
                    given = True
        return given

    def _is_whole(self, folder: Path) -> bool:
        path = folder / FILE_NAME
        if not self._storage.exists(path):
            return False
        file = self._storage.open_file(path, write=False)
        try:
            return file.size() >= self._size
        finally:
            file.close()

    def _make(self, folder: Path) -> None:
        file = self._storage.open_file(folder / FILE_NAME, write=True)
        try:
            file.allocate(self._size)
        finally:
            file.close()
        self._storage.sync_folder(folder)
