"""Simulation of blackjack rounds with the best strategy, card by card, for figures that cannot be counted.

For laboratories (numpy, numba). These figures are the return of a shoe that is dealt to its stop card, and
the distribution of net results for more hands than :mod:`paytables.blackjack.net_distribution` can handle, or
against several dealer hands. The strategy was computed for a fresh shoe and a single box. Random words come from
SHAKE-256 of a seed, so results are reproducible; a cabinet draws nothing here.
"""

from __future__ import annotations

from fractions import Fraction
from hashlib import shake_256
from math import isqrt, lcm
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from paytables.blackjack.advice import PACKED_SIX_SEVEN_EIGHT, PackedStrategy
from paytables.blackjack.definition import BlackjackDefinition
from paytables.blackjack.hands import PACKED_CARD_BY_VALUE, build_shoe, compute_hand_values
from paytables.blackjack.net_weights import compile_kernel
from paytables.blackjack.schema import ACE_VALUE, CARD_VALUE_BY_RANK, TEN_VALUE, SimulatedRounds
from paytables.poker.proof import format_fraction

if TYPE_CHECKING:
    from collections.abc import Callable

    from paytables.cards.arrays import Ints

#: Rounds that are simulated.
SIMULATED_ROUND_COUNT: Final = 20_000_000
#: The seed of the simulation.
SIMULATION_SEED: Final = "blackjack"
#: The number of random words drawn at once.
_RANDOM_WORD_COUNT: Final = 1 << 22
#: More random words than one round can use.
_ROUND_WORDS_MAX: Final = 1 << 10
#: The indexes in ``_SimulationShoe.counters``: the random words used; the cards dealt from this shoe; the rounds played
#: from it; and their net result in units.
_USED_WORDS, _DEALT_CARDS, _PLAYED_ROUNDS, _NET_UNITS = range(4)
#: A bound on what a box may win or lose, in stakes.
_BOX_RESULT_MAX: Final = 64
#: The blackjack value of each card.
_VALUE_BY_RANK: Final = np.array(CARD_VALUE_BY_RANK)
#: The packed hand of three sevens.
_PACKED_THREE_SEVENS: Final = 3 * PACKED_CARD_BY_VALUE[6]
#: Stands for: burn the first card, and then as many cards as its value.
_BURN_FIRST_CARD_VALUE: Final = -1


