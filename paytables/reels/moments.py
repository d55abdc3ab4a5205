"""Exact expectations of a reel stage, by dynamic programming over the reels.

A component (see :mod:`paytables.reels.automaton` for the terms) depends only on the letter of each reel, so a reel of
any length is a small histogram of letters. Example: a strip of 64 stops on which a component sees a cherry 3 times, a
wild twice and something else 59 times has the histogram 3, 2, 59. Walking the automata over histograms gives the number
of the cycle's windows that end in each node. The work grows with reels x nodes x letters, never with the length of the
strips. Several components are walked together over their joint letter histogram: two for a covariance, and those that
give awards to find what is played next.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, product
from math import prod
from operator import mul
from typing import Final, NamedTuple

from paytables.errors import BeyondExactAnalysisError
from paytables.reels.automaton import ANY_LETTER, END_OF_GRAPH, Award, LiveStep, WinGraph
from paytables.reels.run import GivenAwards, PrizeRate, RunFigures, select_given_awards, sum_award_means
from paytables.reels.stage import ReelSet

#: If more components than this give awards, they are not walked together, because there are too many combinations.
JOINT_AWARD_COMPONENTS_MAX = 4

LetterCombination = tuple[int, ...]
AutomatonNodes = tuple[int, ...]
#: For each component, by final node: the number of windows that end there, and the sum of these windows' ways.
EndCounts = Sequence[Mapping[int, tuple[int, int]]]
#: How many of a reel's cases show each combination of letters.
LetterHistogram = tuple[tuple[LetterCombination, int], ...]


def count_letters(
    reels: ReelSet, component_indexes: Sequence[int]
) -> list[list[tuple[LetterCombination, int]]]:
    """Return, for each reel, the number of its cases for each combination of letters that these components see.

    A letter is the number that stands for what one component sees in the column of a reel.
    """
    letter_counts = []
    for letters, weights in zip(reels.letters, reels.column_weights, strict=True):
        counts: Counter[LetterCombination] = Counter()
        for row, weight in zip(letters, weights, strict=True):
            counts[tuple(row[c] for c in component_indexes)] += weight
        letter_counts.append(sorted(counts.items()))
    return letter_counts


def count_ends_by_component(reels: ReelSet) -> EndCounts:
    """Return how often each pay component ends in each final node of its automaton, over the reels' cycle.

    Components that start in the same node and see the same letters in the same numbers share one walk: on
    uniform strips, all lines do.
    """
    histograms = _HistogramIndex(reels)
    counts_by_automaton: dict[tuple[int, tuple[int, ...]], dict[int, tuple[int, int]]] = {}
    end_counts = []
    for c, component in enumerate(reels.components):
        key = component.start_node, histograms.find_histogram_numbers((c,))
        if key not in counts_by_automaton:
            counts_by_automaton[key] = _walk_component(
                reels.graph, component.start_node, count_letters(reels, (c,))
            )
        end_counts.append(counts_by_automaton[key])
    return end_counts


def _walk_component(
    graph: WinGraph, start_node: int, letter_counts_by_reel: Sequence[Sequence[tuple[LetterCombination, int]]]
) -> dict[int, tuple[int, int]]:
    """Return, for each final node of one component, the number of windows that lead there and the sum of their ways.

    ``letter_counts_by_reel`` has, for each reel, the number of cases of each letter.
    """
    current_counts: dict[int, tuple[int, int]] = {start_node: (1, 1)}
    for reel_counts in letter_counts_by_reel:
        reel_case_count = sum(count for _, count in reel_counts)
        next_counts: dict[int, tuple[int, int]] = {}
        for node, (window_count, way_sum) in current_counts.items():
            offset = graph.letter_offsets[node]
            steps = (
                [(node, 1, reel_case_count)]
                if offset < 0
                else [
                    (graph.next_nodes[offset + letter], graph.step_factors[offset + letter], count)
                    for (letter,), count in reel_counts
                ]
            )
            for next_node, factor, count in steps:
                sums_before = next_counts.get(next_node, (0, 0))
                next_counts[next_node] = (
                    sums_before[0] + window_count * count,
                    sums_before[1] + way_sum * count * factor,
                )
        current_counts = next_counts
    return current_counts


def count_joint_ends(
    reels: ReelSet,
    component_indexes: Sequence[int],
    uses_weight_by_component: Sequence[bool],
    *,
    required_winner_positions: Sequence[int] = (),
) -> dict[AutomatonNodes, int]:
    """Return how many windows of the reels' cycle lead to each combination of the components' final nodes.

    If ``uses_weight_by_component[i]`` is true, the count of a window is multiplied by the weight (number of ways) of
    component i. Only windows in which every component at ``required_winner_positions`` wins are counted. These
    positions and i are positions in ``component_indexes``.
    """
    return _walk_components_jointly(
        reels.graph,
        tuple(reels.components[c].start_node for c in component_indexes),
        count_letters(reels, component_indexes),
        tuple(uses_weight_by_component),
        tuple(required_winner_positions),
    )


def _walk_components_jointly(
    graph: WinGraph,
    start_nodes: AutomatonNodes,
    letter_counts_by_reel: list[list[tuple[LetterCombination, int]]],
    uses_weight_by_component: tuple[bool, ...],
    required_winner_positions: tuple[int, ...],
) -> dict[AutomatonNodes, int]:
    """Return how many windows lead from the nodes ``start_nodes`` to each combination of final nodes.

    ``letter_counts_by_reel`` has, for each reel, the number of cases of each combination of letters. If
    ``uses_weight_by_component[i]`` is true, the count of a window is multiplied by the factors of component i's steps.
    Only windows in which every component at ``required_winner_positions`` wins are counted. These positions and i are
    positions in ``start_nodes``.
    """
    current_windows: dict[AutomatonNodes, int] = {start_nodes: 1}
    positions = range(len(start_nodes))
    for reel_counts in letter_counts_by_reel:
        next_windows: dict[AutomatonNodes, int] = defaultdict(int)
        reel_case_count = sum(count for _, count in reel_counts)
        for nodes, windows in current_windows.items():
            offsets = [graph.letter_offsets[node] for node in nodes]
            if max(offsets, default=-1) < 0:  # all automata have ended: any letters follow
                next_windows[nodes] += windows * reel_case_count
                continue
            for letters, count in reel_counts:
                weighted_windows = windows * count
                next_nodes = list(nodes)
                for i in positions:
                    if offsets[i] >= 0:
                        step_index = offsets[i] + letters[i]
                        next_nodes[i] = graph.next_nodes[step_index]
                        if uses_weight_by_component[i]:
                            weighted_windows *= graph.step_factors[step_index]
                if not weighted_windows or any(
                    graph.letter_offsets[next_nodes[i]] < 0 and not graph.win_value_by_node[next_nodes[i]]
                    for i in required_winner_positions
                ):
                    continue
                next_windows[tuple(next_nodes)] += weighted_windows
        current_windows = next_windows
    return dict(current_windows)


def list_award_component_indexes(reels: ReelSet) -> list[int]:
    """Return the indexes of the pay components that can give an award such as free games, which is played next."""
    gives_award_by_start = {
        start_node: _can_give_award(reels.graph, start_node) for start_node in set(reels.start_nodes)
    }
    return [c for c, start_node in enumerate(reels.start_nodes) if gives_award_by_start[start_node]]


def _can_give_award(graph: WinGraph, start_node: int) -> bool:
    """Return whether a pay automaton started in the node ``start_node`` can end with an award that is played next."""
    seen_nodes = {start_node}
    unvisited_nodes = [start_node]
    while unvisited_nodes:
        node = unvisited_nodes.pop()
        prize = graph.ends[node].prize
        if prize is not None and select_given_awards(prize.awards):
            return True
        if graph.letter_offsets[node] >= 0:
            for next_node in graph.next_nodes[
                graph.letter_offsets[node] : graph.letter_offsets[node] + graph.letter_counts[node]
            ]:
                if next_node not in seen_nodes:
                    seen_nodes.add(next_node)
                    unvisited_nodes.append(next_node)
    return False


def find_given_awards(reels: ReelSet, nodes: Sequence[int]) -> GivenAwards:
    """Return, in a fixed order, the awards of the prizes at these final nodes that affect what is played next."""
    awards: list[Award] = []
    for node in nodes:
        prize = reels.graph.ends[node].prize
        if prize is not None:
            awards += prize.awards
    return select_given_awards(awards)


def compute_run_figures(reels: ReelSet, end_counts: EndCounts, *, with_second_moment: bool) -> RunFigures:
    """Return the exact figures of one run of a reel stage.

    ``end_counts`` is the result of :func:`count_ends_by_component`. ``with_second_moment``: whether to compute the
    second moment too. If too many components give awards to be walked together, ``chance_by_awards`` is empty, or
    :class:`BeyondExactAnalysisError` is raised if the second moment is requested.
    """
    award_component_indexes = list_award_component_indexes(reels)
    rate_by_award: dict[Award, Fraction] = defaultdict(Fraction)
    for c in award_component_indexes:
        for node, (window_count, _) in end_counts[c].items():
            for award in find_given_awards(reels, (node,)):
                rate_by_award[award] += Fraction(window_count, reels.cycle)
    chance_by_awards: dict[GivenAwards, Fraction] = defaultdict(Fraction)
    if not award_component_indexes:
        chance_by_awards[()] = Fraction(1)
    elif len(award_component_indexes) <= JOINT_AWARD_COMPONENTS_MAX:
        for nodes, window_count in count_joint_ends(
            reels, award_component_indexes, [False] * len(award_component_indexes)
        ).items():
            chance_by_awards[find_given_awards(reels, nodes)] += Fraction(window_count, reels.cycle)
    elif with_second_moment:
        raise BeyondExactAnalysisError(
            f"stage {reels.name}: {len(award_component_indexes)} components give awards, too many for its "
            "variance to be computed"
        )
    if with_second_moment:
        mean_by_awards = _compute_mean_by_awards(reels, award_component_indexes)
        return RunFigures(
            rate_by_award,
            chance_by_awards,
            sum(mean_by_awards.values(), Fraction(0)),
            mean_by_awards,
            compute_second_moment(reels),
        )
    win_value_by_node = reels.graph.win_value_by_node
    credits_sum = sum(
        way_sum * win_value_by_node[node]
        for counts_by_node in end_counts
        for node, (_, way_sum) in counts_by_node.items()
    )
    return RunFigures(
        rate_by_award,
        chance_by_awards,
        Fraction(credits_sum * reels.multiplier, reels.cycle),
        {},
        Fraction(0),
    )


def _compute_mean_by_awards(
    reels: ReelSet, award_component_indexes: Sequence[int]
) -> dict[GivenAwards, Fraction]:
    """Return, for each combination of awards, the mean credits of a window that gives exactly these awards.

    The mean is over all windows: those that give other awards count as 0 credits. ``award_component_indexes`` are
    those of the pay components that give awards.
    """
    credits_by_awards: dict[GivenAwards, int] = defaultdict(int)
    uses_weight_by_component = [False] * len(award_component_indexes) + [True]
    win_value_by_node = reels.graph.win_value_by_node
    for c in range(len(reels.components)):
        for nodes, window_count in count_joint_ends(
            reels,
            [*award_component_indexes, c],
            uses_weight_by_component,
            required_winner_positions=[len(award_component_indexes)],
        ).items():
            credits_by_awards[find_given_awards(reels, nodes[:-1])] += (
                window_count * win_value_by_node[nodes[-1]]
            )
    return defaultdict(
        Fraction,
        {
            given_awards: Fraction(credits_ * reels.multiplier, reels.cycle)
            for given_awards, credits_ in credits_by_awards.items()
        },
    )


def compute_second_moment(reels: ReelSet) -> Fraction:
    """Return E[X^2] of the credits X of one run: the sum over all pairs of components of E[X_a X_b]."""
    component_count = len(reels.components)
    # (X_1 + X_2 + ...)^2 has each square once and the product of each pair twice
    square_sum = sum(_iter_win_product_sums(reels, [(c, c) for c in range(component_count)]))
    product_sum = sum(
        _iter_win_product_sums(
            reels, [(a, b) for a in range(component_count) for b in range(a + 1, component_count)]
        )
    )
    return Fraction((square_sum + 2 * product_sum) * reels.multiplier**2, reels.cycle)


#: The only step of a finished component.
_STEPS_OF_FINISHED_COMPONENT: Final[list[LiveStep]] = [LiveStep(END_OF_GRAPH, 1, [(1, ANY_LETTER)])]


class _HistogramIndex:
    """Index of histograms of letters: how often a reel shows each combination of letters to some pay components.

    A letter is the number that stands for what one component sees in the column of a reel. Each histogram has a
    number, and equal histograms have the same number.
    """

    def __init__(self, reels: ReelSet) -> None:
        self._weights = reels.column_weights
        self._lane_indexes: list[list[int]] = []
        """For each reel, the index of each component's lane among the reel's different lanes.

        A lane is the sequence of letters that a component reads from the reel's columns.
        """
        self._different_lanes: list[list[tuple[int, ...]]] = []
        """For each reel, the different lanes, by index."""
        for rows in reels.letters:
            lanes = list(zip(*rows, strict=True)) if rows else []
            known_lanes = sorted(set(lanes))
            self._different_lanes.append(known_lanes)
            self._lane_indexes.append([known_lanes.index(lane) for lane in lanes])
        self._number_by_components: dict[tuple[int, ...], int] = {}
        self._number_by_histogram: dict[LetterHistogram, int] = {}
        """The number of each histogram."""
        self._marginal_counts: list[dict[LetterCombination, int]] = []
        """For each histogram, by number: its counts, with letters left open too (:func:`_add_marginals`)."""
        self._case_counts_by_step: list[dict[int, int]] = []
        """For each histogram, by number: the results of :meth:`count_cases` computed so far, by step number."""

    def find_histogram_numbers(self, component_indexes: tuple[int, ...]) -> tuple[int, ...]:
        """Return, for each reel, the number of the histogram of the letters that these pay components read there."""
        return tuple(
            self._find_histogram_number(x, tuple(lanes[c] for c in component_indexes))
            for x, lanes in enumerate(self._lane_indexes)
        )

    def count_cases(self, histogram_number: int, step: "_AutomataStep") -> int:
        """Return the number of a reel's equally likely cases that lead to ``step``, multiplied by the step's factor.

        ``histogram_number`` is the number of the reel's histogram of letters.
        """
        known_counts = self._case_counts_by_step[histogram_number]
        case_count = known_counts.get(step.number)
        if case_count is None:
            sums = self._marginal_counts[histogram_number]
            case_count = step.factor * sum(
                sign * sums.get(letters, 0) for sign, letters in step.signed_letters
            )
            known_counts[step.number] = case_count
        return case_count

    def _find_histogram_number(self, x: int, lanes: tuple[int, ...]) -> int:
        """Return the number of reel ``x``'s histogram of the letters of the lanes with these indexes."""
        if (x, *lanes) not in self._number_by_components:
            counts: Counter[LetterCombination] = Counter()
            rows = zip(*(self._different_lanes[x][lane] for lane in lanes), strict=True)
            for letters, weight in zip(rows, self._weights[x], strict=True):
                counts[letters] += weight
            histogram = tuple(sorted(counts.items()))
            if histogram not in self._number_by_histogram:
                self._number_by_histogram[histogram] = len(self._marginal_counts)
                self._marginal_counts.append(_add_marginals(histogram))
                self._case_counts_by_step.append({})
            self._number_by_components[x, *lanes] = self._number_by_histogram[histogram]
        return self._number_by_components[x, *lanes]


