"""Lists of a poker table's bets: those staked together, and those that do not depend on the bank's cards."""

from fractions import Fraction
from typing import Final

from paytables.poker.table.schema import PokerDefinition

#: Name of the bets that are played together: the ante, the bets that go with it, and raises.
MAIN_BET: Final = "main"


def list_bets_with_ante(definition: PokerDefinition) -> dict[str, Fraction]:
    """Return the bets placed together with the ante, and the ante itself.

    The keys are the ids of the bets, the values their stakes as multiples of the ante.
    """
    ante = definition.ante
    linked_bets = {
        spot.id: Fraction(spot.base_stake_multiple)
        for spot in definition.bet_spots
        if spot.base_spot == ante.id
    }
    return {ante.id: Fraction(1), **linked_bets}


def list_independent_bets(definition: PokerDefinition) -> tuple[str, ...]:
    """Return the ids of the bets that do not depend on the bank's cards."""
    bets_with_ante = list_bets_with_ante(definition)
    return tuple(
        spot.id for spot in definition.bet_spots if spot.id not in bets_with_ante and not spot.is_raise_only
    )
