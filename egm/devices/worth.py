"""Channel values: what an acceptor reports that its channels take, compared with the cabinet file.

Each channel is queried, in every protocol that can report its value. If one takes another value, another
currency or nothing, no money is accepted in any channel: the machine would create money, or lose it. A
channel without a known value is reported and taken as the cabinet file says; the other channels are compared
all the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from babel.numbers import get_currency_precision, get_territory_currencies

from egm.devices.interface import FaultCode

#: Currencies that a device may be programmed for if no profile names one: dollars are assumed.
DOLLARS: Final = frozenset({"USD", "CAD"})
WORTH_FAULTS: Final = (FaultCode.WRONG_VALUES, FaultCode.VALUES_UNTOLD)
#: Not a country: the code that ccTalk devices use for a token.
_TOKENS: Final = "TK"


@dataclass(frozen=True, slots=True)
class ReportedWorth:
    """The reported value of a channel.

    ``text`` is the device's own. ``amount_cents`` is 0 for nothing, and None if no amount can be derived.
    ``currencies`` are the possible ones, empty if not reported or not known.
    """

    text: str
    amount_cents: int | None
    currencies: frozenset[str] = frozenset()


class Worth:
    """The values that an acceptor has reported so far for its channels."""

    def __init__(self, channels: Mapping[int, int], currencies: frozenset[str] = DOLLARS) -> None:
        """Create the comparison; ``channels`` maps each one to its value in minor units of one of ``currencies``."""
        self._channels = dict(channels)
        self._currencies = currencies
        self._unasked = list(channels)
        self._differs: list[str] = []
        self._untold: list[int] = []

    @property
    def next_channel(self) -> int | None:
        """Return the next channel to query, or None once all are known."""
        return self._unasked[0] if self._unasked else None

    @property
    def is_known(self) -> bool:
        """Return whether every channel has been queried."""
        return not self._unasked

    @property
    def differs(self) -> bool:
        """Return whether a channel takes other money than the cabinet file says."""
        return bool(self._differs)

    @property
    def faults(self) -> dict[FaultCode, str]:
        """Return the faults to raise."""
        if self._differs:
            return {FaultCode.WRONG_VALUES: "; ".join(self._differs)}
        return {FaultCode.VALUES_UNTOLD: _channels(self._untold)} if self._untold else {}

    def note(self, channel: int, reported: ReportedWorth | None) -> None:
        """Record the reported value of a channel; None if the device does not answer."""
        if channel not in self._unasked:
            return
        self._unasked.remove(channel)
        cents = self._channels[channel]
        if reported is None or reported.amount_cents is None:
            self._untold.append(channel)
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
    """Return ``base`` times ten to ``exponent`` major units as minor units, or None if the result is not an integer."""
    places = exponent + get_currency_precision(currency)
    if places >= 0:
        return int(base * 10**places)
    whole, rest = divmod(base, 10**-places)
    return None if rest else whole
