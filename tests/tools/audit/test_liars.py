"""False entries with valid HMACs about money, outcomes, meters, persons or decisions are reported or listed as gaps.

Goal: a forger with the machine's key alters, omits, repeats or moves one thing in an honest journal and computes all
HMACs again. The audit reports the entry, or the list of known gaps states what else reveals it. The product itself
writes the honest journals: bills, tickets, hand-pays, choices, levels, transfers, rulings, faults, staff at the menu.
"""

import json
import re
from pathlib import Path

import pytest
from journals import make_state
from rigs.lies import audit_findings, read_signed_entries, remove_entries, remove_residual_terms

from egm.app.entries import record_generator_event
from egm.devices.interface import Banknote, MoneyDevices
from egm.devices.ledgers import PayoutRecord
from egm.kernel.credits import CreditKind
from egm.kernel.events import EventType
from egm.kernel.positions import Position
from egm.money.host_money import HostMoney, TransferOrder
from egm.money.records.host import TransferKind
from egm.testing.machine import (
    GeneratorOutOfService,
    MachineRig,
    ScriptedGenerator,
    create_generator,
    write_undeclared_entry,
)
from meters import Transfer, open_view
from meters.machine_key import MachineKey
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor
from tools.dev.liars import (
    KNOWN_AUDIT_GAPS,
    FalsificationScore,
    classify_subject,
    find_known_gap,
    run_falsifications,
)
from tools.dev.lies import (
    REMOVED_LAST_DESCRIPTION,
    Falsification,
    JournalFalsifier,
    adopt_entries,
    compute_journal_tag,
    is_last_at_its_position,
    iter_leaves,
    rewrite_chain,
)

MAPLES, LOSS = (23, 7, 5), (0, 0, 0)
KEY = MachineKey(bytes(range(32)))
TWO = {"person": "2", "persons": ("2", "5")}


def play_game(rig):
    rig.play()
    rig.report_shown()


def run_money_day(rig):
    """Record bills, games, a ticket paid out and redeemed, promotions, and a transfer in each direction."""
    rig.insert(2000)
    for _ in range(2):
        play_game(rig)
    rig.machine.random_service = create_generator()
    digits = rig.cash_out_ticket()
    rig.offer_ticket(digits)
    rig.escrow_ledger.credit_stacked_paper()
    rig.escrow_ledger.close_confirmed_paper()
    for number, (kind, cents) in enumerate(
        (
            (TransferKind.IN, {CreditKind.CASHABLE: 300, CreditKind.RESTRICTED: 40}),
            (TransferKind.BONUS, {CreditKind.CASHABLE: 25}),
            (TransferKind.OUT, {CreditKind.CASHABLE: 100}),
        )
    ):
        rig.machine.component(HostMoney).transfer_order = TransferOrder(
            identifier=f"T{number}", kind=kind, cents_by_credit_kind=cents
        )
        rig.engine.handle(EventType.TRANSFER_ORDERED)


def run_ruling_day(rig):
    """Record a hand-pay and decisions of staff: a complement, orphaned credit, a forfeit, a note, an inspection."""
    rig.insert(1000)
    rig.machine.component(MoneyDevices).printer = None
    rig.engine.handle(EventType.CASH_OUT)
    rig.engine.handle(
        EventType.PAY_COMPLEMENT, form="complement", amount_cents=250, reason="a torn coin", **TWO
    )
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    rig.insert(500)
    rig.engine.handle(EventType.OPEN_SERVICE_MENU, key="operator")
    ruling = {"reason": "left alone", **TWO}
    rig.engine.handle(EventType.FORFEIT_CREDITS, form="forfeit_credits", amount_cents=100, **ruling)
    rig.engine.handle(EventType.REGISTER_UNCLAIMED_CREDITS, form="orphan_credits", place="bank 4", **ruling)
    rig.engine.handle(EventType.MACHINE_CHECKED, form="machine_check", **TWO)
    note = {"claim": "a win", "mechanic": "looked", "decision": "none was"}
    rig.engine.handle(EventType.DISPUTE_DECIDED, form="dispute", **note, **TWO)


