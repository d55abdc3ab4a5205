"""How the bank of pai gow sets its four tiles."""

from paytables.poker.tiles.schema import PaiGowDefinition
from paytables.poker.tiles.tiles import find_bank_way_index
from paytables.poker.two_hands import HandSetting


def choose_bank_way(definition: PaiGowDefinition, ways: tuple[HandSetting, ...]) -> HandSetting:
    """Return the way to set four tiles that the bank uses, chosen from ``ways``."""
    worths = definition.bank
    return max(
        ways,
        key=lambda way: worths.low[find_bank_way_index(way[0])] + worths.high[find_bank_way_index(way[1])],
    )
