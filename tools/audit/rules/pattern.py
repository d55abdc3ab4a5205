"""Patterns, which state as data what a field of a journal entry must contain.

A pattern may bind a value to a name. A name used in two fields requires equal values.

A pattern is one of
* a number, True, False, None or a plain text: exactly that value;
* ``"$name:type"``: any value of a type (:data:`VALUE_CHECK_BY_TYPE`; ``|none`` after it allows null), which is bound to
  ``name``; if the name is already bound, exactly the bound value. ``"$:type"`` binds nothing;
* ``"{id}.in"``: a text built from bound values; a ``{name}`` that is not bound yet matches any text without ``/``
  that is not empty, ``{name:n}`` a number;
* a dict: an object with exactly these members; ``"member?"`` may be missing, and a member name with ``{...}``
  is matched like a text with names (``"claim:{claim}?"`` matches any number of members);
* a list: an array with one element for each of these patterns;
* :class:`EachItem`: an array of any length whose elements all match one pattern;
* :class:`AlternativePatterns`: a value that matches one of several patterns;
* :class:`DerivedValue`: exactly the value that a function returns for the checked entry;
* :class:`ObjectWithChanges`: the object bound to a name, except for stated changes;
* :class:`ObjectWithMembers`: an object with at least these members, which is bound to a name;
* :data:`OWN_ENTRY_ID`: the id that a journal gives to a new entry of the kind.

A value that does not match raises :class:`PatternMismatch`, which names the field and the expected value.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeAlias, TypeVar

from egm.app.features import FEATURES
from egm.kernel.positions import Position
from egm.record_codec import RecordError, from_json
from meters.entry import StoredEntry
from meters.ledger import Ledger, Reservation
from tools.audit.rules.facts import Facts

#: A pattern: it states what a value must be, in one of the forms that the module's docstring lists.
Pattern: TypeAlias = Any
#: Checks a value against a pattern in the context of an entry. Raises :class:`PatternMismatch`.
Matcher: TypeAlias = Callable[[Any, "CheckContext"], None]
RecordT = TypeVar("RecordT")

#: Longest part of a value that a finding shows, in characters.
_VALUE_TEXT_MAX: Final = 160


class PatternMismatch(Exception):
    """An entry does not match a pattern or check of its rule; ``path`` names the field."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.path: list[str] = []

    def __str__(self) -> str:
        location = ".".join(self.path)
        return f"{location}: {self.args[0]}" if location else str(self.args[0])


class CheckContext:
    """The context of the checks of one entry: the entry, the ledger before it, and the values bound to names."""

    __slots__ = ("bound_values", "entry", "facts", "ledger", "position", "reservation")

    def __init__(self, entry: StoredEntry, ledger: Ledger, facts: Facts) -> None:
        self.entry = entry
        self.ledger = ledger
        self.facts = facts
        self.reservation: Reservation | None = None
        """The open reservation that the entry settles or voids, or None."""
        self.position: int = entry.transaction.dims.get("position", 1)  # type: ignore[assignment]  # see check
        self.bound_values: dict[str, Any] = {
            "position": self.position,
            "kind": entry.kind,
            "sequence": entry.sequence,
        }

    def __getitem__(self, name: str) -> Any:
        return self.bound_values[name]

    @property
    def record(self) -> Any:
        """Return the record of the checked entry as JSON."""
        return self.entry.transaction.record

    def stored_value_after(self, key: str) -> Any:
        """Return the value that the entry stores in the machine's memory under a key, or None if it stores none."""
        return self.entry.transaction.state.get(format_storage_key(key, self.position))

    def stored_value_before(self, key: str) -> Any:
        """Return the value that the memory had under a key before the checked entry, or None if it had none."""
        return self.ledger.state.get(format_storage_key(key, self.position))

    def typed_record(self, record_class: type[RecordT]) -> RecordT:
        """Return the record of the checked entry, decoded as the class ``record_class``.

        Raises :class:`PatternMismatch` if it is invalid.
        """
        return parse_record(record_class, self.record, "record")

    def stored_record_before(self, record_class: type[RecordT], key: str) -> RecordT | None:
        """Return the value stored under a key before the entry, decoded as ``record_class``, or None."""
        data = self.stored_value_before(key)
        return None if data is None else parse_record(record_class, data, key)

    def stored_record_after(self, record_class: type[RecordT], key: str) -> RecordT | None:
        """Return the value that the entry stores under a key, decoded as ``record_class``, or None."""
        data = self.stored_value_after(key)
        return None if data is None else parse_record(record_class, data, f"state.{key}")

    def format_credit_account(self, credit_kind: str) -> str:
        """Return the name of the account for the credit of this kind at the entry's player position."""
        return f"credit:{self.position}:{credit_kind}"


