"""The exact figures of a reel game in every mode (way to bet), combined from the figures of its stages."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import lcm
from typing import Any

from paytables.analysis import (
    Analysis,
    AnalysisDepth,
    BetAnalysis,
    DoubleUpFigures,
    FeatureFigures,
    MerchandiseFigures,
    PrizeFigures,
    ProgressiveFigures,
    WinDistribution,
    compute_mystery_rate,
)
from paytables.errors import AnalysisError
from paytables.reels.automaton import Award
from paytables.reels.build import ModeStages
from paytables.reels.chain import StageChain
from paytables.reels.enumerated import CascadingReels, HeldReels
from paytables.reels.no_win_chance import NoWinChance
from paytables.reels.run import (
    ChanceByCreditsAndAwards,
)
from paytables.reels.schema import DoubleUp, ReelProgressiveLevel, ReelsDefinition
from paytables.reels.spin import ReelSpinStage, ReelsStageBase
from paytables.reels.totals import CREDITS_LIMIT_MIN, HighestWinSearch, TotalWinDistributions

ZERO = Fraction(0)
#: Expected runs of one game, by (stage, start condition, multiplier of the series).
ExpectedRuns = Mapping[tuple[str, int, int], Fraction]

#: Message for a figure that needs packages which a cabinet does not have.
_LABORATORY_ONLY_TEXT = (
    "computed only with the laboratory packages (pip install open-egm[lab]; in a checkout, make setup-dev)"
)
#: How the double-up is played, as text.
_DOUBLE_UP_STRATEGY_TEXT = "double-up: any way, red and black are equally likely"
#: How the best strategy holds reels, as text.
_HOLD_STRATEGY_TEXT = "hold the reels worth most on average, as the game advises"
#: How boxes are picked, as text.
_PICK_STRATEGY_TEXT = "pick any box, what each holds is equally likely"


def analyse(definition: ReelsDefinition, stages: Mapping[str, ModeStages], depth: AnalysisDepth) -> Analysis:
    """Return the exact figures of a reel game in every mode (way to bet), to the given depth.

    The figures hold at every bet level, because the level multiplies cost and pays alike.
    """
    bets = tuple(_analyse_bet(definition, mode_stages, depth) for mode_stages in stages.values())
    header = definition.game
    return Analysis(game_id=header.id, version=header.version, family=header.family, bets=bets)


def build_chain(stages: ModeStages, *, with_second_moment: bool) -> StageChain:
    """Return the chain that combines the figures of one mode's stages.

    With ``with_second_moment``, the figures include the second moments that variances need.
    """
    return StageChain(
        lambda name, start_condition: stages.get_stage(name, start_condition).compute_figures(
            with_second_moment=with_second_moment
        ),
        stages.series_rules,
    )


def _analyse_bet(definition: ReelsDefinition, stages: ModeStages, depth: AnalysisDepth) -> BetAnalysis:
    """Return the exact figures of a reel game in one mode, to the given depth."""
    mode = stages.mode
    chain = build_chain(stages, with_second_moment=False)
    expected_runs = {key: rate for key, rate in chain.count_expected_runs(mode.first_stage).items() if rate}
    mean = sum(
        (
            rate * multiplier * chain.get_run_figures(name, start_condition).mean
            for (name, start_condition, multiplier), rate in expected_runs.items()
        ),
        ZERO,
    )
    first_stage = stages.get_stage(mode.first_stage)
    cycle = (
        first_stage.reels.cycle
        if isinstance(first_stage, ReelSpinStage | CascadingReels | HeldReels)
        else None
    )
    return_figures = BetAnalysis(
        bet=mode.id,
        cost_credits=mode.cost_credits,
        options={"mode": mode.id},
        rtp=mean / mode.cost_credits,
        cycle=cycle,
        progressives=_list_level_figures(definition, stages, expected_runs, mean / mode.cost_credits),
        merchandise=_list_merchandise_figures(definition, stages, expected_runs),
        **_describe_strategy(definition, stages, expected_runs, chain),
    )
    if depth is AnalysisDepth.RETURN:
        return return_figures
    figures = replace(
        return_figures,
        prizes=_list_prizes(stages, expected_runs),
        features=_list_feature_figures(stages, expected_runs, chain),
        hit_probability=_find_quick_hit_frequency(stages),
    )
    if depth is AnalysisDepth.PRIZES:
        return figures
    moments = build_chain(stages, with_second_moment=True).compute_award_moments(
        Award("stage", mode.first_stage, 1, 0)
    )
    if moments.mean != mean:
        raise AnalysisError(
            f"{mode.id}: two computations of the mean win differ: {mean} forwards, {moments.mean} backwards"
        )
    if depth is AnalysisDepth.VOLATILITY:
        return replace(figures, variance=moments.variance)
    highest_win_figures = _compute_highest_win_figures(stages)
    distribution_figures = (
        _compute_distribution_figures(stages, figures.hit_probability) if depth is AnalysisDepth.FULL else {}
    )
    notes = (*highest_win_figures.pop("notes", ()), *distribution_figures.pop("notes", ()))
    all_figures = replace(
        figures, variance=moments.variance, notes=notes, **highest_win_figures, **distribution_figures
    )
    double_up = definition.double_up
    return (
        all_figures
        if double_up is None
        else replace(all_figures, double_up=_analyse_double_up(double_up, all_figures))
    )


def _analyse_double_up(double_up: DoubleUp, bet: BetAnalysis) -> DoubleUpFigures:
    """Return how a bet's highest win and variance change if wins are doubled as often as the rules allow.

    A win of w that may be doubled k times becomes 2^k w with probability 1 / 2^k, so its second moment is
    multiplied by 2^k. If the distribution is unknown or omits wins that may be doubled, only the highest win is stated.
    """
    win_max, distribution, variance = bet.max_win_credits, bet.distribution, bet.variance
    doubled_win_max = double_up.win_max_credits if win_max is None else double_up.compute_win_bound(win_max)
    if (
        distribution is None
        or variance is None
        or (
            distribution.unlisted_probability
            and 2 * max(distribution.case_count_by_win) < double_up.win_max_credits
        )
    ):
        return DoubleUpFigures(max_win_credits=doubled_win_max)
    added_square_sum = sum(
        count * win**2 * ((1 << double_up.count_possible_rounds(win)) - 1)
        for win, count in distribution.case_count_by_win.items()
    )
    return DoubleUpFigures(
        max_win_credits=doubled_win_max,
        variance=variance + Fraction(added_square_sum, distribution.case_count),
        distribution=_compute_doubled_distribution(double_up, distribution),
    )


def _compute_doubled_distribution(double_up: DoubleUp, distribution: WinDistribution) -> WinDistribution:
    """Return the win distribution of a player who doubles every win as often as allowed.

    The tail (wins too high to be listed) stays as it is.
    """
    doubling_count = 1 << double_up.rounds_max
    counts: dict[int, int] = defaultdict(int)
    for win, count in distribution.case_count_by_win.items():
        rounds = double_up.count_possible_rounds(win)
        doubled_count = count * (doubling_count >> rounds)
        counts[win << rounds] += doubled_count
        counts[0] += count * doubling_count - doubled_count
    return WinDistribution(
        distribution.case_count * doubling_count, dict(counts), distribution.unlisted_probability
    )


def _describe_strategy(
    definition: ReelsDefinition, stages: ModeStages, expected_runs: ExpectedRuns, chain: StageChain
) -> dict[str, Any]:
    """Return fields of :class:`BetAnalysis`: the assumed strategy, and the return with the worst decisions.

    No decision affects which stages follow, so the worst game consists of the worst runs. A double-up is an
    even bet, so the way it is played does not change the mean.
    """
    strategy_texts: set[str] = set()
    mean = ZERO
    for (name, start_condition, multiplier), rate in expected_runs.items():
        stage = stages.get_stage(name, start_condition)
        worst_mean = stage.worst_mean
        run_mean = chain.get_run_figures(name, start_condition).mean if worst_mean is None else worst_mean
        mean += rate * multiplier * run_mean
        if worst_mean is not None:
            strategy_texts.add(_HOLD_STRATEGY_TEXT if isinstance(stage, HeldReels) else _PICK_STRATEGY_TEXT)
    if definition.double_up is not None:
        strategy_texts.add(_DOUBLE_UP_STRATEGY_TEXT)
    if not strategy_texts:
        return {}
    return {"strategy": "; ".join(sorted(strategy_texts)), "worst_rtp": mean / stages.mode.cost_credits}


def _compute_highest_win_figures(stages: ModeStages) -> dict[str, Any]:
    """Return fields of :class:`BetAnalysis`: the highest win and its probability, or a note on why they are unknown."""
    try:
        highest_win = HighestWinSearch(stages).find_highest_win(Award("stage", stages.mode.first_stage, 1, 0))
    except AnalysisError as error:
        return {"notes": (f"no highest win: {error}",)}
    if highest_win is None:
        return {"notes": ("no highest win: a feature that starts itself again has no last run",)}
    return {"max_win_credits": highest_win.credits, "max_win_probability": highest_win.chance}


def _find_quick_hit_frequency(stages: ModeStages) -> Fraction | None:
    """Return a mode's hit frequency if it can be computed quickly without laboratory packages, otherwise None."""
    try:
        return 1 - NoWinChance(stages, skips_slow_stages=True).compute_chance()
    except AnalysisError:
        return None


