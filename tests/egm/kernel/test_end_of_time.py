"""With a clock at the last possible date, the machine starts, reports the clock as wrong, and plays and pays."""

from datetime import UTC, datetime

import pytest

from egm.app.view import build_snapshot
from egm.kernel.events import EventType, State
from egm.kernel.timekeeping import ClockDoubtReason
from egm.testing.machine import MachineRig

LAST = datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)


@pytest.mark.parametrize("began", ["then", "before"])
def test_a_machine_whose_clock_shows_the_last_moment_starts_plays_and_pays_by_hand(tmp_path, began):
    if began == "before":
        MachineRig(tmp_path, devices=("printer",)).boot().insert(2000).close()
    rig = MachineRig(tmp_path, devices=("printer",), wall_time=LAST).boot()
    assert rig.machine.timekeeper.clock_doubt is ClockDoubtReason.FAR_AHEAD
    if began == "then":
        rig.insert(2000)
    rig.play()
    rig.report_shown()
    assert build_snapshot(rig.engine).state == State.IDLE
    rig.engine.handle(EventType.CASH_OUT)
    assert (rig.state, rig.hands.jobs) == (State.HANDPAY, [])
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert rig.state is State.IDLE
    rig.close()
    restarted = MachineRig(tmp_path, devices=("printer",), wall_time=LAST).boot()
    assert restarted.state is State.IDLE
    restarted.close()
