"""Significant events: effect of a journal entry on play, who may clear it, and its SAS exception code.

Effects and clearing follow Mississippi 8-2.8, New York 5317.26 and AGCO 6.1.1; SAS codes are the
exception codes in the reply to a general poll.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase


class EventEffect(StrEnum):
    """The effect of a significant event on the machine."""

    LOG = "log"
    """The event has no effect on the machine; it is only recorded."""
    STOP = "stop"
    """A tilt: play stops until the event is cleared."""
    HARD_STOP = "hard_stop"
    """Like STOP, for a fault of the machine's integrity: of its memory, software or logic area."""
    ACCEPTOR_OFF = "acceptor_off"
    """The acceptor of bills and tickets, or the acceptor of coins, accepts nothing until the event is cleared."""
    PAYOUT_OFF = "payout_off"
    """The printer or the hopper pays nothing out. A doubted clock and a damaged ticket ledger also have this effect."""
    LAMP = "lamp"
    """The machine continues as before; only the tower light signals the event."""
    OUT_OF_SERVICE = "out_of_service"
    """No new game starts and no money is accepted; amounts owed are still paid."""
    LOCK = "lock"
    """Play waits until a person has acted, but nothing is wrong."""


class ClearCondition(StrEnum):
    """The person or condition that clears a significant event."""

    NOTHING = "nothing"
    """The event needs no clearing, because it has no lasting effect."""
    ITSELF = "itself"
    """The event is cleared automatically when its cause ends."""
    ATTENDANT = "attendant"
    TECHNICIAN = "technician"
    RULING = "ruling"
    """The event is cleared when a person has decided the disputed amount."""
    MEMORY_CLEAR = "memory_clear"


@dataclass(frozen=True, slots=True)
class Significance:
    """The effect of a significant event, who clears it, and its SAS exception code or None."""

    effect: EventEffect
    cleared_by: ClearCondition = ClearCondition.NOTHING
    sas_exception_code: int | None = None
    """The SAS exception code of the event, or None."""


def find_significance_by_pattern(
    significance_by_pattern: Mapping[str, Significance], subject: str
) -> Significance | None:
    """Return the significance under the first pattern in a table that matches a subject; None if none matches."""
    return next(
        (
            significance
            for pattern, significance in significance_by_pattern.items()
            if fnmatchcase(subject, pattern)
        ),
        None,
    )
