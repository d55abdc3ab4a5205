"""Documentation of the keys of a file from its JSON Schema: kind, default, meaning, example."""

import json
from dataclasses import dataclass
from typing import Final

from pydantic.json_schema import JsonSchemaValue

#: Longest table that is written out in full, in characters; a longer one is abbreviated.
_DEFAULT_TABLE_CHARACTERS_MAX: Final = 40
#: The extension of JSON Schema that marks a key whose value only the machine's operator knows (there "owner").
KNOWN_ONLY_TO_OPERATOR_SCHEMA_KEY: Final = "x-owners"


@dataclass(frozen=True, slots=True)
class KeyDocumentation:
    """One key of a cabinet file or profile, for documentation: name, kind, default, meaning and example as TOML."""

    name: str
    kind: str
    default: str | None
    """The default value as TOML; None for a required key."""
    meaning: str
    example: str = ""
    is_known_only_to_operator: bool = False
    """Whether only the machine's operator knows the value, such as a serial number, so that no example is right."""


def build_key_documentation(
    file_schema: JsonSchemaValue, table_schema: JsonSchemaValue, name: str, prefix: str = ""
) -> KeyDocumentation:
    """Return the documentation of the key ``name`` of a table, from the JSON Schema ``file_schema`` of the file.

    ``prefix`` is the dotted path of the table with a dot at its end, to be shown before the name; empty for none.
    """
    schema_part = table_schema["properties"][name]
    default = None if name in table_schema.get("required", ()) else format_toml(schema_part.get("default"))
    meaning = " ".join(str(schema_part.get("description", "")).split())
    examples = schema_part.get("examples") or [None]
    example = "" if examples[0] is None else format_toml(examples[0])
    is_known_only_to_operator = schema_part.get(KNOWN_ONLY_TO_OPERATOR_SCHEMA_KEY, False)
    return KeyDocumentation(
        f"{prefix}{name}",
        describe_kind(file_schema, schema_part),
        default,
        meaning,
        example,
        is_known_only_to_operator=is_known_only_to_operator,
    )


def resolve_reference(file_schema: JsonSchemaValue, schema_part: JsonSchemaValue) -> JsonSchemaValue:
    """Return the part of a JSON Schema to which ``schema_part`` refers with ``$ref``.

    Without a ``$ref``, return ``schema_part`` itself.
    """
    reference = schema_part.get("$ref")
    if reference is None:
        return schema_part
    referenced: JsonSchemaValue = file_schema["$defs"][reference.rsplit("/", 1)[-1]]
    return referenced


def describe_kind(file_schema: JsonSchemaValue, schema_part: JsonSchemaValue) -> str:
    """Return the kind of value that a part of a JSON Schema accepts, as a short text for people."""
    schema_part = resolve_reference(file_schema, schema_part)
    if "anyOf" in schema_part:
        return " or ".join(
            describe_kind(file_schema, part) for part in schema_part["anyOf"] if part.get("type") != "null"
        )
    if "enum" in schema_part:
        return ", ".join(f"`{value}`" for value in schema_part["enum"])
    if "const" in schema_part:
        return f"`{schema_part['const']}`"
    if schema_part.get("type") == "array":
        return f"list of {describe_kind(file_schema, schema_part.get('items', {}))}"
    if schema_part.get("type") == "object":
        return "table"
    bounds = [
        f"{word} {schema_part[key]}"
        for key, word in (
            ("minimum", "from"),
            ("exclusiveMinimum", "above"),
            ("maximum", "to"),
            ("exclusiveMaximum", "below"),
        )
        if key in schema_part
    ]
    return " ".join([str(schema_part.get("type", "")), *bounds])


def format_toml(value: object) -> str:
    """Return a value of a file as text, for the documentation of its keys and for a new cabinet file.

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
        return "{}" if not value else text if len(text) <= _DEFAULT_TABLE_CHARACTERS_MAX else "{ ... }"
    if isinstance(value, str):  # JSON does not escape DEL, and TOML does not accept it
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value)
