"""Conversion of a reel stage's prizes to pay components: how lines, ways and scatters read a window.

Each function here returns the components of one prize list; see :mod:`paytables.reels.automaton` for what a
component is. A prize on a line is a *pattern* with one element per cell; "three or more cherries from the
left" is three patterns. Right-to-left, both ways and any-adjacent are the same patterns mirrored and shifted,
so one automaton handles them all and the highest pattern wins.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod

from paytables.reels.automaton import NO_WIN_END, Award, GraphEnd, LinePrize, WinGraph

#: One cell of a pattern: the multiplier of each symbol there, 0 if the symbol does not fit.
SymbolMultipliers = tuple[int, ...]
#: A reel's column as it shows in the window, top to bottom: symbol numbers.
SymbolColumn = tuple[int, ...]
#: The state of a pay line while its reels are read: the best prize already won, and the (pattern, its
#: multipliers so far) that are still possible.
LineState = tuple[GraphEnd, tuple[tuple[int, tuple[int, ...]], ...]]
#: A step of a ways win: from a reel, a state and a letter to the next state or the end, and the factor of its ways.
WaysStep = Callable[[int, str, int], tuple[str | GraphEnd, int]]

#: How the factors of several multipliers are combined, by the name in a definition.
MULTIPLIER_COMBINERS: dict[str, Callable[[tuple[int, ...]], int]] = {
    "multiply": prod,
    "add": lambda factors: max(1, sum(f for f in factors if f > 1)),
    "highest": lambda factors: max(factors, default=1),
}


@dataclass(frozen=True, slots=True)
class WinPattern:
    """A line prize and the symbols that win it, cell by cell; None is a cell where any symbol fits."""

    elements: tuple[SymbolMultipliers | None, ...]
    """The symbols that fit each cell, from the first reel read; None: any symbol."""
    prize: LinePrize
    """The prize that the pattern wins."""
    lines: tuple[int, ...] | None = None
    """The numbers (from 1) of the only lines that can win the prize; None: every line."""

    @property
    def winning_mask(self) -> tuple[bool, ...]:
        """Return, for each cell of the line, whether the pattern needs a symbol there: these cells show the win."""
        return tuple(e is not None for e in self.elements)

    @property
    def deciding_cell_count(self) -> int:
        """Return the number of cells, counted from the first, that decide the pattern; any symbol fits later cells."""
        return max((i + 1 for i, e in enumerate(self.elements) if e is not None), default=0)


@dataclass(frozen=True, slots=True)
class WinComponent:
    """One component of a reel stage (line, ways, scatter, sticky symbol): its start node, and how it reads columns."""

    kind: str
    """``line``, ``ways``, ``scatter`` or ``stick``."""
    number: int
    """The number of the line, or of the ways or scatter pay, from 1; 1 for the sticky symbol."""
    start_node: int
    """The start node of the component's automaton."""
    read_letter: Callable[[int, SymbolColumn], int]
    """The function that returns the letter that the component reads in a column of a reel."""
    cells: tuple[tuple[int, int], ...] = ()
    """The (reel, row) cells of a line; empty for other components."""
    win_symbols: SymbolMultipliers = ()
    """For ways and scatters, the symbols that take part in the win; empty for other components."""
    row_range_by_reel: tuple[tuple[int, int], ...] = ()
    """The rows (first, end) of each reel's column that are read; empty: all rows."""

    def select_evaluated_rows(self, x: int, column: SymbolColumn) -> SymbolColumn:
        """Return the part of reel x's column that this pay component evaluates."""
        return column[slice(*self.row_range_by_reel[x])] if self.row_range_by_reel else column

    def find_letter(self, x: int, column: SymbolColumn) -> int:
        """Return the letter (input of its automaton) that this pay component reads in a column of reel x."""
        return self.read_letter(x, self.select_evaluated_rows(x, column))


