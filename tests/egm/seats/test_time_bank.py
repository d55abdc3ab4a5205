"""The time to act and the time bank of a poker room: used over several decisions, full for the next player."""

from dataclasses import replace

import pytest
import test_poker_room_in_common as room
from rigs.cards import script_cards
from rigs.timed_room import TIME_TO_ACT, write_timed_room

from egm.kernel.events import EventType
from egm.people import Role
from egm.play.keys import PlayKey
from egm.play.records.games import find_open_game
from egm.seats.decisions import (
    NO_SCREEN_EXTENSION_SECONDS_MAX,
    apply_recorded_steps,
    decide_overdue_turns,
    iter_turn_notices,
)
from egm.seats.table import find_selected_game_digest
from egm.testing.service_menu import MenuUser, translate_text
from meters import open_view
from meters.entry import decode
from paytables import DefinitionError, load_game
from tools.audit.games import GameAudit, GameFiles

SECONDS, BANK_SECONDS = 10, 30


@pytest.fixture
def rooms(seats, tmp_path):
    """Three positions of a room with 10 s to act and a time bank of 30 s; the first must decide."""
    rooms = seats(str(write_timed_room(tmp_path, TIME_TO_ACT)), count=3, folder=tmp_path / "state")
    room.sit_down(rooms)
    decide_overdue_turns(room.table_of(rooms))
    return rooms


def wait(rooms, seconds):
    rooms[0].clock.pass_seconds(seconds)
    decide_overdue_turns(room.table_of(rooms))


def read_turn(rig):
    """Return what the position reads about the decision that the table waits for."""
    return [(notice.code, notice.values["seconds"]) for notice in iter_turn_notices(rig.machine)]


def answer(rooms, option):
    rig = room.find_deciding_rig(rooms)
    rig.engine.handle(EventType.CHOOSE, value=option)
    apply_recorded_steps(room.table_of(rooms))
    decide_overdue_turns(room.table_of(rooms))


@pytest.mark.requirement("S-33")
def test_a_slow_player_uses_the_time_bank_until_it_is_empty(rooms, tmp_path):
    first = rooms[0]
    assert read_turn(first) == [("answer_within", SECONDS)]
    wait(rooms, SECONDS)
    assert read_turn(first) == [("answer_within_bank", BANK_SECONDS)]
    assert read_turn(rooms[1]) == [("seat_answers", BANK_SECONDS)]
    wait(rooms, 12)
    answer(rooms, "raise")
    assert read_turn(rooms[1]) == [("answer_within", SECONDS)]  # another player's bank is full
    answer(rooms, "call")
    answer(rooms, "raise")
    assert read_turn(first) == [("answer_within", SECONDS)]
    wait(rooms, SECONDS)
    assert read_turn(first) == [("answer_within_bank", BANK_SECONDS - 12)]
    wait(rooms, BANK_SECONDS - 12)
    assert find_open_game(first.machine).steps[-1].choice == "fold"
    assert first.notice == "answered_for"
    answer(rooms, "fold")
    won_credits = room.end(rooms)
    assert sum(won_credits) <= 0
    assert won_credits[0] < 0
    room.check_audit(rooms, tmp_path / "state")


@pytest.mark.requirement("S-33")
def test_the_next_player_at_the_position_has_a_full_bank(rooms):
    wait(rooms, SECONDS)
    wait(rooms, BANK_SECONDS)
    digest = find_selected_game_digest(rooms[0].machine)
    assert room.table_of(rooms).time_bank_left_ns_by_key == {(1, digest): 0}
    answer(rooms, "fold")
    room.end(rooms)
    decide_overdue_turns(room.table_of(rooms))
    assert room.table_of(rooms).time_bank_left_ns_by_key == {(1, digest): 0}
    rooms[0].cash_out_ticket()
    decide_overdue_turns(room.table_of(rooms))
    assert room.table_of(rooms).time_bank_left_ns_by_key == {}


@pytest.mark.requirement("S-33")
def test_a_position_that_cannot_play_has_its_whole_time_before_it_folds(rooms, tmp_path):
    first = rooms[0]
    first.engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
    wait(rooms, SECONDS)
    assert read_turn(rooms[1]) == [("seat_answers", BANK_SECONDS)]
    wait(rooms, BANK_SECONDS - 1)
    first.engine.handle(EventType.FAULT_CLEARED, code="bill_acceptor.cheat")
    first.engine.handle(EventType.KEY_TURNED, key="attendant")
    decide_overdue_turns(room.table_of(rooms))
    assert read_turn(first) == [("answer_within_bank", 1)]
    answer(rooms, "call")
    answer(rooms, "fold")
    room.check_audit(rooms, tmp_path / "state")


