"""Payouts by ticket, by coins and by an attendant; at every step the value is in exactly one place."""

from contextlib import suppress
from datetime import timedelta

import pytest

from egm.app.wiring import iter_reported_events
from egm.config.cabinet_file import TicketValidator
from egm.devices.cctalk.hopper import CctalkHopperDriver
from egm.devices.interface import Barcode, MoneyDevices, PaperReturned, PrintState, ReturnReason
from egm.devices.ledgers import PayoutRecord
from egm.devices.line import LineSettings, SerialLine
from egm.host.transfer_interface import HostTransferInterface
from egm.kernel.events import EventType, State
from egm.kernel.logs import Log
from egm.money.host_money import HostMoney
from egm.money.keys import MoneyKey
from egm.profiles import load_profile
from egm.testing.machine import (
    DEFAULT_GAME_ID,
    GeneratorOutOfService,
    MachineRig,
    PowerCutError,
    write_undeclared_entry,
)
from egm.tickets.desk import TicketDesk
from egm.tickets.model import TicketState
from meters import Transfer

VOUCHERS = "out:voucher:cashable"


@pytest.fixture
def rig(tmp_path):
    rig = MachineRig(tmp_path, devices=("printer",)).boot()
    yield rig.insert(2000)
    rig.close()


def list_voucher_log(rig) -> list[str]:
    """Return the kinds of the entries that the log of tickets shows."""
    return [entry.kind for entry in rig.machine.entry_declarations.read_log(rig.journal, Log.TICKETS)]


def restart(rig, folder, **options) -> MachineRig:
    rig.close()
    return MachineRig(folder, **{"devices": ("printer",), **options}).boot()


@pytest.mark.requirement("H-06", "F-08", "D-04", "P-08")
def test_credits_become_a_ticket_when_its_bar_code_is_done(rig):
    rig.engine.handle(EventType.CASH_OUT)
    assert (rig.state, rig.credit_cents) == (State.PAYING, 0)
    rig.report_print_state(PrintState.PRINTING)
    number = rig.hands.jobs[-1].barcode
    assert rig.journal.balance_cents(VOUCHERS) == 0
    assert rig.ticket_store.find_ticket(number).state is TicketState.RESERVED
    assert list_voucher_log(rig) == []
    rig.report_print_state(PrintState.BARCODE_DONE)
    assert rig.state is State.IDLE
    assert list_voucher_log(rig) == ["voucher.out"]
    assert rig.journal.balance_cents(VOUCHERS) == 2000
    assert rig.ticket_store.find_ticket(number).state is TicketState.ISSUED
    rig.report_print_state(PrintState.TAKEN)
    assert rig.machine.memory.get(MoneyKey.PRINT_JOB) is None
    meters = rig.journal.meters().values
    assert (meters["ticket_out.cashable.value"], meters["ticket_out.cashable.count"]) == (2000, 1)


@pytest.mark.requirement("P-08", "H-02")
def test_the_ticket_states_its_amount_to_the_cent(rig):
    write_undeclared_entry(rig.machine, "test.bill", transfers=_fund(35))
    rig.engine.handle(EventType.CASH_OUT)
    fields = rig.hands.jobs[-1].fields
    assert fields["amount"].endswith("20.35")
    assert fields["amount_words"] == "Twenty dollars and thirty-five cents"


@pytest.mark.requirement("H-03")
def test_a_coupon_states_the_credits_of_the_denomination_that_it_refunds(tmp_path):
    rig = MachineRig(tmp_path, profile="quebec-vlt", devices=("printer",)).boot().insert(2000)
    rig.engine.handle(EventType.SELECT_DENOMINATION, value=25)
    rig.engine.handle(EventType.CASH_OUT)
    fields = rig.hands.jobs[-1].fields
    assert (fields["amount"], fields["credits"]) == ("20,00 $ / $20.00", "CRÉDITS / CREDITS : 80")
    rig.close()


@pytest.mark.requirement("H-02", "J-15")
@pytest.mark.parametrize(("language", "words"), [("en", "twenty"), ("fr", "vingt")])
def test_the_ticket_says_what_it_must_in_the_players_language(rig, language, words):
    rig.engine.handle(EventType.SELECT_LANGUAGE, value=language)
    rig.engine.handle(EventType.CASH_OUT)
    job = rig.hands.jobs[-1]
    printed = " | ".join(job.fields.values())
    assert job.template == "generic"
    assert job.barcode in printed.replace("-", "")
    for needed in ("20", words, "TEST-1", "2026-01-01", "2027-01-01", "0001"):
        assert needed in printed.lower() or needed in printed
    assert " 7 TEST-1" in " ".join(printed.split()), "the operator's number, then the serial number"


