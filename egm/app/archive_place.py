"""Folder of the journal archive on a storage medium, or the symbolic link to it.

The archive is a subfolder of the medium. If the cabinet file names another folder, the subfolder is a
symbolic link to that folder. Readers follow the link, so no command needs the cabinet file to find the
archive.
"""

from pathlib import Path

from egm.errors import OperatorError
from egm.secret_files import sync_folder
from meters.archive import ARCHIVE_FOLDER


def link_archive(medium: Path, archive: Path | None) -> None:
    """Create a symbolic link in the folder ``medium``, so that the journal archive is stored in ``archive``.

    If ``archive`` is None, change nothing. Raises :class:`OperatorError` if the archive already exists
    elsewhere: a person must move its files, then remove the link.
    """
    link = medium / ARCHIVE_FOLDER
    if archive is None or not medium.is_dir():
        return
    target = archive.absolute()
    current_target = link.readlink() if link.is_symlink() else None
    if current_target == target:
        return
    if current_target is not None or (link.exists() and any(link.iterdir())):
        raise OperatorError(
            f"the archive is in {current_target or link}, but the cabinet file says {target}:"
            f" move its files while the machine is off, and remove {link}"
        )
    try:
        target.mkdir(parents=True, exist_ok=True, mode=0o700)
        if link.exists():
            link.rmdir()
        link.symlink_to(target)
        sync_folder(medium)
    except OSError as error:
        raise OperatorError(f"the archive cannot be stored in {target}: {error.strerror or error}") from error
