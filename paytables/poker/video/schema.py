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

    has_joker: bool = Field(default=False, alias="joker")
    """Whether the deck has a joker."""
    wild_ranks: WordList = Field(default=(), alias="wild")
    """The ranks that represent any card."""

    @field_validator("wild_ranks")
    @classmethod
    def _check_ranks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse a wild rank that is not a rank of cards."""
        if any(rank not in tuple(RANK_LETTERS) for rank in value):
            raise ValueError(f"{list(value)} contains a name that is not a rank; ranks are {RANK_LETTERS}")
        return value

    @property
    def ranking_rules(self) -> RankingRules:
        """Return the ranking order for hands of this deck."""
        wild_ranks = (*parse_wild_ranks(self.wild_ranks), *((JOKER_RANK,) if self.has_joker else ()))
        return (
            RankingRules(categories=HAND_CATEGORIES, wild_ranks=wild_ranks)
            if wild_ranks
            else FIVE_CARD_RANKING
        )


class VideoPokerPayRow(HandPayRow):
    """A row of the video poker pay table: the credits that it pays for each credit bet."""

    pay_per_credit: PositiveInt = Field(alias="pays")
    """The credits paid for each credit bet."""
    max_bet_pay_per_credit: PositiveInt | None = Field(default=None, alias="most_pays")
    """The credits paid for each credit at the maximum bet; None: the same as ``pay_per_credit``."""


class BetOptions(StrictTable):
    """The bets of a video poker game: credits per hand, and the number of hands that may be played from one deal."""

    credits_options: Annotated[tuple[PositiveInt, ...], Field(min_length=1)] = Field(
        default=(1, 2, 3, 4, 5), alias="credits"
    )
    """The numbers of credits that may be bet on a hand."""
    hand_counts: Annotated[tuple[PositiveInt, ...], Field(min_length=1)] = Field(default=(1,), alias="hands")
    """The numbers of hands that may be played from one deal."""

    @model_validator(mode="after")
    def _check_ascending(self) -> "BetOptions":
        """Refuse bets that are not ascending, or more than 100 video poker hands at once."""
        for name, values in (("credits", self.credits_options), ("hands", self.hand_counts)):
            if list(values) != sorted(set(values)):
                raise ValueError(f"{name} must be different and in ascending order")
        if self.hand_counts[-1] > 100:
            raise ValueError(f"hands: is {self.hand_counts[-1]}; at most 100 hands can be played at once")
        return self


class VideoPokerProgressiveLevel(StrictTable):
    """A video poker progressive level. One hand at the maximum credits plays for it.

    A hand that wins the row ``pay_row_id`` wins the level's amount instead of the row's pay. The cabinet stores the
    level's amount and pays it.
    """

    id: Identifier
    name: Text
    pay_row_id: Identifier = Field(alias="row")
    """The id of the pay-table row that hits the level."""
    reset_credits: PositiveInt
    """The level's amount after a hit, in credits."""
    increment: Annotated[str, Field(pattern=r"^\d+/[1-9]\d*$")] = "0/1"
    """The part of a bet that is added to the level's amount, as a fraction, if the bet plays for the level."""


class ProvedFigures(StrictTable):
    """Exact figures of video poker with the best holds, for one size of bet."""

    row_rates: tuple[FractionText, ...] = Field(alias="rates")
    """The probability of each row of the pay table, in the order of the rows."""
    mean_of_squared_deal_means: FractionText = Field(alias="deals")
    """The mean, over all deals, of the square of each deal's mean win per credit bet.

    It gives the covariance of several hands that are drawn from one deal.
    """
    worst_rtp: FractionText = Field(alias="worst")
    """The return with the worst holds."""
    simplest_rtp: FractionText | None = Field(default=None, alias="simplest")
    """The return with the published simple strategy; None: the definition names no such strategy."""
    policy: PackedPolicy
    """The cards to hold in each class of deals that differ in suits only, as packed data."""


class ProvedFiguresByBet(StrictTable):
    """The exact figures of a video poker game, for the maximum credits and for any other number of credits."""

    max_bet_figures: ProvedFigures = Field(alias="most")
    """The figures of a hand at the maximum credits."""
    lower_bet_figures: ProvedFigures | None = Field(default=None, alias="fewer")
    """The figures of a hand at fewer credits; None if its pays per credit are the same."""

    def find_figures(self, *, is_highest_bet: bool) -> ProvedFigures:
        """Return the figures for a hand bet at the maximum credits (``is_highest_bet``), or for any other hand."""
        return (
            self.max_bet_figures
            if is_highest_bet or self.lower_bet_figures is None
            else self.lower_bet_figures
        )


class HoldRule(StrictTable):
    """A line of a simple strategy in video poker: hold ``cards`` cards that meet the line's conditions.

    All wild cards are held too. The keys ``made`` and ``wild`` are conditions on the five dealt cards. All other keys
    are conditions on the held cards that are not wild.
    """

    held_card_count: Annotated[int, Field(ge=0, le=POLICY_HAND_CARD_COUNT)] = Field(alias="cards")
    """The number of cards that the line holds."""
    dealt_categories: tuple[HandCategory, ...] = Field(default=(), alias="made")
    """The combinations of the five dealt cards to which the line applies; empty: any."""
    dealt_wild_count: NaturalInt | None = Field(default=None, alias="wild")
    """The number of wild cards that must be among the dealt cards; None: any."""
    held_sets: Literal["none", "2", "2-2", "3", "4"] = Field(default="none", alias="sets")
    """What the held cards must form: none, a pair, two pairs, three or four of a kind."""
    rank_range: RankRange | None = Field(default=None, alias="of")
    """The permitted ranks of the held cards; None: any."""
    is_suited: bool = Field(default=False, alias="suited")
    """Whether the held cards must be of one suit."""
    is_consecutive: bool = Field(default=False, alias="row")
    """Whether the held cards must be of consecutive ranks."""
    straight_count_min: NaturalInt = Field(default=0, alias="ways")
    """How many different straights the held cards must fit into, at least."""


