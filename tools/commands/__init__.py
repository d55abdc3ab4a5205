"""One module a command of ``egm``; :data:`COMMANDS` is the table of contents.

A module is imported only when its command is asked for, so ``egm run`` on a cabinet never loads a
laboratory package.
"""

from typing import Final

#: command name -> (module of this package, one line for ``egm --help``). The module defines ``command``.
COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "run": ("run", "start the cabinet: simulated devices, machine and screen"),
    "par": ("par", "the PAR sheet of a game: exact return, hits and prizes"),
    "rng": ("rng", "test the random number generator and collect its output"),
}
