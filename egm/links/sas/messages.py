"""Messages from the machine's loop to the thread of a SAS line; all immutable."""

from dataclasses import dataclass

from egm.links.sas.codec import Reply
from egm.links.sas.exception_queue import SasException
from egm.links.sas.readout import Readout


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """A priority exception no longer applies."""

    code: int


@dataclass(frozen=True, slots=True)
class Delivered:
    """A delayed result."""

    code: int
    reply: Reply


@dataclass(frozen=True, slots=True)
class RealTime:
    """Switches real-time event reporting."""

    on: bool


Message = SasException | Withdrawn | Delivered | RealTime | Readout
