"""Reading of game definitions: TOML input becomes a checked model, or an error with file, key and reason.

The digest of a definition is the SHA-256 of its data in canonical JSON (sorted keys, no spaces, UTF-8).
Comments and layout do not change it; every number does.
"""

import hashlib
import json
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Final, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from paytables.assets import REPLACEABLE_SOUNDS
from paytables.errors import DefinitionError
from paytables.source import IDENTIFIER_PATTERN, SourceFile, describe_toml_error, parse_toml, read_source_file
from paytables.wording import describe_wrong_value, find_nearest_words, format_known_names

#: The folder of the shipped definitions.
LIBRARY_FOLDER: Path = Path(__file__).parent / "library"

#: The highest number of credits a game definition may contain anywhere: the capacity of a ten-digit meter.
DEFINITION_CREDITS_MAX: Final = 9_999_999_999
#: Characters that reorder the text around them (Unicode bidirectional controls): a title with one can display
#: other words than it contains.
_BIDIRECTIONAL_CONTROLS: Final = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)


def check_readable(text: str) -> str:
    """Return ``text`` unchanged, or raise ValueError if it has characters that a device would obey or cannot display.

    They are control characters other than a line feed, bidirectional controls, surrogates, and private or
    unassigned characters.
    """
    for number, char in enumerate(text, 1):
        if char in _BIDIRECTIONAL_CONTROLS or (
            char != "\n" and unicodedata.category(char) in {"Cc", "Cs", "Co", "Cn"}
        ):
            raise ValueError(f"has the control character U+{ord(char):04X} as character {number}")
    return text


def check_ascending(values: tuple[int, ...]) -> tuple[int, ...]:
    """Return the values unchanged, or raise ValueError if they are not strictly increasing."""
    for value, next_value in pairwise(values):
        if value >= next_value:
            reason = "is listed twice" if value == next_value else f"is listed after {value}"
            raise ValueError(f"{next_value} {reason}: list different values in ascending order")
    return values


#: An id in a definition.
Identifier = Annotated[str, StringConstraints(pattern=IDENTIFIER_PATTERN)]
#: A number of credits or things, above zero.
PositiveInt = Annotated[int, Field(strict=True, gt=0, le=DEFINITION_CREDITS_MAX)]
#: A number of credits or things, zero included.
NaturalInt = Annotated[int, Field(strict=True, ge=0, le=DEFINITION_CREDITS_MAX)]
#: A text of at least one character that a screen can display.
DisplayText = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1), AfterValidator(check_readable)
]


def _split_words(value: Any) -> Any:
    """Return a text split into its words; return a value of another type unchanged."""
    return tuple(value.split()) if isinstance(value, str) else value


#: JSON Schema of a list that may also be written as one text.
_WORD_LIST_SCHEMA = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
#: Ids in order, such as the symbols of a reel strip: a list, or one text separated by spaces.
IdentifierList = Annotated[
    tuple[Identifier, ...], BeforeValidator(_split_words), WithJsonSchema(_WORD_LIST_SCHEMA)
]
#: A list of words, or one text separated by spaces.
WordList = Annotated[
    tuple[DisplayText, ...], BeforeValidator(_split_words), WithJsonSchema(_WORD_LIST_SCHEMA)
]


class StrictTable(BaseModel):
    """Base class of the tables in a game definition: unknown keys are refused, and a read table is immutable."""

    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid")


class Text(StrictTable):
    """A text of a definition in every language of the machine; none may be missing."""

    en: DisplayText
    """The English text."""
    fr: DisplayText
    """The French text."""


class GameHeader(StrictTable):
    """The ``[game]`` table at the beginning of every game definition: id, family, title, help text and more."""

    id: Identifier
    """The id of the game, unique in a cabinet."""
    family: Identifier
    """The name of the family whose rules play the game."""
    version: Annotated[str, StringConstraints(pattern=r"^\d+\.\d+\.\d+$")]
    """The version of the definition, as three numbers."""
    date: date
    """The date of the version."""
    title: Text
    """The title of the game for the player."""
    help: Text = Field(description="the game's rules, as the player reads them before betting")
    """The rules of the game, as the player reads them before betting."""
    departure: tuple[Text, ...] = Field(
        (),
        description="where the game differs from the rules of its name, or how it reads an ambiguous rule",
    )
    """How the game differs from the usual rules of a game of this name, or how it reads an ambiguous rule."""
    denominations_cents: Annotated[
        tuple[PositiveInt, ...], Field(min_length=1), AfterValidator(check_ascending)
    ]
    """The denominations that the game may be offered in, in minor units."""
    author: DisplayText | None = None
    """The author of the definition, or None."""


