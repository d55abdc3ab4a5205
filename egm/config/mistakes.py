"""Mistakes in a TOML file, for the person who wrote it: each with its line and its key."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum, auto
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Final, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from egm.config.documented_fields import get_file_key, read_key_meanings
from egm.errors import OperatorError
from paytables.definition import check_readable
from paytables.source import describe_toml_error, parse_toml, read_contents
from paytables.wording import describe_wrong_value, find_nearest_words

_ModelT = TypeVar("_ModelT", bound=BaseModel)
#: The largest number of allowed values that a mistake lists.
_LISTED_ALLOWED_VALUES_MAX: Final = 24

#: The location of a key in a TOML file: the keys that lead to it, with an index for each list of tables.
KeyPath = tuple[str | int, ...]


class Consequence(Enum):
    """What a mistake in the cabinet file means for the machine."""

    START_IS_REFUSED = auto()
    """The machine does not start."""
    PART_IS_LEFT_OUT = auto()
    """The machine starts without the part of the file that has the mistake, such as a game or a device."""
    PART_IS_AWAITED = auto()
    """The machine starts without the device or line at a missing port, and uses it as soon as the port exists."""
    WARNING_ONLY = auto()
    """The machine starts and uses the part in spite of the mistake."""


@dataclass(frozen=True, slots=True)
class ConfigMistake:
    """One mistake of a cabinet file, or of another TOML file."""

    key: str
    """The key as people write it (:func:`format_key_path`), or empty for the file as a whole."""
    problem: str
    """What is wrong at the key."""
    line: int | None = None
    """The line in the file, counted from 1; None if it is not known."""
    suggestion: str = ""
    """The word that was probably meant, or empty."""
    allowed_values: tuple[str, ...] = ()
    """The allowed values of the key; empty if they cannot be listed."""
    consequence: Consequence = Consequence.START_IS_REFUSED
    """What the mistake means for the machine, if the file is its cabinet file."""

    def __str__(self) -> str:
        """Return the mistake as one line for the person who wrote the file."""
        line_text = f"line {self.line}: " if self.line else ""
        key_text = f"{self.key}: " if self.key else ""
        suggestion_text = f"; did you mean {self.suggestion}?" if self.suggestion else ""
        listed_words = ", ".join(self.allowed_values[:_LISTED_ALLOWED_VALUES_MAX]) + (
            " ..." if len(self.allowed_values) > _LISTED_ALLOWED_VALUES_MAX else ""
        )
        allowed_text = f" (allowed: {listed_words})" if listed_words else ""
        return f"{line_text}{key_text}{self.problem}{suggestion_text}{allowed_text}"


def find_similar_word(word: str, known_words: Iterable[str]) -> str:
    """Return the known word that ``word`` was probably meant to be, or ""."""
    return next(iter(find_nearest_words(word, known_words, 1)), "")


def build_config_mistake(
    key: str, problem: str, *allowed_values: str, written_word: str = ""
) -> ConfigMistake:
    """Return a mistake that a validator of a model has found.

    ``key`` may be empty if the validator checks one key only. The mistake lists ``allowed_values``, the values that
    the key allows. If ``written_word`` resembles one of them, the mistake suggests it.
    """
    return ConfigMistake(
        key,
        problem,
        suggestion=find_similar_word(written_word, allowed_values),
        allowed_values=allowed_values,
    )


def build_model_error(*mistakes: ConfigMistake) -> PydanticCustomError:
    """Return the exception that a validator of a model raises to report these mistakes.

    pydantic passes it on as an error of the type ``mistakes``, from which :func:`read_toml` takes the mistakes back.
    """
    return PydanticCustomError(
        "mistakes", "{text}", {"text": "; ".join(map(str, mistakes)), "mistakes": mistakes}
    )


def read_toml(text: str, model: type[_ModelT]) -> tuple[_ModelT | None, list[ConfigMistake]]:
    """Read a TOML text as an instance of ``model``; return (instance, no mistakes).

    If there are mistakes, return (None, all mistakes in the order of the lines).
    """
    try:
        data = parse_toml(text)
    except tomllib.TOMLDecodeError as error:
        return None, [_build_toml_mistake(error)]
    mistakes = [*_find_control_characters(data)]
    try:
        content = model.model_validate(data)
    except ValidationError as error:
        line_numbers = TomlLineNumbers(text)
        mistakes += _iter_mistakes(error.errors(include_url=False), model, line_numbers)
    else:
        if not mistakes:
            return content, []
        line_numbers = TomlLineNumbers(text)
    placed_mistakes = (
        replace(mistake, line=mistake.line or line_numbers.find_line(parse_key_path(mistake.key)))
        for mistake in mistakes
    )
    return None, sorted(placed_mistakes, key=lambda mistake: mistake.line or 0)


def read_toml_file(path: Path, file_kind: str, model: type[_ModelT]) -> tuple[_ModelT, str]:
    """Read a TOML file as an instance of ``model``; return the instance and the file's text.

    ``file_kind`` names the kind of file in errors, such as "cabinet file". Raises OperatorError with every mistake:
    line, key and reason.
    """
    try:
        text = read_contents(path).decode()
    except OSError as error:
        raise OperatorError(f"{file_kind} {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise OperatorError(f"{file_kind} {path}: {describe_toml_error(error)}") from None
    content, mistakes = read_toml(text, model)
    if content is None:
        raise OperatorError("\n".join(f"{file_kind} {path}: {mistake}" for mistake in mistakes))
    return content, text


def _find_control_characters(value: object, key_path: KeyPath = ()) -> Iterator[ConfigMistake]:
    """Yield a mistake for each text in ``value`` that contains control characters; a screen or printer might obey them.

    ``key_path`` is the location of ``value`` in the file.
    """
    if isinstance(value, Mapping):
        for key, inner_value in value.items():
            yield from _find_control_characters(inner_value, (*key_path, key))
    elif isinstance(value, list):
        for i, inner_value in enumerate(value):
            yield from _find_control_characters(inner_value, (*key_path, i))
    elif isinstance(value, str):
        try:
            # check_readable permits line feeds; turn them into carriage returns, so that they are refused too.
            check_readable(value.replace("\n", "\r"))
        except ValueError as error:
            yield ConfigMistake(format_key_path(key_path), str(error))


def _build_toml_mistake(error: tomllib.TOMLDecodeError) -> ConfigMistake:
    """Return the mistake of a text that is not TOML, with the line of the error if it is known."""
    text = str(error)
    position_match = re.search(r" \(at line (\d+), column (\d+)\)", text)
    if position_match is None:
        return ConfigMistake("", f"not TOML: {text}")
    return ConfigMistake(
        "",
        f"not TOML: {text[: position_match.start()]} at column {position_match[2]}",
        int(position_match[1]),
    )


def _iter_mistakes(
    errors: Sequence[ErrorDetails], model: type[BaseModel], line_numbers: "TomlLineNumbers"
) -> Iterator[ConfigMistake]:
    """Yield a mistake for each of pydantic's validation errors.

    If a key is missing and an unknown key resembles it, the two are reported as one mistake, because the key was
    probably misspelt.
    """
    unknown_key_paths = [error["loc"] for error in errors if error["type"] == "extra_forbidden"]
    keys_reported_as_misspelt = set()
    for key_path in unknown_key_paths:
        *table_path, unknown_key = key_path
        meaning_by_key = _read_meaning_by_key(model, table_path)
        missing_keys = [
            str(e["loc"][-1]) for e in errors if e["type"] == "missing" and [*e["loc"][:-1]] == table_path
        ]
        similar_word = find_similar_word(str(unknown_key), missing_keys) or find_similar_word(
            str(unknown_key), meaning_by_key
        )
        keys_reported_as_misspelt.add((*table_path, similar_word))
        yield ConfigMistake(
            format_key_path(key_path),
            "there is no such key",
            line_numbers.find_line(key_path),
            similar_word,
            tuple(meaning_by_key),
        )
    for error in errors:
        key_path, context = error["loc"], error.get("ctx", {})
        if error["type"] == "extra_forbidden" or (
            error["type"] == "missing" and key_path in keys_reported_as_misspelt
        ):
            continue
        if error["type"] == "too_short" and any(
            key_path == other["loc"][:-1][: len(key_path)] for other in errors
        ):
            continue  # pydantic does not count invalid elements: the list only seems too short
        if error["type"] == "mistakes":
            for mistake in context["mistakes"]:
                key = mistake.key or format_key_path(key_path)
                yield replace(mistake, key=key, line=line_numbers.find_line(parse_key_path(key)))
        elif error["type"] == "missing":
            meaning_by_key = _read_meaning_by_key(model, key_path[:-1])
            yield ConfigMistake(
                format_key_path(key_path),
                f"must be given: {meaning_by_key.get(str(key_path[-1]), '')}",
                line_numbers.find_line(key_path),
            )
        else:
            yield _build_value_mistake(error, model, line_numbers)


def _build_value_mistake(
    error: ErrorDetails, model: type[BaseModel], line_numbers: "TomlLineNumbers"
) -> ConfigMistake:
    """Return the mistake for pydantic's error about a value that its key does not allow."""
    value, context = error["input"], error.get("ctx", {})
    # If a key of a mapping is wrong, and not its value, pydantic ends the location with "[key]".
    key_path = tuple(part for part in error["loc"] if part != "[key]")
    if error["type"] in {"literal_error", "enum"}:
        allowed_values = tuple(re.findall(r"'([^']*)'", str(context["expected"])))
        return ConfigMistake(
            format_key_path(key_path),
            f"{value!r} is not allowed",
            line_numbers.find_line(key_path),
            find_similar_word(str(value), allowed_values),
            allowed_values,
        )
    if error["type"] == "string_pattern_mismatch":
        meaning = _read_meaning_by_key(model, key_path[:-1]).get(str(key_path[-1]), "").rstrip(".")
        problem = f"{value!r} does not fit the pattern {context['pattern']}{meaning and f': {meaning}'}"
    else:
        problem = describe_wrong_value(error["msg"], value)
    return ConfigMistake(format_key_path(key_path), problem, line_numbers.find_line(key_path))


