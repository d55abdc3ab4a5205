"""The sic bo family: three dice, and bets on their combination."""

from paytables.game import GameFamily
from paytables.sicbo.schema import SicBoDefinition
from paytables.sicbo.table import build

FAMILY = GameFamily(SicBoDefinition, build)
