"""After an authorised clear, the machine owes and pays what it owed before, and nothing that was settled."""

import shutil
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner
from rigs.three_levels import LINKED, LUCK, NO_LUCK, A, C, await_linked_award, make_levels_machine

from egm.app.features import FEATURES
from egm.app.view import build_snapshot
from egm.devices.interface import PrintState
from egm.features.memory_clear.carrying import inspect_claims, prepare_clearance
from egm.features.memory_clear.claims import CLAIM_KEY_BY_DEPENDENT_KEY, CLAIM_MAKER_BY_KEY
from egm.kernel.events import EventType, State
from egm.kernel.keys import ClearAction
from egm.money.keys import MoneyKey
from egm.play.records.games import GameInProgress
from egm.progressive.keys import ProgressiveKey
from egm.progressive.level import Level
from egm.testing.clearing import (
    CLEAR_PERSONS_AND_REASON,
    DECISION_ENDED,
    ClaimDecision,
    build_carried_decision,
    build_clearance,
    build_paid_decision,
    clear_with_decisions,
    read_clear_time,
)
from egm.testing.machine import MachineRig, ScriptedGenerator, write_undeclared_entry
from egm.tickets.cage import TicketCage
from egm.tickets.desk import TicketDesk
from egm.tickets.model import TicketState
from meters import JournalDamaged
from meters.clear import ClearRefused, clear_memory
from meters.recall import iter_recent_plays
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor
from tools.cli.commands.audit import command as audit

VECTORS = Path(__file__).parents[3] / "vectors"
LOSS, SOLD = 2, ("printer", "hopper")


def reopen_cleared(rig: MachineRig, folder: Path, *, make=None, **decisions: ClaimDecision) -> MachineRig:
    """Clear the machine's memory, start the machine again, and check that an audit has no findings."""
    rig.close()
    clear_with_decisions(folder, **decisions)
    started = (MachineRig(folder, devices=SOLD) if make is None else make()).boot()
    assert list_findings(started) == []
    return started


def list_findings(rig: MachineRig) -> list[str]:
    report = Auditor(GameFiles([VECTORS])).audit_entries(rig.journal.iter_bodies())
    return [f"{finding.id}: {finding.text}" for finding in report.findings]


def claims_of(folder: Path) -> dict[str, Fraction]:
    return {proposal.id: proposal.claim.amount for proposal in inspect_claims(folder, FEATURES).proposals}


# ---------------------------------------------------------------------------------------------- declarations
def test_every_stored_key_states_its_treatment_at_a_clear_and_debts_have_a_claim():
    owed = {key for key in FEATURES.storage_keys if key.clear_action is ClearAction.OWED}
    assert owed == CLAIM_MAKER_BY_KEY.keys() | CLAIM_KEY_BY_DEPENDENT_KEY.keys()
    assert not CLAIM_MAKER_BY_KEY.keys() & CLAIM_KEY_BY_DEPENDENT_KEY.keys()


# ---------------------------------------------------------------------------------------------- each claim
@pytest.mark.requirement("A-05", "A-20")
def test_credit_is_carried_over_and_can_be_cashed_out(tmp_path):
    rig = MachineRig(tmp_path, devices=SOLD).boot().insert(2000)
    rig.close()
    assert claims_of(tmp_path) == {"credit:1:cashable": 2000}
    rig = reopen_cleared(rig, tmp_path)
    values = rig.journal.meters().values
    assert (rig.credit_cents, values["carried_over"], values["money_in"]) == (2000, 2000, 0)
    number = rig.cash_out_ticket()
    assert rig.ticket_store.find_ticket(number).ticket.amount_cents == 2000
    assert list_findings(rig) == []
    rig.close()


@pytest.mark.requirement("A-20")
def test_after_a_clear_no_win_is_displayed(tmp_path):
    rig = MachineRig(tmp_path, devices=SOLD, generator=ScriptedGenerator(23, 7, 5)).boot().insert(2000)
    rig.play()
    rig.report_shown()
    before = build_snapshot(rig.engine)
    assert before.last_display["wins"]
    assert before.paid_cents
    rig = reopen_cleared(rig, tmp_path)
    after = build_snapshot(rig.engine)
    assert (after.last_display, after.paid_cents) == (None, 0)
    rig.close()


