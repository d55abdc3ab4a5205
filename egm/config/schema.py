"""The JSON Schema of the cabinet file, the documentation of every key, and the search for example values."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic.json_schema import JsonSchemaValue

from egm.config.cabinet_file import CabinetFile
from egm.config.key_documentation import (
    KeyDocumentation,
    build_key_documentation,
    format_toml,
    resolve_reference,
)
from egm.config.mistakes import ConfigMistake, Consequence


def build_schema() -> JsonSchemaValue:
    """Return the JSON Schema (draft 2020-12) of a cabinet file.

    It describes the form of the file; further conditions are checked by ``egm cabinet check``.
    """
    data = CabinetFile.model_json_schema()
    data["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    data["title"] = "A cabinet file of the Open EGM"
    return data


@dataclass(frozen=True, slots=True)
class TableDocumentation:
    """The documentation of one table of the cabinet file: its header, its description and its keys."""

    header: str
    meaning: str
    is_required: bool
    keys: tuple[KeyDocumentation, ...]


def iter_cabinet_file_tables() -> Iterator[TableDocumentation]:
    """Yield the documentation of every table of a cabinet file.

    ``NAME`` in a header stands for a freely chosen name.
    """
    file_schema = build_schema()
    for name, schema_part in file_schema["properties"].items():
        header, table_schema = f"[{name}]", schema_part
        if "items" in schema_part:
            header, table_schema = f"[[{name}]]", schema_part["items"]
        elif "patternProperties" in schema_part:
            header, table_schema = f"[{name}.NAME]", next(iter(schema_part["patternProperties"].values()))
        elif "anyOf" in schema_part:
            table_schema = schema_part["anyOf"][0]
        table_schema = resolve_reference(file_schema, table_schema)
        meaning = " ".join(table_schema.get("description", "").split())
        keys = tuple(
            build_key_documentation(file_schema, table_schema, key) for key in table_schema["properties"]
        )
        yield TableDocumentation(header, meaning, name in file_schema["required"], keys)


def find_unchanged_example_values(cabinet_file_data: Mapping[str, object]) -> Iterator[ConfigMistake]:
    """Yield a mistake for each key that still has the example value of a new file.

    Only keys are checked whose values only the machine's operator knows, such as the serial number.
    """
    for table_documentation in iter_cabinet_file_tables():
        table_name = table_documentation.header.strip("[]")
        table = cabinet_file_data.get(table_name)
        if not isinstance(table, Mapping):
            continue
        for key in table_documentation.keys:
            if key.is_known_only_to_operator and format_toml(table.get(key.name)) == key.example:
                mistake_text = "still has the example value of a new file: enter your own"
                yield ConfigMistake(
                    f"{table_name}.{key.name}", mistake_text, consequence=Consequence.WARNING_ONLY
                )