class GameArt(StrictTable):
    """The game's own pictures and sounds, which replace the machine's defaults (:mod:`paytables.assets`)."""

    look: Identifier | None = Field(
        None, description="the set of pictures and sounds of `egm game art` that the game uses"
    )
    """The name of the set of pictures and sounds that the game uses, or None."""
    pictures: dict[Identifier, str] = Field({}, description="symbol = an SVG or PNG file beside this one")
    """The picture file of each symbol."""
    sounds: dict[Identifier, str] = Field({}, description="event = a WAV file beside this one")
    """The sound file of each event."""
    sha256: dict[str, str] = Field({}, description="the SHA-256 of each file; computed if it is not written")
    """The SHA-256 of each picture and sound file."""

    @field_validator("sounds", mode="after")
    @classmethod
    def _check_sounds(cls, sounds: dict[str, str]) -> dict[str, str]:
        """Refuse a sound for an event that does not exist."""
        unknown_sounds = [name for name in sounds if name not in REPLACEABLE_SOUNDS]
        if unknown_sounds:
            raise ValueError(
                f"there is no sound {unknown_sounds[0]!r}; {format_known_names(unknown_sounds[0], REPLACEABLE_SOUNDS)}"
            )
        return sounds


#: Placeholder in the help text for the list of what the bets pay.
_PAYS_PLACEHOLDER: Final = "{pays}"


class Definition(StrictTable):
    """The part of a game definition that every game family has; each family adds further tables.

    ``{pays}`` in a language's help text is replaced by :meth:`format_pay_table_rows`, one paragraph per row,
    so that the rules state what the bets pay.
    """

    game: GameHeader
    """The id, version and texts of the game."""
    art: GameArt = GameArt()
    """The game's own pictures and sounds."""

    def format_pay_table_rows(self) -> Mapping[str, Sequence[str]]:
        """Return the rows of the pay table as text, by language; empty for a family without a pay table."""
        return {}

    @model_validator(mode="after")
    def _insert_pays_in_help(self) -> Self:
        """Replace ``{pays}`` in the help texts by the rows of the pay table; refuse it if the family has no rows."""
        texts = self.game.help.model_dump()
        rows = (
            self.format_pay_table_rows() if any(_PAYS_PLACEHOLDER in text for text in texts.values()) else {}
        )
        for language, text in texts.items():
            if _PAYS_PLACEHOLDER in text and language not in rows:
                raise ValueError(
                    f"game.help.{language}: contains {_PAYS_PLACEHOLDER}, but this family has no list of pays"
                )
        help_ = {
            language: text.replace(_PAYS_PLACEHOLDER, "\n\n".join(("", *rows.get(language, ()), ""))).strip()
            for language, text in texts.items()
        }
        return self.model_copy(update={"game": self.game.model_copy(update={"help": Text(**help_)})})


DefinitionT = TypeVar("DefinitionT", bound=Definition)


def parse(source: SourceFile) -> dict[str, Any]:
    """Return the data of a definition file, parsed as TOML. Raises :class:`DefinitionError` if it is not TOML."""
    try:
        return parse_toml(source.data.decode())
    except tomllib.TOMLDecodeError as error:
        raise DefinitionError(str(source.path), "TOML", str(error)) from None
    except UnicodeDecodeError as error:
        raise DefinitionError(str(source.path), "encoding", describe_toml_error(error)) from None


def format_canonical_text(definition_data: Mapping[str, Any]) -> str:
    """Return a definition's data as canonical JSON, the text over which its digest is computed."""
    return json.dumps(
        definition_data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_format_iso_date
    )


def compute_digest(definition_data: Mapping[str, Any]) -> str:
    """Return the digest that identifies a definition: the SHA-256 of its canonical JSON, in hex."""
    return hashlib.sha256(format_canonical_text(definition_data).encode()).hexdigest()


def _format_iso_date(value: object) -> str:
    """Return a date of a definition as ISO text, for canonical JSON."""
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"a definition cannot hold a {type(value).__name__}")


def read_header_value(definition_data: Mapping[str, Any], file: str, header_key: str) -> str:
    """Return one text of a definition's ``[game]`` table before the definition is checked.

    The family's name is read in this way, because it selects the model that checks the definition. Raises
    :class:`DefinitionError` if there is no such text.
    """
    table = definition_data.get("game")
    if not isinstance(table, Mapping):
        raise DefinitionError(file, "game", "the [game] table is missing")
    value = table.get(header_key)
    if not isinstance(value, str):
        raise DefinitionError(file, f"game.{header_key}", "is missing or is not a text")
    return value