@pytest.mark.requirement("A-05")
def test_credit_paid_by_hand_at_the_clear_is_booked_and_not_owed_again(tmp_path):
    rig = MachineRig(tmp_path, devices=SOLD).boot().insert(2000)
    rig = reopen_cleared(rig, tmp_path, credit_1_cashable=build_paid_decision(2000))
    values = rig.journal.meters().values
    assert (rig.credit_cents, values["att_cancel_credit"]) == (0, 2000)
    (claim,) = next(rig.journal.entries()).record["cleared"]["claims"]
    assert (claim["act"], claim["paid_cents"], claim["by"]) == ("paid", 2000, "A. Tremblay")
    rig.close()


@pytest.mark.requirement("A-05", "F-09")
def test_a_waiting_jackpot_is_carried_over_and_paid(tmp_path):
    rig = win_by_hand(tmp_path)
    handpay = rig.machine.memory.get(MoneyKey.HANDPAY)
    rig.close()
    assert claims_of(tmp_path)["handpay:1"] == handpay["amount_cents"]
    rig = reopen_cleared(rig, tmp_path)
    assert rig.state is State.HANDPAY
    rig.engine.handle(EventType.KEY_TURNED)
    assert rig.state is State.IDLE
    assert rig.journal.meters().values["att_jackpot"] == handpay["amount_cents"]
    assert list_findings(rig) == []
    rig.close()


def win_by_hand(folder: Path) -> MachineRig:
    profile_file = folder / "place.toml"
    import egm.profiles

    sold = Path(egm.profiles.__file__).with_name("generic.toml").read_text()
    lines = [
        "large_win_cents = 100" if line.startswith("large_win_cents") else line for line in sold.split("\n")
    ]
    profile_file.write_text("\n".join(lines))
    rig = (
        MachineRig(folder, devices=SOLD, profile=profile_file, generator=ScriptedGenerator(23, 7, 5))
        .boot()
        .insert(2000)
    )
    rig.play()
    rig.report_shown()
    assert rig.state is State.HANDPAY
    return rig


@pytest.mark.requirement("A-05")
def test_a_jackpot_settled_by_hand_at_the_clear_is_not_paid_again(tmp_path):
    rig = win_by_hand(tmp_path)
    cents = rig.machine.memory.get(MoneyKey.HANDPAY)["amount_cents"]
    rig = reopen_cleared(rig, tmp_path, handpay_1=build_paid_decision(cents))
    assert rig.state is State.IDLE
    assert rig.journal.meters().values["att_jackpot"] == cents
    rig.close()


@pytest.mark.requirement("A-05")
def test_a_decided_game_is_shown_again_and_its_win_paid(tmp_path):
    rig = MachineRig(tmp_path, devices=SOLD, generator=ScriptedGenerator(23, 7, 5)).boot().insert(2000)
    rig.play()
    game = rig.machine.component(GameInProgress).record
    win_cents = game.win_cents
    assert win_cents > 0
    before = rig.credit_cents
    rig.close()
    assert claims_of(tmp_path)["game:1"] == win_cents
    rig = reopen_cleared(
        rig, tmp_path, make=lambda: MachineRig(tmp_path, devices=SOLD, generator=ScriptedGenerator())
    )
    assert rig.state is State.PLAYING
    rig.report_shown()
    assert (rig.state, rig.credit_cents) == (State.IDLE, before + win_cents)
    assert list_findings(rig) == []
    rig.close()


@pytest.mark.requirement("A-05")
def test_a_decided_game_paid_by_hand_at_the_clear_is_closed(tmp_path):
    rig = MachineRig(tmp_path, devices=SOLD, generator=ScriptedGenerator(23, 7, 5)).boot().insert(2000)
    rig.play()
    game = rig.machine.component(GameInProgress).record
    win_cents = game.win_cents
    before = rig.credit_cents
    rig = reopen_cleared(rig, tmp_path, game_1=build_paid_decision(win_cents))
    assert (rig.state, rig.credit_cents) == (State.IDLE, before)
    assert rig.journal.meters().values["att_jackpot"] == win_cents
    (play,) = iter_recent_plays(rig.journal)
    assert (play.play_id, play.bet_cents, play.payout_cents) == (game.play_id, game.wager_cents, None)
    assert play.end_kind == "clear.paid"  # no warning of an open game in the list
    rig.close()


