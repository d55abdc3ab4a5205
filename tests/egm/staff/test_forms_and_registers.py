"""Hand-pays and decisions about money: forms, complements, orphaned credit, forfeits, refunds."""

import hashlib
from dataclasses import replace
from datetime import timedelta

import pytest
from rigs.forms import ONE, TWO, fill_in
from rigs.lies import audit_findings, read_signed_entries
from rigs.transfers import transfer_in, write_promotional_profile
from rigs.voids import make_undecided_game

from egm.app.features import FEATURES, STAFF_REGISTERS, list_staff_registers
from egm.errors import InvariantError, OperatorError
from egm.integrity.keys import IntegrityKey
from egm.kernel.credits import CreditKind
from egm.kernel.events import EventError, EventType, State
from egm.kernel.feature import Feature, Features
from egm.kernel.logs import Log
from egm.money.keys import MoneyKey
from egm.play.records.games import GameInProgress
from egm.play.rounds import can_collect_win_without_draw
from egm.profiles import profile as profiles
from egm.staff.identities import IDENTITY_FILE_NAME, IdentityRegister, compute_commitment
from egm.staff.registers import iter_register_lines
from egm.testing.machine import (
    GeneratorFailingDuringStep,
    GeneratorOutOfService,
    MachineRig,
    PowerCutError,
    ScriptedGenerator,
    write_undeclared_entry,
)
from egm.tickets.desk import TicketDesk
from egm.tickets.model import TicketState
from meters import SelfAuditFailed, Transfer
from paytables import Settlement

NAMED = {"name": "Anna Example", "document": "passport", "number": "X1234567"}
LANTERNS = (11, 11, 12)  # the stops of the highest prize
GENERIC = (profiles._PROFILES_FOLDER / "generic.toml").read_text()


def find_identity(register, commitment):
    """Return the identity record to which an entry refers by its commitment."""
    return next(record for record in register.iter_records() if record.commitment == commitment)


def write_profile(tmp_path, *changes: tuple[str, str], text: str = GENERIC):
    path = tmp_path / "place.toml"
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    return path


@pytest.fixture
def rig(tmp_path):
    profile_file = write_profile(
        tmp_path,
        ("identity_cents = 1000000", "identity_cents = 10000"),
        ("[by_hand]", "[by_hand]\ntax_cents = 10000"),
    )
    rig = MachineRig(tmp_path / "state", profile=profile_file).boot()
    yield rig
    rig.close()


def reopen(rig, tmp_path) -> MachineRig:
    rig.close()
    return MachineRig(tmp_path / "state", profile=tmp_path / "place.toml", devices=("printer",)).boot()


def register(rig, name):
    return list(iter_register_lines(STAFF_REGISTERS[name], rig.journal.entries()))


# ---------------------------------------------------------------------------------------------- the form
@pytest.mark.requirement("F-16:a", "F-16:b", "Q-01", "Q-03:b", "Q-19")
def test_above_the_threshold_nothing_is_paid_without_the_form(rig):
    rig.insert(10000)
    rig.engine.handle(EventType.CASH_OUT)
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (rig.state, rig.notice) == (State.HANDPAY, "refused.handpay_is_in_order")

    for lacking in (
        {**ONE, "method": "cheque"},
        *({**ONE, **NAMED, "method": "cash", name: "  "} for name in NAMED),
        {**ONE, **NAMED, "method": "barter"},
        {**ONE, **NAMED},
    ):
        fill_in(rig, "handpay", **lacking)
        assert rig.notice == "refused.payment_form_is_complete"
    fill_in(rig, "handpay", **NAMED, method="cash")  # no signature was verified
    assert rig.notice == "refused.authorised"
    assert rig.records("handpay.form") == []

    fill_in(rig, "handpay", **ONE, **NAMED, method="transfer")
    assert rig.state is State.HANDPAY
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert rig.state is State.IDLE
    (paid,) = register(rig, "handpays")
    assert (paid["slip"], paid["method"], paid["amount_cents"]) == (1, "transfer", 10000)
    assert (paid["taxable"], paid["persons"]) == (True, ["2", "attendant"])
    assert rig.journal.balance_cents("out:handpay_cancelled_credit") == 10000


