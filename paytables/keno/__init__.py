"""The Keno family: numbers marked or quick-picked, balls drawn, and tables that pay what is caught."""

from collections.abc import Mapping
from typing import Any

from paytables.definition import Definition
from paytables.keno.rules import KenoRules
from paytables.keno.schema import KenoDefinition
from paytables.keno.tables import tables


class KenoFamily:
    """Builds Keno games; see :class:`paytables.game.Family`."""

    @property
    def model(self) -> type[Definition]:
        """The model of a Keno definition."""
        return KenoDefinition

    def prepare(self, data: Mapping[str, Any], file: str) -> Mapping[str, Any]:  # noqa: ARG002 (no shorthand here)
        """Return the data as it is: a Keno definition has no shorthand."""
        return data

    def build(self, data: KenoDefinition, file: str) -> KenoRules:
        """Make the rules. Raises :class:`DefinitionError`."""
        return KenoRules(data, tables(data, file))


FAMILY = KenoFamily()
