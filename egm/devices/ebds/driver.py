"""Driver of EBDS bill acceptors, which stores the acknowledgement number so that it survives a restart.

Each poll has an acknowledgement number, 0 or 1. The acceptor reports "stacked" in one reply, and repeats that reply
until a poll has the other number. A machine that restarts with the wrong number would acknowledge a reply that it never
received.

While a stacking is open, the number of each new poll is therefore recorded (as the ``exchange_progress`` of the escrow
record) **before** the poll is sent. After a restart the poll with that number is sent first. The acceptor replies to
it, whether it had received that poll before or not, so no reply is skipped and none is processed twice. This is the
sender's half of the alternating-bit protocol, with its bit stored durably.

Every complete frame is acknowledged, whether it can be decoded or not: otherwise the acceptor repeats it and sends
nothing else. If it was the report of a stacking and could not be decoded, the next report is that the bill path is
clear, and staff decide the amount.

The first reply of a session may be an old one. Its *events* (stacked) are used, because they are true whenever they
were reported, and its faults; its *states* (escrowed, idling) are not.
"""

from collections.abc import Mapping
from typing import Final

from egm.devices.bill_driver import BillDriver, EscrowCommand, parse_ticket_barcode
from egm.devices.channel_values import DOLLAR_CURRENCIES, ReportedValue, compute_minor_units
from egm.devices.ebds import codec
from egm.devices.ebds.codec import (
    AcceptorStatus,
    AcceptorStatusBits,
    AuxiliaryCommand,
    AuxiliaryCommandCode,
    EbdsFrame,
    EbdsPoll,
    IdentificationText,
    NoteQuery,
    NoteTableRow,
)
from egm.devices.interface import (
    Banknote,
    DeviceIdentified,
    EventSink,
    FaultCode,
    ItemRejected,
    PaperContent,
)
from egm.devices.ledgers import EscrowLedger
from egm.devices.line import LineSettings, SerialLine

#: Number of identification queries after which an acceptor that has not identified itself is not queried again in this
#: session.
_IDENTIFY_ATTEMPTS_MAX: Final = 3
#: Attempts to read a row of the note table.
_NOTE_QUERY_ATTEMPTS_MAX: Final = 2
#: Settings of an EBDS line.
EBDS_LINE_SETTINGS: Final = LineSettings(baud_rate=9600, data_bits=7, parity="E", stop_bits=1)

#: Status bit -> the fault that it reports.
_FAULT_BY_STATUS_BIT: Final[Mapping[AcceptorStatusBits, FaultCode]] = {
    AcceptorStatusBits.JAMMED: FaultCode.JAM,
    AcceptorStatusBits.STALLED: FaultCode.STACKER_JAM,
    AcceptorStatusBits.FULL: FaultCode.STACKER_FULL,
    AcceptorStatusBits.CHEATED: FaultCode.FRAUD_SUSPECTED,
    AcceptorStatusBits.FAILURE: FaultCode.FAILURE,
}


