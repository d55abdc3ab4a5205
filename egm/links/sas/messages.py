"""Messages from the machine's loop to the thread of a SAS line; each is an immutable value."""

from dataclasses import dataclass

from egm.links.sas.codec import Reply
from egm.links.sas.exception_queue import SasException
from egm.links.sas.readout import Readout


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """A priority exception no longer holds."""

    code: int


@dataclass(frozen=True, slots=True)
class Delivered:
    """A result that took its time."""

    code: int
    reply: Reply


@dataclass(frozen=True, slots=True)
class RealTime:
    """Real-time event reporting is switched."""

    on: bool


Message = SasException | Withdrawn | Delivered | RealTime | Readout
