"""Changing values in the text of a definition, so that its comments and layout stay as they are.

Only what was changed is written anew; the result is parsed and must be exactly the definition that was meant.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any, Final

from tools.tuning import Path, value_at

_HEADER: Final = re.compile(r"^\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(#.*)?$")
_CLOSES: Final = {"[": "]", "{": "}"}


class RewriteError(Exception):
    """A value that is written in a way that cannot be changed here: says which."""


def rewritten(text: str, data: Mapping[str, Any], keys: Iterable[Path]) -> str:
    """Return the text of a definition with the values of ``data`` at these paths. Raises RewriteError."""
    tables: dict[Path, str] = {}
    for key in keys:
        tables[_table_of(text, key)] = ".".join(map(str, key))
    changed = text
    for table, named in tables.items():
        changed = _put(changed, table, value_at(data, table), named)
    try:
        same = _plain(tomllib.loads(changed)) == _plain(data)
    except tomllib.TOMLDecodeError:
        same = False
    if not same:
        raise RewriteError("the file is written in a way that cannot be changed here: change it by hand")
    return changed


def _plain(value: Any) -> Any:
    """The same with one blank between the words of a text: a strip may be laid out over several lines."""
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return " ".join(value.split()) if isinstance(value, str) else value


def _table_of(text: str, key: Path) -> Path:
    """The longest beginning of a path that is a key of its own in the file: ``stage.base.pay.0.pays``."""
    for length in range(len(key), 0, -1):
        if _assignment(text, key[:length]) is not None:
            return key[:length]
    raise RewriteError(f"{'.'.join(map(str, key))}: not found as it is written: change it by hand")


def _assignment(text: str, key: Path) -> tuple[int, int] | None:
    """Where the value of a key stands in the text: begin and end; None where no line begins with that key."""
    wanted, name = key[:-1], str(key[-1])
    here: Path = ()
    counts: dict[str, int] = {}
    at = 0
    for line in text.splitlines(keepends=True):
        if header := _HEADER.match(line):
            parts = header[2].replace('"', "").split(".")
            here = tuple(parts)
            if header[1] == "[[":
                number = counts[header[2]] = counts.get(header[2], -1) + 1
                here = (*parts, number)
        elif here == tuple(wanted) and (found := re.match(rf"\s*\"?{re.escape(name)}\"?\s*=\s*", line)):
            return at + found.end(), _end(text, at + found.end())
        at += len(line)
    return None


def _end(text: str, at: int) -> int:
    """Where the value that begins here ends: brackets closed, texts and comments skipped."""
    open_: list[str] = []
    place = at
    while place < len(text):
        char = text[place]
        if char in "\"'":
            quote = char * 3 if text.startswith(char * 3, place) else char
            place = text.index(quote, place + len(quote)) + len(quote)
            if not open_:
                return place
            continue
        if char == "#":
            if not open_:
                break
            place = text.index("\n", place)
        elif char in _CLOSES:
            open_.append(_CLOSES[char])
        elif open_ and char == open_[-1]:
            open_.pop()
            if not open_:
                return place + 1
        elif char == "\n" and not open_:
            break
        place += 1
    return len(text[:place].rstrip())


def _put(text: str, key: Path, value: Any, named: str) -> str:
    found = _assignment(text, key)
    if found is None:
        raise RewriteError(f"{named}: not found as it is written: change it by hand")
    return text[: found[0]] + _written(value) + text[found[1] :]


def _written(value: Any) -> str:
    """A value as TOML: whole numbers, texts, lists and tables of them."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{k} = {_written(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        parts = [_written(v) for v in value]
        long = any(isinstance(v, str) and len(v) > 20 for v in value)
        return "[\n" + "".join(f"  {part},\n" for part in parts) + "]" if long else f"[{', '.join(parts)}]"
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
