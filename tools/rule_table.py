"""State table for ARCHITECTURE.md: a picture of what a player sees, and every rule by its set of states."""

from collections.abc import Sequence
from typing import Final

from egm.cabinet.features import RULES
from egm.kernel.events import EventType, Next, State
from egm.kernel.rules import Refusal
from egm.kernel.states import SETS
from tools.conformance.page import table

#: What a player sees, as arrows: from, the event a rule takes there, to, and what happens in a few words.
_ARROWS: Final = (
    (State.SELF_TEST, EventType.SELF_TEST_PASSED, State.IDLE, "self-test passed"),
    (State.IDLE, EventType.PLAY, State.PLAYING, "play"),
    (State.PLAYING, EventType.SHOWN, State.IDLE, "shown and paid"),
    (State.PLAYING, EventType.SHOWN, State.AWAITING_AWARD, "a linked award is not locked"),
    (State.AWAITING_AWARD, EventType.SHOWN, State.IDLE, "locked and paid"),
    (State.PLAYING, EventType.SHOWN, State.HANDPAY, "a jackpot"),
    (State.IDLE, EventType.CASH_OUT, State.PAYING, "cash out"),
    (State.PAYING, EventType.TICKET_PRINTED, State.IDLE, "ticket or coins are out"),
    (State.PAYING, EventType.TICKET_FAILED, State.HANDPAY, "no ticket, no coins"),
    (State.HANDPAY, EventType.KEY_TURNED, State.IDLE, "paid by an attendant"),
    (State.IDLE, EventType.LOCK_ASKED, State.LOCKED, "a host transfers"),
    (State.LOCKED, EventType.LOCK_ENDED, State.IDLE, "done"),
    (State.IDLE, EventType.DOOR_OPENED, State.DOOR_OPEN, "door opened"),
    (State.DOOR_OPEN, EventType.DOOR_CLOSED, State.IDLE, "closed"),
    (State.IDLE, EventType.FAULT_RAISED, State.TILT, "fault"),
    (State.TILT, EventType.KEY_TURNED, State.IDLE, "cleared"),
    (State.IDLE, EventType.MENU, State.SERVICE_MENU, "staff"),
    (State.SERVICE_MENU, EventType.MENU_CLOSED, State.IDLE, "gone"),
    (State.IDLE, EventType.DISABLED, State.OUT_OF_SERVICE, "taken out of service"),
    (State.OUT_OF_SERVICE, EventType.ENABLED, State.IDLE, "given back"),
)


class NoSuchRuleError(Exception):
    """An arrow of the picture is no rule's."""


def picture() -> str:
    """What a player sees, as a Mermaid state diagram. Raises NoSuchRuleError for an arrow no rule takes."""
    lines = ["stateDiagram-v2"]
    for source, event, target, words in _ARROWS:
        derived = (Next.DERIVED, Next.DERIVED_ONCE_TESTED, target)
        if not any(rule.next in derived for rule in RULES.of(source, event)):
            raise NoSuchRuleError(f"no rule leads from {source} by {event} to {target}")
        lines.append(f"    {source.value} --> {target.value}: {words}")
    return "\n".join(lines)


def rule_table() -> str:
    """Every rule, in the order in which they are tried: event, where, if, effects, next state, refusal."""
    rows = [
        [
            _names([event.value for event in rule.events]),
            SETS[rule.states],
            _names([guard.__name__ for guard in rule.guards]),
            _names([effect.__name__ for effect in rule.effects]),
            "" if rule.next is Next.SAME else _words(rule.next),
            "told" if rule.refusal is Refusal.TELL else "recorded",
        ]
        for rule in RULES
    ]
    return table(["Event", "In", "If", "Does", "Then", "Else"], rows)


def set_table() -> str:
    """The named sets of states that are more than one state."""
    rows = [
        [name, ", ".join(f"`{state}`" for state in State if state in states)]
        for states, name in SETS.items()
        if len(states) > 1
    ]
    return table(["In", "States"], rows)


def _names(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _words(next_: State | Next) -> str:
    return f"`{next_.value}`" if isinstance(next_, State) else next_.value.replace("_", " ")
