"""The exact distribution of what one Keno ticket wins in one draw, and in several draws.

A quick-picked selection is an independent, uniformly random set of numbers, so its catches depend neither on
the draw nor on the other selections: its distribution is convolved with theirs. Marked selections share one
field and go through :class:`paytables.keno.joint.JointCalculation` together.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate
from math import gcd

from paytables.analysis import WinDistribution
from paytables.errors import AnalysisError
from paytables.keno.joint import (
    Catch,
    CreditsAndLevels,
    JointCalculation,
    JointSelection,
    NumberGroup,
    WinCounts,
)
from paytables.keno.schema import KenoDefinition
from paytables.keno.tables import BonusesInForce, KenoPays
from paytables.keno.ticket import KenoTicket, TicketSelection

#: Maximum number of pairs of cases in one convolution; more are beyond exact computation.
CONVOLUTION_PAIRS_MAX = 4_000_000

#: The distribution in which nothing is ever won.
NO_WIN_DISTRIBUTION = WinCounts(1, {(0, 0): 1})


def build_joint_selection(
    selection: TicketSelection,
    groups: Sequence[NumberGroup],
    keno_pays: KenoPays,
    bonuses_in_force: BonusesInForce,
) -> JointSelection:
    """Return a Keno selection with its win function, as the calculation of joint distributions needs it."""
    stakes = selection.stake_by_spot_count

    def find_win(way_count_by_catch: Mapping[Catch, int]) -> CreditsAndLevels:
        """Return a Keno selection's win (credits, levels) from the number of its ways with each catch."""
        credits_ = levels = 0
        for (spots, catch, named_ball_bits), ways in way_count_by_catch.items():
            credits_ += (
                ways
                * stakes[spots]
                * keno_pays.find_pay_credits(spots, catch)
                * bonuses_in_force.compute_factor(named_ball_bits)
            )
            levels |= keno_pays.find_won_levels_mask(spots, stakes[spots], catch)
        return credits_, levels

    return JointSelection(tuple(groups), frozenset(stakes), find_win)


def compute_joint_distribution(
    definition: KenoDefinition, selections: Sequence[JointSelection], bonuses_in_force: BonusesInForce
) -> WinCounts:
    """Return the joint win distribution of marked selections. Raises :class:`AnalysisError` if too large."""
    return JointCalculation(
        selections,
        definition.field.number_count,
        definition.field.drawn_count,
        len(bonuses_in_force.ball_bonuses),
    ).compute_distribution()


def list_marked_selections(ticket: KenoTicket, keno_pays: KenoPays) -> list[JointSelection]:
    """Return a ticket's marked selections (not quick picks), as the calculation of joint distributions needs them."""
    return [
        build_joint_selection(s, [frozenset(g) for g in s.groups], keno_pays, ticket.bonuses_in_force)
        for s in ticket.selections
        if not s.is_quick_pick
    ]


def list_quick_pick_distributions(
    definition: KenoDefinition, keno_pays: KenoPays, ticket: KenoTicket
) -> list[WinCounts]:
    """Return the win distribution of each quick-picked selection of a ticket.

    Equal selections share one computation.
    """
    known_counts: dict[tuple[object, ...], WinCounts] = {}
    distributions = []
    for selection in ticket.selections:
        if not selection.is_quick_pick:
            continue
        key = (selection.group_sizes, tuple(sorted(selection.stake_by_spot_count.items())))
        if key not in known_counts:
            # every fixed set of numbers has the same distribution: take the numbers from 0 on
            ends = accumulate(selection.group_sizes)
            groups = [frozenset(range(e - n, e)) for n, e in zip(selection.group_sizes, ends, strict=True)]
            known_counts[key] = compute_joint_distribution(
                definition,
                [build_joint_selection(selection, groups, keno_pays, ticket.bonuses_in_force)],
                ticket.bonuses_in_force,
            )
        distributions.append(known_counts[key])
    return distributions


def compute_distribution_before_multipliers(
    definition: KenoDefinition, keno_pays: KenoPays, ticket: KenoTicket
) -> WinCounts:
    """Return a ticket's win distribution in one draw before multipliers and limit.

    Raises :class:`AnalysisError` if it is too large.
    """
    selections = list_marked_selections(ticket, keno_pays)
    distribution = (
        compute_joint_distribution(definition, selections, ticket.bonuses_in_force)
        if selections
        else NO_WIN_DISTRIBUTION
    )
    for quick_pick in list_quick_pick_distributions(definition, keno_pays, ticket):
        distribution = add_independent_wins(distribution, quick_pick)
    return distribution


