"""The reel evaluator compiled for laboratories, from the source of :func:`paytables.reels.automaton.evaluate_window`.

It has two uses: evaluating many stops at once, and simulating millions of whole games per second if every
stage is a plain spin. The simulation has its own small generator (xorshift64*, Vigna 2016; bounded by
Lemire's method, 2019), seeded by the caller: it checks arithmetic, not randomness. It plays exactly what the
cabinet plays, which a test verifies. The terms are those of :mod:`paytables.reels.automaton` and
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
from paytables.reels.moments import list_award_components
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
    nodes: Any
    """The node of each component in ``live_components`` after the first two reels."""
    factors: Any
    """The weight of each component in ``live_components`` after the first two reels."""
    won_credits: Any
    """The credits that each pair of columns has won already."""
    won_awards: Any
    """The number of runs of each stage that each pair of columns has won already."""


def build_arrays(reels: ReelSet, names: list[str]) -> CompiledArrays:
    """Return a reel stage's tables as numpy arrays, for the compiled kernels.

    An award that starts a stage is numbered by that stage's index in ``names``.
    """
    import numpy as np  # noqa: PLC0415 (laboratory package)

    count = len(reels.components)
    letters: list[int] = []
    width = max(reels.case_counts)
    at_case = np.zeros((len(reels.strips), width), dtype=np.int32)
    column = np.zeros((len(reels.strips), width), dtype=np.int32)
    for x, (rows, at, weights) in enumerate(
        zip(reels.letters, reels.column_index_by_stop, reels.stop_weights, strict=True)
    ):
        start = len(letters)
        letters += [letter for row in rows for letter in row]
        cases = [number for number, weight in zip(at, weights, strict=True) for _ in range(weight)]
        column[x, : len(cases)] = cases
        at_case[x, : len(cases)] = [start + number * count for number in cases]
    g = reels.graph
    awards_by_node = np.zeros((len(g.ends), len(names)), dtype=np.int64)
    for node, end in enumerate(g.ends):
        for award in select_given_awards(end.prize.awards) if end.prize is not None else ():
            awards_by_node[node, names.index(award.name)] += award.run_count
    return CompiledArrays(
        letter_offsets=np.array(g.letter_offsets, dtype=np.int32),
        next_nodes=np.array(g.next_nodes, dtype=np.int32),
        step_factors=np.array(g.step_factors, dtype=np.int32),
        win_value_by_node=np.array(g.win_value_by_node, dtype=np.int64) * reels.multiplier,
        letters=np.array(letters, dtype=np.int32),
        letter_offset_by_case=at_case,
        column_by_case=column,
        case_counts=np.array(reels.case_counts, dtype=np.int64),
        awards_by_node=awards_by_node,
        **_walk_first_two_reels(reels, awards_by_node),
    )


def _walk_first_two_reels(reels: ReelSet, awards_by_node: Any) -> dict[str, Any]:
    """Return the arrays of :class:`CompiledArrays` about pairs of columns of the first two reels, by field name.

    A game with one reel is handled as if its second reel had one empty column.
    """
    import numpy as np  # noqa: PLC0415 (laboratory package)

    g = reels.graph
    empty_column = [()]
    seconds = reels.letters[1] if len(reels.letters) > 1 else empty_column
    start_of_pair, first_award_component, nodes, factors = [0], [], [], []
    won_credits, won_awards = [], []
    live_components: list[int] = []
    award_components = list_award_components(reels)
    order = [*sorted(set(range(len(reels.start_nodes))) - set(award_components)), *award_components]
    for first_letters in reels.letters[0]:
        for second_letters in seconds:
            won = 0
            gives = np.zeros(awards_by_node.shape[1], dtype=np.int64)
            first_award_component.append(len(live_components))
            for c in order:
                node, weight = reels.start_nodes[c], 1
                for letter in (first_letters[c], *second_letters[c : c + 1]):
                    if g.letter_offsets[node] >= 0:
                        k = g.letter_offsets[node] + letter
                        node, weight = g.next_nodes[k], weight * g.step_factors[k]
                if g.letter_offsets[node] >= 0:
                    first_award_component[-1] += c not in award_components
                    live_components.append(c)
                    nodes.append(node)
                    factors.append(weight)
                else:
                    won += weight * g.win_value_by_node[node]
                    gives += awards_by_node[node]
            start_of_pair.append(len(live_components))
            won_credits.append(won * reels.multiplier)
            won_awards.append(gives)
    return {
        "second_reel_columns": len(seconds),
        "start_of_pair": np.array(start_of_pair, dtype=np.int32),
        "first_award_component": np.array(first_award_component, dtype=np.int32),
        "live_components": np.array(live_components, dtype=np.int32),
        "nodes": np.array(nodes, dtype=np.int32),
        "factors": np.array(factors, dtype=np.int32),
        "won_credits": np.array(won_credits, dtype=np.int64),
        "won_awards": np.array(won_awards, dtype=np.int64),
    }


# ---------------------------------------------------------------- kernels: numba compiles these
def _compute_credits_won_by_window(t: Any, case: Any, at: Any, ends: Any, weights: Any) -> int:
    """Return the credits that one window of the reels pays.

    ``t`` are the tables of the stage. ``case[x]`` is the case of reel x: a stop of weight n is n equally likely cases.
    ``at``, ``ends`` and ``weights`` are work arrays.
    """
    reels = len(t.case_counts)
    pair = t.column_by_case[0, case[0]] * t.second_reel_columns
    if reels > 1:
        pair += t.column_by_case[1, case[1]]
    for x in range(2, reels):
        at[x - 2] = t.letter_offset_by_case[x, case[x]]
    a, b = t.start_of_pair[pair], t.start_of_pair[pair + 1]
    later_reels = at[: max(reels - 2, 0)]
    later_credits = evaluate_window(
        t.live_components[a:b],
        t.nodes[a:b],
        t.factors[a:b],
        t.letter_offsets,
        t.next_nodes,
        t.step_factors,
        t.win_value_by_node,
        t.letters,
        later_reels,
        ends,
        weights,
    )
    return int(t.won_credits[pair] + later_credits)


def _enumerate(t: Any, all_components: Any, windows: int, work_arrays: Any) -> tuple[int, int]:
    """Return the sums of the credits, and of their squares, over the first ``windows`` windows of the reels' cycle.

    ``t`` are the tables of the stage, ``work_arrays`` those of :func:`_allocate_work_arrays`.
    """
    at, ends, weights, case, _ = work_arrays
    components, starts, ones = all_components
    reels = len(t.case_counts)
    for x in range(reels):
        at[x] = t.letter_offset_by_case[x, 0]
    at = at[:reels]
    total = squares = 0
    for _ in range(windows):
        win = evaluate_window(
            components,
            starts,
            ones,
            t.letter_offsets,
            t.next_nodes,
            t.step_factors,
            t.win_value_by_node,
            t.letters,
            at,
            ends,
            weights,
        )
        total += win
        squares += win * win
        x = reels - 1
        while x >= 0:
            case[x] += 1
            if case[x] == t.case_counts[x]:
                case[x] = 0
            at[x] = t.letter_offset_by_case[x, case[x]]
            if case[x]:
                break
            x -= 1
    return total, squares


def _spin(t: Any, state: Any, bits: Any, case: Any) -> Any:
    """Draw one equally likely case of each reel, write it to ``case``, and return the generator's next state."""
    mask, twelve, twentyfive, twentyseven, half, factor, word_range = bits
    for x in range(len(t.case_counts)):
        bound = bits.dtype.type(t.case_counts[x])
        while True:
            state ^= state >> twelve
            state ^= state << twentyfive
            state ^= state >> twentyseven
            product = ((state * factor) >> half) * bound
            low = product & mask
            if low >= bound or low >= word_range % bound:  # Lemire: the division is rarely needed
                break
        case[x] = product >> half
    return state


