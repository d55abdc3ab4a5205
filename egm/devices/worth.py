"""Channel worth: what an acceptor says its channels take, held against the cabinet file.

Each channel is asked about, in every protocol that can say it. Where one takes another value, another
currency or nothing, no money is taken in any: the machine would make money up, or lose it. A channel of which
no worth is known is reported and taken as the cabinet file says; it keeps no other from being compared.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from babel.numbers import get_currency_precision, get_territory_currencies

from egm.devices.interface import FaultCode

#: Currencies that a device may be programmed for where no profile says which: dollars are taken for granted.
DOLLARS: Final = frozenset({"USD", "CAD"})
WORTH_FAULTS: Final = (FaultCode.WRONG_VALUES, FaultCode.VALUES_UNTOLD)
#: No country: what ccTalk devices call a token.
_TOKENS: Final = "TK"


@dataclass(frozen=True, slots=True)
class ReportedWorth:
    """What a device says that a channel takes.

    ``text``: its own words. ``amount_cents``: 0 for nothing, None where no amount can be made of it.
    ``currencies``: those it may be, empty where it is not said or not known.
    """

    text: str
    amount_cents: int | None
    currencies: frozenset[str] = frozenset()


class Worth:
    """What an acceptor has said so far of its channels."""

    def __init__(self, channels: Mapping[int, int], currencies: frozenset[str] = DOLLARS) -> None:
        """``channels`` maps each to what it is worth here, in minor units of one of ``currencies``."""
        self._channels = dict(channels)
        self._currencies = currencies
        self._unasked = list(channels)
        self._differs: list[str] = []
        self._untold: list[int] = []

    @property
    def next_channel(self) -> int | None:
        """The next channel to ask about; None once all are known."""
        return self._unasked[0] if self._unasked else None

    @property
    def is_known(self) -> bool:
        """Whether every channel has been asked about."""
        return not self._unasked

    @property
    def differs(self) -> bool:
        """Whether a channel takes other money than the cabinet file says."""
        return bool(self._differs)

    @property
    def faults(self) -> dict[FaultCode, str]:
        """The faults to show."""
        if self._differs:
            return {FaultCode.WRONG_VALUES: "; ".join(self._differs)}
        return {FaultCode.VALUES_UNTOLD: _channels(self._untold)} if self._untold else {}

    def note(self, channel: int, reported: ReportedWorth | None) -> None:
        """Note what is said of a channel; None where the device does not answer."""
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
    """Return ``base`` times ten to ``exponent`` major units as minor units; None where it is not whole."""
    places = exponent + get_currency_precision(currency)
    if places >= 0:
        return int(base * 10**places)
    whole, rest = divmod(base, 10**-places)
    return None if rest else whole
