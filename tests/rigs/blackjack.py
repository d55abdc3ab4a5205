"""The tables of blackjack that tests play, and the same with other rules."""

import json

from paytables import game_from, load_game

QUEBEC, OPTIONS = "quebec-blackjack", "quebec-blackjack-options"
MULTI, MONACO = "quebec-multi-action-blackjack", "monaco-blackjack"


def changed(name, **tables):
    data = json.loads(load_game(name).text)
    data.pop("table", None)  # one player's, unless a test says otherwise
    data.update(tables)
    del data["proved"]  # of other rules
    return game_from(data, "test")


HOLE = {"second_card": "hole", "even_money": "ace", "double": {"totals": [9, 10, 11], "after_split": True}}
