"""Device tests at the service menu with the real drivers' ledgers: all facts are recorded, and no meter moves."""

import pytest

from egm.app.features import STAFF_REGISTERS
from egm.app.view import build_snapshot
from egm.config.cabinet_file import TicketValidator
from egm.devices import interface as device
from egm.devices.interface import Banknote, PrintState
from egm.devices.ledgers import PayoutRecord
from egm.host.ticket_interface import HostTicketInterface
from egm.kernel.events import EventType, State
from egm.kernel.touch import CALIBRATION_CROSSES, COORDINATE_UNIT, calibrate_touch
from egm.money.host_money import HostMoney, TicketInquiry
from egm.money.keys import MoneyKey
from egm.people import Role
from egm.staff.desk import ServiceDesk
from egm.staff.registers import iter_register_lines
from egm.testing.machine import MachineRig
from egm.testing.service_menu import MenuUser

#: The only meters that a test may count: visits of people, never value or play.
SERVICE = ("door.", "sign_in_refused")
KINDS = {"bill": "bill_acceptor", "printer": "ticket_printer", "hopper": "hopper", "io": "io_board"}


def fingerprint(rig):
    """Return every live meter and every account."""
    values = rig.journal.meters().values
    return {name: v for name, v in values.items() if not name.startswith(SERVICE) and ".since_" not in name}


@pytest.fixture
def menu(tmp_path):
    rig = MachineRig(tmp_path, devices=("printer", "hopper")).boot().insert(2000)
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    rig.machine.component(ServiceDesk).device_page_data.kind_by_device_name = KINDS
    menu = MenuUser(rig).sign_in(Role.MECHANIC).touch("devices")
    before = fingerprint(rig)
    yield menu
    assert fingerprint(rig) == before
    assert rig.credit_cents == 2000
    rig.journal.self_audit()
    rig.close()


@pytest.mark.requirement("J-10", "D-17", "G-17")
def test_a_test_ticket_is_printed_marked_and_worth_nothing(menu):
    rig = menu.rig
    menu.touch("device:printer").touch("print")
    assert menu.page.test
    (job,) = rig.hands.jobs
    assert "TEST" in job.fields["kind"]
    assert set(job.barcode) == {"0"}
    for state in (PrintState.PRINTING, PrintState.BARCODE_DONE, PrintState.TAKEN):
        rig.report_print_state(state)
    assert [
        entry.kind for entry in rig.journal.entries(("test.started", "test.printed", "ticket.taken"))
    ] == [
        "test.started",
        "test.printed",
        "ticket.taken",
    ]
    (printed,) = iter_register_lines(STAFF_REGISTERS["printed"], rig.journal.entries())
    assert (printed["event"], printed["id"]) == ("test.printed", job.job_id)
    assert rig.machine.memory.get(MoneyKey.PRINT_JOB) is None


@pytest.mark.requirement("D-17", "J-10")
def test_a_failed_test_ticket_moves_no_money_and_survives_a_restart(tmp_path):
    rig = MachineRig(tmp_path, devices=("printer",)).boot().insert(2000)
    rig.machine.component(ServiceDesk).device_page_data.kind_by_device_name = KINDS
    menu = MenuUser(rig).sign_in(Role.MECHANIC).touch("devices").touch("device:printer").touch("print")
    menu.touch("print")
    assert menu.notice == "notice.refused.device_is_free"
    rig.close()
    restarted = MachineRig(tmp_path, devices=("printer",)).boot()
    assert restarted.device_ledgers.print_ledger.find_open().job.job_id.startswith("test-")
    before = fingerprint(restarted)
    restarted.report_print_state(PrintState.FAILED, "no paper")
    assert restarted.records("test.failed")[0]["why"] == "no paper"
    assert (restarted.state, restarted.credit_cents) == (State.IDLE, 2000)
    assert fingerprint(restarted) == before
    restarted.close()


