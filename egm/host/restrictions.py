"""Recording of a host's requests that restrict functions of the machine (:mod:`egm.money.host_restrictions`)."""

from egm.host.entries import HOST_RESTRICTION_RECORDED, HostRestrictionRecorded
from egm.host.events import HostRestrictionChange
from egm.host.keys import HostKey
from egm.kernel.events import Event
from egm.kernel.machine import PositionMachine


def record_host_restriction(machine: PositionMachine, event: Event) -> None:
    """Store a host's request to restrict a function of the machine (a game, bills, sounds), or to end it.

    A repeated request changes nothing.
    """
    request = event.read_payload(HostRestrictionChange)
    key, value = f"{HostKey.FUNCTION_RESTRICTION}{request.name}:{request.source}", request.value
    if machine.journal.state(key) == value:
        return
    details = HostRestrictionRecorded(source=request.source, name=request.name, value=value)
    machine.post(HOST_RESTRICTION_RECORDED, details, state={key: value})
