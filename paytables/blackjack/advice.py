"""The best blackjack strategy as data: an option for each hand, packed into a definition, read by plain Python.

There is one byte per option (:data:`OPTION_NAMES`). For each up card of the dealer, ace to ten, the options are in
this order:

(a) the hands of a box that has not split;
(b) for each pair value, ace to ten, the hands after that pair was split: first those whose second card has another
    value, then those that are again the pair and may not be split again;
(c) only if tens must be equal in rank to be split, and the up card is a ten: (b) for tens once more, for an up card
    of the same rank as the split tens.

If 6, 7 and 8 of one suit win at once, the two-card hands that may become 6, 7 and 8 have a second byte, for two cards
of one suit. Then three blocks follow: the number of hands into which each pair is split, by up card; whether each
two-card hand is insured; and the up cards at which even money is taken.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import product
from typing import Final

from paytables.blackjack.hands import (
    PACKED_CARD_BY_VALUE,
    build_shoe,
    compute_hand_values,
    list_hands_containing,
    pack_counts,
)
from paytables.blackjack.schema import ACE_VALUE, TEN_VALUE, AnalysedHouseRules
from paytables.poker.policy import unpack_policy

#: The numbers of the options for a hand, as stored in a strategy.
STAND_OPTION: Final = 0
HIT_OPTION: Final = 1
DOUBLE_OPTION: Final = 2
#: The name of each option, by its number.
OPTION_NAMES: Final = ("stand", "hit", "double")
#: The packed hand of a 6, a 7 and an 8.
PACKED_SIX_SEVEN_EIGHT: Final = PACKED_CARD_BY_VALUE[5] + PACKED_CARD_BY_VALUE[6] + PACKED_CARD_BY_VALUE[7]
#: The packed hands of two cards that one more card of their suit can complete to 6, 7 and 8.
PACKED_STARTS_OF_SUITED_678: Final = frozenset(
    PACKED_SIX_SEVEN_EIGHT - PACKED_CARD_BY_VALUE[n] for n in (5, 6, 7)
)


@dataclass(frozen=True, slots=True)
class HandSituation:
    """What the best option for a blackjack hand depends on, apart from its cards."""

    dealer_up_card: int
    """The value of the dealer's up card."""
    split_pair_value: int = 0
    """The card value of the pair that was split into this and other hands; 0 if the hand does not come from a split."""
    is_unsplittable_pair: bool = False
    """Whether a hand from a split is again two cards of the pair's value, and may not be split again."""

    dealer_has_pair_rank: bool = False
    """Whether the dealer's up card has the split pair's rank. False unless tens must be equal in rank to be split."""


#: A question about a hand: its situation, the packed hand, and whether it is two cards of one suit.
HandQuestion = tuple[HandSituation, int, bool]
#: A pair: the value of the dealer's up card, the value of the pair's cards, and whether the up card has the pair's
#: rank (only if tens must be equal in rank to be split).
PairSituation = tuple[int, int, bool]


@cache
def _index_questions(deck_count: int, *, has_suited_pay: bool, same_rank: bool) -> dict[HandQuestion, int]:
    """Return the byte index, in a stored strategy, of the option for each blackjack situation and hand."""
    shoe = build_shoe(deck_count)
    values_by_hand = compute_hand_values(shoe)
    playable_hands = [hand for hand, hand_value in values_by_hand.items() if hand_value.card_count >= 2]
    index_by_question: dict[HandQuestion, int] = {}
    for is_one_suit in (False, True)[: 1 + has_suited_pay]:
        for up_card_value in range(ACE_VALUE, TEN_VALUE + 1):
            situations_and_hands = [(HandSituation(up_card_value), playable_hands)]
            for pair_value in range(ACE_VALUE, TEN_VALUE + 1):
                hands = [
                    hand
                    for hand in list_hands_containing(shoe, PACKED_CARD_BY_VALUE[pair_value - 1])
                    if hand != PACKED_CARD_BY_VALUE[pair_value - 1]
                ]
                for has_pair_rank in (False, True)[
                    : 1 + (same_rank and pair_value == up_card_value == TEN_VALUE)
                ]:
                    situations_and_hands.append(
                        (HandSituation(up_card_value, pair_value, dealer_has_pair_rank=has_pair_rank), hands)
                    )
                    pairs = list_hands_containing(shoe, 2 * PACKED_CARD_BY_VALUE[pair_value - 1])
                    situations_and_hands.append(
                        (
                            HandSituation(
                                up_card_value,
                                pair_value,
                                is_unsplittable_pair=True,
                                dealer_has_pair_rank=has_pair_rank,
                            ),
                            pairs,
                        )
                    )
            for situation, hands in situations_and_hands:
                for hand in hands:
                    if not is_one_suit or hand in PACKED_STARTS_OF_SUITED_678:
                        index_by_question[situation, hand, is_one_suit] = len(index_by_question)
    return index_by_question


