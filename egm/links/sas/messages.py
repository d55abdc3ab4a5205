"""Messages from the machine's loop to the thread of a SAS line; all immutable."""

from dataclasses import dataclass

from egm.links.sas.codec import Reply
from egm.links.sas.exception_queue import SasException
from egm.links.sas.readout import Readout


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """Message to a SAS line: withdraw a priority exception that no longer applies."""

    code: int


@dataclass(frozen=True, slots=True)
class Delivered:
    """Message to a SAS line: the result of a request that was answered later."""

    code: int
    reply: Reply


@dataclass(frozen=True, slots=True)
class RealTime:
    """Message to a SAS line: turn real-time event reporting on or off."""

    on: bool


Message = SasException | Withdrawn | Delivered | RealTime | Readout
