"""The exact figures of a video poker game, as stored in its definition or computed again."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Final

from paytables.analysis import Analysis, BetAnalysis, PrizeFigures, ProgressiveFigures, WinDistribution
from paytables.errors import AnalysisError
from paytables.poker.policy import pack_policy
from paytables.poker.proof import format_fraction
from paytables.poker.video.schema import ProvedFigures, ProvedFiguresByBet, VideoPokerDefinition

#: How the best strategy chooses the cards to hold.
BEST_STRATEGY_TEXT: Final = "of the 32 ways to hold, always the one with the highest exact mean"


@dataclass(frozen=True, slots=True)
class HeldCardsFigures:
    """The results of one holding strategy over every deal of a video poker game.

    Several hands drawn from one deal share its held cards; their covariance is computed from
    ``mean_of_squared_deal_means``.
    """

    row_rates: tuple[Fraction, ...]
    """The probability of each row of the pay table."""
    mean_of_squared_deal_means: Fraction
    """The mean, over all deals, of the squared mean win of a deal, in squared credits."""

    def compute_mean(self, pays: Sequence[int]) -> Fraction:
        """Return the mean win of one video poker hand, in credits.

        ``pays`` has the credits of each pay-table row.
        """
        return sum((rate * pay for rate, pay in zip(self.row_rates, pays, strict=True)), Fraction(0))

    def compute_variance(self, pays: Sequence[int], hand_count: int = 1) -> Fraction:
        """Return the variance of the total win of ``hand_count`` hands drawn from one deal, in credits squared."""
        mean = self.compute_mean(pays)
        mean_square = sum(
            (rate * pay * pay for rate, pay in zip(self.row_rates, pays, strict=True)), Fraction(0)
        )
        # given the deal, the hands are independent, so the covariance of two is the variance of the deal's mean win
        covariance = self.mean_of_squared_deal_means - mean**2
        return hand_count * (mean_square - mean**2) + hand_count * (hand_count - 1) * covariance


def prove(definition: VideoPokerDefinition) -> ProvedFiguresByBet:
    """Compute the exact figures of a video poker game from every hold of every deal.

    It needs numpy and about two seconds.
    """
    from paytables.poker.video.holds import HoldEvaluation  # noqa: PLC0415 (laboratory packages)

    evaluation = HoldEvaluation(definition)
    simple_masks = (
        None
        if definition.simplest_strategy is None
        else evaluation.select_cards_held_by(definition.simplest_strategy.simple_strategy)
    )

    def compute_bet_figures(credits_: int) -> ProvedFigures:
        """Return the exact figures of a bet of ``credits_`` on one hand, with the best, worst and simplest holds.

        Of holds that are equally good, the first is used.
        """
        mean_wins = evaluation.compute_mean_wins(definition.list_pays(credits_))
        best_holds = mean_wins.argmax(axis=0)
        rates, mean_of_squared_deal_means = evaluation.evaluate_holds(mean_wins, best_holds)
        return ProvedFigures(
            rates=tuple(map(format_fraction, rates)),
            deals=format_fraction(mean_of_squared_deal_means / credits_**2),
            worst=format_fraction(evaluation.compute_mean(mean_wins, mean_wins.argmin(axis=0)) / credits_),
            simplest=None
            if simple_masks is None
            else format_fraction(evaluation.compute_mean(mean_wins, simple_masks) / credits_),
            policy=pack_policy(bytes(best_holds.tolist())),
        )

    return ProvedFiguresByBet(
        most=compute_bet_figures(definition.max_credits),
        fewer=None
        if definition.has_constant_pay_per_credit
        else compute_bet_figures(definition.bets.credits_options[0]),
    )


def analyse(definition: VideoPokerDefinition) -> Analysis:
    """Return the exact figures of a video poker game for every number of credits and hands.

    There is only one analysis depth, because all figures are computed quickly.
    """
    if definition.proved is None:
        definition = definition.model_copy(update={"proved": prove(definition)})
    header, bets = definition.game, definition.bets
    return Analysis(
        game_id=header.id,
        version=header.version,
        family=header.family,
        bets=tuple(
            analyse_bet(definition, credits_, hand_count)
            for credits_ in bets.credits_options
            for hand_count in bets.hand_counts
        ),
    )


def analyse_bet(definition: VideoPokerDefinition, credits_: int, hand_count: int) -> BetAnalysis:
    """Return the exact figures of a bet on ``hand_count`` hands of one deal, at ``credits_`` credits each.

    The win distribution is for one hand. It is the same for every hand of a deal; the hands depend on each other, which
    affects the variance only. The simplest strategy's return would count a progressive level at its reset amount, so it
    is stated only for a bet that plays for no level.
    """
    figures_by_bet = definition.proved or prove(definition)
    exact_figures = figures_by_bet.find_figures(is_highest_bet=credits_ == definition.max_credits)
    row_rates = tuple(Fraction(rate) for rate in exact_figures.row_rates)
    held_figures = HeldCardsFigures(
        row_rates, Fraction(exact_figures.mean_of_squared_deal_means) * credits_**2
    )
    level, cost_credits = definition.find_level(credits_, hand_count), credits_ * hand_count
    pays = tuple(
        0 if level is not None and row.id == level.pay_row_id else pay
        for row, pay in zip(definition.pay_rows, definition.list_pays(credits_), strict=True)
    )
    cycle = definition.cycle if hand_count == 1 else None
    prizes = tuple(
        PrizeFigures(
            name=row.id,
            stage_or_spot="",
            credits=pay,
            rate=rate * hand_count,
            rtp=rate * pay / credits_,
            win_count=None if cycle is None else int(rate * cycle),
        )
        for row, pay, rate in zip(definition.pay_rows, pays, row_rates, strict=True)
    )
    highest_pay = max(pays)
    is_one_hand = hand_count == 1 and level is None
    return BetAnalysis(
        bet=f"{credits_} x {hand_count}",
        cost_credits=cost_credits,
        rtp=held_figures.compute_mean(pays) / credits_,
        options={"hands": hand_count},
        cycle=cycle,
        prizes=prizes,
        progressives=() if level is None else (_compute_level_figures(definition, row_rates, cost_credits),),
        variance=None if level is not None else held_figures.compute_variance(pays, hand_count),
        hit_probability=sum(row_rates, Fraction(0)) if is_one_hand else None,
        win_at_least_bet_probability=_compute_chance_of_at_least(row_rates, pays, cost_credits)
        if is_one_hand
        else None,
        distribution=_build_win_distribution(row_rates, pays) if is_one_hand else None,
        max_win_credits=highest_pay * hand_count,
        max_win_probability=_compute_chance_of_at_least(row_rates, pays, highest_pay)
        if is_one_hand
        else None,
        strategy=BEST_STRATEGY_TEXT,
        worst_rtp=Fraction(exact_figures.worst_rtp),
        simplest_strategy=None
        if definition.simplest_strategy is None
        else definition.simplest_strategy.simple_strategy.name.en,
        simplest_rtp=None
        if exact_figures.simplest_rtp is None or level is not None
        else Fraction(exact_figures.simplest_rtp),
    )


def _compute_level_figures(
    definition: VideoPokerDefinition, row_rates: tuple[Fraction, ...], cost_credits: int
) -> ProgressiveFigures:
    """Return what the progressive level adds to the return of a hand that costs ``cost_credits`` credits.

    ``row_rates`` are the probabilities of the pay table's rows.
    """
    level = definition.progressive_level
    if level is None:
        raise AnalysisError(f"{definition.game.id}: there is no level")
    row_index = [pay.id for pay in definition.pay_rows].index(level.pay_row_id)
    other_return = sum(
        (
            rate * pay
            for n, (rate, pay) in enumerate(zip(row_rates, definition.list_pays(cost_credits), strict=True))
            if n != row_index
        ),
        Fraction(0),
    )
    return ProgressiveFigures(
        level=level.id,
        rate=row_rates[row_index],
        reset_credits=level.reset_credits,
        rtp_at_reset=row_rates[row_index] * level.reset_credits / cost_credits,
        increment=Fraction(level.increment),
        break_even_credits=(cost_credits - other_return) / row_rates[row_index],
    )


def _compute_chance_of_at_least(row_rates: tuple[Fraction, ...], pays: tuple[int, ...], win: int) -> Fraction:
    """Return the probability that a video poker hand wins a row that pays at least ``win`` credits."""
    return sum((rate for rate, pay in zip(row_rates, pays, strict=True) if pay >= win), Fraction(0))


def _build_win_distribution(row_rates: tuple[Fraction, ...], pays: tuple[int, ...]) -> WinDistribution:
    """Return the win distribution of one video poker hand, from the probability and the pay of each row."""
    case_total = lcm(*(rate.denominator for rate in row_rates))
    counts = {0: case_total}
    for rate, pay in zip(row_rates, pays, strict=True):
        case_count = int(rate * case_total)
        counts[pay] = counts.get(pay, 0) + case_count
        counts[0] -= case_count
    return WinDistribution(case_total, counts)
