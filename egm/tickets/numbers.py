"""Ticket numbers (validation numbers): 18 digits; the first two state who created the number.

* **Secure enhanced** (00): a machine's 24-bit validation identifier and sequence, scrambled by CRC. Typing
  errors are detected. The scrambling can be reversed: only the host's list of issued tickets protects against forgery.
* **System** (01 to 99): sixteen digits from a host, after its two-digit system ID.
* **Stand-alone** (91 to 95): there is no host and the machine keeps the list; twelve unpredictable digits
  between the type marker and a four-digit check code. A machine is enrolled with a host or stands alone,
  never both, so the overlap with system IDs causes no collision.

A number proves nothing by itself: only the ledger of issued tickets states what is owed.
"""

from collections.abc import Callable, Mapping
from typing import Final

from egm.devices.crc import compute_crc_kermit
from egm.tickets.errors import InvalidTicket
from egm.tickets.model import TICKET_NUMBER_DIGIT_COUNT, TicketKind

#: Exclusive upper bound of validation identifiers and sequences, which have 24 bits.
WORD_24_BIT_MODULUS: Final = 1 << 24

#: A stand-alone number with its check code has the remainder 1 modulo this prime, the largest below 10,000. Any one or
#: two wrong digits of the 18 change the remainder (the tests try all).
CHECK_CODE_MODULUS: Final = 9973
#: Digits of the check code.
_CHECK_DIGIT_COUNT: Final = 4
#: Unpredictable digits of a stand-alone number.
_RANDOM_DIGIT_COUNT: Final = TICKET_NUMBER_DIGIT_COUNT - 2 - _CHECK_DIGIT_COUNT

#: The type marker of each kind of ticket (H-04, MD .24C(3)): the first two digits of a stand-alone number.
TYPE_MARKER_BY_TICKET_KIND: Final[Mapping[TicketKind, int]] = {
    TicketKind.CASHABLE: 91,
    TicketKind.RESTRICTED: 92,
    TicketKind.NONRESTRICTED: 93,
    TicketKind.HANDPAY_RECEIPT: 94,
    TicketKind.JACKPOT_RECEIPT: 95,
}

#: ``draw_below(bound)`` returns a uniformly distributed integer from 0 to ``bound`` - 1.
DrawBelow = Callable[[int], int]


# ---------------------------------------------------------------- stand-alone
def create_stand_alone_number(kind: TicketKind, draw_below: DrawBelow) -> str:
    """Create a new unpredictable 18-digit validation number for a ticket of ``kind``."""
    type_marker_and_random_digits = TYPE_MARKER_BY_TICKET_KIND[kind] * 10**_RANDOM_DIGIT_COUNT + draw_below(
        10**_RANDOM_DIGIT_COUNT
    )
    number_without_check_code = type_marker_and_random_digits * 10**_CHECK_DIGIT_COUNT
    return str(number_without_check_code + (1 - number_without_check_code) % CHECK_CODE_MODULUS)


def is_stand_alone_number(ticket_number: str) -> bool:
    """Return whether the digits can be a stand-alone validation number, with a valid type marker and check code."""
    return (
        _has_number_length(ticket_number)
        and int(ticket_number[:2]) in TYPE_MARKER_BY_TICKET_KIND.values()
        and int(ticket_number) % CHECK_CODE_MODULUS == 1
    )


# ---------------------------------------------------------------- secure enhanced
def create_secure_enhanced_number(validation_id: int, sequence: int) -> str:
    """Return the secure enhanced validation number for a machine's ``validation_id`` and ``sequence``.

    Both are 24-bit numbers assigned by a SAS host; the caller has already incremented ``sequence`` for this ticket. The
    algorithm is the publicly known one; no published test vector of the SAS specification confirms it. Raises
    :class:`InvalidTicket` for a value out of range.
    """
    for name, value in (("validation id", validation_id), ("sequence", sequence)):
        if not 0 <= value < WORD_24_BIT_MODULUS:
            raise InvalidTicket(f"secure enhanced number: {name} {value} is not a 24-bit number")
    i0, i1, i2 = validation_id.to_bytes(3, "little")
    s0, s1, s2 = sequence.to_bytes(3, "little")
    pairs = ((s0, s1), (s2 ^ s0, i0 ^ s1), (i1 ^ s0, i2 ^ s1))
    scrambled_bytes = b"".join(compute_crc_kermit(bytes(pair)).to_bytes(2, "little") for pair in pairs)
    low_half, high_half = (
        int.from_bytes(scrambled_bytes[:3], "little"),
        int.from_bytes(scrambled_bytes[3:], "little"),
    )
    return "00" + _encode_half(high_half) + _encode_half(low_half)


def is_secure_enhanced_number(ticket_number: str) -> bool:
    """Return whether the digits can be a secure enhanced number: 00, then two halves with valid check digits."""
    return (
        _has_number_length(ticket_number)
        and ticket_number.startswith("00")
        and all(_has_valid_check_digit(half) for half in (ticket_number[2:10], ticket_number[10:]))
    )


def _encode_half(half_value: int) -> str:
    """Return half of a secure enhanced number: eight digits that encode a value below 2^24.

    The first digit of the value, 0 or 1, is replaced by a digit that also encodes the sum of all eight digits modulo 5.
    """
    digits = f"{half_value:08d}"
    check_value = sum(map(int, digits)) % 5
    return str(int(digits[0]) | check_value << 1) + digits[1:]


def _has_valid_check_digit(half_number: str) -> bool:
    """Return whether the first digit of half a secure enhanced number fits its other digits."""
    first_digit = int(
        half_number[0]
    )  # bit 0 is the value's own first digit, 0 or 1; the bits above are the check value
    return ((first_digit & 1) + sum(map(int, half_number[1:]))) % 5 == first_digit >> 1


# ---------------------------------------------------------------- system
def is_system_number(ticket_number: str) -> bool:
    """Return whether the text is 18 digits that do not start with 00, like a system number (a number from a host).

    The host checks the number itself.
    """
    return _has_number_length(ticket_number) and not ticket_number.startswith("00")


def is_host_number(ticket_number: str) -> bool:
    """Return whether the digits can be a validation number that a SAS host recognises.

    That is a system number, which the host creates, or a secure enhanced number, which a machine creates.
    """
    return is_system_number(ticket_number) or is_secure_enhanced_number(ticket_number)


def _has_number_length(ticket_number: str) -> bool:
    """Return whether the text has the form of a validation number: 18 digits."""
    return (
        len(ticket_number) == TICKET_NUMBER_DIGIT_COUNT
        and ticket_number.isascii()
        and ticket_number.isdigit()
    )
