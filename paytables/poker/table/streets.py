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
from paytables.errors import BeyondExactAnalysis
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

#: One representative strength for each combination, lowest combination first. Any one will do, because the pay rows of
#: this game depend on the combination alone.
_STRENGTH_BY_COMBINATION = tuple(
    combination << 20 for combination in range(len(FIVE_CARD_RANKING.categories))
)


def build_street_bets(definition: PokerDefinition) -> StreetBets:
    """Return a hold'em definition's bets and pays as the solver needs them.

    Raises :class:`BeyondExactAnalysis` for a game with other rounds of betting.
    """
    asks = [step for step in definition.step if step.ask is not None]
    ante, duel = definition.ante, definition.duel
    bets_with_ante = [definition.spots[name] for name in list_bets_with_ante(definition) if name != ante.id]
    ante_results = (ante.closed, ante.better, ante.equal, ante.worse)
    folds = [n for n, step in enumerate(asks) if any(option.fold for option in step.option)]
    if (
        duel is None
        or len(asks) != 4
        or folds != [2]
        or len(bets_with_ante) != 1
        or bets_with_ante[0].times != "1"
    ):
        raise BeyondExactAnalysis(
            f"{definition.game.id}: this analysis needs a hold'em with four decisions and a fold at the third only"
        )
    super_ante = bets_with_ante[0]
    super_ante_results = (
        super_ante.closed,
        super_ante.better,
        super_ante.equal,
        super_ante.worse,
        super_ante.otherwise,
    )
    if ante_results != ("win", "win", "push", "lose") or super_ante_results != (
        "push",
        "pays",
        "push",
        "lose",
        "push",
    ):
        raise BeyondExactAnalysis(
            f"{definition.game.id}: its ante or {super_ante.id} is not settled as this analysis requires"
        )
    bet_sizes = [
        [option.added_stake_factor for option in step.option if option.added_stake_factor] for step in asks
    ]
    rows = [
        find_pay_row(super_ante.pay, strength, 0, FIVE_CARD_RANKING) for strength in _STRENGTH_BY_COMBINATION
    ]
    pays = [Fraction(0) if row is None else super_ante.pay[row].pays.net for row in rows]
    unit = lcm(
        *(fraction.denominator for fraction in (*pays, *(size for sizes in bet_sizes for size in sizes)))
    )
    (flop,), (turn,), (river,) = bet_sizes[1:]
    return StreetBets(
        unit=unit,
        ante=unit,
        preflop_bets=tuple(int(size * unit) for size in sorted(bet_sizes[0])),
        flop_bet=int(flop * unit),
        turn_bet=int(turn * unit),
        river_bet=int(river * unit),
        super_ante_pays=tuple(int(pay * unit) for pay in pays),
        fold_loss=2 * unit,
        lowest_qualifying_strength=duel.lowest_qualifying_strength,
    )


def solve_holdem(definition: PokerDefinition, *solver_options: object) -> ProvedFigures:
    """Return the exact figures of a hold'em game's ante and super ante, including all raises.

    ``solver_options`` are the further arguments of :class:`HoldemSolver`.
    """
    streets = build_street_bets(definition)
    solved = HoldemSolver(streets, *solver_options).solve_strategy()  # type: ignore[arg-type]
    net_cases = Counter({Fraction(net, streets.unit): cases for net, cases in solved.net_counts.items()})
    return ProvedFigures(
        law={
            format_fraction(net): format_fraction(Fraction(cases, solved.case_count))
            for net, cases in sorted(net_cases.items())
        },
        staked=format_fraction(solved.mean_staked / streets.unit),
        worst=format_fraction(solved.worst_mean / streets.unit),
        policy=encode_policy(definition, solved, streets.unit),
        won=_list_bet_results(definition, solved),
    )


def _list_bet_results(definition: PokerDefinition, solved: SolvedStrategy) -> tuple[BetPaymentRate, ...]:
    """Return how often each bet is paid by each row of its pay table, at even money, or returned.

    ``solved`` is the game's best strategy with the number of cases of each result.
    """
    preflop, flop, turn, river = (
        [(str(option.spot), option.added_stake_factor) for option in step.option if option.added_stake_factor]
        for step in definition.step
        if step.ask is not None
    )
    preflop_raises = [[raised] for raised in sorted(preflop, key=lambda raised: raised[1])]
    staked = list_bets_with_ante(definition)
    all_rows = [
        row for name, factor in staked.items() for row in iter_row_returns(definition.spots[name], factor)
    ]
    payment_counts: Counter[BetPayment] = Counter()
    # the rows of result_counts after row 0 (folded: nothing is returned): see _count_flop_cases of the solver
    raises_by_row = [turn, [*turn, *river], *preflop_raises, flop]
    for raises, result_counts in zip(raises_by_row, solved.result_counts[1:], strict=True):
        bets = dict(staked)
        for name, factor in raises:
            bets[name] = bets.get(name, Fraction(0)) + factor
        unqualified, _, equal, *better = result_counts
        for name, factor in bets.items():
            spot = definition.spots[name]
            payment_counts += _count_payment(spot, factor, spot.closed, unqualified)
            payment_counts += _count_payment(spot, factor, spot.equal, equal)
            for strength, cases in zip(_STRENGTH_BY_COMBINATION, better, strict=True):
                payment_counts += _count_payment(spot, factor, spot.find_result("better"), cases, strength)
    return list_row_rates(all_rows, payment_counts, solved.case_count)


def _count_payment(
    spot: BetSpot, factor: Fraction, result: BetResultName, case_count: int, hand_strength: int = 0
) -> Counter[BetPayment]:
    """Return the payment of a bet of ``factor`` antes with this ``result`` in ``case_count`` cases; empty if it loses.

    The key is the bet's id, the row's id (or "won", "push"), and the multiple of the ante returned.
    ``hand_strength`` is the strength of the player's hand by its combination alone.
    """
    row_index = find_pay_row(spot.pay, hand_strength, 0, FIVE_CARD_RANKING) if result == "pays" else None
    if row_index is not None:
        row = spot.pay[row_index]
        return Counter({(spot.id, row.id, factor * (1 + row.pays.net)): case_count})
    final_result = spot.otherwise if result == "pays" else result
    return_by_result = {"win": ("won", 2 * factor), "push": ("push", factor)}
    is_returned = final_result in return_by_result
    return Counter({(spot.id, *return_by_result[final_result]): case_count} if is_returned else {})


def encode_policy(definition: PokerDefinition, solved: SolvedStrategy, unit: int) -> str:
    """Return the best options before and after the flop as policy text for :func:`look_up_shared_cards_option`.

    Hole cards that share a card with the flop cannot occur. Their byte is copied from the previous flop (at the first
    flop: no bet), because repeated bytes compress well.
    """
    first, flop, *_ = (step.option for step in definition.step if step.ask is not None)
    option_index_by_bet = {int(option.added_stake_factor * unit): index for index, option in enumerate(first)}
    (waits, bets) = sorted(range(len(flop)), key=lambda index: flop[index].added_stake_factor)
    rows = np.where(solved.bets_at_flop, bets, waits).astype(np.uint8)
    chosen_flops = build_sets(52, 3).suit_classes_and_sizes[0]
    holes = build_sets(52, 2).cards_by_set
    for n, cards in enumerate(build_sets(52, 3).cards_by_set[chosen_flops]):
        is_taken = np.isin(holes, cards).any(axis=1)
        rows[n, is_taken] = rows[n - 1, is_taken] if n else waits
    return pack_policy(bytes(option_index_by_bet[size] for size in solved.preflop_bets) + rows.tobytes())
