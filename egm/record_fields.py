"""Types of record fields that accept fewer values than their Python type: positive amounts, times, masked numbers.

Each is an ``Annotated`` type whose :class:`~egm.record_codec.FieldCondition` is checked when a record is read
(:mod:`egm.record_codec`). From a record alone it cannot be checked whether a staff number belongs to a member of
staff, or whether a serial number is the machine's. The audit checks this for all fields of such a type.
"""

import re
from datetime import datetime
from typing import Annotated, Final, TypeAlias

from egm.record_codec import FieldCondition

#: The form of a ticket number of which at most the last four digits are shown.
_MASKED_PATTERN: Final = re.compile(r"•*[0-9]{0,4}")
#: The form of a SHA-256 digest.
_DIGEST_PATTERN: Final = re.compile(r"[0-9a-f]{64}")


def _is_time(value: str) -> bool:
    """Return whether the text is a date and time in ISO 8601."""
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _are_different(values: tuple[str, ...]) -> bool:
    """Return whether there is at least one value, and no two values are equal."""
    return 0 < len(values) == len(set(values))


#: The condition that a number is an amount of money above zero.
AMOUNT: Final = FieldCondition("amount above zero, in minor units", "not above zero", lambda value: value > 0)
#: The condition that a number is above zero.
POSITIVE: Final = FieldCondition("number above zero", "not above zero", lambda value: value > 0)
#: The condition that a number is zero or more.
COUNT: Final = FieldCondition("number, zero or more", "below zero", lambda value: value >= 0)
#: The condition that a text is not blank.
NON_BLANK: Final = FieldCondition("text, not blank", "blank", lambda value: bool(value.strip()))
#: The condition that a text is a date and time in ISO 8601.
TIME: Final = FieldCondition("date and time, ISO 8601", "not a time in ISO 8601", _is_time)
#: The condition that a text is a SHA-256 digest.
DIGEST: Final = FieldCondition(
    "SHA-256, hexadecimal",
    "not a SHA-256 in hexadecimal",
    lambda value: _DIGEST_PATTERN.fullmatch(value) is not None,
)
#: The condition that a ticket number shows at most its last four digits (E-06).
MASKED: Final = FieldCondition(
    "ticket number, at most the last four digits shown",
    "not a number of which at most four digits are shown",
    lambda value: _MASKED_PATTERN.fullmatch(value) is not None,
)
STAFF: Final = FieldCondition("staff number", "not a member of staff", bool)
PERSON: Final = FieldCondition(
    "staff number, key switch, or `host:` and a host's name",
    "neither a member of staff, nor a key switch, nor a host",
    bool,
)
KEY_SWITCH: Final = FieldCondition("name of a key switch", "blank", bool)
PERSONS: Final = FieldCondition(
    "list of different staff numbers", "not one or more different members of staff", _are_different
)
SERIAL: Final = FieldCondition("the machine's serial number", "not the machine's serial number", bool)

Cents: TypeAlias = Annotated[int, AMOUNT]
"""An amount above zero, in minor units."""
Positive: TypeAlias = Annotated[int, POSITIVE]
"""A whole number above zero that is not an amount of money."""
Count: TypeAlias = Annotated[int, COUNT]
"""A whole number, zero or more."""
NonBlankText: TypeAlias = Annotated[str, NON_BLANK]
"""Text that is not empty or blank."""
Time: TypeAlias = Annotated[str, TIME]
"""A date and time in ISO 8601."""
Digest: TypeAlias = Annotated[str, DIGEST]
"""A SHA-256 digest, in hexadecimal."""
Masked: TypeAlias = Annotated[str, MASKED]
"""A ticket's number of which at most the last four digits are shown (E-06)."""
Staff: TypeAlias = Annotated[str, STAFF]
"""The staff number of a person."""
Person: TypeAlias = Annotated[str, PERSON]
"""Who acted: a staff number, the name of a key switch, or ``host:`` and a host's name."""
KeySwitch: TypeAlias = Annotated[str, KEY_SWITCH]
"""The name of a key switch, such as ``attendant``."""
Persons: TypeAlias = Annotated[tuple[str, ...], PERSONS]
"""The staff numbers of the persons who acted together, the person who started the action first."""
Serial: TypeAlias = Annotated[str, SERIAL]
"""The machine's own serial number."""