def run_hopper_day(rig):
    """Record a hopper that runs empty during a cash-out, the remainder paid by hand, and coins paid unasked."""
    for number, (paid, doubt) in enumerate(((2, ""), (3, "its count was lost")), 1):
        rig.insert(500)
        rig.device_ledgers.coin_ledger.credit_coins_in(((25, True),), number)
        rig.engine.handle(EventType.CASH_OUT)
        payout_id, ordered = rig.hands.payouts[-1]
        record = PayoutRecord(
            payout_id=payout_id, ordered_coins=ordered, order_counter_before=0, lifetime_paid_before=0
        )
        rig.device_ledgers.payout_ledger.open_payout(record)
        rig.device_ledgers.payout_ledger.close_payout(payout_id, paid, doubt)
        rig.engine.handle(EventType.KEY_TURNED, key="attendant")


def run_fault_day(rig):
    """Record doors, faults, a generator that fails during a game, and a refund of the stake by two persons."""
    rig.insert(1000)
    for event in (EventType.DOOR_OPENED, EventType.DOOR_CLOSED):
        rig.engine.handle(event, door="main")
    rig.engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat", detail="a string")
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    play_game(rig)
    rig.engine.handle(EventType.SELECT_GAME, value="hold-fast")
    rig.machine.random_service = ScriptedGenerator(0, 0, 0)
    rig.play()
    rig.machine.random_service = GeneratorOutOfService()
    rig.engine.handle(EventType.CHOOSE, value=rig.hands.messages[-1].options[0])
    rig.engine.handle(EventType.OPEN_SERVICE_MENU, key="operator")
    rig.engine.handle(EventType.REFUND_GAME, form="refund_game", reason="it broke", **TWO)
    rig.engine.handle(EventType.SERVICE_MENU_CLOSED, why="key")


def record_honest_journals(folder):
    """Return honest journals written by the product, one for each kind of day."""
    journals_made = []
    for number, (day, numbers, device) in enumerate(
        (
            (run_money_day, (*MAPLES, *LOSS), "printer"),
            (run_ruling_day, (), "printer"),
            (run_hopper_day, (), "hopper"),
            (run_fault_day, (*MAPLES, *LOSS), "printer"),
        )
    ):
        rig = MachineRig(
            folder / str(number),
            games=("maple-classic", "hold-fast"),
            generator=ScriptedGenerator(*numbers),
            devices=(device,),
        )
        rig.machine.component(HostMoney).can_transfer = rig.machine.component(HostMoney).can_award_bonuses = (
            True
        )
        day(rig.boot())
        journals_made.append(list(rig.journal.iter_bodies()))
        rig.close()
    with open_view(make_state(folder / "games")) as view:
        journals_made.append(list(view.iter_bodies())[:60])
    return journals_made


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    return record_honest_journals(tmp_path_factory.mktemp("liars"))


@pytest.mark.parametrize("lies", [150, pytest.param(300, marks=pytest.mark.slow)])
def test_a_lie_that_matters_is_reported_or_listed_with_what_detects_it(honest, lies):
    score = run_falsifications(honest, GameFiles(), lies=lies, seed=1)
    _is_won(score, lies)