@pytest.mark.requirement("F-09", "H-06", "G-10:b")
def test_a_ticket_that_fails_is_void_and_paid_by_hand(rig):
    rig.engine.handle(EventType.CASH_OUT)
    number = rig.hands.jobs[-1].barcode
    rig.report_print_state(PrintState.PRINTING)
    rig.report_print_state(PrintState.FAILED, "jam")
    assert rig.state is State.HANDPAY
    assert rig.machine.memory.get(MoneyKey.HANDPAY)["amount_cents"] == 2000
    assert rig.ticket_store.find_ticket(number).state is TicketState.VOID
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert rig.journal.balance_cents(VOUCHERS) == 0
    assert rig.journal.balance_cents("out:handpay_cancelled_credit") == 2000


@pytest.mark.requirement("G-10:a")
@pytest.mark.parametrize(
    ("fault", "way"),
    [
        *(
            (code, State.HANDPAY)
            for code in ("paper_out", "jam", "communication", "failure", "power", "head_up", "chassis_open")
        ),
        ("paper_low", State.PAYING),
    ],
)
def test_a_printer_with_a_fault_gets_no_order(rig, fault, way):
    rig.engine.handle(EventType.FAULT_RAISED, code=f"ticket_printer.{fault}")
    rig.engine.handle(EventType.CASH_OUT)
    assert rig.state is way
    assert len(rig.hands.jobs) == (way is State.PAYING)


@pytest.mark.requirement("H-11", "F-07:a")
@pytest.mark.parametrize("kind", ["cashable", "nonrestricted"])
def test_credit_of_both_payable_kinds_counts_towards_the_ticket_limit(tmp_path, kind):
    """The player has the limit of 3,000 dollars in cashable credit, and one cent more."""
    rig = MachineRig(tmp_path, devices=("printer",)).boot()
    for _ in range(29):
        rig.insert(10000)
    write_undeclared_entry(rig.machine, "test.bill", transfers=_fund(10000))
    write_undeclared_entry(rig.machine, "aft.in", transfers=_fund(1, kind))
    rig.engine.handle(EventType.CASH_OUT)
    assert rig.state is State.HANDPAY
    rig.close()


@pytest.mark.requirement("F-07:a")
@pytest.mark.parametrize(("dollars", "way"), [(100, State.PAYING), (101, State.HANDPAY)])
def test_above_the_coins_that_a_hopper_may_pay_an_attendant_pays(tmp_path, dollars, way):
    rig = MachineRig(tmp_path, devices=("hopper",)).boot()
    write_undeclared_entry(rig.machine, "test.bill", transfers=_fund(dollars * 100))
    rig.engine.handle(EventType.CASH_OUT)
    assert rig.state is way
    rig.close()


@pytest.mark.requirement("F-07:a")
@pytest.mark.parametrize("fault", ["hopper_empty", "failure", "communication", "power", "sensor_stuck"])
def test_a_hopper_with_a_fault_gets_no_order(tmp_path, fault):
    rig = MachineRig(tmp_path, devices=("hopper",)).boot().insert(2000)
    rig.engine.handle(EventType.FAULT_RAISED, code=f"hopper.{fault}")
    rig.engine.handle(EventType.CASH_OUT)
    assert rig.state is State.HANDPAY
    assert rig.machine.memory.get(MoneyKey.HANDPAY)["kind"] == "cancelled_credit"
    rig.close()


@pytest.mark.requirement("H-11", "F-07:a")
@pytest.mark.parametrize(("bills", "way"), [(30, State.PAYING), (31, State.HANDPAY)])
def test_above_the_ticket_limit_an_attendant_pays(tmp_path, bills, way):
    rig = MachineRig(tmp_path, devices=("printer",)).boot()
    for _ in range(bills - 1):
        rig.insert(10000)
    write_undeclared_entry(rig.machine, "test.bill", transfers=_fund(10000))
    rig.engine.handle(EventType.CASH_OUT)
    assert rig.state is way
    rig.close()


