"""The exact figures of a blackjack table, as stored in its definition or computed again.

All figures are for a fresh shoe and a single box. If the dealer plays several hands with one up card, each hand
has the same distribution: all orders of the shoe are equally likely, so each bet has the same return and the
same best strategy.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import TYPE_CHECKING, Final

from paytables.analysis import (
    CONFIDENCE_BAND_GAME_COUNTS,
    CONFIDENCE_QUANTILES,
    Analysis,
    AnalysisDepth,
    BetAnalysis,
    PrizeFigures,
    ProgressiveFigures,
)
from paytables.blackjack.advice import HandQuestion, PackedStrategy, read_strategy
from paytables.blackjack.definition import BlackjackDefinition
from paytables.blackjack.round import format_back_spot_id
from paytables.blackjack.schema import (
    BACK_SPOT_PREFIX,
    INSURANCE_SPOT,
    MAIN_SPOT,
    SPOTS_BY_DEALER_HAND,
    AnalysedHouseRules,
    BackBetFigures,
    BlackjackSideBet,
    ProvedFigures,
    SimulatedRounds,
)
from paytables.blackjack.side_bet_chances import compute_row_chances
from paytables.contract import Wager
from paytables.errors import AnalysisError
from paytables.layout import build_distribution
from paytables.poker.policy import pack_policy
from paytables.poker.proof import format_fraction
from paytables.side_bets import SideBet, SideBetProgressiveLevel

if TYPE_CHECKING:
    from paytables.blackjack.policies import StrategyCalculator, StrategyResult

#: The name of the best play in the figures.
EXACT_STRATEGY_TEXT: Final = (
    "by the cards of the hand and the dealer's first card, each hand of a split by its own; see the policy"
)
#: The end of a spot's id that numbers the box.
_BOX_SUFFIX_PATTERN: Final = re.compile(r"-\d+$", re.ASCII)
#: The name of the strategy of bets on another player's hand.
BACKED_STRATEGY_TEXT: Final = "the best play of the player whose hand it is"
#: The name of the best chart in the figures.
CHART_STRATEGY_TEXT: Final = "the chart by totals"
#: A band for n games is stated only if at least n times this many rounds were simulated.
_SIMULATED_ROUNDS_PER_BAND_GAME: Final = 20
#: Standard errors on each side of a 99.9 % interval.
SAMPLING_QUANTILE: Final = Fraction("3.290527")


def ignore_progress_report(done_count: int, total_count: int) -> None:
    """Ignore the progress of a computation (a default callback)."""


def prove(
    definition: BlackjackDefinition,
    _each: object = None,
    report_progress: Callable[[int, int], None] = ignore_progress_report,
) -> dict[str, ProvedFigures]:
    """Compute the exact figures that a blackjack definition stores.

    It needs the laboratory packages and takes some minutes. ``report_progress`` is called with the number of steps
    done and the number of all steps.
    """
    exact_figures = _compute_exact_figures(
        definition.analysed_house_rules,
        report_progress,
        accepts_back_bets=definition.house_rules.accepts_back_bets,
    )
    return {MAIN_SPOT: _add_simulated_rounds(definition, exact_figures)}


def _compute_back_bet_figures(
    calculator: "StrategyCalculator",
    *options_and_results: tuple[Mapping[HandQuestion, int], "StrategyResult"],
) -> BackBetFigures:
    """Compute the exact figures of a bet on another player's hand, for that player's best and worst strategy.

    Raises AnalysisError if a hand may be split twice.
    """
    from paytables.blackjack import net_distribution  # noqa: PLC0415 (laboratory packages)

    if not all(
        net_distribution.can_be_counted_exactly(
            calculator, result, net_distribution.EXACT_DISTRIBUTION_HANDS_MAX
        )
        for _, result in options_and_results
    ):
        raise AnalysisError("rules.back_bets: exact figures need hands that are split once at most")
    distributions = [
        net_distribution.compute_back_bet_distribution(calculator, option_by_question, result)
        for option_by_question, result in options_and_results
    ]
    best_mean, worst_mean = (
        sum((net * chance for net, chance in distribution.items()), Fraction(0))
        for distribution in distributions
    )
    return BackBetFigures(
        mean=format_fraction(best_mean),
        worst=format_fraction(worst_mean),
        law={format_fraction(net): format_fraction(chance) for net, chance in distributions[0].items()},
    )


def _add_simulated_rounds(definition: BlackjackDefinition, exact_figures: ProvedFigures) -> ProvedFigures:
    """Return a blackjack table's exact figures with simulated rounds added, if they are needed.

    They are needed if a shoe is dealt for several rounds, or if the net results are too many to count.
    """
    if (
        exact_figures.net_probabilities
        and not definition.shoe.is_shoe_carried_over
        and definition.main_bet.dealer_hand_count == 1
    ):
        return exact_figures
    from paytables.blackjack.round_simulation import simulate_rounds  # noqa: PLC0415 (laboratory packages)

    strategy = read_strategy(definition.analysed_house_rules, exact_figures.policy)
    if strategy is None:
        raise AnalysisError("blackjack: the stored policy belongs to other rules than this definition's")
    return exact_figures.model_copy(update={"simulated_rounds": simulate_rounds(definition, strategy)})


@lru_cache(maxsize=8)
def _compute_exact_figures(
    house: AnalysedHouseRules, report_progress: Callable[[int, int], None], *, accepts_back_bets: bool
) -> ProvedFigures:
    """Compute a blackjack table's exact figures for the best, the chart's, the dealer's and the worst strategy.

    It takes some minutes.
    """
    from paytables.blackjack import net_distribution, policies  # noqa: PLC0415 (laboratory packages)
    from paytables.blackjack.chart import find_best_chart, format_chart  # noqa: PLC0415 (laboratory packages)

    calculator = policies.StrategyCalculator(house, report_progress=report_progress)
    option_by_question: dict[HandQuestion, int] = {}
    best_evaluation = calculator.evaluate(
        policies.build_recording_chooser(policies.choose_best, option_by_question),
        policies.choose_highest_sum,
    )
    chart = find_best_chart(calculator)
    charted_evaluation = calculator.evaluate(chart.build_chooser(calculator), chart.decide_offer)
    dealer_rule_evaluation = calculator.evaluate(
        policies.build_dealer_rule_chooser(house), policies.decline_every_offer
    )
    worst_option_by_question: dict[HandQuestion, int] = {}
    worst_evaluation = calculator.evaluate(
        policies.build_recording_chooser(policies.choose_worst, worst_option_by_question),
        policies.choose_lowest_sum,
    )
    distribution, variance = {}, None
    if net_distribution.can_be_counted_exactly(
        calculator, best_evaluation, net_distribution.EXACT_DISTRIBUTION_HANDS_MAX
    ):
        distribution = net_distribution.compute_net_distribution(
            calculator, option_by_question, best_evaluation
        )
    elif net_distribution.can_be_counted_exactly(
        calculator, best_evaluation, net_distribution.EXACT_VARIANCE_HANDS_MAX
    ):
        variance = net_distribution.compute_net_variance(calculator, option_by_question, best_evaluation)
    packed_strategy = PackedStrategy.pack_strategy(
        house,
        option_by_question,
        best_evaluation.hand_count_by_pair,
        best_evaluation.insured_hands,
        best_evaluation.even_money_up_cards,
    )
    return ProvedFigures(
        mean=format_fraction(best_evaluation.mean),
        staked=format_fraction(best_evaluation.mean_staked),
        charted=format_fraction(charted_evaluation.mean),
        dealers=format_fraction(dealer_rule_evaluation.mean),
        worst=format_fraction(worst_evaluation.mean),
        chart=format_chart(chart),
        policy=pack_policy(packed_strategy.packed_bytes),
        law={format_fraction(net): format_fraction(chance) for net, chance in distribution.items()},
        variance=None if variance is None else format_fraction(variance),
        backed=_compute_back_bet_figures(
            calculator, (option_by_question, best_evaluation), (worst_option_by_question, worst_evaluation)
        )
        if accepts_back_bets
        else None,
    )


def find_exact_figures(definition: BlackjackDefinition) -> ProvedFigures:
    """Return the exact figures stored in a blackjack definition, or compute them if none are stored."""
    stored_figures = definition.proved.get(MAIN_SPOT)
    return stored_figures or _compute_exact_figures(
        definition.analysed_house_rules,
        ignore_progress_report,
        accepts_back_bets=definition.house_rules.accepts_back_bets,
    )


def compute_level_share_chances(
    definition: BlackjackDefinition, side_bet: BlackjackSideBet
) -> dict[Fraction, Fraction]:
    """Return the probability that a side bet wins each part of its progressive level, by part."""
    chance_by_share: dict[Fraction, Fraction] = {}
    for row_id, chance in _compute_row_chances(definition, side_bet).items():
        share = next(paid_row.odds.level_share for paid_row in side_bet.rows if paid_row.id == row_id)
        if share:
            chance_by_share[share] = chance_by_share.get(share, Fraction(0)) + chance
    return chance_by_share


def _compute_row_chances(
    definition: BlackjackDefinition, side_bet: BlackjackSideBet, *, player_draws_more_cards: bool = True
) -> dict[str, Fraction]:
    """Return the probability that each row of a blackjack side bet is paid, by the row's id."""
    return compute_row_chances(
        side_bet,
        definition.shoe.deck_count,
        has_hole_card=definition.analysed_house_rules.has_hole_card,
        player_draws_more_cards=player_draws_more_cards,
    )