def find_other_value(value):
    """Return another number, flag or date than ``value``, or None for any other type of value."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str() if re.fullmatch(r"\d{4}-\d\d-\d\d", value):
            return "2031-01-01"
    return None


@pytest.mark.requirement("E-13")
def test_every_field_is_derived_or_listed_with_what_detects_a_lie_about_it(honest):
    """Each field of each kind is altered once; a field that no check covers must be in the list of known gaps."""
    tried, unfounded = set(), set()
    for bodies in honest:
        entries = adopt_entries(bodies, KEY)
        for index, raw in enumerate(entries):
            for path, value in list(iter_leaves(raw)):
                false_value, field = (
                    find_other_value(value),
                    Falsification(index + 1, raw["kind"], path, "").field,
                )
                sort = raw["kind"], re.sub(r"-\d+-[0-9a-f]{8}", "", field)
                if (
                    false_value is None
                    or sort in tried
                    or raw["kind"] == "checkpoint"
                    or path[0] == "sequence"
                ):
                    continue
                tried.add(sort)
                altered = json.loads(json.dumps(raw))
                part = altered
                for step in path[:-1]:
                    part = part[step]
                part[path[-1]] = false_value
                journal = [*entries[:index], altered, *entries[index + 1 :]]
                if (
                    not Auditor(GameFiles())
                    .audit_entries(rewrite_chain(journal, KEY, compute_journal_tag(entries[0])))
                    .finding_count
                ):
                    lie = Falsification(index + 1, raw["kind"], path, "altered")
                    unfounded |= set() if find_known_gap(classify_subject(lie, raw), lie) else {sort}
    assert len(tried) > 150
    assert unfounded == set()


WAYS = ("others", "made up", "void instead of ended", "with a door open", "removed", "repeated", "invented")


def test_the_liar_uses_every_kind_of_lie_and_invents_kinds_missing_from_the_journal(honest):
    """Kinds of lie include two agreeing fields, voids, states, and entries of every declared kind."""
    liar, used_ways, made_up = JournalFalsifier(adopt_entries(honest[0], KEY), 5), set(), set()
    for _ in range(1500):
        lie, _ = liar.make_falsification()
        used_ways |= {way for way in WAYS if lie.description.endswith(way)}
        if lie.description == "made up":
            made_up.add(lie.kind)
    assert used_ways == set(WAYS)
    assert len(made_up - {raw["kind"] for raw in adopt_entries(honest[0], KEY)}) > 60


def test_invented_entries_satisfy_their_rules(honest):
    """Invented entries are built from the rules; many pass their own rule and are reported by another check."""
    entries = adopt_entries(honest[0], KEY)
    liar = JournalFalsifier(entries, 6)
    passed = set()
    while len(passed) < 12:
        lie, false_entries = liar.make_falsification()
        if lie.description == "made up":
            report = Auditor(GameFiles()).audit_entries(rewrite_chain(false_entries, KEY, liar.journal_tag))
            if not any(f.sequence == lie.sequence for f in report.findings):
                passed.add(lie.kind)
    assert passed


@pytest.mark.slow
def test_five_thousand_lies_are_reported_or_listed(honest):
    _is_won(run_falsifications(honest, GameFiles(), lies=5000, seed=2), 5000)


def _is_won(score: FalsificationScore, lies: int) -> None:
    score_json = score.to_json()
    assert score_json["lies"] == lies
    assert score_json["undetected"] == []
    assert len(score_json["by_kind"]) > 25
    about = score_json["by_what_they_touch"]
    for name in ("money", "outcome"):
        lie_count, named = about[name]
        assert named >= 0.85 * lie_count, (name, about)


def test_the_liar_refuses_a_journal_with_findings(honest):
    with pytest.raises(ValueError, match="not honest"):
        run_falsifications([[*honest[0][:3], *honest[0][4:]]], GameFiles(), lies=1, seed=1)


def test_a_lie_is_classified_by_its_subject_and_money_lies_are_never_listed_gaps():
    bill = {"transfers": [["world:bill", "credit:1:cashable", 500]], "record": {"amount_cents": 500}}
    assert classify_subject(Falsification(2, "bill.in", ("record", "amount_cents"), ""), bill) == "money"
    assert classify_subject(Falsification(2, "bill.in", (), "removed"), bill) == "money"
    assert (
        classify_subject(Falsification(2, "game.start", ("record", "steps", 0, "draws", 0, 1), ""), {})
        == "outcome"
    )
    assert classify_subject(Falsification(2, "tilt.cleared", ("record", "person"), ""), {}) == "person"
    assert classify_subject(Falsification(2, "key.turned", ("record", "key"), ""), {}) == "other"
    assert find_known_gap("money", Falsification(2, "bill.in", ("transfers", 0, 2), "")) is None, (
        "money is nobody else's to find"
    )
    for description in ("removed", "repeated", "invented"):
        for kind in ("bill.in", "game.end", "voucher.out", "handpay.reset", "game.void"):
            assert find_known_gap("money", Falsification(2, kind, (), description)) is None, (
                "nor is a whole entry of it"
            )
        assert find_known_gap("ruling", Falsification(2, "dispute.decided", (), description)) is not None
    assert all(row.outside_evidence and row.reason for row in KNOWN_AUDIT_GAPS)


@pytest.mark.requirement("E-13")
def test_a_removed_void_is_reported_by_later_entries_or_equals_the_earlier_journal(tmp_path):
    """An export that ends at the void cannot show the removal: the game is open, as it was before the decision."""
    rig = MachineRig(
        tmp_path,
        games=("maple-classic", "hold-fast"),
        generator=ScriptedGenerator(*MAPLES, *LOSS),
        devices=("printer",),
    )
    run_fault_day(rig.boot())
    rig.engine.handle(EventType.CASH_OUT)
    entries = read_signed_entries(rig)
    void = [raw["kind"] for raw in entries].index("game.void")
    paid = next(index for index in range(void + 1, len(entries)) if entries[index].get("transfers"))
    for ends, is_named in ((len(entries), True), (paid, False)):
        journal = entries[:ends]
        assert is_last_at_its_position(journal, void) is not is_named
        assert bool(audit_findings(remove_entries(journal, "game.void"))) is is_named
    lied = json.loads(json.dumps(entries))
    lied[void]["state"][f"table:{'0' * 64}"] = None
    assert "the table of another game" in audit_findings(lied)[void + 1]
    assert (
        find_known_gap("money", Falsification(void + 1, "game.void", (), REMOVED_LAST_DESCRIPTION))
        is not None
    )
    assert find_known_gap("money", Falsification(void + 1, "game.void", (), "removed")) is None


@pytest.mark.requirement("E-13")
def test_the_list_of_undetectable_lies_in_architecture_is_complete():
    """The list contains every lie that the audit cannot detect, and no other."""
    text = (Path(__file__).parents[3] / "ARCHITECTURE.md").read_text(encoding="utf-8")
    section = text.partition("### What an export alone cannot show")[2].partition("\n## ")[0]
    rows = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("| ")]
    listed = [lie.strip() for lie, _ in rows if lie.strip() not in {"what can be falsified", "---"}]
    assert sorted(listed) == sorted({row.lie for row in KNOWN_AUDIT_GAPS})
    assert all(person.strip() for _, person in rows)


# ------------------------------------------------------------------ several positions
def record_two_positions(folder):
    """Return the journal of a machine of two positions, with money, a door, a key and moneyless entries at each."""
    first = MachineRig(folder, position=Position(1, 2), devices=("printer",)).boot()
    second = MachineRig(folder, position=Position(2, 2), devices=("printer",), first_rig=first).boot()
    for rig in (first, second):
        rig.insert(500)
        rig.machine.random_service = ScriptedGenerator(*MAPLES)
        play_game(rig)
        rig.engine.handle(EventType.TOGGLE_SERVICE_CALL)
        rig.engine.handle(EventType.KEY_TURNED, key="attendant")
        rig.engine.handle(EventType.BILL_RETURNED, reason="device")
        rig.machine.random_service = create_generator()
        rig.cash_out_ticket()
    reseeded = {"reason": "planted", "reseeds": 1, "generates": 0}
    record_generator_event(first.machine, "rng_reseeded", reseeded)
    bodies = list(first.journal.iter_bodies())
    second.close()
    first.close()
    assert Auditor(GameFiles()).audit_entries(bodies).findings == []
    return bodies


@pytest.fixture(scope="module")
def of_two(tmp_path_factory):
    return record_two_positions(tmp_path_factory.mktemp("two"))


@pytest.mark.requirement("E-13", "O-06")
@pytest.mark.parametrize("position", [3, 17, 0, None])
def test_a_position_that_does_not_exist_is_reported_at_every_entry(of_two, position):
    entries = adopt_entries(of_two, KEY)
    passed = set()
    for index, raw in enumerate(entries):
        dims = {key: value for key, value in raw.get("dims", {}).items() if key != "position"}
        dims |= {} if position is None else {"position": position}
        if dims != raw.get("dims", {}):
            journal = [*entries[:index], raw | {"dims": dims}, *entries[index + 1 :]]
            report = Auditor(GameFiles()).audit_entries(
                rewrite_chain(journal, KEY, compute_journal_tag(entries[0]))
            )
            passed |= set() if report.finding_count else {index}
    before_a_start = (
        {0, 1, len(entries) - 1} if position is None else set()
    )  # the machine may have had one then
    assert passed <= before_a_start


@pytest.mark.requirement("E-13", "O-06")
def test_another_position_is_reported_or_listed_with_what_detects_it(of_two):
    """Entries that only position 1 writes are reported; those that move no money may be listed gaps."""
    entries = adopt_entries(of_two, KEY)
    passed = set()
    for index, raw in enumerate(entries):
        if (position := raw.get("dims", {}).get("position")) is not None:
            altered = raw | {"dims": raw["dims"] | {"position": 3 - position}}
            journal = [*entries[:index], altered, *entries[index + 1 :]]
            if (
                not Auditor(GameFiles())
                .audit_entries(rewrite_chain(journal, KEY, compute_journal_tag(entries[0])))
                .finding_count
            ):
                passed.add(raw["kind"])
                lie = Falsification(index + 1, raw["kind"], ("dims", "position"), "")
                assert find_known_gap(classify_subject(lie, raw), lie) is not None, raw
    assert not passed & {"power.up", "self_test.passed", "chance.rng_reseeded", "game.end", "service.call"}
    assert passed <= {"bill.returned", "tickets.checked", "key.turned"}


def test_no_lie_in_a_journal_of_several_positions_is_undetected(of_two):
    assert run_falsifications([of_two], GameFiles(), lies=150, seed=4).undetected == []


def test_an_earlier_journal_of_several_positions_without_terms_has_no_finding(of_two):
    """Its start records no terms, so that the audit does not know the number of positions."""
    entries = adopt_entries(of_two, KEY)
    earlier = [remove_residual_terms(raw) for raw in entries if raw["kind"] != "residual.terms"]
    assert not [reason for reason in audit_findings(earlier).values() if "position" in reason]


@pytest.mark.parametrize(
    ("field", "cents"), [("bill", 12345), ("coin", 333)], ids=["a bill of 123.45", "a coin of 3.33"]
)
def test_a_bill_or_coin_of_a_value_that_no_currency_has_is_reported(tmp_path, field, cents):
    rig = MachineRig(tmp_path, devices=("printer",)).boot()
    if field == "bill":
        rig.escrow_ledger.reserve_credit_before_stacking(Banknote(cents), 0)
    else:
        rig.device_ledgers.coin_ledger.credit_coins_in(((cents, True),), 1)
    whys = [
        finding.text for finding in Auditor(GameFiles()).audit_entries(rig.journal.iter_bodies()).findings
    ]
    assert any("times a power of ten" in reason for reason in whys)
    rig.close()


@pytest.mark.requirement("E-13", "F-02")
def test_nonrestricted_credit_converted_without_a_cash_out_is_reported(tmp_path):
    rig = MachineRig(tmp_path, generator=ScriptedGenerator(*LOSS)).boot().insert(500)
    rig.machine.component(HostMoney).can_transfer = True
    cents = {CreditKind.NONRESTRICTED: 100}
    rig.machine.component(HostMoney).transfer_order = TransferOrder(
        identifier="T1", kind=TransferKind.IN, cents_by_credit_kind=cents
    )
    rig.engine.handle(EventType.TRANSFER_ORDERED)
    cashable, promotional = (
        rig.machine.name_credit_account(CreditKind.CASHABLE),
        rig.machine.name_credit_account(CreditKind.NONRESTRICTED),
    )
    write_undeclared_entry(rig.machine, "credit.converted", transfers=(Transfer(promotional, cashable, 100),))
    play_game(rig)
    whys = [
        finding.text for finding in Auditor(GameFiles()).audit_entries(rig.journal.iter_bodies()).findings
    ]
    assert any("a cash-out must follow immediately" in reason for reason in whys)
    rig.close()
