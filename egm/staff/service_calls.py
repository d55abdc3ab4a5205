"""Service calls: the player lights the candle, and an attendant answers it with his key."""

from egm.kernel.events import Event
from egm.kernel.machine import Cabinet
from egm.records.keys import IntegrityKey


def call_service(cabinet: Cabinet, _: Event) -> None:
    """Light the candle; pressed again, put it out."""
    calling = cabinet.memory.get(IntegrityKey.SERVICE) is not None
    cabinet.record(
        "service.call", state={IntegrityKey.SERVICE: None if calling else True}, details={"on": not calling}
    )


def answer_service_call(cabinet: Cabinet, event: Event) -> None:
    """The attendant has come."""
    if cabinet.memory.get(IntegrityKey.SERVICE) is not None:
        cabinet.record("service.answered", state={IntegrityKey.SERVICE: None}, details=dict(event.data))
