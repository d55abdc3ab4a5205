"""Every fault of every kind of device: its state, journal entry, text and end in the machine.

The table is written from the regulations, not from the machine's own table. It is checked against the sources of the
drivers, so that every fault that a driver can report must be listed here.
"""

import asyncio
import re
from pathlib import Path

import pytest

from egm.app.ports import create_driver_without_machine
from egm.app.view import build_snapshot
from egm.app.wiring import iter_reported_events
from egm.devices.interface import AmountDisputed, DeviceFault, FaultCode, LineLost, LineRestored
from egm.kernel.events import EventType, State
from egm.money.value_in import are_coins_routed_to_hopper
from egm.screen.text import Texts, format_fault
from egm.testing.device import DeviceRig
from egm.testing.jumping_loop import jump
from egm.testing.machine import MachineRig

STOPS, WATCHDOG_ALIVE = State.TILT, State.IDLE
ITSELF, ATTENDANT = "itself", "attendant"

#: Kind -> fault -> whether play stops, and who clears it when its cause has ended.
TABLE = {
    "bill_acceptor": {
        "communication": (WATCHDOG_ALIVE, ITSELF),
        "failure": (WATCHDOG_ALIVE, ITSELF),
        "jam": (WATCHDOG_ALIVE, ITSELF),
        "stacker_jam": (WATCHDOG_ALIVE, ITSELF),
        "stacker_full": (WATCHDOG_ALIVE, ITSELF),
        "stacker_removed": (WATCHDOG_ALIVE, ITSELF),
        "cheat": (STOPS, ATTENDANT),
        "wrong_values": (WATCHDOG_ALIVE, ITSELF),
        "values_untold": (WATCHDOG_ALIVE, ITSELF),
    },
    "coin_acceptor": {
        "communication": (WATCHDOG_ALIVE, ITSELF),
        "failure": (WATCHDOG_ALIVE, ITSELF),
        "jam": (STOPS, ATTENDANT),
        "coin_cheat": (STOPS, ATTENDANT),
        "diverter": (STOPS, ATTENDANT),
        "sensor_stuck": (STOPS, ATTENDANT),
        "wrong_lane": (STOPS, ATTENDANT),
        "uninvited": (STOPS, ATTENDANT),
        "wrong_values": (WATCHDOG_ALIVE, ITSELF),
        "values_untold": (WATCHDOG_ALIVE, ITSELF),
    },
    "hopper": {
        "communication": (WATCHDOG_ALIVE, ITSELF),
        "failure": (WATCHDOG_ALIVE, ITSELF),
        "jam": (STOPS, ATTENDANT),
        "hopper_empty": (WATCHDOG_ALIVE, ITSELF),
        "hopper_full": (WATCHDOG_ALIVE, ITSELF),
        "hopper_runaway": (STOPS, ATTENDANT),
        "sensor_stuck": (WATCHDOG_ALIVE, ITSELF),
        "cheat": (WATCHDOG_ALIVE, ITSELF),
    },
    "ticket_printer": {
        "communication": (WATCHDOG_ALIVE, ITSELF),
        "failure": (WATCHDOG_ALIVE, ITSELF),
        "jam": (WATCHDOG_ALIVE, ITSELF),
        "paper_out": (WATCHDOG_ALIVE, ITSELF),
        "paper_low": (WATCHDOG_ALIVE, ITSELF),
        "head_up": (WATCHDOG_ALIVE, ITSELF),
        "chassis_open": (WATCHDOG_ALIVE, ITSELF),
    },
    "io_board": {
        "communication": (STOPS, ITSELF),
        "power": (STOPS, ITSELF),
        "battery_low": (STOPS, ATTENDANT),
        "hard_meter": (STOPS, ITSELF),
    },
    "wheel": {"communication": (STOPS, ATTENDANT), "failure": (STOPS, ATTENDANT)},
}
#: Kind -> the requirement of its faults; those of a hopper are clauses of one.
ROW_OF = {
    "bill_acceptor": "G-06",
    "coin_acceptor": "G-07",
    "ticket_printer": "G-10",
    "io_board": "G-11",
    "wheel": "E-14",
    "hopper": "G-08",
}
CLAUSES = {
    "hopper_empty": "G-08:a",
    "jam": "G-08:b",
    "hopper_runaway": "G-08:c",
    "hopper_full": "G-08:e",
    "sensor_stuck": "G-08:f",
}


def mark_requirement(kind: str, code: str):
    """Return the mark with the requirement of a fault."""
    if code == "battery_low":
        return pytest.mark.requirement("G-14:a", ROW_OF[kind])
    row = CLAUSES.get(code, ROW_OF[kind]) if kind == "hopper" else ROW_OF[kind]
    return pytest.mark.requirement(row)


ROWS = [
    pytest.param(kind, code, *does, id=f"{kind}.{code}", marks=mark_requirement(kind, code))
    for kind, codes in TABLE.items()
    for code, does in codes.items()
]

_DEVICES = Path("egm/devices")
#: Kind -> the modules whose drivers report its faults.
SOURCES = {
    "bill_acceptor": (
        "id003/driver.py",
        "ebds/driver.py",
        "cctalk/bill.py",
        "cctalk/exchange.py",
        "channel_values.py",
    ),
    "coin_acceptor": ("cctalk/coin.py", "cctalk/exchange.py", "channel_values.py"),
    "hopper": ("cctalk/hopper.py", "cctalk/exchange.py"),
    "ticket_printer": ("printer_driver.py", "tcl/driver.py", "ithaca/driver.py"),
    "io_board": ("ioboard/driver.py",),
    "wheel": ("wheel/driver.py",),
}


