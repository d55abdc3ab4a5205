"""Channel values: the values that an acceptor reports for its channels, compared with the cabinet file.

A channel is an acceptor's number for one kind of coin or note. With every protocol that supports it, each channel is
queried. If one accepts another value, another currency or nothing, no money is accepted at all, because the machine
would credit more or less than it received. If an acceptor does not report a channel's value, a fault says so, and the
cabinet file's value is used.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from babel.numbers import get_currency_precision, get_territory_currencies

from egm.devices.interface import FaultCode

#: Currencies for which a device may be programmed if no profile states them: dollars are assumed.
DOLLAR_CURRENCIES: Final = frozenset({"USD", "CAD"})
#: Faults that the comparison of channel values raises.
CHANNEL_VALUE_FAULTS: Final = (FaultCode.WRONG_CHANNEL_VALUES, FaultCode.CHANNEL_VALUES_UNKNOWN)
#: The code that ccTalk uses for tokens in place of a country.
_TOKENS_COUNTRY_CODE: Final = "TK"


@dataclass(frozen=True, slots=True)
class ReportedValue:
    """The value that an acceptor reports for one of its channels, that is, for one kind of coin or note.

    ``text`` is the device's own text. ``amount_cents`` is 0 if the channel accepts nothing, None if the text states no
    amount. ``currencies`` are the currencies in which the value may be; empty if unknown.
    """

    text: str
    amount_cents: int | None
    currencies: frozenset[str] = frozenset()


class ChannelValueCheck:
    """The comparison of the channel values that an acceptor has reported so far with those in the cabinet file."""

    def __init__(
        self, cents_by_channel: Mapping[int, int], currencies: frozenset[str] = DOLLAR_CURRENCIES
    ) -> None:
        """Create the comparison; no value has been reported yet.

        ``cents_by_channel`` has the configured value of each channel, in minor units. The device may report it in any
        of ``currencies``.
        """
        self._cents_by_channel = dict(cents_by_channel)
        self._currencies = currencies
        self._unqueried_channels = list(cents_by_channel)
        self._difference_texts: list[str] = []
        self._unreported_channels: list[int] = []

    @property
    def next_channel_to_query(self) -> int | None:
        """Return the next channel whose value is to be queried; None once all have been queried."""
        return self._unqueried_channels[0] if self._unqueried_channels else None

    @property
    def are_all_channels_queried(self) -> bool:
        """Return whether every channel has been queried; the device need not have replied."""
        return not self._unqueried_channels

    @property
    def has_differences(self) -> bool:
        """Return whether a channel has another value than the cabinet file states."""
        return bool(self._difference_texts)

    @property
    def channel_value_faults(self) -> dict[FaultCode, str]:
        """Return the faults to raise for wrong or unreported channel values, with a text that names the channels."""
        if self._difference_texts:
            return {FaultCode.WRONG_CHANNEL_VALUES: "; ".join(self._difference_texts)}
        return (
            {FaultCode.CHANNEL_VALUES_UNKNOWN: _format_channels(self._unreported_channels)}
            if self._unreported_channels
            else {}
        )

    def store_reported_value(self, channel: int, reported_value: ReportedValue | None) -> None:
        """Store the value that the device reports for a channel; ``reported_value``: None if it did not reply."""
        if channel not in self._unqueried_channels:
            return
        self._unqueried_channels.remove(channel)
        expected_cents = self._cents_by_channel[channel]
        if reported_value is None or reported_value.amount_cents is None:
            self._unreported_channels.append(channel)
        elif reported_value.amount_cents != expected_cents or (
            reported_value.currencies and not reported_value.currencies & self._currencies
        ):
            expected_currencies = "/".join(sorted(self._currencies))
            self._difference_texts.append(
                f"{channel} takes {reported_value.text}, not {expected_cents} cents {expected_currencies}"
            )


def _format_channels(channels: list[int]) -> str:
    """Return the channel numbers as text."""
    return "channel " + ", ".join(map(str, channels))


@cache
def list_currencies_of_country(country: str) -> frozenset[str]:
    """Return the currencies of an ISO 3166 country (or ``EU``); empty if unknown."""
    if country == _TOKENS_COUNTRY_CODE:
        return frozenset()
    try:
        return frozenset(get_territory_currencies(country))
    except (KeyError, ValueError):
        return frozenset()


def compute_minor_units(base_value: int, exponent: int, currency: str = "USD") -> int | None:
    """Convert an amount in major units, ``base_value`` times ten to ``exponent``, to minor units of the currency.

    Return None if the result is not a whole number.
    """
    minor_exponent = exponent + get_currency_precision(currency)
    if minor_exponent >= 0:
        return int(base_value * 10**minor_exponent)
    units, remainder = divmod(base_value, 10**-minor_exponent)
    return None if remainder else units
