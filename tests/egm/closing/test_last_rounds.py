"""Before its tables close, the machine announces the last half hour and the last three rounds, and then takes no bet."""

import pytest
from rigs.lies import found_in, raws, without

from egm.app.features import MENU
from egm.closing.feature import ClosingClock
from egm.closing.keys import ClosingKey
from egm.closing.last_rounds import iter_closing_notices
from egm.kernel.events import EventType, State
from egm.kernel.services import MachineContext
from egm.seats.answers import answer_overdue_turns, take_recorded_steps
from egm.seats.table import SharedTable
from egm.staff.form import FieldError
from egm.testing.machine import ScriptedChance
from meters import open_view
from tools.audit.games import Shelf
from tools.audit.verify import Auditor

ROULETTE, CRAPS, REELS = "monaco-roulette-european", "monaco-craps", "maple-classic"
WHEEL, CHEMIN = "river-wheel", "monaco-chemin-de-fer"
CREDIT_CENTS = 10_000
MANAGER = {"person": "5", "persons": ("5",)}


def fill_in(room, form_id, **values):
    """Staff fill in a form at the service menu; what they are told."""
    room.engine.handle(EventType.MENU, key="operator")
    event = next(form.event for form in MENU.forms if form.id == form_id)
    room.engine.handle(event, form=form_id, **MANAGER, **values)
    told = room.notice
    room.engine.handle(EventType.MENU_CLOSED, why="key")
    return told


def bet(room, spots=None):
    """A player bets on a table, and plays."""
    bets = spots or {"dozen-1": 5}
    room.engine.handle(EventType.BET, value=sum(bets.values()), options={"bets": bets})
    room.engine.handle(EventType.PLAY)


def play(room, spots=None):
    """A round to its end; False if it was refused."""
    bet(room, spots)
    if room.state is not State.PLAYING:
        return False
    room.report_shown()
    return True


def told(room):
    """What the players are told of the closing."""
    return [(notice.code, *notice.values.values()) for notice in iter_closing_notices(room.machine)]


def audit(room, folder):
    room.journal.self_audit()
    room.close()
    with open_view(folder) as view:
        return Auditor(Shelf()).run(view.iter_bodies()).findings


@pytest.mark.requirement("S-55")
def test_the_last_half_hour_and_the_last_three_rounds_are_announced(tables, tmp_path):
    (room,) = tables(ROULETTE)
    room.insert(CREDIT_CENTS)
    fill_in(room, "close_tables", minutes=45)
    assert told(room) == []
    room.clock.pass_seconds(15 * 60)
    assert told(room) == [("tables_close", 30)]
    assert play(room)
    room.clock.pass_seconds(29 * 60 + 1)
    assert told(room) == [("tables_close", 1)]
    room.clock.pass_seconds(60)
    for notice in (("last_rounds", 3), ("last_rounds", 2), ("last_round",)):
        assert told(room) == [notice]
        assert play(room)
    assert told(room) == [("table_closes",)]
    before_cents = room.credit_cents
    assert not play(room)
    assert (room.notice, room.credit_cents) == ("table_closed", before_cents)
    assert audit(room, tmp_path) == []


@pytest.mark.requirement("S-55")
def test_a_restart_and_another_game_change_nothing_and_the_tables_open_again(tables, tmp_path):
    (room,) = tables(ROULETTE, REELS)
    room.insert(CREDIT_CENTS)
    fill_in(room, "close_tables", minutes=0)
    assert play(room)
    room.close()
    (room,) = tables(ROULETTE, REELS)
    assert told(room) == [("last_rounds", 2)]
    assert play(room)
    assert play(room)
    assert not play(room)
    room.engine.handle(EventType.GAME, value=REELS)
    assert told(room) == []
    room.play()
    room.report_shown()
    room.engine.handle(EventType.GAME, value=ROULETTE)
    assert fill_in(room, "open_tables") is None
    assert room.machine.memory.get(ClosingKey.TABLES) is None
    assert told(room) == []
    assert play(room)
    assert fill_in(room, "open_tables") == "refused.closing_is_announced"
    assert audit(room, tmp_path) == []


@pytest.mark.requirement("S-55")
def test_a_slot_machines_wheel_with_several_bets_is_no_table_and_plays_on(tables, tmp_path):
    """Its wagers name their bets as those of a table do: the audit once accused the machine of a fourth round."""
    (room,) = tables(WHEEL)
    room.insert(CREDIT_CENTS)
    fill_in(room, "close_tables", minutes=0)
    area = room.machine.games[WHEEL].presentation()["areas"][0]["id"]
    for _ in range(5):
        assert play(room, {area: 1})
        if room.state is State.HANDPAY:
            room.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert audit(room, tmp_path) == []


@pytest.mark.requirement("S-55")
def test_positions_of_one_table_have_three_rounds_together(tables, tmp_path):
    rooms = tables(ROULETTE, count=2)
    for room in rooms:
        room.insert(CREDIT_CENTS)
    fill_in(rooms[0], "close_tables", minutes=0)
    for n in range(3):
        for room in rooms if n else rooms[:1]:
            bet(room)
            assert room.state is State.BETTING
        rooms[0].machine.component(SharedTable).close(rooms[0].machine.games[ROULETTE].digest)
        for room in rooms if n else rooms[:1]:
            room.report_shown()
    assert [told(room) for room in rooms] == [[("table_closes",)]] * 2
    bet(rooms[1])
    assert (rooms[1].state, rooms[1].notice) == (State.IDLE, "table_closed")
    assert audit(rooms[0], tmp_path) == []


