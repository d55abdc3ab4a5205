"""Common part of bill acceptor drivers: a paper (bill or ticket) in escrow, the machine's decision, and the result.

A protocol's driver translates its statuses into calls of a few methods here (``_handle_escrowed_paper``,
``_handle_stacked_paper``, ``_close_previous_paper``), and :meth:`BillDriver._update_escrow_command` returns the next
command to the device. The rule for crediting is in :mod:`egm.devices.escrow`.

A stack order ends within a time limit. An acceptor that leaves the paper in escrow for
:data:`ESCROW_SECONDS_AFTER_STACK_ORDER_MAX` is ordered to return it. If it has not reported the result after
:data:`~egm.devices.driver.STALLED_DEVICE_ORDER_SECONDS_MAX`, the paper's value becomes a disputed amount, which staff
decide. A jam, a full box and every other fault that a person must clear stop that clock: the acceptor reports the paper
once the fault is cleared.
"""

import asyncio
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from egm.devices.channel_values import DOLLAR_CURRENCIES, ChannelValueCheck, ReportedValue
from egm.devices.driver import STALLED_DEVICE_ORDER_SECONDS_MAX, LineDriver, MessageT, OrderTimer
from egm.devices.escrow import EscrowRules, EscrowVerdict
from egm.devices.framing import FrameCutter
from egm.devices.interface import (
    AcceptorReadiness,
    AmountDisputed,
    Banknote,
    Barcode,
    EventSink,
    FaultCode,
    PaperContent,
    PaperInEscrow,
    PaperReturned,
    PaperStacked,
    ReturnReason,
)
from egm.devices.ledgers import EscrowLedger
from egm.devices.line import SerialLine

#: Time for the machine to decide about a paper in escrow; afterwards the paper is returned to the player.
MACHINE_DECISION_SECONDS_MAX = 5.0
#: Time for which a responding acceptor may leave a paper in escrow after a stack order.
ESCROW_SECONDS_AFTER_STACK_ORDER_MAX = 10.0
#: A stack order is sent only if the last status query is at most this old. An acceptor needs longer than this to
#: replace the paper in escrow by another, so the order cannot reach another paper.

QUERY_AGE_SECONDS_FOR_STACK_ORDER_MAX = 1.0
#: Faults during which a paper stays where it is until a person has cleared them.
_FAULTS_THAT_STOP_PAPER: Final = frozenset(
    {
        FaultCode.JAM,
        FaultCode.STACKER_JAM,
        FaultCode.STACKER_FULL,
        FaultCode.STACKER_REMOVED,
        FaultCode.FAILURE,
    }
)


class EscrowCommand(StrEnum):
    """The command to a bill acceptor about the bill or ticket in escrow; UNDECIDED: no command is sent yet."""

    UNDECIDED = "undecided"
    STACK = "stack"
    RETURN = "return"
    HOLD = "hold"


@dataclass(slots=True)
class _EscrowedPaper:
    """The bill or ticket in the acceptor's escrow.

    Each bill or ticket gets its own ``escrow_number``, by which the machine refers to it.
    """

    escrow_number: int
    content: PaperContent | None
    reported_code: bytes
    """The bytes that identify the bill or ticket in the acceptor's report, such as its note code."""
    escrowed_at: float
    """The event loop's time at which the bill or ticket came into escrow."""
    machine_decision: EscrowCommand = EscrowCommand.UNDECIDED
    """The machine's decision about the bill or ticket; UNDECIDED until it has decided."""
    return_reason: ReturnReason = ReturnReason.RETURNED_BY_ACCEPTOR
    """The reason to report if the bill or ticket is returned."""


def parse_ticket_barcode(text: str) -> Barcode | None:
    """Return the ticket with this bar code text, or None if the text is not only digits."""
    return Barcode(text) if text.isascii() and text.isdigit() else None


