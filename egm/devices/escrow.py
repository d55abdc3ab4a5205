"""Escrow rule: what a bill acceptor reports becomes exactly one credit or none.

The trouble. The acceptor says "stacked" until it is told we heard; the machine may be killed, and either may
lose power, between any two steps. A report may thus be new, or the repeat of one already credited, and the
bytes are the same.

The rule. The machine keeps one durable record (:class:`~egm.devices.ledgers.EscrowLedger`), written in this
order around the line:

1. decide to keep the note -> record ORDERED, unless the machine has stopped since -> only then send the
   stack command;
2. "stacked" arrives -> credit and phase VENDED in one transaction -> only then acknowledge;
3. the acceptor shows it has heard (any status that means its path is clear) -> record closed.

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
    """What a report meant."""

    CREDITED = "credited"  # this very report became the credit
    REPEAT = "repeat"  # credited before; acknowledge again
    CONTRADICTION = "contradiction"  # no order of ours explains it; nothing credited
    CONFIRMED = "confirmed"  # a credited record is closed
    NOT_STACKED = "not_stacked"  # an ordered record is closed without credit
    LOST_TRACK = "lost_track"  # the same, and nothing says where the note went: disputed
    NOTHING = "nothing"  # nothing was open


class Escrow:
    """Applies the rule for one acceptor. It has no memory of money: the ledger is asked each time."""

    def __init__(self, ledger: EscrowLedger) -> None:
        self._ledger = ledger

    @property
    def content(self) -> Content | None:
        """What the open record is about."""
        record = self._ledger.pending()
        return None if record is None else record.content

    @property
    def mark(self) -> int | None:
        """The driver's mark in the open record; None without one."""
        record = self._ledger.pending()
        return None if record is None else record.mark

    def may_order(self) -> bool:
        """Return whether an order to stack may be recorded now."""
        return self._ledger.may_order()

    def order(self, content: Content, mark: int = 0) -> None:
        """Record the decision to keep ``content``; the stack command may be sent after this returns."""
        self._ledger.stack_ordered(content, mark)

    def is_ordered(self) -> bool:
        """Whether a stacking is ordered and not yet credited."""
        record = self._ledger.pending()
        return record is not None and record.phase is EscrowPhase.ORDERED

    def moving(self, *, to_box: bool) -> None:
        """The acceptor says which way an ordered note moves."""
        record = self._ledger.pending()
        if record is not None and record.phase is EscrowPhase.ORDERED and record.outward is to_box:
            self._ledger.moving(outward=not to_box)

    def stacked(self) -> Verdict:
        """The acceptor says the note is irrevocably in the box; acknowledge after this returns."""
        record = self._ledger.pending()
        if record is None:
            return Verdict.CONTRADICTION
        if record.phase is EscrowPhase.VENDED:
            return Verdict.REPEAT
        self._ledger.vended()
        return Verdict.CREDITED

    def contradicted(self, text: str, most_cents: int) -> None:
        """The acceptor says what no order of ours explains: a person decides about up to ``most_cents``."""
        self._ledger.contradicted(text, most_cents)

    def give_up(self, why: str) -> None:
        """End an ordered stacking of which the acceptor has said nothing for too long: a person decides."""
        self._ledger.lost_track(why)

    def path_clear(self, why: str, *, in_escrow: bool = False) -> Verdict:
        """The acceptor shows that no note is on its way and no "stacked" is waiting for us.

        ``in_escrow``: the ordered content is seen to lie in escrow still.
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
        """Keep the driver's place in the line protocol with the record, where one is open and differs."""
        if self.mark not in {None, mark}:
            self._ledger.set_mark(mark)
