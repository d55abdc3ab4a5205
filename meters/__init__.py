"""Money: the journal, accounts, meters, recall and audit, in storage that survives a power cut.

Every amount is an ``int`` of minor units whose name carries the unit (``amount_cents``).

From the outside in: :mod:`~meters.journal` appends transactions (:mod:`~meters.transaction`) and
:mod:`~meters.view` reads them back; :mod:`~meters.ledger` is what they add up to, over the chart of accounts
(:mod:`~meters.chart`); :mod:`~meters.table`, :mod:`~meters.reading` and :mod:`~meters.names` make meters of
it; :mod:`~meters.recall` and :mod:`~meters.events` make logs. Below, :mod:`~meters.copies` keeps every entry
(:mod:`~meters.entry`) twice, in SQLite (:mod:`~meters.database`, :mod:`~meters.sums`) and in a log
(:mod:`~meters.log`), sealed and signed (:mod:`~meters.keys`, :mod:`~meters.checkpoint`,
:mod:`~meters.anchor`), on two labelled media (:mod:`~meters.media`) reached only through
:mod:`~meters.storage`; :mod:`~meters.mirror` keeps small values on both. :mod:`~meters.export` writes the
whole for an auditor; :mod:`~meters.clear` is the way back when both copies are damaged.
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
    MediumFull,
    MediumMissing,
    Overdrawn,
    SelfAuditFailed,
    UnknownAccount,
    UnknownTransfer,
)
from meters.journal import Journal
from meters.ledger import Reservation
from meters.policy import Policy
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
    "MediumFull",
    "MediumMissing",
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
