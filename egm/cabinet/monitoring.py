"""The machine's readings for Prometheus, as an attachment: see :mod:`egm.metrics`."""

import asyncio
import contextlib
from collections.abc import Iterable
from importlib.metadata import version
from typing import Final

from egm.cabinet.attachments import Attachment, Surroundings
from egm.link.messages import Snapshot
from egm.metrics import Exporter, MachineCollector, Reading

#: Metrics follow the machine at this distance, so that a busy machine does not add up meters for nobody.
_FOLLOW_SECONDS: Final = 0.5


class Monitoring:
    """Keeps the collector's reading true, and serves it."""

    name = "metrics"

    def __init__(self, surroundings: Surroundings) -> None:
        self._at = surroundings
        self._cabinet = surroundings.engine.cabinet
        self._collector = MachineCollector()
        self._now: Snapshot | None = None
        self._timer: asyncio.TimerHandle | None = None

    async def run(self) -> None:
        """Serve until cancelled. A busy port costs the monitoring, not the player."""
        port = self._at.file.metrics.port
        try:
            exporter = Exporter(self._collector, port)
        except OSError as error:
            self._cabinet.log("metrics.failed", {"port": port, "detail": str(error)})
            return
        with contextlib.closing(exporter):
            (self._at.folder.run / "metrics.port").write_text(str(exporter.port), encoding="ascii")
            await asyncio.get_running_loop().create_future()

    def changed(self, now: Snapshot) -> None:
        """Take the reading anew, soon."""
        self._now = now
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_FOLLOW_SECONDS, self._read)

    def _read(self) -> None:
        self._timer = None
        now = self._now
        if now is None:
            return
        self._collector.reading = Reading(
            serial=now.serial,
            version=version("open-egm"),
            profile=self._cabinet.profile.id,
            currency=now.currency,
            state=now.state,
            journal_sequence=now.journal_sequence,
            credit_cents=now.credit_cents,
            meters=self._cabinet.journal.meters().values,
            faults=tuple(self._cabinet.faults),
            doors_open=now.doors_open,
        )


def monitoring(surroundings: Surroundings) -> Iterable[Attachment]:
    """One machine, one exporter."""
    return (Monitoring(surroundings),)
