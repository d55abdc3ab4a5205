"""The exact figures of a poker game against the bank, as stored in its definition or computed again."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Final

from paytables.analysis import Analysis, BetAnalysis, PrizeFigures
from paytables.contract import Wager
from paytables.errors import AnalysisError
from paytables.layout import build_distribution
from paytables.poker.table.bets import MAIN_BET, list_bets_with_ante
from paytables.poker.table.schema import BetPaymentRate, PokerDefinition, ProvedFigures
from paytables.poker.table.strategy_texts import describe_best_play, describe_simplest_play
from paytables.side_bets import SideBet, SideBetProgressiveLevel

#: How to reproduce the figures, and how long that takes.
REPRODUCTION_TEXT: Final = (
    "`python -m tools.dev prove FILE` works this out anew from the definition, as `egm certify` does: {time}"
)


def build_side_bet(definition: PokerDefinition, level: SideBetProgressiveLevel) -> SideBet:
    """Return the side bet that plays for a progressive level, with the probability to win each share of it."""
    spot = definition.spot_by_id[level.spot]
    figures = find_figures(definition)[spot.id]
    hit_rate_by_share: dict[Fraction, Fraction] = {}
    for row in spot.pay_rows:
        if row.pays.level_share:
            row_rate = Fraction(figures.level_row_probabilities[row.id])
            hit_rate_by_share[row.pays.level_share] = (
                hit_rate_by_share.get(row.pays.level_share, Fraction(0)) + row_rate
            )
    return SideBet(level, (spot.id,), spot.limits.bet_min, hit_rate_by_share)


def prove(definition: PokerDefinition, *solver_options: object) -> dict[str, ProvedFigures]:
    """Compute the exact figures of all bets of a game, as a definition stores them in ``[proved]``.

    It needs the laboratory packages and takes seconds to minutes. ``solver_options`` are the further arguments of
    :class:`~paytables.poker.community.HoldemSolver`; only hold'em uses them.
    """
    from paytables.poker.table.solve import solve  # noqa: PLC0415 (laboratory packages)

    return solve(definition, *solver_options)


def find_figures(definition: PokerDefinition) -> Mapping[str, ProvedFigures]:
    """Return the exact figures stored in a poker definition, or compute them if none are stored."""
    return definition.proved or prove(definition)


def analyse(definition: PokerDefinition) -> Analysis:
    """Return the exact figures of a poker game, for each bet that has figures of its own.

    These are the ante, together with the bets that must go with it, and the bets that the bank's cards do not affect.
    """
    header = definition.game
    bets = [
        _analyse_bet(definition, name, figures, _find_minimum_stake(definition, name))
        for name, figures in find_figures(definition).items()
    ]
    return Analysis(game_id=header.id, version=header.version, family=header.family, bets=tuple(bets))


def _find_minimum_stake(definition: PokerDefinition, bet_name: str) -> int:
    """Return the smallest initial stake, in credits, of a bet for which figures are stored."""
    return (definition.ante if bet_name == MAIN_BET else definition.spot_by_id[bet_name]).limits.bet_min


def _analyse_bet(
    definition: PokerDefinition, bet_name: str, figures: ProvedFigures, initial_stake_credits: int
) -> BetAnalysis:
    """Return a bet's analysis from its exact figures, for an initial stake of ``initial_stake_credits``."""
    factor_by_spot = list_bets_with_ante(definition) if bet_name == MAIN_BET else {bet_name: Fraction(1)}
    bets = {spot: int(factor * initial_stake_credits) for spot, factor in factor_by_spot.items()}
    cost = sum(bets.values())
    distribution = build_distribution(
        {
            int(Fraction(net) * initial_stake_credits) + cost: Fraction(rate)
            for net, rate in figures.net_probabilities.items()
        }
    )
    spot = None if bet_name == MAIN_BET else bet_name
    mean = distribution.compute_moment(1)
    side_bets = [
        build_side_bet(definition, level) for level in definition.progressive_levels if level.spot == bet_name
    ]
    return BetAnalysis(
        bet=bet_name,
        cost_credits=cost,
        options={"bets": bets},
        rtp=mean / cost,
        prizes=tuple(
            _build_prize(payment_rate, initial_stake_credits, cost) for payment_rate in figures.payment_rates
        ),
        progressives=tuple(side_bet.compute_level_figures(mean) for side_bet in side_bets),
        strategy=describe_best_play(definition, spot),
        worst_rtp=1 + Fraction(figures.worst_mean) * initial_stake_credits / cost,
        simplest_strategy=None if figures.simplest_mean is None else describe_simplest_play(definition, spot),
        simplest_rtp=None
        if figures.simplest_mean is None
        else 1 + Fraction(figures.simplest_mean) * initial_stake_credits / cost,
        mean_staked_credits=Fraction(figures.mean_stake) * initial_stake_credits,
        notes=(REPRODUCTION_TEXT.format(time=_estimate_computing_time(definition)),)
        if bet_name == MAIN_BET
        else (),
    ).with_distribution(distribution)


