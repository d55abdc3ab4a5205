"""Bonus stages that are not reels: picks, wheels, hold-and-spin, each with its exact distribution.

The player's picks only change the order in which boxes are opened. The contents of a box are drawn when it is
opened, from what the earlier boxes left (or, with replacement, from all items), so every order of picks has
the same distribution and no strategy exists.
"""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate
from math import comb
from operator import mul

from paytables.contract import Decision, DrawSource, draw_weighted_index
from paytables.reels.automaton import Award
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
    compute_award_rates,
    find_top_pays_by_awards,
    select_given_awards,
    sum_award_means,
)


@dataclass(frozen=True, slots=True)
class BonusItem:
    """A box, wheel segment or coin of a bonus stage: its credits in one mode, its awards, and how many exist."""

    name: str
    """The id of the item."""
    credits: int
    """The credits that the item pays at bet level 1."""
    awards: tuple[Award, ...]
    """What the item gives in addition to credits."""
    count: int
    """How many of the item exist, or its weight if contents are drawn with replacement."""
    ends_picking: bool
    """Whether the item ends the picking."""

    def build_payments(self, detail: Mapping[str, int]) -> tuple[PaidWin, ...]:
        """Return the payment for a box, wheel segment or coin; empty if it pays no credits.

        ``detail`` says where on the screen the item is.
        """
        return (PaidWin(self.name, self.credits, dict(detail)),) if self.credits else ()


class _EnumerableBonusStage(ABC):
    """Base class of bonus stages with few enough results for their whole win distribution to be computed."""

    def compute_distribution(self) -> ChanceByCreditsAndAwards:
        """Return the probability of each result (credits won, awards given) of one run of this bonus stage."""
        return self._distribution

    def find_top_pays(self) -> TopPayByAwards:
        """Return, for each combination of awards, the highest pay of a run that gives it, and its probability."""
        return find_top_pays_by_awards(self._distribution)

    @property
    def worst_mean(self) -> Fraction | None:
        """Return the mean of the worst decisions: None, because by default the stage has no decision."""
        return None

    @abstractmethod
    def _compute_distribution(self) -> ChanceByCreditsAndAwards:
        """Compute the probability of each result (credits won, awards given) of one run of this bonus stage."""

    @cached_property
    def _distribution(self) -> ChanceByCreditsAndAwards:
        """Return the probability of each result (credits won, awards given) of one run, computed once."""
        return self._compute_distribution()

    @cached_property
    def _run_figures(self) -> RunFigures:
        """Return the exact means, award probabilities and moments of one run of the bonus stage, computed once."""
        return build_run_figures(self._distribution)

    def compute_figures(self, *, with_second_moment: bool) -> RunFigures:  # noqa: ARG002 (both moments are computed together here)
        """Return the exact figures of one run, always with second moments."""
        return self._run_figures


