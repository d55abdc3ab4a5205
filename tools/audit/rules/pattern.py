"""Patterns: what a field of an entry must be, as data. A name makes two fields of an entry equal.

A pattern is one of

* a number, True, False, None or a plain text: exactly that;
* ``"$name:type"``: any value of a type (:data:`TYPES`; ``|none`` after it allows null), which binds ``name``;
  if the name is already bound, exactly its value. ``"$:type"`` binds nothing;
* ``"{id}.in"``: a text built from named values; a ``{name}`` that is not bound yet matches any text,
  ``{name:n}`` a number;
* a dict: an object with exactly these members; ``"member?"`` may be missing, and a member name with ``{...}``
  is matched as such a text (``"claim:{claim}?"`` matches any number of members);
* a list: an array of exactly these; :class:`Each`: an array of any length; :class:`OneOf`: alternatives;
* :class:`Derived`: exactly what a function returns for the scope; :class:`But`: a named object with changes;
  :class:`Has`: an object with at least these members, which binds a name.

A value that does not match raises :class:`Differs`, which names the field and the expected value.
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

Pattern: TypeAlias = Any
Matcher: TypeAlias = Callable[[Any, "Scope"], None]
R = TypeVar("R")

_SHOWN_MAX: Final = 160


class Differs(Exception):
    """A value that does not match its pattern; ``path`` leads to it."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.path: list[str] = []

    def __str__(self) -> str:
        where = ".".join(self.path)
        return f"{where}: {self.args[0]}" if where else str(self.args[0])


class Scope:
    """The context of one check: the entry, the ledger before it, and the named values."""

    __slots__ = ("entry", "facts", "held", "ledger", "names", "position")

    def __init__(self, entry: StoredEntry, ledger: Ledger, facts: Facts) -> None:
        self.entry = entry
        self.ledger = ledger
        self.facts = facts
        self.held: Reservation | None = None
        """The reservation that the entry settles or voids."""
        self.position: int = entry.transaction.dims.get("position", 1)  # type: ignore[assignment]  # see check
        self.names: dict[str, Any] = {
            "position": self.position,
            "kind": entry.kind,
            "sequence": entry.sequence,
        }

    def __getitem__(self, name: str) -> Any:
        return self.names[name]

    @property
    def record(self) -> Any:
        """Return the entry's record as JSON."""
        return self.entry.transaction.record

    def value_after(self, key: str) -> Any:
        """Return what the entry stores in the machine's memory under a key, or None."""
        return self.entry.transaction.state.get(place(key, self.position))

    def value_before(self, key: str) -> Any:
        """Return what the machine's memory held under a key before the entry, or None."""
        return self.ledger.state.get(place(key, self.position))

    def typed_record(self, kind: type[R]) -> R:
        """Return the entry's record as ``kind``. Raises :class:`Differs` if it is not a valid one."""
        return typed(kind, self.record, "record")

    def record_before(self, kind: type[R], key: str) -> R | None:
        """Return as ``kind`` what the machine's memory held under a key before the entry, or None."""
        data = self.value_before(key)
        return None if data is None else typed(kind, data, key)

    def record_after(self, kind: type[R], key: str) -> R | None:
        """Return as ``kind`` what the entry stores in the machine's memory under a key, or None."""
        data = self.value_after(key)
        return None if data is None else typed(kind, data, f"state.{key}")

    def credit(self, kind: str) -> str:
        """Return the account of this position's credits of a kind."""
        return f"credit:{self.position}:{kind}"


def typed(kind: type[R], data: object, where: str) -> R:
    """Return a record as ``kind``. Raises :class:`Differs`, which names the field and the reason."""
    try:
        return from_json(kind, data, where)
    except RecordError as why:
        raise Differs(str(why)) from None


def place(key: str, position: int) -> str:
    """Return the storage key of a position's ``key``."""
    return key if position == 1 else FEATURES.keys.name(key, Position(position))


