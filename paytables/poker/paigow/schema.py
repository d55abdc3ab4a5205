"""The model of a pai gow poker definition: the stake, the bets beside it, how the bank sets its cards."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from paytables.cards import RANKS, cards_of
from paytables.definition import NaturalInt, Strict
from paytables.layout import Limits, Odds, Pay
from paytables.poker.two_hands import Chances, TwoHandsDefinition

#: The sizes of the sets among seven cards, the largest first, the joker an ace: two pairs are ``2-2``.
Shape = Literal["", "2", "2-2", "2-2-2", "3", "3-2", "3-2-2", "3-3", "4", "4-2", "4-3", "5", "5-2"]
Ranks = Annotated[str, StringConstraints(pattern=f"^[{RANKS}]{{1,3}}$")]


class HouseWay(Strict):
    """A line of the house way. Of the settings it fits, the one with the best low hand is taken.

    It is for cards of these ``shapes`` (all where there are none), whose sets are each at ``most`` and at
    ``least`` of these ranks, in the order of the shape. ``high`` and ``low`` are the lowest hands that the
    setting may have, as cards.
    """

    shapes: tuple[Shape, ...] = ()
    most: Ranks | None = None
    least: Ranks | None = None
    high: str | None = None
    low: str | None = None

    @model_validator(mode="after")
    def _whole(self) -> "HouseWay":
        for cards, count in ((self.high, 5), (self.low, 2)):
            if cards is not None and len(cards_of(cards)) != count:
                raise ValueError(f"{cards!r}: is not {count} cards")
        return self


class Remaining(Strict):
    """Bets on the total of the cards that remain (s.48), and what cards count of which the text says nothing.

    ``under``, ``over`` and ``exactly`` are what each pays.
    """

    total: NaturalInt = 26
    limits: Limits = Limits(least=2, most=200, step=2)
    needs: Literal["stake"] | None = Field(None, description="the bet without which this one is none")
    ace: NaturalInt = 1
    face: NaturalInt = 10
    joker: NaturalInt = 1
    under: Pay
    over: Pay
    exactly: Pay

    @property
    def bets(self) -> dict[str, tuple[Odds, dict[str, str]]]:
        """By spot what a bet pays and is called."""
        n = self.total
        return {
            "under": (self.under, {"en": f"Under {n}", "fr": f"Moins de {n}"}),
            "exactly": (self.exactly, {"en": f"Exactly {n}", "fr": f"{n} exactement"}),
            "over": (self.over, {"en": f"Over {n}", "fr": f"Plus de {n}"}),
        }


class Position(Strict):
    """Bets on the position that has the first cards, where a random number says which (s.48.1)."""

    limits: Limits = Limits(least=2, most=200, step=2)
    needs: Literal["stake"] | None = Field(None, description="the bet without which this one is none")
    pays: Pay


class Proof(Chances):
    """The chances of whoever sets his cards as the bank does, and of the best settings there are."""

    best: Chances


class PaiGowPokerDefinition(TwoHandsDefinition):
    """A whole game of pai gow poker. The text leaves open how the bank sets its cards: ``house`` says it."""

    house: Annotated[tuple[HouseWay, ...], Field(min_length=1)]
    remaining: Remaining | None = None
    position: Position | None = None
    proved: Proof | None = Field(None, description="as `python -m tools.dev prove` says")

    @model_validator(mode="after")
    def _every_hand(self) -> "PaiGowPokerDefinition":
        if self.house[-1] != HouseWay():
            raise ValueError("house: the last line fits every hand: it has no key")
        return self

    def pay_lines(self) -> dict[str, list[str]]:
        """Return what the bets beside the stake pay, by language."""
        bets = [] if self.remaining is None else list(self.remaining.bets.values())
        if self.position is not None:
            bets.append((self.position.pays, {"en": "The first position", "fr": "Le premier emplacement"}))
        colons = {"en": ":", "fr": " :"}
        return {
            code: [f"{names[code]}{colon} {odds.texts_by_language()[code]}." for odds, names in bets]
            for code, colon in colons.items()
        }
