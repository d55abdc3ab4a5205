"""The compiled inner loops of :mod:`paytables.poker.paigow.solve`, for laboratories (numpy, numba)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import numba

if TYPE_CHECKING:
    from paytables.cards.arrays import Ints


@cache
def compile_kernel(kernel: Callable[..., None]) -> Callable[..., None]:
    """Return the function ``kernel`` compiled by numba, without Python's global lock, for use in threads."""
    compiled_kernel: Callable[..., None] = numba.njit(nogil=True)(kernel)
    return compiled_kernel


def count_bank_hands_by_ranks(player_counts: Ints, nodes: Ints, choose: Ints, weights: Ints) -> None:
    """Fill ``weights[i]`` with the number of ways to deal the bank the ranks of node i without the player's cards.

    ``player_counts`` has the number of the player's cards of each rank. Each node is a row (index of its parent, rank,
    number of cards of that rank that it adds to the parent's); node 0 has no cards. ``choose[n, k]`` is the binomial
    coefficient.
    """
    weights[0] = 1
    for n in range(1, nodes.shape[0]):
        before = weights[nodes[n, 0]]
        rank = nodes[n, 1]
        cards_left = (4 if rank < 13 else 1) - player_counts[rank]
        weights[n] = before * choose[cards_left, nodes[n, 2]]


def count_hands_beaten(ways: Ints, lows: Ints, highs: Ints, weights: Ints, result_counts: Ints) -> None:
    """Count, for each way to set the player's cards, the bank's hands that lose to the player's and that win.

    ``ways`` has the strength of the low and the high hand of each way. ``lows`` and ``highs`` have these strengths for
    each combination of the bank's ranks, and ``weights`` its number of hands. ``result_counts`` gets both counts for
    each way.
    """
    for n in range(ways.shape[0]):
        low, high = ways[n, 0], ways[n, 1]
        won = 0
        lost = 0
        for m in range(lows.shape[0]):
            wins_low = lows[m] < low
            wins_high = highs[m] < high
            won += weights[m] * (wins_low & wins_high)
            lost += weights[m] * (1 - (wins_low | wins_high))
        result_counts[n, 0] = won
        result_counts[n, 1] = lost


def correct_for_flushes(  # noqa: C901, PLR0912 (one loop, compiled by numba)
    low: int,
    questions: Ints,
    counts: Ints,
    events: Ints,
    table: Ints,
    corrections: Ints,
) -> None:
    """Count how the bank's flushes in one suit change the numbers of bank hands that a way beats and loses to.

    All ways of setting cards in ``questions`` have the low hand ``low``. Each row, by ascending high hand, has the
    strength of the high hand, the player's ranks in the suit as bits, and the row of the player's ranks in ``counts``.
    Each row of ``events``, by ascending high hand, has the bank's high hand, its low hand, its ranks in the suit, the
    index of its other cards, and +1 or -1. ``table`` is a work array. ``corrections`` gets two numbers for each
    question.
    """
    planes = table.shape[1] // 2
    for lost in range(2):
        table[:] = 0
        at = 0 if lost == 0 else events.shape[0] - 1
        for n in range(questions.shape[0]):
            row = n if lost == 0 else questions.shape[0] - 1 - n
            high, mask, pattern = questions[row, 0], questions[row, 1], questions[row, 2]
            while 0 <= at < events.shape[0]:
                if lost == 0:
                    if events[at, 0] >= high:
                        break
                elif events[at, 0] < high:
                    break
                if (events[at, 1] < low) == (lost == 0):
                    free = 8191 & ~events[at, 2]
                    part = free
                    while True:
                        table[part, events[at, 3]] += events[at, 4]
                        if part == 0:
                            break
                        part = (part - 1) & free
                at += 1 if lost == 0 else -1
            total = 0
            jokers = 1 if counts[pattern, 13] else 2
            for joker in range(jokers):
                plane = joker * planes
                for a in range(13):
                    cards_left = 3 - counts[pattern, a] + (mask >> a & 1)
                    total += cards_left * (cards_left - 1) // 2 * table[mask, plane]
                    plane += 1
                    for b in range(a + 1, 13):
                        other_left = 3 - counts[pattern, b] + (mask >> b & 1)
                        total += cards_left * other_left * table[mask, plane]
                        plane += 1
                for a in range(13):
                    cards_left = 3 - counts[pattern, a] + (mask >> a & 1)
                    total += cards_left * table[mask, plane]
                    plane += 1
                total += table[mask, plane]
            corrections[row, lost] = total


