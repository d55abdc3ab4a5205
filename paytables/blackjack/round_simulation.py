"""Simulation of blackjack rounds with the best strategy, card by card, for figures that cannot be counted.

For laboratories (numpy, numba). These figures are the return of a shoe that is dealt to its stop card, and
the distribution of nets for more hands than :mod:`paytables.blackjack.net_distribution` can handle, or
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
SAMPLING_SEED: Final = "blackjack"
#: The number of random words drawn at once, and more words than one round can use.
_RANDOM_WORD_COUNT, _ROUND_WORDS_MAX = 1 << 22, 1 << 10
#: A bound on what a box may win or lose, in stakes.
_BOX_RESULT_MAX: Final = 64
#: The blackjack value of each card.
_VALUE_BY_RANK: Final = np.array(CARD_VALUE_BY_RANK)
#: The packed hand of three sevens.
_PACKED_THREE_SEVENS: Final = 3 * PACKED_CARD_BY_VALUE[6]
#: The values with which a blackjack begins.
_BLACKJACK_CARD_VALUES: Final = (ACE_VALUE, TEN_VALUE)
#: Stands for a number of burned cards that the value of the first card decides.
_BURN_FIRST_CARD_VALUE: Final = -1


def sample_rounds(
    definition: BlackjackDefinition,
    strategy: PackedStrategy,
    round_count: int = SIMULATED_ROUND_COUNT,
    seed: str = SAMPLING_SEED,
) -> SimulatedRounds:
    """Simulate at least ``round_count`` blackjack rounds and return how often each net result occurred.

    The simulation continues to the end of the last shoe.
    """
    house, shoe = definition.exact_house_rules, definition.shoe
    all_odds = [house.blackjack_odds, house.insurance_odds, house.sevens_odds, house.suited_678_odds]
    unit = 2 * lcm(*(odds.denominator for odds in all_odds if odds is not None))
    dealer_hand_count = definition.main_bet.dealer_hand_count
    known_hands = list(compute_hand_values(build_shoe(house.deck_count)).items())
    index_by_hand = {hand: n for n, (hand, _) in enumerate(known_hands)}
    next_hands: Ints = np.full((len(known_hands), TEN_VALUE + 1), -1, dtype=np.int64)
    totals: Ints = np.array(
        [(hand_value.best_total, hand_value.is_soft) for _, hand_value in known_hands], dtype=np.int64
    )
    for n, (_, hand_value) in enumerate(known_hands):
        for value, child in hand_value.hands_after_card:
            next_hands[n, value + 1] = index_by_hand[child]
    numbers = [
        *(
            house.has_hole_card,
            house.hits_soft_17,
            house.has_hole_card or house.original_bets_only,
            house.original_bets_only,
        ),
        *(
            house.hands_max,
            house.ace_hands_max,
            house.aces_get_one_card,
            house.splits_same_rank_only,
            unit,
            dealer_hand_count,
        ),
        *(0 if odds is None else int(odds * unit) for odds in all_odds),
        *(
            up in house.even_money_up_cards and strategy.should_take_even_money(up)
            for up in _BLACKJACK_CARD_VALUES
        ),
        *(
            -1 if shoe.cards_behind_stop_card is None else shoe.cards_behind_stop_card,
            _BURN_FIRST_CARD_VALUE if shoe.burned_card_count is True else shoe.burned_card_count,
        ),
        *(index_by_hand.get(_PACKED_THREE_SEVENS, -2), index_by_hand.get(PACKED_SIX_SEVEN_EIGHT, -2)),
        *(shoe.rounds_per_shuffle if shoe.cards_behind_stop_card is None else round_count, round_count),
    ]
    rules = _SimulationRules(*map(int, numbers))
    tables = _SimulationLookups(
        next_hands, totals, _VALUE_BY_RANK, *_build_play_arrays(strategy, index_by_hand)
    )
    box = _SimulationBox(*(np.zeros(6, dtype=np.int64) for _ in _SimulationBox._fields))
    compiled_steps = _CompiledSteps(
        compile_kernel(_draw_card, counts_references=False),
        compile_kernel(_record_shoe_and_shuffle, counts_references=False),
        compile_kernel(_split_sampled_hand, counts_references=False),
        compile_kernel(_play_hand, counts_references=False),
        compile_kernel(_draw_dealer_hand, counts_references=False),
        compile_kernel(_settle_sampled_box, counts_references=False),
    )
    cards: Ints = np.arange(52 * house.deck_count) % 52
    counters: Ints = np.zeros(4, dtype=np.int64)
    net_counts: Ints = np.zeros(
        (dealer_hand_count, 2 * dealer_hand_count * _BOX_RESULT_MAX * unit + 1), dtype=np.int64
    )
    shoes: Ints = np.zeros(6, dtype=np.int64)
    block_number = 0
    while net_counts[0].sum() < round_count:
        words = np.frombuffer(
            shake_256(f"{seed} {block_number}".encode()).digest(4 * _RANDOM_WORD_COUNT), dtype="<u4"
        )
        counters[0], block_number = 0, block_number + 1
        compile_kernel(_play_sampled_rounds, counts_references=False)(
            compiled_steps, _SimulationShoe(words, cards, counters), rules, tables, box, net_counts, shoes
        )
    net_offset = dealer_hand_count * _BOX_RESULT_MAX * unit
    round_counts_by_net = {
        str(hand_count): {
            format_fraction(Fraction(net - net_offset, unit)): int(count)
            for net, count in enumerate(row)
            if count
        }
        for hand_count, row in enumerate(net_counts, 1)
    }
    return SimulatedRounds(
        rounds=int(net_counts[0].sum()),
        seed=seed,
        nets=round_counts_by_net,
        error=format_fraction(_compute_standard_error(shoes, unit)),
    )


def _compute_standard_error(shoes: Ints, unit: int) -> Fraction:
    """Return the standard error of the mean net result of simulated blackjack rounds.

    The error is computed from the results of whole shoes, because the rounds of one shoe are dependent.
    """
    # the variance of a ratio of sums: of the nets, and of the rounds, of independent shoes
    shoe_count, round_sum, net_sum, squared_round_sum, squared_net_sum, product_sum = map(int, shoes)
    mean = Fraction(net_sum, round_sum)
    squared_deviation_sum = (
        squared_net_sum - 2 * mean * product_sum + mean**2 * squared_round_sum
    ) * Fraction(shoe_count, shoe_count - 1)
    scaled_variance = 10**14 * squared_deviation_sum / (round_sum * unit) ** 2
    return Fraction(1 + isqrt(scaled_variance.numerator // scaled_variance.denominator), 10**7)


def _build_play_arrays(strategy: PackedStrategy, index_of_hand: dict[int, int]) -> tuple[Ints, Ints, Ints]:
    """Return a blackjack strategy as arrays: decisions by situation and hand, hands per split, insured hands."""
    shape = TEN_VALUE + 1, TEN_VALUE + 1, 2, 2, 2, len(index_of_hand)
    options: Ints = np.zeros(shape, dtype=np.uint8)
    for (situation, hand, suited), option in zip(
        strategy.index_by_question, strategy.packed_bytes, strict=False
    ):
        suit_rows = slice(suited, None) if suited else slice(None)
        options[
            situation.dealer_up_card,
            situation.split_pair_value,
            int(situation.is_unsplittable_pair),
            int(situation.dealer_has_pair_rank),
            suit_rows,
            index_of_hand[hand],
        ] = option
    card_values = range(ACE_VALUE, TEN_VALUE + 1)
    split_hands: Ints = np.zeros((TEN_VALUE + 1, TEN_VALUE + 1, 2), dtype=np.int64)
    for up_card_value in card_values:
        for pair in card_values:
            split_hands[up_card_value, pair] = [
                strategy.count_split_hands(up_card_value, pair, has_pair_rank=has_pair_rank)
                for has_pair_rank in (False, True)
            ]
    insured_hands: Ints = np.zeros((TEN_VALUE + 1, TEN_VALUE + 1), dtype=np.int64)
    for first_value in card_values:
        for second_value in card_values:
            insured_hands[first_value, second_value] = strategy.should_insure([first_value, second_value])
    return options, split_hands, insured_hands


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
    original_bets_only: int
    """1 if a dealer's blackjack takes only the first stake of a box, else 0."""
    dealer_must_draw: int
    """1 if the dealer must draw to see whether a blackjack spares the stakes added to a box, else 0."""
    hands_max: int
    """How many hands a box may have at most, after splits."""
    ace_hands_max: int
    """How many hands a pair of aces may become at most, by splits."""
    aces_get_one_card: int
    """1 if split aces get only one card each, else 0."""
    same_rank: int
    """1 if only cards of one rank, not of one value, may be split, else 0."""
    stake_units: int
    """The number of units that make one stake."""
    dealer_hands: int
    """The number of dealer hands that are played against each box."""
    blackjack_pay_units: int
    """The pay of a blackjack, in units for one stake."""
    insurance_pay_units: int
    """The pay of insurance, in units for one stake; 0: not offered."""
    sevens_pay_units: int
    """The pay of three sevens, in units for one stake; 0: an ordinary 21."""
    suited_pay_units: int
    """The pay of 6, 7 and 8 of one suit, in units for one stake; 0: an ordinary 21."""
    even_money_at_ace: int
    """1 if a blackjack takes even money against a dealer's ace, else 0."""
    even_money_at_ten: int
    """1 if a blackjack takes even money against a dealer's ten, else 0."""
    cards_behind_stop: int
    """The number of cards behind the stop card; -1 without a stop card."""
    burned_cards: int
    """The number of cards discarded after a shuffle; negative: the first card, and as many more as its value."""
    sevens_hand_index: int
    """The index of the hand 7-7-7; -2 if the shoe cannot have it."""
    suited_hand_index: int
    """The index of the hand 6-7-8; -2 if the shoe cannot have it."""
    rounds_per_shoe: int
    """The number of rounds after which the shoe is shuffled."""
    rounds: int
    """The number of rounds to simulate."""