def compute_side_bet_return(
    definition: BlackjackDefinition, side_bet: BlackjackSideBet, *, player_draws_more_cards: bool = True
) -> Fraction:
    """Return what a blackjack side bet returns per credit on average, without progressive levels."""
    return_by_row = {row.id: 1 + row.odds.net for row in side_bet.rows}
    chance_by_row = _compute_row_chances(
        definition, side_bet, player_draws_more_cards=player_draws_more_cards
    )
    return sum((return_by_row[row] * chance for row, chance in chance_by_row.items()), Fraction(0))


def analyse(definition: BlackjackDefinition, depth: AnalysisDepth) -> Analysis:
    """Return the exact figures of a blackjack table: the bet on the hand, and each side bet alone.

    The return of combined bets is the mean of their returns weighted by their stakes. So no accepted wager
    returns less than the lowest of them, however large its side bets are.
    """
    bet_min = definition.main_bet.limits.bet_min
    main_bets = dict.fromkeys(SPOTS_BY_DEALER_HAND[: definition.main_bet.dealer_hands_min], bet_min)
    bet_figures = [_analyse_stakes(definition, MAIN_SPOT, main_bets, depth)]
    if definition.main_bet.dealer_hand_count > definition.main_bet.dealer_hands_min:
        bet_figures.append(
            _analyse_stakes(
                definition,
                "all hands",
                dict.fromkeys(SPOTS_BY_DEALER_HAND[: definition.main_bet.dealer_hand_count], bet_min),
                depth,
            )
        )
    bet_figures += [
        replace(
            _analyse_stakes(definition, side.id, {side.id: side.limits.bet_min}, depth),
            required_bets=main_bets,
        )
        for side in definition.side_bets
    ]
    if definition.house_rules.accepts_back_bets:
        other_bets = {"0": {MAIN_SPOT: bet_min}}
        back_figures = _analyse_back_bets(
            definition, BACK_SPOT_PREFIX, {format_back_spot_id(0): bet_min}, depth
        )
        bet_figures.append(
            replace(back_figures, options={**back_figures.options, "seat": 1, "others": other_bets})
        )
    header = definition.game
    return Analysis(game_id=header.id, version=header.version, family=header.family, bets=tuple(bet_figures))


