"""Fields of JSON that somebody handed over: each is what is due, or is named with what it is.

Every function raises ValueError that says the field, what stands there and what should.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

#: The characters of a wrong value that are shown.
_SHOWN: Final = 80
#: Places in a journal are numbered in 64 bits.
_PLACES: Final = 1 << 63


def field(raw: object, name: str) -> object:
    """The field of a JSON object."""
    if not isinstance(raw, Mapping):
        raise ValueError("it is no JSON object")  # noqa: TRY004 (of a file, no argument)
    if name not in raw:
        raise ValueError(f"{name} is missing")
    value: object = raw[name]
    return value


def wrong(raw: object, name: str, due: str) -> ValueError:
    """What to say of a field that is something else than is due."""
    shown = repr(field(raw, name))
    return ValueError(f"{name} is {shown if len(shown) <= _SHOWN else f'{shown[:_SHOWN]}...'}, not {due}")


def hexadecimal(raw: object, name: str) -> bytes:
    """The bytes of a field in lower-case hexadecimal."""
    text = field(raw, name)
    try:
        data = bytes.fromhex(text) if isinstance(text, str) else None
    except ValueError:
        data = None
    if data is None or data.hex() != text:
        raise wrong(raw, name, "lower-case hexadecimal")
    return data


def place(raw: object, name: str) -> int:
    """The number of an entry, or 0."""
    value = field(raw, name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < _PLACES:
        raise wrong(raw, name, "the number of an entry")
    return value


def moment(raw: object, name: str) -> datetime:
    """A time with its offset, ISO 8601."""
    text = field(raw, name)
    try:
        found = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise wrong(raw, name, "a time with its offset")
    return found
