"""Building of one reel stage from its table: strips, prizes, components, and checks that need the whole stage."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import comb
from typing import Any

from paytables.errors import DefinitionError
from paytables.reels import components
from paytables.reels.automaton import NO_WIN_END, Award, LinePrize, WinGraph
from paytables.reels.prize_checks import PrizeChecker
from paytables.reels.schema import AwardDefinition, BetMode, PayTableRow, ReelsStage
from paytables.reels.stage import ReelSet, list_columns_by_stop
from paytables.reels.symbols import ANY_SYMBOL, Symbols
from paytables.wording import format_count


def build_awards(
    award_definitions: Sequence[AwardDefinition], mode: BetMode, symbol_count: int | None
) -> tuple[Award, ...]:
    """Return the awards that a prize gives in ``mode`` if ``symbol_count`` of its symbols win.

    ``symbol_count`` is None for prizes that are not won by a count.
    """
    awards = []
    for award in award_definitions:
        if award.mode_ids is not None and mode.id not in award.mode_ids:
            continue
        if award.required_count is not None and award.required_count != symbol_count:
            continue
        if award.stage_id is not None:
            run_count = _find_value_of_count(award.run_count, symbol_count)
            if run_count:
                awards.append(
                    Award(
                        "stage",
                        award.stage_id,
                        run_count,
                        _find_value_of_count(award.start_condition, symbol_count),
                    )
                )
        elif award.level_id is not None:
            awards.append(Award("progressive", award.level_id))
        elif award.merchandise_id is not None:
            awards.append(Award("merchandise", award.merchandise_id))
        else:
            awards.append(Award("step", "", award.multiplier_steps or 1))
    return tuple(awards)


def _find_value_of_count(value_or_values: int | Mapping[int, int], symbol_count: int | None) -> int:
    """Return a plain number unchanged; from a mapping by count, return the value of the highest count reached, or 0."""
    if isinstance(value_or_values, int):
        return value_or_values
    reached_counts = [c for c in value_or_values if symbol_count is not None and c <= symbol_count]
    return value_or_values[max(reached_counts)] if reached_counts else 0


def _list_column_parts(
    columns: Sequence[components.SymbolColumn], first_row: int, end_row: int
) -> list[components.SymbolColumn]:
    """Return the distinct parts of a reel's columns: rows ``first_row`` to ``end_row`` - 1 of each column."""
    return list(dict.fromkeys(column[first_row:end_row] for column in columns))


