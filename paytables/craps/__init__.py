"""The craps family: bets on throws of two dice, with a point, bets that stay and come bets that travel."""

from collections.abc import Mapping

from paytables.craps.places import Felt, check_places
from paytables.craps.rules import CrapsRules
from paytables.craps.schema import CrapsDefinition, check
from paytables.definition import Definition
from paytables.layout import check_forms


class CrapsFamily:
    """Builds craps tables; see :class:`paytables.game.Family`."""

    @property
    def model(self) -> type[Definition]:
        """The model of a craps definition."""
        return CrapsDefinition

    def prepare(self, data: Mapping[str, object], file: str) -> Mapping[str, object]:  # noqa: ARG002 (no shorthand here)
        """Return the data as it is: a craps definition has no shorthand."""
        return data

    def build(self, data: CrapsDefinition, file: str) -> CrapsRules:
        """Make the rules. Raises :class:`DefinitionError`."""
        check(data, file)
        felt = Felt(data)
        check_places(felt, file)
        rules = CrapsRules(felt)
        check_forms(rules.cloth, file)
        return rules


FAMILY = CrapsFamily()