# ------------------------------------------------------------------------------------------ kinds of patterns
@dataclass(frozen=True, slots=True)
class Each:
    """An array of at least ``least`` matching values; names bound by one value are not visible to the next."""

    pattern: Pattern
    least: int = 0


@dataclass(frozen=True, slots=True)
class OneOf:
    """Alternative patterns, tried in order."""

    patterns: tuple[Pattern, ...]

    def __init__(self, *patterns: Pattern) -> None:
        object.__setattr__(self, "patterns", patterns)


@dataclass(frozen=True, slots=True)
class Derived:
    """Exactly what the function returns for the scope."""

    make: Callable[[Scope], Any]


@dataclass(frozen=True, slots=True)
class But:
    """The object bound to ``name``, with some members changed and some (``less``) removed."""

    name: str
    changes: Mapping[str, Pattern]
    less: tuple[str, ...] = ()

    def __init__(self, name: str, less: tuple[str, ...] = (), **changes: Pattern) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "less", less)
        object.__setattr__(self, "changes", changes)


@dataclass(frozen=True, slots=True)
class Has:
    """An object that has at least these members, which binds ``name``."""

    name: str
    members: Mapping[str, Pattern]

    def __init__(self, name: str, **members: Pattern) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "members", members)


@dataclass(frozen=True, slots=True)
class Own:
    """The id that the entry's sequence number gives it, in the present form or that of earlier versions."""


OWN: Final = Own()


# ------------------------------------------------------------------------------------------ types of values
def _is_time(value: object, _: Scope) -> bool:
    try:
        return type(value) is str and datetime.fromisoformat(value) is not None
    except ValueError:
        return False


def _is_digest(value: object, _: Scope) -> bool:
    return type(value) is str and _DIGEST.fullmatch(value) is not None


def _are_staff(value: object, scope: Scope) -> bool:
    return (
        type(value) is list
        and 0 < len(value) == len(set(map(str, value)))
        and all(scope.facts.is_staff(each) for each in value)
    )


_MASKED: Final = re.compile(r"•*[0-9]{0,4}")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
TYPES: Final[Mapping[str, Callable[[Any, Scope], bool]]] = {
    "any": lambda _, __: True,
    "text": lambda value, _: type(value) is str,
    "words": lambda value, _: type(value) is str and bool(value.strip()),
    "cents": lambda value, _: type(value) is int and value > 0,
    "count": lambda value, _: type(value) is int and value >= 0,
    "int": lambda value, _: type(value) is int,
    "bool": lambda value, _: type(value) is bool,
    "object": lambda value, _: type(value) is dict,
    "list": lambda value, _: type(value) is list,
    "time": _is_time,
    "digest": _is_digest,
    "credit": lambda value, _: value in ("cashable", "restricted", "nonrestricted"),
    "masked": lambda value, _: type(value) is str and _MASKED.fullmatch(value) is not None,
    "serial": lambda value, scope: scope.facts.is_serial(value),
    "person": lambda value, scope: scope.facts.is_person(value),
    "staff": lambda value, scope: scope.facts.is_staff(value),
    "persons": _are_staff,
}


def same(one: Any, other: Any) -> bool:
    """Return whether two JSON values are equal; 1 does not equal True."""
    if type(one) is not type(other):
        return False
    if type(one) is dict:
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if type(one) is list:
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def shown(value: Any) -> str:
    """Return a value as text for a finding."""
    text = repr(value)
    return text if len(text) <= _SHOWN_MAX else text[:_SHOWN_MAX] + "..."


