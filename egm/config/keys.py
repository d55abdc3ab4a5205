"""Keys of a file as stated in its JSON Schema, for people: kind, default, meaning, example."""

import json
from dataclasses import dataclass
from typing import Final

from pydantic.json_schema import JsonSchemaValue

#: A longer table is not written out.
_SHORT: Final = 40
#: Marks a key of a schema that only the machine's owner can fill in.
OWNERS: Final = "x-owners"


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a cabinet file or profile: location, kind, default, meaning and example, as TOML.

    The default is None for a required key. ``owners``: only the machine's owner can supply the value.
    """

    name: str
    kind: str
    default: str | None
    meaning: str
    example: str = ""
    owners: bool = False


def build_key(schema_: JsonSchemaValue, table: JsonSchemaValue, name: str, prefix: str = "") -> Key:
    """Return the key ``name`` of a table of the file that the JSON Schema ``schema_`` describes."""
    stated = table["properties"][name]
    default = None if name in table.get("required", ()) else format_toml(stated.get("default"))
    meaning = " ".join(str(stated.get("description", "")).split())
    examples = stated.get("examples") or [None]
    example = "" if examples[0] is None else format_toml(examples[0])
    owners = stated.get(OWNERS, False)
    return Key(f"{prefix}{name}", describe_kind(schema_, stated), default, meaning, example, owners=owners)


def resolve_reference(schema_: JsonSchemaValue, stated: JsonSchemaValue) -> JsonSchemaValue:
    """Return the part of a JSON Schema that a ``$ref`` refers to; a part without one is returned itself."""
    reference = stated.get("$ref")
    if reference is None:
        return stated
    referenced: JsonSchemaValue = schema_["$defs"][reference.rsplit("/", 1)[-1]]
    return referenced


def describe_kind(schema_: JsonSchemaValue, stated: JsonSchemaValue) -> str:
    """Return the kind of value that a part of a JSON Schema accepts, as a short text for people."""
    stated = resolve_reference(schema_, stated)
    if "anyOf" in stated:
        return " or ".join(
            describe_kind(schema_, part) for part in stated["anyOf"] if part.get("type") != "null"
        )
    if "enum" in stated:
        return ", ".join(f"`{value}`" for value in stated["enum"])
    if "const" in stated:
        return f"`{stated['const']}`"
    if stated.get("type") == "array":
        return f"list of {describe_kind(schema_, stated.get('items', {}))}"
    if stated.get("type") == "object":
        return "table"
    bounds = [
        f"{word} {stated[key]}"
        for key, word in (
            ("minimum", "from"),
            ("exclusiveMinimum", "above"),
            ("maximum", "to"),
            ("exclusiveMaximum", "below"),
        )
        if key in stated
    ]
    return " ".join([str(stated.get("type", "")), *bounds])


def format_toml(value: object) -> str:
    """Return a value of a file as text for the list of keys.

    It is TOML, except that None is "none" and a long table is "{ ... }".
    """
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return f"[{', '.join(format_toml(part) for part in value)}]"
    if isinstance(value, dict):
        text = f"{{ {', '.join(f'{name} = {format_toml(part)}' for name, part in value.items())} }}"
        return "{}" if not value else text if len(text) <= _SHORT else "{ ... }"
    if isinstance(value, str):  # JSON does not escape DEL, and TOML does not accept it
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value)
