"""Access and audit tickets through the machine, the printer's driver and its twin, and in the journal."""

import asyncio
from importlib.resources import files

import pytest

from egm.app.features import STAFF_REGISTERS
from egm.app.ports import _load_resident_templates, _load_template_lines
from egm.devices.interface import MoneyDevices
from egm.devices.ithaca.driver import IthacaDriver
from egm.devices.tcl.driver import TclDriver
from egm.kernel.events import EventType, State
from egm.money.keys import MoneyKey
from egm.people import Role
from egm.staff.registers import iter_register_lines
from egm.testing.device import DeviceRig
from egm.testing.jumping_loop import jump
from egm.testing.machine import MachineRig
from egm.testing.service_menu import STAFF_NUMBER_BY_ROLE, MenuUser
from meters import open_view
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor


@pytest.fixture
def profile(tmp_path):
    path = tmp_path / "place.toml"
    text = (files("egm.profiles") / "generic.toml").read_text(encoding="utf-8")
    assert "[staff]" not in text
    path.write_text(f"{text}\n[staff]\nslips = true\n", encoding="utf-8")
    return path


def with_printer(folder, profile, protocol, scene):
    """Run a scene on a machine whose ticket printer is a driver and its twin on a line."""

    async def run():
        room, rig = MachineRig(folder / "state", profile=profile), DeviceRig(protocol)
        ledger = room.device_ledgers.print_ledger
        driver = (
            TclDriver(
                "printer", rig.create_serial_line(), rig.receive_event, ledger, _load_resident_templates()
            )
            if protocol == "tcl"
            else IthacaDriver(
                "printer", rig.create_serial_line(), rig.receive_event, ledger, _load_template_lines()
            )
        )
        room.machine.component(MoneyDevices).printer = driver
        rig.start(driver)
        room.boot().insert(2000)
        await asyncio.sleep(2)
        await scene(room, rig)
        await rig.stop()
        rig.close()
        room.close()

    jump(run())
    with open_view(folder / "state") as view:
        assert Auditor(GameFiles()).audit_entries(view.iter_bodies()).findings == []


@pytest.mark.requirement("E-10", "G-17")
@pytest.mark.parametrize("protocol", ["tcl", "ithaca"])
def test_access_and_audit_tickets_are_printed_and_recorded(tmp_path, profile, protocol):
    async def scene(room, rig):
        MenuUser(room).sign_in(Role.MECHANIC).open_and_fill_form("intervention", "bill jam").touch("leave")
        await rig.advance_until(lambda: len(rig.twin.describe()["printed"]) == 1)
        await rig.advance_until(lambda: room.machine.memory.get(MoneyKey.PRINT_JOB) is None)
        room.engine.handle(EventType.DOOR_OPENED, door="main")
        await rig.advance_until(lambda: len(rig.twin.describe()["printed"]) == 2)
        await rig.advance_until(lambda: room.machine.memory.get(MoneyKey.PRINT_JOB) is None)
        access, audit = map(str, rig.twin.describe()["printed"])
        assert "ACCESS - NO VALUE" in access
        assert f"bill jam ({STAFF_NUMBER_BY_ROLE[Role.MECHANIC]})" in access
        assert "AUDIT - NO VALUE" in audit
        assert "main opened" in audit
        assert "bill_in.value 2000" in audit
        room.engine.handle(EventType.DOOR_CLOSED, door="main")
        MenuUser(room).sign_in(Role.MECHANIC).open_and_fill_form("intervention_end", "done", "").touch(
            "leave"
        )
        assert (room.state, room.credit_cents) == (State.IDLE, 2000)
        room.engine.handle(EventType.CASH_OUT)
        await rig.advance_until(lambda: room.state is State.IDLE)
        lines = list(iter_register_lines(STAFF_REGISTERS["printed"], room.journal.entries()))
        (ticket,) = room.records("voucher.out")
        assert (lines[-1]["amount_cents"], lines[-1]["number"]) == (2000, ticket["number"])
        kinds = [line["event"] for line in lines]
        assert kinds == ["slip.printed", "slip.printed", "voucher.out"]
        assert len(kinds) == len(rig.twin.describe()["printed"])
        assert room.journal.meters().values["slips_printed"] == kinds.count("slip.printed")

    with_printer(tmp_path, profile, protocol, scene)


@pytest.mark.requirement("E-10")
@pytest.mark.parametrize("is_off", [False, True])
def test_every_opening_of_the_logic_area_or_of_money_has_its_access_ticket(tmp_path, profile, is_off):
    rig = MachineRig(tmp_path / "state", profile=profile, devices=("printer",)).boot()
    for door in ("main", "logic", "belly", "drop", "cash_box", "stacker", "hopper", "top"):
        rig.engine.handle(EventType.DOOR_OPENED, door=door, unattended=is_off)
    opened = "opened while off" if is_off else "opened"
    assert [(record["title"], record["about"]) for record in rig.records("slip.ordered")] == [
        ("AUDIT - NO VALUE", f"main {opened}"),
        *(
            ("ACCESS - NO VALUE", f"{door} {opened}")
            for door in ("logic", "belly", "drop", "cash_box", "stacker", "hopper")
        ),
    ]
    rig.close()


@pytest.mark.requirement("E-10")
def test_a_slip_that_cannot_be_printed_is_recorded_and_printed_later(tmp_path, profile):
    async def scene(room, rig):
        room.engine.handle(EventType.DOOR_OPENED, door="main")
        room.engine.handle(
            EventType.DOOR_OPENED, door="logic", unattended=True
        )  # while the first slip is being printed
        assert [record["about"] for record in room.records("slip.ordered")] == [
            "main opened",
            "logic opened while off",
        ]
        assert [record["title"] for record in room.records("slip.ordered")] == [
            "AUDIT - NO VALUE",
            "ACCESS - NO VALUE",
        ]
        assert [record["why"] for record in room.records("slip.failed")] == [
            "the printer is still printing a ticket or slip"
        ]
        await rig.advance_until(lambda: room.machine.memory.get(MoneyKey.PRINT_JOB) is None)
        assert len(rig.twin.describe()["printed"]) == 1

    with_printer(tmp_path, profile, "tcl", scene)


@pytest.mark.requirement("G-17")
def test_an_open_printer_chassis_without_staff_is_an_alarm(tmp_path):
    room = MachineRig(tmp_path, profile="monaco").boot()
    room.engine.handle(EventType.FAULT_RAISED, code="ticket_printer.chassis_open", detail="")
    assert room.machine.active_faults["unidentified_opening"]["detail"] == "main"
    room.close()
