"""Driver of ccTalk bill validators.

The validator reports numbered events, stores the last five, and does not wait for an acknowledgement. The number of the
last processed event is stored with the open escrow record (its ``exchange_progress``, see
:mod:`egm.devices.cctalk.events`), so a restarted machine reads exactly the events that it has missed.

A validator that loses power loses its events, but not its lifetime accept counter. Before an ordered stacking is closed
without credit, that counter is read: if it has advanced, the bill is in the box. If a restart leaves it unknown whether
a stack order was sent, it is sent again: if the bill is already on its way, the validator replies "escrow empty".
"""

import asyncio
from collections.abc import Mapping
from typing import Final

from egm.devices.bill_driver import (
    QUERY_AGE_SECONDS_FOR_STACK_ORDER_MAX,
    BillDriver,
    EscrowCommand,
    parse_ticket_barcode,
)
from egm.devices.cctalk import codec
from egm.devices.cctalk.codec import (
    BillEvent,
    BillRoute,
    CctalkEvent,
    CctalkFrame,
    CountryScaling,
    EventBuffer,
    Header,
)
from egm.devices.cctalk.events import (
    compute_exchange_progress,
    count_items_accepted_since,
    find_new_events,
    has_no_new_event,
    read_accept_counter,
)
from egm.devices.cctalk.exchange import SETTINGS_RENEWAL_SECONDS, CctalkDriver
from egm.devices.channel_values import (
    DOLLAR_CURRENCIES,
    ChannelValueCheck,
    ReportedValue,
    compute_minor_units,
    list_currencies_of_country,
)
from egm.devices.framing import ProtocolError
from egm.devices.interface import AmountDisputed, Banknote, EventSink, FaultCode, ItemRejected, PaperContent
from egm.devices.ledgers import EscrowLedger
from egm.devices.line import SerialLine

#: Interval at which the time of a paper in escrow is extended.
_HOLD_REPEAT_INTERVAL_SECONDS: Final = 4.0
#: Number of digits of the value in a bill's name, which is in units of the country's scaling.
_BILL_NAME_DIGIT_COUNT: Final = 4
#: Time after a reset within which a validator stacks or returns a bill that was inside.
_BILL_SETTLED_SECONDS_AFTER_RESET: Final = 6.0
#: Escrow and stacker enabled.
_ESCROW_AND_STACKER_MODE: Final = b"\x03"

#: Status event -> the fault that it reports.
_FAULT_BY_EVENT: Final[Mapping[int, FaultCode]] = {
    BillEvent.BILL_JAMMED_IN_TRANSPORT: FaultCode.JAM,
    BillEvent.BILL_JAMMED_IN_STACKER: FaultCode.STACKER_JAM,
    BillEvent.STACKER_JAMMED: FaultCode.STACKER_JAM,
    BillEvent.BILL_PULLED_BACK: FaultCode.FRAUD_SUSPECTED,
    BillEvent.TAMPER: FaultCode.FRAUD_SUSPECTED,
    BillEvent.FRAUD_OPTO: FaultCode.FRAUD_SUSPECTED,
    BillEvent.FRAUD_STRING: FaultCode.FRAUD_SUSPECTED,
    BillEvent.STACKER_REMOVED: FaultCode.STACKER_REMOVED,
    BillEvent.STACKER_FULL: FaultCode.STACKER_FULL,
    BillEvent.STACKER_FAULTY: FaultCode.FAILURE,
}
#: Status event -> the reason of a rejection.
_REJECTION_TEXT_BY_EVENT: Final[Mapping[int, str]] = {
    BillEvent.BILL_REFUSED_AT_VALIDATION: "not recognised",
    BillEvent.BILL_REFUSED_AFTER_TRANSPORT_PROBLEM: "transport problem",
    BillEvent.BILL_INHIBITED_BY_SERIAL_COMMAND: "inhibited denomination",
    BillEvent.BILL_INHIBITED_BY_DIP_SWITCH: "inhibited denomination",
}


