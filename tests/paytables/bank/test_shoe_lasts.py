"""A definition whose shoe could run out during a round is not installed."""

from pathlib import Path

import pytest

import paytables
from paytables import Choice, DefinitionError, build_game_from_json, load_game
from paytables.cards.card import Shoe
from paytables.contract import RecordingDrawSource
from paytables.contract.round import play_with_choices
from paytables.definition import format_canonical_text, parse, read_source

LIBRARY = Path(paytables.__file__).parent / "library" / "tables"


def write_changed(folder, name, *changes):
    text = (LIBRARY / f"{name}.toml").read_text(encoding="utf-8")
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    file = folder / f"{name}.toml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("name", "changes", "reason"),
    [
        ("quebec-war", [("decks = 6", "decks = 1")], "deals up to 64 cards, and 1 before a shuffle; 52 are"),
        (
            "quebec-war",
            [("decks = 6", "decks = 6\nstop = 62")],
            "up to 64 cards, and 1 before a shuffle; 63 are",
        ),
        (
            "quebec-war",
            [("decks = 6", "decks = 1\nrounds = 2"), ("seats = 7", "seats = 3")],
            "and 2 before a shu",
        ),
        ("quebec-war", [("decks = 6", "decks = 2\nburn = true"), ("seats = 7", "seats = 8")], None),
        ("quebec-war", [("decks = 6", "decks = 6\nstop = 63")], None),
        ("quebec-red-dog", [("decks = 6", "decks = 1\nstop = 8")], None),
        ("monaco-trente-et-quarante", [("stop = 5", "stop = 1")], None),
        ("quebec-war", [("seats = 7", "seats = 7\nmost_win = 100")], "do not enforce a win limit"),
        ("quebec-caribbean-stud", [("[table]", "[table]\nmost_win = 100")], "do not enforce a win limit"),
        ("monaco-boule", [("[table]", "[table]\nmost_win = 1000")], None),
    ],
)
def test_a_file_that_could_not_be_played_as_it_says_is_refused(tmp_path, name, changes, reason):
    file = write_changed(tmp_path, name, *changes)
    if reason is None:
        load_game(file)
    else:
        with pytest.raises(DefinitionError, match=reason):
            load_game(file)
    # a game that an earlier version accepted and recorded is still finished and replayed
    build_game_from_json(format_canonical_text(parse(read_source(file))), "journal")


class LowestCard:
    """Draws that deal the lowest card left: cards of equal rank, as long as there are any."""

    def below(self, _bound, _purpose):
        return 0


@pytest.mark.parametrize("cards", [64, 63])
def test_a_round_of_war_at_every_seat_takes_the_last_card_of_the_smallest_shoe(tmp_path, cards):
    file = write_changed(tmp_path, "quebec-war", ("decks = 6", f"decks = 6\nstop = {cards - 1}"))
    game = build_game_from_json(format_canonical_text(parse(read_source(file))), "journal")
    counts = Shoe.from_decks(6).counts
    for card in range(len(counts)):
        counts[card] = min(counts[card], cards - sum(counts[:card]))
    game = game.with_table_state({"shoe": Shoe(counts).to_json()})
    wager = game.build_wager(14, seats={str(seat): {"main": 2} for seat in range(7)})
    draw = RecordingDrawSource(LowestCard())
    play = game.play(wager, draw)
    if cards == 64:
        assert play_with_choices(play, wager, [Choice("war") for _ in range(7)]).table_state is None
        assert len(draw.records) == 64
    else:
        with pytest.raises(ValueError, match="no card is left"):
            play_with_choices(play, wager, [Choice("war") for _ in range(7)])
