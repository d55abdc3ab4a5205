"""The roulette family: a cylinder of pockets, a cloth of bets on them, one ball; boule is its smallest."""

from paytables.game import Family
from paytables.roulette.build import build
from paytables.roulette.schema import RouletteDefinition

FAMILY = Family(RouletteDefinition, build)