class CctalkBillDriver(BillDriver[CctalkFrame], CctalkDriver):
    """A :class:`~egm.devices.interface.BillAcceptor` that speaks the ccTalk protocol."""

    address = codec.BILL_ACCEPTOR_ADDRESS

    def __init__(
        self,
        name: str,
        line: SerialLine,
        sink: EventSink,
        ledger: EscrowLedger,
        cents_by_note_code: Mapping[int, int] = codec.BILL_CENTS_BY_NOTE_CODE,
        *,
        currencies: frozenset[str] = DOLLAR_CURRENCIES,
    ) -> None:
        super().__init__(
            name,
            line,
            sink,
            cutter=codec.cut_frame,
            protocol=codec.CCTALK_PROTOCOL,
            ledger=ledger,
            cents_by_note_code=cents_by_note_code,
            currencies=currencies,
        )
        self._scaling_by_country: dict[str, CountryScaling | None] = {}
        self._holds_paper = False  # whether the validator's newest event reports a paper in escrow
        self._exchange_progress: int | None = None
        self._applied_settings: dict[Header, bytes] = {}
        self._is_identified = False
        self._present_faults: dict[FaultCode, str] = {}
        self._restarted_at: float | None = None
        self._next_hold_at = 0.0
        self._renew_settings_at = 0.0

    def _reset_device_state(self) -> None:
        """Clear what the validator has reported: its line was opened again, or it does not reply.

        Events are then read on from the last one that the driver has processed, as the ledger states.
        """
        self._exchange_progress = self._escrow.exchange_progress
        self._scaling_by_country.clear()
        self._is_identified = False
        self._restarted_at = None
        self._renew_settings_at = 0.0

    # ------------------------------------------------------------ the cycle
    async def _run_cycle(self) -> None:
        """Run one cycle: process the validator's new events, then send the routing order and settings that are due."""
        try:
            reply = await self._query(Header.READ_BILL_EVENTS)
            if reply is not None and await self._process_events(codec.decode_event_buffer(reply)):
                await self._send_routing_order()
                await self._query_next_value()
                await self._send_settings()
                self._is_identified = self._is_identified or await self._identify()
            self._handle_valid_message()
        except ProtocolError as error:
            self._count_invalid_message(error)
        await self._pause_until_next_poll()

    async def _process_events(self, event_buffer: EventBuffer) -> bool:
        """Process the validator's events; return False if its replies were missing or inconsistent.

        If the validator has restarted, its settings are sent again and its values are queried again.
        """
        if (
            self._exchange_progress is None
            or self._escrow.is_stacking_ordered()
            or not has_no_new_event(self._exchange_progress, event_buffer)
        ):
            reading = await self._read_events_with_counter(Header.READ_BILL_EVENTS)
            if reading is None:
                return False
            event_buffer, accept_counter = reading
        else:
            accept_counter = read_accept_counter(self._exchange_progress)
        if self._exchange_progress is None:
            self._exchange_progress = compute_exchange_progress(event_buffer, accept_counter)
        new_events = find_new_events(self._exchange_progress, event_buffer)
        accepted_bill_count = count_items_accepted_since(self._exchange_progress, accept_counter)
        if new_events.was_reset:
            self._applied_settings.clear()
            self._present_faults.clear()
            self._value_check = ChannelValueCheck(self._cents_by_note_code, self._currencies)
            self._restarted_at = asyncio.get_running_loop().time()
        is_path_clear = self._is_settled_after_restart(event_buffer)
        for event in new_events.events:
            is_path_clear = self._handle_event(event) or is_path_clear
        if accepted_bill_count and self._escrow.is_stacking_ordered():
            self._handle_accept_without_event(accepted_bill_count)
        self._update_faults(self._present_faults)
        await self._handle_bill_path(
            event_buffer, is_path_clear=is_path_clear, has_new_events=bool(new_events.events)
        )
        self._exchange_progress = compute_exchange_progress(event_buffer, accept_counter)
        self._escrow.record_exchange_progress(self._exchange_progress)
        return True

    def _handle_accept_without_event(self, accepted_bill_count: int) -> None:
        """Handle an advance of the accept counter by ``accepted_bill_count`` bills, while a stacking is ordered.

        If it is one bill, it is the one that was ordered, which is then in the box. If there are more, this validator
        cannot have counted them: it may have been exchanged, and the amount is reported as disputed.
        """
        if accepted_bill_count == 1:
            self._handle_stacked_paper()
        else:
            text = f"{accepted_bill_count} bills counted where one was ordered: is this another validator?"
            self._emit(AmountDisputed(device=self.name, text=text))

    async def _handle_bill_path(
        self, event_buffer: EventBuffer, *, is_path_clear: bool, has_new_events: bool
    ) -> None:
        """Handle the bill or ticket in escrow that the newest event reports or, without one, a clear bill path.

        ``is_path_clear``: the validator's events show that no bill moves. ``has_new_events``: events have come since
        the last call; if they report a bill or ticket in escrow while a stacking is ordered, it is not the one that
        was ordered.
        """
        newest_event = event_buffer.events[0]
        self._holds_paper = bool(_is_in_escrow(newest_event) and event_buffer.event_counter)
        if not self._holds_paper:
            if is_path_clear:
                self._close_previous_paper("the validator's events show it empty")
            return
        if self._escrow.is_stacking_ordered() and has_new_events:  # it arrived after the order: another paper
            self._close_previous_paper("another bill or ticket is in escrow")
        if not self._escrow.is_stacking_ordered():
            self._handle_escrowed_paper(
                await self._read_content(newest_event), bytes((newest_event.result_a, newest_event.result_b))
            )

    def _is_settled_after_restart(self, event_buffer: EventBuffer) -> bool:
        """Return whether the validator restarted so long ago that no bill can still be moving inside it.

        By then it has stacked or returned a bill found inside. Return False if it has reported an event since its
        restart. If the time of the restart is not known, the time is counted from this call.
        """
        if event_buffer.event_counter:
            return False
        if self._restarted_at is None:
            self._restarted_at = asyncio.get_running_loop().time()
        # The events are as old as their query, which may have been long ago if this process was not scheduled.
        return self._queried_at - self._restarted_at > _BILL_SETTLED_SECONDS_AFTER_RESET

    def _handle_event(self, event: CctalkEvent) -> bool:
        """Process one event of the validator; return whether it shows that the bill path is clear."""
        code = event.result_b
        if event.result_a or code == BillEvent.UNKNOWN_BILL_STACKED:
            self._present_faults.pop(FaultCode.JAM, None)
            if event.result_a and code == codec.BILL_IN_ESCROW_RESULT:
                return False
            self._handle_stacked_paper()
            return True
        if code in _FAULT_BY_EVENT:
            self._present_faults[_FAULT_BY_EVENT[code]] = ""
        elif code == BillEvent.STACKER_INSERTED:
            self._present_faults.pop(FaultCode.STACKER_REMOVED, None)
        elif code == BillEvent.STACKER_OK:
            self._present_faults.clear()
        elif code in _REJECTION_TEXT_BY_EVENT:
            self._emit(ItemRejected(device=self.name, reason=_REJECTION_TEXT_BY_EVENT[code]))
            return True
        elif code == BillEvent.BILL_RETURNED_FROM_ESCROW:
            self._present_faults.pop(FaultCode.FRAUD_SUSPECTED, None)
            self._escrow.record_direction(to_box=False)
            return True
        return False

    async def _read_content(self, event: CctalkEvent) -> PaperContent | None:
        """Return the bill in an escrow event, or the ticket whose bar code is read from the validator.

        Return None if the note code has no value or the bar code is not valid.
        """
        if event.result_a:
            cents = self._cents_by_note_code.get(event.result_a)
            return None if cents is None else Banknote(cents)
        reply = await self._query(Header.READ_BARCODE) or b""
        return parse_ticket_barcode(reply.rstrip(b"\0 ").decode("ascii", "replace"))

    # ------------------------------------------------------------ commands to the acceptor
    async def _send_routing_order(self) -> None:
        """Send the routing order for the bill or ticket in escrow: return it, stack it or extend its escrow time.

        An order to stack is not sent if the last query is too old, because another bill or ticket could be in escrow by
        now.
        """
        is_stacking_ordered = self._escrow.is_stacking_ordered()
        command = self._update_escrow_command(self._exchange_progress or 0)
        now = asyncio.get_running_loop().time()
        if command is EscrowCommand.RETURN:
            await self._query(Header.ROUTE_BILL, bytes((BillRoute.RETURN,)))
        elif command is EscrowCommand.STACK or is_stacking_ordered:
            if self._measure_time_since_query() > QUERY_AGE_SECONDS_FOR_STACK_ORDER_MAX:
                return  # this process was not scheduled meanwhile; the next cycle queries again
            self._is_stack_command_unsent = False
            await self._query(Header.ROUTE_BILL, bytes((BillRoute.STACK,)))
        elif command is EscrowCommand.HOLD and now >= self._next_hold_at:
            self._next_hold_at = now + _HOLD_REPEAT_INTERVAL_SECONDS
            await self._query(Header.ROUTE_BILL, bytes((BillRoute.EXTEND_ESCROW_TIME,)))

    async def _send_settings(self) -> None:
        """Send the validator the settings that it does not have yet; from time to time, send all of them again."""
        enabled_notes_mask = sum(1 << note_code - 1 for note_code in self._note_codes_to_accept)
        settings = {
            Header.OPERATING_MODE: _ESCROW_AND_STACKER_MODE,
            Header.INHIBIT_MASK: enabled_notes_mask.to_bytes(2, "little"),
            Header.MASTER_INHIBIT: bytes((self._can_accept_anything,)),
        }
        # Send all settings again from time to time, because the validator may have lost them without reporting it.
        if asyncio.get_running_loop().time() >= self._renew_settings_at:
            self._applied_settings.clear()
        for header, data in settings.items():
            if self._applied_settings.get(header) == data:
                continue
            self._renew_settings_at = asyncio.get_running_loop().time() + SETTINGS_RENEWAL_SECONDS
            if not await self._send_command(header, data):
                return
            self._applied_settings[header] = data
        if self._value_check.are_all_channels_queried:
            self._report_readiness(is_accepting=self._can_accept_anything)

    async def _query_next_value(self) -> None:
        """Query the value of one more note code. Only one is queried per cycle, so that no event has to wait."""
        note_code = self._value_check.next_channel_to_query
        if note_code is None or (self._escrow.is_stacking_ordered() and not self._holds_paper):
            return
        reply = await self._query(Header.BILL_ID, bytes((note_code,)))
        if reply is None:
            self._store_reported_value(note_code, None)
            return
        country, value = codec.decode_coin_or_bill_name(reply, _BILL_NAME_DIGIT_COUNT)
        text, currencies = reply.decode("ascii", "replace"), list_currencies_of_country(country)
        if not value:
            self._store_reported_value(note_code, ReportedValue(text, value, currencies))
            return
        if country not in self._scaling_by_country:
            scaling_reply = await self._query(Header.COUNTRY_SCALING, country.encode("ascii"))
            self._scaling_by_country[country] = (
                None if scaling_reply is None else codec.decode_country_scaling(scaling_reply)
            )
        scaling = self._scaling_by_country[country]
        cents = (
            None if scaling is None else compute_minor_units(value * scaling.factor, -scaling.decimal_places)
        )
        self._store_reported_value(note_code, ReportedValue(text, cents, currencies))


def _is_in_escrow(event: CctalkEvent) -> bool:
    """Return whether the event reports a bill or ticket in escrow."""
    return (
        event.result_b == codec.BILL_IN_ESCROW_RESULT
        if event.result_a
        else event.result_b == BillEvent.BARCODE_DETECTED
    )
