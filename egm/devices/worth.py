"""Channel values: compare what an acceptor reports that its channels accept with the cabinet file.

Each channel is queried, in every protocol that can report it. If one accepts another value or currency, or
nothing, the acceptor takes no money at all: the machine would credit too much or too little. A channel
without a known value raises a fault and is used as the cabinet file says; it does not prevent the comparison
of the others.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from babel.numbers import get_currency_precision, get_territory_currencies

from egm.devices.interface import FaultCode

#: Default currencies of a device if no profile names one.
DOLLARS: Final = frozenset({"USD", "CAD"})
WORTH_FAULTS: Final = (FaultCode.WRONG_VALUES, FaultCode.VALUES_UNTOLD)
#: The country code of ccTalk devices for a token.
_TOKENS: Final = "TK"


@dataclass(frozen=True, slots=True)
class ReportedWorth:
    """A device's report of what a channel accepts.

    ``text``: the device's own text. ``amount_cents``: 0 for nothing, None if no amount can be derived from
    it. ``currencies``: the possible currencies, empty if unknown.
    """

    text: str
    amount_cents: int | None
    currencies: frozenset[str] = frozenset()


class Worth:
    """The values an acceptor has reported so far for its channels."""

    def __init__(self, channels: Mapping[int, int], currencies: frozenset[str] = DOLLARS) -> None:
        """Expect ``channels``: the configured value of each, in minor units of one of ``currencies``."""
        self._channels = dict(channels)
        self._currencies = currencies
        self._unqueried = list(channels)
        self._differs: list[str] = []
        self._unknown: list[int] = []

    @property
    def next_channel(self) -> int | None:
        """Return the next channel to query, or None once all are done."""
        return self._unqueried[0] if self._unqueried else None

    @property
    def is_known(self) -> bool:
        """Return whether every channel has been queried."""
        return not self._unqueried

    @property
    def differs(self) -> bool:
        """Return whether a channel accepts other money than the cabinet file says."""
        return bool(self._differs)

    @property
    def faults(self) -> dict[FaultCode, str]:
        """Return the faults to raise, with their details."""
        if self._differs:
            return {FaultCode.WRONG_VALUES: "; ".join(self._differs)}
        return {FaultCode.VALUES_UNTOLD: _channels(self._unknown)} if self._unknown else {}

    def note(self, channel: int, reported: ReportedWorth | None) -> None:
        """Record the report about a channel, or None if the device does not reply."""
        if channel not in self._unqueried:
            return
        self._unqueried.remove(channel)
        cents = self._channels[channel]
        if reported is None or reported.amount_cents is None:
            self._unknown.append(channel)
        elif reported.amount_cents != cents or (
            reported.currencies and not reported.currencies & self._currencies
        ):
            wanted = "/".join(sorted(self._currencies))
            self._differs.append(f"{channel} takes {reported.text}, not {cents} cents {wanted}")


def _channels(numbers: list[int]) -> str:
    return "channel " + ", ".join(map(str, numbers))


@cache
def currencies_of_country(country: str) -> frozenset[str]:
    """Return the currencies of an ISO 3166 country (or ``EU``); empty for one that is not known."""
    if country == _TOKENS:
        return frozenset()
    try:
        return frozenset(get_territory_currencies(country))
    except (KeyError, ValueError):
        return frozenset()


def minor_units(base: int, exponent: int, currency: str = "USD") -> int | None:
    """Return ``base`` times ten to ``exponent`` major units as minor units; None where it is not whole."""
    places = exponent + get_currency_precision(currency)
    if places >= 0:
        return int(base * 10**places)
    quotient, remainder = divmod(base, 10**-places)
    return None if remainder else quotient
