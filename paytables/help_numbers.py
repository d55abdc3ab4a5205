"""Comparison of the numbers in a definition's help text with the numbers in the definition."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Final

#: Spaces between words, and the no-break spaces within a number.
_SPACE_PATTERN: Final = " \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}"
#: A whole number, with thousands separated as in either language.
_WRITTEN_NUMBER_PATTERN: Final = re.compile(
    rf"[0-9]{{1,3}}(?:[,{_SPACE_PATTERN}][0-9]{{3}})+(?![0-9])|[0-9]+"
)
#: The form of a whole number without separators.
_PLAIN_NUMBER_PATTERN: Final = re.compile(r"[0-9]+")


def list_written_numbers(text: str) -> list[str]:
    """Return the numbers in a text, as they are written, in order."""
    return _WRITTEN_NUMBER_PATTERN.findall(text)


def parse_written_number(number_text: str) -> tuple[set[int], set[int]]:
    """Return the possible values of a written number, in two readings: ``"2 500"`` is {2500}, or {2, 500}."""
    parts = _PLAIN_NUMBER_PATTERN.findall(number_text)
    return {int("".join(parts))}, {*map(int, parts)}


def find_mentioned_numbers(*texts: str) -> set[int]:
    """Return every number that the given texts mention; ``2 500`` counts both as 2500 and as 2 and 500."""
    return {
        number
        for text in texts
        for number_text in list_written_numbers(text)
        for number in set.union(*parse_written_number(number_text))
    }


def read_help_texts(text: str) -> Mapping[str, str]:
    """Return the help text in a definition's canonical JSON, by language, exactly as the author wrote it."""
    help_texts: Mapping[str, str] = json.loads(text)["game"]["help"]
    return help_texts


def find_numbers_in_definition(text: str) -> set[int]:
    """Return every number that a help text may take from a definition, given as canonical JSON ``text``.

    These are the definition's values, the numbers in its keys and texts, the lengths of its lists and tables, and the
    number of words of each text. Two counts are added: how often each element occurs in its list, and how often each
    word occurs in its text. The header's texts and the art are left out.
    """
    data = json.loads(text)
    data.pop("art", None)
    for key in ("help", "departure", "id", "version", "date", "title", "author"):
        data["game"].pop(key, None)
    return _find_numbers(data)


def _find_numbers(definition_part: object) -> set[int]:
    """Return every number that data of a definition contain or imply: values, lengths, counts of equal items."""
    if isinstance(definition_part, bool) or definition_part is None:
        return set()
    if isinstance(definition_part, int):
        return {definition_part}
    if isinstance(definition_part, str):
        words = definition_part.split()
        return {
            *find_mentioned_numbers(definition_part),
            *map(int, _PLAIN_NUMBER_PATTERN.findall(definition_part)),
            len(words),
            *Counter(words).values(),
        }
    if isinstance(definition_part, dict):
        number_sets = [_find_numbers(part) for pair in definition_part.items() for part in pair]
        return {len(definition_part)}.union(*number_sets)
    if isinstance(definition_part, list):
        element_counts = Counter(map(str, definition_part)).values()
        return {len(definition_part), *element_counts}.union(*map(_find_numbers, definition_part))
    raise TypeError(f"{definition_part!r} is not of a definition")
