"""Start-up progress in a file, for a screen that cannot connect yet because the machine is still starting.

The machine writes the file in the run folder (:func:`write_start_up_activity`) until its socket is served; the screen
reads it (:func:`read_start_up_activity`). It is for display only.
"""

import json
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from egm.private_files import replace_transient_file, share_with_screens


@dataclass(frozen=True, slots=True)
class StartUpActivity:
    """The present activity of the starting machine: the key of a ``boot`` text in the catalogue, and its values.

    The catalogue is the table of the screen's texts.
    """

    activity_code: str
    values: dict[str, str | int] = field(default_factory=dict)


def write_start_up_activity(file: Path, activity: StartUpActivity | None) -> None:
    """Write what the starting machine is doing to ``file``; None removes the file, because the machine is up.

    Errors of the disk, such as a full one, are ignored.
    """
    with suppress(OSError):
        if activity is None:
            file.unlink(missing_ok=True)
            return
        replace_transient_file(file, json.dumps({"what": activity.activity_code, "values": activity.values}))
        share_with_screens(file, 0o640)


def read_start_up_activity(file: Path) -> StartUpActivity | None:
    """Return what the starting machine is doing, as ``file`` states; None if the file is missing or invalid."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        return StartUpActivity(
            str(data["what"]), {str(name): value for name, value in data["values"].items()}
        )
    except (OSError, ValueError, KeyError, RecursionError, TypeError, AttributeError):
        return None
