"""Coins that a hopper has paid of a cash-out are stated beside the remainder: on page, slip and records.

Goal: a hand-pay states what was owed, what was paid in coins and what remains, whatever happens in between, and every
false entry about it is reported.
"""

import json
from contextlib import suppress

import pytest

from egm.app.view import build_snapshot
from egm.devices.interface import PrintState
from egm.devices.ledgers import PayoutRecord
from egm.kernel.events import EventType, State
from egm.money.disputed_amounts import read_disputed_amounts_by_id
from egm.money.keys import MoneyKey
from egm.people import Role
from egm.profiles import load_profile
from egm.testing.clearing import build_paid_decision, clear_with_decisions
from egm.testing.machine import MachineRig, PowerCutError, write_undeclared_entry
from egm.testing.service_menu import STAFF_NUMBER_BY_ROLE, MenuUser
from meters.machine_key import MachineKey
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor
from tools.dev.lies import adopt_entries, compute_journal_tag, rewrite_chain

KEY = MachineKey(bytes(range(32)))


@pytest.fixture
def coins_first(tmp_path):
    """A profile whose machines pay in coins first."""
    text = load_profile("generic").file.data.decode()
    profile_file = tmp_path / "coins.toml"
    profile_file.write_text(text.replace('order = ["ticket", "coins"]', 'order = ["coins", "ticket"]'))
    return profile_file


