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
    NON_NEGATIVE_CONDITION,
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
    NON_NEGATIVE_CONDITION: "count",
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

    ``values_by_field_name`` has values from honest entries, by the last part of the field name.
    """

    def __init__(
        self, random_source: random.Random, values_by_field_name: Mapping[str, Sequence[Any]]
    ) -> None:
        self._random_source = random_source
        self._values_by_field_name = values_by_field_name

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
            rule, ledger, facts, time, bindings, self._random_source, self._values_by_field_name
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
        values_by_field_name: Mapping[str, Sequence[Any]],
    ) -> None:
        self._rule, self._ledger, self._facts = rule, ledger, facts
        self._random_source, self._values_by_field_name, self._time = (
            random_source,
            values_by_field_name,
            time,
        )
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
        entry_json: dict[str, Any] = {"id": self._id, "kind": self._kind, "time": self._time}
        if self._rule.entry_declaration.phase is not Phase.POST:
            entry_json["phase"] = str(self._rule.entry_declaration.phase)
        self._refer_to_reserve_entry(entry_json)
        self._bind_stored_values()
        for _ in range(3):
            entry_json = self._fill_parts(dict(entry_json))
        return entry_json

    def _refer_to_reserve_entry(self, entry_json: dict[str, Any]) -> None:
        reservations = list(self._ledger.pending_reservations.values())
        if self._rule.entry_declaration.closed_reservation_kinds and reservations:
            candidates = [
                reservation
                for reservation in reservations
                if reservation.kind in self._rule.entry_declaration.closed_reservation_kinds
            ] or reservations
            reservation = self._random_source.choice(candidates)
            entry_json["ref"] = reservation.id
            first_transfer = reservation.transfers[0]
            self._names |= {
                "reserved_source": first_transfer.source,
                "reserved_target": first_transfer.target,
                "reserved_cents": first_transfer.amount_cents,
                "id": reservation.id,
            }

    def _bind_stored_values(self) -> None:
        """Give the names in the rule the values that the machine's state has under the rule's keys."""
        for key, pattern in self._rule.stored_before.items():
            stored_value = self._ledger.state.get(_fill_template(key, self._names))
            if stored_value is None:
                continue
            if isinstance(pattern, ObjectWithMembers) and isinstance(stored_value, dict):
                self._names[pattern.bound_name] = stored_value
                for name, part in pattern.members.items():
                    self._bind_pattern_names(part, stored_value.get(name.removesuffix("?")))
            else:
                self._bind_pattern_names(pattern, stored_value)

    def _bind_pattern_names(self, pattern: Any, value: Any) -> None:
        if isinstance(pattern, str) and pattern.startswith("$"):
            name = pattern[1:].partition(":")[0]
            if name:
                self._names[name] = value
        elif isinstance(pattern, Mapping) and isinstance(value, dict):
            for key, part in pattern.items():
                self._bind_pattern_names(part, value.get(key.removesuffix("?")))

    def _fill_parts(self, entry_json: dict[str, Any]) -> dict[str, Any]:
        rule = self._rule
        if not isinstance(rule.id, OwnEntryId):
            entry_json["id"] = str(self._evaluate_pattern(rule.id, "id"))
        for name, pattern in (
            ("record", rule.record),
            ("state", rule.stored_after),
            ("counts", rule.counts),
            ("dims", rule.dims),
        ):
            declared_values = (
                {}
                if rule.entry_declaration is None
                else self._generate_declared_part(rule.entry_declaration, name, pattern or {})
            )
            generated_value = self._evaluate_pattern(pattern, name)
            if declared_values and isinstance(generated_value, dict | None):
                generated_value = {**declared_values, **(generated_value or {})}
            if generated_value not in (None, {}):
                entry_json[name] = generated_value
        transfers = self._build_transfers()
        if transfers:
            entry_json["transfers"] = transfers
        if rule.entry_declaration.marks:
            entry_json["marks"] = [str(mark) for mark in rule.entry_declaration.marks]
        with suppress(*_EVALUATION_ERRORS):
            body = encode_canonical_json(entry_json | {"sequence": self._sequence, "previous": GENESIS_HASH})
            self._scope = CheckContext(decode(body), self._ledger, self._facts)
            self._scope.bound_values |= self._names
            self._scope.reservation = self._ledger.pending_reservations.get(entry_json.get("ref", ""))
        return entry_json

    def _generate_declared_part(self, entry: AnyEntryDeclaration, name: str, pattern: Any) -> dict[str, Any]:
        """Return values for one part of an entry, such as its record.

        Names that the part's pattern leaves open get the generated values.
        """
        generated_values: dict[str, Any] = {}
        match name:
            case "record":
                generated_values = self._generate_field_value(entry.record, "record") or {}
            case "counts":
                generated_values = dict(entry.fixed_counts)
            case "state":
                keys_in_rule = {FEATURES.storage_keys.find_key(key.removesuffix("?")) for key in pattern}
                for key in (*entry.written_keys, *entry.optional_keys):
                    if key in keys_in_rule or (
                        key in entry.optional_keys and self._random_source.randrange(4)
                    ):
                        continue
                    value = self._generate_field_value(FEATURES.storage_keys.find_value_type(key), key)
                    generated_values[f"{key}x" if key.endswith(":") else str(key)] = value
        if isinstance(pattern, Mapping):
            for key, part in pattern.items():
                if isinstance(part, str) and part.startswith("$") and key in generated_values:
                    self._names.setdefault(part[1:].partition(":")[0], generated_values[key])
        return generated_values

    def _generate_field_value(self, type_hint: Any, field: str) -> Any:  # noqa: PLR0911 (one return for each kind of type)
        """Return a value that is valid for a record field type."""
        origin, type_arguments = get_origin(type_hint), get_args(type_hint)
        conditions: list[FieldCondition] = [
            type_argument
            for type_argument in list_conditions(type_hint)
            if type_argument in _PATTERN_TYPE_BY_FIELD_TYPE
        ]
        if conditions or type_hint in _PATTERN_TYPE_BY_FIELD_TYPE:
            return self._generate_value(
                _PATTERN_TYPE_BY_FIELD_TYPE[conditions[0] if conditions else type_hint], field
            )
        if origin in {Annotated, Union, UnionType}:
            return self._generate_field_value(
                next(type_argument for type_argument in type_arguments if type_argument is not NoneType),
                field,
            )
        if origin is Literal:
            return self._random_source.choice(type_arguments)
        if origin is tuple:
            item_types = type_arguments[:1] if type_arguments[1:] == (Ellipsis,) else type_arguments
            return [self._generate_field_value(type_argument, field) for type_argument in item_types]
        if isinstance(type_hint, type) and issubclass(type_hint, StrEnum):
            return str(self._random_source.choice(list(type_hint)))
        if isinstance(type_hint, type) and is_dataclass(type_hint) and not hasattr(type_hint, "from_json"):
            return self._generate_record(type_hint)
        return {} if isinstance(origin, type) and issubclass(origin, Mapping) else None

    def _generate_record(self, record_class: Any) -> dict[str, Any]:
        generated_values: dict[str, Any] = {}
        for record_field in fields(record_class):
            is_optional = record_field.default is not MISSING or record_field.default_factory is not MISSING
            if is_optional and self._random_source.randrange(4):
                continue
            name = get_stored_key(record_field)
            value = self._generate_field_value(record_field.type, name)
            generated_values.update(value if record_field.metadata.get("inline") else {name: value})
        return generated_values

    def _build_transfers(self) -> list[list[Any]]:
        if isinstance(self._rule.expected_transfers, DerivedValue):
            derived_transfers = self._evaluate_derived(self._rule.expected_transfers)
            return (
                [list(transfer) for transfer in derived_transfers]
                if isinstance(derived_transfers, list)
                else []
            )
        transfers = []
        for expected_transfer in self._rule.expected_transfers:
            if (
                expected_transfer.may_repeat or expected_transfer.is_optional
            ) and self._random_source.randrange(2):
                continue
            accounts = [
                self._evaluate_pattern(part, "account")
                for part in (expected_transfer.source, expected_transfer.target)
            ]
            cents = self._evaluate_pattern(expected_transfer.cents, "amount_cents")
            dims = self._evaluate_pattern(expected_transfer.dims, "dims")
            transfers.append([*accounts, cents, dims] if dims else [*accounts, cents])
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
                derived_value = self._evaluate_derived(pattern)
                return None if derived_value is _NOT_YET_DERIVABLE else derived_value
            case ObjectWithChanges():
                stored_members = self._names.get(pattern.original, {})
                unchanged = {
                    key: part for key, part in stored_members.items() if key not in pattern.absent_members
                }
                return unchanged | self._build_object(pattern.changes)
            case ObjectWithMembers():
                return self._build_object(pattern.members)
            case _:
                return pattern

    def _build_object(self, pattern: Mapping[str, Any]) -> dict[str, Any]:
        generated_members = {}
        for key, part in pattern.items():
            if key.endswith("?") and self._random_source.randrange(4):
                continue
            name = _fill_template(key.removesuffix("?"), self._names)
            generated_members[name] = self._evaluate_pattern(part, key.removesuffix("?"))
        return generated_members

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
        known_values = [
            each for each in self._values_by_field_name.get(field, ()) if _is_value_of_type(kind, each)
        ]
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
    template, filled_text = Template(text), ""
    for n, part in enumerate(template.parts):
        name, _, number = part.partition(":")
        if n % 2:
            filled_text += str(
                names.get(name, 1 if number else "cashable" if name in {"credit", "kind_of_credit"} else "x")
            )
        else:
            filled_text += part
    return filled_text
