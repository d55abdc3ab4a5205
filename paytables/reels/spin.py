"""The basic reel stage, one spin that is evaluated once, and the base class of all reel stages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from paytables.contract import DrawSource, Json
from paytables.errors import BeyondExactAnalysisError
from paytables.reels import moments
from paytables.reels.automaton import Award
from paytables.reels.components import SymbolColumn
from paytables.reels.highest_pays import find_top_pays
from paytables.reels.run import (
    ChanceByCreditsAndAwards,
    GivenAwards,
    MeanByAwardKindAndName,
    PaidWin,
    PrizeRate,
    RunFigures,
    StageRun,
    TopPayByAwards,
    build_run_figures,
    find_top_pays_by_awards,
)
from paytables.reels.stage import ReelSet, WindowWin
from paytables.reels.win_distribution import compute_run_distribution, count_losing_windows


@dataclass(frozen=True)
class ReelsStageBase:
    """Base class of reel stages: plain spins, cascades, and reels that the player may hold."""

    reels: ReelSet
    """The strips, the stop weights and the pay components."""
    symbol_ids: tuple[str, ...]
    """The symbol ids, in the order of the symbol numbers."""

    @property
    def name(self) -> str:
        """Return the stage's name in the definition."""
        return self.reels.name

    @property
    def worst_mean(self) -> Fraction | None:
        """Return the mean of the worst decisions: None, because by default the stage has no decision."""
        return None

    def list_symbols(self, window: Sequence[SymbolColumn]) -> list[list[str]]:
        """Return a window's symbol numbers as symbol ids, reel by reel, top to bottom."""
        return [[self.symbol_ids[s] for s in column] for column in window]

    def build_payment(
        self, window: Sequence[SymbolColumn], window_win: WindowWin, factor: int = 1
    ) -> PaidWin:
        """Return a won prize as it is paid and shown; its credits include the stage's multiplier and ``factor``."""
        assert window_win.end.prize is not None  # only components that won a prize are in a WindowWin
        detail: dict[str, Json] = {
            "on": window_win.component.kind,
            "number": window_win.component.number,
            "positions": [list(cell) for cell in list_winning_cells(window, window_win)],
            "multiplier": window_win.end.multiplier * self.reels.multiplier * factor,
        }
        if window_win.component.kind == "ways":
            detail["ways"] = window_win.ways
        return PaidWin(window_win.end.prize.name, window_win.credits * self.reels.multiplier * factor, detail)

    def build_display(self, stops: Sequence[int], window: Sequence[SymbolColumn]) -> dict[str, Json]:
        """Return what a screen needs to show the window of the reels at these stops."""
        display = self._describe_stops(stops)
        if self.reels.has_changing_symbols:
            heights = self.reels.heights
            evaluated = self.list_symbols(
                [column[:height] for column, height in zip(window, heights, strict=True)]
            )
            if evaluated != display["window"]:
                display["evaluated"] = evaluated
        return display

    def _describe_stops(self, stops: Sequence[int]) -> dict[str, Json]:
        """Return the stops of the reels, and the symbol ids in their window before any symbol expands."""
        shown_columns = [
            list(ids_by_stop[stop]) for ids_by_stop, stop in zip(self._symbol_ids_by_stop, stops, strict=True)
        ]
        return {"stops": list(stops), "window": shown_columns}

    @cached_property
    def _symbol_ids_by_stop(self) -> tuple[tuple[tuple[str, ...], ...], ...]:
        """Return ``_symbol_ids_by_stop[x][stop]``: the symbol ids that reel x shows in the window at that stop."""
        return tuple(
            tuple(tuple(self.symbol_ids[s] for s in column) for column in columns_by_stop)
            for columns_by_stop in self.reels.visible_columns_by_stop
        )


def list_winning_cells(window: Sequence[SymbolColumn], window_win: WindowWin) -> list[tuple[int, int]]:
    """Return the cells of the window, as (reel, row), that belong to a win."""
    winning_mask = window_win.end.winning_mask
    if window_win.component.kind == "line":
        return [
            cell
            for cell, is_winning in zip(window_win.component.cells, winning_mask, strict=True)
            if is_winning
        ]
    return [
        (x, row)
        for x, column in enumerate(window)
        for row, symbol in enumerate(window_win.component.select_evaluated_rows(x, column))
        if winning_mask[x] and window_win.component.win_symbols[symbol]
    ]


