"""Exact solution of absorbing Markov chains: expected sums from each state, by eliminating state after state."""

from collections.abc import Hashable
from fractions import Fraction
from typing import TypeVar

KeyT = TypeVar("KeyT", bound=Hashable)
#: Sums by key, such as the probability of each total.
SumsByKey = dict[KeyT, Fraction]


def solve_chain(rows: list[dict[int, Fraction]], right_sides: list[SumsByKey[KeyT]]) -> list[SumsByKey[KeyT]]:
    """Return the expected sums from each state of an absorbing chain: x = ``right_sides`` + ``rows`` x.

    ``rows`` are the transition probabilities between the states; from every state the chain must be certain to end.
    ``right_sides`` and x are sums by key. The contents of both lists are changed by the computation. The state with the
    fewest transitions through it is eliminated first (Markowitz 1957), which keeps rows short. Example: a state counts
    one throw and follows itself with probability 3/4. Then x = 1 + 3/4 x, so the chain has 4 throws on average.
    """
    predecessors: list[set[int]] = [set() for _ in rows]
    for i, row in enumerate(rows):
        for j in row:
            predecessors[j].add(i)
    remaining_rows = set(range(len(rows)))
    eliminated: list[int] = []
    while remaining_rows:
        state_index = min(
            remaining_rows,
            key=lambda state_index: (len(rows[state_index]) * len(predecessors[state_index]), state_index),
        )
        remaining_rows.remove(state_index)
        eliminated.append(state_index)
        # solve this state's equation for its x, then put the solution into the equations of its predecessors
        leaving_chance = 1 - rows[state_index].pop(state_index, Fraction(0))
        rows[state_index] = {j: chance / leaving_chance for j, chance in rows[state_index].items()}
        right_sides[state_index] = {
            key: value / leaving_chance for key, value in right_sides[state_index].items()
        }
        for i in predecessors[state_index] & remaining_rows:
            chance = rows[i].pop(state_index)
            add_sums(rows[i], rows[state_index], chance)
            add_sums(right_sides[i], right_sides[state_index], chance)
        for j in rows[state_index]:
            predecessors[j] |= predecessors[state_index]
    for state_index in reversed(eliminated):
        # The row of state k contains only states that were eliminated later.
        for j, chance in rows[state_index].items():
            add_sums(right_sides[state_index], right_sides[j], chance)
    return right_sides


def add_sums(totals: SumsByKey[KeyT], sums: SumsByKey[KeyT], factor: Fraction | int = 1) -> None:
    """Add each number in ``sums``, multiplied by ``factor``, to the number in ``totals`` with the same key."""
    for key, value in sums.items():
        totals[key] = totals.get(key, Fraction(0)) + factor * value
