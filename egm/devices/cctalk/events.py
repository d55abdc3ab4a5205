"""Find the new events of a ccTalk device, whose event counter is cyclic and which stores only the last five.

A device stores its last five events and counts them: 0 after a reset, then 1 to 255 and 1 again. The
*exchange progress* is how far the driver has read them, as one integer for a ledger: the event counter with the newest
event, and the device's accept counter. The event is included because the counter alone cannot distinguish "nothing new"
from "reset, and as many events again". The accept counter counts accepted coins or bills. A power loss does not reset
it, so it also counts those accepted just before a power loss.
"""

from dataclasses import dataclass
from typing import Final

from egm.devices.cctalk.codec import CctalkEvent, EventBuffer

#: Highest event number; 1 follows it.
_EVENT_COUNTER_MAX: Final = 255
#: The accept counter counts modulo this number.
_ACCEPT_COUNTER_MODULUS: Final = 1 << 24


@dataclass(frozen=True, slots=True)
class NewEvents:
    """The events of a ccTalk device since they were last read.

    ``events`` are in order, oldest first. ``lost_count`` is the number of earlier events that were
    overwritten before they were read. ``was_reset``: the device was reset after the last reading.
    """

    events: tuple[CctalkEvent, ...]
    lost_count: int
    was_reset: bool


def compute_exchange_progress(event_buffer: EventBuffer, accept_counter: int) -> int:
    """Return the exchange progress of a driver that has read the events in ``event_buffer``.

    It is one integer that contains the newest event, the event counter and ``accept_counter``, the device's count of
    accepted coins or bills.
    """
    newest_event = event_buffer.events[0]
    return (
        accept_counter << 24
        | event_buffer.event_counter << 16
        | newest_event.result_a << 8
        | newest_event.result_b
    )


def read_accept_counter(progress: int) -> int:
    """Return the count of accepted coins or bills that the stored exchange progress ``progress`` contains.

    The exchange progress is one integer that identifies the last event of the device that the driver has read.
    """
    return progress >> 24


def count_items_accepted_since(progress: int, accept_counter: int) -> int:
    """Return how many coins or bills the device has accepted since the exchange progress ``progress`` was stored.

    ``accept_counter`` is the present value of its cyclic accept counter.
    """
    return (accept_counter - read_accept_counter(progress)) % _ACCEPT_COUNTER_MODULUS


def has_no_new_event(progress: int, event_buffer: EventBuffer) -> bool:
    """Return True if the device certainly has had no event since the exchange progress ``progress`` was stored.

    After a reset (event counter 0) this is not certain, so return False.
    """
    return event_buffer.event_counter != 0 and progress & 0xFFFFFF == compute_exchange_progress(
        event_buffer, 0
    )


def find_new_events(progress: int, event_buffer: EventBuffer) -> NewEvents:
    """Return the device's events since the exchange progress ``progress`` was stored.

    The result also has the number of events that were lost, and says whether the device was reset.
    """
    last_counter, last_event = progress >> 16 & 0xFF, CctalkEvent(progress >> 8 & 0xFF, progress & 0xFF)
    stored_count = len(event_buffer.events)
    if event_buffer.event_counter == 0:
        return NewEvents((), 0, was_reset=progress & 0xFFFFFF != compute_exchange_progress(event_buffer, 0))
    new_count = (
        event_buffer.event_counter
        if last_counter == 0
        else (event_buffer.event_counter - last_counter) % _EVENT_COUNTER_MAX
    )
    if new_count < stored_count:  # the last event read is still stored, and must be the same event
        was_reset = last_counter != 0 and event_buffer.events[new_count] != last_event
    else:  # a buffer that is not full belongs to a device that was reset
        was_reset = event_buffer.event_counter < stored_count and set(
            event_buffer.events[event_buffer.event_counter :]
        ) == {CctalkEvent(0, 0)}
    if was_reset:
        new_count = event_buffer.event_counter
    readable_count = min(new_count, stored_count)
    return NewEvents(
        tuple(reversed(event_buffer.events[:readable_count])),
        new_count - readable_count,
        was_reset=was_reset,
    )
