"""The Keno family: numbers marked or quick-picked, balls drawn, and tables that pay by the number of catches."""

from paytables.game import GameFamily
from paytables.keno.rules import KenoRules
from paytables.keno.schema import KenoDefinition
from paytables.keno.tables import build_checked_pays


def build_rules(definition: KenoDefinition, file: str) -> KenoRules:
    """Build the rules of a Keno game from its definition. Raises :class:`DefinitionError`."""
    return KenoRules(definition, build_checked_pays(definition, file))


FAMILY = GameFamily(
    KenoDefinition,
    build_rules,
    counted_cases="over all draws of the numbers",
)
