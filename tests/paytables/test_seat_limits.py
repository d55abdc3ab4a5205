"""The highest number of seats at a table, and of hands for each seat, as the text permits."""

import pytest

from paytables import list_table_games, load_game

#: Most players: Québec by-law, by the section; of Monaco's order and the French rules, by the article.
MOST = {
    "quebec-blackjack": 7,  # s. 16, also of its options, progressives and Multi-Action
    "quebec-multi-action-blackjack": 7,
    "quebec-pai-gow-poker": 6,  # s. 42
    "quebec-super-pan-9": 7,  # s. 55
    "quebec-red-dog": 7,  # s. 64
    "quebec-let-it-ride": 7,  # s. 67.3
    "quebec-caribbean-stud": 7,  # s. 67.13
    "quebec-poker-3-5-7": 7,  # s. 67.42
    "quebec-boston-poker": 7,  # s. 67.52
    "quebec-four-card-poker": 7,  # s. 67.67
    "quebec-crazy-four-poker": 7,  # s. 67.78
    "quebec-pai-gow": 7,  # s. 106
    "quebec-baccarat": 9,  # s. 28: as many as the layout has boxes; art. 13.3 has layouts of seven and nine
    "monaco-punto": 9,
    "monaco-blackjack": 9,  # art. 5.1: as many as the layout has places
    "france-casino-holdem": 7,  # 55-18-1
}
#: One seated player, one hand (55-18-1); elsewhere several are a table's own option.
ONE_HAND = {"france-casino-holdem"}


def most_of(name):
    named = [game for game in MOST if name.startswith(game)]
    return MOST[max(named, key=len)] if named else None


@pytest.mark.requirement("S-31:a")
@pytest.mark.parametrize("name", list_table_games())
def test_no_table_has_more_seats_than_its_text_allows(name):
    rules = load_game(name).rules
    seats, most = rules.table_layout.table.seat_count if hasattr(rules, "table_layout") else 1, most_of(name)
    assert seats >= 1
    assert most is None or seats <= most
    if name in ONE_HAND:
        hands = [spot.id for spot in rules.table_layout.spots if spot.id.startswith("ante")]
        assert hands == ["ante"]


def test_every_text_that_limits_players_is_that_of_a_table():
    assert {name for name in MOST if not any(game.startswith(name) for game in list_table_games())} == set()