def simulate_rounds(
    definition: BlackjackDefinition,
    strategy: PackedStrategy,
    round_count: int = SIMULATED_ROUND_COUNT,
    seed: str = SIMULATION_SEED,
) -> SimulatedRounds:
    """Simulate at least ``round_count`` blackjack rounds and return how often each net result occurred.

    The simulation continues to the end of the last shoe.
    """
    house, shoe = definition.analysed_house_rules, definition.shoe
    all_odds = [house.blackjack_odds, house.insurance_odds, house.sevens_odds, house.suited_678_odds]
    unit = 2 * lcm(*(odds.denominator for odds in all_odds if odds is not None))
    dealer_hand_count = definition.main_bet.dealer_hand_count
    known_hands = list(compute_hand_values(build_shoe(house.deck_count)).items())
    index_by_hand = {hand: n for n, (hand, _) in enumerate(known_hands)}
    hand_after_card: Ints = np.full((len(known_hands), TEN_VALUE + 1), -1, dtype=np.int64)
    totals: Ints = np.array(
        [(hand_value.best_total, hand_value.is_soft) for _, hand_value in known_hands], dtype=np.int64
    )
    for n, (_, hand_value) in enumerate(known_hands):
        for value, child in hand_value.hands_after_card:
            hand_after_card[n, value + 1] = index_by_hand[child]
    pay_units = {odds: 0 if odds is None else int(odds * unit) for odds in all_odds}
    rules = _SimulationRules(
        has_hole_card=int(house.has_hole_card),
        hits_soft_17=int(house.hits_soft_17),
        loses_only_first_stake=int(house.has_hole_card or house.original_bets_only),
        draws_second_card_for_added_stakes=int(house.original_bets_only),
        hands_max=house.hands_max,
        ace_hands_max=house.ace_hands_max,
        aces_get_one_card=int(house.aces_get_one_card),
        splits_same_rank_only=int(house.splits_same_rank_only),
        stake_units=unit,
        dealer_hand_count=dealer_hand_count,
        blackjack_pay_units=pay_units[house.blackjack_odds],
        insurance_pay_units=pay_units[house.insurance_odds],
        three_sevens_pay_units=pay_units[house.sevens_odds],
        suited_678_pay_units=pay_units[house.suited_678_odds],
        takes_even_money_at_ace=int(
            ACE_VALUE in house.even_money_up_cards and strategy.should_take_even_money(ACE_VALUE)
        ),
        takes_even_money_at_ten=int(
            TEN_VALUE in house.even_money_up_cards and strategy.should_take_even_money(TEN_VALUE)
        ),
        cards_behind_stop_card=-1 if shoe.cards_behind_stop_card is None else shoe.cards_behind_stop_card,
        burned_card_count=(
            _BURN_FIRST_CARD_VALUE if shoe.burned_card_count is True else int(shoe.burned_card_count)
        ),
        three_sevens_lookup_index=index_by_hand.get(_PACKED_THREE_SEVENS, -2),
        hand_678_lookup_index=index_by_hand.get(PACKED_SIX_SEVEN_EIGHT, -2),
        rounds_per_shoe=shoe.rounds_per_shuffle if shoe.cards_behind_stop_card is None else round_count,
        round_count=round_count,
    )
    lookups = _SimulationLookups(
        hand_after_card, totals, _VALUE_BY_RANK, *_build_play_arrays(strategy, index_by_hand)
    )
    box = _SimulationBox(*(np.zeros(6, dtype=np.int64) for _ in _SimulationBox._fields))
    compiled_steps = _CompiledSteps(
        deal_card=compile_kernel(_deal_card, counts_references=False),
        end_shoe=compile_kernel(_end_shoe, counts_references=False),
        split_pair=compile_kernel(_split_pair, counts_references=False),
        play_hand=compile_kernel(_play_hand, counts_references=False),
        draw_dealer_hand=compile_kernel(_draw_dealer_hand, counts_references=False),
        settle_box=compile_kernel(_settle_box, counts_references=False),
    )
    cards: Ints = np.arange(52 * house.deck_count) % 52
    counters: Ints = np.zeros(4, dtype=np.int64)
    net_counts: Ints = np.zeros(
        (dealer_hand_count, 2 * dealer_hand_count * _BOX_RESULT_MAX * unit + 1), dtype=np.int64
    )
    shoe_sums: Ints = np.zeros(6, dtype=np.int64)
    block_number = 0
    while net_counts[0].sum() < round_count:
        words = np.frombuffer(
            shake_256(f"{seed} {block_number}".encode()).digest(4 * _RANDOM_WORD_COUNT), dtype="<u4"
        )
        counters[_USED_WORDS], block_number = 0, block_number + 1
        compile_kernel(_play_rounds, counts_references=False)(
            compiled_steps,
            _SimulationShoe(words, cards, counters),
            rules,
            lookups,
            box,
            net_counts,
            shoe_sums,
        )
    net_offset = dealer_hand_count * _BOX_RESULT_MAX * unit
    # of equal stakes on the first dealer hands: the total net result against 1, 2, ... dealer hands
    round_counts_by_net = {
        str(dealer_hands_bet_on): {
            format_fraction(Fraction(net - net_offset, unit)): int(count)
            for net, count in enumerate(row)
            if count
        }
        for dealer_hands_bet_on, row in enumerate(net_counts, 1)
    }
    return SimulatedRounds(
        rounds=int(net_counts[0].sum()),
        seed=seed,
        nets=round_counts_by_net,
        error=format_fraction(_compute_standard_error(shoe_sums, unit)),
    )


