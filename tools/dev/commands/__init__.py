"""One module a command of ``python -m tools.dev``; :data:`COMMANDS` is the table of contents."""

from typing import Final

#: command name -> (module of this package, one line for ``--help``). The module defines ``command``.
COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "liars": ("liars", "tell sealed lies about honest journals, and see which the audit names"),
    "link": ("link", "a progressive link of simulated machines in every trouble"),
    "prove": ("prove", "work out the exact figures that definitions of card games carry"),
    "shots": ("shots", "draw every scene of every game"),
    "world": ("world", "a whole house through persons, faults and power cuts, held to the cent"),
}
