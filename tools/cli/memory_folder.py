"""The state folder a person names to a command that reads a machine's memory, and makes none."""

from pathlib import Path

import click

from egm.config.cabinet_file import default_state_dir


def memory_in(state: Path | None, second: Path | None = None) -> Path:
    """Return the folder; ``second``: where the second copy lies, which alone is enough.

    Raises ClickException where there is no such folder.
    """
    folder = state or default_state_dir()
    if not folder.is_dir() and (second is None or not second.is_dir()):
        what = "is no folder" if folder.exists() else "there is no such folder"
        raise click.ClickException(
            f"{folder}: {what}: no machine was ever started here (--state names another)"
        )
    return folder
