"""Final outcomes for laboratories: what games would have drawn, collected through the production path.

Each outcome is one step of the service, as in a cabinet; :func:`collect_in_bulk` gives the same numbers the
scalar path would give from the same bytes, a hundred times faster. No cabinet code imports this module.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rng.draws import Draws
from rng.errors import InvalidSample
from rng.scaling import Weights, check_bound, selection_bounds
from rng.service import RandomService
from tools.lab.rng.bulk import Array, BulkDraws
from tools.lab.rng.collection import raw_reader

_BATCH: Final = 10_000


@dataclass(frozen=True, slots=True)
class Numbers:
    """``positions`` independent numbers below ``bound`` a play: reels, dice, wheels."""

    bound: int
    positions: int = 1

    def __post_init__(self) -> None:
        check_bound(self.bound)
        if self.positions < 1:
            raise InvalidSample(f"a play has 1 number or more, not {self.positions}")

    def draw(self, draws: Draws) -> list[int]:
        """One play."""
        return [draws.below(self.bound, f"position {i}") for i in range(self.positions)]

    def draw_many(self, draws: BulkDraws, plays: int) -> Array:
        """``plays`` plays, of shape (plays, positions)."""
        return draws.below(self.bound, plays * self.positions).reshape(plays, self.positions)


@dataclass(frozen=True, slots=True)
class Selection:
    """``picks`` of ``population`` without replacement, in the order drawn: keno, bingo, cards."""

    population: int
    picks: int

    def __post_init__(self) -> None:
        selection_bounds(self.population, self.picks)
        if not self.picks:
            raise InvalidSample("a selection picks 1 or more")

    def draw(self, draws: Draws) -> list[int]:
        """One play."""
        return draws.sample(self.population, self.picks, "selection")

    def draw_many(self, draws: BulkDraws, plays: int) -> Array:
        """``plays`` plays, of shape (plays, picks)."""
        return draws.sample(self.population, self.picks, plays)


@dataclass(frozen=True, slots=True)
class Weighted:
    """One index of a table of weights a play."""

    weights: Weights

    def draw(self, draws: Draws) -> list[int]:
        """One play."""
        return [draws.weighted(self.weights, "weighted")]

    def draw_many(self, draws: BulkDraws, plays: int) -> Array:
        """``plays`` plays, of shape (plays, 1)."""
        return draws.weighted(self.weights, plays).astype("u8").reshape(plays, 1)


Game = Numbers | Selection | Weighted

KENO: Final = Selection(80, 20)


def collect(service: RandomService, game: Game, plays: int) -> Iterator[list[int]]:
    """``plays`` outcomes, each drawn in a step of its own."""
    for _ in range(plays):
        with service.step() as draws:
            yield game.draw(draws)


def collect_in_bulk(service: RandomService, game: Game, plays: int) -> Iterator[list[int]]:
    """``plays`` outcomes from raw output, through the bulk path."""
    draws = BulkDraws(raw_reader(service))
    for first in range(0, plays, _BATCH):
        yield from game.draw_many(draws, min(_BATCH, plays - first)).tolist()
