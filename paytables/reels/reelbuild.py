"""Making one reel stage of its table: strips, prizes, components, and the refusals that need the whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

from paytables.errors import DefinitionError
from paytables.reels import components as parts
from paytables.reels.automaton import NOTHING, Award, Graph, Prize
from paytables.reels.schema import Award as AwardTable
from paytables.reels.schema import Mode, Pay, ReelsStage
from paytables.reels.stage import Reels, columns_of
from paytables.reels.symbols import ANY, Symbols


def awards_of(gives: Sequence[AwardTable], mode: Mode, count: int | None) -> tuple[Award, ...]:
    """Return what a prize of that count gives in that mode."""
    found = []
    for award in gives:
        if award.modes is not None and mode.id not in award.modes:
            continue
        if award.at is not None and award.at != count:
            continue
        if award.stage is not None:
            times = _of_count(award.times, count)
            if times:
                found.append(Award("stage", award.stage, times, _of_count(award.size, count)))
        elif award.progressive is not None:
            found.append(Award("progressive", award.progressive))
        elif award.merchandise is not None:
            found.append(Award("merchandise", award.merchandise))
        else:
            found.append(Award("step", "", award.step or 1))
    return tuple(found)


def _of_count(value: int | Mapping[int, int], count: int | None) -> int:
    if isinstance(value, int):
        return value
    reached = [c for c in value if count is not None and c <= count]
    return value[max(reached)] if reached else 0


@dataclass(frozen=True, slots=True)
class ReelBuilder:
    """Makes one reel stage for one mode; ``size`` is the mask of its stuck cells.

    What can be won is checked without any: cells that stick later may hide a prize, which is then only not
    won any more.
    """

    name: str
    table: ReelsStage
    mode: Mode
    symbols: Symbols
    size: int
    file: str

    @property
    def key(self) -> str:
        """Where the stage is in the definition."""
        return f"stage.{self.name}"

    def refuse(self, key: str, reason: str) -> DefinitionError:
        """Return the refusal of ``key``."""
        return DefinitionError(self.file, key, reason)

    def reels(self) -> Reels:
        """Make the stage. Raises :class:`DefinitionError`."""
        strips = self._strips()
        weights = self._weights(strips)
        expand = frozenset(self.symbols.number(s, f"{self.key}.expand") for s in self.table.expand)
        stuck = self._stuck()
        shown = [
            columns_of(s, h, expand, at) for s, h, at in zip(strips, self.table.heights, stuck, strict=True)
        ]
        columns = tuple(
            tuple(sorted({c for c, w in zip(all_, weight, strict=True) if w}))
            for all_, weight in zip(shown, weights, strict=True)
        )
        column_at = tuple(
            tuple(found.index(c) if w else 0 for c, w in zip(all_, weight, strict=True))
            for found, all_, weight in zip(columns, shown, weights, strict=True)
        )
        graph = Graph()
        graph.final(NOTHING)
        return Reels(
            name=self.name,
            heights=self.table.heights,
            strips=strips,
            weights=weights,
            multiplier=self.table.multiplier,
            columns=columns,
            column_at=column_at,
            components=tuple(self._components(graph, self._possible(strips, columns))),
            graph=graph,
            promised=self._promised(),
        )

    def _promised(self) -> tuple[tuple[str, int], ...]:
        """Every prize this way to bet may win by the pay table, also one that no window wins."""
        found = []
        played = len(self._lines())
        for n, pay in enumerate(self.table.pay):
            if pay.lines is not None and min(pay.lines) > played:
                continue
            where = f"{self.key}.pay.{n}"
            prizes = [self._whole_prize(where, pay)] if pay.pattern else self._prizes(where, pay).values()
            found += [(p.name, p.credits) for p in prizes if p.credits or p.awards]
        return tuple(dict.fromkeys(found))

    def _possible(
        self, strips: Sequence[Sequence[int]], columns: Sequence[Sequence[parts.Column]]
    ) -> Sequence[Sequence[parts.Column]]:
        """Return what a reel may come to show: in a cascade a column may also fill with one symbol."""
        if not self.table.cascade:
            return columns
        if any(len({x for x, _ in line}) != len(line) for line in self._lines()):
            raise self.refuse(f"{self.key}.lines", "in a cascade a line has at most one cell of a reel")
        return [
            [*found, *((s,) * height for s in sorted(set(strip)))]
            for found, strip, height in zip(columns, strips, self.table.heights, strict=True)
        ]

    def _stuck(self) -> list[dict[int, int]]:
        """Return row -> symbol of the stuck cells, a reel."""
        symbol = (
            0 if self.table.sticky is None else self.symbols.number(self.table.sticky, f"{self.key}.sticky")
        )
        found: list[dict[int, int]] = []
        cell = 0
        for height in self.table.heights:
            found.append({row: symbol for row in range(height) if self.size >> (cell + row) & 1})
            cell += height
        return found

    def _strips(self) -> tuple[tuple[int, ...], ...]:
        if len(self.table.strips) != len(self.table.heights):
            raise self.refuse(
                f"{self.key}.strips", f"{len(self.table.strips)} strips for {len(self.table.heights)} reels"
            )
        found = []
        for x, (strip, height) in enumerate(zip(self.table.strips, self.table.heights, strict=True)):
            where = f"{self.key}.strips.{x}"
            if len(strip) < height:
                raise self.refuse(
                    where, f"a strip of {len(strip)} stops is shorter than its window of {height}"
                )
            found.append(tuple(self.symbols.number(s, where) for s in strip))
        return tuple(found)

    def _weights(self, strips: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
        if self.table.weights is None:
            return tuple((1,) * len(s) for s in strips)
        if [len(w) for w in self.table.weights] != [len(s) for s in strips]:
            raise self.refuse(f"{self.key}.weights", "has not one weight for every stop of every strip")
        for x, w in enumerate(self.table.weights):
            if not any(w):
                raise self.refuse(f"{self.key}.weights.{x}", "every stop has weight zero")
        return self.table.weights

    def _components(self, graph: Graph, columns: Sequence[Sequence[parts.Column]]) -> list[parts.Component]:
        lines = self._lines()
        groups: dict[str, list[parts.Pattern]] = {}
        made: list[parts.Component] = []
        numbers = {"ways": 0, "scatter": 0}
        for n, pay in enumerate(self.table.pay):
            where = f"{self.key}.pay.{n}"
            if pay.on == "line":
                if not lines:
                    raise self.refuse(where, "is a line prize, but the stage has no lines")
                patterns = self._patterns(where, pay, {len(line) for line in lines})
                if not self.size:
                    self._check_patterns(where, pay, patterns, columns)
                groups.setdefault(pay.group, []).extend(patterns)
                continue
            element = self._element(where, str(pay.of))
            prizes = self._prizes(where, pay)
            numbers[pay.on] += 1
            if pay.on == "scatter":
                if not self.size:
                    self._check_scatter(where, pay, element, prizes, columns)
                made.append(
                    parts.scatter_component(
                        graph, numbers["scatter"], element, prizes, columns, once=pay.once_a_reel
                    )
                )
            else:
                if not self.size:
                    self._check_ways(where, pay, prizes, columns, element)
                made += parts.ways_components(
                    graph, numbers["ways"], element, prizes, columns, pay.direction, once=pay.once_a_reel
                )
        if not self.table.overlapping_ways and not self.size:
            self._check_overlap(made, columns)
        on_lines = [
            component
            for patterns in groups.values()
            for component in parts.line_components(
                graph, lines, patterns, columns, self.table.wild_multipliers
            )
        ]
        if self.table.sticky is not None:
            made.append(self._stick(graph, columns))
        return [*on_lines, *made]

    def _stick(self, graph: Graph, columns: Sequence[Sequence[parts.Column]]) -> parts.Component:
        symbol = self.symbols.number(str(self.table.sticky), f"{self.key}.sticky")
        then = self.table.then
        own = then in {None, self.name}

        def given(mask: int) -> tuple[Award, ...]:
            if mask == self.size:
                return ()
            stay = (Award("stick", "", 1, mask),) if own else ()
            return stay if then is None else (*stay, Award("stage", then, 1, mask))

        return parts.stick_component(graph, symbol, columns, given)

    def _element(self, where: str, name: str) -> parts.Element:
        element = self.symbols.element(name, f"{where}.of", multiply_own=self.table.multiply_own)
        if element is None:
            raise self.refuse(f"{where}.of", f"{ANY!r} is every symbol: nothing to count")
        return element

    def _every_line(self) -> list[tuple[tuple[int, int], ...]]:
        lines = []
        for n, line in enumerate(self.table.lines):
            cells: list[tuple[int, int]] = []
            for i, cell in enumerate(line):
                cells.append(cell if isinstance(cell, tuple) else (i, cell))
            for reel, row in cells:
                if reel >= len(self.table.heights) or row >= self.table.heights[reel]:
                    raise self.refuse(f"{self.key}.lines.{n}", f"reel {reel} row {row} is outside the window")
            if [reel for reel, _ in cells] != sorted(reel for reel, _ in cells):
                raise self.refuse(f"{self.key}.lines.{n}", "does not visit the reels from left to right")
            lines.append(tuple(cells))
        if len(set(lines)) != len(lines):
            raise self.refuse(f"{self.key}.lines", "the same line is defined twice")
        return lines

    def _lines(self) -> list[tuple[tuple[int, int], ...]]:
        """Return the lines the mode plays."""
        lines = self._every_line()
        if self.mode.lines is not None and self.table.lines and self.mode.lines > len(lines):
            raise self.refuse(
                f"bets.mode.{self.mode.id}.lines", f"{self.mode.lines} lines, but {self.key} has {len(lines)}"
            )
        return lines[: self.mode.lines]

    def _credits(self, where: str, pay: Pay, value: Any) -> int:
        if isinstance(value, tuple):
            if self.mode.column >= len(value):
                raise self.refuse(where, f"no column {self.mode.column} for bet {self.mode.id!r}")
            value = value[self.mode.column]
        unit = pay.unit or ("bet" if pay.on == "scatter" else "line")
        return int(value) * (self.mode.cost if unit == "bet" else 1)

    def _awards(self, pay: Pay, count: int | None) -> tuple[Award, ...]:
        return awards_of(pay.gives, self.mode, count)

    def _prizes(self, where: str, pay: Pay) -> dict[int, Prize]:
        label = pay.id or pay.of
        prizes = {}
        for count, value in sorted(pay.pays.items()):
            credits_ = self._credits(f"{where}.pays.{count}", pay, value)
            prizes[count] = Prize(f"{count} {label}", credits_, self._awards(pay, count))
        return prizes

    def _whole_prize(self, where: str, pay: Pay) -> Prize:
        """Return the prize of a pattern."""
        name = pay.id or " ".join(pay.pattern or ())
        return Prize(name, self._credits(where, pay, pay.pay or 0), self._awards(pay, None))

    def _patterns(self, where: str, pay: Pay, lengths: set[int]) -> list[parts.Pattern]:
        if pay.pattern is not None:
            if len(pay.pattern) not in lengths:
                raise self.refuse(f"{where}.pattern", f"{len(pay.pattern)} cells fit no line")
            elements = tuple(
                self.symbols.element(e, f"{where}.pattern", multiply_own=self.table.multiply_own)
                for e in pay.pattern
            )
            return [parts.Pattern(elements, self._whole_prize(where, pay), pay.lines)]
        element = self._element(where, str(pay.of))
        found = []
        for count, prize in self._prizes(where, pay).items():
            if count > max(lengths):
                raise self.refuse(f"{where}.pays.{count}", f"no line has {count} cells")
            for cells in sorted(lengths):
                if count > cells:
                    continue
                if pay.direction == "anywhere" and comb(cells, count) > 1000:
                    raise self.refuse(
                        f"{where}.direction", f"{count} of {cells} anywhere is too many patterns"
                    )
                for place in parts.placements(count, cells, pay.direction):
                    row = tuple(element if i in place else None for i in range(cells))
                    found.append(parts.Pattern(row, prize, pay.lines))
        return found

    def _check_patterns(
        self,
        where: str,
        pay: Pay,
        patterns: Sequence[parts.Pattern],
        columns: Sequence[Sequence[parts.Column]],
    ) -> None:
        """Refuse lines there are not, and a prize no window can ever show."""
        lines = self._every_line()
        if pay.lines is not None and max(pay.lines) > len(lines):
            raise self.refuse(f"{where}.lines", f"no line {max(pay.lines)}: there are {len(lines)}")
        for prize in {p.prize: None for p in patterns}:
            shown = any(
                parts.can_show(p, line, columns) for p in patterns if p.prize == prize for line in lines
            )
            if not shown:
                raise self.refuse(where, f"{prize.name} can never be won: some reel shows nothing that fits")

    def _check_scatter(
        self,
        where: str,
        pay: Pay,
        element: parts.Element,
        prizes: Mapping[int, Prize],
        columns: Sequence[Sequence[parts.Column]],
    ) -> None:
        shown_in = parts.counter(tuple(min(m, 1) for m in element), once=pay.once_a_reel)
        most = sum(max(shown_in(column) for column in reel) for reel in columns)
        if max(prizes) > most:
            raise self.refuse(f"{where}.pays.{max(prizes)}", f"at most {most} can show")

    def _check_ways(
        self,
        where: str,
        pay: Pay,
        prizes: Mapping[int, Prize],
        columns: Sequence[Sequence[parts.Column]],
        element: parts.Element,
    ) -> None:
        if pay.direction not in {"left", "right", "both"}:
            raise self.refuse(f"{where}.direction", f"ways are not read {pay.direction}")
        if sorted(prizes) != list(range(min(prizes), max(prizes) + 1)):
            raise self.refuse(f"{where}.pays", "counts of a ways prize must follow one another")
        if max(prizes) > len(columns):
            raise self.refuse(f"{where}.pays.{max(prizes)}", f"there are {len(columns)} reels")
        reach = range(max(prizes)) if pay.direction != "right" else range(-max(prizes), 0)
        for x in reach:
            if not any(element[s] for column in columns[x] for s in column):
                raise self.refuse(
                    f"{where}.pays.{max(prizes)}", f"{pay.of} never shows on reel {x % len(columns) + 1}"
                )

    def _check_overlap(
        self, made: Sequence[parts.Component], columns: Sequence[Sequence[parts.Column]]
    ) -> None:
        """Refuse two ways prizes that one and the same way could win, unless the definition allows it."""
        ways = {c.number: c for c in made if c.kind == "ways"}
        pays = [p for p in self.table.pay if p.on == "ways"]
        for a in ways.values():
            for b in ways.values():
                if a.number >= b.number or pays[a.number - 1].direction != pays[b.number - 1].direction:
                    continue
                pay_a, pay_b = pays[a.number - 1], pays[b.number - 1]
                need = max(min(pay_a.pays), min(pay_b.pays))
                reach = range(need) if pay_a.direction != "right" else range(-need, 0)
                if all(any(a.shows[s] and b.shows[s] for c in columns[x] for s in c) for x in reach):
                    raise self.refuse(
                        f"{self.key}.pay",
                        f"overlapping ways: one way can win both {pay_a.of} and {pay_b.of} "
                        "(say overlapping_ways = true if that is meant)",
                    )
