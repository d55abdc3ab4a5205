"""One module per command of ``egm``; :data:`MODULE_AND_HELP_BY_COMMAND` lists them.

A module is imported only when its command is called, so ``egm run`` on a cabinet never loads a laboratory
package. The function of a subcommand usually has the subcommand's name. If that is also the name of a builtin
(``list``) or of something else that the module uses (``show``), an underscore follows.
"""

from typing import Final

#: command name -> (module of this package, one line for ``egm --help``), in the order of that help. The module defines
#: ``command``.
MODULE_AND_HELP_BY_COMMAND: Final[dict[str, tuple[str, str]]] = {
    "screen": ("screen", "make pictures of the screen; print the browser screen's address"),
    "run": ("run", "start the cabinet: simulated devices, machine and screen"),
    "cabinet": ("cabinet", "write, check and sign cabinet files; list device protocols and serial ports"),
    "par": ("par", "print the PAR sheet of a game: exact return, hits and prizes"),
    "keno": ("keno", "print the exact odds of a Keno ticket, and its selection slip"),
    "keno-office": ("keno_office", "run a venue's Keno office: sell tickets, hold draws, pay claims"),
    "meters": ("meters", "print the meters of a machine, also while it plays"),
    "returns": ("returns", "compare each game's actual return with its theoretical return"),
    "levels": ("levels", "print every progressive level of a machine: displayed, held and paid amounts"),
    "memory": ("memory", "show the two media of a machine's memory; replace the second one"),
    "backup": ("backup", "back up and restore cabinet file, staff and certificates (never a journal)"),
    "audit": ("audit", "export, verify and read the journal; inspect and clear a damaged one"),
    "manifest": ("manifest", "make, sign and verify the manifest of the installed software"),
    "gat": ("gat", "identify and verify a machine's software over GAT, as an inspector does"),
    "signature": ("signature", "compute the GAT signatures of the software installed here, for comparison"),
    "profile": ("profile", "list, show and check jurisdiction profiles; print their schema"),
    "manual": ("manual", "print the operator's or the service manual"),
    "register": ("register", "print registers: hand-pays, disputes, unclaimed money, refunds, incidents ..."),
    "device": ("device", "operate a simulated device, or monitor a real one on a serial port"),
    "bench-host": ("bench_host", "run only the simulated devices, without machine and screen"),
    "people": ("people", "enrol and disable the staff of a machine; set roles and PINs"),
    "inventory": ("inventory", "print the machine's inventory entry and technical sheet"),
    "intervention": (
        "intervention",
        "print intervention sheets: who opened the machine, why, what was done",
    ),
    "ticket": ("ticket", "look up, pay, void and reprint tickets at the cage; draw a template"),
    "progressive": (
        "progressive",
        "run the controller of linked progressive levels; manage its certificates",
    ),
    "tournament": ("tournament", "write and check tournament rules, print their notice, settle the prizes"),
    "rng": ("rng", "test the random number generator and collect its output"),
    "simulate": ("simulate", "play a game many times and compare it with its exact figures"),
    "certify": ("certify", "check games against every rule of a jurisdiction; sign the evidence"),
    "game": ("game", "check, write and tune game definitions; print their schema"),
}
