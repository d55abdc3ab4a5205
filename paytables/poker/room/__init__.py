"""Poker that players play against each other at a poker room's table, with a commission (Québec ss. 67.88-67.110)."""

from paytables.cards.card import SHOE_SIZES
from paytables.game import GameFamily
from paytables.layout import check_preset_bets
from paytables.poker.room.rules import RoomRules
from paytables.poker.room.schema import RoomDefinition


def build_rules(definition: RoomDefinition, file: str) -> RoomRules:
    """Build the rules of a poker room game from its definition, and check its preset bets."""
    rules = RoomRules(definition)
    check_preset_bets(rules.table_layout, file)
    return rules


FAMILY = GameFamily(
    RoomDefinition,
    build_rules,
    help_figures=SHOE_SIZES,
    counted_cases="for the play between two players that the notes describe",
)
