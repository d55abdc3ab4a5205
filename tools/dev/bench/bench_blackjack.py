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
from paytables.blackjack.round_simulation import simulate_rounds
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
    played_seconds = measure_processor_seconds(
        partial(play_batch, game, bet.cost_credits, bet.options, SIMULATED_ROUND_COUNT, FastDraws())
    )
    tally = play_batch(game, bet.cost_credits, bet.options, SIMULATED_ROUND_COUNT, FastDraws())
    needed_round_count = (
        float(compute_sample_variance(tally)) / bet.cost_credits**2 / STANDARD_ERROR_OF_SIMULATION**2
    )
    simulation_seconds = played_seconds / SIMULATED_ROUND_COUNT * needed_round_count
    for deck_count in DECK_COUNTS:
        house = definition.model_copy(
            update={"shoe": definition.shoe.model_copy(update={"deck_count": deck_count})}
        ).analysed_house_rules
        calculators: list[policies.StrategyCalculator] = []
        calculator_seconds = measure_processor_seconds(
            lambda house=house, calculators=calculators: calculators.append(
                policies.StrategyCalculator(house)
            )  # type: ignore[misc]
        )
        (calculator,) = calculators
        best_play_seconds = measure_processor_seconds(
            partial(calculator.evaluate, policies.choose_best, policies.choose_highest_sum)
        )
        chart_seconds = measure_processor_seconds(partial(find_best_chart, calculator))
        yield BenchFigure(
            f"{GAME}, {deck_count} decks: exact best play",
            calculator_seconds + best_play_seconds,
            "s",
            "a simulation to 1/10,000 of the bet, one core",
            simulation_seconds,
            better_if="lower",
            target="60 s for 8 decks, seconds for 1",
        )
        yield BenchFigure(
            f"{GAME}, {deck_count} decks: the best chart",
            chart_seconds,
            "s",
            "exact best play",
            calculator_seconds + best_play_seconds,
            "lower",
        )
    yield from _measure_distributions(played_seconds / SIMULATED_ROUND_COUNT)


def _measure_distributions(seconds_per_cabinet_round: float) -> Iterator[BenchFigure]:
    """Yield the cost of a round's exact net distribution, compared with rounds played by compiled code."""
    definition = load_game(GAME_WITH_ONE_SPLIT).rules.definition  # type: ignore[attr-defined]
    calculator, answers = (
        policies.StrategyCalculator(definition.analysed_house_rules),
        dict[HandQuestion, int](),
    )
    best_play = calculator.evaluate(
        policies.build_recording_chooser(policies.choose_best, answers), policies.choose_highest_sum
    )
    strategy = read_strategy(definition.analysed_house_rules, definition.proved["main"].policy)
    assert strategy is not None  # the library carries its own rules' play
    compute_net_distribution(calculator, answers, best_play)  # compiles
    simulate_rounds(definition, strategy, 1_000)
    exact_seconds = measure_processor_seconds(
        partial(compute_net_distribution, calculator, answers, best_play)
    )
    seconds_per_round = (
        measure_processor_seconds(partial(simulate_rounds, definition, strategy, SAMPLED_ROUND_COUNT))
        / SAMPLED_ROUND_COUNT
    )
    name, ten_million_text = (
        f"{GAME_WITH_ONE_SPLIT}: the exact distribution of a round",
        "ten million rounds, compiled",
    )
    yield BenchFigure(name, exact_seconds, "s", ten_million_text, 10**7 * seconds_per_round, "lower")
    name, own_round_text = f"{GAME_WITH_ONE_SPLIT}: rounds played, compiled", "the cabinet's own round"
    yield BenchFigure(name, 1 / seconds_per_round, "1/s", own_round_text, 1 / seconds_per_cabinet_round)