def _add_marginals(histogram: LetterHistogram) -> dict[LetterCombination, int]:
    """Return a histogram of letters, with counts also for combinations in which some letters are left open.

    ANY_LETTER stands for a letter that is left open. Example: the letters (1, 2) of two components also count for
    (1, any), (any, 2) and (any, any).
    """
    sums: dict[LetterCombination, int] = defaultdict(int)
    for letters, count in histogram:
        for known_letters in product(*((letter, ANY_LETTER) for letter in letters)):
            sums[known_letters] += count
    return dict(sums)


def _iter_win_product_sums(
    reels: ReelSet, component_index_tuples: Iterable[tuple[int, ...]]
) -> Iterator[int]:
    """Yield, for each tuple of component indexes, the sum of the product of their wins over all windows of the reels.

    Tuples whose components see the same symbols equally often have the same sum, which is computed once. On uniform
    strips all single lines have the same sum, and so have all pairs of lines with the same offset between them.
    """
    histograms = _HistogramIndex(reels)
    win_product_sums = _WinProductSums(reels, histograms)
    for component_indexes in component_index_tuples:
        start_nodes = tuple(reels.components[c].start_node for c in component_indexes)
        histogram_numbers = histograms.find_histogram_numbers(component_indexes)
        if len(set(start_nodes)) == 1:  # the same automaton: the order of the pair does not matter
            histogram_numbers = min(
                histogram_numbers, histograms.find_histogram_numbers(component_indexes[::-1])
            )
        yield win_product_sums.sum_win_products(start_nodes, histogram_numbers)


