"""Description of a reel game in sentences, and remarks on legal but surprising definitions.

Every sentence states what the evaluator would pay, read from the same patterns and prizes, so that a designer
can compare it with the design sheet before reading a return. An *element* is one cell of a win pattern: the factor of
each symbol there, 0 for a symbol that does not fit.
"""

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Final

from paytables.contract import DefinitionRemark
from paytables.reels.automaton import NO_WIN_END, Award, GraphEnd, LinePrize
from paytables.reels.bonus import BonusItem, HoldBonus, PickBonus, WheelBonus
from paytables.reels.build import ModeStages
from paytables.reels.components import MULTIPLIER_COMBINERS, WinPattern, can_show_pattern
from paytables.reels.enumerated import CascadingReels, HeldReels
from paytables.reels.reelbuild import ReelBuilder
from paytables.reels.run import Stage
from paytables.reels.schema import BonusItemDefinition, HoldStage, PayTableRow, ReelsDefinition, ReelsStage
from paytables.reels.spin import ReelSpinStage
from paytables.reels.stage import ReelSet
from paytables.wording import format_count

#: A trial line: a symbol number per cell, or None for a symbol that fits nothing.
TrialLineCells = Sequence[int | None]
#: How several multipliers in one win combine, by the definition's ``wild_multipliers``.
_COMBINATION_TEXT_BY_KEY: Final = {
    "multiply": "several multiply one another",
    "add": "several are added",
    "highest": "of several the highest counts",
}
#: Maximum number of mixtures of a prize's symbols to try when looking for one that wins it.
_MIXTURES_MAX: Final = 4096


def explain_pays(stages: Mapping[str, ModeStages]) -> tuple[str, ...]:
    """Return sentences that say what each stage of a reel game pays at bet level 1: every prize that can be won.

    For each further mode (way to bet), only its differences are listed.
    """
    lines: list[str] = []
    stage_name_by_sentences: dict[tuple[str, ...], str] = {}
    sentences_by_stage: dict[str, tuple[str, ...]] = {}
    for explainer in _iter_stage_explainers(stages):
        sentences = tuple(explainer.iter_sentences())
        if explainer.name in sentences_by_stage:
            first_sentences = sentences_by_stage[explainer.name]
            other_sentences = [sentence for sentence in sentences if sentence not in first_sentences]
            lines += [explainer.title, *(f"  {s}" for s in other_sentences)] if other_sentences else []
            continue
        sentences_by_stage[explainer.name] = sentences
        lines.append(explainer.title)
        earlier_name = stage_name_by_sentences.setdefault(sentences, explainer.name)
        lines += (
            [f"  pays as {earlier_name} does"]
            if earlier_name != explainer.name
            else [f"  {s}" for s in sentences]
        )
        lines += [f"  {term}" for term in explainer.iter_common_terms()]
    return tuple(lines)


def list_remarks(
    definition: ReelsDefinition, stages: Mapping[str, ModeStages]
) -> tuple[DefinitionRemark, ...]:
    """Return remarks on what is legal but surprising in a reel game's definition, each with the key it is about."""
    remarks = [remark for explainer in _iter_stage_explainers(stages) for remark in explainer.list_remarks()]
    first_stages = {mode.first_stage for mode in definition.bets.modes}
    remarks += [
        DefinitionRemark(f"stage.{name}", "has no name: players of every language read its id")
        for name, table in definition.stages.items()
        if table.name is None and name not in first_stages
    ]
    costs = [
        mode.cost_credits * level for mode in definition.bets.modes for level in definition.bets.bet_levels
    ]
    shared_costs = sorted({cost for cost in costs if costs.count(cost) > 1})
    remarks += [
        DefinitionRemark("bets", f"several bets cost {format_count(cost, 'credit')}: ask for one by its name")
        for cost in shared_costs
    ]
    return tuple(dict.fromkeys(remarks))