@dataclass(frozen=True, slots=True)
class ReelBuilder:
    """Builder of one reel stage for one mode; ``stuck_mask`` has a bit for each stuck cell.

    Whether a prize can be won is checked without stuck cells: cells that stick later may hide a prize, which
    can then no longer be won.
    """

    name: str
    """The id of the stage."""
    stage_definition: ReelsStage
    """The definition of the stage."""
    mode: BetMode
    """The way to bet for which the stage is built."""
    symbols: Symbols
    stuck_mask: int
    """The stuck cells as bits, reel by reel from the top row down; 0: none. It is the stage's start condition."""
    file: str
    omitted_prizes: list[str] = field(default_factory=list)
    """Names of prizes inherited from another stage that this stage cannot win and therefore omits."""

    @property
    def stage_key(self) -> str:
        """Return the key of the stage in the definition."""
        return f"stage.{self.name}"

    def build_error(self, definition_key: str, reason: str) -> DefinitionError:
        """Return the error for a key of the definition; the caller raises it."""
        return DefinitionError(self.file, definition_key, reason)

    def build_reels(self) -> ReelSet:
        """Build the reels that the stage's definition describes. Raises :class:`DefinitionError`."""
        strips = self._build_strips()
        weights = self._build_weights(strips)
        expanding_symbols = frozenset(
            self.symbols.find_number(s, f"{self.stage_key}.expand")
            for s in self.stage_definition.expanding_symbols
        )
        stuck_by_reel = self._find_stuck_cells()
        stop_columns = [
            list_columns_by_stop(
                strip,
                height,
                expanding_symbols,
                stuck_symbol_by_row,
                with_unexpanded_cells=self._are_scatters_counted_first,
            )
            for strip, height, stuck_symbol_by_row in zip(
                strips, self.stage_definition.heights, stuck_by_reel, strict=True
            )
        ]
        columns = tuple(
            tuple(
                sorted({column for column, weight in zip(shown_columns, reel_weights, strict=True) if weight})
            )
            for shown_columns, reel_weights in zip(stop_columns, weights, strict=True)
        )
        column_index_by_stop = tuple(
            tuple(
                reel_columns.index(column) if weight else 0
                for column, weight in zip(shown_columns, reel_weights, strict=True)
            )
            for reel_columns, shown_columns, reel_weights in zip(columns, stop_columns, weights, strict=True)
        )
        graph = WinGraph()
        graph.find_final_node(NO_WIN_END)
        pay_components = tuple(self._build_components(graph, self._list_possible_columns(strips, columns)))
        return ReelSet(
            name=self.name,
            heights=self.stage_definition.heights,
            strips=strips,
            stop_weights=weights,
            multiplier=self.stage_definition.multiplier,
            columns=columns,
            column_index_by_stop=column_index_by_stop,
            components=pay_components,
            graph=graph,
            pay_table_prizes=tuple(
                (name, credits_)
                for name, credits_ in self._list_promised_prizes()
                if name not in self.omitted_prizes
            ),
            omitted_prizes=tuple(dict.fromkeys(self.omitted_prizes)),
        )

    @property
    def _are_scatters_counted_first(self) -> bool:
        """Return whether scatters are counted as the reels stop: before expanding symbols fill their reels."""
        has_scatters = any(pay_row.kind == "scatter" for pay_row in self.stage_definition.pay_rows)
        return (
            bool(self.stage_definition.expanding_symbols)
            and has_scatters
            and self.stage_definition.scatter_count_time == "before"
        )

    def _list_promised_prizes(self) -> tuple[tuple[str, int], ...]:
        """Return every prize that the pay table states for this way to bet, even if no window wins it."""
        promised_prizes = []
        played_line_count = len(self._list_played_lines())
        for pay_row_index, pay_row in enumerate(self.stage_definition.pay_rows):
            if pay_row.line_numbers is not None and min(pay_row.line_numbers) > played_line_count:
                continue
            row_key = f"{self.stage_key}.pay.{pay_row_index}"
            prizes = (
                [self._build_pattern_prize(row_key, pay_row)]
                if pay_row.pattern
                else self._build_prizes(row_key, pay_row).values()
            )
            promised_prizes += [(p.name, p.credits) for p in prizes if p.credits or p.awards]
        return tuple(dict.fromkeys(promised_prizes))

    def _list_possible_columns(
        self, strips: Sequence[Sequence[int]], columns: Sequence[Sequence[components.SymbolColumn]]
    ) -> Sequence[Sequence[components.SymbolColumn]]:
        """Return, for each reel, the columns that it can show.

        With cascades these include, for each symbol of the reel, a column of nothing but that symbol.
        """
        if not self.stage_definition.window_multipliers:
            return columns
        if any(len({x for x, _ in line}) != len(line) for line in self._list_played_lines()):
            raise self.build_error(
                f"{self.stage_key}.lines",
                "a line of a stage with `cascade` must have at most one cell of each reel",
            )
        return [
            [*reel_columns, *((s,) * height for s in sorted(set(strip)))]
            for reel_columns, strip, height in zip(
                columns, strips, self.stage_definition.heights, strict=True
            )
        ]

    def _find_stuck_cells(self) -> list[dict[int, int]]:
        """Return, for each reel, the sticky symbol of each stuck cell, by window row."""
        symbol = (
            0
            if self.stage_definition.sticky_symbol is None
            else self.symbols.find_number(self.stage_definition.sticky_symbol, f"{self.stage_key}.sticky")
        )
        stuck_cells: list[dict[int, int]] = []
        cell = 0
        for height in self.stage_definition.heights:
            stuck_cells.append({row: symbol for row in range(height) if self.stuck_mask >> (cell + row) & 1})
            cell += height
        return stuck_cells

    def _build_strips(self) -> tuple[tuple[int, ...], ...]:
        """Return the reel strips with each symbol as its number. Raises :class:`DefinitionError`."""
        if len(self.stage_definition.strips) != len(self.stage_definition.heights):
            raise self.build_error(
                f"{self.stage_key}.strips",
                f"has {format_count(len(self.stage_definition.strips), 'strip')} for "
                f"{format_count(len(self.stage_definition.heights), 'reel')}",
            )
        strips = []
        for x, (strip, height) in enumerate(
            zip(self.stage_definition.strips, self.stage_definition.heights, strict=True)
        ):
            key = f"{self.stage_key}.strips.{x}"
            if len(strip) < height:
                raise self.build_error(
                    key,
                    f"a strip of {format_count(len(strip), 'stop')} is shorter than its window of {height}",
                )
            strips.append(tuple(self.symbols.find_number(s, key) for s in strip))
        return tuple(strips)

    def _build_weights(self, strips: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
        """Return, for each reel, the weight of each stop in the window's top row.

        Weights that the definition gives for another row are converted.
        """
        if self.stage_definition.stop_weights is None:
            if self.stage_definition.weighted_row is not None:
                raise self.build_error(f"{self.stage_key}.weights_row", "is only valid with `weights`")
            return tuple((1,) * len(s) for s in strips)
        key = f"{self.stage_key}.weights"
        if len(self.stage_definition.stop_weights) != len(strips):
            raise self.build_error(
                key,
                f"has {format_count(len(self.stage_definition.stop_weights), 'list')} "
                f"for {format_count(len(strips), 'reel')}",
            )
        for x, (reel_weights, strip) in enumerate(
            zip(self.stage_definition.stop_weights, strips, strict=True)
        ):
            if len(reel_weights) != len(strip):
                raise self.build_error(
                    f"{key}.{x}",
                    f"reel {x + 1} has {format_count(len(reel_weights), 'weight')}"
                    f" for a strip of {len(strip)}: one a stop",
                )
            if not any(reel_weights):
                raise self.build_error(
                    f"{key}.{x}", "every stop has weight zero; expected at least one above 0"
                )
        rows = self._find_weights_rows()
        return tuple(
            reel_weights[row:] + reel_weights[:row]
            for reel_weights, row in zip(self.stage_definition.stop_weights, rows, strict=True)
        )

    def _find_weights_rows(self) -> tuple[int, ...]:
        """Return, for each reel, the row of the window to which its stop weights refer.

        By default it is the row that the stage's only line reads, or row 0 if there is no such line.
        """
        heights, row = self.stage_definition.heights, self.stage_definition.weighted_row
        if row is not None:
            if row >= min(heights):
                raise self.build_error(
                    f"{self.stage_key}.weights_row", f"the windows have no row {row}: 0 is the top"
                )
            return (row,) * len(heights)
        return self.find_rows_of_only_line() or (0,) * len(heights)

    def find_rows_of_only_line(self) -> tuple[int, ...] | None:
        """Return, for each reel, the row that the stage's only line reads, or None if there is no such line."""
        lines = self.list_defined_lines()
        if len(lines) == 1 and [reel for reel, _ in lines[0]] == list(
            range(len(self.stage_definition.heights))
        ):
            return tuple(row for _, row in lines[0])
        return None

    def _build_components(
        self, graph: WinGraph, columns: Sequence[Sequence[components.SymbolColumn]]
    ) -> list[components.WinComponent]:
        """Build the pay components of every row of the pay table, adding their automata to ``graph``."""
        lines = self._list_played_lines()
        heights = self.stage_definition.heights
        evaluated_columns = [
            _list_column_parts(reel_columns, 0, height)
            for reel_columns, height in zip(columns, heights, strict=True)
        ]
        columns_before_expansion = [
            _list_column_parts(reel_columns, height, 2 * height)
            for reel_columns, height in zip(columns, heights, strict=True)
        ]
        checker = PrizeChecker(self)
        patterns_by_group: dict[str, list[components.WinPattern]] = {}
        pay_components: list[components.WinComponent] = []
        count_by_kind = {"ways": 0, "scatter": 0}
        for pay_row_index, pay_row in enumerate(self.stage_definition.pay_rows):
            row_key = f"{self.stage_key}.pay.{pay_row_index}"
            if pay_row.kind == "line":
                if not lines:
                    raise self.build_error(row_key, "is a line prize, but the stage has no lines")
                patterns = self._build_patterns(row_key, pay_row, {len(line) for line in lines})
                if not self.stuck_mask:
                    patterns = checker.select_line_patterns(row_key, pay_row, patterns, evaluated_columns)
                patterns_by_group.setdefault(pay_row.prize_group, []).extend(patterns)
                continue
            symbol_multipliers = self.find_symbol_multipliers(row_key, str(pay_row.symbol_or_group))
            prizes = self._build_prizes(row_key, pay_row)
            count_by_kind[pay_row.kind] += 1
            counted_columns = (
                columns_before_expansion
                if pay_row.kind == "scatter" and self._are_scatters_counted_first
                else evaluated_columns
            )
            if not self.stuck_mask:
                check = (
                    checker.select_scatter_prizes if pay_row.kind == "scatter" else checker.select_ways_prizes
                )
                prizes = check(row_key, pay_row, symbol_multipliers, prizes, counted_columns)
                if not prizes:
                    continue
            if pay_row.kind == "scatter":
                row_components = [
                    components.build_scatter_component(
                        graph,
                        count_by_kind["scatter"],
                        symbol_multipliers,
                        prizes,
                        counted_columns,
                        once_per_reel=pay_row.counts_reel_once,
                    )
                ]
            else:
                row_components = components.build_ways_components(
                    graph,
                    count_by_kind["ways"],
                    symbol_multipliers,
                    prizes,
                    counted_columns,
                    pay_row.direction,
                    once_per_reel=pay_row.counts_reel_once,
                )
            pay_components += [
                replace(component, row_range_by_reel=self._find_row_ranges_read(component.kind))
                for component in row_components
            ]
        if not self.stage_definition.allows_overlapping_ways and not self.stuck_mask:
            self._check_overlap(pay_components, evaluated_columns)
        line_components = [
            component
            for patterns in patterns_by_group.values()
            for component in components.build_line_components(
                graph, lines, patterns, evaluated_columns, self.stage_definition.wild_multipliers
            )
        ]
        if self.stage_definition.sticky_symbol is not None:
            pay_components.append(
                replace(
                    self._build_stick_component(graph, evaluated_columns),
                    row_range_by_reel=self._find_row_ranges_read("stick"),
                )
            )
        return [*line_components, *pay_components]

    # ------------------------------------------------------------------ for explanations of a game
    def build_line_patterns(
        self,
    ) -> tuple[list[tuple[tuple[int, int], ...]], dict[str, list[components.WinPattern]]]:
        """Return the lines that the mode plays, and the patterns that win on them, by prize group."""
        lines = self._list_played_lines()
        patterns_by_group: dict[str, list[components.WinPattern]] = {}
        for n, pay_row in enumerate(self.stage_definition.pay_rows):
            if pay_row.kind == "line" and lines:
                patterns = self._build_patterns(
                    f"{self.stage_key}.pay.{n}", pay_row, {len(line) for line in lines}
                )
                patterns_by_group.setdefault(pay_row.prize_group, []).extend(patterns)
        return lines, patterns_by_group

    def build_count_prizes(self, pay_row_index: int, pay_row: PayTableRow) -> dict[int, LinePrize]:
        """Return the prizes of the pay-table row with this index, which counts a symbol, by that count."""
        return self._build_prizes(f"{self.stage_key}.pay.{pay_row_index}", pay_row)

    def _find_row_ranges_read(self, component_kind: str) -> tuple[tuple[int, int], ...]:
        """Return, for each reel, the rows (first, end) that a pay component of this kind reads; empty for all rows.

        Only columns that contain the window twice (before and after symbols expand) are read in part.
        """
        if not self._are_scatters_counted_first:
            return ()
        return tuple(
            (height, 2 * height) if component_kind == "scatter" else (0, height)
            for height in self.stage_definition.heights
        )

    def _build_stick_component(
        self, graph: WinGraph, columns: Sequence[Sequence[components.SymbolColumn]]
    ) -> components.WinComponent:
        """Build the component that records on which cells the sticky symbol shows, and the awards it gives."""
        symbol = self.symbols.find_number(
            str(self.stage_definition.sticky_symbol), f"{self.stage_key}.sticky"
        )
        following_stage = self.stage_definition.stage_after_stick
        keeps_symbols = following_stage in {None, self.name}

        def list_mask_awards(mask: int) -> tuple[Award, ...]:
            """Return the awards if the sticky symbol shows on the cells of ``mask``; none if no new cell sticks."""
            if mask == self.stuck_mask:
                return ()
            stick_awards = (Award("stick", "", 1, mask),) if keeps_symbols else ()
            return (
                stick_awards
                if following_stage is None
                else (*stick_awards, Award("stage", following_stage, 1, mask))
            )

        return components.build_stick_component(graph, symbol, columns, list_mask_awards)

    def find_symbol_multipliers(
        self, definition_key: str, symbol_or_group: str
    ) -> components.SymbolMultipliers:
        """Return the multiplier of each symbol that fits ``symbol_or_group`` (0: does not fit).

        ``"*"`` is refused.
        """
        element = self.symbols.find_symbol_multipliers(
            symbol_or_group, f"{definition_key}.of", multiply_own=self.stage_definition.multiplies_own_pays
        )
        if element is None:
            raise self.build_error(
                f"{definition_key}.of",
                f"{ANY_SYMBOL!r} stands for every symbol, so there is nothing to count",
            )
        return element

    def list_defined_lines(self) -> list[tuple[tuple[int, int], ...]]:
        """Return the pay lines that the definition lists for the stage, each as (reel, row) cells.

        Raises :class:`DefinitionError` for a line outside the window, from right to left, or listed twice.
        """
        lines = []
        for n, line in enumerate(self.stage_definition.lines):
            cells: list[tuple[int, int]] = []
            for i, cell in enumerate(line):
                cells.append(cell if isinstance(cell, tuple) else (i, cell))
            for reel, row in cells:
                if reel >= len(self.stage_definition.heights) or row >= self.stage_definition.heights[reel]:
                    raise self.build_error(
                        f"{self.stage_key}.lines.{n}", f"reel {reel} row {row} is outside the window"
                    )
            if [reel for reel, _ in cells] != sorted(reel for reel, _ in cells):
                raise self.build_error(
                    f"{self.stage_key}.lines.{n}", "does not visit the reels from left to right"
                )
            lines.append(tuple(cells))
        if len(set(lines)) != len(lines) and not self.stage_definition.allows_repeated_lines:
            repeated_index = next(n for n, line in enumerate(lines) if line in lines[:n])
            raise self.build_error(
                f"{self.stage_key}.lines.{repeated_index}",
                f"the same line is defined twice: it is line {lines.index(lines[repeated_index]) + 1} again"
                " (say repeat_lines = true if that is meant)",
            )
        return lines

    def _list_played_lines(self) -> list[tuple[tuple[int, int], ...]]:
        """Return the pay lines that this mode plays. Raises :class:`DefinitionError` if the stage has too few."""
        lines = self.list_defined_lines()
        if (
            self.mode.line_count is not None
            and self.stage_definition.lines
            and self.mode.line_count > len(lines)
        ):
            raise self.build_error(
                f"bets.mode.{self.mode.id}.lines",
                f"is {format_count(self.mode.line_count, 'line')}, but {self.stage_key} has only {len(lines)}",
            )
        return lines[: self.mode.line_count]

    def _compute_credits(self, definition_key: str, pay_row: PayTableRow, stated_pay: Any) -> int:
        """Return a prize's credits at bet level 1: its value in the mode's pay column, per credit or per total bet."""
        if isinstance(stated_pay, tuple):
            if self.mode.pay_column >= len(stated_pay):
                raise self.build_error(
                    definition_key, f"has no column {self.mode.pay_column}, which bet {self.mode.id!r} uses"
                )
            stated_pay = stated_pay[self.mode.pay_column]
        unit = pay_row.pay_unit or ("bet" if pay_row.kind == "scatter" else "line")
        return int(stated_pay) * (self.mode.cost_credits if unit == "bet" else 1)

    def _build_awards(self, pay_row: PayTableRow, symbol_count: int | None) -> tuple[Award, ...]:
        """Return the awards that a row of the pay table gives in this mode if ``symbol_count`` of its symbols win."""
        return build_awards(pay_row.awards, self.mode, symbol_count)

    def _build_prizes(self, definition_key: str, pay_row: PayTableRow) -> dict[int, LinePrize]:
        """Return the prizes of a row of the pay table, by count of the symbol."""
        label = pay_row.id or pay_row.symbol_or_group
        prizes = {}
        for count, value in sorted(pay_row.pay_by_count.items()):
            credits_ = self._compute_credits(f"{definition_key}.pays.{count}", pay_row, value)
            prizes[count] = LinePrize(f"{count} {label}", credits_, self._build_awards(pay_row, count))
        return prizes

    def _build_pattern_prize(self, definition_key: str, pay_row: PayTableRow) -> LinePrize:
        """Return the prize of a row of the pay table that states a pattern: its name, credits and awards."""
        name = pay_row.id or " ".join(pay_row.pattern or ())
        return LinePrize(
            name,
            self._compute_credits(definition_key, pay_row, pay_row.pattern_pay or 0),
            self._build_awards(pay_row, None),
        )

    def _build_patterns(
        self, definition_key: str, pay_row: PayTableRow, pattern_lengths: set[int]
    ) -> list[components.WinPattern]:
        """Return the line patterns of a pay-table row.

        If the row excludes wins made of substitutes only, patterns for these are left out.
        """
        patterns = self._build_every_pattern(definition_key, pay_row, pattern_lengths)
        if pay_row.needs_own_symbol or (
            pay_row.needs_own_symbol is None and self.stage_definition.wilds_alone == "own"
        ):
            return [
                own_pattern
                for pattern in patterns
                for own_pattern in self.list_patterns_with_own_symbol(definition_key, pay_row, pattern)
            ]
        return patterns

    def _build_every_pattern(
        self, definition_key: str, pay_row: PayTableRow, pattern_lengths: set[int]
    ) -> list[components.WinPattern]:
        """Return the line patterns of a pay-table row: one per count and placement, or the one that it states."""
        if pay_row.pattern is not None:
            if len(pay_row.pattern) not in pattern_lengths:
                raise self.build_error(
                    f"{definition_key}.pattern", f"no line has {format_count(len(pay_row.pattern), 'cell')}"
                )
            elements = tuple(
                self.symbols.find_symbol_multipliers(
                    e, f"{definition_key}.pattern", multiply_own=self.stage_definition.multiplies_own_pays
                )
                for e in pay_row.pattern
            )
            return [
                components.WinPattern(
                    elements, self._build_pattern_prize(definition_key, pay_row), pay_row.line_numbers
                )
            ]
        element = self.find_symbol_multipliers(definition_key, str(pay_row.symbol_or_group))
        patterns = []
        for count, prize in self._build_prizes(definition_key, pay_row).items():
            if count > max(pattern_lengths):
                raise self.build_error(
                    f"{definition_key}.pays.{count}", f"no line has {format_count(count, 'cell')}"
                )
            for cell_count in sorted(pattern_lengths):
                if count > cell_count:
                    continue
                if pay_row.direction == "anywhere" and comb(cell_count, count) > 1000:
                    raise self.build_error(
                        f"{definition_key}.direction",
                        f"a count of {count} anywhere on {cell_count} cells makes too many patterns (more than 1000)",
                    )
                for placement in components.list_placements(count, cell_count, pay_row.direction):
                    elements = tuple(element if i in placement else None for i in range(cell_count))
                    patterns.append(components.WinPattern(elements, prize, pay_row.line_numbers))
        return patterns

    def list_patterns_with_own_symbol(
        self, definition_key: str, pay_row: PayTableRow, pattern: components.WinPattern
    ) -> list[components.WinPattern]:
        """Return one copy of a line pattern per cell, in which only the prize's own symbols fit that cell.

        Together they are the pattern without the windows in which every cell shows a wild.
        """
        patterns = []
        for i, element in enumerate(pattern.elements):
            if element is None:
                continue
            name = str(pay_row.symbol_or_group) if pay_row.pattern is None else pay_row.pattern[i]
            own_element = self.find_symbol_multipliers(definition_key, "=" + name.removeprefix("="))
            elements = (*pattern.elements[:i], own_element, *pattern.elements[i + 1 :])
            patterns.append(replace(pattern, elements=elements))
        return patterns

    def _check_overlap(
        self,
        pay_components: Sequence[components.WinComponent],
        columns: Sequence[Sequence[components.SymbolColumn]],
    ) -> None:
        """Refuse two ways prizes that the same way could win, unless the definition allows it."""
        ways_component_by_number = {c.number: c for c in pay_components if c.kind == "ways"}
        ways_rows = [p for p in self.stage_definition.pay_rows if p.kind == "ways"]
        for a in ways_component_by_number.values():
            for b in ways_component_by_number.values():
                if (
                    a.number >= b.number
                    or ways_rows[a.number - 1].direction != ways_rows[b.number - 1].direction
                ):
                    continue
                pay_a, pay_b = ways_rows[a.number - 1], ways_rows[b.number - 1]
                run_length = max(min(pay_a.pay_by_count), min(pay_b.pay_by_count))
                needed_reels = range(run_length) if pay_a.direction != "right" else range(-run_length, 0)
                if all(
                    any(a.win_symbols[s] and b.win_symbols[s] for c in columns[x] for s in c)
                    for x in needed_reels
                ):
                    raise self.build_error(
                        f"{self.stage_key}.pay",
                        f"overlapping ways: one way can win both {pay_a.symbol_or_group} and {pay_b.symbol_or_group} "
                        "(say overlapping_ways = true if that is meant)",
                    )
