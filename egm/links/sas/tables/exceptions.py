"""Every exception of SAS by code: three independent public lists agree on codes and meanings."""

from collections.abc import Mapping
from typing import Final

from egm.links.sas.definitions import ExceptionUrgency, SasExceptionDefinition, TableConfidence

#: The code with which a general poll is answered if there is no exception to report.
NO_EXCEPTION_CODE: Final = 0x00
#: The exception that reports an overflow of the exception queue.
QUEUE_OVERFLOW_EXCEPTION_CODE: Final = 0x70

_QUEUED = ExceptionUrgency.QUEUED
_PRIORITY = ExceptionUrgency.PRIORITY
_QUEUED_OR_PRIORITY = ExceptionUrgency.QUEUED_OR_PRIORITY
_REAL_TIME = ExceptionUrgency.REAL_TIME

#: Every exception: code, meaning, and how it waits.
_EXCEPTION_ROWS: Final[tuple[tuple[int, str, ExceptionUrgency], ...]] = (
    (0x00, "no activity", _QUEUED),
    (0x11, "slot door opened", _QUEUED),
    (0x12, "slot door closed", _QUEUED),
    (0x13, "drop door opened", _QUEUED),
    (0x14, "drop door closed", _QUEUED),
    (0x15, "card cage opened", _QUEUED),
    (0x16, "card cage closed", _QUEUED),
    (0x17, "AC power applied", _QUEUED),
    (0x18, "AC power lost", _QUEUED),
    (0x19, "cashbox door opened", _QUEUED),
    (0x1A, "cashbox door closed", _QUEUED),
    (0x1B, "cashbox removed", _QUEUED),
    (0x1C, "cashbox installed", _QUEUED),
    (0x1D, "belly door opened", _QUEUED),
    (0x1E, "belly door closed", _QUEUED),
    (0x20, "general tilt", _QUEUED),
    (0x21, "coin-in tilt", _QUEUED),
    (0x22, "coin-out tilt", _QUEUED),
    (0x23, "hopper empty", _QUEUED),
    (0x24, "extra coin paid", _QUEUED),
    (0x25, "diverter malfunction", _QUEUED),
    (0x27, "cashbox full", _QUEUED),
    (0x28, "bill jam", _QUEUED),
    (0x29, "bill acceptor hardware failure", _QUEUED),
    (0x2A, "reverse bill", _QUEUED),
    (0x2B, "bill rejected", _QUEUED),
    (0x2C, "counterfeit bill", _QUEUED),
    (0x2D, "reverse coin in", _QUEUED),
    (0x2E, "cashbox near full", _QUEUED),
    (0x31, "memory error, data recovered", _QUEUED),
    (0x32, "memory error, data not recovered", _QUEUED),
    (0x33, "memory error, bad device", _QUEUED),
    (0x34, "EEPROM data error", _QUEUED),
    (0x35, "EEPROM bad device", _QUEUED),
    (0x36, "program version changed", _QUEUED),
    (0x37, "program checksum bad", _QUEUED),
    (0x38, "partitioned program version changed", _QUEUED),
    (0x39, "partitioned program checksum bad", _QUEUED),
    (0x3A, "memory error reset by self-test switch", _QUEUED),
    (0x3B, "low backup battery", _QUEUED),
    (0x3C, "operator changed options", _QUEUED),
    (0x3D, "cash-out ticket printed", _QUEUED_OR_PRIORITY),
    (0x3E, "hand-pay validated", _QUEUED_OR_PRIORITY),
    (0x3F, "validation ID not configured", _PRIORITY),
    (0x40, "reel tilt, unspecified", _QUEUED),
    (0x41, "reel 1 tilt", _QUEUED),
    (0x42, "reel 2 tilt", _QUEUED),
    (0x43, "reel 3 tilt", _QUEUED),
    (0x44, "reel 4 tilt", _QUEUED),
    (0x45, "reel 5 tilt", _QUEUED),
    (0x46, "reel mechanism disconnected", _QUEUED),
    (0x47, "$1 bill accepted", _QUEUED),
    (0x48, "$5 bill accepted", _QUEUED),
    (0x49, "$10 bill accepted", _QUEUED),
    (0x4A, "$20 bill accepted", _QUEUED),
    (0x4B, "$50 bill accepted", _QUEUED),
    (0x4C, "$100 bill accepted", _QUEUED),
    (0x4D, "$2 bill accepted", _QUEUED),
    (0x4E, "$500 bill accepted", _QUEUED),
    (0x4F, "bill accepted", _QUEUED),
    (0x50, "$200 bill accepted", _QUEUED),
    (0x51, "hand-pay pending", _QUEUED_OR_PRIORITY),
    (0x52, "hand-pay reset", _QUEUED_OR_PRIORITY),
    (0x53, "no progressive information for 5 seconds", _QUEUED),
    (0x54, "progressive win", _QUEUED),
    (0x55, "player cancelled hand-pay request", _QUEUED_OR_PRIORITY),
    (0x56, "SAS progressive level hit", _PRIORITY),
    (0x57, "system validation request", _PRIORITY),
    (0x60, "printer communication error", _QUEUED),
    (0x61, "printer paper out", _QUEUED),
    (0x66, "cash-out button pressed", _QUEUED),
    (0x67, "ticket inserted", _PRIORITY),
    (0x68, "ticket transfer complete", _PRIORITY),
    (0x69, "AFT transfer complete", _PRIORITY),
    (0x6A, "AFT request for host cash-out", _PRIORITY),
    (0x6B, "AFT request for host to cash out win", _PRIORITY),
    (0x6C, "AFT request to register", _PRIORITY),
    (0x6D, "AFT registration acknowledged", _PRIORITY),
    (0x6E, "AFT registration cancelled", _QUEUED),
    (0x6F, "game locked", _PRIORITY),
    (0x70, "exception buffer overflow", _PRIORITY),
    (0x71, "change lamp on", _QUEUED),
    (0x72, "change lamp off", _QUEUED),
    (0x74, "printer paper low", _QUEUED),
    (0x75, "printer power off", _QUEUED),
    (0x76, "printer power on", _QUEUED),
    (0x77, "replace printer ribbon", _QUEUED),
    (0x78, "printer carriage jammed", _QUEUED),
    (0x79, "coin-in lockout malfunction", _QUEUED),
    (0x7A, "soft meters reset to zero", _QUEUED),
    (0x7B, "bill validator period totals reset", _QUEUED),
    (0x7C, "legacy bonus awarded or multiplied jackpot", _QUEUED),
    (0x7E, "game started", _QUEUED),
    (0x7F, "game ended", _QUEUED),
    (0x80, "hopper full", _QUEUED),
    (0x81, "hopper low", _QUEUED),
    (0x82, "attendant menu entered", _QUEUED),
    (0x83, "attendant menu exited", _QUEUED),
    (0x84, "operator menu entered", _QUEUED),
    (0x85, "operator menu exited", _QUEUED),
    (0x86, "out of service", _QUEUED),
    (0x87, "player requested draw", _REAL_TIME),
    (0x88, "reel stopped", _REAL_TIME),
    (0x89, "credit wagered", _REAL_TIME),
    (0x8A, "game recall displayed", _QUEUED),
    (0x8B, "card held or not held", _REAL_TIME),
    (0x8C, "game selected", _QUEUED),
    (0x8E, "component list changed", _QUEUED),
    (0x8F, "authentication complete", _PRIORITY),
    (0x98, "power-off access to card cage", _QUEUED),
    (0x99, "power-off access to slot door", _QUEUED),
    (0x9A, "power-off access to cashbox door", _QUEUED),
    (0x9B, "power-off access to drop door", _QUEUED),
)

#: The smallest set a regulator publishes for machines on its network (Montana, video gambling).
_REGULATOR_MINIMUM_EXCEPTION_CODES: Final = frozenset(
    bytes.fromhex(
        "00 11 12 13 14 15 16 17 18 19 1A 1B 1C 1D 1E 27 28 29 2B 3C 3D 3E 3F 47 48 49 4A 60 61 70 7A 86 8C"
    )
)

#: Every exception of SAS, by code.
EXCEPTION_DEFINITION_BY_CODE: Final[Mapping[int, SasExceptionDefinition]] = {
    code: SasExceptionDefinition(
        code,
        name,
        urgency,
        TableConfidence.TWO_SOURCES,
        is_in_regulator_minimum=code in _REGULATOR_MINIMUM_EXCEPTION_CODES,
    )
    for code, name, urgency in _EXCEPTION_ROWS
}
