"""Escrow rule: turns an acceptor's reports about a paper (a bill or ticket) into exactly one credit or none.

The problem: the acceptor reports "stacked" until the machine acknowledges it, and machine or acceptor may fail
between any two steps. A report may therefore be new, or the repeat of one that is already credited; its bytes do
not show which.

The rule: the machine stores one durable record of the paper (:class:`~egm.devices.ledgers.EscrowLedger`). Writing
the record and sending commands have a fixed order:

1. The machine decides to keep the paper. It writes the record in phase ORDERED, then sends the stack command.
2. "Stacked" arrives. The machine credits the paper and sets phase CREDITED in one transaction, then acknowledges the
   report.
3. The acceptor reports a *clear path*, that is any status that means that no paper is moving. It therefore has the
   acknowledgement. The record is closed.

Every interruption can then be resolved when the machine or the device comes back:

==================  =============================================  ======================================
record              the acceptor reports                           therefore
==================  =============================================  ======================================
none                escrow                                         a new paper: decide
none                stacked                                        contradiction: no stack was ordered;
                                                                   no credit, a disputed amount
ORDERED             the same paper in escrow, in a new session     the order never arrived: closed without
                                                                   credit, decide again
ORDERED             stacked (or: powered up, paper past return)    not yet credited: credit
ORDERED             path clear, after it reported returning        it never reached the box: closed
                    the paper                                      without credit
ORDERED, and no     path clear                                     it never reached the box: closed
stack command sent                                                 without credit
since the start
ORDERED             path clear, without any report of the result   disputed: closed without credit, and
                                                                   staff decide the amount
CREDITED            stacked (or powered up, paper past return)     a repeat: acknowledge, no credit
CREDITED            path clear                                     acknowledged: record closed
==================  =============================================  ======================================

The rule is correct because the line delivers in order, an acceptor handles one paper at a time and
repeats "stacked" until that is acknowledged, and only this machine orders it to stack. A report that the paper is
being returned is stored in the record, so that it survives a restart. If storing the record takes longer than the
acceptor keeps a paper in escrow, no stack command is sent, and the acceptor returns the paper. If an acceptor reports a
clear path and has never reported whether the paper went into the box or back out, staff decide the amount. This
holds for every protocol.
"""

from enum import StrEnum

from egm.devices.interface import PaperContent
from egm.devices.ledgers import EscrowLedger, EscrowPhase


class EscrowVerdict(StrEnum):
    """The result of the escrow rule for a report of the bill acceptor, such as "credited" or "a repeat".

    Its values, such as "lost_track" for DISPUTED, are older names.
    """

    CREDITED = "credited"  # this report caused the credit
    REPEAT = "repeat"  # already credited; acknowledge again
    UNORDERED_STACKING = "contradiction"  # the machine has not ordered it; nothing credited
    CREDITED_RECORD_CLOSED = "confirmed"  # a credited record was closed
    NOT_STACKED = "not_stacked"  # an ordered record was closed without credit
    DISPUTED = "lost_track"  # an ordered record was closed without credit: it is unknown where the paper is
    NO_OPEN_RECORD = "nothing"  # no record was open


class EscrowRules:
    """The escrow rule of one bill acceptor: a bill or ticket is credited at most once, however often it is reported.

    All state is in the ledger, so it survives a restart.
    """

    def __init__(self, ledger: EscrowLedger) -> None:
        self._ledger = ledger

    @property
    def content(self) -> PaperContent | None:
        """Return the bill or ticket whose stacking is not finished, or None."""
        record = self._ledger.find_open()
        return None if record is None else record.content

    @property
    def exchange_progress(self) -> int | None:
        """Return the driver's code of the last acceptor message that it has read, such as an event number.

        It is stored in the record of the bill or ticket being stacked. Return None without such a record.
        """
        record = self._ledger.find_open()
        return None if record is None else record.exchange_progress

    def has_disputed_paper(self) -> bool:
        """Return whether a bill or ticket of this acceptor is disputed."""
        return self._ledger.has_disputed_paper()

    def can_order_stacking(self) -> bool:
        """Return whether the machine now permits an order to stack the bill or ticket in escrow."""
        return self._ledger.can_order_stacking()

    def record_stack_order(self, content: PaperContent, exchange_progress: int = 0) -> None:
        """Record the decision to stack ``content``, before the acceptor is ordered to stack it."""
        self._ledger.reserve_credit_before_stacking(content, exchange_progress)

    def is_stacking_ordered(self) -> bool:
        """Return whether the stacking of a bill or ticket is ordered and not yet credited."""
        record = self._ledger.find_open()
        return record is not None and record.phase is EscrowPhase.ORDERED

    def record_direction(self, *, to_box: bool) -> None:
        """Record the reported direction of the bill or ticket: into the box (``to_box``) or back to the player.

        Do nothing unless the stacking of a bill or ticket is ordered.
        """
        record, is_returning = self._ledger.find_open(), not to_box
        if record is not None and record.phase is EscrowPhase.ORDERED and record.is_returning != is_returning:
            self._ledger.record_direction(is_returning=is_returning)

    def handle_stacked(self) -> EscrowVerdict:
        """Handle the report that the bill or ticket is in the box for good: credit it, unless the report is a repeat.

        After this returns, the report may be acknowledged. UNORDERED_STACKING: no stacking was ordered, so nothing is
        credited.
        """
        record = self._ledger.find_open()
        if record is None:
            return EscrowVerdict.UNORDERED_STACKING
        if record.phase is EscrowPhase.CREDITED:
            return EscrowVerdict.REPEAT
        self._ledger.credit_stacked_paper()
        return EscrowVerdict.CREDITED

    def open_disputed_amount_of_unordered_paper(self, reason: str, amount_max_cents: int) -> None:
        """Open a disputed amount of up to ``amount_max_cents`` for a bill or ticket stacked without an order."""
        self._ledger.open_disputed_amount_of_unordered_paper(reason, amount_max_cents)

    def close_lost_paper_as_disputed(self, reason: str) -> None:
        """Close an ordered stacking whose result was not reported in time; staff decide the amount."""
        self._ledger.close_lost_paper_as_disputed(reason)

    def handle_clear_path(
        self, reason: str, *, is_still_in_escrow: bool = False, is_command_unsent: bool = False
    ) -> EscrowVerdict:
        """Handle the report that no bill or ticket moves and all reports are acknowledged: close the open record.

        ``is_still_in_escrow``: the bill or ticket whose stacking was ordered still lies in escrow.
        ``is_command_unsent``: the acceptor was certainly not sent the command to stack it. Any other bill or ticket
        whose stacking was ordered, and that is not reported as returned, becomes a disputed amount.
        """
        record = self._ledger.find_open()
        if record is None:
            return EscrowVerdict.NO_OPEN_RECORD
        if record.phase is EscrowPhase.CREDITED:
            self._ledger.close_confirmed_paper()
            return EscrowVerdict.CREDITED_RECORD_CLOSED
        if is_still_in_escrow or is_command_unsent or record.is_returning:
            self._ledger.void_unstacked_paper(reason)
            return EscrowVerdict.NOT_STACKED
        self._ledger.close_lost_paper_as_disputed(reason)
        return EscrowVerdict.DISPUTED

    def record_exchange_progress(self, progress: int) -> None:
        """Store the driver's code of the last acceptor message that it has read, in the open stacking record.

        Do nothing if there is no open record or it has this code already.
        """
        if self.exchange_progress not in {None, progress}:
            self._ledger.record_exchange_progress(progress)
