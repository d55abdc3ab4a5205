"""Rows that show, for each guard of the state table, that it alone refuses an event; and the test of a row.

A row arranges a real machine and builds an event for which every other guard of the rule holds. If a later guard
cannot hold either, the row names it in ``also``; the tested guard then decides only the reason of the refusal.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rigs.every_event import make_machine_in

from egm.app.features import FEATURES
from egm.errors import InvariantError
from egm.kernel.events import Event, EventName, State
from egm.kernel.machine import PositionMachine
from egm.kernel.rules import Guard, RefusalHandling, Rule, get_refusal_code
from egm.kernel.states import STATE_SET_NAMES
from egm.testing.machine import MachineRig

Arrangement = Callable[[Path], MachineRig]
#: The guard that every rule of a form has: the persons have signed in and are permitted.
AUTHORISED = "authorised"
UNEXPECTED = "event.unexpected"


def _name_rules() -> dict[str, Rule]:
    """Return the rules of the state table by name: events, states, first effect."""
    names, seen = dict[str, Rule](), Counter[str]()
    for rule in FEATURES.state_table:
        events = " or ".join(event.value for event in rule.events)
        effect = rule.effects[0].__name__ if rule.effects else "nothing"
        name = f"{events} in {STATE_SET_NAMES[rule.states]}: {effect}"
        seen[name] += 1
        names[name if seen[name] == 1 else f"{name} ({seen[name]})"] = rule
    return names


#: Every rule by its name. Rules with one name are numbered in the order in which they are tried.
RULES = _name_rules()


@dataclass(frozen=True)
class Case:
    """A change that makes a guard fail: another arrangement, or other values in the event's payload."""

    arrange: Arrangement | None
    values: Mapping[str, Any]
    also: tuple[str, ...] = ()
    then: str = ""
    follows: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """A guard of a rule, the case in which it refuses an event, and the requirements that the refusal shows."""

    rule: str
    guard: str
    arrange: Arrangement
    event: EventName
    values: Mapping[str, Any]
    also: tuple[str, ...]
    then: str
    follows: tuple[str, ...]
    requirements: tuple[str, ...]


def case(
    arrange: Arrangement | None = None,
    /,
    also: tuple[str, ...] = (),
    then: str = "",
    follows: tuple[str, ...] = (),
    **values: Any,
) -> Case:
    """Return the change that makes a guard fail.

    ``also``: the later guards of the rule that fail too. ``then``: the effect of the later rule that
    accepts the event instead. ``follows``: the kinds of the entries that rules after the event write.
    """
    return Case(arrange, values, also, then, follows)


def rows(
    rule: str,
    arrange: Arrangement,
    values: Mapping[str, Any] | None = None,
    /,
    marks: str = "",
    **guards: Case,
) -> Iterator[Row]:
    """Yield the rows of a rule, by guard; with ``arrange`` and ``values`` the rule accepts the event.

    A value that depends on the machine is a function of it. For a form's rule, the row of ``authorised`` is
    added: the form without persons. ``marks``: the ids of the requirements, separated by spaces.
    """
    event = RULES[rule].events[0]
    if any(get_refusal_code(guard) == AUTHORISED for guard in RULES[rule].guards):
        guards = {AUTHORISED: case(persons=()), **guards}
    for guard, change in guards.items():
        yield Row(
            rule,
            guard,
            change.arrange or arrange,
            event,
            {**(values or {}), **change.values},
            change.also,
            change.then,
            change.follows,
            tuple(marks.split()),
        )


def arrange_state(state: State, *devices: str, **options: Any) -> Arrangement:
    """Return the arrangement of a machine that :func:`make_machine_in` brings into a state."""

    def arrange(folder: Path) -> MachineRig:
        return make_machine_in(
            state, lambda needed: MachineRig(folder, devices=(*devices, *needed), **options)
        )

    return arrange


def extend_arrangement(arrange: Arrangement, *steps: Callable[[MachineRig], object]) -> Arrangement:
    """Return an arrangement followed by further steps."""

    def arrange_more(folder: Path) -> MachineRig:
        rig = arrange(folder)
        for step in steps:
            step(rig)
        return rig

    return arrange_more


def handle_event(event: EventName, **values: Any) -> Callable[[MachineRig], None]:
    """Return the step in which an event happens and is accepted."""

    def step(rig: MachineRig) -> None:
        rig.machine.notice = None
        rig.engine.handle(event, **values)
        assert not (rig.notice or "").startswith("refused."), rig.notice

    return step


def try_row(row: Row, folder: Path) -> None:
    """Send the event of a row; check that only its guard refuses the event, with its code, and that nothing changes."""
    rig, rule = row.arrange(folder), RULES[row.rule]
    values = {name: value(rig) if callable(value) else value for name, value in row.values.items()}
    event = FEATURES.state_table.payloads.build_event(row.event, values)
    tried = FEATURES.state_table.list_rules(rig.state, row.event)
    assert rule in tried, f"{row.event} in {rig.state}: the rule is not tried"
    refusing = [get_refusal_code(guard) for guard in rule.guards if not _holds(guard, rig, event)]
    assert refusing == [row.guard, *row.also], f"{row.rule}: {refusing} fail"
    accepting = next(
        (other for other in tried if all(_holds(guard, rig, event) for guard in other.guards)), None
    )
    if row.then:
        assert accepting is not None, f"{row.rule}: no later rule accepts the event"
        effects = [effect.__name__ for effect in accepting.effects] or ["nothing"]
        assert effects[0] == row.then, f"{row.rule}: {effects[0]} follows"
        assert tried.index(accepting) > tried.index(rule)
        return
    assert accepting is None, f"{row.rule}: {accepting} accepts the event"
    last_guard = next(guard for guard in tried[-1].guards if not _holds(guard, rig, event))
    reason = row.guard if tried[-1] is rule else get_refusal_code(last_guard)
    rig.machine.notice = None
    before, sequence, recorded = _read_position(rig), rig.journal.sequence, rig.records(UNEXPECTED)

    rig.engine.submit(event)

    written = [entry.kind for entry in rig.journal.entries(after_sequence=sequence)]
    assert [kind for kind in written if kind != UNEXPECTED] == [*row.follows], written
    assert row.follows or _read_position(rig) == before
    unexpected = rig.records(UNEXPECTED)[len(recorded) :]
    if rule.refusal is RefusalHandling.REPORT:
        assert (rig.notice, unexpected) == (f"refused.{reason}", [])
    else:
        assert [entry["reason"] for entry in unexpected] == [reason]
    rig.journal.self_audit()


def _holds(guard: Guard[PositionMachine], rig: MachineRig, event: Event) -> bool:
    """Return whether a guard holds; a guard that raises because an earlier one fails does not hold."""
    try:
        return guard(rig.machine, event)
    except InvariantError:
        return False


def _read_position(rig: MachineRig) -> tuple[object, ...]:
    """Return everything that a refusal must not change: state, stored values, credits and commands to devices."""
    return (
        rig.state,
        dict(rig.journal.states()),
        rig.credit_cents,
        rig.journal.list_pending(),
        len(rig.hands.orders),
        len(rig.hands.jobs),
        len(rig.hands.payouts),
    )