def _build_prize(payment_rate: BetPaymentRate, initial_stake_credits: int, cost_credits: int) -> PrizeFigures:
    """Return the figures of one prize of a poker bet: a pay-table row, a win, a push or a withdrawal.

    ``initial_stake_credits`` is the initial stake and ``cost_credits`` the cost of the wager, both in credits.
    """
    rate, credits_ = (
        Fraction(payment_rate.rate),
        int(Fraction(payment_rate.returned_antes) * initial_stake_credits),
    )
    return PrizeFigures(
        name=payment_rate.prize_name,
        stage_or_spot=payment_rate.spot,
        credits=credits_,
        rate=rate,
        rtp=rate * credits_ / cost_credits,
    )


def _estimate_computing_time(definition: PokerDefinition) -> str:
    """Return how long the computation of this game's figures takes, as text for the operator."""
    has_shared_board = definition.duel is not None and any(
        step.deal and step.deal.board_card_count for step in definition.steps
    )
    return "about three minutes on two cores" if has_shared_board else "less than a minute"


def analyse_bets(definition: PokerDefinition, wager: Wager) -> BetAnalysis:
    """Return the exact figures of any combination of a seat's bets: stakes are added, returns averaged by cost.

    The results of bets on the same cards depend on each other. So with more than one bet, no distribution of the wins
    is stated.
    """
    figures_by_bet = find_figures(definition)
    bets = {bet.spot: bet.credits for bet in wager.bets}
    spot_by_bet = {name: definition.ante.id if name == MAIN_BET else name for name in figures_by_bet}
    parts = [
        _analyse_bet(definition, name, figures_by_bet[name], bets[staked_spot])
        for name, staked_spot in spot_by_bet.items()
        if staked_spot in bets
    ]
    if not parts:
        raise AnalysisError("no exact figures exist for any bet of this wager")
    cost = sum(part.cost_credits for part in parts)

    def average_over_parts(figure: Callable[[BetAnalysis], Fraction | None]) -> Fraction:
        """Return the average of a figure over the separate bets, weighted by their cost."""
        return sum((figure(part) or Fraction(0)) * part.cost_credits for part in parts) / Fraction(cost)

    if len(parts) == 1:
        return replace(parts[0], bet="bets", options=wager.options)
    return BetAnalysis(
        bet="bets",
        cost_credits=cost,
        options=wager.options,
        rtp=average_over_parts(lambda part: part.rtp),
        progressives=tuple(
            level.scale_to_wager(part.cost_credits, cost) for part in parts for level in part.progressives
        ),
        worst_rtp=average_over_parts(lambda part: part.worst_rtp),
        mean_staked_credits=sum((part.mean_staked_credits or Fraction(0) for part in parts), Fraction(0)),
    )