def parse_key_path(key: str) -> KeyPath:
    """Return the location of a key, parsed from the text that :func:`format_key_path` returns."""
    parts = re.findall(r"[^.\[\]]+|\[\d+\]", key)
    return tuple(int(part[1:-1]) - 1 if part.startswith("[") else part for part in parts)


def format_key_path(key_path: Iterable[str | int]) -> str:
    """Return the location of a key as text: ``games[2].game`` is the key ``game`` in the second ``[[games]]``."""
    text = ""
    for part in key_path:
        text += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _read_meaning_by_key(model: type[BaseModel], table_path: Sequence[str | int]) -> dict[str, str]:
    """Return the keys of a table in a file of this model, each with its meaning; empty if there is no such table."""
    annotation: object = model
    for part in table_path:
        annotation = _strip_annotation(annotation)
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            annotation_by_key = {
                get_file_key(name, field): field.annotation for name, field in annotation.model_fields.items()
            }
            annotation = annotation_by_key.get(str(part))
        else:  # a list of tables, or tables by name
            annotation = next(
                (argument for argument in reversed(get_args(annotation)) if argument is not Ellipsis), None
            )
    annotation = _strip_annotation(annotation)
    if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
        return {}
    meaning_by_key = read_key_meanings(annotation)
    return {
        key: " ".join(
            (meaning_by_key.get(key) or field.description or _describe_table(field.annotation)).split()
        )
        for key, field in (
            (get_file_key(name, field), field) for name, field in annotation.model_fields.items()
        )
    }