def _iter_stage_explainers(stages: Mapping[str, ModeStages]) -> Iterator["_StageExplainer"]:
    """Yield an explainer of each stage of a reel game once for every mode (way to bet) that can reach it.

    A stage that no mode can reach is explained once, for the first mode.
    """
    every_mode = list(stages.values())
    reached_stages = {id(mode_stages): _find_reached_stages(mode_stages) for mode_stages in every_mode}
    for name, table in every_mode[0].definition.stages.items():
        for mode_stages in [m for m in every_mode if name in reached_stages[id(m)]] or every_mode[:1]:
            yield _StageExplainer(mode_stages, name, table, mode_stages.get_stage(name))


def _find_reached_stages(mode_stages: ModeStages) -> set[str]:
    """Return the names of the stages that a mode (way to bet) can reach."""
    reached_stages, unvisited = set[str](), [mode_stages.mode.first_stage]
    while unvisited:
        name = unvisited.pop()
        if name in reached_stages:
            continue
        reached_stages.add(name)
        table = mode_stages.definition.stages[name]
        rows: list[PayTableRow | BonusItemDefinition] = [
            *(table.pay_rows if isinstance(table, ReelsStage) else table.items)
        ]
        if isinstance(table, HoldStage) and table.full_board_prize is not None:
            rows.append(table.full_board_prize)
        given_awards = (
            a for row in rows for a in row.awards if a.mode_ids is None or mode_stages.mode.id in a.mode_ids
        )
        unvisited += [
            stage
            for stage in (*(a.stage_id for a in given_awards), getattr(table, "stage_after_stick", None))
            if stage
        ]
    return reached_stages


