"""An update asks the machine whether it is in use, and restarts nothing while it is."""

import asyncio

import pytest
from click.testing import CliRunner
from run_rig import PATIENCE_SECONDS, Visit, cabinet

from egm.config.cabinet_file import StateFolder
from egm.kernel.events import State
from egm.kernel.messages import Snapshot, Tilt
from tools.image import update
from tools.image.slot import Release
from tools.image.update import ScreenWatch, wait_until_lasting


async def wait_for(condition):
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not condition():  # noqa: ASYNC110 (another process)
            await asyncio.sleep(0.1)


@pytest.mark.requirement("A-17")
def test_a_machine_with_credit_is_not_idle_and_one_that_has_paid_is(tmp_path):
    folder = StateFolder(tmp_path / "state")
    machine = ScreenWatch(folder.root)

    async def session():
        assert not machine.is_idle  # there is none yet
        async with cabinet(folder), Visit.connect(folder) as visit:
            await wait_for(lambda: machine.is_idle)
            assert machine.is_up
            await visit.operate_until_accepted("bill", "insert", amount_cents=500)
            await wait_for(lambda: not machine.is_idle)
            for _ in range(20):  # and it stays so
                await asyncio.sleep(0.1)
                assert machine.is_up
                assert not machine.is_idle
            visit.send_intent("cash_out")
            await wait_for(lambda: machine.is_idle)
        await wait_for(lambda: not machine.is_up)

    asyncio.run(session())


def build_snapshot_of(state=State.IDLE, *, credit_cents=0, tilts=()):
    """Return what the screen of one position displays."""
    return Snapshot.model_construct(
        journal_sequence=9, state=state.value, credit_cents=credit_cents, tilts=tilts
    )


@pytest.mark.requirement("A-17")
@pytest.mark.parametrize(
    ("others", "is_idle"),
    [
        ((), True),
        ((build_snapshot_of(),), True),
        ((build_snapshot_of(State.PLAYING),), False),
        ((build_snapshot_of(State.HANDPAY),), False),
        ((build_snapshot_of(credit_cents=5),), False),
        ((build_snapshot_of(tilts=(Tilt.model_construct(code="jam"),)),), False),
    ],
)
def test_a_machine_is_idle_only_if_every_position_is(tmp_path, monkeypatch, others, is_idle):
    monkeypatch.setattr(ScreenWatch, "list_snapshots", lambda _self: [build_snapshot_of(), *others])
    assert ScreenWatch(tmp_path).is_idle is is_idle


@pytest.mark.requirement("A-17")
def test_an_installed_release_starts_only_after_the_machine_has_been_idle(tmp_path, monkeypatch):
    """The command waits between writing the slot and restarting the computer."""
    now, calls = [0.0], []
    trusted = tmp_path / "release.pub"
    trusted.write_text("00" * 32)
    monkeypatch.setattr(update, "_PUBLISHER_KEY_FILE", trusted)
    monkeypatch.setattr("tools.image.update.time.monotonic", lambda: now[0])
    monkeypatch.setattr("tools.image.update.time.sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    monkeypatch.setattr(ScreenWatch, "is_idle", property(lambda _: now[0] >= 100.0))
    monkeypatch.setattr(update, "find_running_slot", lambda: "a")
    monkeypatch.setattr(update, "ensure_boot_entries", lambda: {"a": "0001", "b": "0002"})

    def record(name):
        return lambda *arguments: calls.append((now[0], name, *arguments))

    release = Release(number=8, version="1.1", partitions={}, line=b"")
    monkeypatch.setattr(update, "install_in_other_slot", lambda *_: record("installed")() or ("b", release))
    monkeypatch.setattr(update, "_run_efibootmgr", record("next start"))
    monkeypatch.setattr(update, "_reboot_computer", record("restart"))
    run = CliRunner().invoke(update.main, ["install", str(tmp_path / "bundle")])
    assert run.exit_code == 0, run.output
    assert calls[0] == (0.0, "installed")
    assert [step for _, *step in calls[-2:]] == [["next start", "-q", "-n", "0002"], ["restart"]]
    assert all(when >= 100.0 + 29.0 for when, *_ in calls[1:]), "it was in use until 100 s"


def test_idleness_must_last_before_an_update_continues(monkeypatch):
    now, query_times = [0.0], []
    monkeypatch.setattr("tools.image.update.time.monotonic", lambda: now[0])
    monkeypatch.setattr("tools.image.update.time.sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))

    def idle():
        query_times.append(now[0])
        return not 10.0 <= now[0] <= 12.0

    assert wait_until_lasting(idle, 30.0)
    assert query_times[-1] == pytest.approx(
        42.0, abs=1.0
    )  # half a minute after the last stir, not after the first rest
    assert not wait_until_lasting(lambda: False, 1.0, limit_seconds=5.0)
