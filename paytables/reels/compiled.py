"""The reel evaluator compiled for laboratories, from the source of :func:`paytables.reels.automaton.evaluate_window`.

It has two uses: evaluating many stops at once, and simulating millions of whole games per second if every
stage is a plain spin. The simulation has its own small generator (xorshift64*, Vigna 2016; bounded by
Lemire's method, 2019), seeded by the caller: it checks arithmetic, not randomness. It plays exactly what the
cabinet plays, which a test verifies. Its terms are explained in :mod:`paytables.reels.automaton` and
:mod:`paytables.reels.run`.

The kernels are plain functions. numba compiles them on first use and is only imported then, together with
numpy: a cabinet loads neither.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

from paytables.errors import AnalysisError
from paytables.reels.automaton import evaluate_window
from paytables.reels.build import ModeStages
from paytables.reels.moments import list_award_component_indexes
from paytables.reels.run import select_given_awards
from paytables.reels.spin import ReelSpinStage
from paytables.reels.stage import ReelSet

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    #: An array of whole numbers.
    Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SimulatedSample:
    """The totals of a number of simulated reel games: credits, wins and highest win, in credits at bet level 1."""

    game_count: int
    """The number of simulated games."""
    win_sum: int
    """The sum of all wins."""
    squared_win_sum: int
    """The sum of the squares of all wins."""
    winning_game_count: int
    """The number of games with a win."""
    highest_win: int
    """The highest win of one game."""


class CompiledArrays(NamedTuple):
    """The tables of one reel stage as numpy arrays, in a named tuple, which numba can read.

    Weights are expanded, so every case of a reel is equally likely. A pair is one column of the first reel
    with one of the second; what it has won, and what can still win, is computed in advance.
    """

    letter_offsets: Any
    """The offset in ``next_nodes`` of each node's first letter."""
    next_nodes: Any
    """The next node, by row offset and letter."""
    step_factors: Any
    """The factor of the win's weight for each step, by row offset and letter."""
    win_value_by_node: Any
    """The credits of each final node for one unit of weight."""
    letters: Any
    """The letters that the pay components read, reel by reel and column by column."""
    letter_offset_by_case: Any
    """The offset in ``letters`` of each equally likely case, by reel."""
    column_by_case: Any
    """The index of the column that each equally likely case shows, by reel."""
    case_counts: Any
    """The number of equally likely cases of each reel."""
    awards_by_node: Any
    """The number of runs of each stage that a component awards if it ends in each node."""
    first_award_component: Any
    """The index of the first component of each pair that can give an award."""
    second_reel_columns: Any
    """The number of different columns of the second reel."""
    start_of_pair: Any
    """The index in ``live_components`` of the first component of each pair; the next pair's is the end."""
    live_components: Any
    """The components that can still win, pair after pair."""
    live_nodes: Any
    """The node of each component in ``live_components`` after the first two reels."""
    live_weights: Any
    """The weight of each component in ``live_components`` after the first two reels."""
    won_credits: Any
    """The credits that each pair of columns has won already."""
    won_awards: Any
    """The number of runs of each stage that each pair of columns has won already."""


def build_arrays(reels: ReelSet, stage_names: list[str]) -> CompiledArrays:
    """Return a reel stage's tables as numpy arrays, for the compiled kernels.

    An award that starts a stage is numbered by that stage's index in ``stage_names``.
    """
    import numpy as np  # noqa: PLC0415 (laboratory package)

    component_count = len(reels.components)
    letters: list[int] = []
    case_count_max = max(reels.case_counts)
    letter_offset_by_case = np.zeros((len(reels.strips), case_count_max), dtype=np.int32)
    column_by_case = np.zeros((len(reels.strips), case_count_max), dtype=np.int32)
    for x, (letters_by_column, column_indexes, weights) in enumerate(
        zip(reels.letters, reels.column_index_by_stop, reels.stop_weights, strict=True)
    ):
        first_offset = len(letters)
        letters += [letter for column_letters in letters_by_column for letter in column_letters]
        column_of_case = [
            column_index
            for column_index, weight in zip(column_indexes, weights, strict=True)
            for _ in range(weight)
        ]
        column_by_case[x, : len(column_of_case)] = column_of_case
        letter_offset_by_case[x, : len(column_of_case)] = [
            first_offset + column_index * component_count for column_index in column_of_case
        ]
    graph = reels.graph
    awards_by_node = np.zeros((len(graph.ends), len(stage_names)), dtype=np.int64)
    for node, end in enumerate(graph.ends):
        for award in select_given_awards(end.prize.awards) if end.prize is not None else ():
            awards_by_node[node, stage_names.index(award.name)] += award.run_count
    return CompiledArrays(
        letter_offsets=np.array(graph.letter_offsets, dtype=np.int32),
        next_nodes=np.array(graph.next_nodes, dtype=np.int32),
        step_factors=np.array(graph.step_factors, dtype=np.int32),
        win_value_by_node=np.array(graph.win_value_by_node, dtype=np.int64) * reels.multiplier,
        letters=np.array(letters, dtype=np.int32),
        letter_offset_by_case=letter_offset_by_case,
        column_by_case=column_by_case,
        case_counts=np.array(reels.case_counts, dtype=np.int64),
        awards_by_node=awards_by_node,
        **_walk_first_two_reels(reels, awards_by_node),
    )


