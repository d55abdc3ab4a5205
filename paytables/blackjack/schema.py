"""The model of a blackjack table: the house rules, each with a key, and the side bets.

A value is 1 (ace) to 10 (ten and faces). :class:`AnalysedHouseRules` has the rules in the form the solver reads.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, StringConstraints, model_validator

from paytables.cards.card import ACE_RANK, RANK_LETTERS, Card, get_rank, get_suit, is_red
from paytables.definition import Identifier, StrictTable, Text
from paytables.layout import BetLimits, Odds, WrittenOdds
from paytables.poker.policy import PackedPolicy
from paytables.poker.proof import FractionText
from paytables.side_bets import OddsOrLevelShare

#: The blackjack value of each card rank, two to ace.
CARD_VALUE_BY_RANK: Final = (2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10, 1)
#: The blackjack value of each card.
_VALUES_BY_CARD: Final = tuple(value for value in CARD_VALUE_BY_RANK for _ in range(4))
#: The value of an ace.
ACE_VALUE: Final = 1
#: The value of tens and faces.
TEN_VALUE: Final = 10
#: The best total.
BEST_HAND_TOTAL: Final = 21
#: The maximum number of boxes at a table (Québec s. 16).
BOXES_MAX: Final = 7
#: The maximum number of hands that the dealer plays (Multi-Action, Québec s. 26.3).
DEALER_HANDS_MAX: Final = 3
#: Odds of one to one.
EVEN_MONEY_ODDS: Final = Odds.parse("1:1")
#: The name of the insurance.
INSURANCE_TEXT: Final = Text(en="Insurance", fr="Assurance")

#: A pay of the table other than a plain win: the spot of its stake, its name, its title and its odds.
NamedPay: TypeAlias = tuple[str, str, Text, Odds]
#: The ranks of a hand, as letters.
RankLetters = Annotated[str, StringConstraints(pattern=rf"^[{RANK_LETTERS}]{{1,5}}$")]


def get_card_value(card: Card) -> int:
    """Return the blackjack value of a card, an ace as 1."""
    return _VALUES_BY_CARD[card]


def compute_best_total(values: Sequence[int]) -> tuple[int, bool]:
    """Return the best blackjack total of some card values, and whether it is soft (counts an ace as 11)."""
    hard = sum(values)
    soft = ACE_VALUE in values and hard + 10 <= BEST_HAND_TOTAL
    return (hard + 10 if soft else hard), soft


def is_blackjack(values: Sequence[int]) -> bool:
    """Return whether two card values are an ace and a ten. Do not call it for a hand that comes from a split."""
    return sorted(values) == [ACE_VALUE, TEN_VALUE]


@dataclass(frozen=True, slots=True)
class AnalysedHouseRules:
    """The house rules of a blackjack table as the exact analysis needs them; odds are net, per credit staked."""

    deck_count: int
    """The number of decks in the shoe."""
    has_hole_card: bool
    """Whether the dealer looks at a hidden second card before the players act."""
    hits_soft_17: bool
    """Whether the dealer draws to a soft 17."""
    original_bets_only: bool
    """Whether a dealer's blackjack takes only the first stake of a box."""
    blackjack_odds: Fraction
    """The odds that a blackjack pays."""
    double_totals: frozenset[int]
    """The totals of two cards that may be doubled."""
    double_after_split: bool
    """Whether a hand of a split may be doubled."""
    hands_max: int
    """How many hands a pair may become at most, by splits."""
    ace_hands_max: int
    """How many hands a pair of aces may become at most, by splits."""
    aces_get_one_card: bool
    """Whether split aces get only one more card each."""
    splits_same_rank_only: bool
    """Whether only two cards of one rank, not of one value, may be split."""
    insurance_odds: Fraction | None
    """The odds of insurance, or None if it is not offered."""
    even_money_up_cards: frozenset[int]
    """The values of the dealer's up card for which the holder of a blackjack may take 1:1 at once."""
    sevens_odds: Fraction | None
    """The odds of three sevens, which win at once; None: an ordinary 21."""
    suited_678_odds: Fraction | None
    """The odds of a suited 6, 7 and 8, which win at once; None: an ordinary 21."""

    def can_double(self, values: Sequence[int], *, split: bool) -> bool:
        """Return whether a two-card blackjack hand of these values may be doubled, after a split if ``split``."""
        if len(values) != 2 or (split and not self.double_after_split):
            return False
        best_total, soft = compute_best_total(values)
        counts = {best_total} if not soft or best_total == BEST_HAND_TOTAL else {best_total, best_total - 10}
        return bool(counts & self.double_totals)

    def should_dealer_draw(self, values: Sequence[int]) -> bool:
        """Return whether the dealer takes another card with a hand of these card values."""
        best_total, soft = compute_best_total(values)
        return best_total < 17 or (best_total == 17 and soft and self.hits_soft_17)


