"""The wheel family: a wheel of equal parts, a layout of areas, and a spin that counts after enough turns."""

from collections.abc import Mapping
from typing import Any

from paytables.definition import Definition
from paytables.wheel.rules import WheelRules, check
from paytables.wheel.schema import WheelDefinition


class WheelFamily:
    """Builds wheel games; see :class:`paytables.game.Family`."""

    @property
    def model(self) -> type[Definition]:
        """The model of a wheel definition."""
        return WheelDefinition

    def prepare(self, data: Mapping[str, Any], file: str) -> Mapping[str, Any]:  # noqa: ARG002 (no shorthand here)
        """Return the data as it is: a wheel definition has no shorthand."""
        return data

    def build(self, data: WheelDefinition, file: str) -> WheelRules:
        """Make the rules. Raises :class:`DefinitionError`."""
        check(data, file)
        return WheelRules(data)


FAMILY = WheelFamily()
