"""The state table is complete, consistent and obeyed; every state is tried with every event.

A pair of state and event with a row does what the row says; a pair without a row changes nothing, and a refused
request causes a message.
"""

import pytest
from rigs.every_event import PREPARED, TICKET, make_machine_in, prepare_event
from rigs.three_levels import await_linked_award

from egm.app.features import FEATURES, SERVICE_MENU
from egm.kernel.events import EventType, NextState, State
from egm.kernel.rules import DerivedState, RefusalHandling, StateTable, get_refusal_code
from egm.kernel.states import STATE_SET_NAMES
from egm.testing.machine import GeneratorOutOfService, MachineRig, ScriptedGenerator
from tools.lab.rule_table import format_interruption_table, format_player_diagram, format_rule_table

LOSS = (0, 0, 0)


def _room(tmp_path, state: State) -> MachineRig:
    if state is State.AWAITING_AWARD:
        return await_linked_award(tmp_path)
    return make_machine_in(state, lambda devices: MachineRig(tmp_path, devices=devices))


@pytest.mark.not_audited
@pytest.mark.requirement("F-08", "G-04", "J-02")
@pytest.mark.parametrize("state", State, ids=str)
def test_every_state_and_event(tmp_path, state):
    """If an event changes nothing, the next event is tried on the same machine."""
    rig = None
    for event in EventType:
        rig = rig or _room(tmp_path / event.value, state)
        taken = _try(rig, state, event)
        if taken or event in PREPARED:
            rig.close()
            rig = None


def _try(rig: MachineRig, state: State, event: EventType) -> bool:
    """Let an event happen in a state and check the result; return whether the table has a row for it."""
    values = prepare_event(rig, state, event)
    before, credit_before = rig.journal.sequence, rig.credit_cents
    unexpected_before = len(rig.records("event.unexpected"))
    rig.machine.notice = None
    happening = FEATURES.state_table.payloads.build_event(event, values)
    taken = next(
        (
            rule
            for rule in FEATURES.state_table.list_rules(state, event)
            if all(guard(rig.machine, happening) for guard in rule.guards)
        ),
        None,
    )

    rig.engine.handle(event, **values)

    rig.journal.self_audit()
    if taken is None:
        is_reported = FEATURES.state_table.find_refusal(event) is RefusalHandling.REPORT
        assert (rig.notice or "").startswith("refused.") == is_reported, event
        unexpected = rig.records("event.unexpected")[unexpected_before:]
        assert [(entry["event"], entry["state"]) for entry in unexpected] == (
            [] if is_reported else [(event.value, state.value)]
        ), event
        assert "number" not in values or str(values["number"]) not in str(unexpected), event
        assert (rig.journal.sequence, rig.credit_cents, rig.state) == (
            before + len(unexpected),
            credit_before,
            state,
        ), event
    elif taken.next_state is NextState.SAME or (
        taken.next_state is NextState.DERIVED_ONCE_TESTED and state is State.SELF_TEST
    ):
        assert rig.state is state, event
    elif isinstance(taken.next_state, NextState) or taken.next_state is State.PAYING:
        assert rig.state is rig.engine.derive_state(), event
    else:
        assert rig.state is taken.next_state, event
    return taken is not None


#: Where each act of a player, of a host or of staff has an effect, by the effect; and the rows that say so.
_NO_GAME_AND_NO_PAYOUT = set(State) - {
    *(State.BOOT, State.SELF_TEST, State.PLAYING, State.PAYING, State.LOCKED),
}
WHERE = {
    "start_game": ({State.IDLE, State.BETTING}, "C-21 J-02 J-10"),
    "set_bet": ({State.IDLE, State.BETTING, State.TOURNAMENT}, "P-05 J-02"),
    "select_game": ({State.IDLE}, "O-07"),
    "select_denomination": ({State.IDLE}, "O-07"),
    "start_ticket_payout": ({State.IDLE, State.OUT_OF_SERVICE}, "F-08 F-20 J-02 J-10"),
    "start_coin_payout": ({State.IDLE, State.OUT_OF_SERVICE}, "F-08 F-20 J-02 J-10"),
    "open_cancelled_credit": ({State.IDLE, State.OUT_OF_SERVICE}, "F-08 F-20 J-02 J-10"),
    "withdraw_bets": ({State.BETTING}, "P-05"),
    "stack_bill": ({State.IDLE}, "G-04 J-02"),
    "stack_ticket": ({State.IDLE}, "G-04 J-02"),
    "execute_transfer_order": ({State.IDLE, State.LOCKED}, "K-09"),
    "change_options": (_NO_GAME_AND_NO_PAYOUT, "A-22 O-07"),
    "start_test": (_NO_GAME_AND_NO_PAYOUT, "J-10"),
}