@dataclass(frozen=True)
class PickBonus(_EnumerableBonusStage):
    """A bonus stage in which the player opens boxes one at a time.

    It ends when ``pick_count`` boxes are open, or with an item that ends the picking.
    """

    name: str
    items: tuple[BonusItem, ...]
    """The possible contents of the boxes."""
    pick_count: int
    """The largest number of boxes that are opened."""
    box_count: int
    """The number of boxes shown."""
    with_replacement: bool
    """Whether each box is an independent draw. The counts of the items are then the weights of the draw."""

    def _remove_drawn_item(self, counts: tuple[int, ...], index: int) -> tuple[int, ...]:
        """Return the counts of the items left to draw after item ``index`` is drawn; unchanged with replacement."""
        return counts if self.with_replacement else (*counts[:index], counts[index] - 1, *counts[index + 1 :])

    @property
    def worst_mean(self) -> Fraction:
        """Return the mean credits of one run, because no order of opening boxes is better or worse than another."""
        return self._run_figures.mean

    def run(self, draw: DrawSource) -> StageRunDecisions:
        """Ask the player for a box and draw its contents from the remaining items, until the picking ends."""
        counts = tuple(p.count for p in self.items)
        closed_boxes = list(range(self.box_count))
        paid_wins: list[PaidWin] = []
        awards: list[Award] = []
        opened_boxes: list[dict[str, int | str]] = []
        for pick_index in range(self.pick_count):
            decision = Decision(
                "pick", tuple(closed_boxes), {"stage": self.name, "opened": list(opened_boxes)}
            )
            box = decision.get_chosen_option((yield decision))
            closed_boxes.remove(box)
            index = draw_weighted_index(draw, counts, f"{self.name}.pick{pick_index + 1}")
            counts = self._remove_drawn_item(counts, index)
            item = self.items[index]
            paid_wins += item.build_payments({"box": box})
            awards += item.awards
            opened_boxes.append({"box": box, "item": item.name, "credits": item.credits})
            if item.ends_picking:
                break
        return StageRun(tuple(paid_wins), tuple(awards), {"boxes": self.box_count, "opened": opened_boxes})

    def _compute_distribution(self) -> ChanceByCreditsAndAwards:
        """Return the probability of each result of one run, by recursion over the counts of the items not yet drawn.

        Every order of the items in the first n boxes is equally likely. Therefore orders are counted as integers, and
        the count of each result is divided by the number of all orders at the end.
        """
        unfinished_states: dict[tuple[tuple[int, ...], int, GivenAwards], int] = {
            (tuple(p.count for p in self.items), 0, ()): 1
        }
        finished_chances: dict[tuple[int, GivenAwards], Fraction] = defaultdict(Fraction)
        for pick_index, order_count in enumerate(self._box_order_counts):
            still_unfinished: dict[tuple[tuple[int, ...], int, GivenAwards], int] = defaultdict(int)
            ended_cases: dict[tuple[int, GivenAwards], int] = defaultdict(int)
            for (counts, credits_, given_awards), cases in unfinished_states.items():
                for i, item in enumerate(self.items):
                    if not counts[i]:
                        continue
                    result = (credits_ + item.credits, select_given_awards((*given_awards, *item.awards)))
                    if item.ends_picking or pick_index + 1 == self.pick_count:
                        ended_cases[result] += cases * counts[i]
                    else:
                        still_unfinished[self._remove_drawn_item(counts, i), *result] += cases * counts[i]
            for result, cases in ended_cases.items():
                finished_chances[result] += Fraction(cases, order_count)
            unfinished_states = still_unfinished
        return dict(finished_chances)

    @property
    def _box_order_counts(self) -> list[int]:
        """Return, for each n from 1 to ``pick_count``, the number of orders in which items fill the first n boxes.

        Example: five items and three picks give 5, 20 and 60.
        """
        item_count = sum(p.count for p in self.items)
        return list(
            accumulate(
                (item_count if self.with_replacement else item_count - n for n in range(self.pick_count)), mul
            )
        )

    def list_prize_rates(self) -> list[PrizeRate]:
        """Return, for each item that pays credits, the expected number of opened boxes in one run that contain it."""
        rates = self._mean_openings
        return [
            PrizeRate(
                item.name, item.credits, rate.numerator, rate.numerator * item.credits, rate.denominator
            )
            for item, rate in zip(self.items, rates, strict=True)
            if item.credits
        ]

    def compute_mean_awards(self) -> MeanByAwardKindAndName:
        """Return the mean number of times that one run gives each level and prize in kind, by (kind, name)."""
        item_rates = zip(self.items, self._mean_openings, strict=True)
        return sum_award_means((award, rate) for item, rate in item_rates for award in item.awards)

    @cached_property
    def _mean_openings(self) -> list[Fraction]:
        """Return, for each item, the mean number of opened boxes in one run that contain it."""
        rates = [Fraction(0)] * len(self.items)
        unfinished_states = {tuple(p.count for p in self.items): 1}
        for order_count in self._box_order_counts:
            still_unfinished: dict[tuple[int, ...], int] = defaultdict(int)
            opened_counts = [0] * len(self.items)
            for counts, cases in unfinished_states.items():
                for i, item in enumerate(self.items):
                    if counts[i]:
                        opened_counts[i] += cases * counts[i]
                        if not item.ends_picking:
                            still_unfinished[self._remove_drawn_item(counts, i)] += cases * counts[i]
            rates = [
                rate + Fraction(cases, order_count) for rate, cases in zip(rates, opened_counts, strict=True)
            ]
            unfinished_states = still_unfinished
        return rates


