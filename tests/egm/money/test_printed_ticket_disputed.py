"""If the printer cannot report on a ticket, its value is set aside and its number locked until staff decide."""

import asyncio

import pytest

from egm.app.features import FEATURES
from egm.app.ports import DRIVER_FACTORY_BY_PROTOCOL, DriverArguments
from egm.devices.interface import MoneyDevices, PrintState
from egm.features.memory_clear.carrying import inspect_claims
from egm.kernel.events import EventType, State
from egm.money.disputed_amounts import read_disputed_amounts_by_id
from egm.money.keys import MoneyKey
from egm.people import Role
from egm.testing.clearing import clear_with_decisions
from egm.testing.device import DeviceRig
from egm.testing.jumping_loop import jump
from egm.testing.machine import MachineRig, PowerCutError
from egm.testing.service_menu import MenuUser
from egm.tickets.model import TicketState
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

VOUCHERS, BY_HAND = "out:voucher:cashable", "out:handpay_cancelled_credit"


def check_audit(room: MachineRig) -> None:
    assert Auditor(GameFiles()).audit_entries(room.journal.iter_bodies()).findings == []


class Cabinet:
    """A machine with a real printer driver on a cable; a test can cut the power of machine and printer."""

    def __init__(self, folder, protocol: str) -> None:
        self.folder, self.printer = folder, DeviceRig(protocol)
        self.boot()

    def boot(self) -> None:
        self.room = MachineRig(self.folder, devices=("printer",)).boot()
        rig = self.printer
        fitting = DriverArguments(
            "printer", rig.create_serial_line(), rig.receive_event, self.room.device_ledgers, ()
        )
        self.driver = DRIVER_FACTORY_BY_PROTOCOL[rig.protocol](fitting)
        self.room.machine.component(MoneyDevices).printer = self.driver
        rig.start(self.driver)

    async def lose_power(self, *, printer: bool) -> None:
        if printer:
            self.printer.perform_action("power_off")
        await self.printer.stop()
        self.room.close()
        await asyncio.sleep(5)
        if printer:
            self.printer.perform_action("power_on")
        self.boot()


def decide(room: MachineRig, ruling: str) -> None:
    [disputed] = read_disputed_amounts_by_id(room.machine)
    menu = MenuUser(room).sign_in(Role.SUPERVISOR).touch("disputed").touch(f"disputed:{disputed}")
    menu.fill_open_form(ruling, "the player showed it")
    menu.home().touch("leave")


@pytest.mark.requirement("G-10", "H-06", "F-13", "A-08")
@pytest.mark.parametrize("ruling", ["good", "void"])
@pytest.mark.parametrize("protocol", ["ithaca", "tcl"])
def test_a_ticket_completely_printed_before_a_power_loss_keeps_its_value(tmp_path, protocol, ruling):
    """The player has the paper: no key pays it a second time, and after the ruling the ticket is valid."""

    async def scene():
        cabinet = Cabinet(tmp_path, protocol)
        cabinet.room.insert(2000).engine.handle(EventType.CASH_OUT)
        await cabinet.printer.advance_until(lambda: cabinet.printer.twin.printed_tickets)
        number = cabinet.printer.twin.printed_tickets[-1]["barcode"]
        await cabinet.lose_power(printer=True)
        await asyncio.sleep(30)
        room = cabinet.room
        assert cabinet.printer.twin.printed_tickets[-1]["barcode_complete"]
        assert room.state is State.TILT
        room.engine.handle(EventType.KEY_TURNED, key="attendant")
        assert room.journal.balance_cents(BY_HAND) == 0
        assert room.ticket_store.find_ticket(number).state is TicketState.RESERVED
        decide(room, ruling)
        await asyncio.sleep(5)
        if ruling == "good":
            assert room.ticket_store.find_ticket(number).state is TicketState.ISSUED
            assert (room.state, room.journal.balance_cents(VOUCHERS)) == (State.IDLE, 2000)
            assert room.machine.memory.get(MoneyKey.PRINT_JOB) is None
            room.offer_ticket(number)
            assert room.hands.orders[-1][0] == "stack"
        else:
            assert room.ticket_store.find_ticket(number).state is TicketState.VOID
            room.engine.handle(EventType.KEY_TURNED, key="attendant")
            assert (room.state, room.journal.balance_cents(BY_HAND)) == (State.IDLE, 2000)
            assert room.journal.balance_cents(VOUCHERS) == 0
            room.offer_ticket(number)
            assert room.hands.orders[-1][0] == "return"
        assert room.journal.meters().values["ticket_out.cashable.value"] == (2000 if ruling == "good" else 0)
        check_audit(room)
        await cabinet.printer.stop()

    jump(scene())


