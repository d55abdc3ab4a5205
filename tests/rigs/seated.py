"""The games whose seats play one round with a hand or an answer of their own each."""

from paytables import list_table_games, load_game
from paytables.seating import SeatedRules

#: Games that one player cannot play alone: a round needs several seats.
NEED_OTHERS = [name for name in list_table_games() if load_game(name).rules.seats_min > 1]
SEATED_GAMES = [
    name
    for name in list_table_games()
    if isinstance(load_game(name).rules, SeatedRules) and name not in NEED_OTHERS
]
#: At the other tables every player sees the cards of all as they are dealt (Québec ss. 16, 66, 67.37; Monaco 5.1).
DEALT_FACE_DOWN = [
    name for name in SEATED_GAMES if "blackjack" not in name and name not in {"quebec-war", "quebec-red-dog"}
]
#: Tables of hands that do not belong to one seat each: several bet on one hand, and one of them answers for it.
COMMON_HANDS = [name for name in SEATED_GAMES if "banque" in name]
#: Cards and tiles that lie face down.
BACKS = {"??", "?-?"}


def is_hidden(hand):
    """Whether nothing of another's hand is seen; a natural of common hands is shown at once (Monaco 12.83)."""
    shown_at_once = hand["id"].startswith("tableau") and hand.get("says") in {"8", "9"}
    return shown_at_once or (set(hand["cards"]) <= BACKS and "says" not in hand)