class _AutomataStep(NamedTuple):
    """One joint step of the automata of several pay components over a reel, and the letters that lead to the step."""

    number: int
    """The number of the step, unique within one :class:`_WinProductSums`."""
    next_nodes: AutomatonNodes
    """The node of each component's automaton after the step."""
    factor: int
    """The product of the factors by which the step multiplies the weights of the components."""
    signed_letters: list[tuple[int, LetterCombination]]
    """The letter combinations that lead to the step, each with the sign of its count in the sum."""
    win_product: int | None
    """The product of the components' wins if all of them are finished; else None."""


class _WinProductSums:
    """Calculation of sums, over all windows of a stage's reels, of the product of several pay components' wins.

    The reels are read from first to last. Each sum over the remaining reels is computed once.
    """

    def __init__(self, reels: ReelSet, histograms: _HistogramIndex) -> None:
        self._graph = reels.graph
        self._histograms = histograms
        self._window_counts = list(accumulate(reversed(reels.case_counts), mul, initial=1))
        """The number of windows of the last 0, 1, 2... reels."""
        self._sums: dict[tuple[AutomatonNodes, tuple[int, ...]], int] = {}
        """The sums computed so far."""
        self._steps: dict[AutomatonNodes, list[_AutomataStep]] = {}
        self._step_count = 0
        """The number of steps listed so far; the next step gets the next number."""

    def sum_win_products(self, nodes: AutomatonNodes, histogram_numbers: tuple[int, ...]) -> int:
        """Return the sum, over all windows of the remaining reels, of the product of the components' wins.

        ``nodes`` are the present nodes of the components' automata, ``histogram_numbers`` the numbers of the remaining
        reels' histograms. Only steps after which all components can still win are followed. A finished component
        accepts any letter.
        """
        if not histogram_numbers:
            return prod(self._graph.win_value_by_node[n] for n in nodes)
        key = (nodes, histogram_numbers)
        total = self._sums.get(key)
        if total is None:
            total = 0
            number, later_numbers, count_cases = (
                histogram_numbers[0],
                histogram_numbers[1:],
                self._histograms.count_cases,
            )
            window_count = self._window_counts[len(later_numbers)]
            for step in self._steps.get(nodes) or self._list_steps(nodes):
                case_count = count_cases(number, step)
                if case_count:
                    win_product = step.win_product
                    total += case_count * (
                        self.sum_win_products(step.next_nodes, later_numbers)
                        if win_product is None
                        else win_product * window_count
                    )
            self._sums[key] = total
        return total

    def _list_steps(self, nodes: AutomatonNodes) -> list[_AutomataStep]:
        """Return the joint steps of pay components from these nodes after which all of the components can still win."""
        graph, automata_steps = self._graph, []
        for live_steps in product(
            *(
                graph.list_live_steps(n) if graph.letter_offsets[n] >= 0 else _STEPS_OF_FINISHED_COMPONENT
                for n in nodes
            )
        ):
            self._step_count += 1
            next_nodes = tuple(
                node if step.next_node == END_OF_GRAPH else step.next_node
                for node, step in zip(nodes, live_steps, strict=True)
            )
            automata_steps.append(
                _AutomataStep(
                    number=self._step_count,
                    next_nodes=next_nodes,
                    factor=prod(step.factor for step in live_steps),
                    signed_letters=[
                        (
                            prod(sign for sign, _ in signed_letter_combination),
                            tuple(letter for _, letter in signed_letter_combination),
                        )
                        for signed_letter_combination in product(
                            *(step.signed_letters for step in live_steps)
                        )
                    ],
                    win_product=prod(graph.win_value_by_node[n] for n in next_nodes)
                    if all(graph.letter_offsets[n] < 0 for n in next_nodes)
                    else None,
                )
            )
        self._steps[nodes] = automata_steps
        return automata_steps