def parse_record(record_class: type[RecordT], value: object, location: str) -> RecordT:
    """Return the JSON value ``value`` decoded as the class ``record_class``.

    Raises :class:`PatternMismatch`, whose text names the value (``location``), the field and the reason.
    """
    try:
        return from_json(record_class, value, location)
    except RecordError as error:
        raise PatternMismatch(str(error)) from None


def format_storage_key(key: str, position: int) -> str:
    """Return the storage key that ``position`` uses for what position 1 stores under ``key``.

    It is ``key`` itself, or the key with the position as prefix.
    """
    return key if position == 1 else FEATURES.storage_keys.build_stored_name(key, Position(position))


# ------------------------------------------------------------------------------------------ kinds of patterns
@dataclass(frozen=True, slots=True)
class EachItem:
    """A pattern for an array of at least ``count_min`` values that all match ``pattern``.

    A name bound by one value of the array is not bound for the next value.
    """

    pattern: Pattern
    count_min: int = 0
    """The smallest number of values in the array."""


@dataclass(frozen=True, slots=True)
class AlternativePatterns:
    """A pattern for a value that matches one of several alternatives, which are tried in order."""

    patterns: tuple[Pattern, ...]

    def __init__(self, *patterns: Pattern) -> None:
        object.__setattr__(self, "patterns", patterns)


@dataclass(frozen=True, slots=True)
class DerivedValue:
    """A pattern for exactly the value that ``derive_value`` derives from the context of the check."""

    derive_value: Callable[[CheckContext], Any]


@dataclass(frozen=True, slots=True)
class ObjectWithChanges:
    """A pattern for an object that equals the object bound to the name ``original``, except for the stated changes."""

    original: str
    changes: Mapping[str, Pattern]
    """The patterns of the members that differ, by member name."""
    absent_members: tuple[str, ...] = ()
    """The names of the members that must be missing."""

    def __init__(self, *, original: str, absent_members: tuple[str, ...] = (), **changes: Pattern) -> None:
        object.__setattr__(self, "original", original)
        object.__setattr__(self, "absent_members", absent_members)
        object.__setattr__(self, "changes", changes)


@dataclass(frozen=True, slots=True)
class ObjectWithMembers:
    """A pattern for an object with at least these members; the whole object is bound to the name ``bound_name``."""

    bound_name: str
    members: Mapping[str, Pattern]

    def __init__(self, *, bound_name: str, **members: Pattern) -> None:
        object.__setattr__(self, "bound_name", bound_name)
        object.__setattr__(self, "members", members)


@dataclass(frozen=True, slots=True)
class OwnEntryId:
    """A pattern for the id that a journal forms from the entry's kind, its number and the journal tag.

    See :func:`_match_entry_id`.
    """


#: The pattern of an entry's own id.
OWN_ENTRY_ID: Final = OwnEntryId()


# ------------------------------------------------------------------------------------------ types of values
def _is_time(value: object, _: CheckContext) -> bool:
    """Return whether the value is a date and time in ISO 8601."""
    try:
        return type(value) is str and datetime.fromisoformat(value) is not None
    except ValueError:
        return False


