"""The commands of ``python -m tools.dev``, one module each, listed in :data:`COMMANDS`."""

from typing import Final

#: Command name -> (module of this package, its line in ``--help``). The module defines ``command``.
COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "liars": ("liars", "falsify honest journals and report which lies the audit finds"),
    "link": ("link", "run simulated machines on a progressive link with injected faults"),
    "prove": ("prove", "compute the exact figures that card game definitions carry"),
    "shots": ("shots", "draw every scene of every game"),
    "world": ("world", "simulate a venue with people, faults and power cuts, and reconcile all money"),
}
