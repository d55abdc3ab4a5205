"""The family of pai gow poker: seven cards set as a high hand of five and a low hand of two."""

from paytables.game import GameFamily
from paytables.poker.paigow.rules import PaiGowPokerRules
from paytables.poker.paigow.schema import PaiGowPokerDefinition


def build_rules(definition: PaiGowPokerDefinition, file: str) -> PaiGowPokerRules:
    """Build the rules of a pai gow poker game from its definition.

    Raises :class:`DefinitionError` for errors that the model alone cannot detect.
    """
    rules = PaiGowPokerRules(definition)
    rules.check_definition(file)
    return rules


FAMILY = GameFamily(
    PaiGowPokerDefinition,
    build_rules,
    help_figures=frozenset({52, 53}),
    counted_cases="over the cards that player and bank may be dealt",
)
