"""The published form of a profile: a JSON Schema for editors, and a table of every key for people."""

from collections.abc import Iterator

from pydantic.json_schema import JsonSchemaValue

from egm.config.key_documentation import KeyDocumentation, build_key_documentation, resolve_reference
from egm.profiles.profile import Profile


def build_schema() -> dict[str, object]:
    """Return the JSON Schema (draft 2020-12) of a jurisdiction profile's file, which describes each key.

    Rules between keys (one limit below a second one, a text for each language) are only checked by
    :func:`egm.profiles.load_profile`.
    """
    schema = Profile.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "A jurisdiction profile of the Open EGM"
    return schema


def iter_keys() -> Iterator[KeyDocumentation]:
    """Yield the documentation of every key of a jurisdiction profile, table by table."""
    profile_schema = build_schema()
    yield from _iter_table_keys(profile_schema, profile_schema, "")


def _iter_table_keys(
    profile_schema: JsonSchemaValue, table_schema: JsonSchemaValue, prefix: str
) -> Iterator[KeyDocumentation]:
    """Yield the documentation of every key in a table of the profile's schema, and of the tables in it.

    ``prefix`` is the name of the table with a dot, put before each key.
    """
    for name, schema_part in table_schema["properties"].items():
        resolved_schema = resolve_reference(profile_schema, schema_part)
        if "properties" in resolved_schema:
            yield from _iter_table_keys(profile_schema, resolved_schema, f"{prefix}{name}.")
            continue
        yield build_key_documentation(profile_schema, table_schema, name, prefix)
