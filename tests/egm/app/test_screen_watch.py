"""A machine that nobody can see begins nothing; a screen that dies again and again is none."""

from egm.app.screen_watch import FAULT, ScreenWatch
from egm.kernel.events import State
from egm.testing.machine import MachineRig


def test_without_a_screen_nothing_is_begun_until_one_has_stayed(tmp_path):
    room = MachineRig(tmp_path).boot()
    audiences = [1, 1]
    watch = ScreenWatch(room.machine, room.happen, lambda: audiences)

    def pass_seconds(seconds, *watching):
        audiences[:] = watching
        for _ in range(seconds):
            room.clock.pass_seconds(1)
            watch.look()
        return room.engine.state

    assert pass_seconds(3600, 1, 1) is State.IDLE
    assert pass_seconds(29, 1, 0) is State.IDLE
    assert pass_seconds(1, 1, 0) is State.OUT_OF_SERVICE
    assert pass_seconds(9, 1, 1) is State.OUT_OF_SERVICE
    for _ in range(20):  # it dies as often as it is started
        pass_seconds(2, 1, 0)
        assert pass_seconds(8, 1, 1) is State.OUT_OF_SERVICE
    assert pass_seconds(10, 1, 1) is State.IDLE
    for _ in range(2):
        pass_seconds(2, 0, 1)
        assert pass_seconds(8, 1, 1) is State.IDLE
    pass_seconds(2, 0, 1)
    assert pass_seconds(8, 1, 1) is State.OUT_OF_SERVICE
    assert [told["code"] for told in room.records("fault.raised")] == [FAULT] * 2
    room.close()
