"""Reel stages with more than one window in a run: cascades (falls), and reels that the player may hold.

They draw the same stops and read the same tables as a plain spin; their exact figures come from enumerating
every window of their distinct columns.
"""

import itertools
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import NamedTuple

from paytables.contract import Decision, DrawSource
from paytables.errors import AnalysisError, BeyondExactAnalysisError
from paytables.reels.automaton import Award
from paytables.reels.components import SymbolColumn
from paytables.reels.run import (
    ChanceByCreditsAndAwards,
    GivenAwards,
    MeanByAwardKindAndName,
    PaidWin,
    PrizeRate,
    RunFigures,
    StageRun,
    StageRunDecisions,
    TopPayByAwards,
    build_run_figures,
    find_top_pays_by_awards,
    select_given_awards,
)
from paytables.reels.spin import ReelsStageBase, list_awards, list_winning_cells
from paytables.reels.stage import WindowWin

#: Maximum number of windows to enumerate for the figures of a stage without a faster method.
ENUMERATED_WINDOWS_MAX = 400_000


@dataclass(frozen=True)
class _EnumeratedStage(ReelsStageBase, ABC):
    """A reel stage whose exact figures come from enumerating every window of its distinct columns."""

    @property
    def _enumerated_counts(self) -> list[int]:
        """Return, for each reel, how many of its stops (or classes of equivalent columns) are enumerated."""
        return [len(column_indexes) for column_indexes in self.reels.column_index_by_stop]

    def _check_window_count(self) -> None:
        """Raise :class:`BeyondExactAnalysisError` if the stage's reels have too many windows to enumerate."""
        window_count = prod(self._enumerated_counts)
        if window_count > ENUMERATED_WINDOWS_MAX:
            raise BeyondExactAnalysisError(
                f"stage {self.name}: has {window_count:,} windows, and at most {ENUMERATED_WINDOWS_MAX:,} can be"
                " enumerated; simulate it, or give it fewer stops"
            )

    @abstractmethod
    def _enumerate(self) -> "_EnumeratedFigures":
        """Enumerate every window of the reels and return the stage's exact figures."""

    @cached_property
    def _figures(self) -> "_EnumeratedFigures":
        """Return the stage's exact figures, enumerated once."""
        self._check_window_count()
        return self._enumerate()

    def _list_won_prizes(self, window_wins: Sequence[WindowWin], factor: int = 1) -> list[tuple[str, int]]:
        """Return the name and credits of each prize won in a window, including prizes that only give an award."""
        return [
            (window_win.end.prize.name, window_win.credits * factor * self.reels.multiplier)
            for window_win in window_wins
            if window_win.end.prize is not None
            and window_win.end.prize.name
            and (window_win.credits or window_win.end.prize.awards)
        ]

    def compute_distribution(self) -> ChanceByCreditsAndAwards:
        """Return the probability of each result (credits won, awards given) of one run of this reel stage."""
        return self._figures.distribution

    def find_top_pays(self) -> TopPayByAwards:
        """Return, for each combination of awards, the highest pay of a run that gives it, and its probability."""
        return find_top_pays_by_awards(self._figures.distribution)

    @cached_property
    def _run_figures(self) -> RunFigures:
        """Return the exact means, award probabilities and moments of one run, computed once from its distribution."""
        return build_run_figures(self._figures.distribution)

    def compute_figures(self, *, with_second_moment: bool) -> RunFigures:  # noqa: ARG002 (both moments are computed together here)
        """Return the exact figures of one run, always with second moments."""
        return self._run_figures

    def list_prize_rates(self) -> list[PrizeRate]:
        """Return how often each prize of the stage is won over the cycle of all its windows."""
        return self._figures.prizes

    def compute_mean_awards(self) -> MeanByAwardKindAndName:
        """Return the mean number of times that one run gives each level and prize in kind, by (kind, name)."""
        return self._figures.mean_awards