@pytest.mark.requirement("Q-03:a", "J-15:c")
def test_a_hand_pay_is_settled_by_each_method_of_the_profile_named_on_its_slip(rig):
    for method in ("cash", "cheque", "transfer"):
        rig.insert(10000)
        rig.engine.handle(EventType.CASH_OUT)
        fill_in(rig, "handpay", **ONE, **NAMED, method=method)
        rig.engine.handle(EventType.KEY_TURNED, key="attendant")
        slip = register(rig, "handpays")[-1]
        assert (slip["method"], slip["amount_cents"], slip["machine"]) == (method, 10000, "TEST-1")


@pytest.mark.requirement("F-16:a", "F-16:c", "Q-01")
def test_a_win_above_the_threshold_is_paid_only_against_an_identity_document(rig):
    rig.insert(10000)
    rig.engine.handle(EventType.SELECT_DENOMINATION, value=100)
    rig.engine.handle(EventType.SELECT_BET, value=3)
    rig.machine.random_service = ScriptedGenerator(*LANTERNS)
    rig.play()
    rig.report_shown()
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (rig.state, rig.notice) == (State.HANDPAY, "refused.handpay_is_in_order")
    fill_in(rig, "handpay", **ONE, **{**NAMED, "document": " "}, method="cash")
    assert rig.notice == "refused.payment_form_is_complete"
    fill_in(rig, "handpay", **ONE, **NAMED, method="cash")
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    (paid,) = register(rig, "handpays")
    assert (rig.state, paid["kind"], paid["amount_cents"]) == (State.IDLE, "jackpot", 150_000)
    assert (
        find_identity(rig.machine.find_installed(IdentityRegister), paid["identity"]).text_by_field == NAMED
    )


@pytest.mark.requirement("F-16:a")
def test_a_host_does_not_settle_a_large_hand_pay_without_its_form(rig):
    rig.insert(10000)
    rig.engine.handle(EventType.CASH_OUT)
    rig.engine.handle(EventType.HANDPAY_RESET_BY_HOST, key="sas:1")
    assert (rig.state, register(rig, "handpays")) == (State.HANDPAY, [])
    fill_in(rig, "handpay", **ONE, **NAMED, method="cash")
    rig.engine.handle(EventType.HANDPAY_RESET_BY_HOST, key="sas:1")
    (paid,) = register(rig, "handpays")
    assert (rig.state, paid["amount_cents"]) == (State.IDLE, 10000)


@pytest.mark.requirement("F-16", "Q-19")
def test_below_the_threshold_no_form_is_required_and_slips_are_numbered(rig):
    for number in (1, 2):
        rig.insert(5000)
        rig.engine.handle(EventType.CASH_OUT)
        rig.engine.handle(EventType.KEY_TURNED, key="attendant")
        assert rig.state is State.IDLE
        assert register(rig, "handpays")[-1]["slip"] == number
    assert {line["taxable"] for line in register(rig, "handpays")} == {False}


@pytest.mark.requirement("Q-01", "A-08")
def test_a_completed_form_survives_a_restart(rig, tmp_path):
    rig.insert(10000)
    rig.engine.handle(EventType.CASH_OUT)
    fill_in(rig, "handpay", **ONE, **NAMED, method="cash")
    after = reopen(rig, tmp_path)
    after.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert after.state is State.IDLE
    after.close()


