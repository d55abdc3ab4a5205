"""Start-up progress: what the starting machine is doing, for screens before they can connect to it.

It is one file in the run folder: the machine writes it (:func:`write_activity`) until its socket is served,
the screen reads it (:func:`read_activity`). It is for display only.
"""

import json
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from egm.secret_files import replace_transient, share_with_screens


@dataclass(frozen=True, slots=True)
class StartUpActivity:
    """The current activity of the starting machine: a key of the catalogue's ``boot`` texts, and its values."""

    activity_code: str
    values: dict[str, str | int] = field(default_factory=dict)


def write_activity(file: Path, activity: StartUpActivity | None) -> None:
    """Write what the starting machine is doing to the file; with None, remove it: the machine is up.

    A full disk is ignored.
    """
    with suppress(OSError):
        if activity is None:
            file.unlink(missing_ok=True)
            return
        replace_transient(file, json.dumps({"what": activity.activity_code, "values": activity.values}))
        share_with_screens(file, 0o640)


def read_activity(file: Path) -> StartUpActivity | None:
    """Return what the starting machine is doing, as the file states; None if there is no valid file."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        return StartUpActivity(
            str(data["what"]), {str(name): value for name, value in data["values"].items()}
        )
    except (OSError, ValueError, KeyError, RecursionError, TypeError, AttributeError):
        return None
