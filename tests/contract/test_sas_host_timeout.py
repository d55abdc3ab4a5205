"""A host that stops polling is recorded, and the machine goes out of service if the profile requires it."""

import asyncio
from pathlib import Path

import pytest

from egm.integrity.lockups import list_disabling_sources
from egm.kernel.events import EventType, State
from egm.kernel.timekeeping import Timekeeper
from egm.testing.jumping_loop import LoopClock, jump
from egm.testing.machine import MachineRig
from egm.testing.sas import SasHostBench


def profile(folder: Path, rule: str) -> Path:
    """Write the generic profile with one more host rule; return its path."""
    from egm.profiles import profile as profiles

    text = (Path(profiles.__file__).parent / "generic.toml").read_text(encoding="utf-8")
    path = folder / "generic.toml"
    path.write_text(f"{text}\n[host]\n{rule}\n", encoding="utf-8")
    return path


@pytest.mark.requirement("K-04")
def test_a_silent_host_disables_the_machine_and_its_next_poll_enables_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        rig = MachineRig(tmp_path, profile=profile(tmp_path, "silence_seconds = 0"))
        bench = SasHostBench(tmp_path, rig)
        bench.line._link_monitor.start()
        assert rig.state is State.OUT_OF_SERVICE
        bench.send_general_poll()
        assert rig.state is State.IDLE
        rig.clock.pass_seconds(6)
        bench.tick()
        assert rig.state is State.OUT_OF_SERVICE
        assert list(list_disabling_sources(rig.machine)) == ["host:main:silent"]
        bench.send_general_poll()
        assert rig.state is State.IDLE
        rig.close()

    asyncio.run(scenario())


@pytest.mark.requirement("K-04")
def test_the_silence_limit_counts_from_the_last_poll_across_a_restart(tmp_path: Path) -> None:
    async def scenario() -> None:
        rules = profile(tmp_path, "silence_seconds = 3600")
        rig = MachineRig(tmp_path, profile=rules)
        bench = SasHostBench(tmp_path, rig)
        bench.line._link_monitor.start()
        bench.send_general_poll()
        rig.clock.pass_seconds(6)
        bench.tick()
        assert rig.state is State.IDLE
        rig.close()
        later = MachineRig(tmp_path, profile=rules)
        later.clock.pass_seconds(3606)
        bench = SasHostBench(tmp_path, later)
        bench.line._link_monitor.start()
        assert later.state is State.OUT_OF_SERVICE
        later.close()

    asyncio.run(scenario())


@pytest.mark.requirement("K-04")
@pytest.mark.parametrize("polls", [False, True])
def test_a_machine_that_is_not_polled_continues_up_to_the_limit(tmp_path: Path, *, polls: bool) -> None:
    async def scenario() -> None:
        rig = MachineRig(tmp_path, profile=profile(tmp_path, "silence_seconds = 60"))
        rig.machine.clock = LoopClock(asyncio.get_running_loop())
        rig.machine.timekeeper = Timekeeper(rig.machine.clock)
        bench = SasHostBench(tmp_path, rig)
        bench.line._link_monitor.start()
        await asyncio.sleep(59)
        assert rig.state is State.IDLE
        if polls:
            bench.send_general_poll()
        await asyncio.sleep(2)
        assert list(list_disabling_sources(rig.machine)) == ([] if polls else ["host:main:silent"])
        assert rig.state is (State.IDLE if polls else State.OUT_OF_SERVICE)
        rig.close()

    jump(scenario())


@pytest.mark.requirement("K-04")
def test_without_a_silence_rule_a_lost_link_is_recorded_and_play_continues(tmp_path: Path) -> None:
    async def scenario() -> None:
        rig = MachineRig(tmp_path, profile="generic")
        assert rig.machine.profile.host.silence_seconds_max is None
        bench = SasHostBench(tmp_path, rig)
        bench.line._link_monitor.start()
        bench.send_general_poll()
        rig.clock.pass_seconds(6)
        bench.tick()
        assert [record["host"] for record in rig.records("host.link_lost")] == ["main"]
        rig.clock.pass_seconds(7 * 24 * 3600)
        await asyncio.sleep(0.01)
        assert (rig.state, list_disabling_sources(rig.machine)) == (State.IDLE, {})
        rig.close()

    asyncio.run(scenario())


