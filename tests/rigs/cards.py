"""Cards that a test chooses: removed from a shoe, or dealt by scripted draws."""

from egm.testing.machine import ScriptedGenerator
from paytables.cards import Shoe, parse_cards


def remove_cards(shoe, *cards):
    """Remove the ``cards`` from the ``shoe``, which must contain them."""
    for card in cards:
        assert shoe.counts[card], card
        shoe.counts[card] -= 1


def script_cards(cards, decks=6):
    """Return a random service whose next draws deal these cards in order."""
    shoe, numbers = Shoe.from_decks(decks), []
    for card in parse_cards(cards):
        numbers.append(sum(shoe.counts[:card]))
        remove_cards(shoe, card)
    return ScriptedGenerator(*numbers)