@pytest.mark.parametrize(
    ("effect", "states"),
    [
        pytest.param(effect, states, marks=pytest.mark.requirement(*rows.split()), id=effect)
        for effect, (states, rows) in WHERE.items()
    ],
)
def test_each_action_has_an_effect_only_in_its_states(effect, states):
    found = {
        state
        for state in State
        for event in FEATURES.state_table.payloads
        for rule in FEATURES.state_table.list_rules(state, event)
        if effect in {effect.__name__ for effect in rule.effects}
    }
    assert found == states


def test_an_unexpected_event_is_recorded_once_per_start(tmp_path):
    rig = _room(tmp_path, State.IDLE)
    for _ in range(3):
        rig.engine.handle(EventType.TICKET_NUMBER_ASSIGNED, id="of-nobody", number=TICKET)
    (record,) = rig.records("event.unexpected")
    assert (record["event"], record["reason"]) == ("ticket_numbered", "number_is_awaited")
    assert record["values"] == {"id": "of-nobody", "number": type(TICKET).__name__}
    rig.close()


def test_every_refused_form_shows_a_message(tmp_path):
    """This includes forms whose event is missing from the table: a form without effect never reports success."""
    rig = _room(tmp_path, State.IDLE)
    refusable = [
        form for form in SERVICE_MENU.forms if not FEATURES.state_table.is_always_accepted(form.event)
    ]
    assert len(refusable) > 20
    for form in refusable:
        rig.engine.handle(form.event, form=form.id)
        assert rig.notice is not None, form.id
        assert rig.notice.startswith("refused."), form.id
    rig.close()


def test_the_table_is_short_and_its_sets_have_names():
    assert len(FEATURES.state_table) <= 180
    assert [rule.events for rule in FEATURES.state_table if rule.states not in STATE_SET_NAMES] == []


def test_internal_and_late_events_are_accepted_in_every_state():
    """They are accepted even if they change nothing: no event is decided outside the table, and none is dropped."""
    for event in (
        EventType.AFTER_EVENT,
        EventType.NO_EVENT_WAITING,
        EventType.OUTCOME_SHOWN,
        EventType.ANSWER_SERVICE_PAGE,
    ):
        for state in State:
            assert not FEATURES.state_table.list_rules(state, event)[-1].guards, (state, event)


def test_every_form_is_guarded_by_its_persons():
    by_form = [
        rule
        for rule in FEATURES.state_table
        if "authorised" in {get_refusal_code(guard) for guard in rule.guards}
    ]
    assert {event for rule in by_form for event in rule.events} >= {
        form.event for form in SERVICE_MENU.forms if not FEATURES.state_table.is_always_accepted(form.event)
    }
    assert {rule.refusal for rule in by_form} == {RefusalHandling.REPORT}


def test_every_state_can_be_left_and_reached():
    reached_states = {
        state
        for rule in FEATURES.state_table
        for state in rule.states
        if rule.next_state is not NextState.SAME
    }
    assert reached_states == set(State)
    named = {rule.next_state for rule in FEATURES.state_table} | {State.BOOT}
    derived = {State.IDLE, State.TOURNAMENT, State.DOOR_OPEN, State.TILT, State.OUT_OF_SERVICE}
    derived |= {State.SERVICE_MENU}
    assert named | derived >= set(State)


@pytest.mark.requirement("A-08", "A-09")
def test_the_most_urgent_state_takes_precedence():
    pressing = (
        State.DOOR_OPEN,
        State.TILT,
        State.HANDPAY,
        State.AWAITING_AWARD,
        State.SERVICE_MENU,
        State.PAYING,
        State.PLAYING,
        State.OUT_OF_SERVICE,
        State.TOURNAMENT,
        State.LOCKED,
        State.BETTING,
    )
    assert tuple(state.state for state in FEATURES.state_table.derived_states) == pressing
    derived = (DerivedState(state, lambda holding, state=state: state in holding) for state in pressing[::-1])
    rules, holding = StateTable(FEATURES.state_table, FEATURES.state_table.payloads, derived), set(pressing)
    for state in pressing:
        assert rules.derive_state(holding) is state
        holding.remove(state)
    assert rules.derive_state(holding) is State.IDLE


def test_the_state_diagram_shows_the_rules_and_is_legible():
    arrows = [line for line in format_player_diagram().splitlines() if "-->" in line]
    assert len(arrows) <= 20
    drawn = {word for arrow in arrows for word in arrow.split(":")[0].split() if word != "-->"}
    between = {row.split("`")[1] for row in format_interruption_table().splitlines() if "`" in row}
    assert drawn | between == set(State) - {State.BOOT}
    assert not drawn & between
    assert format_rule_table().count("\n") >= len(FEATURES.state_table)


def test_a_rule_and_its_consequence_are_one_change_for_observers(tmp_path):
    rig = MachineRig(tmp_path, generator=ScriptedGenerator(*LOSS)).boot().insert(500)
    changes = rig.change_count
    rig.machine.random_service = GeneratorOutOfService()
    rig.play()  # no numbers are left: out of service follows as one change for every observer
    assert rig.state is State.OUT_OF_SERVICE
    assert rig.change_count == changes + 1
