"""Prometheus metrics on a loopback port: what the floor's monitoring may read, and nothing it could change.

The machine hands over a :class:`Reading` after each change; the exporter's own thread only ever sees that, so
a scrape can neither touch the journal nor make the machine wait. Names follow Prometheus conventions: base
units, ``_total`` on counters.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import HTTPServer
from threading import Thread

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from egm.cabinet.states import State


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Everything exported, as of one journal sequence. Amounts are in minor units."""

    serial: str = ""
    version: str = ""
    profile: str = ""
    currency: str = ""
    state: str = State.BOOT.value
    journal_sequence: int = 0
    credit_cents: int = 0
    meters: Mapping[str, int] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
    doors_open: tuple[str, ...] = ()


class MachineCollector(Collector):
    """Turns the last reading into metric families when somebody scrapes."""

    def __init__(self) -> None:
        self.reading = Reading()

    def collect(self) -> Iterator[Metric]:
        """The families of the last reading."""
        reading = self.reading
        yield InfoMetricFamily(
            "egm",
            "Who this machine is and what it runs.",
            {
                "serial": reading.serial,
                "version": reading.version,
                "profile": reading.profile,
                "currency": reading.currency,
            },
        )
        state = GaugeMetricFamily("egm_state", "1 for the state the machine is in.", labels=["state"])
        for each in State:
            state.add_metric([each.value], float(each.value == reading.state))
        yield state
        yield GaugeMetricFamily(
            "egm_journal_sequence", "Sequence of the last durable transaction.", reading.journal_sequence
        )
        yield GaugeMetricFamily(
            "egm_credit_minor_units", "Credits on the machine, minor currency units.", reading.credit_cents
        )
        meters = CounterMetricFamily(
            "egm_meter", "Canonical meters: minor currency units or occurrences.", labels=["meter"]
        )
        for name, value in sorted(reading.meters.items()):
            meters.add_metric([name], value)
        yield meters
        faults = GaugeMetricFamily("egm_fault", "1 for each standing fault.", labels=["code"])
        for code in reading.faults:
            faults.add_metric([code], 1)
        yield faults
        doors = GaugeMetricFamily("egm_door_open", "1 for each open door.", labels=["door"])
        for door in reading.doors_open:
            doors.add_metric([door], 1)
        yield doors


class Exporter:
    """Serves a collector on 127.0.0.1. Raises OSError when the port is taken."""

    def __init__(self, collector: MachineCollector, port: int) -> None:
        registry = CollectorRegistry()
        registry.register(collector)
        server: tuple[HTTPServer, Thread] = start_http_server(port, addr="127.0.0.1", registry=registry)
        self._server, self._thread = server
        self.port: int = self._server.server_port

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