@dataclass(slots=True)
class _EnumeratedFigures:
    """Exact figures of one run of a reel stage: distribution, rate of each prize, mean levels and merchandise."""

    distribution: dict[tuple[int, GivenAwards], Fraction]
    """The probability of each result: the credits and the awards given."""
    prizes: list[PrizeRate]
    """How often each prize is won."""
    mean_awards: dict[tuple[str, str], Fraction]
    """How often each progressive level and merchandise prize is given on average, by (kind, name)."""


class _StageFiguresAccumulator:
    """Accumulator of a reel stage's exact figures: takes windows, each with its number of cases out of ``cycle``."""

    def __init__(self, cycle: int) -> None:
        self._cycle = cycle
        self._case_count_by_result: dict[tuple[int, GivenAwards], int] = defaultdict(int)
        """The number of cases of each result: the credits and the awards given."""
        self._sums_by_prize: dict[str, list[int]] = {}
        """For each prize, the least credits that it pays, the number of its cases, and the sum of its pays."""
        self._case_count_by_award: dict[tuple[str, str], int] = defaultdict(int)
        """The number of progressive levels and merchandise prizes given, by (kind, name)."""

    def add_window(
        self, paid_prizes: Sequence[tuple[str, int]], awards: Sequence[Award], case_count: int
    ) -> None:
        """Add a window that pays these prizes and gives these awards in ``case_count`` of the equally likely cases."""
        self._case_count_by_result[sum(c for _, c in paid_prizes), select_given_awards(awards)] += case_count
        for name, credits_ in paid_prizes:
            prize_sums = self._sums_by_prize.setdefault(name, [credits_, 0, 0])
            prize_sums[0] = min(prize_sums[0], credits_)
            prize_sums[1] += case_count
            prize_sums[2] += case_count * credits_
        for award in awards:
            self._case_count_by_award[award.kind, award.name] += case_count

    def build_result(self) -> _EnumeratedFigures:
        """Return the stage's exact figures, from the windows that were added."""
        return _EnumeratedFigures(
            distribution={key: Fraction(n, self._cycle) for key, n in self._case_count_by_result.items()},
            prizes=[
                PrizeRate(name, least_credits, case_count, paid_credits, self._cycle)
                for name, (least_credits, case_count, paid_credits) in self._sums_by_prize.items()
            ],
            mean_awards={
                key: Fraction(n, self._cycle)
                for key, n in self._case_count_by_award.items()
                if key[0] in {"progressive", "merchandise"}
            },
        )


class _CascadeWindow(NamedTuple):
    """One window of a cascade: the first, or the window after a fall."""

    columns: list[SymbolColumn]
    """The symbols that the window shows, reel by reel."""
    wins: list[WindowWin]
    """The wins that this window pays. The last window pays only scatters; each other window pays all but scatters."""
    factor: int
    """The multiplier of the window's wins."""


