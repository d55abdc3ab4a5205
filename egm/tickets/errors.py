"""The errors of tickets, each derived from an error class of :mod:`egm.errors`."""

from egm.errors import InvariantError, LocalError, OperatorError


class InvalidTicket(OperatorError):
    """Raised if a ticket, number or template is not valid; the text says what, where and why."""


class TicketOrderError(InvariantError):
    """Raised if a ticket's state does not allow an action, or an id or number is used twice; the text says which."""


class TicketLedgerUnwritable(LocalError):
    """Raised if the medium of the ticket ledger refuses a write; nothing was changed."""


class TicketLedgerAbsent(OperatorError):
    """Raised if the ticket ledger does not exist, and the caller does not allow a new one to be created."""


class TicketLedgerDamaged(LocalError):
    """Raised if the ticket ledger is damaged or was altered; the text says where. Nothing may be paid from it."""