@pytest.mark.requirement("S-33")
def test_the_time_of_a_player_without_a_screen_stops_for_a_minute(rooms):
    """This happens after a restart, when the screens reconnect later than the machine."""
    first, seat = rooms[0], room.table_of(rooms).position_by_number[1]
    wait(rooms, SECONDS - 1)
    seat.has_screen = lambda: False
    for _ in range(NO_SCREEN_EXTENSION_SECONDS_MAX // 2):
        wait(rooms, 1)
    assert read_turn(first) == [("answer_within", 1)]
    seat.has_screen = lambda: True
    wait(rooms, 1)
    assert read_turn(first) == [("answer_within_bank", BANK_SECONDS)]
    seat.has_screen = lambda: False
    for _ in range(NO_SCREEN_EXTENSION_SECONDS_MAX // 2 + 5):
        wait(rooms, 1)
    assert read_turn(first) == [("answer_within_bank", BANK_SECONDS - 5)]
    wait(rooms, BANK_SECONDS - 5)
    assert find_open_game(first.machine).steps[-1].choice == "fold"


@pytest.mark.requirement("S-33")
def test_each_game_of_a_position_has_a_time_bank_of_its_own(seats, tmp_path):
    (tmp_path / "other").mkdir()
    definitions = [
        str(write_timed_room(folder, terms, name))
        for folder, terms, name in (
            (tmp_path, TIME_TO_ACT, "timed-room"),
            (tmp_path / "other", "\n[time_to_act]\nseconds = 5\nbank_seconds = 7\n", "other-room"),
        )
    ]
    rooms = seats(*definitions, count=3, folder=tmp_path / "state")
    room.sit_down(rooms)
    decide_overdue_turns(room.table_of(rooms))
    wait(rooms, SECONDS)
    wait(rooms, 12)
    answer(rooms, "fold")
    answer(rooms, "fold")
    room.end(rooms)
    for rig in rooms:
        rig.engine.handle(EventType.SELECT_GAME, value="other-room")
        rig.machine.random_service = script_cards(room.CARDS, decks=1)
        room.lay(rig, 200)
    room.close(rooms)
    assert room.find_deciding_rig(rooms) is rooms[0]
    wait(rooms, 0)
    wait(rooms, 5)
    assert read_turn(rooms[0]) == [("answer_within_bank", 7)]


@pytest.mark.requirement("S-33", "E-04")
def test_an_answer_of_the_table_is_recorded_and_shown_as_such(rooms, tmp_path):
    wait(rooms, SECONDS)
    wait(rooms, BANK_SECONDS)
    answer(rooms, "fold")
    room.end(rooms)
    steps = [entry for entry in rooms[0].journal.entries("game.choice") if entry.record["choice"] == "fold"]
    play = rooms[0].machine.memory.get(PlayKey.LAST_GAME)["play_id"]
    assert [entry.record["play_id"] for entry in steps if entry.record.get("by_table")] == [play]
    menu = MenuUser(rooms[0]).sign_in(Role.ATTENDANT).touch("recall").touch(play)
    cells = [cell for table in menu.page.tables for row in table.rows for cell in row.cells]
    labels = {translate_text(cell, "en") for cell in cells}
    assert {"Choice 2, position 1, made by the table for the player", "Choice 3, position 2"} <= labels
    reasons = []
    audit = GameAudit(GameFiles((tmp_path,)), lambda _, reason: reasons.append(reason))
    rooms[0].close()
    with open_view(tmp_path / "state") as view:
        for entry in map(decode, view.iter_bodies()):
            if entry.kind == "game.choice" and entry.record["choice"] == "all-staked":
                record = {**entry.record, "by_table": True}
                entry = entry._replace(transaction=replace(entry.transaction, record=record))  # noqa: PLW2901
            audit.check_entry(entry)
    assert any("record.by_table: seat -1 decides" in reason for reason in reasons)


@pytest.mark.parametrize(
    ("terms", "key"),
    [
        ("seconds = 4", "seconds"),
        ("seconds = 10\nbank_seconds = 601", "bank_seconds"),
        ("bank_seconds = 9", "seconds"),
    ],
)
def test_a_time_to_act_outside_its_limits_is_refused_by_key(tmp_path, terms, key):
    with pytest.raises(DefinitionError, match=rf"time_to_act\.{key}"):
        load_game(write_timed_room(tmp_path, f"\n[time_to_act]\n{terms}\n"))


def test_the_help_says_the_time_to_act_in_both_languages(tmp_path):
    rows = load_game(write_timed_room(tmp_path, TIME_TO_ACT)).rules.definition.format_pay_table_rows()
    assert rows["en"][-1] == "Time for each decision: 10 s; in addition, a time bank of 30 s for each player"
    assert rows["fr"][-1] == "Temps pour chaque décision : 10 s ; de plus, une réserve de 30 s par joueur"