@pytest.mark.requirement("F-16:c", "Q-01")
def test_payee_is_in_a_separate_register_and_the_journal_has_its_commitment(rig, tmp_path):
    identities = rig.machine.find_installed(IdentityRegister)
    rig.insert(10000)
    rig.engine.handle(EventType.CASH_OUT)
    fill_in(rig, "handpay", **ONE, **NAMED, method="cash")
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    for entry in rig.journal.entries():
        assert not any(text in str(entry) for text in NAMED.values() if text != "passport")
    (paid,) = register(rig, "handpays")
    stored_identity = find_identity(identities, paid["identity"])
    assert (stored_identity.text_by_field, stored_identity.matches_commitment) == (NAMED, True)
    assert (
        compute_commitment(stored_identity.salt, stored_identity.subject, {**NAMED, "name": "Another"})
        != stored_identity.commitment
    )
    assert (tmp_path / "state" / IDENTITY_FILE_NAME).stat().st_mode & 0o077 == 0

    assert identities.erase_before(rig.clock.now()) == 0
    assert identities.erase_before(rig.clock.now() + timedelta(seconds=1)) == 1
    erased = find_identity(identities, paid["identity"])
    assert (erased.text_by_field, erased.salt, erased.matches_commitment) == (None, None, True)
    assert b"Anna" not in (tmp_path / "state" / IDENTITY_FILE_NAME).read_bytes()


def test_an_altered_register_of_identities_is_detected(tmp_path):
    register = IdentityRegister.open(tmp_path)
    rig = MachineRig(tmp_path / "state")
    commitment = register.store_identity("handpay-1", NAMED, rig.clock.now())
    register._copies[0].execute("UPDATE identity SET fields = replace(fields, 'Anna', 'Otto')")
    assert not find_identity(register, commitment).matches_commitment
    register.close()
    rig.close()


def test_an_unreadable_register_of_identities_is_named(tmp_path):
    (tmp_path / IDENTITY_FILE_NAME).mkdir()
    with pytest.raises(OperatorError, match=IDENTITY_FILE_NAME):
        IdentityRegister.open(tmp_path)


# ---------------------------------------------------------------------------------------------- the check
@pytest.mark.not_audited
@pytest.mark.requirement("Q-02")
def test_the_machine_is_checked_before_it_is_paid(tmp_path, monkeypatch):
    rig = MachineRig(tmp_path).boot().insert(500)
    rig.play()
    rig.report_shown()
    rig.engine.handle(EventType.CASH_OUT)
    fill_in(rig, "machine_check", **ONE, remark="seal whole")
    (check,) = register(rig, "checks")
    assert (check["game"], check["books"], check["persons"]) == ("right", "right", ["2"])
    assert check["handpay"] == rig.machine.memory.get(MoneyKey.HANDPAY)["id"]
    assert check["play_id"] == rig.records("game.start")[0]["play_id"]
    (record,) = rig.records("machine.checked")
    assert record["meters"]["coin_in"] == rig.journal.meters().values["coin_in"]
    assert rig.notice == "machine_checked"
    assert record["software"] is None  # a development checkout, which nobody has signed
    entries = list(rig.journal.entries())
    before = entries[[entry.kind for entry in entries].index("machine.checked") - 1]
    assert record["head"] == before.hash_hex

    software = {"version": "1", "signer": "ab", "components": {"rng": "11", "egm": "22"}}
    write_undeclared_entry(rig.machine, "software.changed", state={IntegrityKey.INSTALLED_SOFTWARE: software})
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    fill_in(rig, "machine_check", **ONE)
    signed = register(rig, "checks")[-1]["software"]
    assert signed["sha256"] == hashlib.sha256(b"egm 22\nrng 11").hexdigest()

    game_in_progress = rig.machine.component(GameInProgress)
    game_in_progress.record = replace(
        game_in_progress.record,
        outcome=replace(game_in_progress.record.outcome, settlements=(Settlement("x", 500),)),
    )
    fill_in(rig, "machine_check", **ONE)
    assert rig.notice == "machine_check_failed"
    assert "different outcome" in register(rig, "checks")[-1]["game"]

    def wrong():
        raise SelfAuditFailed("credits are 5, and 4 by the books")

    monkeypatch.setattr(rig.journal, "self_audit", wrong)
    fill_in(rig, "machine_check", **ONE)
    assert rig.notice == "machine_check_failed"
    assert "4 by the books" in register(rig, "checks")[-1]["books"]
    rig.close()


