"""The engine on a toy machine: which rules are valid, and the order in which events and effects are executed."""

from dataclasses import dataclass

import pytest

from egm.errors import InvariantError
from egm.kernel.engine import StateMachineEngine
from egm.kernel.events import (
    EmptyPayload,
    Event,
    EventReplacement,
    EventType,
    NextState,
    PayloadClasses,
    State,
)
from egm.kernel.rules import DerivedState, RefusalHandling, Rule, StateTable
from egm.kernel.states import ALL_STATES, single_state

IDLE = single_state(State.IDLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    n: int


PAYLOADS = PayloadClasses((dict.fromkeys(EventType, EmptyPayload) | {EventType.SELECT_BET: Count},))


class Toy:
    """A machine that records the effects executed on it."""

    def __init__(self) -> None:
        self.notice = None
        self.done: list[str] = []
        self.unfinished_count = 0
        self.broken = False

    def record_unexpected_event(self, event, state, reason, values) -> None:
        self.done.append(f"event.unexpected {event} {reason}")


def never(_toy, _event):
    return False


def works(toy, _event):
    return not toy.broken


def something_is_begun(toy, _event):
    return toy.unfinished_count > 0


def end_it(toy, _event):
    toy.unfinished_count -= 1
    toy.done.append("ended")


def begin(toy, event):
    toy.unfinished_count += 1
    toy.done.append(f"begin {event.payload.n}" if isinstance(event.payload, Count) else "begin")


def ask_for_more(toy, _event):
    toy.done.append("asked")
    return Event(EventType.SELECT_BET, Count(n=2))


def find_it_broken(_toy, _event):
    raise EventReplacement(Event(EventType.GENERATOR_FAILED))


def note_failure(toy, _event):
    toy.done.append("failed")
    toy.broken = True


def note_idle(toy, _event):
    toy.done.append("rest")


def rules(*some: Rule) -> StateTable:
    """Return a table of these rules, with a rule for every other event that never applies."""
    decided = {event for rule in some for event in rule.events}
    default_rule = Rule(tuple(e for e in EventType if e not in decided), ALL_STATES, (never,))
    return StateTable(
        (*some, default_rule), PAYLOADS, (DerivedState(State.OUT_OF_SERVICE, lambda toy: toy.broken),)
    )


LAST = (
    Rule(EventType.NO_EVENT_WAITING, ALL_STATES, (), (note_idle,)),
    Rule(EventType.AFTER_EVENT, ALL_STATES, (something_is_begun,), (end_it,)),
    Rule(EventType.AFTER_EVENT, ALL_STATES),
)


def engine(*some: Rule) -> StateMachineEngine:
    state_machine = StateMachineEngine(Toy(), rules(*some, *LAST), lambda: None)
    state_machine.state = State.IDLE
    return state_machine


def test_a_rule_and_its_unfinished_actions_end_before_the_next_event():
    toy = engine(
        Rule(EventType.PLAY, IDLE, (), (ask_for_more, begin)), Rule(EventType.SELECT_BET, IDLE, (), (begin,))
    )
    toy.handle(EventType.PLAY)
    assert toy.machine.done == ["asked", "begin", "ended", "begin 2", "ended", "rest"]


@pytest.mark.requirement("A-11")
def test_an_event_that_arrives_during_another_is_handled_after_it():
    """The machine does nothing by itself until both events have been handled."""

    def press_bet(toy, _event):
        pressed.handle(EventType.SELECT_BET, n=2)
        toy.done.append("pressed")

    pressed = engine(
        Rule(EventType.PLAY, IDLE, (), (press_bet, begin)), Rule(EventType.SELECT_BET, IDLE, (), (begin,))
    )
    pressed.handle(EventType.PLAY)
    assert pressed.machine.done == ["pressed", "begin", "ended", "begin 2", "ended", "rest"]


def test_each_event_completes_at_most_one_unfinished_action():
    toy = engine(Rule(EventType.PLAY, IDLE, (), (begin, begin)))
    toy.handle(EventType.PLAY)
    assert (toy.machine.done, toy.machine.unfinished_count) == (["begin", "begin", "ended", "rest"], 1)


def test_an_automatic_event_follows_each_event_once():
    """An automatic event that is refused or changes nothing is not repeated; otherwise the engine would loop."""
    toy = engine(
        Rule(EventType.NO_EVENT_WAITING, IDLE, (works,), (ask_for_more,)),
        Rule(EventType.PLAY, IDLE, (), (begin,)),
        Rule(EventType.SELECT_BET, IDLE, (never,), (begin,), refusal=RefusalHandling.REPORT),
    )
    for _ in range(2):
        toy.machine.done.clear()
        toy.handle(EventType.PLAY)
        assert toy.machine.done == ["begin", "ended", "asked", "rest"]


def test_an_event_of_an_effect_replaces_the_next_state_of_the_rule():
    toy = engine(
        Rule(EventType.PLAY, IDLE, (), (find_it_broken,), State.PLAYING),
        Rule(EventType.GENERATOR_FAILED, IDLE, (), (note_failure,), NextState.DERIVED),
    )
    toy.handle(EventType.PLAY)
    assert toy.state is State.OUT_OF_SERVICE
    assert toy.machine.done == ["failed", "rest"]


def test_a_refusal_is_sent_to_the_requester_or_recorded_once():
    toy = engine(
        Rule(EventType.PLAY, IDLE, (never,), (begin,), refusal=RefusalHandling.REPORT),
        Rule(EventType.COINS_PAID, single_state(State.PAYING), (), (begin,)),
    )
    toy.handle(EventType.PLAY)
    assert toy.machine.notice.code == "refused.never"
    for _ in range(2):
        toy.handle(EventType.COINS_PAID)
    assert [line for line in toy.machine.done if line != "rest"] == ["event.unexpected coins_paid idle"]


def test_an_event_during_the_self_test_does_not_change_the_state():
    toy = engine(Rule(EventType.FAULT_RAISED, ALL_STATES, (), (), NextState.DERIVED_ONCE_TESTED))
    toy.state = State.SELF_TEST
    toy.handle(EventType.FAULT_RAISED)
    assert toy.state is State.SELF_TEST
    toy.state = State.PLAYING
    toy.handle(EventType.FAULT_RAISED)
    assert toy.state is State.IDLE


@pytest.mark.parametrize(
    ("some", "expected_text"),
    [
        (
            (Rule(EventType.PLAY, IDLE), Rule(EventType.PLAY, ALL_STATES, (never,))),
            "a rule after one without guards can never apply",
        ),
        (
            (
                Rule(EventType.PLAY, IDLE, (never,)),
                Rule(EventType.PLAY, IDLE, refusal=RefusalHandling.REPORT),
            ),
            "must declare the same refusal",
        ),
    ],
)
def test_rules_that_contradict_each_other_are_refused(some, expected_text):
    with pytest.raises(InvariantError, match=expected_text):
        rules(*some)


def test_an_event_that_no_rule_decides_is_refused():
    with pytest.raises(InvariantError, match="no rule decides"):
        StateTable((Rule(EventType.PLAY, IDLE),), PAYLOADS)
    with pytest.raises(InvariantError, match="after_event in every state"):
        StateMachineEngine(Toy(), rules(), lambda: None)
