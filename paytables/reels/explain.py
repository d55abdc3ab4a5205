"""A reel game said in sentences, and remarks on what is legal in its definition and yet surprises.

Every sentence is what the evaluator would pay, read from the same patterns and prizes, so that a designer
can hold it against his own sheet before he reads a return.
"""

from collections.abc import Iterator, Mapping, Sequence

from paytables.contract import Remark
from paytables.reels.automaton import NOTHING, Award, End, Prize
from paytables.reels.bonus import Hold, Pick, Wheel
from paytables.reels.build import ModeStages
from paytables.reels.components import COMBINE, Pattern, can_show
from paytables.reels.enumerated import Falls, Holds
from paytables.reels.reelbuild import ReelBuilder
from paytables.reels.run import Stage
from paytables.reels.schema import Pay, ReelsDefinition, ReelsStage
from paytables.reels.spin import Spin
from paytables.reels.stage import Reels
from paytables.wording import counted

#: A line as it is tried: a symbol's number a cell, or None where a symbol stands that fits nothing.
Cells = Sequence[int | None]


def explain(stages: Mapping[str, ModeStages]) -> tuple[str, ...]:
    """Return what each stage pays at level 1, in sentences; the first way to bet that plays it speaks."""
    said: list[str] = []
    known: dict[tuple[str, ...], str] = {}
    for reading in _readings(stages):
        said.append(reading.title)
        sentences = tuple(reading.sentences())
        before = known.setdefault(sentences, reading.name)
        said += [f"  pays as {before} does"] if before != reading.name else [f"  {s}" for s in sentences]
        if reading.multiplier > 1:
            said.append(f"  and every prize {reading.multiplier} times")
    return tuple(said)


def remarks(definition: ReelsDefinition, stages: Mapping[str, ModeStages]) -> tuple[Remark, ...]:
    """Return what is legal and surprises, each at its key."""
    found = [remark for reading in _readings(stages) for remark in reading.remarks()]
    costs = [mode.cost * level for mode in definition.bets.mode for level in definition.bets.levels]
    twice = sorted({cost for cost in costs if costs.count(cost) > 1})
    found += [
        Remark("bets", f"several bets cost {counted(cost, 'credit')}: ask for one by its name")
        for cost in twice
    ]
    return tuple(dict.fromkeys(found))


def _readings(stages: Mapping[str, ModeStages]) -> Iterator["_Reading"]:
    """Every stage once."""
    first = next(iter(stages.values()))
    for name, table in first.definition.stage.items():
        made = next((m for m in stages.values() if m.mode.stage == name), first)
        yield _Reading(made, name, table, made.stage(name))


