"""Formatting of figures and names for readers: percentages, counted nouns and suggestions for misspelled names."""

import difflib
import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Final

__all__ = [
    "describe_wrong_value",
    "find_nearest_words",
    "format_count",
    "format_known_names",
    "format_percent",
]

#: If there are more valid names than this, an error message lists only those similar to the wrong one, if any are.
_LISTED_NAMES_MAX: Final = 24
#: Types of values as pydantic names them, and as the author of a TOML file knows them.
_PLAIN_NAME_BY_TYPE_TEXT: Final = {
    "a valid string": "a text",
    "a valid integer": "a whole number",
    "a valid boolean": "true or false",
    "a valid dictionary": "a table",
    "a valid tuple": "a list",
    "a valid list": "a list",
}
#: The class that pydantic names beside a table. The author of a TOML file does not know it.
_CLASS_ALTERNATIVE_PATTERN: Final = re.compile(r"(?<=a table) or instance of \w+")


def format_percent(share: Fraction, decimal_count: int = 2) -> str:
    """Return a share in percent with ``decimal_count`` (at least 1) decimals, rounded down: 0.873778 is ``87.37``.

    Screens, commands, sheets and messages all use this rule. It uses integer arithmetic only.
    """
    scale = 10**decimal_count
    units = share * 100 * scale // 1
    integer, decimals = divmod(abs(units), scale)
    return f"{'-' if units < 0 else ''}{integer}.{decimals:0{decimal_count}d}"


def format_count(count: int, singular: str, plural: str = "") -> str:
    """Return a count with its noun in English: ``1 credit``, ``2,000 credits``; ``plural`` is an irregular plural.

    The screen has its own function for other languages (:meth:`egm.screen.text.Texts.format_count`).
    """
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def find_nearest_words(word: str, known_names: Iterable[str], words_max: int = 3) -> tuple[str, ...]:
    """Return the known names that a misspelled ``word`` probably means, best first.

    These words are similar to it or contain it.
    """
    known_names = [*known_names]
    similar_names = difflib.get_close_matches(word.lower(), known_names, words_max)
    return tuple(
        similar_names or [name for name in known_names if len(word) > 1 and word.lower() in name][:words_max]
    )


def format_known_names(word: str, known_names: Iterable[str]) -> str:
    """Return the hint for an unknown name: the known names, and those that were probably meant."""
    known_names = [*known_names]
    *other_words, last_word = find_nearest_words(word, known_names) or ("",)
    suggestion = (
        f"did you mean {', '.join(other_words) + ' or ' if other_words else ''}{last_word}?"
        if last_word
        else ""
    )
    if suggestion and len(known_names) > _LISTED_NAMES_MAX:
        return suggestion
    if not known_names:
        return "there are none"
    listed = f"there are: {', '.join(known_names)}"
    return f"{listed}; {suggestion}" if suggestion else listed


def describe_wrong_value(reason: str, value: object) -> str:
    """Return pydantic's ``reason`` why a value of a TOML file is wrong, with its terms replaced by TOML's.

    For a value of a wrong type or outside its range, the result states what it must be, and what it is.
    """
    if reason == "Field required":
        return "is missing"
    text = reason.removeprefix("Value error, ")
    for name, plain_name in _PLAIN_NAME_BY_TYPE_TEXT.items():
        text = text.replace(name, plain_name)
    text = _CLASS_ALTERNATIVE_PATTERN.sub("", text)
    if not text.startswith("Input should be"):
        return text
    shown_value = f", not {value!r}" if isinstance(value, str | int | float | bool) else ""
    return f"must be{text.removeprefix('Input should be')}{shown_value}"
