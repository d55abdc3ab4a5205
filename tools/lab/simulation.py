"""The simulation of a game, and its comparison with the exact figures.

There are two paths: the *production* path plays every game as the cabinet does (with RNG and decisions) with
draws of the certified generator; the *compiled* path plays the same tables with numba, for numbers of games
that the interpreter cannot handle.
"""

import math
import os
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from paytables import Choice, Decision, DrawSource, Game, Round, Wager, WinDistribution, load_game
from paytables.contract import Json
from tools.lab.argument_names import parse_path_or_id
from tools.lab.rng.service import start_laboratory_generator

#: Games a worker plays before it reports.
GAMES_PER_BATCH = 20_000
#: The half width of the interval in standard errors (99.9 % of correct simulations are inside).
INTERVAL_Z_SCORE = 3.290527


class SimulationError(Exception):
    """Raised if a simulation cannot be run as requested; the text says why."""


@dataclass(frozen=True, slots=True)
class SimulationTally:
    """Sums over simulated games, in credits."""

    game_count: int = 0
    win_sum: int = 0
    """Total credits won in the simulated games."""
    squared_win_sum: int = 0
    """Sum of the squared wins of the simulated games, in squared credits."""
    winning_game_count: int = 0
    """Number of simulated games that won anything."""
    highest_win: int = 0
    game_count_by_win: Counter[int] = field(default_factory=Counter)
    """Number of games by amount won, in credits; empty if that is not recorded."""

    def __add__(self, other: "SimulationTally") -> "SimulationTally":
        return SimulationTally(
            self.game_count + other.game_count,
            self.win_sum + other.win_sum,
            self.squared_win_sum + other.squared_win_sum,
            self.winning_game_count + other.winning_game_count,
            max(self.highest_win, other.highest_win),
            self.game_count_by_win + other.game_count_by_win,
        )


@dataclass(frozen=True, slots=True)
class ReturnVerdict:
    """The comparison of a simulated return with the exact return; all returns are shares of the bet."""

    game_count: int
    rtp: float
    interval_low: float
    """The lower end of the interval of the simulated return."""
    interval_high: float
    """The upper end of the interval of the simulated return."""
    exact_return: Fraction
    z_score: float
    """Difference between the simulated and the exact return, in standard errors."""

    @property
    def agrees_with_exact(self) -> bool:
        """Return whether the exact return is in the simulation's interval."""
        return self.interval_low <= float(self.exact_return) <= self.interval_high


def judge_return(
    tally: SimulationTally, cost_credits: int, exact_return: Fraction, variance: Fraction
) -> ReturnVerdict:
    """Compare a simulated return with the exact return.

    The interval and the z-score follow from the exact variance of a game's win.
    """
    standard_error = math.sqrt(float(variance) / tally.game_count) / cost_credits
    mean_return = tally.win_sum / tally.game_count / cost_credits
    difference = mean_return - float(exact_return)
    z_score = (
        difference / standard_error
        if standard_error
        else math.copysign(math.inf, difference)
        if difference
        else 0.0
    )
    return ReturnVerdict(
        tally.game_count,
        mean_return,
        mean_return - INTERVAL_Z_SCORE * standard_error,
        mean_return + INTERVAL_Z_SCORE * standard_error,
        exact_return,
        z_score,
    )


@dataclass(frozen=True, slots=True)
class FrequencyVerdict:
    """The comparison of an event's simulated frequency with its exact probability."""

    frequency: float
    """The simulated frequency."""
    exact_probability: Fraction
    """The exact probability."""
    z_score: float
    """The difference between the simulated frequency and the exact probability, in standard errors."""

    @property
    def agrees_with_exact(self) -> bool:
        """Return whether the frequency is within the 99.9 % interval around the exact probability."""
        return abs(self.z_score) <= INTERVAL_Z_SCORE


def judge_frequency(event_count: int, game_count: int, exact_probability: Fraction) -> FrequencyVerdict:
    """Compare how often an event happened (``event_count`` in ``game_count``) with its exact probability."""
    standard_error = math.sqrt(float(exact_probability * (1 - exact_probability)) / game_count)
    difference = event_count / game_count - float(exact_probability)
    z_score = (
        difference / standard_error
        if standard_error
        else math.copysign(math.inf, difference)
        if difference
        else 0.0
    )
    return FrequencyVerdict(event_count / game_count, exact_probability, z_score)


@dataclass(frozen=True, slots=True)
class DistributionVerdict:
    """The chi-square comparison of simulated wins with their exact distribution, over classes of wins."""

    class_count: int
    """The number of classes of wins that are compared."""
    chi_square: float
    z_score: float
    """The chi-square as a deviation from its mean, in standard deviations."""

    @property
    def agrees_with_exact(self) -> bool:
        """Return whether the z-score is within the limit; that of 99.95 % of correct simulations is."""
        return self.z_score <= INTERVAL_Z_SCORE


#: The least expected count of a class of wins, as the chi-square test requires.
CLASS_EXPECTATION_MIN = 10


