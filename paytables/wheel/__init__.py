"""The wheel family: a wheel of equal segments, a layout of areas, and the fewest revolutions of a valid spin."""

from paytables.game import GameFamily
from paytables.roulette.wheel_table import WheelTable
from paytables.wheel.rules import WheelRules, check_definition
from paytables.wheel.schema import WheelDefinition
from paytables.wheel.table import build_wheel_table


def build_rules(definition: WheelDefinition, file: str) -> WheelRules | WheelTable:
    """Build the rules of a wheel game, standalone or at a table, from its definition.

    Raises :class:`DefinitionError`.
    """
    check_definition(definition, file)
    return (
        WheelRules(definition)
        if definition.table is None
        else build_wheel_table(definition, definition.table, file)
    )


FAMILY = GameFamily(
    WheelDefinition,
    build_rules,
    counted_cases="over the segments of the wheel, as a Markov chain where a symbol is spun again",
)
