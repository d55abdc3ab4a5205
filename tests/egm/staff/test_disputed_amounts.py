"""If no record shows who owes whom, a person decides the amount: nothing is credited, paid or lost by default."""

import re
from contextlib import suppress

import pytest
from click.testing import CliRunner

from egm.app.features import STAFF_REGISTERS
from egm.devices.ledgers import DisputedCoins, PayoutRecord
from egm.kernel.events import EventType, State
from egm.kernel.positions import Position
from egm.money.disputed_amounts import read_disputed_amounts_by_id
from egm.money.keys import MoneyKey
from egm.people import Role
from egm.profiles import profile as profiles
from egm.staff.registers import iter_register_lines
from egm.testing.machine import MachineRig, PowerCutError
from egm.testing.service_menu import MenuUser
from egm.tickets.model import TicketState
from tools.cli import main

PAID = "out:handpay_disputed"


@pytest.fixture
def rig(tmp_path):
    rig = MachineRig(tmp_path / "state", devices=("printer",)).boot()
    yield rig
    rig.close()


def open_one(rig):
    [disputed] = read_disputed_amounts_by_id(rig.machine).values()
    return disputed


def rule(rig, amount_cents, role=Role.SUPERVISOR, dispute=None, second=None):
    """Sign in, open the dispute and decide; after a refusal the menu stays open."""
    menu = MenuUser(rig).sign_in(role).touch("disputed")
    menu.touch(f"disputed:{dispute or open_one(rig).id}").enter(str(amount_cents))
    if menu.notice:
        return menu
    menu.enter("looked at the recording").touch("confirm")
    if second is not None:
        menu.identify(second)
    menu.home().touch("leave")
    return menu


def register(rig):
    return list(iter_register_lines(STAFF_REGISTERS["disputed-amounts"], rig.journal.entries()))


def lose_bill(rig, cents=2000):
    rig.offer(cents)
    rig.escrow_ledger.close_lost_paper_as_disputed("the acceptor is idle")


@pytest.mark.requirement("G-02", "G-05", "F-13")
def test_a_bill_of_unknown_whereabouts_waits_for_a_ruling_over_a_restart(rig, tmp_path):
    lose_bill(rig)
    assert (rig.state, rig.credit_cents) == (State.TILT, 0)
    assert not rig.journal.list_pending()
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (rig.state, rig.notice) == (State.TILT, "not_yours_to_clear")
    rig.close()
    restarted = MachineRig(tmp_path / "state", devices=("printer",)).boot()
    assert (restarted.state, open_one(restarted).amount_max_cents) == (State.TILT, 2000)

    rule(restarted, 2000)
    assert (restarted.state, restarted.machine.active_faults) == (State.IDLE, {})
    assert restarted.journal.balance_cents(PAID) == restarted.journal.meters().values["disputed"] == 2000
    [line] = register(restarted)
    assert (line["device"], line["least_cents"], line["most_cents"]) == ("bill_acceptor", 0, 2000)
    assert (line["amount_cents"], line["persons"]) == (2000, ["2"])
    restarted.journal.self_audit()
    restarted.close()


def test_a_ruling_out_of_bounds_or_without_permission_is_refused(rig):
    lose_bill(rig)
    assert rule(rig, 2001).notice == "service.refused.out_of_range"
    rig.engine.handle(EventType.SERVICE_MENU_CLOSED, why="key")
    menu = MenuUser(rig).sign_in(Role.ATTENDANT)
    assert "disputed" not in [row.action for table in menu.page.tables for row in table.rows]
    for amount_cents, reason in ((2001, "x"), (-1, "x"), (2000, " "), (None, "x")):
        values = {"disputed": open_one(rig).id, "amount_cents": amount_cents, "reason": reason}
        rig.engine.handle(
            EventType.RULE_ON_DISPUTED_AMOUNT, form="disputed", person="5", persons=("5",), **values
        )
    assert (rig.state, register(rig)) == (State.TILT, [])


def test_two_disputes_about_a_device_need_two_rulings(rig):
    rig.escrow_ledger.open_disputed_amount_of_unordered_paper("stacked and never ordered", 10000)
    rig.escrow_ledger.open_disputed_amount_of_unordered_paper("and again", 10000)
    first, second = read_disputed_amounts_by_id(rig.machine)
    rule(rig, 0, dispute=first)
    assert rig.state is State.TILT
    rule(rig, 500, dispute=second)
    assert (rig.state, [line["amount_cents"] for line in register(rig)]) == (State.IDLE, [0, 500])