def _is_digest(value: object, _: CheckContext) -> bool:
    """Return whether the value is a SHA-256 digest."""
    return type(value) is str and _SHA256_DIGEST_PATTERN.fullmatch(value) is not None


def _are_staff(value: object, context: CheckContext) -> bool:
    """Return whether the value is a list, not empty, of different members of staff, none of whom is disabled."""
    return (
        type(value) is list
        and 0 < len(value) == len(set(map(str, value)))
        and all(context.facts.is_staff(each) for each in value)
    )


#: The form of a masked ticket number, which shows at most the last four digits.
_MASKED_TICKET_NUMBER_PATTERN: Final = re.compile(r"•*[0-9]{0,4}")
#: The form of a SHA-256 digest.
_SHA256_DIGEST_PATTERN: Final = re.compile(r"[0-9a-f]{64}")


def _is_positive(value: Any, _: CheckContext) -> bool:
    """Return whether the value is an integer above zero."""
    return type(value) is int and value > 0


#: The types of ``"$name:type"``: each with the function that returns whether a value is of it.
VALUE_CHECK_BY_TYPE: Final[Mapping[str, Callable[[Any, CheckContext], bool]]] = {
    "any": lambda _, __: True,
    "text": lambda value, _: type(value) is str,
    "words": lambda value, _: type(value) is str and bool(value.strip()),
    "cents": _is_positive,
    "positive": _is_positive,
    "count": lambda value, _: type(value) is int and value >= 0,
    "int": lambda value, _: type(value) is int,
    "bool": lambda value, _: type(value) is bool,
    "object": lambda value, _: type(value) is dict,
    "list": lambda value, _: type(value) is list,
    "time": _is_time,
    "digest": _is_digest,
    "credit": lambda value, _: value in ("cashable", "restricted", "nonrestricted"),
    "masked": lambda value, _: (
        type(value) is str and _MASKED_TICKET_NUMBER_PATTERN.fullmatch(value) is not None
    ),
    "serial": lambda value, context: context.facts.adopt_or_match_serial_number(value),
    "person": lambda value, context: context.facts.is_known_actor(value),
    "staff": lambda value, context: context.facts.is_staff(value),
    "persons": _are_staff,
}


def is_json_equal(first: Any, second: Any) -> bool:
    """Return whether two JSON values are equal; the number 1 does not equal true."""
    if type(first) is not type(second):
        return False
    if type(first) is dict:
        return first.keys() == second.keys() and all(
            is_json_equal(value, second[key]) for key, value in first.items()
        )
    if type(first) is list:
        return len(first) == len(second) and all(map(is_json_equal, first, second))
    return bool(first == second)


def format_value(value: Any) -> str:
    """Return a value as text for the message of a finding, shortened if it is long."""
    text = repr(value)
    return text if len(text) <= _VALUE_TEXT_MAX else text[:_VALUE_TEXT_MAX] + "..."


# ------------------------------------------------------------------------------------------ compiling
def compile_pattern(pattern: Pattern) -> Matcher:  # noqa: C901, PLR0911 (one branch for each kind)
    """Return a function that matches a value against ``pattern`` and raises :class:`PatternMismatch`."""
    match pattern:
        case str() if pattern.startswith("$"):
            return _compile_binding(pattern[1:])
        case str() if "{" in pattern:
            return Template(pattern).match
        case Mapping():
            return _compile_object(pattern)
        case list():
            return _compile_array([compile_pattern(part) for part in pattern])
        case EachItem():
            return _compile_each_item(pattern)
        case AlternativePatterns():
            return _compile_alternatives([compile_pattern(part) for part in pattern.patterns])
        case DerivedValue():
            return _compile_derived(pattern.derive_value)
        case ObjectWithChanges():
            return _compile_object_with_changes(pattern)
        case ObjectWithMembers():
            return _compile_object_with_members(pattern)
        case OwnEntryId():
            return _match_entry_id
        case _:
            return _compile_exact(pattern)