def _compute_standard_error(shoe_sums: Ints, unit: int) -> Fraction:
    """Return the standard error of the mean net result of simulated blackjack rounds.

    The error is computed from the results of whole shoes, because the rounds of one shoe are dependent. ``shoe_sums``
    has the number of shoes, then sums over the shoes: of the rounds, of the net results, of their squares, and of the
    products of rounds and net result.
    """
    # the variance of a quotient: the net results of all shoes, divided by their rounds
    shoe_count, round_sum, net_sum, squared_round_sum, squared_net_sum, product_sum = map(int, shoe_sums)
    mean = Fraction(net_sum, round_sum)
    squared_deviation_sum = (
        squared_net_sum - 2 * mean * product_sum + mean**2 * squared_round_sum
    ) * Fraction(shoe_count, shoe_count - 1)
    scaled_variance = 10**14 * squared_deviation_sum / (round_sum * unit) ** 2
    return Fraction(1 + isqrt(scaled_variance.numerator // scaled_variance.denominator), 10**7)


def _build_play_arrays(strategy: PackedStrategy, index_by_hand: dict[int, int]) -> tuple[Ints, Ints, Ints]:
    """Return a blackjack strategy as arrays: decisions by situation and hand, hands per split, insured hands."""
    shape = TEN_VALUE + 1, TEN_VALUE + 1, 2, 2, 2, len(index_by_hand)
    decisions: Ints = np.zeros(shape, dtype=np.uint8)
    for (situation, hand, first_two_are_suited), decision in zip(
        strategy.index_by_question, strategy.packed_bytes, strict=False
    ):
        suit_index = slice(first_two_are_suited, None) if first_two_are_suited else slice(None)
        decisions[
            situation.dealer_up_card,
            situation.split_pair_value,
            int(situation.is_unsplittable_pair),
            int(situation.dealer_has_pair_rank),
            suit_index,
            index_by_hand[hand],
        ] = decision
    card_values = range(ACE_VALUE, TEN_VALUE + 1)
    split_hand_counts: Ints = np.zeros((TEN_VALUE + 1, TEN_VALUE + 1, 2), dtype=np.int64)
    for up_card_value in card_values:
        for pair in card_values:
            split_hand_counts[up_card_value, pair] = [
                strategy.count_split_hands(up_card_value, pair, has_pair_rank=has_pair_rank)
                for has_pair_rank in (False, True)
            ]
    insured_hands: Ints = np.zeros((TEN_VALUE + 1, TEN_VALUE + 1), dtype=np.int64)
    for first_value in card_values:
        for second_value in card_values:
            insured_hands[first_value, second_value] = strategy.should_insure([first_value, second_value])
    return decisions, split_hand_counts, insured_hands


class _SimulationShoe(NamedTuple):
    """The state of the simulated shoe: random words, cards, and counters.

    ``counters`` has four numbers: random words used, cards dealt from this shoe, rounds played from it, and the
    net result of these rounds in units.
    """

    words: Ints
    """The random words that decide the cards."""
    cards: Ints
    """The order of the cards in the shoe."""
    counters: Ints


class _SimulationRules(NamedTuple):
    """The house rules of a simulated blackjack table as numbers.

    Pays are in units; ``stake_units`` units are one stake.
    """

    has_hole_card: int
    """1 if the dealer's second card is dealt face down with the players' cards, else 0."""
    hits_soft_17: int
    """1 if the dealer draws to a soft 17, else 0."""
    loses_only_first_stake: int
    """1 if a dealer's blackjack takes only the first stake of a box, else 0.

    With a hole card, this is always so, because the dealer looks for a blackjack before a stake can be added.
    """
    draws_second_card_for_added_stakes: int
    """1 if the dealer draws a second card although every hand of the box is busted, else 0.

    Under original bets only, a blackjack of the dealer returns the stakes added by doubles and splits, so the second
    card decides about them.
    """
    hands_max: int
    """How many hands a box may have at most, after splits."""
    ace_hands_max: int
    """How many hands a pair of aces may become at most, by splits."""
    aces_get_one_card: int
    """1 if split aces get only one card each, else 0."""
    splits_same_rank_only: int
    """1 if only cards of one rank, not of one value, may be split, else 0."""
    stake_units: int
    """The number of units that make one stake."""
    dealer_hand_count: int
    """The number of dealer hands that are played against each box."""
    blackjack_pay_units: int
    """The pay of a blackjack, in units for one stake."""
    insurance_pay_units: int
    """The pay of insurance, in units for one stake; 0: not offered."""
    three_sevens_pay_units: int
    """The pay of three sevens, in units for one stake; 0: an ordinary 21."""
    suited_678_pay_units: int
    """The pay of 6, 7 and 8 of one suit, in units for one stake; 0: an ordinary 21."""
    takes_even_money_at_ace: int
    """1 if a blackjack takes even money against a dealer's ace, else 0."""
    takes_even_money_at_ten: int
    """1 if a blackjack takes even money against a dealer's ten, else 0."""
    cards_behind_stop_card: int
    """The number of cards behind the stop card; -1 without a stop card."""
    burned_card_count: int
    """The number of cards burned after a shuffle; -1: the first card, and as many more as its value."""
    three_sevens_lookup_index: int
    """The index of the hand 7-7-7 in the lookup tables; -2 if the shoe cannot have it."""
    hand_678_lookup_index: int
    """The index of the hand 6-7-8 in the lookup tables; -2 if the shoe cannot have it."""
    rounds_per_shoe: int
    """The number of rounds after which the shoe is shuffled."""
    round_count: int
    """The number of rounds to simulate."""


class _SimulationLookups(NamedTuple):
    """Lookup tables of the simulation: the hand after each card, totals, card values, and the best strategy."""

    hand_after_card: Ints
    """The index of the hand after one more card, by hand and card value; -1 if the card busts the hand."""
    totals: Ints
    """The best total of each hand, and whether it is soft."""
    value_by_rank: Ints
    """The blackjack value of each rank."""
    decisions: Ints
    """The best decision (0 stand, 1 hit, 2 double).

    By the dealer's up card, the value of the split pair (0: none), whether the hand is a pair that cannot be split,
    whether the up card has the rank of the pair, whether the first two cards are of one suit, and the hand.
    """
    split_hand_counts: Ints
    """How many hands the strategy makes of a pair, by up card, pair, and whether the two have the same rank."""
    insured_hands: Ints
    """Whether the strategy takes insurance, by the values of the first two cards."""


class _SimulationBox(NamedTuple):
    """The hands of a simulated blackjack box: one array per property, with one element per hand."""

    first_cards: Ints
    """The first card of each hand of the box."""
    second_cards: Ints
    """The second card of each hand of the box."""
    card_counts: Ints
    """The number of cards of each hand of the box."""
    lookup_indexes: Ints
    """The index of each hand of the box in the lookup tables; negative if it is busted."""
    stakes: Ints
    """The number of stakes on each hand of the box."""
    won_units: Ints
    """The units that each hand has already won by three sevens or a suited 6-7-8; else 0."""
    is_suited: Ints
    """Whether the cards of each hand of the box are of one suit."""


class _CompiledSteps(NamedTuple):
    """The compiled functions that each simulate a part of a blackjack round."""

    deal_card: Callable[..., int]
    """The function that deals one card."""
    end_shoe: Callable[..., bool]
    """The function that ends a shoe and shuffles; false if enough rounds are simulated."""
    split_pair: Callable[..., None]
    """The function that splits a pair into two hands."""
    play_hand: Callable[..., tuple[int, int]]
    """The function that plays one of the player's hands."""
    draw_dealer_hand: Callable[..., tuple[int, bool]]
    """The function that draws the dealer's hand."""
    settle_box: Callable[..., int]
    """The function that returns the net result of the box in units."""


def _deal_card(shoe: _SimulationShoe) -> int:  # pragma: no cover (compiled)
    """Draw a random card from the simulated blackjack shoe; every remaining card is equally likely.

    A card is ``4 * rank + suit``, so ``card >> 2`` is its rank and ``card & 3`` its suit.
    """
    words, cards, counters = shoe
    cards_left = np.uint64(len(cards) - counters[_DEALT_CARDS])
    word_range = np.uint64(1 << 32)
    product = np.uint64(words[counters[_USED_WORDS]]) * cards_left
    counters[_USED_WORDS] += 1
    # reject the words that would make some cards more likely than others (Lemire 2019)
    while product % word_range < word_range % cards_left:
        product = np.uint64(words[counters[_USED_WORDS]]) * cards_left
        counters[_USED_WORDS] += 1
    drawn_index = counters[_DEALT_CARDS] + np.int64(product // word_range)
    cards[counters[_DEALT_CARDS]], cards[drawn_index] = cards[drawn_index], cards[counters[_DEALT_CARDS]]
    counters[_DEALT_CARDS] += 1
    return int(cards[counters[_DEALT_CARDS] - 1])


def _end_shoe(
    steps: _CompiledSteps,
    shoe: _SimulationShoe,
    rules: _SimulationRules,
    value_by_rank: Ints,
    shoe_sums: Ints,
) -> bool:  # pragma: no cover (compiled)
    """Add the rounds and the net result of a finished shoe to ``shoe_sums``, then shuffle and burn cards.

    ``shoe_sums`` has the six sums that :func:`_compute_standard_error` reads, in its order.

    Return True if another shoe can be played. Return False, without shuffling, if enough rounds were simulated.
    """
    counters = shoe.counters
    if counters[_PLAYED_ROUNDS]:
        shoe_sums[0] += 1
        shoe_sums[1] += counters[_PLAYED_ROUNDS]
        shoe_sums[2] += counters[_NET_UNITS]
        shoe_sums[3] += counters[_PLAYED_ROUNDS] * counters[_PLAYED_ROUNDS]
        shoe_sums[4] += counters[_NET_UNITS] * counters[_NET_UNITS]
        shoe_sums[5] += counters[_PLAYED_ROUNDS] * counters[_NET_UNITS]
        counters[_PLAYED_ROUNDS] = counters[_NET_UNITS] = 0
        if shoe_sums[1] >= rules.round_count:
            return False
    counters[_DEALT_CARDS] = 0
    burned_card_count = rules.burned_card_count
    if burned_card_count < 0:
        burned_card_count = value_by_rank[steps.deal_card(shoe) >> 2]
    for _ in range(burned_card_count):
        steps.deal_card(shoe)
    return True


def _split_pair(
    steps: _CompiledSteps,
    shoe: _SimulationShoe,
    lookups: _SimulationLookups,
    box: _SimulationBox,
    hand_index: int,
    hand_count: int,
) -> None:  # pragma: no cover (compiled)
    """Split a pair of the simulated blackjack box into two hands, and deal the first its second card.

    Later hands of the box move up by one.
    """
    first_cards, second_cards, card_counts, lookup_indexes, stakes, won_units, is_suited = box
    card_value = lookups.value_by_rank[first_cards[hand_index] >> 2]
    for n in range(hand_count, hand_index + 1, -1):
        first_cards[n] = first_cards[n - 1]
        second_cards[n] = second_cards[n - 1]
        card_counts[n] = card_counts[n - 1]
        lookup_indexes[n] = lookup_indexes[n - 1]
        stakes[n], won_units[n], is_suited[n] = stakes[n - 1], won_units[n - 1], is_suited[n - 1]
    first_cards[hand_index + 1] = second_cards[hand_index]
    card_counts[hand_index + 1] = 1
    lookup_indexes[hand_index + 1] = lookups.hand_after_card[0, card_value]
    stakes[hand_index + 1], won_units[hand_index + 1] = 1, 0
    second_cards[hand_index] = steps.deal_card(shoe)
    lookup_indexes[hand_index] = lookups.hand_after_card[
        lookups.hand_after_card[0, card_value], lookups.value_by_rank[second_cards[hand_index] >> 2]
    ]
    is_suited[hand_index] = first_cards[hand_index] & 3 == second_cards[hand_index] & 3


def _play_hand(  # noqa: C901 (one loop, compiled by numba)
    steps: _CompiledSteps,
    shoe: _SimulationShoe,
    rules: _SimulationRules,
    lookups: _SimulationLookups,
    box: _SimulationBox,
    up_card: int,
    hand_index: int,
    hand_count: int,
    split_pair_value: int,
) -> tuple[int, int]:  # pragma: no cover (compiled)
    """Play a hand of the simulated blackjack box to its end, splitting it if the best strategy does.

    Return the number of hands of the box, and the card value of the split pair (0: none).
    """
    first_cards, second_cards, card_counts, lookup_indexes, stakes, won_units, is_suited = box
    hand_after_card, totals, value_by_rank, decisions, split_hand_counts, _ = lookups
    up_value, first_value = value_by_rank[up_card >> 2], value_by_rank[first_cards[hand_index] >> 2]
    up_card_has_pair_rank = int(
        rules.splits_same_rank_only and first_value == 10 and first_cards[hand_index] >> 2 == up_card >> 2
    )
    hands_max = rules.ace_hands_max if first_value == 1 else rules.hands_max
    if card_counts[hand_index] == 1:
        second_cards[hand_index] = steps.deal_card(shoe)
        lookup_indexes[hand_index] = hand_after_card[
            lookup_indexes[hand_index], value_by_rank[second_cards[hand_index] >> 2]
        ]
        is_suited[hand_index], card_counts[hand_index] = (
            first_cards[hand_index] & 3 == second_cards[hand_index] & 3,
            2,
        )
    while lookup_indexes[hand_index] >= 0:
        if (
            card_counts[hand_index] == 3
            and lookup_indexes[hand_index] == rules.three_sevens_lookup_index
            and rules.three_sevens_pay_units
        ):
            won_units[hand_index] = rules.three_sevens_pay_units
        if (
            card_counts[hand_index] == 3
            and lookup_indexes[hand_index] == rules.hand_678_lookup_index
            and is_suited[hand_index]
            and rules.suited_678_pay_units
        ):
            won_units[hand_index] = rules.suited_678_pay_units
        if won_units[hand_index]:
            break
        is_pair = card_counts[hand_index] == 2 and first_value == value_by_rank[second_cards[hand_index] >> 2]
        if rules.splits_same_rank_only:
            is_pair = is_pair and first_cards[hand_index] >> 2 == second_cards[hand_index] >> 2
        if (
            is_pair
            and hand_count < hands_max
            and split_hand_counts[up_value, first_value, up_card_has_pair_rank] > hand_count
        ):
            steps.split_pair(steps, shoe, lookups, box, hand_index, hand_count)
            hand_count, split_pair_value = hand_count + 1, first_value
            continue
        best_total, total_is_soft = (
            totals[lookup_indexes[hand_index], 0],
            totals[lookup_indexes[hand_index], 1],
        )
        if (
            stakes[hand_index] == 2
            or (best_total == 21 and not total_is_soft)
            or (split_pair_value and first_value == 1 and rules.aces_get_one_card)
        ):
            break
        is_unsplittable_pair = int(
            split_pair_value > 0 and value_by_rank[second_cards[hand_index] >> 2] == split_pair_value
        )
        first_two_are_suited = int(first_cards[hand_index] & 3 == second_cards[hand_index] & 3)
        decision = decisions[
            up_value,
            split_pair_value,
            is_unsplittable_pair,
            up_card_has_pair_rank if split_pair_value else 0,
            first_two_are_suited,
            lookup_indexes[hand_index],
        ]
        if decision == 0:
            break
        if decision == 2:
            stakes[hand_index] = 2
        drawn_card = steps.deal_card(shoe)
        is_suited[hand_index] &= drawn_card & 3 == first_cards[hand_index] & 3
        lookup_indexes[hand_index], card_counts[hand_index] = (
            hand_after_card[lookup_indexes[hand_index], value_by_rank[drawn_card >> 2]],
            card_counts[hand_index] + 1,
        )
    return hand_count, split_pair_value


def _draw_dealer_hand(
    steps: _CompiledSteps,
    shoe: _SimulationShoe,
    rules: _SimulationRules,
    value_by_rank: Ints,
    up_card_value: int,
    hidden_card_value: int,
    draws_second_card: bool,  # noqa: FBT001
    must_finish_hand: bool,  # noqa: FBT001
) -> tuple[int, bool]:  # pragma: no cover (compiled)
    """Draw cards to a simulated dealer's hand; return its best total and whether it is a blackjack.

    With ``must_finish_hand`` the dealer draws by the rules of the house. Otherwise the hand ends after its second card
    (the hole card, or one drawn if ``draws_second_card`` is set), or after the up card alone.
    """
    total, aces, card_count = up_card_value, int(up_card_value == 1), 1
    if rules.has_hole_card:
        total, aces, card_count = up_card_value + hidden_card_value, aces + int(hidden_card_value == 1), 2
    elif draws_second_card:
        value = value_by_rank[steps.deal_card(shoe) >> 2]
        total, aces, card_count = total + value, aces + int(value == 1), 2
    while must_finish_hand:
        best_total = total + 10 if aces and total <= 11 else total
        if best_total > 17 or (best_total == 17 and not (rules.hits_soft_17 and total == 7)):
            break
        value = value_by_rank[steps.deal_card(shoe) >> 2]
        total, aces, card_count = total + value, aces + int(value == 1), card_count + 1
    best_total = total + 10 if aces and total <= 11 else total
    return best_total, card_count == 2 and best_total == 21


def _settle_box(
    rules: _SimulationRules,
    totals: Ints,
    box: _SimulationBox,
    hand_count: int,
    dealer_total: int,
    has_dealer_blackjack: bool,  # noqa: FBT001
) -> int:  # pragma: no cover (compiled)
    """Return the net result of the simulated box, in units, against one hand of the dealer.

    Blackjacks of the player are settled elsewhere.
    """
    lookup_indexes, stakes, won_units = box.lookup_indexes, box.stakes, box.won_units
    net_units = 0
    for n in range(hand_count):
        if won_units[n]:
            net_units += won_units[n] * stakes[n]
        elif has_dealer_blackjack and rules.loses_only_first_stake:
            net_units -= rules.stake_units if n == 0 else 0
        elif has_dealer_blackjack or lookup_indexes[n] < 0:
            net_units -= rules.stake_units * stakes[n]
        elif dealer_total > 21 or totals[lookup_indexes[n], 0] > dealer_total:
            net_units += rules.stake_units * stakes[n]
        elif totals[lookup_indexes[n], 0] < dealer_total:
            net_units -= rules.stake_units * stakes[n]
    return net_units


def _play_rounds(  # noqa: C901, PLR0912 (one loop, compiled by numba)
    steps: _CompiledSteps,
    shoe: _SimulationShoe,
    rules: _SimulationRules,
    lookups: _SimulationLookups,
    box: _SimulationBox,
    net_counts: Ints,
    shoe_sums: Ints,
) -> None:  # pragma: no cover (compiled)
    """Simulate blackjack rounds until the random words run out or, at the end of a shoe, enough rounds were played."""
    counters, value_by_rank, first_cards, second_cards = (
        shoe.counters,
        lookups.value_by_rank,
        box.first_cards,
        box.second_cards,
    )
    while counters[_USED_WORDS] + _ROUND_WORDS_MAX < len(shoe.words):
        is_shoe_over = (
            counters[_DEALT_CARDS] == 0
            or len(shoe.cards) - counters[_DEALT_CARDS] <= rules.cards_behind_stop_card
            or counters[_PLAYED_ROUNDS] >= rules.rounds_per_shoe
        )
        if is_shoe_over and not steps.end_shoe(steps, shoe, rules, value_by_rank, shoe_sums):
            return
        first_cards[0] = steps.deal_card(shoe)
        up_card = steps.deal_card(shoe)
        second_cards[0] = steps.deal_card(shoe)
        hidden_value = value_by_rank[steps.deal_card(shoe) >> 2] if rules.has_hole_card else 0
        up_value, first_value, second_value = (
            value_by_rank[up_card >> 2],
            value_by_rank[first_cards[0] >> 2],
            value_by_rank[second_cards[0] >> 2],
        )
        box.lookup_indexes[0] = lookups.hand_after_card[lookups.hand_after_card[0, first_value], second_value]
        box.card_counts[0] = 2
        box.stakes[0], box.won_units[0], box.is_suited[0] = 1, 0, first_cards[0] & 3 == second_cards[0] & 3
        has_blackjack = first_value + second_value == 11 and (first_value == 1 or second_value == 1)
        takes_even_money = has_blackjack and (
            (up_value == 1 and rules.takes_even_money_at_ace)
            or (up_value == 10 and rules.takes_even_money_at_ten)
        )
        is_insured = (
            not takes_even_money
            and up_value == 1
            and lookups.insured_hands[first_value, second_value]
            and rules.insurance_pay_units
        )
        dealer_may_have_blackjack = up_value in (1, 10)
        is_decided_at_deal = has_blackjack or (
            rules.has_hole_card and up_value + hidden_value == 11 and dealer_may_have_blackjack
        )
        hand_count, split_pair_value, hand_index = 1, 0, 0
        while hand_index < hand_count and not is_decided_at_deal:
            hand_count, split_pair_value = steps.play_hand(
                steps, shoe, rules, lookups, box, up_card, hand_index, hand_count, split_pair_value
            )
            hand_index += 1
        # A hand that stands is compared with the dealer's total. Three cases need only the dealer's second card: the
        # player's blackjack, insurance, and (under original bets only) an added stake of a busted hand, which a
        # dealer's blackjack returns.
        must_finish_hand, needs_second_card = False, has_blackjack and not takes_even_money
        for n in range(hand_count):
            if is_decided_at_deal or box.won_units[n]:
                continue
            if box.lookup_indexes[n] >= 0:
                must_finish_hand = True
            elif (
                rules.draws_second_card_for_added_stakes
                and dealer_may_have_blackjack
                and (n or box.stakes[n] == 2)
            ):
                needs_second_card = True
        draws_second_card = must_finish_hand or (
            (needs_second_card or is_insured) and dealer_may_have_blackjack
        )
        net_units = 0
        for dealer_hand_index in range(rules.dealer_hand_count):
            best_dealer_total, has_dealer_blackjack = steps.draw_dealer_hand(
                steps,
                shoe,
                rules,
                value_by_rank,
                up_value,
                hidden_value,
                draws_second_card,
                must_finish_hand,
            )
            if is_insured:
                net_units += (
                    rules.insurance_pay_units // 2 if has_dealer_blackjack else -(rules.stake_units // 2)
                )
            if takes_even_money:
                net_units += rules.stake_units
            elif has_blackjack:
                net_units += 0 if has_dealer_blackjack else rules.blackjack_pay_units
            else:
                net_units += steps.settle_box(
                    rules, lookups.totals, box, hand_count, best_dealer_total, has_dealer_blackjack
                )
            net_counts[dealer_hand_index, net_units + net_counts.shape[1] // 2] += 1
            if dealer_hand_index == 0:
                counters[_NET_UNITS] += net_units
        counters[_PLAYED_ROUNDS] += 1
