"""Readout: the machine's data that one host may read, an immutable snapshot made after every change.

The line's thread answers read polls from the readout alone, so no poll waits for the machine or reads the journal.
Meters are summed when they are first requested, and cached.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from egm.config.cabinet_file import TicketValidator
from egm.progressive.pools import BroadcastLevel
from meters import MeterReading


@dataclass(frozen=True, slots=True)
class GameReadout:
    """The data of one game for SAS; ``return_hundredths`` is its return to player (RTP) in hundredths of 1 %."""

    game_number: int
    id: str
    title: str
    version: str
    digest: str
    denominations_cents: tuple[int, ...]
    bet_max_credits: int
    return_hundredths: int
    is_enabled: bool = True


@dataclass(frozen=True, slots=True)
class HandpayReadout:
    """Money owed to the player by hand: its journal id, kind (``jackpot``, ``cancelled_credit`` ...) and amount."""

    id: str
    kind: str
    amount_cents: int
    broadcast_level: BroadcastLevel | None = None
    """The host's broadcast level whose win this hand-pay pays; None for any other."""


@dataclass(frozen=True, slots=True)
class HopperReadout:
    """The hopper's content, as a count of coins, and the codes of its active faults."""

    coin_count: int
    active_fault_codes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SasReadout:
    """The machine's data as of one journal entry, for the replies to a SAS host.

    ``meter_reading`` has the meters and the number (``sequence``) of that entry.
    """

    meter_reading: MeterReading
    serial: str
    currency: str
    accounting_denomination_cents: int
    """The accounting denomination, in minor units."""
    games: tuple[GameReadout, ...]
    selected_game_number: int
    """SAS number of the selected game, 0 for none."""
    player_denomination_cents: int
    """The denomination that the player has selected, in minor units."""
    handpay: HandpayReadout | None
    """The hand-pay that is owed to the player and that this host has not read, or None."""
    hopper: HopperReadout | None
    """The hopper, or None if the machine has none."""
    payout_coin_cents: int | None
    """The value of the coin that the machine pays out, in minor units; None if it pays none."""
    last_bill_cents: int
    """The value of the last accepted bill, in minor units; 0 for none."""
    last_ticket_cents: int
    """The value of the last cash-out ticket, in minor units; 0 for none."""
    stacker_bill_count: int
    """The number of bills in the stacker."""
    stacker_cents: int
    """The value of the bills in the stacker, in minor units."""
    reel_stops: tuple[int, ...]
    """The reel stops of the last game; empty if the game has no reels."""
    read_local_time: Callable[[], datetime]
    """A function that returns the venue's local time, by the machine's clock or by the time that this host has set."""
    permitted_poll_codes: frozenset[int]
    """Codes of the polls that this host may use."""
    ticket_validator: TicketValidator = TicketValidator.STAND_ALONE
    """Who numbers and validates tickets: the machine itself, or the host."""
    can_transfer: bool = False
    """Whether this host may transfer credit to and from the machine."""
    can_award_bonuses: bool = False
    """Whether this host may award bonuses."""
    play_meters_limited_to_denomination_cents: int = 0
    """The denomination, in minor units, to which the meters of play are limited; 0: they count all denominations."""
    _meters_by_game: dict[str, Mapping[str, int]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """Cache of summed meters: for each game id ("" is the machine) the values by meter name."""
    _counts_by_bill_value: dict[str, Mapping[str, int]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """Cache of meters of bills: for each meter name the counts by the bills' value in minor units."""

    def read_meters(self, game_id: str = "") -> Mapping[str, int]:
        """Return the values of all the machine's meters by name, for the whole machine or the game with this id."""
        value_by_meter = self._meters_by_game.get(game_id)
        if value_by_meter is None:
            dimensions: dict[str, str | int] = {"game": game_id} if game_id else {}
            if self.play_meters_limited_to_denomination_cents:
                dimensions["denomination_cents"] = self.play_meters_limited_to_denomination_cents
            value_by_meter = self._meters_by_game[game_id] = (
                self.meter_reading.select(**dimensions) if dimensions else self.meter_reading
            ).values
        return value_by_meter

    def count_bills(self, amount_cents: int) -> int:
        """Return the number of accepted bills of this value, in minor units."""
        count_by_bill_cents = self._counts_by_bill_value.get("bill_in.count")
        if count_by_bill_cents is None:
            count_by_bill_cents = self._counts_by_bill_value["bill_in.count"] = self.meter_reading.split_by(
                "bill_in.count", "bill_cents"
            )
        return count_by_bill_cents.get(str(amount_cents), 0)

    def limit_to_denomination(self, denomination_cents: int) -> "SasReadout":
        """Return a copy of the readout whose meters of play count only wagers in this denomination."""
        return replace(self, play_meters_limited_to_denomination_cents=denomination_cents)

    def find_game(self, game_number: int) -> GameReadout | None:
        """Return the game that has this SAS number, or None."""
        return next((game for game in self.games if game.game_number == game_number), None)

    def convert_to_credits(self, amount_cents: int) -> int:
        """Return an amount of minor units in credits of the accounting denomination, rounded down."""
        return amount_cents // self.accounting_denomination_cents