class DoubleRules(StrictTable):
    """Rules on doubling in blackjack (``[rules.double]``): the totals of two cards, and whether after a split."""

    permitted_totals: frozenset[Annotated[int, Field(ge=2, le=BEST_HAND_TOTAL)]] = Field(
        default=frozenset({9, 10, 11}), alias="totals"
    )
    """The totals of two cards that may be doubled."""
    is_permitted_after_split: bool = Field(default=False, alias="after_split")
    """Whether a hand of a split may be doubled."""


class SplitRules(StrictTable):
    """Blackjack rules on splitting (``[rules.split]``): the maximum number of hands, and what may be split."""

    hands_max: Annotated[int, Field(ge=1, le=5)] = Field(default=2, alias="hands")
    """How many hands a pair may become at most, by splits."""
    ace_hands_max: Annotated[int, Field(ge=1, le=5)] = Field(default=2, alias="ace_hands")
    """How many hands a pair of aces may become at most, by splits."""
    aces_get_one_card: bool = Field(default=True, alias="aces_one_card")
    """Whether split aces get only one more card each."""
    pair_equality: Literal["value", "rank"] = Field(default="value", alias="same")
    """Whether a pair is two cards of one ``value`` (a king and a ten) or only of one ``rank``."""

    @model_validator(mode="after")
    def _check_ace_hands(self) -> "SplitRules":
        """Refuse more hands for a split of aces than for other splits."""
        if self.ace_hands_max > self.hands_max:
            raise ValueError(f"ace_hands: is {self.ace_hands_max}; expected at most hands, {self.hands_max}")
        return self


class HouseRules(StrictTable):
    """The house rules of a blackjack table (``[rules]``): the operator's options; the defaults are Québec's.

    Sources: the dealer's second card, ss. 22 and 26; insurance, Monaco 5.2-2 (at most half of the stake);
    even money, Monaco 5.2-3.
    """

    second_card_time: Literal["after", "hole"] = Field(default="after", alias="second_card")
    """Whether the dealer's second card comes ``after`` the players' play or is a ``hole`` card."""
    soft_17_action: Literal["hit", "stand"] = Field(default="hit", alias="soft_17")
    """What the dealer does with a soft 17."""
    original_bets_only: bool = True
    """Whether a dealer's blackjack takes only a box's first stake, not those added later."""
    blackjack_odds: WrittenOdds = Field(default=Odds.parse("3:2"), alias="blackjack")
    """The odds that a blackjack pays."""
    double_rules: DoubleRules = Field(default=DoubleRules(), alias="double")
    """The rules on doubling."""
    split_rules: SplitRules = Field(default=SplitRules(), alias="split")
    """The rules on splitting pairs."""
    insurance_odds: WrittenOdds | None = Field(default=Odds.parse("2:1"), alias="insurance")
    """The odds of insurance; None: not offered."""
    offers_quarter_insurance: bool = Field(default=False, alias="quarter_insurance")
    """Whether a quarter of the stake may be insured, as well as half of it."""
    even_money_against: Literal["no", "ace", "ten"] = Field(default="no", alias="even_money")
    """The dealer's up cards for which the holder of a blackjack may take 1:1: none, an ace, or also a ten."""
    three_sevens_odds: WrittenOdds | None = Field(
        None, description="a hand of three sevens wins at once (s. 18.1 (1))", alias="sevens"
    )
    """The odds at which a hand of three sevens wins at once; None: it does not."""
    suited_678_odds: WrittenOdds | None = Field(
        None, description="6, 7 and 8 of a suit win at once (s. 18.1 (2))", alias="suited_678"
    )
    """The odds at which 6, 7 and 8 of one suit win at once; None: they do not."""
    accepts_back_bets: bool = Field(
        default=False,
        description="a player without a box may bet on another player's hand (s. 16)",
        alias="back_bets",
    )
    """Whether a player without a box may bet on another player's hand."""