def _compute_distribution_figures(
    stages: ModeStages, quick_hit_probability: Fraction | None
) -> dict[str, Any]:
    """Return fields of :class:`BetAnalysis` that need complete win distributions, or a note if these are too large.

    Without the laboratory packages there is only a note, which names what is missing: the distribution, and the hit
    frequency unless ``quick_hit_probability`` is known already.
    """
    mode = stages.mode
    notes = []
    distribution_figures: dict[str, Any] = {}
    try:
        run_distribution = stages.get_stage(mode.first_stage).compute_distribution()
        no_win_chance = NoWinChance(stages)
        distribution_figures["hit_probability"] = 1 - no_win_chance.compute_chance()
        if no_win_chance.is_rounded:
            notes.append("hit frequency: features that start one another, rounded by less than 2^-40")
        distribution = (
            _compute_exact_distribution(stages, run_distribution)
            or TotalWinDistributions(
                stages, max(CREDITS_LIMIT_MIN, 4 * mode.cost_credits)
            ).compute_distribution()
        )
    except ImportError:
        missing_text = (
            "distribution" if quick_hit_probability is not None else "hit frequency and distribution"
        )
        return {"notes": (f"{missing_text}: {_LABORATORY_ONLY_TEXT}",)}
    except AnalysisError as error:
        return {**distribution_figures, "notes": (*notes, f"no distribution: {error}")}
    if distribution.unlisted_probability:
        notes.append(
            f"distribution: wins below {max(CREDITS_LIMIT_MIN, 4 * mode.cost_credits)} credits; "
            f"one game in {int(1 / distribution.unlisted_probability):,} left out"
        )
    return {
        **distribution_figures,
        "win_at_least_bet_probability": distribution.compute_chance_of_at_least(mode.cost_credits),
        "distribution": distribution,
        "notes": tuple(notes),
    }


