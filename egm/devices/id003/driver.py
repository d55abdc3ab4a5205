"""ID-003 driver: in each cycle queries the status, then sends the one command that moves the acceptor on.

Credit is given at VEND VALID (15): the ledger records it, and only then is the acknowledgement (50) sent; the acceptor
repeats 15 until it receives it. If the acceptor reports at power-up that a note is past the point of no return (42), it
will stack the note, and some models do not report it again: 42 therefore counts as VEND VALID. The rule of
:mod:`egm.devices.escrow` makes a second report harmless.

The statuses idle, disabled and accepting, and the escrow status of another paper, show a clear path. STACKED (16) and
the power-up statuses do not: an acceptor that loses power at that moment may report the same note again.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Final

from egm.devices.bill_driver import BillDriver, EscrowCommand, parse_ticket_barcode
from egm.devices.channel_values import (
    DOLLAR_CURRENCIES,
    ChannelValueCheck,
    ReportedValue,
    compute_minor_units,
)
from egm.devices.id003 import codec
from egm.devices.id003.codec import (
    CurrencyTable,
    CurrencyTableRow,
    Id003Command,
    Id003Frame,
    Id003Status,
    SettingEcho,
    SoftwareVersionReply,
    StatusReport,
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

#: Settings of an ID-003 line.
ID003_LINE_SETTINGS: Final = LineSettings(baud_rate=9600, data_bits=8, parity="E", stop_bits=1)

#: An acceptor returns the paper in escrow after about ten seconds, unless it is ordered again to hold it.
_HOLD_REPEAT_INTERVAL_SECONDS: Final = 4.0
#: Interval of resets for an acceptor in a fault that it cannot leave by itself.
_RESET_INTERVAL_SECONDS: Final = 3.0
#: Attempts at a query that an acceptor need not support.
_OPTIONAL_QUERY_ATTEMPTS_MAX: Final = 3
#: Interval of queries while the acceptor is idle.
_IDLE_POLL_SECONDS: Final = 0.2
#: Interval of queries while a paper moves.
_BUSY_POLL_SECONDS: Final = 0.1
#: Pause between a command and the next query.
_COMMAND_GAP_SECONDS: Final = 0.01

#: Status -> the fault that it reports.
_FAULT_BY_STATUS: Final[Mapping[Id003Status, FaultCode]] = {
    Id003Status.STACKER_FULL: FaultCode.STACKER_FULL,
    Id003Status.STACKER_OPEN: FaultCode.STACKER_REMOVED,
    Id003Status.ACCEPTOR_JAM: FaultCode.JAM,
    Id003Status.STACKER_JAM: FaultCode.STACKER_JAM,
    Id003Status.CHEATED: FaultCode.FRAUD_SUSPECTED,
    Id003Status.FAILURE: FaultCode.FAILURE,
}
#: Statuses that show that nothing moves and nothing is unacknowledged.
_PATH_CLEAR_STATUSES: Final = frozenset({Id003Status.IDLE, Id003Status.DISABLED, Id003Status.ACCEPTING})
#: Statuses after the return of power.
_POWER_UP_STATUSES: Final = frozenset(
    {Id003Status.POWER_UP, Id003Status.POWER_UP_BILL_IN_ACCEPTOR, Id003Status.POWER_UP_BILL_IN_STACKER}
)
#: Statuses in which the note is being returned to the player, or is about to be.
_RETURNING_STATUSES: Final = frozenset(
    {Id003Status.RETURNING, Id003Status.REJECTING, Id003Status.POWER_UP_BILL_IN_ACCEPTOR}
)
#: Statuses in which the acceptor waits for a paper.
_IDLE_STATUSES: Final = frozenset({Id003Status.IDLE, Id003Status.DISABLED})
#: Statuses that only a reset ends.
_STATUSES_THAT_NEED_RESET: Final = frozenset(
    {Id003Status.ACCEPTOR_JAM, Id003Status.STACKER_JAM, Id003Status.CHEATED, Id003Status.FAILURE}
)
#: Statuses in which the acceptor accepts settings.
_STATUSES_THAT_TAKE_SETTINGS: Final = frozenset(
    {Id003Status.INITIALIZE, Id003Status.IDLE, Id003Status.DISABLED}
)


class Id003Driver(BillDriver[Id003Frame]):
    """A :class:`~egm.devices.interface.BillAcceptor` that speaks the ID-003 protocol."""

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
            protocol=codec.ID003_PROTOCOL,
            ledger=ledger,
            cents_by_note_code=cents_by_note_code,
            currencies=currencies,
        )
        self._status: Id003Status | None = None
        self._applied_settings: dict[Id003Command, bytes] = {}
        self._query_count_by_command: Counter[Id003Command] = Counter()
        self._next_hold_at = 0.0
        self._next_reset_at = 0.0

    def _reset_device_state(self) -> None:
        """Clear the acceptor's status and settings after its connection was lost."""
        self._status = None
        self._applied_settings.clear()
        self._query_count_by_command.clear()

    # ------------------------------------------------------------ the cycle
    async def _run_cycle(self) -> None:
        """Run one cycle: query the acceptor's status, then send the one command that is due."""
        has_replied = await self._send_and_handle_replies(Id003Frame(Id003Command.STATUS))
        command = self._take_due_command() if has_replied else None
        if command is None:
            await self._pause_until_next_poll()
        else:
            await self._send_and_handle_replies(command)
            await asyncio.sleep(_COMMAND_GAP_SECONDS)

    async def _send_and_handle_replies(self, frame: Id003Frame) -> bool:
        """Send a query or command to the acceptor and process the replies; return whether there were any."""
        replies = await self._exchange(frame.encode())
        for reply in replies:
            match self._decode_or_count_invalid(codec.decode_report, reply):
                case StatusReport(status=Id003Status.INVALID_COMMAND):
                    pass  # the acceptor does not support the command; its status has not changed
                case StatusReport() as report:
                    self._handle_status_report(report)
                case SettingEcho(command=command, data=data):
                    self._applied_settings[command] = data
                case CurrencyTable(rows=rows):
                    self._store_currency_table({row.note_code: _build_reported_value(row) for row in rows})
                case SoftwareVersionReply(text=text):
                    self._query_count_by_command[Id003Command.VERSION] = _OPTIONAL_QUERY_ATTEMPTS_MAX
                    self._emit(DeviceIdentified(device=self.name, identity=text))
                case _:  # an acknowledgement, or an invalid reply
                    pass
        return bool(replies)

    # ------------------------------------------------------------ the acceptor's reports
    def _handle_status_report(self, report: StatusReport) -> None:
        """Process the acceptor's status: faults, a power-up that lost settings, readiness, and its bill or ticket."""
        status = report.status
        is_new_status, self._status = status is not self._status, status
        self.poll_seconds = _IDLE_POLL_SECONDS if status in _IDLE_STATUSES else _BUSY_POLL_SECONDS
        self._update_faults({_FAULT_BY_STATUS[status]: ""} if status in _FAULT_BY_STATUS else {})
        if is_new_status and (status in _POWER_UP_STATUSES or status is Id003Status.INITIALIZE):
            self._applied_settings.clear()
            self._value_check = ChannelValueCheck(self._cents_by_note_code, self._currencies)
            self._query_count_by_command[Id003Command.CURRENCY] = 0
            self._is_ready = None
        if status in _PATH_CLEAR_STATUSES:
            self._close_previous_paper(f"the acceptor is {status.name.lower()}")
            if status in _IDLE_STATUSES and (status is Id003Status.IDLE) is self._can_accept_anything:
                self._report_readiness(is_accepting=self._can_accept_anything)
        elif status is Id003Status.ESCROW:
            self._handle_escrowed_paper(self._read_content(report), report.data)
        elif status in {Id003Status.VEND_VALID, Id003Status.POWER_UP_BILL_IN_STACKER}:
            self._handle_stacked_paper()
            if status is Id003Status.VEND_VALID:
                self._line.write(Id003Frame(Id003Command.ACK).encode())
        elif status is Id003Status.STACKING:
            self._escrow.record_direction(to_box=True)
        elif status in _RETURNING_STATUSES:
            self._escrow.record_direction(to_box=False)
            if is_new_status and report.rejection_reason:
                self._emit(ItemRejected(device=self.name, reason=report.rejection_reason))

    def _read_content(self, report: StatusReport) -> PaperContent | None:
        """Return the bill or ticket that the acceptor's status reports.

        Return None for a note code without a value or a bar code that is not only digits.
        """
        if report.barcode is not None:
            return parse_ticket_barcode(report.barcode)
        cents = self._cents_by_note_code.get(report.note_code if report.note_code is not None else -1)
        return None if cents is None else Banknote(cents)

    # ------------------------------------------------------------ commands to the acceptor
    def _take_due_command(self) -> Id003Frame | None:
        """Return the one command that the acceptor's last status requires, or None."""
        now = asyncio.get_running_loop().time()
        status = self._status
        if status in _POWER_UP_STATUSES:
            return Id003Frame(Id003Command.RESET)
        if status in _STATUSES_THAT_NEED_RESET and now >= self._next_reset_at:
            self._next_reset_at = now + _RESET_INTERVAL_SECONDS
            return Id003Frame(Id003Command.RESET)
        if status in {Id003Status.ESCROW, Id003Status.HOLDING}:
            return self._take_due_values_query() or self._build_escrow_command(now)
        if status in _STATUSES_THAT_TAKE_SETTINGS:
            return self._take_due_query() or self._find_due_setting()
        return None

    def _take_due_query(self) -> Id003Frame | None:
        """Return the next query that must precede the settings; None once all have been sent.

        An acceptor that does not reply to these queries receives its settings nevertheless.
        """
        if self._query_count_by_command[Id003Command.VERSION] < _OPTIONAL_QUERY_ATTEMPTS_MAX:
            self._query_count_by_command[Id003Command.VERSION] += 1
            return Id003Frame(Id003Command.VERSION)
        return self._take_due_values_query()

    def _take_due_values_query(self) -> Id003Frame | None:
        """Return the query for the values of the note codes, or None once the acceptor has replied to it.

        After several queries without a reply, store that no value is reported, and return None.
        """
        if self._value_check.are_all_channels_queried:
            return None
        if self._query_count_by_command[Id003Command.CURRENCY] < _OPTIONAL_QUERY_ATTEMPTS_MAX:
            self._query_count_by_command[Id003Command.CURRENCY] += 1
            return Id003Frame(Id003Command.CURRENCY)
        self._store_currency_table(dict.fromkeys(self._cents_by_note_code))
        return None

    def _store_currency_table(self, reported_value_by_code: Mapping[int, ReportedValue | None]) -> None:
        """Store the reported values of all note codes; a code that the table omits accepts nothing."""
        for code in self._cents_by_note_code:
            self._store_reported_value(code, reported_value_by_code.get(code, ReportedValue("nothing", 0)))

    def _build_escrow_command(self, now: float) -> Id003Frame | None:
        """Return the command that carries out the decision on the bill or ticket in escrow; None if none is due."""
        match self._update_escrow_command():
            case EscrowCommand.STACK:
                return Id003Frame(Id003Command.STACK_1)
            case EscrowCommand.RETURN:
                return Id003Frame(Id003Command.RETURN)
            case EscrowCommand.HOLD if now >= self._next_hold_at:
                self._next_hold_at = now + _HOLD_REPEAT_INTERVAL_SECONDS
                return Id003Frame(Id003Command.HOLD)
            case _:
                return None

    def _find_due_setting(self) -> Id003Frame | None:
        """Return the command for the first setting that the acceptor does not have yet; None if it has all.

        The inhibit, which lets the acceptor accept bills and tickets, is the last.
        """
        accepted_mask = sum(1 << code - codec.FIRST_NOTE_CODE for code in self._note_codes_to_accept)
        settings = {
            Id003Command.DENOMINATIONS: bytes((~accepted_mask & 0xFF, 0xFF)),
            Id003Command.SECURITY: b"\x00\x00",
            Id003Command.OPTIONS: b"\x00\x00",
            Id003Command.BARCODE: codec.BARCODE_TYPE_INTERLEAVED_18,
            Id003Command.BARCODE_INHIBIT: b"\x00" if self._can_accept_tickets else b"\x01",
            Id003Command.INHIBIT: b"\x00" if self._can_accept_anything else b"\x01",
        }
        for command, data in settings.items():
            if self._applied_settings.get(command) != data:
                return Id003Frame(command, data)
        return None


def _build_reported_value(row: CurrencyTableRow) -> ReportedValue:
    """Return the value in a row of the acceptor's note table, for the comparison with the cabinet file."""
    if not row.country_code or not row.base_value:
        return ReportedValue("nothing", 0)
    currency = codec.CURRENCY_BY_COUNTRY_CODE.get(row.country_code)
    text = f"{row.base_value}E{row.decimal_exponent} of country {row.country_code:02X}"
    if currency is None:
        return ReportedValue(text, None)
    return ReportedValue(
        f"{text} ({currency})",
        compute_minor_units(row.base_value, row.decimal_exponent, currency),
        frozenset({currency}),
    )
