"""Every event has one declared payload, and a payload that differs from its declaration is refused by name."""

import ast
import builtins
import collections.abc
import dataclasses
import inspect
import itertools
import re
import textwrap
import types
import typing
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import get_args, get_origin

import pytest

import egm
import tools
from egm.app.features import FEATURES
from egm.app.wiring import build_event_from_intent
from egm.errors import InvariantError
from egm.kernel.events import EmptyPayload, Event, EventError, EventName, EventType, PayloadClasses, State
from egm.kernel.feature import Feature, Features
from egm.kernel.messages import INTEGER_MAX, Intent
from egm.kernel.rules import Rule
from egm.kernel.states import single_state
from egm.money.events import BillEscrowed
from egm.play.events import BetRequest, GameRequest
from egm.record_codec import NOT_STORED, get_stored_key
from egm.staff.form import FieldKind, Form, FormField
from egm.testing.machine import MachineRig
from meters.transaction import JSON

PAYLOADS = FEATURES.state_table.payloads
#: For each plain type: values of other types, although Python treats some of them as equal.
NOT_OF = {int: (b"no", True, 1.0, "1"), str: (b"no", 1, None), bool: (b"no", 1, "true")}


def sample(hint: object) -> object:
    """Return a valid value of a field type."""
    origin, inner = get_origin(hint), get_args(hint)
    match origin:
        case _ if hint == JSON:
            value: object = "any JSON"
        case _ if NOT_STORED in inner:
            value = inner[0].model_construct()
        case typing.Annotated | typing.Union | types.UnionType:
            value = sample(inner[0])
        case typing.Literal:
            value = inner[0]
        case builtins.tuple:
            value = tuple(map(sample, inner[: inner.index(Ellipsis) if Ellipsis in inner else None]))
        case collections.abc.Mapping:
            value = {"a": sample(inner[1])}
        case _ if dataclasses.is_dataclass(hint):
            value = values_of(hint)
        case _ if issubclass(hint, StrEnum):
            value = next(iter(hint))
        case _:
            value = {int: 1, str: "x", bool: True}[hint]
    return value


def values_of(payload: type) -> dict[str, object]:
    return {get_stored_key(field): sample(field.type) for field in dataclasses.fields(payload)}


def find_nested_payload(hint: object) -> type | None:
    """Return the dataclass that a field of this type has as its value, or None."""
    return next((kind for kind in (hint, *get_args(hint)) if dataclasses.is_dataclass(kind)), None)


def list_event_names(kind: type[EventName] = EventName) -> list[EventName]:
    """Return the events of the product from every enumeration."""
    names = list(kind) if kind.__module__.startswith("egm.") else []
    return [*names, *(event for below in kind.__subclasses__() for event in list_event_names(below))]


def is_required(field: dataclasses.Field) -> bool:
    return field.default is field.default_factory is dataclasses.MISSING


def test_every_event_has_one_declared_payload():
    declared = [event for feature in FEATURES.features for event in feature.payload_classes]
    assert sorted(declared) == sorted(list_event_names())
    assert set(PAYLOADS) == set(declared)
    for payload in {PAYLOADS[event] for event in PAYLOADS}:
        assert payload.__dataclass_params__.frozen, payload
        assert "__slots__" in vars(payload), payload
        assert payload.__doc__, payload


@pytest.mark.parametrize("event", tuple(PAYLOADS), ids=str)
def test_a_payload_that_differs_from_its_declaration_is_refused_by_name(event):
    payload, values = PAYLOADS[event], values_of(PAYLOADS[event])
    built = PAYLOADS.build_event(event, values)
    assert built.name is event
    assert type(built.read_payload(payload)) is payload

    with pytest.raises(EventError, match=rf"^{event}: another is 1, a field that is not known$"):
        PAYLOADS.build_event(event, {**values, "another": 1})
    for field in dataclasses.fields(payload):
        key = get_stored_key(field)
        if is_required(field):
            incomplete = {name: value for name, value in values.items() if name != key}
            with pytest.raises(EventError, match=rf"^{event}: {key} is missing$"):
                PAYLOADS.build_event(event, incomplete)
        for wrong in NOT_OF.get(field.type, () if field.type == JSON else (b"no",)):
            named = rf"^{event}: {key} is {re.escape(repr(wrong))}, not "
            with pytest.raises(EventError, match=named):
                PAYLOADS.build_event(event, {**values, key: wrong})
            with pytest.raises(EventError, match=named):
                Event(event, dataclasses.replace(built.read_payload(payload), **{field.name: wrong}))
        if find_nested_payload(field.type) and NOT_STORED not in get_args(field.type):
            nested = {**values[key], "another": 1}
            with pytest.raises(EventError, match=rf"^{event}: {key}\.another is 1, a field that is not"):
                PAYLOADS.build_event(event, {**values, key: nested})


