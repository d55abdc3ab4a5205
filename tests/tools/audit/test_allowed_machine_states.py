"""The machine states in which each entry is allowed: no game, bill or decision in any other state.

Goal: for every kind of entry that begins something, and every state that does not allow it, the audit reports a
journal in which only the machine state is wrong. New kinds and new states are tested without a change here.
"""

import copy

import pytest
from rigs.lies import (
    audit_findings,
    read_signed_entries,
    remove_entries,
    remove_residual_terms,
    reorder_entries,
)
from rigs.voids import make_undecided_game
from test_honest_machines import SOLD
from test_liars import record_honest_journals

from egm.app.features import FEATURES
from egm.kernel.events import EventType, State
from egm.kernel.states import ALL_STATES
from egm.testing.machine import GeneratorOutOfService, MachineRig, ScriptedGenerator, create_generator
from meters.entry import decode
from meters.ledger import Ledger
from meters.transaction import Phase
from tools.audit.entry_rules import EntryRulesAudit
from tools.audit.rules import RULES, Facts, PatternMismatch, find_rules
from tools.audit.rules.pattern import CheckContext
from tools.audit.rules.states import can_be_in_states, derive_machine_state
from tools.dev.lies import compute_journal_tag

SINCE = "2026-01-01T00:00:00+00:00"
#: Something that makes the machine be in a state.
MEMORY = {
    State.DOOR_OPEN: {"door:main": {"since": SINCE}},
    State.TILT: {
        "fault:game_defective": {"since": SINCE, "locks": True, "cleared_by": "ruling", "detail": ""}
    },
    State.HANDPAY: {"handpay": {"id": "handpay-1", "kind": "cancelled_credit", "amount_cents": 5}},
    State.AWAITING_AWARD: {"awaiting_award": "play-1"},
    State.SERVICE_MENU: {"menu": {"since": SINCE, "person": "2"}},
    State.PAYING: {"pay_out": {"id": "cashout-1", "way": "coins", "amount_cents": 5, "coins": 1}},
    State.PLAYING: {"game": {"play_id": "play-1"}},
    State.TOURNAMENT: {"tournament": {"digest": "0" * 64, "since": SINCE}},
    State.OUT_OF_SERVICE: {"disabled:host:main": {"reason": "closed", "since": SINCE}},
}
#: States of the process alone: no memory has them.
UNREMEMBERED = {State.LOCKED, State.BETTING}
BEGINNING = [rule for rule in RULES if rule.allowed_machine_states not in {None, ALL_STATES}]


def list_disallowed_states(rule):
    """Return every state that does not allow the entry, with the stored values that cause it."""
    return [
        (state, planted)
        for state, planted in MEMORY.items()
        if not can_be_in_states(state, rule.allowed_machine_states)
    ]


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    return record_honest_journals(tmp_path_factory.mktemp("begun"))


def test_every_state_derived_from_memory_is_tried():
    declared = {state.state for state in FEATURES.state_table.derived_states}
    assert declared - UNREMEMBERED == MEMORY.keys()
    for state, planted in MEMORY.items():
        ledger = Ledger()
        ledger.state.update(planted)
        assert derive_machine_state(ledger, 1, Facts()) is state


def test_every_rule_of_an_entry_that_begins_something_states_its_allowed_machine_states():
    """An entry begins something if it reserves or moves money or sets a storage key that was empty."""
    silent = [
        rule.kind
        for rule in RULES
        if rule.allowed_machine_states is None
        and (
            rule.entry_declaration.phase is Phase.RESERVE
            or (rule.entry_declaration.phase is Phase.POST and rule.expected_transfers)
            or any(
                was is None and rule.stored_after.get(key) is not None
                for key, was in rule.stored_before.items()
            )
        )
    ]
    assert silent == [], (
        "their rules in tools/audit/rules need allowed_machine_states (ALL_STATES if any state will do)"
    )
    assert len(BEGINNING) > 50


@pytest.mark.parametrize("rule", BEGINNING, ids=lambda rule: rule.kind)
def test_a_rule_rejects_its_entry_in_every_state_it_does_not_allow(honest, rule):
    entry = decode(honest[0][-1])
    for _, planted in list_disallowed_states(rule):
        ledger = Ledger()
        ledger.state.update(planted)
        with pytest.raises(PatternMismatch, match="according to its memory"):
            rule._check_machine_state(CheckContext(entry, ledger, Facts()))


