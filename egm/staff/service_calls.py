"""Service calls: the player lights the candle; an attendant who has come to the machine answers it."""

from egm.kernel.events import Event
from egm.kernel.faults import fault, said_faults
from egm.kernel.machine import Machine
from egm.kernel.messages import Notice
from egm.records.keys import IntegrityKey


def call_service(machine: Machine, _: Event) -> None:
    """Light the candle; pressed again, put it out."""
    calling = machine.memory.get(IntegrityKey.SERVICE) is not None
    machine.record(
        "service.call", state={IntegrityKey.SERVICE: None if calling else True}, details={"on": not calling}
    )


def name_standing_fault(machine: Machine, _: Event) -> None:
    """Tell the attendant that a fault is not the key's to clear, and that it ends with its cause."""
    standing = [code for code in said_faults(machine.faults) if fault(code).is_players]
    if standing:
        machine.notice = Notice(code="not_by_key", severity="warning", values={"fault": standing[0]})


def answer_service_call(machine: Machine, event: Event) -> None:
    """The attendant has come."""
    if machine.memory.get(IntegrityKey.SERVICE) is not None:
        machine.record("service.answered", state={IntegrityKey.SERVICE: None}, details=dict(event.data))
