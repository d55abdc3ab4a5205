"""A device ledger that can die with its machine, before or after each record."""

from collections.abc import Iterator
from contextlib import contextmanager


class Killed(Exception):
    """Planted error: the machine process dies here."""


class CrashingLedger:
    """Mixin for a ledger of a driver that is killed: ``die_at`` counts the calls before and after each record."""

    die_at: int | None = None
    """The number of the call at which the process dies; None: it survives."""
    _calls = 0

    @contextmanager
    def _die_if_due_around(self) -> Iterator[None]:
        """Give the process a chance to die just before and just after the ``with`` block, which records something."""
        self._die_if_due()
        yield
        self._die_if_due()

    def _die_if_due(self) -> None:
        """Count one call, and kill the process at the chosen one."""
        self._calls += 1
        if self._calls == self.die_at:
            raise Killed
