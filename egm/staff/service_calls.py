"""Service calls: the player lights the candle; an attendant who has come to the machine answers it."""

from egm.kernel.events import Event
from egm.kernel.machine import Machine
from egm.records.keys import IntegrityKey


def call_service(machine: Machine, _: Event) -> None:
    """Light the candle; pressed again, put it out."""
    calling = machine.memory.get(IntegrityKey.SERVICE) is not None
    machine.record(
        "service.call", state={IntegrityKey.SERVICE: None if calling else True}, details={"on": not calling}
    )


def answer_service_call(machine: Machine, event: Event) -> None:
    """The attendant has come."""
    if machine.memory.get(IntegrityKey.SERVICE) is not None:
        machine.record("service.answered", state={IntegrityKey.SERVICE: None}, details=dict(event.data))