class _SimulationLookups(NamedTuple):
    """Lookup tables of the simulation: the hand after each card, totals, card values, and the best strategy."""

    hand_after_card: Ints
    """The index of the hand after one more card, by hand and card value; -1 if the card busts the hand."""
    totals: Ints
    """The best total of each hand, and whether it is soft."""
    value_by_rank: Ints
    """The blackjack value of each rank."""
    answers: Ints
    """The best decision (0 stand, 1 hit, 2 double), by situation and hand."""
    splits: Ints
    """How many hands the strategy makes of a pair, by dealer's up card, pair, and equal rank of both."""
    insured_hands: Ints
    """Whether insurance is taken, by the values of the first two cards."""


class _SimulationBox(NamedTuple):
    """The hands of a simulated blackjack box: one array per property, with one element per hand."""

    first_cards: Ints
    """The first card of each hand of the box."""
    second_cards: Ints
    """The second card of each hand of the box."""
    card_counts: Ints
    """The number of cards of each hand of the box."""
    hand_indexes: Ints
    """The index of each hand of the box in the tables; negative if it is busted."""
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


def _draw_card(shoe: _SimulationShoe) -> int:  # pragma: no cover (compiled)
    """Draw a random card from the simulated blackjack shoe; every remaining card is equally likely."""
    words, cards, counters = shoe
    cards_left = np.uint64(len(cards) - counters[1])
    word_range = np.uint64(1 << 32)
    product = np.uint64(words[counters[0]]) * cards_left
    counters[0] += 1
    # reject the words that would make some cards more likely than others (Lemire 2019)
    while product % word_range < word_range % cards_left:
        product = np.uint64(words[counters[0]]) * cards_left
        counters[0] += 1
    drawn_at = counters[1] + np.int64(product // word_range)
    cards[counters[1]], cards[drawn_at] = cards[drawn_at], cards[counters[1]]
    counters[1] += 1
    return int(cards[counters[1] - 1])


def _record_shoe_and_shuffle(
    steps: _CompiledSteps, shoe: _SimulationShoe, rules: _SimulationRules, values: Ints, shoes: Ints
) -> bool:  # pragma: no cover (compiled)
    """Add the rounds and the net result of a finished shoe to ``shoes``, then shuffle and burn cards.

    Return True if another shoe can be played. Return False, without shuffling, if enough rounds were simulated.
    """
    counters = shoe.counters
    if counters[2]:
        shoes[0] += 1
        shoes[1] += counters[2]
        shoes[2] += counters[3]
        shoes[3] += counters[2] * counters[2]
        shoes[4] += counters[3] * counters[3]
        shoes[5] += counters[2] * counters[3]
        counters[2] = counters[3] = 0
        if shoes[1] >= rules.rounds:
            return False
    counters[1] = 0
    burnt_cards = rules.burned_cards
    if burnt_cards < 0:
        burnt_cards = values[steps.deal_card(shoe) >> 2]
    for _ in range(burnt_cards):
        steps.deal_card(shoe)
    return True


def _split_sampled_hand(
    steps: _CompiledSteps,
    shoe: _SimulationShoe,
    tables: _SimulationLookups,
    box: _SimulationBox,
    hand: int,
    hands: int,
) -> None:  # pragma: no cover (compiled)
    """Split a pair of the simulated blackjack box into two hands, and deal the first its second card.

    Later hands of the box move up by one.
    """
    first, second, card_counts, node, stakes, won, is_suited = box
    card_value = tables.value_by_rank[first[hand] >> 2]
    for n in range(hands, hand + 1, -1):
        first[n] = first[n - 1]
        second[n] = second[n - 1]
        card_counts[n] = card_counts[n - 1]
        node[n] = node[n - 1]
        stakes[n], won[n], is_suited[n] = stakes[n - 1], won[n - 1], is_suited[n - 1]
    first[hand + 1] = second[hand]
    card_counts[hand + 1] = 1
    node[hand + 1] = tables.hand_after_card[0, card_value]
    stakes[hand + 1], won[hand + 1] = 1, 0
    second[hand] = steps.deal_card(shoe)
    node[hand] = tables.hand_after_card[
        tables.hand_after_card[0, card_value], tables.value_by_rank[second[hand] >> 2]
    ]
    is_suited[hand] = first[hand] & 3 == second[hand] & 3


def _play_hand(  # noqa: C901 (one loop, compiled by numba)
    steps: _CompiledSteps,
    shoe: _SimulationShoe,
    rules: _SimulationRules,
    tables: _SimulationLookups,
    box: _SimulationBox,
    up_card: int,
    hand: int,
    hands: int,
    pair: int,
) -> tuple[int, int]:  # pragma: no cover (compiled)
    """Play a hand of the simulated blackjack box to its end, splitting it if the best strategy does.

    Return the number of hands of the box, and the card value of the split pair (0: none).
    """
    first, second, card_counts, node, stakes, won, is_suited = box
    next_hands, totals, values, answers, splits, _ = tables
    up, first_value = values[up_card >> 2], values[first[hand] >> 2]
    has_pair_rank = int(rules.same_rank and first_value == 10 and first[hand] >> 2 == up_card >> 2)
    limit = rules.ace_hands_max if first_value == 1 else rules.hands_max
    if card_counts[hand] == 1:
        second[hand] = steps.deal_card(shoe)
        node[hand] = next_hands[node[hand], values[second[hand] >> 2]]
        is_suited[hand], card_counts[hand] = first[hand] & 3 == second[hand] & 3, 2
    while node[hand] >= 0:
        if card_counts[hand] == 3 and node[hand] == rules.sevens_hand_index and rules.sevens_pay_units:
            won[hand] = rules.sevens_pay_units
        if (
            card_counts[hand] == 3
            and node[hand] == rules.suited_hand_index
            and is_suited[hand]
            and rules.suited_pay_units
        ):
            won[hand] = rules.suited_pay_units
        if won[hand]:
            break
        is_pair = card_counts[hand] == 2 and first_value == values[second[hand] >> 2]
        if rules.same_rank:
            is_pair = is_pair and first[hand] >> 2 == second[hand] >> 2
        if is_pair and hands < limit and splits[up, first_value, has_pair_rank] > hands:
            steps.split_pair(steps, shoe, tables, box, hand, hands)
            hands, pair = hands + 1, first_value
            continue
        best_total, soft = totals[node[hand], 0], totals[node[hand], 1]
        if (
            stakes[hand] == 2
            or (best_total == 21 and not soft)
            or (pair and first_value == 1 and rules.aces_get_one_card)
        ):
            break
        is_unsplittable_pair = int(pair > 0 and values[second[hand] >> 2] == pair)
        suited = int(first[hand] & 3 == second[hand] & 3)
        answer = answers[up, pair, is_unsplittable_pair, has_pair_rank if pair else 0, suited, node[hand]]
        if answer == 0:
            break
        if answer == 2:
            stakes[hand] = 2
        drawn_card = steps.deal_card(shoe)
        is_suited[hand] &= drawn_card & 3 == first[hand] & 3
        node[hand], card_counts[hand] = next_hands[node[hand], values[drawn_card >> 2]], card_counts[hand] + 1
    return hands, pair


def _draw_dealer_hand(
    steps: _CompiledSteps,
    shoe: _SimulationShoe,
    rules: _SimulationRules,
    values: Ints,
    up_card_value: int,
    hidden_card_value: int,
    reveals_second_card: bool,  # noqa: FBT001
    must_finish_hand: bool,  # noqa: FBT001
) -> tuple[int, bool]:  # pragma: no cover (compiled)
    """Draw cards to a simulated dealer's hand; return its best total and whether it is a blackjack.

    With ``must_finish_hand`` the dealer draws by the rules of the house. Otherwise only the second card is
    added, if it is dealt with the players' cards or ``reveals_second_card`` is set.
    """
    total, aces, card_count = up_card_value, int(up_card_value == 1), 1
    if rules.has_hole_card:
        total, aces, card_count = up_card_value + hidden_card_value, aces + int(hidden_card_value == 1), 2
    elif reveals_second_card:
        value = values[steps.deal_card(shoe) >> 2]
        total, aces, card_count = total + value, aces + int(value == 1), 2
    while must_finish_hand:
        best_total = total + 10 if aces and total <= 11 else total
        if best_total > 17 or (best_total == 17 and not (rules.hits_soft_17 and total == 7)):
            break
        value = values[steps.deal_card(shoe) >> 2]
        total, aces, card_count = total + value, aces + int(value == 1), card_count + 1
    best_total = total + 10 if aces and total <= 11 else total
    return best_total, card_count == 2 and best_total == 21


def _settle_sampled_box(
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
    hand_indexes, stakes, won_units = box.hand_indexes, box.stakes, box.won_units
    net_units = 0
    for n in range(hand_count):
        if won_units[n]:
            net_units += won_units[n] * stakes[n]
        elif has_dealer_blackjack and rules.original_bets_only:
            net_units -= rules.stake_units if n == 0 else 0
        elif has_dealer_blackjack or hand_indexes[n] < 0:
            net_units -= rules.stake_units * stakes[n]
        elif dealer_total > 21 or totals[hand_indexes[n], 0] > dealer_total:
            net_units += rules.stake_units * stakes[n]
        elif totals[hand_indexes[n], 0] < dealer_total:
            net_units -= rules.stake_units * stakes[n]
    return net_units


def _play_sampled_rounds(  # noqa: C901, PLR0912 (one loop, compiled by numba)
    steps: _CompiledSteps,
    shoe: _SimulationShoe,
    rules: _SimulationRules,
    tables: _SimulationLookups,
    box: _SimulationBox,
    net_counts: Ints,
    shoes: Ints,
) -> None:  # pragma: no cover (compiled)
    """Simulate blackjack rounds until the random words run out or, at the end of a shoe, enough rounds were played."""
    counters, values, first, second = shoe.counters, tables.value_by_rank, box.first_cards, box.second_cards
    while counters[0] + _ROUND_WORDS_MAX < len(shoe.words):
        is_shoe_over = (
            counters[1] == 0
            or len(shoe.cards) - counters[1] <= rules.cards_behind_stop
            or counters[2] >= rules.rounds_per_shoe
        )
        if is_shoe_over and not steps.end_shoe(steps, shoe, rules, values, shoes):
            return
        first[0] = steps.deal_card(shoe)
        up_card = steps.deal_card(shoe)
        second[0] = steps.deal_card(shoe)
        hidden = values[steps.deal_card(shoe) >> 2] if rules.has_hole_card else 0
        up, first_value, second_value = values[up_card >> 2], values[first[0] >> 2], values[second[0] >> 2]
        box.hand_indexes[0] = tables.hand_after_card[tables.hand_after_card[0, first_value], second_value]
        box.card_counts[0] = 2
        box.stakes[0], box.won_units[0], box.is_suited[0] = 1, 0, first[0] & 3 == second[0] & 3
        has_blackjack = first_value + second_value == 11 and (first_value == 1 or second_value == 1)
        takes_even_money = has_blackjack and (
            (up == 1 and rules.even_money_at_ace) or (up == 10 and rules.even_money_at_ten)
        )
        is_insured = (
            not takes_even_money
            and up == 1
            and tables.insured_hands[first_value, second_value]
            and rules.insurance_pay_units
        )
        dealer_may_have_blackjack = up in (1, 10)
        is_not_played = has_blackjack or (
            rules.has_hole_card and up + hidden == 11 and dealer_may_have_blackjack
        )
        hands, pair, hand = 1, 0, 0
        while hand < hands and not is_not_played:
            hands, pair = steps.play_hand(steps, shoe, rules, tables, box, up_card, hand, hands, pair)
            hand += 1
        # a hand that stands needs the dealer's total; a blackjack, insurance, or an added stake that is lost unless the
        # dealer has a blackjack needs only the dealer's second card
        must_finish_hand, needs_second_card = False, has_blackjack and not takes_even_money
        for n in range(hands):
            if is_not_played or box.won_units[n]:
                continue
            if box.hand_indexes[n] >= 0:
                must_finish_hand = True
            elif rules.dealer_must_draw and dealer_may_have_blackjack and (n or box.stakes[n] == 2):
                needs_second_card = True
        reveals_second_card = must_finish_hand or (
            (needs_second_card or is_insured) and dealer_may_have_blackjack
        )
        total = 0
        for dealer_hand in range(rules.dealer_hands):
            best_dealer_total, has_dealer_blackjack = steps.draw_dealer_hand(
                steps, shoe, rules, values, up, hidden, reveals_second_card, must_finish_hand
            )
            if is_insured:
                total += rules.insurance_pay_units // 2 if has_dealer_blackjack else -(rules.stake_units // 2)
            if takes_even_money:
                total += rules.stake_units
            elif has_blackjack:
                total += 0 if has_dealer_blackjack else rules.blackjack_pay_units
            else:
                total += steps.settle_box(
                    rules, tables.totals, box, hands, best_dealer_total, has_dealer_blackjack
                )
            net_counts[dealer_hand, total + net_counts.shape[1] // 2] += 1
            if dealer_hand == 0:
                counters[3] += total
        counters[2] += 1