class EbdsDriver(BillDriver[EbdsFrame]):
    """A :class:`~egm.devices.interface.BillAcceptor` that speaks the EBDS protocol."""

    poll_seconds = 0.1

    def __init__(
        self,
        name: str,
        line: SerialLine,
        sink: EventSink,
        ledger: EscrowLedger,
        cents_by_note_code: Mapping[int, int] = codec.DOLLAR_CENTS_BY_NOTE_CODE,
        *,
        currencies: frozenset[str] = DOLLAR_CURRENCIES,
    ) -> None:
        super().__init__(
            name,
            line,
            sink,
            cutter=codec.cut_frame,
            protocol=codec.EBDS_PROTOCOL,
            ledger=ledger,
            cents_by_note_code=cents_by_note_code,
            currencies=currencies,
        )
        self._ack_number = 0
        self._last_status_bits = AcceptorStatusBits(0)  # the acceptor's last status bits
        self._are_replies_current = False  # whether replies certainly belong to this session
        self._identify_attempts_left = _IDENTIFY_ATTEMPTS_MAX
        self._note_query_attempts_left = _NOTE_QUERY_ATTEMPTS_MAX

    def _reset_device_state(self) -> None:
        """Clear the acceptor's status and settings after its connection was lost.

        If a bill or ticket is being stacked, continue with the acknowledgement number stored with it.
        """
        self._last_status_bits = AcceptorStatusBits(0)
        self._are_replies_current = False
        self._identify_attempts_left = _IDENTIFY_ATTEMPTS_MAX
        self._note_query_attempts_left = _NOTE_QUERY_ATTEMPTS_MAX
        stored_ack_number = self._escrow.exchange_progress
        if stored_ack_number is not None:
            self._ack_number = stored_ack_number

    # ------------------------------------------------------------ the cycle
    async def _run_cycle(self) -> None:
        """Run one cycle: identify the acceptor, then poll it with the notes to accept and the escrow decision."""
        if self._are_replies_current and self._identify_attempts_left:
            self._identify_attempts_left -= 1
            await self._query(AuxiliaryCommand(self._ack_number, AuxiliaryCommandCode.ACCEPTOR_TYPE))
        command = (
            self._update_escrow_command(self._ack_number)
            if self._are_replies_current
            else EscrowCommand.UNDECIDED
        )
        poll = EbdsPoll(
            ack_number=self._ack_number,
            enabled_notes_mask=sum(1 << note_code - 1 for note_code in self._note_codes_to_accept),
            accepts_barcodes=self._can_accept_tickets,
            is_stack_command=command is EscrowCommand.STACK,
            is_return_command=command is EscrowCommand.RETURN,
        )
        queried_code = self._value_check.next_channel_to_query
        if queried_code is not None and self._last_status_bits & (
            AcceptorStatusBits.IDLING | AcceptorStatusBits.ESCROWED
        ):
            await self._query_value(poll, queried_code)
        else:
            await self._query(poll)
        await self._pause_until_next_poll()

    async def _query_value(self, poll: EbdsPoll, note_code: int) -> None:
        """Query the value of a note code: row ``note_code`` of the acceptor's note table."""
        if self._note_query_attempts_left:
            self._note_query_attempts_left -= 1
            await self._query(NoteQuery(poll, note_code))
        else:
            self._store_reported_value(note_code, None)
        if self._value_check.next_channel_to_query != note_code:
            self._note_query_attempts_left = _NOTE_QUERY_ATTEMPTS_MAX

    async def _query(self, query: EbdsPoll | NoteQuery | AuxiliaryCommand) -> None:
        """Send a query to the acceptor and process the replies; a repeated reply is skipped."""
        self._escrow.record_exchange_progress(self._ack_number)
        for frame in await self._exchange(query.encode()):
            message = self._decode_or_count_invalid(codec.decode_acceptor_message, frame)
            if frame.control & 1 != self._ack_number or not codec.is_from_acceptor(frame):
                continue  # the repeat of a reply that was processed
            match message:
                case IdentificationText():
                    self._identify_attempts_left = 0
                    self._emit(DeviceIdentified(device=self.name, identity=message.text))
                case NoteTableRow(status=status):
                    if isinstance(query, NoteQuery) and message.row_index == query.row_index:
                        self._store_reported_value(query.row_index, _build_reported_value(message))
                    self._handle_status(status, query)
                case AcceptorStatus():
                    self._handle_status(message, query)
            self._ack_number ^= 1

    # ------------------------------------------------------------ the acceptor's reports
    def _handle_status(self, status: AcceptorStatus, query: EbdsPoll | NoteQuery | AuxiliaryCommand) -> None:
        """Process the acceptor's status: faults, and a bill or ticket in escrow, stacked, returned or rejected."""
        bits = status.bits
        if bits & AcceptorStatusBits.STACKED:
            self._handle_stacked_paper()
        if bits & AcceptorStatusBits.RETURNED:
            self._escrow.record_direction(to_box=False)
        if bits & AcceptorStatusBits.REJECTED:
            self._emit(ItemRejected(device=self.name, reason="not recognised"))
        faults = {code: "" for bit, code in _FAULT_BY_STATUS_BIT.items() if bits & bit}
        if not bits & AcceptorStatusBits.BOX_PRESENT:
            faults[FaultCode.STACKER_REMOVED] = ""
        self._update_faults(faults)
        if not self._are_replies_current:
            self._are_replies_current = True
            return
        self._last_status_bits = bits
        # The reply to a note table query does not say which paper is in escrow.
        if bits & AcceptorStatusBits.ESCROWED and not isinstance(query, NoteQuery):
            self._handle_escrowed_paper(
                self._read_content(status), bytes((status.note_code,)) + status.barcode.encode()
            )
        elif bits & AcceptorStatusBits.STACKING:
            self._escrow.record_direction(to_box=True)
        elif (
            bits & (AcceptorStatusBits.IDLING | AcceptorStatusBits.ACCEPTING)
            and not bits & AcceptorStatusBits.STACKED
        ):
            self._close_previous_paper("the acceptor is idle")
        if (
            bits & AcceptorStatusBits.IDLING
            and isinstance(query, EbdsPoll)
            and self._value_check.are_all_channels_queried
        ):
            self._report_readiness(
                is_accepting=bool(query.enabled_notes_mask or query.accepts_barcodes) and not faults
            )

    def _read_content(self, status: AcceptorStatus) -> PaperContent | None:
        """Return the bill or ticket that the acceptor's status reports.

        Return None for a note code without a value or a bar code that is not only digits.
        """
        if status.barcode:
            return parse_ticket_barcode(status.barcode)
        cents = self._cents_by_note_code.get(status.note_code)
        return None if cents is None else Banknote(cents)


def _build_reported_value(row: NoteTableRow) -> ReportedValue:
    """Return the value in a row of the acceptor's note table, for the comparison with the cabinet file."""
    if not row.currency:
        return ReportedValue("nothing", 0)
    if not row.base_value:
        return ReportedValue(row.currency, None)
    text = f"{row.base_value}E{row.decimal_exponent} {row.currency}"
    return ReportedValue(
        text,
        compute_minor_units(row.base_value, row.decimal_exponent, row.currency),
        frozenset({row.currency}),
    )
