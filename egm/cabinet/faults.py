"""What can go wrong, as data: for each fault, whether it stops play and who may clear it.

After Annex E of the requirements (Mississippi 8-2.8, Ontario, Oklahoma): a fault of a device that play does
not need takes only that device off; a fault that blinds the machine or touches money stops it.
"""

from dataclasses import dataclass
from typing import Final, Literal

ClearedBy = Literal["self", "attendant", "technician", "memory_clear"]


@dataclass(frozen=True, slots=True)
class Fault:
    """``locks``: play stops (a tilt). ``cleared_by``: ``self`` when the cause has gone, else a person."""

    locks: bool
    cleared_by: ClearedBy


FAULTS: Final[dict[str, Fault]] = {
    # the bill acceptor: it is off while the fault stands; play goes on
    "bill_jam": Fault(locks=False, cleared_by="self"),
    "stacker_jam": Fault(locks=False, cleared_by="self"),
    "stacker_full": Fault(locks=False, cleared_by="self"),
    "stacker_removed": Fault(locks=False, cleared_by="self"),
    "bill_acceptor_failure": Fault(locks=False, cleared_by="self"),
    "bill_acceptor_lost": Fault(locks=False, cleared_by="self"),
    "bill_cheat": Fault(locks=True, cleared_by="attendant"),
    "bill_unaccounted": Fault(locks=True, cleared_by="attendant"),
    # the I/O board: without it the machine is blind to its doors
    "io_board_lost": Fault(locks=True, cleared_by="self"),
    # the game in memory cannot be finished as recorded
    "game_defective": Fault(locks=True, cleared_by="attendant"),
}

#: A fault a device reports under a name this table does not know stops play: better safe than blind.
UNKNOWN: Final = Fault(locks=True, cleared_by="attendant")


def fault(code: str) -> Fault:
    """The properties of a fault by its code."""
    return FAULTS.get(code, UNKNOWN)