@pytest.mark.parametrize("protocol", ["ithaca", "tcl"])
def test_after_a_crash_a_running_printer_reports_its_ticket_without_a_ruling(tmp_path, protocol):
    async def scene():
        cabinet = Cabinet(tmp_path, protocol)
        cabinet.room.insert(2000).engine.handle(EventType.CASH_OUT)
        await cabinet.printer.advance_until(lambda: cabinet.printer.twin.printed_tickets)
        await cabinet.lose_power(printer=False)
        await asyncio.sleep(10)
        assert (cabinet.room.state, cabinet.room.journal.balance_cents(VOUCHERS)) == (State.IDLE, 2000)
        await cabinet.printer.stop()

    jump(scene())


@pytest.fixture
def disputed(tmp_path):
    room = MachineRig(tmp_path, devices=("printer",)).boot().insert(2000)
    room.engine.handle(EventType.CASH_OUT)
    room.report_print_state(PrintState.PRINTING)
    room.report_print_state(PrintState.DISPUTED, "a whole ticket may have come out")
    assert room.state is State.TILT
    yield room
    room.close()


@pytest.mark.requirement("A-08", "F-13")
@pytest.mark.parametrize(("ruling", "state"), [("good", State.IDLE), ("void", State.HANDPAY)])
def test_a_ruling_with_the_menu_closed_leads_to_the_resulting_state(disputed, ruling, state):
    """Regression: the machine stayed in PAYING: no key paid by hand, and nobody could play."""
    (found,) = read_disputed_amounts_by_id(disputed.machine)
    form = {"form": "disputed_ticket", "disputed": found, "ticket": ruling, "reason": "seen"}
    disputed.engine.handle(EventType.RULE_ON_DISPUTED_AMOUNT, **form, persons=("5",))
    assert disputed.state is state
    if state is State.HANDPAY:
        disputed.engine.handle(EventType.KEY_TURNED, key="attendant")
        assert disputed.journal.balance_cents(BY_HAND) == 2000
    check_audit(disputed)


@pytest.mark.requirement("A-08")
@pytest.mark.parametrize("ruling", ["good", "void"])
def test_a_ruling_interrupted_by_a_power_cut_is_completed_at_the_start(disputed, tmp_path, ruling):
    menu = MenuUser(disputed).sign_in(Role.SUPERVISOR).touch("disputed")
    menu.touch(f"disputed:{next(iter(read_disputed_amounts_by_id(disputed.machine)))}").enter(ruling).enter(
        "seen"
    )
    disputed.cut_power_after(1)
    with pytest.raises(PowerCutError):
        menu.touch("confirm")
    disputed.close()
    restarted = MachineRig(tmp_path, devices=("printer",)).boot()
    assert read_disputed_amounts_by_id(restarted.machine) == {}
    assert restarted.journal.balance_cents(VOUCHERS) == (2000 if ruling == "good" else 0)
    owed = restarted.machine.memory.get(MoneyKey.HANDPAY)
    assert (owed is None) is (ruling == "good")
    check_audit(restarted)


def test_a_printer_removed_while_its_ticket_may_be_printed_needs_a_ruling(tmp_path):
    room = MachineRig(tmp_path, devices=("printer",)).boot().insert(2000)
    room.engine.handle(EventType.CASH_OUT)
    room.report_print_state(PrintState.PRINTING)
    room.close()
    without = MachineRig(tmp_path).boot()
    assert (without.state, len(read_disputed_amounts_by_id(without.machine))) == (State.TILT, 1)
    decide(without, "void")
    assert without.state is State.HANDPAY
    check_audit(without)


def test_no_ruling_makes_a_ticket_of_a_lost_ledger_good(disputed, tmp_path):
    disputed.close()
    for path in (*tmp_path.glob("tickets.*"), *(tmp_path / "second").glob("tickets.*")):
        path.unlink()
    restarted = MachineRig(tmp_path, devices=("printer",)).boot()
    assert len(read_disputed_amounts_by_id(restarted.machine)) == 1
    [about] = read_disputed_amounts_by_id(restarted.machine)
    menu = MenuUser(restarted).sign_in(Role.SUPERVISOR).touch("disputed").touch(f"disputed:{about}")
    menu.enter("good").enter("seen").touch("confirm")
    assert len(read_disputed_amounts_by_id(restarted.machine)) == 1
    menu.home().touch("leave")
    decide(restarted, "void")
    assert restarted.machine.memory.get(MoneyKey.HANDPAY)["amount_cents"] == 2000


@pytest.mark.requirement("A-02")
def test_a_memory_clear_carries_a_disputed_ticket_over(disputed, tmp_path):
    disputed.close()
    claim_inspection = inspect_claims(tmp_path, FEATURES)
    assert sum(claim.claim.amount for claim in claim_inspection.proposals) == 2000
    clear_with_decisions(tmp_path)
    restarted = MachineRig(tmp_path, devices=("printer",)).boot()
    decide(restarted, "good")
    assert restarted.journal.balance_cents(VOUCHERS) == 2000
    check_audit(restarted)