@pytest.mark.requirement("O-01")
def test_a_dispute_belongs_to_its_position(tmp_path):
    first = MachineRig(tmp_path, position=Position(1, 2)).boot()
    second = MachineRig(tmp_path, position=Position(2, 2), first_rig=first).boot()
    lose_bill(second)
    assert (first.state, second.state) == (State.IDLE, State.TILT)
    assert read_disputed_amounts_by_id(first.machine) == {}
    rule(second, 0)
    assert second.state is State.IDLE
    first.close()


# ---------------------------------------------------------------------------------------------- tickets
def lose_ticket(rig):
    number = rig.insert(2000).cash_out_ticket()
    rig.offer_ticket(number)
    rig.escrow_ledger.close_lost_paper_as_disputed("the acceptor is idle")
    return number


@pytest.mark.requirement("H-08")
@pytest.mark.parametrize(
    ("decided", "state", "good"), [(2000, TicketState.REDEEMED, False), (0, TicketState.ISSUED, True)]
)
def test_a_lost_ticket_stays_locked_until_a_ruling(rig, tmp_path, decided, state, good):
    number = lose_ticket(rig)
    rig.close()
    restarted = MachineRig(tmp_path / "state", devices=("printer",)).boot()
    assert (
        restarted.ticket_store.find_ticket(number).state is TicketState.PENDING
    )  # no other person can have it paid
    rule(restarted, 1000)
    assert restarted.state is State.TILT  # it is worth all or nothing
    rule(restarted, decided)
    assert (restarted.state, restarted.ticket_store.find_ticket(number).state) == (State.IDLE, state)
    assert restarted.journal.balance_cents(PAID) == decided
    assert number not in str(register(restarted))
    restarted.offer_ticket(number)
    assert (restarted.hands.orders[-1][0] == "stack") is good
    restarted.close()


@pytest.mark.requirement("A-08", "H-08")
@pytest.mark.parametrize("written", range(4))
def test_a_ruling_on_a_ticket_survives_power_cuts(rig, tmp_path, written):
    number = lose_ticket(rig)
    rig.cut_power_after(written)
    values = {"disputed": open_one(rig).id, "amount_cents": 2000, "reason": "it is in the box"}
    with suppress(PowerCutError):
        rig.engine.handle(EventType.OPEN_SERVICE_MENU, key="operator")
        rig.engine.handle(
            EventType.RULE_ON_DISPUTED_AMOUNT, form="disputed", person="5", persons=("5",), **values
        )
    rig.close()
    restarted = MachineRig(tmp_path / "state", devices=("printer",)).boot()
    if read_disputed_amounts_by_id(restarted.machine):
        assert restarted.ticket_store.find_ticket(number).state is TicketState.PENDING
        rule(restarted, 2000)
    assert restarted.ticket_store.find_ticket(number).state is TicketState.REDEEMED
    assert restarted.journal.balance_cents(PAID) == 2000
    restarted.close()


# ---------------------------------------------------------------------------------------------- the hopper
@pytest.fixture
def coins(tmp_path):
    text = (profiles._PROFILES_FOLDER / "generic.toml").read_text()
    profile = tmp_path / "coins.toml"
    profile.write_text(text.replace('order = ["ticket", "coins"]', 'order = ["coins", "ticket"]'))

    def start():
        return MachineRig(tmp_path / "state", profile=profile, devices=("hopper",)).boot()

    start.room = start()
    yield start
    start.room.close()


def pay_five(rig):
    rig.insert(500)
    rig.engine.handle(EventType.CASH_OUT)
    payout_id, number = rig.hands.payouts[-1]
    rig.device_ledgers.payout_ledger.open_payout(
        PayoutRecord(
            payout_id=payout_id, ordered_coins=number, order_counter_before=0, lifetime_paid_before=0
        )
    )
    return payout_id


@pytest.mark.requirement("G-08", "F-13", "A-08", "D-02")
@pytest.mark.parametrize("seen", [0, 3])
@pytest.mark.parametrize("written", range(7))
def test_a_payout_by_a_hopper_that_lost_its_count_ends_with_the_recorded_coins(coins, seen, written):
    """Wherever the power is cut, the counted coins are paid, and the remainder waits for a ruling."""
    rig = coins.room
    payout_id = pay_five(rig)
    if seen:
        rig.device_ledgers.payout_ledger.record_coins_paid(payout_id, seen)
    rig.cut_power_after(written)
    with suppress(PowerCutError):
        rig.device_ledgers.payout_ledger.close_payout(payout_id, seen, "another hopper is in its place")
    rig.close()
    restarted = coins.room = coins()
    record = restarted.device_ledgers.payout_ledger.find_open()
    if record is not None:  # the driver finds it again, with what it had seen before the power cut
        assert record.paid_coins == seen
        restarted.device_ledgers.payout_ledger.close_payout(
            payout_id, record.paid_coins, "another hopper is in its place"
        )
    assert (restarted.state, restarted.machine.memory.get(MoneyKey.HANDPAY)) == (State.TILT, None)
    assert restarted.journal.balance_cents("out:hopper") == seen * 100
    assert (open_one(restarted).amount_max_cents, restarted.credit_cents) == (500 - seen * 100, 0)

    rule(restarted, 100)  # one of the missing coins was found in the hopper
    assert restarted.state is State.IDLE
    assert restarted.journal.balance_cents(PAID) == 100
    assert restarted.journal.balance_cents("out:hopper") == 400
    assert restarted.journal.balance_cents("stock:hopper") == -400
    assert restarted.credit_cents == 0
    assert restarted.journal.meters().values["rulings"] == 1
    restarted.journal.self_audit()


