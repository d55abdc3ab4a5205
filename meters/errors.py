"""Errors of the journal, one named exception each; all are :class:`JournalError`.

Except for this base class, their names state what is wrong, without the suffix *Error*.
"""


class JournalError(Exception):
    """Base class of the errors about the journal and its media. The message says what, where and why."""


class InvalidTransaction(JournalError, ValueError):
    """Raised if the transaction is malformed; nothing was written."""


class UnknownAccount(InvalidTransaction):
    """Raised if an account is not in the chart of accounts; nothing was written."""


class ForbiddenTransfer(InvalidTransaction):
    """Raised if the chart of accounts does not allow a transfer between these two accounts; nothing was written.

    For example, the source only receives, or the accounts belong to two books.
    """


class AccountOverdrawn(JournalError):
    """Raised if a transaction would make a player's available credit negative; nothing was written."""


class UnknownReservation(JournalError):
    """Raised if a transaction settles or voids a reservation that is not pending; nothing was written."""


class TransactionIdConflict(JournalError):
    """Raised if the transaction's id was already used with other content; nothing was written."""


class ExcessiveIncrement(JournalError):
    """Raised if a transaction's increment of an account exceeds the profile's limit (A-26); nothing was written.

    The increment is the sum that the transaction moves into or out of the account.
    """


class SelfAuditFailed(JournalError):
    """Raised if credits differ from (total in + wins - wagers - total out) (A-27); the machine must stop."""


class JournalLocked(JournalError):
    """Raised if another process uses this state folder; the message names that process."""


class JournalUnwritable(JournalError):
    """Raised if a storage medium is absent, read-only, full or failing, so a write may not have been completed.

    Reopen the journal, then repeat the transaction with the same id.
    """


class MediumMissing(JournalUnwritable):
    """Raised if the second medium is absent, exchanged or not responding, but the first medium works.

    Wait for the second medium, or continue on the first alone.
    """


class MediumFull(JournalUnwritable):
    """Raised if a medium has no free space for what must be written."""


class JournalDamaged(JournalError):
    """Raised if stored journal data differs from what was written.

    ``location`` names the file, medium or entry, ``reason`` says what is wrong.
    """

    def __init__(self, location: str, reason: str) -> None:
        super().__init__(f"{location}: {reason}")
        self.location = location
        self.reason = reason

    def __reduce__(self) -> tuple[type["JournalDamaged"], tuple[str, str]]:
        """Return how to pickle the exception, so that another process receives ``location`` and ``reason``."""
        return type(self), (self.location, self.reason)