def build_symbol_counter(
    symbol_multipliers: SymbolMultipliers, *, once_per_reel: bool
) -> Callable[[SymbolColumn], int]:
    """Return a function that counts the symbols of a column that fit ``symbol_multipliers``.

    ``symbol_multipliers`` has a multiplier for each symbol number, 0 for a symbol that does not fit. The function adds
    up the multipliers of the column's symbols. With ``once_per_reel`` it returns 1 if any symbol fits, else 0.
    """
    if once_per_reel:
        return lambda column: int(any(symbol_multipliers[s] for s in column))
    return lambda column: sum(symbol_multipliers[s] for s in column)


def can_show_pattern(
    pattern: WinPattern, line: Sequence[tuple[int, int]], columns: Sequence[Sequence[SymbolColumn]]
) -> bool:
    """Return whether some window, with one of ``columns`` on each reel, shows the pattern on that line."""
    if len(line) != len(pattern.elements):
        return False
    elements_by_reel: dict[int, list[tuple[int, SymbolMultipliers]]] = {}
    for (reel, row), element in zip(line, pattern.elements, strict=True):
        if element is not None:
            elements_by_reel.setdefault(reel, []).append((row, element))
    return all(
        any(all(element[column[row]] for row, element in cells) for column in columns[reel])
        for reel, cells in elements_by_reel.items()
    )


def list_placements(symbol_count: int, cell_count: int, direction: str) -> list[tuple[int, ...]]:
    """Return the sets of cells on which equal symbols win, on a line of ``cell_count`` read in ``direction``."""
    if direction == "anywhere":
        return list(itertools.combinations(range(cell_count), symbol_count))
    first_cells = {
        "left": [0],
        "right": [cell_count - symbol_count],
        "both": sorted({0, cell_count - symbol_count}),
        "adjacent": list(range(cell_count - symbol_count + 1)),
    }[direction]
    return [tuple(range(first_cell, first_cell + symbol_count)) for first_cell in first_cells]


def build_line_components(
    graph: WinGraph,
    lines: Sequence[tuple[tuple[int, int], ...]],
    patterns: Sequence[WinPattern],
    columns: Sequence[Sequence[SymbolColumn]],
    multiplier_combiner: str,
) -> list[WinComponent]:
    """Return one pay component per line: the highest of ``patterns`` on the line's cells wins.

    A line may take any number of cells of a reel (or none), provided that it visits the reels from left to
    right. ``multiplier_combiner`` says how the multipliers of several wilds in one win are combined.
    """
    line_indexes_by_group: dict[tuple[tuple[int, ...], tuple[int, ...]], list[int]] = {}
    for line_index, line in enumerate(lines):
        cell_count_by_reel = tuple(sum(1 for reel, _ in line if reel == x) for x in range(len(columns)))
        fitting_patterns = tuple(
            pattern_index
            for pattern_index, p in enumerate(patterns)
            if len(p.elements) == len(line) and (p.lines is None or line_index + 1 in p.lines)
        )
        line_indexes_by_group.setdefault((cell_count_by_reel, fitting_patterns), []).append(line_index)
    component_by_line: dict[int, WinComponent] = {}
    for (cell_count_by_reel, fitting_patterns), line_indexes in line_indexes_by_group.items():
        alphabet = _build_alphabet(
            cell_count_by_reel, [lines[line_index] for line_index in line_indexes], columns
        )
        start_node = _build_line_automaton(
            graph,
            cell_count_by_reel,
            alphabet,
            [patterns[pattern_index] for pattern_index in fitting_patterns],
            multiplier_combiner,
        )
        letter_numbers_by_reel = [
            {letter: letter_number for letter_number, letter in enumerate(letters)} for letters in alphabet
        ]
        for line_index in line_indexes:
            component_by_line[line_index] = WinComponent(
                "line",
                line_index + 1,
                start_node,
                _build_line_letter_finder(lines[line_index], letter_numbers_by_reel),
                cells=tuple(lines[line_index]),
            )
    return [component_by_line[line_index] for line_index in range(len(lines))]