@pytest.mark.requirement("S-55")
def test_players_of_chemin_de_fer_are_told_each_of_its_last_rounds(tables, tmp_path):
    """A round that nobody can be the bank of is not played, and is none of the three."""
    rooms = tables(CHEMIN, count=4)
    for room in rooms:
        room.insert(CREDIT_CENTS)
    fill_in(rooms[0], "close_tables", minutes=30)
    assert [told(room) for room in rooms] == [[("tables_close", 30)]] * 4
    rooms[0].clock.pass_seconds(30 * 60)
    hold_coup(rooms, [{"stake": 5}] * 4)
    assert {room.notice for room in rooms} == {"no_bank"}
    for notice in (("last_rounds", 3), ("last_rounds", 2), ("last_round",)):
        assert [told(room) for room in rooms] == [[notice]] * 4
        hold_coup(rooms, [{"bank": 20}] * 2 + [{"stake": 5}] * 2)
    assert [told(room) for room in rooms] == [[("table_closes",)]] * 4
    before_cents = [room.credit_cents for room in rooms]
    bet(rooms[1], {"bank": 20})
    assert (rooms[1].state, rooms[1].notice) == (State.IDLE, "table_closed")
    assert [room.credit_cents for room in rooms] == before_cents
    assert audit(rooms[0], tmp_path) == []


def hold_coup(rooms, bets):
    """A round of chemin de fer to its end: the punter stands."""
    table = rooms[0].machine.component(SharedTable)
    for room, spots in zip(rooms, bets, strict=True):
        bet(room, spots)
        assert room.state is State.BETTING
    table.close(rooms[0].machine.games[CHEMIN].digest)
    take_recorded_steps(table)
    answer_overdue_turns(table)
    for room in rooms:
        if room.state is State.PLAYING and getattr(room.hands.told[-1], "options", ()):
            room.engine.handle(EventType.CHOOSE, value="stand")
    take_recorded_steps(table)
    for room in rooms:
        if room.state is State.PLAYING:
            room.report_shown()


@pytest.mark.requirement("S-55")
def test_bets_that_stand_are_played_on_after_the_last_round(tables, tmp_path):
    """A pass line with its point belongs to its player until the dice decide it."""
    (room,) = tables(CRAPS)
    room.insert(CREDIT_CENTS)
    fill_in(room, "close_tables", minutes=0)
    for total in ((3, 3), (2, 3), (2, 3), (2, 3)):  # the point is six, then three throws that do not decide
        room.machine.chance = ScriptedChance(*(value - 1 for value in total))
        assert play(room, {"pass": 10} if total == (3, 3) else {"field": 10})
    room.machine.chance = ScriptedChance(2, 2)  # three and three: the point is made
    assert play(room, {"field": 10})
    assert told(room) == [("table_closes",)]
    assert not play(room, {"pass": 10})
    assert audit(room, tmp_path) == []


def test_the_clock_tells_the_machine_each_minute_of_the_last_half_hour(tables):
    (room,) = tables(ROULETTE)
    fill_in(room, "close_tables", minutes=31)
    clock = ClosingClock(MachineContext(room.engine, None, None, room.clock, room.happen))
    waits = []
    for seconds in (0, 60, 30, 31 * 60):
        room.clock.pass_seconds(seconds)
        waits.append(clock.compute_seconds_to_wait())
    assert waits == [60, pytest.approx(0.1), pytest.approx(30.1), None]


def test_a_form_with_minutes_that_are_none_is_refused():
    form = next(form for form in MENU.forms if form.id == "close_tables")
    for text, reason in (
        ("", "missing"),
        ("-1", "not_digits"),
        ("soon", "not_digits"),
        ("1441", "out_of_range"),
    ):
        with pytest.raises(FieldError, match="minutes") as error:
            form.fields[0].read(text)
        assert error.value.reason == reason


@pytest.mark.requirement("S-55")
def test_the_audit_names_the_fourth_round_after_a_closing_time_told_earlier(tables):
    (room,) = tables(ROULETTE)
    room.insert(CREDIT_CENTS)
    fill_in(room, "close_tables", minutes=60)
    for _ in range(4):
        room.clock.pass_seconds(60)
        assert play(room)
    entries = raws(room)
    at = next(n for n, raw in enumerate(entries) if raw["kind"] == "tables.closing")
    fourth = [n for n, raw in enumerate(entries) if raw["kind"] == "game.start"][3]
    entries[at]["state"]["tables_closing"] = entries[at]["record"]["at"] = entries[at]["time"]
    assert list(found_in(entries)) == [fourth + 1]
    assert "after the last 3 rounds" in found_in(entries)[fourth + 1]


@pytest.mark.requirement("S-55")
def test_the_audit_names_a_closing_by_nobody_and_one_that_was_never_announced(tables):
    (room,) = tables(ROULETTE)
    fill_in(room, "close_tables", minutes=60)
    fill_in(room, "open_tables")
    entries = raws(room)
    at = next(n for n, raw in enumerate(entries) if raw["kind"] == "tables.closing")
    assert len(found_in(without(entries, at))) == 1
    entries[at]["record"]["persons"] = []
    assert at + 1 in found_in(entries)
