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
from paytables.keno.schema import KenoDefinition, TicketForm
from paytables.keno.tables import BonusOptions, KenoPays, format_prize_name, list_every_bonus_combination
from paytables.keno.ticket import KenoTicket, TicketSelection, exclude_unplayed_levels
from paytables.keno.win_distribution import (
    build_credits_distribution,
    compute_draw_distribution,
    compute_draws_distribution,
    compute_factor_weights,
    compute_level_rates,
)
from paytables.wording import format_count


def analyse(
    definition: KenoDefinition,
    tables: KenoPays,
    forms: Sequence[tuple[TicketForm, KenoTicket]],
    depth: AnalysisDepth,
) -> Analysis:
    """Return the exact figures of every way to bet on a Keno game.

    First come single selections of every number of spots, with every choice of bonuses, at the minimum stake
    and at the minimum stake that plays for a progressive; which numbers are chosen has no effect. If the
    limit of a draw can reduce prizes, the ticket of straight selections that loses most by it is added; its note bounds
    the return of all other tickets. From depth HIGHEST, the forms of play (preset tickets) follow, at every stake with
    different figures.
    """
    bets = []
    for options in list_every_bonus_combination(definition):
        for spots in sorted(tables.pays):
            bets += [
                _analyse_straight(definition, tables, spots, stake, options)
                for stake in _list_distinct_stakes(definition, spots)
            ]
            if definition.prize_limit_credits is not None:
                most_limited_bet = _analyse_most_limited_ticket(
                    definition, tables, spots, options, definition.prize_limit_credits
                )
                bets += [most_limited_bet] if most_limited_bet.rtp < bets[-1].rtp else []
    if depth in {AnalysisDepth.HIGHEST, AnalysisDepth.FULL}:
        bets += _analyse_forms(definition, tables, forms)
    header = definition.game
    return Analysis(game_id=header.id, version=header.version, family=header.family, bets=tuple(bets))


def analyse_ticket(
    definition: KenoDefinition, tables: KenoPays, ticket: KenoTicket, bet_name: str
) -> BetAnalysis:
    """Return the exact figures of any Keno ticket, or exact bounds if its selections overlap too much."""
    tables = exclude_unplayed_levels(tables, ticket)
    try:
        one_draw = compute_draw_distribution(definition, tables, ticket)
    except AnalysisError as error:
        return bounds.compute_bounded_figures(definition, tables, ticket, bet_name, str(error))
    distribution = build_credits_distribution(one_draw)
    mean, variance = distribution.compute_moment(1), distribution.compute_variance()
    notes: tuple[str, ...] = ()
    all_draws: WinDistribution | None = distribution
    if ticket.draw_count > 1:
        try:
            all_draws = compute_draws_distribution(distribution, ticket.draw_count)
        except AnalysisError as error:
            all_draws = None
            notes = (f"the distribution over {ticket.draw_count} draws is left out: {error}",)
    loss_chance = 1 - distribution.compute_chance_of_at_least(1)
    highest_win = max(distribution.counts)
    return BetAnalysis(
        bet=bet_name,
        cost_credits=ticket.cost_credits,
        options=ticket.to_json(),
        rtp=mean / ticket.cost_per_draw_credits,
        cycle=definition.cycle,
        variance=variance * ticket.draw_count,
        hit_probability=1 - loss_chance**ticket.draw_count,
        win_at_least_bet_probability=None
        if all_draws is None
        else all_draws.compute_chance_of_at_least(ticket.cost_credits),
        distribution=all_draws,
        max_win_credits=highest_win * ticket.draw_count,
        max_win_probability=distribution.compute_chance_of_at_least(highest_win) ** ticket.draw_count,
        progressives=_list_level_figures(
            definition, ticket, mean, compute_level_rates(one_draw, len(tables.levels))
        ),
        notes=notes,
    )


