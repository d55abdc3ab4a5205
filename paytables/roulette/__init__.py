"""The roulette family: a cylinder of pockets, a layout of bets, and one ball; boule is the smallest variant."""

from paytables.game import GameFamily
from paytables.roulette.build import build_rules
from paytables.roulette.schema import RouletteDefinition

FAMILY = GameFamily(
    RouletteDefinition,
    build_rules,
    counted_cases="over all results, as a Markov chain for bets that outlast a round",
)
