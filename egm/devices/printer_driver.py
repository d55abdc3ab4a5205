"""Common part of the ticket printer drivers: the states of a printed ticket.

A ticket goes from PENDING to PRINTING, BARCODE_DONE and TAKEN, or ends as FAILED or DISPUTED. In each state the value
is in one place: until BARCODE_DONE in the player's credit, from then on in the ticket. The ledger records PRINTING
**before** the print command is sent, and BARCODE_DONE when the printer reports it; only then can the validation number
be redeemed.

A print command is sent once and never repeated. A printer that loses power also loses its report that a bar code was
printed, so the absence of that report proves nothing after a power loss. FAILED is recorded only if all of these hold:
this run of the machine sent the print command; the printer has replied to every query since; no ticket is in its path,
unless a fault explains that. In every other case somebody may hold a complete ticket: the ticket is DISPUTED, and staff
decide. States change only on two equal replies in a row, because printers' replies have no checksum.

A PENDING ticket waits for faults that stop printing, at most :data:`PENDING_JOB_SECONDS_MAX`; after that it has FAILED
and the machine pays in another way. A printer that stays busy with a ticket for
:data:`~egm.devices.driver.STALLED_DEVICE_ORDER_SECONDS_MAX` leaves it DISPUTED.
"""

import asyncio
from abc import abstractmethod
from typing import Final

from egm.devices.driver import STALLED_DEVICE_ORDER_SECONDS_MAX, LineDriver, MessageT, OrderTimer
from egm.devices.framing import FrameCutter
from egm.devices.interface import EventSink, FaultCode, PrintProgress, PrintState, TicketJob
from egm.devices.ledgers import PrintLedger, PrintRecord
from egm.devices.line import SerialLine
from egm.devices.printer_status import PrinterStatus

#: How long a ticket waits for the printer to become ready.
PENDING_JOB_SECONDS_MAX: Final = 10.0
#: How long a printer may take to start printing what it was sent.
PRINT_START_SECONDS_MAX: Final = 2.0
#: How long to wait for a printer that stopped replying while printing.
PRINTER_NO_REPLY_SECONDS_MAX: Final = 15.0
#: No printer loses power and replies again within this time.
_PRINTER_RESTART_SECONDS_MIN: Final = 0.5
#: Interval of queries while no ticket is being printed.
_IDLE_POLL_SECONDS: Final = 0.2
#: Interval of queries while a ticket is being printed.
_POLL_SECONDS_WHILE_PRINTING: Final = 0.05


#: Field of the printer's status -> the fault that it reports.
_FAULT_BY_STATUS_FIELD: Final = {
    "paper_out": FaultCode.PAPER_OUT,
    "paper_low": FaultCode.PAPER_LOW,
    "jam": FaultCode.JAM,
    "head_up": FaultCode.PRINT_HEAD_UP,
    "chassis_open": FaultCode.PRINTER_CHASSIS_OPEN,
    "failure": FaultCode.FAILURE,
}


