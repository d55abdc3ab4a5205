"""One module per command of ``egm``; :data:`COMMANDS` lists them.

A module is imported only when its command is called, so ``egm run`` on a cabinet never loads a laboratory
package.
"""

from typing import Final

#: command name -> (module of this package, one line for ``egm --help``). The module defines ``command``.
COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "screen": ("screen", "pictures of every scene, and the browser screen's address"),
    "run": ("run", "start the cabinet: simulated devices, machine and screen"),
    "cabinet": ("cabinet", "write, check and explain cabinet files; list ports and protocols"),
    "par": ("par", "the PAR sheet of a game: exact return, hits and prizes"),
    "keno": ("keno", "the exact odds of any Keno ticket; what its slip must say"),
    "meters": ("meters", "every meter of a machine, while it plays"),
    "returns": ("returns", "each game's return on a machine against its exact one, by its volume"),
    "levels": ("levels", "every progressive level of a machine: what it shows, holds and has paid"),
    "memory": ("memory", "the two media of a machine's memory; put a new second one in"),
    "backup": ("backup", "keep and give back cabinet file, staff and certificates; never a journal"),
    "audit": ("audit", "export, verify and read the journal; inspect and clear a damaged one"),
    "manifest": ("manifest", "make, sign and verify the manifest of the installed software"),
    "gat": ("gat", "an inspector's verifier: have a machine identify and sign its software over GAT"),
    "signature": ("signature", "a keyed signature of each component of the software, as GAT gives it"),
    "profile": ("profile", "the places' rules: list, show, check; print their schema"),
    "manual": ("manual", "the operator's and the service manual, from the machine's own tables"),
    "register": ("register", "registers of hand-pays, complements, orphans, forfeits, refunds, incidents"),
    "device": ("device", "work a simulated device, or listen to a real one on a port"),
    "bench-host": ("bench_host", "the simulated devices alone, without machine and screen"),
    "people": ("people", "enrol the staff of a machine: roles and PINs"),
    "inventory": ("inventory", "the machine's inventory entry and technical sheet"),
    "intervention": (
        "intervention",
        "who opened the machine, why, what was done: the sheets",
    ),
    "ticket": ("ticket", "the cage: look up, pay, void and reprint tickets; draw a template"),
    "progressive": ("progressive", "the controller of linked levels: serve, certificates, register"),
    "rng": ("rng", "test the random number generator and collect its output"),
    "simulate": ("simulate", "play a game many times and hold it against its exact figures"),
    "certify": ("certify", "hold games against every rule of a jurisdiction; sign the evidence"),
    "game": ("game", "check, start and tune game definitions; print their schema"),
}
