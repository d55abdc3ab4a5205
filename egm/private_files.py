"""Private files: the machine uses a secret only if nobody except the file's owner can read it.

The functions that create files are here too, because a file's permissions are set when it is created.
"""

import os
import stat
from pathlib import Path

from egm.errors import OperatorError
from egm.private_process import GROUP_AND_OTHERS_PERMISSION_BITS


def require_private_files(*paths: Path) -> None:
    """Raise OperatorError if anyone except the owner may read or write one of the files ``paths``.

    The error names the first such file. A missing file is not an error.
    """
    for path in paths:
        try:
            mode = path.stat().st_mode
        except FileNotFoundError:
            continue
        except OSError as error:
            raise OperatorError(f"{path}: {error.strerror}") from None
        if mode & GROUP_AND_OTHERS_PERMISSION_BITS:
            raise OperatorError(
                f"{path}: users other than its owner may read or write it (mode {mode & 0o777:o}): restrict it with "
                "chmod 600, and replace the secret if another user may have read it"
            )


def make_folder_private(folder: Path, *own_names: str) -> None:
    """Restrict one of the machine's folders to its owner.

    The folder is changed only if it is certainly the machine's: it is empty, its own name is one of ``own_names``, or
    it contains a file or folder of such a name. Otherwise it is left unchanged, and OperatorError is raised. A folder
    shared with the group of the screens' user (:func:`share_with_screens`)
    stays accessible to that group. Raises OSError if the folder cannot be changed.
    """
    folder_status = folder.stat()
    excess_rights = folder_status.st_mode & (
        GROUP_AND_OTHERS_PERMISSION_BITS & ~stat.S_IXGRP
        if folder_status.st_mode & stat.S_ISGID
        else GROUP_AND_OTHERS_PERMISSION_BITS
    )
    if not excess_rights:
        return
    if folder_status.st_uid != os.geteuid():
        raise OperatorError(
            f"{folder}: belongs to another user, and others may read or change it: name a folder of this user"
        )
    if (
        any(folder.iterdir())
        and folder.name not in own_names
        and not any((folder / own_name).exists() for own_name in own_names)
    ):
        raise OperatorError(
            f"{folder}: users other than its owner may read or change it (mode {folder_status.st_mode & 0o777:o}), and"
            " it contains files that are not a machine's: run chmod 700 on it, or name another folder"
        )
    folder.chmod(stat.S_IMODE(folder_status.st_mode) & ~excess_rights)


def share_with_screens(path: Path, mode: int) -> None:
    """Give the screens' group access to a file of the run folder, if that folder is shared with the group.

    A shared folder has the set-group-ID bit. The Debian package creates such a folder, because its screens run as a
    separate user. ``mode`` is the file's new mode, with the rights of its group.
    """
    if path.parent.stat().st_mode & stat.S_ISGID:
        path.chmod(mode)


def write_private_file(path: Path, data: str | bytes) -> None:
    """Write a new file that only its owner can read, and sync it to disk.

    Raises OSError; FileExistsError if the file exists.
    """
    _write_file(path, data, 0o600)


def _write_file(path: Path, data: str | bytes, mode: int) -> None:
    """Write a new file with the permissions ``mode``, durably."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data.encode() if isinstance(data, str) else data)
        file.flush()
        os.fsync(file.fileno())


def replace_private_file(path: Path, data: str | bytes) -> None:
    """Write a file that only its owner can read, replacing any old one durably and atomically."""
    _replace_file(path, data, 0o600)


def replace_public_file(path: Path, data: str | bytes) -> None:
    """Write a file like :func:`replace_private_file`, but readable by everybody whom the umask allows."""
    _replace_file(path, data, 0o644)


def _replace_file(path: Path, data: str | bytes, mode: int) -> None:
    """Write a file with the permissions ``mode``, replacing any old one durably and atomically."""
    new_path = path.with_name(path.name + ".new")
    new_path.unlink(missing_ok=True)
    _write_file(new_path, data, mode)
    new_path.replace(path)
    sync_folder(path.parent)


def replace_transient_file(path: Path, data: str | bytes) -> None:
    """Write a file that only its owner can read, without syncing it: for files that are rewritten at each start."""
    new_path = path.with_name(path.name + ".new")
    new_path.unlink(missing_ok=True)
    descriptor = os.open(new_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data.encode() if isinstance(data, str) else data)
    new_path.replace(path)


def sync_folder(folder: Path) -> None:
    """Make the creation, renaming and removal of files in a folder durable. Raises OSError if that fails."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
