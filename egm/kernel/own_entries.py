"""The kernel's own journal entries: the player's selection, faults, and events that no rule accepts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import NoneType
from typing import Final

from egm.kernel.entries import EntryDeclaration
from egm.kernel.faults import SIGNIFICANCE_BY_FAULT, ClearedBy
from egm.kernel.keys import KernelKey
from egm.kernel.significance import EventEffect, Significance
from egm.kernel.timekeeping import ClockDoubtReason
from egm.record_codec import omit_if_default, stored_as
from egm.record_fields import IsoTime, NonBlankText
from meters.transaction import JSON


# ---------------------------------------------------------------------------------------------- values in memory
@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveFault:
    """The stored value of an active fault: since when, whether it stops play, who may clear it, and details."""

    active_since: IsoTime = field(metadata=stored_as("since"))
    stops_play: bool = field(metadata=stored_as("locks"))
    cleared_by: ClearedBy
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenDoor:
    """The stored value of an open door: the time since which it is open."""

    opened_at: IsoTime = field(metadata=stored_as("since"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockDoubt:
    """The stored doubt about the clock: why it is not trusted, and the last time known to be right ("" for none)."""

    reason: ClockDoubtReason = field(metadata=stored_as("why"))
    last_trusted_time: str = field(metadata=stored_as("good"))


# ---------------------------------------------------------------------------------------------- records
@dataclass(frozen=True, slots=True, kw_only=True)
class FaultRaised:
    """A fault occurred; it is active until it is cleared."""

    code: NonBlankText
    detail: str | None = omit_if_default(None)
    """Details of the fault for staff, such as the text that the device reports."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultCleared:
    """The cause of a fault has gone, and the machine has cleared the fault by itself."""

    code: NonBlankText
    detail: str | None = omit_if_default(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnexpectedEvent:
    """An event was refused because no rule accepts it; recorded once per start for the same event, state and reason."""

    event: str
    """The name of the event that was refused."""
    state: str
    """The state of the machine in which the event was refused."""
    reason: str
    """The code of the guard that refused the event, or the name of the state if it has no rule for the event."""
    values: Mapping[str, JSON]
    """The event's payload: numbers and harmless texts; for other values, which may be secret, only their type."""


# ---------------------------------------------------------------------------------------------- entries
SELECTION_CHANGED: Final = EntryDeclaration(
    kind="selection",
    record=NoneType,
    description="The player selected another game, denomination, bet or language.",
    written_keys=(KernelKey.SELECTION,),
    is_omitted_from_event_log=True,
)
FAULT_RAISED: Final = EntryDeclaration(
    kind="fault.raised",
    record=FaultRaised,
    counts={"fault.*": 1},
    written_keys=(KernelKey.FAULT,),
    subject_field="code",
    significance=SIGNIFICANCE_BY_FAULT,
    is_technical=True,
)
FAULT_CLEARED: Final = EntryDeclaration(
    kind="fault.cleared",
    record=FaultCleared,
    written_keys=(KernelKey.FAULT,),
    subject_field="code",
    significance={
        "bill_acceptor.stacker_removed": Significance(EventEffect.LOG, sas_exception_code=0x1C),
        "ticket_printer.power": Significance(EventEffect.LOG, sas_exception_code=0x76),
        "*": Significance(EventEffect.LOG),
    },
    is_technical=True,
)
EVENT_UNEXPECTED: Final = EntryDeclaration(
    kind="event.unexpected",
    record=UnexpectedEvent,
)
