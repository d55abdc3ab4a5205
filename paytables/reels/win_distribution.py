"""The exact win distribution of one run of a reel stage, over every window, without enumerating each window.

Reels are read from left to right, as in the automata (see :mod:`paytables.reels.automaton` for the terms). After each
reel, equivalent windows (the same components alive in the same nodes, the same credits already won, the same awards
already given) are one kind of window, which has a count. Most lines are dead after two or three reels, so a cycle of
billions is reduced to some tens of thousands of kinds. Counts are 64-bit integers, and the cycle is checked to fit
them.

This is a laboratory computation: numpy is imported where it is used. :func:`count_losing_windows` needs
no numpy. It drops a window as soon as any component has won, so only a small number of kinds of windows is left if
the game has few lines, or pays by ways.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from paytables.errors import BeyondExactAnalysisError
from paytables.reels.automaton import NO_WIN_END, Award, WinGraph
from paytables.reels.moments import list_award_component_indexes
from paytables.reels.run import GivenAwards, select_given_awards
from paytables.reels.stage import ReelSet

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    #: An array of whole numbers.
    Ints = NDArray[np.signedinteger[Any]]

#: Maximum number of different kinds of windows.
WINDOW_KIND_COUNT_MAX = 250_000
#: Number of kinds of windows that are collected before equivalent ones are combined. It limits the memory.
KINDS_BEFORE_MERGE = 400_000
#: Maximum number of steps of counting the losing windows: a step is one kind of window extended by one reel column. The
#: count takes some hundredths of a second, at every start of a machine.
LOSING_COUNT_STEPS_MAX = 20_000
#: The largest cycle that can be counted: counts and credits are 64-bit integers.
CYCLE_MAX = 1 << 62


def compute_run_distribution(reels: ReelSet) -> Mapping[tuple[int, GivenAwards], int]:
    """Return how many windows of the reels' cycle give each combination of credits (at bet level 1) and awards.

    Raises :class:`BeyondExactAnalysisError` if the cycle does not fit 64 bits, or if there are too many different kinds
    of windows.
    """
    import numpy as np  # noqa: PLC0415 (laboratory package)

    if reels.cycle > CYCLE_MAX:
        raise BeyondExactAnalysisError(f"stage {reels.name}: a cycle of {reels.cycle:,} does not fit 64 bits")
    tables = _LetterTables(reels)
    component_count = len(reels.components)
    kinds = _WindowKinds(
        nodes=np.array(reels.start_nodes, dtype=np.int32).reshape(component_count, 1),
        way_counts=np.ones((len(tables.ways_components), 1), dtype=np.int64),
        credits=np.zeros(1, dtype=np.int64),
        award_codes=np.zeros(1, dtype=np.int64),
        counts=np.ones(1, dtype=np.int64),
    )
    for letters, column_weights in zip(reels.letters, reels.column_weights, strict=True):
        extended_kinds: list[_WindowKinds] = []
        for column_letters, weight in _merge_letters(letters, column_weights):
            extended_kinds.append(tables.extend_by_reel(kinds, column_letters, weight))
            if sum(len(extended.counts) for extended in extended_kinds) > KINDS_BEFORE_MERGE:
                extended_kinds = [_combine_equivalent_kinds(reels, extended_kinds)]
        kinds = _combine_equivalent_kinds(reels, extended_kinds)
    distribution: dict[tuple[int, GivenAwards], int] = defaultdict(int)
    for paid_credits, code, window_count in zip(
        kinds.credits.tolist(), kinds.award_codes.tolist(), kinds.counts.tolist(), strict=True
    ):
        distribution[paid_credits * reels.multiplier, tables.decode_awards(code)] += window_count
    return dict(distribution)


def count_losing_windows(reels: ReelSet) -> Mapping[GivenAwards, int]:
    """Return how many windows of the reels' cycle pay no credits, by the awards (such as free games) that they give.

    Raises :class:`BeyondExactAnalysisError` if the count takes more than :data:`LOSING_COUNT_STEPS_MAX` steps. This
    limit makes the function fast enough for a machine to call at start-up.
    """
    graph = reels.graph
    kinds: dict[tuple[tuple[tuple[int, int], ...], GivenAwards], int] = {
        (tuple(enumerate(reels.start_nodes)), ()): 1
    }
    steps = 0
    for letters, column_weights in zip(reels.letters, reels.column_weights, strict=True):
        columns = _merge_letters(letters, column_weights)
        steps += len(kinds) * len(columns)
        if steps > LOSING_COUNT_STEPS_MAX:
            raise BeyondExactAnalysisError(
                f"stage {reels.name}: counting the losing windows takes more than {LOSING_COUNT_STEPS_MAX:,} steps"
            )
        kinds_after: dict[tuple[tuple[tuple[int, int], ...], GivenAwards], int] = defaultdict(int)
        for (live_components, given_awards), count in kinds.items():
            for column, weight in columns:
                still_live, awards = [], given_awards
                for component, node in live_components:
                    target = graph.next_nodes[graph.letter_offsets[node] + column[component]]
                    if graph.letter_offsets[target] >= 0:
                        still_live.append((component, target))
                    elif graph.win_value_by_node[target]:
                        break  # the component has won: this window does not lose
                    elif (prize := graph.ends[target].prize) is not None:
                        awards = select_given_awards((*awards, *prize.awards))
                else:
                    kinds_after[tuple(still_live), awards] += count * weight
        kinds = kinds_after
    window_count_by_awards: dict[GivenAwards, int] = defaultdict(int)
    for (_, given_awards), count in kinds.items():
        window_count_by_awards[given_awards] += count
    return dict(window_count_by_awards)


class _WindowKinds(NamedTuple):
    """The windows of the reels read so far, with equivalent windows combined into one kind.

    The last axis of each array has one element for each kind. ``nodes`` has a row for each pay component,
    ``way_counts`` has one for each ways component.
    """

    nodes: "Ints"
    """The current node of each pay component (row) in each kind of window."""
    way_counts: "Ints"
    """The number of ways of each ways component (row) so far, in each kind of window."""
    credits: "Ints"
    """The credits that each kind of window has won already."""
    award_codes: "Ints"
    """The combined awards that each kind of window has given already, as one integer."""
    counts: "Ints"
    """The number of windows of each kind."""


def _merge_letters(
    letters: Sequence[tuple[int, ...]], column_weights: Sequence[int]
) -> list[tuple[tuple[int, ...], int]]:
    """Return the different letter combinations of a reel, each with its total number of equally likely cases.

    ``letters`` has, for each column of the reel, what each pay component reads in it; ``column_weights`` has the number
    of equally likely cases of each column.
    """
    merged: dict[tuple[int, ...], int] = defaultdict(int)
    for column_letters, weight in zip(letters, column_weights, strict=True):
        merged[column_letters] += weight
    return list(merged.items())


class _LetterTables:
    """A reel stage's pay automata as numpy arrays, with which one more reel is evaluated for many windows at once.

    Combined awards are one integer, with one digit per component that gives any awards. A final node is replaced by
    a dead one as soon as its win has been counted. Every letter leads from the dead node to itself.
    """

    def __init__(self, reels: ReelSet) -> None:
        import numpy as np  # noqa: PLC0415 (laboratory package)

        graph: WinGraph = reels.graph
        self.dead_node = graph.find_final_node(NO_WIN_END)
        """The node that stands for a component whose win is counted or that can win nothing."""
        largest_letter = max((letter for rows in reels.letters for row in rows for letter in row), default=0)
        dead_steps = [self.dead_node] * (largest_letter + 1)
        is_final = np.array([offset < 0 for offset in graph.letter_offsets])
        self.letter_offsets = np.array(
            [len(graph.next_nodes) if offset < 0 else offset for offset in graph.letter_offsets],
            dtype=np.int32,
        )
        self.next_nodes = np.array(graph.next_nodes + dead_steps, dtype=np.int32)
        self.step_factors = np.array(graph.step_factors + [1] * len(dead_steps), dtype=np.int64)
        self.is_final_node = is_final
        """For each node, whether it is final: its component has read all letters that it needs."""
        self.value = np.where(is_final, np.array(graph.win_value_by_node, dtype=np.int64), 0)
        """The credits that each node pays (for a ways component: for one way); 0 if the node is not final."""
        self.continuation_by_node = np.where(
            is_final, self.dead_node, np.arange(len(graph.letter_offsets))
        ).astype(np.int32)
        """For each node, the node from which the next reel continues: the dead node if it is final, else itself."""
        self.ways_components = [c for c, component in enumerate(reels.components) if component.kind == "ways"]
        """The indices of the ways components, whose wins are multiplied by the number of ways."""
        awards_by_end = [
            select_given_awards(e.prize.awards) if e.prize is not None else () for e in graph.ends
        ]
        self.award_kinds: list[GivenAwards] = [(), *sorted(set(awards_by_end) - {()}, key=repr)]
        """The different awards that a component can give; no award is first."""
        self.award_base = len(self.award_kinds)
        """The number of different awards, the base of the integer that combines them."""
        award_component_indexes = list_award_component_indexes(reels)
        if self.award_base ** len(award_component_indexes) > CYCLE_MAX:
            raise BeyondExactAnalysisError(
                f"stage {reels.name}: {len(award_component_indexes)} components"
                f" that give awards of {self.award_base - 1} kinds are too many to count"
            )
        self.digit_value = {c: self.award_base**i for i, c in enumerate(award_component_indexes)}
        """The place value of each component's digit in the integer that combines all awards."""
        digit_by_kind = {kind: i for i, kind in enumerate(self.award_kinds)}
        self.award_digits = np.where(
            is_final, np.array([digit_by_kind[kind] for kind in awards_by_end], dtype=np.int64), 0
        )
        """The digit of each node's awards in the integer that combines all awards."""

    def extend_by_reel(self, kinds: _WindowKinds, letters: Sequence[int], case_count: int) -> _WindowKinds:
        """Return the windows extended by one more reel, which shows ``letters`` in ``case_count`` equal cases."""
        import numpy as np  # noqa: PLC0415 (laboratory package)

        nodes = np.empty_like(kinds.nodes)
        way_counts = kinds.way_counts.copy()
        credits_ = kinds.credits.copy()
        award_codes = kinds.award_codes.copy()
        for component, letter in enumerate(letters):
            step_index = self.letter_offsets[kinds.nodes[component]] + letter
            target = self.next_nodes[step_index]
            nodes[component] = self.continuation_by_node[target]
            if component in self.ways_components:
                row = self.ways_components.index(component)
                grown_way_counts = way_counts[row] * self.step_factors[step_index]
                credits_ += self.value[target] * grown_way_counts
                way_counts[row] = np.where(self.is_final_node[target], 1, grown_way_counts)
            else:
                credits_ += self.value[target]
            if component in self.digit_value:
                award_codes += self.award_digits[target] * self.digit_value[component]
        return _WindowKinds(nodes, way_counts, credits_, award_codes, kinds.counts * case_count)

    def decode_awards(self, code: int) -> GivenAwards:
        """Return the combined awards that the integer ``code`` stands for."""
        awards: list[Award] = []
        while code:
            code, digit = divmod(code, self.award_base)
            awards += self.award_kinds[digit]
        return select_given_awards(awards)


