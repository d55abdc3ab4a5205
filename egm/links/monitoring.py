"""Background service that exports the machine's state to Prometheus; :mod:`egm.links.metrics` is the server."""

import asyncio
import contextlib
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import version
from typing import Final

from prometheus_client import Histogram
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily, Metric

from egm.integrity.keys import IntegrityKey
from egm.integrity.lockups import list_disabling_sources
from egm.integrity.records import InstalledSoftware
from egm.kernel.events import Event, EventType, FaultChange, State
from egm.kernel.feature import Features
from egm.kernel.messages import Snapshot
from egm.kernel.services import BackgroundService, MachineContext
from egm.links.device_health import iter_device_metrics
from egm.links.metrics import (
    MachineCollector,
    MetricsExporter,
    build_meter_families,
    iter_known_occurrence_meters,
)
from egm.links.screen.private_sockets import read_or_create_token
from egm.private_files import replace_transient_file
from egm.staff.entries import Intervention
from egm.staff.events import InterventionRead
from egm.staff.keys import StaffKey

#: Delay with which metrics follow the machine, so that a busy machine does not sum its meters for every
#: event.
_METRICS_UPDATE_DELAY_SECONDS: Final = 0.5
#: Interval at which values that change without a machine event (latencies, a device that stops replying) are
#: read again.
_IDLE_UPDATE_INTERVAL_SECONDS: Final = 5.0
#: Interval of the measurement of the event loop's lag.
_LAG_CHECK_INTERVAL_SECONDS: Final = 0.5
#: Delay before opening the metrics port is tried again while another program uses it.
_PORT_RETRY_SECONDS: Final = 10.0
#: The code of the fault that is active while another program uses the metrics port.
PORT_TAKEN_FAULT: Final = "monitoring.port_taken"
#: Upper limits of the histogram of the event loop's lag, in seconds.
_LOOP_LAG_BUCKETS_SECONDS: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1.0)


