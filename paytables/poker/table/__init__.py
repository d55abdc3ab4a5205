"""The family of poker against the bank: one engine for definitions that list steps, bets and pays."""

from paytables.game import GameFamily
from paytables.layout import check_preset_bets
from paytables.poker.table.rules import PokerRules
from paytables.poker.table.schema import PokerDefinition


def build_rules(definition: PokerDefinition, file: str) -> PokerRules:
    """Build the rules of a poker game against the bank from its definition.

    Raises :class:`DefinitionError` for errors that the model alone cannot detect.
    """
    rules = PokerRules(definition)
    check_preset_bets(rules.table_layout, file)
    rules.check_definition(file)
    return rules


FAMILY = GameFamily(
    PokerDefinition,
    build_rules,
    help_figures=frozenset({52}),
    counted_cases="over the cards that player and bank may be dealt",
)
