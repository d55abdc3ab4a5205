"""From the checked definition to playable stages, refusing what the model alone cannot see."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

from paytables.errors import DefinitionError
from paytables.reels import components as parts
from paytables.reels.automaton import Award, Graph, Prize
from paytables.reels.schema import Award as AwardTable
from paytables.reels.schema import Mode, Pay, ReelsDefinition, ReelsStage
from paytables.reels.stage import Reels, columns_of
from paytables.reels.symbols import ANY, Symbols


def inherit(data: Mapping[str, Any], file: str) -> Mapping[str, Any]:
    """Expand ``like = "other"`` of each stage: what a stage does not say itself, it has from the other."""
    stages = data.get("stage")
    if not isinstance(stages, Mapping):
        return data

    def whole(name: str, seen: tuple[str, ...]) -> dict[str, Any]:
        table = stages[name]
        if not isinstance(table, Mapping):
            raise DefinitionError(file, f"stage.{name}", "is not a table")
        parent = table.get("like")
        if parent is None:
            return dict(table)
        if parent not in stages or parent in seen:
            raise DefinitionError(file, f"stage.{name}.like", f"{parent!r} is no other stage")
        own = {key: value for key, value in table.items() if key != "like"}
        return {**whole(parent, (*seen, name)), **own}

    return {**data, "stage": {name: whole(name, (name,)) for name in stages}}


@dataclass(frozen=True, slots=True)
class Builder:
    """Makes the stages of one definition; ``file`` names it in refusals."""

    definition: ReelsDefinition
    symbols: Symbols
    file: str

    def refuse(self, key: str, reason: str) -> DefinitionError:
        """Return the refusal of ``key``."""
        return DefinitionError(self.file, key, reason)

    def reels(self, name: str, table: ReelsStage, mode: Mode) -> Reels:
        """Make one stage for one mode."""
        key = f"stage.{name}"
        strips = self._strips(key, table)
        weights = self._weights(key, table, strips)
        expand = frozenset(self.symbols.number(s, f"{key}.expand") for s in table.expand)
        shown = [columns_of(s, h, expand) for s, h in zip(strips, table.heights, strict=True)]
        columns = tuple(
            tuple(sorted({c for c, w in zip(all_, weight, strict=True) if w}))
            for all_, weight in zip(shown, weights, strict=True)
        )
        column_at = tuple(
            tuple(found.index(c) if w else 0 for c, w in zip(all_, weight, strict=True))
            for found, all_, weight in zip(columns, shown, weights, strict=True)
        )
        graph = Graph()
        made = self._components(key, table, mode, graph, columns)
        return Reels(
            name=name,
            heights=table.heights,
            strips=strips,
            weights=weights,
            expand=expand,
            multiplier=table.multiplier,
            columns=columns,
            column_at=column_at,
            components=tuple(made),
            graph=graph,
        )

    def _strips(self, key: str, table: ReelsStage) -> tuple[tuple[int, ...], ...]:
        if len(table.strips) != len(table.heights):
            raise self.refuse(f"{key}.strips", f"{len(table.strips)} strips for {len(table.heights)} reels")
        found = []
        for x, (strip, height) in enumerate(zip(table.strips, table.heights, strict=True)):
            where = f"{key}.strips.{x}"
            if len(strip) < height:
                raise self.refuse(
                    where, f"a strip of {len(strip)} stops is shorter than its window of {height}"
                )
            found.append(tuple(self.symbols.number(s, where) for s in strip))
        return tuple(found)

    def _weights(
        self, key: str, table: ReelsStage, strips: Sequence[Sequence[int]]
    ) -> tuple[tuple[int, ...], ...]:
        if table.weights is None:
            return tuple((1,) * len(s) for s in strips)
        if [len(w) for w in table.weights] != [len(s) for s in strips]:
            raise self.refuse(f"{key}.weights", "has not one weight for every stop of every strip")
        for x, w in enumerate(table.weights):
            if not any(w):
                raise self.refuse(f"{key}.weights.{x}", "every stop has weight zero")
        return table.weights

    def _components(
        self,
        key: str,
        table: ReelsStage,
        mode: Mode,
        graph: Graph,
        columns: Sequence[Sequence[parts.Column]],
    ) -> list[parts.Component]:
        lines = self._lines(key, table, mode)
        groups: dict[str, list[parts.Pattern]] = {}
        made: list[parts.Component] = []
        numbers = {"ways": 0, "scatter": 0}
        for n, pay in enumerate(table.pay):
            where = f"{key}.pay.{n}"
            if pay.on == "line":
                if not lines:
                    raise self.refuse(where, "is a line prize, but the stage has no lines")
                patterns = self._patterns(where, table, pay, mode, {len(line) for line in lines})
                groups.setdefault(pay.group, []).extend(patterns)
                continue
            element = self._element(where, str(pay.of), table)
            prizes = self._prizes(where, pay, mode)
            numbers[pay.on] += 1
            if pay.on == "scatter":
                self._check_scatter(where, element, prizes, columns)
                made.append(parts.scatter_component(graph, numbers["scatter"], element, prizes, columns))
            else:
                self._check_ways(where, pay, prizes, columns, element)
                made += parts.ways_components(graph, numbers["ways"], element, prizes, columns, pay.direction)
        if not table.overlapping_ways:
            self._check_overlap(key, table, made, columns)
        on_lines = [
            component
            for patterns in groups.values()
            for component in parts.line_components(graph, lines, patterns, columns, table.wild_multipliers)
        ]
        return [*on_lines, *made]

    def _element(self, where: str, name: str, table: ReelsStage) -> parts.Element:
        element = self.symbols.element(name, f"{where}.of", multiply_own=table.multiply_own)
        if element is None:
            raise self.refuse(f"{where}.of", f"{ANY!r} is every symbol: nothing to count")
        return element

    def _lines(self, key: str, table: ReelsStage, mode: Mode) -> list[tuple[tuple[int, int], ...]]:
        lines = []
        for n, line in enumerate(table.lines):
            cells: list[tuple[int, int]] = []
            for i, cell in enumerate(line):
                cells.append(cell if isinstance(cell, tuple) else (i, cell))
            for reel, row in cells:
                if reel >= len(table.heights) or row >= table.heights[reel]:
                    raise self.refuse(f"{key}.lines.{n}", f"reel {reel} row {row} is outside the window")
            if [reel for reel, _ in cells] != sorted(reel for reel, _ in cells):
                raise self.refuse(f"{key}.lines.{n}", "does not visit the reels from left to right")
            lines.append(tuple(cells))
        if len(set(lines)) != len(lines):
            raise self.refuse(f"{key}.lines", "the same line is defined twice")
        if mode.lines is not None and table.lines and mode.lines > len(lines):
            raise self.refuse(f"bets.mode.{mode.id}.lines", f"{mode.lines} lines, but {key} has {len(lines)}")
        return lines[: mode.lines]

    def _credits(self, where: str, pay: Pay, value: Any, mode: Mode) -> int:
        if isinstance(value, tuple):
            if mode.column >= len(value):
                raise self.refuse(where, f"no column {mode.column} for bet {mode.id!r}")
            value = value[mode.column]
        unit = pay.unit or ("bet" if pay.on == "scatter" else "line")
        return int(value) * (mode.cost if unit == "bet" else 1)

    def _awards(self, pay: Pay, mode: Mode, count: int | None) -> tuple[Award, ...]:
        found = []
        for award in pay.gives:
            if award.modes is not None and mode.id not in award.modes:
                continue
            if award.at is not None and award.at != count:
                continue
            times = _times(award, count)
            if times:
                found.append(_award(award, times))
        return tuple(found)

    def _prizes(self, where: str, pay: Pay, mode: Mode) -> dict[int, Prize]:
        label = pay.id or pay.of
        prizes = {}
        for count, value in sorted(pay.pays.items()):
            credits_ = self._credits(f"{where}.pays.{count}", pay, value, mode)
            prizes[count] = Prize(f"{count} {label}", credits_, self._awards(pay, mode, count))
        return prizes

    def _patterns(
        self, where: str, table: ReelsStage, pay: Pay, mode: Mode, lengths: set[int]
    ) -> list[parts.Pattern]:
        if pay.pattern is not None:
            if len(pay.pattern) not in lengths:
                raise self.refuse(f"{where}.pattern", f"{len(pay.pattern)} cells fit no line")
            elements = tuple(
                self.symbols.element(e, f"{where}.pattern", multiply_own=table.multiply_own)
                for e in pay.pattern
            )
            name = pay.id or " ".join(pay.pattern)
            credits_ = self._credits(where, pay, pay.pay or 0, mode)
            return [parts.Pattern(elements, Prize(name, credits_, self._awards(pay, mode, None)))]
        element = self._element(where, str(pay.of), table)
        found = []
        for count, prize in self._prizes(where, pay, mode).items():
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
                    found.append(parts.Pattern(row, prize))
        return found

    def _check_scatter(
        self,
        where: str,
        element: parts.Element,
        prizes: Mapping[int, Prize],
        columns: Sequence[Sequence[parts.Column]],
    ) -> None:
        most = sum(max(sum(1 for s in column if element[s]) for column in reel) for reel in columns)
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
        self,
        key: str,
        table: ReelsStage,
        made: Sequence[parts.Component],
        columns: Sequence[Sequence[parts.Column]],
    ) -> None:
        """Refuse two ways prizes that one and the same way could win, unless the definition allows it."""
        ways = {c.number: c for c in made if c.kind == "ways"}
        pays = [p for p in table.pay if p.on == "ways"]
        for a in ways.values():
            for b in ways.values():
                if a.number >= b.number or pays[a.number - 1].direction != pays[b.number - 1].direction:
                    continue
                pay_a, pay_b = pays[a.number - 1], pays[b.number - 1]
                need = max(min(pay_a.pays), min(pay_b.pays))
                reach = range(need) if pay_a.direction != "right" else range(-need, 0)
                if all(any(a.shows[s] and b.shows[s] for c in columns[x] for s in c) for x in reach):
                    raise self.refuse(
                        f"{key}.pay",
                        f"overlapping ways: one way can win both {pay_a.of} and {pay_b.of} "
                        "(say overlapping_ways = true if that is meant)",
                    )


def _times(award: AwardTable, count: int | None) -> int:
    if isinstance(award.times, int):
        return award.times
    reached = [c for c in award.times if count is not None and c <= count]
    return award.times[max(reached)] if reached else 0


def _award(award: AwardTable, times: int) -> Award:
    if award.stage is not None:
        return Award("stage", award.stage, times)
    if award.progressive is not None:
        return Award("progressive", award.progressive)
    return Award("merchandise", str(award.merchandise))
