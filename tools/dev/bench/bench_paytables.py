"""Speed of exact analysis against enumeration, of compiled against interpreted evaluation, and of every game.

The baseline of exact analysis is a compiled enumeration of the same reels on one core. It covers a part of the cycle,
because the full cycle would take minutes. Both figures are reel windows evaluated per second.
"""

from collections.abc import Iterator
from functools import partial

from paytables import AnalysisDepth, Game, list_shipped_games, load_game
from paytables.definition import parse, read_source
from paytables.game import build_game
from paytables.poker.video.rules import VideoPokerRules
from paytables.reels import compiled, moments
from paytables.reels.rules import ReelRules
from paytables.reels.spin import ReelSpinStage
from paytables.reels.stage import ReelSet
from paytables.reels.win_distribution import compute_run_distribution
from tools.dev.bench import BenchFigure, measure_processor_seconds
from tools.lab.simulation import play_batch

GAME = "aurora-twenty"
BET = "twenty"
VIDEO_POKER_GAME = "jacks-or-better-9-6"
#: Windows the enumeration is measured over, and games of each simulation.
ENUMERATED_WINDOW_COUNT = 8_000_000
COMPILED_GAME_COUNT = 3_000_000
INTERPRETED_GAME_COUNT = 5_000


class FastDraws:
    """A fast generator of benchmark numbers (xorshift64), which takes little of the measured time."""

    def __init__(self) -> None:
        self.state = 88172645463325252

    def below(self, bound: int, purpose: str) -> int:
        """Return the next number below ``bound``."""
        del purpose
        x = self.state
        x ^= x << 13 & 0xFFFFFFFFFFFFFFFF
        x ^= x >> 7
        x ^= x << 17 & 0xFFFFFFFFFFFFFFFF
        self.state = x
        return x % bound


def _create_base_reels(factor: int = 1) -> ReelSet:
    """Return newly created reels of the game's first stage (nothing cached), with strips ``factor`` times as long."""
    data = parse(read_source(GAME))
    strips = data["stage"]["base"]["strips"]
    data["stage"]["base"]["strips"] = [" ".join([strip] * factor) for strip in strips]
    rules = build_game(data, GAME).rules
    assert isinstance(rules, ReelRules)  # the library says so
    stage = rules.stages[BET].get_stage("base")
    assert isinstance(stage, ReelSpinStage)
    return stage.reels


def _compute_moments(reels: ReelSet) -> None:
    moments.compute_run_figures(reels, moments.count_ends_by_component(reels), with_second_moment=False)
    moments.compute_second_moment(reels)


def _measure_moments_seconds(factor: int) -> float:
    """Return the processor seconds of the exact return and sigma, for strips ``factor`` times as long.

    The time is the lowest of three measurements, each on newly created reels.
    """
    return min(
        measure_processor_seconds(partial(_compute_moments, reels))
        for reels in [_create_base_reels(factor) for _ in range(3)]
    )


def _measure_exact_analysis() -> Iterator[BenchFigure]:
    reels = _create_base_reels()
    compiled.enumerate_cycle(reels, 1)  # compile before the clock starts
    enumeration_rate = ENUMERATED_WINDOW_COUNT / measure_processor_seconds(
        lambda: compiled.enumerate_cycle(reels, ENUMERATED_WINDOW_COUNT)
    )
    moments_seconds = _measure_moments_seconds(1)
    longer_strips_seconds = _measure_moments_seconds(4)
    distribution_seconds = measure_processor_seconds(lambda: compute_run_distribution(_create_base_reels()))
    for name, seconds, target in (
        ("exact return and sigma", moments_seconds, "1,000x"),
        ("whole distribution and hit frequency", distribution_seconds, "20x"),
    ):
        yield BenchFigure(
            f"{GAME}: {name}",
            reels.cycle / seconds,
            "windows/s",
            "compiled enumeration, one core",
            enumeration_rate,
            target=target,
        )
    yield BenchFigure(
        "return and sigma, strips 4 times as long",
        longer_strips_seconds,
        "s",
        "strips as they are",
        moments_seconds,
        better_if="lower",
        target="1x: flat",
    )


def _measure_simulation() -> Iterator[BenchFigure]:
    game = load_game(GAME)
    assert isinstance(game.rules, ReelRules)
    stages = game.rules.stages[BET]
    compiled.simulate(stages, 2, 1)
    compiled_rate = COMPILED_GAME_COUNT / measure_processor_seconds(
        lambda: compiled.simulate(stages, COMPILED_GAME_COUNT, 1)
    )
    cost_credits = stages.mode.cost_credits
    interpreted_rate = INTERPRETED_GAME_COUNT / measure_processor_seconds(
        lambda: play_batch(game, cost_credits, {}, INTERPRETED_GAME_COUNT, FastDraws())
    )
    yield BenchFigure(
        f"{GAME}: games simulated, compiled, one core",
        compiled_rate,
        "games/s",
        "interpreted, as the cabinet plays",
        interpreted_rate,
        target="10 million games/s",
    )


def _measure_video_poker() -> Iterator[BenchFigure]:
    rules = load_game(VIDEO_POKER_GAME).rules
    assert isinstance(rules, VideoPokerRules)
    first_seconds = measure_processor_seconds(rules.prove)
    yield BenchFigure(
        f"{VIDEO_POKER_GAME}: best, worst and simplest play of every deal, at both bets",
        measure_processor_seconds(rules.prove),
        "s",
        "the first of a process, with every set of cards",
        first_seconds,
        better_if="lower",
        target="2 s, one core",
    )


def _measure_library_games() -> Iterator[BenchFigure]:
    for name in list_shipped_games():
        return_seconds = measure_processor_seconds(
            lambda name=name: _load_uncached(name).rules.analyse(AnalysisDepth.RETURN)  # type: ignore[misc]
        )
        yield BenchFigure(f"{name}: load, and exact return", 1000 * return_seconds, "ms", better_if="lower")
        yield BenchFigure(
            f"{name}: the whole PAR sheet",
            1000 * measure_processor_seconds(partial(_load_uncached(name).rules.analyse, AnalysisDepth.FULL)),
            "ms",
            better_if="lower",
        )


def _load_uncached(name: str) -> Game:
    """Load a game that this process has neither loaded nor analysed before, without the cache of :func:`load_game`."""
    source = read_source(name)
    return build_game(parse(source), str(source.path), source)


def measure_figures() -> Iterator[BenchFigure]:
    """Yield the figures of exact analysis, simulation, and every game of the library."""
    yield from _measure_exact_analysis()
    yield from _measure_simulation()
    yield from _measure_video_poker()
    yield from _measure_library_games()
