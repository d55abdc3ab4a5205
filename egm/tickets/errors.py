"""Ticket errors, each in its family (:mod:`egm.errors`)."""

from egm.errors import InvariantError, LocalError, OperatorError


class InvalidTicket(OperatorError):
    """An invalid ticket, number or template; the text says what, where and why."""


class TicketOrderError(InvariantError):
    """A step that is not allowed in the ticket's present state; the text names ticket, step and state."""


class TicketLedgerUnwritable(LocalError):
    """The medium of the ticket ledger refused a write; nothing was changed."""


class TicketLedgerAbsent(OperatorError):
    """The ticket ledger is missing, and may not be created here."""


class TicketLedgerDamaged(LocalError):
    """The ticket ledger is damaged or was altered; the text says where. Nothing may be paid from it."""
