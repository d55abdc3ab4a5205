"""Validation numbers: 18 digits, the first two saying who made the number.

* **Secure enhanced** (00): a machine's 24-bit validation identifier and sequence, scrambled by CRC. Typing
  errors are seen; it is reversible, so its security is the host's list of issued tickets.
* **System** (01 to 99): sixteen digits from a host, after its system number.
* **Stand-alone** (91 to 95): there is no host and the list is the machine's own; twelve unpredictable digits
  between the kind's mark and a four-digit check code. A machine is enrolled with a host or stands alone,
  never both, so the overlap with system numbers cannot meet.

A number proves nothing by itself: only the ledger of issued tickets says what is owed.
"""

from collections.abc import Callable, Mapping
from typing import Final

from egm.devices.crc import kermit
from egm.tickets.errors import InvalidTicket
from egm.tickets.model import DIGITS, TicketKind

WORD_24: Final = 1 << 24
"""Validation identifiers and sequences are below this."""

#: The check code makes a stand-alone number = 1 modulo this prime: the largest below 10,000, and one for
#: which no one or two wrong digits, anywhere among the 18, leave the remainder as it was (the tests try all).
MODULUS: Final = 9973
_CHECK_DIGITS: Final = 4
_FREE_DIGITS: Final = DIGITS - 2 - _CHECK_DIGITS

#: The type marker (H-04, MD .24C(3)): the first two digits of a stand-alone number.
MARKS: Final[Mapping[TicketKind, int]] = {
    TicketKind.CASHABLE: 91,
    TicketKind.RESTRICTED: 92,
    TicketKind.NONRESTRICTED: 93,
    TicketKind.HANDPAY_RECEIPT: 94,
    TicketKind.JACKPOT_RECEIPT: 95,
}

#: ``below(n)`` gives a whole number from 0 up to, not including, n, each as likely as the others.
Below = Callable[[int], int]


# ---------------------------------------------------------------- stand-alone
def stand_alone(kind: TicketKind, below: Below) -> str:
    """Make a new unpredictable number for a ticket of ``kind``."""
    head = MARKS[kind] * 10**_FREE_DIGITS + below(10**_FREE_DIGITS)
    shifted = head * 10**_CHECK_DIGITS
    return str(shifted + (1 - shifted) % MODULUS)


def is_stand_alone(number: str) -> bool:
    """Whether the digits can be a stand-alone number: a kind's mark, and a check code that holds."""
    return _is_number(number) and int(number[:2]) in MARKS.values() and int(number) % MODULUS == 1


# ---------------------------------------------------------------- secure enhanced
def secure_enhanced(validation_id: int, sequence: int) -> str:
    """Make the number of ``sequence`` (already incremented) for a machine's ``validation_id``.

    Both are 24-bit. The definition is the publicly known one; no published vector of the SAS specification
    proves it. Raises :class:`InvalidTicket` for a value out of range.
    """
    for name, value in (("validation id", validation_id), ("sequence", sequence)):
        if not 0 <= value < WORD_24:
            raise InvalidTicket(f"secure enhanced number: {name} {value} is not a 24-bit number")
    i0, i1, i2 = validation_id.to_bytes(3, "little")
    s0, s1, s2 = sequence.to_bytes(3, "little")
    pairs = ((s0, s1), (s2 ^ s0, i0 ^ s1), (i1 ^ s0, i2 ^ s1))
    code = b"".join(kermit(bytes(pair)).to_bytes(2, "little") for pair in pairs)
    low, high = int.from_bytes(code[:3], "little"), int.from_bytes(code[3:], "little")
    return "00" + _half(high) + _half(low)


def is_secure_enhanced(number: str) -> bool:
    """Whether the digits can be a secure enhanced number: 00, and both halves with their check."""
    return (
        _is_number(number)
        and number.startswith("00")
        and all(_half_holds(half) for half in (number[2:10], number[10:]))
    )


def _half(value: int) -> str:
    """Eight digits below 2^24 (so the first is 0 or 1), the first carrying the others' sum modulo 5."""
    digits = f"{value:08d}"
    check = sum(map(int, digits)) % 5
    return str(int(digits[0]) | check << 1) + digits[1:]


def _half_holds(half: str) -> bool:
    first = int(half[0])
    return ((first & 1) + sum(map(int, half[1:]))) % 5 == first >> 1


# ---------------------------------------------------------------- system
def system(system_id: int, number: str) -> str:
    """Put a host's sixteen digits behind its system number (1 to 99). Raises :class:`InvalidTicket`."""
    if not 1 <= system_id <= 99 or len(number) != DIGITS - 2:
        raise InvalidTicket(f"host's number: system {system_id} and {len(number)} digits; 1-99 and 16 wanted")
    full = f"{system_id:02d}{number}"
    if not _is_number(full):
        raise InvalidTicket("host's number: not all digits")
    return full


def is_system(number: str) -> bool:
    """Whether the digits can be a host's number. A host's sixteen digits carry no check of ours."""
    return _is_number(number) and not number.startswith("00")


def is_hosts(number: str) -> bool:
    """Whether the digits can be a number that a host vouches for: its own, or a machine's made for it."""
    return is_system(number) or is_secure_enhanced(number)


def _is_number(number: str) -> bool:
    return len(number) == DIGITS and number.isascii() and number.isdigit()
