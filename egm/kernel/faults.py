"""Fault properties: what a fault does and who may clear it, from the one table of significant events."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from meters.events import Clear, Effect, significance_of

ClearedBy = Literal["self", "attendant", "technician", "ruling", "memory_clear"]

_CLEARED_BY: Final[dict[Clear, ClearedBy]] = {
    Clear.NOTHING: "self",
    Clear.ITSELF: "self",
    Clear.ATTENDANT: "attendant",
    Clear.TECHNICIAN: "technician",
    Clear.RULING: "ruling",
    Clear.MEMORY_CLEAR: "memory_clear",
}


#: A fault that is not told while the worse one stands of which it is the beginning.
_BEGINNINGS: Final = {
    "ticket_printer.paper_low": "ticket_printer.paper_out",
    "bill_acceptor.stacker_near_full": "bill_acceptor.stacker_full",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """``locks``: play stops (a tilt). ``disables_device``: its device is not used meanwhile.

    ``closes``: the machine is out of service, and still pays what is owed.
    """

    locks: bool
    disables_device: bool
    closes: bool
    cleared_by: ClearedBy

    @property
    def is_players(self) -> bool:
        """Whether the player is told: he can do less. What is only written down is for the staff's pages."""
        return self.locks or self.disables_device or self.closes


@cache
def fault(code: str) -> Fault:
    """The properties of a fault by its code, such as ``bill_acceptor.jam``.

    A fault the table does not know by name stops play: better safe than blind.
    """
    event = significance_of(f"fault.raised:{code}")
    if event is None:
        return Fault(locks=True, disables_device=True, closes=False, cleared_by="attendant")
    return Fault(
        locks=event.effect in {Effect.STOP, Effect.HARD_STOP},
        disables_device=event.effect is not Effect.LOG,
        closes=event.effect is Effect.OUT_OF_SERVICE,
        cleared_by=_CLEARED_BY[event.clear],
    )


def said_faults(codes: Collection[str]) -> list[str]:
    """The faults a person is told of: paper is low only as long as there is some."""
    return [code for code in codes if _BEGINNINGS.get(code) not in codes]
