"""A device ledger that simulates the death of the machine's process just before or after a record is written."""

from collections.abc import Iterator
from contextlib import contextmanager


class SimulatedPowerLoss(Exception):
    """Simulated death of the machine's process, raised at the point that a test has chosen."""


class CrashingLedger:
    """Mixin for a device ledger that simulates the death of the process around its records.

    The points before and after each record are counted; the process dies at the point number ``power_loss_at_point``.
    """

    power_loss_at_point: int | None = None
    """The number of the point at which :class:`SimulatedPowerLoss` is raised, counted from 1; None: never."""
    _point_count = 0

    @contextmanager
    def _die_if_due_around(self) -> Iterator[None]:
        """Wrap the write of a record: raise SimulatedPowerLoss before or after it, if that point is chosen."""
        self._die_if_due()
        yield
        self._die_if_due()

    def _die_if_due(self) -> None:
        """Count one point; raise :class:`SimulatedPowerLoss` if it is the chosen one."""
        self._point_count += 1
        if self._point_count == self.power_loss_at_point:
            raise SimulatedPowerLoss