class SimpleStrategy(StrictTable):
    """A published simple strategy for holding video poker cards: a list of lines; the first one that fits applies.

    If a line fits more than one choice of held cards, the choice with the lowest ranks is held.
    """

    name: Text
    hold_rules: tuple[HoldRule, ...] = Field(alias="line")
    """The lines of the strategy. The first line that fits applies."""


class SimpleStrategyChoice(StrictTable):
    """The choice, by id, of one simple holding strategy of :file:`simple.toml`.

    A video poker game states its return with that strategy.
    """

    strategy_id: Identifier = Field(alias="way")
    """The id of the strategy in :file:`simple.toml`."""

    @property
    def simple_strategy(self) -> SimpleStrategy:
        """Return the simple holding strategy that has this id."""
        return _load_simple_strategies()[self.strategy_id]

    @field_validator("strategy_id")
    @classmethod
    def _check_strategy_id(cls, value: str) -> str:
        """Refuse an id that no simple holding strategy has."""
        if value not in _load_simple_strategies():
            raise ValueError(
                f"there is no simple strategy {value!r}; {format_known_names(value, _load_simple_strategies())}"
            )
        return value


@cache
def _load_simple_strategies() -> dict[str, SimpleStrategy]:
    """Return the simple strategies for holding video poker cards in :file:`simple.toml`, by id."""
    text = Path(__file__).with_name("simple.toml").read_text()
    return {
        strategy_id: SimpleStrategy.model_validate(strategy)
        for strategy_id, strategy in tomllib.loads(text).items()
    }


class VideoPokerDefinition(Definition):
    """A video poker game as its definition file describes it: deck, bets, pay table and proved figures."""

    deck: Deck = Deck()
    """The cards that are played with."""
    bets: BetOptions = BetOptions()
    """The permitted credits on a hand, and the permitted numbers of hands."""
    pay_rows: Annotated[tuple[VideoPokerPayRow, ...], Field(min_length=1)] = Field(alias="pay")
    """The rows of the pay table, best first."""
    progressive_level: VideoPokerProgressiveLevel | None = Field(default=None, alias="progressive")
    """The progressive level of the game; None: the game has none."""
    simplest_strategy: SimpleStrategyChoice | None = Field(default=None, alias="simplest")
    """The simple holding strategy for which the return is stated, or None."""
    proved: ProvedFiguresByBet | None = Field(None, description="written by `python -m tools.dev prove`")
    """The stored exact figures of the game; None: not stored."""

    @model_validator(mode="after")
    def _check_rows(self) -> "VideoPokerDefinition":
        """Refuse duplicate pay table rows, a level for an unknown row, and figures with another number of rows."""
        ids = [pay.id for pay in self.pay_rows]
        if len(set(ids)) != len(ids):
            raise ValueError("pay: two have the same id")
        if self.progressive_level is not None and self.progressive_level.pay_row_id not in ids:
            row = self.progressive_level.pay_row_id
            raise ValueError(f"progressive.row: there is no row {row!r}; {format_known_names(row, ids)}")
        for figures in (self.proved.max_bet_figures, self.proved.lower_bet_figures) if self.proved else ():
            if figures is not None and len(figures.row_rates) != len(ids):
                raise ValueError(
                    f"proved: has {len(figures.row_rates)} rates; expected one for each of the {len(ids)} rows"
                )
        return self

    @property
    def max_credits(self) -> int:
        """Return the maximum bet on one hand, in credits."""
        return self.bets.credits_options[-1]

    @property
    def cycle(self) -> int:
        """Return a number of equally likely rounds of one hand, whatever the player holds.

        It is the number of deals, times the least common multiple of the numbers of draws for 0 to 5 discarded cards.
        """
        cards = 53 if self.deck.has_joker else 52
        return comb(cards, POLICY_HAND_CARD_COUNT) * lcm(
            *(comb(cards - POLICY_HAND_CARD_COUNT, drawn) for drawn in range(POLICY_HAND_CARD_COUNT + 1))
        )

    @property
    def has_constant_pay_per_credit(self) -> bool:
        """Return whether each row pays the same per credit for every number of credits bet."""
        return self.progressive_level is None and all(
            pay.max_bet_pay_per_credit is None for pay in self.pay_rows
        )

    def find_level(self, credits_: int, hand_count: int) -> VideoPokerProgressiveLevel | None:
        """Return the progressive level for which ``hand_count`` hands of ``credits_`` credits play, or None."""
        return self.progressive_level if hand_count == 1 and credits_ == self.max_credits else None

    def list_pays(self, credits_: int) -> tuple[int, ...]:
        """Return the credits that each row of the pay table pays for ``credits_`` credits on a hand.

        A row that pays a progressive level counts with the level's reset amount.
        """
        pays = [pay.pay_per_credit * credits_ for pay in self.pay_rows]
        if credits_ == self.max_credits:
            pays = [(pay.max_bet_pay_per_credit or pay.pay_per_credit) * credits_ for pay in self.pay_rows]
            for n, pay in enumerate(self.pay_rows):
                if self.progressive_level is not None and pay.id == self.progressive_level.pay_row_id:
                    pays[n] = self.progressive_level.reset_credits
        return tuple(pays)
