"""Start-up progress: the current activity of a starting machine, for a screen that has no connection yet.

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
    """The current activity of a starting machine: a key of the catalogue's ``boot`` texts, and the text's values."""

    what: str
    values: dict[str, str | int] = field(default_factory=dict)


def write_activity(file: Path, activity: StartUpActivity | None) -> None:
    """Write the current start-up activity to the file, or remove the file when the machine is up (None).

    A full disk is ignored.
    """
    with suppress(OSError):
        if activity is None:
            file.unlink(missing_ok=True)
            return
        replace_transient(file, json.dumps({"what": activity.what, "values": activity.values}))
        share_with_screens(file, 0o640)


def read_activity(file: Path) -> StartUpActivity | None:
    """Return the start-up activity that the file states, or None if there is no valid file."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        return StartUpActivity(
            str(data["what"]), {str(name): value for name, value in data["values"].items()}
        )
    except (OSError, ValueError, KeyError, RecursionError, TypeError, AttributeError):
        return None