def judge_distribution(tally: SimulationTally, distribution: WinDistribution) -> DistributionVerdict | None:
    """Compare simulated wins with their exact distribution; return None if too few games were played.

    Wins are merged into classes, from the smallest, until each class is expected often enough. Wins that the
    exact distribution leaves out count in the last class. A win that a complete distribution does not contain
    makes the z-score infinite.
    """
    impossible_win_count = sum(
        win_count
        for win, win_count in tally.game_count_by_win.items()
        if win not in distribution.case_count_by_win
    )
    if impossible_win_count and not distribution.unlisted_probability:
        return DistributionVerdict(0, math.inf, math.inf)
    win_classes: list[tuple[Fraction, int]] = []
    chance, win_count = Fraction(0), 0
    for win in sorted(distribution.case_count_by_win):
        chance += Fraction(distribution.case_count_by_win[win], distribution.case_count)
        win_count += tally.game_count_by_win[win]
        if chance * tally.game_count >= CLASS_EXPECTATION_MIN:
            win_classes.append((chance, win_count))
            chance, win_count = Fraction(0), 0
    if not win_classes:
        return None
    remaining_count = tally.game_count - sum(win_count for _, win_count in win_classes)
    last_chance, last_count = win_classes.pop()
    remaining_chance = 1 - sum((chance for chance, _ in win_classes), Fraction(0))
    if (remaining_chance - last_chance) * tally.game_count >= CLASS_EXPECTATION_MIN:
        win_classes += [(last_chance, last_count), (remaining_chance - last_chance, remaining_count)]
    else:
        win_classes.append((remaining_chance, last_count + remaining_count))
    if len(win_classes) < 2:
        return None
    expected_counts = [float(chance * tally.game_count) for chance, _ in win_classes]
    chi_square = math.fsum(
        (win_count - expected_count) ** 2 / expected_count
        for (_, win_count), expected_count in zip(win_classes, expected_counts, strict=True)
    )
    return DistributionVerdict(
        len(win_classes), chi_square, compute_chi_square_z(chi_square, len(win_classes) - 1)
    )


def compute_chi_square_z(chi_square: float, degrees_of_freedom: int) -> float:
    """Return the z-score of a chi-square statistic with the given degrees of freedom (Wilson and Hilferty, 1931)."""
    spread = 2 / (9 * degrees_of_freedom)
    return (math.cbrt(chi_square / degrees_of_freedom) - (1 - spread)) / math.sqrt(spread)


@dataclass(frozen=True, slots=True)
class ReturnEstimate:
    """The simulated return of a bet that has no exact one, with an interval from the sample's standard deviation."""

    game_count: int
    rtp: float
    interval_low: float
    """The lower end of the interval of the return."""
    interval_high: float
    """The upper end of the interval of the return."""


def compute_sample_variance(tally: SimulationTally) -> Fraction:
    """Return the sample variance of a game's win, in credits squared."""
    return Fraction(
        tally.squared_win_sum * tally.game_count - tally.win_sum**2,
        tally.game_count * max(1, tally.game_count - 1),
    )


def estimate_return(tally: SimulationTally, cost_credits: int) -> ReturnEstimate:
    """Return the simulated return of a bet that has no exact figure."""
    mean_win = tally.win_sum / tally.game_count
    half_width = INTERVAL_Z_SCORE * math.sqrt(compute_sample_variance(tally) / tally.game_count)
    return ReturnEstimate(
        tally.game_count,
        mean_win / cost_credits,
        (mean_win - half_width) / cost_credits,
        (mean_win + half_width) / cost_credits,
    )


def choose_as_player(decision: Decision, draw_source: DrawSource) -> Choice:
    """Return a simulated player's choice: the advised option if there is one, never a double-up, else a random option.

    If players play for each other's stakes, no option is advised. The choice is then the option named
    ``reference``, on which the game's stated figures are based.
    """
    for name in ("advice", "reference"):
        if name in decision.prompt:
            return Choice(decision.prompt[name])
    if decision.kind == "double_up":
        return Choice("collect")
    return Choice(decision.options[draw_source.below(len(decision.options), "player")])


def _play_round(
    game: Game,
    wager: Wager,
    draw_source: DrawSource,
    excluded_bets: Container[tuple[int, str]] = (),
    counted_bets: Container[tuple[int, str]] | None = None,
) -> tuple[int, Game]:
    """Play one round; return its net win, and the game with the state that the round leaves on the table.

    The net win is the win less the stakes added during the round; the returns of the bets in ``excluded_bets``
    (seat, spot) do not count. With ``counted_bets``, only the returns of these bets count, and added stakes
    are not subtracted.
    """
    played_round = Round(game.play(wager, draw_source), wager)
    played_round.advance()
    while played_round.decision is not None:
        played_round.advance(choose_as_player(played_round.decision, draw_source))
    if played_round.outcome is None:
        raise SimulationError(f"{game.id}: a round neither requires a decision nor ends")
    settlements = played_round.outcome.settlements
    if counted_bets is not None:
        returned_credits = sum(
            settlement.credits
            for settlement in settlements
            if (settlement.seat, settlement.spot) in counted_bets
        )
        return returned_credits, game.with_table_state(played_round.outcome.table_state)
    added_credits = played_round.staked_credits - wager.credits
    counted_settlements = (
        settlement for settlement in settlements if (settlement.seat, settlement.spot) not in excluded_bets
    )
    return sum(
        settlement.credits for settlement in counted_settlements
    ) - added_credits, game.with_table_state(played_round.outcome.table_state)