def _compile_exact(expected: Any) -> Matcher:
    """Return a function that accepts only the value ``expected``."""

    def match(value: Any, _: CheckContext) -> None:
        """Check that the value is exactly the expected one."""
        if not is_json_equal(value, expected):
            raise PatternMismatch(f"expected {format_value(expected)}, found {format_value(value)}")

    return match


def _match_entry_id(value: Any, context: CheckContext) -> None:
    """Check that an id is the one formed from the checked entry's kind, its sequence number and the journal tag.

    Earlier versions formed it from kind and sequence number only.
    """
    kind, sequence = context.entry.transaction.kind, context.entry.sequence
    if value not in (f"{kind}-{sequence}-{context.facts.journal_tag}", f"{kind}#{sequence}"):
        raise PatternMismatch(
            f"expected {kind}-{sequence}-{context.facts.journal_tag}, found {format_value(value)}"
        )


def _compile_binding(name_and_type: str) -> Matcher:
    """Return the function that matches a pattern ``$name:type``; ``name_and_type`` is the part after ``$``.

    It binds the value to the name. If the name is already bound, it compares the value with the bound one.
    """
    name, _, type_and_suffix = name_and_type.partition(":")
    type_name, _, none_suffix = (type_and_suffix or "any").partition("|")
    is_of_type, is_nullable = VALUE_CHECK_BY_TYPE[type_name], none_suffix == "none"

    def match(value: Any, context: CheckContext) -> None:
        """Check the value's type. Bind the value to the pattern's name, or compare it with the bound value."""
        if not (is_of_type(value, context) or (is_nullable and value is None)):
            raise PatternMismatch(f"{format_value(value)} is not a valid {type_name}")
        if name:
            bound_value = context.bound_values.setdefault(name, value)
            if bound_value is not value and not is_json_equal(bound_value, value):
                raise PatternMismatch(f"expected {format_value(bound_value)}, found {format_value(value)}")

    return match


class Template:
    """A text pattern with names in braces, such as ``fault:{code}``."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.parts = re.split(r"\{(\w+(?::n)?)\}", text)
        self.names = [name.partition(":")[0] for name in self.parts[1::2]]

    def replace_bound_names(self, context: CheckContext) -> str | None:
        """Return the text with each name replaced by its bound value, or None if a name is not bound yet."""
        bound_values = context.bound_values
        if any(name not in bound_values for name in self.names):
            return None
        return "".join(
            part if index % 2 == 0 else str(bound_values[part.partition(":")[0]])
            for index, part in enumerate(self.parts)
        )

    def find_bindings(self, value: object, context: CheckContext) -> dict[str, Any] | None:
        """Return the values of the unbound names with which the text equals ``value``, or None if it never does."""
        if type(value) is not str:
            return None
        regex = ""
        for index, part in enumerate(self.parts):
            name, _, number_mark = part.partition(":")
            if index % 2 == 0:
                regex += re.escape(part)
            elif name in context.bound_values:
                regex += re.escape(str(context.bound_values[name]))
            else:
                regex += f"(?P<{name}>{r'[0-9]+' if number_mark else r'[^/]+'})"
        match = re.fullmatch(regex, value)
        if match is None:
            return None
        numeric_names = {part.partition(":")[0] for part in self.parts[1::2] if part.endswith(":n")}
        return {
            name: int(text) if name in numeric_names else text for name, text in match.groupdict().items()
        }

    def match(self, value: Any, context: CheckContext) -> None:
        """Check that a text matches the template, and bind the template's names."""
        expected = self.replace_bound_names(context)
        if expected is not None:
            if value != expected:
                raise PatternMismatch(f"expected {expected!r}, found {format_value(value)}")
            return
        bindings = self.find_bindings(value, context)
        if bindings is None:
            raise PatternMismatch(f"expected the form {self.text!r}, found {format_value(value)}")
        context.bound_values.update(bindings)