class MetricsService:
    """Background service that exports the machine's Prometheus metrics and keeps them current."""

    name = "metrics"

    def __init__(self, context: MachineContext) -> None:
        self._context = context
        self._machine = context.engine.machine
        self._collector = MachineCollector()
        self._last_snapshot: Snapshot | None = None
        self._has_printed_port_error = False
        self._export_timer: asyncio.TimerHandle | None = None
        self._loop_lag = Histogram(
            "egm_loop_lag_seconds",
            "How late the machine's event loop runs scheduled callbacks.",
            buckets=_LOOP_LAG_BUCKETS_SECONDS,
            registry=None,
        )

    async def run(self) -> None:
        """Serve the metrics until cancelled.

        If another program has the port, wait until it is free; the machine remains available to players.
        """
        exporter = await self._open_metrics_port()
        loop = asyncio.get_running_loop()
        with contextlib.closing(exporter):
            replace_transient_file(self._context.state_folder.run_folder / "metrics.port", str(exporter.port))
            while True:
                wake_at = loop.time() + _LAG_CHECK_INTERVAL_SECONDS
                await asyncio.sleep(_LAG_CHECK_INTERVAL_SECONDS)
                self._loop_lag.observe(max(0.0, loop.time() - wake_at))

    async def _open_metrics_port(self) -> MetricsExporter:
        """Open the metrics port; while another program uses it, record this, raise a fault and try again."""
        port, proxy_host_names = (
            self._context.cabinet_file.metrics.port,
            self._context.cabinet_file.metrics.proxy_host_names,
        )
        token = read_or_create_token(self._context.state_folder.metrics_token)
        while True:
            try:
                exporter = MetricsExporter(self._collector, port, proxy_host_names, token)
            except OSError as error:
                if PORT_TAKEN_FAULT not in self._machine.active_faults:
                    detail = f"port {port}: {error.strerror}"
                    self._context.submit_event(
                        Event(EventType.FAULT_RAISED, FaultChange(code=PORT_TAKEN_FAULT, detail=detail))
                    )
                if not self._has_printed_port_error:
                    self._has_printed_port_error = True
                    self._context.print_message(
                        f"metrics are not served: port {port}: {error.strerror}. Whatever replies on this "
                        f"port is not this machine. End the program that uses it, or set another `port` in "
                        f"[metrics] of the cabinet file (0: any free port)"
                    )
                await asyncio.sleep(_PORT_RETRY_SECONDS)
                continue
            if PORT_TAKEN_FAULT in self._machine.active_faults:
                self._context.submit_event(Event(EventType.FAULT_CLEARED, FaultChange(code=PORT_TAKEN_FAULT)))
            return exporter

    def process_change(self, snapshot: Snapshot) -> None:
        """Schedule an export of the metrics, after a change of the machine's state."""
        self._last_snapshot = snapshot
        self._schedule_export(_METRICS_UPDATE_DELAY_SECONDS)

    def _schedule_export(self, delay_seconds: float) -> None:
        """Schedule an export of the metrics in ``delay_seconds``, unless an earlier one is already scheduled."""
        loop = asyncio.get_running_loop()
        if self._export_timer is not None:
            if self._export_timer.when() <= loop.time() + delay_seconds:
                return
            self._export_timer.cancel()
        self._export_timer = loop.call_later(delay_seconds, self._export_metrics)

    def _export_metrics(self) -> None:
        """Read all metrics of the machine and export them; schedule the next export."""
        self._export_timer = None
        if self._last_snapshot is not None:
            families = [
                *self._iter_families(self._last_snapshot),
                *iter_device_metrics(self._context.devices),
                *self._loop_lag.collect(),
            ]
            for build_families in self._context.metric_sources:
                families += build_families()
            self._collector.publish(families, self._build_read_callback())
        self._schedule_export(_IDLE_UPDATE_INTERVAL_SECONDS)

    def _build_read_callback(self) -> Callable[[], None]:
        """Return a function to call when the monitoring system has read the metrics exported now.

        That function records that the monitoring system knows which technician works in the machine (Monaco
        art. 20.3); it does nothing if this need not be recorded.
        """
        intervention = self._machine.memory.read(Intervention, StaffKey.INTERVENTION)
        if intervention is None or not self._machine.profile.staff.requires_reading_by_monitoring:
            return lambda: None
        event = Event(EventType.INTERVENTION_READ_BY_MONITORING, InterventionRead(id=intervention.id))
        loop = asyncio.get_running_loop()

        def report_reading() -> None:
            """Report to the machine that the metrics were read; does nothing once the machine has stopped."""
            with contextlib.suppress(RuntimeError):  # the machine has stopped meanwhile
                loop.call_soon_threadsafe(self._context.submit_event, event)

        return report_reading

    def _iter_families(self, snapshot: Snapshot) -> Iterator[Metric]:
        """Yield the machine's metric families, with all meters as of the same journal entry."""
        installed_software = self._machine.memory.read(InstalledSoftware, IntegrityKey.INSTALLED_SOFTWARE)
        yield InfoMetricFamily(
            "egm",
            "Who this machine is and what it runs.",
            {
                "serial": snapshot.serial,
                "site": snapshot.site,
                "version": version("open-egm"),
                "python": platform.python_version(),
                "signer": "" if installed_software is None else installed_software.signer,
                "profile": self._machine.profile.id,
                "currency": snapshot.currency,
            },
        )
        reading = self._machine.journal.meters()
        yield GaugeMetricFamily(
            "egm_journal_sequence", "Number of the last durable transaction.", reading.sequence
        )
        yield GaugeMetricFamily(
            "egm_journal_head",
            "The first 48 bits of the hash of that transaction, as a number (egm audit verify --witness).",
            int(self._machine.journal.head_hash[:12], 16),
        )
        yield from build_meter_families(
            reading, iter_known_occurrence_meters(self._machine.entry_declarations)
        )
        yield _build_flags_metric(
            "egm_state", "state", State, (snapshot.state,), "1 for the state the machine is in."
        )
        faults = self._machine.active_faults
        yield _build_flags_metric("egm_fault", "code", faults, faults, "1 for each active fault.")
        tilts = [tilt.code for tilt in snapshot.tilts]
        yield _build_flags_metric("egm_tilt", "code", tilts, tilts, "1 for each fault that stops play.")
        doors = snapshot.open_doors
        yield _build_flags_metric("egm_door_open", "door", doors, doors, "1 for each open door.")
        sources = list_disabling_sources(self._machine)
        yield _build_flags_metric(
            "egm_held", "source", sources, sources, "1 for each host, link or person that stops play."
        )
        yield _build_intervention_metric(self._machine.memory.get(StaffKey.INTERVENTION))
        yield from self._machine.component(Features).iter_metrics(self._machine)


def _build_intervention_metric(intervention: Mapping[str, object] | None) -> Metric:
    """Return the metric of the open intervention, which names the technician (Monaco 20.3).

    Without an open intervention it has no sample.
    """
    family = GaugeMetricFamily(
        "egm_intervention", "1 for the intervention that is open.", labels=("id", "kind", "person", "since")
    )
    if intervention is not None:
        family.add_metric([str(intervention[name]) for name in ("id", "kind", "person", "since")], 1)
    return family


def _build_flags_metric(
    name: str, label: str, all_values: Iterable[str], active_values: Iterable[str], meaning: str
) -> Metric:
    """Return a metric with one sample for each known value: 1 if the value is in ``active_values``, else 0."""
    family = GaugeMetricFamily(name, meaning, labels=(label,))
    active_value_set = set(active_values)
    for value in all_values:
        family.add_metric((str(value),), int(value in active_value_set))
    return family


def create_metrics_service(context: MachineContext) -> Iterable[BackgroundService]:
    """Create the service that exports a machine's metrics."""
    return (MetricsService(context),)
