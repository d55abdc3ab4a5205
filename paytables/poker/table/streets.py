"""Conversion of a hold'em definition to the solver's input, and of the solver's solution to exact figures.

The solver, for hold'em against the bank, is :mod:`paytables.poker.community`.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import lcm

import numpy as np

from paytables.cards.ranking import FIVE_CARD_RANKING
from paytables.cards.subsets import build_sets
from paytables.errors import BeyondExactAnalysisError
from paytables.poker.community import HoldemSolver, SolvedStrategy, StreetBets
from paytables.poker.pays import find_pay_row
from paytables.poker.policy import pack_policy
from paytables.poker.proof import format_fraction
from paytables.poker.table.bet_payments import BetPayment, iter_row_returns, list_row_rates
from paytables.poker.table.bets import list_bets_with_ante
from paytables.poker.table.schema import (
    BetPaymentRate,
    BetResultName,
    BetSpot,
    PokerDefinition,
    ProvedFigures,
)

#: One representative strength for each category, lowest category first. Any one will do, because the pay rows of
#: this game depend on the category alone.
_STRENGTH_BY_CATEGORY = tuple(category << 20 for category in range(len(FIVE_CARD_RANKING.categories)))


def build_street_bets(definition: PokerDefinition) -> StreetBets:
    """Return a hold'em definition's bets and pays as the solver needs them.

    Raises :class:`BeyondExactAnalysisError` for a game with other rounds of betting.
    """
    decision_steps = [step for step in definition.steps if step.decision_name is not None]
    ante, duel = definition.ante, definition.duel
    bets_with_ante = [
        definition.spot_by_id[name] for name in list_bets_with_ante(definition) if name != ante.id
    ]
    ante_results = (
        ante.result_if_unqualified,
        ante.result_if_better,
        ante.result_if_equal,
        ante.result_if_worse,
    )
    fold_indexes = [
        n for n, step in enumerate(decision_steps) if any(option.is_fold for option in step.options)
    ]
    if (
        duel is None
        or len(decision_steps) != 4
        or fold_indexes != [2]
        or len(bets_with_ante) != 1
        or bets_with_ante[0].base_stake_multiple != "1"
    ):
        raise BeyondExactAnalysisError(
            f"{definition.game.id}: this analysis needs a hold'em with four decisions and a fold at the third only"
        )
    super_ante = bets_with_ante[0]
    super_ante_results = (
        super_ante.result_if_unqualified,
        super_ante.result_if_better,
        super_ante.result_if_equal,
        super_ante.result_if_worse,
        super_ante.result_without_row,
    )
    if ante_results != ("win", "win", "push", "lose") or super_ante_results != (
        "push",
        "pays",
        "push",
        "lose",
        "push",
    ):
        raise BeyondExactAnalysisError(
            f"{definition.game.id}: its ante or {super_ante.id} is not settled as this analysis requires"
        )
    bet_sizes = [
        [option.added_stake_factor for option in step.options if option.added_stake_factor]
        for step in decision_steps
    ]
    row_indexes = [
        find_pay_row(super_ante.pay_rows, strength, 0, FIVE_CARD_RANKING)
        for strength in _STRENGTH_BY_CATEGORY
    ]
    super_ante_pays = [
        Fraction(0) if row_index is None else super_ante.pay_rows[row_index].pays.net
        for row_index in row_indexes
    ]
    units_per_ante = lcm(
        *(
            fraction.denominator
            for fraction in (*super_ante_pays, *(size for sizes in bet_sizes for size in sizes))
        )
    )
    (flop_bet,), (turn_bet,), (river_bet,) = bet_sizes[1:]
    return StreetBets(
        unit=units_per_ante,
        ante=units_per_ante,
        preflop_bets=tuple(int(size * units_per_ante) for size in sorted(bet_sizes[0])),
        flop_bet=int(flop_bet * units_per_ante),
        turn_bet=int(turn_bet * units_per_ante),
        river_bet=int(river_bet * units_per_ante),
        super_ante_pays=tuple(int(pay * units_per_ante) for pay in super_ante_pays),
        fold_loss=2 * units_per_ante,
        lowest_qualifying_strength=duel.lowest_qualifying_strength,
    )


def solve_holdem(definition: PokerDefinition, *solver_options: object) -> ProvedFigures:
    """Return the exact figures of a hold'em game's ante and super ante, including all raises.

    ``solver_options`` are the further arguments of :class:`HoldemSolver`.
    """
    street_bets = build_street_bets(definition)
    solved_strategy = HoldemSolver(street_bets, *solver_options).solve_strategy()  # type: ignore[arg-type]
    case_count_by_net = Counter(
        {Fraction(net, street_bets.unit): cases for net, cases in solved_strategy.case_count_by_net.items()}
    )
    return ProvedFigures(
        law={
            format_fraction(net): format_fraction(Fraction(cases, solved_strategy.case_count))
            for net, cases in sorted(case_count_by_net.items())
        },
        staked=format_fraction(solved_strategy.mean_stake / street_bets.unit),
        worst=format_fraction(solved_strategy.worst_mean_net / street_bets.unit),
        policy=encode_policy(definition, solved_strategy, street_bets.unit),
        won=_list_bet_results(definition, solved_strategy),
    )


def _list_bet_results(
    definition: PokerDefinition, solved_strategy: SolvedStrategy
) -> tuple[BetPaymentRate, ...]:
    """Return how often each bet is paid in each way: by a row of its pay table, at even money, or as a push.

    ``solved_strategy`` is the game's best strategy with the number of cases of each result.
    """
    preflop_raises, flop_raises, turn_raises, river_raises = (
        [
            (str(option.spot), option.added_stake_factor)
            for option in step.options
            if option.added_stake_factor
        ]
        for step in definition.steps
        if step.decision_name is not None
    )
    preflop_raise_lists = [
        [raise_and_size]
        for raise_and_size in sorted(preflop_raises, key=lambda raise_and_size: raise_and_size[1])
    ]
    initial_bets = list_bets_with_ante(definition)
    all_rows = [
        row
        for name, stake_antes in initial_bets.items()
        for row in iter_row_returns(definition.spot_by_id[name], stake_antes)
    ]
    payment_counts: Counter[BetPayment] = Counter()
    # the rows of result_counts after row 0 (folded: nothing is returned): see _count_flop_cases of the solver
    raises_by_row = [turn_raises, [*turn_raises, *river_raises], *preflop_raise_lists, flop_raises]
    for raises, result_counts in zip(raises_by_row, solved_strategy.result_counts[1:], strict=True):
        bets = dict(initial_bets)
        for name, stake_antes in raises:
            bets[name] = bets.get(name, Fraction(0)) + stake_antes
        unqualified_count, _, equal_count, *better_counts = result_counts
        for name, stake_antes in bets.items():
            spot = definition.spot_by_id[name]
            payment_counts += _count_payment(spot, stake_antes, spot.result_if_unqualified, unqualified_count)
            payment_counts += _count_payment(spot, stake_antes, spot.result_if_equal, equal_count)
            for strength, case_count in zip(_STRENGTH_BY_CATEGORY, better_counts, strict=True):
                payment_counts += _count_payment(
                    spot, stake_antes, spot.find_result("better"), case_count, strength
                )
    return list_row_rates(all_rows, payment_counts, solved_strategy.case_count)


def _count_payment(
    spot: BetSpot, stake_antes: Fraction, result: BetResultName, case_count: int, hand_strength: int = 0
) -> Counter[BetPayment]:
    """Return the payment of a bet of ``stake_antes`` antes with this ``result``; empty if it loses.

    The key is the bet's id, the row's id (or "won", "push"), and the multiple of the ante returned.
    ``hand_strength`` is the strength of the player's hand by its category alone.
    """
    row_index = find_pay_row(spot.pay_rows, hand_strength, 0, FIVE_CARD_RANKING) if result == "pays" else None
    if row_index is not None:
        row = spot.pay_rows[row_index]
        return Counter({(spot.id, row.id, stake_antes * (1 + row.pays.net)): case_count})
    final_result = spot.result_without_row if result == "pays" else result
    return_by_result = {"win": ("won", 2 * stake_antes), "push": ("push", stake_antes)}
    is_returned = final_result in return_by_result
    return Counter({(spot.id, *return_by_result[final_result]): case_count} if is_returned else {})


def encode_policy(definition: PokerDefinition, solved_strategy: SolvedStrategy, unit: int) -> str:
    """Return the best options before and after the flop as policy text for :func:`look_up_shared_cards_option`.

    Hole cards that share a card with the flop cannot occur. Their byte is copied from the previous flop (at the first
    flop: no bet), because repeated bytes compress well.
    """
    preflop_options, flop_options, *_ = (
        step.options for step in definition.steps if step.decision_name is not None
    )
    option_index_by_bet = {
        int(option.added_stake_factor * unit): index for index, option in enumerate(preflop_options)
    }
    (no_bet_index, bet_index) = sorted(
        range(len(flop_options)), key=lambda index: flop_options[index].added_stake_factor
    )
    option_rows = np.where(solved_strategy.bets_at_flop, bet_index, no_bet_index).astype(np.uint8)
    class_flops = build_sets(52, 3).suit_classes_and_sizes[0]
    hole_card_pairs = build_sets(52, 2).cards_by_set
    for n, cards in enumerate(build_sets(52, 3).cards_by_set[class_flops]):
        is_impossible = np.isin(hole_card_pairs, cards).any(axis=1)
        option_rows[n, is_impossible] = option_rows[n - 1, is_impossible] if n else no_bet_index
    return pack_policy(
        bytes(option_index_by_bet[size] for size in solved_strategy.preflop_bets) + option_rows.tobytes()
    )
