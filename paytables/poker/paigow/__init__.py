"""The family of pai gow poker: seven cards set as five and two."""

from paytables.game import Family
from paytables.poker.paigow.rules import PaiGowPokerRules
from paytables.poker.paigow.schema import PaiGowPokerDefinition


def build(data: PaiGowPokerDefinition, file: str) -> PaiGowPokerRules:
    """Build the rules. Raises :class:`DefinitionError` for errors that the model alone cannot detect."""
    rules = PaiGowPokerRules(data)
    rules.check(file)
    return rules


FAMILY = Family(PaiGowPokerDefinition, build, figures=frozenset({52, 53}))