@pytest.mark.parametrize("kind", TABLE)
def test_the_table_lists_every_fault_that_a_driver_can_report(kind):
    text = "".join((_DEVICES / module).read_text("utf-8") for module in SOURCES[kind])
    named = {FaultCode[name].value for name in re.findall(r"FaultCode\.([A-Z_]+)", text)}
    assert named | {"communication"} == set(TABLE[kind])


@pytest.fixture(scope="module")
def texts():
    return Texts("en"), Texts("fr")


@pytest.mark.parametrize(("kind", "code", "state", "ends"), ROWS)
def test_a_device_fault_reaches_the_machine_and_ends_as_stated(tmp_path, texts, kind, code, state, ends):
    room = MachineRig(tmp_path).boot().insert(1000)
    lost = code == "communication"
    begins = LineLost(device="d", reason="no answer") if lost else fault(code, active=True)
    over = LineRestored(device="d") if lost else fault(code, active=False)
    for _ in range(2):  # a repeated report is not recorded
        for event in iter_reported_events(begins, kind, ()):
            room.submit_event(event)
    name = f"{kind}.{code}"
    assert room.state is state
    assert room.engine.accepts_event_type(EventType.PLAY) is (state is WATCHDOG_ALIVE)
    (record,) = room.records("fault.raised")
    assert (record["code"], record["detail"]) == (name, "no answer" if lost else "it says so")
    assert room.journal.meters().values[f"fault.{name}"] == 1
    notice_codes = {notice.code for notice in build_snapshot(room.engine).notices}
    assert (f"fault.{name}" in notice_codes) or room.machine.active_faults[name]["locks"] is False
    for text in texts:
        assert text.has_text(f"tilt.text.{name}")
        assert format_fault(text, name) == text.translate(f"tilt.text.{name}")
    assert format_fault(texts[0], name) != format_fault(texts[1], name)
    for event in iter_reported_events(over, kind, ()):
        room.submit_event(event)
    assert (name in room.machine.active_faults) is (ends == ATTENDANT)
    assert len(room.records("fault.cleared")) == (ends == ITSELF)
    room.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (room.state, dict(room.machine.active_faults)) == (State.IDLE, {})
    room.close()


def fault(code: str, *, active: bool) -> DeviceFault:
    return DeviceFault(
        device="d", code=FaultCode(code), is_active=active, detail="it says so" if active else ""
    )


#: Test actions on the hopper, and the fault that the machine then has.
HANDS = {
    "hopper_empty": ("fill", {"coins": 2}),
    "jam": ("jam", {}),
    "hopper_runaway": ("runaway", {"coins": 2}),
    "hopper_full": ("fill", {"coins": 1100}),
    "sensor_stuck": ("stuck_sensor", {}),
    "cheat": ("cheat", {}),
    "communication": ("power_off", {}),
}


@pytest.mark.parametrize(
    "code", [pytest.param(code, marks=mark_requirement("hopper", code)) for code in HANDS]
)
def test_a_mechanical_hopper_fault_during_a_payout_reaches_the_machine(tmp_path, code):
    """The fault passes from the simulated mechanics through the line, the driver and an event to the machine."""

    async def scene():
        room, rig, driver = with_hopper(tmp_path)
        await asyncio.sleep(1)
        action, values = HANDS[code]
        rig.perform_action(action, **values)
        if code != "communication":
            driver.pay("p", 4)
        await rig.advance_until(lambda: f"hopper.{code}" in room.machine.active_faults)
        await rig.stop()
        rig.close()
        room.close()

    jump(scene())


@pytest.mark.parametrize(
    "code",
    [pytest.param(code, marks=mark_requirement("hopper", code)) for code in ("jam", "sensor_stuck", "cheat")],
)
def test_a_hopper_fault_without_an_open_payout_reaches_the_machine(tmp_path, code):
    """No payout is open, so the fault itself is reported and not its effect on the coins."""

    async def scene():
        room, rig, _ = with_hopper(tmp_path)
        await asyncio.sleep(1)
        action, values = HANDS[code]
        rig.perform_action(action, **values)
        await rig.advance_until(lambda: f"hopper.{code}" in room.machine.active_faults)
        await rig.stop()
        rig.close()
        room.close()

    jump(scene())


@pytest.mark.requirement("G-08:d")
def test_an_unordered_coin_of_a_hopper_is_disputed():
    async def scene():
        rig = DeviceRig("cctalk_hopper")
        rig.start(
            create_driver_without_machine(
                "cctalk_hopper", "hopper", rig.create_serial_line(), rig.receive_event
            )
        )
        await asyncio.sleep(1)
        rig.perform_action("lie")
        await rig.advance_until(lambda: rig.list_events(AmountDisputed))
        await rig.stop()
        rig.close()

    jump(scene())


@pytest.mark.requirement("G-08:e", "G-09")
def test_coins_are_routed_to_the_box_while_the_hopper_is_full(tmp_path):
    room = MachineRig(tmp_path, profile="generic", devices=("hopper",)).boot()
    assert are_coins_routed_to_hopper(room.machine)
    for active, takes in ((True, False), (False, True)):
        for event in iter_reported_events(fault("hopper_full", active=active), "hopper", ()):
            room.submit_event(event)
        assert are_coins_routed_to_hopper(room.machine) is takes
    room.close()


def with_hopper(folder):
    room = MachineRig(folder, devices=("hopper",)).boot()
    rig = DeviceRig("cctalk_hopper")

    def happen(event):
        for reported_event in iter_reported_events(event, "hopper", ()):
            room.submit_event(reported_event)

    rig.react = happen
    driver = create_driver_without_machine(
        "cctalk_hopper", "hopper", rig.create_serial_line(), rig.receive_event
    )
    rig.start(driver)
    return room, rig, driver
