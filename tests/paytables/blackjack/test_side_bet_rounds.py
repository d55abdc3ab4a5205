"""Millions of first cards, compared with the exact chances of blackjack's side bets; each row from its text."""

from collections import Counter

import numpy as np
import pytest

from paytables import analyse, load_game
from tests.paytables.bank.bank_fast import NEAR, ROWS, lots, z_of

OPTIONS, MONACO = "quebec-blackjack-options", "monaco-blackjack"


class Dealt:
    """The box's first cards in order, and the dealer's: ranks 1 (ace) to 13, suits 0-3 (2 and 3 are red)."""

    def __init__(self, shoes):
        cards = [shoes.deal() for _ in range(6)]
        self.up = cards.pop(2)
        self.cards = cards
        self.ranks = [card // 4 + 1 for card in cards]
        self.one, self.two = (np.minimum(rank, 10) for rank in self.ranks[:2])

    def suited(self, many):
        return np.all([card % 4 == self.cards[0] % 4 for card in self.cards[1:many]], axis=0)

    def alike(self, many):
        return np.all([rank == self.ranks[0] for rank in self.ranks[1:many]], axis=0)

    def are(self, *ranks):
        return np.all(np.sort(self.ranks[: len(ranks)], axis=0) == np.array(sorted(ranks))[:, None], axis=0)

    def reds(self, many):
        return np.sum([card % 4 >= 2 for card in self.cards[:many]], axis=0)

    def of(self, *ranks):
        return np.isin(self.ranks[0], ranks)


def twelve_sixteen(d):
    both = d.one + d.two
    soft = (d.one == 1) | (d.two == 1)
    total = np.where(soft & (both <= 11), both + 10, both)
    yield "aces-or-eights", (d.one == d.two) & np.isin(d.one, (1, 8))
    yield "of-12-to-16", (total >= 12) & (total <= 16)


def sevens(d):
    seven = [rank == 7 for rank in d.ranks]
    yield "sevens-suited", seven[0] & seven[1] & seven[2] & d.suited(3)
    yield "sevens-three", seven[0] & seven[1] & seven[2]
    yield "sevens-two-suited", seven[0] & seven[1] & d.suited(2)
    yield "sevens-two", seven[0] & seven[1]
    yield "sevens-one", seven[0]


def pairs(d):
    yield "perfect-pair", d.alike(2) & d.suited(2)
    yield "coloured-pair", d.alike(2) & (d.reds(2) != 1)
    yield "mixed-pair", d.alike(2)


def twenty_one_plus_three(d):
    three = np.sort([*d.ranks[:2], d.up // 4 + 1], axis=0)
    flush = d.suited(2) & (d.up % 4 == d.cards[0] % 4)
    straight = (three[1] - three[0] == 1) & (three[2] - three[1] == 1)
    straight |= (three[0] == 1) & (three[1] == 12) & (three[2] == 13)
    yield "straight-flush", straight & flush
    yield "three-of-a-kind", three[0] == three[2]
    yield "straight", straight
    yield "flush", flush


def first_table(d):
    blackjack = (np.minimum(d.one, d.two) == 1) & (np.maximum(d.one, d.two) == 10)
    yield "ace-to-five", d.are(1, 2, 3, 4, 5) & d.suited(5)
    yield "two-to-five", d.are(2, 3, 4, 5) & d.suited(4)
    yield "four-to-six", d.are(4, 5, 6) & d.suited(3)
    yield "ace-jack", d.are(1, 11) & d.suited(2)
    yield "suited-blackjack", blackjack & d.suited(2)
    yield "high-pair", d.alike(2) & d.of(1, 10, 11, 12, 13)
    yield "any-blackjack", blackjack


def second_table(d):
    aces = d.of(1)
    yield "four-red-aces", aces & d.alike(4) & (d.reds(4) == 4)
    yield "four-black-aces", aces & d.alike(4) & (d.reds(4) == 0)
    yield "three-suited-aces", aces & d.alike(3) & d.suited(3)
    yield "three-aces", aces & d.alike(3)
    yield "two-suited-aces", aces & d.alike(2) & d.suited(2)
    yield "two-aces", aces & d.alike(2)


def third_table(d):
    yield "ace-to-five", d.are(1, 2, 3, 4, 5) & d.suited(5)
    yield "four-red", d.of(2, 3, 4, 5) & d.alike(4) & (d.reds(4) == 4)
    yield "four-black", d.of(2, 3, 4, 5) & d.alike(4) & (d.reds(4) == 0)
    yield "three-suited", d.of(3, 4, 5, 6) & d.alike(3) & d.suited(3)
    yield "three-alike", d.of(3, 4, 5, 6) & d.alike(3)
    yield "suited-pair", d.of(10, 11, 12, 13) & d.alike(2) & d.suited(2)


SIDES = {
    (OPTIONS, "twelve-sixteen"): twelve_sixteen,
    (OPTIONS, "over"): lambda d: [("over-13", d.one + d.two > 13)],
    (OPTIONS, "under"): lambda d: [("under-13", d.one + d.two < 13)],
    (OPTIONS, "sevens"): sevens,
    (MONACO, "pairs"): pairs,
    (MONACO, "twenty-one-plus-three"): twenty_one_plus_three,
    ("quebec-blackjack-progressive-1", "progressive"): first_table,
    ("quebec-blackjack-progressive-2", "progressive"): second_table,
    ("quebec-blackjack-progressive-3", "progressive"): third_table,
}


def compare_rows(game, spots, rounds, seed=20261123):
    """Return the deviate of each row, of which only the highest is paid."""
    found, decks = Counter(), game.rules.definition.shoe.deck_count
    for shoes in lots(np.random.default_rng(seed), rounds, decks):  # noqa: TID251
        dealt = Dealt(shoes)
        for spot in spots:
            undecided = np.ones(len(shoes.rows), dtype=bool)
            for row, where in SIDES[game.id, spot](dealt):
                found[spot, row] += int((undecided & where).sum())
                undecided &= ~where
    rates = {
        (spot, prize.name): prize.rate
        for bet in analyse(game).bets
        for prize in bet.prizes
        for spot in spots
        if bet.bet == prize.stage_or_spot == spot
    }
    assert set(rates) == set(found)
    return {row: z_of(found[row], rounds, rate) for row, rate in rates.items()}


GAMES = sorted({name for name, _ in SIDES})


def compare_with_figures(name, rounds):
    found = compare_rows(load_game(name), [spot for game, spot in SIDES if game == name], rounds)
    assert not {row: z for row, z in found.items() if abs(z) > NEAR}
    return found


@pytest.mark.parametrize("name", GAMES)
def test_side_bets_on_first_cards_win_as_often_as_the_exact_probability(name):
    compare_with_figures(name, ROWS)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("name", GAMES)
def test_side_bets_on_ten_million_first_cards_win_as_often_as_the_exact_probability(name):
    compare_with_figures(name, 10_000_000)
