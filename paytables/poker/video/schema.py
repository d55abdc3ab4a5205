"""The model of a video poker definition: the deck, the pay table, what may be bet."""

import tomllib
from functools import cache
from math import comb, lcm
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from paytables.cards import RANK_LETTERS
from paytables.cards.ranking import FIVE_CARD_RANKING, HAND_CATEGORIES, JOKER_RANK, RankingRules
from paytables.definition import Definition, Identifier, NaturalInt, PositiveInt, StrictTable, Text, WordList
from paytables.poker.pays import HandCategory, HandPayRow, RankRange, parse_wild_ranks
from paytables.poker.policy import POLICY_HAND_CARD_COUNT, PackedPolicy
from paytables.poker.proof import FractionText
from paytables.wording import format_known_names


class Deck(StrictTable):
    """The deck of a video poker game: 52 cards, with or without a joker.

    The joker and the ``wild`` ranks represent any card.
    """

    joker: bool = False
    """Whether the deck has a joker."""
    wild: WordList = ()
    """The ranks that represent any card."""

    @field_validator("wild")
    @classmethod
    def _check_ranks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse a wild rank that is not a rank of cards."""
        if any(rank not in tuple(RANK_LETTERS) for rank in value):
            raise ValueError(f"{list(value)} contains a name that is not a rank; ranks are {RANK_LETTERS}")
        return value

    @property
    def ranking_rules(self) -> RankingRules:
        """Return the ranking order for hands of this deck."""
        wild = (*parse_wild_ranks(self.wild), *((JOKER_RANK,) if self.joker else ()))
        return RankingRules(categories=HAND_CATEGORIES, wild_ranks=wild) if wild else FIVE_CARD_RANKING


class VideoPokerPayRow(HandPayRow):
    """A row of the video poker pay table: the credits that it pays for each credit bet."""

    pays: PositiveInt
    """The credits paid for each credit bet."""
    most_pays: PositiveInt | None = None
    """The credits paid for each credit at the maximum bet; None: the same as ``pays``."""


class BetOptions(StrictTable):
    """The bets of a video poker game: credits per hand, and the number of hands that may be played from one deal."""

    credits: Annotated[tuple[PositiveInt, ...], Field(min_length=1)] = (1, 2, 3, 4, 5)
    """The numbers of credits that may be bet on a hand."""
    hands: Annotated[tuple[PositiveInt, ...], Field(min_length=1)] = (1,)
    """The numbers of hands that may be played from one deal."""

    @model_validator(mode="after")
    def _check_ascending(self) -> "BetOptions":
        """Refuse bets that are not ascending, or more than 100 video poker hands at once."""
        for name, values in (("credits", self.credits), ("hands", self.hands)):
            if list(values) != sorted(set(values)):
                raise ValueError(f"{name} must be different and in ascending order")
        if self.hands[-1] > 100:
            raise ValueError(f"hands: is {self.hands[-1]}; at most 100 hands can be played at once")
        return self


class Progressive(StrictTable):
    """A video poker progressive level. One hand at the maximum credits plays for it.

    A hand that wins the row ``row`` wins the level's amount instead of the row's pay. The cabinet stores the level's
    amount and pays it.
    """

    id: Identifier
    name: Text
    row: Identifier
    """The id of the pay-table row that hits the level."""
    reset_credits: PositiveInt
    """The level's amount after a hit, in credits."""
    increment: Annotated[str, Field(pattern=r"^\d+/[1-9]\d*$")] = "0/1"
    """The part of a bet that is added to the level's amount, as a fraction, if the bet plays for the level."""


class ProvedFigures(StrictTable):
    """Exact figures of the best video poker holds for one number of credits bet."""

    rates: tuple[FractionText, ...]
    """The probability of each row of the pay table, in the order of the rows."""
    deals: FractionText
    """The mean, over all deals, of the squared mean win of the deal for each credit bet."""
    worst: FractionText
    """The return with the worst holds."""
    simplest: FractionText | None = None
    """The return with the published simple strategy, or None."""
    policy: PackedPolicy
    """The cards to hold in each class of deals that differ in suits only, as packed data."""


class ProvedFiguresByBet(StrictTable):
    """The exact figures of a video poker game, for the maximum credits and for any other number of credits."""

    most: ProvedFigures
    """The figures of a hand at the maximum credits."""
    fewer: ProvedFigures | None = None
    """The figures of a hand at fewer credits; None if its pays per credit are the same."""

    def find_figures(self, *, is_highest_bet: bool) -> ProvedFigures:
        """Return the figures for a hand bet at the maximum credits (``is_highest_bet``), or for any other hand."""
        return self.most if is_highest_bet or self.fewer is None else self.fewer


