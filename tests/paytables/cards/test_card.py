"""Cards as numbers, and the shoe that deals them."""

from fractions import Fraction
from itertools import permutations

import pytest

from paytables import cards


class Numbers:
    """Draws with given numbers, which store the requested bounds."""

    def __init__(self, *values):
        self.values, self.bounds = list(values), []

    def below(self, bound, purpose):
        self.bounds.append(bound)
        return self.values.pop(0)


def test_every_card_has_one_name_which_parses_to_the_card():
    names = [cards.format_card(card) for card in cards.build_deck(joker=True)]
    assert len(set(names)) == 53
    assert [cards.parse_card(name) for name in names] == list(range(53))
    assert names[0] == "2c"
    assert names[51] == "As"
    assert names[52] == "Jk"
    assert [cards.format_card(c) for c in range(52) if cards.is_red(c)] == [
        r + s for r in cards.RANK_LETTERS for s in "dh"
    ]


@pytest.mark.parametrize("name", ["", "A", "1s", "As ", "sA", "10h", "jk"])
def test_an_invalid_card_name_is_refused_and_named(name):
    with pytest.raises(ValueError, match=f"'{name}' is not a card"):
        cards.parse_card(name)


@pytest.mark.requirement("S-01", "S-02")
def test_a_shoe_gives_every_order_of_its_cards_once():
    """The 24 sequences of numbers give every order of four cards, of which two are equal, equally often."""
    orders = []
    for numbers in ((a, b, c, 0) for a in range(4) for b in range(3) for c in range(2)):
        shoe = cards.Shoe.from_json({"2c": 1, "Ah": 2, "Jk": 1})
        draw = Numbers(*numbers)
        orders.append(tuple(cards.format_card(shoe.deal(draw, "card")) for _ in range(4)))
        assert draw.bounds == [4, 3, 2, 1]
        assert shoe.cards_left == 0
    expected = list(permutations(("2c", "Ah", "Ah", "Jk")))
    assert sorted(orders) == sorted(expected)
    assert Fraction(sum(order[0] == "Ah" for order in orders), len(orders)) == Fraction(1, 2)


@pytest.mark.requirement("S-01")
def test_a_shoe_has_the_cards_of_its_decks_without_excluded_ranks():
    assert cards.Shoe.from_decks(8).cards_left == 416
    assert cards.Shoe.from_decks(1, joker=True).cards_left == 53
    without = cards.Shoe.from_decks(8, excluded_ranks=[cards.RANK_LETTERS.index(r) for r in "789T"])
    assert without.cards_left == 288
    assert cards.Shoe.from_json(without.to_json()) == without


@pytest.mark.requirement("S-01")
def test_a_shoe_has_each_card_of_its_packs_as_often_as_there_are_packs():
    """The number of cards is not enough: a pack with one card twice and another missing is not complete."""
    ranks = cards.RANK_LETTERS.index("7"), cards.RANK_LETTERS.index("T")
    for decks in (1, 6, 8):
        assert cards.Shoe.from_decks(decks).to_json() == dict.fromkeys(
            map(cards.format_card, range(52)), decks
        )
        with_joker = cards.Shoe.from_decks(decks, joker=True).to_json()
        assert with_joker == dict.fromkeys(map(cards.format_card, range(53)), decks)
        cards_left = [card for card in range(52) if cards.format_card(card)[0] not in "7T"]
        assert cards.Shoe.from_decks(decks, excluded_ranks=ranks).to_json() == dict.fromkeys(
            map(cards.format_card, cards_left), decks
        )


def test_dealing_from_an_empty_shoe_and_invalid_shoe_data_are_refused():
    shoe = cards.Shoe.from_json({})
    with pytest.raises(ValueError, match="dealer 1: no card is left in the shoe"):
        shoe.deal(Numbers(0), "dealer 1")
    with pytest.raises(ValueError, match="2c: -1 is not a count of cards"):
        cards.Shoe.from_json({"2c": -1})
