"""Entries made up whole, of any kind that a journal may have, as the rules of the audit ask for them.

A liar who has read the table of rules (:mod:`tools.audit.rules`) writes what it lets pass: the same value
where it asks for the same, what memory holds where it asks for that, what the books come to where it derives.
"""

import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from egm.app.features import FEATURES
from egm.kernel.entries import AnyEntry
from egm.record_codec import Condition, list_conditions, stored_key
from egm.record_fields import (
    AMOUNT,
    COUNT,
    DIGEST,
    MASKED,
    PERSON,
    PERSONS,
    SERIAL,
    STAFF,
    TIME,
    WORDS,
)
from meters.entry import GENESIS_HASH, decode, encode_canonical_json
from meters.ledger import Ledger
from meters.transaction import Phase
from tools.audit.rules import RULES, Differs, Facts
from tools.audit.rules.pattern import But, Derived, Each, Has, OneOf, Own, Scope, Template
from tools.audit.rules.rule import Rule

#: The beginnings of ids that are no kind of entry.
_MADE_AS: Final = {
    "game.start": "play",
    "bill.escrow": "bill",
    "voucher.escrow": "ticket",
    "voucher.request": "cashout",
    "coins.request": "cashout",
    "handpay.pending": "handpay",
    "intervention.opened": "intervention",
    "slip.ordered": "slip",
    "test.started": "test",
}
_TEXTS: Final = ("text", "words", "time", "digest", "credit", "masked", "serial", "person", "staff")
_KINDS: Final[Mapping[object, str]] = {
    int: "int",
    str: "text",
    bool: "bool",
    AMOUNT: "cents",
    COUNT: "count",
    WORDS: "words",
    TIME: "time",
    DIGEST: "digest",
    MASKED: "masked",
    SERIAL: "serial",
    PERSON: "person",
    STAFF: "staff",
    PERSONS: "persons",
}
"""The type of pattern for a type of record field, or for its condition."""
_LATER: Final = object()
#: What stands in for an expression that fails: no sound value of anything.
_FAILED: Final = "?"
_BROKEN: Final = (Differs, KeyError, TypeError, ValueError, AttributeError, IndexError, StopIteration)


class Inventor:
    """Makes one entry at a time; ``seen``: what fields of honest entries hold, by their last name."""

    def __init__(self, dice: random.Random, seen: Mapping[str, Sequence[Any]]) -> None:
        self._dice = dice
        self._seen = seen

    def kind(self) -> Rule:
        """One way of one kind of entry; all kinds equally often."""
        kinds: dict[str, list[Rule]] = {}
        for rule in RULES:
            kinds.setdefault(rule.kind, []).append(rule)
        return self._dice.choice(kinds[self._dice.choice(sorted(kinds))])

    def make(self, rule: Rule, ledger: Ledger, facts: Facts, time: str, **told: Any) -> dict[str, Any]:
        """Return an entry that satisfies ``rule`` after these books; ``told`` gives names whose value is chosen."""
        return _Making(rule, ledger, facts, time, told, self._dice, self._seen).whole()