class HoldRule(StrictTable):
    """A line of a simple strategy in video poker: hold ``cards`` cards that meet the line's conditions.

    All wild cards are held too. ``made`` and ``wild`` are conditions on the five dealt cards. All other conditions are
    on the held cards that are not wild.
    """

    cards: Annotated[int, Field(ge=0, le=POLICY_HAND_CARD_COUNT)]
    """The number of cards that the line holds."""
    made: tuple[HandCategory, ...] = ()
    """The combinations of the five dealt cards to which the line applies; empty: any."""
    wild: NaturalInt | None = None
    """The number of wild cards that must be among the dealt cards; None: any."""
    sets: Literal["none", "2", "2-2", "3", "4"] = "none"
    """What the held cards must form: none, a pair, two pairs, three or four of a kind."""
    of: RankRange | None = None
    """The permitted ranks of the held cards; None: any."""
    suited: bool = False
    """Whether the held cards must be of one suit."""
    row: bool = False
    """Whether the held cards must be of consecutive ranks."""
    ways: NaturalInt = 0
    """How many different straights the held cards must fit into, at least."""


class SimpleStrategy(StrictTable):
    """A published simple strategy for holding video poker cards: lines, of which the first that fits applies.

    If a line fits more than one choice of held cards, the choice with the lowest ranks is held.
    """

    name: Text
    line: tuple[HoldRule, ...]
    """The lines of the strategy. The first line that fits applies."""


class SimplestStrategy(StrictTable):
    """The choice, by name, of one simple holding strategy of :file:`simple.toml`.

    A video poker game states its return with that strategy.
    """

    way: Identifier
    """The id of the strategy in :file:`simple.toml`."""

    @property
    def simple_strategy(self) -> SimpleStrategy:
        """Return the simple holding strategy that has this name."""
        return _load_simple_strategies()[self.way]

    @field_validator("way")
    @classmethod
    def _check_strategy_name(cls, value: str) -> str:
        """Refuse a name for which no simple holding strategy exists."""
        if value not in _load_simple_strategies():
            raise ValueError(
                f"there is no way {value!r}; {format_known_names(value, _load_simple_strategies())}"
            )
        return value


@cache
def _load_simple_strategies() -> dict[str, SimpleStrategy]:
    """Return the simple strategies for holding video poker cards in :file:`simple.toml`, by name."""
    text = Path(__file__).with_name("simple.toml").read_text()
    return {name: SimpleStrategy.model_validate(way) for name, way in tomllib.loads(text).items()}


class VideoPokerDefinition(Definition):
    """The definition of a video poker game."""

    deck: Deck = Deck()
    """The cards that are played with."""
    bets: BetOptions = BetOptions()
    """The permitted credits on a hand, and the permitted numbers of hands."""
    pay: Annotated[tuple[VideoPokerPayRow, ...], Field(min_length=1)]
    """The rows of the pay table, best first."""
    progressive: Progressive | None = None
    """The progressive level of the game, or None."""
    simplest: SimplestStrategy | None = None
    """The simple holding strategy for which the return is stated, or None."""
    proved: ProvedFiguresByBet | None = Field(None, description="written by `python -m tools.dev prove`")
    """The stored exact figures, or None."""

    @model_validator(mode="after")
    def _check_rows(self) -> "VideoPokerDefinition":
        """Refuse duplicate pay table rows, a level for an unknown row, and figures with another number of rows."""
        ids = [pay.id for pay in self.pay]
        if len(set(ids)) != len(ids):
            raise ValueError("pay: two have the same id")
        if self.progressive is not None and self.progressive.row not in ids:
            row = self.progressive.row
            raise ValueError(f"progressive.row: there is no row {row!r}; {format_known_names(row, ids)}")
        for figures in (self.proved.most, self.proved.fewer) if self.proved else ():
            if figures is not None and len(figures.rates) != len(ids):
                raise ValueError(
                    f"proved: has {len(figures.rates)} rates; expected one for each of the {len(ids)} rows"
                )
        return self

    @property
    def max_credits(self) -> int:
        """Return the maximum bet on one hand, in credits."""
        return self.bets.credits[-1]

    @property
    def cycle(self) -> int:
        """Return the number of equally likely rounds of one hand: the deals times the draws that may follow each."""
        cards = 53 if self.deck.joker else 52
        return comb(cards, POLICY_HAND_CARD_COUNT) * lcm(
            *(comb(cards - POLICY_HAND_CARD_COUNT, drawn) for drawn in range(POLICY_HAND_CARD_COUNT + 1))
        )

    @property
    def has_constant_pay_per_credit(self) -> bool:
        """Return whether each row pays the same per credit for every number of credits bet."""
        return self.progressive is None and all(pay.most_pays is None for pay in self.pay)

    def find_level(self, credits_: int, hand_count: int) -> Progressive | None:
        """Return the progressive level for which ``hand_count`` hands of ``credits_`` credits play, or None."""
        return self.progressive if hand_count == 1 and credits_ == self.max_credits else None

    def list_pays(self, credits_: int) -> tuple[int, ...]:
        """Return the credits that each row of the pay table pays for ``credits_`` credits on a hand.

        A row that pays a progressive level counts with the level's reset amount.
        """
        pays = [pay.pays * credits_ for pay in self.pay]
        if credits_ == self.max_credits:
            pays = [(pay.most_pays or pay.pays) * credits_ for pay in self.pay]
            for n, pay in enumerate(self.pay):
                if self.progressive is not None and pay.id == self.progressive.row:
                    pays[n] = self.progressive.reset_credits
        return tuple(pays)
