"""A clock set while the machine runs is recorded; one that only runs is not."""

from datetime import timedelta
from types import SimpleNamespace

import pytest

from egm.integrity.clock_watch import CLOCK_DEVIATION_MAX, create_clock_watch
from egm.testing.machine import MachineRig


@pytest.mark.requirement("E-08")
def test_a_clock_that_is_set_is_recorded_once_and_one_that_runs_never(tmp_path):
    rig = MachineRig(tmp_path).boot()
    around = SimpleNamespace(clock=rig.clock, engine=rig.engine, submit_event=rig.happen)
    (watch,) = create_clock_watch(around)
    for seconds in (10, 3600, 0):
        rig.clock.pass_seconds(seconds)
        watch.check_clock()
    rig.clock.wall += CLOCK_DEVIATION_MAX  # as far as a slewed clock may go between two looks
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
