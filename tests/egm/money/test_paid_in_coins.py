"""What a hopper has paid of a cash-out is told with whatever is paid of it after: on the page, the slip, the books.

Goal: a hand-pay says what was owed, what came as coins and what is left, whatever lies between, and no lie about it
passes the audit.
"""

import json
from contextlib import suppress

import pytest

from egm.app.view import snapshot
from egm.devices.interface import PrintState
from egm.devices.ledgers import PayoutRecord
from egm.kernel.events import EventType, State
from egm.money.disputed import list_disputed_amounts
from egm.money.keys import MoneyKey
from egm.people import Role
from egm.profiles import load_profile
from egm.testing.clearing import build_paid_decision, clear_with_decisions
from egm.testing.machine import MachineRig, PowerCutError, write_undeclared
from egm.testing.service_menu import Menu
from meters.keys import MachineKey
from tools.audit.games import Shelf
from tools.audit.verify import Auditor
from tools.dev.lies import adopted, mark_of, rewrite_chain

KEY = MachineKey(bytes(range(32)))


@pytest.fixture
def coins_first(tmp_path):
    """A place whose machines pay in coins first."""
    text = load_profile("generic").file.data.decode()
    place = tmp_path / "coins.toml"
    place.write_text(text.replace('order = ["ticket", "coins"]', 'order = ["coins", "ticket"]'))
    return place


