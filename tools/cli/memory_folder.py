"""The state folder named on the command line, for commands that only read a machine's memory."""

from pathlib import Path

import click

from egm.config.cabinet_file import find_default_state_folder


def find_memory_folder(state_folder: Path | None, second_folder: Path | None = None) -> Path:
    """Return ``state_folder``; for None, the default state folder.

    Raises ClickException if the folder does not exist; it may be missing if ``second_folder``, the folder of the
    memory's second copy, exists.
    """
    folder = state_folder or find_default_state_folder()
    if not folder.is_dir() and (second_folder is None or not second_folder.is_dir()):
        problem = "is not a folder" if folder.exists() else "does not exist"
        raise click.ClickException(
            f"{folder} {problem}: no machine has been started in this folder; name another one with --state"
        )
    return folder
