"""The games in which several seats play one round, each with its own hand or decisions."""

from paytables import list_table_games, load_game
from paytables.seating import SeatedRules

#: Games that need several players.
SEVERAL_PLAYER_GAMES = [name for name in list_table_games() if load_game(name).rules.seats_min > 1]
SEATED_GAMES = [
    name
    for name in list_table_games()
    if isinstance(load_game(name).rules, SeatedRules) and name not in SEVERAL_PLAYER_GAMES
]
#: Games whose cards are dealt face down. At the other tables, all cards are dealt face up (Québec ss. 16, 66, 67.37;
#: Monaco 5.1).
DEALT_FACE_DOWN = [
    name for name in SEATED_GAMES if "blackjack" not in name and name not in {"quebec-war", "quebec-red-dog"}
]
#: Games in which several seats bet on one hand, and one of them decides for it.
COMMON_HANDS = [name for name in SEATED_GAMES if "banque" in name]
#: Cards and tiles that lie face down.
BACKS = {"??", "?-?"}


def is_hidden(hand):
    """Return whether another seat's hand is face down, or a common hand's natural, which is shown (Monaco 12.83)."""
    shown_at_once = hand["id"].startswith("tableau") and hand.get("says") in {"8", "9"}
    return shown_at_once or (set(hand["cards"]) <= BACKS and "says" not in hand)