def analyse_bets(definition: BlackjackDefinition, wager: Wager) -> BetAnalysis:
    """Return the exact figures of one seat's combined blackjack bets, whose returns and stakes are added."""
    stakes: dict[str, int] = {}
    for bet in wager.bets:
        stakes[bet.spot] = stakes.get(bet.spot, 0) + bet.credits
    if definition.house_rules.accepts_back_bets and all(
        _BOX_SUFFIX_PATTERN.sub("", spot) == BACK_SPOT_PREFIX for spot in stakes
    ):
        return _analyse_back_bets(definition, "bets", stakes, AnalysisDepth.FULL)
    return _analyse_stakes(definition, "bets", stakes, AnalysisDepth.FULL)


def _analyse_back_bets(
    definition: BlackjackDefinition, bet_name: str, stakes: Mapping[str, int], depth: AnalysisDepth
) -> BetAnalysis:
    """Return the exact figures of bets on other players' hands; ``stakes`` are credits by spot.

    All such bets have the same return, which depends on the decisions of the player who holds the hand.
    """
    back_bet_figures = find_exact_figures(definition).back_bet_figures
    if back_bet_figures is None:
        raise AnalysisError("proved.main.backed: the definition stores no figures of bets on another's hand")
    figures = BetAnalysis(
        bet=bet_name,
        cost_credits=sum(stakes.values()),
        options={"bets": dict(stakes)},
        rtp=1 + Fraction(back_bet_figures.best_mean),
        strategy=BACKED_STRATEGY_TEXT,
        worst_rtp=1 + Fraction(back_bet_figures.worst_mean),
    )
    if depth in {AnalysisDepth.RETURN, AnalysisDepth.PRIZES} or len(stakes) > 1:
        return figures
    cost_credits = figures.cost_credits
    return figures.with_distribution(
        build_distribution(
            {
                int(Fraction(net) * cost_credits) + cost_credits: Fraction(chance)
                for net, chance in back_bet_figures.net_probabilities.items()
            }
        )
    )


