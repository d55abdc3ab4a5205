"""Hands judged from the words of the rules, card by card, without the tables of the product.

A card is a text such as "Td". A judged hand is a tuple that is greater for the better hand; its first element is the
number of its combination, 0 for the lowest.
"""

from itertools import combinations, product

ORDER = "23456789TJQKA"
DECK = [r + s for r in ORDER for s in "cdhs"]

FIVE = ["high", "pair", "two-pair", "trips", "straight", "flush", "full", "quads", "sf", "royal", "five"]
FOUR = ["high", "pair", "two-pair", "straight", "flush", "trips", "sf", "quads"]
THREE = ["high", "pair", "flush", "straight", "trips", "sf"]


def judge(hand, order=FIVE):
    """Judge a hand of exactly as many cards as count, without wild cards."""
    size = len(hand)
    ranks = sorted((ORDER.index(card[0]) for card in hand), reverse=True)
    times = sorted(((ranks.count(r), r) for r in set(ranks)), reverse=True)
    same_suit = len({card[1] for card in hand}) == 1
    in_row = len(set(ranks)) == size and ranks[0] - ranks[-1] == size - 1
    top = ranks[0]
    if set(ranks) == {12, *range(size - 1)}:
        in_row, top = True, -1
    counts = [n for n, _ in times]
    if in_row and same_suit:
        name = "royal" if size == 5 and top == 12 else "sf"
    elif in_row:
        name = "straight"
    elif same_suit:
        name = "flush"
    elif counts[0] == 5:
        name = "five"
    elif counts[0] == 4:
        name = "quads"
    elif counts[:2] == [3, 2]:
        name = "full"
    elif counts[0] == 3:
        name = "trips"
    elif counts[:2] == [2, 2]:
        name = "two-pair"
    else:
        name = "pair" if counts[0] == 2 else "high"
    decide = (top,) if in_row else tuple(r for _, r in times)
    return (order.index(name), *decide)


def best(cards, size=5, order=FIVE):
    """Judge the best ``size`` of the cards."""
    return max(judge(hand, order) for hand in combinations(cards, size))


def best_wild(hand, wild):
    """Judge five cards; those for which ``wild(card)`` is true replace any card, even one already in the hand."""
    natural_cards = [card for card in hand if not wild(card)]
    free = len(hand) - len(natural_cards)
    return max(judge([*natural_cards, *stand]) for stand in product(DECK, repeat=free))
