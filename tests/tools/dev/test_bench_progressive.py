"""The benchmark of the progressive link measures each hit until its amount is locked."""

import asyncio
from contextlib import closing

import pytest

from tools.dev.bench import bench_progressive as bench
from tools.dev.progressive.broker import Broker, BrokerMissingError
from tools.floor.progressive.store import SqliteStore


@pytest.fixture
def broker(tmp_path):
    try:
        found = Broker(tmp_path / "link", bench._MACHINE_NAMES)
    except BrokerMissingError as missing:
        pytest.skip(str(missing))
    asyncio.run(found.start())
    yield found
    found.close()


def test_hits_are_measured_up_to_their_locked_amounts(broker, tmp_path, monkeypatch):
    """Regression: no claim was made before a level was received, and frequent hits were held until the limit."""
    monkeypatch.setattr(bench, "MEASURED_HIT_COUNT", 30)
    with closing(SqliteStore(tmp_path / "levels.db")) as store:
        times_ms = asyncio.run(bench._measure_hit_times_ms(broker, store))
    assert len(times_ms) == 30
    assert min(times_ms) > 0
