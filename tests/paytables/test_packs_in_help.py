"""Help may say how many cards are in a pack, or in several."""

import pytest

from paytables import build_game, list_remarks
from paytables.definition import parse, read_source


@pytest.mark.parametrize(
    ("name", "cards"),
    [
        ("jacks-or-better-9-6", 52),
        ("quebec-three-card-poker", 52),
        ("quebec-pai-gow-poker", 53),
        ("quebec-blackjack", 312),
        ("quebec-baccarat", 416),
        ("quebec-war", 312),
    ],
)
def test_the_cards_of_a_pack_are_a_number_of_the_game(name, cards):
    data = parse(read_source(name))
    data["game"]["help"] = {code: f"{cards}. {words}" for code, words in data["game"]["help"].items()}
    assert list_remarks(build_game(data, "own"), None) == ()
    data["game"]["help"] = {code: f"{cards}007. {words}" for code, words in data["game"]["help"].items()}
    assert len(list_remarks(build_game(data, "own"), None)) == 2
