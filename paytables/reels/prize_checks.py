"""Checks of what a reel stage can win: a prize that no window shows, or only substitutes can make, is refused."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from paytables.errors import DefinitionError
from paytables.reels import components
from paytables.reels.automaton import LinePrize
from paytables.reels.schema import PayTableRow, ReelsStage
from paytables.wording import format_count

_SUBSTITUTES_ONLY_REASON = (
    "can only be won by substitutes alone: no reel shows the symbol itself where it counts"
)


class PrizeStageBuilder(Protocol):
    """The part of a reel stage's builder that the checks of its prizes use."""

    @property
    def stage_definition(self) -> ReelsStage:
        """Return the stage's table in the definition."""

    @property
    def omitted_prizes(self) -> list[str]:
        """Return the names of inherited prizes that the stage cannot win and therefore omits."""

    def build_error(self, definition_key: str, reason: str) -> DefinitionError:
        """Return the error for a key of the definition; the caller raises it."""

    def find_symbol_multipliers(
        self, definition_key: str, symbol_or_group: str
    ) -> components.SymbolMultipliers:
        """Return the multiplier of each symbol that fits ``symbol_or_group`` (0: does not fit)."""

    def list_defined_lines(self) -> list[tuple[tuple[int, int], ...]]:
        """Return the pay lines that the definition lists for the stage, each as (reel, row) cells."""

    def list_patterns_with_own_symbol(
        self, definition_key: str, pay_row: PayTableRow, pattern: components.WinPattern
    ) -> list[components.WinPattern]:
        """Return one copy of a line pattern per cell, in which only the prize's own symbols fit that cell."""


