"""A device ledger that can die with its machine, before or after each record."""

from collections.abc import Iterator
from contextlib import contextmanager


class Killed(Exception):
    """Planted error: the machine process dies here."""


class CrashingLedger:
    """Mixin for a ledger: what is recorded stays; ``die_at`` counts the calls before and after each record."""

    die_at: int | None = None
    _calls = 0

    @contextmanager
    def _maybe_die_around_recording(self) -> Iterator[None]:
        self._maybe_die()
        yield
        self._maybe_die()

    def _maybe_die(self) -> None:
        self._calls += 1
        if self._calls == self.die_at:
            raise Killed
