"""Millions of rounds of blackjack by a chart, compiled, card by card from a shuffled shoe, for tests.

It contains no code of the product: the rules are numbers, and the chart is a list of lines. A net is counted in
halves of the stake.
"""

import numba
import numpy as np

LETTERS = "SHDE"


def chart_of(lines):
    """Read a chart's lines: answers by first card, soft and total; pairs split by first card."""
    answers, pairs = np.zeros((11, 2, 22), dtype=np.int64), np.zeros((11, 11), dtype=np.bool_)
    for line in lines:
        name, total, row = line.split()
        for letter_index, letter in enumerate(row):
            up = (2, 3, 4, 5, 6, 7, 8, 9, 10, 1)[letter_index]
            if name == "pair":
                pairs[up, int(total)] = letter == "P"
            else:
                answers[up, int(name == "soft"), int(total)] = LETTERS.index(letter)
    return answers, pairs


@numba.njit
def value(card):
    return min(card // 4 + 1, 10)


@numba.njit
def best(hard, aces):
    return hard + 10 if aces and hard <= 11 else hard


@numba.njit
def draw(shoe, index):
    """Draw a card of the shoe; each remaining card is equally likely."""
    other = np.random.randint(index, len(shoe))  # noqa: NPY002, TID251
    shoe[index], shoe[other] = shoe[other], shoe[index]
    return shoe[index]


@numba.njit
def play(rounds, seed, decks, h17, first_only, doubled, das, most, at_once, answers, pairs, banks=1):  # noqa: PLR0912 (one loop for numba)
    """Return how often each net occurred (in halves, from -64 on) by the dealer's hand."""
    np.random.seed(seed)  # noqa: NPY002, TID251
    shoe = np.zeros(52 * decks, dtype=np.int64)
    for n in range(52 * decks):
        shoe[n] = n % 52
    cards = np.zeros((5, 22), dtype=np.int64)
    counts, stakes, won = np.zeros(5, np.int64), np.zeros(5, np.int64), np.zeros(5, np.int64)
    found = np.zeros((banks, 129), dtype=np.int64)
    for _ in range(rounds):
        cards[0, 0], dealt_count = draw(shoe, 0), 1
        up = value(draw(shoe, 1))
        cards[0, 1], dealt_count = draw(shoe, 2), 3
        counts[0], stakes[0], won[0], hands, hand, split = 2, 1, 0, 1, 0, False
        first, second = value(cards[0, 0]), value(cards[0, 1])
        natural = min(first, second) == 1 and max(first, second) == 10
        while hand < hands and not natural:
            if counts[hand] == 1:
                cards[hand, 1], dealt_count, counts[hand] = draw(shoe, dealt_count), dealt_count + 1, 2
            closed = split and value(cards[hand, 0]) == 1
            while True:
                hard = aces = 0
                for n in range(counts[hand]):
                    hard += value(cards[hand, n])
                    aces += value(cards[hand, n]) == 1
                points, many = best(hard, aces), counts[hand]
                if many == 3 and at_once[0] + at_once[1] > 0:
                    a, b, c = cards[hand, 0], cards[hand, 1], cards[hand, 2]
                    if value(a) == value(b) == value(c) == 7:
                        won[hand] = at_once[0]
                    elif a % 4 == b % 4 == c % 4 and hard == 21:
                        low, high = min(value(a), value(b), value(c)), max(value(a), value(b), value(c))
                        if low == 6 and high == 8:
                            won[hand] = at_once[1]
                pair = many == 2 and value(cards[hand, 0]) == value(cards[hand, 1])
                limit = most[1] if pair and value(cards[hand, 0]) == 1 else most[0]
                if pair and hands < limit and pairs[up, value(cards[hand, 0])]:
                    for n in range(hands, hand + 1, -1):
                        cards[n, :2], counts[n], stakes[n], won[n] = cards[n - 1, :2], counts[n - 1], 1, 0
                    cards[hand + 1, 0] = cards[hand, 1]
                    counts[hand + 1], stakes[hand + 1], won[hand + 1] = 1, 1, 0
                    hands, split = hands + 1, True
                    closed = value(cards[hand, 0]) == 1
                    cards[hand, 1], dealt_count = draw(shoe, dealt_count), dealt_count + 1
                    continue
                if closed or points > 21 or won[hand] or (points == 21 and points == hard):
                    break
                soft = points != hard
                answer = answers[up, int(soft), points]
                may = (
                    many == 2
                    and (das or not split)
                    and (doubled[points] or (soft and points < 21 and doubled[hard]))
                )
                if answer >= 2 and may:
                    stakes[hand] = 2
                    closed = True
                elif answer in (0, 3):
                    break
                cards[hand, many], dealt_count, counts[hand] = (
                    draw(shoe, dealt_count),
                    dealt_count + 1,
                    many + 1,
                )
            hand += 1
        for bank_index in range(banks):
            hard, aces, drawn = up, int(up == 1), 1
            while best(hard, aces) < 17 or (best(hard, aces) == 17 and hard != 17 and h17):
                card = value(draw(shoe, dealt_count))
                dealt_count, hard, aces, drawn = dealt_count + 1, hard + card, aces + (card == 1), drawn + 1
            bank = best(hard, aces)
            beaten = bank == 21 and drawn == 2
            net = 0
            for n in range(hands):
                hard = aces = 0
                for m in range(counts[n]):
                    hard += value(cards[n, m])
                    aces += value(cards[n, m]) == 1
                points = best(hard, aces)
                if natural:
                    net += 0 if beaten else 3
                elif won[n]:
                    net += stakes[n] * won[n]
                elif beaten:
                    net -= (2 if n == 0 else 0) if first_only else 2 * stakes[n]
                elif points > 21 or (bank <= 21 and points < bank):
                    net -= 2 * stakes[n]
                elif bank > 21 or points > bank:
                    net += 2 * stakes[n]
            found[bank_index, 64 + net] += 1
    return found