# ---------------------------------------------------------------------------------------------- complements
@pytest.mark.requirement("F-17", "Q-05")
def test_a_complement_is_paid_by_hand_and_moves_no_other_meter(rig):
    rig.insert(500)
    before = rig.journal.meters().values
    fill_in(rig, "complement", **ONE, amount_cents=700, reason="line 2 was not paid")
    after = rig.journal.meters().values
    moved = {name for name in after if after[name] != before.get(name, 0) and "." not in name}
    assert moved == {"complement", "complements", "money_out"}
    assert (after["complement"], after["coin_out"], rig.credit_cents) == (700, 0, 500)
    (line,) = register(rig, "complements")
    assert (line["amount_cents"], line["reason"], line["persons"]) == (700, "line 2 was not paid", ["2"])
    assert line["machine"] == rig.machine.identity.serial
    in_logs = {
        log
        for log in Log
        if any(e.kind == "complement.paid" for e in rig.machine.entry_declarations.read_log(rig.journal, log))
    }
    assert in_logs == {Log.EVENTS, Log.COMPLEMENTS}


@pytest.mark.requirement("F-17", "Q-05")
def test_a_complement_names_the_game_whose_combination_was_not_paid_in_full(rig):
    rig.insert(500)
    plays = []
    for _ in range(2):
        rig.play()
        rig.report_shown()
        plays.append(rig.records("game.end")[-1]["play_id"])
    fill_in(rig, "complement", **ONE, amount_cents=700, reason="line 2 was not paid")
    fill_in(rig, "complement", **ONE, amount_cents=300, reason="line 3 was not paid", play_id=plays[0])
    lines = {line["amount_cents"]: line["play_id"] for line in register(rig, "complements")}
    assert lines == {700: plays[1], 300: plays[0]}  # the last game, unless the form names another


@pytest.mark.requirement("F-17")
@pytest.mark.parametrize(
    "wrong",
    [
        {**ONE, "amount_cents": 0, "reason": "x"},
        {**ONE, "amount_cents": -5, "reason": "x"},
        {**ONE, "amount_cents": 700, "reason": " "},
    ],
)
def test_an_unsound_complement_is_refused(rig, wrong):
    fill_in(rig, "complement", **wrong)
    assert rig.notice == "refused.complement_is_sound"
    assert rig.records("complement.paid") == []


@pytest.mark.requirement("F-17")
@pytest.mark.parametrize("amount_cents", [True, "700"])
def test_a_complement_with_an_invalid_amount_is_refused(rig, amount_cents):
    with pytest.raises(EventError, match=r"complement: amount_cents is .*, not of type int"):
        fill_in(rig, "complement", **ONE, amount_cents=amount_cents, reason="x")
    assert rig.records("complement.paid") == []


@pytest.mark.requirement("F-17", "J-16", "Q-19")
@pytest.mark.parametrize("persons", [(), ("1",), ("3",), ("6",), ("2", "9")])
def test_only_a_supervisor_may_pay_a_complement(rig, persons):
    """Refused for nobody, an attendant, a mechanic, an inspector, and a person who is not enrolled."""
    fill_in(rig, "complement", persons=persons, amount_cents=700, reason="line 2")
    assert rig.notice == "refused.authorised"
    assert rig.records("complement.paid") == []


@pytest.mark.requirement("Q-19", "F-17", "Q-05")
def test_an_override_after_differing_signal_and_display_is_on_the_slip(rig):
    rig.insert(500)
    rig.engine.handle(EventType.CASH_OUT)
    fill_in(rig, "complement", **ONE, amount_cents=700, reason="the display says 12.00", slip=1)
    assert rig.notice == "refused.complement_is_sound"  # no slip is written yet
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    fill_in(rig, "complement", **ONE, amount_cents=700, reason="the display says 12.00", slip=1)
    (paid,), (complement,) = register(rig, "handpays"), register(rig, "complements")
    assert paid["time_utc"] == complement["time_utc"]
    assert [paid[name] for name in ("slip", "amount_cents", "kind", "taxable", "machine", "persons")] == [
        1, 500, "cancelled_credit", False, "TEST-1", ["attendant"],
    ]  # fmt: skip
    assert [complement[name] for name in ("slip", "amount_cents", "reason", "persons")] == [
        1, 700, "the display says 12.00", ["2"],
    ]  # fmt: skip
    fill_in(rig, "complement", **ONE, amount_cents=700, reason="another", slip=2)
    assert rig.notice == "refused.complement_is_sound"


