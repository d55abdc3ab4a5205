"""Prometheus metrics on a loopback port: read-only data for the monitoring of the gaming floor.

The machine passes complete metric families to the exporter, whose own thread reads nothing else. A scrape can therefore
neither touch the journal nor delay the machine.

Names follow Prometheus' conventions: one family per quantity, base units, ``_total`` on counters, plural units. Amounts
are whole minor units (``_cents``): Prometheus counts in binary floating point, which is exact for them up to 2**53 and
not for dollars. ``egm_info`` names the currency.
"""

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from socket import SHUT_RDWR, socket
from socketserver import ThreadingMixIn
from threading import BoundedSemaphore, Thread, Timer
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import CollectorRegistry, ProcessCollector, make_wsgi_app
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from egm.devices.interface import FaultCode
from egm.integrity.entries import DOOR_OPENED
from egm.kernel.entries import EntryDeclarations
from egm.kernel.own_entries import FAULT_RAISED
from egm.links.screen.private_sockets import is_same_token
from meters.reading import MeterReading
from meters.table import METER_BY_NAME, MeterUnit

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

#: The maximum number of metrics readers' connections that are served at the same time.
CONNECTIONS_MAX: Final = 8
#: The time in seconds after which a metrics reader's connection is closed, even if its request is not complete.
CONNECTION_SECONDS_MAX: Final = 10.0
#: The time in seconds within which a connection closed by the server must free its slot for a new one.
_CLOSED_CONNECTION_SECONDS_MAX: Final = 1.0
_LOOPBACK_HOST_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")

#: A metric family with samples, as the Prometheus client library represents it.
_MetricFamily: TypeAlias = CounterMetricFamily | GaugeMetricFamily

#: Whether this thread serves a reader who has presented the monitoring token.
_IS_READER_AUTHENTICATED: Final[ContextVar[bool]] = ContextVar("is_authenticated", default=False)

#: Occurrence meters whose name contains a label: pattern, family, label, meaning.
_LABELLED_METER_PATTERNS: Final = (
    (re.compile(r"door\.(.+)\.opens"), "egm_door_opens", "door", "Openings of each door."),
    (re.compile(r"fault\.(.+)"), "egm_faults", "code", "Faults raised, by code."),
    (re.compile(r"handpays\.(.+)"), "egm_handpays", "kind", "Hand-pays settled, by kind."),
)
#: The occurrence meter that counts a significant event, by the event's kind.
_OCCURRENCE_METER_BY_KIND: Final = {
    DOOR_OPENED.kind: "door.{}.opens",
    FAULT_RAISED.kind: "fault.{}",
    "event": "{}",
}
#: Characters that a Prometheus name may not contain, in the name of a meter.
_INVALID_METRIC_NAME_CHARACTERS: Final = re.compile(r"[^a-z0-9]+")
#: Part of the name of a meter that starts again at an event, such as ``games_played.since_power_up``.
_PERIOD_METER_INFIX: Final = ".since_"
#: Meters that are also exported per game.
_METERS_EXPORTED_PER_GAME: Final = ("coin_in", "coin_out", "games_played")


@dataclass(frozen=True, slots=True)
class PrometheusSeries:
    """The Prometheus series to which a machine meter is exported: its name, help text and labels."""

    name: str
    help: str
    labels: Mapping[str, str]

    @property
    def is_counter(self) -> bool:
        """Return whether the series is a counter, which only increases."""
        return self.name.endswith("_total")


@lru_cache(maxsize=2048)
def build_series(meter: str) -> PrometheusSeries:
    """Return the Prometheus series of a machine meter: name, help text and labels.

    ``meter`` is a name from :mod:`meters.table`, or an occurrence meter, which counts an event such as a door opening.
    """
    for pattern, family, label, meaning in _LABELLED_METER_PATTERNS:
        if match := pattern.fullmatch(meter):
            return PrometheusSeries(f"{family}_total", meaning, {label: match[1]})
    meter_row = METER_BY_NAME.get(meter)
    name_base = _INVALID_METRIC_NAME_CHARACTERS.sub("_", meter.removesuffix(".value").removesuffix("_total"))
    if meter_row is None:
        return PrometheusSeries(f"egm_{name_base}_total", f"Occurrences: {meter}.", {})
    meaning = f"{meter_row.meaning[0].upper()}{meter_row.meaning[1:]}."
    if meter_row.unit is MeterUnit.CENTS:
        return PrometheusSeries(
            f"egm_{name_base}_cents{'' if meter_row.can_decrease else '_total'}", meaning, {}
        )
    if meter.endswith(".count"):
        name_base = f"{name_base.removesuffix('_count')}_items"
    return PrometheusSeries(f"egm_{name_base}_total", meaning, {})


