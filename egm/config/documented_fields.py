"""Tables of TOML files whose keys are documented in the source, by a string below each field.

Pydantic's ``use_attribute_docstrings`` reads and parses the source of each model whenever its module is
imported: some 3 ms for each table, in every process of the cabinet. Only the JSON Schema and the messages about
a faulty file show the texts. Here the source is therefore read only when the schema or such a message is made.
"""

import ast
import inspect
from functools import cache
from pathlib import Path
from typing import Final, cast

from pydantic import BaseModel, GetJsonSchemaHandler
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

_DOCUMENTED_PACKAGES: Final = frozenset({"egm", "paytables"})


class DocumentedFieldsMixin:
    """A mixin for pydantic models: in their JSON Schema each key is described by the string below its field."""

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler, /
    ) -> JsonSchemaValue:
        """Return the JSON Schema of the model, with the descriptions of its keys added."""
        schema = handler(core_schema)
        property_schemas = handler.resolve_ref_schema(schema).get("properties", {})
        for key, meaning in read_key_meanings(cast(type[BaseModel], cls)).items():
            if key in property_schemas:
                property_schemas[key].setdefault("description", meaning)
        return schema


def get_file_key(name: str, field: FieldInfo) -> str:
    """Return the key of a field in a file: its alias, or the field's name if it has none."""
    return field.alias or name


def read_key_meanings(model: type[BaseModel]) -> dict[str, str]:
    """Return the string below each field in the source of a model, by the field's key in the file."""
    meaning_by_field = read_field_meanings(model)
    return {
        get_file_key(name, field): meaning_by_field[name]
        for name, field in model.model_fields.items()
        if name in meaning_by_field
    }


def read_field_meanings(model: type) -> dict[str, str]:
    """Return the string below each field in the source of a model, by field name.

    Fields of base classes are included.
    """
    meaning_by_field: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if base.__module__.partition(".")[0] in _DOCUMENTED_PACKAGES and (
            file := inspect.getsourcefile(base)
        ):
            meaning_by_field |= _read_documented_classes(file).get(base.__qualname__, {})
    return meaning_by_field


@cache
def _read_documented_classes(file: str) -> dict[str, dict[str, str]]:
    """Return the strings below the fields of each top-level class in a module: by class name, then by field name."""
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    return {node.name: _read_documented_fields(node) for node in tree.body if isinstance(node, ast.ClassDef)}


def _read_documented_fields(definition: ast.ClassDef) -> dict[str, str]:
    """Return the string below each field of a class definition, by the field's name."""
    meaning_by_field = {}
    for field, text in zip(definition.body, definition.body[1:], strict=False):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(doc))):
                meaning_by_field[name] = inspect.cleandoc(doc)
    return meaning_by_field