def test_an_event_carries_the_payload_declared_for_it(tmp_path):
    rig = MachineRig(tmp_path).boot()
    before = rig.journal.sequence
    for wrong in (
        Event(EventType.SELECT_GAME),
        Event(EventType.SELECT_GAME, BetRequest()),
        Event(EventType.PLAY, GameRequest()),
    ):
        with pytest.raises(EventError, match=f"^{wrong.name}: expected the payload "):
            rig.engine.submit(wrong)
        with pytest.raises(EventError, match=f"^{wrong.name}: expected the payload "):
            rig.engine.accepts_event(wrong)
    with pytest.raises(EventError, match=r"^game: expected a dataclass as payload, found \{'value': 'a'\}$"):
        Event(EventType.SELECT_GAME, {"value": "a"})
    with pytest.raises(
        EventError, match=r"^bill_escrowed: expected the payload GameRequest, found BillEscrowed"
    ):
        Event(EventType.BILL_ESCROWED, BillEscrowed(escrow_number=1, amount_cents=500)).read_payload(
            GameRequest
        )
    assert rig.journal.sequence == before
    rig.close()


def iter_built_events() -> Iterator[tuple[str, str, str]]:
    """Yield location, event and payload of each ``Event(EventType.X, Payload(...))`` in the source.

    The SAS host builds its events by ``host.submit_event(EventType.X, Payload(...))``.
    """
    for file in (file for package in (egm, tools) for file in Path(package.__path__[0]).rglob("*.py")):
        text = file.read_text()
        for node in ast.walk(ast.parse(text)) if "Event(" in text or "EventType." in text else ():
            match node:
                case ast.Call(func=ast.Name(id="Event"), args=[ast.Attribute(attr=event)]):
                    yield f"{file}:{node.lineno}", event, "EmptyPayload"
                case ast.Call(
                    func=ast.Name(id="Event") | ast.Attribute(attr="handle" | "submit_event"),
                    args=[ast.Attribute(attr=event), ast.Call(func=ast.Name(id=payload))],
                ) if payload != "replace":
                    yield f"{file}:{node.lineno}", event, payload


def test_the_product_builds_each_event_with_its_declared_payload():
    declared = {event.name: PAYLOADS[event].__name__ for event in PAYLOADS}
    built = [event for event in iter_built_events() if event[1] in declared]
    assert len(built) > 100
    assert [(where, event, payload) for where, event, payload in built if payload != declared[event]] == []


def iter_payloads_read(function: typing.Any, seen: set[object]) -> Iterator[type]:
    """Yield each class of ``event.read_payload(Class)`` in a guard or effect, and in the functions it passes the event to."""
    if function in seen or not inspect.isfunction(function):
        return
    seen.add(function)
    names = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="event"), attr="read_payload"),
                args=[ast.Name(id=payload)],
            ):
                yield names[payload]
            case ast.Call(func=ast.Name(id=called), args=args) if "event" in map(ast.unparse, args):
                yield from iter_payloads_read(names[called], seen)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=called), args=args) if (
                "event" in map(ast.unparse, args)
            ):
                yield from iter_payloads_read(getattr(names[module], called), seen)


def test_guards_and_effects_read_the_payload_of_the_events_of_their_rule():
    """A mismatch would stop the machine at the event, possibly in a state that no other test reaches."""
    read = [
        (event, function.__qualname__, payload)
        for rule in FEATURES.state_table
        for event in rule.events
        for function in (*rule.guards, *rule.effects)
        for payload in iter_payloads_read(function, set())
    ]
    assert len(read) > 200
    assert [
        (event, name, payload) for event, name, payload in read if not issubclass(PAYLOADS[event], payload)
    ] == []


