"""Types of record fields that accept fewer values than their Python type: positive amounts, times, masked numbers.

Each is an ``Annotated`` type whose :class:`~egm.record_codec.FieldCondition` is checked when a record is read
(:mod:`egm.record_codec`). The codec sees one record alone, so it cannot check that a staff number belongs to a member
of staff, or that a serial number is this machine's; for all fields of these types, the audit does.
"""

import re
from datetime import datetime
from typing import Annotated, Final, TypeAlias

from egm.record_codec import FieldCondition

#: The form of a masked ticket number, which shows at most the last four digits.
_MASKED_TICKET_NUMBER_PATTERN: Final = re.compile(r"•*[0-9]{0,4}")
#: The form of a SHA-256 digest.
_SHA256_DIGEST_PATTERN: Final = re.compile(r"[0-9a-f]{64}")


def _is_time(value: str) -> bool:
    """Return whether the text is a date and time in ISO 8601."""
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _is_non_empty_and_distinct(values: tuple[str, ...]) -> bool:
    """Return whether there is at least one value, and no two values are equal."""
    return 0 < len(values) == len(set(values))


#: The condition that a number is an amount of money above zero.
POSITIVE_AMOUNT_CONDITION: Final = FieldCondition(
    "amount above zero, in minor units", "not above zero", lambda value: value > 0
)
#: The condition that a number is above zero.
POSITIVE_NUMBER_CONDITION: Final = FieldCondition(
    "number above zero", "not above zero", lambda value: value > 0
)
#: The condition that a number is zero or more.
NON_NEGATIVE_CONDITION: Final = FieldCondition("number, zero or more", "below zero", lambda value: value >= 0)
#: The condition that a text is not blank.
NON_BLANK_TEXT_CONDITION: Final = FieldCondition(
    "text, not blank", "blank", lambda value: bool(value.strip())
)
#: The condition that a text is a date and time in ISO 8601.
ISO_TIME_CONDITION: Final = FieldCondition("date and time, ISO 8601", "not a time in ISO 8601", _is_time)
#: The condition that a text is a SHA-256 digest.
SHA256_DIGEST_CONDITION: Final = FieldCondition(
    "SHA-256, hexadecimal",
    "not a SHA-256 in hexadecimal",
    lambda value: _SHA256_DIGEST_PATTERN.fullmatch(value) is not None,
)
#: The condition that a ticket number shows at most its last four digits (E-06).
MASKED_TICKET_NUMBER_CONDITION: Final = FieldCondition(
    "ticket number, at most the last four digits shown",
    "not a number that shows at most four of its digits",
    lambda value: _MASKED_TICKET_NUMBER_PATTERN.fullmatch(value) is not None,
)
# When a record is read, a value under the conditions below need only be present (a list: without repeats). The audit
# also looks it up, except for the name of a key switch.
#: The condition that a text is the staff number of a member of staff.
STAFF_NUMBER_CONDITION: Final = FieldCondition("staff number", "not a member of staff", bool)
#: The condition that a text names a member of staff, a key switch or a host.
ACTOR_ID_CONDITION: Final = FieldCondition(
    "staff number, key switch, or `host:` and a host's name",
    "neither a member of staff, nor a key switch, nor a host",
    bool,
)
#: The condition that a text is the name of a key switch.
KEY_SWITCH_NAME_CONDITION: Final = FieldCondition("name of a key switch", "blank", bool)
#: The condition that a list has the staff numbers of one or more different members of staff.
STAFF_NUMBERS_CONDITION: Final = FieldCondition(
    "list of different staff numbers",
    "not one or more different members of staff",
    _is_non_empty_and_distinct,
)
#: The condition that a text is the machine's own serial number.
MACHINE_SERIAL_NUMBER_CONDITION: Final = FieldCondition(
    "the machine's serial number", "not the machine's serial number", bool
)

#: An amount above zero, in minor units.
Cents: TypeAlias = Annotated[int, POSITIVE_AMOUNT_CONDITION]
#: An amount of zero or more, in minor units.
CentsOrZero: TypeAlias = Annotated[int, NON_NEGATIVE_CONDITION]
#: A whole number above zero that is not an amount of money.
PositiveNumber: TypeAlias = Annotated[int, POSITIVE_NUMBER_CONDITION]
#: A whole number, zero or more, such as a count or a number of credits.
Count: TypeAlias = Annotated[int, NON_NEGATIVE_CONDITION]
#: Text that is not empty or blank.
NonBlankText: TypeAlias = Annotated[str, NON_BLANK_TEXT_CONDITION]
#: A date and time in ISO 8601.
IsoTime: TypeAlias = Annotated[str, ISO_TIME_CONDITION]
#: A SHA-256 digest, in hexadecimal.
Sha256Digest: TypeAlias = Annotated[str, SHA256_DIGEST_CONDITION]
#: A ticket's masked number, which shows at most the last four digits (E-06).
MaskedTicketNumber: TypeAlias = Annotated[str, MASKED_TICKET_NUMBER_CONDITION]
#: The staff number of a person.
StaffNumber: TypeAlias = Annotated[str, STAFF_NUMBER_CONDITION]
#: Who acted: a staff number, the name of a key switch, or ``host:`` and a host's name.
ActorId: TypeAlias = Annotated[str, ACTOR_ID_CONDITION]
#: The name of a key switch, such as ``attendant``.
KeySwitchName: TypeAlias = Annotated[str, KEY_SWITCH_NAME_CONDITION]
#: The staff numbers of the persons who acted together, the person who started the action first.
StaffNumbers: TypeAlias = Annotated[tuple[str, ...], STAFF_NUMBERS_CONDITION]
#: The machine's own serial number.
MachineSerialNumber: TypeAlias = Annotated[str, MACHINE_SERIAL_NUMBER_CONDITION]