class PrinterDriver(LineDriver[MessageT]):
    """Common base of the ticket printer drivers, for any protocol that provides a :class:`PrinterStatus`."""

    def __init__(
        self,
        name: str,
        line: SerialLine,
        sink: EventSink,
        *,
        cutter: FrameCutter[MessageT],
        protocol: str,
        ledger: PrintLedger,
    ) -> None:
        super().__init__(name, line, sink, cutter, protocol)
        self._ledger = ledger
        # since the open print job entered its current state, or since this run first saw it
        self._order_timer = OrderTimer()
        # Time of the last of the uninterrupted replies since the print command; None after an interruption.
        self._last_uninterrupted_reply_at: float | None = None

    # ------------------------------------------------------------ implemented per protocol
    @abstractmethod
    def _build_print_command(self, job: TicketJob) -> bytes:
        """Return the bytes that print ``job``. Raises ValueError for what the printer cannot print."""

    @abstractmethod
    async def _query_status(self) -> PrinterStatus | None:
        """Query the printer's status once; return None if there is no valid reply."""

    @abstractmethod
    async def _discard_printer_job(self) -> None:
        """Discard any print job in the printer, and its report that a bar code was printed."""

    # ------------------------------------------------------------ the machine's side
    def print_ticket(self, job: TicketJob) -> None:
        """Print the ticket, exactly once per ``job_id``.

        Raises ValueError while the last ticket is not finished, or for fields that the printer cannot print.
        """
        if self._ledger.find_open() is not None:
            raise ValueError(
                f"{self.name}: a ticket cannot be printed, because the last ticket is not finished"
            )
        self._build_print_command(job)  # only to reject a job that cannot be printed
        self._ledger.open_print_job(job)
        self._order_timer.restart()
        self._emit(PrintProgress(device=self.name, job_id=job.job_id, state=PrintState.PENDING))
        self._wake_event.set()

    # ------------------------------------------------------------ the cycle
    def _reset_session(self) -> None:
        """Do nothing: nothing is known of the printer beyond its status, which every cycle queries."""

    async def _run_cycle(self) -> None:
        """Run one cycle: query the printer's status twice and, if both agree, advance the open print job."""
        first_status = await self._query_status()
        status = None if first_status is None else await self._query_status()
        self._update_uninterrupted_replies(has_replied=status is not None)
        if status is not None and status == first_status:
            detail_by_fault = {
                code: "" for name, code in _FAULT_BY_STATUS_FIELD.items() if getattr(status, name)
            }
            self._update_faults(detail_by_fault)
        else:
            status = None
        record = self._ledger.find_open()
        if record is not None and status is not None:
            await self._advance_print_job(record, status)
        elif record is not None:
            self._handle_unknown_status(record)
        self.poll_seconds = _IDLE_POLL_SECONDS if record is None else _POLL_SECONDS_WHILE_PRINTING
        await self._pause_until_next_poll()

    def _update_uninterrupted_replies(self, *, has_replied: bool) -> None:
        """Record whether the printer has replied to every query since the print command, without a long gap.

        ``has_replied``: it has replied now. After a missing reply, or a gap in which the printer may have restarted,
        its replies count as interrupted until the next print command.
        """
        now = asyncio.get_running_loop().time()
        last_reply_at = self._last_uninterrupted_reply_at
        is_uninterrupted = (
            has_replied and last_reply_at is not None and now - last_reply_at <= _PRINTER_RESTART_SECONDS_MIN
        )
        self._last_uninterrupted_reply_at = now if is_uninterrupted else None

    def _handle_missing_line(self) -> None:
        """Treat the status of the ticket being printed as unknown, because the printer's line cannot be opened."""
        self._last_uninterrupted_reply_at = None
        record = self._ledger.find_open()
        if record is not None:
            self._handle_unknown_status(record)

    def _record_state(self, record: PrintRecord, state: PrintState, detail: str = "") -> None:
        """Record the state of the ticket being printed, and report it."""
        self._ledger.record_print_state(record.job.job_id, state, detail)
        self._order_timer.restart()
        self._emit(PrintProgress(device=self.name, job_id=record.job.job_id, state=state, detail=detail))

    def _handle_unknown_status(self, record: PrintRecord) -> None:
        """Close the open ticket if the printer's status has been unknown for too long.

        A ticket in state PENDING is closed as FAILED. One in state PRINTING is closed as DISPUTED, because it may have
        been printed.
        """
        timeout_rule_by_state = {
            PrintState.PENDING: (PENDING_JOB_SECONDS_MAX, PrintState.FAILED),
            PrintState.PRINTING: (PRINTER_NO_REPLY_SECONDS_MAX, PrintState.DISPUTED),
        }
        if record.state not in timeout_rule_by_state:
            return
        seconds_max, end_state = timeout_rule_by_state[record.state]
        if self._order_timer.add_elapsed() > seconds_max:
            self._record_state(record, end_state, "the printer does not answer")

    async def _advance_print_job(self, record: PrintRecord, status: PrinterStatus) -> None:
        """Advance the open print job by one step, according to its state and the printer's status."""
        match record.state:
            case PrintState.PENDING:
                await self._handle_pending_ticket(record, status)
            case PrintState.PRINTING:
                await self._handle_printing_ticket(record, status)
            case PrintState.BARCODE_DONE:
                if not status.is_busy and not status.ticket_in_path:
                    self._record_state(record, PrintState.TAKEN)
                    await self._discard_printer_job()  # so that the next ticket need not wait for it
            case PrintState.TAKEN | PrintState.FAILED | PrintState.DISPUTED:
                pass

    async def _handle_pending_ticket(self, record: PrintRecord, status: PrinterStatus) -> None:
        """Start printing a pending ticket once the printer is free; record it as FAILED if that takes too long."""
        waited_seconds = self._order_timer.add_elapsed()
        if status.printing_obstacle or status.is_busy or status.ticket_in_path:
            if waited_seconds > PENDING_JOB_SECONDS_MAX:
                reason = status.printing_obstacle or "the last ticket was not taken"
                self._record_state(record, PrintState.FAILED, reason)
        elif status.barcode_done:
            if waited_seconds > PENDING_JOB_SECONDS_MAX:
                self._record_state(record, PrintState.FAILED, "the printer still reports the last ticket")
            else:
                await self._discard_printer_job()
        else:
            self._record_state(record, PrintState.PRINTING)
            command = self._build_print_command(record.job)
            self._line.write(command)
            # A query behind a ticket that is still being sent would be answered too late.
            await asyncio.sleep(len(command) * self._line.settings.character_seconds)
            self._last_uninterrupted_reply_at = asyncio.get_running_loop().time()

    async def _handle_printing_ticket(self, record: PrintRecord, status: PrinterStatus) -> None:
        """Record how the printing of a ticket has ended, if it has.

        BARCODE_DONE: the printer reports the bar code. FAILED: certainly nothing came out. DISPUTED: a complete ticket
        may have come out.
        """
        waited_seconds = self._order_timer.add_elapsed()
        if status.barcode_done:
            self._record_state(record, PrintState.BARCODE_DONE)
        elif status.printing_obstacle or (not status.is_busy and waited_seconds > PRINT_START_SECONDS_MAX):
            await self._discard_printer_job()
            reason = status.printing_obstacle or "nothing was printed"
            is_ticket_unexplained = status.ticket_in_path and not status.printing_obstacle
            if self._last_uninterrupted_reply_at is not None and not is_ticket_unexplained:
                self._record_state(record, PrintState.FAILED, reason)
            else:
                self._record_state(
                    record, PrintState.DISPUTED, "a whole ticket may have come out of the printer"
                )
        elif waited_seconds > STALLED_DEVICE_ORDER_SECONDS_MAX:
            self._record_state(record, PrintState.DISPUTED, "the printer did not finish the ticket")
