"""Build false journal entries of any kind that satisfy the rules of the audit.

A forger who knows the rules (:mod:`tools.audit.rules`) writes entries that the audit accepts. A value equals another
one where a rule requires this, comes from stored state where the rule refers to it, and is computed where the rule
derives it.
"""

import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from egm.app.features import FEATURES
from egm.kernel.entries import AnyEntryDeclaration
from egm.record_codec import FieldCondition, get_stored_key, list_conditions
from egm.record_fields import (
    ACTOR_ID_CONDITION,
    ISO_TIME_CONDITION,
    MACHINE_SERIAL_NUMBER_CONDITION,
    MASKED_TICKET_NUMBER_CONDITION,
    NON_BLANK_TEXT_CONDITION,
    NON_NEGATIVE_COUNT_CONDITION,
    POSITIVE_AMOUNT_CONDITION,
    POSITIVE_NUMBER_CONDITION,
    SHA256_DIGEST_CONDITION,
    STAFF_NUMBER_CONDITION,
    STAFF_NUMBERS_CONDITION,
)
from meters.entry import GENESIS_HASH, decode, encode_canonical_json
from meters.ledger import Ledger
from meters.transaction import Phase
from tools.audit.rules import RULES, Facts, PatternMismatch
from tools.audit.rules.pattern import (
    AlternativePatterns,
    CheckContext,
    DerivedValue,
    EachItem,
    ObjectWithChanges,
    ObjectWithMembers,
    OwnEntryId,
    Template,
)
from tools.audit.rules.rule import AuditRule