def _analyse_straight(
    definition: KenoDefinition, tables: KenoPays, spot_count: int, stake_credits: int, options: BonusOptions
) -> BetAnalysis:
    """Return the figures of a single Keno selection of ``spot_count`` numbers, played as one way."""
    selection = TicketSelection(sizes=(spot_count,), groups=(), stakes={spot_count: stake_credits})
    ticket = KenoTicket((selection,), 1, options)
    bonuses = "".join(f" + {bonus}" for bonus in options.bought_ids)
    name = f"{spot_count} spot{'s' if spot_count > 1 else ''} at {stake_credits}{bonuses}"
    prizes = _list_prizes(definition, tables, spot_count, stake_credits, options)
    return replace(analyse_ticket(definition, tables, ticket, name), prizes=prizes)


def _list_distinct_stakes(definition: KenoDefinition, spot_count: int) -> list[int]:
    """Return the stakes on a Keno way that have different figures.

    They are the minimum, and the smallest that plays for each progressive level. If a linked level has a
    fixed stake, the next higher stake is included, because it does not play for the level.
    """
    offered_stakes = definition.marks.stakes
    distinct_stakes = {min(offered_stakes)}
    for level in definition.progressive:
        if level.spots == spot_count:
            stakes_from_level = sorted(stake for stake in offered_stakes if stake >= level.stake)
            distinct_stakes.update(stakes_from_level[: 2 if level.linked else 1])
    return sorted(distinct_stakes)


def count_cases_of_catch(
    definition: KenoDefinition,
    spot_count: int,
    catch_count: int,
    marked_ball_bits: int,
    named_ball_count: int,
) -> int:
    """Return the number of cases in which exactly ``catch_count`` of a Keno way's ``spot_count`` numbers are drawn.

    Of the drawn balls, ``named_ball_count`` decide bonuses. The way must hold exactly those whose bits are set in
    ``marked_ball_bits``. A case is the named balls in their order, with a combination of the other drawn balls.
    """
    field = definition.field
    held_count = marked_ball_bits.bit_count()
    if catch_count < held_count:
        return 0
    # the named balls in the way and outside it, then the other catches, then the other balls outside the way
    named_outside_count = named_ball_count - held_count
    named_orders = perm(spot_count, held_count) * perm(field.numbers - spot_count, named_outside_count)
    other_catch_ways = comb(spot_count - held_count, catch_count - held_count)
    other_balls_outside = field.drawn - catch_count - named_outside_count
    numbers_outside = field.numbers - spot_count - named_outside_count
    if other_balls_outside < 0:
        return 0
    return named_orders * other_catch_ways * comb(numbers_outside, other_balls_outside)


def _list_prizes(
    definition: KenoDefinition, tables: KenoPays, spot_count: int, stake_credits: int, options: BonusOptions
) -> tuple[PrizeFigures, ...]:
    """Return one prize for each catch of a Keno way that pays.

    Bonuses are included in the prize's return but not in its credits.
    """
    weights = compute_factor_weights(options)
    mean_factor = Fraction(sum(factor * weight for factor, weight in weights.items()), sum(weights.values()))
    named_balls = len(options.balls)
    prizes = []
    for catch in sorted(tables.pays[spot_count], reverse=True):
        pay = tables.find_pay_credits(spot_count, catch)
        cases = [
            count_cases_of_catch(definition, spot_count, catch, marks, named_balls)
            for marks in range(1 << named_balls)
        ]
        total = perm(definition.field.numbers, named_balls) * comb(
            definition.field.numbers - named_balls, definition.field.drawn - named_balls
        )
        mean = (
            mean_factor
            * Fraction(sum(n * options.compute_factor(marks) for marks, n in enumerate(cases)), total)
            * pay
        )
        prizes.append(
            PrizeFigures(
                name=format_prize_name(spot_count, catch),
                stage_or_spot=format_count(spot_count, "spot"),
                credits=pay * stake_credits,
                hits=count_cases_of_catch(definition, spot_count, catch, 0, 0),
                rate=Fraction(sum(cases), total),
                rtp=mean / options.cost_per_staked_credit,
            )
        )
    return tuple(prizes)


