"""The exact figures of a Keno game: every number of spots with every bonus, every preset ticket, and any ticket."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import comb, perm

from paytables.analysis import (
    Analysis,
    AnalysisDepth,
    BetAnalysis,
    PrizeFigures,
    ProgressiveFigures,
    WinDistribution,
)
from paytables.errors import AnalysisError
from paytables.keno import bounds
from paytables.keno.schema import KenoDefinition, PresetTicket
from paytables.keno.tables import BonusesInForce, KenoPays, format_prize_name, list_every_bonus_combination
from paytables.keno.ticket import KenoTicket, TicketSelection, exclude_unplayed_levels
from paytables.keno.win_distribution import (
    build_credits_distribution,
    compute_factor_weights,
    compute_level_rates,
    compute_one_draw_distribution,
    compute_several_draws_distribution,
)
from paytables.wording import format_count


def analyse(
    definition: KenoDefinition,
    keno_pays: KenoPays,
    preset_tickets: Sequence[tuple[PresetTicket, KenoTicket]],
    depth: AnalysisDepth,
) -> Analysis:
    """Return the exact figures of every way to bet on a Keno game.

    First come single selections of every number of spots, with every choice of bonuses, at the minimum stake
    and at the minimum stake that plays for a progressive; which numbers are chosen has no effect. If the
    limit of a draw can reduce prizes, the ticket of straight selections that loses most by it is added; its note bounds
    the return of all other tickets. From depth HIGHEST, the preset tickets follow, at every stake with
    different figures.
    """
    bets = []
    for bonuses_in_force in list_every_bonus_combination(definition):
        for spot_count in sorted(keno_pays.pays_by_spot_count):
            bets += [
                _analyse_straight(definition, keno_pays, spot_count, stake, bonuses_in_force)
                for stake in _list_distinct_stakes(definition, spot_count)
            ]
            if definition.prize_limit_credits is not None:
                most_limited_bet = _analyse_most_limited_ticket(
                    definition, keno_pays, spot_count, bonuses_in_force, definition.prize_limit_credits
                )
                bets += [most_limited_bet] if most_limited_bet.rtp < bets[-1].rtp else []
    if depth in {AnalysisDepth.HIGHEST, AnalysisDepth.FULL}:
        bets += _analyse_preset_tickets(definition, keno_pays, preset_tickets)
    header = definition.game
    return Analysis(game_id=header.id, version=header.version, family=header.family, bets=tuple(bets))


def analyse_ticket(
    definition: KenoDefinition, keno_pays: KenoPays, ticket: KenoTicket, bet_name: str
) -> BetAnalysis:
    """Return the exact figures of any Keno ticket, or exact bounds if its selections overlap too much."""
    keno_pays = exclude_unplayed_levels(keno_pays, ticket)
    try:
        draw_counts = compute_one_draw_distribution(definition, keno_pays, ticket)
    except AnalysisError as error:
        return bounds.compute_bounded_figures(definition, keno_pays, ticket, bet_name, str(error))
    distribution = build_credits_distribution(draw_counts)
    mean, variance = distribution.compute_moment(1), distribution.compute_variance()
    notes: tuple[str, ...] = ()
    total_distribution: WinDistribution | None = distribution
    if ticket.draw_count > 1:
        try:
            total_distribution = compute_several_draws_distribution(distribution, ticket.draw_count)
        except AnalysisError as error:
            total_distribution = None
            notes = (f"the distribution over {ticket.draw_count} draws is left out: {error}",)
    loss_chance = 1 - distribution.compute_chance_of_at_least(1)
    highest_win = max(distribution.case_count_by_win)
    return BetAnalysis(
        bet=bet_name,
        cost_credits=ticket.cost_credits,
        options=ticket.to_json(),
        rtp=mean / ticket.cost_per_draw_credits,
        cycle=definition.cycle,
        variance=variance * ticket.draw_count,
        hit_probability=1 - loss_chance**ticket.draw_count,
        win_at_least_bet_probability=None
        if total_distribution is None
        else total_distribution.compute_chance_of_at_least(ticket.cost_credits),
        distribution=total_distribution,
        max_win_credits=highest_win * ticket.draw_count,
        max_win_probability=distribution.compute_chance_of_at_least(highest_win) ** ticket.draw_count,
        progressives=_list_level_figures(
            definition, ticket, mean, compute_level_rates(draw_counts, len(keno_pays.levels))
        ),
        notes=notes,
    )


def _analyse_straight(
    definition: KenoDefinition,
    keno_pays: KenoPays,
    spot_count: int,
    stake_credits: int,
    bonuses_in_force: BonusesInForce,
) -> BetAnalysis:
    """Return the figures of a single Keno selection of ``spot_count`` numbers, played as one way."""
    selection = TicketSelection(
        group_sizes=(spot_count,), groups=(), stake_by_spot_count={spot_count: stake_credits}
    )
    ticket = KenoTicket((selection,), 1, bonuses_in_force)
    bonuses = "".join(f" + {bonus}" for bonus in bonuses_in_force.bought_ids)
    name = f"{spot_count} spot{'s' if spot_count > 1 else ''} at {stake_credits}{bonuses}"
    prizes = _list_prizes(definition, keno_pays, spot_count, stake_credits, bonuses_in_force)
    return replace(analyse_ticket(definition, keno_pays, ticket, name), prizes=prizes)


def _list_distinct_stakes(definition: KenoDefinition, spot_count: int) -> list[int]:
    """Return the stakes on a Keno way that have different figures.

    They are the minimum, and the smallest that plays for each progressive level. If a linked level has a
    fixed stake, the next higher stake is included, because it does not play for the level.
    """
    offered_stakes = definition.ticket_limits.stake_options
    distinct_stakes = {min(offered_stakes)}
    for level in definition.progressive_levels:
        if level.spot_count == spot_count:
            stakes_from_level = sorted(stake for stake in offered_stakes if stake >= level.stake_min_credits)
            distinct_stakes.update(stakes_from_level[: 2 if level.is_linked else 1])
    return sorted(distinct_stakes)


def count_cases_of_catch(
    definition: KenoDefinition,
    spot_count: int,
    catch_count: int,
    named_ball_bits: int,
    named_ball_count: int,
) -> int:
    """Return the number of cases in which exactly ``catch_count`` of a Keno way's ``spot_count`` numbers are drawn.

    Of the drawn balls, ``named_ball_count`` decide bonuses. The way must hold exactly those whose bits are set in
    ``named_ball_bits``. A case is the named balls in their order, with a combination of the other drawn balls.
    """
    field = definition.field
    held_count = named_ball_bits.bit_count()
    if catch_count < held_count:
        return 0
    # the named balls in the way and outside it, then the other catches, then the other balls outside the way
    named_outside_count = named_ball_count - held_count
    named_orders = perm(spot_count, held_count) * perm(field.number_count - spot_count, named_outside_count)
    other_catch_combinations = comb(spot_count - held_count, catch_count - held_count)
    other_balls_outside = field.drawn_count - catch_count - named_outside_count
    numbers_outside = field.number_count - spot_count - named_outside_count
    if other_balls_outside < 0:
        return 0
    return named_orders * other_catch_combinations * comb(numbers_outside, other_balls_outside)


def _list_prizes(
    definition: KenoDefinition,
    keno_pays: KenoPays,
    spot_count: int,
    stake_credits: int,
    bonuses_in_force: BonusesInForce,
) -> tuple[PrizeFigures, ...]:
    """Return one prize for each catch of a Keno way that pays.

    Bonuses are included in the prize's return but not in its credits.
    """
    weight_by_factor = compute_factor_weights(bonuses_in_force)
    mean_factor = Fraction(
        sum(factor * weight for factor, weight in weight_by_factor.items()), sum(weight_by_factor.values())
    )
    named_ball_count = len(bonuses_in_force.ball_bonuses)
    prizes = []
    for catch_count in sorted(keno_pays.pays_by_spot_count[spot_count], reverse=True):
        pay = keno_pays.find_pay_credits(spot_count, catch_count)
        case_counts = [
            count_cases_of_catch(definition, spot_count, catch_count, named_ball_bits, named_ball_count)
            for named_ball_bits in range(1 << named_ball_count)
        ]
        case_total = perm(definition.field.number_count, named_ball_count) * comb(
            definition.field.number_count - named_ball_count, definition.field.drawn_count - named_ball_count
        )
        mean_pay = (
            mean_factor
            * Fraction(
                sum(
                    n * bonuses_in_force.compute_factor(named_ball_bits)
                    for named_ball_bits, n in enumerate(case_counts)
                ),
                case_total,
            )
            * pay
        )
        prizes.append(
            PrizeFigures(
                name=format_prize_name(spot_count, catch_count),
                stage_or_spot=format_count(spot_count, "spot"),
                credits=pay * stake_credits,
                win_count=count_cases_of_catch(definition, spot_count, catch_count, 0, 0),
                rate=Fraction(sum(case_counts), case_total),
                rtp=mean_pay / bonuses_in_force.cost_per_staked_credit,
            )
        )
    return tuple(prizes)


def _analyse_most_limited_ticket(
    definition: KenoDefinition,
    keno_pays: KenoPays,
    spot_count: int,
    bonuses_in_force: BonusesInForce,
    limit_credits: int,
) -> BetAnalysis:
    """Return the figures of the Keno ticket that loses most by the limit on the pay of a draw.

    It is the most expensive ticket, with all selections on the same numbers.

    The proof that no ticket loses more: divide the limit among the ways of any ticket in proportion to their
    cost. The ticket is paid at least the sum of its ways' prizes, each limited to the way's part. So no
    ticket of straight selections returns less than this one. No ticket at all returns less than the note
    states, which is the return of a ticket of the full permitted cost.
    """
    straight_ticket = KenoTicket((TicketSelection((spot_count,), (), {spot_count: 1}),), 1, bonuses_in_force)
    distribution = build_credits_distribution(
        compute_one_draw_distribution(
            definition.model_copy(update={"prize_limit": None}), keno_pays, straight_ticket
        )
    )

    def compute_limited_return(cost_credits: int) -> Fraction:
        """Return the return of a Keno ticket of this cost with the limit applied to its draw."""
        way_limit_credits = Fraction(limit_credits * bonuses_in_force.cost_per_staked_credit, cost_credits)
        mean = (
            sum(
                (
                    min(Fraction(win), way_limit_credits) * n
                    for win, n in distribution.case_count_by_win.items()
                ),
                Fraction(0),
            )
            / distribution.case_count
        )
        return mean / bonuses_in_force.cost_per_staked_credit

    numbers = (tuple(range(1, spot_count + 1)),)
    stakes = _find_dearest_stakes(definition, bonuses_in_force)
    ticket = KenoTicket(
        tuple(TicketSelection((spot_count,), numbers, {spot_count: stake}) for stake in stakes),
        1,
        bonuses_in_force,
    )
    bonuses = "".join(f" + {bonus}" for bonus in bonuses_in_force.bought_ids)
    lowest_return = compute_limited_return(definition.ticket_limits.cost_max_credits or ticket.cost_credits)
    return BetAnalysis(
        bet=f"{format_count(ticket.cost_credits, 'credit')} on the same {format_count(spot_count, 'spot')}{bonuses}",
        cost_credits=ticket.cost_credits,
        options=ticket.to_json(),
        rtp=compute_limited_return(ticket.cost_credits),
        cycle=definition.cycle,
        notes=(
            "no ticket of straight selections of this number of spots returns less, for the limit of a draw",
            f"the return is at least {lowest_return}, whatever numbers are marked",
        ),
    )


def _find_dearest_stakes(definition: KenoDefinition, bonuses_in_force: BonusesInForce) -> tuple[int, ...]:
    """Return the stakes of the most expensive permitted Keno ticket, each selection having a single way."""
    ticket_limits = definition.ticket_limits
    staked_max_credits = max(ticket_limits.stake_options) * ticket_limits.selections_max
    if ticket_limits.cost_max_credits is not None:
        staked_max_credits = min(
            staked_max_credits, ticket_limits.cost_max_credits // bonuses_in_force.cost_per_staked_credit
        )
    # the fewest stakes that sum to each total
    stakes_by_total: dict[int, tuple[int, ...]] = {0: ()}
    for staked_credits in range(1, staked_max_credits + 1):
        candidates = [
            (*stakes_by_total[staked_credits - stake], stake)
            for stake in ticket_limits.stake_options
            if staked_credits - stake in stakes_by_total
        ]
        candidates = [stakes for stakes in candidates if len(stakes) <= ticket_limits.selections_max]
        if candidates:
            stakes_by_total[staked_credits] = min(candidates, key=len)
    return stakes_by_total[max(stakes_by_total)]


def _analyse_preset_tickets(
    definition: KenoDefinition, keno_pays: KenoPays, preset_tickets: Sequence[tuple[PresetTicket, KenoTicket]]
) -> list[BetAnalysis]:
    """Return the figures of a Keno game's preset tickets.

    Preset tickets with the same figures are analysed once.
    """
    analyses = []
    seen_tickets: set[tuple[str, int, int]] = set()
    for preset_ticket, ticket in preset_tickets:
        stake = ticket.selections[0].stake_by_spot_count[preset_ticket.spot_count]
        played_levels = [
            level.id
            for level in definition.progressive_levels
            if level.spot_count == preset_ticket.spot_count and stake >= level.stake_min_credits
        ]
        key = (
            preset_ticket.id,
            len(played_levels),
            exclude_unplayed_levels(keno_pays, ticket).excluded_levels_mask,
        )
        is_unlimited = (
            definition.prize_limit_credits is None
            or _find_highest_pay_bound(keno_pays, ticket) <= definition.prize_limit_credits
        )
        if is_unlimited and key in seen_tickets:
            continue
        seen_tickets.add(key)
        analyses.append(analyse_ticket(definition, keno_pays, ticket, f"{preset_ticket.id} at {stake}"))
    return analyses


def _find_highest_pay_bound(keno_pays: KenoPays, ticket: KenoTicket) -> int:
    """Return an upper bound, in credits, on what any draw pays the Keno ticket."""
    return ticket.bonuses_in_force.factor_max * sum(
        way_count
        * selection.stake_by_spot_count[spot_count]
        * max(keno_pays.pays_by_spot_count[spot_count].values())
        for selection in ticket.selections
        for spot_count, way_count in selection.count_ways().items()
    )


def _list_level_figures(
    definition: KenoDefinition, ticket: KenoTicket, mean_pay: Fraction, level_rates: Sequence[Fraction]
) -> tuple[ProgressiveFigures, ...]:
    """Return the contribution of each progressive level for which a Keno ticket plays.

    ``mean_pay`` is the ticket's mean pay of a draw, ``level_rates`` the probability of each level.
    """
    figures = []
    for level, rate in zip(definition.progressive_levels, level_rates, strict=True):
        if rate:
            missing_credits = ticket.cost_per_draw_credits - mean_pay
            figures.append(
                ProgressiveFigures(
                    level=level.id,
                    rate=rate * ticket.draw_count,
                    reset_credits=level.reset_credits,
                    rtp_at_reset=rate * level.reset_credits / ticket.cost_per_draw_credits,
                    increment=Fraction(level.increment),
                    break_even_credits=missing_credits / rate,
                )
            )
    return tuple(figures)
