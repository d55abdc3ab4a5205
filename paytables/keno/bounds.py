"""Figures of a Keno ticket whose joint distribution is beyond exact computation.

Return and variance follow exactly from single ways and pairs of ways, even if ways share numbers. The probability of
any win is bounded from two sums: of P(way i wins) over all ways, and of P(ways i and j both win) over all pairs (the
first two binomial moments, as in inclusion and exclusion). Nothing here is simulated or estimated.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from paytables.analysis import BetAnalysis
from paytables.keno.joint import JointCalculation, JointSelection
from paytables.keno.schema import KenoDefinition
from paytables.keno.tables import KenoPays
from paytables.keno.ticket import KenoTicket, TicketSelection, iter_group_combinations
from paytables.keno.win_distribution import (
    build_credits_distribution,
    build_joint_selection,
    compute_factor_weights,
    compute_joint_distribution,
    list_quick_pick_distributions,
)


@dataclass(frozen=True, slots=True)
class JointWayResult:
    """The joint result of two ways of a Keno ticket: the mean of the product of their wins, and P(both win)."""

    mean_product: Fraction
    """The mean of the product of the two ways' wins."""
    both_win_chance: Fraction
    """The probability that both ways win."""


@dataclass(frozen=True, slots=True)
class WinSum:
    """The sum of the wins of several ways of a Keno ticket, before multipliers.

    Its fields are the mean, E[sum^2], and bounds of the probability that no way wins.
    """

    mean: Fraction
    """The mean of the sum of the ways' wins."""
    mean_square: Fraction
    """The mean of the square of the sum of the ways' wins."""
    no_win_chance_min: Fraction
    """A lower bound of the probability that no way wins."""
    no_win_chance_max: Fraction
    """An upper bound of the probability that no way wins."""

    def add_independent(self, other: "WinSum") -> "WinSum":
        """Return the sum of these Keno wins and of the independent wins ``other``."""
        return WinSum(
            self.mean + other.mean,
            self.mean_square + other.mean_square + 2 * self.mean * other.mean,
            self.no_win_chance_min * other.no_win_chance_min,
            self.no_win_chance_max * other.no_win_chance_max,
        )


def compute_bounded_figures(
    definition: KenoDefinition, keno_pays: KenoPays, ticket: KenoTicket, bet_name: str, reason: str
) -> BetAnalysis:
    """Return the figures of a Keno ticket whose distribution is beyond exact computation, for a stated reason.

    Return and variance are exact; the hit frequency is given as bounds. The limit on the pay of a draw is ignored;
    :func:`paytables.keno.figures.analyse` states how much that limit lowers the return at most.
    """
    win_sum = _sum_marked_ways(definition, keno_pays, ticket)
    for distribution in list_quick_pick_distributions(definition, keno_pays, ticket):
        quick_pick = build_credits_distribution(distribution)
        no_win_chance = 1 - quick_pick.compute_chance_of_at_least(1)
        win_sum = win_sum.add_independent(
            WinSum(quick_pick.compute_moment(1), quick_pick.compute_moment(2), no_win_chance, no_win_chance)
        )
    weights = compute_factor_weights(ticket.bonuses_in_force)
    weight_sum = sum(weights.values())
    mean_factor = Fraction(sum(factor * weight for factor, weight in weights.items()), weight_sum)
    mean_square_factor = Fraction(sum(factor**2 * weight for factor, weight in weights.items()), weight_sum)
    lower_bound = 1 - win_sum.no_win_chance_max**ticket.draw_count
    upper_bound = 1 - win_sum.no_win_chance_min**ticket.draw_count
    notes = [f"{reason}; return and variance are exact, from pairs of ways"]
    notes.append(
        f"P(any win) lies between {lower_bound} and {upper_bound} (Dawson and Sankoff 1967; Kwerel 1975)"
    )
    if definition.prize_limit is not None:
        notes.append("the limit on the pay of one draw is ignored")
    if keno_pays.levels:
        notes.append("progressive levels are left out")
    return BetAnalysis(
        bet=bet_name,
        cost_credits=ticket.cost_credits,
        options=ticket.to_json(),
        rtp=mean_factor * win_sum.mean / ticket.cost_per_draw_credits,
        cycle=definition.cycle,
        variance=ticket.draw_count
        * (mean_square_factor * win_sum.mean_square - (mean_factor * win_sum.mean) ** 2),
        notes=tuple(notes),
    )


def _iter_ways(ticket: KenoTicket) -> Iterator[tuple[frozenset[int], int]]:
    """Yield each way of a Keno ticket's marked selections: its numbers and its stake."""
    for selection in ticket.selections:
        if not selection.is_quick_pick:
            for spot_count, stake in sorted(selection.stake_by_spot_count.items()):
                for group_indexes in iter_group_combinations(selection.group_sizes, spot_count):
                    yield frozenset(n for g in group_indexes for n in selection.groups[g]), stake