def compile_partial_object(pattern: Mapping[str, Pattern]) -> Matcher:
    """Return a function that checks only those members of an object that ``pattern`` lists.

    Other members are ignored, with one exception: if the pattern lists ``fault:{code}``, the object may have no
    member with the prefix ``fault:`` that does not match it.
    """
    return _compile_object(pattern, is_partial=True)


def _find_prefix(key: str) -> str:
    """Return the prefix of a storage key in a pattern, such as ``fault:`` of ``fault:{code}``; "" for none."""
    key_start, separator, _ = key.partition(":")
    return key[: key.index("{")] if "{" in key else f"{key_start}:" if separator else ""


def _compile_object(  # noqa: C901 (one loop over one object)
    pattern: Mapping[str, Pattern], *, is_partial: bool = False
) -> Matcher:
    """Return a function that matches objects.

    If ``is_partial``, it checks only the members that the pattern lists; otherwise other members are errors.
    """
    key_prefixes = tuple(_find_prefix(key) for key in pattern if _find_prefix(key))
    plain_members: dict[str, tuple[bool, Matcher]] = {}
    template_members: list[tuple[Template, bool, Matcher]] = []
    for key, member_pattern in pattern.items():
        name, is_optional = key.removesuffix("?"), key.endswith("?")
        if "{" in name:
            template_members.append((Template(name), is_optional, compile_pattern(member_pattern)))
        else:
            plain_members[name] = is_optional, compile_pattern(member_pattern)

    def match_templates(value: Mapping[str, Any], context: CheckContext) -> None:
        """Match the object's members against the member names of the pattern that contain a name in braces.

        An example of such a member name is ``fault:{code}``.
        """
        remaining_keys = [key for key in value if key not in plain_members]
        for template, is_optional, matcher in template_members:
            expected = template.replace_bound_names(context)
            candidate_keys = (
                remaining_keys if expected is None else [key for key in remaining_keys if key == expected]
            )
            matched_keys = []
            for key in candidate_keys:
                bindings = template.find_bindings(key, context)
                if bindings is None:
                    continue
                # any number of such members: names bound by one are not visible to the others
                if is_optional and bindings:
                    outer_values = context.bound_values
                    context.bound_values = {**outer_values, **bindings}
                    _match_at_key(key, matcher, value[key], context)
                    context.bound_values = outer_values
                else:
                    context.bound_values.update(bindings)
                    _match_at_key(key, matcher, value[key], context)
                matched_keys.append(key)
            if not matched_keys and not is_optional:
                raise PatternMismatch(f"{expected or template.text} is missing")
            remaining_keys = [key for key in remaining_keys if key not in matched_keys]
        if is_partial:
            remaining_keys = [key for key in remaining_keys if key.startswith(key_prefixes)]
        if remaining_keys:
            raise PatternMismatch(f"{', '.join(map(format_value, remaining_keys))}: not expected here")

    def match(value: Any, context: CheckContext) -> None:
        """Check that the value is an object with the pattern's members, and match each of them."""
        if type(value) is not dict:
            raise PatternMismatch(f"{format_value(value)} is not an object")
        matched_count = 0
        for key, (is_optional, matcher) in plain_members.items():
            if key in value:
                matched_count += 1
                _match_at_key(key, matcher, value[key], context)
            elif not is_optional:
                raise PatternMismatch(f"{key} is missing")
        if template_members or (matched_count != len(value) and (key_prefixes or not is_partial)):
            match_templates(value, context)

    return match


def _match_at_key(key: str, matcher: Matcher, value: Any, context: CheckContext) -> None:
    """Match one member of an object; if it does not match, put the member's name in front of the error's path."""
    try:
        matcher(value, context)
    except PatternMismatch as mismatch:
        mismatch.path.insert(0, key)
        raise