@dataclass(frozen=True, slots=True)
class PrizeChecker:
    """The check that a reel stage's strips can show each prize of its pay table."""

    _builder: PrizeStageBuilder

    def _refuse_or_drop_prize(self, definition_key: str, prize: LinePrize, reason: str) -> None:
        """Refuse a prize that cannot be won, or drop it if the stage inherits its prizes from another stage."""
        if self._builder.stage_definition.parent_stage is None:
            raise self._builder.build_error(definition_key, f"{prize.name} {reason}")
        self._builder.omitted_prizes.append(prize.name)

    def select_line_patterns(
        self,
        definition_key: str,
        pay_row: PayTableRow,
        patterns: Sequence[components.WinPattern],
        columns: Sequence[Sequence[components.SymbolColumn]],
    ) -> list[components.WinPattern]:
        """Return the patterns of the line prizes that can be won; refuse a line that does not exist.

        A prize cannot be won if no window shows it, or if the windows that show it consist of substitutes only. Such a
        prize is refused, or dropped if the stage inherits its prizes from another stage.
        """
        lines = self._builder.list_defined_lines()
        if pay_row.line_numbers is not None and max(pay_row.line_numbers) > len(lines):
            raise self._builder.build_error(
                f"{definition_key}.lines", f"no line {max(pay_row.line_numbers)}: there are {len(lines)}"
            )

        def can_any_show(patterns: Sequence[components.WinPattern]) -> bool:
            """Return whether some window shows one of the patterns on one of the stage's lines."""
            return any(components.can_show_pattern(p, line, columns) for p in patterns for line in lines)

        winnable_patterns = list(patterns)
        for prize in {p.prize: None for p in patterns}:
            prize_patterns = [p for p in patterns if p.prize == prize]
            if not can_any_show(prize_patterns):
                self._refuse_or_drop_prize(
                    definition_key, prize, "can never be won: some reel shows nothing that fits"
                )
            elif not can_any_show(
                [
                    own_pattern
                    for p in prize_patterns
                    for own_pattern in self._builder.list_patterns_with_own_symbol(definition_key, pay_row, p)
                ]
            ):
                self._refuse_or_drop_prize(definition_key, prize, _SUBSTITUTES_ONLY_REASON)
            else:
                continue
            winnable_patterns = [p for p in winnable_patterns if p.prize != prize]
        return winnable_patterns

    def select_scatter_prizes(
        self,
        definition_key: str,
        pay_row: PayTableRow,
        symbol_multipliers: components.SymbolMultipliers,
        prize_by_count: Mapping[int, LinePrize],
        columns: Sequence[Sequence[components.SymbolColumn]],
    ) -> dict[int, LinePrize]:
        """Return the prizes of a scatter, by count, that some window shows; refuse or drop the others."""
        count_shown = components.build_symbol_counter(
            tuple(min(m, 1) for m in symbol_multipliers), once_per_reel=pay_row.counts_reel_once
        )
        shown_max = sum(max(count_shown(column) for column in reel) for reel in columns)
        winnable_prize_by_count = dict(prize_by_count)
        for count in sorted(prize_by_count, reverse=True):
            if count > shown_max:
                self._refuse_or_drop_prize(
                    f"{definition_key}.pays.{count}",
                    winnable_prize_by_count.pop(count),
                    f"can never be won: at most {shown_max} can show",
                )
        if winnable_prize_by_count and not self._is_own_symbol_shown(definition_key, pay_row, columns):
            self._refuse_or_drop_prize(
                definition_key,
                winnable_prize_by_count[max(winnable_prize_by_count)],
                _SUBSTITUTES_ONLY_REASON,
            )
            return {}
        return winnable_prize_by_count

    def select_ways_prizes(
        self,
        definition_key: str,
        pay_row: PayTableRow,
        symbol_multipliers: components.SymbolMultipliers,
        prize_by_count: Mapping[int, LinePrize],
        columns: Sequence[Sequence[components.SymbolColumn]],
    ) -> dict[int, LinePrize]:
        """Return the prizes of a symbol paid by ways, by count, that some window shows; refuse or drop the others."""
        if pay_row.direction not in {"left", "right", "both"}:
            raise self._builder.build_error(
                f"{definition_key}.direction", f"ways are not read {pay_row.direction}"
            )
        if sorted(prize_by_count) != list(range(min(prize_by_count), max(prize_by_count) + 1)):
            raise self._builder.build_error(
                f"{definition_key}.pays", "counts of a ways prize must follow one another"
            )
        if max(prize_by_count) > len(columns):
            raise self._builder.build_error(
                f"{definition_key}.pays.{max(prize_by_count)}",
                f"the stage has only {format_count(len(columns), 'reel')}",
            )
        is_shown_by_reel = [any(symbol_multipliers[s] for column in reel for s in column) for reel in columns]
        winnable_prize_by_count = dict(prize_by_count)
        while winnable_prize_by_count:
            count = max(winnable_prize_by_count)
            needed_reels = range(count) if pay_row.direction != "right" else range(-count, 0)
            missing_reel = next((x for x in needed_reels if not is_shown_by_reel[x]), None)
            if missing_reel is None:
                break
            reel_number = missing_reel % len(columns) + 1
            reason = f"can never be won: {pay_row.symbol_or_group} never shows on reel {reel_number}"
            self._refuse_or_drop_prize(
                f"{definition_key}.pays.{count}", winnable_prize_by_count.pop(count), reason
            )
        if winnable_prize_by_count and not self._is_own_symbol_shown(definition_key, pay_row, columns):
            self._refuse_or_drop_prize(
                definition_key,
                winnable_prize_by_count[max(winnable_prize_by_count)],
                _SUBSTITUTES_ONLY_REASON,
            )
            return {}
        return winnable_prize_by_count

    def _is_own_symbol_shown(
        self, definition_key: str, pay_row: PayTableRow, columns: Sequence[Sequence[components.SymbolColumn]]
    ) -> bool:
        """Return whether any reel shows one of the prize's own symbols, not only substitutes for them."""
        own_symbol_multipliers = self._builder.find_symbol_multipliers(
            definition_key, "=" + str(pay_row.symbol_or_group).removeprefix("=")
        )
        return any(own_symbol_multipliers[s] for reel in columns for column in reel for s in column)
