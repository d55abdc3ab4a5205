"""The time to act and the time bank of a poker room: used up over several decisions, full for the next player."""

import pytest
import test_poker_room_in_common as room
from rigs.timed_room import TIME_TO_ACT, write_timed_room

from egm.kernel.events import EventType
from egm.play.records.games import open_game
from egm.seats.answers import answer_overdue_turns, iter_turn_notices, take_recorded_steps
from paytables import DefinitionError, load_game

SECONDS, BANK_SECONDS = 10, 30


@pytest.fixture
def rooms(seats, tmp_path):
    """Three positions of a room with a time to act of 10 s and a time bank of 30 s; the first is asked."""
    rooms = seats(str(write_timed_room(tmp_path, TIME_TO_ACT)), count=3, folder=tmp_path / "state")
    room.sit_down(rooms)
    answer_overdue_turns(room.table_of(rooms))
    return rooms


def wait(rooms, seconds):
    rooms[0].clock.pass_seconds(seconds)
    answer_overdue_turns(room.table_of(rooms))


def read_turn(rig):
    """Return what the position reads about the decision that the table waits for."""
    return [(notice.code, notice.values["seconds"]) for notice in iter_turn_notices(rig.machine)]


def answer(rooms, option):
    rig = room.asked(rooms)
    rig.engine.handle(EventType.CHOOSE, value=option)
    take_recorded_steps(room.table_of(rooms))
    answer_overdue_turns(room.table_of(rooms))


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
    assert open_game(first.machine).steps[-1].choice == "fold"
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
    assert room.table_of(rooms).bank_left_ns == {1: 0}
    answer(rooms, "fold")
    room.end(rooms)
    answer_overdue_turns(room.table_of(rooms))
    assert room.table_of(rooms).bank_left_ns == {1: 0}
    rooms[0].cash_out_ticket()
    answer_overdue_turns(room.table_of(rooms))
    assert room.table_of(rooms).bank_left_ns == {}


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