def _play(tables: Any, first: int, games: int, state: Any, bits: Any, work_arrays: Any) -> Any:
    """Simulate ``games`` whole reel games that start with the stage number ``first``.

    Return the sum of the credits, the sum of their squares, the number of winning games, and the highest win.
    ``tables`` are the tables of each stage, ``state`` and ``bits`` the random generator's. ``work_arrays`` are those of
    :func:`_allocate_work_arrays`.
    """
    at, ends, weights, case, pending = work_arrays
    total = squares = hits = highest_win = 0
    for _ in range(games):
        pending[first] = 1
        runs_left = 1
        win = 0
        while runs_left:
            for s in range(len(tables)):
                if pending[s] == 0:
                    continue
                pending[s] -= 1
                runs_left -= 1
                t = tables[s]
                state = _spin(t, state, bits, case)
                win += _compute_credits_won_by_window(t, case, at, ends, weights)
                pair = t.column_by_case[0, case[0]] * t.second_reel_columns
                if len(t.case_counts) > 1:
                    pair += t.column_by_case[1, case[1]]
                for n in range(len(tables)):
                    given_runs = t.won_awards[pair, n]
                    pending[n] += given_runs
                    runs_left += given_runs
                for i in range(t.first_award_component[pair], t.start_of_pair[pair + 1]):
                    node = ends[t.live_components[i]]
                    for n in range(len(tables)):
                        given_runs = t.awards_by_node[node, n]
                        pending[n] += given_runs
                        runs_left += given_runs
        total += win
        squares += win * win
        hits += win > 0
        highest_win = max(highest_win, win)
    return total, squares, hits, highest_win


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