# ---------------------------------------------------------------------------------------------- orphans
@pytest.mark.requirement("F-18", "Q-06", "Q-07")
def test_credits_without_an_owner_leave_only_by_a_recorded_decision(rig):
    rig.insert(500)
    write_undeclared_entry(
        rig.machine, "promo", transfers=(Transfer("world:aft_in:restricted", "credit:1:restricted", 40),)
    )
    fill_in(rig, "orphan_credits")  # no person is recorded
    assert (rig.notice, rig.credit_cents) == ("refused.authorised", 540)
    for place_answer in ({}, {"place": " "}):  # nor where
        fill_in(rig, "orphan_credits", **ONE, **place_answer)
        assert (rig.notice, rig.credit_cents) == ("refused.location_is_stated", 540)
    fill_in(rig, "orphan_credits", **ONE, place="slot room, bank 4")
    assert (rig.state, rig.credit_cents) == (State.IDLE, 0)
    (line,) = register(rig, "orphans")
    assert line["kind"] == "credits"
    assert (line["amount_cents"], line["place"], line["persons"]) == (500, "slot room, bank 4", ["2"])
    assert line["time_utc"].startswith("2026-01-01")
    values = rig.journal.meters().values
    assert (values["orphan"], values["expired"], values["att_cancel_credit"]) == (500, 40, 0)


@pytest.mark.requirement("Q-06", "A-08")
@pytest.mark.parametrize("cut", ["", "cut", "before prizes in kind"])
def test_an_unclaimed_hand_pay_is_booked_as_orphan_once_despite_power_cuts(rig, tmp_path, cut):
    rig.insert(2000)
    rig.engine.handle(EventType.CASH_OUT)
    handpay_id = rig.machine.memory.get(MoneyKey.HANDPAY)["id"]
    if cut:  # the power is cut between forfeiting the hand-pay and posting the orphan
        append = rig.journal.append

        def cut_short(transaction):
            if transaction.kind == "orphan.handpay":
                raise PowerCutError(transaction.id)
            return append(transaction)

        rig.journal.append = cut_short
        with pytest.raises(PowerCutError):
            fill_in(rig, "orphan_handpay", **TWO, place="bank 4")
        rig.journal.append = append
        assert rig.journal.balance_cents("house:orphan") == 0
        if cut != "cut":  # an earlier version recorded source and amount
            stored_handpay = rig.machine.memory.get(MoneyKey.UNCLAIMED_HANDPAY)
            flows = [[source, cents] for source, _, cents in stored_handpay["flows"]]
            write_undeclared_entry(
                rig.machine,
                "test.older",
                state={MoneyKey.UNCLAIMED_HANDPAY: {**stored_handpay, "flows": flows}},
            )
        rig = reopen(rig, tmp_path)
    else:
        fill_in(rig, "orphan_handpay", **TWO, place="bank 4")
    assert (rig.state, rig.credit_cents) == (State.IDLE, 0)
    assert rig.journal.balance_cents("house:orphan") == 2000
    (line,) = register(rig, "orphans")
    assert (line["amount_cents"], line["kind"], line["place"]) == (2000, "cancelled_credit", "bank 4")
    assert line["time_utc"] == rig.clock.now().isoformat()
    assert rig.journal.get(f"{handpay_id}.paid") is None
    rig.close()


