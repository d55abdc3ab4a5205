"""The ranking of hands, compared with the words of the rules and with well-known counts."""

from collections import Counter
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest

from paytables.cards import parse_cards, ranking
from paytables.cards.ranking import (
    FIVE_CARD_RANKING,
    FOUR_CARD_RANKING,
    PAI_GOW_LOW_RANKING,
    PAI_GOW_RANKING,
    THREE_CARD_RANKING,
    HandRanking,
    RankingRules,
)
from paytables.cards.subsets import build_sets
from tests.paytables.poker import hands_brute as brute

#: games.md, section 6.
FIVES = {
    "royal-flush": 4,
    "straight-flush": 36,
    "four-of-a-kind": 624,
    "full-house": 3744,
    "flush": 5108,
    "straight": 10200,
    "three-of-a-kind": 54912,
    "two-pair": 123552,
    "pair": 1098240,
    "high-card": 1302540,
}
THREES = {"straight-flush": 48, "three-of-a-kind": 52, "straight": 720, "flush": 1096, "pair": 3744}
FOURS_OF_FIVE = {
    "four-of-a-kind": 624,
    "straight-flush": 2072,
    "three-of-a-kind": 58656,
    "flush": 114616,
    "straight": 101808,
    "two-pair": 123552,
}


def count_categories(order, size, cards=52):
    strengths = build_sets(cards, size).compute_strengths(order)
    found = Counter(dict(zip(*np.unique(strengths >> 20, return_counts=True), strict=True)))
    return {order.categories[-1 - int(level)]: int(count) for level, count in found.items()}


@pytest.mark.parametrize(
    ("order", "size", "published"),
    [(FIVE_CARD_RANKING, 5, FIVES), (THREE_CARD_RANKING, 3, THREES), (FOUR_CARD_RANKING, 5, FOURS_OF_FIVE)],
)
def test_every_hand_of_the_deck_is_counted_as_published(order, size, published):
    found = count_categories(order, size)
    assert {name: found[name] for name in published} == published
    assert sum(found.values()) == build_sets(52, size).count


def test_the_best_four_of_five_cards_have_the_known_number_of_pairs_by_rank():
    strengths = build_sets(52, 5).compute_strengths(FOUR_CARD_RANKING)
    pairs = Counter((strengths[strengths >> 20 == 1] >> 16 & 15).tolist())
    assert [pairs[rank] for rank in (12, 11, 10)] == [81096, 81096, 80724]


@pytest.mark.requirement("S-29")
@pytest.mark.parametrize(
    ("order", "names", "size", "cards"),
    [
        (FIVE_CARD_RANKING, brute.FIVE, 5, 5),
        (FIVE_CARD_RANKING, brute.FIVE, 5, 7),
        (FOUR_CARD_RANKING, brute.FOUR, 4, 5),
        (THREE_CARD_RANKING, brute.THREE, 3, 3),
    ],
)
def test_strengths_order_hands_as_the_rules_describe(order, names, size, cards, seeded_draw):
    """The strengths of random hands compare exactly like hands judged from the text."""
    draw, rank = seeded_draw("order"), HandRanking(order)
    hands = []
    for _ in range(400):
        deck = list(range(52))
        hands.append([deck.pop(draw.below(len(deck), "card")) for _ in range(cards)])
    judged = [brute.best([brute.DECK[card] for card in hand], size, names) for hand in hands]
    found = [rank.compute_strength(hand) for hand in hands]
    for (a, x), (b, y) in combinations(zip(found, judged, strict=True), 2):
        assert (a > b) - (a < b) == (x > y) - (x < y)


@pytest.mark.parametrize(
    ("size", "order"),
    [
        (5, FIVE_CARD_RANKING),
        pytest.param(6, FOUR_CARD_RANKING, marks=pytest.mark.slow),
        (3, THREE_CARD_RANKING),
    ],
)
def test_the_strength_table_equals_the_strength_of_each_single_hand(size, order, seeded_draw):
    table, rank, draw = build_sets(52, size), HandRanking(order), seeded_draw("tables")
    strengths = table.compute_strengths(order)
    for _ in range(300):
        n = draw.below(table.count, "set")
        assert rank.compute_strength(table.cards_by_set[n].tolist()) == strengths[n]


@pytest.mark.requirement("S-15", "S-29")
@pytest.mark.parametrize(
    "better_first",
    [
        ["As Ks Qs Js Ts", "As 2s 3s 4s 5s", "Kh Qh Jh Th 9h", "6c 5c 4c 3c 2c", "Ah Ac Ad As 2s"],
        ["Ac Ad Ah As Jk", "Ks Qs Js Ts Jk", "2d 3d 4d 5d Jk", "Kh Qh Jh Th 9h", "Ac Ad Ah Jk 5s"],
        ["As Kd Qd Jd Td", "As 2d 3d 4d 5d", "Ks Qd Jd Td 9d", "6s 5d 4d 3d 2d", "As Ad Ac Kd Qs"],
        ["Kc Qd Jk Ts 9h", "6s 5d 4d 3d Jk", "Ks Kd Jk 4c 4d", "As Jk Kd Qh 2c", "Ks Kd Qd Jd 9c"],
    ],
)
def test_pai_gow_ranks_its_special_straights_and_its_joker(better_first):
    """By-law ss. 39-40: ace to five is the highest straight flush and the second straight.

    The joker is an ace, or completes a straight or a flush; it makes no full house of two pairs.
    """
    strengths = [HandRanking(PAI_GOW_RANKING).compute_strength(parse_cards(hand)) for hand in better_first]
    assert strengths == sorted(strengths, reverse=True)
    assert len(set(strengths)) == len(strengths)


