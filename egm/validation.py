"""Faults of messages from outside as one short line that can be shown, recorded and logged."""

from typing import Final

from pydantic import ValidationError

_WHERE_MAX: Final = 80
_WHAT_MAX: Final = 200
_QUOTED_BYTES_MAX: Final = 80


def first_fault(error: ValidationError, data: bytes, whole: str = "message") -> str:
    """Return where the first fault is, what it is, and how ``data`` begins; printable ASCII, bounded.

    ``whole``: what to name when the fault is in no single field.
    """
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or whole
    return f"{_shown(where, _WHERE_MAX)}: {_shown(first['msg'], _WHAT_MAX)} in {data[:_QUOTED_BYTES_MAX]!r}"


def _shown(text: str, length_max: int) -> str:
    return ascii(text[:length_max])[1:-1]
