"""Every meter of polls 2F, 6F and AF by code: two or more independent public lists agree.

Codes 3A to 3D, 79 to 7E, 94 to 9F, B2 to B7 and all above BD are reserved in SAS 6.02.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from egm.links.sas.definitions import SasMeterDefinition, SasMeterUnit

_CREDITS, _CENTS, _COUNT = SasMeterUnit.CREDITS, SasMeterUnit.CENTS, SasMeterUnit.COUNT

#: The number of BCD bytes of a SAS meter in cents; all other meters have four.
CENTS_METER_SIZE_BYTES: Final = 5

#: Every single meter: code, name and unit.
_METER_ROWS: Final[tuple[tuple[int, str, SasMeterUnit], ...]] = (
    (0x00, "coin-in", _CREDITS),
    (0x01, "coin-out", _CREDITS),
    (0x02, "jackpot", _CREDITS),
    (0x03, "hand-paid cancelled credits", _CREDITS),
    (0x04, "cancelled credits", _CREDITS),
    (0x05, "games played", _COUNT),
    (0x06, "games won", _COUNT),
    (0x07, "games lost", _COUNT),
    (0x08, "credits from the coin acceptor", _CREDITS),
    (0x09, "credits paid from the hopper", _CREDITS),
    (0x0A, "credits from coins to the drop", _CREDITS),
    (0x0B, "credits from bills accepted", _CREDITS),
    (0x0C, "current credits", _CREDITS),
    (0x0D, "SAS cashable ticket in, nonrestricted included", _CENTS),
    (0x0E, "SAS cashable ticket out, debit included", _CENTS),
    (0x0F, "SAS restricted ticket in", _CENTS),
    (0x10, "SAS restricted ticket out", _CENTS),
    (0x11, "SAS cashable tickets in, nonrestricted included", _COUNT),
    (0x12, "SAS cashable tickets out, debit included", _COUNT),
    (0x13, "SAS restricted tickets in", _COUNT),
    (0x14, "SAS restricted tickets out", _COUNT),
    (0x15, "total ticket in", _CREDITS),
    (0x16, "total ticket out", _CREDITS),
    (0x17, "total electronic transfers to the machine", _CREDITS),
    (0x18, "total electronic transfers to the host", _CREDITS),
    (0x19, "restricted credits played", _CREDITS),
    (0x1A, "nonrestricted credits played", _CREDITS),
    (0x1B, "current restricted credits", _CREDITS),
    (0x1C, "machine-paid paytable win", _CREDITS),
    (0x1D, "machine-paid progressive win", _CREDITS),
    (0x1E, "machine-paid external bonus win", _CREDITS),
    (0x1F, "attendant-paid paytable win", _CREDITS),
    (0x20, "attendant-paid progressive win", _CREDITS),
    (0x21, "attendant-paid external bonus win", _CREDITS),
    (0x22, "total won", _CREDITS),
    (0x23, "total hand-paid", _CREDITS),
    (0x24, "total drop", _CREDITS),
    (0x25, "games since power reset", _COUNT),
    (0x26, "games since slot door closure", _COUNT),
    (0x27, "credits from an external coin acceptor", _CREDITS),
    (0x28, "cashable ticket in", _CREDITS),
    (0x29, "regular cashable ticket in", _CREDITS),
    (0x2A, "restricted ticket in", _CREDITS),
    (0x2B, "nonrestricted ticket in", _CREDITS),
    (0x2C, "cashable ticket out", _CREDITS),
    (0x2D, "restricted ticket out", _CREDITS),
    (0x2E, "regular cashable electronic transfers to the machine", _CREDITS),
    (0x2F, "restricted electronic transfers to the machine", _CREDITS),
    (0x30, "nonrestricted electronic transfers to the machine", _CREDITS),
    (0x31, "debit transfers to the machine", _CREDITS),
    (0x32, "regular cashable electronic transfers to the host", _CREDITS),
    (0x33, "restricted electronic transfers to the host", _CREDITS),
    (0x34, "nonrestricted electronic transfers to the host", _CREDITS),
    (0x35, "regular cashable tickets in", _COUNT),
    (0x36, "restricted tickets in", _COUNT),
    (0x37, "nonrestricted tickets in", _COUNT),
    (0x38, "cashable tickets out", _COUNT),
    (0x39, "restricted tickets out", _COUNT),
    (0x3E, "bills in the stacker", _COUNT),
    (0x3F, "value of bills in the stacker", _CREDITS),
    (0x58, "value of bills to the drop", _CREDITS),
    (0x63, "value of bills diverted to the hopper", _CREDITS),
    (0x6E, "value of bills dispensed from the hopper", _CREDITS),
    (0x7F, "weighted average theoretical payback", SasMeterUnit.HUNDREDTHS_PERCENT),
)

#: Pairs of meters: a value in cents and, under the next code, the number of items. Each row has the code of the value,
#: and the name.
_VALUE_AND_COUNT_METERS: Final[tuple[tuple[int, str], ...]] = (
    (0x80, "regular cashable ticket in"),
    (0x82, "restricted ticket in"),
    (0x84, "nonrestricted ticket in"),
    (0x86, "regular cashable ticket out"),
    (0x88, "restricted ticket out"),
    (0x8A, "debit ticket out"),
    (0x8C, "validated cancelled-credit hand-pay with receipt"),
    (0x8E, "validated jackpot hand-pay with receipt"),
    (0x90, "validated cancelled-credit hand-pay without receipt"),
    (0x92, "validated jackpot hand-pay without receipt"),
    (0xA0, "in-house cashable transfer to the machine"),
    (0xA2, "in-house restricted transfer to the machine"),
    (0xA4, "in-house nonrestricted transfer to the machine"),
    (0xA6, "debit transfer to the machine"),
    (0xA8, "in-house cashable transfer to ticket"),
    (0xAA, "in-house restricted transfer to ticket"),
    (0xAC, "debit transfer to ticket"),
    (0xAE, "bonus cashable transfer to the machine"),
    (0xB0, "bonus nonrestricted transfer to the machine"),
    (0xB8, "in-house cashable transfer to the host"),
    (0xBA, "in-house restricted transfer to the host"),
    (0xBC, "in-house nonrestricted transfer to the host"),
)

#: Values of the bills that are counted when accepted, in major units.
_BILL_VALUES_ALL: Final = (
    *(1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500),
    *(1000, 2000, 2500, 5000, 10_000, 20_000, 25_000, 50_000),
    *(100_000, 200_000, 250_000, 500_000, 1_000_000),
)
#: Values of the bills that are counted in the stacker and at the drop, in major units.
_BILL_VALUES_UP_TO_1000: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)

#: The meters that count bills, one code for each value. By the first code of each group: where the bills went, and the
#: values of the bills in the order of the codes, in major units.
BILL_METERS_BY_FIRST_CODE: Final[Mapping[int, tuple[str, tuple[int, ...]]]] = {
    0x40: ("accepted", _BILL_VALUES_ALL),
    0x59: ("to the drop", _BILL_VALUES_UP_TO_1000),
    0x64: ("diverted to the hopper", _BILL_VALUES_UP_TO_1000),
    0x6F: ("dispensed from the hopper", _BILL_VALUES_UP_TO_1000),
}


def _iter_meter_definitions() -> Iterator[SasMeterDefinition]:
    """Yield the definitions of all SAS meters in the tables of this module."""
    for code, name, unit in _METER_ROWS:
        yield SasMeterDefinition(code, name, unit, CENTS_METER_SIZE_BYTES if unit is _CENTS else 4)
    for code, name in _VALUE_AND_COUNT_METERS:
        yield SasMeterDefinition(code, f"{name}, value", _CENTS, CENTS_METER_SIZE_BYTES)
        yield SasMeterDefinition(code + 1, f"{name}, number", _COUNT)
    for first_code, (destination, bill_values) in BILL_METERS_BY_FIRST_CODE.items():
        for code, bill_value in enumerate(bill_values, start=first_code):
            yield SasMeterDefinition(code, f"${bill_value:,} bills {destination}", _COUNT)


#: Every SAS meter, by code.
METER_DEFINITION_BY_CODE: Final[Mapping[int, SasMeterDefinition]] = {
    meter.code: meter for meter in sorted(_iter_meter_definitions(), key=lambda meter: meter.code)
}