class _Making:
    def __init__(
        self,
        rule: Rule,
        ledger: Ledger,
        facts: Facts,
        time: str,
        told: dict[str, Any],
        dice: random.Random,
        seen: Mapping[str, Sequence[Any]],
    ) -> None:
        self._rule, self._ledger, self._facts = rule, ledger, facts
        self._dice, self._seen, self._time = dice, seen, time
        self._sequence = ledger.sequence + 1
        self._kind = rule.kind
        self._id = f"{_MADE_AS.get(self._kind, self._kind)}-{self._sequence}-{facts.mark}"
        self._names: dict[str, Any] = {"position": 1, "sequence": self._sequence, "kind": self._kind, **told}
        self._scope: Scope | None = None

    def whole(self) -> dict[str, Any]:
        """Return the entry, built in three passes because derived values need the others."""
        raw: dict[str, Any] = {"id": self._id, "kind": self._kind, "time": self._time}
        if self._rule.entry.phase is not Phase.POST:
            raw["phase"] = str(self._rule.entry.phase)
        self._hold(raw)
        self._remember()
        for _ in range(3):
            raw = self._pass(dict(raw))
        return raw

    def _hold(self, raw: dict[str, Any]) -> None:
        pending = list(self._ledger.pending.values())
        if self._rule.entry.settled_kinds and pending:
            fit = [held for held in pending if held.kind in self._rule.entry.settled_kinds] or pending
            held = self._dice.choice(fit)
            raw["ref"] = held.id
            first = held.transfers[0]
            self._names |= {
                "held_source": first.source,
                "held_target": first.target,
                "held_cents": first.amount_cents,
                "id": held.id,
            }

    def _remember(self) -> None:
        """Bind the names of the rule to what the memory holds under its keys."""
        for key, pattern in self._rule.before.items():
            held = self._ledger.state.get(_filled(key, self._names))
            if held is None:
                continue
            if isinstance(pattern, Has) and isinstance(held, dict):
                self._names[pattern.name] = held
                for name, part in pattern.members.items():
                    self._bind(part, held.get(name.removesuffix("?")))
            else:
                self._bind(pattern, held)

    def _bind(self, pattern: Any, value: Any) -> None:
        if isinstance(pattern, str) and pattern.startswith("$"):
            name = pattern[1:].partition(":")[0]
            if name:
                self._names[name] = value
        elif isinstance(pattern, Mapping) and isinstance(value, dict):
            for key, part in pattern.items():
                self._bind(part, value.get(key.removesuffix("?")))

    def _pass(self, raw: dict[str, Any]) -> dict[str, Any]:
        rule = self._rule
        if not isinstance(rule.id, Own):
            raw["id"] = str(self._value(rule.id, "id"))
        for name in ("record", "state", "counts", "dims"):
            pattern = getattr(rule, name)
            declared = {} if rule.entry is None else self._declared(rule.entry, name, pattern or {})
            made = self._value(pattern, name)
            if declared and isinstance(made, dict | None):
                made = {**declared, **(made or {})}
            if made not in (None, {}):
                raw[name] = made
        moves = self._moves()
        if moves:
            raw["transfers"] = moves
        if rule.entry.marks:
            raw["marks"] = [str(mark) for mark in rule.entry.marks]
        with suppress(*_BROKEN):
            body = encode_canonical_json(raw | {"sequence": self._sequence, "previous": GENESIS_HASH})
            self._scope = Scope(decode(body), self._ledger, self._facts)
            self._scope.names |= self._names
            self._scope.held = self._ledger.pending.get(raw.get("ref", ""))
        return raw

    def _declared(self, entry: AnyEntry, name: str, pattern: Any) -> dict[str, Any]:
        """Return made-up values for a part of a declared entry; names that its pattern leaves open get them."""
        made: dict[str, Any] = {}
        match name:
            case "record":
                made = self._of_field(entry.record, "record") or {}
            case "counts":
                made = dict(entry.fixed_counts)
            case "state":
                ruled = {FEATURES.keys.of(key.removesuffix("?")) for key in pattern}
                for key in (*entry.writes, *entry.may_write):
                    if key in ruled or (key in entry.may_write and self._dice.randrange(4)):
                        continue
                    value = self._of_field(FEATURES.keys.value_type(key), key)
                    made[f"{key}x" if key.endswith(":") else str(key)] = value
        if isinstance(pattern, Mapping):
            for key, part in pattern.items():
                if isinstance(part, str) and part.startswith("$") and key in made:
                    self._names.setdefault(part[1:].partition(":")[0], made[key])
        return made

    def _of_field(self, hint: Any, field: str) -> Any:  # noqa: PLR0911 (one for each kind of type)
        """Return a value of a type of record field."""
        origin, inner = get_origin(hint), get_args(hint)
        conditions: list[Condition] = [each for each in list_conditions(hint) if each in _KINDS]
        if conditions or hint in _KINDS:
            return self._of_type(_KINDS[conditions[0] if conditions else hint], field)
        if origin in {Annotated, Union, UnionType}:
            return self._of_field(next(each for each in inner if each is not NoneType), field)
        if origin is Literal:
            return self._dice.choice(inner)
        if origin is tuple:
            kinds = inner[:1] if inner[1:] == (Ellipsis,) else inner
            return [self._of_field(each, field) for each in kinds]
        if isinstance(hint, type) and issubclass(hint, StrEnum):
            return str(self._dice.choice(list(hint)))
        if isinstance(hint, type) and is_dataclass(hint) and not hasattr(hint, "from_json"):
            return self._of_record(hint)
        return {} if isinstance(origin, type) and issubclass(origin, Mapping) else None

    def _of_record(self, kind: Any) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for each in fields(kind):
            is_optional = each.default is not MISSING or each.default_factory is not MISSING
            if is_optional and self._dice.randrange(4):
                continue
            name = stored_key(each)
            value = self._of_field(each.type, name)
            made.update(value if each.metadata.get("inline") else {name: value})
        return made

    def _moves(self) -> list[list[Any]]:
        if isinstance(self._rule.moves, Derived):
            made = self._derived(self._rule.moves)
            return [list(each) for each in made] if isinstance(made, list) else []
        moves = []
        for move in self._rule.moves:
            if (move.many or move.may_miss) and self._dice.randrange(2):
                continue
            flow = [self._value(part, "account") for part in (move.source, move.target)]
            cents, dims = self._value(move.cents, "amount_cents"), self._value(move.dims, "dims")
            moves.append([*flow, cents, dims] if dims else [*flow, cents])
        return moves

    def _derived(self, pattern: Derived) -> Any:
        if self._scope is None:
            return _LATER
        try:
            return pattern.make(self._scope)
        except _BROKEN:
            return _FAILED

    def _value(self, pattern: Any, name: str) -> Any:  # noqa: PLR0911 (one for each kind of pattern)
        match pattern:
            case str() if pattern.startswith("$"):
                return self._named(pattern[1:], name)
            case str() if "{" in pattern:
                return _filled(pattern, self._names)
            case Mapping():
                return self._object(pattern)
            case list():
                return [self._value(part, name) for part in pattern]
            case Each():
                return [self._value(pattern.pattern, name) for _ in range(max(pattern.least, 1))]
            case OneOf():
                return self._value(self._dice.choice(pattern.patterns), name)
            case Derived():
                made = self._derived(pattern)
                return None if made is _LATER else made
            case But():
                whole = self._names.get(pattern.name, {})
                kept = {key: part for key, part in whole.items() if key not in pattern.less}
                return kept | self._object(pattern.changes)
            case Has():
                return self._object(pattern.members)
            case _:
                return pattern

    def _object(self, pattern: Mapping[str, Any]) -> dict[str, Any]:
        made = {}
        for key, part in pattern.items():
            if key.endswith("?") and self._dice.randrange(4):
                continue
            name = _filled(key.removesuffix("?"), self._names)
            made[name] = self._value(part, key.removesuffix("?"))
        return made

    def _named(self, text: str, field: str) -> Any:
        name, _, kind = text.partition(":")
        if name and name in self._names:
            return self._names[name]
        if name == "id" or field == "id":
            value: Any = self._id
        else:
            value = self._of_type((kind or "any").partition("|")[0], field)
        if name:
            self._names[name] = value
        return value

    def _of_type(self, kind: str, field: str) -> Any:
        known = [each for each in self._seen.get(field, ()) if _is_of(kind, each)]
        if known and self._dice.randrange(8):
            return self._dice.choice(known)
        plain: dict[str, Any] = {
            "text": "x",
            "words": "a reason",
            "cents": self._dice.choice((1, 25, 100, 500)),
            "count": self._dice.choice((0, 1, 25)),
            "int": self._dice.choice((-1, 0, 1)),
            "bool": bool(self._dice.randrange(2)),
            "object": {},
            "list": [],
            "time": self._time,
            "digest": "0" * 64,
            "credit": "cashable",
            "masked": "••••1234",
            "serial": self._facts.serial,
            "person": "2",
            "staff": "2",
            "persons": ["2", "5"],
        }
        return plain.get(kind)


def _is_of(kind: str, value: Any) -> bool:
    known: dict[str, type | tuple[type, ...]] = {
        **dict.fromkeys(
            ("text", "words", "time", "digest", "credit", "masked", "serial", "person", "staff"), str
        ),
        **dict.fromkeys(("cents", "count", "int"), int),
        "bool": bool,
        "object": dict,
        "list": list,
        "persons": list,
        "any": object,
    }
    return isinstance(value, known[kind]) and (kind == "bool" or not isinstance(value, bool))


def _filled(text: str, names: Mapping[str, Any]) -> str:
    """Return a template filled with known values, and with plausible ones for the rest."""
    template, made = Template(text), ""
    for n, part in enumerate(template.parts):
        name, _, number = part.partition(":")
        if n % 2:
            made += str(
                names.get(name, 1 if number else "cashable" if name in {"credit", "kind_of_credit"} else "x")
            )
        else:
            made += part
    return made
