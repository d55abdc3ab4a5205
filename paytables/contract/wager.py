"""What a player stakes: the spots a game offers, bets on them, and the wager they make together."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from paytables.contract.data import Json

#: The one spot of a game whose wager is a single bet: a spin of the reels, a Keno ticket.
WHOLE: Final = ""


@dataclass(frozen=True, slots=True)
class Bet:
    """Credits of one seat on one spot. In a wager a negative amount takes so much of a standing bet down."""

    spot: str
    credits: int
    seat: int = 0

    def to_json(self) -> dict[str, Json]:
        """Return the bet as the journal and the screen see it; :meth:`from_json` is the inverse."""
        seat = {"seat": self.seat} if self.seat else {}
        return {"spot": self.spot, "credits": self.credits, **seat}

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> "Bet":
        """Read a bet back."""
        return cls(spot=str(data["spot"]), credits=int(data["credits"]), seat=int(data.get("seat", 0)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A place for a bet: ``odds`` as the rules print them ("35:1"), what may be staked on it, in credits.

    A bet is ``least`` to ``most`` credits in steps of ``step``. ``open``: it takes bets as the table stands.
    ``needs``: a bet on that spot must stand or be placed with it. ``group`` gathers spots of one kind, which
    have one name and one price; ``names`` is what the player reads, by language. ``worth_cents``: a bet there
    is of exactly this sum in minor units, so that it is taken only where credits make that up.
    """

    id: str
    group: str
    names: Mapping[str, str]
    odds: str
    least: int
    most: int
    step: int = 1
    open: bool = True
    needs: str | None = None
    covers: tuple[str, ...] = ()
    """The single results it wins on, as the display names them: pockets of a wheel, totals of dice."""
    worth_cents: int | None = None
    share: int | None = None
    """The bet is one credit for each so many on the spot it needs, no more and no less: an insurance."""
    times: int | None = None
    """The bet is laid with the one it needs, so many times as high, no more and no less."""
    most_times: int | None = None
    """The bet is at most so many times the one it needs."""
    added: tuple[str, ...] = ()
    """Staked in a round alone: what it may be, in times the bet it needs ("1/2", "1", "3")."""
    reserve: Fraction = Fraction(0)
    """What the certified play may still stake in the round for each credit here: raises, doubles, splits."""
    optional: Fraction = Fraction(0)
    """What other options may stake in the round besides, for each credit here: an insurance."""
    terms: Mapping[str, str] | None = None
    """What a win pays in words, by language, where the odds do not say all: a commission, several prices."""

    def stakes_cents(self, denomination_cents: int) -> range:
        """Return what may be staked here at a denomination, in minor units; nothing where no bet is taken."""
        every = range(self.least, self.most + 1, self.step)
        found = range(
            every.start * denomination_cents, every.stop * denomination_cents, self.step * denomination_cents
        )
        if self.worth_cents is None:
            return found
        return range(self.worth_cents, self.worth_cents + (self.worth_cents in found))

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
            **({} if self.share is None else {"share": self.share}),
            **({} if self.times is None else {"times": self.times}),
            **({} if self.most_times is None else {"most_times": self.most_times}),
            **({"added": list(self.added)} if self.added else {}),
            **({"reserve": str(self.reserve)} if self.reserve else {}),
            **({} if self.terms is None else {"terms": dict(self.terms)}),
        }


@dataclass(frozen=True, slots=True)
class Wager:
    """A wager the game has accepted: its total in credits, and what the family needs to play it.

    At a table ``options["bets"]`` has the credits on each spot, by its id; of several seats
    ``options["seats"]`` has such a table for each seat, by its number. The total counts what is newly
    staked: what is taken down is given back as a settlement.

    Of a round that several players play each in a game of his own, ``options["bets"]`` are those of the
    ``seat``, and ``options["others"]`` has what lies at the other seats: it takes part in the round, and none
    of its money is in this wager.
    """

    credits: int
    options: Mapping[str, Json] = field(default_factory=dict)

    @property
    def seat(self) -> int | None:
        """Whose it is, of a round in which the others' answers count too; None where a wager is the round."""
        return self.options.get("seat")

    @property
    def bets(self) -> tuple[Bet, ...]:
        """Every bet of the wager; of a game without spots one bet, on :data:`WHOLE`."""
        if "seats" in self.options:
            return _laid(self.options["seats"])
        if isinstance(bets := self.options.get("bets"), Mapping):
            return _laid({str(self.seat or 0): bets})
        return (Bet(WHOLE, self.credits),)

    @property
    def by_seat(self) -> dict[int, dict[str, int]]:
        """The credits on each spot, of each seat that bets."""
        seats: dict[int, dict[str, int]] = {}
        for bet in self.bets:
            seats.setdefault(bet.seat, {})[bet.spot] = bet.credits
        return seats

    @property
    def others(self) -> tuple[Bet, ...]:
        """What lies at the other seats, and is nobody's money here."""
        return _laid(self.options.get("others", {}))

    def to_json(self) -> dict[str, Json]:
        """Return the wager as the journal keeps it; :meth:`from_json` is the inverse."""
        return {"credits": self.credits, "options": dict(self.options)}

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> "Wager":
        """Read a wager back. The game that plays it validates it again."""
        return cls(credits=int(data["credits"]), options=dict(data["options"]))


def _laid(seats: Mapping[str, Mapping[str, int]]) -> tuple[Bet, ...]:
    return tuple(
        Bet(spot, int(credits_), int(seat)) for seat, bets in seats.items() for spot, credits_ in bets.items()
    )
