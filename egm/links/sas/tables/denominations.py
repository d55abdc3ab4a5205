"""SAS codes of denominations, bills and countries.

Denominations and bills: two or more public sources agree. Countries: one source.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Final

#: Whole-cent denominations in the order of their codes.
_WHOLE_CENT_DENOMINATIONS: Final = (
    *(1, 5, 10, 25, 50, 100, 500, 1000, 2000, 10_000, 20, 200, 250, 2500, 5000, 20_000, 25_000),
    *(50_000, 100_000, 200_000, 250_000, 500_000, 2, 3, 15, 40),
)
#: Denominations below a cent, as the divisor of a cent, in the order of their codes.
_CENT_DIVISORS: Final = (2, 4, 5, 10, 20)

#: Denomination code -> its value in minor units.
DENOMINATION_CENTS_BY_CODE: Final[Mapping[int, Fraction]] = dict(
    enumerate(
        (
            *(Fraction(cents) for cents in _WHOLE_CENT_DENOMINATIONS),
            *(Fraction(1, divisor) for divisor in _CENT_DIVISORS),
        ),
        start=1,
    )
)

#: Bill code, which is also its bit in poll 08 -> the bill's value in major units.
BILL_MAJOR_UNITS_BY_CODE: Final[Mapping[int, int]] = dict(
    enumerate(
        (
            *(1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500),
            *(1000, 2000, 2500, 5000, 10_000, 20_000, 25_000, 50_000),
            *(100_000, 200_000, 250_000, 500_000, 1_000_000),
        )
    )
)

#: ISO 4217 currency -> country code of poll 48, for each currency that only one country of the SAS list issues.
COUNTRY_CODE_BY_CURRENCY: Final[Mapping[str, int]] = {
    "ARS": 1,
    "AUD": 2,
    "BRL": 5,
    "BGN": 6,
    "CAD": 7,
    "COP": 8,
    "CZK": 10,
    "DKK": 11,
    "GBP": 15,
    "GIP": 16,
    "HUF": 19,
    "MXN": 25,
    "MAD": 26,
    "NOK": 27,
    "PLN": 28,
    "RON": 30,
    "RUB": 31,
    "ZAR": 33,
    "SEK": 34,
    "CHF": 35,
    "TRY": 36,
    "USD": 37,
    "EUR": 39,
}
#: Country code of a currency that is not in the table.
UNKNOWN_COUNTRY_CODE: Final = 0