@pytest.mark.requirement("S-15", "S-29")
def test_the_joker_of_pai_gow_makes_the_hands_that_the_rules_permit():
    rank = HandRanking(PAI_GOW_RANKING)
    categories_by_hand = {
        "Ac Ad Ah As Jk": "five-of-a-kind",
        "Ks Kd Kc Kh Jk": "four-of-a-kind",
        "Ks Qs Js Ts Jk": "royal-flush",
        "2d 3d 4d 5d Jk": "straight-flush",
        "2d 7d 9d Kd Jk": "flush",
        "7d 8c Jk Ts Jh": "straight",
        "Ks Kd 4c 4d Jk": "two-pair",
        "Ks Kd Kc 4d Jk": "three-of-a-kind",
        "Ks Qd 7c 4d Jk": "high-card",
        "As Qd 7c 4d Jk": "pair",
    }
    assert {hand: rank.find_category(parse_cards(hand)) for hand in categories_by_hand} == categories_by_hand


def test_the_low_hand_of_pai_gow_is_ranked_by_pair_then_high_cards():
    rank = HandRanking(PAI_GOW_LOW_RANKING)
    hands = ["As Jk", "Ks Kd", "2c 2d", "As Ks", "Jk Qs", "Ks Qs", "3c 2d"]
    strengths = [rank.compute_strength(parse_cards(hand)) for hand in hands]
    assert strengths == sorted(strengths, reverse=True)
    assert rank.compute_strength(parse_cards("Jk Qs")) == rank.compute_strength(parse_cards("Ad Qh"))


@pytest.mark.parametrize("wilds", [1, 2])
def test_wild_cards_make_the_best_hand_there_is(wilds, seeded_draw):
    """Every card of the deck is tried in the place of each wild card."""
    rank = HandRanking(RankingRules(categories=ranking.HAND_CATEGORIES, wild_ranks=(0,)))
    names = ["high-card", "pair", "two-pair", "three-of-a-kind", "straight", "flush", "full-house"]
    names += ["four-of-a-kind", "straight-flush", "royal-flush", "five-of-a-kind"]
    draw = seeded_draw(f"wild {wilds}")
    for _ in range(25 if wilds == 1 else 4):
        deck = list(range(4, 52))
        hand = [*range(wilds), *(deck.pop(draw.below(len(deck), "card")) for _ in range(5 - wilds))]
        judged = brute.best_wild([brute.DECK[card] for card in hand], lambda card: card[0] == "2")
        assert rank.find_category(hand) == names[judged[0]]


def test_suit_classes_equal_those_found_by_permuting_suits():
    """A set is in the class whose representative it becomes by exchanging suits; each class counts its sets."""
    table = build_sets(52, 3)
    chosen, like = table.suit_classes_and_sizes
    assert (len(chosen), int(like.sum())) == (1755, 22100)
    smallest = {}
    for n, row in enumerate(table.cards_by_set.tolist()):
        images = (tuple(sorted(c // 4 * 4 + turn[c % 4] for c in row)) for turn in _TURNS)
        smallest.setdefault(min(images), []).append(n)
    groups = sorted(sorted(group) for group in smallest.values())
    found = {}
    for n, suit_class in enumerate(table.suit_class_by_set.tolist()):
        found.setdefault(suit_class, []).append(n)
    assert sorted(found.values()) == groups
    assert all(
        len(found[suit_class]) == like[suit_class] and chosen[suit_class] in found[suit_class]
        for suit_class in found
    )


_TURNS = [turn for turn in product(range(4), repeat=4) if len(set(turn)) == 4]


@pytest.mark.parametrize(
    ("cards", "size", "classes"), [(52, 2, 169), (52, 4, 16432), (52, 5, 134459), (53, 5, 150891)]
)
def test_the_numbers_of_suit_classes_are_the_published_ones(cards, size, classes):
    chosen, like = build_sets(cards, size).suit_classes_and_sizes
    assert (len(chosen), int(like.sum())) == (classes, build_sets(cards, size).count)


def test_sums_over_supersets_equal_sums_over_hands_that_hold_the_cards(seeded_draw):
    table, draw = build_sets(52, 4), seeded_draw("sums")
    values = np.array([draw.below(50, "value") for _ in range(table.count)])
    sums = table.sum_over_supersets(values)
    rows = [set(row) for row in table.cards_by_set.tolist()]
    for part in ([], [7], [3, 51], [0, 1, 2], [10, 20, 30, 40]):
        number = next(
            n for n, row in enumerate(build_sets(52, len(part)).cards_by_set.tolist()) if row == part
        )
        direct = sum(int(v) for v, row in zip(values, rows, strict=True) if row >= set(part))
        assert sums[len(part)][number] == direct


def test_laboratory_tables_are_not_needed_to_rank_a_hand():
    source = (Path(ranking.__file__)).read_text()
    assert "numpy" not in source