@pytest.mark.requirement("H-11", "F-07:a")
@pytest.mark.parametrize(("bills", "way"), [(30, State.PAYING), (31, State.HANDPAY)])
def test_above_the_ticket_limit_no_number_is_requested_from_the_host(tmp_path, bills, way):
    host = HostMoney(ticket_validator=TicketValidator.SYSTEM, is_online=True)
    rig = MachineRig(tmp_path, devices=("printer",), host=host).boot()
    for _ in range(bills - 1):
        rig.insert(10000)
    write_undeclared_entry(rig.machine, "test.bill", transfers=_fund(10000))
    rig.engine.handle(EventType.CASH_OUT)
    assert rig.state is way
    rig.close()


def _fund(cents, kind="cashable"):
    from meters import Transfer

    return (Transfer("world:bill", f"credit:1:{kind}", cents),)


@pytest.mark.requirement("G-10:c")
def test_the_next_ticket_waits_until_the_last_is_taken(rig):
    rig.engine.handle(EventType.CASH_OUT)
    rig.report_print_state(PrintState.PRINTING)
    rig.report_print_state(PrintState.BARCODE_DONE)
    rig.insert(500)
    rig.engine.handle(EventType.CASH_OUT)  # the last one is still in the mouth of the printer
    assert rig.state is State.HANDPAY


@pytest.mark.parametrize("state", [PrintState.FAILED, PrintState.DISPUTED])
def test_a_ticket_may_be_printed_as_soon_as_a_slip_has_failed(tmp_path, state):
    """Regression: the mandatory cash-out took the printer in the same report, and the machine stopped."""
    profile = tmp_path / "place.toml"
    sold = load_profile("quebec-vlt").file.data.decode()
    profile.write_text(sold.replace("[staff]", "[staff]\nslips = true"))
    host = HostMoney(can_transfer=True, is_online=True)
    rig = MachineRig(tmp_path / "state", profile=profile, devices=("printer",), host=host).boot()
    HostTransferInterface(rig.engine, rig.submit_event).set_cash_out_terms(
        is_offered_to_host=True, is_host_only=True
    )
    fund = (Transfer("world:bill", "credit:1:cashable", 100_000),)
    write_undeclared_entry(rig.machine, "test.fund", transfers=fund)
    rig.engine.handle(EventType.TOGGLE_SERVICE_CALL)
    rig.engine.handle(EventType.TRANSFER_LOCK_ENDED)  # the host has not taken the mandatory cash-out
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    rig.engine.handle(EventType.DOOR_CLOSED, door="main")
    rig.report_print_state(PrintState.PRINTING)
    host.is_online = False
    rig.report_print_state(state, "jam")
    assert (rig.state, len(rig.hands.jobs)) == (State.PAYING, 2)
    for following in (PrintState.PRINTING, PrintState.BARCODE_DONE):
        rig.report_print_state(following)
    assert rig.journal.balance_cents(VOUCHERS) == 100_000
    rig.close()


@pytest.mark.requirement("A-08", "H-06")
@pytest.mark.parametrize("cut_after", ["reserved", "given", "printing", "done"])
def test_a_ticket_survives_a_restart_at_every_step(rig, tmp_path, cut_after):
    rig.engine.handle(EventType.CASH_OUT)
    number = rig.hands.jobs[-1].barcode
    if cut_after == "reserved":  # before the printer's driver had it
        write_undeclared_entry(rig.machine, "test.forget", state={MoneyKey.PRINT_JOB: None})
    if cut_after in {"printing", "done"}:
        rig.report_print_state(PrintState.PRINTING)
    if cut_after == "done":
        rig.report_print_state(PrintState.BARCODE_DONE)
    restarted = restart(rig, tmp_path)
    if cut_after == "reserved":
        assert [job.barcode for job in restarted.hands.jobs] == [number]  # the same ticket, once
    else:
        assert restarted.hands.jobs == []
    if cut_after == "done":
        assert restarted.state is State.IDLE
    else:
        assert restarted.state is State.PAYING
        if cut_after != "printing":
            restarted.report_print_state(PrintState.PRINTING)
        restarted.report_print_state(PrintState.BARCODE_DONE)
    assert restarted.journal.balance_cents(VOUCHERS) == 2000
    assert restarted.ticket_store.find_ticket(number).state is TicketState.ISSUED
    assert restarted.credit_cents == 0
    restarted.close()


