"""Measure the generator and the draws against well-known baselines in the same run."""

import random
import secrets
import timeit
from collections.abc import Callable, Iterator

import numpy as np

from rng import KernelSource, Personalization, RandomService, ReseedPolicy
from rng.ctr_drbg import CtrDrbg
from tools.dev.bench import BenchFigure
from tools.lab.rng.bulk import BulkDraws
from tools.lab.rng.collection import create_raw_reader
from tools.lab.rng.outcomes import CARD_GAME, KENO_GAME

_BULK_DRAW_COUNT = 2_000_000
_GAME_COUNT = 20_000


def _measure_seconds_per_call(action: Callable[[], object], number: int) -> float:
    """Return the seconds that ``number`` calls of ``action`` take, the lowest of five rounds."""
    return min(timeit.repeat(action, number=number, repeat=5)) / number


def _start_service(*, fresh_input_each_request: bool) -> RandomService:
    return RandomService.start(
        personalization=Personalization(
            product="open-egm", version="bench", machine_serial="bench", instance=0, boot_counter=0
        ),
        sources=[KernelSource()],
        policy=ReseedPolicy(fresh_input_each_request=fresh_input_each_request),
    )


def _measure_bulk_draws(service: RandomService) -> Iterator[BenchFigure]:
    draws = BulkDraws(create_raw_reader(service))
    plain = np.random.Generator(np.random.PCG64(1))  # noqa: TID251
    bulk_seconds = _measure_seconds_per_call(lambda: draws.below(22, _BULK_DRAW_COUNT), 1) / _BULK_DRAW_COUNT
    integers = (
        _measure_seconds_per_call(lambda: plain.integers(22, size=_BULK_DRAW_COUNT), 1) / _BULK_DRAW_COUNT
    )
    narrow = (
        _measure_seconds_per_call(lambda: plain.integers(22, size=_BULK_DRAW_COUNT, dtype=np.uint16), 1)
        / _BULK_DRAW_COUNT
    )
    randbelow = _measure_seconds_per_call(lambda: secrets.randbelow(22), 20_000)
    name = "bulk below(22)"
    yield BenchFigure(
        name=name, value=1e-6 / bulk_seconds, unit="M/s", baseline_name="numpy PCG64 integers",
        baseline=1e-6 / integers, target="at least 1",
    )  # fmt: skip
    yield BenchFigure(
        name=name, value=1e-6 / bulk_seconds, unit="M/s", baseline_name="the same, uint16", baseline=1e-6 / narrow,
    )  # fmt: skip
    yield BenchFigure(
        name=name, value=1e-6 / bulk_seconds, unit="M/s", baseline_name="secrets.randbelow",
        baseline=1e-6 / randbelow, target="at least 100",
    )  # fmt: skip
    permuted = np.tile(np.arange(52, dtype=np.uint8), (_GAME_COUNT, 1))
    deck = _measure_seconds_per_call(lambda: draws.sample(52, 52, _GAME_COUNT), 1) / _GAME_COUNT
    plain_deck = _measure_seconds_per_call(lambda: plain.permuted(permuted, axis=1), 1) / _GAME_COUNT
    yield BenchFigure(
        name="bulk deck of 52 dealt", value=1e-6 / deck, unit="M/s", baseline_name="numpy PCG64 permuted",
        baseline=1e-6 / plain_deck,
    )  # fmt: skip
    keno = _measure_seconds_per_call(lambda: draws.sample(80, 20, _GAME_COUNT), 1) / _GAME_COUNT
    plain_keno = _measure_seconds_per_call(lambda: plain.choice(80, 20, replace=False), 2000)
    yield BenchFigure(
        name="bulk keno 20 of 80", value=1e-6 / keno, unit="M/s", baseline_name="numpy PCG64 choice",
        baseline=1e-6 / plain_keno,
    )  # fmt: skip


def _measure_step(service: RandomService, label: str, bare: float, aim: str) -> Iterator[BenchFigure]:
    def five() -> None:
        with service.step() as draws:
            for _ in range(5):
                draws.below(22, "reel")

    yield BenchFigure(
        name=f"step of five draws, {label}", value=1e6 * _measure_seconds_per_call(five, 3000), unit="us",
        baseline_name="Generate of 5 bytes", baseline=1e6 * bare, better_if="lower", target=aim,
    )  # fmt: skip


def _measure_scalar_draws(service: RandomService) -> Iterator[BenchFigure]:
    system = random.SystemRandom()

    def deck() -> None:
        with service.step() as draws:
            CARD_GAME.draw(draws)

    def keno() -> None:
        with service.step() as draws:
            KENO_GAME.draw(draws)

    cards = list(range(52))
    yield BenchFigure(
        name="step of a deck of 52 dealt", value=1e6 * _measure_seconds_per_call(deck, 500), unit="us",
        baseline_name="SystemRandom.shuffle",
        baseline=1e6 * _measure_seconds_per_call(lambda: system.shuffle(cards), 500),
        better_if="lower",
    )  # fmt: skip
    yield BenchFigure(
        name="step of a keno draw", value=1e6 * _measure_seconds_per_call(keno, 1000), unit="us",
        baseline_name="SystemRandom.sample",
        baseline=1e6 * _measure_seconds_per_call(lambda: system.sample(range(80), 20), 1000), better_if="lower",
    )  # fmt: skip


def measure_figures() -> Iterator[BenchFigure]:
    """Yield the speed of the bare generator, of one step, and of bulk and scalar draws."""
    drbg = CtrDrbg(bytes(48), bytes(16))
    bare = _measure_seconds_per_call(lambda: drbg.generate(5), 5000)
    plain, mixed = (
        _start_service(fresh_input_each_request=False),
        _start_service(fresh_input_each_request=True),
    )
    yield from _measure_step(plain, "no fresh input", bare, "15 us or less")
    yield from _measure_step(mixed, "fresh input mixed in", bare, "")
    yield from _measure_scalar_draws(mixed)
    yield from _measure_bulk_draws(plain)
