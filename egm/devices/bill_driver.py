"""Common part of bill acceptor drivers: an item (bill or ticket) in escrow, the machine's decision, and the result.

A protocol's driver translates its statuses into calls of a few methods here (``_handle_escrowed_item``,
``_handle_stacked_item``, ``_handle_clear_path``), and :meth:`BillDriver._update_escrow_command` returns the next
command to the device. The rule for crediting is in :mod:`egm.devices.escrow`.

A stack order ends within a time limit. An acceptor that leaves the item in escrow for
:data:`ESCROW_SECONDS_AFTER_STACK_ORDER_MAX` is ordered to return it. If it has not reported the result after
:data:`~egm.devices.driver.STALLED_MONEY_ORDER_SECONDS_MAX`, the item's value becomes a disputed amount, which staff
decide. A jam, a full box and every other fault that a person must clear stop that clock: the acceptor reports the item
once the fault is cleared.
"""

import asyncio
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from egm.devices.channel_values import DOLLAR_CURRENCIES, ChannelValueCheck, ReportedValue
from egm.devices.driver import STALLED_MONEY_ORDER_SECONDS_MAX, LineDriver, MessageT, OrderTimer
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

#: Time for the machine to decide about an item in escrow; afterwards the item is returned to the player.
MACHINE_DECISION_SECONDS_MAX = 5.0
#: Time for which a responding acceptor may leave an item in escrow after a stack order.
ESCROW_SECONDS_AFTER_STACK_ORDER_MAX = 10.0
#: A stack order is sent only if the last status query is at most this old: an acceptor needs longer than this
#: to replace the item in escrow by another.
QUERY_AGE_SECONDS_FOR_STACK_ORDER_MAX = 1.0
#: Faults during which an item stays where it is until a person has cleared them.
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
    """The command to a bill acceptor about the item in escrow; UNDECIDED: send none yet."""

    UNDECIDED = "undecided"
    STACK = "stack"
    RETURN = "return"
    HOLD = "hold"


@dataclass(slots=True)
class _EscrowedItem:
    """The bill or ticket in the acceptor's escrow.

    Each item gets its own ``escrow_number``, by which the machine refers to it.
    """

    escrow_number: int
    content: PaperContent | None
    reported_code: bytes
    """The bytes that identify the item in the acceptor's report, such as its note code."""
    escrowed_at: float
    """The event loop's time at which the item came into escrow."""
    machine_decision: EscrowCommand = EscrowCommand.UNDECIDED
    """The machine's decision about the item; UNDECIDED until it has decided."""
    return_reason: ReturnReason = ReturnReason.RETURNED_BY_ACCEPTOR
    """The reason to report if the item is returned."""


def parse_ticket_barcode(text: str) -> Barcode | None:
    """Return the ticket with this bar code text, or None if the text is not only digits."""
    return Barcode(text) if text.isascii() and text.isdigit() else None


