"""Credits that waited for an attendant's hand and leave on a ticket after all: once, and on one of the two."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egm.app.view import snapshot
from egm.devices.interface import PrintState
from egm.kernel.events import EventType, State
from egm.money.keys import MoneyKey
from egm.people import Role
from egm.profiles import load_profile
from egm.testing.machine import MachineRig, PowerCutError, write_undeclared
from egm.testing.service_menu import NUMBERS, Menu
from egm.tickets.model import TicketState
from tools.audit.games import Shelf
from tools.audit.verify import Auditor

PAPER = "ticket_printer.paper_out"
HAND, TICKET = "out:handpay_cancelled_credit", "out:voucher:cashable"


def waiting(folder, **options):
    """A machine without paper, whose player waits for twenty dollars."""
    room = MachineRig(folder, devices=("printer",), **options).boot().insert(2000)
    room.engine.handle(EventType.FAULT_RAISED, code=PAPER)
    room.engine.handle(EventType.CASH_OUT)
    assert room.state is State.HANDPAY
    return room


def told(room):
    return snapshot(room.engine, fingerprint="").handpay


def print_it(room):
    for state in (PrintState.PRINTING, PrintState.BARCODE_DONE, PrintState.TAKEN):
        room.report_print_state(state)


@pytest.mark.requirement("F-07:a", "F-07:c", "F-08", "F-09", "G-10")
def test_when_paper_is_back_the_player_asks_and_the_attendants_key_prints(tmp_path):
    room = waiting(tmp_path)
    assert (told(room).why, told(room).ticket, told(room).number) == ("paper", "", 1)
    room.engine.handle(EventType.CASH_OUT)
    assert (room.notice, told(room).ticket) == ("refused.ticket_may_replace", "")
    room.engine.handle(EventType.FAULT_CLEARED, code=PAPER)
    assert told(room).ticket == "offered"
    room.engine.handle(EventType.CASH_OUT)
    assert (told(room).ticket, room.state) == ("asked", State.HANDPAY)
    room.engine.handle(EventType.HANDPAY_RESET, key="host")  # a host does not pay what leaves on a ticket
    assert room.state is State.HANDPAY
    room.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (room.state, room.credit_cents, told(room)) == (State.PAYING, 0, None)
    print_it(room)
    assert room.state is State.IDLE
    assert (room.journal.balance_cents(TICKET), room.journal.balance_cents(HAND)) == (2000, 0)
    assert room.store.get(room.hands.jobs[-1].barcode).state is TicketState.ISSUED
    kinds = [entry.kind for entry in room.journal.entries()]
    handed = [kind for kind in kinds if kind.startswith(("handpay.", "voucher."))]
    assert handed == ["handpay.pending", "handpay.way", "handpay.returned", "voucher.request", "voucher.out"]
    assert room.records("handpay.returned")[0]["person"] == "attendant"
    assert Auditor(Shelf()).run(room.journal.iter_bodies()).findings == []
    room.close()


@pytest.mark.requirement("F-09")
def test_the_player_may_think_again_and_is_paid_by_hand(tmp_path):
    room = waiting(tmp_path)
    room.engine.handle(EventType.FAULT_CLEARED, code=PAPER)
    room.engine.handle(EventType.CASH_OUT)
    room.engine.handle(EventType.CASH_OUT)
    assert told(room).ticket == "offered"
    room.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (room.state, room.journal.balance_cents(HAND)) == (State.IDLE, 2000)
    assert Auditor(Shelf()).run(room.journal.iter_bodies()).findings == []
    room.close()


@pytest.mark.requirement("F-09", "G-10")
def test_an_attendant_who_expects_a_ticket_does_not_settle_what_he_has_not_paid(tmp_path):
    """The paper ends again between the player's wish and the key: the hand-pay stands until a second turn."""
    room = waiting(tmp_path)
    room.engine.handle(EventType.FAULT_CLEARED, code=PAPER)
    room.engine.handle(EventType.CASH_OUT)
    room.engine.handle(EventType.FAULT_RAISED, code=PAPER)
    room.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (room.state, room.notice) == (State.HANDPAY, "ticket_impossible")
    assert room.journal.balance_cents(HAND) == 0
    room.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (room.state, room.journal.balance_cents(HAND)) == (State.IDLE, 2000)
    room.close()


