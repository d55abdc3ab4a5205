"""Meter names by jurisdiction: each regulation's terms for the canonical meters, stated once.

Monaco: arrêté ministériel 88-384 art. 19.4. France: arrêté du 14 mai 2007 art. 68-11. United States: the
state rules named in the meters' requirements. Australia and New Zealand: the A/NZ national standard.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias

from meters.errors import JournalError
from meters.reading import MeterReading

#: The meter names of a jurisdiction: each maps to the names of the canonical meters that it sums.
MeterNames: TypeAlias = Mapping[str, tuple[str, ...]]

#: The canonical meters that the A/NZ meter "Total Wins" adds up.
_WIN_METERS: Final = ("coin_out", "att_jackpot", "mach_progressive", "att_progressive")

#: The meter names of each jurisdiction.
METER_NAMES_BY_JURISDICTION: Final[Mapping[str, MeterNames]] = {
    "mc": {
        "Compteur in": ("coin_in",),
        "Compteur out": ("coin_out",),
        "Cash box": ("coin_drop",),
        "Jackpots et lots cumulés": ("hand_paid",),
        "Crédits achetés en billets": ("bill_in.value",),
    },
    "fr": {
        "Entrées": ("coin_in",),
        "Recettes": ("coin_drop",),
        "Sorties": ("coin_out",),
        "Gains manuels": ("hand_paid",),
        "Billets": ("bill_in.value",),
    },
    "us": {
        "Coin In": ("coin_in",),
        "Coin Out": ("coin_out",),
        "Coin Drop": ("coin_drop",),
        "Drop": ("drop_total",),
        "Bill In": ("bill_in.value",),
        "Attendant Paid Jackpots": ("att_jackpot",),
        "Attendant Paid Cancelled Credits": ("att_cancel_credit",),
        "Attendant Paid Progressive Payout": ("att_progressive",),
        "Attendant Paid External Bonus Payout": ("att_bonus",),
        "Merchandise Prizes, stated value": ("att_merchandise.value",),
        "Machine Paid Progressive Payout": ("mach_progressive",),
        "Machine Paid External Bonus Payout": ("mach_bonus",),
        "Voucher In": ("ticket_in.cashable.value", "ticket_in.promo_cashable.value"),
        "Voucher Out": ("ticket_out.cashable.value",),
        "Physical Coin In": ("phys_coin_in",),
        "Physical Coin Out": ("phys_coin_out",),
        "Games Played": ("games_played",),
    },
    "anz": {
        "Turnover": ("coin_in",),
        "Total Wins": _WIN_METERS,
        "Cancelled Credit": ("att_cancel_credit",),
        "Money In": ("money_in",),
        "Money Out": ("money_out",),
        "Cash Box": ("coin_drop",),
        "Residual Credits Removed": ("residual_removed",),
        "Residual Credits Won": ("residual_won",),
        "Games Played": ("games_played",),
    },
}


class UnknownJurisdiction(JournalError, KeyError):
    """Raised if there are no meter names for this jurisdiction."""


def read_jurisdiction_meters(reading: MeterReading, jurisdiction: str) -> dict[str, int]:
    """Return the values of a meter reading under a jurisdiction's meter names.

    ``jurisdiction`` is ``mc``, ``fr``, ``us`` or ``anz``.
    """
    if jurisdiction not in METER_NAMES_BY_JURISDICTION:
        raise UnknownJurisdiction(
            f"there are no meter names for {jurisdiction!r}; expected one of {', '.join(METER_NAMES_BY_JURISDICTION)}"
        )
    values = reading.values
    return {
        name: sum(values[m] for m in meters)
        for name, meters in METER_NAMES_BY_JURISDICTION[jurisdiction].items()
    }
