"""One Keno draw: the balls and factors drawn, and the results of every way of a ticket."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from paytables.contract import DrawSource, Settlement, draw_and_remove_element, draw_weighted_index
from paytables.keno.tables import BonusesInForce, KenoPays, format_prize_name
from paytables.keno.ticket import KenoTicket, iter_group_combinations


@dataclass(frozen=True, slots=True)
class DrawnBalls:
    """The balls of a Keno draw in the order in which they were drawn, and the factor of each multiplier by its id."""

    balls: tuple[int, ...]
    """The balls in the order in which they were drawn."""
    factor_by_bonus_id: Mapping[str, int]
    """The factor drawn for each multiplier bonus, by its id."""


@dataclass(frozen=True, slots=True)
class WayResult:
    """The result of one way of a Keno selection in one draw; ``credits`` is its prize before the draw's limit."""

    selection_index: int
    """The index of the selection that the way belongs to."""
    numbers: tuple[int, ...]
    """The numbers of the field that the way plays."""
    caught_numbers: tuple[int, ...]
    """The numbers of the way that were drawn."""
    stake_credits: int
    """The credits staked on the way."""
    factor: int
    """The factor of the way's win from the bonuses of the draw."""
    credits: int
    """The prize before the limit on the pay of a draw."""
    level_mask: int
    """The progressive levels that the way wins, level *i* as bit *i*."""

    def build_settlement(self, draw_number: int, credits_: int) -> Settlement:
        """Return the settlement that pays ``credits_`` for this way's win in one draw of the Keno ticket."""
        detail = {
            "draw": draw_number,
            "selection": self.selection_index,
            "numbers": list(self.numbers),
            "hits": list(self.caught_numbers),
            "stake": self.stake_credits,
            "factor": self.factor,
        }
        return Settlement(format_prize_name(len(self.numbers), len(self.caught_numbers)), credits_, detail)


def draw_numbers(
    draw: DrawSource, available_numbers: Sequence[int], count: int, purpose: str
) -> tuple[int, ...]:
    """Draw ``count`` different numbers from ``available_numbers``, and return them in the order drawn.

    Every order is equally likely. Each random number is an index into the remaining numbers, which keep their
    order.
    """
    remaining_numbers = list(available_numbers)
    return tuple(draw_and_remove_element(draw, remaining_numbers, f"{purpose} {i + 1}") for i in range(count))


def draw_weighted_factor(draw: DrawSource, weights: Mapping[int, int], purpose: str) -> int:
    """Draw one of a Keno bonus's factors, each with its weight, and return it."""
    factors = sorted(weights)
    return factors[draw_weighted_index(draw, [weights[factor] for factor in factors], purpose)]


def evaluate_ticket(keno_pays: KenoPays, ticket: KenoTicket, drawn_balls: DrawnBalls) -> list[WayResult]:
    """Return the result of every way of a Keno ticket in one draw; all numbers of the ticket must be known."""
    factor = prod(
        drawn_balls.factor_by_bonus_id[bonus.id] for bonus in ticket.bonuses_in_force.multiplier_bonuses
    )
    results = []
    for i, selection in enumerate(ticket.selections):
        for spot_count, stake in sorted(selection.stake_by_spot_count.items()):
            for group_indexes in iter_group_combinations(selection.group_sizes, spot_count):
                numbers = tuple(sorted(n for g in group_indexes for n in selection.groups[g]))
                results.append(
                    _build_way_result(
                        keno_pays, ticket.bonuses_in_force, i, numbers, stake, drawn_balls, factor
                    )
                )
    return results


def _build_way_result(
    keno_pays: KenoPays,
    bonuses_in_force: BonusesInForce,
    selection_index: int,
    numbers: tuple[int, ...],
    stake_credits: int,
    drawn_balls: DrawnBalls,
    factor: int,
) -> WayResult:
    """Return the result of one way of a Keno ticket in a draw: its ``numbers`` and stake against the balls drawn."""
    caught_balls = tuple(ball for ball in drawn_balls.balls if ball in numbers)
    spot_count, catch_count = len(numbers), len(caught_balls)
    named_ball_bits = sum(
        1 << i
        for i, bonus in enumerate(bonuses_in_force.ball_bonuses)
        if drawn_balls.balls[bonus.ball_number - 1] in numbers
    )
    total_factor = factor * bonuses_in_force.compute_factor(named_ball_bits)
    return WayResult(
        selection_index=selection_index,
        numbers=numbers,
        caught_numbers=caught_balls,
        stake_credits=stake_credits,
        factor=total_factor,
        credits=stake_credits * keno_pays.find_pay_credits(spot_count, catch_count) * total_factor,
        level_mask=keno_pays.find_won_levels_mask(spot_count, stake_credits, catch_count),
    )


def list_levels_won(keno_pays: KenoPays, way_results: Sequence[WayResult]) -> list[str]:
    """Return the progressive levels that the ways of a Keno ticket win in one draw, each once.

    They are in the definition's order.
    """
    won_mask = 0
    for way_result in way_results:
        won_mask |= way_result.level_mask
    return [level.id for i, level in enumerate(keno_pays.levels) if won_mask >> i & 1]
