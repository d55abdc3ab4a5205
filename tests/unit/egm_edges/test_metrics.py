"""Metrics: what the machine says, over real HTTP on loopback, and nothing that could change it."""

import urllib.request

import pytest
from prometheus_client.parser import text_string_to_metric_families

from egm.metrics import Exporter, MachineCollector, Reading


@pytest.fixture
def exporter():
    collector = MachineCollector()
    exporter = Exporter(collector, 0)
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
def test_a_scrape_says_what_the_reading_says(exporter):
    collector, server = exporter
    collector.reading = Reading(
        serial="EGM-1",
        state="tilt",
        journal_sequence=42,
        credit_cents=1234,
        meters={"coin_in": 500},
        faults=("bill_acceptor.jam",),
        doors_open=("main",),
    )
    samples = _scrape(server.port)
    assert samples["egm_credit_minor_units",] == 1234
    assert samples["egm_journal_sequence",] == 42
    assert samples["egm_meter_total", ("meter", "coin_in")] == 500
    assert samples["egm_state", ("state", "tilt")] == 1
    assert samples["egm_state", ("state", "idle")] == 0
    assert samples["egm_fault", ("code", "bill_acceptor.jam")] == 1
    assert samples["egm_door_open", ("door", "main")] == 1


def test_a_taken_port_is_an_os_error(exporter):
    with pytest.raises(OSError, match="in use"):
        Exporter(MachineCollector(), exporter[1].port)
