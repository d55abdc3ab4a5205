"""Measure keno: exact distributions against enumeration of every draw, and the speed of analysis and play."""

import time
from collections.abc import Iterator, Mapping
from itertools import combinations
from math import comb
from typing import Final

from paytables import AnalysisDepth, load_game, play_through
from paytables.keno.joint import Catch, CreditsAndLevels, JointCalculation, JointSelection
from rng import Personalization, RandomService, ReseedPolicy
from tools.dev.bench import BenchFigure, measure_call

#: A field small enough to enumerate every draw in plain Python.
FIELD_NUMBER_COUNT: Final = 24
DRAWN_NUMBER_COUNT: Final = 8
CARDS: Final = (frozenset({1, 2, 3, 4, 5, 6}), frozenset({4, 5, 6, 7, 8}), frozenset({6, 8, 20, 21, 22, 23}))
PAY_CREDITS_BY_CATCH: Final = (0, 0, 0, 1, 5, 40, 300)
PLAYED_DRAW_COUNT: Final = 1000


def measure_figures() -> Iterator[BenchFigure]:
    """Yield the figures. Exact and enumerated distributions must be equal."""
    exact_seconds, distribution = measure_call(_compute_joint_distribution)
    enumeration_seconds, counts = measure_call(_count_wins_of_every_draw)
    if distribution != counts:
        raise AssertionError("the joint distribution and the enumeration of every draw differ")
    draws = comb(FIELD_NUMBER_COUNT, DRAWN_NUMBER_COUNT)
    yield BenchFigure(
        f"distribution of three overlapping cards, {DRAWN_NUMBER_COUNT} of {FIELD_NUMBER_COUNT}",
        1000 * exact_seconds,
        "ms",
        f"every one of {draws:,} draws, in the same language",
        1000 * enumeration_seconds,
        better_if="lower",
        target="the same cost on any field: the enumeration grows with the number of draws",
    )
    king_ticket_seconds, _ = measure_call(lambda: _count_cases_of_king_ticket(20))
    yield BenchFigure(
        f"distribution of {comb(20, 3) + comb(20, 5):,} ways of 20 kings, 20 of 80",
        1000 * king_ticket_seconds,
        "ms",
        better_if="lower",
        target=f"{comb(80, 20):.2g} draws in milliseconds",
    )
    for name in ("aurora-keno", "archipelago-keno"):
        game = load_game(name)
        analysis_seconds, analysis = measure_call(lambda game=game: game.rules.analyse(AnalysisDepth.FULL))  # type: ignore[misc]
        yield BenchFigure(
            f"full analysis of {name}, {len(analysis.bets)} ways to bet",
            1000 * analysis_seconds,
            "ms",
            better_if="lower",
        )
    yield BenchFigure("draws played and recorded", _measure_draws_per_second(), "draws/s")


def _compute_win(caught: Mapping[Catch, int]) -> CreditsAndLevels:
    return sum(n * PAY_CREDITS_BY_CATCH[catch] for (_, catch, _), n in caught.items()), 0


def _compute_joint_distribution() -> dict[int, int]:
    parts = [JointSelection((card,), frozenset({len(card)}), _compute_win) for card in CARDS]
    return {
        won_credits: n
        for (won_credits, _), n in JointCalculation(parts, FIELD_NUMBER_COUNT, DRAWN_NUMBER_COUNT)
        .compute_distribution()
        .case_count_by_win.items()
    }


def _count_wins_of_every_draw() -> dict[int, int]:
    counts: dict[int, int] = {}
    for balls in combinations(range(1, FIELD_NUMBER_COUNT + 1), DRAWN_NUMBER_COUNT):
        drawn_numbers = set(balls)
        won_credits = sum(PAY_CREDITS_BY_CATCH[len(card & drawn_numbers)] for card in CARDS)
        counts[won_credits] = counts.get(won_credits, 0) + 1
    return counts


def _count_cases_of_king_ticket(king_count: int) -> int:
    groups = tuple(frozenset({n}) for n in range(1, king_count + 1))
    part = JointSelection(groups, frozenset({3, 5}), _compute_win)
    return JointCalculation([part], 80, 20).compute_distribution().case_count


def _measure_draws_per_second() -> float:
    personalization = Personalization(
        product="bench", version="1", machine_serial="BENCH", instance=1, boot_counter=1
    )
    random_service = RandomService.start(personalization=personalization, policy=ReseedPolicy())
    game = load_game("aurora-keno")
    wager = game.build_wager(1)
    started_seconds = time.perf_counter()
    for _ in range(PLAYED_DRAW_COUNT):
        with random_service.step() as step:
            play_through(game, wager, step)
    return PLAYED_DRAW_COUNT / (time.perf_counter() - started_seconds)