@pytest.mark.requirement("H-13", "Q-06", "Q-07")
def test_a_found_ticket_is_redeemed_to_the_register_of_orphans(rig, tmp_path):
    printing = reopen(rig, tmp_path).insert(2000)
    number = printing.cash_out_ticket()
    for place_answer in ({}, {"place": " "}):
        fill_in(printing, "orphan_ticket", **ONE, number=number, **place_answer)
        assert printing.notice == "refused.location_is_stated"
    fill_in(printing, "orphan_ticket", **ONE, number=f" {number} ", place="floor, exit B")
    assert printing.ticket_store.find_ticket(number).state is TicketState.REDEEMED
    assert printing.journal.balance_cents("house:orphan") == 2000
    (line,) = register(printing, "orphans")
    assert line["kind"] == "ticket"
    assert (line["number"], line["place"]) == ("•" * 14 + number[-4:], "floor, exit B")
    assert (line["amount_cents"], line["time_utc"]) == (2000, printing.clock.now().isoformat())
    assert not [entry for entry in printing.journal.entries() if number in str(entry)]

    printing.offer_ticket(number)
    assert printing.notice == "ticket_refused.redeemed"
    fill_in(printing, "orphan_ticket", **ONE, number=number, place="floor")
    assert printing.notice == "ticket_refused.redeemed"
    assert printing.journal.balance_cents("house:orphan") == 2000
    fill_in(printing, "orphan_ticket", **ONE, number="", place="floor")
    assert printing.notice == "refused.found_ticket_is_named"
    printing.close()


@pytest.mark.requirement("H-13", "D-12")
def test_a_found_ticket_of_restricted_credit_is_not_unclaimed_money(tmp_path):
    """Regression: its amount was entered in the register of unclaimed money, although it can never be paid."""
    path = write_promotional_profile(tmp_path)
    rig = transfer_in(
        MachineRig(tmp_path / "state", profile=path, devices=("printer",)).boot(), restricted=300
    )
    number = rig.cash_out_ticket()
    fill_in(rig, "orphan_ticket", **ONE, number=number, place="floor")
    assert rig.notice == "ticket_refused.restricted"
    assert rig.ticket_store.find_ticket(number).state is TicketState.ISSUED
    assert rig.journal.balance_cents("house:orphan") == 0
    assert next(rig.journal.entries("orphan.refused", newest_first=True)).record["answer"] == "restricted"
    rig.offer_ticket(number)
    rig.escrow_ledger.credit_stacked_paper()
    assert rig.machine.read_credit_cents(CreditKind.RESTRICTED) == 300
    assert audit_findings(read_signed_entries(rig)) == {}


@pytest.mark.requirement("H-13", "A-08")
def test_a_power_cut_during_the_redemption_of_a_found_ticket_completes_it(rig, tmp_path, monkeypatch):
    printing = reopen(rig, tmp_path).insert(2000)
    number = printing.cash_out_ticket()
    monkeypatch.setattr(
        type(printing.machine.find_installed(TicketDesk)), "commit_redemption", lambda *_: None
    )
    fill_in(printing, "orphan_ticket", **ONE, number=number, place="floor")
    assert printing.ticket_store.find_ticket(number).state is TicketState.PENDING
    monkeypatch.undo()
    after = reopen(printing, tmp_path)
    assert after.ticket_store.find_ticket(number).state is TicketState.REDEEMED
    after.close()


# ---------------------------------------------------------------------------------------------- s.94, s.95
DISRUPTED = {"reason": "a magnet at the reels"}
QUEBEC = ("quebec-casino", "quebec-vlt")


