"""Messages from the machine's event loop to the thread of a SAS line; all are immutable."""

from dataclasses import dataclass

from egm.links.sas.codec import Reply
from egm.links.sas.exception_queue import SasException
from egm.links.sas.readout import SasReadout


@dataclass(frozen=True, slots=True)
class ExceptionWithdrawn:
    """Message to a SAS line: withdraw a priority exception that no longer applies."""

    code: int


@dataclass(frozen=True, slots=True)
class DelayedResultDelivered:
    """Message to a SAS line: the result of an earlier long poll, which answers the host's next general poll."""

    code: int
    reply: Reply


@dataclass(frozen=True, slots=True)
class RealTimeReportingSet:
    """Message to a SAS line: turn real-time event reporting on or off."""

    is_on: bool


#: Anything that the machine's loop sends to a SAS line's thread.
SasLineMessage = (
    SasException | ExceptionWithdrawn | DelayedResultDelivered | RealTimeReportingSet | SasReadout
)
