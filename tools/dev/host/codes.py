"""Meter sizes, denominations and bills by their codes, as this host reads the tables."""

from collections.abc import Mapping
from typing import Final

#: Codes of 2F, 6F and AF that name no meter (1.9).
_RESERVED_METER_CODES: Final = (range(0x3A, 0x3E), range(0x79, 0x7F), range(0x94, 0xA0), range(0xB2, 0xB8))
#: Codes of ticket, hand-pay and transfer values in cents.
_METER_CODES_IN_CENTS: Final = (range(0x0D, 0x11), range(0x80, 0x94, 2), range(0xA0, 0xBE, 2))

#: The size of each meter's value in BCD bytes, by the meter's code in poll 2F.
METER_SIZE_BYTES_BY_CODE: Final[Mapping[int, int]] = {
    code: 5 if any(code in codes for codes in _METER_CODES_IN_CENTS) else 4
    for code in range(0xBE)
    if not any(code in codes for codes in _RESERVED_METER_CODES)
}

#: The value of each denomination in currency units, by its code (1.11).
DENOMINATION_BY_CODE: Final[Mapping[int, str]] = dict(enumerate([
    "none", "0.01", "0.05", "0.10", "0.25", "0.50", "1", "5", "10", "20", "100", "0.20", "2", "2.50",
    "25", "50", "200", "250", "500", "1000", "2000", "2500", "5000", "0.02", "0.03", "0.15", "0.40",
    "0.005", "0.0025", "0.002", "0.001", "0.0005",
]))  # fmt: skip

#: The value of each bill in currency units, by its code, which is also its bit in poll 08 (1.12).
BILL_MAJOR_UNITS_BY_CODE: Final[Mapping[int, str]] = dict(enumerate([
    "1", "2", "5", "10", "20", "25", "50", "100", "200", "250", "500", "1000", "2000", "2500", "5000",
    "10000", "20000", "25000", "50000", "100000", "200000", "250000", "500000", "1000000",
]))  # fmt: skip

#: The bill code whose count a poll returns, by the poll's code (1.12).
BILL_CODE_BY_POLL: Final[Mapping[int, int]] = {
    0x31: 0, 0x32: 1, 0x33: 2, 0x34: 3, 0x35: 4, 0x36: 6, 0x37: 7, 0x38: 10, 0x39: 11, 0x3A: 8, 0x3B: 5,
    0x3C: 12, 0x3E: 13, 0x3F: 14, 0x40: 15, 0x41: 16, 0x42: 17, 0x43: 18, 0x44: 19, 0x45: 9,
}  # fmt: skip

TOURNAMENT_METER_NAMES: Final = ("games played", "games won", "credits wagered", "credits won")
