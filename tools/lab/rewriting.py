"""Change values in the text of a definition; keep its comments and layout.

Only the changed values are rewritten; the result is parsed and must be exactly the intended definition.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from paytables.source import parse_toml
from tools.lab.tuning import KeyPath, get_value_at

#: Matches the header of a TOML table.
_TABLE_HEADER_PATTERN: Final = re.compile(r"^\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(#.*)?$")
#: The closing bracket of each opening one.
_CLOSING_BRACKETS: Final = {"[": "]", "{": "}"}


class RewriteError(Exception):
    """Raised if a value of a definition cannot be changed in its written form; the text names the value."""


def rewrite_definition(text: str, definition: Mapping[str, Any], paths: Iterable[KeyPath]) -> str:
    """Return a definition's text with the values at ``paths`` replaced by those in ``definition``.

    Raises RewriteError.
    """
    key_by_written_path: dict[KeyPath, str] = {}
    for path in paths:
        key_by_written_path[_find_written_prefix(text, path)] = ".".join(map(str, path))
    changed_text = text
    for written_path, key in key_by_written_path.items():
        changed_text = _replace_value(changed_text, written_path, get_value_at(definition, written_path), key)
    try:
        is_equal = _collapse_blanks(parse_toml(changed_text)) == _collapse_blanks(definition)
    except tomllib.TOMLDecodeError:
        is_equal = False
    if not is_equal:
        raise RewriteError("the notation of the file cannot be changed automatically: change it by hand")
    return changed_text


def _collapse_blanks(value: Any) -> Any:
    """Return the value with every run of blanks and line breaks in its texts replaced by one blank.

    A reel strip may be written over several lines.
    """
    if isinstance(value, Mapping):
        return {key: _collapse_blanks(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_collapse_blanks(member) for member in value]
    return " ".join(value.split()) if isinstance(value, str) else value


def _find_written_prefix(text: str, path: KeyPath) -> KeyPath:
    """Return the longest prefix of a path that the file writes as ``key = value``.

    A value inside an inline table or list is written as part of the table or list: in ``[pays]`` with the line
    ``cherry = [2, 5]``, the prefix of ``pays.cherry.1`` is ``pays.cherry``. Raises RewriteError if the file
    writes no prefix in this way.
    """
    for part_count in range(len(path), 0, -1):
        if _find_value_span(text, path[:part_count]) is not None:
            return path[:part_count]
    raise RewriteError(f"{'.'.join(map(str, path))}: not found in the expected notation: change it by hand")


def find_line(text: str, path: KeyPath) -> int | None:
    """Return the line number (from 1) of a path's value or innermost written table; None if neither is written."""
    for part_count in range(len(path), 0, -1):
        span = _find_value_span(text, path[:part_count])
        offset = span[0] if span is not None else _find_header_offset(text, path[:part_count])
        if offset is not None:
            return text.count("\n", 0, offset) + 1
    return None


def _find_header_offset(text: str, path: KeyPath) -> int | None:
    """Return the offset in the text of the header of the table with this path; None if the text has no such header."""
    return next((offset for offset, table_path in _iter_tables(text) if table_path == path), None)


def _iter_tables(text: str) -> Iterator[tuple[int, KeyPath]]:
    """Yield (offset of its header, path) for each table header in a TOML text."""
    counts: dict[str, int] = {}
    offset = 0
    for line in text.splitlines(keepends=True):
        if header := _TABLE_HEADER_PATTERN.match(line):
            table_path: KeyPath = tuple(header[2].replace('"', "").split("."))
            if header[1] == "[[":
                table_number = counts[header[2]] = counts.get(header[2], -1) + 1
                table_path = (*table_path, table_number)
            yield offset, table_path
        offset += len(line)


def _find_value_span(text: str, path: KeyPath) -> tuple[int, int] | None:
    """Return the start and end offset of the value at a path, or None if no line starts with its key."""
    table_starts = [(0, ()), *_iter_tables(text)]
    key_pattern = re.compile(rf"^[ \t]*\"?{re.escape(str(path[-1]))}\"?[ \t]*=[ \t]*", re.MULTILINE)
    for table_number, (table_offset, table_path) in enumerate(table_starts):
        end = table_starts[table_number + 1][0] if table_number + 1 < len(table_starts) else len(text)
        if table_path == path[:-1] and (match := key_pattern.search(text, table_offset, end)):
            return match.end(), _find_value_end(text, match.end())
    return None


def _find_value_end(text: str, value_offset: int) -> int:
    """Return the end offset of the value that starts at ``value_offset``.

    The value ends where all its brackets are closed; brackets in strings and comments do not count.
    """
    open_brackets: list[str] = []
    offset = value_offset
    while offset < len(text):
        char = text[offset]
        if char in "\"'":
            quote = char * 3 if text.startswith(char * 3, offset) else char
            offset = text.index(quote, offset + len(quote)) + len(quote)
            if not open_brackets:
                return offset
            continue
        if char == "#":
            if not open_brackets:
                break
            offset = text.index("\n", offset)
        elif char in _CLOSING_BRACKETS:
            open_brackets.append(_CLOSING_BRACKETS[char])
        elif open_brackets and char == open_brackets[-1]:
            open_brackets.pop()
            if not open_brackets:
                return offset + 1
        elif char == "\n" and not open_brackets:
            break
        offset += 1
    return len(text[:offset].rstrip())


def _replace_value(text: str, path: KeyPath, value: Any, key: str) -> str:
    """Return the definition's text with the value at a path replaced. Raises RewriteError naming ``key``."""
    span = _find_value_span(text, path)
    if span is None:
        raise RewriteError(f"{key}: not found in the expected notation: change it by hand")
    return text[: span[0]] + _format_toml_value(value) + text[span[1] :]


def _format_toml_value(value: Any) -> str:
    """Return a whole number, a text, a list or a table as TOML text."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_format_toml_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        item_texts = [_format_toml_value(item) for item in value]
        has_long_text = any(isinstance(item, str) and len(item) > 20 for item in value)
        return (
            "[\n" + "".join(f"  {item_text},\n" for item_text in item_texts) + "]"
            if has_long_text
            else f"[{', '.join(item_texts)}]"
        )
    if isinstance(value, str):
        words = value.split()
        if len(value) < 100:
            return '"' + " ".join(words) + '"'
        lines, line = [], ""
        for word in words:
            if len(line) + len(word) > 98:
                lines.append(line)
                line = ""
            line = f"{line} {word}".strip()
        return '"""\n  ' + "\n  ".join([*lines, line]) + '"""'
    return str(value)