class _StageExplainer:
    """Writer of sentences on what one stage of a reel game pays in one mode, found by evaluating lines of symbols."""

    def __init__(
        self, mode_stages: ModeStages, stage_name: str, stage_definition: object, stage: Stage
    ) -> None:
        self.name = stage_name
        self._table = stage_definition
        self._stage = stage
        self._symbol_ids = mode_stages.symbols.symbol_ids
        self._symbols = mode_stages.symbols
        self._mode = mode_stages.mode
        self._patterns_by_group: dict[str, list[WinPattern]] = {}
        self._lines: Sequence[Sequence[tuple[int, int]]] = ()
        if isinstance(stage_definition, ReelsStage) and isinstance(
            stage, ReelSpinStage | CascadingReels | HeldReels
        ):
            self._builder = ReelBuilder(
                stage_name, stage_definition, mode_stages.mode, mode_stages.symbols, 0, mode_stages.file
            )
            self._lines, self._patterns_by_group = self._builder.build_line_patterns()

    @property
    def _reels(self) -> ReelSet:
        """Return the reels of this stage, which must be a reel stage."""
        assert isinstance(self._stage, ReelSpinStage | CascadingReels | HeldReels)
        return self._stage.reels

    # ------------------------------------------------------------------ sentences
    @property
    def title(self) -> str:
        """Return the heading of the stage's sentences: its name, and the mode (way to bet) that they are about."""
        return f"{self.name} (bet {self._mode.id}, {format_count(self._mode.cost_credits, 'credit')}):"

    def iter_sentences(self) -> Iterator[str]:
        """Yield sentences on what the stage pays, before the stage's multiplier."""
        stage = self._stage
        if isinstance(stage, ReelSpinStage | CascadingReels | HeldReels):
            assert isinstance(self._table, ReelsStage)
            yield from self._iter_pay_sentences(self._table)
        elif isinstance(stage, PickBonus):
            yield f"{format_count(stage.pick_count, 'pick')} from {format_count(stage.box_count, 'box', 'boxes')}"
            yield from _iter_item_texts(stage.items, "by weight" if stage.with_replacement else "boxes")
        elif isinstance(stage, WheelBonus):
            yield f"one spin of a wheel of {format_count(len(stage.segments), 'part')}"
            yield from _iter_item_texts(stage.segments, "parts")
        elif isinstance(stage, HoldBonus):
            respins_text = format_count(stage.respin_count, "respin")
            yield f"hold and spin on {format_count(stage.cell_count, 'cell')}, {respins_text} after each new coin"
            yield from _iter_item_texts(stage.items, "by weight")
            if (full := stage.full_board_prize) is not None:
                yield f"{full.name} for a coin on every cell {_format_worth(full.credits, full.awards)}"

    def iter_common_terms(self) -> Iterator[str]:
        """Yield phrases that apply to all prizes of the stage: the number of ways, and the multipliers."""
        table = self._table
        if not isinstance(table, ReelsStage):
            return
        if any(pay.kind == "ways" for pay in table.pay_rows):
            yield f"on {prod(len(reel[0]) for reel in self._reels.columns):,} ways"
        if table.multiplier > 1:
            yield f"and every prize {table.multiplier} times"
        if max(table.run_multipliers) > 1:
            unit = "run" if table.multiplier_trigger == "run" else "step"
            yield f"and every prize {_format_list(table.run_multipliers)} times, from {unit} to {unit} of a series"
        if max(table.window_multipliers, default=1) > 1:
            yield f"and every prize {_format_list(table.window_multipliers)} times, from fall to fall"

    def _iter_pay_sentences(self, stage_definition: ReelsStage) -> Iterator[str]:
        """Yield one sentence for each prize of the pay table that a window can show, without repetitions."""
        sentences: dict[str, None] = {}
        listed_prizes: set[str] = set()
        for symbol in self._list_symbols_on_strips():
            for cells in self._iter_candidate_lines(symbol):
                end = self._find_best_win(cells)
                if end.prize is not None and self._is_shown_on_line(cells, end.prize):
                    sentences.setdefault(self._format_sentence(cells, end))
                    listed_prizes.add(end.prize.name)
        prize_by_name = {
            p.prize.name: p.prize for patterns in self._patterns_by_group.values() for p in patterns
        }
        for pay in stage_definition.pay_rows:
            prize = prize_by_name.get(pay.id or " ".join(pay.pattern or ()))
            if pay.pattern is not None and prize is not None:
                sentences.setdefault(
                    f"{' '.join(pay.pattern)} on a line {_format_worth(prize.credits, prize.awards)}"
                )
        yield from sentences
        for pay_row_index, pay in enumerate(stage_definition.pay_rows):
            if pay.kind != "line":
                yield from self._iter_count_sentences(pay_row_index, pay)
            elif pay.symbol_or_group is not None:
                yield from self._iter_mixed_sentences(pay_row_index, pay, listed_prizes)
        yield from self._iter_multiplier_sentences(stage_definition)

    def _iter_mixed_sentences(
        self, pay_row_index: int, pay_row: PayTableRow, listed_prizes: set[str]
    ) -> Iterator[str]:
        """Yield sentences on prizes of a pay row that only a mixture of symbols, or substitutes, can win."""
        own_symbol_multipliers = self._builder.find_symbol_multipliers(
            f"{self._builder.stage_key}.pay.{pay_row_index}",
            "=" + str(pay_row.symbol_or_group).removeprefix("="),
        )
        for prize in self._builder.build_count_prizes(pay_row_index, pay_row).values():
            if prize.name in listed_prizes or not (prize.credits or prize.awards):
                continue
            mixture = self._find_mixture(prize, own_symbol_multipliers)
            if mixture is None:
                continue
            cells, end = mixture
            shown_symbols = [s for s in cells if s is not None]
            if all(own_symbol_multipliers[s] for s in shown_symbols):
                names = [
                    self._symbol_ids[s] for s in self._list_symbols_on_strips() if own_symbol_multipliers[s]
                ]
                worth_text = _format_worth(end.value, prize.awards)
                yield f"{len(shown_symbols)} mixed of {_format_list(names)} on a line {worth_text}: as {prize.name}"
            else:
                yield self._format_sentence(cells, end)

    def _find_mixture(
        self, prize: LinePrize, own_symbols: Sequence[int]
    ) -> tuple[TrialLineCells, GraphEnd] | None:
        """Return a line of symbols that wins the prize, and its win, or None if none is found.

        Lines of the prize's own symbols (``own_symbols``) are tried before those with substitutes.
        """
        on_strips = self._list_symbols_on_strips()
        for pattern in (
            p for patterns in self._patterns_by_group.values() for p in patterns if p.prize == prize
        ):
            fitting_symbols_by_cell = [
                [None]
                if element is None
                else sorted((s for s in on_strips if element[s]), key=lambda s: not own_symbols[s])
                for element in pattern.elements
            ]
            for cells in itertools.islice(itertools.product(*fitting_symbols_by_cell), _MIXTURES_MAX):
                end = self._find_best_win(cells)
                if end.prize == prize and self._is_shown_on_line(cells, prize):
                    return cells, end
        return None

    def _iter_multiplier_sentences(self, stage_definition: ReelsStage) -> Iterator[str]:
        """Yield a sentence for each symbol that multiplies wins on lines and ways."""
        paid_kinds = {
            pay.kind
            for pay in stage_definition.pay_rows
            if pay.kind == "line" or (pay.kind == "ways" and not pay.counts_reel_once)
        }
        combination_text = _COMBINATION_TEXT_BY_KEY[
            stage_definition.wild_multipliers if "line" in paid_kinds else "multiply"
        ]
        for symbol in self._list_symbols_on_strips() if paid_kinds else ():
            if self._symbols.multipliers[symbol] > 1 and (
                stage_definition.multiplies_own_pays or self._symbols.substitutes_for[symbol]
            ):
                condition_text = "" if stage_definition.multiplies_own_pays else " it helps to make"
                factor = self._symbols.multipliers[symbol]
                yield f"{self._symbol_ids[symbol]} multiplies a win{condition_text} by {factor}; {combination_text}"

    def _iter_count_sentences(self, pay_row_index: int, pay_row: PayTableRow) -> Iterator[str]:
        """Yield a sentence for each count of a ways or scatter row of the pay table that can be won."""
        place_text = (
            "anywhere"
            if pay_row.kind == "scatter"
            else f"on reels in a row from the {_format_side(pay_row)}, per way"
        )
        for prize in self._builder.build_count_prizes(pay_row_index, pay_row).values():
            if prize.name not in self._reels.omitted_prizes and (prize.credits or prize.awards):
                yield f"{prize.name} {place_text} {_format_worth(prize.credits, prize.awards)}"

    def _list_symbols_on_strips(self) -> list[int]:
        """Return the numbers of the symbols on the strips, each once."""
        return sorted({s for strip in self._reels.strips for s in strip})

    def _iter_candidate_lines(self, symbol: int) -> Iterator[list[int | None]]:
        """Yield lines with one or more cells of a symbol from either end, and full ones with a multiplying wild."""
        for length in sorted({len(line) for line in self._lines}):
            for count in range(1, length + 1):
                cells = [symbol] * count + [None] * (length - count)
                yield from (cells, cells[::-1])
            for wild in self._list_symbols_on_strips():
                if (
                    self._symbol_ids[symbol] in self._symbols.substitutes_for[wild]
                    and self._symbols.multipliers[wild] > 1
                ):
                    for wild_count in range(1, length):
                        for wild_places in itertools.combinations(reversed(range(length)), wild_count):
                            yield [wild if n in wild_places else symbol for n in range(length)]

    def _is_shown_on_line(self, cells: TrialLineCells, prize: LinePrize) -> bool:
        """Return whether some window of the stage shows these symbols on one of its lines."""
        element_by_symbol = {
            s: tuple(int(n == s) for n in range(len(self._symbol_ids))) for s in cells if s is not None
        }
        # a pattern that only exactly these symbols fit
        shown_pattern = WinPattern(tuple(None if s is None else element_by_symbol[s] for s in cells), prize)
        return any(can_show_pattern(shown_pattern, line, self._reels.columns) for line in self._lines)

    def _find_best_win(self, cells: TrialLineCells) -> GraphEnd:
        """Return the best win in the first prize group that pays these symbols, or NO_WIN_END if none pays."""
        for patterns in self._patterns_by_group.values():
            best_end = max(
                (self._find_end(p, cells) for p in patterns), key=lambda end: end.rank, default=NO_WIN_END
            )
            if best_end.prize is not None:
                return best_end
        return NO_WIN_END

    def _find_end(self, pattern: WinPattern, cells: TrialLineCells) -> GraphEnd:
        """Return the win of a pattern on a line with these symbols, or :data:`NO_WIN_END` if it does not fit."""
        if len(pattern.elements) != len(cells):
            return NO_WIN_END
        factors = []
        for element, symbol in zip(pattern.elements, cells, strict=True):
            if element is None:
                continue
            factor = 0 if symbol is None else element[symbol]
            if not factor:
                return NO_WIN_END
            factors.append(factor)
        assert isinstance(self._table, ReelsStage)
        multiplier = MULTIPLIER_COMBINERS[self._table.wild_multipliers](tuple(f for f in factors if f > 1))
        return GraphEnd(pattern.prize, multiplier, pattern.winning_mask)

    def _format_sentence(self, cells: TrialLineCells, end: GraphEnd) -> str:
        """Return a line's win as a sentence such as ``3 W on a line pay 2,700: as 3 seven x 27``."""
        assert end.prize is not None
        count_by_name: dict[str, int] = {}
        for symbol in cells:
            if symbol is not None:
                count_by_name[self._symbol_ids[symbol]] = count_by_name.get(self._symbol_ids[symbol], 0) + 1
        counted_symbols = sorted(count_by_name.items(), key=lambda item: -item[1])
        symbols_text = " and ".join(f"{count} {name}" for name, count in counted_symbols)
        sentence = f"{symbols_text} on a line {_format_worth(end.value, end.prize.awards)}"
        is_plain = len(count_by_name) == 1 and end.multiplier == 1 and end.prize.name == symbols_text
        multiplier_text = f" x {end.multiplier}" if end.multiplier > 1 else ""
        return sentence if is_plain else f"{sentence}: as {end.prize.name}{multiplier_text}"

    # ------------------------------------------------------------------ remarks
    def list_remarks(self) -> Iterator[DefinitionRemark]:
        """Yield a remark for each property of this reel stage that a player would not expect."""
        table = self._table
        if not isinstance(table, ReelsStage):
            return
        key = f"stage.{self.name}"
        for name in self._reels.omitted_prizes:
            yield DefinitionRemark(
                key, f"{name} is inherited from {table.parent_stage} and cannot be won here; it is left out"
            )
        yield from self._iter_weights_remarks(key, table)
        yield from self._iter_wilds_alone_remarks(key)
        yield from self._iter_hidden_scatter_remarks(key, table)
        yield from self._iter_idle_multiplier_remarks(key, table)
        yield from self._iter_counted_for_others_remarks(key, table)
        yield from self._iter_paid_twice_remarks(key, table)

    def _iter_weights_remarks(
        self, definition_key: str, stage_definition: ReelsStage
    ) -> Iterator[DefinitionRemark]:
        """Yield a remark if the definition does not say which row of the window the stop weights refer to."""
        if stage_definition.stop_weights is not None and stage_definition.weighted_row is None:
            has_only_line = self._builder.find_rows_of_only_line() is not None
            row_text = "the row of the only line" if has_only_line else "the top row of the window"
            yield DefinitionRemark(
                f"{definition_key}.weights",
                f"stop weights apply to {row_text}; set `weights_row` to choose another row",
            )

    def _iter_wilds_alone_remarks(self, definition_key: str) -> Iterator[DefinitionRemark]:
        """Yield a remark if a line of wilds alone is paid as another symbol and some window shows such a line."""
        for wild in self._list_symbols_on_strips():
            if not self._symbols.substitutes_for[wild]:
                continue
            for cells in self._iter_candidate_lines(wild):
                end = self._find_best_win(cells)
                if end.prize is None or any(s not in {wild, None} for s in cells):
                    continue
                pays_own_symbol = any(
                    pattern.prize == end.prize and self._is_own_prize_of(pattern, wild)
                    for patterns in self._patterns_by_group.values()
                    for pattern in patterns
                )
                if not pays_own_symbol and self._is_shown_on_line(cells, end.prize):
                    yield DefinitionRemark(f"{definition_key}.pay", self._format_sentence(cells, end))

    def _is_own_prize_of(self, pattern: WinPattern, wild: int) -> bool:
        """Return whether a line prize is the wild's own: only the wild and its equivalents make it."""
        fitting_symbols = {
            s for element in pattern.elements if element is not None for s, m in enumerate(element) if m
        }
        return all(s == wild or self._symbols.substitutes_for[s] for s in fitting_symbols)

    def _iter_hidden_scatter_remarks(
        self, definition_key: str, stage_definition: ReelsStage
    ) -> Iterator[DefinitionRemark]:
        """Yield a remark for each scatter that an expanding symbol may cover."""
        for pay_row_index, pay in enumerate(stage_definition.pay_rows):
            if pay.kind != "scatter":
                continue
            for x, strip in enumerate(stage_definition.strips):
                hiding_symbols = [
                    s
                    for s in stage_definition.expanding_symbols
                    if s in strip and pay.symbol_or_group in strip and s != pay.symbol_or_group
                ]
                if hiding_symbols:
                    order_text = "before" if stage_definition.scatter_count_time == "before" else "after"
                    yield DefinitionRemark(
                        f"{definition_key}.pay.{pay_row_index}",
                        f"{hiding_symbols[0]} may fill reel {x + 1} over {pay.symbol_or_group}: "
                        f"scatters are counted {order_text} that (`scatters`)",
                    )
                    break

    def _iter_idle_multiplier_remarks(
        self, definition_key: str, stage_definition: ReelsStage
    ) -> Iterator[DefinitionRemark]:
        """Yield a remark for each multiplying symbol in a scatter prize, where its multiplier has no effect."""
        for pay_row_index, pay in enumerate(stage_definition.pay_rows):
            if pay.kind != "scatter":
                continue
            element = (
                self._symbols.find_symbol_multipliers(
                    str(pay.symbol_or_group), f"{definition_key}.pay.{pay_row_index}.of", multiply_own=True
                )
                or ()
            )
            for symbol, factor in enumerate(element):
                if factor > 1 and symbol in self._list_symbols_on_strips():
                    yield DefinitionRemark(
                        f"{definition_key}.pay.{pay_row_index}",
                        f"the multiplier x{factor} of {self._symbol_ids[symbol]} has no effect on scatters",
                    )

    def _iter_counted_for_others_remarks(
        self, definition_key: str, stage_definition: ReelsStage
    ) -> Iterator[DefinitionRemark]:
        """Yield remarks on wilds that count as a scatter, or that alone complete a way of another symbol."""
        for pay_row_index, pay in enumerate(stage_definition.pay_rows):
            if pay.kind == "line":
                continue
            row_key = f"{definition_key}.pay.{pay_row_index}"
            element = self._builder.find_symbol_multipliers(row_key, str(pay.symbol_or_group))
            own_symbol_multipliers = self._builder.find_symbol_multipliers(
                row_key, "=" + str(pay.symbol_or_group).removeprefix("=")
            )
            for wild in self._list_symbols_on_strips():
                if not element[wild] or own_symbol_multipliers[wild]:
                    continue
                name = self._symbol_ids[wild]
                if pay.kind == "scatter":
                    yield DefinitionRemark(
                        row_key,
                        f"{name} counts as {pay.symbol_or_group} anywhere; to prevent this, "
                        f"list {pay.symbol_or_group} in its `not_for`",
                    )
                elif count := self._find_highest_own_count(wild, pay_row_index, pay):
                    prize = self._builder.build_count_prizes(pay_row_index, pay)[count]
                    factor = 1 if pay.counts_reel_once else element[wild] ** count
                    worth_text = _format_worth(prize.credits * factor, prize.awards)
                    text = f"{count} {name} on reels in a row {worth_text}: as {prize.name}"
                    yield DefinitionRemark(row_key, f"{text} x {factor}" if factor > 1 else text)

    @staticmethod
    def _iter_paid_twice_remarks(
        definition_key: str, stage_definition: ReelsStage
    ) -> Iterator[DefinitionRemark]:
        """Yield a remark for each count of the same symbol that two rows of the pay table pay."""
        first_row_by_pay: dict[object, int] = {}
        for pay_row_index, pay in enumerate(stage_definition.pay_rows):
            for count in pay.pay_by_count:
                pay_key = (
                    count,
                    pay.symbol_or_group,
                    pay.kind,
                    pay.direction,
                    pay.prize_group,
                    pay.line_numbers,
                    pay.needs_own_symbol,
                )
                if first_row_by_pay.setdefault(pay_key, pay_row_index) != pay_row_index:
                    rule_text = (
                        "only the higher of the two is paid" if pay.kind == "line" else "both are paid"
                    )
                    first_row = first_row_by_pay[pay_key]
                    text = f"{count} {pay.symbol_or_group} stands in pay.{first_row} as well: {rule_text}"
                    yield DefinitionRemark(f"{definition_key}.pay.{pay_row_index}.pays.{count}", text)

    def _find_highest_own_count(self, symbol: int, pay_row_index: int, pay_row: PayTableRow) -> int:
        """Return the highest count of a ways prize that one symbol alone can win on adjacent reels, or 0."""
        is_shown = [any(symbol in column for column in reel) for reel in self._reels.columns]
        sides = {"left": [is_shown], "right": [is_shown[::-1]]}.get(
            pay_row.direction, [is_shown, is_shown[::-1]]
        )
        # how many reels in a row, from the side, can show the symbol
        reel_count = max([*side, False].index(False) for side in sides)
        return max(
            (c for c in self._builder.build_count_prizes(pay_row_index, pay_row) if c <= reel_count),
            default=0,
        )


