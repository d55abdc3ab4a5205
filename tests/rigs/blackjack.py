"""The tables of blackjack that tests play, and the same with other rules."""

import json
import tomllib

from paytables import build_game, load_game
from paytables.figure_binding import DIGEST_KEY, PROVED_KEY, add_binding_digest

QUEBEC, OPTIONS = "quebec-blackjack", "quebec-blackjack-options"
MULTI, MONACO = "quebec-multi-action-blackjack", "monaco-blackjack"


def build_changed_game(name, **tables):
    data = json.loads(load_game(name).text)
    data.pop("table", None)  # one player's, unless a test says otherwise
    data.get("rules", {}).pop("back_bets", None)
    data.update(tables)
    del data["proved"]  # of other rules
    return build_game(data, "test")


def bound_anew(text):
    """Return a definition's text with its carried figures bound to it, for changes that leave the hand as it is.

    The figures of a hand are of its house rules and a full shoe; working them out takes twenty seconds.
    """
    data = tomllib.loads(text)
    return text.replace(data[PROVED_KEY][DIGEST_KEY], str(add_binding_digest(data)[DIGEST_KEY]))


HOLE = {"second_card": "hole", "even_money": "ace", "double": {"totals": [9, 10, 11], "after_split": True}}