@pytest.mark.requirement("F-09", "H-06")
def test_a_ticket_of_a_printer_removed_at_a_restart_is_void_and_paid_by_hand(rig, tmp_path):
    """It was never ordered. If it had been, staff would decide (test_printed_ticket_disputed)."""
    rig.engine.handle(EventType.CASH_OUT)
    number = rig.hands.jobs[-1].barcode
    restarted = restart(rig, tmp_path, devices=())
    assert (restarted.state, restarted.machine.memory.get(MoneyKey.HANDPAY)["amount_cents"]) == (
        State.HANDPAY,
        2000,
    )
    assert restarted.ticket_store.find_ticket(number).state is TicketState.VOID
    restarted.close()


@pytest.mark.requirement("A-08")
def test_a_power_cut_between_the_ledgers_leaves_no_worthless_ticket(rig, tmp_path):
    ticket = rig.machine.component(TicketDesk).prepare_ticket("cashout-99", 2000, denomination_cents=5)
    restarted = restart(rig, tmp_path)  # numbered, never reserved in the journal
    assert restarted.ticket_store.find_ticket(ticket.number).state is TicketState.VOID
    assert restarted.credit_cents == 2000
    restarted.close()


def test_a_power_cut_before_the_ticket_ledger_records_the_print(rig, tmp_path, monkeypatch):
    rig.engine.handle(EventType.CASH_OUT)
    number = rig.hands.jobs[-1].barcode
    rig.report_print_state(PrintState.PRINTING)
    monkeypatch.setattr(
        rig.machine.find_installed(TicketDesk), "record_printed", lambda number: None
    )  # the power is cut here
    rig.report_print_state(PrintState.BARCODE_DONE)
    assert rig.ticket_store.find_ticket(number).state is TicketState.RESERVED
    restarted = restart(rig, tmp_path)
    assert restarted.ticket_store.find_ticket(number).state is TicketState.ISSUED
    restarted.close()


def test_without_numbers_there_is_no_ticket_and_the_attendant_pays(tmp_path):
    rig = MachineRig(tmp_path, devices=("printer",), generator=GeneratorOutOfService()).boot().insert(2000)
    rig.engine.handle(EventType.CASH_OUT)
    assert rig.state is State.OUT_OF_SERVICE
    rig.engine.handle(EventType.CASH_OUT)
    assert rig.state is State.HANDPAY
    rig.close()


@pytest.mark.requirement("F-11", "N-07")
def test_in_quebec_video_lottery_a_coupon_is_printed_automatically_at_1000_dollars(tmp_path):
    rig = MachineRig(tmp_path, profile="quebec-vlt", devices=("printer",)).boot()
    for _ in range(49):
        rig.insert(2000)
    rig.insert(1000)
    assert (rig.state, rig.credit_cents) == (State.IDLE, 99000)
    rig.insert(1000)
    assert rig.state is State.PAYING
    assert "COUPON DE REMBOURSEMENT" in str(rig.hands.jobs[-1].fields)
    for state in (PrintState.PRINTING, PrintState.BARCODE_DONE):
        rig.report_print_state(state)
    assert (rig.state, rig.credit_cents) == (State.IDLE, 0)
    rig.close()


# ---------------------------------------------------------------------------------------------- tickets in
@pytest.mark.requirement("H-08", "H-07", "D-04", "F-01")
def test_a_ticket_is_redeemed_once(rig, tmp_path):
    number = rig.cash_out_ticket()
    rig.offer_ticket(number)
    assert rig.hands.orders[-1][0] == "stack"
    assert rig.credit_cents == 0
    rig.escrow_ledger.credit_stacked_paper()
    rig.escrow_ledger.close_confirmed_paper()
    assert rig.credit_cents == 2000
    assert rig.journal.meters().values["ticket_in.cashable.value"] == 2000
    assert rig.journal.meters().values["ticket_in.cashable.count"] == 1
    assert rig.ticket_store.find_ticket(number).state is TicketState.REDEEMED
    rig.offer_ticket(number)
    assert rig.hands.orders[-1][0] == "return"
    assert rig.notice == "ticket_refused.redeemed"
    assert rig.credit_cents == 2000


