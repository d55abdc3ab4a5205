"""The errors of tickets, each derived from an error class of :mod:`egm.errors`."""

from egm.errors import InvariantError, LocalError, OperatorError


class InvalidTicket(OperatorError):
    """A ticket, number or template is not valid; the text says what, where and why."""


class TicketOrderError(InvariantError):
    """A step that is not allowed in the ticket's present state; the text names ticket, step and state."""


class TicketLedgerUnwritable(LocalError):
    """The medium of the ticket ledger refused a write; nothing was changed."""


class TicketLedgerAbsent(OperatorError):
    """Raised if the ticket ledger does not exist, and the caller does not allow a new one to be created."""


class TicketLedgerDamaged(LocalError):
    """The ticket ledger is damaged or was altered; the text says where. Nothing may be paid from it."""
