"""ccTalk exchange: sends one query and receives its reply.

The line is a single wire shared by several devices, so the driver skips its own echo and replies of other devices.
"""

from typing import Final

from egm.devices.cctalk.codec import (
    HOST_ADDRESS,
    CctalkFrame,
    EventBuffer,
    Header,
    decode_event_buffer,
    decode_three_byte_number,
)
from egm.devices.driver import LineDriver
from egm.devices.framing import FrameReader
from egm.devices.interface import DeviceIdentified, FaultCode
from egm.devices.line import LineSettings

CCTALK_LINE_SETTINGS: Final = LineSettings(baud_rate=9600)
#: Attempts at a query before its reply counts as missing.
_QUERY_ATTEMPTS_MAX: Final = 3
#: If a device replies to other queries but not to a required one this many times in a row, it counts as failed.
_MISSING_REPLIES_UNTIL_FAILURE: Final = 5
#: Queries and commands that a device need not support, or whose missing reply its driver handles itself.
_OPTIONAL_QUERIES: Final = frozenset(
    {
        Header.COIN_ID,
        Header.BILL_ID,
        Header.COUNTRY_SCALING,
        Header.READ_BARCODE,
        Header.SORTER_PATH,
        Header.PAYOUT_HIGH_LOW_STATUS,
        Header.DISPENSE,
    }
)
#: Interval at which settings are sent again, because no ccTalk device reports that it has lost them.
SETTINGS_RENEWAL_SECONDS: Final = 5.0


class CctalkDriver(LineDriver[CctalkFrame]):
    """Common base of the ccTalk drivers; ``address`` is the device's address on the bus.

    Several drivers may share a line as a bus; they then take turns.
    """

    address: int = 0
    _missing_reply_count_by_query: dict[Header, int] | None = None
    """How often in a row each query got no reply while the device replied to other queries."""

    def _handle_lost_line(self, reason: str) -> None:
        """Report that the device or its line is lost, and reset the counts of missing replies."""
        self._missing_reply_count_by_query = None
        super()._handle_lost_line(reason)

    def _is_reply_to_this_driver(self, message: CctalkFrame) -> bool:
        """Return whether a frame is addressed to the machine and comes from this driver's device."""
        return (
            message.destination == HOST_ADDRESS
            and message.source == self.address
            and message.header == Header.REPLY
        )

    async def _query(
        self, header: Header, data: bytes = b"", *, attempts_max: int = _QUERY_ATTEMPTS_MAX
    ) -> bytes | None:
        """Send a query to the device and return the data of its reply; None if ``attempts_max`` attempts got no reply.

        Use ``attempts_max=1`` for a command that must not be executed twice. Bytes received earlier are discarded
        first, because a reply does not name its query.
        """
        for _ in range(attempts_max):
            async with self._line.bus_lock:
                await self._line.read(0)
                self._reader = FrameReader(self._cutter)
                replies = await self._exchange(CctalkFrame(self.address, HOST_ADDRESS, header, data).encode())
            if replies:
                self._handle_query_reply(header)
                return replies[-1].data
        self._handle_missing_query_reply(header, attempts_max)
        return None

    def _handle_missing_query_reply(self, header: Header, attempts_max: int) -> None:
        """Count a required query that got no reply in any attempt, if the device replies to other queries.

        After several such queries in a row, raise a device failure.
        """
        # The base class counts each attempt as a query. If it has counted only the attempts at this query, the
        # device replies to other queries. If not, it replies to nothing, and the base class reports it as lost.
        if header in _OPTIONAL_QUERIES or self._unanswered_query_count != attempts_max:
            return
        self._missing_reply_count_by_query = self._missing_reply_count_by_query or {}
        self._missing_reply_count_by_query[header] = self._missing_reply_count_by_query.get(header, 0) + 1
        if self._missing_reply_count_by_query[header] >= _MISSING_REPLIES_UNTIL_FAILURE:
            self._set_driver_fault(FaultCode.FAILURE, _describe_missing_reply(header))

    def _handle_query_reply(self, header: Header) -> None:
        """Reset the count of missing replies to this query, and clear the fault raised because of them."""
        if self._missing_reply_count_by_query is not None:
            self._missing_reply_count_by_query.pop(header, None)
        if self._faults_found_by_driver.get(FaultCode.FAILURE) == _describe_missing_reply(header):
            self._set_driver_fault(FaultCode.FAILURE, None)

    async def _send_command(self, header: Header, data: bytes) -> bool:
        """Send a command; return whether it was acknowledged."""
        return await self._query(header, data) == b""

    async def _read_events_with_counter(self, events_query: Header) -> tuple[EventBuffer, int] | None:
        """Return the device's events and its accept counter as of one moment.

        The counter is read between two queries for the events. Return None if the two replies differ or a reply is
        missing; the caller tries again in the next cycle. Raises :class:`~egm.devices.framing.ProtocolError`.
        """
        events_before = await self._query(events_query)
        count = await self._query(Header.ACCEPT_COUNT)
        events_after = await self._query(events_query)
        if events_before is None or count is None or events_before != events_after:
            return None
        return decode_event_buffer(events_before), decode_three_byte_number(count)

    async def _identify(self) -> bool:
        """Query the device's maker, product and serial number and report them; return False if it does not reply."""
        identity_parts = []
        for header in (Header.MANUFACTURER, Header.PRODUCT, Header.SERIAL):
            reply = await self._query(header)
            if reply is None:
                return False
            is_number = header is Header.SERIAL
            identity_parts.append(
                str(int.from_bytes(reply, "little")) if is_number else reply.decode("ascii", "replace")
            )
        self._emit(DeviceIdentified(device=self.name, identity=" ".join(identity_parts)))
        return True


def _describe_missing_reply(header: Header) -> str:
    """Return the error text for a query that gets no reply."""
    return f"the device does not reply to header {header.value} ({header.name.lower()})"