@pytest.mark.requirement("J-10", "F-08")
def test_no_test_ticket_is_printed_while_a_cash_out_waits_for_its_ticket_number(tmp_path):
    """Regression: as the test failed, the player's ticket was printed at once, and the machine stopped."""
    host = HostMoney(ticket_validator=TicketValidator.SYSTEM, is_online=True)
    rig = MachineRig(tmp_path, devices=("printer",), host=host).boot().insert(2000)
    rig.machine.component(ServiceDesk).device_page_data.kind_by_device_name = KINDS
    rig.engine.handle(EventType.CASH_OUT)
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    menu = MenuUser(rig).sign_in(Role.MECHANIC).touch("devices").touch("device:printer").touch("print")
    assert menu.notice == "notice.refused.device_is_free"
    tickets = HostTicketInterface(rig.engine, rig.submit_event)
    tickets.assign_ticket_number("081111222233334444")
    rig.engine.handle(EventType.DOOR_CLOSED, door="main")
    rig.engine.handle(EventType.SERVICE_MENU_CLOSED, why="key")
    rig.report_print_state(PrintState.FAILED, "jam")
    assert (rig.state, rig.journal.balance_cents("out:voucher:cashable")) == (State.HANDPAY, 0)
    rig.close()


@pytest.mark.requirement("J-10", "J-11", "D-17")
def test_the_hopper_test_pays_coins_behind_an_open_door_without_meters(menu):
    rig = menu.rig
    menu.touch("device:hopper").enter("99")
    assert menu.notice == "notice.refused.device_is_free"
    menu.enter("3")
    ((payout_id, coins),) = rig.hands.payouts
    assert coins == 3
    assert rig.records("test.started")[-1]["coins"] == 3
    rig.device_ledgers.payout_ledger.open_payout(
        PayoutRecord(payout_id=payout_id, ordered_coins=3, order_counter_before=0, lifetime_paid_before=0)
    )
    rig.device_ledgers.payout_ledger.close_payout(payout_id, 2)
    assert rig.records("test.coins") == [{"id": payout_id, "ordered_coins": 3, "paid_coins": 2}]
    notice = rig.machine.notice
    assert (notice.code, notice.values) == ("test_coins", {"paid": 2, "ordered": 3})
    assert rig.machine.memory.get(MoneyKey.HOPPER_PAYOUT) is None


@pytest.mark.requirement("J-10", "J-11")
def test_the_hopper_test_pays_nothing_behind_closed_doors(menu):
    menu.rig.engine.handle(EventType.DOOR_CLOSED, door="main")
    menu.touch("device:hopper").enter("3")
    assert menu.notice == "notice.refused.device_is_free"
    assert menu.rig.hands.payouts == []
    menu.enter("three")
    assert menu.notice == "service.refused.not_offered"


@pytest.mark.requirement("J-11")
@pytest.mark.parametrize("door", ["drop", "cash_box", "top"])
def test_the_hopper_test_pays_nothing_behind_another_open_door(tmp_path, door):
    rig = MachineRig(tmp_path, devices=("printer", "hopper")).boot()
    rig.engine.handle(EventType.DOOR_OPENED, door=door)
    rig.machine.component(ServiceDesk).device_page_data.kind_by_device_name = KINDS
    menu = MenuUser(rig).sign_in(Role.MECHANIC).touch("devices").touch("device:hopper").enter("3")
    assert menu.notice == "notice.refused.device_is_free"
    assert rig.hands.payouts == []
    rig.close()


@pytest.mark.requirement("J-10", "J-19")
def test_the_acceptor_test_reads_a_note_and_returns_it(menu):
    rig = menu.rig
    menu.touch("device:bill").touch("take")
    rig.hands.offered[9] = Banknote(500)
    rig.engine.handle(EventType.BILL_ESCROWED, escrow=9, amount_cents=500)
    rig.engine.handle(EventType.BILL_RETURNED, reason="ordered")
    rig.engine.handle(EventType.TICKET_ESCROWED, escrow=10, digits="910000000000000000")
    rig.engine.handle(EventType.BILL_REJECTED, reason="unreadable")
    assert rig.hands.orders[-2:] == [("return", 9), ("return", 10)]
    assert [record["amount_cents"] for record in rig.records("test.read")] == [500, 0]
    assert len(rig.records("test.paper")) == 2
    assert b"910000000000000000" not in b"".join(rig.journal.iter_bodies())
    menu.touch("stop")
    assert not menu.machine.component(ServiceDesk).device_page_data.is_testing_acceptor


@pytest.mark.requirement("J-10", "J-11")
def test_acceptor_test_is_refused_while_a_ticket_waits_for_the_host(menu):
    menu.machine.component(HostMoney).ticket_inquiry = TicketInquiry("ticket-9", 9, "910000000000000000")
    menu.touch("device:bill").touch("take")
    assert menu.notice == "notice.refused.device_is_free"
    assert not menu.machine.component(ServiceDesk).device_page_data.is_testing_acceptor


