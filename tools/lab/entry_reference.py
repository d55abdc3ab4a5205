"""The reference of the journal: every kind of entry with its record, accounts, meters and stored values.

It is generated from the declarations of the entries. Where the code has another name for a field, it states both.
"""

import dataclasses
import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from fractions import Fraction
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from egm.app.features import FEATURES
from egm.config.documented_fields import read_field_meanings
from egm.kernel.entries import AnyEntryDeclaration
from egm.kernel.feature import LANGUAGES, Features
from egm.record_codec import get_stored_key
from egm.screen.text import Texts
from meters import Phase
from tools.lab.markdown import format_table

#: The texts for plain types of fields.
_WORDS_BY_PLAIN_TYPE: Final[Mapping[object, str]] = {
    int: "number",
    str: "text",
    bool: "true or false",
    Fraction: "exact fraction, as text",
    NoneType: "null",
}
#: The texts for the phases of an entry.
_WORDS_BY_PHASE: Final = {
    Phase.POST: "moves value at once",
    Phase.RESERVE: "reserves value",
    Phase.SETTLE: "settles a reservation",
    Phase.VOID: "voids a reservation",
}
#: The column headings of a table of fields.
_FIELD_TABLE_HEADINGS: Final = ("Field", "Value", "Meaning")
#: Meanings of fields that many journal records have, by field name; a docstring below a field takes precedence.
MEANING_BY_FIELD_NAME: Final[Mapping[str, str]] = {
    "amount_cents": "The amount of money that the entry concerns.",
    "at": "The time of the recorded act.",
    "bet_limit_cents": "The largest bet that the operator allows, or null.",
    "bet_minimum_cents": "The smallest bet that the operator allows, or null.",
    "claim": "The id of the claim that the machine made to the controller of the level.",
    "code": "The code of the fault.",
    "commitment": "The commitment to the prize's secret, as first received from the controller.",
    "denomination_cents": "The denomination that was played.",
    "detail": "Details for staff.",
    "digest": "The digest of the game's definition.",
    "disputed": "The disputed amount that the entry opens, or null.",
    "draws": "The numbers drawn, each as its exclusive upper bound, its value and its purpose.",
    "expires": "The date on which restricted credit expires, or empty.",
    "game": "The id of the game.",
    "handpay": "The id of the hand-pay.",
    "hits": "The progressive levels that were hit.",
    "host": "The name of the host.",
    "identity": "A commitment to the player's identity, which no journal contains.",
    "in_coins": "The coins that the hopper has paid for a cash-out whose remainder this is, or null.",
    "key": "The name of the key switch.",
    "level": "The name of the progressive level.",
    "machine": "The machine that wrote the entry.",
    "mystery": "Whether the level is a mystery level.",
    "now": "The time that the clock shows.",
    "number": "The number of the ticket.",
    "operator_number": "The operator's number of the machine.",
    "paid_coins": "The number of coins paid so far.",
    "person": "The person who did the recorded act.",
    "persons": "The people who authorised the recorded act.",
    "play_id": "The id of the game that the entry concerns.",
    "pool": "The id of the pool, which holds the money of one progressive level.",
    "prizes": "The prizes in kind.",
    "push_cents": "The returned stakes, which are not wins.",
    "reason": "The reason, as it was entered or reported.",
    "round_id": "The id of the round that the players of the table share.",
    "serial": "The machine that wrote the entry.",
    "shown_cents": "The amount that the machine displayed.",
    "since": "The time at which the recorded condition began.",
    "version": "The version of the game's definition.",
    "why": "The reason.",
    "win_cents": "The win, without progressive levels and returned stakes.",
    "witness": "The journal head before this entry, as printed: entry number and first digits of the hash.",
}


def describe_type(hint: Any) -> str:
    """Return a description of the values that a record field may contain."""
    origin, type_arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return str(type_arguments[1].meaning)
    if hint in _WORDS_BY_PLAIN_TYPE:
        return _WORDS_BY_PLAIN_TYPE[hint]
    if origin in {Union, UnionType}:
        parts = [describe_type(argument) for argument in type_arguments if argument is not NoneType]
        if len(type_arguments) > 2:
            return "JSON"
        return _describe_optional(parts[0]) if len(parts) == 1 else " or ".join(parts)
    if origin is Literal:
        return ", ".join(f"`{value}`" if value else "empty" for value in type_arguments)
    return _describe_structure(hint, origin, type_arguments)


def _describe_optional(description: str) -> str:
    """Return the description of a field that may also be null: ``description`` with "null" added.

    "null" comes first if the description has several clauses.
    """
    return f"null, or {description}" if ";" in description else f"{description}, or null"


def _describe_structure(hint: Any, origin: Any, type_arguments: tuple[Any, ...]) -> str:
    """Return a description of what a field with a list, object or enumeration type may contain.

    ``hint`` is the type hint, ``origin`` its generic class and ``type_arguments`` its type arguments.
    """
    if origin is tuple:
        return _describe_list(type_arguments)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        name, value = (describe_type(argument) for argument in type_arguments)
        return f"object; for each {name}: {value}"
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return ", ".join(f"`{value}`" for value in hint)
    is_record = isinstance(hint, type) and dataclasses.is_dataclass(hint)
    return f"object `{hint.__name__}`" if is_record else "JSON"