def _walk_first_two_reels(reels: ReelSet, awards_by_node: Any) -> dict[str, Any]:
    """Return the arrays of :class:`CompiledArrays` about pairs of columns of the first two reels, by field name.

    A game with one reel is handled as if its second reel had one empty column.
    """
    import numpy as np  # noqa: PLC0415 (laboratory package)

    graph = reels.graph
    empty_column = [()]
    second_letters_by_column = reels.letters[1] if len(reels.letters) > 1 else empty_column
    start_of_pair, first_award_component, nodes, factors = [0], [], [], []
    won_credits, won_awards = [], []
    live_components: list[int] = []
    award_component_indexes = list_award_component_indexes(reels)
    component_order = [
        *sorted(set(range(len(reels.start_nodes))) - set(award_component_indexes)),
        *award_component_indexes,
    ]
    for first_letters in reels.letters[0]:
        for second_letters in second_letters_by_column:
            pair_credits = 0
            pair_awards = np.zeros(awards_by_node.shape[1], dtype=np.int64)
            first_award_component.append(len(live_components))
            for component in component_order:
                node, weight = reels.start_nodes[component], 1
                for letter in (first_letters[component], *second_letters[component : component + 1]):
                    if graph.letter_offsets[node] >= 0:
                        step_index = graph.letter_offsets[node] + letter
                        node, weight = graph.next_nodes[step_index], weight * graph.step_factors[step_index]
                if graph.letter_offsets[node] >= 0:
                    first_award_component[-1] += component not in award_component_indexes
                    live_components.append(component)
                    nodes.append(node)
                    factors.append(weight)
                else:
                    pair_credits += weight * graph.win_value_by_node[node]
                    pair_awards += awards_by_node[node]
            start_of_pair.append(len(live_components))
            won_credits.append(pair_credits * reels.multiplier)
            won_awards.append(pair_awards)
    return {
        "second_reel_columns": len(second_letters_by_column),
        "start_of_pair": np.array(start_of_pair, dtype=np.int32),
        "first_award_component": np.array(first_award_component, dtype=np.int32),
        "live_components": np.array(live_components, dtype=np.int32),
        "live_nodes": np.array(nodes, dtype=np.int32),
        "live_weights": np.array(factors, dtype=np.int32),
        "won_credits": np.array(won_credits, dtype=np.int64),
        "won_awards": np.array(won_awards, dtype=np.int64),
    }


# ---------------------------------------------------------------- kernels: numba compiles these
def _compute_credits_won_by_window(
    tables: Any, case_by_reel: Any, column_offsets: Any, ends: Any, weights: Any
) -> int:
    """Return the credits that one window of the reels pays.

    ``tables`` are the tables of the stage. ``case_by_reel[x]`` is the case of reel x: a stop of weight n is n equally
    likely cases. ``column_offsets``, ``ends`` and ``weights`` are work arrays.
    """
    reel_count = len(tables.case_counts)
    pair = tables.column_by_case[0, case_by_reel[0]] * tables.second_reel_columns
    if reel_count > 1:
        pair += tables.column_by_case[1, case_by_reel[1]]
    for x in range(2, reel_count):
        column_offsets[x - 2] = tables.letter_offset_by_case[x, case_by_reel[x]]
    first_index, end_index = tables.start_of_pair[pair], tables.start_of_pair[pair + 1]
    later_reels = column_offsets[: max(reel_count - 2, 0)]
    later_credits = evaluate_window(
        tables.live_components[first_index:end_index],
        tables.live_nodes[first_index:end_index],
        tables.live_weights[first_index:end_index],
        tables.letter_offsets,
        tables.next_nodes,
        tables.step_factors,
        tables.win_value_by_node,
        tables.letters,
        later_reels,
        ends,
        weights,
    )
    return int(tables.won_credits[pair] + later_credits)


