"""The exact figures of a reel game: every stage's expectations put together for every mode."""

from collections.abc import Mapping
from fractions import Fraction

from paytables.analysis import Analysis, BetAnalysis, Depth, FeatureFigures, Prize
from paytables.reels.moments import award_rates, end_counts, expected_runs, mean_credits
from paytables.reels.schema import Mode, ReelsDefinition
from paytables.reels.stage import Reels


def analyse(
    definition: ReelsDefinition,
    modes: Mapping[str, Mode],
    stages: Mapping[str, Mapping[str, Reels]],
    depth: Depth,
) -> Analysis:
    """Return the figures of every mode. They hold at every level, which multiplies cost and pays alike."""
    bets = tuple(_bet(mode, stages[mode.id], depth) for mode in modes.values())
    header = definition.game
    return Analysis(game_id=header.id, version=header.version, family=header.family, bets=bets)


def stage_runs(stages: Mapping[str, Reels]) -> dict[str, dict[str, Fraction]] | str:
    """Return how many runs of each stage follow one run of another, or the stage that never ends."""
    gives = {
        name: {award: rate for (kind, award), rate in award_rates(reels).items() if kind == "stage"}
        for name, reels in stages.items()
    }
    return expected_runs(gives)


def _bet(mode: Mode, stages: Mapping[str, Reels], depth: Depth) -> BetAnalysis:
    runs = stage_runs(stages)
    assert not isinstance(runs, str)  # a game that never ends was refused when it was loaded
    reached = {name: rate for name, rate in runs[mode.stage].items() if rate}
    means = {name: mean_credits(stages[name]) for name in reached}
    total = sum((rate * means[name] for name, rate in reached.items()), Fraction(0))
    base = stages[mode.stage]
    if depth is Depth.RETURN:
        return BetAnalysis(bet=mode.id, cost_credits=mode.cost, rtp=total / mode.cost, cycle=base.cycle)
    prizes = tuple(p for name, rate in reached.items() for p in _prizes(stages[name], rate, mode.cost))
    features = tuple(
        FeatureFigures(
            feature=name,
            rate=rate,
            mean_runs=rate,
            mean_credits=means[name],
            rtp=rate * means[name] / mode.cost,
            longest_runs=None,
        )
        for name, rate in reached.items()
        if name != mode.stage
    )
    return BetAnalysis(
        bet=mode.id,
        cost_credits=mode.cost,
        rtp=total / mode.cost,
        cycle=base.cycle,
        prizes=prizes,
        features=features,
    )


def _prizes(reels: Reels, rate: Fraction, cost: int) -> list[Prize]:
    hits: dict[str, int] = {}
    paid: dict[str, int] = {}
    credits_: dict[str, int] = {}
    for c in range(len(reels.components)):
        for node, amount in end_counts(reels, c, weighted=True).items():
            end = reels.graph.ends[node]
            if end.prize is not None:
                name = end.prize.name
                hits[name] = hits.get(name, 0) + amount
                paid[name] = paid.get(name, 0) + amount * end.value
                credits_[name] = end.prize.credits * reels.multiplier
    return [
        Prize(
            name=name,
            where=reels.name,
            credits=credits_[name],
            hits=hits[name],
            rate=rate * Fraction(hits[name], reels.cycle),
            rtp=rate * Fraction(paid[name] * reels.multiplier, reels.cycle * cost),
        )
        for name in sorted(hits, key=lambda n: (-credits_[n], n))
    ]
