"""The metrics that the machine exports, and its report if it cannot export them."""

import asyncio
import contextlib
import socket
import urllib.error
import urllib.request

import pytest
from rigs.monitored import read_snapshot, start_monitoring
from rigs.three_levels import LINKED, make_levels_machine

from egm.config.cabinet_file import StateFolder
from egm.kernel.events import EventType
from egm.links import monitoring
from egm.people import Role
from egm.progressive.pools import ProgressivePools
from egm.testing.machine import MachineRig
from egm.testing.service_menu import STAFF_NUMBER_BY_ROLE, MenuUser

#: A limit that only a machine that hangs reaches, however loaded the computer is.
PATIENCE_SECONDS = 60


async def until(holds):
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not holds():  # noqa: ASYNC110 (a thread, or a socket that is being freed)
            await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def run_attachment(attachment):
    work = asyncio.create_task(attachment.run())
    try:
        yield
    finally:
        work.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await work


@pytest.mark.parametrize("levels", [LINKED])
def test_every_level_of_the_machine_is_exported_whatever_bet_is_chosen(tmp_path, levels):
    rig = make_levels_machine(tmp_path, levels=levels).boot()
    attachment = start_monitoring(rig, tmp_path, [])
    families = {family.name: family for family in attachment._iter_families(read_snapshot(rig))}
    for name in ("egm_progressive_level_cents", "egm_progressive_level_up"):
        exported = {sample.labels["level"] for sample in families[name].samples}
        assert exported == set(rig.machine.component(ProgressivePools).pool_by_id)
    assert len(exported) > len(read_snapshot(rig).progressives)
    rig.close()


def test_a_metrics_port_in_use_is_a_fault_until_it_is_free(tmp_path, monkeypatch):
    monkeypatch.setattr(monitoring, "_PORT_RETRY_SECONDS", 0.05)
    rig, printed = make_levels_machine(tmp_path).boot(), []

    async def scene():
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            port = other.getsockname()[1]
            attachment = start_monitoring(rig, tmp_path, printed, port)
            async with run_attachment(attachment):
                await until(lambda: printed)
                assert "not this machine" in printed[0]
                assert f"metrics are not served: port {port}:" in printed[0]
                assert "Errno" not in printed[0]
                assert "set another `port` in [metrics] of the cabinet file" in printed[0]
                assert monitoring.PORT_TAKEN_FAULT in rig.machine.active_faults
                assert (read_snapshot(rig).notices, read_snapshot(rig).tilts) == (
                    (),
                    (),
                )  # the operator's, not the player's
                other.close()
                await until(lambda: not rig.machine.active_faults)
                body = await asyncio.to_thread(
                    lambda: urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics").read()
                )
                assert b"process_" in body

    asyncio.run(scene())
    assert len(printed) == 1
    rig.close()


@pytest.mark.requirement("K-13", "J-06")
def test_door_openings_are_attributed_to_the_signed_in_mechanic(tmp_path):
    rig = MachineRig(tmp_path, profile="monaco").boot()
    MenuUser(rig).sign_in(Role.MECHANIC).open_and_fill_form("intervention", "bill jam").touch("leave")

    async def scene():
        attachment = start_monitoring(rig, tmp_path, [])
        async with run_attachment(attachment):
            port = await wait_for_port(tmp_path)
            attachment.process_change(read_snapshot(rig))
            await asyncio.sleep(0)
            assert rig.records("intervention.seen") == []
            token = StateFolder(tmp_path).metrics_token
            assert token.stat().st_mode & 0o077 == 0
            person = f'kind="repair",person="{STAFF_NUMBER_BY_ROLE[Role.MECHANIC]}"'
            async with asyncio.timeout(PATIENCE_SECONDS):
                while person not in await asyncio.to_thread(read, port):
                    pass
            with pytest.raises(urllib.error.HTTPError, match="401"):
                await asyncio.to_thread(read, port, "0" * 48)
            await asyncio.sleep(0.1)
            assert rig.records("intervention.seen") == []  # anybody may read; that is not the system
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not rig.records("intervention.seen"):
                    assert person in await asyncio.to_thread(read, port, token.read_text())

    asyncio.run(scene())
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    assert rig.machine.active_faults == {}
    rig.close()


@pytest.mark.requirement("D-16")
def test_meters_are_read_again_only_after_a_change(tmp_path, monkeypatch):
    monkeypatch.setattr(monitoring, "_METRICS_UPDATE_DELAY_SECONDS", 0.0)
    rig = MachineRig(tmp_path).boot()

    async def scene():
        attachment = start_monitoring(rig, tmp_path, [])
        async with run_attachment(attachment):
            port = await wait_for_port(tmp_path)
            token = StateFolder(tmp_path).metrics_token.read_text()
            for cents in (2000, 2500):
                rig.insert(cents - rig.credit_cents)
                attachment.process_change(read_snapshot(rig))
                await asyncio.sleep(0.01)
                assert f"egm_credits_cents {cents}.0" in await asyncio.to_thread(read, port, token)

    asyncio.run(scene())
    rig.close()


async def wait_for_port(folder):
    """Wait until the metrics are served; return their port."""
    port_file = StateFolder(folder).run_folder / "metrics.port"
    await until(lambda: port_file.exists() and port_file.read_text())
    return int(port_file.read_text())


def read(port, token=""):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers=headers)
    with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
        return answer.read().decode()
