"""The running machine cycles its generator in the background between games."""

import asyncio

import pytest

from egm.app.process import MachineProcess
from egm.clock import SystemClock
from egm.config.cabinet_file import Metrics, StateFolder, load_cabinet
from egm.devices.line import LineLostError


@pytest.mark.requirement("B-04")
def test_the_machine_cycles_its_generator_while_nobody_plays(tmp_path):
    state = StateFolder(tmp_path)
    state.prepare()
    file = load_cabinet()
    few = {"games": file.games[:1], "progressives": (), "metrics": Metrics(port=0)}

    def opener(path, settings):
        raise LineLostError(str(path), "not there")

    async def scene() -> int:
        process = MachineProcess(state, file.model_copy(update=few), SystemClock(), opener=opener)
        running = asyncio.create_task(process.run())
        cycles = 0
        for _ in range(600):  # 30 seconds; a cycle takes at most one and a half
            await asyncio.sleep(0.05)
            assert not running.done()
            if process._stations and process._machine.chance is not None:
                cycles = process._machine.chance.read_statistics()["cycles"]
            if cycles >= 2:
                break
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        return cycles

    assert asyncio.run(scene()) >= 2