def _describe_table(annotation: object) -> str:
    """Return the description of the table that a field with this annotation holds.

    For a list of tables, it is the description of one table.
    """
    candidate_types = (_strip_annotation(argument) for argument in (annotation, *get_args(annotation)))
    return next(
        (t.__doc__ or "" for t in candidate_types if isinstance(t, type) and issubclass(t, BaseModel)), ""
    )


def _strip_annotation(annotation: object) -> object:
    """Return the type in an annotation, without metadata and without ``None``."""
    if get_origin(annotation) is Annotated:
        return _strip_annotation(get_args(annotation)[0])
    if get_origin(annotation) in {Union, UnionType}:
        return _strip_annotation(
            next(argument for argument in get_args(annotation) if argument is not NoneType)
        )
    return annotation


class TomlLineNumbers:
    """The line number of each key in a TOML text."""

    def __init__(self, text: str) -> None:
        """Find the line of each key in ``text``; if it is not TOML, no key has a line."""
        self._line_by_location: dict[KeyPath, int] = {}
        self._last_index_by_array_table: dict[KeyPath, int] = {}
        with suppress(tomllib.TOMLDecodeError):
            parse_toml(text)
            self._index_lines(text.replace("\r\n", "\n"))

    def _index_lines(self, text: str) -> None:
        """Store the line on which each table and key of the TOML text first occurs."""
        table_path: KeyPath = ()
        for first_line_number, statement in _iter_statements(text):
            parsed_statement = tomllib.loads(statement)
            if statement.lstrip().startswith("["):
                table_path = self._find_opened_table(
                    parsed_statement, is_double=statement.lstrip().startswith("[[")
                )
                for end in range(1, len(table_path) + 1):
                    self._line_by_location.setdefault(table_path[:end], first_line_number)
            else:
                for path in _iter_key_paths(parsed_statement):
                    self._line_by_location.setdefault((*table_path, *path), first_line_number)

    def find_line(self, key_path: KeyPath) -> int | None:
        """Return the line of the key at this location, or None if it is not known.

        For a missing key, return the line of the table that should have it.
        """
        for end in range(len(key_path), 0, -1):
            if key_path[:end] in self._line_by_location:
                return self._line_by_location[key_path[:end]]
        return None

    def _find_opened_table(self, header: Mapping[str, object], *, is_double: bool) -> KeyPath:
        """Return the location of the table that a TOML header opens.

        ``is_double`` says that the header is in double brackets, which adds a table to a list.
        """
        path: KeyPath = ()
        table: Any = header
        while table:
            if isinstance(table, list):
                table = table[0]
                continue
            (key,) = table
            path, table = (*path, key), table[key]
            # In a header, the name of a list of tables refers to its last table; only the last name of [[a.b]] adds a
            # table.
            if path in self._last_index_by_array_table and not (is_double and not _find_inner_table(table)):
                path = (*path, self._last_index_by_array_table[path])
        if is_double:
            self._last_index_by_array_table[path] = self._last_index_by_array_table.get(path, -1) + 1
            path = (*path, self._last_index_by_array_table[path])
        return path


