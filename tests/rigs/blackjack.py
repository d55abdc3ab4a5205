"""The blackjack tables that tests play, and changed copies of them."""

import json
import tomllib

from paytables import build_game, load_game
from paytables.figure_binding import DIGEST_KEY, PROVED_KEY, add_binding_digest

QUEBEC, OPTIONS = "quebec-blackjack", "quebec-blackjack-options"
MULTI, MONACO = "quebec-multi-action-blackjack", "monaco-blackjack"


def build_changed_game(name, **tables):
    data = json.loads(load_game(name).text)
    data.pop("table", None)  # a game for one player, unless the test sets a table
    data.get("rules", {}).pop("back_bets", None)
    data.update(tables)
    del data["proved"]  # figures of the unchanged rules
    return build_game(data, "test")


def rebind_proved_figures(text):
    """Return a changed definition's text with its stored figures bound to it, if the change does not affect a hand.

    The figures depend only on the house rules and on a full shoe. Computing them again takes twenty seconds.
    """
    data = tomllib.loads(text)
    return text.replace(data[PROVED_KEY][DIGEST_KEY], str(add_binding_digest(data)[DIGEST_KEY]))


HOLE = {"second_card": "hole", "even_money": "ace", "double": {"totals": [9, 10, 11], "after_split": True}}
