"""Escrow rule: a bill acceptor's reports become exactly one credit or none.

The problem: the acceptor repeats "stacked" until it is acknowledged; the machine may be killed, and either may
lose power, between any two steps. A report may thus be new, or the repeat of one already credited, and the
bytes are the same.

The rule: the machine stores one durable record (:class:`~egm.devices.ledgers.EscrowLedger`), written in this
order around the line:

1. decide to keep the note -> record ORDERED, unless the machine has stopped since -> only then send the
   stack command;
2. "stacked" arrives -> credit and phase VENDED in one transaction -> only then acknowledge;
3. the acceptor shows that it has received this (any status that means its path is clear) -> record closed.

Every interruption is then decidable when the machine or the device comes back:

==================  =============================================  ======================================
record              the acceptor reports                           therefore
==================  =============================================  ======================================
none                escrow                                         a fresh note: decide anew
none                stacked                                        contradiction: no stack was ordered;
                                                                   no credit, an attendant looks
ORDERED             escrow, in a new session                       the order never arrived: closed without
                                                                   credit, decide anew
ORDERED             stacked (or: powered up, note past return)     ours and not yet credited: credit
ORDERED             path clear, after it said that it gives the    it never reached the box: closed
                    note back                                      without credit
ORDERED             path clear, and never said what became of it   disputed: closed without credit, and the
                                                                   amount is a person's to decide
VENDED              stacked (or powered up, note past return)      a repeat: acknowledge, no credit
VENDED              path clear                                     heard: record closed
==================  =============================================  ======================================

It is sound because one line delivers in order, an acceptor handles one note at a time, it holds "stacked"
until acknowledged, and nobody but this machine orders it to stack. What the acceptor said of giving the note
back is in the record too, so that a restart forgets none of it. An acceptor that shows its path clear and has
never said which way the note went is the one case the bytes cannot show: there the amount goes to a person,
whatever the protocol, and never to a guess.
"""

from enum import StrEnum

from egm.devices.interface import Content
from egm.devices.ledgers import EscrowLedger, EscrowPhase


class Verdict(StrEnum):
    """The meaning of a report."""

    CREDITED = "credited"  # This report produced the credit.
    REPEAT = "repeat"  # Credited before; acknowledge again.
    CONTRADICTION = "contradiction"  # No order of ours explains it; nothing is credited.
    CONFIRMED = "confirmed"  # A credited record is closed.
    NOT_STACKED = "not_stacked"  # An ordered record is closed without credit.
    LOST_TRACK = "lost_track"  # the same, and the note's destination is unknown: disputed
    NOTHING = "nothing"  # Nothing was open.


class Escrow:
    """The rule for one acceptor. It stores nothing about money: it reads the ledger each time."""

    def __init__(self, ledger: EscrowLedger) -> None:
        self._ledger = ledger

    @property
    def content(self) -> Content | None:
        """Return the content of the open record, or None."""
        record = self._ledger.pending()
        return None if record is None else record.content

    @property
    def mark(self) -> int | None:
        """Return the driver's mark in the open record, or None without one."""
        record = self._ledger.pending()
        return None if record is None else record.mark

    def may_order(self) -> bool:
        """Return whether an order to stack may be recorded now."""
        return self._ledger.may_order()

    def order(self, content: Content, mark: int = 0) -> None:
        """Record the decision to keep ``content``; the stack command may be sent after this returns."""
        self._ledger.stack_ordered(content, mark)

    def is_ordered(self) -> bool:
        """Return whether a stacking is ordered and not yet credited."""
        record = self._ledger.pending()
        return record is not None and record.phase is EscrowPhase.ORDERED

    def moving(self, *, to_box: bool) -> None:
        """Record which way the acceptor moves an ordered note."""
        record = self._ledger.pending()
        if record is not None and record.phase is EscrowPhase.ORDERED and record.outward is to_box:
            self._ledger.moving(outward=not to_box)

    def stacked(self) -> Verdict:
        """Handle a report that the note is irrevocably in the box; acknowledge it after this returns."""
        record = self._ledger.pending()
        if record is None:
            return Verdict.CONTRADICTION
        if record.phase is EscrowPhase.VENDED:
            return Verdict.REPEAT
        self._ledger.vended()
        return Verdict.CREDITED

    def contradicted(self, text: str, most_cents: int) -> None:
        """Record a report that no order of ours explains: a person decides about up to ``most_cents``."""
        self._ledger.contradicted(text, most_cents)

    def give_up(self, why: str) -> None:
        """End an ordered stacking whose outcome was not reported in time: a person decides."""
        self._ledger.lost_track(why)

    def path_clear(self, why: str, *, in_escrow: bool = False) -> Verdict:
        """Handle a report that no note is moving and no "stacked" is waiting for our acknowledgement.

        ``in_escrow`` means that the ordered content is still in escrow.
        """
        record = self._ledger.pending()
        if record is None:
            return Verdict.NOTHING
        if record.phase is EscrowPhase.VENDED:
            self._ledger.vend_confirmed()
            return Verdict.CONFIRMED
        if in_escrow or record.outward:
            self._ledger.not_stacked(why)
            return Verdict.NOT_STACKED
        self._ledger.lost_track(why)
        return Verdict.LOST_TRACK

    def set_mark(self, mark: int) -> None:
        """Store the driver's position in the line protocol with the record, if one is open and differs."""
        if self.mark not in {None, mark}:
            self._ledger.set_mark(mark)