#: Matches the tokens needed to find the end of a statement: strings and comments, because they may contain brackets;
#: brackets, because a statement goes on until they are closed; and line ends.
_TOML_TOKEN_PATTERN: Final = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}' r"|\'\'\'(?:[^']|'(?!''))*'{3,5}"
    r"""|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|\#[^\n]*|[\[\]{}]|\n""",
    re.DOTALL,
)  # fmt: skip


def _iter_statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line, text) for each key or table header of a TOML text; a statement may span several lines."""
    first_line_number, line_number, start, depth = 1, 1, 0, 0
    for token in _TOML_TOKEN_PATTERN.finditer(text + "\n"):
        delimiter = token[0]
        depth += (delimiter in "[{") - (delimiter in "]}")
        line_number += delimiter.count("\n")
        if delimiter == "\n" and not depth:
            yield first_line_number, text[start : token.start()]
            first_line_number, start = line_number, token.end()


def _find_inner_table(header: object) -> object:
    """Return the table that a parsed TOML header contains; for a list of tables, the first one."""
    return header[0] if isinstance(header, list) else header


def _iter_key_paths(parsed_statement: Mapping[str, object]) -> Iterator[KeyPath]:
    """Yield the location of every key in a parsed TOML statement, also of those in its inline tables."""
    for key, value in parsed_statement.items():
        yield (key,)
        if isinstance(value, Mapping):
            yield from ((key, *path) for path in _iter_key_paths(value))
