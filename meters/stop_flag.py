"""The flag of a stopped machine: a file that survives restarts; only an authorised clear removes it (A-05)."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from meters.errors import JournalDamaged, JournalUnwritable
from meters.storage import Storage, read_file, replace_file

#: Name of the file that is the flag.
STOP_FILE_NAME: Final = "stopped.json"


def write_stop_flag(storage: Storage, folders: Sequence[Path], reason: str) -> None:
    """Write the machine's stop flag, with the ``reason``, durably to each medium that accepts it.

    If a medium already has a stop flag, that flag's reason stays. Raises :class:`JournalUnwritable` if no
    medium accepts it.
    """
    refusals = []
    for folder in folders:
        try:
            if not storage.exists(folder / STOP_FILE_NAME):
                replace_file(storage, folder / STOP_FILE_NAME, json.dumps({"why": reason}).encode())
        except JournalUnwritable as refusal:
            refusals.append(refusal)
    if len(refusals) == len(folders):
        raise refusals[0]


def check_stop_flag(storage: Storage, folders: Sequence[Path]) -> None:
    """Raise :class:`JournalDamaged` if the machine's stop flag is on any medium."""
    for folder in folders:
        data = read_file(storage, folder / STOP_FILE_NAME)
        if data is not None:
            raise JournalDamaged(
                str(folder), f"stopped until an authorised clear: {data.decode(errors='replace')}"
            )
