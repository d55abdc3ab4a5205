"""The roulette family: a cylinder of pockets, a cloth of bets on them, one ball; boule is its smallest."""

from collections.abc import Mapping
from typing import Any

from paytables.definition import Definition
from paytables.roulette.build import build
from paytables.roulette.schema import RouletteDefinition
from paytables.roulette.spun import SpunTable


class RouletteFamily:
    """Builds roulettes; see :class:`paytables.game.Family`."""

    @property
    def model(self) -> type[Definition]:
        """The model of a roulette's definition."""
        return RouletteDefinition

    def prepare(self, data: Mapping[str, Any], file: str) -> Mapping[str, Any]:  # noqa: ARG002 (no shorthand here)
        """Return the data as it is: a roulette's definition has no shorthand."""
        return data

    def build(self, data: RouletteDefinition, file: str) -> SpunTable:
        """Make the rules. Raises :class:`DefinitionError`."""
        return build(data, file)


FAMILY = RouletteFamily()
