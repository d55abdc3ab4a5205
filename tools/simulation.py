"""Simulating a game and holding the result against its exact figures.

Two paths: the *production* path plays every game as the cabinet does (the generator, decisions and all) with
draws
of the certified generator; the *compiled* path plays the same tables by numba, for numbers of games out of
the
interpreter's reach.
"""

import math
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from fractions import Fraction

from paytables import Choice, Decision, Draw, Game, load_game
from tools.laboratory.service import start_service

#: Games a worker plays before it reports.
BATCH = 20_000
#: The interval is of this many standard errors (99.9 % of honest simulations lie in it).
INTERVAL_Z = 3.290527


class SimulationError(Exception):
    """A simulation that cannot be run as asked: says why."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Sums over simulated games, in credits."""

    games: int = 0
    credits: int = 0
    squares: int = 0
    hits: int = 0
    most: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.games + other.games,
            self.credits + other.credits,
            self.squares + other.squares,
            self.hits + other.hits,
            max(self.most, other.most),
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """A simulation beside the exact figures: returns as shares of the bet."""

    games: int
    rtp: float
    low: float
    high: float
    exact: Fraction
    z: float

    @property
    def agrees(self) -> bool:
        """Whether the exact return lies in the simulation's interval."""
        return self.low <= float(self.exact) <= self.high


def judge(tally: Tally, cost: int, rtp: Fraction, variance: Fraction) -> Verdict:
    """Return the interval and the z-score against the exact return, by the exact standard deviation."""
    error = math.sqrt(float(variance) / tally.games) / cost
    mean = tally.credits / tally.games / cost
    z = (mean - float(rtp)) / error if error else 0.0
    return Verdict(tally.games, mean, mean - INTERVAL_Z * error, mean + INTERVAL_Z * error, rtp, z)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A return known by simulation only, with its interval by the sample's own standard deviation."""

    games: int
    rtp: float
    low: float
    high: float


def estimate(tally: Tally, cost: int) -> Estimate:
    """Return what a simulation says where there is no exact figure to hold it against."""
    mean = tally.credits / tally.games
    variance = (tally.squares - tally.credits * mean) / (tally.games - 1)
    half = INTERVAL_Z * math.sqrt(variance / tally.games)
    return Estimate(tally.games, mean / cost, (mean - half) / cost, (mean + half) / cost)


def policy(decision: Decision, picker: Draw) -> Choice:
    """Answer as a player would: by the advice where there is one, no double-up, else any option."""
    if "advice" in decision.prompt:
        return Choice(decision.prompt["advice"])
    if decision.kind == "double_up":
        return Choice("collect")
    return Choice(decision.options[picker.below(len(decision.options), "player")])


def play_batch(
    game: Game,
    credits_: int,
    options: Mapping[str, object],
    games: int,
    draw: Draw,
    most_counted: int | None = None,
) -> Tally:
    """Play games through the production path; a win above ``most_counted`` counts as that much."""
    wager = game.wager(credits_, **options)
    total = squares = hits = most = 0
    for _ in range(games):
        play = game.play(wager, draw)
        try:
            decision = next(play)
            while True:
                decision = play.send(policy(decision, draw))
        except StopIteration as end:
            win = end.value.win_credits
            win = win if most_counted is None else min(win, most_counted)
        total += win
        squares += win * win
        hits += win > 0
        most = max(most, win)
    return Tally(games, total, squares, hits, most)


def _worker(name: str, credits_: int, options: Mapping[str, object], games: int) -> Tally:
    service = start_service()
    game = load_game(name)
    tally = Tally()
    while games:
        some = min(games, 500)
        with service.step() as draw:
            tally += play_batch(game, credits_, options, some, draw)
        games -= some
    return tally


def simulate(
    name: str, credits_: int, options: Mapping[str, object], games: int, workers: int
) -> Iterator[Tally]:
    """Yield the growing tally of a production simulation, batch by batch, over ``workers`` processes."""
    if workers < 1 or workers > (os.cpu_count() or 1):
        raise SimulationError(f"{workers} workers; this machine has {os.cpu_count()} cores")
    batches = [min(BATCH, games - at) for at in range(0, games, BATCH)]
    tally = Tally()
    if workers == 1:
        for batch in batches:
            tally += _worker(name, credits_, options, batch)
            yield tally
        return
    with ProcessPoolExecutor(workers) as pool:
        for done in as_completed([pool.submit(_worker, name, credits_, options, b) for b in batches]):
            tally += done.result()
            yield tally