class _Reading:
    """One stage for one way to bet, tried with chosen symbols."""

    def __init__(self, made: ModeStages, name: str, table: object, stage: Stage) -> None:
        self.name = name
        self._table = table
        self._stage = stage
        self._ids = made.symbols.ids
        self._symbols = made.symbols
        self._mode = made.mode
        self.multiplier = 1
        self._groups: dict[str, list[Pattern]] = {}
        self._lines: Sequence[Sequence[tuple[int, int]]] = ()
        if isinstance(table, ReelsStage) and isinstance(stage, Spin | Falls | Holds):
            self._builder = ReelBuilder(name, table, made.mode, made.symbols, 0, made.file)
            self._lines, self._groups = self._builder.line_patterns()
            self.multiplier = table.multiplier

    @property
    def _reels(self) -> Reels:
        assert isinstance(self._stage, Spin | Falls | Holds)
        return self._stage.reels

    # ------------------------------------------------------------------ sentences
    @property
    def title(self) -> str:
        """The stage, and the way to bet it is read for."""
        return f"{self.name} (bet {self._mode.id}, {counted(self._mode.cost, 'credit')}):"

    def sentences(self) -> Iterator[str]:
        """Say what the stage pays, before its multiplier."""
        stage = self._stage
        if isinstance(stage, Spin | Falls | Holds):
            assert isinstance(self._table, ReelsStage)
            yield from self._pay_sentences(self._table)
        elif isinstance(stage, Pick):
            yield f"{counted(stage.picks, 'pick')} from {counted(stage.boxes, 'box', 'boxes')}"
        elif isinstance(stage, Wheel):
            yield f"one spin of a wheel of {counted(len(stage.parts), 'part')}"
        elif isinstance(stage, Hold):
            again = counted(stage.respins, "respin")
            yield f"hold and spin on {counted(stage.cells, 'cell')}, {again} after each new coin"

    def _pay_sentences(self, table: ReelsStage) -> Iterator[str]:
        said: dict[str, None] = {}
        for symbol in self._on_strips():
            for cells in self._tries(symbol):
                reading = self._read(cells)
                if reading.prize is not None and self._shows(cells, reading.prize):
                    said.setdefault(self._say(cells, reading))
        prizes = {p.prize.name: p.prize for patterns in self._groups.values() for p in patterns}
        for pay in table.pay:
            prize = prizes.get(pay.id or " ".join(pay.pattern or ()))
            if pay.pattern is not None and prize is not None:
                said.setdefault(f"{' '.join(pay.pattern)} on a line {_worth(prize.credits, prize.awards)}")
        yield from said
        for n, pay in enumerate(table.pay):
            if pay.on != "line":
                yield from self._count_sentences(n, pay)

    def _count_sentences(self, number: int, pay: Pay) -> Iterator[str]:
        where = "anywhere" if pay.on == "scatter" else f"on reels in a row from the {_side(pay)}, a way"
        for prize in self._builder.prizes_of(number, pay).values():
            if prize.name not in self._reels.dropped and (prize.credits or prize.awards):
                yield f"{prize.name} {where} {_worth(prize.credits, prize.awards)}"

    def _on_strips(self) -> list[int]:
        return sorted({s for strip in self._reels.strips for s in strip})

    def _tries(self, symbol: int) -> Iterator[list[int | None]]:
        """Lines that begin with so many of a symbol, and full ones with one substitute that multiplies."""
        for length in sorted({len(line) for line in self._lines}):
            for count in range(1, length + 1):
                cells = [symbol] * count + [None] * (length - count)
                yield from (cells, cells[::-1])
            for wild in self._on_strips():
                if (
                    self._ids[symbol] in self._symbols.stands_for[wild]
                    and self._symbols.multipliers[wild] > 1
                ):
                    for at in reversed(range(length)):
                        yield [wild if i == at else symbol for i in range(length)]

    def _shows(self, cells: Cells, prize: Prize) -> bool:
        """Whether some window shows these symbols on a line."""
        only = {s: tuple(int(n == s) for n in range(len(self._ids))) for s in cells if s is not None}
        tried = Pattern(tuple(None if s is None else only[s] for s in cells), prize)
        return any(can_show(tried, line, self._reels.columns) for line in self._lines)

    def _read(self, cells: Cells) -> End:
        """The best prize of a line of these symbols; where groups pay together, of the first that pays."""
        for patterns in self._groups.values():
            best = max((self._end(p, cells) for p in patterns), key=lambda end: end.rank, default=NOTHING)
            if best.prize is not None:
                return best
        return NOTHING

    def _end(self, pattern: Pattern, cells: Cells) -> End:
        if len(pattern.elements) != len(cells):
            return NOTHING
        factors = []
        for element, symbol in zip(pattern.elements, cells, strict=True):
            if element is None:
                continue
            factor = 0 if symbol is None else element[symbol]
            if not factor:
                return NOTHING
            factors.append(factor)
        assert isinstance(self._table, ReelsStage)
        merged = COMBINE[self._table.wild_multipliers](tuple(f for f in factors if f > 1))
        return End(pattern.prize, merged, pattern.part)

    def _say(self, cells: Cells, end: End) -> str:
        """``3 W on a line pay 2,700: as 3 seven x 27``."""
        assert end.prize is not None
        counted: dict[str, int] = {}
        for symbol in cells:
            if symbol is not None:
                counted[self._ids[symbol]] = counted.get(self._ids[symbol], 0) + 1
        order = sorted(counted.items(), key=lambda item: -item[1])
        shown = " and ".join(f"{count} {name}" for name, count in order)
        said = f"{shown} on a line {_worth(end.value, end.prize.awards)}"
        plain = len(counted) == 1 and end.multiplier == 1 and end.prize.name == shown
        times = f" x {end.multiplier}" if end.multiplier > 1 else ""
        return said if plain else f"{said}: as {end.prize.name}{times}"

    # ------------------------------------------------------------------ remarks
    def remarks(self) -> Iterator[Remark]:
        """Say what surprises in this stage."""
        table = self._table
        if not isinstance(table, ReelsStage):
            return
        key = f"stage.{self.name}"
        for name in self._reels.dropped:
            yield Remark(key, f"{name} is inherited from {table.like} and cannot be won here; it is left out")
        yield from self._weights(key, table)
        yield from self._wilds_alone(key)
        yield from self._hidden_scatters(key, table)
        yield from self._idle_multipliers(key, table)
        yield from self._counted_for_others(key, table)
        yield from self._paid_twice(key, table)

    def _weights(self, key: str, table: ReelsStage) -> Iterator[Remark]:
        if table.weights is not None and table.weights_row is None:
            only = self._builder.rows_of_the_only_line() is not None
            row = "the row of the only line" if only else "the top row of the window"
            yield Remark(f"{key}.weights", f"a stop's weight is of {row}; `weights_row` says another")

    def _wilds_alone(self, key: str) -> Iterator[Remark]:
        """Substitutes alone that are paid as another symbol, where some window shows them."""
        for wild in self._on_strips():
            if not self._symbols.stands_for[wild]:
                continue
            for cells in self._tries(wild):
                end = self._read(cells)
                if end.prize is None or any(s not in {wild, None} for s in cells):
                    continue
                own = any(
                    p.prize == end.prize and self._own_of(p, wild) for ps in self._groups.values() for p in ps
                )
                if not own and self._shows(cells, end.prize):
                    yield Remark(f"{key}.pay", self._say(cells, end))

    def _own_of(self, pattern: Pattern, wild: int) -> bool:
        """Whether a prize is of the wild itself: no symbol but it and its like makes it."""
        fits = {s for element in pattern.elements if element is not None for s, m in enumerate(element) if m}
        return all(s == wild or self._symbols.stands_for[s] for s in fits)

    def _hidden_scatters(self, key: str, table: ReelsStage) -> Iterator[Remark]:
        for n, pay in enumerate(table.pay):
            if pay.on != "scatter":
                continue
            for x, strip in enumerate(table.strips):
                hiding = [s for s in table.expand if s in strip and pay.of in strip and s != pay.of]
                if hiding:
                    how = "before" if table.scatters == "before" else "after"
                    yield Remark(
                        f"{key}.pay.{n}",
                        f"{hiding[0]} may fill reel {x + 1} over {pay.of}: scatters are counted {how} that"
                        " (`scatters`)",
                    )
                    break

    def _idle_multipliers(self, key: str, table: ReelsStage) -> Iterator[Remark]:
        for n, pay in enumerate(table.pay):
            if pay.on != "scatter":
                continue
            element = self._symbols.element(str(pay.of), f"{key}.pay.{n}.of", multiply_own=True) or ()
            for symbol, factor in enumerate(element):
                if factor > 1 and symbol in self._on_strips():
                    yield Remark(f"{key}.pay.{n}", f"the x{factor} of {self._ids[symbol]} does nothing here")

    def _counted_for_others(self, key: str, table: ReelsStage) -> Iterator[Remark]:
        """Substitutes that count as a scatter, or alone make a way of another symbol."""
        for n, pay in enumerate(table.pay):
            if pay.on == "line":
                continue
            where = f"{key}.pay.{n}"
            element = self._builder.element(where, str(pay.of))
            own = self._builder.element(where, "=" + str(pay.of).removeprefix("="))
            for wild in self._on_strips():
                if not element[wild] or own[wild]:
                    continue
                name = self._ids[wild]
                if pay.on == "scatter":
                    yield Remark(where, f"{name} counts as {pay.of} anywhere (its `not_for` says otherwise)")
                elif count := self._in_a_row(wild, n, pay):
                    prize = self._builder.prizes_of(n, pay)[count]
                    times = 1 if pay.once_a_reel else element[wild] ** count
                    worth = _worth(prize.credits * times, prize.awards)
                    said = f"{count} {name} on reels in a row {worth}: as {prize.name}"
                    yield Remark(where, f"{said} x {times}" if times > 1 else said)

    @staticmethod
    def _paid_twice(key: str, table: ReelsStage) -> Iterator[Remark]:
        """Counts of the same symbols that two rows of the pay table name."""
        first: dict[object, int] = {}
        for n, pay in enumerate(table.pay):
            for count in pay.pays:
                same = (count, pay.of, pay.on, pay.direction, pay.group, pay.lines, pay.needs_own)
                if first.setdefault(same, n) != n:
                    what = "the higher counts" if pay.on == "line" else "both are paid"
                    said = f"{count} {pay.of} stands in pay.{first[same]} as well: {what}"
                    yield Remark(f"{key}.pay.{n}.pays.{count}", said)

    def _in_a_row(self, symbol: int, number: int, pay: Pay) -> int:
        """The longest run of a symbol that a prize of ways is won for; 0 if there is none."""
        shown = [any(symbol in column for column in reel) for reel in self._reels.columns]
        sides = {"left": [shown], "right": [shown[::-1]]}.get(pay.direction, [shown, shown[::-1]])
        longest = max([*side, False].index(False) for side in sides)
        return max((c for c in self._builder.prizes_of(number, pay) if c <= longest), default=0)


def _side(pay: Pay) -> str:
    return "left or the right" if pay.direction == "both" else pay.direction


def _worth(credits_: int, awards: Sequence[Award]) -> str:
    gives = [f"{a.times} {a.name}" if a.kind == "stage" else a.name or a.kind for a in awards]
    paid = [f"pay {credits_:,}" if credits_ else "pay nothing"] if credits_ or not gives else []
    return " and ".join([*paid, *(f"give {what}" for what in gives)])
