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
    # the bill acceptor is off while its fault stands; play goes on
    "bill_acceptor.communication": Fault(locks=False, cleared_by="self"),
    "bill_acceptor.failure": Fault(locks=False, cleared_by="self"),
    "bill_acceptor.power": Fault(locks=False, cleared_by="self"),
    "bill_acceptor.jam": Fault(locks=False, cleared_by="self"),
    "bill_acceptor.stacker_jam": Fault(locks=False, cleared_by="self"),
    "bill_acceptor.stacker_full": Fault(locks=False, cleared_by="self"),
    "bill_acceptor.stacker_removed": Fault(locks=False, cleared_by="self"),
    # a fraud, or a note whose fate nobody can tell: a person must look
    "bill_acceptor.cheat": Fault(locks=True, cleared_by="attendant"),
    "bill_acceptor.disputed": Fault(locks=True, cleared_by="attendant"),
    # devices that pay: while they ail, the next way out is taken
    **{
        f"{kind}.{code}": Fault(locks=False, cleared_by="self")
        for kind, codes in {
            "ticket_printer": (
                *("communication", "failure", "power", "jam"),
                *("paper_out", "paper_low", "head_up", "chassis_open"),
            ),
            "hopper": ("communication", "failure", "power", "jam", "hopper_empty"),
            "coin_acceptor": ("communication", "failure", "power", "jam", "diverter"),
        }.items()
        for code in codes
    },
    "coin_acceptor.coin_cheat": Fault(locks=True, cleared_by="attendant"),
    "hopper.hopper_lid_open": Fault(locks=True, cleared_by="self"),  # Monaco art. 19.5
    "hopper.hopper_runaway": Fault(locks=True, cleared_by="attendant"),
    # without its I/O board the machine is blind to its doors
    "io_board.communication": Fault(locks=True, cleared_by="self"),
    "io_board.power": Fault(locks=True, cleared_by="self"),
    "io_board.battery_low": Fault(locks=False, cleared_by="self"),
    # the game in memory cannot be finished as recorded
    "game_defective": Fault(locks=True, cleared_by="attendant"),
}

#: A fault a device reports under a name this table does not know stops play: better safe than blind.
UNKNOWN: Final = Fault(locks=True, cleared_by="attendant")


def fault(code: str) -> Fault:
    """The properties of a fault by its code."""
    return FAULTS.get(code, UNKNOWN)
