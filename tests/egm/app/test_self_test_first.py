"""Until the self-test has ended no line is open: no acceptor takes anything, and no host hears of the machine."""

import asyncio

import pytest

from egm.app.process import MachineProcess
from egm.clock import SystemClock
from egm.config.cabinet_file import Metrics, StateFolder, load_cabinet
from egm.config.sas_line import SasLine
from egm.devices.line import LineLostError
from egm.kernel.events import EventType
from egm.testing.machine import MachineRig
from rng import KernelSource


@pytest.mark.requirement("A-10")
def test_no_line_of_a_device_or_a_host_is_open_before_the_self_test_has_ended(tmp_path):
    state = StateFolder(tmp_path)
    state.prepare()
    host = state.run / "sas" / "main"
    seen: list[tuple[str, bool]] = []

    class Kernel(KernelSource):
        """The generator's source: it is started at the end of the self-test."""

        def samples(self, count: int) -> bytes:
            seen.append(("self-test", host.is_symlink()))
            return super().samples(count)

    def opener(path, settings):
        seen.append(("device", host.is_symlink()))
        raise LineLostError(str(path), "not there")

    async def scene() -> None:
        file = load_cabinet()
        few = {"games": file.games[:1], "progressives": ()}
        more = {"sas": {"main": SasLine()}, "metrics": Metrics(port=0)}
        cabinet = file.model_copy(update=few | more)
        process = MachineProcess(state, cabinet, SystemClock(), opener=opener, sources=[Kernel()])
        running = asyncio.create_task(process.run())
        async with asyncio.timeout(60):
            while not (host.is_symlink() and "device" in dict(seen)):
                await asyncio.sleep(0.01)
                assert not running.done()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    asyncio.run(scene())
    assert seen[0] == ("self-test", False)
    first = [what for what, _ in seen].index("device")
    assert {of_host for what, of_host in seen[:first] if what == "self-test"} == {False}


@pytest.mark.requirement("A-10")
def test_before_the_self_test_has_passed_every_bill_and_ticket_goes_back(tmp_path):
    room = MachineRig(tmp_path)
    room.engine.handle(EventType.MEMORY_READY)
    room.offer(2000)
    room.offer_ticket("012345678901234567")
    assert [order for order, _ in room.hands.orders] == ["return", "return"]
    room.engine.handle(EventType.SELF_TEST_PASSED)
    room.insert(2000)
    assert room.credit_cents == 2000
    room.close()