@dataclass(frozen=True)
class WheelBonus(_EnumerableBonusStage):
    """A bonus stage with a wheel of equal segments, which is spun once."""

    name: str
    segments: tuple[BonusItem, ...]
    """The segments of the wheel, in their order."""

    def run(self, draw: DrawSource) -> StageRun:
        """Spin the wheel once; return the prize and awards of the segment at which it stops."""
        segment_index = draw.below(len(self.segments), f"{self.name}.wheel")
        item = self.segments[segment_index]
        shown_segments = [{"item": p.name, "credits": p.credits} for p in self.segments]
        return StageRun(
            item.build_payments({"part": segment_index}),
            item.awards,
            {"parts": shown_segments, "part": segment_index},
        )

    def _compute_distribution(self) -> ChanceByCreditsAndAwards:
        """Return the probability of each result (credits won, awards given) of one spin of the wheel."""
        distribution: dict[tuple[int, GivenAwards], Fraction] = defaultdict(Fraction)
        for item in self.segments:
            distribution[item.credits, select_given_awards(item.awards)] += Fraction(1, len(self.segments))
        return dict(distribution)

    def list_prize_rates(self) -> list[PrizeRate]:
        """Return, for each different segment of the wheel that pays credits, how often a spin wins it."""
        counts: dict[tuple[str, int], int] = defaultdict(int)
        for item in self.segments:
            if item.credits:
                counts[item.name, item.credits] += 1
        return [
            PrizeRate(name, credits_, count, count * credits_, len(self.segments))
            for (name, credits_), count in counts.items()
        ]

    def compute_mean_awards(self) -> MeanByAwardKindAndName:
        """Return the mean number of times that one spin gives each level and prize in kind, by (kind, name)."""
        return sum_award_means(
            (award, Fraction(1, len(self.segments))) for item in self.segments for award in item.awards
        )


@lru_cache(maxsize=256)
def _compute_landing_chances(
    coin_numerator: int, coin_denominator: int, empty_cells: int
) -> tuple[Fraction, ...]:
    """Return, for n = 0, 1, 2... up to ``empty_cells``, the probability that n coins land in one spin.

    On each of the ``empty_cells`` cells a coin lands with probability ``coin_numerator`` / ``coin_denominator``. The
    number of coins has a binomial distribution.
    """
    return tuple(
        Fraction(
            comb(empty_cells, landed)
            * coin_numerator**landed
            * (coin_denominator - coin_numerator) ** (empty_cells - landed),
            coin_denominator**empty_cells,
        )
        for landed in range(empty_cells + 1)
    )


