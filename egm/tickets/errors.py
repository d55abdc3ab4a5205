"""Ticket errors, each in its family (:mod:`egm.errors`)."""

from egm.errors import InvariantError, LocalError, OperatorError


class InvalidTicket(OperatorError):
    """An invalid ticket, number or template; the text says what, where and why."""


class TicketOrderError(InvariantError):
    """A step out of order in a ticket's life cycle; the text names the ticket, the step and its current state."""


class TicketLedgerUnwritable(LocalError):
    """The ticket ledger's medium refused a write: nothing was changed."""


class TicketLedgerAbsent(OperatorError):
    """The ticket ledger is missing and may not be created here."""


class TicketLedgerDamaged(LocalError):
    """The ticket ledger does not hold what was written; the text says where. Nothing may be paid from it."""
