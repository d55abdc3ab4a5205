"""Every event has one declared payload, and a payload that differs from its declaration is refused by name."""

import ast
import builtins
import collections.abc
import dataclasses
import types
import typing
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import get_args, get_origin

import pytest

import egm
from egm.app.features import FEATURES
from egm.app.wiring import build_event
from egm.errors import InvariantError
from egm.kernel.events import Event, EventError, EventName, EventType, NoData, Payloads
from egm.kernel.feature import Feature, Features
from egm.kernel.messages import Intent
from egm.play.events import BetRequest, GameRequest
from egm.record_codec import IN_MEMORY
from egm.records.events import BillEscrowed
from egm.testing.machine import MachineRig
from meters.transaction import JSON

PAYLOADS = FEATURES.rules.payloads


def sample(hint: object) -> object:
    """Return a valid value of a field type."""
    origin, inner = get_origin(hint), get_args(hint)
    match origin:
        case _ if hint == JSON:
            found: object = "any JSON"
        case _ if IN_MEMORY in inner:
            found = inner[0].model_construct()
        case typing.Annotated | typing.Union | types.UnionType:
            found = sample(inner[0])
        case typing.Literal:
            found = inner[0]
        case builtins.tuple:
            found = tuple(map(sample, inner[: inner.index(Ellipsis) if Ellipsis in inner else None]))
        case collections.abc.Mapping:
            found = {"a": sample(inner[1])}
        case _ if dataclasses.is_dataclass(hint):
            found = values_of(hint)
        case _ if issubclass(hint, StrEnum):
            found = next(iter(hint))
        case _:
            found = {int: 1, str: "x", bool: True}[hint]
    return found


def values_of(payload: type) -> dict[str, object]:
    return {field.name: sample(field.type) for field in dataclasses.fields(payload)}


def list_event_names(kind: type[EventName] = EventName) -> list[EventName]:
    """Return the events of the product, of every enumeration of them."""
    names = list(kind) if kind.__module__.startswith("egm.") else []
    return [*names, *(event for below in kind.__subclasses__() for event in list_event_names(below))]


def is_required(field: dataclasses.Field) -> bool:
    return field.default is field.default_factory is dataclasses.MISSING


def test_every_event_has_one_declared_payload():
    declared = [event for feature in FEATURES.all for event in feature.events]
    assert sorted(declared) == sorted(list_event_names())
    assert set(PAYLOADS) == set(declared)
    for payload in {PAYLOADS[event] for event in PAYLOADS}:
        assert payload.__dataclass_params__.frozen, payload
        assert "__slots__" in vars(payload), payload
        assert payload.__doc__, payload


@pytest.mark.parametrize("event", tuple(PAYLOADS), ids=str)
def test_a_payload_that_differs_from_its_declaration_is_refused_by_name(event):
    payload, values = PAYLOADS[event], values_of(PAYLOADS[event])
    built = PAYLOADS.build(event, values)
    assert built.type is event
    assert type(built.of(payload)) is payload

    with pytest.raises(EventError, match=rf"^{event}: another is 1, a field that is not known$"):
        PAYLOADS.build(event, {**values, "another": 1})
    for field in dataclasses.fields(payload):
        if is_required(field):
            left = {name: value for name, value in values.items() if name != field.name}
            with pytest.raises(EventError, match=rf"^{event}: {field.name} is missing$"):
                PAYLOADS.build(event, left)
        if field.type != JSON:
            with pytest.raises(EventError, match=rf"^{event}: {field.name} is b'no', not "):
                PAYLOADS.build(event, {**values, field.name: b"no"})
            with pytest.raises(EventError, match=rf"^{event}: {field.name} is b'no', not "):
                Event(event, dataclasses.replace(built.of(payload), **{field.name: b"no"}))


def test_an_event_carries_the_payload_declared_for_it(tmp_path):
    room = MachineRig(tmp_path).boot()
    before = room.journal.sequence
    for wrong in (
        Event(EventType.GAME),
        Event(EventType.GAME, BetRequest()),
        Event(EventType.PLAY, GameRequest()),
    ):
        with pytest.raises(EventError, match=f"^{wrong.type}: carries "):
            room.engine.submit(wrong)
        with pytest.raises(EventError, match=f"^{wrong.type}: carries "):
            room.engine.accepts_event(wrong)
    with pytest.raises(EventError, match=r"^bill_escrowed: carries BillEscrowed.*, not GameRequest$"):
        Event(EventType.BILL_ESCROWED, BillEscrowed(escrow=1, amount_cents=500)).of(GameRequest)
    assert room.journal.sequence == before
    room.close()


def iter_built_events() -> Iterator[tuple[str, str, str]]:
    """Yield place, event and payload of each ``Event(EventType.X, Payload(...))`` in the product's source."""
    for file in Path(egm.__path__[0]).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Event":
                match node.args:
                    case [ast.Attribute(attr=event)]:
                        yield f"{file}:{node.lineno}", event, "NoData"
                    case [ast.Attribute(attr=event), ast.Call(func=ast.Name(id=payload))] if (
                        payload != "replace"
                    ):
                        yield f"{file}:{node.lineno}", event, payload


def test_the_product_builds_each_event_with_its_payload():
    declared = {event.name: PAYLOADS[event].__name__ for event in PAYLOADS}
    built = [(place, event, payload) for place, event, payload in iter_built_events() if event in declared]
    assert len(built) > 50
    assert [each for each in built if each[2] != declared[each[1]]] == []


def test_features_declare_the_payloads_of_their_events_once():
    twice = Feature(name="twice", events={EventType.PLAY: NoData})
    with pytest.raises(InvariantError, match="the payload of play is declared twice"):
        Features((*FEATURES.all, twice))
    without = [dataclasses.replace(one, events={}) if one.name == "play" else one for one in FEATURES.all]
    with pytest.raises(InvariantError, match=r"no feature declares the payload of .*choose"):
        Features(without)
    with pytest.raises(EventError, match="no feature declares the payload of play"):
        Payloads(())[EventType.PLAY]


@pytest.mark.parametrize(
    ("request_", "refused"),
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
def test_a_malformed_request_of_a_screen_is_refused_like_one_for_what_is_not_offered(
    tmp_path, request_, refused
):
    room = MachineRig(tmp_path).boot()
    before = room.journal.sequence
    room.engine.submit(build_event(Intent(**request_), PAYLOADS))
    assert room.notice == refused
    assert room.journal.sequence == before
    room.close()