def list_awards(window_wins: Sequence[WindowWin]) -> tuple[Award, ...]:
    """Return the awards of the prizes in ``window_wins``, in the same order."""
    return tuple(
        award
        for window_win in window_wins
        if window_win.end.prize is not None
        for award in window_win.end.prize.awards
    )


@dataclass(frozen=True)
class ReelSpinStage(ReelsStageBase):
    """A reel stage with a plain spin of the reels: one window, evaluated once."""

    def run(self, draw: DrawSource) -> StageRun:
        """Draw the stops, evaluate the window and return the result of the spin."""
        stops = self.reels.spin(draw)
        _, window_wins = self.reels.evaluate_stops(stops)
        if not window_wins and not self.reels.has_changing_symbols:
            return StageRun((), (), self._describe_stops(stops))
        window = self.reels.find_evaluated_columns(stops)
        display = self.build_display(stops, window)
        paid_wins = tuple(
            self.build_payment(window, window_win) for window_win in window_wins if window_win.credits
        )
        return StageRun(paid_wins, list_awards(window_wins), display)

    @cached_property
    def _window_counts(self) -> Mapping[tuple[int, GivenAwards], int]:
        """Return how many windows of the reels' cycle give each combination of credits and awards."""
        return compute_run_distribution(self.reels)

    def compute_distribution(self) -> ChanceByCreditsAndAwards:
        """Return the probability of each result (credits won, awards given) of one run of this reel stage.

        This is a laboratory computation.
        """
        return {key: Fraction(count, self.reels.cycle) for key, count in self._window_counts.items()}

    @cached_property
    def losing_award_chances(self) -> Mapping[GivenAwards, Fraction]:
        """Return the probability of each combination of awards in a spin that pays no credits.

        Raises :class:`BeyondExactAnalysisError`.
        """
        return {
            given_awards: Fraction(window_count, self.reels.cycle)
            for given_awards, window_count in count_losing_windows(self.reels).items()
        }

    def find_top_pays(self) -> TopPayByAwards:
        """Return, for each combination of awards, the highest pay of a run that gives it, and its probability."""
        return self._top_pays

    @cached_property
    def _top_pays(self) -> TopPayByAwards:
        """Return, for each combination of awards, the highest pay of a spin that gives it, and its probability."""
        try:
            top_pays = find_top_pays(self.reels)
        except BeyondExactAnalysisError as error:
            try:
                return find_top_pays_by_awards(self.compute_distribution())
            except ImportError:
                raise error from None
        return {
            given_awards: (highest_pay, Fraction(case_count, self.reels.cycle))
            for given_awards, (highest_pay, case_count) in top_pays.items()
        }

    @cached_property
    def _end_counts(self) -> moments.EndCounts:
        """Return how often each pay component ends in each final node of its automaton, computed once."""
        return moments.count_ends_by_component(self.reels)

    @cached_property
    def _figures_without_moments(self) -> RunFigures:
        """Return the exact figures of one spin without second moments."""
        return moments.compute_run_figures(self.reels, self._end_counts, with_second_moment=False)

    @cached_property
    def _figures_with_moments(self) -> RunFigures:
        """Return the exact figures of one spin with second moments."""
        if len(moments.list_award_component_indexes(self.reels)) > moments.JOINT_AWARD_COMPONENTS_MAX:
            return build_run_figures(self.compute_distribution())
        return moments.compute_run_figures(self.reels, self._end_counts, with_second_moment=True)

    def compute_figures(self, *, with_second_moment: bool) -> RunFigures:
        """Return the exact figures of one spin.

        ``with_second_moment``: whether to compute the moments that variances need too. The figures come from dynamic
        programming, or from the spin's distribution if many components give awards.
        """
        return self._figures_with_moments if with_second_moment else self._figures_without_moments

    def list_prize_rates(self) -> list[PrizeRate]:
        """Return how often each prize of the stage is won over the cycle of all its windows."""
        return moments.compute_prize_rates(self.reels, self._end_counts)

    def compute_mean_awards(self) -> MeanByAwardKindAndName:
        """Return the mean number of times that one run gives each level and prize in kind, by (kind, name)."""
        return moments.compute_mean_awards(self.reels, self._end_counts)