def _compute_exact_distribution(
    stages: ModeStages, run_distribution: ChanceByCreditsAndAwards
) -> WinDistribution | None:
    """Return the win distribution of a reel game that always consists of one run.

    Return None if the run can start another one, or if the stage multiplies the pays of its first run.
    ``run_distribution`` is the distribution of a run's credits and awards.
    """
    series_rules = stages.series_rules[stages.mode.first_stage]
    if series_rules.multipliers[0] != 1 or any(given for _, given in run_distribution):
        return None
    total = lcm(*(p.denominator for p in run_distribution.values()))
    return WinDistribution(
        total, {win: p.numerator * (total // p.denominator) for (win, _), p in run_distribution.items()}
    )


def _list_prizes(stages: ModeStages, expected_runs: ExpectedRuns) -> tuple[PrizeFigures, ...]:
    """Return how often one reel game of a mode wins each prize, with the prize's share of the return."""
    rate_by_prize: dict[tuple[str, str, int], Fraction] = defaultdict(Fraction)
    paid_credits_by_prize: dict[tuple[str, str, int], Fraction] = defaultdict(Fraction)
    win_count_by_prize: dict[tuple[str, str, int], int | None] = {}
    for (name, start_condition, multiplier), rate in expected_runs.items():
        for prize_rate in stages.get_stage(name, start_condition).list_prize_rates():
            prize_key = (name, prize_rate.name, prize_rate.credits)
            rate_by_prize[prize_key] += rate * Fraction(prize_rate.win_count, prize_rate.cycle)
            paid_credits_by_prize[prize_key] += (
                rate * multiplier * Fraction(prize_rate.total_paid_credits, prize_rate.cycle)
            )
            win_count_by_prize[prize_key] = (
                prize_rate.win_count if prize_key not in win_count_by_prize else None
            )
    _add_never_won_prizes(stages, expected_runs, rate_by_prize, win_count_by_prize)
    prizes = (
        PrizeFigures(
            name=prize_name,
            stage_or_spot=stage_name,
            credits=credits_,
            win_count=win_count_by_prize[stage_name, prize_name, credits_],
            rate=rate,
            rtp=paid_credits_by_prize[stage_name, prize_name, credits_] / stages.mode.cost_credits,
        )
        for (stage_name, prize_name, credits_), rate in rate_by_prize.items()
    )
    return tuple(sorted(prizes, key=lambda prize: (prize.stage_or_spot, -prize.credits)))


def _add_never_won_prizes(
    stages: ModeStages,
    expected_runs: ExpectedRuns,
    rate_by_prize: dict[tuple[str, str, int], Fraction],
    win_count_by_prize: dict[tuple[str, str, int], int | None],
) -> None:
    """Add each prize in a stage's pay table that no window wins, so that the PAR sheet reports it."""
    listed_prize_names = {(name, prize_name) for name, prize_name, _ in rate_by_prize}
    for name, start_condition, _ in expected_runs:
        stage = stages.get_stage(name, start_condition)
        for prize_name, credits_ in stage.reels.pay_table_prizes if isinstance(stage, ReelsStageBase) else ():
            if (name, prize_name) not in listed_prize_names:
                rate_by_prize[name, prize_name, credits_] = ZERO
                win_count_by_prize[name, prize_name, credits_] = 0


def _list_feature_figures(
    stages: ModeStages, expected_runs: ExpectedRuns, chain: StageChain
) -> tuple[FeatureFigures, ...]:
    """Return the figures of each feature of a reel game: a stage that the mode can start after its first."""
    feature_figures = []
    for stage in sorted({name for name, _, _ in expected_runs} - {stages.mode.first_stage}):
        feature_runs = {key: rate for key, rate in expected_runs.items() if key[0] == stage}
        expected_run_count = sum(feature_runs.values(), ZERO)
        credits_ = sum(
            (
                run_rate * multiplier * chain.get_run_figures(n, start_condition).mean
                for (n, start_condition, multiplier), run_rate in feature_runs.items()
            ),
            ZERO,
        )
        start_rates = [
            (award, run_rate * award_rate)
            for (name, start_condition, _), run_rate in expected_runs.items()
            if name != stage
            for award, award_rate in chain.get_run_figures(name, start_condition).rate_by_award.items()
            if award.kind == "stage" and award.name == stage and award_rate
        ]
        rate = sum((award_rate for _, award_rate in start_rates), ZERO)
        run_count_maxima = [chain.find_longest_series(award) for award, _ in start_rates]
        feature_figures.append(
            FeatureFigures(
                feature=stage,
                rate=rate,
                mean_runs=expected_run_count / rate,
                mean_credits=credits_ / rate,
                rtp=credits_ / stages.mode.cost_credits,
                max_runs=None
                if None in run_count_maxima
                else max(n for n in run_count_maxima if n is not None),
            )
        )
    return tuple(feature_figures)


def _compute_award_rates(
    stages: ModeStages, expected_runs: ExpectedRuns, award_kind: str
) -> Mapping[str, Fraction]:
    """Return how often one reel game awards each progressive level or each merchandise prize, on average.

    ``award_kind`` chooses: ``progressive`` or ``merchandise``.
    """
    rate_by_award_name: dict[str, Fraction] = defaultdict(Fraction)
    for (name, start_condition, _), rate in expected_runs.items():
        for (kind, award_name), mean in stages.get_stage(name, start_condition).compute_mean_awards().items():
            if kind == award_kind:
                rate_by_award_name[award_name] += rate * mean
    return rate_by_award_name


def _list_merchandise_figures(
    definition: ReelsDefinition, stages: ModeStages, expected_runs: ExpectedRuns
) -> tuple[MerchandiseFigures, ...]:
    """Return how often one game of a mode wins each merchandise prize, with the prize's value."""
    if not definition.merchandise:
        return ()
    rate_by_prize = _compute_award_rates(stages, expected_runs, "merchandise")
    return tuple(
        MerchandiseFigures(prize=prize.id, rate=rate_by_prize[prize.id], value_cents=prize.value_cents)
        for prize in definition.merchandise
    )


def _compute_break_even_amount(
    level: ReelProgressiveLevel, rate: Fraction, shortfall_credits: Fraction, added_credits: Fraction
) -> Fraction | None:
    """Return the progressive amount that makes the next game return its cost, or None if no amount does.

    ``shortfall_credits`` is the cost of a game less its other mean wins, ``rate`` the mean number of hits per game, and
    ``added_credits`` what a game adds to the level, all in credits. The chance of a mystery level rises with its amount
    m: at break-even, m times ``added_credits`` / (ceiling - m) equals ``shortfall_credits``.
    """
    if level.ceiling_credits is not None:
        return (
            max(ZERO, shortfall_credits)
            * level.ceiling_credits
            / (added_credits + max(ZERO, shortfall_credits))
        )
    return shortfall_credits / rate if rate else None


def _list_level_figures(
    definition: ReelsDefinition, stages: ModeStages, expected_runs: ExpectedRuns, base_rtp: Fraction
) -> tuple[ProgressiveFigures, ...]:
    """Return the figures of each progressive level in one mode."""
    if not definition.progressive_levels:
        return ()
    rate_by_level = _compute_award_rates(stages, expected_runs, "progressive")
    figures = []
    cost_credits = stages.mode.cost_credits
    for level in definition.progressive_levels:
        increment = Fraction(level.increment)
        rate = rate_by_level[level.id]
        reset_credits = level.reset_credits
        if level.one_in is not None:
            rate = Fraction(1, level.one_in)
        if level.ceiling_credits is not None:
            rate = compute_mystery_rate((level.ceiling_credits - reset_credits) / (increment * cost_credits))
        shortfall_credits = cost_credits * (1 - base_rtp)
        figures.append(
            ProgressiveFigures(
                level=level.id,
                rate=rate,
                reset_credits=reset_credits,
                rtp_at_reset=rate * reset_credits / cost_credits,
                increment=increment if rate else ZERO,
                break_even_credits=_compute_break_even_amount(
                    level, rate, shortfall_credits, increment * cost_credits
                ),
                ceiling_credits=level.ceiling_credits,
            )
        )
    return tuple(figures)