@dataclass(frozen=True)
class HoldBonus(_EnumerableBonusStage):
    """A hold-and-spin bonus stage: coins stay on a board of cells, and the empty cells spin again."""

    name: str
    cell_count: int
    """The number of cells of the board."""
    respin_count: int
    """The number of respins at the start, and again after each spin in which a new coin lands."""
    coin_numerator: int
    """The numerator of the probability that a coin lands on an empty cell in one spin."""
    coin_denominator: int
    """The denominator of the probability that a coin lands on an empty cell in one spin."""
    items: tuple[BonusItem, ...]
    """The kinds of coin, drawn by their weights."""
    full_board_prize: BonusItem | None
    """The prize if every cell holds a coin; None: no such prize."""
    start_coins: int
    """The number of coins on the board at the start."""

    def run(self, draw: DrawSource) -> StageRun:
        """Spin the empty cells of the board until the respins run out or no cell is empty; return the result."""
        weights = [p.count for p in self.items]
        item_by_cell: list[int | None] = [None] * self.cell_count
        cell_order = list(range(self.cell_count))
        # the cells of the first coins are a uniform sample; each coin's value is drawn separately
        for coin_index in range(self.start_coins):
            swap_index = coin_index + draw.below(self.cell_count - coin_index, f"{self.name}.cell")
            cell_order[coin_index], cell_order[swap_index] = cell_order[swap_index], cell_order[coin_index]
            item_by_cell[cell_order[coin_index]] = draw_weighted_index(draw, weights, f"{self.name}.coin")
        spins = [{"left": self.respin_count, "cells": list(item_by_cell)}]
        respins_left = self.respin_count
        while respins_left and None in item_by_cell:
            respins_left -= 1
            for cell in [c for c, w in enumerate(item_by_cell) if w is None]:
                if draw.below(self.coin_denominator, f"{self.name}.land") < self.coin_numerator:
                    item_by_cell[cell] = draw_weighted_index(draw, weights, f"{self.name}.coin")
                    respins_left = self.respin_count
            spins.append({"left": respins_left, "cells": list(item_by_cell)})
        paid_wins: list[PaidWin] = []
        awards: list[Award] = []
        for cell, index in enumerate(item_by_cell):
            if index is not None:
                paid_wins += self.items[index].build_payments({"cell": cell})
                awards += self.items[index].awards
        if None not in item_by_cell and self.full_board_prize is not None:
            paid_wins += self.full_board_prize.build_payments({})
            awards += self.full_board_prize.awards
        shown_coins = [{"item": p.name, "credits": p.credits} for p in self.items]
        return StageRun(
            tuple(paid_wins), tuple(awards), {"cells": self.cell_count, "coins": shown_coins, "spins": spins}
        )

    @cached_property
    def _coin_count_chances(self) -> Mapping[int, Fraction]:
        """Return the probability of each final number of coins, by a Markov chain on (coins, respins left)."""
        chance_by_coins: dict[int, Fraction] = defaultdict(Fraction)
        unfinished_states: dict[tuple[int, int], Fraction] = {
            (self.start_coins, self.respin_count): Fraction(1)
        }
        while unfinished_states:  # every step uses up a respin or a cell, so this ends
            still_unfinished: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
            for (coins, respins_left), chance in unfinished_states.items():
                if respins_left == 0 or coins == self.cell_count:
                    chance_by_coins[coins] += chance
                    continue
                for landed, landing_chance in enumerate(
                    _compute_landing_chances(
                        self.coin_numerator, self.coin_denominator, self.cell_count - coins
                    )
                ):
                    still_unfinished[coins + landed, self.respin_count if landed else respins_left - 1] += (
                        chance * landing_chance
                    )
            unfinished_states = still_unfinished
        return dict(chance_by_coins)

    @property
    def _total_weight(self) -> int:
        """Return the sum of the weights of all kinds of coin."""
        return sum(p.count for p in self.items)

    @cached_property
    def _run_figures(self) -> RunFigures:
        """Return the exact figures of one run, from the moments of the number of coins and of one coin's value."""
        coin_mean = Fraction(sum(item.count * item.credits for item in self.items), self._total_weight)
        coin_square = Fraction(sum(item.count * item.credits**2 for item in self.items), self._total_weight)
        chances: dict[GivenAwards, Fraction] = defaultdict(Fraction)
        mean_by_awards: dict[GivenAwards, Fraction] = defaultdict(Fraction)
        second_moment = Fraction(0)
        for coins, chance in self._coin_count_chances.items():
            full_board_credits, given_awards = self._find_full_board_win(coins)
            expected_credits = coins * coin_mean + full_board_credits
            chances[given_awards] += chance
            mean_by_awards[given_awards] += chance * expected_credits
            # E[X^2] = Var X + (E X)^2; the variances of independent coins add up
            second_moment += chance * (coins * (coin_square - coin_mean**2) + expected_credits**2)
        return RunFigures(
            compute_award_rates(chances),
            chances,
            sum(mean_by_awards.values(), Fraction(0)),
            mean_by_awards,
            second_moment,
        )

    def _find_full_board_win(self, coins: int) -> tuple[int, GivenAwards]:
        """Return the credits and the awards of the full-board prize if ``coins`` coins fill the board; else (0, ())."""
        prize = self.full_board_prize if coins == self.cell_count else None
        return (0, ()) if prize is None else (prize.credits, select_given_awards(prize.awards))

    def _compute_distribution(self) -> ChanceByCreditsAndAwards:
        """Return the probability of each pair of total credits and awards that one hold-and-spin run can give."""
        distribution: dict[tuple[int, GivenAwards], Fraction] = defaultdict(Fraction)
        # the cases of each sum of the coins' values; all sums together have (total weight) ** coins cases
        case_count_by_credits: dict[int, int] = {0: 1}
        for coins in range(self.cell_count + 1):
            full_board_credits, given_awards = self._find_full_board_win(coins)
            if coins in self._coin_count_chances:
                case_chance = self._coin_count_chances[coins] / self._total_weight**coins
                for credits_, cases in case_count_by_credits.items():
                    distribution[credits_ + full_board_credits, given_awards] += cases * case_chance
            with_one_more_coin: dict[int, int] = defaultdict(int)
            for credits_, cases in case_count_by_credits.items():
                for item in self.items:
                    with_one_more_coin[credits_ + item.credits] += cases * item.count
            case_count_by_credits = with_one_more_coin
        return dict(distribution)

    def _compute_item_rates(self) -> list[tuple[BonusItem, Fraction]]:
        """Return (coin, mean number in one run) for each kind of coin, and (full-board prize, probability) last."""
        mean_coins = sum((coins * chance for coins, chance in self._coin_count_chances.items()), Fraction(0))
        rates = [(item, mean_coins * Fraction(item.count, self._total_weight)) for item in self.items]
        if self.full_board_prize is not None:
            rates.append((self.full_board_prize, self._coin_count_chances.get(self.cell_count, Fraction(0))))
        return rates

    def list_prize_rates(self) -> list[PrizeRate]:
        """Return how often one run wins each kind of coin that pays credits, and the prize for a full board."""
        return [
            PrizeRate(
                item.name, item.credits, rate.numerator, rate.numerator * item.credits, rate.denominator
            )
            for item, rate in self._compute_item_rates()
            if item.credits
        ]

    def compute_mean_awards(self) -> MeanByAwardKindAndName:
        """Return the mean number of times that one run gives each level and prize in kind, by (kind, name)."""
        return sum_award_means(
            (award, rate) for item, rate in self._compute_item_rates() for award in item.awards
        )
