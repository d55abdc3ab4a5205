"""Exact expectations of a reel stage, by dynamic programming over the reels.

A component only cares for the letter each reel shows it, so a reel of any length is a small histogram of
letters; walking the automaton over histograms gives how many of the cycle's windows end where. The work
grows with
reels x nodes x letters, never with the length of the strips.
"""

from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction

from paytables.reels.stage import Reels


def letter_counts(reels: Reels, component: int) -> list[dict[int, int]]:
    """Return for each reel how many of its cases show the component each letter."""
    found = []
    for letters, weights in zip(reels.letters, reels.column_weights, strict=True):
        counts: dict[int, int] = defaultdict(int)
        for row, weight in zip(letters, weights, strict=True):
            counts[row[component]] += weight
        found.append(dict(counts))
    return found


def end_counts(reels: Reels, component: int, *, weighted: bool) -> dict[int, int]:
    """Return how many windows of the cycle end the component's walk in each final node.

    ``weighted`` counts each window as many times as its weight (its ways): that sum times the node's value is
    what the component pays over the cycle. Unweighted, the counts add to the cycle.
    """
    g = reels.graph
    here = {reels.components[component].start: 1}
    for counts, total in zip(letter_counts(reels, component), reels.totals, strict=True):
        there: dict[int, int] = defaultdict(int)
        for node, amount in here.items():
            row = g.row[node]
            if row < 0:
                there[node] += amount * total
                continue
            for letter, count in counts.items():
                k = row + letter
                there[g.delta[k]] += amount * count * (g.gain[k] if weighted else 1)
        here = there
    return dict(here)


def mean_credits(reels: Reels) -> Fraction:
    """Return the expected win of one run at level 1, the stage's multiplier included, features excluded."""
    value = reels.graph.value
    total = sum(
        amount * value[node]
        for c in range(len(reels.components))
        for node, amount in end_counts(reels, c, weighted=True).items()
    )
    return Fraction(total * reels.multiplier, reels.cycle)


def award_rates(reels: Reels) -> dict[tuple[str, str], Fraction]:
    """Return how many of each (kind, name) one run gives on average: runs of a stage, levels, prizes."""
    rates: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    for c in range(len(reels.components)):
        for node, amount in end_counts(reels, c, weighted=False).items():
            prize = reels.graph.ends[node].prize
            for award in prize.awards if prize is not None else ():
                rates[award.kind, award.name] += Fraction(amount * award.times, reels.cycle)
    return dict(rates)


def expected_runs(gives: Mapping[str, Mapping[str, Fraction]]) -> dict[str, dict[str, Fraction]] | str:
    """Return how many runs of every stage follow from one run of each, itself included.

    ``gives[s][t]`` is the mean number of runs of t that one run of s starts. The answer is the inverse of
    I - gives, which exists and is non-negative exactly when the elimination meets only positive pivots (I -
    gives
    is then a non-singular M-matrix). Otherwise some stage starts itself without end in expectation: its name
    is returned instead.
    """
    names = list(gives)
    matrix = [
        [Fraction(int(s == t)) - gives[s].get(t, Fraction(0)) for t in names]
        + [Fraction(int(s == t)) for t in names]
        for s in names
    ]
    size = len(names)
    for i in range(size):
        if matrix[i][i] <= 0:
            return names[i]
        pivot = matrix[i][i]
        matrix[i] = [value / pivot for value in matrix[i]]
        for j in range(size):
            if j != i and matrix[j][i]:
                factor = matrix[j][i]
                matrix[j] = [a - factor * b for a, b in zip(matrix[j], matrix[i], strict=True)]
    return {s: {t: matrix[i][size + k] for k, t in enumerate(names)} for i, s in enumerate(names)}
