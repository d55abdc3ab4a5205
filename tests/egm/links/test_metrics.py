"""Metrics over real HTTP on loopback: the exported values, and no way to change anything."""

import contextlib
import socket
import threading
import time
import urllib.request
from pathlib import Path

import pytest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.parser import text_string_to_metric_families

import tools.audit.rules
from egm.app.features import FEATURES
from egm.links import metrics
from egm.links.metrics import (
    MachineCollector,
    MetricsExporter,
    build_meter_families,
    build_series,
    iter_known_occurrence_meters,
)
from egm.links.sas.health import iter_line_metrics
from egm.links.sas.line import SasLineHealth
from meters.reading import MeterCell, MeterReading
from meters.table import METERS, OCCURRENCE_METERS, MeterUnit

#: A limit that only an exporter that hangs reaches, however loaded the computer is.
PATIENCE_SECONDS = 60


@pytest.fixture
def exporter():
    collector = MachineCollector()
    exporter = MetricsExporter(collector, 0)
    yield collector, exporter
    exporter.close()


def _scrape(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        text = answer.read().decode()
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.mark.requirement("K-08", "D-16")
def test_a_scrape_has_the_values_of_the_meter_reading(exporter):
    collector, server = exporter
    dims = {"game": "maple-classic"}
    reading = MeterReading(
        7,
        "",
        (
            MeterCell("credit:1:cashable", "house:wager", dims, 500, 5),
            MeterCell("world:bill", "credit:1:cashable", {}, 2000, 1),
            MeterCell("games_played", "", dims, 0, 5),
            MeterCell("door.main.opens", "", {}, 0, 2),
            MeterCell("fault.hopper.jam", "", {}, 0, 3),
        ),
    )
    collector.publish(build_meter_families(reading, ()))
    samples = _scrape(server.port)
    assert samples["egm_credits_cents",] == 1500
    assert samples["egm_coin_in_cents_total",] == 500
    assert samples["egm_bill_in_cents_total",] == 2000
    assert samples["egm_bill_in_items_total",] == 1
    assert samples["egm_games_played_total",] == 5
    assert samples["egm_game_coin_in_cents_total", ("game", "maple-classic")] == 500
    assert samples["egm_door_opens_total", ("door", "main")] == 2
    assert samples["egm_faults_total", ("code", "hopper.jam")] == 3
    assert samples["process_open_fds",] > 0


def test_an_occurrence_is_exported_at_zero_before_it_happens():
    """A series that starts at 1 shows no increase, so that the alert on a first door or fault would not fire."""
    never = {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in build_meter_families(
            MeterReading(0, "", ()), iter_known_occurrence_meters(FEATURES.entry_declarations)
        )
        for sample in family.samples
    }
    assert never["egm_memory_repaired_total",] == 0
    for subject, _ in FEATURES.entry_declarations.iter_significant_kinds():
        kind, _, about = subject.partition(":")
        if "*" in about or kind not in {"door.opened", "fault.raised", "event"}:
            continue
        meter = {"door.opened": f"door.{about}.opens", "fault.raised": f"fault.{about}", "event": about}[kind]
        series = build_series(meter)
        assert never[(series.name, *series.labels.items())] == 0, meter
    assert never["egm_faults_total", ("code", "ticket_printer.head_up")] == 0


def test_every_meter_that_is_always_exported_is_counted_by_some_entry():
    """Regression: three meters were always zero because no entry counted them."""
    rules = "".join(path.read_text() for path in Path(tools.audit.rules.__file__).parent.glob("*.py"))
    declared = {name for entry in FEATURES.entry_declarations for name in entry.counts}
    assert [name for name in OCCURRENCE_METERS if name not in declared and f'"{name}"' not in rules] == []


def test_every_meter_has_a_series_of_its_own_that_names_its_unit():
    names = [build_series(meter).name for meter in (*(m.name for m in METERS), *OCCURRENCE_METERS)]
    assert len(set(names)) == len(names)
    for meter in METERS:
        name = build_series(meter.name).name
        assert ("_cents" in name) == (meter.unit is MeterUnit.CENTS), name
        assert name.endswith("_total") != meter.can_decrease, name


def test_metric_families_of_one_name_are_merged(exporter):
    collector, server = exporter
    first, second = (
        iter_line_metrics(
            name, SasLineHealth(is_host_polling=name == "two", reply_counts_by_limit_ms=((0, 0),))
        )
        for name in ("one", "two")
    )
    collector.publish([*first, *second])
    with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/metrics") as answer:
        assert answer.read().decode().count("# TYPE egm_host_link_up gauge") == 1
    samples = _scrape(server.port)
    assert samples["egm_host_link_up", ("line", "one")] == 0
    assert samples["egm_host_link_up", ("line", "two")] == 1


def test_the_reply_times_of_a_line_are_a_histogram():
    health = SasLineHealth(reply_counts_by_limit_ms=((1, 5), (20, 2), (0, 1)), total_reply_ns=90_000_000)
    answers = next(f for f in iter_line_metrics("one", health) if f.name == "egm_host_answer_seconds")
    assert [(s.labels.get("le"), s.value) for s in answers.samples if s.name.endswith("_bucket")] == [
        ("0.001", 5),
        ("0.02", 7),
        ("+Inf", 8),
    ]
    assert {s.name.rsplit("_")[-1]: s.value for s in answers.samples[-2:]} == {"count": 8, "sum": 0.09}


def test_new_figures_replace_all_old_ones_at_once(exporter):
    collector, server = exporter
    collector.publish([GaugeMetricFamily("egm_x", "x", 1), CounterMetricFamily("egm_y", "y", 1)])
    collector.publish([GaugeMetricFamily("egm_x", "x", 2)])
    samples = _scrape(server.port)
    assert samples["egm_x",] == 2
    assert ("egm_y_total",) not in samples


def test_a_taken_port_is_an_os_error(exporter):
    with pytest.raises(OSError, match="in use"):
        MetricsExporter(MachineCollector(), exporter[1].port)


def _asked(port, host):
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS) as line:
        field = "" if host is None else f"Host: {host}\r\n"
        line.sendall(f"GET /metrics HTTP/1.0\r\n{field}\r\n".encode())
        return int(line.makefile("rb").readline().split()[1])