@pytest.mark.requirement("F-14", "F-15")
@pytest.mark.parametrize("profile", QUEBEC)
def test_two_people_can_void_game_and_wager_of_a_player_who_disrupts_the_machine(tmp_path, profile):
    rig = make_undecided_game(tmp_path, profile)
    rig.play()
    credit_cents = rig.credit_cents
    rig.engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
    for lacking in ({**ONE, **DISRUPTED}, {"persons": ("2", "2"), **DISRUPTED}, {"persons": ("2", "1")}):
        fill_in(rig, "forfeit_game", **lacking)
        assert rig.notice == "refused.authorised"
    fill_in(rig, "forfeit_game", **TWO)
    assert rig.notice == "refused.game_is_forfeit"  # no reason is recorded
    fill_in(rig, "forfeit_game", **TWO, **DISRUPTED)
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (rig.state, rig.credit_cents) == (State.IDLE, credit_cents)
    assert rig.journal.balance_cents("house:win") == 0
    assert rig.journal.balance_cents("house:refund_defect") == 0
    (line,) = register(rig, "forfeited-games")
    assert (line["persons"], line["reason"]) == (["2", "5"], "a magnet at the reels")
    assert register(rig, "refunds") == []
    fill_in(rig, "forfeit_credits", **TWO, **DISRUPTED, amount_cents=100)
    assert (
        rig.notice == "refused.credits_are_forfeit"
    )  # under this profile, the player keeps the earlier credit
    rig.close()


@pytest.mark.requirement("F-15")
@pytest.mark.parametrize("profile", ["generic", "quebec-casino"])
def test_a_disrupted_prize_waiting_for_the_attendant_is_not_paid(tmp_path, profile):
    by_hand = ("large_win_cents = 120000", "large_win_cents = 1")
    text = (profiles._PROFILES_FOLDER / f"{profile}.toml").read_text("utf-8")
    profile_file = write_profile(tmp_path, by_hand, text=text)
    rig = MachineRig(tmp_path / "state", profile=profile_file).boot().insert(10000)
    while rig.state is not State.HANDPAY:
        rig.play()
        rig.report_shown()
    credit_cents = rig.credit_cents
    fill_in(rig, "forfeit_prize", **TWO, **DISRUPTED)
    assert (rig.state, rig.credit_cents) == (State.IDLE, credit_cents)
    assert rig.journal.balance_cents("out:handpay_jackpot") == 0
    assert register(rig, "forfeits")[0]["reason"] == "a magnet at the reels"
    rig.engine.handle(EventType.CASH_OUT)
    fill_in(rig, "forfeit_prize", **TWO, **DISRUPTED)  # credits are no prize
    assert rig.notice == "refused.prize_is_forfeit"
    rig.close()


@pytest.mark.requirement("F-15", "D-02")
def test_no_more_credit_is_forfeited_than_there_is(rig):
    rig.insert(500)
    for amount_cents in (0, 501):
        fill_in(rig, "forfeit_credits", **TWO, **DISRUPTED, amount_cents=amount_cents)
        assert rig.notice == "refused.credits_are_forfeit"
    fill_in(rig, "forfeit_credits", **TWO, **DISRUPTED, amount_cents=200)
    values = rig.journal.meters().values
    assert (rig.credit_cents, values["forfeit_tamper"], values["forfeits"]) == (300, 200, 1)
    (line,) = register(rig, "forfeits")
    assert (line["persons"], line["reason"], line["amount_cents"]) == (["2", "5"], *DISRUPTED.values(), 200)


