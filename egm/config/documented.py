"""Tables of TOML files whose keys are documented in the source, by a string below each field.

Pydantic's ``use_attribute_docstrings`` reads and parses the source of each model whenever its module is
imported: some 3 ms a table, in every process of the cabinet. Only the JSON Schema and the messages about a
faulty file show the texts, so they are read when one of these is made.
"""

import ast
import inspect
from functools import cache
from pathlib import Path
from typing import Final

from pydantic import GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

_DOCUMENTED_PACKAGES: Final = frozenset({"egm", "paytables"})


class Documented:
    """A mixin for models whose JSON Schema describes each key by the string below its field."""

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler, /
    ) -> JsonSchemaValue:
        """Return the JSON Schema of the model with the descriptions of its keys."""
        made = handler(core_schema)
        properties = handler.resolve_ref_schema(made).get("properties", {})
        for name, meaning in read_field_meanings(cls).items():
            if name in properties:
                properties[name].setdefault("description", meaning)
        return made


def read_field_meanings(model: type) -> dict[str, str]:
    """Return the string below each field, by the field's name, including fields of its base classes."""
    found: dict[str, str] = {}
    for each in reversed(model.__mro__):
        if each.__module__.partition(".")[0] in _DOCUMENTED_PACKAGES and (
            file := inspect.getsourcefile(each)
        ):
            found |= _read_documented_classes(file).get(each.__qualname__, {})
    return found


@cache
def _read_documented_classes(file: str) -> dict[str, dict[str, str]]:
    """Return the documented fields of each class at the top of a module."""
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    return {each.name: _read_documented_fields(each) for each in tree.body if isinstance(each, ast.ClassDef)}


def _read_documented_fields(defined: ast.ClassDef) -> dict[str, str]:
    found = {}
    for field, text in zip(defined.body, defined.body[1:], strict=False):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(doc))):
                found[name] = inspect.cleandoc(doc)
    return found
