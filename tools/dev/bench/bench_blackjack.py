"""The exact analysis of blackjack: best play and the best chart, of one deck and of eight.

The baseline is the time in which a simulation by the cabinet's own round would come as near as a ten
thousandth of the bet (one standard error), which is still no exact figure.
"""

from collections.abc import Iterator
from functools import partial

from paytables import analyse, load_game
from paytables.blackjack import policies
from paytables.blackjack.chart import best_chart
from tools.dev.bench import Figure, processor_seconds
from tools.dev.bench.bench_paytables import Quick
from tools.lab.simulation import play_batch, sample_variance

#: The table of eight decks with every option, resplit to four hands.
GAME = "quebec-blackjack-options"
DECKS = (1, 8)
ROUNDS = 1_000
#: The accuracy the simulation is measured against: one standard error of the return, in parts of the bet.
ERROR = 1e-4


def figures() -> Iterator[Figure]:
    """Yield what best play and the chart take, and what a simulation would."""
    game = load_game(GAME)
    definition = game.rules.definition  # type: ignore[attr-defined]
    bet = analyse(game).bets[0]
    rounds = processor_seconds(partial(play_batch, game, bet.cost_credits, bet.options, ROUNDS, Quick()))
    tally = play_batch(game, bet.cost_credits, bet.options, ROUNDS, Quick())
    needed = float(sample_variance(tally)) / bet.cost_credits**2 / ERROR**2
    simulated = rounds / ROUNDS * needed
    for decks in DECKS:
        house = definition.model_copy(
            update={"shoe": definition.shoe.model_copy(update={"decks": decks})}
        ).house
        made: list[policies.Table] = []
        weighed = processor_seconds(lambda house=house, made=made: made.append(policies.Table(house)))  # type: ignore[misc]
        (table,) = made
        best = processor_seconds(partial(table.result, policies.best, policies.most))
        chart = processor_seconds(partial(best_chart, table))
        yield Figure(
            f"{GAME}, {decks} decks: exact best play",
            weighed + best,
            "s",
            "a simulation to 1/10,000 of the bet, one core",
            simulated,
            better="lower",
            aim="60 s for 8 decks, seconds for 1",
        )
        yield Figure(
            f"{GAME}, {decks} decks: the best chart besides",
            chart,
            "s",
            "exact best play",
            weighed + best,
            "lower",
        )
