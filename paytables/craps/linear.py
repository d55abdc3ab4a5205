"""Exact solution of absorbing Markov chains: expected sums from each state, by eliminating state after state."""

from collections.abc import Hashable
from fractions import Fraction
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
#: Sums by key, such as the probability of each total.
SumsByKey = dict[K, Fraction]


def solve_chain(rows: list[dict[int, Fraction]], right: list[SumsByKey[K]]) -> list[SumsByKey[K]]:
    """Return the expected sums from each state of an absorbing chain: x = ``right`` + ``rows`` x.

    ``rows`` are the transition probabilities between the states; from every state the chain must be certain to end.
    ``right`` and x are sums by key. Both lists are consumed. The state with the fewest transitions through it
    is eliminated first (Markowitz 1957), which keeps rows short. Example: a state counts one throw and follows itself
    with probability 3/4. Then x = 1 + 3/4 x, so the chain has 4 throws on average.
    """
    predecessors: list[set[int]] = [set() for _ in rows]
    for i, row in enumerate(rows):
        for j in row:
            predecessors[j].add(i)
    remaining = set(range(len(rows)))
    eliminated: list[int] = []
    while remaining:
        k = min(remaining, key=lambda k: (len(rows[k]) * len(predecessors[k]), k))
        remaining.remove(k)
        eliminated.append(k)
        # solve the equation of state k for x[k], then put that into the equations of its predecessors
        leave_chance = 1 - rows[k].pop(k, Fraction(0))
        rows[k] = {j: share / leave_chance for j, share in rows[k].items()}
        right[k] = {key: value / leave_chance for key, value in right[k].items()}
        for i in predecessors[k] & remaining:
            share = rows[i].pop(k)
            add_sums(rows[i], rows[k], share)
            add_sums(right[i], right[k], share)
        for j in rows[k]:
            predecessors[j] |= predecessors[k]
    for k in reversed(eliminated):  # the row of state k contains only states that were eliminated later
        for j, share in rows[k].items():
            add_sums(right[k], right[j], share)
    return right


def add_sums(totals: SumsByKey[K], sums: SumsByKey[K], share: Fraction | int = 1) -> None:
    """Add each number in ``sums``, multiplied by ``share``, to the number with the same key in ``totals``, in place."""
    for key, value in sums.items():
        totals[key] = totals.get(key, Fraction(0)) + share * value
