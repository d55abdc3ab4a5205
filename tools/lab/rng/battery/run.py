"""The complete test battery: games, data from the production path, judgement, and the retest rule.

The retest rule, fixed beforehand: a game whose results have a finding is tested once more, with a fresh
instance of the generator and ten times the plays. Both runs are reported; the game fails only if the second
has a finding too.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from tools.lab.rng.battery import independent, selection
from tools.lab.rng.battery.judgement import Judgement, check_significance_level, judge
from tools.lab.rng.battery.result import Ints, StatisticalResult
from tools.lab.rng.bulk import BulkDraws
from tools.lab.rng.errors import InvalidSampleError
from tools.lab.rng.outcomes import (
    CARD_GAME,
    DICE_GAME,
    KENO_GAME,
    LONG_REEL_GAME,
    REEL_GAME,
    WHEEL_GAME,
    IndependentNumbers,
    SelectionWithoutReplacement,
)
from tools.lab.rng.production import ProductionDraws

#: The games tested by default, each with its number of plays.
TESTED_GAMES: Final[Mapping[str, tuple[IndependentNumbers | SelectionWithoutReplacement, int]]] = {
    "reels": (REEL_GAME, 400_000),
    "long-reels": (LONG_REEL_GAME, 400_000),
    "dice": (DICE_GAME, 400_000),
    "wheel": (WHEEL_GAME, 1_000_000),
    "keno": (KENO_GAME, 200_000),
    "cards": (CARD_GAME, 100_000),
}
#: The factor from the plays of the first run to those of a retest.
RETEST_FACTOR: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class BatteryRun:
    """One run of all tests on a game's data."""

    game: str
    plays: int
    results: tuple[StatisticalResult, ...]
    judgement: Judgement
    rejected_words: int
    """The random words rejected because they belong to no outcome."""
    data_sha256: str
    """The SHA-256 of the game's data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameVerdict:
    """The verdict of the test battery on one game: one test run, or two if the first had a finding."""

    game: str
    runs: tuple[BatteryRun, ...]

    @property
    def has_passed(self) -> bool:
        """Return whether the last test run of the game has no findings; the last run decides."""
        return self.runs[-1].judgement.has_passed


def run_all_tests(
    game: IndependentNumbers | SelectionWithoutReplacement, numbers_by_play: Ints
) -> list[StatisticalResult]:
    """Return the results of every test that applies to the game, on its data."""
    if isinstance(game, IndependentNumbers):
        return independent.run_battery(numbers_by_play, game.bound)
    return selection.run_battery(numbers_by_play, game.population)


#: Returns plays of a game, drawn with compiled code.
DrawOutcomes = Callable[[BulkDraws, IndependentNumbers | SelectionWithoutReplacement, int], Ints]
#: The raw output of a generator, for compiled draws; or the objects a machine draws with.
WordSource = Callable[[int], bytes] | ProductionDraws


def draw_honestly(
    draws: BulkDraws, game: IndependentNumbers | SelectionWithoutReplacement, play_count: int
) -> Ints:
    """Return the outcomes of ``play_count`` plays of the game, drawn correctly (without a planted defect)."""
    return game.draw_many(draws, play_count)


def run_game(
    name: str,
    game: IndependentNumbers | SelectionWithoutReplacement,
    play_count: int,
    alpha: float,
    create_source: Callable[[], WordSource],
    draw_outcomes: DrawOutcomes = draw_honestly,
) -> GameVerdict:
    """Test whether a game's outcomes have the expected distribution, at significance level ``alpha``.

    If the test has a finding, it is repeated once with more plays, and that run decides. ``create_source``
    returns a new source for each run. If it is a :class:`ProductionDraws`, the plays of the machine's own objects
    are tested. If it only gives raw output, ``draw_outcomes`` draws the plays from it; to test the battery,
    ``draw_outcomes`` is a function with a planted defect.
    """
    check_significance_level(alpha)
    if play_count < 1:
        raise InvalidSampleError(f"{name}: a battery needs at least one play, not {play_count}")
    runs: list[BatteryRun] = []
    for run_plays in (play_count, play_count * RETEST_FACTOR):
        source = create_source()
        if isinstance(source, ProductionDraws):
            draws: ProductionDraws | BulkDraws = source
            numbers_by_play: Ints = source.play(name, game, run_plays)
        else:
            draws = bulk_draws = BulkDraws(source)
            numbers_by_play = draw_outcomes(bulk_draws, game, run_plays)
        results = run_all_tests(game, numbers_by_play)
        runs.append(
            BatteryRun(
                game=name,
                plays=run_plays,
                results=tuple(results),
                judgement=judge(results, alpha),
                rejected_words=draws.rejected_word_count,
                data_sha256=sha256(numbers_by_play.tobytes()).hexdigest(),
            )
        )
        if runs[-1].judgement.has_passed:
            break
    return GameVerdict(game=name, runs=tuple(runs))