def list_field_values(field: FormField) -> list[str | int | None]:
    """Return values that a field of a form can have when the form is submitted."""
    values: list[str | int | None] = [None] if not field.is_required else []
    match field.kind:
        case FieldKind.NUMBER | FieldKind.AMOUNT:
            return [*values, field.value_min, field.value_max]
        case FieldKind.CHOICE if field.choices:
            return [*values, *field.choices]
    return [*values, "1"]


@pytest.mark.parametrize("form", FEATURES.list_contributions(Form), ids=lambda form: form.id)
def test_every_value_that_a_form_accepts_fits_the_payload_of_its_event(form):
    persons = {"form": form.id, "person": "4", "persons": ("4", "5")}
    filled = {field.name: list_field_values(field)[-1] for field in form.fields}
    for field in form.fields:
        for value in list_field_values(field):
            PAYLOADS.build_event(form.event, {**form.preset_values, **persons, **filled, field.name: value})
    PAYLOADS.build_event(form.event, {**form.preset_values, **persons, **filled})
    if form.submission_guards:  # checked before a field is filled in
        PAYLOADS.build_event(form.event, form.preset_values)


class UndeclaredEvent(EventName):
    """Events of a feature that declares no payload for the second event."""

    FIRST = "first"
    SECOND = "second"


def test_features_declare_the_payload_of_each_event_once():
    twice = Feature(name="twice", payload_classes={EventType.PLAY: EmptyPayload})
    with pytest.raises(InvariantError, match="the payload of play is declared twice"):
        Features((*FEATURES.features, twice))
    without = [
        dataclasses.replace(feature, payload_classes={}) if feature.name == "play" else feature
        for feature in FEATURES.features
    ]
    with pytest.raises(InvariantError, match=r"no feature declares the payload of .*choose"):
        Features(without)
    rules = tuple(Rule(event, single_state(State.IDLE), (), ()) for event in UndeclaredEvent)
    added = Feature(name="added", rules=rules, payload_classes={UndeclaredEvent.FIRST: EmptyPayload})
    with pytest.raises(InvariantError, match=r"^no feature declares the payload of second$"):
        Features((*FEATURES.features, added))
    with pytest.raises(EventError, match="no feature declares the payload of play"):
        PayloadClasses(())[EventType.PLAY]


@pytest.mark.parametrize("name", get_args(Intent.model_fields["name"].annotation))
def test_every_request_that_a_screen_can_send_becomes_an_event(name):
    many = {"of": 1, "page": [], "bets": "x"}
    for value, options in itertools.product((None, INTEGER_MAX, "\0"), (None, {}, {"value": 1}, many)):
        event = build_event_from_intent(Intent(name=name, value=value, options=options), PAYLOADS)
        assert event.name == name
        PAYLOADS.check_payload(event)


@pytest.mark.parametrize(
    ("request_", "expected_notice"),
    [
        ({"name": "game", "value": 7}, "refused.game_is_offered"),
        ({"name": "denomination", "value": "5"}, "refused.denomination_is_offered"),
        ({"name": "language", "value": 3}, "refused.language_is_offered"),
        ({"name": "bet", "value": "1"}, "refused.bet_is_offered"),
        ({"name": "bet"}, "refused.bet_is_offered"),
        ({"name": "limit", "value": 5, "options": {"of": ["cents"]}}, "refused.limit_is_offered"),
        ({"name": "limit", "value": 5, "options": {"of": "cents", "more": 1}}, "refused.limit_is_offered"),
        ({"name": "choose", "value": 5}, "refused.idle"),
        ({"name": "shown", "value": 7}, None),
        ({"name": "answer", "value": 5, "options": {"page": {}, "input": 1}}, None),
        ({"name": "play", "value": 1}, "refused.bet_is_covered"),
    ],
    ids=str,
)
def test_a_malformed_request_of_a_screen_is_refused_like_an_unavailable_one(
    tmp_path, request_, expected_notice
):
    rig = MachineRig(tmp_path).boot()
    before = rig.journal.sequence
    rig.engine.submit(build_event_from_intent(Intent(**request_), PAYLOADS))
    assert rig.notice == expected_notice
    assert rig.journal.sequence == before
    rig.close()