def _analyse_most_limited_ticket(
    definition: KenoDefinition, tables: KenoPays, spot_count: int, options: BonusOptions, limit_credits: int
) -> BetAnalysis:
    """Return the figures of the Keno ticket that loses most by the limit on the pay of a draw.

    It is the most expensive ticket, with all selections on the same numbers.

    The proof that no ticket loses more: divide the limit among the ways of any ticket in proportion to their
    cost. The ticket is paid at least the sum of its ways' prizes, each limited to the way's part. So no
    ticket of straight selections returns less than this one. No ticket at all returns less than the note
    states, which is the return of a ticket of the full permitted cost.
    """
    straight_ticket = KenoTicket((TicketSelection((spot_count,), (), {spot_count: 1}),), 1, options)
    distribution = build_credits_distribution(
        compute_draw_distribution(definition.model_copy(update={"limit": None}), tables, straight_ticket)
    )

    def compute_limited_return(cost: int) -> Fraction:
        """Return the return of a Keno ticket of this cost with the limit applied to its draw."""
        share = Fraction(limit_credits * options.cost_per_staked_credit, cost)
        mean = (
            sum((min(Fraction(win), share) * n for win, n in distribution.counts.items()), Fraction(0))
            / distribution.total
        )
        return mean / options.cost_per_staked_credit

    numbers = (tuple(range(1, spot_count + 1)),)
    stakes = _find_dearest_stakes(definition, options)
    ticket = KenoTicket(
        tuple(TicketSelection((spot_count,), numbers, {spot_count: stake}) for stake in stakes), 1, options
    )
    bonuses = "".join(f" + {bonus}" for bonus in options.bought_ids)
    lowest_return = compute_limited_return(definition.marks.cost or ticket.cost_credits)
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


def _find_dearest_stakes(definition: KenoDefinition, options: BonusOptions) -> tuple[int, ...]:
    """Return the stakes of the most expensive permitted Keno ticket, each selection having a single way."""
    marks = definition.marks
    most_staked = max(marks.stakes) * marks.selections
    if marks.cost is not None:
        most_staked = min(most_staked, marks.cost // options.cost_per_staked_credit)
    # the fewest stakes that sum to each total
    stakes_by_total: dict[int, tuple[int, ...]] = {0: ()}
    for total in range(1, most_staked + 1):
        candidates = [
            (*stakes_by_total[total - stake], stake)
            for stake in marks.stakes
            if total - stake in stakes_by_total
        ]
        candidates = [stakes for stakes in candidates if len(stakes) <= marks.selections]
        if candidates:
            stakes_by_total[total] = min(candidates, key=len)
    return stakes_by_total[max(stakes_by_total)]


def _analyse_forms(
    definition: KenoDefinition, tables: KenoPays, forms: Sequence[tuple[TicketForm, KenoTicket]]
) -> list[BetAnalysis]:
    """Return the figures of a Keno game's forms of play (preset tickets).

    Forms with the same figures are analysed once.
    """
    analyses = []
    seen_tickets: set[tuple[str, int, int]] = set()
    for form, ticket in forms:
        stake = ticket.selections[0].stakes[form.spots]
        played_levels = [p.id for p in definition.progressive if p.spots == form.spots and stake >= p.stake]
        key = (form.id, len(played_levels), exclude_unplayed_levels(tables, ticket).excluded_levels_mask)
        is_unlimited = (
            definition.prize_limit_credits is None
            or _find_highest_pay_bound(tables, ticket) <= definition.prize_limit_credits
        )
        if is_unlimited and key in seen_tickets:
            continue
        seen_tickets.add(key)
        analyses.append(analyse_ticket(definition, tables, ticket, f"{form.id} at {stake}"))
    return analyses


def _find_highest_pay_bound(tables: KenoPays, ticket: KenoTicket) -> int:
    """Return an upper bound, in credits, on what any draw pays the Keno ticket."""
    return ticket.options.greatest_factor * sum(
        ways * s.stakes[spots] * max(tables.pays[spots].values())
        for s in ticket.selections
        for spots, ways in s.count_ways().items()
    )


def _list_level_figures(
    definition: KenoDefinition, ticket: KenoTicket, mean_pay: Fraction, level_rates: Sequence[Fraction]
) -> tuple[ProgressiveFigures, ...]:
    """Return the contribution of each progressive level for which a Keno ticket plays.

    ``mean_pay`` is the ticket's mean pay of a draw, ``level_rates`` the probability of each level.
    """
    figures = []
    for level, rate in zip(definition.progressive, level_rates, strict=True):
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
