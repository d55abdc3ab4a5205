"""The exact figures of a wheel game: every single area, every preset bet, and any combination of bets.

A symbol that is spun again makes a short Markov chain. Its states are the factors reached, which only grow up
to the maximum, so the expected number of spins at each factor can be computed in ascending order.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from paytables.analysis import Analysis, AnalysisDepth, BetAnalysis, FeatureFigures, PrizeFigures
from paytables.layout import build_distribution
from paytables.wheel.schema import PresetWheelBet, WheelDefinition


def analyse(
    definition: WheelDefinition,
    preset_bets: Sequence[tuple[PresetWheelBet, Mapping[str, int]]],
    depth: AnalysisDepth,
) -> Analysis:
    """Return the exact figures of a wheel game, for a bet of the minimum stake on each area.

    At depth HIGHEST and above, the figures of every preset bet on several areas are included.
    """
    stake_min = min(definition.stake_rules.stake_options)
    bets = [analyse_bets(definition, {area.id: stake_min}, area.id, depth) for area in definition.areas]
    if depth in {AnalysisDepth.HIGHEST, AnalysisDepth.FULL}:
        bets += [
            analyse_bets(definition, stakes, preset_bet.id, depth)
            for preset_bet, stakes in preset_bets
            if len(stakes) > 1
        ]
    header = definition.game
    return Analysis(game_id=header.id, version=header.version, family=header.family, bets=tuple(bets))


def compute_expected_spins(definition: WheelDefinition) -> dict[int, Fraction]:
    """Return the mean number of spins in one game at each factor of the prizes."""
    segments = definition.wheel.segments
    factor_by_symbol = {s.id: s.respin_factor for s in definition.symbols if s.respin_factor is not None}
    segment_factors = [factor_by_symbol[symbol_id] for symbol_id in segments if symbol_id in factor_by_symbol]
    factor_max = definition.wheel.factor_max
    # The factor never falls, so the chance of the lowest factor in this mapping is always complete.
    reach_chance_by_factor = {1: Fraction(1)}
    mean_spins_by_factor: dict[int, Fraction] = {}
    while reach_chance_by_factor:
        factor = min(reach_chance_by_factor)
        stay_chance = Fraction(
            sum(min(factor * symbol_factor, factor_max) == factor for symbol_factor in segment_factors),
            len(segments),
        )
        # A factor that is kept with probability p has 1 + p + p**2 + ... = 1 / (1 - p) spins on average.
        mean_spins_by_factor[factor] = reach_chance_by_factor.pop(factor) / (1 - stay_chance)
        for symbol_factor in segment_factors:
            factor_after = min(factor * symbol_factor, factor_max)
            if factor_after != factor:
                reach_chance_by_factor[factor_after] = reach_chance_by_factor.get(
                    factor_after, Fraction(0)
                ) + mean_spins_by_factor[factor] / len(segments)
    return mean_spins_by_factor


def analyse_bets(
    definition: WheelDefinition,
    stakes: Mapping[str, int],
    bet_name: str,
    depth: AnalysisDepth = AnalysisDepth.FULL,
) -> BetAnalysis:
    """Return the exact figures of stakes on several areas of the wheel's layout, credits by area."""
    segments = definition.wheel.segments
    mean_spins_by_factor = compute_expected_spins(definition)
    area_by_id = {area.id: area for area in definition.areas}
    respin_symbols = {s.id for s in definition.symbols if s.respin_factor is not None}
    cost_credits, options = sum(stakes.values()), {"bets": dict(stakes)}
    # the mean sum of the factors of all spins of a game, divided by the number of segments
    factor_per_segment = sum(
        (spins * factor for factor, spins in mean_spins_by_factor.items()), Fraction(0)
    ) / len(segments)
    prizes = tuple(
        PrizeFigures(
            name=symbol_id,
            stage_or_spot=area_id,
            credits=stake * pay,
            win_count=segments.count(symbol_id),
            rate=sum(mean_spins_by_factor.values(), Fraction(0)) * segments.count(symbol_id) / len(segments),
            rtp=factor_per_segment * segments.count(symbol_id) * stake * pay / cost_credits,
        )
        for area_id, stake in stakes.items()
        for symbol_id, pay in sorted(area_by_id[area_id].pay_by_symbol.items(), key=lambda item: -item[1])
    )
    rtp = sum((prize.rtp for prize in prizes), Fraction(0))
    if depth is AnalysisDepth.RETURN:
        return BetAnalysis(
            bet=bet_name, cost_credits=cost_credits, options=options, rtp=rtp, cycle=len(segments)
        )
    chance_by_win_credits: dict[int, Fraction] = {}
    for symbol_id in set(segments) - respin_symbols:
        win_credits = sum(
            stake * area_by_id[area_id].pay_by_symbol.get(symbol_id, 0) for area_id, stake in stakes.items()
        )
        for factor, spins in mean_spins_by_factor.items():
            chance = spins * segments.count(symbol_id) / len(segments)
            chance_by_win_credits[win_credits * factor] = (
                chance_by_win_credits.get(win_credits * factor, Fraction(0)) + chance
            )
    distribution = build_distribution(chance_by_win_credits)
    return BetAnalysis(
        bet=bet_name,
        cost_credits=cost_credits,
        options=options,
        rtp=rtp,
        cycle=len(segments),
        prizes=prizes,
        features=_build_respin_figures(definition, rtp * cost_credits, cost_credits),
    ).with_distribution(distribution, hit_min_credits=1)


def _build_respin_figures(
    definition: WheelDefinition, mean_return_credits: Fraction, cost_credits: int
) -> tuple[FeatureFigures, ...]:
    """Return the figures of a game's spins after the first: how often they occur, their number, and their pay."""
    segments = definition.wheel.segments
    respin_symbols = {s.id for s in definition.symbols if s.respin_factor is not None}
    rate = Fraction(sum(symbol_id in respin_symbols for symbol_id in segments), len(segments))
    if not rate:
        return ()
    mean_spins_by_factor = compute_expected_spins(definition)
    mean_extra_spins = sum(mean_spins_by_factor.values(), Fraction(0)) - 1
    # The first spin has the factor 1.
    factor_sum = sum((spins * factor for factor, spins in mean_spins_by_factor.items()), Fraction(0))
    paid_return = mean_return_credits * (factor_sum - 1) / factor_sum
    return (
        FeatureFigures(
            feature="again",
            rate=rate,
            mean_runs=mean_extra_spins / rate,
            mean_credits=paid_return / rate,
            rtp=paid_return / cost_credits,
            max_runs=None,
        ),
    )
