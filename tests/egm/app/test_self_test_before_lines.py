"""No line is open until the self-test has ended: the machine accepts no money and answers no host."""

import asyncio

import pytest

from egm.app.process import MachineProcess
from egm.clock import SystemClock
from egm.config.cabinet_file import MetricsTable, StateFolder, load_cabinet
from egm.config.sas_line import SasLineTable
from egm.devices.line import LineLostError
from egm.integrity.keys import IntegrityKey
from egm.kernel.events import EventType, State
from egm.testing.machine import MachineRig
from meters import Journal, SelfAuditFailed
from rng import KernelSource


@pytest.mark.requirement("A-10")
def test_device_and_host_lines_open_only_after_the_self_test(tmp_path):
    state = StateFolder(tmp_path)
    state.create_private_folders()
    host = state.run_folder / "sas" / "main"
    seen: list[tuple[str, bool]] = []

    class Kernel(KernelSource):
        """The generator's source: it is started at the end of the self-test."""

        def read_samples(self, count: int) -> bytes:
            seen.append(("self-test", host.is_symlink()))
            return super().read_samples(count)

    def opener(path, settings):
        seen.append(("device", host.is_symlink()))
        raise LineLostError(str(path), "not there")

    async def scene() -> None:
        file = load_cabinet()
        few = {"games": file.games[:1], "progressives": ()}
        host_tables = {"sas": {"main": SasLineTable()}, "metrics": MetricsTable(port=0)}
        cabinet = file.model_copy(update=few | host_tables)
        process = MachineProcess(state, cabinet, SystemClock(), opener=opener, entropy_sources=[Kernel()])
        running = asyncio.create_task(process.run())
        async with asyncio.timeout(60):
            while not (host.is_symlink() and "device" in dict(seen)):
                await asyncio.sleep(0.01)
                assert not running.done()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    asyncio.run(scene())
    assert seen[0] == ("self-test", False)
    first = [step for step, _ in seen].index("device")
    assert {of_host for step, of_host in seen[:first] if step == "self-test"} == {False}


@pytest.mark.requirement("A-10")
def test_every_bill_and_ticket_is_returned_before_the_self_test_has_passed(tmp_path):
    rig = MachineRig(tmp_path)
    rig.engine.handle(EventType.MEMORY_READY)
    rig.offer(2000)
    rig.offer_ticket("012345678901234567")
    assert [order for order, _ in rig.hands.orders] == ["return", "return"]
    rig.engine.handle(EventType.SELF_TEST_PASSED)
    rig.insert(2000)
    assert rig.credit_cents == 2000
    rig.close()


@pytest.mark.requirement("A-09:b")
def test_a_failed_self_test_stops_play_until_a_later_one_has_passed(tmp_path):
    """Each start runs the test again: another failure stops play again, and a pass permits it."""
    for _ in range(2):
        rig = MachineRig(tmp_path)
        rig.engine.handle(EventType.MEMORY_READY)
        rig.engine.handle(EventType.SELF_TEST_FAILED, detail="a level does not add up")
        assert rig.state is State.OUT_OF_SERVICE
        rig.close()
    rig = MachineRig(tmp_path).boot()
    assert rig.state is State.IDLE
    assert rig.machine.memory.get(IntegrityKey.OUT_OF_SERVICE) is None
    rig.close()


@pytest.mark.requirement("A-03")
def test_a_machine_whose_journal_does_not_add_up_does_not_start(tmp_path, monkeypatch):
    state = StateFolder(tmp_path)
    state.create_private_folders()

    def fail(_):
        raise SelfAuditFailed("planted: the credits do not add up")

    async def work(_):
        pytest.fail("it works all the same")

    monkeypatch.setattr(Journal, "self_audit", fail)
    monkeypatch.setattr(MachineProcess, "_run_until_stopped", work)
    file = load_cabinet()
    few = {"games": file.games[:1], "progressives": ()}
    process = MachineProcess(state, file.model_copy(update=few), SystemClock())
    with pytest.raises(SelfAuditFailed, match="planted"):
        asyncio.run(process.run())