@pytest.mark.requirement("K-02")
def test_a_new_machine_waits_until_its_host_has_enabled_it_once(tmp_path: Path) -> None:
    rules = profile(tmp_path, "starts_machine = true")
    rig = MachineRig(tmp_path, profile=rules)
    bench = SasHostBench(tmp_path, rig)
    bench.line._link_monitor.start()
    assert rig.state is State.OUT_OF_SERVICE
    rig.close()
    rig = MachineRig(tmp_path, profile=rules)
    bench = SasHostBench(tmp_path, rig)
    bench.line._link_monitor.start()
    assert rig.state is State.OUT_OF_SERVICE, "still out of service after the power cut"
    assert bench.send_long_poll(0x02) == "01"
    assert rig.state is State.IDLE
    rig.close()
    rig = MachineRig(tmp_path, profile=rules)
    bench = SasHostBench(tmp_path, rig)
    bench.line._link_monitor.start()
    assert rig.state is State.IDLE
    rig.close()


@pytest.mark.requirement("K-02")
def test_a_machine_with_two_hosts_waits_until_each_has_enabled_it(tmp_path: Path) -> None:
    rig = MachineRig(tmp_path, profile=profile(tmp_path, "starts_machine = true"))
    first, second = SasHostBench(tmp_path, rig), SasHostBench(tmp_path, rig, name="second", boot=False)
    for bench in (first, second):
        bench.line._link_monitor.start()
    assert first.send_long_poll(0x02) == "01"
    assert rig.state is State.OUT_OF_SERVICE
    assert second.send_long_poll(0x02) == "01"
    assert rig.state is State.IDLE
    rig.close()


@pytest.mark.requirement("K-05")
def test_a_full_exception_queue_stops_the_machine_if_the_profile_requires_it(tmp_path: Path) -> None:
    rig = MachineRig(tmp_path, profile=profile(tmp_path, "full_queue_stops = true"))
    bench = SasHostBench(tmp_path, rig)
    for _ in range(20):
        rig.engine.handle(EventType.TOGGLE_SERVICE_CALL)
    bench.send_general_poll()
    assert list(list_disabling_sources(rig.machine)) == ["host:main:full"]
    assert rig.state is State.OUT_OF_SERVICE
    assert bench.read_exceptions()[0] == 0x70
    assert rig.state is State.IDLE
    rig.close()


@pytest.mark.requirement("K-05")
@pytest.mark.parametrize("held_state", ["full", "delay"])
def test_self_ending_states_do_not_hold_the_machine_after_a_power_cut(
    tmp_path: Path, held_state: str
) -> None:
    async def scenario() -> None:
        rules = profile(tmp_path, "full_queue_stops = true")
        rig = MachineRig(tmp_path, profile=rules)
        bench = SasHostBench(tmp_path, rig, enable=["delay"])
        if held_state == "full":
            for _ in range(20):
                rig.engine.handle(EventType.TOGGLE_SERVICE_CALL)
            bench.send_general_poll()
        else:
            bench.send_long_poll(0x2E, "9999")
        assert list(list_disabling_sources(rig.machine)) == [f"host:main:{held_state}"]
        bench.line._delivered_exception_file.write(
            rig.journal.sequence
        )  # the host had read every event before the power loss
        rig.close()
        restarted = MachineRig(tmp_path, profile=rules)
        SasHostBench(tmp_path, restarted, enable=["delay"]).line._link_monitor.start()
        assert (restarted.state, list_disabling_sources(restarted.machine)) == (State.IDLE, {})
        restarted.close()

    asyncio.run(scenario())


@pytest.mark.requirement("K-04")
def test_without_a_rule_a_lost_host_link_does_not_stop_play(tmp_path: Path) -> None:
    rig = MachineRig(tmp_path)
    bench = SasHostBench(tmp_path, rig)
    bench.line._link_monitor.start()
    bench.send_general_poll()
    rig.clock.pass_seconds(600)
    bench.tick()
    assert rig.state is State.IDLE
    assert [entry.kind for entry in rig.journal.entries(("host.link_up", "host.link_lost"))] == [
        "host.link_up",
        "host.link_lost",
    ]
    rig.close()


@pytest.mark.sas(polls="2E")
def test_a_delay_from_the_host_holds_the_next_game_until_it_has_passed(tmp_path: Path) -> None:
    async def scenario() -> None:
        rig = MachineRig(tmp_path)
        bench = SasHostBench(tmp_path, rig, enable=["delay"])
        assert bench.send_long_poll(0x2E, "9999") == "01"
        assert rig.state is State.OUT_OF_SERVICE
        assert bench.send_long_poll(0x2E, "0000") == "01"
        assert rig.state is State.IDLE
        released, changed = asyncio.Event(), rig.engine._on_change

        def watch() -> None:
            changed()
            if not list_disabling_sources(rig.machine):
                released.set()

        rig.engine._on_change = watch
        assert bench.send_long_poll(0x2E, "0001") == "01"
        assert rig.state is State.OUT_OF_SERVICE
        async with asyncio.timeout(120):
            await released.wait()
        assert rig.state is State.IDLE
        rig.close()

    asyncio.run(scenario())
