"""Every kind of attachment there is: one line each."""

from collections.abc import Sequence
from typing import Final

from egm.integrity.clock_watch import clock_watch
from egm.integrity.hard_meters import hard_meters
from egm.integrity.memory_watch import memory_watch
from egm.integrity.software import reverification
from egm.kernel.services import Attachment, MachineContext, Make
from egm.links.gat.port import gat_port
from egm.links.monitoring import monitoring
from egm.links.sas.attachment import sas_lines
from egm.money.host.timeouts import host_timeouts
from egm.play.reminders import reminders
from egm.progressive.broadcast import broadcasts
from egm.progressive.mqtt import progressive_link
from egm.staff.service.timeout import service_timeout

MAKERS: Final[Sequence[Make]] = (
    hard_meters,
    memory_watch,
    monitoring,
    host_timeouts,
    reminders,
    reverification,
    service_timeout,
    sas_lines,
    gat_port,
    broadcasts,
    progressive_link,
    clock_watch,
)


#: What a further player position has of its own.
OF_A_POSITION: Final[Sequence[Make]] = (reminders, service_timeout)


def attach_to_position(context: MachineContext) -> tuple[Attachment, ...]:
    """The attachments of a player position beside the first."""
    return tuple(attachment for make in OF_A_POSITION for attachment in make(context))


def attach(context: MachineContext) -> tuple[Attachment, ...]:
    """The attachments of one machine, as its cabinet file asks for them."""
    return tuple(attachment for make in MAKERS for attachment in make(context))
