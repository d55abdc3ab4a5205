"""Chance that deals the cards a test must have, from a full shoe."""

from egm.testing.machine import ScriptedChance
from paytables.cards import Shoe, parse_cards


def dealing(cards, decks=6):
    """Chance whose next numbers deal these cards, one after another."""
    shoe, numbers = Shoe.from_decks(decks), []
    for card in parse_cards(cards):
        numbers.append(sum(shoe.counts[:card]))
        shoe.remove_cards(card)
    return ScriptedChance(*numbers)