def _allocate_work_arrays(components: int) -> tuple[Any, ...]:
    """Return the work arrays that compiled kernels need to walk the automata of ``components`` pay components."""
    import numpy as np  # noqa: PLC0415 (laboratory package)

    size = max(components, 16)
    return tuple(np.zeros(n, dtype=np.int64) for n in (16, size, size, 16, 64))


# ---------------------------------------------------------------- functions for laboratories
def enumerate_cycle(reels: ReelSet, windows: int) -> tuple[int, int]:
    """Return the sums of the credits, and of their squares, over the first ``windows`` windows of the reels' cycle.

    This is the brute-force reference for the exact analysis.
    """
    import numpy as np  # noqa: PLC0415 (laboratory package)

    names = sorted({a.name for e in reels.graph.ends if e.prize for a in e.prize.awards} | {""})
    count = len(reels.components)
    all_components = tuple(
        np.array(v, dtype=np.int32) for v in (range(count), reels.start_nodes, [1] * count)
    )
    work_arrays = _allocate_work_arrays(count)
    total, squares = _compile_kernel(_enumerate)(
        build_arrays(reels, names), all_components, windows, work_arrays
    )
    return int(total), int(squares)


def find_reason_not_to_simulate(stages: ModeStages) -> str | None:
    """Return why compiled code cannot simulate a mode of a reel game, or None if it can.

    It can if every stage is a plain spin that retains nothing between the runs of a series.
    """
    for name, table in stages.definition.stages.items():
        if not isinstance(stages.get_stage(name), ReelSpinStage):
            return f"stage {name} is not a plain spin"
        if not stages.series_rules[name].is_plain or getattr(table, "sticky_symbol", None):
            return f"stage {name} keeps state during its series"
    return None


def simulate(stages: ModeStages, games: int, seed: int) -> SimulatedSample:
    """Simulate whole games of one mode at bet level 1. Raises :class:`AnalysisError` if a stage is not a plain spin."""
    import numpy as np  # noqa: PLC0415 (laboratory package)

    reason = find_reason_not_to_simulate(stages)
    if reason is not None:
        raise AnalysisError(f"no compiled simulation: {reason}")
    names = list(stages.definition.stages)
    reels_of_stages = [
        stage.reels for stage in map(stages.get_stage, names) if isinstance(stage, ReelSpinStage)
    ]
    tables = tuple(build_arrays(reels, names) for reels in reels_of_stages)
    bits = np.array([(1 << 32) - 1, 12, 25, 27, 32, 2685821657736338717, 1 << 32], dtype=np.uint64)
    state = np.uint64((seed * 0x9E3779B97F4A7C15 + 0x1234567) % (1 << 64) or 1)
    work_arrays = _allocate_work_arrays(max(len(reels.components) for reels in reels_of_stages))
    first = names.index(stages.mode.first_stage)
    totals = _compile_kernel(_play)(tables, first, games, state, bits, work_arrays)
    return SimulatedSample(games, *(int(v) for v in totals))