@pytest.mark.requirement("J-08", "J-16")
def test_where_the_key_alone_is_not_enough_a_person_lets_it(tmp_path):
    place = tmp_path / "generic.toml"
    place.write_bytes(load_profile("generic").file.data + b'\n[staff]\nkey_alone = ["answer_calls"]\n')
    room = waiting(tmp_path / "state", profile=place)
    menu = Menu(room)
    room.engine.handle(EventType.FAULT_CLEARED, code=PAPER)
    room.engine.handle(EventType.CASH_OUT)
    room.engine.handle(EventType.KEY_TURNED, key="attendant")
    menu.prove(Role.ATTENDANT)
    print_it(room)
    assert room.journal.balance_cents(TICKET) == 2000
    assert room.records("handpay.returned")[0]["person"] == NUMBERS[Role.ATTENDANT]
    assert Auditor(Shelf()).run(room.journal.iter_bodies()).findings == []
    room.close()


@pytest.mark.parametrize("place", ["refused here", "a jackpot", "its form is begun", "too much"])
def test_nothing_else_becomes_a_ticket(tmp_path, place):
    rules = {
        "refused here": (b"[by_hand]", b"[by_hand]\nticket_instead = false"),
        "too much": (b"[tickets]\nlimit_cents = 300000", b"[tickets]\nlimit_cents = 1000"),
    }
    if place in rules:
        profile = tmp_path / "generic.toml"
        text = load_profile("generic").file.data.replace(*rules[place])
        profile.write_bytes(text.replace(b"within_pay_out = true", b"within_pay_out = false"))
        room = waiting(tmp_path / "state", profile=profile)
        room.engine.handle(EventType.FAULT_CLEARED, code=PAPER)
    else:
        room = waiting(tmp_path)
        room.engine.handle(EventType.FAULT_CLEARED, code=PAPER)
        handpay = room.machine.memory.get(MoneyKey.HANDPAY)
        more = {"kind": "jackpot"} if place == "a jackpot" else {"form": {"method": "cash", "persons": []}}
        write_undeclared(room.machine, "planted", state={MoneyKey.HANDPAY: {**handpay, **more}})
    room.engine.handle(EventType.CASH_OUT)
    assert (room.notice, told(room).ticket) == ("refused.ticket_may_replace", "")
    room.close()


STEPS = ("paper", "no paper", "cash out", "key", "printed", "failed", "bill", "play", "restart", "cut")


@settings(deadline=None, max_examples=40)
@given(st.lists(st.sampled_from(STEPS), max_size=16), st.integers(0, 4))
def test_in_any_order_the_money_is_in_one_place(tmp_path_factory, steps, entries):
    """All the player has put in is on the meter, reserved, on a ticket, paid by hand, wagered or won: once."""
    folder = tmp_path_factory.mktemp("any")
    room = waiting(folder)

    def again():
        room.close()
        return MachineRig(folder, devices=("printer",)).boot()

    def do(step):
        match step:
            case "paper":
                room.engine.handle(EventType.FAULT_CLEARED, code=PAPER)
            case "no paper":
                room.engine.handle(EventType.FAULT_RAISED, code=PAPER)
            case "cash out":
                room.engine.handle(EventType.CASH_OUT)
            case "key":
                room.engine.handle(EventType.KEY_TURNED, key="attendant")
            case "printed" | "failed" if room.ledgers.printing.find_open() is not None:
                room.report_print_state(PrintState.PRINTING)
                room.report_print_state(PrintState.BARCODE_DONE if step == "printed" else PrintState.FAILED)
                if step == "printed":
                    room.report_print_state(PrintState.TAKEN)
            case "bill":
                room.offer(500)
                if room.hands.orders[-1] == ("stack", room._escrow):
                    room.ledger.credit_stacked_paper()
                    room.ledger.vend_confirmed()
            case "play" if room.state is State.IDLE:
                room.play()
                room.report_shown()

    for step in steps:
        if step == "restart":
            room = again()
        elif step == "cut":
            room.cut_power_after(entries)
        else:
            try:
                do(step)
            except PowerCutError:
                room = again()
        values = room.journal.meters().values
        held = sum(
            flow.amount_cents
            for reserved in room.journal.list_pending()
            for flow in reserved.transfers
            if flow.source.startswith("credit:")
        )
        on_tickets, by_hand = room.journal.balance_cents(TICKET), room.journal.balance_cents(HAND)
        put_in = values["money_in"] + values["coin_out"] + values["att_jackpot"] - values["coin_in"]
        assert room.machine.credit_cents + held + on_tickets + by_hand == put_in
        issued = [t for t in room.store.records() if t.state is TicketState.ISSUED]
        assert sum(t.ticket.amount_cents for t in issued) == on_tickets
    room.close()