@pytest.mark.requirement("G-16", "H-12:a", "H-12:b")
@pytest.mark.parametrize(
    ("digits", "reason"),
    [("123456789012345678", "misread"), ("910000000000004573", "unknown"), ("9", "misread")],
)
def test_an_unknown_ticket_is_returned_with_the_reason(rig, digits, reason):
    from egm.tickets.numbers import is_stand_alone_number

    if reason == "unknown" and not is_stand_alone_number(digits):
        digits = next(d for d in (f"9100000000000{n:05d}" for n in range(99999)) if is_stand_alone_number(d))
    rig.offer_ticket(digits)
    assert rig.hands.orders[-1][0] == "return"
    assert rig.notice == f"ticket_refused.{reason}"


@pytest.mark.requirement("H-08", "G-05")
@pytest.mark.parametrize("end", ["stacked", "returned"])
def test_a_ticket_in_the_acceptor_survives_a_restart(rig, tmp_path, end):
    number = rig.cash_out_ticket()
    rig.offer_ticket(number)
    restarted = restart(rig, tmp_path)
    assert restarted.escrow_ledger.find_open().content.digits == number
    assert restarted.ticket_store.find_ticket(number).state is TicketState.PENDING
    if end == "stacked":
        restarted.escrow_ledger.credit_stacked_paper()
        assert restarted.ticket_store.find_ticket(number).state is TicketState.REDEEMED
    else:
        restarted.escrow_ledger.void_unstacked_paper("it came back")
        assert restarted.ticket_store.find_ticket(number).state is TicketState.ISSUED
    assert restarted.credit_cents == (2000 if end == "stacked" else 0)
    restarted.close()


@pytest.mark.requirement("A-08")
def test_a_restart_between_lock_and_order_frees_the_ticket(rig, tmp_path):
    number = rig.cash_out_ticket()
    rig.machine.component(TicketDesk).begin_redemption("ticket-77", number)
    restarted = restart(rig, tmp_path)
    assert restarted.ticket_store.find_ticket(number).state is TicketState.ISSUED
    restarted.close()


@pytest.mark.requirement("H-08")
def test_a_ticket_given_back_between_lock_and_order_is_good_again(rig, monkeypatch):
    number = rig.cash_out_ticket()
    with monkeypatch.context() as patch:
        patch.setattr(rig.hands, "stack", lambda _: None)  # the acceptor returns the ticket before the order
        rig.offer_ticket(number)
    assert rig.ticket_store.find_ticket(number).state is TicketState.PENDING
    returned = PaperReturned(device="bill", content=Barcode(number), reason=ReturnReason.RETURNED_BY_ACCEPTOR)
    for event in iter_reported_events(returned, "bill_acceptor", ()):
        rig.submit_event(event)
    assert (rig.ticket_store.find_ticket(number).state, rig.credit_cents) == (TicketState.ISSUED, 0)
    rig.offer_ticket(number)
    rig.escrow_ledger.credit_stacked_paper()
    assert rig.credit_cents == 2000


@pytest.mark.requirement("E-06")
def test_the_journal_has_no_complete_ticket_number(rig):
    number = rig.cash_out_ticket()
    rig.offer_ticket(number)
    rig.escrow_ledger.credit_stacked_paper()
    assert not [entry.sequence for entry in rig.journal.entries() if number in str(entry)]


@pytest.mark.requirement("H-10")
def test_an_expired_ticket_is_refused(rig):
    number = rig.cash_out_ticket()
    rig.clock.pass_seconds(400 * 86400)
    rig.offer_ticket(number)
    assert rig.notice == "ticket_refused.expired"


# ---------------------------------------------------------------------------------------------- coins
@pytest.fixture
def coins(tmp_path):
    profile = tmp_path / "coins.toml"
    from egm.profiles import profile as module

    text = (module._PROFILES_FOLDER / "generic.toml").read_text()
    profile.write_text(text.replace('order = ["ticket", "coins"]', 'order = ["coins", "ticket"]'))
    rig = MachineRig(tmp_path / "state", profile=profile, devices=("hopper",)).boot()
    yield rig
    rig.close()


@pytest.mark.requirement("D-13", "G-09", "F-01", "P-08")
def test_coins_in_are_credited_once_by_the_acceptors_own_count(coins):
    coins.device_ledgers.coin_ledger.credit_coins_in(((100, True), (200, False)), 2)
    assert coins.credit_cents == 300
    assert coins.device_ledgers.coin_ledger.find_exchange_progress() == 2
    values = coins.journal.meters().values
    assert (values["phys_coin_in"], values["coin_drop"]) == (300, 200)


