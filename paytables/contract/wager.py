"""Spots of a game, bets on them, and the wager that consists of these bets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from paytables.contract.data import Json

#: The only spot of a game whose wager is a single bet: a spin of the reels, a Keno ticket.
SINGLE_SPOT_ID: Final = ""


@dataclass(frozen=True, slots=True)
class TimeCharge:
    """A charge that each player at a table pays for the time played, in addition to the stakes."""

    credits: int
    """The credits that each player pays for each period."""
    minutes: int
    """The length of one period, in minutes."""


@dataclass(frozen=True, slots=True)
class TimeToAct:
    """The time that a player has for a decision while other players wait."""

    seconds: int = 20
    """The seconds that a player has for each decision."""
    bank_seconds: int = 0
    """The player's time bank: seconds of reserve for all longer decisions together, until the player leaves."""


@dataclass(frozen=True, slots=True)
class Bet:
    """The credits that one seat bets on one spot."""

    spot: str
    """The id of the betting spot."""
    credits: int
    """The credits on the spot; negative to take credits off a standing bet."""
    seat: int = 0
    """The number of the seat that bets; 0 in a game with one seat."""

    def to_json(self) -> dict[str, Json]:
        """Return the bet as the JSON object that journal and screen use; :meth:`from_json` is the inverse."""
        seat = {"seat": self.seat} if self.seat else {}
        return {"spot": self.spot, "credits": self.credits, **seat}

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> "Bet":
        """Return the bet that :meth:`to_json` has written to the JSON object ``data``."""
        return cls(spot=str(data["spot"]), credits=int(data["credits"]), seat=int(data.get("seat", 0)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A betting spot of a game: where a bet is placed, its odds as printed, and its limits in credits."""

    id: str
    """The id of the spot, unique on the table."""
    group: str
    """The id of the kind of bet, such as all straight-up bets of a roulette table."""
    names: Mapping[str, str]
    """The name of the bet for the player, by language."""
    odds: str
    """The odds as the rules print them, such as ``35:1``."""
    bet_min: int
    """The smallest bet, in credits."""
    bet_max: int
    """The largest bet, in credits."""
    bet_step: int = 1
    """Every bet must be a multiple of this number of credits."""
    accepts_bets: bool = True
    """Whether the spot accepts bets in the table's current state."""
    required_spot: str | None = None
    """The id of the spot on which the player must also have a bet, or None."""
    excluded_spots: tuple[str, ...] = ()
    """The ids of the spots that cannot have a bet of the same player in the same round."""
    hand_seat: int | None = None
    """For a bet on the hand of another player: the number of the seat that plays the hand; otherwise None."""
    covered_results: tuple[str, ...] = ()
    """The single results on which the bet wins, as the display names them: wheel pockets, dice totals, or two dice."""
    worth_cents: int | None = None
    """The exact value that a bet must have, in minor units of the currency; None: any value."""
    insured_credits_per_credit: int | None = None
    """For an insurance: the credits on the required spot that one credit of this bet insures; otherwise None."""
    required_multiple: int | None = None
    """The exact multiple of the required bet that this bet must be, or None if it is not fixed."""
    required_multiple_max: int | None = None
    """The largest multiple of the required bet that this bet may be, or None if it is not limited."""
    added_bet_multiples: tuple[str, ...] = ()
    """For a stake that is added in a round: its permitted multiples of the required bet, such as ``"1/2"`` or ``"3"``.

    Empty for a bet that is placed before the round.
    """
    reserve_per_credit: Fraction = Fraction(0)
    """The most that the certified strategy can add to this bet in the round by raises and splits, per credit of it."""
    optional_per_credit: Fraction = Fraction(0)
    """The most that other options, such as insurance, can add to this bet in the round, per credit of it."""
    terms: Mapping[str, str] | None = None
    """Text on what a win pays, by language, if the odds alone do not say it (for example, a commission); else None."""

    def list_stakes_cents(self, denomination_cents: int) -> range:
        """Return the possible bets on this spot at a denomination, in minor units of the currency.

        If the rules fix the value of a bet (``worth_cents``), the only possible bet is that value; the result is empty
        if the limits do not permit it at this denomination.
        """
        stakes_cents = range(
            self.bet_min * denomination_cents,
            (self.bet_max + 1) * denomination_cents,
            self.bet_step * denomination_cents,
        )
        if self.worth_cents is None:
            return stakes_cents
        return range(self.worth_cents, self.worth_cents + 1) if self.worth_cents in stakes_cents else range(0)

    def to_json(self) -> dict[str, Json]:
        """Return the spot as the JSON object that the screen reads."""
        return {
            "id": self.id,
            "group": self.group,
            "names": dict(self.names),
            "odds": self.odds,
            "least": self.bet_min,
            "most": self.bet_max,
            "step": self.bet_step,
            "open": self.accepts_bets,
            "needs": self.required_spot,
            "covers": list(self.covered_results),
            **({"excludes": list(self.excluded_spots)} if self.excluded_spots else {}),
            **({} if self.insured_credits_per_credit is None else {"share": self.insured_credits_per_credit}),
            **({} if self.required_multiple is None else {"times": self.required_multiple}),
            **({} if self.required_multiple_max is None else {"most_times": self.required_multiple_max}),
            **({"added": list(self.added_bet_multiples)} if self.added_bet_multiples else {}),
            **({"reserve": str(self.reserve_per_credit)} if self.reserve_per_credit else {}),
            **({} if self.terms is None else {"terms": dict(self.terms)}),
        }


@dataclass(frozen=True, slots=True)
class Wager:
    """A wager that the game's rules have accepted.

    At a table, ``options["bets"]`` maps the id of each spot to the credits bet on it. If one player bets for
    several seats, ``options["seats"]`` maps each seat number to such a mapping instead.

    In a shared round each player has a wager of their own. Its ``options["bets"]`` are the bets of the seat
    ``options["seat"]``, and ``options["others"]`` maps the number of each other seat to the bets of that seat.
    Those bets affect the round, but their money is not part of this wager.
    """

    credits: int
    """The total of the new stakes. Credits taken off standing bets are not subtracted: a settlement returns them."""
    options: Mapping[str, Json] = field(default_factory=dict)
    """What the game needs to play the wager, such as the mode and the bet level, or the credits on each spot."""

    @property
    def seat(self) -> int | None:
        """Return the seat of a wager in a shared round, or None if the wager is the entire round."""
        return self.options.get("seat")

    @property
    def bets(self) -> tuple[Bet, ...]:
        """Return every bet of the wager; a game without spots has one bet, on :data:`SINGLE_SPOT_ID`."""
        if "seats" in self.options:
            return _build_bets(self.options["seats"])
        if isinstance(bets := self.options.get("bets"), Mapping):
            return _build_bets({str(self.seat or 0): bets})
        return (Bet(SINGLE_SPOT_ID, self.credits),)

    @property
    def bets_by_seat(self) -> dict[int, dict[str, int]]:
        """Return the credits bet on each spot, by seat number and spot id; only seats that bet are included."""
        seats: dict[int, dict[str, int]] = {}
        for bet in self.bets:
            seats.setdefault(bet.seat, {})[bet.spot] = bet.credits
        return seats

    @property
    def bets_of_other_seats(self) -> tuple[Bet, ...]:
        """Return the bets of the other seats in a shared round. Their money is not part of this wager."""
        return _build_bets(self.options.get("others", {}))

    def to_json(self) -> dict[str, Json]:
        """Return the wager as the journal stores it; :meth:`from_json` is the inverse."""
        return {"credits": self.credits, "options": dict(self.options)}

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> "Wager":
        """Return the wager that :meth:`to_json` has written to the JSON object ``data``; it is not validated here."""
        return cls(credits=int(data["credits"]), options=dict(data["options"]))


def _build_bets(credits_by_seat: Mapping[str, Mapping[str, int]]) -> tuple[Bet, ...]:
    """Return one bet for each entry of ``credits_by_seat``: the credits by seat number and spot id."""
    return tuple(
        Bet(spot, int(credits_), int(seat))
        for seat, bets in credits_by_seat.items()
        for spot, credits_ in bets.items()
    )
