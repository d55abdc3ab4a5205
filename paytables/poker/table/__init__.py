"""The family of poker against the bank: one engine over definitions that list steps, bets and pays."""

from collections.abc import Mapping

from paytables.definition import Definition
from paytables.layout import check_forms
from paytables.poker.table.rules import PokerRules
from paytables.poker.table.schema import PokerDefinition


class PokerFamily:
    """Builds poker games against the bank; see :class:`paytables.game.Family`."""

    @property
    def model(self) -> type[Definition]:
        """The model of such a definition."""
        return PokerDefinition

    def prepare(self, data: Mapping[str, object], file: str) -> Mapping[str, object]:  # noqa: ARG002 (the contract's)
        """Return the data as it is: there is no shorthand."""
        return data

    def build(self, data: PokerDefinition, file: str) -> PokerRules:
        """Make the rules. Raises :class:`DefinitionError` for what the model alone cannot see."""
        rules = PokerRules(data)
        check_forms(rules.table, file)
        rules.check(file)
        return rules


FAMILY = PokerFamily()
