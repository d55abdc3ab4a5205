"""Cards that a test must have: taken out of a shoe, or dealt by a chance that it states."""

from egm.testing.machine import ScriptedChance
from paytables.cards import Shoe, parse_cards


def remove_cards(shoe, *cards):
    """Take these cards, which must be in it, out of a shoe."""
    for card in cards:
        assert shoe.counts[card], card
        shoe.counts[card] -= 1


def script_cards(cards, decks=6):
    """Chance whose next numbers deal these cards, one after another."""
    shoe, numbers = Shoe.from_decks(decks), []
    for card in parse_cards(cards):
        numbers.append(sum(shoe.counts[:card]))
        remove_cards(shoe, card)
    return ScriptedChance(*numbers)
