"""Poker rooms whose definitions state a charge for playing time, or a time to act."""

from pathlib import Path

from paytables.definition import LIBRARY_FOLDER

TIME_TO_ACT = "\n[time_to_act]\nseconds = 10\nbank_seconds = 30\n"
CHARGE = "\n[time_charge]\ncredits = 20\nminutes = 30\n"


def write_timed_room(folder: Path, terms: str = CHARGE, name: str = "timed-room") -> Path:
    """Write the library's hold'em room with added ``terms`` (default: 20 credits for 30 minutes); return its path."""
    text = next(LIBRARY_FOLDER.rglob("quebec-texas-holdem-room.toml")).read_text(encoding="utf-8")
    path = folder / f"{name}.toml"
    path.write_text(
        text.replace('id = "quebec-texas-holdem-room"', f'id = "{name}"') + terms, encoding="utf-8"
    )
    return path
