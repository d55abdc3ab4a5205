"""Notices of faults that hold the player's money: the amount, what happens to it, and who attends."""

import asyncio

import pytest
from bill_rig import DRIVERS

from egm.app.view import build_snapshot
from egm.app.wiring import find_lit_tower_lights, iter_reported_events
from egm.devices.interface import DeviceFault, FaultCode, MoneyDevices
from egm.kernel.events import EventType, State
from egm.screen.text import Texts, format_fault
from egm.testing.device import DeviceRig
from egm.testing.jumping_loop import jump
from egm.testing.machine import MachineRig
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor


def notices(room):
    return {notice.code: notice.values for notice in build_snapshot(room.engine).notices}


def at_a_machine(folder, protocol):
    """Return a machine with the real driver of a simulated acceptor, and the device rig of that acceptor."""
    room = MachineRig(folder).boot()
    rig = DeviceRig(protocol)

    def happen(event):
        for reported_event in iter_reported_events(event, "bill_acceptor", ()):
            room.submit_event(reported_event)

    driver = DRIVERS[protocol](
        "bill", rig.create_serial_line(), rig.receive_event, room.device_ledgers.escrow_ledger
    )
    rig.react = happen
    room.machine.install(MoneyDevices(acceptor=driver))
    driver.enable(frozenset({500, 1000, 2000}))
    rig.start(driver)
    return room, rig


@pytest.mark.requirement("G-02", "G-06")
@pytest.mark.parametrize("where", ["before escrow", "on its way into the box"])
@pytest.mark.parametrize("protocol", sorted(DRIVERS))
def test_a_jam_with_a_bill_inside_states_the_held_amount_until_it_is_resolved(tmp_path, protocol, where):
    async def scene():
        room, rig = at_a_machine(tmp_path, protocol)
        await rig.advance_until(lambda: rig.twin.describe()["status"] == "idle")
        await asyncio.sleep(3)
        if where == "before escrow":
            rig.perform_action("jam")
        rig.perform_action("insert", amount_cents=2000)
        if where != "before escrow":
            await rig.advance_until(lambda: room.device_ledgers.escrow_ledger.find_open() is not None)
            rig.perform_action("jam")
        code = "jam" if where == "before escrow" or protocol == "cctalk_bill" else None
        await rig.advance_until(lambda: any(key.startswith("fault.bill_acceptor.") for key in notices(room)))
        (values,) = (
            values_of_notice
            for key, values_of_notice in notices(room).items()
            if key.startswith("fault.bill_acceptor.")
        )
        assert values == ({"held": "bill"} if where == "before escrow" else {"amount_cents": 2000}), code
        assert "service" in find_lit_tower_lights(build_snapshot(room.engine))
        room.engine.handle(EventType.KEY_TURNED, key="attendant")
        assert room.notice == "not_by_key"
        assert room.machine.notice.values["fault"].startswith("bill_acceptor.")
        rig.perform_action("clear")
        await rig.advance_until(
            lambda: not room.machine.active_faults or "bill_acceptor.disputed" in room.machine.active_faults
        )
        await asyncio.sleep(12)
        expected_notices = {"held_over", "held_over_amount", "bill_returned", "bill_accepted"}
        assert room.notice in expected_notices or room.state is State.TILT
        if where == "before escrow":
            assert (room.notice, room.credit_cents) == ("held_over", 0)
        await rig.stop()
        findings = Auditor(GameFiles()).audit_entries(room.journal.iter_bodies()).findings
        room.close()
        rig.close()
        assert findings == []

    jump(scene())


@pytest.mark.requirement("G-08", "G-10")
@pytest.mark.parametrize(("kind", "code"), [("hopper", "jam"), ("ticket_printer", "jam")])
def test_a_fault_of_a_paying_device_states_the_amount_it_holds(tmp_path, kind, code):
    device = {"hopper": "hopper", "ticket_printer": "printer"}[kind]
    room = MachineRig(tmp_path, devices=(device,)).boot().insert(2000)
    room.engine.handle(EventType.CASH_OUT)
    assert room.state is State.PAYING
    for event in iter_reported_events(
        DeviceFault(device="d", code=FaultCode(code), is_active=True), kind, ()
    ):
        room.submit_event(event)
    assert notices(room)[f"fault.{kind}.{code}"] == {"amount_cents": 2000}
    tilts = build_snapshot(room.engine).tilts
    assert [tilt.held_cents for tilt in tilts] == ([2000] if kind == "hopper" else [])
    room.close()


@pytest.mark.requirement("G-02")
def test_a_disputed_amount_is_stated_with_its_fault(tmp_path):
    room = MachineRig(tmp_path).boot()
    room.offer(2000)
    room.escrow_ledger.close_lost_paper_as_disputed("nobody knows")
    assert notices(room)["fault.bill_acceptor.disputed"] == {"amount_cents": 2000}
    (tilt,) = build_snapshot(room.engine).tilts
    assert tilt.held_cents == 2000
    room.close()


@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_notice_of_held_money_names_fault_amount_and_attendant(language):
    texts = Texts(language)
    fault_text = format_fault(texts, "bill_acceptor.jam")
    attendant = {"en": "attendant", "fr": "préposé"}[language]
    for words in (
        texts.translate("notice.held", fault=fault_text, amount="$20.00"),
        texts.translate("notice.held_bill", fault=fault_text),
    ):
        assert fault_text in words
        assert attendant in words
    assert "$20.00" in texts.translate("notice.held", fault=fault_text, amount="$20.00")
