"""The published shape of a profile: a JSON Schema for editors, and a table of every key for people."""

from collections.abc import Iterator

from pydantic.json_schema import JsonSchemaValue

from egm.config.keys import Key, key, resolved
from egm.profiles.profile import Profile


def schema() -> dict[str, object]:
    """The JSON Schema (draft 2020-12) of a profile file.

    It says what a file of the right shape is. Rules between keys (a limit below another, a text for each
    language) only :func:`egm.profiles.load_profile` checks.
    """
    data = Profile.model_json_schema()
    data["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    data["title"] = "A jurisdiction profile of the Open EGM"
    return data


def keys() -> Iterator[Key]:
    """Every key, table by table, as the schema states it."""
    whole = schema()
    yield from _keys(whole, whole, "")


def _keys(whole: JsonSchemaValue, table: JsonSchemaValue, prefix: str) -> Iterator[Key]:
    for name, stated in table["properties"].items():
        described = resolved(whole, stated)
        if "properties" in described:
            yield from _keys(whole, described, f"{prefix}{name}.")
            continue
        yield key(whole, table, name, prefix)
