"""Credits that were to be paid by hand are paid by ticket instead: once, and by only one of the two."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egm.app.view import build_snapshot
from egm.devices.interface import PrintState
from egm.kernel.events import EventType, State
from egm.money.keys import MoneyKey
from egm.people import Role
from egm.profiles import load_profile
from egm.testing.machine import MachineRig, PowerCutError, write_undeclared_entry
from egm.testing.service_menu import STAFF_NUMBER_BY_ROLE, MenuUser
from egm.tickets.model import TicketState
from tests.rigs.examples import scale_examples
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

PAPER = "ticket_printer.paper_out"
HAND, TICKET = "out:handpay_cancelled_credit", "out:voucher:cashable"


def open_waiting_handpay(folder, **options):
    """Return a machine without paper, with a hand-pay of twenty dollars."""
    rig = MachineRig(folder, devices=("printer",), **options).boot().insert(2000)
    rig.engine.handle(EventType.FAULT_RAISED, code=PAPER)
    rig.engine.handle(EventType.CASH_OUT)
    assert rig.state is State.HANDPAY
    return rig


def read_handpay(rig):
    return build_snapshot(rig.engine).handpay


def print_it(rig):
    for state in (PrintState.PRINTING, PrintState.BARCODE_DONE, PrintState.TAKEN):
        rig.report_print_state(state)


@pytest.mark.requirement("F-07:a", "F-07:c", "F-08", "F-09", "G-10")
def test_with_paper_again_the_player_requests_and_the_attendants_key_prints_a_ticket(tmp_path):
    rig = open_waiting_handpay(tmp_path)
    assert (read_handpay(rig).reason, read_handpay(rig).ticket_option, read_handpay(rig).slip_number) == (
        "paper",
        "",
        1,
    )
    rig.engine.handle(EventType.CASH_OUT)
    assert (rig.notice, read_handpay(rig).ticket_option) == ("refused.ticket_may_replace", "")
    rig.engine.handle(EventType.FAULT_CLEARED, code=PAPER)
    assert read_handpay(rig).ticket_option == "offered"
    rig.engine.handle(EventType.CASH_OUT)
    assert (read_handpay(rig).ticket_option, rig.state) == ("asked", State.HANDPAY)
    rig.engine.handle(
        EventType.HANDPAY_RESET_BY_HOST, key="host"
    )  # a host does not pay an amount that is paid by ticket
    assert rig.state is State.HANDPAY
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (rig.state, rig.credit_cents, read_handpay(rig)) == (State.PAYING, 0, None)
    print_it(rig)
    assert rig.state is State.IDLE
    assert (rig.journal.balance_cents(TICKET), rig.journal.balance_cents(HAND)) == (2000, 0)
    assert rig.ticket_store.find_ticket(rig.hands.jobs[-1].barcode).state is TicketState.ISSUED
    kinds = [entry.kind for entry in rig.journal.entries()]
    handed = [kind for kind in kinds if kind.startswith(("handpay.", "voucher."))]
    assert handed == ["handpay.pending", "handpay.way", "handpay.returned", "voucher.request", "voucher.out"]
    assert rig.records("handpay.returned")[0]["person"] == "attendant"
    assert Auditor(GameFiles()).audit_entries(rig.journal.iter_bodies()).findings == []
    rig.close()


@pytest.mark.requirement("F-09")
def test_a_player_may_withdraw_the_request_and_is_paid_by_hand(tmp_path):
    rig = open_waiting_handpay(tmp_path)
    rig.engine.handle(EventType.FAULT_CLEARED, code=PAPER)
    rig.engine.handle(EventType.CASH_OUT)
    rig.engine.handle(EventType.CASH_OUT)
    assert read_handpay(rig).ticket_option == "offered"
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (rig.state, rig.journal.balance_cents(HAND)) == (State.IDLE, 2000)
    assert Auditor(GameFiles()).audit_entries(rig.journal.iter_bodies()).findings == []
    rig.close()


@pytest.mark.requirement("F-09", "G-10")
def test_a_key_turned_for_a_ticket_does_not_settle_the_hand_pay(tmp_path):
    """The paper runs out again between the player's request and the key; the hand-pay waits for a second turn."""
    rig = open_waiting_handpay(tmp_path)
    rig.engine.handle(EventType.FAULT_CLEARED, code=PAPER)
    rig.engine.handle(EventType.CASH_OUT)
    rig.engine.handle(EventType.FAULT_RAISED, code=PAPER)
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (rig.state, rig.notice) == (State.HANDPAY, "ticket_impossible")
    assert rig.journal.balance_cents(HAND) == 0
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (rig.state, rig.journal.balance_cents(HAND)) == (State.IDLE, 2000)
    rig.close()


