"""Blackjack of Québec's by-law (ss. 13-26.7) and of the Monaco order (art. 5), with its side bets."""

from paytables.blackjack.definition import BlackjackDefinition
from paytables.blackjack.rules import BlackjackRules
from paytables.cards import SHOE_SIZES
from paytables.game import GameFamily


def _build_rules(definition: BlackjackDefinition, file: str) -> BlackjackRules:
    """Build the rules of a blackjack table after checking them. Raises :class:`DefinitionError`."""
    rules = BlackjackRules(definition)
    rules.check_definition(file)
    return rules


FAMILY = GameFamily(
    BlackjackDefinition,
    _build_rules,
    help_figures=SHOE_SIZES,
    counted_cases="over the orders of the cards of a fresh shoe; figures marked as sampled are simulated",
)
