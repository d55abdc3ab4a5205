"""The sic bo family: three dice, and bets on their combination."""

from paytables.game import GameFamily
from paytables.sicbo.schema import SicBoDefinition
from paytables.sicbo.table import build_rules

FAMILY = GameFamily(
    SicBoDefinition,
    build_rules,
    counted_cases="over all results, as a Markov chain for bets that outlast a round",
)
