"""The sic bo family: three dice, and bets on what they show together."""

from collections.abc import Mapping
from typing import Any

from paytables.definition import Definition
from paytables.sicbo.schema import SicBoDefinition
from paytables.sicbo.table import SicBoTable, build


class SicBoFamily:
    """Builds sic bo; see :class:`paytables.game.Family`."""

    @property
    def model(self) -> type[Definition]:
        """The model of a definition."""
        return SicBoDefinition

    def prepare(self, data: Mapping[str, Any], file: str) -> Mapping[str, Any]:  # noqa: ARG002 (no shorthand here)
        """Return the data as it is: the definition has no shorthand."""
        return data

    def build(self, data: SicBoDefinition, file: str) -> SicBoTable:
        """Make the rules. Raises :class:`DefinitionError`."""
        return build(data, file)


FAMILY = SicBoFamily()