def parse_model(model: type[DefinitionT], definition_data: Mapping[str, Any], file: str) -> DefinitionT:
    """Return a definition's data as the family's model. Raises :class:`DefinitionError` for the first wrong key.

    The error also names up to three other wrong keys. If a value may be of several types, the errors of all of them
    are joined into one sentence.
    """
    try:
        return model.model_validate(definition_data)
    except ValidationError as error:
        reasons_by_key: dict[str, list[str]] = {}
        value_by_key: dict[str, object] = {}
        for error_details in error.errors(include_url=False):
            key = (
                _format_key(
                    error_details["loc"], definition_data, is_missing=error_details["type"] == "missing"
                )
                or "definition"
            )
            reason = (
                str(error_details["ctx"]["error"])
                if error_details["type"] == "value_error"
                else error_details["msg"]
            )
            if error_details["type"] == "extra_forbidden":
                reason = _describe_unknown_key(model, definition_data, error_details["loc"], key)
            if reason not in reasons_by_key.setdefault(key, []):
                reasons_by_key[key].append(reason)
                value_by_key[key] = error_details["input"]
        (key, first_reasons), *other_reasons = reasons_by_key.items()
        joined_text = ", or ".join(
            [first_reasons[0], *(r.removeprefix("Input should be ") for r in first_reasons[1:])]
        )
        reason_text = describe_wrong_value(joined_text, value_by_key[key])
        others_text = (
            f" (wrong as well: {', '.join(other for other, _ in other_reasons[:3])})" if other_reasons else ""
        )
        raise DefinitionError(file, key, f"{reason_text}{others_text}") from None


def _describe_unknown_key(
    model: type[BaseModel], definition_data: Any, error_location: tuple[int | str, ...], unknown_key: str
) -> str:
    """Return the error message for an unknown key of a definition, with the most similar permitted key."""
    table = definition_data
    for part in unknown_key.split(".")[:-1]:
        table = table[int(part)] if isinstance(table, list | tuple) else _get_by_key_text(table, part)
    name = str(error_location[-1])
    other_keys = {str(k) for k in table} - {name} if isinstance(table, Mapping) else set()
    key_sets = [frozenset(table_keys) for table_keys in _iter_tables(model)]
    fitting_key_sets = [table_keys for table_keys in key_sets if other_keys <= table_keys] or key_sets
    nearest_words = find_nearest_words(name, sorted(frozenset().union(*fitting_key_sets)), 1)
    return f"unknown key `{name}`" + (f"; did you mean `{nearest_words[0]}`?" if nearest_words else "")


def _get_by_key_text(table: Any, key_text: str) -> Any:
    """Return the value whose key in a parsed table equals ``key_text`` as text; an empty table if there is none."""
    return next((value for key, value in table.items() if str(key) == key_text), {})


def _iter_tables(model: type[BaseModel]) -> Iterator[Mapping[str, Any]]:
    """Yield, for each table that a definition's data model has, its keys with their schemas."""
    schema = model.model_json_schema()
    for table in (schema, *schema.get("$defs", {}).values()):
        if "properties" in table:
            yield table["properties"]


def _format_key(error_location: tuple[int | str, ...], definition_data: Any, *, is_missing: bool) -> str:
    """Return the path of a wrong key as the definition's author wrote it, without pydantic's internal parts."""
    node = definition_data
    parts: list[str] = []
    for n, part in enumerate(error_location):
        if isinstance(node, Mapping):
            value_by_key = {str(key): value for key, value in node.items()}
            if str(part) not in value_by_key and not (is_missing and n == len(error_location) - 1):
                continue
            node = value_by_key.get(str(part))
        elif isinstance(node, list | tuple) and isinstance(part, int) and part < len(node):
            node = node[part]
        else:
            continue
        parts.append(str(part))
    return ".".join(parts)


def list_non_table_games() -> tuple[str, ...]:
    """Return the ids of the slot, Keno and wheel games shipped with the machine, sorted."""
    return tuple(sorted(path.stem for path in LIBRARY_FOLDER.glob("*.toml")))


def list_table_games() -> tuple[str, ...]:
    """Return the ids of the table games and video poker games shipped with the machine, sorted."""
    return tuple(sorted(path.stem for path in (LIBRARY_FOLDER / "tables").glob("*.toml")))


def list_shipped_games() -> tuple[str, ...]:
    """Return the ids of every game shipped with the machine: :func:`list_non_table_games`, then the table games."""
    return (*list_non_table_games(), *list_table_games())


def read_source(id_or_path: str | Path) -> SourceFile:
    """Return the definition file of a library id or of a path, as read.

    Raises :class:`DefinitionError` if there is no such file, or it cannot be read.
    """
    return read_source_file(id_or_path, LIBRARY_FOLDER)