def _enumerate(tables: Any, all_components: Any, window_count: int, work_arrays: Any) -> tuple[int, int]:
    """Return the sums of the credits, and of their squares, over the first ``window_count`` windows of the cycle.

    ``tables`` are the tables of the stage. ``work_arrays`` come from :func:`_allocate_work_arrays`.
    """
    column_offsets, ends, weights, case_by_reel, _ = work_arrays
    components, start_nodes, start_weights = all_components
    reel_count = len(tables.case_counts)
    for x in range(reel_count):
        column_offsets[x] = tables.letter_offset_by_case[x, 0]
    column_offsets = column_offsets[:reel_count]
    credits_sum = square_sum = 0
    for _ in range(window_count):
        win_credits = evaluate_window(
            components,
            start_nodes,
            start_weights,
            tables.letter_offsets,
            tables.next_nodes,
            tables.step_factors,
            tables.win_value_by_node,
            tables.letters,
            column_offsets,
            ends,
            weights,
        )
        credits_sum += win_credits
        square_sum += win_credits * win_credits
        x = reel_count - 1
        while x >= 0:
            case_by_reel[x] += 1
            if case_by_reel[x] == tables.case_counts[x]:
                case_by_reel[x] = 0
            column_offsets[x] = tables.letter_offset_by_case[x, case_by_reel[x]]
            if case_by_reel[x]:
                break
            x -= 1
    return credits_sum, square_sum


def _spin(tables: Any, generator_state: Any, generator_constants: Any, case_by_reel: Any) -> Any:
    """Draw one equally likely case of each reel into ``case_by_reel``, and return the generator's next state."""
    mask, twelve, twentyfive, twentyseven, half, factor, word_range = generator_constants
    for x in range(len(tables.case_counts)):
        bound = generator_constants.dtype.type(tables.case_counts[x])
        while True:
            generator_state ^= generator_state >> twelve
            generator_state ^= generator_state << twentyfive
            generator_state ^= generator_state >> twentyseven
            product = ((generator_state * factor) >> half) * bound
            low = product & mask
            if low >= bound or low >= word_range % bound:  # Lemire: the division is rarely needed
                break
        case_by_reel[x] = product >> half
    return generator_state


def _play(
    tables_by_stage: Any,
    first_stage: int,
    game_count: int,
    generator_state: Any,
    generator_constants: Any,
    work_arrays: Any,
) -> Any:
    """Simulate ``game_count`` whole reel games that start with the stage number ``first_stage``.

    Return the sum of the credits, the sum of their squares, the number of winning games, and the highest win.
    ``tables_by_stage`` are the tables of each stage, ``generator_state`` and ``generator_constants`` the random
    generator's. ``work_arrays`` come from :func:`_allocate_work_arrays`.
    """
    column_offsets, ends, weights, case_by_reel, pending_runs = work_arrays
    credits_sum = square_sum = winning_game_count = highest_win = 0
    for _ in range(game_count):
        pending_runs[first_stage] = 1
        runs_left = 1
        win_credits = 0
        while runs_left:
            for stage_index in range(len(tables_by_stage)):
                if pending_runs[stage_index] == 0:
                    continue
                pending_runs[stage_index] -= 1
                runs_left -= 1
                tables = tables_by_stage[stage_index]
                generator_state = _spin(tables, generator_state, generator_constants, case_by_reel)
                win_credits += _compute_credits_won_by_window(
                    tables, case_by_reel, column_offsets, ends, weights
                )
                pair = tables.column_by_case[0, case_by_reel[0]] * tables.second_reel_columns
                if len(tables.case_counts) > 1:
                    pair += tables.column_by_case[1, case_by_reel[1]]
                for awarded_stage in range(len(tables_by_stage)):
                    awarded_runs = tables.won_awards[pair, awarded_stage]
                    pending_runs[awarded_stage] += awarded_runs
                    runs_left += awarded_runs
                for i in range(tables.first_award_component[pair], tables.start_of_pair[pair + 1]):
                    node = ends[tables.live_components[i]]
                    for awarded_stage in range(len(tables_by_stage)):
                        awarded_runs = tables.awards_by_node[node, awarded_stage]
                        pending_runs[awarded_stage] += awarded_runs
                        runs_left += awarded_runs
        credits_sum += win_credits
        square_sum += win_credits * win_credits
        winning_game_count += win_credits > 0
        highest_win = max(highest_win, win_credits)
    return credits_sum, square_sum, winning_game_count, highest_win


