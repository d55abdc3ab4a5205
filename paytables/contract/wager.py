"""Spots of a game, bets on them, and the wager made of those bets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from paytables.contract.data import Json

#: The only spot of a game whose wager is a single bet: a spin of the reels, a Keno ticket.
SINGLE_SPOT: Final = ""


@dataclass(frozen=True, slots=True)
class TimeCharge:
    """What each player at a table pays for the time played, beyond the stakes: ``credits`` for each ``minutes``."""

    credits: int
    """The credits that each player pays for a period."""
    minutes: int
    """The length of the period, in minutes."""


@dataclass(frozen=True, slots=True)
class TimeToAct:
    """The time that a player has for a decision for which other players wait.

    The reserve (time bank) is one for all decisions, from the player's first credit until the player leaves.
    """

    seconds: int = 20
    """The seconds that a player has for each decision."""
    bank_seconds: int = 0
    """The player's reserve of seconds for decisions that take longer."""


@dataclass(frozen=True, slots=True)
class Bet:
    """The credits of one seat on one spot. In a wager, a negative amount takes credits off a standing bet."""

    spot: str
    """The id of the betting spot."""
    credits: int
    """The credits on the spot; negative to take credits off a standing bet."""
    seat: int = 0
    """The seat that bets, if one player bets for several seats."""

    def to_json(self) -> dict[str, Json]:
        """Return the bet as the JSON object that journal and screen use; :meth:`from_json` is the inverse."""
        seat = {"seat": self.seat} if self.seat else {}
        return {"spot": self.spot, "credits": self.credits, **seat}

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> "Bet":
        """Return the bet in a JSON object from :meth:`to_json`."""
        return cls(spot=str(data["spot"]), credits=int(data["credits"]), seat=int(data.get("seat", 0)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A betting spot of a game: where a bet is placed, its odds as printed, and its limits in credits."""

    id: str
    """The id of the spot, unique on the table."""
    group: str
    """The id of the kind of bet; spots of one kind have one name and one price."""
    names: Mapping[str, str]
    """The name of the bet for the player, by language."""
    odds: str
    """The odds as the rules print them, such as ``35:1``."""
    least: int
    """The smallest bet, in credits."""
    most: int
    """The largest bet, in credits."""
    step: int = 1
    """Every bet must be a multiple of this number of credits."""
    open: bool = True
    """Whether the spot accepts bets in the table's current state."""
    needs: str | None = None
    """The id of the spot on which a bet must also stand or be placed, or None."""
    excludes: tuple[str, ...] = ()
    """The spots on which the same player may not bet in the same round."""
    hand_of: int | None = None
    """The seat whose hand the bet is on, if only other players may make the bet; otherwise None."""
    covers: tuple[str, ...] = ()
    """The single results on which the bet wins, as the display names them: wheel pockets or dice totals."""
    worth_cents: int | None = None
    """The exact value that a bet must have, in minor units of the currency; None: any."""
    share: int | None = None
    """For an insurance, the credits on the required spot per credit of this bet; None for any other bet."""
    times: int | None = None
    """The exact multiple of the required bet that this bet must be, or None if it is not fixed."""
    most_times: int | None = None
    """The largest multiple of the required bet that this bet may be, or None if it is not limited."""
    added: tuple[str, ...] = ()
    """The permitted multiples of the required bet, such as ``"1/2"`` or ``"3"``, of a stake that is added in a round.

    Empty for a bet that is placed before the round.
    """
    reserve: Fraction = Fraction(0)
    """Credits that the certified strategy may still add in the round for each credit bet here, by raises or splits."""
    optional: Fraction = Fraction(0)
    """Credits that other options, such as insurance, may add in the round for each credit bet here."""
    terms: Mapping[str, str] | None = None
    """Text on what a win pays, by language, if the odds alone do not say it (for example, a commission); else None."""

    def stakes_cents(self, denomination_cents: int) -> range:
        """Return the stakes possible on this spot at a denomination, in minor units; empty if no bet is accepted."""
        every = range(self.least, self.most + 1, self.step)
        stakes = range(
            every.start * denomination_cents, every.stop * denomination_cents, self.step * denomination_cents
        )
        if self.worth_cents is None:
            return stakes
        return range(self.worth_cents, self.worth_cents + (self.worth_cents in stakes))

    def to_json(self) -> dict[str, Json]:
        """Return the spot as the screen reads it in ``presentation()["spots"]``."""
        return {
            "id": self.id,
            "group": self.group,
            "names": dict(self.names),
            "odds": self.odds,
            "least": self.least,
            "most": self.most,
            "step": self.step,
            "open": self.open,
            "needs": self.needs,
            "covers": list(self.covers),
            **({"excludes": list(self.excludes)} if self.excludes else {}),
            **({} if self.share is None else {"share": self.share}),
            **({} if self.times is None else {"times": self.times}),
            **({} if self.most_times is None else {"most_times": self.most_times}),
            **({"added": list(self.added)} if self.added else {}),
            **({"reserve": str(self.reserve)} if self.reserve else {}),
            **({} if self.terms is None else {"terms": dict(self.terms)}),
        }


@dataclass(frozen=True, slots=True)
class Wager:
    """A wager accepted by the game: its total in credits, and what the family needs to play it.

    At a table ``options["bets"]`` has the credits on each spot, by its id; with several seats
    ``options["seats"]`` has such a table for each seat, by its number. The total counts only new stakes: bets
    taken down are returned by a settlement.

    If several players play the same round, each in their own game, ``options["bets"]`` are those of the
    ``seat``, and ``options["others"]`` has the bets of the other seats: they affect the round, but this wager
    does not include their money.
    """

    credits: int
    """The total of new stakes; bets taken down are returned by a settlement."""
    options: Mapping[str, Json] = field(default_factory=dict)
    """What the game needs to play the wager: the mode, the level, or the credits on each spot."""

    @property
    def seat(self) -> int | None:
        """Return the seat of a wager in a shared round, or None if the wager is the entire round."""
        return self.options.get("seat")

    @property
    def bets(self) -> tuple[Bet, ...]:
        """Return every bet of the wager; for a game without spots, its one bet on :data:`SINGLE_SPOT`."""
        if "seats" in self.options:
            return _build_bets(self.options["seats"])
        if isinstance(bets := self.options.get("bets"), Mapping):
            return _build_bets({str(self.seat or 0): bets})
        return (Bet(SINGLE_SPOT, self.credits),)

    @property
    def by_seat(self) -> dict[int, dict[str, int]]:
        """Return, for each seat that bets, the credits on each spot."""
        seats: dict[int, dict[str, int]] = {}
        for bet in self.bets:
            seats.setdefault(bet.seat, {})[bet.spot] = bet.credits
        return seats

    @property
    def others(self) -> tuple[Bet, ...]:
        """Return the bets of the other seats in a shared round. Their money is not part of this wager."""
        return _build_bets(self.options.get("others", {}))

    def to_json(self) -> dict[str, Json]:
        """Return the wager as the journal stores it; :meth:`from_json` is the inverse."""
        return {"credits": self.credits, "options": dict(self.options)}

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> "Wager":
        """Return the wager in a JSON object from :meth:`to_json`. The game that plays it validates it again."""
        return cls(credits=int(data["credits"]), options=dict(data["options"]))


def _build_bets(seats: Mapping[str, Mapping[str, int]]) -> tuple[Bet, ...]:
    """Return the bets in a wager's table of credits by seat and spot."""
    return tuple(
        Bet(spot, int(credits_), int(seat)) for seat, bets in seats.items() for spot, credits_ in bets.items()
    )
