"""The family of pai gow with tiles."""

from collections.abc import Mapping

from paytables.definition import Definition
from paytables.layout import check_forms
from paytables.poker.tiles.rules import PaiGowRules
from paytables.poker.tiles.schema import PaiGowDefinition


class PaiGowFamily:
    """Builds games of pai gow; see :class:`paytables.game.Family`."""

    @property
    def model(self) -> type[Definition]:
        """The model of a pai gow definition."""
        return PaiGowDefinition

    def prepare(self, data: Mapping[str, object], file: str) -> Mapping[str, object]:  # noqa: ARG002 (the contract's)
        """Return the data as it is: there is no shorthand."""
        return data

    def build(self, data: PaiGowDefinition, file: str) -> PaiGowRules:
        """Make the rules. Raises :class:`DefinitionError` for what the model alone cannot see."""
        rules = PaiGowRules(data)
        check_forms(rules.table, file)
        return rules


FAMILY = PaiGowFamily()
