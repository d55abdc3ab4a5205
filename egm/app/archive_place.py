"""Location of a medium's journal archive: in its folder, or where the cabinet file says, behind a link there.

Readers find the archive by the memory's own folder, so no command needs a cabinet file for it.
"""

from pathlib import Path

from egm.errors import OperatorError
from egm.secret_files import sync_folder
from meters.archive import FOLDER


def link_archive(medium: Path, archive: Path | None) -> None:
    """Make ``archive`` the folder of the journal's archive on ``medium``, by a symbolic link there.

    If ``archive`` is None, change nothing. Raises :class:`OperatorError` if the archive already exists
    elsewhere: a person must move its files, then remove the link.
    """
    link = medium / FOLDER
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
    except OSError as why:
        raise OperatorError(f"the archive cannot be stored in {target}: {why.strerror or why}") from why