def _order(rig):
    payout_id, number = rig.hands.payouts[-1]
    record = PayoutRecord(
        payout_id=payout_id, ordered_coins=number, order_counter_before=0, lifetime_paid_before=0
    )
    rig.device_ledgers.payout_ledger.open_payout(record)
    return payout_id, number


def _pay_coins_and_a_rest(coins):
    coins.insert(500)
    coins.device_ledgers.coin_ledger.credit_coins_in(((25, True),), 1)
    coins.engine.handle(EventType.CASH_OUT)
    payout_id, number = _order(coins)
    assert number == 5
    coins.device_ledgers.payout_ledger.close_payout(payout_id, 5)
    assert coins.journal.balance_cents("out:hopper") == 500
    assert coins.journal.meters().values["phys_coin_out"] == 500


@pytest.mark.requirement("D-13", "F-10", "F-13", "P-08")
def test_the_hopper_pays_whole_coins_and_the_remainder_is_paid_in_the_next_way(coins, tmp_path):
    _pay_coins_and_a_rest(coins)
    assert (coins.state, coins.credit_cents) == (State.HANDPAY, 0)
    assert coins.journal.meters().values["hopper_level"] == 25 - 500, "no fill was recorded"
    assert coins.machine.memory.get(MoneyKey.HANDPAY)["amount_cents"] == 25
    assert coins.machine.memory.get(MoneyKey.CASH_OUT_REMAINDER) is None


@pytest.mark.requirement("F-10", "A-08")
@pytest.mark.parametrize("stopped", ["door", "restart"])
def test_payment_of_the_remainder_continues_after_an_interruption(coins, tmp_path, stopped):
    if stopped == "door":
        coins.insert(500)
        coins.device_ledgers.coin_ledger.credit_coins_in(((25, True),), 1)
        coins.engine.handle(EventType.CASH_OUT)
        payout_id, _ = _order(coins)
        coins.engine.handle(EventType.DOOR_OPENED, door="main")
        coins.device_ledgers.payout_ledger.close_payout(payout_id, 5)
        assert (coins.state, coins.credit_cents) == (State.DOOR_OPEN, 25)
        coins.engine.handle(EventType.DOOR_CLOSED, door="main")
        restarted = coins
    else:  # cut right after the coins were settled
        coins.device_ledgers.coin_ledger.credit_coins_in(((25, True),), 1)
        write_undeclared_entry(coins.machine, "test.cut", state={MoneyKey.CASH_OUT_REMAINDER: True})
        coins.close()
        restarted = MachineRig(
            tmp_path / "state", profile=tmp_path / "coins.toml", devices=("hopper",)
        ).boot()
    assert (restarted.state, restarted.credit_cents) == (State.HANDPAY, 0)
    assert restarted.machine.memory.get(MoneyKey.HANDPAY)["amount_cents"] == 25
    restarted.close()


@pytest.mark.requirement("F-10")
def test_the_remainder_stays_on_the_credit_meter_if_the_profile_says_so(coins, tmp_path):
    coins.close()
    profile = tmp_path / "stays.toml"
    text = (tmp_path / "coins.toml").read_text()
    profile.write_text(text.replace("[pay_out]", '[pay_out]\nrest = "stays"'))
    rig = MachineRig(tmp_path / "again", profile=profile, devices=("hopper",)).boot()
    _pay_coins_and_a_rest(rig)
    assert (rig.state, rig.credit_cents) == (State.IDLE, 25)
    rig.close()


@pytest.mark.requirement("F-10", "D-13")
def test_a_remainder_below_every_way_of_payment_may_be_given_up_if_the_profile_says_so(coins, tmp_path):
    profile = tmp_path / "residual.toml"
    text = (tmp_path / "coins.toml").read_text()
    profile.write_text(text.replace("[pay_out]", '[pay_out]\nresidual = "given_up"'))
    rig = MachineRig(tmp_path / "again", profile=profile, devices=("hopper",)).boot()
    rig.device_ledgers.coin_ledger.credit_coins_in(((25, True),), 1)
    for machine in (coins, rig):  # one place does not allow it; at the other 25 still buys a game of 5
        machine.engine.handle(EventType.USE_RESIDUAL_CREDIT)
        assert machine.notice == "refused.residual_may_go"
    write_undeclared_entry(
        rig.machine, "test.spend", transfers=(Transfer("credit:1:cashable", "house:wager", 22),)
    )
    assert rig.engine.accepts_event_type(EventType.USE_RESIDUAL_CREDIT)
    rig.engine.handle(EventType.USE_RESIDUAL_CREDIT)
    assert (rig.credit_cents, rig.journal.meters().values["residual_removed"]) == (0, 3)
    assert rig.records("residual.removed") == [{"amount_cents": 3}]
    rig.close()


