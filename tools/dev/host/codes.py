"""Meanings of coded field values in the tables of the protocol. Names only: no message layout is here."""

from collections.abc import Mapping
from typing import Final

#: Codes of 2F, 6F and AF that name no meter (1.9).
_RESERVED: Final = (range(0x3A, 0x3E), range(0x79, 0x7F), range(0x94, 0xA0), range(0xB2, 0xB8))
#: Ticket, hand-pay and transfer values in cents: the even codes of these ranges, and the first four of all.
_CENTS: Final = (range(0x0D, 0x11), range(0x80, 0x94, 2), range(0xA0, 0xBE, 2))

METER_SIZES: Final[Mapping[int, int]] = {
    code: 5 if any(code in codes for codes in _CENTS) else 4
    for code in range(0xBE)
    if not any(code in codes for codes in _RESERVED)
}
"""Meter code of poll 2F -> size of its value in BCD bytes."""

DENOMINATIONS: Final[Mapping[int, str]] = dict(enumerate([
    "none", "0.01", "0.05", "0.10", "0.25", "0.50", "1", "5", "10", "20", "100", "0.20", "2", "2.50",
    "25", "50", "200", "250", "500", "1000", "2000", "2500", "5000", "0.02", "0.03", "0.15", "0.40",
    "0.005", "0.0025", "0.002", "0.001", "0.0005",
]))  # fmt: skip
"""Denomination code -> value in currency units (1.11)."""

BILLS: Final[Mapping[int, str]] = dict(enumerate([
    "1", "2", "5", "10", "20", "25", "50", "100", "200", "250", "500", "1000", "2000", "2500", "5000",
    "10000", "20000", "25000", "50000", "100000", "200000", "250000", "500000", "1000000",
]))  # fmt: skip
"""Bill code, which is also its bit in poll 08 -> value in currency units (1.12)."""

BILL_POLLS: Final[Mapping[int, int]] = {
    0x31: 0, 0x32: 1, 0x33: 2, 0x34: 3, 0x35: 4, 0x36: 6, 0x37: 7, 0x38: 10, 0x39: 11, 0x3A: 8, 0x3B: 5,
    0x3C: 12, 0x3E: 13, 0x3F: 14, 0x40: 15, 0x41: 16, 0x42: 17, 0x43: 18, 0x44: 19, 0x45: 9,
}  # fmt: skip
"""Poll for the count of one bill -> bill code (1.12)."""

COUNTRIES: Final[Mapping[int, str]] = dict(enumerate([
    "unknown", "Argentina", "Australia", "Austria", "Belgium", "Brazil", "Bulgaria", "Canada",
    "Colombia", "Cyprus", "Czechia", "Denmark", "Finland", "France", "Germany", "Britain", "Gibraltar",
    "Greece", "Guernsey", "Hungary", "Ireland", "Italy", "Jersey", "Luxembourg", "Malta", "Mexico",
    "Morocco", "Norway", "Poland", "Portugal", "Romania", "Russia", "Spain", "South Africa", "Sweden",
    "Switzerland", "Turkey", "USA", "Netherlands", "Euro",
]))  # fmt: skip

HOPPER_STATUS: Final[Mapping[int, str]] = {0: "ok", 0xFF: "maximum time exceeded"}
RESET: Final[Mapping[int, str]] = {0: "reset", 1: "unable to reset", 2: "not in a hand-pay"}
RESET_METHOD: Final[Mapping[int, str]] = {0: "enabled", 1: "unable", 2: "no hand-pay"}
TAX: Final[Mapping[int, str]] = {0: "deductible", 1: "non-deductible", 2: "wager match"}
HANDPAY_LEVELS: Final[Mapping[int, str]] = {
    0: "ordinary win",
    **{level: f"progressive level {level}" for level in range(1, 0x21)},
    0x40: "non-progressive top award",
    0x80: "cancelled credits",
}
TOURNAMENT: Final = ("games played", "games won", "credits wagered", "credits won")

FEATURES_1: Final[Mapping[int, str]] = {
    0: "jackpot multiplier",
    1: "AFT bonus",
    2: "legacy bonus",
    3: "tournament",
    4: "validation extensions",
    5: "system validation",
    6: "secure enhanced validation",
    7: "ticket redemption",
}
FEATURES_2: Final[Mapping[int, str]] = {
    0: "won credits metered when won",
    1: "won credits metered when played or paid",
    2: "tickets in drop and cancelled credits",
    3: "extended meters",
    4: "component authentication",
    6: "AFT",
    7: "multi-denomination",
}
FEATURES_3: Final[Mapping[int, str]] = {0: "polling at 40 ms", 1: "several SAS progressive wins"}