def _build_alphabet(
    cell_count_by_reel: tuple[int, ...],
    lines: Sequence[tuple[tuple[int, int], ...]],
    columns: Sequence[Sequence[SymbolColumn]],
) -> list[list[tuple[int, ...]]]:
    """Return, for each reel, the different symbols that any of these lines can show on its cells there, sorted.

    ``cell_count_by_reel`` is the number of cells of each reel that the lines take.
    """
    letters: list[set[tuple[int, ...]]] = [set() for _ in cell_count_by_reel]
    for line in lines:
        for x in range(len(cell_count_by_reel)):
            rows = [row for reel, row in line if reel == x]
            letters[x].update(tuple(column[row] for row in rows) for column in columns[x])
    return [sorted(reel_letters) for reel_letters in letters]


def _build_line_letter_finder(
    line: tuple[tuple[int, int], ...], letter_numbers_by_reel: list[dict[tuple[int, ...], int]]
) -> Callable[[int, SymbolColumn], int]:
    """Return the function that finds what a line reads on a reel, as a number (its letter).

    ``letter_numbers_by_reel[x]`` has the letter of each combination of symbols that a line may show on its cells of
    reel x.
    """
    rows = [[row for reel, row in line if reel == x] for x in range(len(letter_numbers_by_reel))]

    def find_letter(x: int, column: SymbolColumn) -> int:
        """Return the letter of the symbol that the line reads on reel ``x``."""
        return letter_numbers_by_reel[x][tuple(column[row] for row in rows[x])]

    return find_letter


def _build_line_automaton(
    graph: WinGraph,
    cell_count_by_reel: tuple[int, ...],
    alphabet: list[list[tuple[int, ...]]],
    patterns: list[WinPattern],
    multiplier_combiner: str,
) -> int:
    """Add the automaton that finds the best prize of a line, and return its start node.

    It determinises the patterns: a state is the best prize already won, and the patterns still possible.
    """
    combine_multipliers = MULTIPLIER_COMBINERS[multiplier_combiner]
    first_cell_by_reel = list(itertools.accumulate(cell_count_by_reel, initial=0))
    largest_multiplier = max((m for p in patterns for e in p.elements if e is not None for m in e), default=1)
    deciding_cell_counts = [pattern.deciding_cell_count for pattern in patterns]

    @cache
    def build_ranked_end(index: int, multiplier: int) -> tuple[tuple[bool, int, int], GraphEnd]:
        """Return a line pattern's win with this multiplier, preceded by its rank among the wins of the line."""
        end = GraphEnd(patterns[index].prize, multiplier, patterns[index].winning_mask)
        return end.rank, end

    def advance(x: int, state: LineState, letter: int) -> tuple[LineState | GraphEnd, int]:
        """Return a line's next state, or its end, after reel ``x`` shows these symbols; the factor is always 1."""
        best_end, live_patterns = state
        rank = best_end.rank
        live_after: list[tuple[int, tuple[int, ...]]] = []
        for index, factors in live_patterns:
            grown_factors = _multiply_factors(
                patterns[index], first_cell_by_reel[x], alphabet[x][letter], factors
            )
            if grown_factors is None:
                continue
            if deciding_cell_counts[index] > first_cell_by_reel[x + 1]:
                live_after.append((index, grown_factors))
                continue
            rank_won, end = build_ranked_end(index, combine_multipliers(grown_factors))
            if rank_won > rank:
                rank, best_end = rank_won, end
        # Without multipliers a pattern that cannot beat the prize already won is dropped.
        if largest_multiplier == 1:
            live_after = [
                live_pattern for live_pattern in live_after if build_ranked_end(live_pattern[0], 1)[0] > rank
            ]
        return ((best_end, tuple(live_after)) if live_after else best_end), 1

    start_state: LineState = (NO_WIN_END, tuple((i, ()) for i in range(len(patterns))))
    return graph.add_automaton(start_state, advance, [len(a) for a in alphabet], lambda state: state[0])