#: Prefixes of ids that differ from the kind of the entry.
_ID_PREFIX_BY_ENTRY_KIND: Final = {
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
_TEXT_PATTERN_TYPES: Final = (
    "text",
    "words",
    "time",
    "digest",
    "credit",
    "masked",
    "serial",
    "person",
    "staff",
)
#: The pattern type that the audit's rules use for each record field type and each field condition.
_PATTERN_TYPE_BY_FIELD_TYPE: Final[Mapping[object, str]] = {
    int: "int",
    str: "text",
    bool: "bool",
    POSITIVE_AMOUNT_CONDITION: "cents",
    POSITIVE_NUMBER_CONDITION: "positive",
    NON_NEGATIVE_COUNT_CONDITION: "count",
    NON_BLANK_TEXT_CONDITION: "words",
    ISO_TIME_CONDITION: "time",
    SHA256_DIGEST_CONDITION: "digest",
    MASKED_TICKET_NUMBER_CONDITION: "masked",
    MACHINE_SERIAL_NUMBER_CONDITION: "serial",
    ACTOR_ID_CONDITION: "person",
    STAFF_NUMBER_CONDITION: "staff",
    STAFF_NUMBERS_CONDITION: "persons",
}
_NOT_YET_DERIVABLE: Final = object()
#: Value used for an expression that fails; it is invalid in every field.
_FAILED_VALUE: Final = "?"
_EVALUATION_ERRORS: Final = (
    PatternMismatch,
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
    IndexError,
    StopIteration,
)


class EntryInventor:
    """Builder of false entries.

    ``seen`` has values from honest entries, by the last part of the field name.
    """

    def __init__(self, random_source: random.Random, seen: Mapping[str, Sequence[Any]]) -> None:
        self._random_source = random_source
        self._seen = seen

    def choose_rule(self) -> AuditRule:
        """Return the rule of a random kind of entry; every kind is equally likely."""
        kinds: dict[str, list[AuditRule]] = {}
        for rule in RULES:
            kinds.setdefault(rule.kind, []).append(rule)
        return self._random_source.choice(kinds[self._random_source.choice(sorted(kinds))])

    def build_entry(
        self, rule: AuditRule, ledger: Ledger, facts: Facts, time: str, **bindings: Any
    ) -> dict[str, Any]:
        """Return a false entry that satisfies ``rule`` if it follows the entries in ``ledger``.

        ``bindings`` gives fixed values to names in the rule.
        """
        return _EntryBuilder(
            rule, ledger, facts, time, bindings, self._random_source, self._seen
        ).build_entry()


class _EntryBuilder:
    def __init__(
        self,
        rule: AuditRule,
        ledger: Ledger,
        facts: Facts,
        time: str,
        bindings: dict[str, Any],
        random_source: random.Random,
        seen: Mapping[str, Sequence[Any]],
    ) -> None:
        self._rule, self._ledger, self._facts = rule, ledger, facts
        self._random_source, self._seen, self._time = random_source, seen, time
        self._sequence = ledger.sequence + 1
        self._kind = rule.kind
        self._id = (
            f"{_ID_PREFIX_BY_ENTRY_KIND.get(self._kind, self._kind)}-{self._sequence}-{facts.journal_tag}"
        )
        self._names: dict[str, Any] = {
            "position": 1,
            "sequence": self._sequence,
            "kind": self._kind,
            **bindings,
        }
        self._scope: CheckContext | None = None

    def build_entry(self) -> dict[str, Any]:
        """Return the entry, built in three passes because derived values need the others."""
        raw: dict[str, Any] = {"id": self._id, "kind": self._kind, "time": self._time}
        if self._rule.entry_declaration.phase is not Phase.POST:
            raw["phase"] = str(self._rule.entry_declaration.phase)
        self._refer_to_reserve_entry(raw)
        self._bind_stored_values()
        for _ in range(3):
            raw = self._fill_parts(dict(raw))
        return raw

    def _refer_to_reserve_entry(self, raw: dict[str, Any]) -> None:
        reservations = list(self._ledger.pending.values())
        if self._rule.entry_declaration.settled_kinds and reservations:
            candidates = [
                held for held in reservations if held.kind in self._rule.entry_declaration.settled_kinds
            ] or reservations
            held = self._random_source.choice(candidates)
            raw["ref"] = held.id
            first = held.transfers[0]
            self._names |= {
                "held_source": first.source,
                "held_target": first.target,
                "held_cents": first.amount_cents,
                "id": held.id,
            }

    def _bind_stored_values(self) -> None:
        """Give the names in the rule the values that the machine's state has under the rule's keys."""
        for key, pattern in self._rule.state_before.items():
            stored = self._ledger.state.get(_fill_template(key, self._names))
            if stored is None:
                continue
            if isinstance(pattern, ObjectWithMembers) and isinstance(stored, dict):
                self._names[pattern.name] = stored
                for name, part in pattern.members.items():
                    self._bind_pattern_names(part, stored.get(name.removesuffix("?")))
            else:
                self._bind_pattern_names(pattern, stored)

    def _bind_pattern_names(self, pattern: Any, value: Any) -> None:
        if isinstance(pattern, str) and pattern.startswith("$"):
            name = pattern[1:].partition(":")[0]
            if name:
                self._names[name] = value
        elif isinstance(pattern, Mapping) and isinstance(value, dict):
            for key, part in pattern.items():
                self._bind_pattern_names(part, value.get(key.removesuffix("?")))

    def _fill_parts(self, raw: dict[str, Any]) -> dict[str, Any]:
        rule = self._rule
        if not isinstance(rule.id, OwnEntryId):
            raw["id"] = str(self._evaluate_pattern(rule.id, "id"))
        for name in ("record", "state", "counts", "dims"):
            pattern = getattr(rule, name)
            declared = (
                {}
                if rule.entry_declaration is None
                else self._generate_declared_part(rule.entry_declaration, name, pattern or {})
            )
            made = self._evaluate_pattern(pattern, name)
            if declared and isinstance(made, dict | None):
                made = {**declared, **(made or {})}
            if made not in (None, {}):
                raw[name] = made
        transfers = self._build_transfers()
        if transfers:
            raw["transfers"] = transfers
        if rule.entry_declaration.marks:
            raw["marks"] = [str(mark) for mark in rule.entry_declaration.marks]
        with suppress(*_EVALUATION_ERRORS):
            body = encode_canonical_json(raw | {"sequence": self._sequence, "previous": GENESIS_HASH})
            self._scope = CheckContext(decode(body), self._ledger, self._facts)
            self._scope.bound_values |= self._names
            self._scope.reservation = self._ledger.pending.get(raw.get("ref", ""))
        return raw

    def _generate_declared_part(self, entry: AnyEntryDeclaration, name: str, pattern: Any) -> dict[str, Any]:
        """Return values for one part of an entry, such as its record.

        Names that the part's pattern leaves open get the generated values.
        """
        made: dict[str, Any] = {}
        match name:
            case "record":
                made = self._generate_field_value(entry.record, "record") or {}
            case "counts":
                made = dict(entry.fixed_counts)
            case "state":
                ruled = {FEATURES.storage_keys.find_key(key.removesuffix("?")) for key in pattern}
                for key in (*entry.written_keys, *entry.optional_keys):
                    if key in ruled or (key in entry.optional_keys and self._random_source.randrange(4)):
                        continue
                    value = self._generate_field_value(FEATURES.storage_keys.find_value_type(key), key)
                    made[f"{key}x" if key.endswith(":") else str(key)] = value
        if isinstance(pattern, Mapping):
            for key, part in pattern.items():
                if isinstance(part, str) and part.startswith("$") and key in made:
                    self._names.setdefault(part[1:].partition(":")[0], made[key])
        return made

    def _generate_field_value(self, hint: Any, field: str) -> Any:  # noqa: PLR0911 (one return for each kind of type)
        """Return a value that is valid for a record field type."""
        origin, inner = get_origin(hint), get_args(hint)
        conditions: list[FieldCondition] = [
            each for each in list_conditions(hint) if each in _PATTERN_TYPE_BY_FIELD_TYPE
        ]
        if conditions or hint in _PATTERN_TYPE_BY_FIELD_TYPE:
            return self._generate_value(
                _PATTERN_TYPE_BY_FIELD_TYPE[conditions[0] if conditions else hint], field
            )
        if origin in {Annotated, Union, UnionType}:
            return self._generate_field_value(next(each for each in inner if each is not NoneType), field)
        if origin is Literal:
            return self._random_source.choice(inner)
        if origin is tuple:
            kinds = inner[:1] if inner[1:] == (Ellipsis,) else inner
            return [self._generate_field_value(each, field) for each in kinds]
        if isinstance(hint, type) and issubclass(hint, StrEnum):
            return str(self._random_source.choice(list(hint)))
        if isinstance(hint, type) and is_dataclass(hint) and not hasattr(hint, "from_json"):
            return self._generate_record(hint)
        return {} if isinstance(origin, type) and issubclass(origin, Mapping) else None

    def _generate_record(self, kind: Any) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for each in fields(kind):
            is_optional = each.default is not MISSING or each.default_factory is not MISSING
            if is_optional and self._random_source.randrange(4):
                continue
            name = get_stored_key(each)
            value = self._generate_field_value(each.type, name)
            made.update(value if each.metadata.get("inline") else {name: value})
        return made

    def _build_transfers(self) -> list[list[Any]]:
        if isinstance(self._rule.expected_transfers, DerivedValue):
            made = self._evaluate_derived(self._rule.expected_transfers)
            return [list(each) for each in made] if isinstance(made, list) else []
        transfers = []
        for move in self._rule.expected_transfers:
            if (move.may_repeat or move.is_optional) and self._random_source.randrange(2):
                continue
            flow = [self._evaluate_pattern(part, "account") for part in (move.source, move.target)]
            cents = self._evaluate_pattern(move.cents, "amount_cents")
            dims = self._evaluate_pattern(move.dims, "dims")
            transfers.append([*flow, cents, dims] if dims else [*flow, cents])
        return transfers

    def _evaluate_derived(self, pattern: DerivedValue) -> Any:
        if self._scope is None:
            return _NOT_YET_DERIVABLE
        try:
            return pattern.derive_value(self._scope)
        except _EVALUATION_ERRORS:
            return _FAILED_VALUE

    def _evaluate_pattern(self, pattern: Any, name: str) -> Any:  # noqa: PLR0911 (one return for each pattern)
        match pattern:
            case str() if pattern.startswith("$"):
                return self._resolve_name(pattern[1:], name)
            case str() if "{" in pattern:
                return _fill_template(pattern, self._names)
            case Mapping():
                return self._build_object(pattern)
            case list():
                return [self._evaluate_pattern(part, name) for part in pattern]
            case EachItem():
                return [
                    self._evaluate_pattern(pattern.pattern, name) for _ in range(max(pattern.count_min, 1))
                ]
            case AlternativePatterns():
                return self._evaluate_pattern(self._random_source.choice(pattern.patterns), name)
            case DerivedValue():
                made = self._evaluate_derived(pattern)
                return None if made is _NOT_YET_DERIVABLE else made
            case ObjectWithChanges():
                stored = self._names.get(pattern.name, {})
                unchanged = {key: part for key, part in stored.items() if key not in pattern.absent_members}
                return unchanged | self._build_object(pattern.changes)
            case ObjectWithMembers():
                return self._build_object(pattern.members)
            case _:
                return pattern

    def _build_object(self, pattern: Mapping[str, Any]) -> dict[str, Any]:
        made = {}
        for key, part in pattern.items():
            if key.endswith("?") and self._random_source.randrange(4):
                continue
            name = _fill_template(key.removesuffix("?"), self._names)
            made[name] = self._evaluate_pattern(part, key.removesuffix("?"))
        return made

    def _resolve_name(self, text: str, field: str) -> Any:
        name, _, kind = text.partition(":")
        if name and name in self._names:
            return self._names[name]
        if name == "id" or field == "id":
            value: Any = self._id
        else:
            value = self._generate_value((kind or "any").partition("|")[0], field)
        if name:
            self._names[name] = value
        return value

    def _generate_value(self, kind: str, field: str) -> Any:
        known_values = [each for each in self._seen.get(field, ()) if _is_value_of_type(kind, each)]
        if known_values and self._random_source.randrange(8):
            return self._random_source.choice(known_values)
        defaults: dict[str, Any] = {
            "text": "x",
            "words": "a reason",
            "cents": self._random_source.choice((1, 25, 100, 500)),
            "count": self._random_source.choice((0, 1, 25)),
            "positive": self._random_source.choice((1, 2, 3)),
            "int": self._random_source.choice((-1, 0, 1)),
            "bool": bool(self._random_source.randrange(2)),
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
        return defaults.get(kind)


def _is_value_of_type(kind: str, value: Any) -> bool:
    types: dict[str, type | tuple[type, ...]] = {
        **dict.fromkeys(
            ("text", "words", "time", "digest", "credit", "masked", "serial", "person", "staff"), str
        ),
        **dict.fromkeys(("cents", "positive", "count", "int"), int),
        "bool": bool,
        "object": dict,
        "list": list,
        "persons": list,
        "any": object,
    }
    return isinstance(value, types[kind]) and (kind == "bool" or not isinstance(value, bool))


def _fill_template(text: str, names: Mapping[str, Any]) -> str:
    """Return the template with its names replaced by known values, or by plausible values if unknown."""
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
