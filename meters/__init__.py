"""Money: the journal, accounts, meters, recall and audit, in storage that survives a power cut.

Every amount is an ``int`` of minor units whose name carries the unit (``amount_cents``).
"""

from meters.entry import StoredEntry
from meters.errors import (
    ExcessiveIncrement,
    ForbiddenTransfer,
    IdConflict,
    InvalidTransaction,
    JournalDamaged,
    JournalError,
    JournalLocked,
    JournalUnwritable,
    Overdrawn,
    SelfAuditFailed,
    UnknownAccount,
    UnknownTransfer,
)
from meters.journal import Journal, Policy
from meters.ledger import Reservation
from meters.reading import MeterReading, read_meters
from meters.transaction import JSON, Mark, Phase, Posted, Transaction, Transfer
from meters.view import JournalView, open_view

__all__ = [
    "JSON",
    "ExcessiveIncrement",
    "ForbiddenTransfer",
    "IdConflict",
    "InvalidTransaction",
    "Journal",
    "JournalDamaged",
    "JournalError",
    "JournalLocked",
    "JournalUnwritable",
    "JournalView",
    "Mark",
    "MeterReading",
    "Overdrawn",
    "Phase",
    "Policy",
    "Posted",
    "Reservation",
    "SelfAuditFailed",
    "StoredEntry",
    "Transaction",
    "Transfer",
    "UnknownAccount",
    "UnknownTransfer",
    "open_view",
    "read_meters",
]