# ------------------------------------------------------------------------------------------ compiling
def compiled(pattern: Pattern) -> Matcher:  # noqa: C901, PLR0911 (one for each kind)
    """Return a function that matches a value against ``pattern`` and raises :class:`Differs`."""
    match pattern:
        case str() if pattern.startswith("$"):
            return _named(pattern[1:])
        case str() if "{" in pattern:
            return Template(pattern).match
        case Mapping():
            return _object(pattern)
        case list():
            return _array([compiled(part) for part in pattern])
        case Each():
            return _each(pattern)
        case OneOf():
            return _one_of([compiled(part) for part in pattern.patterns])
        case Derived():
            return _derived(pattern.make)
        case But():
            return _but(pattern)
        case Has():
            return _has(pattern)
        case Own():
            return _own
        case _:
            return _exactly(pattern)


def _exactly(due: Any) -> Matcher:
    def match(value: Any, _: Scope) -> None:
        if not same(value, due):
            raise Differs(f"it is {shown(value)}, {shown(due)} was due")

    return match


def _own(value: Any, scope: Scope) -> None:
    kind, sequence = scope.entry.transaction.kind, scope.entry.sequence
    if value not in (f"{kind}-{sequence}-{scope.facts.mark}", f"{kind}#{sequence}"):
        raise Differs(f"it is {shown(value)}, {kind}-{sequence}-{scope.facts.mark} was due")


def _named(text: str) -> Matcher:
    name, _, kind = text.partition(":")
    kind, _, none = (kind or "any").partition("|")
    fits, nullable = TYPES[kind], none == "none"

    def match(value: Any, scope: Scope) -> None:
        if not (fits(value, scope) or (nullable and value is None)):
            raise Differs(f"{shown(value)} is no {kind}")
        if name:
            known = scope.names.setdefault(name, value)
            if known is not value and not same(known, value):
                raise Differs(f"it is {shown(value)}, {shown(known)} was due")

    return match


class Template:
    """A text built from named values."""

    def __init__(self, text: str) -> None:
        self.parts = re.split(r"\{(\w+(?::n)?)\}", text)
        self.names = [name.partition(":")[0] for name in self.parts[1::2]]

    def filled(self, scope: Scope) -> str | None:
        """Return the text, or None if a name is not bound yet."""
        known = scope.names
        if any(name not in known for name in self.names):
            return None
        return "".join(
            part if n % 2 == 0 else str(known[part.partition(":")[0]]) for n, part in enumerate(self.parts)
        )

    def found(self, value: object, scope: Scope) -> dict[str, Any] | None:
        """Return the values of unbound names with which ``value`` is the text, or None if it does not match."""
        if type(value) is not str:
            return None
        made = ""
        for n, part in enumerate(self.parts):
            name, _, number = part.partition(":")
            if n % 2 == 0:
                made += re.escape(part)
            elif name in scope.names:
                made += re.escape(str(scope.names[name]))
            else:
                made += f"(?P<{name}>{r'[0-9]+' if number else r'[^/]+'})"
        found = re.fullmatch(made, value)
        if found is None:
            return None
        numbers = {part.partition(":")[0] for part in self.parts[1::2] if part.endswith(":n")}
        return {name: int(text) if name in numbers else text for name, text in found.groupdict().items()}

    def match(self, value: Any, scope: Scope) -> None:
        """Match a text against the template, and bind its names."""
        due = self.filled(scope)
        if due is not None:
            if value != due:
                raise Differs(f"it is {shown(value)}, {due!r} was due")
            return
        found = self.found(value, scope)
        if found is None:
            raise Differs(f"{shown(value)} is not made as it must be")
        scope.names.update(found)


