"""Common parts of simulated ccTalk devices: the single-wire line with its echo, and the event memory.

A power loss deletes the stored events, the inhibit settings and a payout order in progress, as in a real device.
Lifetime counters, coins and bills remain.
"""

from collections import deque
from typing import Final

from egm.devices.cctalk.codec import (
    HOST_ADDRESS,
    CctalkEvent,
    CctalkFrame,
    EventBuffer,
    Header,
)
from egm.devices.framing import FrameCutter
from egm.devices.twin import SimulatedPort, Twin


class CctalkEventMemory:
    """The numbered events of a simulated ccTalk device; the last five are stored."""

    def __init__(self) -> None:
        self.event_counter = 0
        self._events: deque[CctalkEvent] = deque([CctalkEvent(0, 0)] * 5, maxlen=5)

    def add(self, result_a: int, result_b: int) -> None:
        """Store an event, and increment the event counter; :class:`CctalkEvent` explains the two results."""
        self.event_counter = self.event_counter % 255 + 1
        self._events.appendleft(CctalkEvent(result_a, result_b))

    def encode(self) -> bytes:
        """Return the event counter and the last events as data of a ccTalk reply."""
        return EventBuffer(self.event_counter, tuple(self._events)).encode()


class CctalkTwin(Twin[CctalkFrame]):
    """Common base of simulated ccTalk devices."""

    address: int = 0
    product: bytes = b""
    category: bytes = b""
    serial: bytes = b"\x39\x30\x00"

    def __init__(
        self, name: str, port: SimulatedPort, cutter: FrameCutter[CctalkFrame], speed: float = 1.0
    ) -> None:
        super().__init__(name, port, cutter, speed)
        port.is_echoing = True  # the wire itself echoes, with or without power

    def process_message(self, message: CctalkFrame) -> None:
        """Reply to messages addressed to this simulated device; an unknown header gets no reply."""
        if message.destination != self.address or message.source != HOST_ADDRESS:
            return
        reply_data = (
            self._build_common_reply(message)
            if message.header in _COMMON_QUERIES
            else self._build_reply(message)
        )
        if reply_data is not None:
            self._send(CctalkFrame(HOST_ADDRESS, self.address, Header.REPLY, reply_data).encode())

    def _build_common_reply(self, message: CctalkFrame) -> bytes:
        """Return the data of a reply that every ccTalk device gives. Raises KeyError for another query."""
        return {
            Header.SIMPLE_POLL: b"",
            Header.MANUFACTURER: b"SIM",
            Header.PRODUCT: self.product,
            Header.CATEGORY: self.category,
            Header.SERIAL: self.serial,
            Header.SOFTWARE: b"SIM-1.0",
            Header.BUILD_CODE: b"SIM",
            Header.COMMS_REVISION: b"\x01\x04\x02",  # release 1 of ccTalk 4.2
            Header.POLLING_PRIORITY: b"\x02\x14",  # every 200 ms, in units of 10 ms
        }[Header(message.header)]

    @property
    def _currency_country_code(self) -> str:
        """Return the country code that begins the names of the device's coins or notes, such as EU for euros.

        It is the first two letters of the currency's code.
        """
        return self.currency[:2]

    def _build_reply(self, message: CctalkFrame) -> bytes | None:
        """Return the data of the device's reply to a message, or None for no reply."""
        raise NotImplementedError


#: Queries that every simulated ccTalk device answers.
_COMMON_QUERIES: Final = frozenset(
    {
        Header.SIMPLE_POLL,
        Header.MANUFACTURER,
        Header.PRODUCT,
        Header.CATEGORY,
        Header.SERIAL,
        Header.SOFTWARE,
        Header.BUILD_CODE,
        Header.COMMS_REVISION,
        Header.POLLING_PRIORITY,
    }
)