@pytest.mark.requirement("A-05")
def test_prizes_in_kind_are_carried_over_and_handed_over(tmp_path):
    game = str(VECTORS / "fair.toml")
    folder = tmp_path / "state"
    rig = MachineRig(folder, games=(game,), generator=ScriptedGenerator(0, 0)).boot().insert(500)
    rig.play()
    rig.report_shown()
    rig = reopen_cleared(
        rig, folder, make=lambda: MachineRig(folder, games=(game,), generator=ScriptedGenerator())
    )
    assert rig.state is State.HANDPAY
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (rig.state, rig.notice) == (State.IDLE, "prize_delivered")
    assert rig.journal.meters().values["att_merchandise.value"] == 29000
    assert list_findings(rig) == []
    rig.close()


@pytest.mark.requirement("A-05", "I-12")
def test_levels_are_carried_over_to_the_fraction(tmp_path):
    rig = (
        make_levels_machine(tmp_path, *[number for _ in range(3) for number in (LOSS, NO_LUCK, 49)])
        .boot()
        .insert(500)
    )
    for _ in range(3):
        rig.play()
        rig.report_shown()
    levels_before = {key: dict(level) for key, level in rig.journal.states(ProgressiveKey.OWN_LEVEL).items()}
    assert any(Level.from_json(level).held_amount.denominator > 1 for level in levels_before.values())
    rig.close()
    owed = claims_of(tmp_path)
    assert {key: owed[key] for key in levels_before} == {
        key: Level.from_json(levels_before[key]).held_amount for key in levels_before
    }
    rig = reopen_cleared(rig, tmp_path, make=lambda: make_levels_machine(tmp_path, A, LUCK, 49))
    assert rig.journal.states(ProgressiveKey.OWN_LEVEL) == levels_before
    rig.play()
    rig.report_shown()
    assert list_findings(rig) == []
    assert rig.records("progressive.hit")
    rig.close()


@pytest.mark.requirement("A-05")
def test_a_game_with_a_pending_decision_asks_again(tmp_path):
    rig = make_levels_machine(tmp_path, C, NO_LUCK, 49).boot().insert(500)
    rig.play()
    question = rig.machine.component(GameInProgress).stepped_game.decision
    rig = reopen_cleared(rig, tmp_path, make=lambda: make_levels_machine(tmp_path))
    assert rig.machine.component(GameInProgress).stepped_game.decision == question
    rig.engine.handle(EventType.CHOOSE, value=question.options[0])
    rig.report_shown()
    assert rig.state in {State.IDLE, State.HANDPAY}
    assert list_findings(rig) == []
    (play,) = iter_recent_plays(rig.journal)
    assert (play.bet_cents, play.start_entry.kind, len(play.step_entries)) == (50, "game.carried", 1)
    rig.close()


@pytest.mark.requirement("A-05")
def test_a_stake_is_refunded_by_hand_if_the_persons_decide_so(tmp_path):
    rig = make_levels_machine(tmp_path, C, NO_LUCK, 49).boot().insert(500)
    rig.play()
    credit = rig.credit_cents
    rig = reopen_cleared(
        rig, tmp_path, make=lambda: make_levels_machine(tmp_path), game_1=build_paid_decision(50)
    )
    assert (rig.state, rig.credit_cents) == (State.IDLE, credit)
    assert rig.journal.meters().values["refund_defect"] == 50
    rig.close()


@pytest.mark.requirement("A-05", "I-07")
def test_a_game_waiting_for_its_linked_award_is_carried_over(tmp_path):
    rig = await_linked_award(tmp_path)
    claim = next(iter(rig.journal.states(ProgressiveKey.CLAIM))).removeprefix(ProgressiveKey.CLAIM)
    make = lambda: make_levels_machine(tmp_path, levels=LINKED, devices=("printer",))  # noqa: E731
    rig = reopen_cleared(rig, tmp_path, make=make)
    assert rig.state is State.AWAITING_AWARD
    credit = rig.credit_cents
    rig.engine.handle(EventType.AWARD_LOCKED, claim=claim, amount_cents=1700)
    assert rig.state is State.IDLE
    assert rig.credit_cents >= credit + 1700
    assert list_findings(rig) == []
    rig.close()