@pytest.mark.requirement("J-08", "J-16")
def test_where_the_key_alone_is_insufficient_a_person_permits_the_ticket(tmp_path):
    profile_file = tmp_path / "generic.toml"
    profile_file.write_bytes(load_profile("generic").file.data + b'\n[staff]\nkey_alone = ["answer_calls"]\n')
    rig = open_waiting_handpay(tmp_path / "state", profile=profile_file)
    menu = MenuUser(rig)
    rig.engine.handle(EventType.FAULT_CLEARED, code=PAPER)
    rig.engine.handle(EventType.CASH_OUT)
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    menu.identify(Role.ATTENDANT)
    print_it(rig)
    assert rig.journal.balance_cents(TICKET) == 2000
    assert rig.records("handpay.returned")[0]["person"] == STAFF_NUMBER_BY_ROLE[Role.ATTENDANT]
    assert Auditor(GameFiles()).audit_entries(rig.journal.iter_bodies()).findings == []
    rig.close()


@pytest.mark.requirement("F-07:c")
@pytest.mark.parametrize(
    "case", ["refused here", "a jackpot", "its form is begun", "too much", "tickets are not paid"]
)
def test_only_a_hand_pay_of_credits_may_become_a_ticket(tmp_path, case):
    rules = {
        "refused here": (b"[by_hand]", b"[by_hand]\nticket_instead = false"),
        "tickets are not paid": (b'order = ["ticket", "coins"]', b'order = ["coins"]'),
        "too much": (b"[tickets]\nlimit_cents = 300000", b"[tickets]\nlimit_cents = 1000"),
    }
    if case in rules:
        profile = tmp_path / "generic.toml"
        text = load_profile("generic").file.data.replace(*rules[case])
        profile.write_bytes(text.replace(b"within_pay_out = true", b"within_pay_out = false"))
        rig = open_waiting_handpay(tmp_path / "state", profile=profile)
        rig.engine.handle(EventType.FAULT_CLEARED, code=PAPER)
    else:
        rig = open_waiting_handpay(tmp_path)
        rig.engine.handle(EventType.FAULT_CLEARED, code=PAPER)
        handpay = rig.machine.memory.get(MoneyKey.HANDPAY)
        changes = {"kind": "jackpot"} if case == "a jackpot" else {"form": {"method": "cash", "persons": []}}
        write_undeclared_entry(rig.machine, "planted", state={MoneyKey.HANDPAY: {**handpay, **changes}})
    rig.engine.handle(EventType.CASH_OUT)
    assert (rig.notice, read_handpay(rig).ticket_option) == ("refused.ticket_may_replace", "")
    rig.close()


STEPS = ("paper", "no paper", "cash out", "key", "printed", "failed", "bill", "play", "restart", "cut")


@settings(deadline=None, max_examples=scale_examples(75))
@given(st.lists(st.sampled_from(STEPS), max_size=16), st.integers(0, 4))
def test_in_any_order_of_events_the_money_is_paid_once(tmp_path_factory, steps, entries):
    """All inserted money is on the meter, reserved, on a ticket, paid by hand, wagered or won, and counted once."""
    folder = tmp_path_factory.mktemp("any")
    rig = open_waiting_handpay(folder)

    def reopen():
        rig.close()
        return MachineRig(folder, devices=("printer",)).boot()

    def do(step):
        match step:
            case "paper":
                rig.engine.handle(EventType.FAULT_CLEARED, code=PAPER)
            case "no paper":
                rig.engine.handle(EventType.FAULT_RAISED, code=PAPER)
            case "cash out":
                rig.engine.handle(EventType.CASH_OUT)
            case "key":
                rig.engine.handle(EventType.KEY_TURNED, key="attendant")
            case "printed" | "failed" if rig.device_ledgers.print_ledger.find_open() is not None:
                rig.report_print_state(PrintState.PRINTING)
                rig.report_print_state(PrintState.BARCODE_DONE if step == "printed" else PrintState.FAILED)
                if step == "printed":
                    rig.report_print_state(PrintState.TAKEN)
            case "bill":
                rig.offer(500)
                if rig.hands.orders[-1] == ("stack", rig._escrow_number):
                    rig.escrow_ledger.credit_stacked_paper()
                    rig.escrow_ledger.close_confirmed_paper()
            case "play" if rig.state is State.IDLE:
                rig.play()
                rig.report_shown()

    for step in steps:
        if step == "restart":
            rig = reopen()
        elif step == "cut":
            rig.cut_power_after(entries)
        else:
            try:
                do(step)
            except PowerCutError:
                rig = reopen()
        values = rig.journal.meters().values
        reserved_cents = sum(
            flow.amount_cents
            for reserved in rig.journal.list_pending()
            for flow in reserved.transfers
            if flow.source.startswith("credit:")
        )
        on_tickets, by_hand = rig.journal.balance_cents(TICKET), rig.journal.balance_cents(HAND)
        put_in = values["money_in"] + values["coin_out"] + values["att_jackpot"] - values["coin_in"]
        assert rig.machine.credit_cents + reserved_cents + on_tickets + by_hand == put_in
        issued = [t for t in rig.ticket_store.iter_records() if t.state is TicketState.ISSUED]
        assert sum(t.ticket.amount_cents for t in issued) == on_tickets
    rig.close()