def compute_one_draw_distribution(
    definition: KenoDefinition, keno_pays: KenoPays, ticket: KenoTicket
) -> WinCounts:
    """Return the distribution of what one draw pays a Keno ticket, multipliers and limit applied.

    Raises :class:`AnalysisError` if it is too large.
    """
    distribution = apply_multipliers(
        compute_distribution_before_multipliers(definition, keno_pays, ticket), ticket.bonuses_in_force
    )
    return (
        distribution
        if definition.prize_limit_credits is None
        else limit_wins(distribution, definition.prize_limit_credits)
    )


def add_independent_wins(a: WinCounts, b: WinCounts) -> WinCounts:
    """Return the distribution of the sum of two independent Keno wins.

    Raises :class:`AnalysisError` if it is too large.
    """
    if len(a.case_count_by_win) * len(b.case_count_by_win) > CONVOLUTION_PAIRS_MAX:
        raise AnalysisError(
            f"a convolution of {len(a.case_count_by_win)} with {len(b.case_count_by_win)} cases: it is too costly to"
            " compute exactly"
        )
    case_count_by_win: dict[CreditsAndLevels, int] = {}
    for (credits_a, levels_a), count_a in a.case_count_by_win.items():
        for (credits_b, levels_b), count_b in b.case_count_by_win.items():
            win = (credits_a + credits_b, levels_a | levels_b)
            case_count_by_win[win] = case_count_by_win.get(win, 0) + count_a * count_b
    return WinCounts(a.case_count * b.case_count, case_count_by_win)


def compute_factor_weights(bonuses_in_force: BonusesInForce) -> dict[int, int]:
    """Return the weight of each product of factors that the multiplier bonuses of a Keno draw can have together."""
    weight_by_product = {1: 1}
    for bonus in bonuses_in_force.multiplier_bonuses:
        next_weights: dict[int, int] = {}
        for factor, weight in weight_by_product.items():
            for other_factor, other_weight in bonus.weight_by_factor.items():
                product = factor * other_factor
                next_weights[product] = next_weights.get(product, 0) + weight * other_weight
        weight_by_product = next_weights
    return weight_by_product


def apply_multipliers(distribution: WinCounts, bonuses_in_force: BonusesInForce) -> WinCounts:
    """Return a win distribution after the multipliers of the Keno draw, which apply to all wins but not to levels."""
    weights = compute_factor_weights(bonuses_in_force)
    case_count_by_win: dict[CreditsAndLevels, int] = {}
    for (credits_, levels), count in distribution.case_count_by_win.items():
        for factor, weight in weights.items():
            win = (credits_ * factor, levels)
            case_count_by_win[win] = case_count_by_win.get(win, 0) + count * weight
    return WinCounts(distribution.case_count * sum(weights.values()), case_count_by_win)


def limit_wins(distribution: WinCounts, limit_credits: int) -> WinCounts:
    """Return the distribution of a Keno win with each win reduced to at most ``limit_credits``."""
    case_count_by_win: dict[CreditsAndLevels, int] = {}
    for (credits_, levels), count in distribution.case_count_by_win.items():
        win = (min(credits_, limit_credits), levels)
        case_count_by_win[win] = case_count_by_win.get(win, 0) + count
    return WinCounts(distribution.case_count, case_count_by_win)


def build_credits_distribution(distribution: WinCounts) -> WinDistribution:
    """Return a Keno win's distribution of the credits alone, without levels, in lowest terms."""
    counts: dict[int, int] = {}
    for (credits_, _), count in distribution.case_count_by_win.items():
        if count:
            counts[credits_] = counts.get(credits_, 0) + count
    common_divisor = gcd(distribution.case_count, *counts.values())
    return WinDistribution(
        distribution.case_count // common_divisor,
        {credits_: n // common_divisor for credits_, n in sorted(counts.items())},
    )


def compute_level_rates(distribution: WinCounts, level_count: int) -> list[Fraction]:
    """Return, for each progressive level, the probability that one Keno draw wins it."""
    return [
        Fraction(
            sum(n for (_, won_levels), n in distribution.case_count_by_win.items() if won_levels >> i & 1),
            distribution.case_count,
        )
        for i in range(level_count)
    ]


def compute_several_draws_distribution(distribution: WinDistribution, draw_count: int) -> WinDistribution:
    """Return the distribution of a Keno ticket's total win in ``draw_count`` draws.

    Raises :class:`AnalysisError` if it is too large.
    """
    draw = WinCounts(
        distribution.case_count, {(credits_, 0): n for credits_, n in distribution.case_count_by_win.items()}
    )
    return build_credits_distribution(_convolve_all([draw] * draw_count))


def _convolve_all(distributions: Iterable[WinCounts]) -> WinCounts:
    """Return the distribution of the sum of several independent Keno wins."""
    sum_distribution = NO_WIN_DISTRIBUTION
    for distribution in distributions:
        sum_distribution = add_independent_wins(sum_distribution, distribution)
    return sum_distribution
