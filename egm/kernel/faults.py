"""Fault properties: what a fault does and who may clear it, read from the table of significant events."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from meters.events import Clear, Effect, find_subject_significance

ClearedBy = Literal["self", "attendant", "technician", "ruling", "memory_clear"]

_CLEARED_BY: Final[dict[Clear, ClearedBy]] = {
    Clear.NOTHING: "self",
    Clear.ITSELF: "self",
    Clear.ATTENDANT: "attendant",
    Clear.TECHNICIAN: "technician",
    Clear.RULING: "ruling",
    Clear.MEMORY_CLEAR: "memory_clear",
}


#: Warnings that are not shown while the more severe fault that they announce is active.
_BEGINNINGS: Final = {
    "ticket_printer.paper_low": "ticket_printer.paper_out",
    "bill_acceptor.stacker_near_full": "bill_acceptor.stacker_full",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """What a fault does to the machine, and who clears it.

    ``locks``: play stops (a tilt). ``disables_device``: its device is not used while the fault is active.
    ``closes``: the machine is out of service but still pays what it owes.
    """

    locks: bool
    disables_device: bool
    closes: bool
    cleared_by: ClearedBy

    @property
    def is_players(self) -> bool:
        """Return whether the fault restricts the player; others only appear on service pages."""
        return self.locks or self.disables_device or self.closes


@cache
def get_fault(code: str) -> Fault:
    """Return the properties of a fault by its code, such as ``bill_acceptor.jam``.

    A code that the table does not contain stops play, which is the safe choice.
    """
    event = find_subject_significance(f"fault.raised:{code}")
    if event is None:
        return Fault(locks=True, disables_device=True, closes=False, cleared_by="attendant")
    return Fault(
        locks=event.effect in {Effect.STOP, Effect.HARD_STOP},
        disables_device=event.effect is not Effect.LOG,
        closes=event.effect is Effect.OUT_OF_SERVICE,
        cleared_by=_CLEARED_BY[event.clear],
    )


def list_faults_to_show(codes: Collection[str]) -> list[str]:
    """Return the faults to show: a low-paper warning is left out once the paper has run out."""
    return [code for code in codes if _BEGINNINGS.get(code) not in codes]
