"""The wheel family: a wheel of equal parts, a layout of areas, and a spin that counts after enough turns."""

from collections.abc import Mapping
from typing import Any

from paytables.definition import Definition
from paytables.roulette.spun import SpunTable
from paytables.wheel.rules import WheelRules, check
from paytables.wheel.schema import WheelDefinition
from paytables.wheel.table import at_table


class WheelFamily:
    """Builds wheel games; see :class:`paytables.game.Family`."""

    @property
    def model(self) -> type[Definition]:
        """The model of a wheel definition."""
        return WheelDefinition

    def prepare(self, data: Mapping[str, Any], file: str) -> Mapping[str, Any]:  # noqa: ARG002 (no shorthand here)
        """Return the data as it is: a wheel definition has no shorthand."""
        return data

    def build(self, data: WheelDefinition, file: str) -> WheelRules | SpunTable:
        """Make the rules, of a wheel by itself or at a table. Raises :class:`DefinitionError`."""
        check(data, file)
        return WheelRules(data) if data.table is None else at_table(data, data.table, file)


FAMILY = WheelFamily()
