"""Every exception of SAS by code: three independent public lists agree on codes and meanings."""

from collections.abc import Mapping
from typing import Final

from egm.links.sas.names import ExceptionUrgency, SasExceptionDefinition, TableConfidence

#: The code with which a general poll is answered if there is no exception to report.
NO_EXCEPTION_CODE: Final = 0x00
#: The exception that reports an overflow of the exception queue.
QUEUE_OVERFLOW_EXCEPTION_CODE: Final = 0x70

_Q = ExceptionUrgency.QUEUED
_P = ExceptionUrgency.PRIORITY
_E = ExceptionUrgency.QUEUED_OR_PRIORITY
_T = ExceptionUrgency.REAL_TIME

#: Every exception: code, meaning, and how it waits.
_EXCEPTION_ROWS: Final[tuple[tuple[int, str, ExceptionUrgency], ...]] = (
    (0x00, "no activity", _Q),
    (0x11, "slot door opened", _Q),
    (0x12, "slot door closed", _Q),
    (0x13, "drop door opened", _Q),
    (0x14, "drop door closed", _Q),
    (0x15, "card cage opened", _Q),
    (0x16, "card cage closed", _Q),
    (0x17, "AC power applied", _Q),
    (0x18, "AC power lost", _Q),
    (0x19, "cashbox door opened", _Q),
    (0x1A, "cashbox door closed", _Q),
    (0x1B, "cashbox removed", _Q),
    (0x1C, "cashbox installed", _Q),
    (0x1D, "belly door opened", _Q),
    (0x1E, "belly door closed", _Q),
    (0x20, "general tilt", _Q),
    (0x21, "coin-in tilt", _Q),
    (0x22, "coin-out tilt", _Q),
    (0x23, "hopper empty", _Q),
    (0x24, "extra coin paid", _Q),
    (0x25, "diverter malfunction", _Q),
    (0x27, "cashbox full", _Q),
    (0x28, "bill jam", _Q),
    (0x29, "bill acceptor hardware failure", _Q),
    (0x2A, "reverse bill", _Q),
    (0x2B, "bill rejected", _Q),
    (0x2C, "counterfeit bill", _Q),
    (0x2D, "reverse coin in", _Q),
    (0x2E, "cashbox near full", _Q),
    (0x31, "memory error, data recovered", _Q),
    (0x32, "memory error, data not recovered", _Q),
    (0x33, "memory error, bad device", _Q),
    (0x34, "EEPROM data error", _Q),
    (0x35, "EEPROM bad device", _Q),
    (0x36, "program version changed", _Q),
    (0x37, "program checksum bad", _Q),
    (0x38, "partitioned program version changed", _Q),
    (0x39, "partitioned program checksum bad", _Q),
    (0x3A, "memory error reset by self-test switch", _Q),
    (0x3B, "low backup battery", _Q),
    (0x3C, "operator changed options", _Q),
    (0x3D, "cash-out ticket printed", _E),
    (0x3E, "hand-pay validated", _E),
    (0x3F, "validation ID not configured", _P),
    (0x40, "reel tilt, unspecified", _Q),
    (0x41, "reel 1 tilt", _Q),
    (0x42, "reel 2 tilt", _Q),
    (0x43, "reel 3 tilt", _Q),
    (0x44, "reel 4 tilt", _Q),
    (0x45, "reel 5 tilt", _Q),
    (0x46, "reel mechanism disconnected", _Q),
    (0x47, "$1 bill accepted", _Q),
    (0x48, "$5 bill accepted", _Q),
    (0x49, "$10 bill accepted", _Q),
    (0x4A, "$20 bill accepted", _Q),
    (0x4B, "$50 bill accepted", _Q),
    (0x4C, "$100 bill accepted", _Q),
    (0x4D, "$2 bill accepted", _Q),
    (0x4E, "$500 bill accepted", _Q),
    (0x4F, "bill accepted", _Q),
    (0x50, "$200 bill accepted", _Q),
    (0x51, "hand-pay pending", _E),
    (0x52, "hand-pay reset", _E),
    (0x53, "no progressive information for 5 seconds", _Q),
    (0x54, "progressive win", _Q),
    (0x55, "player cancelled hand-pay request", _E),
    (0x56, "SAS progressive level hit", _P),
    (0x57, "system validation request", _P),
    (0x60, "printer communication error", _Q),
    (0x61, "printer paper out", _Q),
    (0x66, "cash-out button pressed", _Q),
    (0x67, "ticket inserted", _P),
    (0x68, "ticket transfer complete", _P),
    (0x69, "AFT transfer complete", _P),
    (0x6A, "AFT request for host cash-out", _P),
    (0x6B, "AFT request for host to cash out win", _P),
    (0x6C, "AFT request to register", _P),
    (0x6D, "AFT registration acknowledged", _P),
    (0x6E, "AFT registration cancelled", _Q),
    (0x6F, "game locked", _P),
    (0x70, "exception buffer overflow", _P),
    (0x71, "change lamp on", _Q),
    (0x72, "change lamp off", _Q),
    (0x74, "printer paper low", _Q),
    (0x75, "printer power off", _Q),
    (0x76, "printer power on", _Q),
    (0x77, "replace printer ribbon", _Q),
    (0x78, "printer carriage jammed", _Q),
    (0x79, "coin-in lockout malfunction", _Q),
    (0x7A, "soft meters reset to zero", _Q),
    (0x7B, "bill validator period totals reset", _Q),
    (0x7C, "legacy bonus awarded or multiplied jackpot", _Q),
    (0x7E, "game started", _Q),
    (0x7F, "game ended", _Q),
    (0x80, "hopper full", _Q),
    (0x81, "hopper low", _Q),
    (0x82, "attendant menu entered", _Q),
    (0x83, "attendant menu exited", _Q),
    (0x84, "operator menu entered", _Q),
    (0x85, "operator menu exited", _Q),
    (0x86, "out of service", _Q),
    (0x87, "player requested draw", _T),
    (0x88, "reel stopped", _T),
    (0x89, "credit wagered", _T),
    (0x8A, "game recall displayed", _Q),
    (0x8B, "card held or not held", _T),
    (0x8C, "game selected", _Q),
    (0x8E, "component list changed", _Q),
    (0x8F, "authentication complete", _P),
    (0x98, "power-off access to card cage", _Q),
    (0x99, "power-off access to slot door", _Q),
    (0x9A, "power-off access to cashbox door", _Q),
    (0x9B, "power-off access to drop door", _Q),
)

#: The smallest set a regulator publishes for machines on its network (Montana, video gambling).
_REGULATOR_MINIMUM_EXCEPTION_CODES: Final = frozenset(
    bytes.fromhex(
        "00 11 12 13 14 15 16 17 18 19 1A 1B 1C 1D 1E 27 28 29 2B 3C 3D 3E 3F 47 48 49 4A60 61 70 7A 86 8C"
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
