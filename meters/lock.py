"""Lock on a state folder, released by the operating system however the process ends."""

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from meters.errors import JournalLocked, JournalUnwritable

#: Name of the locked file.
MACHINE_LOCK_FILE_NAME: Final = "machine.lock"


class FolderLock:
    """An exclusive lock on a state folder, held until :meth:`release` or the end of the process."""

    def __init__(self, folder: Path, name: str = MACHINE_LOCK_FILE_NAME) -> None:
        """Take the lock on ``folder``.

        ``name`` is the file that is locked; the default is the one that locks the journal. Raises
        :class:`JournalLocked`, naming the process that holds it, or :class:`JournalUnwritable`.
        """
        path = folder / name
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise JournalUnwritable(f"state folder {folder}: {error.strerror} ({path})") from error
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder_process_number = os.pread(self._fd, 32, 0).decode(errors="replace").strip() or "unknown"
            os.close(self._fd)
            raise JournalLocked(
                f"state folder {folder} is in use by the machine of process {holder_process_number}"
            ) from error
        # The process number is only for error messages; on a full disk the lock works without it.
        with suppress(OSError):
            os.pwrite(self._fd, f"{os.getpid():<31}\n".encode(), 0)

    def release(self) -> None:
        """Release the lock on the state folder."""
        os.close(self._fd)
