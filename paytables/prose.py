"""Figures in prose: those that a definition's help says, and those that the definition has."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Final

_SPACES: Final = " \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}"
#: A whole number, its thousands parted as either language does.
_WRITTEN: Final = re.compile(rf"[0-9]{{1,3}}(?:[,{_SPACES}][0-9]{{3}})+(?![0-9])|[0-9]+")
_PLAIN: Final = re.compile(r"[0-9]+")


def written(text: str) -> list[str]:
    """Return the figures of a text as they are written, in its order."""
    return _WRITTEN.findall(text)


def readings(figure: str) -> tuple[set[int], set[int]]:
    """Return the numbers a written figure may be: ``"2 500"`` is 2500, or a 2 before a 500."""
    parts = _PLAIN.findall(figure)
    return {int("".join(parts))}, {*map(int, parts)}


def figures(*texts: str) -> set[int]:
    """Return every number that some texts say."""
    return {number for text in texts for figure in written(text) for number in set.union(*readings(figure))}


def help_of(text: str) -> Mapping[str, str]:
    """Return the help of a definition's canonical JSON, by language, as it was written."""
    words: Mapping[str, str] = json.loads(text)["game"]["help"]
    return words


def known(text: str) -> set[int]:
    """Return every number of a definition's canonical JSON, but of its header's words and of its art.

    Its values, how many things its lists and tables have, and how often one thing is in a list.
    """
    data = json.loads(text)
    data.pop("art", None)
    for words in ("help", "id", "version", "date", "title", "author"):
        data["game"].pop(words, None)
    return _numbers(data)


def _numbers(data: object) -> set[int]:
    if isinstance(data, bool) or data is None:
        return set()
    if isinstance(data, int):
        return {data}
    if isinstance(data, str):
        words = data.split()
        return {*figures(data), *map(int, _PLAIN.findall(data)), len(words), *Counter(words).values()}
    if isinstance(data, dict):
        inside = [_numbers(part) for pair in data.items() for part in pair]
        return {len(data)}.union(*inside)
    if isinstance(data, list):
        alike = Counter(map(str, data)).values()
        return {len(data), *alike}.union(*map(_numbers, data))
    raise TypeError(f"{data!r} is not of a definition")
