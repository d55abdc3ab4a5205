"""The folder ``archive`` of a storage medium, which holds the journal archive or is a symbolic link to it.

If the cabinet file names another folder for the archive, ``archive`` is a symbolic link to that folder.
Readers follow the link, so no command needs the cabinet file to find the archive.
"""

from pathlib import Path

from egm.errors import OperatorError
from egm.secret_files import sync_folder
from meters.archive import ARCHIVE_FOLDER


def link_archive_folder(medium: Path, archive: Path | None) -> None:
    """Create a link named ``archive`` in the folder ``medium`` that leads to the folder of the journal archive.

    If ``archive`` is None, the archive is stored in ``medium`` itself, and nothing is changed. Raises
    :class:`OperatorError` if ``medium`` already has archive files or a link to another folder: a person must move
    the files and remove the old folder or link.
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
