"""The folder ``archive`` of a storage medium, which holds the journal archive or is a symbolic link to it.

If the cabinet file names another folder for the archive, ``archive`` is a symbolic link to that folder.
Readers follow the link, so no command needs the cabinet file to find the archive.
"""

from pathlib import Path

from egm.errors import OperatorError
from egm.private_files import sync_folder
from meters.archive import ARCHIVE_FOLDER


def link_archive_folder(medium_folder: Path, archive_folder: Path | None) -> None:
    """Create a link named ``archive`` in the folder ``medium_folder`` that leads to the journal archive's folder.

    If ``archive_folder`` is None, the archive is an ordinary folder ``archive`` in ``medium_folder``, and no link is
    created; nor is one if ``medium_folder`` does not exist yet. Raises :class:`OperatorError` if the archive's folder
    cannot be created, or if ``medium_folder`` already has archive files or a link to another folder: a person must move
    the files and remove the old folder or link.
    """
    archive_path = medium_folder / ARCHIVE_FOLDER
    if archive_folder is None or not medium_folder.is_dir():
        return
    target = archive_folder.absolute()
    current_target = archive_path.readlink() if archive_path.is_symlink() else None
    if current_target == target:
        return
    if current_target is not None or (archive_path.exists() and any(archive_path.iterdir())):
        raise OperatorError(
            f"the archive is in {current_target or archive_path}, but the cabinet file says {target}:"
            f" move its files while the machine is off, and remove {archive_path}"
        )
    try:
        target.mkdir(parents=True, exist_ok=True, mode=0o700)
        if archive_path.exists():
            archive_path.rmdir()
        archive_path.symlink_to(target)
        sync_folder(medium_folder)
    except OSError as error:
        raise OperatorError(f"the archive cannot be stored in {target}: {error.strerror or error}") from error