def play_batch(
    game: Game,
    bet_credits: int,
    options: Mapping[str, Any],
    game_count: int,
    draw_source: DrawSource,
    counted_win_max: int | None = None,
    table_state: Json = None,
    additional_bets: Mapping[str, int] = MappingProxyType({}),
) -> SimulationTally:
    """Play games with the production code and return their totals.

    A win above ``counted_win_max`` counts as ``counted_win_max``. A bet that is not decided in its round is played
    on until it is; its win counts for the game in which it was placed. Stakes added during a round are
    subtracted from the win, unless bets are played that do not count. State that is not a bet (such as a shoe)
    is carried to the next game. With ``table_state``, each game starts from that table state. The bets standing
    there and ``additional_bets`` are played but do not count. If the round has several seats, the other seats'
    bets are played too, with the advised decisions.
    """
    win_sum = squared_win_sum = winning_game_count = largest_win = 0
    game_count_by_win: Counter[int] = Counter()
    initial_game = game_now = game.with_table_state(table_state)
    standing_bets = {(bet.seat, bet.spot) for bet in initial_game.rules.list_standing_bets()}
    counted_bets, bet_options, cost = None, options, bet_credits
    if additional_bets or "seat" in options:
        own_seat = options.get("seat", 0)
        counted_bets = {(own_seat, spot) for spot in options["bets"]}
        seats = {str(own_seat): {**options["bets"], **additional_bets}, **options.get("others", {})}
        bet_options = {"seats": seats} if len(seats) > 1 else {"bets": seats[str(own_seat)]}
        cost = sum(sum(bets.values()) for bets in seats.values())
    for _ in range(game_count):
        game_now = game_now if table_state is None else initial_game
        win, game_now = _play_round(
            game_now, game_now.build_wager(cost, **bet_options), draw_source, standing_bets, counted_bets
        )
        while game_now.rules.list_standing_bets():
            later_win, game_now = _play_round(game_now, game_now.build_wager(0), draw_source, standing_bets)
            win += later_win
        win = win if counted_win_max is None else min(win, counted_win_max)
        win_sum += win
        squared_win_sum += win * win
        winning_game_count += win > 0
        largest_win = max(largest_win, win)
        game_count_by_win[win] += 1
    return SimulationTally(
        game_count, win_sum, squared_win_sum, winning_game_count, largest_win, game_count_by_win
    )


def _simulate_in_worker(
    name: str,
    bet_credits: int,
    options: Mapping[str, object],
    game_count: int,
    table_state: Json,
    additional_bets: Mapping[str, int],
) -> SimulationTally:
    """Play ``game_count`` games in a worker process, in batches; return their tally."""
    random_service = start_laboratory_generator()
    game = load_game(parse_path_or_id(name))
    tally = SimulationTally()
    while game_count:
        batch_game_count = min(game_count, 500)
        with random_service.step() as draw:
            tally += play_batch(
                game,
                bet_credits,
                options,
                batch_game_count,
                draw,
                table_state=table_state,
                additional_bets=additional_bets,
            )
        game_count -= batch_game_count
    return tally


def simulate(
    name: str,
    bet_credits: int,
    options: Mapping[str, object],
    game_count: int,
    workers: int,
    table_state: Json = None,
    additional_bets: Mapping[str, int] = MappingProxyType({}),
) -> Iterator[SimulationTally]:
    """Simulate games in ``workers`` processes; yield the growing sums after each batch.

    For ``table_state`` and ``additional_bets`` see :func:`play_batch`.
    """
    required_bets = dict(additional_bets)  # a worker process takes no read-only view
    if workers < 1 or workers > (os.cpu_count() or 1):
        raise SimulationError(
            f"{workers} workers were requested, but this computer has {os.cpu_count()} cores"
        )
    batch_game_counts = [
        min(GAMES_PER_BATCH, game_count - played_game_count)
        for played_game_count in range(0, game_count, GAMES_PER_BATCH)
    ]
    tally = SimulationTally()
    if workers == 1:
        for batch_game_count in batch_game_counts:
            tally += _simulate_in_worker(
                name, bet_credits, options, batch_game_count, table_state, required_bets
            )
            yield tally
        return
    with ProcessPoolExecutor(workers) as pool:
        futures = [
            pool.submit(
                _simulate_in_worker, name, bet_credits, options, batch_game_count, table_state, required_bets
            )
            for batch_game_count in batch_game_counts
        ]
        for completed in as_completed(futures):
            tally += completed.result()
            yield tally