def test_entries_of_real_machines_are_reported_in_every_state_that_forbids_them(honest):
    tried = set()
    for bodies in honest:
        ledger, audit = Ledger(), EntryRulesAudit(lambda *_: pytest.fail("an honest entry"))
        for body in bodies:
            entry = decode(body)
            before = copy.copy(ledger)
            for rule in find_rules(entry.kind):
                if rule in BEGINNING and is_fitting(rule, entry, before, audit.facts):
                    for state, planted in list_disallowed_states(rule):
                        before.state = {**ledger.state, **planted}
                        if (
                            derive_machine_state(before, 1, Facts()) is state
                        ):  # else a more pressing one holds
                            tried.add((entry.kind, state))
                            assert list_named_reasons(entry, before, audit.facts), (entry.kind, planted)
            if not entry.kind.startswith("clear."):
                audit.check_entry(entry, ledger)
            ledger.apply_effect(ledger.compute_effect(entry.transaction), entry)
    assert len({kind for kind, _ in tried}) > 14
    assert {state for _, state in tried} == MEMORY.keys()


def is_fitting(rule, entry, before, facts):
    try:
        rule.check(entry, before, copy.deepcopy(facts))
    except (PatternMismatch, KeyError, TypeError, AttributeError):  # another of the ways it may be
        return False
    return True


def list_named_reasons(entry, before, facts):
    found = []
    audit = EntryRulesAudit(lambda _, reason: found.append(reason))
    audit.facts = copy.deepcopy(facts)
    audit.facts.cached_machine_states.clear()
    audit.facts.last_idle_times.clear()
    audit.facts.last_money_entry_kinds.clear()
    audit.check_entry(entry, before)
    return found


# ------------------------------------------------------------------ complete falsified journals
TWO = {"person": "2", "persons": ("2", "5"), "reason": "it broke"}


@pytest.fixture
def voided(tmp_path):
    """A game that two persons declared void after the generator failed during it."""
    rig = make_undecided_game(tmp_path / "state")
    rig.machine.random_service = GeneratorOutOfService()
    rig.engine.handle(EventType.CHOOSE, value=rig.hands.messages[-1].options[0])
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    rig.engine.handle(EventType.REFUND_GAME, form="refund_game", **TWO)
    return read_signed_entries(rig)


@pytest.mark.requirement("E-13", "B-08")
def test_a_void_game_without_a_reason_it_could_not_end_is_reported(voided):
    false_entries = remove_entries(voided, "door.opened")
    assert "is not allowed while the machine is playing" in audit_findings(false_entries)[len(false_entries)]
    false_entries = remove_entries(voided, "chance.failed")
    assert "no number that it needs is missing" in audit_findings(false_entries)[len(false_entries)]


@pytest.mark.requirement("E-13")
def test_a_restart_of_a_working_generator_is_reported(tmp_path):
    """Earlier versions, without terms of residual credit, restarted it while waiting for a wheel's number."""
    rig = MachineRig(tmp_path, generator=create_generator()).boot()
    rig.next_generators.append(rig.machine.random_service)
    rig.engine.handle(EventType.GENERATOR_FAILED, detail="planted")
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    lie = remove_entries(read_signed_entries(rig), "chance.failed")
    restarted = next(
        entry_number for entry_number, raw in enumerate(lie, 1) if raw["kind"] == "chance.restarted"
    )
    findings = audit_findings(lie)
    assert findings.keys() == {restarted}
    assert "no failed RNG or self-test was stored" in findings[restarted]
    assert audit_findings([remove_residual_terms(raw) for raw in lie]) == {}


