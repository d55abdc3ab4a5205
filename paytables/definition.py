"""Reading definitions: TOML in, a checked model out, or a refusal that names file, key and reason.

The digest of a definition is the SHA-256 of its data in canonical JSON (sorted keys, no spaces, UTF-8), so
comments and layout do not change it and every number does.
"""

import hashlib
import json
import tomllib
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    WithJsonSchema,
)

from paytables.errors import DefinitionError

LIBRARY: Path = Path(__file__).parent / "library"

Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9+._-]{0,63}$")]
PositiveInt = Annotated[int, Field(strict=True, gt=0)]
NaturalInt = Annotated[int, Field(strict=True, ge=0)]
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


def _split(value: Any) -> Any:
    return tuple(value.split()) if isinstance(value, str) else value


_LISTED = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
#: Symbols in order: a list, or one text with blanks between them.
Strip = Annotated[tuple[Identifier, ...], BeforeValidator(_split), WithJsonSchema(_LISTED)]
Listed = Annotated[tuple[Words, ...], BeforeValidator(_split), WithJsonSchema(_LISTED)]


class Strict(BaseModel):
    """A table of a definition: no unknown keys, never changed after reading."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Text(Strict):
    """A text in every language the machine speaks; none may be missing."""

    en: Words
    fr: Words


class Header(Strict):
    """The ``[game]`` table every definition begins with."""

    id: Identifier
    family: Identifier
    version: Annotated[str, StringConstraints(pattern=r"^\d+\.\d+\.\d+$")]
    date: date
    title: Text
    help: Text = Field(description="the game's rules, as the player reads them before betting")
    denominations_cents: Annotated[tuple[PositiveInt, ...], Field(min_length=1)]
    author: Words | None = None


class Definition(Strict):
    """What every family's definition contains; a family adds its own tables."""

    game: Header


D = TypeVar("D", bound=Definition)


def read_toml(path: Path) -> dict[str, Any]:
    """Read a definition file. Raises :class:`DefinitionError` when it is absent or is not TOML."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise DefinitionError(str(path), "TOML", str(error)) from None
    except UnicodeDecodeError as error:
        raise DefinitionError(str(path), "encoding", f"not UTF-8 at byte {error.start}") from None
    except OSError as error:
        raise DefinitionError(str(path), "file", error.strerror or str(error)) from None


def digest_of(data: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the definition's canonical JSON, in hex."""
    canonical = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_iso)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _iso(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"a definition cannot hold a {type(value).__name__}")


def header_value(data: Mapping[str, Any], file: str, key: str) -> str:
    """Return a text of the ``[game]`` table before the whole is checked: the family decides by what model."""
    table = data.get("game")
    if not isinstance(table, Mapping):
        raise DefinitionError(file, "game", "the [game] table is missing")
    value = table.get(key)
    if not isinstance(value, str):
        raise DefinitionError(file, f"game.{key}", "is missing or is not a text")
    return value


def check(model: type[D], data: Mapping[str, Any], file: str) -> D:
    """Check ``data`` against the family's model. Raises :class:`DefinitionError` naming the first bad key."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        problems = error.errors(include_url=False)
        first = problems[0]
        key = _key_of(first["loc"], data, missing=first["type"] == "missing") or "definition"
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        reason = str(first["ctx"]["error"]) if first["type"] == "value_error" else first["msg"]
        raise DefinitionError(file, key, f"{reason}{more}") from None


def _key_of(loc: tuple[int | str, ...], data: Any, *, missing: bool) -> str:
    """Return the place of an error as the author wrote it, without the model's names for alternatives."""
    here = data
    parts: list[str] = []
    for n, part in enumerate(loc):
        if isinstance(here, Mapping):
            inside = {str(key): value for key, value in here.items()}
            if str(part) not in inside and not (missing and n == len(loc) - 1):
                continue
            here = inside.get(str(part))
        elif isinstance(here, list | tuple) and isinstance(part, int) and part < len(here):
            here = here[part]
        else:
            continue
        parts.append(str(part))
    return ".".join(parts)


def library() -> tuple[str, ...]:
    """Return the ids of the games that ship with the machine, sorted."""
    return tuple(sorted(path.stem for path in LIBRARY.glob("*.toml")))


def find(name: str | Path) -> Path:
    """Return the file of a library id or of a path. Raises :class:`DefinitionError` when there is neither."""
    path = Path(name)
    if path.suffix == ".toml" or path.exists():
        return path
    shipped = LIBRARY / f"{name}.toml"
    if not shipped.exists():
        raise DefinitionError(
            str(name), "game", f"no such file, and not in the library: {', '.join(library())}"
        )
    return shipped
