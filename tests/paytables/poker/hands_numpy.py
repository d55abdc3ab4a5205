"""The best hand among several cards, for many rows at once, by counting ranks and suits, without product code.

Scores are greater for better hands, and comparable within one function only. Cards are numbers, rank * 4 + suit.
"""

import numpy as np


def _counts(cards):
    ranks = np.zeros((len(cards), 13), dtype=np.int8)
    suited = np.zeros((len(cards), 4, 13), dtype=bool)
    row_indices = np.arange(len(cards))
    for column in cards.T:
        ranks[row_indices, column // 4] += 1
        suited[row_indices, column % 4, column // 4] = True
    return ranks, suited


def _highest(has, most):
    """Return the highest ``most`` ranks of each row of flags as one number, and the number of flags."""
    value = np.zeros(len(has), dtype=np.int64)
    taken = np.zeros(len(has), dtype=np.int64)
    for rank in range(12, -1, -1):
        take = has[:, rank] & (taken < most)
        value = np.where(take, value * 14 + rank + 1, value)
        taken += take
    return value * 14 ** (most - taken), taken


def _straight(has, size):
    """Return the top of each row's best straight, 0 for one that begins with an ace, -1 for none."""
    best = np.full(len(has), -1)
    wheel = has[:, 12] & has[:, : size - 1].all(axis=1)
    best[wheel] = 0
    for low in range(13 - size + 1):
        best[has[:, low : low + size].all(axis=1)] = low + 1
    return best


def _sets(ranks, times):
    """Return the highest rank held at least ``times`` times, -1 for none."""
    best = np.full(len(ranks), -1)
    for rank in range(13):
        best[ranks[:, rank] >= times] = rank
    return best


def _without(has, rank):
    ranks_left = has.copy()
    rows = rank >= 0
    ranks_left[np.arange(len(has))[rows], rank[rows]] = False
    return ranks_left


def _parts(cards, size):
    ranks, suited = _counts(cards)
    has = ranks > 0
    straight = _straight(has, size)
    flush = np.zeros(len(cards), dtype=np.int64)
    both = np.full(len(cards), -1)
    for suit in range(4):
        suit_ranks = suited[:, suit]
        enough = suit_ranks.sum(axis=1) >= size
        flush = np.where(enough, np.maximum(flush, _highest(suit_ranks, size)[0]), flush)
        both = np.where(enough, np.maximum(both, _straight(suit_ranks, size)), both)
    quads, trips, pair = (_sets(ranks, times) for times in (4, 3, 2))
    second = _sets(np.where(np.arange(13) == pair[:, None], 0, ranks), 2)
    beside = _sets(np.where(np.arange(13) == trips[:, None], 0, ranks), 2)
    return has, straight, flush, both, quads, trips, pair, second, beside


def _rank(options):
    """Return the score of the last of the (holds, combination, details), listed from the lowest up, that holds."""
    score = np.zeros(len(options[0][1]), dtype=np.int64)
    for level, (holds, detail) in enumerate(options):
        score = np.where(holds, level * 14**6 + detail, score)
    return score


def best_five(cards):
    """Return the score of the best five cards: high card to straight flush, with the flush below the full house."""
    has, straight, flush, both, quads, trips, pair, second, beside = _parts(cards, 5)
    every = np.ones(len(cards), dtype=bool)

    def kick(*excluded_ranks, most):
        ranks_left = has
        for rank in excluded_ranks:
            ranks_left = _without(ranks_left, rank)
        return _highest(ranks_left, most)[0]

    return _rank(
        [
            (every, kick(most=5)),
            (pair >= 0, (pair + 1) * 14**4 + kick(pair, most=3)),
            (second >= 0, (pair + 1) * 14**4 + (second + 1) * 14**3 + kick(pair, second, most=1)),
            (trips >= 0, (trips + 1) * 14**4 + kick(trips, most=2)),
            (straight >= 0, straight),
            (flush > 0, flush),
            ((trips >= 0) & (beside >= 0), (trips + 1) * 14 + beside + 1),
            (quads >= 0, (quads + 1) * 14**4 + kick(quads, most=1)),
            (both >= 0, both),
        ]
    )


def best_four(cards):
    """Return the score of the best four cards: high, pair, two pair, straight, flush, trips, straight flush, quads."""
    has, straight, flush, both, quads, trips, pair, second, _ = _parts(cards, 4)
    every = np.ones(len(cards), dtype=bool)

    def kick(*excluded_ranks, most):
        ranks_left = has
        for rank in excluded_ranks:
            ranks_left = _without(ranks_left, rank)
        return _highest(ranks_left, most)[0]

    return _rank(
        [
            (every, kick(most=4)),
            (pair >= 0, (pair + 1) * 14**4 + kick(pair, most=2)),
            (second >= 0, (pair + 1) * 14**4 + (second + 1) * 14**3),
            (straight >= 0, straight),
            (flush > 0, flush),
            (trips >= 0, (trips + 1) * 14**4 + kick(trips, most=1)),
            (both >= 0, both),
            (quads >= 0, quads),
        ]
    )


def level(score):
    """Return the combination of a score: its place in the order of the function that made it."""
    return score // 14**6
