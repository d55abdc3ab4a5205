"""The wheel family: a wheel of equal parts, a layout of areas, and a spin that counts after enough turns."""

from paytables.game import Family
from paytables.roulette.spun import SpunTable
from paytables.wheel.rules import WheelRules, check
from paytables.wheel.schema import WheelDefinition
from paytables.wheel.table import at_table


def build(data: WheelDefinition, file: str) -> WheelRules | SpunTable:
    """Make the rules, of a wheel by itself or at a table. Raises :class:`DefinitionError`."""
    check(data, file)
    return WheelRules(data) if data.table is None else at_table(data, data.table, file)


FAMILY = Family(WheelDefinition, build)
