"""A poker room whose definition states a charge for the time played."""

from pathlib import Path

from paytables.definition import LIBRARY

CHARGE = "\n[time_charge]\ncredits = 20\nminutes = 30\n"


def write_timed_room(folder: Path) -> Path:
    """Write the library's hold'em room under another name, with a charge of 20 credits for 30 minutes."""
    text = next(LIBRARY.rglob("quebec-texas-holdem-room.toml")).read_text(encoding="utf-8")
    path = folder / "timed-room.toml"
    path.write_text(
        text.replace('id = "quebec-texas-holdem-room"', 'id = "timed-room"') + CHARGE, encoding="utf-8"
    )
    return path