def _compile_array(item_matchers: Sequence[Matcher]) -> Matcher:
    """Return a function that matches an array whose elements match these patterns one by one, in order."""

    def match(value: Any, context: CheckContext) -> None:
        """Check that the value is a list of the right length, and match each element with its own pattern."""
        if type(value) is not list or len(value) != len(item_matchers):
            raise PatternMismatch(f"{format_value(value)}: expected {len(item_matchers)} values")
        for index, (item_matcher, item) in enumerate(zip(item_matchers, value, strict=True)):
            _match_at_key(str(index), item_matcher, item, context)

    return match


def _compile_each_item(pattern: EachItem) -> Matcher:
    """Return a function that matches an array whose elements all match one pattern."""
    item_matcher = compile_pattern(pattern.pattern)

    def match(value: Any, context: CheckContext) -> None:
        """Check that the value is a list of at least the required length, and match every element with one pattern."""
        if type(value) is not list or len(value) < pattern.count_min:
            raise PatternMismatch(f"{format_value(value)}: expected at least {pattern.count_min} values")
        outer_values = context.bound_values
        for index, item in enumerate(value):
            context.bound_values = dict(outer_values)
            _match_at_key(str(index), item_matcher, item, context)
        context.bound_values = outer_values

    return match


def _compile_alternatives(matchers: Sequence[Matcher]) -> Matcher:
    """Return a function that tries alternative patterns in order.

    The names bound by the first alternative that matches stay bound; those of failed alternatives do not.
    """

    def match(value: Any, context: CheckContext) -> None:
        """Match the first alternative that fits; only its names stay bound."""
        outer_values, reason = context.bound_values, ""
        for alternative_matcher in matchers:
            context.bound_values = dict(outer_values)
            try:
                alternative_matcher(value, context)
            except PatternMismatch as mismatch:
                reason = str(mismatch)
                continue
            return
        context.bound_values = outer_values
        raise PatternMismatch(reason)

    return match


def _compile_derived(derive_value: Callable[[CheckContext], Any]) -> Matcher:
    """Return a function that accepts only the value that ``derive_value`` returns for the checked entry."""

    def match(value: Any, context: CheckContext) -> None:
        """Raise :class:`PatternMismatch` unless the value equals the one that ``derive_value`` returns."""
        expected = derive_value(context)
        if not is_json_equal(value, expected):
            raise PatternMismatch(f"expected {format_value(expected)}, found {format_value(value)}")

    return match


def _compile_object_with_members(pattern: ObjectWithMembers) -> Matcher:
    """Return a function for an :class:`ObjectWithMembers`: it checks the members and binds the object to the name."""
    match_members = _compile_object(pattern.members)

    def match(value: Any, context: CheckContext) -> None:
        """Match the members that the pattern lists, and bind the whole object to the pattern's name."""
        if type(value) is not dict:
            raise PatternMismatch(f"{format_value(value)} is not an object")
        context.bound_values[pattern.bound_name] = value
        match_members({key: member for key, member in value.items() if key in pattern.members}, context)

    return match


def _compile_object_with_changes(pattern: ObjectWithChanges) -> Matcher:
    """Return a function for an :class:`ObjectWithChanges`: the object bound to its name, except for the changes."""
    match_changes = _compile_object(pattern.changes)
    changed_names = frozenset(name.removesuffix("?") for name in pattern.changes)

    def match(value: Any, context: CheckContext) -> None:
        """Check that the value equals the object bound to ``pattern.original``, except for the stated changes."""
        if type(value) is not dict:
            raise PatternMismatch(f"{format_value(value)} is not an object")
        bound_object = context.bound_values[pattern.original]
        expected = {
            key: member
            for key, member in bound_object.items()
            if key not in changed_names and key not in pattern.absent_members
        }
        if not is_json_equal(
            {key: member for key, member in value.items() if key not in changed_names}, expected
        ):
            raise PatternMismatch(
                f"expected {format_value(expected)} besides {', '.join(sorted(changed_names)) or 'nothing'}, "
                f"found {format_value(value)}"
            )
        match_changes({key: member for key, member in value.items() if key in changed_names}, context)

    return match