def _multiply_factors(
    pattern: WinPattern, first_cell: int, symbols: tuple[int, ...], factors: tuple[int, ...]
) -> tuple[int, ...] | None:
    """Return the sorted multipliers of a win so far (``factors``) and of ``symbols``; None if one does not fit.

    ``first_cell`` is the cell of the line on which the first of the symbols shows.
    """
    grown_factors = list(factors)
    for offset, symbol in enumerate(symbols):
        element = pattern.elements[first_cell + offset]
        if element is None:
            continue
        if element[symbol] == 0:
            return None
        if element[symbol] > 1:
            grown_factors.append(element[symbol])
    return tuple(sorted(grown_factors))


def build_ways_components(
    graph: WinGraph,
    component_number: int,
    symbol_multipliers: SymbolMultipliers,
    prize_by_count: dict[int, LinePrize],
    columns: Sequence[Sequence[SymbolColumn]],
    direction: str,
    *,
    once_per_reel: bool = False,
) -> list[WinComponent]:
    """Return the pay components of one symbol paid by ways: adjacent reels that show it.

    The prize is multiplied by the number of times each of these reels shows it (not with ``once_per_reel``); a cell
    with a multiplier counts that many times. From the left, one component reads the win to its end; from the
    right there is one component per count, because the start of the win is only known at its first reel.
    """
    reel_count = len(columns)
    count_max = max(prize_by_count)
    count_shown = build_symbol_counter(symbol_multipliers, once_per_reel=once_per_reel)
    shown_max_by_reel = [max(count_shown(column) for column in reel) for reel in columns]

    def count_in_column(_x: int, column: SymbolColumn) -> int:
        """Return the number of times that the column shows a symbol of the prize."""
        return count_shown(column)

    def mark_first_reels(count: int) -> tuple[bool, ...]:
        """Return one flag per reel: True for the first ``count`` reels, on which the win shows."""
        return tuple(x < count for x in range(reel_count))

    def step_from_left(x: int, _state: str, shown_count: int) -> tuple[str | GraphEnd, int]:
        """Return the next state of a win from the left after reel ``x``, and the factor of its number of ways.

        The result is the end if no later reel matters. Reel ``x`` shows the symbol ``shown_count`` times.
        """
        if not shown_count:
            return (_find_end_for_count(prize_by_count, x, mark_first_reels(x)), 1)
        return (
            GraphEnd(prize_by_count[count_max], winning_mask=mark_first_reels(count_max))
            if x + 1 == count_max
            else "run",
            shown_count,
        )

    def build_step_from_right(count: int) -> WaysStep:
        """Return the step function that recognises a ways win on ``count`` reels from the right.

        A win of more reels is only recognised with the highest count.
        """

        def step_from_right(x: int, _state: str, shown_count: int) -> tuple[str | GraphEnd, int]:
            """Return the next state (or the end) of a win from the right, and the factor of its number of ways."""
            is_winning_reel = x >= reel_count - count
            is_blocked = x == reel_count - count - 1 and shown_count and count < count_max
            if (is_winning_reel and not shown_count) or is_blocked:
                return (NO_WIN_END, 1)
            return ("run", shown_count if is_winning_reel else 1)

        return step_from_right

    letter_counts = [shown_max + 1 for shown_max in shown_max_by_reel]
    steps_and_ends: list[tuple[WaysStep, GraphEnd]] = []
    if direction in {"left", "both"}:
        steps_and_ends.append(
            (step_from_left, _find_end_for_count(prize_by_count, reel_count, mark_first_reels(reel_count)))
        )
    if direction in {"right", "both"}:
        # In both directions, a win on every reel is already found from the left.
        counts = [c for c in prize_by_count if direction == "right" or c < reel_count]
        steps_and_ends.extend(
            (build_step_from_right(c), GraphEnd(prize_by_count[c], winning_mask=mark_first_reels(c)[::-1]))
            for c in counts
        )
    return [
        WinComponent(
            "ways",
            component_number,
            graph.add_automaton("run", step, letter_counts, _build_constant_finish(end)),
            count_in_column,
            win_symbols=symbol_multipliers,
        )
        for step, end in steps_and_ends
    ]


