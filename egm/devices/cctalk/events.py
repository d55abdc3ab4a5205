"""New events of a ccTalk device: the cyclic counter, resets, and the device's short memory.

A device stores its last five events and counts them: 0 after a reset, then 1 to 255 and 1 again. A *position* is
how far a reader has read: the counter together with the newest event at that time, packed into one integer so
that a ledger can store it. The event is included because a counter alone cannot distinguish "nothing new"
from "reset, and as many events again". The upper bits of a position are the device's accept counter. It is not
reset by a power loss, so it shows coins that were accepted just before one.
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

    ``new_events`` are the new events, oldest first. ``lost_event_count`` is how many came before them and
    were overwritten. ``has_restarted``: the device has been reset since.
    """

    new_events: tuple[CctalkEvent, ...]
    lost_event_count: int
    has_restarted: bool


def compute_event_position(events: EventBuffer, accepted: int) -> int:
    """Return the position in a ccTalk device's event stream as one number: the last event and the accept counter."""
    newest = events.pairs[0]
    return accepted << 24 | events.counter << 16 | newest.result_a << 8 | newest.result_b


def read_accept_counter(position: int) -> int:
    """Return the accept counter of a ccTalk device that a stored event position (``position``) contains."""
    return position >> 24


def count_accepted_since(position: int, accepted: int) -> int:
    """Return by how many coins or bills the accept counter has advanced since the stored ``position``."""
    return (accepted - read_accept_counter(position)) % _ACCEPT_COUNTER_MODULUS


def is_unchanged(position: int, events: EventBuffer) -> bool:
    """Return whether the ccTalk device certainly has no event after the stored position ``position``.

    Return False if its event counter is 0.
    """
    return events.counter != 0 and position & 0xFFFFFF == compute_event_position(events, 0)


def list_events_since(position: int, events: EventBuffer) -> NewEvents:
    """Return the ccTalk device's events that are newer than the stored position ``position``."""
    counter, newest = position >> 16 & 0xFF, CctalkEvent(position >> 8 & 0xFF, position & 0xFF)
    stored_count = len(events.pairs)
    if events.counter == 0:
        return NewEvents((), 0, has_restarted=position & 0xFFFFFF != compute_event_position(events, 0))
    new_count = events.counter if counter == 0 else (events.counter - counter) % _EVENT_COUNTER_MAX
    if new_count < stored_count:  # the event at the position is still stored, and must be the same event
        restarted = counter != 0 and events.pairs[new_count] != newest
    else:  # a buffer that is not full belongs to a device that was reset
        restarted = events.counter < stored_count and set(events.pairs[events.counter :]) == {
            CctalkEvent(0, 0)
        }
    if restarted:
        new_count = events.counter
    readable_count = min(new_count, stored_count)
    return NewEvents(
        tuple(reversed(events.pairs[:readable_count])), new_count - readable_count, has_restarted=restarted
    )