RECORDS: Final[Mapping[int, str]] = {
    0: "next, mark read",
    **{index: f"record {index}" for index in range(1, 0x20)},
    0xFF: "peek",
}
VALIDATIONS: Final[Mapping[int, str]] = {
    0x00: "cashable ticket",
    0x01: "restricted ticket",
    0x02: "AFT cashable ticket",
    0x03: "AFT restricted ticket",
    0x04: "AFT debit ticket",
    0x10: "cancelled-credit hand-pay with receipt",
    0x20: "jackpot hand-pay with receipt",
    0x40: "cancelled-credit hand-pay without receipt",
    0x60: "jackpot hand-pay without receipt",
    0x80: "redeemed cashable ticket",
    0x81: "redeemed restricted ticket",
    0x82: "redeemed nonrestricted ticket",
}
CASHOUTS: Final[Mapping[int, str]] = {0: "cashable", 1: "restricted", 0x80: "not waiting"}
NUMBER_TAKEN: Final[Mapping[int, str]] = {0: "taken", 0x80: "not in cash-out", 0x81: "improper"}
ESCROW: Final[Mapping[int, str]] = {0: "ticket in escrow", 0xFF: "no ticket"}
VALIDATION_BITS: Final[Mapping[int, str]] = {
    0: "printer as cash-out device",
    1: "printer for hand-pay receipts",
    2: "validate hand-pays",
    3: "print restricted tickets",
    4: "foreign restricted tickets",
    5: "ticket redemption",
    15: "secure enhanced",
}
REDEEM_CODES: Final[Mapping[int, str]] = {
    0x00: "valid cashable",
    0x01: "valid restricted",
    0x02: "valid nonrestricted",
    0x80: "unable to validate",
    0x81: "bad number",
    0x82: "not in system",
    0x83: "pending elsewhere",
    0x84: "already redeemed",
    0x85: "expired",
    0x86: "information not available",
    0x87: "amount mismatch",
    0x88: "over automatic limit",
    0xFF: "status request",
}
REDEEM_STATUS: Final[Mapping[int, str]] = {
    0x00: "redeemed, cashable",
    0x01: "redeemed, restricted",
    0x02: "redeemed, nonrestricted",
    0x20: "waiting for the host",
    0x40: "pending",
    0x80: "rejected by host",
    0x81: "number mismatch",
    0x82: "bad function",
    0x83: "bad amount",
    0x84: "over credit limit",
    0x85: "not a multiple of the denomination",
    0x86: "amount mismatch",
    0x87: "cannot accept now",
    0x88: "timed out",
    0x89: "link down",
    0x8A: "redemption disabled",
    0x8B: "validator failure",
    0xC0: "not compatible with the cycle",
    0xFF: "no information",
}

TRANSFER_CODES: Final[Mapping[int, str]] = {
    0x00: "full only",
    0x01: "partial allowed",
    0x80: "cancel",
    0xFE: "interrogate",
    0xFF: "interrogate and close",
}
TRANSFER_TYPES: Final[Mapping[int, str]] = {
    0x00: "in-house, host to machine",
    0x10: "bonus coin-out win",
    0x11: "bonus jackpot win",
    0x20: "in-house to ticket",
    0x40: "debit to machine",
    0x60: "debit to ticket",
    0x80: "in-house, machine to host",
    0x90: "win to host",
}
TRANSFER_FLAGS: Final[Mapping[int, str]] = {
    0: "set host cash-out enable",
    1: "host cash-out enable",
    2: "host cash-out hard mode",
    3: "cash-out requested",
    4: "lock after transfer",
    5: "custom ticket data",
    6: "only if locked",
    7: "receipt",
}
TRANSFER_STATUS: Final[Mapping[int, str]] = {
    0x00: "full transfer done",
    0x01: "partial transfer done",
    0x40: "pending",
    0x80: "cancelled by host",
    0x81: "transaction ID not unique",
    0x82: "bad function",
    0x83: "bad amount or expiration",
    0x84: "over limit",
    0x85: "not a multiple of the denomination",
    0x86: "no partial transfer",
    0x87: "not now",
    0x88: "not registered",
    0x89: "key mismatch",
    0x8A: "no POS ID",
    0x8B: "no won credits",
    0x8C: "no denomination",
    0x8D: "expired",
    0x8E: "ticket device unavailable",
    0x8F: "another restricted pool",
    0x90: "no receipt printer",
    0x91: "receipt data missing",
    0x92: "receipt not allowed",
    0x93: "asset number zero or mismatch",
    0x94: "not locked",
    0x95: "transaction ID invalid",
    0x9F: "unexpected error",
    0xC0: "incompatible with the current transfer",
    0xC1: "unsupported transfer code",
    0xFF: "none",
}
RECEIPT_STATUS: Final[Mapping[int, str]] = {0: "printed", 0x20: "printing", 0x40: "pending", 0xFF: "none"}
REGISTER_CODES: Final[Mapping[int, str]] = {
    0x00: "initialise",
    0x01: "register",
    0x40: "request operator acknowledgement",
    0x80: "unregister",
    0xFF: "read",
}
REGISTRATION_STATUS: Final[Mapping[int, str]] = {
    0x00: "ready",
    0x01: "registered",
    0x40: "pending",
    0x80: "not registered",
}
LOCK_CODES: Final[Mapping[int, str]] = {0x00: "request lock", 0x80: "cancel lock", 0xFF: "read"}
LOCK_STATUS: Final[Mapping[int, str]] = {0x00: "locked", 0x40: "lock pending", 0xFF: "not locked"}
AVAILABLE_TRANSFERS: Final[Mapping[int, str]] = {
    0: "to machine",
    1: "from machine",
    2: "to printer",
    3: "win pending cash-out to host",
    4: "bonus to machine",
}
AFT_STATUS: Final[Mapping[int, str]] = {
    0: "printer for receipts",
    1: "partial to host",
    2: "custom ticket data",
    3: "registered",
    4: "in-house enabled",
    5: "bonus enabled",
    6: "debit enabled",
}
