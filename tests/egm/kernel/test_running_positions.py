"""The running player positions, and their snapshots, which all readers of one change share."""

from egm.app.view import build_snapshot
from egm.kernel.events import EventType
from egm.kernel.running_positions import RunningPosition, RunningPositions
from egm.testing.machine import MachineRig


def test_the_readers_of_one_change_share_a_snapshot_until_the_next_entry(tmp_path):
    rig = MachineRig(tmp_path).boot()
    positions = RunningPositions()
    positions.position_by_number[1] = RunningPosition(
        engine=rig.engine,
        submit_event=rig.engine.submit,
        build_snapshot=lambda: build_snapshot(rig.engine),
        update_tower_light_and_bell=lambda: None,
        has_own_io_board=True,
    )
    with positions.share_snapshots():
        before = positions.read_snapshot(1)
        assert positions.read_snapshot(1) is before
        rig.insert(500)
        after = positions.read_snapshot(1)
        assert after.credit_cents == before.credit_cents + 500
    rig.engine.handle(EventType.TOGGLE_SERVICE_CALL)
    later = positions.read_snapshot(1)
    assert later is not after
    assert positions.read_snapshot(1) is not later
    rig.close()