def _analyse_stakes(
    definition: BlackjackDefinition, bet_name: str, stakes: Mapping[str, int], depth: AnalysisDepth
) -> BetAnalysis:
    """Return the exact figures of combined bets, ``stakes`` in credits by spot.

    It is assumed that the player draws every card that the side bets need, except for ``worst_rtp``: a player who makes
    the worst decisions draws none.
    """
    exact_figures, cost_credits = find_exact_figures(definition), sum(stakes.values())
    side_bet_by_id = {side.id: side for side in definition.side_bets}
    stake_by_bet: dict[str, int] = {}
    for spot, credits_ in stakes.items():
        bet_id = _BOX_SUFFIX_PATTERN.sub("", spot) if spot not in side_bet_by_id else spot
        stake_by_bet[bet_id] = stake_by_bet.get(bet_id, 0) + credits_
    hand_credits = sum(stake_by_bet.pop(spot, 0) for spot in SPOTS_BY_DEALER_HAND)
    if INSURANCE_SPOT in stake_by_bet:
        raise AnalysisError("insurance is staked in play, and not in a wager")
    # what the side bets return on average: if the player draws every card that they need, and if none
    side_returns = sum(
        (
            stake_by_bet[side_id] * compute_side_bet_return(definition, side_bet_by_id[side_id])
            for side_id in stake_by_bet
        ),
        Fraction(0),
    )
    worst_side_returns = sum(
        (
            stake_by_bet[side_id]
            * compute_side_bet_return(definition, side_bet_by_id[side_id], player_draws_more_cards=False)
            for side_id in stake_by_bet
        ),
        Fraction(0),
    )

    def compute_rtp(mean: str, mean_side_returns: Fraction) -> Fraction:
        """Return the return per credit of all bets, from the hand's mean net result and the side bets' returns."""
        return (hand_credits * (1 + Fraction(mean)) + mean_side_returns) / cost_credits

    prizes = []
    for side_id in stake_by_bet if depth is not AnalysisDepth.RETURN else ():
        chance_by_row = _compute_row_chances(definition, side_bet_by_id[side_id])
        for row in side_bet_by_id[side_id].rows:
            won_credits = int(stake_by_bet[side_id] * (1 + row.odds.net))
            prizes.append(
                PrizeFigures(
                    name=row.id,
                    stage_or_spot=side_id,
                    credits=won_credits,
                    rate=chance_by_row[row.id],
                    rtp=chance_by_row[row.id] * won_credits / cost_credits,
                )
            )
    levels = [
        _build_level_figures(definition, level, stake_by_bet[level.spot], cost_credits)
        for level in definition.progressive_levels
        if level.spot in stake_by_bet
    ]
    notes = [
        (
            f"the dealer's own rules return {_format_percent(1 + Fraction(exact_figures.dealer_rule_mean))}"
            " of a bet on the hand"
        )
    ]
    notes += [
        f"of {side_id!r} alone "
        f"{_format_percent(compute_side_bet_return(definition, side_bet_by_id[side_id]))} comes back"
        for side_id in stake_by_bet
    ]
    if (
        exact_figures.simulated_rounds is not None
        and set(stakes) <= set(SPOTS_BY_DEALER_HAND)
        and len({*stakes.values()}) == 1
    ):
        notes += _iter_sampling_notes(definition, exact_figures.simulated_rounds, len(stakes))
    figures = BetAnalysis(
        bet=bet_name,
        cost_credits=cost_credits,
        options={"bets": dict(stakes)},
        rtp=compute_rtp(exact_figures.best_mean, side_returns),
        prizes=tuple(prizes),
        progressives=tuple(levels),
        strategy=EXACT_STRATEGY_TEXT,
        worst_rtp=compute_rtp(exact_figures.worst_mean, worst_side_returns),
        simplest_strategy=CHART_STRATEGY_TEXT,
        simplest_rtp=compute_rtp(exact_figures.chart_mean, side_returns),
        mean_staked_credits=(
            hand_credits * Fraction(exact_figures.mean_stake) + sum(stake_by_bet.values())
            if hand_credits
            else None
        ),
        notes=tuple(notes),
    )
    return (
        figures
        if depth in {AnalysisDepth.RETURN, AnalysisDepth.PRIZES}
        else _with_distribution(figures, exact_figures, hand_credits)
    )


