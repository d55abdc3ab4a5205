"""Start-up progress: what a starting machine is busy with, for a screen that nobody answers yet.

One file of the run folder: the machine writes it (:func:`say`) until its socket answers, the screen reads it
(:func:`read`). It says no more than that; nothing is decided by it.
"""

import json
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from egm.secret_files import replace_transient, share


@dataclass(frozen=True, slots=True)
class Doing:
    """``what`` is done, a key of the catalogue's ``boot`` texts, and the values of that text."""

    what: str
    values: dict[str, str | int] = field(default_factory=dict)


def say(file: Path, doing: Doing | None) -> None:
    """Write what is done now; None: nothing more, the machine answers. A full disk keeps nobody from it."""
    with suppress(OSError):
        if doing is None:
            file.unlink(missing_ok=True)
            return
        replace_transient(file, json.dumps({"what": doing.what, "values": doing.values}))
        share(file, 0o640)


def read(file: Path) -> Doing | None:
    """What is done, where a machine says it."""
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
        return Doing(str(told["what"]), {str(name): value for name, value in told["values"].items()})
    except (OSError, ValueError, KeyError, RecursionError, TypeError, AttributeError):
        return None