def test_metrics_are_served_only_under_this_computers_host_names(exporter):
    port = exporter[1].port
    for host in ("127.0.0.1", f"127.0.0.1:{port}", "localhost", f"LOCALHOST:{port}", "[::1]:9477"):
        assert _asked(port, host) == 200
    for host in (
        "evil.example",
        f"evil.example:{port}",
        "127.0.0.1.evil.example",
        "localhost.evil",
        "",
        None,
    ):
        assert _asked(port, host) == 421
    named = MetricsExporter(MachineCollector(), 0, ["monitor.house"])
    assert _asked(named.port, "monitor.house:80") == 200
    assert _asked(named.port, "evil.example") == 421
    named.close()


def test_idle_connections_cost_a_few_threads_and_end(exporter, monkeypatch):
    """Of two hundred idle connections a few are served and the rest are closed; then the exporter replies again."""
    monkeypatch.setattr(metrics, "CONNECTION_SECONDS_MAX", 2.0)
    port, before = exporter[1].port, threading.active_count()
    lines = [socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS) for _ in range(200)]
    for _ in range(100):  # a thread takes a moment to end after it has closed its connection
        if (count := threading.active_count() - before) <= 2 * metrics.CONNECTIONS_MAX:
            break
        time.sleep(0.01)
    assert count <= 2 * metrics.CONNECTIONS_MAX  # a thread that serves it and one that ends it
    for line in lines:  # each is ended from the other side
        with contextlib.suppress(ConnectionError):
            assert line.recv(1) == b""
        line.close()
    assert _scrape(port)["process_open_fds",] > 0


def test_a_ninth_connection_replaces_the_oldest_idle_one(exporter, monkeypatch):
    monkeypatch.setattr(
        metrics, "CONNECTION_SECONDS_MAX", PATIENCE_SECONDS
    )  # no connection is closed for being slow
    port = exporter[1].port
    lines = [socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS) for _ in range(9)]
    first, *served = lines  # they are served in the order of their arrival
    with contextlib.suppress(ConnectionError):
        assert first.recv(1) == b""
    for line in served:
        line.sendall(b"GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n")
        assert line.makefile("rb").readline().split()[1] == b"200"
    for line in lines:
        line.close()


def test_many_idle_connections_do_not_block_a_scrape(exporter):
    """Regression: only nine of 39 scrapes succeeded, so that a door opening reached the monitoring late."""
    port, ended = exporter[1].port, threading.Event()

    def flood():
        open_connections = []
        while not ended.wait(0.01):
            with contextlib.suppress(OSError):
                open_connections.append(
                    socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS)
                )
                open_connections[-1].sendall(b"GET /metrics HTTP/1.0\r\nHost: lo")
            for connection in open_connections[:-40]:
                connection.close()
            del open_connections[:-40]
        for connection in open_connections:
            connection.close()

    flooding = threading.Thread(target=flood)
    flooding.start()
    try:
        for _ in range(20):
            assert _asked(port, "localhost") == 200
    finally:
        ended.set()
        flooding.join()


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\xff\xfe\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9\r\n\r\n",
        b"GET //[ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /?name[]=%ff%00&name[]=\x80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: \xff\xff\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nAccept: application/openmetrics-text;q=x,,;;\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: 1\r\n" * 400 + b"\r\n",
        b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\n\r\n",
    ],
)
def test_a_malformed_request_writes_nothing_to_the_log(exporter, request_bytes, capfd):
    port = exporter[1].port
    with (
        socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS) as line,
        contextlib.suppress(OSError),  # it was refused before all of it was sent
    ):
        line.sendall(request_bytes)
        line.shutdown(socket.SHUT_WR)
        while line.recv(65536):
            pass
    assert _asked(port, "localhost") == 200
    assert capfd.readouterr().err == ""