def compute_prize_rates(reels: ReelSet, end_counts: EndCounts) -> list[PrizeRate]:
    """Return how often each prize of a reel stage is won over the cycle of its windows, and its pay."""
    win_count_by_prize: dict[str, int] = defaultdict(int)
    paid_credits_by_prize: dict[str, int] = defaultdict(int)
    credits_by_prize: dict[str, int] = {}
    for counts_by_node in end_counts:
        for node, (_, way_sum) in counts_by_node.items():
            end = reels.graph.ends[node]
            if (
                way_sum
                and end.prize is not None
                and (end.prize.credits or end.prize.awards)
                and end.prize.name
            ):
                name = end.prize.name
                win_count_by_prize[name] += way_sum
                paid_credits_by_prize[name] += way_sum * end.value * reels.multiplier
                credits_by_prize[name] = end.prize.credits * reels.multiplier
    return [
        PrizeRate(
            name, credits_by_prize[name], win_count_by_prize[name], paid_credits_by_prize[name], reels.cycle
        )
        for name in win_count_by_prize
    ]


def compute_mean_awards(reels: ReelSet, end_counts: EndCounts) -> dict[tuple[str, str], Fraction]:
    """Return the mean number of times that one run gives each level and prize in kind, by (kind, name)."""
    return sum_award_means(
        (award, Fraction(window_count, reels.cycle))
        for counts_by_node in end_counts
        for node, (window_count, _) in counts_by_node.items()
        for prize in [reels.graph.ends[node].prize]
        if prize is not None
        for award in prize.awards
    )
