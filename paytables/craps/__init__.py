"""The craps family: bets on throws of two dice, with a point, bets that stay and come bets that travel."""

from paytables.craps.places import Felt, check_places
from paytables.craps.rules import CrapsRules
from paytables.craps.schema import CrapsDefinition, check
from paytables.game import Family
from paytables.layout import check_forms


def build(data: CrapsDefinition, file: str) -> CrapsRules:
    """Build the rules. Raises :class:`DefinitionError`."""
    check(data, file)
    felt = Felt(data)
    check_places(felt, file)
    rules = CrapsRules(felt)
    check_forms(rules.cloth, file)
    return rules


#: The minimum buy bet: 20 and the commission of one twentieth.
FAMILY = Family(CrapsDefinition, build, figures=frozenset({21}))
