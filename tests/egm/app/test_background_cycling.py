"""The running machine cycles its generator in the background between games."""

import asyncio

import pytest

from egm.app.process import MachineProcess
from egm.clock import SystemClock
from egm.config.cabinet_file import MetricsTable, StateFolder, load_cabinet
from egm.devices.line import LineLostError
from egm.testing.machine import write_undeclared_entry
from meters import Transfer


@pytest.mark.requirement("B-04")
@pytest.mark.parametrize("credit_cents", [0, 500])
def test_the_machine_cycles_its_generator_while_nobody_plays(tmp_path, credit_cents):
    state = StateFolder(tmp_path)
    state.create_private_folders()
    file = load_cabinet()
    few = {"games": file.games[:1], "progressives": (), "metrics": MetricsTable(port=0)}

    def opener(path, settings):
        raise LineLostError(str(path), "not there")

    async def scene() -> int:
        process = MachineProcess(state, file.model_copy(update=few), SystemClock(), opener=opener)
        running = asyncio.create_task(process.run())
        cycles, cycles_before = 0, None
        for _ in range(600):  # 30 seconds; a cycle takes at most one and a half
            await asyncio.sleep(0.05)
            assert not running.done()
            if process._positions and process._first_machine.random_service is not None:
                cycles = int(process._first_machine.random_service.read_statistics()["cycles"])
                if cycles_before is None:
                    if credit_cents:
                        bill = Transfer("world:bill", "credit:1:cashable", credit_cents)
                        write_undeclared_entry(process._first_machine, "bill", transfers=(bill,))
                    cycles_before = cycles
            if cycles_before is not None and cycles >= cycles_before + 2:
                break
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        return cycles - (cycles_before or 0)

    assert asyncio.run(scene()) >= 2
