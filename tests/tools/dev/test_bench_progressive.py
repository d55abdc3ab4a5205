"""The bench of the progressive link measures its hits: not its first figure alone."""

import asyncio
from contextlib import closing

import pytest

from egm.errors import OperatorError
from egm.progressive.link import Complaint
from tools.dev.bench import bench_progressive as bench
from tools.dev.progressive.broker import BrokerMissingError
from tools.floor.progressive.store import SqliteStore


@pytest.fixture
def broker(tmp_path):
    try:
        found = bench._broker(tmp_path / "link")
    except BrokerMissingError as missing:
        pytest.skip(str(missing))
    asyncio.run(found.start())
    yield found
    found.close()


def test_a_hit_is_measured_to_its_locked_amount(broker, tmp_path, monkeypatch):
    """It waited until the bench's limit: claims are made once a level is heard, and frequent hits are held."""
    monkeypatch.setattr(bench, "HITS", 30)
    monkeypatch.setattr(bench, "_PATIENCE_SECONDS", 120.0)
    with closing(SqliteStore(tmp_path / "levels.db")) as store:
        times_ms = asyncio.run(bench._hits_ms(broker, store))
    assert len(times_ms) == 30
    assert min(times_ms) > 0


def test_a_hit_that_is_refused_ends_the_bench_with_the_reason(broker):
    async def scene():
        line = bench._Line(broker, "FLOOR-0", ["EGM-0"])
        waiting = asyncio.create_task(line.hit("EGM-0"))
        await asyncio.sleep(0)
        line._refused(Complaint("refused.claim_held", "claim EGM-0.1: too frequent"))
        with pytest.raises(OperatorError, match="too frequent"):
            await waiting

    asyncio.run(scene())