def _sum_marked_ways(definition: KenoDefinition, keno_pays: KenoPays, ticket: KenoTicket) -> WinSum:
    """Return the sum of the wins of all ways of a ticket's marked selections.

    P(no win) is bounded by the probabilities that single ways, and pairs of ways, win.
    """
    ways = list(_iter_ways(ticket))
    # a way's mean win, mean squared win and win probability, by number of spots and stake
    moments_by_kind: dict[tuple[int, int], tuple[Fraction, Fraction, Fraction]] = {}
    result_by_pair_class: dict[tuple[int, int, int, int, int], JointWayResult] = {}
    mean = mean_square = chance_sum = pair_chance_sum = Fraction(0)
    for numbers, stake in ways:
        kind = (len(numbers), stake)
        if kind not in moments_by_kind:
            distribution = build_credits_distribution(
                compute_joint_distribution(
                    definition,
                    [_build_way_selection(keno_pays, ticket, numbers, stake)],
                    ticket.bonuses_in_force,
                )
            )
            moments_by_kind[kind] = (
                distribution.compute_moment(1),
                distribution.compute_moment(2),
                distribution.compute_chance_of_at_least(1),
            )
        way_mean, way_mean_square, way_chance = moments_by_kind[kind]
        mean += way_mean
        mean_square += way_mean_square
        chance_sum += way_chance
    for first_way, second_way in combinations(ways, 2):
        pair_class = _classify_pair(first_way, second_way)
        if pair_class not in result_by_pair_class:
            result_by_pair_class[pair_class] = _compute_joint_way_result(
                definition, keno_pays, ticket, pair_class
            )
        # (x + y)**2 = x**2 + y**2 + 2 * x * y
        mean_square += 2 * result_by_pair_class[pair_class].mean_product
        pair_chance_sum += result_by_pair_class[pair_class].both_win_chance
    lower_bound, upper_bound = bound_chance_of_any(len(ways), chance_sum, pair_chance_sum)
    return WinSum(mean, mean_square, 1 - upper_bound, 1 - lower_bound)


def _classify_pair(
    first_way: tuple[frozenset[int], int], second_way: tuple[frozenset[int], int]
) -> tuple[int, int, int, int, int]:
    """Return a class for two Keno ways: spot count and stake of each, and the number of shared numbers.

    All pairs of ways of one class have the same joint result.
    """
    lower_kind, higher_kind = sorted([(len(first_way[0]), first_way[1]), (len(second_way[0]), second_way[1])])
    return (*lower_kind, *higher_kind, len(first_way[0] & second_way[0]))


def _build_way_selection(
    keno_pays: KenoPays, ticket: KenoTicket, numbers: frozenset[int], stake: int
) -> JointSelection:
    """Return a single way of a Keno ticket as a selection for the calculation of joint distributions."""
    selection = TicketSelection((len(numbers),), (tuple(sorted(numbers)),), {len(numbers): stake})
    return build_joint_selection(selection, [numbers], keno_pays, ticket.bonuses_in_force)


def _compute_joint_way_result(
    definition: KenoDefinition,
    keno_pays: KenoPays,
    ticket: KenoTicket,
    pair_class: tuple[int, int, int, int, int],
) -> JointWayResult:
    """Return the joint result of two ways of a Keno ticket; ``pair_class`` is their class (:func:`_classify_pair`).

    Both are put into one distribution. The credits of the second are multiplied by a unit that exceeds every win of the
    first, so that both can be read from their sum. Example: with the unit 1000, a sum of 24003 is 3 and 24 credits.
    """
    spot_count_a, stake_a, spot_count_b, stake_b, shared_number_count = pair_class
    first_selection = _build_way_selection(keno_pays, ticket, frozenset(range(spot_count_a)), stake_a)
    second_way_start = spot_count_a - shared_number_count
    second_selection = _build_way_selection(
        keno_pays, ticket, frozenset(range(second_way_start, second_way_start + spot_count_b)), stake_b
    )
    unit = (
        1
        + stake_a
        * max(keno_pays.pays_by_spot_count[spot_count_a].values())
        * ticket.bonuses_in_force.factor_max
    )
    scaled_selection = JointSelection(
        second_selection.groups,
        second_selection.spot_counts,
        lambda way_count_by_catch: (second_selection.compute_win(way_count_by_catch)[0] * unit, 0),
    )
    keno_field = definition.field
    distribution = build_credits_distribution(
        JointCalculation(
            [first_selection, scaled_selection],
            keno_field.number_count,
            keno_field.drawn_count,
            len(ticket.bonuses_in_force.ball_bonuses),
        ).compute_distribution()
    )
    wins_and_case_counts = [
        (scaled_sum % unit, scaled_sum // unit, case_count)
        for scaled_sum, case_count in distribution.case_count_by_win.items()
    ]
    return JointWayResult(
        mean_product=Fraction(
            sum(win_a * win_b * case_count for win_a, win_b, case_count in wins_and_case_counts),
            distribution.case_count,
        ),
        both_win_chance=Fraction(
            sum(case_count for win_a, win_b, case_count in wins_and_case_counts if win_a and win_b),
            distribution.case_count,
        ),
    )


def bound_chance_of_any(
    event_count: int, chance_sum: Fraction, pair_chance_sum: Fraction
) -> tuple[Fraction, Fraction]:
    """Return bounds of the chance that any of several events happens, given S1 = sum P(i), S2 = sum P(i and j).

    The lower bound is by Dawson and Sankoff, *An inequality for probabilities* (1967); the upper by Kwerel,
    *Most stringent bounds on aggregated probabilities* (1975). Both are the best possible from S1 and S2.
    """
    if not chance_sum:
        return Fraction(0), Fraction(0)
    k = 1 + (2 * pair_chance_sum) // chance_sum
    lower_bound = 2 * chance_sum / (k + 1) - 2 * pair_chance_sum / (k * (k + 1))
    upper_bound = min(Fraction(1), chance_sum - 2 * pair_chance_sum / event_count)
    return lower_bound, upper_bound