def _describe_list(type_arguments: tuple[Any, ...]) -> str:
    """Return a description of a list with these item types; an Ellipsis stands for any length."""
    parts = [describe_type(argument) for argument in type_arguments if argument is not Ellipsis]
    if Ellipsis in type_arguments:
        is_nested = (
            get_origin(type_arguments[0]) is not None and get_origin(type_arguments[0]) is not Annotated
        )
        return f"list; each item: {parts[0]}" if is_nested else f"list of {parts[0]}"
    if len(parts) > 2 and len(set(parts)) == 1:
        return f"list of {len(parts)} values, each: {parts[0]}"
    return f"list of {', '.join(parts)}"


def format_meaning(text: str) -> str:
    """Return a docstring as one line of Markdown for the reference: ``None`` becomes ``null``."""
    code = re.sub(r"(?::\w+:)?`+([^`]+)`+", r"`\1`", " ".join(text.split()))
    return re.sub(r"\bNone\b", "null", code)


def _describe_unit(name: str) -> str:
    """Return the unit that the end of a field's name states (as in ``_cents``), or ""."""
    for end, unit in (("_cents", "minor units"), ("_seconds", "seconds"), ("_credits", "credits")):
        if name.endswith(end):
            return unit
    return ""


def _iter_field_rows(record_class: Any) -> Iterator[list[str]]:
    """Yield a table row for each field of a record; for an object that is merged into the record, for its fields."""
    meanings = read_field_meanings(record_class)
    for field in dataclasses.fields(record_class):
        if field.metadata.get("inline"):
            yield from _iter_field_rows(field.type)
            continue
        name = get_stored_key(field)
        is_required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        unit = _describe_unit(name)
        remarks = "; ".join(filter(None, (unit, "" if is_required else "may be missing")))
        description = describe_type(field.type) + (f" ({remarks})" if remarks else "")
        yield [
            f"`{name}`" if name == field.name else f"`{name}` (in code: `{field.name}`)",
            description,
            format_meaning(meanings.get(field.name) or MEANING_BY_FIELD_NAME.get(name, "")),
        ]


def iter_record_classes(record_class: Any) -> Iterator[Any]:
    """Yield a record class and the classes of all objects nested in it, each as often as a field names it."""
    yield record_class
    for field in dataclasses.fields(record_class):
        for nested_class in _iter_record_classes_of_hint(field.type):
            yield from iter_record_classes(nested_class)


def _iter_record_classes_of_hint(hint: Any) -> Iterator[Any]:
    """Yield the record classes that a type hint names."""
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        yield hint
    for type_argument in get_args(hint):
        yield from _iter_record_classes_of_hint(type_argument)


def _describe_entry(declaration: AnyEntryDeclaration, texts: Mapping[str, Texts]) -> str:
    """Return the section of the journal reference about one form of a journal entry."""
    paragraphs = [format_meaning(declaration.meaning)]
    key = f"entry.{declaration.kind.replace('.', '_')}"
    names = [
        f"{language}: {texts[language].translate(key)}"
        for language in LANGUAGES
        if texts[language].has_text(key)
    ]
    if names:
        paragraphs.append(f"*{' · '.join(names)}*")
    if declaration.phase is not Phase.POST or declaration.permitted_transfers:
        closed_kinds_text = "".join(f" (`{kind}`)" for kind in declaration.closed_reservation_kinds)
        paragraphs.append(f"It {_WORDS_BY_PHASE[declaration.phase]}{closed_kinds_text}.")
    titled_lists = (
        (
            "Accounts",
            [f"`{transfer.source}` to `{transfer.target}`" for transfer in declaration.permitted_transfers],
        ),
        (
            "Meters",
            [
                f"`{name}`{'' if counted_field is None else f' +{counted_field}'}"
                for name, counted_field in declaration.counts.items()
            ],
        ),
        (
            "Memory",
            [f"`{key}`" for key in declaration.written_keys]
            + [f"`{key}` (some)" for key in declaration.optional_keys],
        ),
        ("Moments", [f"`{mark}`" for mark in declaration.marks]),
    )
    paragraphs += [
        f"{title}: {', '.join(texts_in_list)}." for title, texts_in_list in titled_lists if texts_in_list
    ]
    if declaration.record is NoneType:
        paragraphs.append("It has no record.")
    elif dataclasses.is_dataclass(declaration.record):
        paragraphs.append(f"In code: `{declaration.record.__name__}`.")
        paragraphs.append(format_table(_FIELD_TABLE_HEADINGS, _iter_field_rows(declaration.record)))
    else:
        paragraphs.append("The record is an object whose members a device or a game decides.")
    return f"### `{declaration.kind}`\n\n" + "\n\n".join(paragraphs)


def format_entries(features: Features = FEATURES) -> str:
    """Return the reference of every declared entry by feature, then the objects that several records share."""
    texts = {language: Texts(language, additional_texts=features.texts_by_language) for language in LANGUAGES}
    sections = []
    for feature in features.features:
        if feature.entry_declarations:
            entries = sorted(feature.entry_declarations, key=lambda entry: entry.kind)
            body = "\n\n".join(_describe_entry(entry, texts) for entry in entries)
            sections.append(f"## {feature.name.capitalize()}\n\n{body}")
    entry_record_classes = [
        entry.record for entry in features.entry_declarations if dataclasses.is_dataclass(entry.record)
    ]
    record_class_by_name = {
        record_class.__name__: record_class
        for entry_record_class in entry_record_classes
        for record_class in iter_record_classes(entry_record_class)
        if record_class not in entry_record_classes
    }
    objects = [
        f"### `{name}`\n\n{format_meaning((record_class.__doc__ or '').partition(chr(10))[0])}\n\n"
        f"{format_table(_FIELD_TABLE_HEADINGS, _iter_field_rows(record_class))}"
        for name, record_class in sorted(record_class_by_name.items())
    ]
    return "\n\n".join([*sections, "## Objects in records", *objects])
