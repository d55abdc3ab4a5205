"""Rounds in common of a poker room, of chemin de fer and of banque à tout va: memory clears, power cuts, recall."""

import pytest
from rigs.cards import dealing
from test_cuts_between_players import begin, go_on_to_the_end, iter_cut_rounds
from test_liars_at_shared_tables import TABLES
from test_void_rounds import BILL_CENTS, audit, find_asked

from egm.kernel.events import State
from egm.people import Role
from egm.play.records.games import open_game
from egm.testing.clearing import clear_with_decisions
from egm.testing.service_menu import Menu

BANKS = ("monaco-chemin-de-fer", "monaco-banque-a-tout-va")
#: Five and six in turn: in both games somebody is asked before the third cards.
CARDS = {"monaco-chemin-de-fer": "2s Ks 3h 6c", "monaco-banque-a-tout-va": "2s 4h Kd 3s Ad 7d"}


def with_credit(rooms):
    for rig in rooms:
        rig.insert(BILL_CENTS)
    return rooms


@pytest.mark.requirement("S-51", "S-52", "A-05", "E-01")
@pytest.mark.parametrize("game", BANKS)
def test_a_round_goes_on_after_a_memory_clear_with_the_same_cards(seats, tmp_path, game):
    count = len(TABLES[game])
    rooms = with_credit(seats(game, count=count))
    chance = dealing(CARDS[game], 6)
    working = rooms[0].machine.chance
    for rig in rooms:
        rig.machine.chance = chance
    begin(rooms, TABLES[game])
    assert find_asked(rooms) is not None
    before = [open_game(rig.machine).steps for rig in rooms]
    plays = [open_game(rig.machine).play_id for rig in rooms]
    rooms[0].close()
    clear_with_decisions(tmp_path)
    rooms = seats(game, count=count)
    assert [open_game(rig.machine).steps for rig in rooms] == before
    for rig in rooms:
        rig.machine.chance = working
    go_on_to_the_end(rooms)
    check_recalled(rooms, plays)
    assert audit(rooms, tmp_path) == []


@pytest.mark.requirement("E-01")
@pytest.mark.parametrize("game", TABLES)
def test_each_position_recalls_its_own_game_of_a_round_in_common(seats, game):
    rooms = with_credit(seats(game, count=len(TABLES[game])))
    begin(rooms, TABLES[game])
    plays = [open_game(rig.machine).play_id for rig in rooms]
    go_on_to_the_end(rooms)
    check_recalled(rooms, plays)


def check_recalled(rooms, plays):
    """Check that the recall of every position lists each position's game and shows its own."""
    assert len({*plays}) == len(rooms)
    for rig, play_id in zip(rooms, plays, strict=True):
        menu = Menu(rig).sign_in(Role.ATTENDANT).touch("recall")
        assert {row.action for row in menu.page.tables[0].rows} == {*plays}
        assert menu.touch(play_id).touch("show").page.replay.display["hands"]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.requirement("S-52", "A-05")
def test_a_cut_at_any_entry_of_banque_settles_every_bet_once(seats, tmp_path):
    game = "monaco-banque-a-tout-va"
    for rooms, _ in iter_cut_rounds(seats, tmp_path, game, TABLES[game]):
        assert {rig.state for rig in rooms} == {State.IDLE}
        ended = [each["play_id"] for each in rooms[0].records("game.end")]
        assert len(ended) == len({*ended}) <= len(rooms)