@pytest.mark.requirement("A-05", "H-06")
@pytest.mark.parametrize("end", [PrintState.BARCODE_DONE, PrintState.FAILED])
def test_a_ticket_in_the_printer_is_completed_by_the_printer(tmp_path, end):
    rig = MachineRig(tmp_path, devices=SOLD).boot().insert(2000)
    rig.engine.handle(EventType.CASH_OUT)
    rig.report_print_state(PrintState.PRINTING)
    number = rig.hands.jobs[-1].barcode
    rig.close()
    assert claims_of(tmp_path) == {"payout:1": 2000}
    rig = reopen_cleared(rig, tmp_path)
    assert (rig.state, rig.credit_cents) == (State.PAYING, 0)
    rig.report_print_state(end)
    if end is PrintState.BARCODE_DONE:
        assert rig.ticket_store.find_ticket(number).state is TicketState.ISSUED
        assert rig.journal.balance_cents("out:voucher:cashable") == 2000
    else:
        assert rig.ticket_store.find_ticket(number).state is TicketState.VOID
        assert rig.machine.memory.get(MoneyKey.HANDPAY)["amount_cents"] == 2000
    assert list_findings(rig) == []
    rig.close()


@pytest.mark.requirement("A-05", "H-06")
@pytest.mark.parametrize(
    ("decision", "ticket"),
    [
        (build_paid_decision(2000), TicketState.VOID),
        (ClaimDecision(decision=DECISION_ENDED), TicketState.ISSUED),
    ],
)
def test_a_ticket_in_the_printer_is_settled_by_the_persons(tmp_path, decision, ticket):
    """A ticket that is paid by hand becomes worthless; one that the player has is valid, and nothing else is owed."""
    rig = MachineRig(tmp_path, devices=SOLD).boot().insert(2000)
    rig.engine.handle(EventType.CASH_OUT)
    number = rig.hands.jobs[-1].barcode
    rig = reopen_cleared(rig, tmp_path, payout_1=decision)
    assert (rig.state, rig.credit_cents) == (State.IDLE, 0)
    assert rig.ticket_store.find_ticket(number).state is ticket
    rig.close()


@pytest.mark.requirement("A-05", "G-05")
@pytest.mark.parametrize("stacked", [True, False])
def test_a_bill_being_stacked_is_credited_or_returned_by_the_acceptor(tmp_path, stacked):
    rig = MachineRig(tmp_path, devices=SOLD).boot()
    rig.offer(2000)
    rig.close()
    assert claims_of(tmp_path) == {"paper:1": 2000}
    rig = reopen_cleared(rig, tmp_path)
    if stacked:
        rig.escrow_ledger.credit_stacked_paper()
        rig.escrow_ledger.close_confirmed_paper()
    else:
        rig.escrow_ledger.void_unstacked_paper("returned at power-up")
    assert rig.credit_cents == (2000 if stacked else 0)
    assert list_findings(rig) == []
    rig.close()


@pytest.mark.requirement("A-05", "H-08")
@pytest.mark.parametrize(
    ("decision", "ticket"),
    [
        (build_paid_decision(2000), TicketState.REDEEMED),
        (ClaimDecision(decision=DECISION_ENDED), TicketState.ISSUED),
    ],
)
def test_a_ticket_being_stacked_is_redeemed_or_released_as_the_persons_decide(tmp_path, decision, ticket):
    rig = MachineRig(tmp_path, devices=SOLD).boot().insert(2000)
    number = rig.cash_out_ticket()
    rig.offer_ticket(number)
    assert rig.escrow_ledger.find_open() is not None
    rig = reopen_cleared(rig, tmp_path, paper_1=decision)
    assert (rig.credit_cents, rig.ticket_store.find_ticket(number).state) == (0, ticket)
    rig.close()