def iter_known_occurrence_meters(declarations: EntryDeclarations) -> Iterator[str]:
    """Yield the names of the occurrence meters that are known in advance: of door openings, faults and some others.

    These meters are exported as 0 before anything has happened. Prometheus sees no increase if a series first appears
    as 1, so an alert on the first occurrence would never fire.
    """
    for subject, _ in declarations.iter_significant_kinds():
        kind, _, subject_detail = subject.partition(":")
        if kind == FAULT_RAISED.kind and subject_detail.endswith(".*"):
            yield from (f"fault.{subject_detail[:-1]}{code}" for code in FaultCode)
        elif "*" not in subject_detail and kind in _OCCURRENCE_METER_BY_KIND:
            yield _OCCURRENCE_METER_BY_KIND[kind].format(subject_detail)


def build_meter_families(reading: MeterReading, occurrence_meters: Iterable[str]) -> list[Metric]:
    """Return the metric families of the machine's meters, except meters that count since power-up or door closing.

    Coin in, coin out and games played, which give a game's return (RTP), are also included for each game.
    ``occurrence_meters`` are the occurrence meters (counts of events) to export even if they are still 0.
    """
    families: dict[str, _MetricFamily] = {}
    for meter, value in {**dict.fromkeys(occurrence_meters, 0), **reading.values}.items():
        if _PERIOD_METER_INFIX not in meter:
            _add_sample(families, build_series(meter), value)
    value_by_game_by_meter = {meter: reading.split_by(meter, "game") for meter in _METERS_EXPORTED_PER_GAME}
    for game in sorted(set().union(*value_by_game_by_meter.values())):
        for meter, value_by_game in value_by_game_by_meter.items():
            series = build_series(meter)
            name = series.name.replace("egm_", "egm_game_", 1)
            game_series = PrometheusSeries(name, f"{series.help[:-1]}, by game.", {"game": game})
            _add_sample(families, game_series, value_by_game.get(game, 0))
    return list(families.values())


def _add_sample(families: dict[str, _MetricFamily], series: PrometheusSeries, value: int) -> None:
    """Add ``value`` as a sample of ``series`` to its metric family; create the family if it is missing."""
    family_class: type[_MetricFamily] = CounterMetricFamily if series.is_counter else GaugeMetricFamily
    family = families.get(series.name)
    if family is None:
        family = families[series.name] = family_class(series.name, series.help, labels=tuple(series.labels))
    family.add_metric(tuple(series.labels.values()), value)


class MachineCollector(Collector):
    """A Prometheus collector that returns the metric families published last by the machine."""

    def __init__(self) -> None:
        self._published: tuple[tuple[Metric, ...], Callable[[], None]] = ((), lambda: None)

    def publish(self, families: Iterable[Metric], on_read: Callable[[], None] = lambda: None) -> None:
        """Replace all exported metric families.

        Families of the same name, from several sources, are merged. ``on_read`` is called, on the reader's
        thread, whenever an authenticated reader has read exactly these families.
        """
        family_by_name: dict[str, Metric] = {}
        for family in families:
            first_family = family_by_name.setdefault(family.name, family)
            if first_family is not family:
                first_family.samples.extend(family.samples)
        self._published = tuple(family_by_name.values()), on_read

    def collect(self) -> Iterator[Metric]:
        """Return the metric families that were published last.

        If the reader is authenticated, also call the ``on_read`` function that was published with them.
        """
        families, on_read = self._published
        if _IS_READER_AUTHENTICATED.get():
            on_read()
        return iter(families)


class _QuietHandler(WSGIRequestHandler):
    """Handler of one HTTP request for metrics.

    It writes no log. When the request is complete, the handler informs the server, which then does not close the
    request's connection early.
    """

    def parse_request(self) -> bool:
        """Read an HTTP request, and protect its connection from being closed for a newer one.

        Return False for an invalid request, which is answered with an error.
        """
        is_valid = super().parse_request()
        if isinstance(self.server, _MetricsServer):
            self.server.protect_connection(self.connection)
        return is_valid

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the library's parameter name)
        """Log nothing: a scrape is not an event."""


