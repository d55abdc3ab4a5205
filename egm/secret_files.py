"""Secret files: secrets only while nobody but their owner can read them."""

import errno
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from egm.errors import OperatorError
from egm.private_process import OTHERS

#: What a medium fails with -> a code of ``notice.refused``, which tells staff what to do.
_MEDIUM: Final[Mapping[int | None, str]] = {
    errno.ENOSPC: "medium_full",
    errno.EDQUOT: "medium_full",
    errno.EROFS: "medium_locked",
    errno.EIO: "medium_fails",
}


def medium_failure(error: OSError) -> str:
    """The words for what one of the machine's own media failed with: a code of ``notice.refused``."""
    return _MEDIUM.get(error.errno, "medium_other")


def require_private(*paths: Path) -> None:
    """Raise OperatorError for the first of these files that others than its owner may read or write.

    A file that is not there is nobody's to read.
    """
    for path in paths:
        try:
            mode = path.stat().st_mode
        except FileNotFoundError:
            continue
        except OSError as error:
            raise OperatorError(f"{path}: {error.strerror}") from None
        if mode & 0o077:
            raise OperatorError(
                f"{path}: others than its owner may read or write it (mode {mode & 0o777:o}): a secret they "
                "may have read should be made anew; else make it its owner's only with chmod 600"
            )


def close_folder(folder: Path, *ours: str) -> None:
    """Take a folder of the machine's from all but its owner. Raises OSError, and OperatorError naming it.

    One that holds anything is closed only where one of ``ours`` is in it, or is its name: a machine that is
    given a folder which others share leaves it as it is, and refuses it. A folder that is shared with the
    screens' user (:func:`share`) may be passed through by their group.
    """
    found = folder.stat()
    rights = found.st_mode & (OTHERS & ~stat.S_IXGRP if found.st_mode & stat.S_ISGID else OTHERS)
    if not rights:
        return
    if found.st_uid != os.geteuid():
        raise OperatorError(f"{folder}: is another user's, and others may read or change it")
    if any(folder.iterdir()) and folder.name not in ours and not any((folder / one).exists() for one in ours):
        raise OperatorError(
            f"{folder}: others than its owner may read or change it (mode {found.st_mode & 0o777:o}), and it"
            " holds other things than a machine's: make it its owner's only with chmod 700, or name another"
        )
    folder.chmod(stat.S_IMODE(found.st_mode) & ~rights)


def share(path: Path, mode: int) -> None:
    """Let the screens use a file of the run folder, where that folder is shared with a group of theirs.

    It is where it hands its group on (set-group-ID): so the Debian package makes it, whose screens are a user
    of their own. ``mode``: of the file, its group's rights among them.
    """
    if path.parent.stat().st_mode & stat.S_ISGID:
        path.chmod(mode)


def write_private(path: Path, data: str | bytes) -> None:
    """Write a new file for its owner only, durably. Raises OSError; FileExistsError where there is one."""
    _write(path, data, 0o600)


def _write(path: Path, data: str | bytes, mode: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data.encode() if isinstance(data, str) else data)
        file.flush()
        os.fsync(file.fileno())


def replace_private(path: Path, data: str | bytes) -> None:
    """The same in the place of any old one: durably, all or nothing."""
    _replace(path, data, 0o600)


def replace_public(path: Path, data: str | bytes) -> None:
    """As :func:`replace_private`, for others to read too, as far as the process's mask lets them."""
    _replace(path, data, 0o644)


def _replace(path: Path, data: str | bytes, mode: int) -> None:
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    _write(fresh, data, mode)
    fresh.replace(path)
    sync_folder(path.parent)


def replace_transient(path: Path, data: str | bytes) -> None:
    """As :func:`replace_private`, but not durable: for what is written anew at each start."""
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data.encode() if isinstance(data, str) else data)
    fresh.replace(path)


def sync_folder(folder: Path) -> None:
    """Make what a folder lists durable. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