class BillDriver(LineDriver[MessageT]):
    """Common base of the bill acceptor drivers: it stacks or returns a bill or ticket as the machine decides."""

    def __init__(
        self,
        name: str,
        line: SerialLine,
        sink: EventSink,
        *,
        cutter: FrameCutter[MessageT],
        protocol: str,
        ledger: EscrowLedger,
        cents_by_note_code: Mapping[int, int],
        currencies: frozenset[str] = DOLLAR_CURRENCIES,
    ) -> None:
        """Create the driver. ``cents_by_note_code`` has the notes' values in minor units of one of ``currencies``."""
        super().__init__(name, line, sink, cutter, protocol)
        self._escrow = EscrowRules(ledger)
        self._cents_by_note_code = dict(cents_by_note_code)
        self._currencies = currencies
        self._value_check = ChannelValueCheck(self._cents_by_note_code, currencies)
        self._enabled_cents: frozenset[int] = frozenset()
        self._accepts_tickets = False
        self._escrowed_paper: _EscrowedPaper | None = None
        # The paper in escrow when the last session ended; its result is unknown.
        self._previous_session_paper: _EscrowedPaper | None = None
        self._reported_escrow_code = b""  # the code of the paper that the device last reported in escrow
        self._last_escrow_number = 0
        self._is_ready: bool | None = None
        self._is_unordered_stacking_recorded = False
        # whether one report of another paper has been ignored since the stack order
        self._is_other_paper_report_ignored = False
        # whether the last order ended in a disputed amount, and the acceptor may still report its paper; None before
        # the first session
        self._may_report_disputed_paper: bool | None = None
        self._order_timer = OrderTimer()
        # whether this run has recorded the open stack order and has not sent its command: the paper cannot be in the
        # box
        self._is_stack_command_unsent = False

    # ------------------------------------------------------------ the machine's side
    @property
    def values_cents(self) -> frozenset[int]:
        """Return the values of the notes that the acceptor can report, in minor units."""
        return frozenset(self._cents_by_note_code.values())

    def enable(self, denominations_cents: frozenset[int], *, accepts_tickets: bool = False) -> None:
        """Accept notes of these values, if the acceptor has codes for them; if ``accepts_tickets``, tickets too."""
        self._enabled_cents = denominations_cents
        self._accepts_tickets = accepts_tickets
        self._wake_event.set()

    def disable(self) -> None:
        """Accept no more bills or tickets. One that is already in escrow still waits for the machine's decision."""
        self.enable(frozenset())

    def stack(self, escrow_number: int) -> None:
        """Order the acceptor to stack the bill or ticket ``escrow_number``; do nothing if it has left escrow."""
        self._store_machine_decision(escrow_number, EscrowCommand.STACK)

    def return_paper(self, escrow_number: int) -> None:
        """Order the acceptor to return the bill or ticket ``escrow_number``; do nothing if it has left escrow."""
        self._store_machine_decision(escrow_number, EscrowCommand.RETURN, ReturnReason.ORDERED_BY_MACHINE)

    def hold_in_escrow(self, escrow_number: int) -> None:
        """Keep the bill or ticket ``escrow_number`` in escrow until ``stack`` or ``return_paper`` is called for it.

        A machine calls this while it queries a host about a ticket.
        """
        self._store_machine_decision(escrow_number, EscrowCommand.HOLD)

    def _store_machine_decision(
        self,
        escrow_number: int,
        decision: EscrowCommand,
        return_reason: ReturnReason = ReturnReason.RETURNED_BY_ACCEPTOR,
    ) -> None:
        """Store the machine's decision about the bill or ticket that has this escrow number.

        Do nothing if it has left escrow or the decision is already final. ``return_reason`` is the reason to report if
        it is returned.
        """
        paper = self._escrowed_paper or self._previous_session_paper
        if (
            paper is None
            or paper.escrow_number != escrow_number
            or paper.machine_decision in {EscrowCommand.STACK, EscrowCommand.RETURN}
        ):
            return
        paper.machine_decision = decision
        paper.return_reason = return_reason
        self._wake_event.set()

    # ------------------------------------------------------------ the device's side
    @property
    def _can_accept_anything(self) -> bool:
        """Return whether the acceptor is to accept any note or any ticket now."""
        return bool(self._note_codes_to_accept) or self._can_accept_tickets

    @property
    def _note_codes_to_accept(self) -> list[int]:
        """Return the note codes to accept: the codes of the enabled values.

        The list is empty if a note value that the acceptor reports differs from the cabinet file: no money is accepted
        then.
        """
        if self._value_check.has_differences:
            return []
        return [code for code, cents in self._cents_by_note_code.items() if cents in self._enabled_cents]

    @property
    def _can_accept_tickets(self) -> bool:
        """Return whether tickets are enabled; False while the acceptor's note values differ from the cabinet file's."""
        return self._accepts_tickets and not self._value_check.has_differences

    def _store_reported_value(self, code: int, reported_value: ReportedValue | None) -> None:
        """Store the value that the acceptor reports for a note code; None means that it does not reply.

        Then report the faults of note codes whose values are wrong or unknown.
        """
        self._value_check.store_reported_value(code, reported_value)
        self._report_value_faults(self._value_check)

    def _reset_session(self) -> None:
        """Clear what the acceptor has reported: its line was opened again, or it does not reply.

        A bill or ticket that was in escrow before counts only once the acceptor has reported it again.
        """
        # In the first session after a start, the disputed paper may be one of an earlier run.
        if self._may_report_disputed_paper is None:
            self._may_report_disputed_paper = self._escrow.has_disputed_paper()
        self._previous_session_paper, self._escrowed_paper = (
            self._escrowed_paper or self._previous_session_paper,
            None,
        )
        self._is_ready = None
        self._value_check = ChannelValueCheck(self._cents_by_note_code, self._currencies)
        self._reset_device_state()

    @abstractmethod
    def _reset_device_state(self) -> None:
        """Clear the acceptor's status and settings after its connection was lost; implemented per protocol."""

    def _report_readiness(self, *, is_accepting: bool) -> None:
        """Emit an event if the acceptor has started or stopped accepting bills and tickets."""
        if self._is_ready is not is_accepting:
            self._is_ready = is_accepting
            self._emit(AcceptorReadiness(device=self.name, is_accepting=is_accepting))

    def _handle_escrowed_paper(self, content: PaperContent | None, reported_code: bytes) -> None:
        """Handle the acceptor's report that a bill or ticket is in escrow.

        ``content``: None if its value or bar code is unknown. If the machine accepts bills of this value, or tickets,
        it is informed and decides about this one; anything else is returned. The report is only stored until the value
        of every note code has been queried. While a stacking is ordered, the first report of another bill or ticket is
        ignored, because it may be a late reply from before the order.
        """
        self._reported_escrow_code = reported_code
        if not self._value_check.are_all_channels_queried:
            return
        if self._escrowed_paper is not None and self._escrowed_paper.reported_code == reported_code:
            return
        if self._escrow.is_stacking_ordered() and not self._is_other_paper_report_ignored:
            # Possibly a late reply from before the order: believe it only if it is repeated.
            self._is_other_paper_report_ignored = True
            return
        last_paper = self._previous_session_paper
        if (
            last_paper is not None
            and (last_paper.content, last_paper.reported_code) == (content, reported_code)
            and self._is_decision_valid_after_line_loss(last_paper)
        ):
            # the paper has stayed in escrow
            self._escrowed_paper = last_paper
            self._previous_session_paper = None
            return
        # A new paper in escrow proves that the previous one is no longer on its way, so its record can be closed.
        previous_content = self._escrow.content or (None if last_paper is None else last_paper.content)
        self._close_previous_paper(
            "a bill is in escrow",
            is_still_in_escrow=previous_content is not None and content == previous_content,
        )
        self._last_escrow_number += 1
        now = asyncio.get_running_loop().time()
        self._escrowed_paper = paper = _EscrowedPaper(self._last_escrow_number, content, reported_code, now)
        match content:
            case Banknote(amount_cents=cents):
                is_accepted = cents in self._enabled_cents and not self._value_check.has_differences
            case Barcode():
                is_accepted = self._accepts_tickets and not self._value_check.has_differences
            case None:
                is_accepted = False
        if is_accepted and content is not None:
            self._emit(PaperInEscrow(device=self.name, escrow_number=paper.escrow_number, content=content))
        else:
            paper.machine_decision = EscrowCommand.RETURN
            paper.return_reason = ReturnReason.NOT_ENABLED

    def _is_decision_valid_after_line_loss(self, paper: _EscrowedPaper) -> bool:
        """Return whether the machine's decision about a bill or ticket in escrow still applies after the line was lost.

        Only a decision to hold or return the bill or ticket still applies. If the decision was to stack it, or none was
        made, the machine must decide again.
        """
        return (
            paper.machine_decision in {EscrowCommand.HOLD, EscrowCommand.RETURN}
            and not self._escrow.is_stacking_ordered()
        )

    def _update_escrow_command(self, exchange_progress: int = 0) -> EscrowCommand:
        """Update the decision about the bill or ticket in escrow, and return the command to send to the acceptor.

        The result is UNDECIDED if no command is due yet.

        ``exchange_progress`` identifies the last message of the acceptor that the driver has read; it is stored with a
        stack order.

        The acceptor stacks whatever is in escrow when a stack order arrives. The order is therefore recorded in one
        cycle and sent in a later one, and only after a recent reply that the same bill or ticket is still in escrow.

        The bill or ticket is returned if the machine does not decide in time, if the machine has stopped since its
        decision (a door, a tilt, a hand-pay), or if the acceptor leaves the bill or ticket in escrow for too long after
        a stack order.
        """
        paper = self._escrowed_paper
        if paper is None or paper.reported_code != self._reported_escrow_code:
            return EscrowCommand.UNDECIDED
        is_overdue = asyncio.get_running_loop().time() - paper.escrowed_at > MACHINE_DECISION_SECONDS_MAX
        if paper.machine_decision is EscrowCommand.UNDECIDED and is_overdue:
            paper.machine_decision = EscrowCommand.RETURN
            paper.return_reason = ReturnReason.NO_DECISION_IN_TIME
        if (
            paper.machine_decision is EscrowCommand.STACK
            and paper.content is not None
            and not self._escrow.is_stacking_ordered()
        ):
            if not self._escrow.can_order_stacking():
                paper.machine_decision, paper.return_reason = EscrowCommand.RETURN, ReturnReason.NOT_ENABLED
                return EscrowCommand.RETURN
            self._escrow.record_stack_order(paper.content, exchange_progress)
            self._is_stack_command_unsent = True
            self._wake_event.set()
            return EscrowCommand.UNDECIDED
        if (
            paper.machine_decision is EscrowCommand.STACK
            and self._order_timer.stalled_seconds > ESCROW_SECONDS_AFTER_STACK_ORDER_MAX
        ):
            return EscrowCommand.RETURN
        if (
            paper.machine_decision is EscrowCommand.STACK
            and self._measure_time_since_query() > QUERY_AGE_SECONDS_FOR_STACK_ORDER_MAX
        ):
            self._wake_event.set()  # this process was not scheduled meanwhile: query once more
            return EscrowCommand.UNDECIDED
        if paper.machine_decision is EscrowCommand.STACK:
            self._is_stack_command_unsent = False
        return paper.machine_decision

    def _end_overdue_order(self) -> None:
        """End a stack order that has made no progress for too long: the bill or ticket becomes a disputed amount.

        While a fault that a person must clear is active, the time does not run.
        """
        if not self._escrow.is_stacking_ordered():
            self._order_timer.restart()
        elif self.is_replying and not _FAULTS_THAT_STOP_PAPER.isdisjoint(self._faults_reported_by_device):
            self._order_timer.restart()  # a person must clear it; then the acceptor reports where the paper is
        elif self._order_timer.add_elapsed() > STALLED_DEVICE_ORDER_SECONDS_MAX:
            text = (
                "the acceptor did not report what it did with a bill or ticket that it was ordered to stack"
            )
            self._escrow.close_lost_paper_as_disputed(text)
            self._escrowed_paper, self._previous_session_paper, self._may_report_disputed_paper = (
                None,
                None,
                True,
            )
            self._emit(AmountDisputed(device=self.name, text=text))

    def _handle_stacked_paper(self) -> None:
        """Handle the acceptor's report that the bill or ticket is in the box for good: credit it once.

        The report may be acknowledged only after this. If no stacking was ordered, a disputed amount is opened. If the
        bill or ticket is disputed already, because its report came too late, nothing is credited.
        """
        if self._may_report_disputed_paper and self._escrow.content is None:
            self._may_report_disputed_paper = False
            self._emit(AmountDisputed(device=self.name, text="the disputed bill or ticket is in the box"))
            return
        content = self._escrow.content
        verdict = self._escrow.handle_stacked()
        if verdict is EscrowVerdict.CREDITED and content is not None:
            self._escrowed_paper = self._previous_session_paper = None
            self._emit(PaperStacked(device=self.name, content=content))
        elif verdict is EscrowVerdict.UNORDERED_STACKING and not self._is_unordered_stacking_recorded:
            self._is_unordered_stacking_recorded = True  # recorded once, although the device repeats itself
            text = "the device reports a bill as stacked that it was never ordered to stack"
            self._escrow.open_disputed_amount_of_unordered_paper(
                text, max(self._cents_by_note_code.values(), default=0)
            )
            self._emit(AmountDisputed(device=self.name, text=text))

    def _close_previous_paper(self, reason: str, *, is_still_in_escrow: bool = False) -> None:
        """Report what became of the previous bill or ticket, if any, and close its record.

        Call this when nothing moves in the acceptor and all its reports are acknowledged; ``reason`` says how that is
        known. The previous bill or ticket is reported as returned. If the acceptor was sent the command to stack it and
        no report says where it went, it is reported as disputed. If ``is_still_in_escrow``, it has not left the
        acceptor, so nothing is reported.
        """
        self._is_unordered_stacking_recorded = self._is_other_paper_report_ignored = (
            self._may_report_disputed_paper
        ) = False
        content = self._escrow.content
        verdict = self._escrow.handle_clear_path(
            reason, is_still_in_escrow=is_still_in_escrow, is_command_unsent=self._is_stack_command_unsent
        )
        paper = self._escrowed_paper or self._previous_session_paper
        self._escrowed_paper = None
        self._previous_session_paper = None
        if verdict is EscrowVerdict.DISPUTED:
            self._emit(
                AmountDisputed(
                    device=self.name, text=f"the acceptor did not report where an ordered bill went: {reason}"
                )
            )
        elif verdict is EscrowVerdict.NOT_STACKED and not is_still_in_escrow:
            self._emit(
                PaperReturned(device=self.name, content=content, reason=ReturnReason.RETURNED_BY_ACCEPTOR)
            )
        elif paper is not None and verdict is EscrowVerdict.NO_OPEN_RECORD and not is_still_in_escrow:
            self._emit(PaperReturned(device=self.name, content=paper.content, reason=paper.return_reason))