def _combine_equivalent_kinds(reels: ReelSet, parts: Sequence[_WindowKinds]) -> _WindowKinds:
    """Return the windows read so far with equivalent windows combined into one kind.

    A 64-bit hash finds equivalent windows, and equality is then verified. Raises :class:`BeyondExactAnalysisError` if
    too many kinds remain.
    """
    import numpy as np  # noqa: PLC0415 (laboratory package)

    merged = _WindowKinds(*(np.concatenate(arrays, axis=-1) for arrays in zip(*parts, strict=True)))
    rows = [*merged.nodes, *merged.way_counts, merged.credits, merged.award_codes]
    keys = np.zeros(len(merged.counts), dtype=np.uint64)
    for row in rows:
        keys = (keys ^ row.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        keys ^= keys >> np.uint64(29)
    _, first_indexes, kind_indexes = np.unique(keys, return_index=True, return_inverse=True)
    if not all((row == row[first_indexes][kind_indexes]).all() for row in rows):
        _, first_indexes, kind_indexes = np.unique(
            np.stack(rows), axis=1, return_index=True, return_inverse=True
        )
    if len(first_indexes) > WINDOW_KIND_COUNT_MAX:
        raise BeyondExactAnalysisError(
            f"stage {reels.name}: more than {WINDOW_KIND_COUNT_MAX:,} different kinds of windows; its distribution is "
            "too costly to compute exactly; its return and variance are exact"
        )
    counts = np.zeros(len(first_indexes), dtype=np.int64)
    np.add.at(counts, kind_indexes.reshape(-1), merged.counts)
    return _WindowKinds(
        merged.nodes[:, first_indexes],
        merged.way_counts[:, first_indexes],
        merged.credits[first_indexes],
        merged.award_codes[first_indexes],
        counts,
    )
