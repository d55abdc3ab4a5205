"""Effects of doors and faults on play, and who clears them, from the regulations and not from the machine's own table.

Sources: Mississippi 8-2.8, New York 5317.26, AGCO 6.1.1, New Zealand 1.18, and Monaco's art. 20.3 (unidentified
openings).
"""

import pytest

from egm.app.view import build_snapshot
from egm.app.wiring import iter_reported_events
from egm.devices.interface import DeviceFault, DoorChanged, FaultCode, InputsReported, LineLost, LineRestored
from egm.integrity.events import DoorChange
from egm.kernel.events import Event, EventType, State
from egm.testing.machine import MachineRig

#: Door -> the state while it is open, and whether a technician must settle the opening before play continues.
DOORS = {
    "main": (State.DOOR_OPEN, False),
    "belly": (State.DOOR_OPEN, False),
    "logic": (State.DOOR_OPEN, True),
    "drop": (State.DOOR_OPEN, False),
    "cash_box": (State.DOOR_OPEN, False),
    "stacker": (State.DOOR_OPEN, False),
    "top": (State.DOOR_OPEN, False),
}
#: Fault -> whether play stops, and what clears it: its cause, the attendant's key, a technician or a ruling.
FAULTS = {
    "unidentified_opening": (True, "attendant"),
    "logic_access": (True, "technician"),
    "coin_acceptor.coin_cheat": (True, "attendant"),
    "coin_acceptor.diverter": (True, "attendant"),
    "coin_acceptor.sensor_stuck": (True, "attendant"),
    "coin_acceptor.jam": (True, "attendant"),
    "coin_acceptor.disputed": (True, "ruling"),
    "coin_acceptor.communication": (False, "itself"),
    "hopper.hopper_empty": (False, "itself"),
    "hopper.hopper_runaway": (True, "attendant"),
    "hopper.jam": (True, "attendant"),
    "hopper.disputed": (True, "ruling"),
    "hopper.communication": (False, "itself"),
    "bill_acceptor.cheat": (True, "attendant"),
    "bill_acceptor.stacker_full": (False, "itself"),
    "bill_acceptor.stacker_removed": (False, "itself"),
    "bill_acceptor.jam": (False, "itself"),
    "bill_acceptor.communication": (False, "itself"),
    "bill_acceptor.disputed": (True, "ruling"),
    "ticket_printer.paper_out": (False, "itself"),
    "ticket_printer.jam": (False, "itself"),
    "ticket_printer.communication": (False, "itself"),
    "io_board.battery_low": (True, "attendant"),
    "io_board.communication": (True, "itself"),
    "game_defective": (True, "technician"),
    "software_check": (True, "technician"),
    "memory_damaged": (True, "memory_clear"),
    "a_fault_nobody_knows": (True, "attendant"),
}


@pytest.fixture
def rig(tmp_path):
    machine = MachineRig(tmp_path).boot().insert(1000)
    yield machine
    machine.close()


@pytest.mark.requirement("J-01", "C-21", "G-11", "D-14", "E-10")
@pytest.mark.parametrize("door", DOORS)
def test_each_open_door_stops_play_and_is_recorded_and_metered(rig, door):
    open_state, needs_technician = DOORS[door]
    for event in iter_reported_events(DoorChanged(device="io", door=door, is_open=True), "io_board", ()):
        rig.engine.submit(event)
    assert rig.state is open_state
    assert not rig.engine.accepts_event_type(EventType.PLAY)
    assert [record["door"] for record in rig.records("door.opened")] == [door]
    for event in iter_reported_events(DoorChanged(device="io", door=door, is_open=False), "io_board", ()):
        rig.engine.submit(event)
    assert len(rig.records("door.closed")) == 1
    assert rig.journal.meters().values[f"door.{door}.opens"] == 1
    assert rig.state is (State.TILT if needs_technician else State.IDLE)
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert rig.state is (State.TILT if needs_technician else State.IDLE)


