"""Exact numbers as text, such as ``"7/200"``, used in definitions, messages and records instead of floats."""

import re
from fractions import Fraction
from typing import Annotated, Final

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

#: The form of an exact amount: an integer, or a fraction of at most 2,000 digits each.
_RATIONAL_PATTERN: Final = re.compile(r"-?\d{1,2000}(/[1-9]\d{0,1999})?", re.ASCII)
#: Maximum length of the text quoted in the error message.
_QUOTED_LENGTH_MAX: Final = 80


def parse_rational(text: object) -> Fraction:
    """Return the fraction that a text such as ``"7"`` or ``"7/200"`` states.

    Raises ValueError for anything else, floats included.
    """
    if isinstance(text, Fraction):
        return text
    if not isinstance(text, str) or not _RATIONAL_PATTERN.fullmatch(text):
        quoted = repr(text)[:_QUOTED_LENGTH_MAX]
        raise ValueError(f'{quoted} is not an exact number in quotes: write "7" or "7/200"')
    return Fraction(text)


#: An exact fraction that is serialised as text, such as ``"7/200"``.
Rational = Annotated[
    Fraction,
    BeforeValidator(parse_rational),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string", "pattern": r"^-?\d+(/[1-9]\d*)?$"}),
]
