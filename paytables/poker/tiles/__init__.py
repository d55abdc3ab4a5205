"""The family of pai gow with tiles: four tiles set as two hands of two."""

from paytables.game import GameFamily
from paytables.poker.tiles.rules import PaiGowRules
from paytables.poker.tiles.schema import PaiGowDefinition
from paytables.poker.tiles.tiles import ALL_TILES


def build_rules(definition: PaiGowDefinition, file: str) -> PaiGowRules:
    """Build the rules of a game of pai gow with tiles from its definition.

    Raises :class:`DefinitionError` for errors that the model alone cannot detect.
    """
    rules = PaiGowRules(definition)
    rules.check_definition(file)
    return rules


FAMILY = GameFamily(
    PaiGowDefinition,
    build_rules,
    help_figures=frozenset({len(ALL_TILES)}),
    counted_cases="over the tiles that player and bank may be dealt",
)
