"""Errors of the journal, one named exception each; all are :class:`JournalError`."""


class JournalError(Exception):
    """Base class of everything that :mod:`meters` raises on purpose. The message says what, where and why."""


class InvalidTransaction(JournalError, ValueError):
    """The transaction is malformed: nothing was written."""


class UnknownAccount(InvalidTransaction):
    """An account is not in the chart of accounts: nothing was written."""


class ForbiddenTransfer(InvalidTransaction):
    """The chart does not allow this flow of value (out of a sink, between two books): nothing was written."""


class Overdrawn(JournalError):
    """A player's available credit would be negative: nothing was written."""


class UnknownTransfer(JournalError):
    """A settle or void names a reservation that is not pending: nothing was written."""


class IdConflict(JournalError):
    """The id was already used with other content: nothing was written."""


class ExcessiveIncrement(JournalError):
    """One transaction would move an account by more than the profile allows (A-26): nothing was written."""


class SelfAuditFailed(JournalError):
    """Credits differ from all in + wins - wagers - all out (A-27): the machine must stop."""


class JournalLocked(JournalError):
    """Another process uses this state folder; the message names it."""


class JournalUnwritable(JournalError):
    """The medium refused (absent, read-only, full, failing). Reopen, then repeat the same id."""


class MediumMissing(JournalUnwritable):
    """The second medium is absent, exchanged or unresponsive, but the first is there. Wait, or continue alone."""


class MediumFull(JournalUnwritable):
    """Error: a medium has no free space for what must be written."""


class JournalDamaged(JournalError):
    """The stored data is not what was written. ``where`` names the location, ``why`` the disagreement."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(f"{where}: {why}")
        self.where = where
        self.why = why

    def __reduce__(self) -> tuple[type["JournalDamaged"], tuple[str, str]]:
        """Preserve both parts when the exception crosses a process boundary."""
        return type(self), (self.where, self.why)
