"""Money: the journal, accounts, meters, recall and audit, in storage that survives a power loss.

Every amount is an ``int`` of minor units whose name carries the unit (``amount_cents``).

From the outside in: :mod:`~meters.journal` appends transactions (:mod:`~meters.transaction`) and
:mod:`~meters.view` reads them back; :mod:`~meters.ledger` sums them over the chart of accounts
(:mod:`~meters.chart`); :mod:`~meters.table`, :mod:`~meters.reading` and :mod:`~meters.names` turn the sums into
meters; :mod:`~meters.recall` provides the last plays. Below, :mod:`~meters.copies` stores every entry
(:mod:`~meters.entry`) twice, in SQLite (:mod:`~meters.database`, :mod:`~meters.page_checksums`) and in a log
(:mod:`~meters.log`), authenticated and signed (:mod:`~meters.machine_key`, :mod:`~meters.checkpoint`,
:mod:`~meters.journal_head`), on two labelled media (:mod:`~meters.media`) accessed only through
:mod:`~meters.storage`. :mod:`~meters.mirror` stores small values on both media. :mod:`~meters.export` writes
the whole journal for an auditor;
:mod:`~meters.clear` recovers a machine when both copies are damaged.
"""

from meters.entry import StoredEntry
from meters.errors import (
    AccountOverdrawn,
    ExcessiveIncrement,
    ForbiddenTransfer,
    InvalidTransaction,
    JournalDamaged,
    JournalError,
    JournalLocked,
    JournalUnwritable,
    MediumFull,
    MediumMissing,
    SelfAuditFailed,
    TransactionIdConflict,
    UnknownAccount,
    UnknownReservation,
)
from meters.journal import Journal
from meters.ledger import Reservation
from meters.policy import JournalPolicy
from meters.reading import MeterReading, read_meters
from meters.transaction import JSON, AppendResult, PeriodMark, Phase, Transaction, Transfer
from meters.view import JournalView, open_view

__all__ = [
    "JSON",
    "AccountOverdrawn",
    "AppendResult",
    "ExcessiveIncrement",
    "ForbiddenTransfer",
    "InvalidTransaction",
    "Journal",
    "JournalDamaged",
    "JournalError",
    "JournalLocked",
    "JournalPolicy",
    "JournalUnwritable",
    "JournalView",
    "MediumFull",
    "MediumMissing",
    "MeterReading",
    "PeriodMark",
    "Phase",
    "Reservation",
    "SelfAuditFailed",
    "StoredEntry",
    "Transaction",
    "TransactionIdConflict",
    "Transfer",
    "UnknownAccount",
    "UnknownReservation",
    "open_view",
    "read_meters",
]