class _MetricsServer(ThreadingMixIn, WSGIServer):
    """HTTP server for metrics, which serves a few short connections at a time.

    If all slots are taken, a new connection replaces the one that has been open longest without a complete request.
    A client that opens many connections and sends nothing can therefore not lock readers out. A complete request
    is always answered.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int]) -> None:
        self._connection_slots = BoundedSemaphore(CONNECTIONS_MAX)
        #: The connections without a complete request, oldest first; the values have no meaning.
        self._incomplete_connections: dict[socket, None] = {}
        super().__init__(address, _QuietHandler)

    def protect_connection(self, connection: socket) -> None:
        """Protect a connection whose request is complete from being closed for a newer one."""
        self._incomplete_connections.pop(connection, None)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Accept a connection if fewer than the permitted number are open; otherwise close another one or this one.

        The connection that has been open longest without a complete request is closed. If no place becomes free in
        time, the new connection is closed.
        """
        if not self._connection_slots.acquire(blocking=False):
            if (oldest_connection := next(iter(tuple(self._incomplete_connections)), None)) is not None:
                _shut_down_connection(oldest_connection)
            if not self._connection_slots.acquire(timeout=_CLOSED_CONNECTION_SECONDS_MAX):
                self.shutdown_request(request)
                return
        self._incomplete_connections[request] = None
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve one connection, for a limited time only, so that a slow client cannot keep it open."""
        end_timer = Timer(CONNECTION_SECONDS_MAX, _shut_down_connection, (request,))
        end_timer.daemon = True
        end_timer.start()
        try:
            super().process_request_thread(request, client_address)
        finally:
            end_timer.cancel()
            self._incomplete_connections.pop(request, None)
            self._connection_slots.release()

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore errors of connections that broke or were closed."""


def _shut_down_connection(connection: socket) -> None:
    """Shut down a connection in both directions; ignore one that is closed already."""
    with contextlib.suppress(OSError):
        connection.shutdown(SHUT_RDWR)


def _restrict_to_hosts(application: "WSGIApplication", host_names: frozenset[str]) -> "WSGIApplication":
    """Return the web application, protected against DNS rebinding.

    It serves only requests for the host names in ``host_names``, and refuses others.
    """

    def check_host(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        """Serve an HTTP request that names one of the permitted host names; refuse any other with an error."""
        host = str(environ.get("HTTP_HOST", ""))
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
        if name.lower() in host_names:
            return application(environ, start_response)
        body = b"The metrics are not served under this host name.\n"
        start_response("421 Misdirected Request", [("Content-Length", str(len(body)))])
        return [body]

    return check_host


def _refuse_wrong_token(application: "WSGIApplication", token: str) -> "WSGIApplication":
    """Return the application with token authentication (RFC 6750).

    A request with a wrong token is refused. A request without a token is served, but its reader counts as not
    authenticated.
    """

    def check_token(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        """Serve a request for metrics without credentials or with the token; refuse a wrong token."""
        scheme, _, credential = str(environ.get("HTTP_AUTHORIZATION", "")).partition(" ")
        if scheme and not (scheme.lower() == "bearer" and is_same_token(credential.strip(), token)):
            body = b"The token is not this machine's monitoring token.\n"
            headers = [("WWW-Authenticate", "Bearer"), ("Content-Length", str(len(body)))]
            start_response("401 Unauthorized", headers)
            return [body]
        context_token = _IS_READER_AUTHENTICATED.set(bool(scheme))
        try:
            return application(environ, start_response)
        finally:
            _IS_READER_AUTHENTICATED.reset(context_token)

    return check_token


class MetricsExporter:
    """HTTP server of the metrics, on 127.0.0.1.

    It serves requests for this computer's names and for ``proxy_host_names``. With a ``token``, a reader who
    presents it counts as the monitoring system. Raises OSError naming the port if it is not available.
    """

    def __init__(
        self, collector: Collector, port: int, proxy_host_names: Iterable[str] = (), token: str = ""
    ) -> None:
        registry = CollectorRegistry()
        registry.register(collector)
        ProcessCollector(registry=registry)
        try:
            self._server = _MetricsServer(("127.0.0.1", port))
        except OSError as error:
            raise OSError(error.errno, error.strerror, f"port {port} of 127.0.0.1") from None
        host_names = frozenset(name.lower() for name in (*_LOOPBACK_HOST_NAMES, *proxy_host_names))
        application = make_wsgi_app(registry)
        self._server.set_app(
            _restrict_to_hosts(_refuse_wrong_token(application, token) if token else application, host_names)
        )
        self._thread = Thread(target=self._server.serve_forever, name="metrics", daemon=True)
        self._thread.start()
        self.port: int = self._server.server_port

    def close(self) -> None:
        """Stop serving the metrics."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
