"""The journal's manual: every kind of entry with its record, accounts, meters and memory, from the declarations."""

import dataclasses
from collections.abc import Iterator, Mapping
from enum import StrEnum
from fractions import Fraction
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from egm.app.features import FEATURES
from egm.config.documented import read_field_meanings
from egm.kernel.entries import AnyEntry
from egm.kernel.feature import LANGUAGES, Features
from egm.screen.text import Texts
from meters import Phase
from tools.lab.markdown import format_table

_PLAIN: Final[Mapping[object, str]] = {
    int: "number",
    str: "text",
    bool: "true or false",
    Fraction: "exact fraction, as text",
    NoneType: "null",
}
_PHASES: Final = {
    Phase.POST: "moves value at once",
    Phase.RESERVE: "reserves value",
    Phase.SETTLE: "settles a reservation",
    Phase.VOID: "voids a reservation",
}
_HEADS: Final = ("Field", "Value", "Meaning")


def _describe_type(hint: Any) -> str:
    """Return a text that says what a record field may contain."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return str(inner[1].meaning)
    if hint in _PLAIN:
        return _PLAIN[hint]
    if origin in {Union, UnionType} and NoneType in inner and len(inner) == 2:
        return f"{_describe_type(next(each for each in inner if each is not NoneType))}, or null"
    if origin is Literal:
        return ", ".join(f"`{each}`" for each in inner)
    return _describe_structure(hint, origin, inner)


def _describe_structure(hint: Any, origin: Any, inner: tuple[Any, ...]) -> str:
    if origin is tuple:
        parts = [_describe_type(each) for each in inner if each is not Ellipsis]
        return f"list of {parts[0]}" if Ellipsis in inner else f"list: {'; '.join(parts)}"
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return f"object: {_describe_type(inner[1])} by {_describe_type(inner[0])}"
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return ", ".join(f"`{each}`" for each in hint)
    is_record = isinstance(hint, type) and dataclasses.is_dataclass(hint)
    return f"object `{hint.__name__}`" if is_record else "JSON"


def _describe_unit(name: str) -> str:
    """Return the unit that the end of a field's name states (as in ``_cents``), or ""."""
    for end, unit in (("_cents", "minor units"), ("_seconds", "seconds"), ("_credits", "credits")):
        if name.endswith(end):
            return unit
    return ""


def _iter_field_rows(record: Any) -> Iterator[list[str]]:
    """Yield a table row for each field of a record, including the fields of records merged into it."""
    meanings = read_field_meanings(record)
    for field in dataclasses.fields(record):
        if field.metadata.get("inline"):
            yield from _iter_field_rows(field.type)
            continue
        name = field.name.removesuffix("_")
        is_required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        unit = _describe_unit(name)
        kind = ", ".join(
            filter(None, (_describe_type(field.type), unit, "" if is_required else "may be missing"))
        )
        yield [f"`{name}`", kind, " ".join(meanings.get(field.name, "").split())]


def _iter_records(record: Any) -> Iterator[Any]:
    """Yield a record class, then the classes of the objects it contains, each once."""
    yield record
    for field in dataclasses.fields(record):
        for part in _find_records(field.type):
            yield from _iter_records(part)


def _find_records(hint: Any) -> Iterator[Any]:
    """Yield the record classes that a type hint names."""
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        yield hint
    for inner in get_args(hint):
        yield from _find_records(inner)


def _describe_entry(entry: AnyEntry, texts: Mapping[str, Texts]) -> str:
    """Return the reference section on one declared entry."""
    facts = [entry.meaning]
    key = f"entry.{entry.kind.replace('.', '_')}"
    names = [f"{language}: {texts[language].say(key)}" for language in LANGUAGES if texts[language].has(key)]
    if names:
        facts.append(f"*{' · '.join(names)}*")
    if entry.phase is not Phase.POST or entry.moves:
        settled = "".join(f" (`{kind}`)" for kind in entry.settled_kinds)
        facts.append(f"It {_PHASES[entry.phase]}{settled}.")
    lists = (
        ("Accounts", [f"`{m.source}` to `{m.target}`" for m in entry.moves]),
        ("Meters", [f"`{name}`{'' if by is None else f' +{by}'}" for name, by in entry.counts.items()]),
        ("Memory", [f"`{each}`" for each in entry.writes] + [f"`{each}` (some)" for each in entry.may_write]),
        ("Moments", [f"`{each}`" for each in entry.marks]),
    )
    facts += [f"{title}: {', '.join(items)}." for title, items in lists if items]
    if entry.record is NoneType:
        facts.append("It has no record.")
    elif dataclasses.is_dataclass(entry.record):
        facts.append(format_table(_HEADS, _iter_field_rows(entry.record)))
    else:
        facts.append("The record is an object whose members a device or a game decides.")
    return f"### `{entry.kind}`\n\n" + "\n\n".join(facts)


def format_entries(features: Features = FEATURES) -> str:
    """Return the reference of every declared entry by feature, then the objects that several records share."""
    texts = {language: Texts(language, brought=features.words) for language in LANGUAGES}
    sections = []
    for feature in features.all:
        if feature.entries:
            entries = sorted(feature.entries, key=lambda entry: entry.kind)
            body = "\n\n".join(_describe_entry(entry, texts) for entry in entries)
            sections.append(f"## {feature.name.capitalize()}\n\n{body}")
    records = [entry.record for entry in features.entries if dataclasses.is_dataclass(entry.record)]
    parts = {
        part.__name__: part for record in records for part in _iter_records(record) if part not in records
    }
    objects = [
        f"### `{name}`\n\n{(part.__doc__ or '').partition(chr(10))[0]}\n\n"
        f"{format_table(_HEADS, _iter_field_rows(part))}"
        for name, part in sorted(parts.items())
    ]
    return "\n\n".join([*sections, "## Objects in records", *objects])