def cashed_out(folder, place, *devices, cents=525):
    """A machine whose hopper has been told to pay what it can of the credit."""
    room = MachineRig(folder / "state", profile=place, devices=("hopper", *devices)).boot()
    room.insert(500)
    for number in range(1, (cents - 500) // 25 + 1):
        room.ledgers.coins.credit_coins_in(((25, True),), number)
    room.engine.handle(EventType.CASH_OUT)
    return room


def hopper_pays(room, coins, doubt=""):
    payout_id, number = room.hands.payouts[-1]
    room.ledgers.payouts.open_payout(
        PayoutRecord(payout_id=payout_id, coins=number, events_before=0, count_before=0)
    )
    room.ledgers.payouts.close_payout(payout_id, coins, doubt)


def told(room):
    """What the page tells: owed, paid in coins, left."""
    handpay = snapshot(room.engine, fingerprint="").handpay
    return handpay.owed_cents, handpay.coins_cents, handpay.amount_cents


def ends_honest(room):
    findings = Auditor(Shelf()).run(room.journal.iter_bodies()).findings
    room.close()
    assert findings == []


@pytest.mark.requirement("G-08", "F-09", "F-13")
@pytest.mark.parametrize(("paid", "left"), [(5, 25), (2, 325), (0, 525)], ids=["whole coins", "dry", "empty"])
def test_a_hand_pay_tells_what_was_owed_and_what_came_as_coins(tmp_path, coins_first, paid, left):
    room = cashed_out(tmp_path, coins_first)
    hopper_pays(room, paid)
    assert room.state is State.HANDPAY
    assert told(room) == ((525, paid * 100, left) if paid else (0, 0, left))
    room.engine.handle(EventType.KEY_TURNED, key="attendant")
    slip = room.records("handpay.paid")[0]
    assert slip.get("in_coins") == ({"owed_cents": 525, "paid_cents": paid * 100} if paid else None)
    room.insert(500)
    room.engine.handle(EventType.CASH_OUT)
    hopper_pays(room, 5)
    room.insert(500)
    room.engine.handle(EventType.FAULT_RAISED, code="hopper.hopper_empty")
    room.engine.handle(EventType.CASH_OUT)
    assert told(room) == (0, 0, 500)  # coins of an earlier cash-out are none of this one's
    ends_honest(room)


@pytest.mark.requirement("G-08", "F-09")
def test_coins_nobody_knows_of_are_told_apart(tmp_path, coins_first):
    """Three coins are for a person to decide: what is left by hand is less than what was owed and not paid."""
    room = cashed_out(tmp_path, coins_first)
    hopper_pays(room, 2, "its count was lost")
    assert told(room) == (525, 200, 25)
    ends_honest(room)


@pytest.mark.requirement("G-10", "F-09")
def test_a_ticket_that_fails_in_between_is_no_end_of_it(tmp_path, coins_first):
    room = cashed_out(tmp_path, coins_first, "printer")
    hopper_pays(room, 5)
    room.report_print_state(PrintState.FAILED, "it jams")
    assert told(room) == (525, 500, 25)
    room.engine.handle(EventType.CASH_OUT)  # the player would rather have a ticket
    room.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert room.machine.memory.get(MoneyKey.PAY_OUT)["way"] == "ticket"
    room.report_print_state(PrintState.FAILED, "it jams again")
    assert told(room) == (525, 500, 25)
    ends_honest(room)


@pytest.mark.requirement("F-09", "G-10:c", "F-01")
def test_coins_are_paid_while_the_ticket_before_lies_in_the_printers_path(tmp_path):
    """Its bar code is done and nobody has taken it: the machine stopped for ever, the coins' credit in it."""
    room = MachineRig(tmp_path / "state", devices=("printer", "hopper")).boot().insert(500)
    room.engine.handle(EventType.CASH_OUT)
    for state in (PrintState.PRINTING, PrintState.BARCODE_DONE):
        room.report_print_state(state)
    room.ledgers.coins.credit_coins_in(((100, True),), 1)
    room.engine.handle(EventType.CASH_OUT)
    assert (room.state, room.machine.memory.get(MoneyKey.PAY_OUT)["way"]) == (State.PAYING, "coins")
    hopper_pays(room, 1)
    room.report_print_state(PrintState.TAKEN)
    assert (room.state, room.credit_cents) == (State.IDLE, 0)
    ends_honest(room)


@pytest.mark.requirement("F-09", "G-10")
def test_a_hopper_filled_again_pays_the_rest_and_both_are_told(tmp_path, coins_first):
    room = cashed_out(tmp_path, coins_first, "printer", cents=500)
    hopper_pays(room, 2)
    room.engine.handle(EventType.CASH_OUT)
    room.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert room.state is State.PAYING
    hopper_pays(room, 1)
    assert told(room) == (500, 300, 200)
    ends_honest(room)


@pytest.mark.requirement("A-08", "F-13", "G-08")
@pytest.mark.parametrize("written", range(4))
def test_a_cut_at_any_entry_loses_none_of_it(tmp_path, coins_first, written):
    room = cashed_out(tmp_path, coins_first)
    payout_id, number = room.hands.payouts[-1]
    room.ledgers.payouts.open_payout(
        PayoutRecord(payout_id=payout_id, coins=number, events_before=0, count_before=0)
    )
    room.cut_power_after(written)
    try:
        room.ledgers.payouts.close_payout(payout_id, 2)
    except PowerCutError:
        room.close()
        room = MachineRig(tmp_path / "state", profile=coins_first, devices=("hopper",)).boot()
        if room.ledgers.payouts.find_open() is not None:
            room.ledgers.payouts.close_payout(payout_id, 2)
    assert room.state is State.HANDPAY
    assert told(room) == (525, 200, 325)
    ends_honest(room)


@pytest.mark.requirement("F-10")
def test_a_rest_that_was_taken_away_is_no_rest_of_the_next_player(tmp_path, coins_first):
    """It was cashed out unasked as soon as the next player put a bill in."""
    room = cashed_out(tmp_path, coins_first)
    room.engine.handle(EventType.DOOR_OPENED, door="main")
    hopper_pays(room, 5)
    assert room.credit_cents == 25
    menu = Menu(room).sign_in(Role.SUPERVISOR)
    room.engine.handle(EventType.DOOR_CLOSED, door="main")
    menu.fill("orphan_credits", "bank 4").home().touch("leave")
    assert (room.state, room.credit_cents) == (State.IDLE, 0)
    room.insert(1000)
    assert (room.state, room.credit_cents) == (State.IDLE, 1000)
    ends_honest(room)


@pytest.mark.requirement("A-05", "F-10")
@pytest.mark.parametrize("by_hand", [False, True])
def test_a_rest_at_a_clear_of_the_memory_is_paid_once(tmp_path, coins_first, by_hand):
    """Carried over it goes on by itself; paid by hand it is no rest of the next player's credit."""
    room = cashed_out(tmp_path, coins_first)
    room.engine.handle(EventType.DOOR_OPENED, door="main")
    hopper_pays(room, 5)
    assert room.credit_cents == 25
    room.close()
    clear_with_decisions(
        tmp_path / "state", **({"credit_1_cashable": build_paid_decision(25)} if by_hand else {})
    )
    room = MachineRig(tmp_path / "state", profile=coins_first, devices=("hopper",)).boot()
    room.engine.handle(EventType.DOOR_CLOSED, door="main")
    if by_hand:
        assert (room.state, room.credit_cents) == (State.IDLE, 0)
        room.ledgers.coins.credit_coins_in(((25, True),), 2)
        assert (room.state, room.credit_cents) == (State.IDLE, 25)
    else:
        assert (room.state, told(room)) == (State.HANDPAY, (525, 500, 25))
    ends_honest(room)


@pytest.mark.requirement("F-10")
@pytest.mark.parametrize("first", [[], [25]], ids=["taken away", "added to"])
def test_a_later_credit_that_is_as_much_as_a_rest_was_is_not_it(tmp_path, coins_first, first):
    """The next player's coin was worth what had been taken away: it was paid by hand, unasked."""
    room = cashed_out(tmp_path, coins_first)
    room.engine.handle(EventType.DOOR_OPENED, door="main")
    hopper_pays(room, 5)
    for cents in first:
        room.ledgers.coins.credit_coins_in(((cents, True),), 2)
    menu = Menu(room).sign_in(Role.SUPERVISOR)
    room.engine.handle(EventType.DOOR_CLOSED, door="main")
    menu.fill("orphan_credits", "bank 4").home().touch("leave")
    assert len(list(room.journal.entries("cashout.ended"))) == 1
    room.ledgers.coins.credit_coins_in(((25, True),), 3)
    assert (room.state, room.credit_cents) == (State.IDLE, 25)
    ends_honest(room)


@pytest.mark.requirement("A-08", "F-10", "G-08")
@pytest.mark.parametrize("written", range(3))
def test_a_rest_outlasts_a_ruling_that_the_power_was_cut_in(tmp_path, coins_first, written):
    """What was set aside for the ruling is on the credit meter between its two entries."""

    def again():
        room.close()
        return MachineRig(tmp_path / "state", profile=coins_first, devices=("hopper",)).boot()

    room = cashed_out(tmp_path, coins_first)
    room.cut_power_after(5)  # before the hand-pay of the rest
    with pytest.raises(PowerCutError):
        hopper_pays(room, 2, "its count was lost")
    room = again()
    [disputed] = list_disputed_amounts(room.machine)
    ruling = {"disputed": disputed, "amount_cents": 100, "reason": "one was seen to fall"}
    Menu(room).sign_in(Role.SUPERVISOR)
    room.cut_power_after(written)
    with suppress(PowerCutError):
        room.engine.handle(
            EventType.DISPUTED_AMOUNT_RULING, form="disputed", person="5", persons=("5",), **ruling
        )
    room = again()
    assert bool(list_disputed_amounts(room.machine)) is (written == 0)
    if written:
        Menu(room).sign_in(Role.SUPERVISOR).home().touch("leave")
        assert told(room) == (525, 200, 25)
    else:
        assert room.machine.memory.get(MoneyKey.GOES_ON)["rest_cents"] == room.credit_cents == 25
    ends_honest(room)


# ------------------------------------------------------------------------------------------ lies about it
def findings(entries):
    report = Auditor(Shelf()).run(rewrite_chain(entries, KEY, mark_of(entries[0])))
    return {finding.sequence for finding in report.findings}


LIES = (
    ("coins.out", ("record", "in_coins", "paid_cents")),
    ("coins.out", ("state", "cash_out_goes_on", "in_coins", "owed_cents")),
    ("coins.out", ("state", "cash_out_goes_on", "rest_cents")),
    ("cashout.void", ("state", "coins_gone", "in_coins", "owed_cents")),
    ("cashout.void", ("state", "coins_gone", "in_coins", "paid_cents")),
    ("handpay.pending", ("state", "handpay", "in_coins", "owed_cents")),
    ("handpay.pending", ("state", "handpay", "in_coins", "paid_cents")),
    ("handpay.paid", ("record", "in_coins", "owed_cents")),
    ("handpay.paid", ("record", "in_coins", "paid_cents")),
)


@pytest.mark.requirement("E-13")
def test_a_rest_that_is_on_the_meter_does_not_end_by_itself(tmp_path, coins_first):
    """A journal that ends one untouched would hide what has come as coins."""
    room = cashed_out(tmp_path, coins_first)
    room.engine.handle(EventType.DOOR_OPENED, door="main")
    hopper_pays(room, 5)
    write_undeclared(room.machine, "cashout.ended", state={MoneyKey.GOES_ON: None})
    found = Auditor(Shelf()).run(room.journal.iter_bodies()).findings
    room.close()
    assert ["still the player's credit" in str(each) for each in found] == [True]


@pytest.mark.requirement("E-13")
@pytest.mark.parametrize(
    ("kind", "path"), LIES, ids=lambda each: each if isinstance(each, str) else ".".join(each)
)
@pytest.mark.parametrize("what", ["otherwise", "left out"])
def test_a_lie_about_the_coins_is_named(tmp_path, coins_first, kind, path, what):
    room = cashed_out(tmp_path, coins_first)
    hopper_pays(room, 2)
    room.engine.handle(EventType.KEY_TURNED, key="attendant")
    honest = adopted(list(room.journal.iter_bodies()), KEY)
    room.close()
    assert findings(honest) == set()
    entries = json.loads(json.dumps(honest))
    place = next(each for each in entries if each["kind"] == kind)
    for part in path[:-1] if what == "otherwise" else path[:-2]:
        place = place[part]
    if what == "otherwise":
        place[path[-1]] += 1
    else:
        del place[path[-2]]
    assert findings(entries)
