"""Measure the exact analysis of blackjack: best play, the best strategy chart for one and eight decks, distributions.

The baseline of best play is a simulation with the cabinet's own rounds: the time until its standard error is a
ten-thousandth of the bet. Even then its result is not exact.
"""

from collections.abc import Iterator
from functools import partial

from paytables import analyse, load_game
from paytables.blackjack import policies
from paytables.blackjack.advice import HandQuestion, read_strategy
from paytables.blackjack.chart import find_best_chart
from paytables.blackjack.net_distribution import compute_net_distribution
from paytables.blackjack.round_simulation import sample_rounds
from tools.dev.bench import BenchFigure, measure_processor_seconds
from tools.dev.bench.bench_paytables import FastDraws
from tools.lab.simulation import compute_sample_variance, play_batch

#: The table of eight decks with every option, resplit to four hands.
GAME = "quebec-blackjack-options"
DECK_COUNTS = (1, 8)
SIMULATED_ROUND_COUNT = 1_000
#: A table with an exact distribution of a round, and the number of sampled rounds for others.
GAME_WITH_ONE_SPLIT = "quebec-blackjack"
SAMPLED_ROUND_COUNT = 1_000_000
#: The accuracy the simulation is measured against: one standard error of the return, in parts of the bet.
STANDARD_ERROR_OF_SIMULATION = 1e-4


def measure_figures() -> Iterator[BenchFigure]:
    """Yield the processor time of best play and of the best chart, and that of an equally precise simulation."""
    game = load_game(GAME)
    definition = game.rules.definition  # type: ignore[attr-defined]
    bet = analyse(game).bets[0]
    rounds = measure_processor_seconds(
        partial(play_batch, game, bet.cost_credits, bet.options, SIMULATED_ROUND_COUNT, FastDraws())
    )
    tally = play_batch(game, bet.cost_credits, bet.options, SIMULATED_ROUND_COUNT, FastDraws())
    needed = float(compute_sample_variance(tally)) / bet.cost_credits**2 / STANDARD_ERROR_OF_SIMULATION**2
    simulated = rounds / SIMULATED_ROUND_COUNT * needed
    for decks in DECK_COUNTS:
        house = definition.model_copy(
            update={"shoe": definition.shoe.model_copy(update={"deck_count": decks})}
        ).analysed_house_rules
        made: list[policies.StrategyCalculator] = []
        weighed = measure_processor_seconds(
            lambda house=house, made=made: made.append(policies.StrategyCalculator(house))  # type: ignore[misc]
        )
        (table,) = made
        best = measure_processor_seconds(
            partial(table.evaluate, policies.choose_best, policies.choose_highest_sum)
        )
        chart = measure_processor_seconds(partial(find_best_chart, table))
        yield BenchFigure(
            f"{GAME}, {decks} decks: exact best play",
            weighed + best,
            "s",
            "a simulation to 1/10,000 of the bet, one core",
            simulated,
            better_if="lower",
            target="60 s for 8 decks, seconds for 1",
        )
        yield BenchFigure(
            f"{GAME}, {decks} decks: the best chart",
            chart,
            "s",
            "exact best play",
            weighed + best,
            "lower",
        )
    yield from _measure_distributions(rounds / SIMULATED_ROUND_COUNT)


def _measure_distributions(seconds_per_cabinet_round: float) -> Iterator[BenchFigure]:
    """Yield the cost of a round's exact net distribution, compared with rounds played by compiled code."""
    definition = load_game(GAME_WITH_ONE_SPLIT).rules.definition  # type: ignore[attr-defined]
    table, answers = policies.StrategyCalculator(definition.analysed_house_rules), dict[HandQuestion, int]()
    best = table.evaluate(
        policies.build_recording_chooser(policies.choose_best, answers), policies.choose_highest_sum
    )
    play = read_strategy(definition.analysed_house_rules, definition.proved["main"].policy)
    assert play is not None  # the library carries its own rules' play
    compute_net_distribution(table, answers, best)  # compiles
    sample_rounds(definition, play, 1_000)
    exact = measure_processor_seconds(partial(compute_net_distribution, table, answers, best))
    sampled = (
        measure_processor_seconds(partial(sample_rounds, definition, play, SAMPLED_ROUND_COUNT))
        / SAMPLED_ROUND_COUNT
    )
    name, ten = f"{GAME_WITH_ONE_SPLIT}: the exact distribution of a round", "ten million rounds, compiled"
    yield BenchFigure(name, exact, "s", ten, 10**7 * sampled, "lower")
    name, own = f"{GAME_WITH_ONE_SPLIT}: rounds played, compiled", "the cabinet's own round"
    yield BenchFigure(name, 1 / sampled, "1/s", own, 1 / seconds_per_cabinet_round)