@pytest.mark.requirement("A-05", "H-07", "H-08")
def test_a_ticket_paid_at_the_cage_and_again_at_the_clear_is_a_technicians_tilt(tmp_path):
    rig = MachineRig(tmp_path, devices=SOLD).boot().insert(2000)
    number = rig.cash_out_ticket()
    rig.offer_ticket(number)
    cage = TicketCage(rig.ticket_store, rig.clock, "Luc", second_person="Mia")
    cage.release_locked_ticket(number, "the machine is stuck")
    cage.pay_ticket(number)
    rig = reopen_cleared(rig, tmp_path, paper_1=build_paid_decision(2000))
    assert rig.machine.active_faults["ticket_contradiction"]["cleared_by"] == "technician"
    assert (rig.state, rig.credit_cents) == (State.TILT, 0)
    rig.close()
    rig = MachineRig(tmp_path, devices=SOLD).boot()
    assert len(rig.records("fault.raised")) == 1
    rig.close()


@pytest.mark.requirement("A-05", "H-08")
def test_ticket_missing_its_end_in_the_ledger_is_ended_according_to_the_old_journal(tmp_path):
    rig = MachineRig(tmp_path, devices=SOLD).boot().insert(2000)
    rig.engine.handle(EventType.CASH_OUT)
    number = rig.hands.jobs[-1].barcode
    rig.machine.find_installed(TicketDesk).record_printed = lambda _: (
        None
    )  # the power is cut here: the bar code is printed and the journal written
    rig.report_print_state(PrintState.BARCODE_DONE)
    assert rig.ticket_store.find_ticket(number).state is TicketState.RESERVED
    rig = reopen_cleared(rig, tmp_path)
    assert rig.ticket_store.find_ticket(number).state is TicketState.ISSUED
    rig.close()


@pytest.mark.requirement("A-05", "G-09")
def test_a_payout_in_progress_is_continued_or_settled(tmp_path):
    rig = start_coin_payout(tmp_path)
    cents = rig.machine.memory.get(MoneyKey.PAY_OUT)["amount_cents"]
    rig = reopen_cleared(rig, tmp_path)
    assert rig.state is State.PAYING
    assert rig.machine.memory.get(MoneyKey.PAY_OUT)["amount_cents"] == cents
    rig.close()
    clear_with_decisions(tmp_path, payout_1=build_paid_decision(cents - 200))
    rig = MachineRig(tmp_path, devices=SOLD).boot()
    assert (rig.state, rig.credit_cents) == (State.IDLE, 0)
    values = rig.journal.meters().values
    assert (values["att_cancel_credit"], values["phys_coin_out"]) == (cents - 200, 200)
    assert list_findings(rig) == []
    rig.close()


def start_coin_payout(folder: Path) -> MachineRig:
    rig = MachineRig(folder, devices=("hopper",)).boot().insert(1000)
    rig.engine.handle(EventType.CASH_OUT)
    assert rig.machine.memory.get(MoneyKey.PAY_OUT)["way"] == "coins"
    return rig


# ---------------------------------------------------------------------------------------------- the act
@pytest.mark.requirement("A-05", "A-21")
def test_a_clear_that_leaves_a_claim_out_is_refused_and_changes_nothing(tmp_path):
    rig = win_by_hand(tmp_path)
    rig.close()
    claim_inspection = inspect_claims(tmp_path, FEATURES)
    acts = {
        proposal.id: build_carried_decision()
        for proposal in claim_inspection.proposals
        if proposal.id != "handpay:1"
    }
    with pytest.raises(ClearRefused, match="these claims are neither settled nor carried over: handpay:1"):
        prepare_clearance(
            claim_inspection,
            acts,
            **CLEAR_PERSONS_AND_REASON,
            challenge=claim_inspection.journal_inspection.challenge,
        )
    with pytest.raises(ClearRefused, match="there is no claim ghost: list the claims again"):
        build_clearance(claim_inspection, ghost=build_carried_decision())
    cents = claim_inspection.proposals[-1].claim.amount
    with pytest.raises(ClearRefused, match="cents are owed"):
        build_clearance(claim_inspection, handpay_1=build_paid_decision(int(cents) + 100000))
    blind = build_clearance(claim_inspection)
    other = type(blind)(
        **CLEAR_PERSONS_AND_REASON,
        challenge=blind.challenge,
        opening_transactions=(),
        accounted_credit_cents=0,
    )
    with pytest.raises(ClearRefused, match="settle or carry over each claim"):
        clear_memory(tmp_path, other, now=read_clear_time)


