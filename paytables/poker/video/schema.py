"""The model of a video poker definition: the deck, the pay table, what may be bet."""

from typing import Annotated

from pydantic import Field, field_validator, model_validator

from paytables.cards import RANKS
from paytables.cards.ranking import CATEGORIES, FIVE, JOKER_RANK, Order
from paytables.definition import Definition, Listed, PositiveInt, Strict
from paytables.poker.pays import HandRow, wild_ranks


class Deck(Strict):
    """52 cards, with a joker or not; the joker and ``wild`` ranks stand for any card."""

    joker: bool = False
    wild: Listed = ()

    @field_validator("wild")
    @classmethod
    def _ranks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if any(rank not in tuple(RANKS) for rank in value):
            raise ValueError(f"{list(value)} are not all ranks; ranks are {RANKS}")
        return value

    @property
    def order(self) -> Order:
        """How its hands rank."""
        wild = (*wild_ranks(self.wild), *((JOKER_RANK,) if self.joker else ()))
        return Order(categories=CATEGORIES, wild=wild) if wild else FIVE


class Pay(HandRow):
    """A row of the pay table: ``pays`` credits for each credit bet, ``most_pays`` where the most is bet."""

    pays: PositiveInt
    most_pays: PositiveInt | None = None


class Bets(Strict):
    """Credits a hand, and how many hands may be played of one deal."""

    credits: Annotated[tuple[PositiveInt, ...], Field(min_length=1)] = (1, 2, 3, 4, 5)
    hands: Annotated[tuple[PositiveInt, ...], Field(min_length=1)] = (1,)

    @model_validator(mode="after")
    def _ascend(self) -> "Bets":
        for name, values in (("credits", self.credits), ("hands", self.hands)):
            if list(values) != sorted(set(values)):
                raise ValueError(f"{name} are different and ascending")
        if self.hands[-1] > 100:
            raise ValueError(f"hands: {self.hands[-1]}; at most 100 are played at once")
        return self


class VideoPokerDefinition(Definition):
    """A whole video poker game."""

    deck: Deck = Deck()
    bets: Bets = Bets()
    pay: Annotated[tuple[Pay, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _ids(self) -> "VideoPokerDefinition":
        if len({pay.id for pay in self.pay}) != len(self.pay):
            raise ValueError("pay: two have the same id")
        return self

    def pays(self, credits_: int) -> tuple[int, ...]:
        """Return what each row pays for so many credits bet on a hand, in credits."""
        most = credits_ == self.bets.credits[-1]
        return tuple(((most and pay.most_pays) or pay.pays) * credits_ for pay in self.pay)
