"""Text of an error in a message received from outside: one short line to show, record and log."""

from typing import Final

from pydantic import ValidationError

#: Longest location in the text of an error, in characters.
_LOCATION_LENGTH_MAX: Final = 80
#: Longest message of an error, in characters.
_PROBLEM_LENGTH_MAX: Final = 200
#: The maximum number of bytes of the faulty message that the text of an error quotes.
_QUOTED_BYTES_MAX: Final = 80


def format_first_error(error: ValidationError, data: bytes, default_location: str = "message") -> str:
    """Return the location and text of the first error in a message, and the beginning of ``data``, the message.

    The result is printable ASCII of limited length. ``default_location`` is the location to name if the error does not
    belong to a single field.
    """
    first_error = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first_error["loc"]) or default_location
    location = _escape_text(where, _LOCATION_LENGTH_MAX)
    problem = _escape_text(first_error["msg"], _PROBLEM_LENGTH_MAX)
    return f"{location}: {problem} in {data[:_QUOTED_BYTES_MAX]!r}"


def _escape_text(text: str, length_max: int) -> str:
    """Return the beginning of a text, at most ``length_max`` characters, as printable ASCII with escapes."""
    return ascii(text[:length_max])[1:-1]