@dataclass(frozen=True)
class CascadingReels(_EnumeratedStage):
    """A reel stage with cascades: winning symbols disappear, symbols above fall, and the strips refill the window.

    Each window of the cascade has its own multiplier. Scatters are counted once, in the last window, so that a
    scatter that remains is not paid at every fall.
    """

    fall_multipliers: tuple[int, ...]
    """The multipliers of the first window and of the window after each fall; the last also holds for all later ones."""

    def list_cascade_windows(
        self, stops: Sequence[int], first_wins: list[WindowWin] | None = None
    ) -> list[_CascadeWindow]:
        """Return the window at these stops and after each fall of the cascade, with its wins and multiplier.

        ``first_wins`` are the wins of the first window, if already known.
        """
        strips, heights = self.reels.strips, self.reels.heights
        window = [list(column) for column in self.reels.find_visible_columns(stops)]
        top_stops = list(stops)
        windows: list[_CascadeWindow] = []
        while True:
            columns = [tuple(column) for column in window]
            window_wins = (
                first_wins if first_wins is not None and not windows else self.reels.evaluate(columns)[1]
            )
            removing_wins = [
                window_win
                for window_win in window_wins
                if window_win.component.kind != "scatter" and window_win.credits
            ]
            factor = self.fall_multipliers[min(len(windows), len(self.fall_multipliers) - 1)]
            if not removing_wins:
                scatter_wins = [
                    window_win for window_win in window_wins if window_win.component.kind == "scatter"
                ]
                windows.append(_CascadeWindow(columns, scatter_wins, 1))
                return windows
            windows.append(_CascadeWindow(columns, removing_wins, factor))
            removed_cells = {
                cell for window_win in removing_wins for cell in list_winning_cells(columns, window_win)
            }
            for x, strip in enumerate(strips):
                staying_symbols = [s for row, s in enumerate(window[x]) if (x, row) not in removed_cells]
                new_symbol_count = heights[x] - len(staying_symbols)
                window[x] = [
                    strip[(top_stops[x] - new_symbol_count + i) % len(strip)] for i in range(new_symbol_count)
                ] + staying_symbols
                top_stops[x] -= new_symbol_count
            if len(windows) > CASCADE_FALLS_MAX:
                raise AnalysisError(
                    f"stage {self.name}: the cascade from stops {list(stops)} has not ended "
                    f"after {CASCADE_FALLS_MAX} falls"
                )

    def run(self, draw: DrawSource) -> StageRun:
        """Draw the stops once, play all falls of the cascade and return the result.

        The strips determine all symbols that fall later, so no further number is drawn.
        """
        stops = self.reels.spin(draw)
        windows = self.list_cascade_windows(stops)
        paid_wins: list[PaidWin] = []
        steps = []
        for columns, window_wins, factor in windows:
            window_paid_wins = [
                self.build_payment(columns, window_win, factor)
                for window_win in window_wins
                if window_win.credits
            ]
            paid_wins += window_paid_wins
            wins = [{"name": p.name, "credits": p.credits, **p.detail} for p in window_paid_wins]
            steps.append({"window": self.list_symbols(columns), "multiplier": factor, "wins": wins})
        awards = tuple(award for _, window_wins, _ in windows for award in list_awards(window_wins))
        display = {**self.build_display(stops, self.reels.find_visible_columns(stops)), "falls": steps}
        return StageRun(tuple(paid_wins), awards, display)

    def _enumerate(self) -> _EnumeratedFigures:
        """Enumerate every winning window with all its falls; add all other windows as cases that pay nothing."""
        figures_accumulator = _StageFiguresAccumulator(self.reels.cycle)
        winning_case_count = 0
        for stops, window_wins, case_count in self.reels.iter_winning_stops():
            winning_case_count += case_count
            paid_prizes = []
            awards: list[Award] = []
            for _, fall_wins, factor in self.list_cascade_windows(stops, window_wins):
                paid_prizes += self._list_won_prizes(fall_wins, factor)
                awards += list_awards(fall_wins)
            figures_accumulator.add_window(paid_prizes, awards, case_count)
        if winning_case_count < self.reels.cycle:
            figures_accumulator.add_window((), (), self.reels.cycle - winning_case_count)
        return figures_accumulator.build_result()


#: A valid strip never refills a window this often; more would be an endless cycle of winning windows.
CASCADE_FALLS_MAX = 200