def _with_distribution(figures: BetAnalysis, exact_figures: ProvedFigures, hand_credits: int) -> BetAnalysis:
    """Return the figures of a single bet with its win distribution added, and the figures of combined bets unchanged.

    ``hand_credits`` is the stake on the hand, 0 for a side bet. If the exact figures have no distribution, only
    their variance is added.
    """
    stakes, cost_credits, prizes = figures.options["bets"], figures.cost_credits, figures.prizes
    if len(stakes) == 1 and not hand_credits:
        chance_by_win = {0: 1 - sum((prize.rate for prize in prizes), Fraction(0))}
        for prize in prizes:
            chance_by_win[prize.credits] = chance_by_win.get(prize.credits, Fraction(0)) + prize.rate
        return figures.with_distribution(build_distribution(chance_by_win))
    if set(stakes) != {MAIN_SPOT}:
        return figures
    if not exact_figures.net_probabilities:
        variance = exact_figures.variance
        return replace(figures, variance=None if variance is None else Fraction(variance) * cost_credits**2)
    distribution = build_distribution(
        {
            int(Fraction(net) * cost_credits) + cost_credits: Fraction(chance)
            for net, chance in exact_figures.net_probabilities.items()
        }
    )
    return figures.with_distribution(distribution)


def _iter_sampling_notes(
    definition: BlackjackDefinition, simulated_rounds: SimulatedRounds, hand_count: int
) -> Iterator[str]:
    """Yield notes on the simulated rounds of the best strategy, with equal stakes against each dealer hand."""
    shoe_rules = definition.shoe
    shoe_text = (
        "shoes dealt to the stop card"
        if shoe_rules.cards_behind_stop_card is not None
        else "decks of two rounds"
    )
    shoe_text = shoe_text if shoe_rules.is_shoe_carried_over else "fresh shoes"
    seed_text = f"seed {simulated_rounds.seed!r}, `python -m tools.dev prove` plays them again"
    mean, mean_half_width = (
        simulated_rounds.compute_mean(1),
        Fraction(simulated_rounds.standard_error) * SAMPLING_QUANTILE,
    )
    return_low, return_high = (
        _format_percent(1 + mean + deviation) for deviation in (-mean_half_width, mean_half_width)
    )
    yield (
        f"sampled: {simulated_rounds.round_count:,} rounds of the best play from {shoe_text} "
        f"return {_format_percent(1 + mean)} of a bet on the hand, 99.9 % interval {return_low} to "
        f"{return_high} ({seed_text})"
    )
    variance = round(simulated_rounds.compute_variance(hand_count) * 10_000)  # in ten-thousandths
    yield f"sampled: the variance of these rounds is {variance // 10_000}.{variance % 10_000:04d} squared stakes"
    counts_by_net = sorted(
        (Fraction(net), count) for net, count in simulated_rounds.round_counts_by_net[str(hand_count)].items()
    )
    net_list = ", ".join(
        f"{net} {_format_percent(Fraction(count, simulated_rounds.round_count))}"
        for net, count in counts_by_net
    )
    yield f"sampled: their nets in stakes: {net_list}"
    won_share = Fraction(sum(count for net, count in counts_by_net if net > 0), simulated_rounds.round_count)
    share_half_width = SAMPLING_QUANTILE * _compute_root_rounded_up(
        won_share * (1 - won_share) / simulated_rounds.round_count
    )
    share_low, share_high = (
        _format_percent(won_share + deviation) for deviation in (-share_half_width, share_half_width)
    )
    yield (
        f"sampled: hit frequency, more than was staked: {_format_percent(won_share)}, 99.9 % interval "
        f"{share_low} to {share_high}"
    )
    bands = []
    for game_count in CONFIDENCE_BAND_GAME_COUNTS:
        # for more rounds, the simulated mean is not known precisely enough
        if game_count * _SIMULATED_ROUNDS_PER_BAND_GAME <= simulated_rounds.round_count:
            half_width = (
                Fraction(CONFIDENCE_QUANTILES["90 %"])
                * _compute_root_rounded_up(simulated_rounds.compute_variance(hand_count) / game_count)
                / hand_count
            )
            bands.append(
                f"{game_count:,} rounds {_format_percent(1 + mean - half_width)} "
                f"to {_format_percent(1 + mean + half_width)}"
            )
    if bands:
        yield f"sampled: the return lies 90 % of the time, after {', after '.join(bands)}"
    yield f"sampled: highest win: {counts_by_net[-1][0]} stakes net, in {counts_by_net[-1][1]:,} of these rounds"


def _compute_root_rounded_up(square: Fraction) -> Fraction:
    """Return an upper bound of the square root of a small number, at most 1e-9 too large."""
    return Fraction(isqrt(int(square * 10**18)) + 1, 10**9)


def _build_level_figures(
    definition: BlackjackDefinition, level: SideBetProgressiveLevel, staked_credits: int, cost_credits: int
) -> ProgressiveFigures:
    """Return what a side bet's progressive level contributes to a wager of ``cost_credits``.

    ``staked_credits`` is the stake on the side bet.
    """
    side_bet = next(side_bet for side_bet in definition.side_bets if side_bet.id == level.spot)
    stake = side_bet.limits.bet_min
    bet = SideBet(level, (side_bet.id,), stake, compute_level_share_chances(definition, side_bet))
    return bet.compute_level_figures(
        compute_side_bet_return(definition, side_bet) * stake, staked_credits // stake
    ).scale_to_wager(staked_credits, cost_credits)


def _format_percent(share: Fraction) -> str:
    """Return an exact fraction as text in percent, with four decimals."""
    ten_thousandths = round(share * 1_000_000)
    return f"{ten_thousandths // 10_000}.{ten_thousandths % 10_000:04d} %"
