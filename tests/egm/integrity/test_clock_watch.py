"""The clock watch records each setting of the system clock, but not its normal course or drift."""

from datetime import timedelta
from types import SimpleNamespace

import pytest

from egm.integrity.clock_watch import CLOCK_DEVIATION_MAX, create_clock_watch
from egm.testing.machine import MachineRig


@pytest.mark.requirement("E-08")
def test_each_clock_setting_is_recorded_once_and_clock_drift_is_not(tmp_path):
    rig = MachineRig(tmp_path).boot()
    context = SimpleNamespace(clock=rig.clock, engine=rig.engine, submit_event=rig.submit_event)
    (watch,) = create_clock_watch(context)
    for seconds in (10, 3600, 0):
        rig.clock.pass_seconds(seconds)
        watch.check_clock()
    rig.clock.wall += CLOCK_DEVIATION_MAX  # the largest deviation that counts as slewing or drift
    watch.check_clock()
    assert rig.records("clock.changed") == []
    before = rig.clock.wall
    for hours in (-1, 2):
        rig.clock.wall += timedelta(hours=hours)
        rig.clock.pass_seconds(10)
        watch.check_clock()
        watch.check_clock()
    first, second = rig.records("clock.changed")
    assert first["last_entry"] == (before + timedelta(seconds=10)).isoformat()
    assert first["now"] == (before + timedelta(hours=-1, seconds=10)).isoformat()
    assert second["now"] > second["last_entry"]
    rig.close()
