"""A link in every trouble, and a floor of machines: the real broker, controller, stores and link clients.

``egm progressive campaign`` runs the long one.
"""

import asyncio

import pytest
from servers import postgres_or_skip

from tools.progressive.broker import BrokerMissingError, mosquitto
from tools.progressive.campaign import run_campaign
from tools.progressive.postgres import PostgresStore
from tools.progressive.simulate import run_floor
from tools.progressive.store import SqliteStore

try:
    mosquitto()
except BrokerMissingError as missing:
    pytestmark = pytest.mark.skip(reason=str(missing))


@pytest.fixture(params=["sqlite", "postgresql"])
def open_store(request, tmp_path):
    if request.param == "sqlite":
        yield lambda: SqliteStore(tmp_path / "levels.db")
        return
    server = postgres_or_skip()
    yield lambda: PostgresStore(server.dsn())
    server.close()


@pytest.mark.slow  # now and then a task of the MQTT library does not end, and the run stands still
@pytest.mark.requirement("I-07", "I-09", "I-10", "I-11", "I-14", "I-15")
def test_whatever_happens_to_a_link_every_wager_counts_once_and_every_hit_is_paid_once(tmp_path, open_store):
    result = asyncio.run(run_campaign(tmp_path, open_store, seed=20261121, scenarios=14))
    assert result.wrong == []
    assert result.scenarios == 14
    assert len(result.disturbances) >= 5
    assert result.hits
    assert result.values_seen


@pytest.mark.requirement("I-14")
def test_a_floor_adds_up_to_the_fraction(tmp_path):
    floor = asyncio.run(
        run_floor(tmp_path, lambda: SqliteStore(tmp_path / "levels.db"), machines=5, wagers=40, seed=1)
    )
    assert floor.wrong == []
    assert floor.wagers == 200
    assert floor.lines()[-1] == "everything adds up, to the fraction"