@lru_cache(maxsize=16)
def _compile_kernel(kernel: Callable[..., Any], inline: str = "never") -> Callable[..., Any]:
    """Compile a kernel with numba, together with the functions that it calls by name.

    The kernels borrow their arrays: without reference counts, and without passing a stage's tables between
    functions, they run four times as fast.
    """
    import numba  # noqa: PLC0415 (laboratory package)

    called_functions = [
        f
        for f in (evaluate_window, _compute_credits_won_by_window, _spin)
        if f.__name__ in kernel.__code__.co_names
    ]
    kernel_globals = {
        **kernel.__globals__,
        **{f.__name__: _compile_kernel(f, "always") for f in called_functions},
    }
    options: dict[str, Any] = {"nogil": True, "_nrt": False, "inline": inline}
    compiled: Callable[..., Any] = numba.njit(**options)(
        FunctionType(kernel.__code__, kernel_globals, kernel.__name__)
    )
    return compiled


def _allocate_work_arrays(component_count: int) -> tuple[Any, ...]:
    """Return the work arrays that compiled kernels need to walk the automata of ``component_count`` pay components."""
    import numpy as np  # noqa: PLC0415 (laboratory package)

    size = max(component_count, 16)
    return tuple(np.zeros(n, dtype=np.int64) for n in (16, size, size, 16, 64))


# ---------------------------------------------------------------- functions for laboratories
def enumerate_cycle(reels: ReelSet, window_count: int) -> tuple[int, int]:
    """Return the sums of the credits, and of their squares, over the first ``window_count`` windows of the cycle.

    This is the brute-force reference for the exact analysis.
    """
    import numpy as np  # noqa: PLC0415 (laboratory package)

    stage_names = sorted({a.name for e in reels.graph.ends if e.prize for a in e.prize.awards} | {""})
    component_count = len(reels.components)
    all_components = tuple(
        np.array(v, dtype=np.int32)
        for v in (range(component_count), reels.start_nodes, [1] * component_count)
    )
    work_arrays = _allocate_work_arrays(component_count)
    credits_sum, square_sum = _compile_kernel(_enumerate)(
        build_arrays(reels, stage_names), all_components, window_count, work_arrays
    )
    return int(credits_sum), int(square_sum)


def find_reason_not_to_simulate(stages: ModeStages) -> str | None:
    """Return why compiled code cannot simulate a mode of a reel game, or None if it can.

    It can if every stage is a plain spin that retains nothing between the runs of a series.
    """
    for name, table in stages.definition.stages.items():
        if not isinstance(stages.get_stage(name), ReelSpinStage):
            return f"stage {name} is not a plain spin"
        if not stages.series_rules[name].is_memoryless or getattr(table, "sticky_symbol", None):
            return f"stage {name} keeps state during its series"
    return None


def simulate(stages: ModeStages, game_count: int, seed: int) -> SimulatedSample:
    """Simulate whole games of one mode at bet level 1. Raises :class:`AnalysisError` if a stage is not a plain spin."""
    import numpy as np  # noqa: PLC0415 (laboratory package)

    reason = find_reason_not_to_simulate(stages)
    if reason is not None:
        raise AnalysisError(f"no compiled simulation: {reason}")
    stage_names = list(stages.definition.stages)
    reels_of_stages = [
        stage.reels for stage in map(stages.get_stage, stage_names) if isinstance(stage, ReelSpinStage)
    ]
    tables = tuple(build_arrays(reels, stage_names) for reels in reels_of_stages)
    generator_constants = np.array(
        [(1 << 32) - 1, 12, 25, 27, 32, 2685821657736338717, 1 << 32], dtype=np.uint64
    )
    generator_state = np.uint64((seed * 0x9E3779B97F4A7C15 + 0x1234567) % (1 << 64) or 1)
    work_arrays = _allocate_work_arrays(max(len(reels.components) for reels in reels_of_stages))
    first_stage = stage_names.index(stages.mode.first_stage)
    totals = _compile_kernel(_play)(
        tables, first_stage, game_count, generator_state, generator_constants, work_arrays
    )
    return SimulatedSample(game_count, *(int(v) for v in totals))
