"""The games whose seats play one round with a hand or an answer of their own each."""

from paytables import list_table_games, load_game
from paytables.seating import SeatedRules

SEATED_GAMES = [name for name in list_table_games() if isinstance(load_game(name).rules, SeatedRules)]
#: At the other tables every player sees the cards of all as they are dealt (Québec ss. 16, 66, 67.37; Monaco 5.1).
DEALT_FACE_DOWN = [
    name for name in SEATED_GAMES if "blackjack" not in name and name not in {"quebec-war", "quebec-red-dog"}
]
#: Cards and tiles that lie face down.
BACKS = {"??", "?-?"}
