"""The family of pai gow with tiles."""

from paytables.game import Family
from paytables.poker.tiles.rules import PaiGowRules
from paytables.poker.tiles.schema import PaiGowDefinition
from paytables.poker.tiles.tiles import TILES


def build(data: PaiGowDefinition, file: str) -> PaiGowRules:
    """Build the rules. Raises :class:`DefinitionError` for errors that the model alone cannot detect."""
    rules = PaiGowRules(data)
    rules.check(file)
    return rules


FAMILY = Family(PaiGowDefinition, build, figures=frozenset({len(TILES)}))