@dataclass(frozen=True)
class HeldReels(_EnumeratedStage):
    """A reel stage whose reels the player may hold after a first spin; the others spin again, and that window pays.

    The figures are computed with *classes* of columns: the columns of one class pay alike (:meth:`_column_classes`).
    """

    def run(self, draw: DrawSource) -> StageRunDecisions:
        """Spin the reels, ask which reels to hold (a bit mask, reel 1 the lowest bit), and spin the others again."""
        stops = list(self.reels.spin(draw))
        reel_count = len(stops)
        prompt = {
            "stage": self.name,
            **self.build_display(stops, self.reels.find_evaluated_columns(stops)),
        }
        decision = Decision(
            "hold",
            tuple(range(1 << reel_count)),
            prompt,
            build_more_prompt=lambda: {"advice": self.find_best_hold(stops)},
        )
        held_mask = decision.get_chosen_option((yield decision))
        first_stops = list(stops)
        spun_stops = self.reels.spin_some_reels(
            draw, [x for x in range(reel_count) if not held_mask >> x & 1]
        )
        for x, stop in spun_stops.items():
            stops[x] = stop
        _, window_wins = self.reels.evaluate_stops(stops)
        window = self.reels.find_evaluated_columns(stops)
        paid_wins = tuple(
            self.build_payment(window, window_win) for window_win in window_wins if window_win.credits
        )
        return StageRun(
            paid_wins,
            list_awards(window_wins),
            {**self.build_display(stops, window), "first_stops": first_stops, "held": held_mask},
        )

    def find_best_hold(self, stops: Sequence[int]) -> int:
        """Return the mask of the reels that the best strategy holds after a first spin with these stops."""
        return self.best_hold_mask_by_column_classes[
            tuple(self._column_classes[x][self.reels.column_index_by_stop[x][s]] for x, s in enumerate(stops))
        ]

    @cached_property
    def _column_classes(self) -> list[list[int]]:
        """Return, for each reel, the class number of each column that it can show.

        Columns that are equivalent for every line, ways and scatter pay have the same class.
        """
        classes = []
        for letters_by_column in self.reels.letters:
            class_by_letters = {
                letters: class_index for class_index, letters in enumerate(sorted(set(letters_by_column)))
            }
            classes.append([class_by_letters[letters] for letters in letters_by_column])
        return classes

    @property
    def _enumerated_counts(self) -> list[int]:
        """Return, for each reel, how many classes of equivalent columns it has."""
        return [max(classes) + 1 for classes in self._column_classes]

    @cached_property
    def _class_weights(self) -> list[list[int]]:
        """Return, for each reel, how many of its equally likely stops show a column of each class."""
        class_weights_by_reel = []
        for classes, weights in zip(self._column_classes, self.reels.column_weights, strict=True):
            case_counts = [0] * (max(classes) + 1)
            for class_index, weight in zip(classes, weights, strict=True):
                case_counts[class_index] += weight
            class_weights_by_reel.append(case_counts)
        return class_weights_by_reel

    @cached_property
    def _window_results(self) -> dict[tuple[int, ...], tuple[int, list[WindowWin]]]:
        """Return the credits and the prizes of every window, by the classes of the columns that the reels show."""
        reels = self.reels
        example_columns = [
            [reels.columns[x][classes.index(class_index)] for class_index in range(max(classes) + 1)]
            for x, classes in enumerate(self._column_classes)
        ]
        return {
            column_classes: reels.evaluate(
                [example_columns[x][class_index] for x, class_index in enumerate(column_classes)]
            )
            for column_classes in itertools.product(*(range(len(columns)) for columns in example_columns))
        }

    @cached_property
    def _respin_pay_totals(self) -> list[dict[tuple[int, ...], int]]:
        """Return, for every mask of held reels, the total pay of all respins, by the column classes of the held reels.

        A respin counts once for each combination of equally likely stops of the reels that spin again.
        """
        reel_count = len(self._column_classes)
        totals_by_mask: list[dict[tuple[int, ...], int]] = [defaultdict(int) for _ in range(1 << reel_count)]
        for column_classes, (credits_, _) in self._window_results.items():
            if not credits_:
                continue
            for mask in range(1 << reel_count):
                case_count = 1
                for x in range(reel_count):
                    if not mask >> x & 1:
                        case_count *= self._class_weights[x][column_classes[x]]
                totals_by_mask[mask][_select_held_columns(column_classes, mask)] += credits_ * case_count
        return totals_by_mask

    @cached_property
    def best_hold_mask_by_column_classes(self) -> dict[tuple[int, ...], int]:
        """Return which reels the best strategy holds, as a bit mask, by the column classes of the first window.

        The mask has the highest expected credits; among equal masks, the one with the fewest held reels is chosen.
        """
        self._check_window_count()
        masks = range(1 << len(self._column_classes))
        return {
            column_classes: max(
                masks, key=lambda m: (self._compute_hold_mean(column_classes, m), -m.bit_count())
            )
            for column_classes in self._window_results
        }

    @cached_property
    def _respin_counts(self) -> list[int]:
        """Return, for every mask of held reels, the number of equally likely second spins of the other reels."""
        reel_count = len(self._column_classes)
        return [
            prod(self.reels.case_counts[x] for x in range(reel_count) if not mask >> x & 1)
            for mask in range(1 << reel_count)
        ]

    def _compute_hold_mean(self, column_classes: tuple[int, ...], hold_mask: int) -> Fraction:
        """Return the expected credits of holding some reels after a first window, before the stage's multiplier.

        The bits of ``hold_mask`` state which reels are held; ``column_classes`` has the column classes of the first
        window.
        """
        return Fraction(
            self._respin_pay_totals[hold_mask].get(_select_held_columns(column_classes, hold_mask), 0),
            self._respin_counts[hold_mask],
        )

    def _compute_first_window_chance(self, column_classes: tuple[int, ...]) -> Fraction:
        """Return the probability of a first window with these column classes."""
        return Fraction(
            prod(self._class_weights[x][n] for x, n in enumerate(column_classes)), self.reels.cycle
        )

    @cached_property
    def worst_mean(self) -> Fraction:
        """Return the expected credits of one run in which the player always holds the worst reels."""
        self._check_window_count()
        masks = range(1 << len(self._column_classes))
        worst_hold_means = (
            self._compute_first_window_chance(column_classes)
            * min(self._compute_hold_mean(column_classes, m) for m in masks)
            for column_classes in self._window_results
        )
        return self.reels.multiplier * sum(worst_hold_means, Fraction(0))

    def compute_hold_rates(self) -> Mapping[int, tuple[Fraction, Fraction]]:
        """Return, for each set of reels (as bits), how often the best strategy holds it, and the mean win from that."""
        rates_by_mask: dict[int, list[Fraction]] = defaultdict(lambda: [Fraction(0), Fraction(0)])
        for column_classes, mask in self.best_hold_mask_by_column_classes.items():
            chance = self._compute_first_window_chance(column_classes)
            rates_by_mask[mask][0] += chance
            rates_by_mask[mask][1] += (
                chance * self._compute_hold_mean(column_classes, mask) * self.reels.multiplier
            )
        return {
            mask: (chance, mean_contribution)
            for mask, (chance, mean_contribution) in sorted(rates_by_mask.items())
        }

    def _enumerate(self) -> _EnumeratedFigures:
        """Enumerate first and second spins, with the reels held as the best strategy says; return the exact figures."""
        reel_count = len(self._column_classes)
        figures_accumulator = _StageFiguresAccumulator(self.reels.cycle**2)
        case_count_by_hold: dict[tuple[int, tuple[int, ...]], int] = defaultdict(int)
        # a case is one pair of stops for every reel: of the first spin and of a second spin, even of a held reel
        for column_classes, mask in self.best_hold_mask_by_column_classes.items():
            case_count = 1
            for x in range(reel_count):
                case_count *= self._class_weights[x][column_classes[x]]
                if mask >> x & 1:
                    # any stop of the second spin, which a held reel ignores
                    case_count *= self.reels.case_counts[x]
            case_count_by_hold[mask, _select_held_columns(column_classes, mask)] += case_count
        for column_classes, (_, window_wins) in self._window_results.items():
            paid_prizes = self._list_won_prizes(window_wins)
            awards = list_awards(window_wins)
            case_count = 0
            for mask in range(1 << reel_count):
                mask_case_count = case_count_by_hold.get(
                    (mask, _select_held_columns(column_classes, mask)), 0
                )
                if mask_case_count:
                    for x in range(reel_count):
                        if not mask >> x & 1:
                            mask_case_count *= self._class_weights[x][column_classes[x]]
                    case_count += mask_case_count
            figures_accumulator.add_window(paid_prizes, awards, case_count)
        return figures_accumulator.build_result()


def _select_held_columns(column_classes: tuple[int, ...], hold_mask: int) -> tuple[int, ...]:
    """Return the column classes of the reels that ``hold_mask`` holds."""
    return tuple(n for x, n in enumerate(column_classes) if hold_mask >> x & 1)
