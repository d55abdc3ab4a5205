"""The craps family: bets on throws of two dice, with a point, bets that stay and come bets that travel."""

from paytables.craps.rules import CrapsRules
from paytables.craps.schema import CrapsDefinition, check_definition
from paytables.craps.spots import CrapsSpots, check_spots
from paytables.game import GameFamily
from paytables.layout import check_preset_bets


def build_rules(definition: CrapsDefinition, file: str) -> CrapsRules:
    """Build the rules of a craps table. Raises :class:`DefinitionError`, naming the key, if a definition is wrong."""
    check_definition(definition, file)
    craps_spots = CrapsSpots(definition)
    check_spots(craps_spots, file)
    rules = CrapsRules(craps_spots)
    check_preset_bets(rules.table_layout, file)
    return rules


#: The game family. Help texts may state 21, the least buy bet: 20 credits and a commission of one.
FAMILY = GameFamily(
    CrapsDefinition,
    build_rules,
    help_figures=frozenset({21}),
    counted_cases="over the throws of two dice, as a Markov chain of the bets on the table",
)
