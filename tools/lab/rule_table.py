"""The machine's state table as documents: a diagram of the states that a player sees, and a table of all rules."""

from collections.abc import Sequence
from typing import Final

from egm.app.features import FEATURES
from egm.kernel.events import EventName, EventType, NextState, State
from egm.kernel.feature import Features
from egm.kernel.rules import RefusalHandling
from egm.kernel.states import STATE_SET_NAMES
from egm.seats.table import TableEvent
from tools.lab.markdown import format_table

#: The arrows of the diagram: the state before, the event, the state that a rule leads to, and a short label.
_DIAGRAM_ARROWS: Final = (
    (State.SELF_TEST, EventType.SELF_TEST_PASSED, State.IDLE, "passed"),
    (State.IDLE, EventType.PLAY, State.PLAYING, "play"),
    (State.IDLE, EventType.PLAY, State.BETTING, "play, where several seats play one round"),
    (State.BETTING, TableEvent.NO_MORE_BETS, State.PLAYING, "no more bets"),
    (State.PLAYING, EventType.OUTCOME_SHOWN, State.IDLE, "shown and paid"),
    (State.PLAYING, EventType.OUTCOME_SHOWN, State.AWAITING_AWARD, "a linked award is not locked yet"),
    (State.AWAITING_AWARD, EventType.OUTCOME_SHOWN, State.IDLE, "locked and paid"),
    (State.PLAYING, EventType.OUTCOME_SHOWN, State.HANDPAY, "a jackpot"),
    (State.IDLE, EventType.CASH_OUT, State.PAYING, "cash out"),
    (State.PAYING, EventType.TICKET_PRINTED, State.IDLE, "ticket or coins are out"),
    (State.PAYING, EventType.TICKET_PRINT_FAILED, State.HANDPAY, "no ticket, no coins"),
    (State.HANDPAY, EventType.KEY_TURNED, State.IDLE, "paid by an attendant"),
    (State.TOURNAMENT, EventType.PLAY, State.PLAYING, "play with points"),
    (State.PLAYING, EventType.OUTCOME_SHOWN, State.TOURNAMENT, "shown, in a tournament"),
)
#: Interruptions: the state of the interrupted machine, the event that leads to it, and the event that ends it.
_INTERRUPTIONS: Final = (
    (State.DOOR_OPEN, EventType.DOOR_OPENED, EventType.DOOR_CLOSED),
    (State.TILT, EventType.FAULT_RAISED, EventType.KEY_TURNED),
    (State.SERVICE_MENU, EventType.OPEN_SERVICE_MENU, EventType.SERVICE_MENU_CLOSED),
    (State.OUT_OF_SERVICE, EventType.MACHINE_DISABLED, EventType.MACHINE_ENABLED),
    (State.LOCKED, EventType.TRANSFER_LOCK_REQUESTED, EventType.TRANSFER_LOCK_ENDED),
)


class NoSuchRuleError(Exception):
    """Raised if a document describes a transition between machine states that no rule of the state table makes."""


def format_player_diagram() -> str:
    """Return the machine states that a player sees as a Mermaid diagram.

    Raises NoSuchRuleError for an arrow without a rule.
    """
    lines = ["stateDiagram-v2", "    direction LR"]
    for source, event, target, label in _DIAGRAM_ARROWS:
        _check_rule_can_lead(source, event, target)
        lines.append(f"    {source.value} --> {target.value}: {label}")
    return "\n".join(lines)


def format_interruption_table() -> str:
    """Return a table of the interruptions and how they end. Raises NoSuchRuleError for a row without a rule."""
    for state, start_event, end_event in _INTERRUPTIONS:
        _check_rule_can_lead(State.IDLE, start_event, state)
        _check_rule_can_lead(state, end_event, State.IDLE)
    rows = [
        [f"`{state}`", f"`{start_event}`", f"`{end_event}`"]
        for state, start_event, end_event in _INTERRUPTIONS
    ]
    return format_table(["State", "Caused by", "Ended by"], rows)


def _check_rule_can_lead(source: State, event: EventName, target: State) -> None:
    """Raise NoSuchRuleError unless a rule of the state table may lead from ``source`` to ``target`` on ``event``.

    A rule whose next state is derived may lead to any state.
    """
    possible_next_states = (NextState.DERIVED, NextState.DERIVED_ONCE_TESTED, target)
    if not any(
        rule.next_state in possible_next_states for rule in FEATURES.state_table.list_rules(source, event)
    ):
        raise NoSuchRuleError(f"no rule leads from {source} by {event} to {target}")


def format_rule_table(features: Features = FEATURES) -> str:
    """Return a table of every rule in order: event, states, condition, effects, next state, refusal."""
    rows = [
        [
            _format_names([event.value for event in rule.events]),
            STATE_SET_NAMES[rule.states],
            _format_names([guard.__name__ for guard in rule.guards]),
            _format_names([effect.__name__ for effect in rule.effects]),
            "" if rule.next_state is NextState.SAME else _format_next(rule.next_state),
            "refusal shown" if rule.refusal is RefusalHandling.REPORT else "refusal recorded",
        ]
        for rule in features.state_table
    ]
    return format_table(["Event", "In", "If", "Does", "Then", "Else"], rows)


def format_state_sets() -> str:
    """Return a table of the named sets of machine states; sets of a single state are left out."""
    rows = [
        [name, ", ".join(f"`{state}`" for state in State if state in states)]
        for states, name in STATE_SET_NAMES.items()
        if len(states) > 1
    ]
    return format_table(["In", "States"], rows)


def _format_names(names: Sequence[str]) -> str:
    """Return names as Markdown code, separated by commas."""
    return ", ".join(f"`{name}`" for name in names)


def _format_next(next_state: State | NextState) -> str:
    """Return the next machine state of a rule as text; if it is not fixed, say what decides it."""
    return f"`{next_state.value}`" if isinstance(next_state, State) else next_state.value.replace("_", " ")
