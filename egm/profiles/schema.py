"""The published shape of a profile: a JSON Schema for editors, and a table of every key for people."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from egm.profiles.profile import Profile


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a profile file.

    It says what a file of the right shape is. Rules between keys (a limit below another, a text for each
    language) only :func:`egm.profiles.load_profile` checks.
    """
    data = Profile.model_json_schema()
    data["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    data["title"] = "A jurisdiction profile of the Open EGM"
    return data


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a profile: where it stands, its kind, its default (None: it must be given), its meaning."""

    name: str
    kind: str
    default: str | None
    meaning: str


def keys() -> Iterator[Key]:
    """Every key, table by table, as the schema states it."""
    whole = schema()
    yield from _keys(whole, whole, "")


def _keys(whole: dict[str, Any], table: dict[str, Any], prefix: str) -> Iterator[Key]:
    required = set(table.get("required", ()))
    for name, stated in table["properties"].items():
        described = _resolved(whole, stated)
        if "properties" in described:
            yield from _keys(whole, described, f"{prefix}{name}.")
            continue
        default = None if name in required else _toml(stated.get("default"))
        meaning = " ".join(str(stated.get("description", "")).split())
        yield Key(f"{prefix}{name}", _kind(whole, stated), default, meaning)


def _resolved(whole: dict[str, Any], stated: dict[str, Any]) -> dict[str, Any]:
    """What a ``$ref`` points at."""
    reference = stated.get("$ref")
    if reference is None:
        return stated
    found: dict[str, Any] = whole["$defs"][reference.rsplit("/", 1)[-1]]
    return found


def _kind(whole: dict[str, Any], stated: dict[str, Any]) -> str:
    """A kind in a few words."""
    stated = _resolved(whole, stated)
    if "anyOf" in stated:
        return " or ".join(_kind(whole, part) for part in stated["anyOf"] if part.get("type") != "null")
    if "enum" in stated:
        return ", ".join(f"`{value}`" for value in stated["enum"])
    if "const" in stated:
        return f"`{stated['const']}`"
    if stated.get("type") == "array":
        return f"list of {_kind(whole, stated.get('items', {}))}"
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


def _toml(value: Any) -> str:
    """A default as it would be written in a profile."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return f"[{', '.join(_toml(part) for part in value)}]"
    if isinstance(value, dict):
        return "{}" if not value else "{ ... }"
    return f'"{value}"' if isinstance(value, str) else str(value)