def cash_out_in_coins(folder, profile_file, *devices, cents=525):
    """Return a machine whose hopper has been commanded to pay as much of the credit as it can."""
    rig = MachineRig(folder / "state", profile=profile_file, devices=("hopper", *devices)).boot()
    rig.insert(500)
    for number in range(1, (cents - 500) // 25 + 1):
        rig.device_ledgers.coin_ledger.credit_coins_in(((25, True),), number)
    rig.engine.handle(EventType.CASH_OUT)
    return rig


def hopper_pays(rig, coins, doubt=""):
    payout_id, number = rig.hands.payouts[-1]
    rig.device_ledgers.payout_ledger.open_payout(
        PayoutRecord(
            payout_id=payout_id, ordered_coins=number, order_counter_before=0, lifetime_paid_before=0
        )
    )
    rig.device_ledgers.payout_ledger.close_payout(payout_id, coins, doubt)


def read_handpay_cents(rig):
    """Return the page's amounts owed, paid in coins, and remaining."""
    handpay = build_snapshot(rig.engine).handpay
    return handpay.owed_cents, handpay.paid_in_coins_cents, handpay.amount_cents


def check_audit_without_findings(rig):
    findings = Auditor(GameFiles()).audit_entries(rig.journal.iter_bodies()).findings
    rig.close()
    assert findings == []


@pytest.mark.requirement("G-08", "F-09", "F-13")
@pytest.mark.parametrize(
    ("paid", "remaining_cents"), [(5, 25), (2, 325), (0, 525)], ids=["whole coins", "dry", "empty"]
)
def test_a_hand_pay_states_what_was_owed_and_paid_in_coins(tmp_path, coins_first, paid, remaining_cents):
    rig = cash_out_in_coins(tmp_path, coins_first)
    hopper_pays(rig, paid)
    assert rig.state is State.HANDPAY
    assert read_handpay_cents(rig) == (
        (525, paid * 100, remaining_cents) if paid else (0, 0, remaining_cents)
    )
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    slip = rig.records("handpay.paid")[0]
    assert slip.get("in_coins") == ({"owed_cents": 525, "paid_cents": paid * 100} if paid else None)
    rig.insert(500)
    rig.engine.handle(EventType.CASH_OUT)
    hopper_pays(rig, 5)
    rig.insert(500)
    rig.engine.handle(EventType.FAULT_RAISED, code="hopper.hopper_empty")
    rig.engine.handle(EventType.CASH_OUT)
    assert read_handpay_cents(rig) == (0, 0, 500)  # coins of an earlier cash-out do not count for this one
    check_audit_without_findings(rig)


@pytest.mark.requirement("G-08", "F-09")
def test_coins_of_unknown_whereabouts_are_listed_separately(tmp_path, coins_first):
    """Staff must decide on three coins; the remainder is less than what was owed and not paid."""
    rig = cash_out_in_coins(tmp_path, coins_first)
    hopper_pays(rig, 2, "its count was lost")
    assert read_handpay_cents(rig) == (525, 200, 25)
    check_audit_without_findings(rig)


@pytest.mark.requirement("G-10", "F-09")
def test_after_a_failed_ticket_the_coins_are_still_stated(tmp_path, coins_first):
    rig = cash_out_in_coins(tmp_path, coins_first, "printer")
    hopper_pays(rig, 5)
    rig.report_print_state(PrintState.FAILED, "it jams")
    assert read_handpay_cents(rig) == (525, 500, 25)
    rig.engine.handle(EventType.CASH_OUT)  # the player would rather have a ticket
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert rig.machine.memory.get(MoneyKey.PAY_OUT)["way"] == "ticket"
    rig.report_print_state(PrintState.FAILED, "it jams again")
    assert read_handpay_cents(rig) == (525, 500, 25)
    check_audit_without_findings(rig)


@pytest.mark.requirement("F-09", "G-10:c", "F-01")
def test_coins_are_paid_while_the_ticket_before_lies_in_the_printers_path(tmp_path):
    """Regression: until the player took the complete ticket, the machine stopped with credit for coins."""
    rig = MachineRig(tmp_path / "state", devices=("printer", "hopper")).boot().insert(500)
    rig.engine.handle(EventType.CASH_OUT)
    for state in (PrintState.PRINTING, PrintState.BARCODE_DONE):
        rig.report_print_state(state)
    rig.device_ledgers.coin_ledger.credit_coins_in(((100, True),), 1)
    rig.engine.handle(EventType.CASH_OUT)
    assert (rig.state, rig.machine.memory.get(MoneyKey.PAY_OUT)["way"]) == (State.PAYING, "coins")
    hopper_pays(rig, 1)
    rig.report_print_state(PrintState.TAKEN)
    assert (rig.state, rig.credit_cents) == (State.IDLE, 0)
    check_audit_without_findings(rig)


@pytest.mark.requirement("F-09", "G-10")
def test_a_refilled_hopper_pays_the_remainder_and_both_payouts_are_stated(tmp_path, coins_first):
    rig = cash_out_in_coins(tmp_path, coins_first, "printer", cents=500)
    hopper_pays(rig, 2)
    rig.engine.handle(EventType.CASH_OUT)
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert rig.state is State.PAYING
    hopper_pays(rig, 1)
    assert read_handpay_cents(rig) == (500, 300, 200)
    check_audit_without_findings(rig)


@pytest.mark.requirement("F-09", "G-10")
@pytest.mark.parametrize("coins", [3, 0], ids=["the rest", "nothing"])
def test_a_second_payout_in_coins_states_the_coins_of_the_first(tmp_path, coins_first, coins):
    """The second payout pays coins and a ticket for the cents, or nothing, and the attendant pays everything."""
    rig = cash_out_in_coins(tmp_path, coins_first, "printer")
    hopper_pays(rig, 2)
    rig.engine.handle(EventType.CASH_OUT)
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    hopper_pays(rig, coins)
    if coins:
        for state in (PrintState.PRINTING, PrintState.BARCODE_DONE, PrintState.TAKEN):
            rig.report_print_state(state)
        assert rig.records("coins.out")[-1]["in_coins"] == {"owed_cents": 525, "paid_cents": 200}
        assert rig.records("voucher.out")[0]["in_coins"] == {"owed_cents": 525, "paid_cents": 500}
    else:
        assert read_handpay_cents(rig) == (525, 200, 325)
        rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (rig.state, rig.credit_cents) == (State.IDLE, 0)
    check_audit_without_findings(rig)


@pytest.mark.requirement("A-08", "F-13", "G-08")
@pytest.mark.parametrize("written", range(4))
def test_a_power_cut_at_any_entry_loses_no_coins_paid(tmp_path, coins_first, written):
    rig = cash_out_in_coins(tmp_path, coins_first)
    payout_id, number = rig.hands.payouts[-1]
    rig.device_ledgers.payout_ledger.open_payout(
        PayoutRecord(
            payout_id=payout_id, ordered_coins=number, order_counter_before=0, lifetime_paid_before=0
        )
    )
    rig.cut_power_after(written)
    try:
        rig.device_ledgers.payout_ledger.close_payout(payout_id, 2)
    except PowerCutError:
        rig.close()
        rig = MachineRig(tmp_path / "state", profile=coins_first, devices=("hopper",)).boot()
        if rig.device_ledgers.payout_ledger.find_open() is not None:
            rig.device_ledgers.payout_ledger.close_payout(payout_id, 2)
    assert rig.state is State.HANDPAY
    assert read_handpay_cents(rig) == (525, 200, 325)
    check_audit_without_findings(rig)


@pytest.mark.requirement("F-10")
def test_an_amount_taken_away_is_not_attributed_to_the_next_player(tmp_path, coins_first):
    """Regression: it was cashed out without a request when the next player inserted a bill."""
    rig = cash_out_in_coins(tmp_path, coins_first)
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    hopper_pays(rig, 5)
    assert rig.credit_cents == 25
    menu = MenuUser(rig).sign_in(Role.SUPERVISOR)
    rig.engine.handle(EventType.DOOR_CLOSED, door="main")
    menu.open_and_fill_form("orphan_credits", "bank 4").home().touch("leave")
    assert (rig.state, rig.credit_cents) == (State.IDLE, 0)
    rig.insert(1000)
    assert (rig.state, rig.credit_cents) == (State.IDLE, 1000)
    check_audit_without_findings(rig)


@pytest.mark.requirement("A-05", "F-10")
@pytest.mark.parametrize("by_hand", [False, True])
def test_a_remaining_amount_at_a_memory_clear_is_paid_once(tmp_path, coins_first, by_hand):
    """Carried over, its payout continues; paid by hand, it is no residual credit of the next player."""
    rig = cash_out_in_coins(tmp_path, coins_first)
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    hopper_pays(rig, 5)
    assert rig.credit_cents == 25
    rig.close()
    clear_with_decisions(
        tmp_path / "state", **({"credit_1_cashable": build_paid_decision(25)} if by_hand else {})
    )
    rig = MachineRig(tmp_path / "state", profile=coins_first, devices=("hopper",)).boot()
    rig.engine.handle(EventType.DOOR_CLOSED, door="main")
    if by_hand:
        assert (rig.state, rig.credit_cents) == (State.IDLE, 0)
        rig.device_ledgers.coin_ledger.credit_coins_in(((25, True),), 2)
        assert (rig.state, rig.credit_cents) == (State.IDLE, 25)
    else:
        assert (rig.state, read_handpay_cents(rig)) == (State.HANDPAY, (525, 500, 25))
    check_audit_without_findings(rig)


@pytest.mark.requirement("F-10")
@pytest.mark.parametrize("first", [[], [25]], ids=["taken away", "added to"])
def test_later_credit_of_the_same_amount_is_not_the_remaining_amount(tmp_path, coins_first, first):
    """Regression: a coin of the same value as the amount taken away was paid by hand without a request."""
    rig = cash_out_in_coins(tmp_path, coins_first)
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    hopper_pays(rig, 5)
    for cents in first:
        rig.device_ledgers.coin_ledger.credit_coins_in(((cents, True),), 2)
    menu = MenuUser(rig).sign_in(Role.SUPERVISOR)
    rig.engine.handle(EventType.DOOR_CLOSED, door="main")
    menu.open_and_fill_form("orphan_credits", "bank 4").home().touch("leave")
    assert len(list(rig.journal.entries("cashout.ended"))) == 1
    rig.device_ledgers.coin_ledger.credit_coins_in(((25, True),), 3)
    assert (rig.state, rig.credit_cents) == (State.IDLE, 25)
    check_audit_without_findings(rig)


@pytest.mark.requirement("A-08", "F-10", "G-08")
@pytest.mark.parametrize("written", range(3))
def test_a_remaining_amount_survives_a_power_cut_during_a_ruling(tmp_path, coins_first, written):
    """Between the two entries of the ruling, the reserved amount is on the credit meter."""

    def reopen():
        rig.close()
        return MachineRig(tmp_path / "state", profile=coins_first, devices=("hopper",)).boot()

    rig = cash_out_in_coins(tmp_path, coins_first)
    rig.cut_power_after(5)  # before the hand-pay of the rest
    with pytest.raises(PowerCutError):
        hopper_pays(rig, 2, "its count was lost")
    rig = reopen()
    [disputed] = read_disputed_amounts_by_id(rig.machine)
    ruling = {"disputed": disputed, "amount_cents": 100, "reason": "one was seen to fall"}
    MenuUser(rig).sign_in(Role.SUPERVISOR)
    number = STAFF_NUMBER_BY_ROLE[Role.SUPERVISOR]
    rig.cut_power_after(written)
    with suppress(PowerCutError):
        rig.engine.handle(
            EventType.RULE_ON_DISPUTED_AMOUNT, form="disputed", person=number, persons=(number,), **ruling
        )
    rig = reopen()
    assert bool(read_disputed_amounts_by_id(rig.machine)) is (written == 0)
    if written:
        MenuUser(rig).sign_in(Role.SUPERVISOR).home().touch("leave")
        assert read_handpay_cents(rig) == (525, 200, 25)
    else:
        assert rig.machine.memory.get(MoneyKey.CASH_OUT_REMAINDER)["rest_cents"] == rig.credit_cents == 25
    check_audit_without_findings(rig)


# ------------------------------------------------------------------------------------------ false entries
def list_finding_sequences(entries):
    report = Auditor(GameFiles()).audit_entries(rewrite_chain(entries, KEY, compute_journal_tag(entries[0])))
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


@pytest.mark.not_audited
@pytest.mark.requirement("E-13")
def test_a_remaining_amount_on_the_credit_meter_stays(tmp_path, coins_first):
    """A journal that ended an unchanged remainder would hide the coins that were paid."""
    rig = cash_out_in_coins(tmp_path, coins_first)
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    hopper_pays(rig, 5)
    write_undeclared_entry(rig.machine, "cashout.ended", state={MoneyKey.CASH_OUT_REMAINDER: None})
    findings = Auditor(GameFiles()).audit_entries(rig.journal.iter_bodies()).findings
    rig.close()
    assert ["still the player's credit" in str(finding) for finding in findings] == [True]


@pytest.mark.requirement("E-13")
@pytest.mark.parametrize(
    ("kind", "path"),
    LIES,
    ids=lambda parameter: parameter if isinstance(parameter, str) else ".".join(parameter),
)
@pytest.mark.parametrize("change", ["otherwise", "left out"])
def test_the_audit_names_a_false_number_of_coins(tmp_path, coins_first, kind, path, change):
    rig = cash_out_in_coins(tmp_path, coins_first)
    hopper_pays(rig, 2)
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    honest = adopt_entries(list(rig.journal.iter_bodies()), KEY)
    rig.close()
    assert list_finding_sequences(honest) == set()
    entries = json.loads(json.dumps(honest))
    parent = next(entry for entry in entries if entry["kind"] == kind)
    for part in path[:-1] if change == "otherwise" else path[:-2]:
        parent = parent[part]
    if change == "otherwise":
        parent[path[-1]] += 1
    else:
        del parent[path[-2]]
    assert list_finding_sequences(entries)


def test_coins_ordered_before_a_change_of_the_profile_count_with_their_value(tmp_path, coins_first):
    rig = cash_out_in_coins(tmp_path, coins_first)
    rig.close()
    changed_file = tmp_path / "changed.toml"
    changed_file.write_text(coins_first.read_text().replace("hopper_cents = 100", "hopper_cents = 25"))
    rig = MachineRig(tmp_path / "state", profile=changed_file, devices=("hopper",)).boot()
    hopper_pays(rig, 2)
    assert read_handpay_cents(rig) == (525, 200, 325)
    assert rig.journal.balance_cents("out:hopper") == 200
    check_audit_without_findings(rig)