@pytest.mark.requirement("A-08", "F-13")
@pytest.mark.parametrize("written", range(5))
def test_a_ruling_on_disputed_coins_survives_power_cuts(coins, written):
    rig = coins.room
    rig.device_ledgers.payout_ledger.close_payout(pay_five(rig), 2, "its count fell")
    rig.cut_power_after(written)
    values = {"disputed": open_one(rig).id, "amount_cents": 200, "reason": "two in the tray"}
    with suppress(PowerCutError):
        rig.engine.handle(EventType.OPEN_SERVICE_MENU, key="operator")
        rig.engine.handle(
            EventType.RULE_ON_DISPUTED_AMOUNT, form="disputed", person="5", persons=("5",), **values
        )
    rig.close()
    restarted = coins.room = coins()
    if read_disputed_amounts_by_id(restarted.machine):
        rule(restarted, 200)
    assert (restarted.journal.balance_cents(PAID), restarted.journal.balance_cents("out:hopper")) == (
        200,
        300,
    )
    assert (restarted.credit_cents, restarted.state) == (0, State.IDLE)
    assert len(register(restarted)) == 1


@pytest.mark.requirement("G-08", "F-13:a", "D-13")
def test_stray_coins_leave_the_hoppers_stock_and_a_person_signs(coins, tmp_path):
    rig = coins.room
    rig.device_ledgers.payout_ledger.record_unordered_coins(
        4, "4 coins left the hopper and none were ordered"
    )
    assert (rig.state, rig.journal.balance_cents("stock:hopper")) == (State.TILT, -400)
    shown = CliRunner().invoke(main, ["meters", "--state", str(tmp_path / "state")])
    assert re.search(r"^hopper_level +-0*400  cents", shown.output, re.MULTILINE), (
        shown.output
    )  # with its sign
    rule(rig, 0)
    assert (rig.state, rig.journal.balance_cents(PAID)) == (State.IDLE, 0)


def test_a_payout_without_its_hopper_ends(coins, tmp_path):
    rig = coins.room
    payout_id = pay_five(rig)
    rig.device_ledgers.payout_ledger.record_coins_paid(payout_id, 4)
    rig.close()
    restarted = MachineRig(tmp_path / "state", profile=tmp_path / "coins.toml").boot()
    assert restarted.journal.balance_cents("out:hopper") == 400
    assert (open_one(restarted).amount_max_cents, restarted.state) == (100, State.TILT)
    restarted.close()
    coins.room = coins()


# ---------------------------------------------------------------------------------------------- coins
@pytest.mark.requirement("G-07", "A-08")
@pytest.mark.parametrize("written", range(3))
def test_unreported_coins_are_disputed_in_the_entry_that_passes_them(coins, written):
    rig = coins.room
    doubt = DisputedCoins(reason="2 coins were accepted", amount_min_cents=50, amount_max_cents=400)
    rig.cut_power_after(written)
    with suppress(PowerCutError):
        rig.device_ledgers.coin_ledger.credit_coins_in(((100, True),), 7, doubt)
    rig.close()
    restarted = coins.room = coins()
    assert (restarted.device_ledgers.coin_ledger.find_exchange_progress() == 7) is bool(
        read_disputed_amounts_by_id(restarted.machine)
    )
    if restarted.device_ledgers.coin_ledger.find_exchange_progress() != 7:
        restarted.device_ledgers.coin_ledger.credit_coins_in(((100, True),), 7, doubt)
    disputed = open_one(restarted)
    assert (restarted.credit_cents, restarted.state) == (100, State.TILT)
    assert (disputed.amount_min_cents, disputed.amount_max_cents) == (50, 400)
    rule(restarted, 225)
    assert (restarted.state, restarted.journal.balance_cents(PAID)) == (State.IDLE, 225)


def test_the_escrow_ledger_reports_a_dispute_about_its_acceptor_until_the_ruling(rig):
    assert not rig.escrow_ledger.has_disputed_paper()
    lose_bill(rig)
    assert rig.escrow_ledger.has_disputed_paper()
    rule(rig, 2000)
    assert not rig.escrow_ledger.has_disputed_paper()