@cache
def parse_named_hands(named_hands: tuple[str, ...]) -> frozenset[tuple[int, ...]]:
    """Return the card ranks of each hand that a side-bet row names (such as ``"777"``), as sorted numbers."""
    return frozenset(tuple(sorted(map(RANK_LETTERS.index, pattern))) for pattern in named_hands)


class SideBetRow(StrictTable):
    """A row of a blackjack side bet: the conditions on the first cards of a box, and the pay.

    Every condition that is set must hold.
    """

    id: Identifier
    name: Text
    odds: OddsOrLevelShare = Field(alias="pays")
    card_count: Annotated[int, Field(ge=1, le=5)] = Field(default=2, alias="cards")
    """The number of the box's cards that must fit the row."""
    counts_up_card: bool = Field(default=False, alias="dealer")
    """Whether the dealer's up card counts as one more card of the row."""
    named_hands: tuple[RankLetters, ...] = Field(default=(), alias="ranks")
    """The hands that the row pays, each as letters of ranks in any order; empty: any ranks."""
    rank_condition: Literal["same", "straight"] | None = Field(default=None, alias="kind")
    """``same``: all cards are of one rank; ``straight``: their ranks follow one another; None: no condition."""
    suit_condition: Literal["same", "colour", "red", "black"] | None = Field(default=None, alias="suits")
    """What the suits of the cards must be; None: no condition."""
    total_range: tuple[int, int] | None = Field(default=None, alias="total")
    """The lowest and highest total that the row pays; None: no condition."""
    ace_value: Literal[1, 11] = Field(default=11, alias="ace")
    """What an ace counts in ``total_range``: 11 unless the total then exceeds 21, or always 1."""

    @model_validator(mode="after")
    def _check_ranks(self) -> "SideBetRow":
        """Refuse a side bet's row without a condition, or with hands that do not fit its number of cards.

        If the row says so, the dealer's up card counts as one of these cards.
        """
        count = self.card_count + self.counts_up_card
        wrong_ranks = [ranks for ranks in self.named_hands if len(ranks) != count]
        if wrong_ranks:
            raise ValueError(f"ranks: {wrong_ranks[0]!r} must be {count} ranks")
        if not (self.named_hands or self.rank_condition or self.suit_condition or self.total_range):
            raise ValueError("must state a condition: ranks, kind, suits or total")
        if self.counts_up_card and self.card_count > 2:
            raise ValueError("cards: must be at most 2 if the dealer's first card counts as well")
        return self

    def has_required_suits(self, cards: Sequence[Card]) -> bool:
        """Return whether the cards have the suits or colour that this blackjack side bet's row requires, if any."""
        return self.suit_condition is None or _SUIT_CHECK_BY_NAME[self.suit_condition](cards)

    def is_satisfied_by(self, cards: Sequence[Card]) -> bool:
        """Return whether exactly these cards satisfy the row; the dealer's up card is last if the row counts it."""
        ranks = sorted(get_rank(card) for card in cards)
        if self.named_hands and tuple(ranks) not in parse_named_hands(self.named_hands):
            return False
        if self.rank_condition == "same" and len(set(ranks)) > 1:
            return False
        if self.rank_condition == "straight" and not _is_straight(ranks):
            return False
        if not self.has_required_suits(cards):
            return False
        if self.total_range is None:
            return True
        best_total, soft = compute_best_total([get_card_value(card) for card in cards])
        return (
            self.total_range[0]
            <= (best_total - 10 if soft and self.ace_value == 1 else best_total)
            <= self.total_range[1]
        )


def _is_straight(ranks: Sequence[int]) -> bool:
    """Return whether these ascending ranks follow each other without a gap; the ace counts as high or low."""
    straight_with_low_ace = [*range(len(ranks) - 1), ACE_RANK]
    straight_ranks = list(range(ranks[0], ranks[0] + len(ranks)))
    return list(ranks) in (straight_with_low_ace, straight_ranks)


def _is_of_one_suit(cards: Sequence[Card]) -> bool:
    """Return whether all these cards have the same suit."""
    return len({get_suit(card) for card in cards}) == 1


