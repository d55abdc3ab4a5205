"""Ticket errors, each in its family (:mod:`egm.errors`)."""

from egm.errors import InvariantError, LocalError, OperatorError


class InvalidTicket(OperatorError):
    """A ticket, number or template that cannot be: says what, where and why."""


class TicketOrderError(InvariantError):
    """A step of a ticket's life out of order: says the ticket, the step and where the ticket is."""


class TicketLedgerUnwritable(LocalError):
    """The ticket ledger's medium refuses: nothing was changed."""


class TicketLedgerAbsent(OperatorError):
    """There is no ticket ledger where one must be, and none may be begun."""


class TicketLedgerDamaged(LocalError):
    """The ticket ledger does not hold what was written: says where. Nothing may be paid from it."""
