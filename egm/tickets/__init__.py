"""Tickets: numbers, the paper, and the ledger that says which is owed."""

from egm.tickets.desk import (
    Issuer,
    TicketDesk,
    TicketRules,
    Unfinished,
    secure_enhanced_numbers,
    stand_alone_numbers,
)
from egm.tickets.errors import (
    InvalidTicket,
    TicketLedgerAbsent,
    TicketLedgerDamaged,
    TicketLedgerUnwritable,
    TicketOrderError,
)
from egm.tickets.model import House, Ticket, TicketKind, TicketState
from egm.tickets.record import Enrolment, Record
from egm.tickets.redemption import Reason, Redemption, Refusal
from egm.tickets.store import TicketStore

__all__ = [
    "Enrolment",
    "House",
    "InvalidTicket",
    "Issuer",
    "Reason",
    "Record",
    "Redemption",
    "Refusal",
    "Ticket",
    "TicketDesk",
    "TicketKind",
    "TicketLedgerAbsent",
    "TicketLedgerDamaged",
    "TicketLedgerUnwritable",
    "TicketOrderError",
    "TicketRules",
    "TicketState",
    "TicketStore",
    "Unfinished",
    "secure_enhanced_numbers",
    "stand_alone_numbers",
]