@pytest.mark.requirement("J-01", "A-24")
def test_doors_that_changed_during_a_line_loss_are_reported_as_unattended():
    """The first report after a line loss or a power loss is compared with the last known state of the doors."""
    report = InputsReported(device="io", doors_open=frozenset({"main", "drop"}), keys_on=frozenset())
    assert list(iter_reported_events(report, "io_board", ("drop", "logic"))) == [
        Event(EventType.DOOR_OPENED, DoorChange(door="main", was_unobserved=True)),
        Event(EventType.DOOR_CLOSED, DoorChange(door="logic", was_unobserved=True)),
    ]


@pytest.mark.requirement("A-24", "E-10", "D-14")
@pytest.mark.parametrize("door", DOORS)
def test_a_door_opened_without_power_is_recorded_and_the_logic_door_leaves_a_tilt(rig, door):
    """The board stores the door's movements and reports them when the machine runs again."""
    for is_open in (True, False):
        report = DoorChanged(device="io", door=door, is_open=is_open, was_unobserved=True)
        for event in iter_reported_events(report, "io_board", ()):
            rig.engine.submit(event)
    assert rig.records("door.opened_while_off") == [{"door": door, "unattended": True}]
    assert rig.journal.meters().values[f"door.{door}.opens"] == 1
    assert rig.state is (State.TILT if DOORS[door][1] else State.IDLE)


@pytest.mark.requirement("G-11", "E-14", "J-06")
@pytest.mark.parametrize("code", FAULTS)
def test_each_fault_stops_play_and_is_cleared_as_the_regulations_require(rig, code):
    stops, by = FAULTS[code]
    rig.engine.handle(EventType.FAULT_RAISED, code=code, detail="")
    assert rig.state is (State.TILT if stops else State.IDLE)
    assert rig.engine.accepts_event_type(EventType.PLAY) is not stops
    rig.engine.handle(EventType.FAULT_CLEARED, code=code)
    assert (code in rig.machine.active_faults) is (by != "itself")
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (code in rig.machine.active_faults) is (by not in {"itself", "attendant"})
    ends = {"itself": "fault.cleared", "attendant": "tilt.cleared"}
    assert [len(rig.records(kind)) for kind in ends.values()] == [by == way for way in ends]


@pytest.mark.requirement("E-14", "G-15")
@pytest.mark.parametrize("kind", ["bill_acceptor", "coin_acceptor", "hopper", "ticket_printer", "io_board"])
def test_an_unreachable_device_is_a_fault_that_is_recorded_shown_and_cleared(rig, kind):
    code = f"{kind}.communication"
    lost, back = LineLost(device=kind, reason="silent"), LineRestored(device=kind)
    (raised,), (cleared,) = (
        list(iter_reported_events(lost, kind, ())),
        list(iter_reported_events(back, kind, ())),
    )
    rig.engine.submit(raised)
    assert rig.machine.active_faults[code]["detail"] == "silent"
    assert [record["code"] for record in rig.records("fault.raised")] == [code]
    notice_codes = {notice.code for notice in build_snapshot(rig.engine).notices}
    assert f"fault.{code}" in notice_codes
    rig.engine.submit(cleared)
    assert [record["code"] for record in rig.records("fault.cleared")] == [code]
    assert rig.state is State.IDLE


@pytest.mark.requirement("E-14", "G-15")
def test_a_device_fault_and_its_end_are_two_journal_entries(rig):
    for active in (True, False):
        report = DeviceFault(device="bill", code=FaultCode.JAM, is_active=active, detail="at the head")
        (event,) = iter_reported_events(report, "bill_acceptor", ())
        rig.engine.submit(event)
    kinds = [entry.kind for entry in rig.journal.entries(("fault.raised", "fault.cleared"))]
    assert kinds == ["fault.raised", "fault.cleared"]