def test_the_hopper_gets_one_order_whatever_happens_meanwhile(coins):
    coins.insert(500)
    coins.engine.handle(EventType.CASH_OUT)
    coins.engine.handle(EventType.TOGGLE_SERVICE_CALL)
    coins.engine.handle(EventType.FAULT_RAISED, code="ticket_printer.paper_low")
    assert len(coins.hands.payouts) == 1


#: Whatever a player can do at the screen or the deck.
PLAYERS = (
    (EventType.PLAY, {}),
    (EventType.CHOOSE, {"value": "collect"}),
    (EventType.SELECT_BET, {"value": 1}),
    (EventType.SELECT_GAME, {"value": DEFAULT_GAME_ID}),
    (EventType.SELECT_DENOMINATION, {"value": 25}),
    (EventType.CASH_OUT, {}),
    (EventType.SELECT_LANGUAGE, {"value": "fr"}),
    (EventType.TOGGLE_SERVICE_CALL, {}),
    (EventType.OUTCOME_SHOWN, {}),
    (EventType.DISMISS_REMINDER, {}),
    (EventType.SET_OWN_LIMIT, {"value": 100, "options": {"of": "cents"}}),
)


@pytest.mark.requirement("F-13:b")
def test_no_player_can_pause_a_payout_or_get_coins_otherwise(coins):
    for event, values in PLAYERS:
        coins.engine.handle(event, **values)
    assert coins.hands.payouts == [], "nothing is owed, and no coin leaves"
    coins.insert(500)
    coins.engine.handle(EventType.CASH_OUT)
    payout_id, number = _order(coins)
    for paid in range(1, number + 1):
        coins.device_ledgers.payout_ledger.record_coins_paid(payout_id, paid)
        for event, values in PLAYERS:
            coins.engine.handle(event, **values)
        assert coins.state is State.PAYING
        assert coins.hands.payouts == [(payout_id, number)], "neither another payout nor an end of this one"
        assert coins.records("game.start") == []
    coins.device_ledgers.payout_ledger.close_payout(payout_id, number)
    assert (coins.state, coins.credit_cents) == (State.IDLE, 0)
    assert coins.journal.balance_cents("out:hopper") == 500


@pytest.mark.requirement("A-08", "F-13")
@pytest.mark.parametrize("ordered", [False, True])
def test_a_payout_survives_a_restart(coins, tmp_path, ordered):
    coins.insert(500)
    coins.engine.handle(EventType.CASH_OUT)
    if ordered:
        _order(coins)
    coins.close()
    restarted = MachineRig(tmp_path / "state", profile=tmp_path / "coins.toml", devices=("hopper",)).boot()
    assert len(restarted.hands.payouts) == (
        0 if ordered else 1
    )  # an ordered payout is the driver's to resolve
    if not ordered:
        _order(restarted)
    restarted.device_ledgers.payout_ledger.close_payout(
        restarted.machine.memory.get(MoneyKey.PAY_OUT)["id"], 5
    )
    assert (restarted.state, restarted.credit_cents) == (State.IDLE, 0)
    restarted.close()


@pytest.mark.requirement("G-08", "F-09")
def test_a_short_payout_counts_the_paid_coins_and_the_remainder_is_paid_by_hand(coins):
    coins.insert(500)
    coins.engine.handle(EventType.CASH_OUT)
    payout_id, _ = _order(coins)
    coins.device_ledgers.payout_ledger.close_payout(payout_id, 2)
    assert coins.state is State.HANDPAY
    assert coins.journal.balance_cents("out:hopper") == 200
    assert coins.machine.memory.get(MoneyKey.HANDPAY)["amount_cents"] == 300