@pytest.mark.requirement("F-14", "A-28")
@pytest.mark.parametrize("broken", [GeneratorOutOfService, GeneratorFailingDuringStep])
def test_an_unrecoverable_game_is_refunded_or_resumed(tmp_path, broken):
    rig = MachineRig(tmp_path, games=("hold-fast",)).boot().insert(500)
    for mended in (True, False):
        credit_cents = rig.credit_cents
        rig.play()
        while not mended and can_collect_win_without_draw(
            rig.machine
        ):  # an amount that is already won is collected instead
            rig.engine.handle(EventType.CHOOSE, value=rig.hands.messages[-1].options[0])
            rig.report_shown()
            credit_cents = rig.credit_cents
            rig.play()
        question = rig.hands.messages[-1]
        fill_in(rig, "refund_game", **ONE, reason="the player asks")
        assert rig.notice == "refused.playing"  # it can be finished, and no menu opens
        good, rig.machine.random_service = rig.machine.random_service, broken()
        rig.engine.handle(EventType.CHOOSE, value=question.options[0])
        assert rig.state is State.PLAYING
        assert rig.machine.memory.get(IntegrityKey.OUT_OF_SERVICE)["cause"] == "chance"
        if mended:
            rig.next_generators.append(good)
            rig.engine.handle(EventType.KEY_TURNED, key="attendant")
            rig.engine.handle(EventType.CHOOSE, value=question.options[0])
            rig.report_shown()
            assert (rig.state, rig.machine.active_faults) == (State.IDLE, {})
        else:
            fill_in(rig, "refund_game", **ONE, reason="the generator failed")
            assert rig.notice == "refused.authorised"  # one person alone undoes no game
            fill_in(rig, "refund_game", **TWO, reason="the generator failed")
            assert (rig.state, rig.credit_cents) == (State.OUT_OF_SERVICE, credit_cents)
    (line,) = register(rig, "refunds")
    assert (line["refund_cents"], line["reason"]) == (25, "the generator failed")
    rig.close()


@pytest.mark.requirement("F-14")
@pytest.mark.parametrize("profile", QUEBEC)
def test_the_stake_of_a_defective_machine_is_refunded_in_quebec(tmp_path, profile):
    rig = make_undecided_game(tmp_path, profile)
    stake_cents = 500 - rig.credit_cents
    assert stake_cents > 0
    rig.machine.random_service = GeneratorOutOfService()
    rig.engine.handle(EventType.CHOOSE, value=rig.hands.messages[-1].options[0])
    fill_in(rig, "refund_game", **TWO, reason="the generator failed")
    assert (rig.state, rig.credit_cents) == (State.OUT_OF_SERVICE, 500)
    assert rig.journal.meters().values["refund_defect"] == stake_cents
    rig.close()


@pytest.mark.requirement("Q-04", "Q-07")
@pytest.mark.parametrize(
    ("form_id", "name", "fields"),
    [
        (
            "dispute",
            "disputes",
            {"claim": "three sevens", "mechanic": "two sevens and a bell", "decision": "not paid"},
        ),
        ("exclusion", "exclusions", {"who": "Otto Example", "reason": "took an orphan"}),
    ],
)
def test_register_notes_require_every_field_and_a_person(rig, form_id, name, fields):
    for field in fields:
        fill_in(rig, form_id, **ONE, **{**fields, field: " "})
        assert rig.notice == "refused.register_note_is_complete"
    fill_in(rig, form_id, **fields)
    assert rig.notice == "refused.authorised"
    fill_in(rig, form_id, **ONE, **fields)
    (line,) = register(rig, name)
    assert line["persons"] == ["2"]
    assert not [entry for entry in rig.journal.entries() if "Otto" in str(entry)]
    shown = {key: value for key, value in fields.items() if key != "who"}
    assert {key: line[key] for key in shown} == shown
    if "who" in fields:
        assert find_identity(
            rig.machine.find_installed(IdentityRegister), line["identity"]
        ).text_by_field == {"who": "Otto Example"}


@pytest.mark.requirement("Q-02", "Q-04", "Q-05", "Q-06", "F-15", "D-10")
@pytest.mark.parametrize("name", ["complements", "disputes", "forfeits", "handpays", "orphans"])
def test_a_log_shows_what_the_register_of_the_same_name_lists(name):
    assert all(
        FEATURES.entry_declarations.belongs_to_log(kind, Log(name))
        for kind in STAFF_REGISTERS[name].entry_kinds
    )


def test_every_register_selects_declared_entries(rig):
    for register in STAFF_REGISTERS.values():
        assert register.columns
        assert all(rig.machine.entry_declarations.list_declarations(kind) for kind in register.entry_kinds), (
            register.name
        )


def test_two_registers_with_one_name_are_refused():
    with pytest.raises(InvariantError, match="two registers have the same name"):
        list_staff_registers(
            Features((*FEATURES.features, Feature(name="other", contributions=(STAFF_REGISTERS["fills"],))))
        )