def _object(pattern: Mapping[str, Pattern]) -> Matcher:  # noqa: C901 (one loop over one object)
    plain: dict[str, tuple[bool, Matcher]] = {}
    made: list[tuple[Template, bool, Matcher]] = []
    for key, part in pattern.items():
        name, may_miss = key.removesuffix("?"), key.endswith("?")
        if "{" in name:
            made.append((Template(name), may_miss, compiled(part)))
        else:
            plain[name] = may_miss, compiled(part)

    def rest(value: Mapping[str, Any], scope: Scope) -> None:
        left = [key for key in value if key not in plain]
        for template, may_miss, matcher in made:
            due = template.filled(scope)
            fitting = [key for key in left if key == due] if due is not None else left
            taken = []
            for key in fitting:
                found = template.found(key, scope)
                if found is None:
                    continue
                if (
                    may_miss and found
                ):  # any number of such members: names bound by one are not visible to the others
                    before = scope.names
                    scope.names = {**before, **found}
                    _at(key, matcher, value[key], scope)
                    scope.names = before
                else:
                    scope.names.update(found)
                    _at(key, matcher, value[key], scope)
                taken.append(key)
            if not taken and not may_miss:
                raise Differs(f"{due or 'a member'} is missing")
            left = [key for key in left if key not in taken]
        if left:
            raise Differs(f"{', '.join(map(shown, left))}: nothing of the kind has a place here")

    def match(value: Any, scope: Scope) -> None:
        if type(value) is not dict:
            raise Differs(f"{shown(value)} is no object")
        seen = 0
        for key, (may_miss, matcher) in plain.items():
            if key in value:
                seen += 1
                _at(key, matcher, value[key], scope)
            elif not may_miss:
                raise Differs(f"{key} is missing")
        if made or seen != len(value):
            rest(value, scope)

    return match


def _at(key: str, matcher: Matcher, value: Any, scope: Scope) -> None:
    try:
        matcher(value, scope)
    except Differs as differs:
        differs.path.insert(0, key)
        raise


def _array(parts: Sequence[Matcher]) -> Matcher:
    def match(value: Any, scope: Scope) -> None:
        if type(value) is not list or len(value) != len(parts):
            raise Differs(f"{shown(value)}: {len(parts)} values were due")
        for n, (part, each) in enumerate(zip(parts, value, strict=True)):
            _at(str(n), part, each, scope)

    return match


def _each(pattern: Each) -> Matcher:
    part = compiled(pattern.pattern)

    def match(value: Any, scope: Scope) -> None:
        if type(value) is not list or len(value) < pattern.least:
            raise Differs(f"{shown(value)}: at least {pattern.least} values were due")
        before = scope.names
        for n, each in enumerate(value):
            scope.names = dict(before)
            _at(str(n), part, each, scope)
        scope.names = before

    return match


def _one_of(parts: Sequence[Matcher]) -> Matcher:
    def match(value: Any, scope: Scope) -> None:
        before, why = scope.names, ""
        for part in parts:
            scope.names = dict(before)
            try:
                part(value, scope)
            except Differs as differs:
                why = str(differs)
                continue
            return
        scope.names = before
        raise Differs(why)

    return match


def _derived(make: Callable[[Scope], Any]) -> Matcher:
    def match(value: Any, scope: Scope) -> None:
        due = make(scope)
        if not same(value, due):
            raise Differs(f"it is {shown(value)}, {shown(due)} was due")

    return match


def _has(pattern: Has) -> Matcher:
    members = _object(pattern.members)

    def match(value: Any, scope: Scope) -> None:
        if type(value) is not dict:
            raise Differs(f"{shown(value)} is no object")
        scope.names[pattern.name] = value
        members({key: part for key, part in value.items() if key in pattern.members}, scope)

    return match


def _but(pattern: But) -> Matcher:
    changed = _object(pattern.changes)
    names = frozenset(name.removesuffix("?") for name in pattern.changes)

    def match(value: Any, scope: Scope) -> None:
        if type(value) is not dict:
            raise Differs(f"{shown(value)} is no object")
        whole = scope.names[pattern.name]
        due = {key: part for key, part in whole.items() if key not in names and key not in pattern.less}
        if not same({key: part for key, part in value.items() if key not in names}, due):
            raise Differs(f"it is {shown(value)}, it should be {shown(due)} and what has changed")
        changed({key: part for key, part in value.items() if key in names}, scope)

    return match