@pytest.mark.requirement("A-05", "A-06")
def test_two_copies_damaged_in_different_places_prove_everything_together(tmp_path):
    rig = MachineRig(tmp_path, devices=SOLD).boot().insert(2000)
    for _ in range(30):
        write_undeclared_entry(rig.machine, "test.time_passes", details={"why": "x" * 2000})
    rig.insert(500)
    rig.close()
    log = next((tmp_path / "second").glob("*.log"))
    content = bytearray(log.read_bytes())
    content[-200] ^= 1  # the log is complete except for its end
    log.write_bytes(content)
    full_inspection = inspect_claims(tmp_path, FEATURES)
    assert full_inspection.journal_inspection.second_reading.damage
    assert full_inspection.journal_inspection.is_complete
    assert {proposal.id: proposal.claim.amount for proposal in full_inspection.proposals} == {
        "credit:1:cashable": 2500
    }
    assert full_inspection.proposals[0].evidence_status in {"good", "one copy goes further"}


def pay_out_after_readable_copy(folder: Path) -> MachineRig:
    """Return a machine that paid its credit by ticket; its memory is readable only up to the bill."""
    rig = MachineRig(folder, devices=SOLD).boot().insert(2000)
    log = next((folder / "second").glob("*.log"))
    end = len(log.read_bytes().rstrip(b"\0"))
    rig.cash_out_ticket()
    rig.close()
    (folder / "journal.sqlite").write_bytes(b"nothing of it")
    content = bytearray(log.read_bytes())
    content[end + 40] ^= 1  # in the first entry of the cash-out
    log.write_bytes(content)
    return rig


@pytest.mark.requirement("A-05", "A-06", "A-28")
@pytest.mark.parametrize(
    ("are_heads_readable", "standing"),
    [(True, "entries after it are missing"), (False, "entries after it may be missing")],
)
def test_a_possibly_paid_claim_says_so_and_can_be_closed(tmp_path, are_heads_readable, standing):
    """Regression: it said "one copy goes further", and staff could only owe the player the credit a second time."""
    rig = pay_out_after_readable_copy(tmp_path)
    if not are_heads_readable:
        for head in (*tmp_path.glob("journal.head"), *tmp_path.glob("second/journal.head")):
            head.write_bytes(b"")
    claim_inspection = inspect_claims(tmp_path, FEATURES)
    inspection = claim_inspection.journal_inspection
    assert (inspection.copies_agree, inspection.is_complete) == (True, False)
    assert (inspection.acknowledged_sequence > inspection.best_reading.sequence) is are_heads_readable
    (credit,) = (proposal for proposal in claim_inspection.proposals if proposal.id == "credit:1:cashable")
    assert (credit.evidence_status, credit.claim.amount) == (standing, 2000)
    assert credit.possible_decisions == ("carried", "paid", "ended")
    shown = CliRunner().invoke(audit, ["inspect", f"--state={tmp_path}"]).output
    assert standing in " ".join(shown.split())
    assert "compare each claim with the hand-pay slips" in shown
    rig = reopen_cleared(rig, tmp_path, credit_1_cashable=ClaimDecision(decision=DECISION_ENDED))
    assert (rig.state, rig.credit_cents, rig.journal.meters().values["money_out"]) == (State.IDLE, 0, 0)
    (claim,) = (
        claim for claim in rig.journal.genesis.record["cleared"]["claims"] if claim["id"] == credit.id
    )
    assert (claim["standing"], claim["act"], claim["entries"]) == (standing, "ended", [])
    rig.close()


@pytest.mark.requirement("A-05")
def test_a_possibly_paid_claim_is_carried_over_if_the_persons_decide_so(tmp_path):
    rig = reopen_cleared(pay_out_after_readable_copy(tmp_path), tmp_path)
    assert rig.credit_cents == 2000
    rig.close()