@pytest.mark.requirement("A-08", "F-09", "F-13", "G-08")
@pytest.mark.parametrize("paid", [5, 2, 6])
@pytest.mark.parametrize("written", range(4))
def test_the_end_of_a_payout_survives_a_power_cut_at_any_entry(coins, tmp_path, written, paid):
    """The coins that the hopper has counted are paid exactly once, wherever the power is cut between the entries."""
    coins.insert(500)
    coins.engine.handle(EventType.CASH_OUT)
    payout_id, _ = _order(coins)
    coins.cut_power_after(written)
    with suppress(PowerCutError):
        coins.device_ledgers.payout_ledger.close_payout(payout_id, paid)
    coins.close()
    restarted = MachineRig(tmp_path / "state", profile=tmp_path / "coins.toml", devices=("hopper",)).boot()
    open_payout = restarted.device_ledgers.payout_ledger.find_open()
    if open_payout is not None:  # the driver's report was not received, and is repeated
        restarted.device_ledgers.payout_ledger.close_payout(open_payout.payout_id, paid)
    by_hand = restarted.machine.memory.get(MoneyKey.HANDPAY) or {"amount_cents": 0}
    left_cents = min(paid * 100, 500)
    assert restarted.journal.balance_cents("out:hopper") == left_cents
    assert restarted.journal.balance_cents("stock:hopper") == -paid * 100
    assert (restarted.credit_cents, by_hand["amount_cents"]) == (0, 500 - left_cents)
    assert restarted.state is (State.HANDPAY if left_cents < 500 else State.IDLE)
    assert restarted.journal.meters().values["phys_coin_out"] == left_cents
    restarted.close()


def test_a_hopper_that_has_not_started_its_test_leaves_the_player_to_the_attendant(tmp_path):
    """Regression: the driver refused the second order, and the machine stopped."""
    rig = MachineRig(tmp_path, devices=("hopper",)).boot().insert(2000)
    line = SerialLine("none", LineSettings())
    driver = CctalkHopperDriver("hopper", line, lambda _: None, rig.device_ledgers.payout_ledger)
    rig.machine.component(MoneyDevices).hopper = driver
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    rig.engine.handle(
        EventType.START_DEVICE_TEST, device="hopper", test="pay", coins=1, person="3", persons=("3",)
    )
    rig.engine.handle(EventType.DOOR_CLOSED, door="main")
    rig.engine.handle(EventType.CASH_OUT)
    assert (rig.state, rig.machine.memory.get(MoneyKey.HANDPAY)["amount_cents"]) == (State.HANDPAY, 2000)
    rig.close()


@pytest.mark.requirement("G-08")
def test_an_empty_hopper_gets_no_order(coins):
    coins.insert(500)
    coins.engine.handle(EventType.FAULT_RAISED, code="hopper.hopper_empty")
    coins.engine.handle(EventType.CASH_OUT)
    assert coins.state is State.HANDPAY
    assert coins.hands.payouts == []


@pytest.mark.requirement("H-10")
@pytest.mark.parametrize(
    ("jurisdiction", "days"), [("generic", 365), ("quebec-casino", 365), ("quebec-vlt", 365)]
)
def test_a_ticket_states_its_last_day_and_is_accepted_until_its_end(tmp_path, jurisdiction, days):
    rig = MachineRig(tmp_path, profile=jurisdiction, devices=("printer",)).boot().insert(2000)
    number = rig.cash_out_ticket()
    last = rig.machine.local_date + timedelta(days=days)
    printed = " ".join(rig.hands.jobs[-1].fields.values())
    assert last.isoformat() in printed
    rig.clock.pass_seconds(days * 86400 - 3600)
    rig.offer_ticket(number)
    assert rig.notice != "ticket_refused.expired"
    rig.close()


@pytest.mark.requirement("H-10")
@pytest.mark.parametrize("jurisdiction", ["generic", "quebec-casino", "quebec-vlt"])
def test_a_ticket_is_refused_once_its_last_day_is_over(tmp_path, jurisdiction):
    rig = MachineRig(tmp_path, profile=jurisdiction, devices=("printer",)).boot().insert(2000)
    number = rig.cash_out_ticket()
    rig.clock.pass_seconds(366 * 86400 + 1)
    rig.offer_ticket(number)
    assert rig.notice == "ticket_refused.expired"
    rig.close()


@pytest.mark.requirement("D-13", "G-08")
def test_an_excess_coin_is_booked_as_missing_from_the_hopper(coins):
    coins.insert(500)
    coins.engine.handle(EventType.CASH_OUT)
    payout_id, number = _order(coins)
    coins.device_ledgers.payout_ledger.close_payout(payout_id, number + 1)
    values = coins.journal.meters().values
    assert (values["hopper_level"], values["phys_coin_out"]) == (-600, 500)
    assert (coins.credit_cents, coins.machine.memory.get(MoneyKey.HANDPAY)) == (0, None)
