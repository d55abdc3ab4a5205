"""A link with every fault, and a floor of machines: the real broker, controller, stores and link clients."""

import asyncio

import pytest
from rigs.postgres import start_postgres_or_skip

from tools.dev.progressive.broker import BrokerMissingError, find_mosquitto
from tools.dev.progressive.campaign import CampaignResult, run_campaign
from tools.dev.progressive.floor import run_floor
from tools.floor.progressive.postgres import PostgresStore
from tools.floor.progressive.store import SqliteStore

try:
    find_mosquitto()
except BrokerMissingError as missing:
    pytestmark = pytest.mark.skip(reason=str(missing))


#: Each disturbance once, and others with it; ``python -m tools.dev link`` runs the long one.
SCENARIOS = 11


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def open_store(request, tmp_path):
    if request.param == "sqlite":
        yield lambda: SqliteStore(tmp_path / "levels.db")
        return
    server = start_postgres_or_skip()
    yield lambda: PostgresStore(server.dsn())
    server.close()


@pytest.mark.requirement("I-07", "I-09", "I-10", "I-11", "I-14", "I-15")
def test_link_campaign_counts_every_wager_once_and_pays_every_hit_once(tmp_path, open_store):
    result = CampaignResult(20261121)
    asyncio.run(run_campaign(result, tmp_path, open_store, scenarios=SCENARIOS))
    assert (result.findings, result.waiting_tasks) == ([], [])
    assert result.scenarios == result.fault_counts["level given up"] == SCENARIOS
    assert {
        "broker killed",
        "clock wrong",
        "second controller stood by",
        "second controller took over",
        "machine disconnected from the broker",
        "controller disconnected from the broker",
        "wire slow",
    } <= result.fault_counts.keys()
    assert result.hits
    assert result.values_seen


def test_stuck_campaign_ends_and_reports_the_waiting_tasks(tmp_path):
    store = tmp_path / "levels.db"
    campaign = CampaignResult(1)
    asyncio.run(
        run_campaign(campaign, tmp_path, lambda: SqliteStore(store), scenarios=2, scenario_seconds=0.0)
    )
    assert campaign.scenarios == 0
    assert campaign.findings == ["S0: no progress: not settled within 0 s"]
    report = "\n".join(campaign.waiting_tasks)
    assert "task S0" in report
    assert "task controller of term 1" in report
    assert "broker: up; disconnected: none" in report
    assert "M-2: dead False" in report


@pytest.mark.requirement("I-14")
def test_the_levels_of_a_floor_of_machines_add_up_exactly(tmp_path):
    wrong = asyncio.run(
        run_floor(tmp_path, lambda: SqliteStore(tmp_path / "levels.db"), machines=5, wagers=40, seed=1)
    )
    assert wrong == []
