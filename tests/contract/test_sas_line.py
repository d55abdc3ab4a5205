"""A whole machine on a SAS line: real bytes over a pseudo-terminal, the thread, the loop, the journal."""

import asyncio
from pathlib import Path

import pytest
from sas_rig import Rig, with_machine

from egm.cabinet.states import State


@pytest.mark.parametrize("framing", ["strict", "lenient"])
def test_a_host_reads_and_acts(tmp_path: Path, framing: str) -> None:
    async def scenario(rig: Rig) -> None:
        wire = rig.wire("main")
        for exception in (0x7A, 0x17, 0x00):
            assert await asyncio.to_thread(wire.general) == exception
            wire.sync()
        data = await asyncio.to_thread(wire.read_poll, 0x54, 5 + 3 + 6)
        assert data == b"\x09602TEST-1"
        assert await asyncio.to_thread(wire.long, 0x01, b"", 1) == b"\x01"
        assert rig.room.state is State.OUT_OF_SERVICE
        assert rig.room.cabinet.disabled["host:main"]["reason"] == "host"
        assert await asyncio.to_thread(wire.long, 0x02, b"", 1) == b"\x01"
        assert rig.room.state is State.IDLE
        wire.close()

    with_machine(tmp_path, scenario, {"main": {"chirp": False, "framing": framing}})
