"""The exact figures of bets on seven cards, if the player decides after seeing three of them (needs numba).

For each class of three cards, all ways to complete them with four more cards are counted.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import comb, lcm
from typing import TYPE_CHECKING

import numba
import numpy as np

from paytables.cards.ranking import FIVE_CARD_RANKING
from paytables.cards.subsets import build_sets
from paytables.poker.community import build_strength_tables
from paytables.poker.pays import find_pay_row
from paytables.poker.policy import pack_policy
from paytables.poker.proof import format_fraction
from paytables.poker.table.bet_payments import iter_row_returns, list_row_rates
from paytables.poker.table.schema import BetPaymentRate, BetSpot, ProvedFigures

if TYPE_CHECKING:
    from paytables.cards.arrays import Bools, Ints

#: Cards that are seen before the decision.
SEEN_CARD_COUNT = 3


def solve_completions(
    spot: BetSpot,
    seen_card_count: int | None,
    returned_share: Fraction,
    withdraw_and_keep_indexes: tuple[int, int],
) -> ProvedFigures:
    """Return the exact figures of a bet on the best five of seven cards, which the player may take back.

    The player may take the bet back after ``seen_card_count`` cards (:data:`SEEN_CARD_COUNT`, or None: never) and then
    gets ``returned_share`` of it. ``withdraw_and_keep_indexes`` has the indexes of the options to take the bet
    back and to keep it.
    """
    tables = build_strength_tables(0)
    row_indexes = [
        find_pay_row(spot.pay_rows, int(strength), 0, FIVE_CARD_RANKING) for strength in tables.strengths
    ]
    row_by_strength = np.array(
        [len(spot.pay_rows) if row is None else row for row in row_indexes], dtype=np.int64
    )
    class_hands, hands_per_class = build_sets(52, SEEN_CARD_COUNT).suit_classes_and_sizes
    row_counts = np.zeros((len(class_hands), len(spot.pay_rows) + 1), dtype=np.int64)
    numba.njit()(_count_completions)(
        build_sets(52, SEEN_CARD_COUNT).cards_by_set[class_hands].astype(np.int64),
        tables.rank_tables,
        row_by_strength,
        row_counts,
    )
    nets = [row.pays.net for row in spot.pay_rows] + [Fraction(-1)]
    net_unit = lcm(returned_share.denominator, *(net.denominator for net in nets))
    net_sums = row_counts @ np.array([int(net * net_unit) for net in nets], dtype=np.int64)
    completion_count = comb(52 - SEEN_CARD_COUNT, 4)
    keeps_bet: Bools = net_sums > int((returned_share - 1) * net_unit) * completion_count
    keeps_bet |= seen_card_count is None
    # In every class of hands, the worst player does the opposite of the best one.
    worst_play_keeps_bet = ~keeps_bet if seen_card_count else keeps_bet
    best_case_counts = _count_nets(row_counts, hands_per_class, keeps_bet, nets, returned_share)
    worst_case_counts = _count_nets(row_counts, hands_per_class, worst_play_keeps_bet, nets, returned_share)
    worst_mean = sum((net * n for net, n in worst_case_counts.items()), Fraction(0)) / sum(
        worst_case_counts.values()
    )
    case_count = sum(best_case_counts.values())
    return ProvedFigures(
        law={
            format_fraction(net): format_fraction(Fraction(n, case_count))
            for net, n in sorted(best_case_counts.items())
            if n
        },
        staked="1/1",
        worst=format_fraction(worst_mean),
        simplest=None
        if seen_card_count is None
        else format_fraction(_compute_mean_never_withdrawn(row_counts, hands_per_class, nets)),
        policy=None
        if seen_card_count is None
        else pack_policy(bytes(np.array(withdraw_and_keep_indexes, dtype=np.uint8)[keeps_bet.astype(int)])),
        won=_list_rates_with_withdrawal(
            spot,
            (row_counts[keeps_bet] * hands_per_class[keeps_bet][:, None]).sum(axis=0).tolist(),
            returned_share,
            case_count,
        ),
    )


def _list_rates_with_withdrawal(
    spot: BetSpot, row_case_counts: list[int], returned_share: Fraction, case_count: int
) -> tuple[BetPaymentRate, ...]:
    """Return how often each row of a poker bet's pay table pays, and how often the bet is withdrawn.

    ``row_case_counts`` has the number of cases for each pay-table row, and as its last item the number of losing cases.
    In all other cases of ``case_count`` the player withdraws the bet and gets ``returned_share`` of it.
    """
    case_count_by_row = dict(zip(iter_row_returns(spot, Fraction(1)), row_case_counts, strict=False))
    withdrawn_case_count = case_count - sum(row_case_counts)
    return list_row_rates(
        (),
        {**case_count_by_row, (spot.id, "withdrawn", returned_share): withdrawn_case_count}
        if withdrawn_case_count
        else case_count_by_row,
        case_count,
    )


def _compute_mean_never_withdrawn(row_counts: Ints, hands_per_class: Ints, nets: list[Fraction]) -> Fraction:
    """Return the mean net of a poker bet that is never taken back.

    ``row_counts`` has, for each class of seen cards, how many completions win each of ``nets``;
    ``hands_per_class`` has how many sets of cards each class represents.
    """
    totals = (row_counts * hands_per_class[:, None]).sum(axis=0).tolist()
    net_sum = sum((net * n for net, n in zip(nets, totals, strict=True)), Fraction(0))
    return Fraction(net_sum, sum(totals))


def _count_nets(
    row_counts: Ints, hands_per_class: Ints, keeps_bet: Bools, nets: list[Fraction], returned_share: Fraction
) -> Counter[Fraction]:
    """Return the number of cases by net result, if the player keeps the bet in some classes of seen cards only.

    ``keeps_bet`` says for each class whether the bet is kept. In the other classes it is taken back, and
    ``returned_share`` of it is returned.
    """
    case_count_by_net: Counter[Fraction] = Counter()
    totals = (row_counts[keeps_bet] * hands_per_class[keeps_bet][:, None]).sum(axis=0).tolist()
    for net, n in zip(nets, totals, strict=True):
        case_count_by_net[net] += n
    case_count_by_net[returned_share - 1] += int(
        (row_counts[~keeps_bet].sum(axis=1) * hands_per_class[~keeps_bet]).sum()
    )
    return case_count_by_net


def _count_completions(
    known_cards: Ints, rank_tables: tuple[Ints, ...], row_by_strength: Ints, row_counts: Ints
) -> None:
    """Count, for each row of three known cards, how many completions by four cards win each pay-table row.

    ``rank_tables`` are lookup tables (:class:`paytables.poker.community.StrengthTables`), ``row_by_strength`` the
    pay-table row by strength. ``row_counts`` gets the numbers.
    """
    first_five_steps, sixth_step, seventh_step, plain_strengths, flush_strengths = rank_tables
    masks = np.zeros(4, dtype=np.int64)
    for class_index in range(known_cards.shape[0]):
        cards = known_cards[class_index]
        masks[:] = 0
        state = 0
        for index in range(3):
            state = first_five_steps[index, state, cards[index] >> 2]
            masks[cards[index] & 3] |= 1 << (cards[index] >> 2)
        unseen_cards = [card for card in range(52) if card not in (cards[0], cards[1], cards[2])]
        for i in range(3, 49):
            d = unseen_cards[i]
            state_after_four = first_five_steps[3, state, d >> 2]
            masks[d & 3] |= 1 << (d >> 2)
            for j in range(2, i):
                c = unseen_cards[j]
                state_after_five = first_five_steps[4, state_after_four, c >> 2]
                masks[c & 3] |= 1 << (c >> 2)
                for k in range(1, j):
                    b = unseen_cards[k]
                    state_after_six = sixth_step[state_after_five, b >> 2]
                    masks[b & 3] |= 1 << (b >> 2)
                    for m in range(k):
                        a = unseen_cards[m]
                        strength = plain_strengths[seventh_step[state_after_six, a >> 2]]
                        suit = a & 3
                        strength = max(strength, flush_strengths[masks[suit] | 1 << (a >> 2)])
                        for other_suit in range(4):
                            if other_suit != suit:
                                strength = max(strength, flush_strengths[masks[other_suit]])
                        row_counts[class_index, row_by_strength[strength]] += 1
                    masks[b & 3] &= ~(1 << (b >> 2))
                masks[c & 3] &= ~(1 << (c >> 2))
            masks[d & 3] &= ~(1 << (d >> 2))