#: The index of each pair in the part of a stored strategy that says into how many hands pairs are split.
_PAIR_INDEXES: Final[Mapping[PairSituation, int]] = {
    pair: index
    for index, pair in enumerate(
        product(range(ACE_VALUE, TEN_VALUE + 1), range(ACE_VALUE, TEN_VALUE + 1), (False, True))
    )
}


@cache
def _index_insurable_hands(deck_count: int) -> dict[int, int]:
    """Return the index of each packed hand of two cards in a stored strategy's part on insurance."""
    values_by_hand = compute_hand_values(build_shoe(deck_count))
    hands = [hand for hand, hand_value in values_by_hand.items() if hand_value.card_count == 2]
    return {hand: index for index, hand in enumerate(hands)}


@dataclass(frozen=True)
class PackedStrategy:
    """The best blackjack strategy for a table's rules as bytes: its options, splits, insurance and even money."""

    house: AnalysedHouseRules
    """The house rules for which the strategy is the best."""
    packed_bytes: bytes
    """The bytes of the packed strategy."""

    @classmethod
    def pack_strategy(
        cls,
        house: AnalysedHouseRules,
        option_by_question: Mapping[HandQuestion, int],
        hand_count_by_pair: Mapping[PairSituation, int],
        insured_hands: set[int],
        even_money_up_cards: set[int],
    ) -> "PackedStrategy":
        """Return a blackjack strategy in packed form. Questions missing from ``option_by_question`` cannot occur."""
        option_bytes = bytes(
            option_by_question.get(question, STAND_OPTION) for question in cls(house, b"").index_by_question
        )
        split_bytes = bytes(hand_count_by_pair.get(pair, 0) for pair in _PAIR_INDEXES)
        insurance_bytes = bytes(hand in insured_hands for hand in _index_insurable_hands(house.deck_count))
        even_money_bytes = bytes(up in even_money_up_cards for up in (ACE_VALUE, TEN_VALUE))
        return cls(
            house,
            option_bytes + split_bytes + insurance_bytes + even_money_bytes,
        )

    @cached_property
    def index_by_question(self) -> dict[HandQuestion, int]:
        """Return the byte index, in the packed strategy, of the option for each blackjack situation and hand."""
        house = self.house
        return _index_questions(
            house.deck_count,
            has_suited_pay=house.suited_678_odds is not None,
            same_rank=house.splits_same_rank_only,
        )

    @property
    def byte_count(self) -> int:
        """Return the length in bytes of a packed blackjack strategy for these house rules."""
        return (
            len(self.index_by_question)
            + len(_PAIR_INDEXES)
            + len(_index_insurable_hands(self.house.deck_count))
            + 2
        )

    def find_option(self, situation: HandSituation, values: Sequence[int], *, is_suited: bool = False) -> str:
        """Return the strategy's option for a blackjack hand that is not to be split: stand, hit or double."""
        hand = _pack_hand(values)
        is_one_suit = (
            is_suited and self.house.suited_678_odds is not None and hand in PACKED_STARTS_OF_SUITED_678
        )
        return OPTION_NAMES[self.packed_bytes[self.index_by_question[situation, hand, is_one_suit]]]

    def count_split_hands(self, up_card_value: int, pair: int, *, has_pair_rank: bool = False) -> int:
        """Return into how many hands the strategy splits a pair if the rules permit; 0 if it does not split.

        ``pair`` is the value of the pair's cards. ``has_pair_rank``: tens must be equal in rank to be split, and the
        dealer's up card has the pair's rank.
        """
        return self.packed_bytes[
            len(self.index_by_question) + _PAIR_INDEXES[up_card_value, pair, has_pair_rank]
        ]

    def should_insure(self, values: Sequence[int]) -> bool:
        """Return whether the strategy insures a two-card blackjack hand with these card values."""
        indexes = _index_insurable_hands(self.house.deck_count)
        return bool(self.packed_bytes[-2 - len(indexes) + indexes[_pack_hand(values)]])

    def should_take_even_money(self, up_card_value: int) -> bool:
        """Return whether the strategy takes even money against a dealer's up card of this value."""
        return bool(self.packed_bytes[-2 + (ACE_VALUE, TEN_VALUE).index(up_card_value)])


def _pack_hand(values: Sequence[int]) -> int:
    """Pack the card values of a blackjack hand into one integer that counts the cards of each value."""
    return pack_counts([values.count(value) for value in range(ACE_VALUE, TEN_VALUE + 1)])


@lru_cache(maxsize=8)
def read_strategy(house: AnalysedHouseRules, policy: str) -> PackedStrategy | None:
    """Return the blackjack strategy in the stored text ``policy``, or None if its length does not fit the house rules.

    Certification refuses a definition whose strategy is for other rules.
    """
    strategy = PackedStrategy(house, unpack_policy(policy))
    return strategy if len(strategy.packed_bytes) == strategy.byte_count else None