def sum_plain_hands(  # noqa: C901, PLR0912 (one loop, compiled by numba)
    patterns: Ints,
    counts: Ints,
    subsets: Ints,
    first_ways: Ints,
    first_questions: Ints,
    flushless_counts: Ints,
    corrections: Ints,
    win: int,
    lose: int,
    sums: Ints,
) -> None:
    """Add up wins and losses over all player hands without a flush, with the best setting and with the bank's way.

    ``patterns`` are the combinations of ranks to process. ``sums`` gets four numbers: wins and losses with the best
    setting, then wins and losses if the player sets cards as the bank does.
    """
    suits = [0] * 8
    ranks = [0] * 8
    parts = [0] * 4
    for n in range(patterns.shape[0]):
        pattern = patterns[n]
        length = 0
        for rank in range(13):
            if counts[pattern, rank]:
                ranks[length] = counts[pattern, rank]
                suits[length] = 0
                length += 1
        enough = 5 - counts[pattern, 13]
        while True:
            flush = False
            for suit in range(4):
                bits = 0
                held = 0
                for index in range(length):
                    if subsets[ranks[index], 1 + suits[index]] >> suit & 1:
                        bits |= 1 << index
                        held += 1
                parts[suit] = bits
                flush = flush or held >= enough
            if not flush:
                most = -(1 << 60)
                wins = 0
                losses = 0
                for option in range(first_ways[pattern], first_ways[pattern + 1]):
                    won = flushless_counts[option, 0]
                    lost = flushless_counts[option, 1]
                    for suit in range(4):
                        won += corrections[first_questions[option] + parts[suit], 0]
                        lost += corrections[first_questions[option] + parts[suit], 1]
                    if option == first_ways[pattern]:
                        sums[2] += won
                        sums[3] += lost
                    if won * win - lost * lose > most:
                        most = won * win - lost * lose
                        wins = won
                        losses = lost
                sums[0] += wins
                sums[1] += losses
            index = 0
            while index < length:
                suits[index] += 1
                if suits[index] < subsets[ranks[index], 0]:
                    break
                suits[index] = 0
                index += 1
            if index == length:
                break


def sum_flush_hands(
    others: Ints,
    spread: Ints,
    first_ways: Ints,
    first_questions: Ints,
    flushless_counts: Ints,
    corrections: Ints,
    win: int,
    lose: int,
    sums: Ints,
) -> None:
    """Add up wins and losses over all player hands with a flush, with the best setting and with the bank's way.

    ``others`` has, for each hand, a number for its cards outside the flush: 0 none, 1 one card, 2 a pair, 3 two ranks.
    ``spread`` has, for each such number, the ways to distribute these cards over three suits: how many distributions
    are alike, then how many suits hold each part of the cards. ``sums`` is as in :func:`sum_plain_hands`.
    """
    for flush in range(others.shape[0]):
        for way in range(spread.shape[1]):
            equal_hands = 4 * spread[others[flush], way, 0]
            if not equal_hands:
                continue
            most = -(1 << 60)
            wins = 0
            losses = 0
            for option in range(first_ways[flush], first_ways[flush + 1]):
                won = flushless_counts[option, 0]
                lost = flushless_counts[option, 1]
                for part in range(5):
                    times = spread[others[flush], way, 1 + part]
                    won += times * corrections[first_questions[option] + part, 0]
                    lost += times * corrections[first_questions[option] + part, 1]
                if option == first_ways[flush]:
                    sums[2] += equal_hands * won
                    sums[3] += equal_hands * lost
                if won * win - lost * lose > most:
                    most = won * win - lost * lose
                    wins = won
                    losses = lost
            sums[0] += equal_hands * wins
            sums[1] += equal_hands * losses