@pytest.mark.requirement("A-05")
def test_a_claim_proved_up_to_the_last_entry_cannot_be_closed(tmp_path):
    MachineRig(tmp_path, devices=SOLD).boot().insert(2000).close()
    claim_inspection = inspect_claims(tmp_path, FEATURES)
    assert [proposal.evidence_status for proposal in claim_inspection.proposals] == ["good"]
    with pytest.raises(ClearRefused, match="it can be carried or paid, not 'ended'"):
        build_clearance(claim_inspection, credit_1_cashable=ClaimDecision(decision=DECISION_ENDED))


def write_contradicting_copies(folder: Path) -> None:
    """Write two copies that differ from one entry on: 25.00 in the first copy, 30.00 in the second."""
    MachineRig(folder / "one", devices=SOLD).boot().insert(2000).close()
    shutil.copytree(folder / "one", folder / "other")
    for name, cents in (("one", 500), ("other", 1000)):
        MachineRig(folder / name, devices=SOLD).boot().insert(cents).close()
    shutil.rmtree(folder / "one" / "second")
    shutil.copytree(folder / "other" / "second", folder / "one" / "second")


@pytest.mark.requirement("A-06")
def test_every_meter_on_which_the_copies_differ_is_shown_with_both_values(tmp_path):
    write_contradicting_copies(tmp_path)
    inspection = inspect_claims(tmp_path / "one", FEATURES).journal_inspection
    shown = CliRunner().invoke(audit, ["inspect", f"--state={tmp_path / 'one'}"]).output
    rows = [" ".join(line.split()) for line in shown.splitlines()]
    differing = [row for row in rows if row.endswith("they differ")]
    assert "all money that became credit, excluding wins 25.00 30.00 they differ" in differing
    assert any(row.endswith("bills and vouchers accepted 25.00 30.00 they differ") for row in differing)
    assert len(differing) == len(inspection.differing_meters)


@pytest.mark.requirement("A-05", "A-06", "A-28")
@pytest.mark.parametrize(("copy", "cents"), [("first", 2500), ("second", 3000)])
@pytest.mark.parametrize("act", ["carry", "paid"])
def test_the_persons_choose_the_valid_copy_when_copies_contradict(tmp_path, copy, cents, act):
    write_contradicting_copies(tmp_path)
    state = tmp_path / "one"
    with pytest.raises(JournalDamaged, match="both copies: they differ at entry"):
        MachineRig(state, devices=SOLD).boot()
    claim_inspection = inspect_claims(state, FEATURES)
    (credit,) = (proposal for proposal in claim_inspection.proposals if proposal.id == "credit:1:cashable")
    assert (credit.evidence_status, claim_inspection.journal_inspection.copies_agree) == (
        "they disagree",
        False,
    )
    assert {name: claim.amount for name, claim in credit.claim_by_copy.items()} == {
        "first": 2500,
        "second": 3000,
    }
    others = [
        f"--claim={proposal.id}=carry" for proposal in claim_inspection.proposals if proposal.id != credit.id
    ]

    def cleared(decision):
        authority_options = [
            "--person=A. Tremblay",
            "--second-person=B. Roy",
            "--reason=they contradict each other",
        ]
        options = [
            f"--challenge={claim_inspection.journal_inspection.challenge}",
            f"--claim={credit.id}={decision}",
            *others,
        ]
        return CliRunner().invoke(audit, ["clear", f"--state={state}", *authority_options, *options])

    decision_text = act if act == "carry" else f"paid:{cents}:A. Tremblay"
    result = cleared(decision_text)
    assert result.exit_code == 1
    assert "the copies disagree; name the copy whose claim is right" in result.output
    assert "the third copy cannot be chosen" in cleared(f"{decision_text}@third").output
    assert cleared(f"{decision_text}@{copy}").exit_code == 0
    rig = MachineRig(state, devices=SOLD).boot()
    assert (list_findings(rig), rig.credit_cents) == ([], cents if act == "carry" else 0)
    (claim,) = (
        claim for claim in rig.journal.genesis.record["cleared"]["claims"] if claim["id"] == credit.id
    )
    assert (claim["copy"], claim["copies"]) == (copy, {"first": "2500", "second": "3000"})
    rig.close()