@pytest.mark.requirement("E-13", "B-08", "F-14")
def test_a_recorded_defect_without_a_failure_does_not_justify_a_void_game(voided):
    """The recorded play can be replayed, so the recorded fault is false."""
    failed = next(index for index, raw in enumerate(voided) if raw["kind"] == "chance.failed")
    fault = {"since": SINCE, "locks": True, "cleared_by": "technician", "detail": "made up"}
    made_up = {
        "id": f"fault.raised-{failed + 1}-{compute_journal_tag(voided[0])}",
        "kind": "fault.raised",
        "time": voided[failed]["time"],
        "record": {"code": "game_defective", "detail": "made up"},
        "state": {"fault:game_defective": fault},
    }
    findings = audit_findings([*voided[:failed], made_up, *voided[failed + 1 :]])
    assert "no number that it needs is missing" in findings[len(voided)]


@pytest.mark.requirement("E-13", "B-08")
@pytest.mark.parametrize(
    "change",
    [
        lambda record: record.update(persons=["2"]),
        lambda record: record.update(reason=" "),
        lambda record: record.pop("recorded"),
    ],
    ids=("one person", "no reason", "what was recorded"),
)
def test_a_void_game_without_two_persons_a_reason_and_its_record_is_reported(voided, change):
    change(voided[-1]["record"])
    assert audit_findings(voided).keys() == {len(voided)}


#: Each reason for a stop, a forbidden activity during it, and the entries that end the stop.
STOPPED = {
    "a door": (
        (EventType.DOOR_OPENED, {"door": "main"}),
        (EventType.DOOR_CLOSED, {"door": "main"}),
    ),
    "a host": (
        (EventType.MACHINE_DISABLED, {"source": "host:main", "reason": "closed"}),
        (EventType.MACHINE_ENABLED, {"source": "host:main"}),
    ),
    "a tilt": (
        (EventType.FAULT_RAISED, {"code": "bill_acceptor.cheat"}),
        (EventType.KEY_TURNED, {"key": "attendant"}),
    ),
    "the generator": (
        (EventType.GENERATOR_FAILED, {"detail": "planted"}),
        (EventType.KEY_TURNED, {"key": "attendant"}),
    ),
}


@pytest.mark.requirement("E-13")
@pytest.mark.parametrize("stopped", STOPPED, ids=str)
@pytest.mark.parametrize("activity", ["game", "bill"])
def test_a_game_or_bill_while_the_machine_is_stopped_is_reported(tmp_path, stopped, activity):
    """The test moves the entry that ends the stop to after the game or bill."""
    stop, go_on = STOPPED[stopped]
    rig = MachineRig(tmp_path / "state", generator=ScriptedGenerator(0, 0, 0)).boot().insert(1000)
    rig.next_generators = [create_generator]
    rig.engine.handle(stop[0], **stop[1])
    rig.clock.pass_seconds(60)
    before = rig.journal.sequence
    rig.engine.handle(go_on[0], **go_on[1])
    went_on = rig.journal.sequence - before
    if activity == "game":
        rig.machine.random_service = ScriptedGenerator(0, 0, 0)
        rig.play()
        rig.report_shown()
    else:
        rig.insert(500)
    entries = read_signed_entries(rig)
    false_entries = reorder_entries(
        entries, [*range(before), *range(before + went_on, len(entries)), *range(before, before + went_on)]
    )
    findings = audit_findings(false_entries)
    assert "is not allowed while the machine is" in findings[before + 1]


@pytest.mark.requirement("E-13", "N-03")
def test_an_entry_that_ends_a_pause_at_a_limit_early_is_reported(tmp_path):
    profile = tmp_path / "place.toml"
    profile.write_text(f"{SOLD}\n[protection]\nlimit_minutes = 1\npause_minutes = 5\n")
    rig = (
        MachineRig(tmp_path / "state", profile=profile, generator=ScriptedGenerator(0, 0, 0))
        .boot()
        .insert(500)
    )
    rig.play()
    rig.report_shown()
    rig.clock.pass_seconds(61)
    rig.engine.handle(EventType.REMINDER_DUE)
    assert rig.records("protection.reminder")
    entries = read_signed_entries(rig)
    read = {
        "id": f"protection.acknowledged-{len(entries) + 1}-{compute_journal_tag(entries[0])}",
        "kind": "protection.acknowledged",
        "time": entries[-1]["time"],
        "record": {"kind": "time_limit"},
        "state": {"reminder": None},
    }
    assert "cannot be ended by acknowledging it" in audit_findings([*entries, read])[len(entries) + 1]
