"""Tickets: numbers, the paper, and the ledger that says which is owed."""

from egm.money.tickets.desk import (
    Machine,
    TicketDesk,
    TicketRules,
    Unfinished,
    secure_enhanced_numbers,
    stand_alone_numbers,
)
from egm.money.tickets.errors import (
    InvalidTicket,
    TicketLedgerAbsent,
    TicketLedgerDamaged,
    TicketLedgerUnwritable,
    TicketOrderError,
)
from egm.money.tickets.model import House, Ticket, TicketKind, TicketState
from egm.money.tickets.record import Enrolment, Record
from egm.money.tickets.redemption import Reason, Redemption, Refusal
from egm.money.tickets.store import TicketStore

__all__ = [
    "Enrolment",
    "House",
    "InvalidTicket",
    "Machine",
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