def _format_list(values: Sequence[object]) -> str:
    """Return the values as a list in words, such as ``1, 2 and 3``."""
    *earlier_texts, last_text = map(str, values)
    return f"{', '.join(earlier_texts)} and {last_text}" if earlier_texts else last_text


def _iter_item_texts(items: Sequence[BonusItem], pay_unit: str) -> Iterator[str]:
    """Yield a text for each kind of box, wheel segment or coin: its count and what it is worth."""
    counts: Counter[BonusItem] = Counter()
    for item in dict.fromkeys(items):
        counts[item] += item.count if pay_unit != "parts" else items.count(item)
    for item, count in counts.items():
        end_text = " and end the picking" if item.ends_picking else ""
        worth_text = _format_worth(item.credits, item.awards)
        yield f"{item.name} ({count:,} of {counts.total():,} {pay_unit}) {worth_text}{end_text}"


def _format_side(pay_row: PayTableRow) -> str:
    """Return the side that a ways prize is counted from, as text."""
    return "left or the right" if pay_row.direction == "both" else pay_row.direction


def _format_worth(credits_: int, awards: Sequence[Award]) -> str:
    """Return what a reel game's prize pays and gives as text, such as ``pay 20 and give 10 free``."""
    award_texts = [f"{a.run_count} {a.name}" if a.kind == "stage" else a.name or a.kind for a in awards]
    pay_texts = [f"pay {credits_:,}" if credits_ else "pay nothing"] if credits_ or not award_texts else []
    return " and ".join([*pay_texts, *(f"give {award_text}" for award_text in award_texts)])