class BillDriver(LineDriver[MessageT]):
    """Common base of the bill acceptor drivers: it stacks or returns the item in escrow as the machine decides."""

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
        self._escrowed_item: _EscrowedItem | None = None
        # The item in escrow when the last session ended; its result is unknown.
        self._last_escrowed_item: _EscrowedItem | None = None
        self._last_escrowed_code = b""  # the code of the item that the device last reported in escrow
        self._last_escrow_number = 0
        self._is_ready: bool | None = None
        self._is_unordered_stacking_recorded = False
        self._is_first_report_ignored = False
        # whether the last order ended in a disputed amount, and the acceptor may still report its item; None before the
        # first session
        self._may_report_disputed_item: bool | None = None
        self._order_timer = OrderTimer()
        # whether this run has recorded the open stack order and has not sent its command: the item cannot be in the box
        self._is_stack_command_unsent = False

    # ------------------------------------------------------------ the machine's side
    @property
    def values_cents(self) -> frozenset[int]:
        """Return the values of the notes that the acceptor can report, in minor units."""
        return frozenset(self._cents_by_note_code.values())

    def enable(self, denominations_cents: frozenset[int], *, accepts_tickets: bool = False) -> None:
        """Accept notes of these values, as far as the acceptor has codes for them; tickets if ``accepts_tickets``."""
        self._enabled_cents = denominations_cents
        self._accepts_tickets = accepts_tickets
        self._wake_event.set()

    def disable(self) -> None:
        """Accept no more bills or tickets. An item already in escrow still waits for the machine's decision."""
        self.enable(frozenset())

    def stack(self, escrow_number: int) -> None:
        """Order the acceptor to stack item number ``escrow_number``; do nothing if that item has left escrow."""
        self._store_machine_decision(escrow_number, EscrowCommand.STACK)

    def return_paper(self, escrow_number: int) -> None:
        """Order the acceptor to return item number ``escrow_number``; do nothing if that item has left escrow."""
        self._store_machine_decision(escrow_number, EscrowCommand.RETURN, ReturnReason.ORDERED_BY_MACHINE)

    def hold_in_escrow(self, escrow_number: int) -> None:
        """Keep item number ``escrow_number`` in escrow until ``stack`` or ``return_paper`` decides about it.

        A machine calls this while it queries a host about a ticket.
        """
        self._store_machine_decision(escrow_number, EscrowCommand.HOLD)

    def _store_machine_decision(
        self,
        escrow_number: int,
        decision: EscrowCommand,
        reason: ReturnReason = ReturnReason.RETURNED_BY_ACCEPTOR,
    ) -> None:
        """Store the machine's decision about the item of this escrow number.

        Do nothing if the item has left escrow or the decision is already final. ``reason`` is reported if the item is
        returned.
        """
        item = self._escrowed_item or self._last_escrowed_item
        if (
            item is None
            or item.escrow_number != escrow_number
            or item.machine_decision in {EscrowCommand.STACK, EscrowCommand.RETURN}
        ):
            return
        item.machine_decision = decision
        item.return_reason = reason
        self._wake_event.set()

    # ------------------------------------------------------------ the device's side
    @property
    def _can_accept_anything(self) -> bool:
        """Return whether the acceptor is to accept any note or any ticket now."""
        return bool(self._note_codes_to_accept) or self._can_accept_tickets

    @property
    def _note_codes_to_accept(self) -> list[int]:
        """Return the note codes to accept: the codes of the enabled values.

        The list is empty if the acceptor's note values differ from the cabinet file's, because no money is then
        accepted.
        """
        if self._value_check.has_differences:
            return []
        return [code for code, cents in self._cents_by_note_code.items() if cents in self._enabled_cents]

    @property
    def _can_accept_tickets(self) -> bool:
        """Return whether tickets are enabled; False while the acceptor's note values differ from the cabinet file's."""
        return self._accepts_tickets and not self._value_check.has_differences

    def _store_reported_value(self, code: int, reported_value: ReportedValue | None) -> None:
        """Store the value that the acceptor reports for a note code; None means that it gives no reply.

        Report the faults that follow from it.
        """
        self._value_check.store_reported_value(code, reported_value)
        self._report_value_faults(self._value_check)

    def _reset_session(self) -> None:
        """Clear what is known of the acceptor, because its line was opened again.

        An item that was in escrow before counts only once the acceptor has reported it again.
        """
        # In the first session after a start, the disputed item may be one of an earlier run.
        if self._may_report_disputed_item is None:
            self._may_report_disputed_item = self._escrow.has_disputed_paper()
        self._last_escrowed_item, self._escrowed_item = self._escrowed_item or self._last_escrowed_item, None
        self._is_ready = None
        self._value_check = ChannelValueCheck(self._cents_by_note_code, self._currencies)
        self._reset_device_state()

    @abstractmethod
    def _reset_device_state(self) -> None:
        """Clear the acceptor's status and settings of the last session; implemented per protocol."""

    def _report_readiness(self, *, is_accepting: bool) -> None:
        """Emit an event if the acceptor has started or stopped accepting items."""
        if self._is_ready is not is_accepting:
            self._is_ready = is_accepting
            self._emit(AcceptorReadiness(device=self.name, is_accepting=is_accepting))

    def _handle_escrowed_item(self, content: PaperContent | None, reported_code: bytes) -> None:
        """Handle the acceptor's report that an item is in escrow; ``content`` is None if its value is unknown.

        The machine is informed of an enabled item and decides about it; any other item is returned. Nothing happens
        until the value of every note code has been queried. While a stacking is ordered, the first report of another
        item is ignored, because it may be a late reply from before the order.
        """
        self._last_escrowed_code = reported_code
        if not self._value_check.are_all_channels_queried:
            return
        if self._escrowed_item is not None and self._escrowed_item.reported_code == reported_code:
            return
        if self._escrow.is_stacking_ordered() and not self._is_first_report_ignored:
            # Possibly a late reply from before the order: accept it the second time.
            self._is_first_report_ignored = True
            return
        last_item = self._last_escrowed_item
        if (
            last_item is not None
            and (last_item.content, last_item.reported_code) == (content, reported_code)
            and self._is_decision_valid_after_line_loss(last_item)
        ):
            # the item has stayed in escrow
            self._escrowed_item = last_item
            self._last_escrowed_item = None
            return
        # If a record is open, its item has not been stacked: otherwise nothing could be in escrow.
        previous_content = self._escrow.content or (None if last_item is None else last_item.content)
        self._handle_clear_path(
            "a bill is in escrow",
            is_still_in_escrow=previous_content is not None and content == previous_content,
        )
        self._last_escrow_number += 1
        now = asyncio.get_running_loop().time()
        self._escrowed_item = item = _EscrowedItem(self._last_escrow_number, content, reported_code, now)
        match content:
            case Banknote(amount_cents=cents):
                is_accepted = cents in self._enabled_cents and not self._value_check.has_differences
            case Barcode():
                is_accepted = self._accepts_tickets and not self._value_check.has_differences
            case None:
                is_accepted = False
        if is_accepted and content is not None:
            self._emit(PaperInEscrow(device=self.name, escrow_number=item.escrow_number, content=content))
        else:
            item.machine_decision = EscrowCommand.RETURN
            item.return_reason = ReturnReason.NOT_ENABLED

    def _is_decision_valid_after_line_loss(self, item: _EscrowedItem) -> bool:
        """Return whether the machine's decision about an item in escrow still applies after the line was lost.

        A decision to hold or return the item does; a decision to stack it does not.
        """
        return (
            item.machine_decision in {EscrowCommand.HOLD, EscrowCommand.RETURN}
            and not self._escrow.is_stacking_ordered()
        )

    def _update_escrow_command(self, exchange_progress: int = 0) -> EscrowCommand:
        """Update the decision about the item in escrow, and return the command to send; UNDECIDED if none is due yet.

        ``exchange_progress`` says how far the driver has read its protocol's exchange; it is stored with a
        stack order.

        The acceptor stacks whatever is in escrow when a stack order arrives. The order is therefore recorded in one
        cycle and sent in a later one, and only after a recent reply that the same item is still in escrow.

        The item is returned if the machine does not decide in time, if the machine has stopped since its decision (a
        door, a tilt, a hand-pay), or if the acceptor leaves the item in escrow for too long after a stack order.
        """
        item = self._escrowed_item
        if item is None or item.reported_code != self._last_escrowed_code:
            return EscrowCommand.UNDECIDED
        is_overdue = asyncio.get_running_loop().time() - item.escrowed_at > MACHINE_DECISION_SECONDS_MAX
        if item.machine_decision is EscrowCommand.UNDECIDED and is_overdue:
            item.machine_decision = EscrowCommand.RETURN
            item.return_reason = ReturnReason.NO_DECISION_IN_TIME
        if (
            item.machine_decision is EscrowCommand.STACK
            and item.content is not None
            and not self._escrow.is_stacking_ordered()
        ):
            if not self._escrow.can_order_stacking():
                item.machine_decision, item.return_reason = EscrowCommand.RETURN, ReturnReason.NOT_ENABLED
                return EscrowCommand.RETURN
            self._escrow.record_stack_order(item.content, exchange_progress)
            self._is_stack_command_unsent = True
            self._wake_event.set()
            return EscrowCommand.UNDECIDED
        if (
            item.machine_decision is EscrowCommand.STACK
            and self._order_timer.stalled_seconds > ESCROW_SECONDS_AFTER_STACK_ORDER_MAX
        ):
            return EscrowCommand.RETURN
        if (
            item.machine_decision is EscrowCommand.STACK
            and self._measure_time_since_query() > QUERY_AGE_SECONDS_FOR_STACK_ORDER_MAX
        ):
            self._wake_event.set()  # this process was not scheduled meanwhile: query once more
            return EscrowCommand.UNDECIDED
        if item.machine_decision is EscrowCommand.STACK:
            self._is_stack_command_unsent = False
        return item.machine_decision

    def _end_overdue_order(self) -> None:
        """End a stack order that has made no progress for too long: the item becomes a disputed amount.

        While a fault that a person must clear is active, the time does not run.
        """
        if not self._escrow.is_stacking_ordered():
            self._order_timer.restart()
        elif self.is_replying and not _FAULTS_THAT_STOP_PAPER.isdisjoint(self._faults_reported_by_device):
            self._order_timer.restart()  # a person must clear it; then the acceptor reports where the item is
        elif self._order_timer.add_elapsed() > STALLED_MONEY_ORDER_SECONDS_MAX:
            text = (
                "the acceptor did not report what it did with a bill or ticket that it was ordered to stack"
            )
            self._escrow.close_lost_paper_as_disputed(text)
            self._escrowed_item, self._last_escrowed_item, self._may_report_disputed_item = None, None, True
            self._emit(AmountDisputed(device=self.name, text=text))

    def _handle_stacked_item(self) -> None:
        """Handle the acceptor's report that the item is in the box for good: credit it once.

        The report may be acknowledged only after this. If no stacking was ordered, a disputed amount is opened. If the
        item is disputed already, because its report came too late, nothing is credited.
        """
        if self._may_report_disputed_item and self._escrow.content is None:
            self._may_report_disputed_item = False
            self._emit(AmountDisputed(device=self.name, text="the disputed bill or ticket is in the box"))
            return
        content = self._escrow.content
        verdict = self._escrow.handle_stacked()
        if verdict is EscrowVerdict.CREDITED and content is not None:
            self._escrowed_item = self._last_escrowed_item = None
            self._emit(PaperStacked(device=self.name, content=content))
        elif verdict is EscrowVerdict.UNORDERED_STACKING and not self._is_unordered_stacking_recorded:
            self._is_unordered_stacking_recorded = True  # recorded once, although the device repeats itself
            text = "the device reports a bill as stacked that it was never ordered to stack"
            self._escrow.open_disputed_amount_of_unordered_paper(
                text, max(self._cents_by_note_code.values(), default=0)
            )
            self._emit(AmountDisputed(device=self.name, text=text))

    def _handle_clear_path(self, reason: str, *, is_still_in_escrow: bool = False) -> None:
        """Handle the report that the bill path is clear: no item moves, and all reports are acknowledged.

        The item that was in escrow, if any, is reported as returned. If the acceptor was sent the command to stack it
        and no report says where it went, it is reported as disputed. If ``is_still_in_escrow``, the item has not left
        the acceptor, so nothing is reported. ``reason`` says how the clear path is known.
        """
        self._is_unordered_stacking_recorded = self._is_first_report_ignored = (
            self._may_report_disputed_item
        ) = False
        content = self._escrow.content
        verdict = self._escrow.handle_clear_path(
            reason, is_still_in_escrow=is_still_in_escrow, is_command_unsent=self._is_stack_command_unsent
        )
        item = self._escrowed_item or self._last_escrowed_item
        self._escrowed_item = None
        self._last_escrowed_item = None
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
        elif item is not None and verdict is EscrowVerdict.NO_OPEN_RECORD and not is_still_in_escrow:
            self._emit(PaperReturned(device=self.name, content=item.content, reason=item.return_reason))
