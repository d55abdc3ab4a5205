"""Final outcomes for laboratories, drawn by the games' own functions for dealing, throwing and spinning.

A selection of ``k`` from ``n`` pieces takes ``k`` draws. Each draw is below the number of remaining pieces, and
takes the piece at that index; the remaining pieces keep their order
(:func:`paytables.contract.draw_and_remove_element`, and :meth:`paytables.cards.Shoe.deal` for cards that are
counted). ``draw_many`` implements this rule a second time, compiled for speed: the battery compares each play
of a game with it. No cabinet code imports this module.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from typing import Any, Final, TypeAlias

from paytables import DrawSource, load_game
from paytables.cards import Shoe
from paytables.contract import draw_weighted_index, throw_dice
from paytables.keno.draws import draw_numbers
from paytables.reels.automaton import WinGraph
from paytables.reels.stage import ReelSet
from rng.scaling import check_bound
from rng.service import RandomService
from tools.lab.rng.bulk import BulkDraws, UnsignedArray, list_selection_bounds
from tools.lab.rng.collection import create_raw_reader
from tools.lab.rng.errors import InvalidSampleError, InvalidWeightsError

#: Plays drawn at once by the bulk code.
_PLAYS_AT_ONCE: Final = 10_000

#: The type of a game's own function that draws the numbers of one play.
DrawPlay: TypeAlias = Callable[[DrawSource], Sequence[int]]


@dataclass(frozen=True, slots=True)
class IndependentNumbers:
    """A game that draws ``position_count`` independent numbers below ``bound`` per play: reels, dice, wheels.

    ``deal`` is the game's own drawing function; without it each number is drawn separately.
    """

    bound: int
    position_count: int = 1
    deal: DrawPlay | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_bound(self.bound)
        if self.position_count < 1:
            raise InvalidSampleError(f"a play must have 1 number or more, not {self.position_count}")

    @property
    def bounds(self) -> Sequence[int]:
        """Return the bounds of the draws of one play, in order."""
        return (self.bound,) * self.position_count

    def draw(self, draws: DrawSource) -> list[int]:
        """Draw the numbers of one play."""
        if self.deal is not None:
            return list(self.deal(draws))
        return [draws.below(self.bound, f"position {i}") for i in range(self.position_count)]

    def draw_many(self, draws: BulkDraws, play_count: int) -> UnsignedArray:
        """Draw ``play_count`` plays; return an array of shape (play_count, position_count)."""
        return draws.below(self.bound, play_count * self.position_count).reshape(
            play_count, self.position_count
        )


@dataclass(frozen=True, slots=True)
class SelectionWithoutReplacement:
    """A game that draws ``pick_count`` of ``population`` without replacement, in order: keno, bingo, cards.

    ``deal`` is the game's own drawing function; without it the pieces are dealt as keno balls are.
    """

    population: int
    pick_count: int
    deal: DrawPlay | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        list_selection_bounds(self.population, self.pick_count)
        if not self.pick_count:
            raise InvalidSampleError("a selection must pick 1 or more")

    @property
    def bounds(self) -> Sequence[int]:
        """Return the bounds of the draws of one play, in order."""
        return list_selection_bounds(self.population, self.pick_count)

    def draw(self, draws: DrawSource) -> list[int]:
        """Draw the numbers of one play."""
        if self.deal is not None:
            return list(self.deal(draws))
        return list(draw_numbers(draws, range(self.population), self.pick_count, "selection"))

    def draw_many(self, draws: BulkDraws, play_count: int) -> UnsignedArray:
        """Draw ``play_count`` plays; return an array of shape (play_count, pick_count)."""
        return draws.sample(self.population, self.pick_count, play_count)


@dataclass(frozen=True, slots=True)
class WeightedOutcomes:
    """A game that draws one index of a table of weights per play; ``total`` is the stated sum of the weights."""

    weights: tuple[int, ...]
    total: int

    def __post_init__(self) -> None:
        for i, weight in enumerate(self.weights):
            if type(weight) is not int or weight < 0:
                raise InvalidWeightsError(f"weight {i} is {weight!r}; expected a whole number, 0 or more")
        if type(self.total) is not int or self.total < 1:
            raise InvalidWeightsError(
                f"the stated total is {self.total!r}; expected a whole number, 1 or more"
            )
        if sum(self.weights) != self.total:
            count, weight_sum = len(self.weights), sum(self.weights)
            raise InvalidWeightsError(
                f"{count} weights sum to {weight_sum}; the stated total is {self.total}"
            )

    def draw(self, draws: DrawSource) -> list[int]:
        """Draw the index of one play, and return it in a list."""
        return [draw_weighted_index(draws, self.weights, "weighted")]

    def draw_many(self, draws: BulkDraws, play_count: int) -> UnsignedArray:
        """Draw ``play_count`` plays; return an array of shape (play_count, 1)."""
        return (
            draws.draw_weighted(tuple(accumulate(self.weights)), play_count)
            .astype("u8")
            .reshape(play_count, 1)
        )


#: A game as the laboratory's tests draw it.
TestedGame = IndependentNumbers | SelectionWithoutReplacement | WeightedOutcomes


def _build_reel_numbers(stops: int, reels: int) -> IndependentNumbers:
    """Return a test game whose numbers are reel stops, drawn with the code of a reel game."""
    strips = (tuple(range(stops)),) * reels
    spun = ReelSet(
        name="base", heights=(1,) * reels, strips=strips, stop_weights=((1,) * stops,) * reels, multiplier=1,
        columns=(), column_index_by_stop=(), components=(), graph=WinGraph(),
    )  # fmt: skip

    def spin_once(draws: DrawSource) -> Sequence[int]:
        """Draw the stop of each reel for one spin; return the stops."""
        return spun.spin(draws)

    return IndependentNumbers(stops, reels, spin_once)


def _throw_dice(draws: DrawSource) -> list[int]:
    """Throw two dice as a game of craps does; return the faces, counted from 0."""
    return [face - 1 for face in throw_dice(draws, 2)]


@cache
def _load_roulette_rules() -> Any:
    """Return the rules of the roulette game that stands for all wheels."""
    return load_game("monaco-roulette-european").rules


def _draw_pocket(draws: DrawSource) -> list[int]:
    """Draw the pocket of a roulette wheel in which the ball stops."""
    ball = _load_roulette_rules().draw_result(draws).display
    return [ball["part"]]  # the pocket's index on the wheel


def _deal_deck(draws: DrawSource) -> list[int]:
    """Deal a full deck, card by card."""
    shoe = Shoe.from_decks()
    return [shoe.deal(draws, f"card {n}") for n in range(1, shoe.cards_left + 1)]


REEL_GAME: Final = _build_reel_numbers(22, 5)
LONG_REEL_GAME: Final = _build_reel_numbers(72, 3)
DICE_GAME: Final = IndependentNumbers(6, 2, _throw_dice)
WHEEL_GAME: Final = IndependentNumbers(37, 1, _draw_pocket)
KENO_GAME: Final = SelectionWithoutReplacement(80, 20)
CARD_GAME: Final = SelectionWithoutReplacement(52, 52, _deal_deck)


def collect(random_service: RandomService, game: TestedGame, play_count: int) -> Iterator[list[int]]:
    """Yield the outcomes of ``play_count`` plays, each drawn in a separate step, as in a cabinet."""
    for _ in range(play_count):
        with random_service.step() as draws:
            yield game.draw(draws)


def collect_in_bulk(random_service: RandomService, game: TestedGame, play_count: int) -> Iterator[list[int]]:
    """Yield the outcomes of ``play_count`` plays, drawn from raw output by the bulk code."""
    draws = BulkDraws(create_raw_reader(random_service))
    for first_play in range(0, play_count, _PLAYS_AT_ONCE):
        yield from game.draw_many(draws, min(_PLAYS_AT_ONCE, play_count - first_play)).tolist()
