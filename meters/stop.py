"""The mark of a stopped machine: it outlives restarts and only an authorised clear removes it (A-05)."""

import json
from pathlib import Path
from typing import Final

from meters.errors import JournalDamaged
from meters.storage import Storage, read_file, replace_file

FILE_NAME: Final = "stopped.json"


def mark(storage: Storage, state_dir: Path, why: str) -> None:
    """Leave the mark, durably; the first reason stays."""
    if not storage.exists(state_dir / FILE_NAME):
        replace_file(storage, state_dir / FILE_NAME, json.dumps({"why": why}).encode())


def check(storage: Storage, state_dir: Path) -> None:
    """Raise :class:`JournalDamaged` when the mark is there."""
    data = read_file(storage, state_dir / FILE_NAME)
    if data is not None:
        raise JournalDamaged(
            str(state_dir), f"stopped until an authorised clear: {data.decode(errors='replace')}"
        )