@pytest.mark.requirement("J-10")
def test_leaving_the_menu_ends_every_test(menu):
    page_data = menu.machine.component(ServiceDesk).device_page_data
    menu.touch("device:io").touch("lamps")
    assert "lamp:play" in page_data.tested_outputs
    menu.touch("back").touch("device:bill").touch("take")
    assert page_data.is_testing_acceptor
    menu.rig.engine.handle(EventType.SERVICE_MENU_CLOSED, why="time_out")
    assert (page_data.is_testing_acceptor, page_data.tested_outputs) == (False, frozenset())


@pytest.mark.requirement("J-10", "A-19")
def test_a_device_page_shows_the_devices_live_state(menu):
    page_data = menu.machine.component(ServiceDesk).device_page_data
    page_data.store_report(device.DeviceIdentified(device="io", identity="board 3.1"))
    page_data.store_report(
        device.InputsReported(device="io", doors_open=frozenset({"main"}), keys_on=frozenset({"operator"}))
    )
    page_data.store_report(device.ButtonPressed(device="io", button="play"))
    page_data.store_report(
        device.PaperInEscrow(device="bill", escrow_number=3, content=device.Barcode("910000000000000000"))
    )
    menu.touch("device:io")
    lines = menu.read_rows()
    assert lines["Identifies as"] == "board 3.1"
    assert [lines[name] for name in ("Main door", "Operator key", "PLAY button", "Logic door")] == [
        "On",
        "On",
        "On",
        "Off",
    ]
    menu.touch("back").touch("device:bill")
    assert "PaperInEscrow escrow_number=3 content=a ticket" in menu.read_rows()


@pytest.mark.requirement("J-14")
def test_the_screen_runs_its_own_tests(menu):
    for pattern in ("display", "touch", "sound"):
        menu.touch(f"screen:{pattern}")
        assert (menu.page.test, menu.page.pattern) == (True, pattern)
        menu.touch("back")


def build_touch_answer(panel):
    """Return the answer of a screen whose panel detects each cross at its position."""
    return " ".join(str(value) for cross in CALIBRATION_CROSSES for value in panel(*cross))


# A panel turned by half a turn, smaller than the picture and shifted: nothing on it is where it was touched.
def turn_point(x, y):
    return COORDINATE_UNIT - x * 9 // 10 - 2000, COORDINATE_UNIT - y * 8 // 10 - 5000


@pytest.mark.requirement("J-14")
def test_the_touch_screen_is_calibrated_at_the_menu_by_a_named_person(menu):
    rig = menu.rig
    menu.touch("screen:calibrate")
    assert (menu.page.test, menu.page.pattern, menu.page.actions) == (True, "calibrate", ())
    menu.touch("crosses", build_touch_answer(turn_point))
    assert menu.page.title.value == "service.menu.devices"
    shown = build_snapshot(rig.engine).touch_calibration
    for x, y in (
        (0, 0),
        (COORDINATE_UNIT, 0),
        (COORDINATE_UNIT // 3, COORDINATE_UNIT // 5),
        (COORDINATE_UNIT, COORDINATE_UNIT),
    ):
        assert calibrate_touch(shown, *turn_point(x, y)) == pytest.approx((x, y), abs=20)
    (record,) = rig.records("touch.calibrated")
    assert (record["person"], record["before"], record["after"]) == ("3", [], list(shown))
    assert rig.journal.states()["touch"] == list(shown)


@pytest.mark.requirement("J-14")
@pytest.mark.parametrize(
    "touches",
    [
        "",
        "1 2 3",
        "a b",
        " ".join(["5 5"] * len(CALIBRATION_CROSSES)),
        " ".join(f"{n} {n}" for n in range(len(CALIBRATION_CROSSES))),
        build_touch_answer(turn_point).rpartition(" ")[0] + " 9",
        build_touch_answer(lambda x, y: (10**9 * x, y)),
    ],
)
def test_touches_away_from_the_calibration_crosses_change_nothing(menu, touches):
    menu.touch("screen:calibrate").touch("crosses", touches)
    assert menu.page.notice.value == "service.refused.touches"
    assert not menu.rig.records("touch.calibrated")


@pytest.mark.requirement("J-10")
def test_only_authorised_staff_may_run_tests(menu):
    menu.rig.engine.handle(
        EventType.START_DEVICE_TEST, test="print", device="printer", person="1", persons=("1",)
    )
    assert menu.rig.notice == "refused.may_test"
    menu.rig.engine.handle(EventType.START_DEVICE_TEST, device="printer", person="3", persons=("3",))
    assert menu.rig.notice == "refused.device_is_free"
