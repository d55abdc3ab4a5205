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
    """Return the exact figures of a wheel game: those of every area at the minimum stake.

    From depth HIGHEST, also those of every preset bet on several areas.
    """
    stake_min = min(definition.layout.stake_options)
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
    """Return the mean number of spins in one game at each multiplier of the prizes."""
    segments = definition.wheel.segments
    factor_by_symbol = {s.id: s.respin_factor for s in definition.symbols if s.respin_factor is not None}
    segment_factors = [factor_by_symbol[part] for part in segments if part in factor_by_symbol]
    factor_max = definition.wheel.factor_max
    # the probability that the game reaches each multiplier; a multiplier never falls, so the lowest is complete
    reached_factors = {1: Fraction(1)}
    spins_by_factor: dict[int, Fraction] = {}
    while reached_factors:
        factor = min(reached_factors)
        stay_chance = Fraction(
            sum(min(factor * symbol_factor, factor_max) == factor for symbol_factor in segment_factors),
            len(segments),
        )
        # a multiplier that is kept with probability p has 1 + p + p**2 + ... = 1 / (1 - p) spins on average
        spins_by_factor[factor] = reached_factors.pop(factor) / (1 - stay_chance)
        for symbol_factor in segment_factors:
            factor_after = min(factor * symbol_factor, factor_max)
            if factor_after != factor:
                reached_factors[factor_after] = reached_factors.get(
                    factor_after, Fraction(0)
                ) + spins_by_factor[factor] / len(segments)
    return spins_by_factor


def analyse_bets(
    definition: WheelDefinition,
    stakes: Mapping[str, int],
    bet_name: str,
    depth: AnalysisDepth = AnalysisDepth.FULL,
) -> BetAnalysis:
    """Return the exact figures of stakes on several areas of the wheel's layout, credits by area."""
    segments = definition.wheel.segments
    spins_by_factor = compute_expected_spins(definition)
    areas = {area.id: area for area in definition.areas}
    respin_symbols = {s.id for s in definition.symbols if s.respin_factor is not None}
    cost, options = sum(stakes.values()), {"bets": dict(stakes)}
    # the sum of the multipliers of all spins of a game, on average, for one segment
    factor_per_segment = sum(
        (spins * factor for factor, spins in spins_by_factor.items()), Fraction(0)
    ) / len(segments)
    prizes = tuple(
        PrizeFigures(
            name=symbol,
            stage_or_spot=area,
            credits=stake * pay,
            winning_case_count=segments.count(symbol),
            rate=sum(spins_by_factor.values(), Fraction(0)) * segments.count(symbol) / len(segments),
            rtp=factor_per_segment * segments.count(symbol) * stake * pay / cost,
        )
        for area, stake in stakes.items()
        for symbol, pay in sorted(areas[area].pay_by_symbol.items(), key=lambda item: -item[1])
    )
    rtp = sum((prize.rtp for prize in prizes), Fraction(0))
    if depth is AnalysisDepth.RETURN:
        return BetAnalysis(bet=bet_name, cost_credits=cost, options=options, rtp=rtp, cycle=len(segments))
    chances: dict[int, Fraction] = {}
    for symbol in set(segments) - respin_symbols:
        win = sum(stake * areas[area].pay_by_symbol.get(symbol, 0) for area, stake in stakes.items())
        for factor, spins in spins_by_factor.items():
            chance = spins * segments.count(symbol) / len(segments)
            chances[win * factor] = chances.get(win * factor, Fraction(0)) + chance
    distribution = build_distribution(chances)
    return BetAnalysis(
        bet=bet_name,
        cost_credits=cost,
        options=options,
        rtp=rtp,
        cycle=len(segments),
        prizes=prizes,
        features=_build_respin_figures(definition, rtp * cost, cost),
    ).with_distribution(distribution, hit_min_credits=1)


def _build_respin_figures(
    definition: WheelDefinition, mean: Fraction, cost: int
) -> tuple[FeatureFigures, ...]:
    """Return the figures of a game's spins after the first: how often they occur, their number, and their pay."""
    segments = definition.wheel.segments
    respin_symbols = {s.id for s in definition.symbols if s.respin_factor is not None}
    rate = Fraction(sum(part in respin_symbols for part in segments), len(segments))
    if not rate:
        return ()
    spins_by_factor = compute_expected_spins(definition)
    extra_spins = sum(spins_by_factor.values(), Fraction(0)) - 1
    # of the sum of all multipliers, the first spin has 1
    factor_sum = sum((spins * factor for factor, spins in spins_by_factor.items()), Fraction(0))
    paid_return = mean * (factor_sum - 1) / factor_sum
    return (
        FeatureFigures(
            feature="again",
            rate=rate,
            mean_runs=extra_spins / rate,
            mean_credits=paid_return / rate,
            rtp=paid_return / cost,
            max_runs=None,
        ),
    )
