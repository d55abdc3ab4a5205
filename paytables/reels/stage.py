"""The reels of one stage in one mode: how their stops are drawn, and what a window wins."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import prod

from paytables.contract import DrawSource
from paytables.reels.automaton import GraphEnd, WinGraph, evaluate_window
from paytables.reels.components import SymbolColumn, WinComponent


@dataclass(frozen=True, slots=True)
class WindowWin:
    """A prize won in a window: the pay component that won it, its result (prize and multiplier), and its ways."""

    component: WinComponent
    """The line, ways or scatter that won."""
    end: GraphEnd
    """The prize and its multiplier."""
    ways: int
    """The number of ways in which the prize is won; 1 for a line or a scatter."""

    @property
    def credits(self) -> int:
        """Return the credits of the prize at bet level 1, before the stage's multiplier."""
        return self.end.value * self.ways


@dataclass(frozen=True)
class ReelSet:
    """The reels of one reel stage in one mode: strips, stop weights, and the pay components that read the window.

    Stops that show the same column are one case to the analysis. If scatters are counted before symbols
    expand, a column is stored twice as long: the cells after expansion, then the same cells before it.
    """

    name: str
    heights: tuple[int, ...]
    """The number of visible rows of each reel."""
    strips: tuple[tuple[int, ...], ...]
    """The numbers of the symbols on each reel, by stop."""
    stop_weights: tuple[tuple[int, ...], ...]
    """The number of equally likely cases of each stop, by reel."""
    multiplier: int
    """The factor of every pay of the stage."""
    columns: tuple[tuple[SymbolColumn, ...], ...]
    """The different columns that each reel can show, symbols expanded."""
    column_index_by_stop: tuple[tuple[int, ...], ...]
    """The index in ``columns`` of the column at each stop, by reel."""
    components: tuple[WinComponent, ...]
    """The lines, ways and scatters that are evaluated."""
    graph: WinGraph
    """The automata of all pay components."""
    pay_table_prizes: tuple[tuple[str, int], ...] = ()
    """The prizes of the pay table: name, and credits at bet level 1 before the multiplier."""
    omitted_prizes: tuple[str, ...] = ()
    """Names of inherited prizes that the stage cannot win and therefore omits."""

    @cached_property
    def case_counts(self) -> tuple[int, ...]:
        """Return, for each reel, its number of equally likely cases: the sum of the weights of its stops."""
        return tuple(sum(w) for w in self.stop_weights)

    @cached_property
    def cycle(self) -> int:
        """Return the number of equally likely windows: the product of the numbers of cases of all reels."""
        return prod(self.case_counts)

    @cached_property
    def column_weights(self) -> tuple[tuple[int, ...], ...]:
        """Return, for each reel, how many of its equally likely cases show each of its different columns."""
        weights_by_reel = []
        for columns, column_indexes, weights in zip(
            self.columns, self.column_index_by_stop, self.stop_weights, strict=True
        ):
            cases_by_column = [0] * len(columns)
            for column, weight in zip(column_indexes, weights, strict=True):
                cases_by_column[column] += weight
            weights_by_reel.append(tuple(cases_by_column))
        return tuple(weights_by_reel)

    @cached_property
    def start_nodes(self) -> list[int]:
        """Return the start node of every pay component's automaton, in the form that :func:`evaluate_window` needs."""
        return [c.start_node for c in self.components]

    @cached_property
    def letters(self) -> list[list[tuple[int, ...]]]:
        """Return, for each reel and each of its columns, the letter that every pay component reads there.

        A letter is the number that stands for what a line, ways or scatter sees in the column.
        """
        return [
            [tuple(c.find_letter(x, column) for c in self.components) for column in columns]
            for x, columns in enumerate(self.columns)
        ]

    @cached_property
    def _cumulative_weights(self) -> tuple[list[int] | None, ...]:
        """Return, for each reel, the cumulative weights of its stops, or None if all stops are equally likely."""
        return tuple(None if set(w) == {1} else list(accumulate(w)) for w in self.stop_weights)

    @cached_property
    def _draw_purposes(self) -> tuple[str, ...]:
        """Return, for each reel, the purpose that is recorded with the random number that decides its stop."""
        return tuple(f"{self.name}.reel{x + 1}" for x in range(len(self.strips)))

    @cached_property
    def _draw_parameters(self) -> tuple[tuple[int, str, list[int] | None], ...]:
        """Return, for each reel, the bound of its draw, the recorded purpose, and the stops' cumulative weights."""
        return tuple(zip(self.case_counts, self._draw_purposes, self._cumulative_weights, strict=True))

    def spin(self, draw: DrawSource) -> tuple[int, ...]:
        """Draw one stop for each reel, with one random number each, and return the stops."""
        return tuple(
            [
                value if cumulative is None else bisect_right(cumulative, value)
                for total, purpose, cumulative in self._draw_parameters
                for value in (draw.below(total, purpose),)
            ]
        )

    def spin_some_reels(self, draw: DrawSource, reels: Iterable[int]) -> dict[int, int]:
        """Draw a stop for each of the given reels only; return the stops by reel."""
        stops = {}
        for x in reels:
            total, purpose, cumulative = self._draw_parameters[x]
            value = draw.below(total, purpose)
            stops[x] = value if cumulative is None else bisect_right(cumulative, value)
        return stops

    @cached_property
    def visible_columns_by_stop(self) -> tuple[tuple[SymbolColumn, ...], ...]:
        """Return the visible columns, by reel and stop, before any symbol expands."""
        return tuple(
            tuple(list_columns_by_stop(strip, height, frozenset()))
            for strip, height in zip(self.strips, self.heights, strict=True)
        )

    def find_visible_columns(self, stops: Sequence[int]) -> tuple[SymbolColumn, ...]:
        """Return the visible columns at these stops, before any symbol expands."""
        return tuple(
            [
                columns_by_stop[stop]
                for columns_by_stop, stop in zip(self.visible_columns_by_stop, stops, strict=True)
            ]
        )

    @cached_property
    def _evaluated_columns_by_stop(self) -> tuple[tuple[SymbolColumn, ...], ...]:
        """Return the columns that are evaluated, by reel and stop: a symbol that expands fills its column."""
        return tuple(
            tuple(columns[column] for column in columns_by_stop)
            for columns, columns_by_stop in zip(self.columns, self.column_index_by_stop, strict=True)
        )

    @cached_property
    def has_changing_symbols(self) -> bool:
        """Return whether a column can differ between display and evaluation, because a symbol expands or is stuck."""
        return any(
            evaluated_column[: len(visible_column)] != visible_column
            for reel_columns in zip(
                self._evaluated_columns_by_stop, self.visible_columns_by_stop, strict=True
            )
            for evaluated_column, visible_column in zip(*reel_columns, strict=True)
        )

    def find_evaluated_columns(self, stops: Sequence[int]) -> tuple[SymbolColumn, ...]:
        """Return the columns used to evaluate wins at these stops, with expanded and stuck symbols in place.

        They may differ from the visible ones (:meth:`find_visible_columns`), and may have more cells.
        """
        return tuple(
            [
                columns_by_stop[stop]
                for columns_by_stop, stop in zip(self._evaluated_columns_by_stop, stops, strict=True)
            ]
        )

    @cached_property
    def _letters_by_column(self) -> list[dict[SymbolColumn, tuple[int, ...]]]:
        """Return, for each reel, a cache of the letters that the pay components read, by column.

        Columns that occur only in a cascade are added when they occur.
        """
        return [dict(zip(*both, strict=True)) for both in zip(self.columns, self.letters, strict=True)]

    def evaluate(self, window: Sequence[SymbolColumn]) -> tuple[int, list[WindowWin]]:
        """Return the credits that a window wins at bet level 1, before the stage's multiplier, and each prize won."""
        component_count = len(self.components)
        letters: list[int] = []
        for x, (column, letters_by_column) in enumerate(zip(window, self._letters_by_column, strict=True)):
            if column not in letters_by_column:
                letters_by_column[column] = tuple(c.find_letter(x, column) for c in self.components)
            letters += letters_by_column[column]
        return self._evaluate_letters(letters, [x * component_count for x in range(len(window))])

    def evaluate_stops(self, stops: Sequence[int]) -> tuple[int, list[WindowWin]]:
        """Return the credits at bet level 1 and the prizes that the window at these stops wins.

        The result equals :meth:`evaluate` of that window, but is faster: the letters are known already.
        """
        letters: list[int] = []
        for reel_letters, column_indexes, stop in zip(
            self.letters, self.column_index_by_stop, stops, strict=True
        ):
            letters += reel_letters[column_indexes[stop]]
        return self._evaluate_letters(letters, self._letter_offsets)

    def iter_winning_stops(self) -> Iterator[tuple[tuple[int, ...], list[WindowWin], int]]:
        """Yield the stops of every window that wins, with its prizes and its number of equally likely cases.

        The reels are read from left to right; stops after which no component can win are not followed
        further.
        """
        yield from self._iter_winning_stops((), [(c, node, 1) for c, node in enumerate(self.start_nodes)], 1)

    def _iter_winning_stops(
        self, stops: tuple[int, ...], live_components: list[tuple[int, int, int]], cases: int
    ) -> Iterator[tuple[tuple[int, ...], list[WindowWin], int]]:
        """Yield the stops, prizes and cases of every winning window that begins with ``stops``.

        ``live_components`` are the components that can still win, each with its node and its ways after these stops.
        """
        graph, x = self.graph, len(stops)
        if x == len(self.strips):
            window_wins = [
                WindowWin(self.components[c], graph.ends[node], ways) for c, node, ways in live_components
            ]
            yield stops, window_wins, cases
            return
        live_after_by_column: list[list[tuple[int, int, int]]] = []
        for letters in self.letters[x]:
            still_live = []
            for c, node, ways in live_components:
                step_index = graph.letter_offsets[node]
                if step_index >= 0:
                    step_index += letters[c]
                    node, ways = graph.next_nodes[step_index], ways * graph.step_factors[step_index]  # noqa: PLW2901 (moves to the next node)
                if ways and (graph.letter_offsets[node] >= 0 or graph.ends[node].prize is not None):
                    still_live.append((c, node, ways))
            live_after_by_column.append(still_live)
        for stop, (column, stop_cases) in enumerate(
            zip(self.column_index_by_stop[x], self.stop_weights[x], strict=True)
        ):
            if stop_cases and live_after_by_column[column]:
                yield from self._iter_winning_stops(
                    (*stops, stop), live_after_by_column[column], cases * stop_cases
                )

    @cached_property
    def _letter_offsets(self) -> list[int]:
        """Return, for each reel, the offset of its letters in a window's flat list for :func:`evaluate_window`."""
        return [x * len(self.components) for x in range(len(self.strips))]

    def _evaluate_letters(self, letters: list[int], offsets: list[int]) -> tuple[int, list[WindowWin]]:
        """Return the credits and prizes of a window, given the letters that the pay components read in it.

        ``offsets[x]`` is the offset in ``letters`` of the column of reel x.
        """
        graph, components = self.graph, self.components
        component_count = len(components)
        ends, weights = [0] * component_count, [1] * component_count
        total = evaluate_window(
            range(component_count),
            self.start_nodes,
            [1] * component_count,
            graph.letter_offsets,
            graph.next_nodes,
            graph.step_factors,
            graph.win_value_by_node,
            letters,
            offsets,
            ends,
            weights,
        )
        graph_ends = graph.ends
        window_wins = [
            WindowWin(components[n], graph_ends[node], weights[n])
            for n, node in enumerate(ends)
            if graph_ends[node].prize is not None and weights[n]
        ]
        return total, window_wins


def list_columns_by_stop(
    strip: Sequence[int],
    height: int,
    expanding_symbols: frozenset[int],
    stuck_symbol_by_row: Mapping[int, int] | None = None,
    *,
    with_unexpanded_cells: bool = False,
) -> list[SymbolColumn]:
    """Return, for each stop of a reel strip, the column in the window, with stuck and expanding symbols in place.

    An expanding symbol fills its reel wherever it shows, stuck or not. With ``with_unexpanded_cells`` a column
    has a second half: the same cells before any expansion.
    """
    columns = []
    for stop in range(len(strip)):
        cells = {row: strip[(stop + row) % len(strip)] for row in range(height)} | dict(
            stuck_symbol_by_row or {}
        )
        column = tuple(cells[row] for row in range(height))
        filling = next((s for s in column if s in expanding_symbols), None)
        columns.append(
            (column if filling is None else (filling,) * height) + (column if with_unexpanded_cells else ())
        )
    return columns
