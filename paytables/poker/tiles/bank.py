"""How the bank of pai gow sets its four tiles."""

from paytables.poker.tiles.schema import PaiGowDefinition
from paytables.poker.tiles.tiles import level
from paytables.poker.two_hands import Way


def choose_bank_way(definition: PaiGowDefinition, ways: tuple[Way, ...]) -> Way:
    """Return how the bank sets tiles that may be set in these ways."""
    counts = definition.bank
    return max(ways, key=lambda way: counts.low[level(way[0])] + counts.high[level(way[1])])
