"""What one host may read of the machine: an immutable picture, made on the loop after every change.

The line's thread answers reading polls from it and from nothing else, so that no poll waits for the machine
and no poll reads the journal. Meters are summed when first asked for, and kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from egm.sas.settings import Group
from meters import MeterReading


@dataclass(frozen=True, slots=True)
class GameFacts:
    """One game as SAS numbers it; ``payback`` is its base percentage in hundredths of a percent."""

    number: int
    id: str
    title: str
    version: str
    denominations_cents: tuple[int, ...]
    max_bet_credits: int
    payback: int
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class HandpayFacts:
    """Money owed by hand: its journal id, its kind (``jackpot``, ``cancelled_credit`` ...), how much."""

    id: str
    kind: str
    amount_cents: int


@dataclass(frozen=True, slots=True)
class BillFacts:
    """The last bill taken."""

    amount_cents: int


@dataclass(frozen=True, slots=True)
class TicketFacts:
    """The last cash-out ticket: how much."""

    amount_cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Readout:
    """The machine as of journal entry ``reading.sequence``."""

    reading: MeterReading
    serial: str
    currency: str
    asset_number: int
    denomination_cents: int
    """The accounting denomination."""
    games: tuple[GameFacts, ...]
    selected_game: int = 0
    """SAS number of the game in play, 0 for none."""
    player_denomination_cents: int = 1
    credit_cents: Mapping[str, int] = field(default_factory=dict)
    """By kind."""
    handpay: HandpayFacts | None = None
    last_bill: BillFacts | None = None
    local_time: datetime
    """The time of day where the machine stands, as of this picture."""
    made_ns: int = 0
    """When it was made, on the monotonic clock."""
    groups: frozenset[Group] = frozenset()
    """The polls this host may use."""
    _sums: dict[tuple[str, int], Mapping[str, int]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def values(self, game: str = "", denomination_cents: int = 0) -> Mapping[str, int]:
        """Every canonical meter: of the machine, of a game, of a denomination, or of both."""
        key = (game, denomination_cents)
        known = self._sums.get(key)
        if known is None:
            dims: dict[str, str | int] = {"game": game} if game else {}
            if denomination_cents:
                dims["denomination_cents"] = denomination_cents
            known = self._sums[key] = (self.reading.where(**dims) if dims else self.reading).values
        return known