def _is_of_one_colour(cards: Sequence[Card]) -> bool:
    """Return whether all these cards are red, or all are black."""
    return len({is_red(card) for card in cards}) == 1


_SUIT_CHECK_BY_NAME: Final[Mapping[str, Callable[[Sequence[Card]], bool]]] = {
    "same": _is_of_one_suit,
    "colour": _is_of_one_colour,
    "red": lambda cards: all(map(is_red, cards)),
    "black": lambda cards: not any(map(is_red, cards)),
}


class BlackjackSideBet(StrictTable):
    """A blackjack side bet of a box (``[[side]]``), on its first cards; the first row that fits pays."""

    id: Identifier
    name: Text
    limits: BetLimits = BetLimits()
    is_limited_by_main_bet: bool = Field(default=False, alias="within_main")
    """Whether the side bet may not exceed the main bet (s. 21.1)."""
    rows: Annotated[tuple[SideBetRow, ...], Field(min_length=1)] = Field(alias="row")
    """The rows of the pay table; the first that fits pays."""

    @property
    def card_count_max(self) -> int:
        """Return the largest number of the blackjack box's cards that may decide the side bet."""
        return max(row.card_count for row in self.rows)

    def find_winning_row(self, dealt_cards: Sequence[Card], up_card: Card) -> SideBetRow | None:
        """Return the first row that a box's cards win, or None.

        ``dealt_cards`` are in the order dealt; ``up_card`` is the dealer's first card.
        """
        for row in self.rows:
            cards = [*dealt_cards[: row.card_count], *([up_card] if row.counts_up_card else [])]
            if len(dealt_cards) >= row.card_count and row.is_satisfied_by(cards):
                return row
        return None

    @model_validator(mode="after")
    def _check_rows(self) -> "BlackjackSideBet":
        """Refuse a side bet with the id of another stake of the game, or with rows not in descending card count."""
        if self.id in RESERVED_SPOT_NAMES:
            raise ValueError(f"id: {self.id!r} is reserved for a stake of the game itself")
        counts = [row.card_count for row in self.rows]
        if counts != sorted(counts, reverse=True):
            raise ValueError(f"{self.id}: rows with more cards must come before those with fewer")
        return self


#: The spot of a box's stake against the dealer's first hand, and of stakes added in play.
MAIN_SPOT: Final = "main"
#: The spots of the stakes against each hand of the dealer.
SPOTS_BY_DEALER_HAND: Final = (MAIN_SPOT, "second", "third")
#: The spot of the insurance.
INSURANCE_SPOT: Final = "insurance"
#: The spots of bets on another player's hand: ``back-1`` is on the hand of the first seat.
BACK_SPOT_PREFIX: Final = "back"
#: Ids that a side bet may not have.
RESERVED_SPOT_NAMES: Final = frozenset({*SPOTS_BY_DEALER_HAND, INSURANCE_SPOT, BACK_SPOT_PREFIX})


class MainBet(StrictTable):
    """The stake on a blackjack hand (``[main]``).

    In Multi-Action blackjack the dealer plays several hands with one up card, and a box has a stake
    against each (ss. 26.3-26.4).
    """

    name: Text = Text(en="Bet", fr="Mise")
    limits: BetLimits = BetLimits(least=2, most=200, step=2)
    dealer_hand_count: Annotated[int, Field(ge=1, le=DEALER_HANDS_MAX)] = Field(default=1, alias="hands")
    """The number of the dealer's hands, each played against its own stake."""
    dealer_hands_min: Annotated[int, Field(ge=1, le=DEALER_HANDS_MAX)] = Field(default=1, alias="least_hands")
    """The smallest number of the dealer's hands on which a player must bet."""

    @model_validator(mode="after")
    def _check_least_hands(self) -> "MainBet":
        """Refuse a minimum number of the dealer's hands to bet on that exceeds the number the dealer plays."""
        if self.dealer_hands_min > self.dealer_hand_count:
            raise ValueError(
                f"least_hands: is {self.dealer_hands_min}, but the dealer plays only {self.dealer_hand_count}"
            )
        return self


def sum_lowest_values(deck_count: int, card_count: int | None) -> int:
    """Return the minimum total value of any ``card_count`` cards of a blackjack shoe; None means all its cards."""
    low_first = sorted(get_card_value(card) for card in range(52))
    shoe = [value for value in low_first for _ in range(deck_count)]
    return sum(shoe[:card_count])