def build_scatter_component(
    graph: WinGraph,
    component_number: int,
    symbol_multipliers: SymbolMultipliers,
    prize_by_count: dict[int, LinePrize],
    columns: Sequence[Sequence[SymbolColumn]],
    *,
    once_per_reel: bool = False,
) -> WinComponent:
    """Return the pay component that counts a scatter anywhere in the window; the largest count reached is paid.

    With ``once_per_reel`` it counts the reels that show it.
    """
    fitting_symbols = tuple(min(m, 1) for m in symbol_multipliers)
    count_shown = build_symbol_counter(fitting_symbols, once_per_reel=once_per_reel)
    count_max = max(prize_by_count)
    all_reels_mask = (True,) * len(columns)

    def count_in_column(_x: int, column: SymbolColumn) -> int:
        """Return the number of scatters that the column shows."""
        return count_shown(column)

    def add_shown(_x: int, count: int, shown_count: int) -> tuple[int | GraphEnd, int]:
        """Return the scatters on the reels up to this one, at most the highest count that pays, and the factor 1."""
        return (min(count + shown_count, count_max), 1)

    letter_counts = [max(count_shown(column) for column in reel) + 1 for reel in columns]
    start_node = graph.add_automaton(
        0, add_shown, letter_counts, lambda count: _find_end_for_count(prize_by_count, count, all_reels_mask)
    )
    return WinComponent("scatter", component_number, start_node, count_in_column, win_symbols=fitting_symbols)


def build_stick_component(
    graph: WinGraph,
    symbol: int,
    columns: Sequence[Sequence[SymbolColumn]],
    list_mask_awards: Callable[[int], tuple[Award, ...]],
) -> WinComponent:
    """Return the component that records on which cells a sticky symbol shows: one mask bit per cell number.

    ``list_mask_awards(mask)`` returns the awards of that mask; cells are numbered reel by reel, top to bottom.
    """
    heights = [len(reel[0]) for reel in columns]
    first_bit_by_reel = [sum(heights[:x]) for x in range(len(heights))]

    def mask_column(_x: int, column: SymbolColumn) -> int:
        """Return the rows of the column that show the sticky symbol, as bits."""
        return sum(1 << row for row, s in enumerate(column) if s == symbol)

    def add_to_mask(x: int, mask: int, rows: int) -> tuple[int | GraphEnd, int]:
        """Return the mask of stuck cells with the rows of reel ``x`` that show the sticky symbol added."""
        return (mask | rows << first_bit_by_reel[x], 1)

    def build_mask_end(mask: int) -> GraphEnd:
        """Return the result for this mask of stuck cells: its awards, or :data:`NO_WIN_END` without any."""
        awards = list_mask_awards(mask)
        return GraphEnd(LinePrize("", 0, awards)) if awards else NO_WIN_END

    letter_counts = [max(mask_column(x, column) for column in reel) + 1 for x, reel in enumerate(columns)]
    return WinComponent(
        "stick", 1, graph.add_automaton(0, add_to_mask, letter_counts, build_mask_end), mask_column
    )


def _find_end_for_count(
    prize_by_count: dict[int, LinePrize], symbol_count: int, winning_mask: tuple[bool, ...]
) -> GraphEnd:
    """Return the win of the prize with the highest count up to ``symbol_count``, or :data:`NO_WIN_END`."""
    reached_counts = [c for c in prize_by_count if c <= symbol_count]
    return (
        GraphEnd(prize_by_count[max(reached_counts)], winning_mask=winning_mask)
        if reached_counts
        else NO_WIN_END
    )


def _build_constant_finish(end: GraphEnd) -> Callable[[str], GraphEnd]:
    """Return a function that turns every state after the last reel into ``end``."""
    return lambda _state: end
