"""Typed access to the fields of untrusted JSON.

The functions that read a field raise a ValueError. It names the field with its value and what was expected, or says
that the field is missing or that the value around it is not a JSON object.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

#: Characters of a wrong value that are shown.
_SHOWN_CHARACTERS_MAX: Final = 80
#: Exclusive upper bound of sequence numbers, which SQLite stores as signed 64-bit integers.
_SEQUENCE_LIMIT: Final = 1 << 63


def read_field(raw: object, field_name: str) -> object:
    """Return the named field of a JSON object. Raises ``ValueError`` if none exists."""
    if not isinstance(raw, Mapping):
        raise ValueError("it is not a JSON object")  # noqa: TRY004 (a wrong file content, not a wrong argument)
    if field_name not in raw:
        raise ValueError(f"{field_name} is missing")
    value: object = raw[field_name]
    return value


def build_field_error(raw: object, field_name: str, expected: str) -> ValueError:
    """Return the error for the field ``field_name`` of a JSON object that has a wrong value.

    ``expected`` says, as text, which value is expected.
    """
    shown_value = repr(read_field(raw, field_name))
    if len(shown_value) > _SHOWN_CHARACTERS_MAX:
        shown_value = f"{shown_value[:_SHOWN_CHARACTERS_MAX]}..."
    return ValueError(f"{field_name} is {shown_value}, not {expected}")


def read_hex_field(raw: object, field_name: str) -> bytes:
    """Return the bytes in a JSON object's field of lower-case hexadecimal. Raises ``ValueError``."""
    text = read_field(raw, field_name)
    try:
        data = bytes.fromhex(text) if isinstance(text, str) else None
    except ValueError:
        data = None
    if data is None or data.hex() != text:
        raise build_field_error(raw, field_name, "lower-case hexadecimal")
    return data


def read_entry_number_field(raw: object, field_name: str) -> int:
    """Return a JSON object's field that is a journal entry number; 0 stands for the start, before the first entry.

    Raises ``ValueError`` for any other value.
    """
    value = read_field(raw, field_name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < _SEQUENCE_LIMIT:
        raise build_field_error(raw, field_name, "the number of an entry")
    return value


def read_time_field(raw: object, field_name: str) -> datetime:
    """Return a JSON object's field that is an ISO 8601 time with offset. Raises ``ValueError``."""
    text = read_field(raw, field_name)
    try:
        time = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        raise build_field_error(raw, field_name, "a time with its offset")
    return time