#: A line of a blackjack chart (:func:`paytables.blackjack.chart.format_chart`).
ChartLine = Annotated[
    str, StringConstraints(pattern=r"^((hard|soft) [ 1-2][0-9] [SHDE]{10}|pair [ 1][0-9] [P.]{10})$")
]


class SimulatedRounds(StrictTable):
    """Results of simulated blackjack rounds with the best strategy (:mod:`paytables.blackjack.round_simulation`)."""

    round_count: Annotated[int, Field(gt=0)] = Field(alias="rounds")
    """The number of simulated rounds."""
    seed: str
    """The seed of the simulation; the same seed gives the same cards."""
    round_counts_by_net: Annotated[dict[str, dict[str, int]], Field(min_length=1)] = Field(alias="nets")
    """How often each net result of equal stakes occurred, by number of dealer hands bet on, then by net result."""
    standard_error: FractionText = Field(alias="error")
    """The standard error of the mean net result of one stake, in stakes."""

    def compute_mean(self, hand_count: int) -> Fraction:
        """Return the mean of the total net result, in stakes, with one stake on each of ``hand_count`` dealer hands."""
        return (
            sum(
                (Fraction(net) * n for net, n in self.round_counts_by_net[str(hand_count)].items()),
                Fraction(0),
            )
            / self.round_count
        )

    def compute_variance(self, hand_count: int) -> Fraction:
        """Return the variance of the total net result, with one stake on each of ``hand_count`` dealer hands."""
        squares = sum(
            (Fraction(net) ** 2 * n for net, n in self.round_counts_by_net[str(hand_count)].items()),
            Fraction(0),
        )
        return squares / self.round_count - self.compute_mean(hand_count) ** 2


class BackBetFigures(StrictTable):
    """Exact figures of a bet on another player's blackjack hand, in stakes. Only the first hand of a split counts."""

    best_mean: FractionText = Field(alias="mean")
    """The mean net result, in stakes, if the other player uses the best strategy."""
    worst_mean: FractionText = Field(alias="worst")
    """The mean net result, in stakes, if the other player uses the worst strategy."""
    net_probabilities: dict[str, FractionText] = Field(alias="law")
    """The probability of each net result, in stakes, if the other player uses the best strategy."""


class ProvedFigures(StrictTable):
    """Exact figures of one initial stake on a blackjack hand, from a fresh shoe; amounts in stakes.

    If a pair becomes two hands at most, ``law`` is stated, and the variance follows from it. If it may become three,
    only ``variance`` is stated; if it may become more, or a split depends on suits or ranks, neither is
    (:mod:`paytables.blackjack.net_distribution`). For the stored strategies see
    :mod:`paytables.blackjack.advice` and :mod:`paytables.blackjack.chart`.
    """

    best_mean: FractionText = Field(alias="mean")
    """The mean net result of the best strategy, in initial stakes."""
    mean_stake: FractionText = Field(alias="staked")
    """The mean of all stakes of the best strategy, doubles and splits included, in initial stakes."""
    chart_mean: FractionText = Field(alias="charted")
    """The mean net result of the strategy in ``chart``, in initial stakes."""
    dealer_rule_mean: FractionText = Field(alias="dealers")
    """The mean net result of a player who follows the dealer's drawing rule, in initial stakes."""
    worst_mean: FractionText = Field(alias="worst")
    """The mean net result of the worst strategy, in initial stakes."""
    chart: tuple[ChartLine, ...]
    """The best strategy that decides by totals, as lines of a strategy chart."""
    policy: PackedPolicy
    """The best strategy by exact cards, as packed data (:mod:`paytables.blackjack.advice`)."""
    net_probabilities: dict[str, FractionText] = Field({}, alias="law")
    """The probability of each net result of the best strategy, in initial stakes."""
    variance: FractionText | None = None
    """The variance of the net result, if a pair may become three hands; else None."""
    simulated_rounds: SimulatedRounds | None = Field(default=None, alias="sampled")
    """The results of simulated rounds, for figures that cannot be counted; None if there are none."""
    back_bet_figures: BackBetFigures | None = Field(default=None, alias="backed")
    """The figures of a bet on another player's hand; None if the table takes no such bets."""
