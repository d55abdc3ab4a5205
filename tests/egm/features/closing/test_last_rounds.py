"""Before its tables close, the machine announces the last half hour and the last three rounds, then stops bets."""

import pytest
from rigs.forms import fill_in
from rigs.lies import audit_findings, read_signed_entries, remove_entries

from egm.app.features import SERVICE_MENU
from egm.features.closing.feature import ClosingNoticeService
from egm.features.closing.keys import ClosingKey
from egm.features.closing.last_rounds import iter_closing_notices
from egm.kernel.events import EventType, State
from egm.kernel.services import MachineContext
from egm.seats.decisions import apply_recorded_steps, decide_overdue_turns
from egm.seats.table import SharedTables
from egm.staff.form import FieldError
from egm.testing.machine import ScriptedGenerator
from meters import open_view
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

ROULETTE, CRAPS, REELS = "monaco-roulette-european", "monaco-craps", "maple-classic"
WHEEL, CHEMIN = "river-wheel", "monaco-chemin-de-fer"
CREDIT_CENTS = 10_000
MANAGER = {"person": "5", "persons": ("5",)}


def bet(rig, spots=None):
    """Place bets on a table, and play."""
    bets = spots or {"dozen-1": 5}
    rig.engine.handle(EventType.SELECT_BET, value=sum(bets.values()), options={"bets": bets})
    rig.engine.handle(EventType.PLAY)


def play(rig, spots=None):
    """Play a round to its end; return False if it was refused."""
    bet(rig, spots)
    if rig.state is not State.PLAYING:
        return False
    rig.report_shown()
    return True


def list_closing_notices(rig):
    """Return the notices about the closing that the player sees."""
    return [(notice.code, *notice.values.values()) for notice in iter_closing_notices(rig.machine)]


def audit(rig, folder):
    rig.journal.self_audit()
    rig.close()
    with open_view(folder) as view:
        return Auditor(GameFiles()).audit_entries(view.iter_bodies()).findings


@pytest.mark.requirement("S-55")
def test_the_last_half_hour_and_the_last_three_rounds_are_announced(tables, tmp_path):
    (rig,) = tables(ROULETTE)
    rig.insert(CREDIT_CENTS)
    fill_in(rig, "close_tables", **MANAGER, minutes=45)
    assert list_closing_notices(rig) == []
    rig.clock.pass_seconds(15 * 60)
    assert list_closing_notices(rig) == [("tables_close", 30)]
    assert play(rig)
    rig.clock.pass_seconds(29 * 60 + 1)
    assert list_closing_notices(rig) == [("tables_close", 1)]
    rig.clock.pass_seconds(60)
    for notice in (("last_rounds", 3), ("last_rounds", 2), ("last_round",)):
        assert list_closing_notices(rig) == [notice]
        assert play(rig)
    assert list_closing_notices(rig) == [("table_closes",)]
    before_cents = rig.credit_cents
    assert not play(rig)
    assert (rig.notice, rig.credit_cents) == ("table_closed", before_cents)
    assert audit(rig, tmp_path) == []


@pytest.mark.requirement("S-55")
def test_a_restart_and_another_game_change_nothing_and_the_tables_open_again(tables, tmp_path):
    (rig,) = tables(ROULETTE, REELS)
    rig.insert(CREDIT_CENTS)
    fill_in(rig, "close_tables", **MANAGER, minutes=0)
    assert play(rig)
    rig.close()
    (rig,) = tables(ROULETTE, REELS)
    assert list_closing_notices(rig) == [("last_rounds", 2)]
    assert play(rig)
    assert play(rig)
    assert not play(rig)
    rig.engine.handle(EventType.SELECT_GAME, value=REELS)
    assert list_closing_notices(rig) == []
    rig.play()
    rig.report_shown()
    rig.engine.handle(EventType.SELECT_GAME, value=ROULETTE)
    assert fill_in(rig, "open_tables", **MANAGER) is None
    assert rig.machine.memory.get(ClosingKey.TABLES_CLOSING_TIME) is None
    assert list_closing_notices(rig) == []
    assert play(rig)
    assert fill_in(rig, "open_tables", **MANAGER) == "refused.closing_is_announced"
    assert audit(rig, tmp_path) == []


@pytest.mark.requirement("S-55")
def test_a_slot_machines_wheel_with_several_bets_is_no_table_and_plays_on(tables, tmp_path):
    """Regression: such wagers name their bets like a table's, and the audit reported a fourth round."""
    (rig,) = tables(WHEEL)
    rig.insert(CREDIT_CENTS)
    fill_in(rig, "close_tables", **MANAGER, minutes=0)
    area = rig.machine.games[WHEEL].build_presentation()["areas"][0]["id"]
    for _ in range(5):
        assert play(rig, {area: 1})
        if rig.state is State.HANDPAY:
            rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert audit(rig, tmp_path) == []


@pytest.mark.requirement("S-55")
def test_positions_of_one_table_have_three_rounds_together(tables, tmp_path):
    rooms = tables(ROULETTE, count=2)
    for rig in rooms:
        rig.insert(CREDIT_CENTS)
    fill_in(rooms[0], "close_tables", **MANAGER, minutes=0)
    for n in range(3):
        for rig in rooms if n else rooms[:1]:
            bet(rig)
            assert rig.state is State.BETTING
        rooms[0].machine.component(SharedTables).close_betting(rooms[0].machine.games[ROULETTE].digest)
        for rig in rooms if n else rooms[:1]:
            rig.report_shown()
    assert [list_closing_notices(rig) for rig in rooms] == [[("table_closes",)]] * 2
    bet(rooms[1])
    assert (rooms[1].state, rooms[1].notice) == (State.IDLE, "table_closed")
    assert audit(rooms[0], tmp_path) == []


@pytest.mark.requirement("S-55")
def test_players_of_chemin_de_fer_are_informed_of_each_last_round(tables, tmp_path):
    """A round for which nobody can be the bank is not played, and does not count as one of the three."""
    rooms = tables(CHEMIN, count=4)
    for rig in rooms:
        rig.insert(CREDIT_CENTS)
    fill_in(rooms[0], "close_tables", **MANAGER, minutes=30)
    assert [list_closing_notices(rig) for rig in rooms] == [[("tables_close", 30)]] * 4
    rooms[0].clock.pass_seconds(30 * 60)
    hold_coup(rooms, [{"stake": 5}] * 4)
    assert {rig.notice for rig in rooms} == {"no_bank"}
    for notice in (("last_rounds", 3), ("last_rounds", 2), ("last_round",)):
        assert [list_closing_notices(rig) for rig in rooms] == [[notice]] * 4
        hold_coup(rooms, [{"bank": 20}] * 2 + [{"stake": 5}] * 2)
    assert [list_closing_notices(rig) for rig in rooms] == [[("table_closes",)]] * 4
    before_cents = [rig.credit_cents for rig in rooms]
    bet(rooms[1], {"bank": 20})
    assert (rooms[1].state, rooms[1].notice) == (State.IDLE, "table_closed")
    assert [rig.credit_cents for rig in rooms] == before_cents
    assert audit(rooms[0], tmp_path) == []


def hold_coup(rooms, bets):
    """Play a round of chemin de fer to its end; the punter draws no card."""
    table = rooms[0].machine.component(SharedTables)
    for rig, spots in zip(rooms, bets, strict=True):
        bet(rig, spots)
        assert rig.state is State.BETTING
    table.close_betting(rooms[0].machine.games[CHEMIN].digest)
    apply_recorded_steps(table)
    decide_overdue_turns(table)
    for rig in rooms:
        if rig.state is State.PLAYING and getattr(rig.hands.messages[-1], "options", ()):
            rig.engine.handle(EventType.CHOOSE, value="stand")
    apply_recorded_steps(table)
    for rig in rooms:
        if rig.state is State.PLAYING:
            rig.report_shown()


@pytest.mark.requirement("S-55")
def test_standing_bets_are_played_on_after_the_last_round(tables, tmp_path):
    """A pass line bet with a point belongs to its player until the dice decide it."""
    (rig,) = tables(CRAPS)
    rig.insert(CREDIT_CENTS)
    fill_in(rig, "close_tables", **MANAGER, minutes=0)
    for total in ((3, 3), (2, 3), (2, 3), (2, 3)):  # the point is six, then three throws that do not decide
        rig.machine.random_service = ScriptedGenerator(*(value - 1 for value in total))
        assert play(rig, {"pass": 10} if total == (3, 3) else {"field": 10})
    rig.machine.random_service = ScriptedGenerator(2, 2)  # three and three: the point is made
    assert play(rig, {"field": 10})
    assert list_closing_notices(rig) == [("table_closes",)]
    assert not play(rig, {"pass": 10})
    assert audit(rig, tmp_path) == []


def test_the_clock_notifies_the_machine_each_minute_of_the_last_half_hour(tables):
    (rig,) = tables(ROULETTE)
    fill_in(rig, "close_tables", **MANAGER, minutes=31)
    clock = ClosingNoticeService(MachineContext(rig.engine, None, None, rig.clock, rig.submit_event))
    waits = []
    for seconds in (0, 60, 30, 31 * 60):
        rig.clock.pass_seconds(seconds)
        waits.append(clock.compute_seconds_to_wait())
    assert waits == [60, pytest.approx(0.1), pytest.approx(30.1), None]


def test_a_form_with_invalid_minutes_is_refused():
    form = next(form for form in SERVICE_MENU.forms if form.id == "close_tables")
    for text, reason in (
        ("", "missing"),
        ("-1", "not_digits"),
        ("soon", "not_digits"),
        ("1441", "out_of_range"),
    ):
        with pytest.raises(FieldError, match="minutes") as error:
            form.fields[0].parse_text(text)
        assert error.value.code == reason


@pytest.mark.requirement("S-55")
def test_the_audit_names_the_fourth_round_after_a_closing_time_announced_earlier(tables):
    (rig,) = tables(ROULETTE)
    rig.insert(CREDIT_CENTS)
    fill_in(rig, "close_tables", **MANAGER, minutes=60)
    for _ in range(4):
        rig.clock.pass_seconds(60)
        assert play(rig)
    entries = read_signed_entries(rig)
    index = next(n for n, raw in enumerate(entries) if raw["kind"] == "tables.closing")
    fourth = [n for n, raw in enumerate(entries) if raw["kind"] == "game.start"][3]
    entries[index]["state"]["tables_closing"] = entries[index]["record"]["at"] = entries[index]["time"]
    assert list(audit_findings(entries)) == [fourth + 1]
    assert "after the last 3 rounds" in audit_findings(entries)[fourth + 1]


@pytest.mark.requirement("S-55")
def test_the_audit_names_a_closing_by_nobody_and_one_that_was_never_announced(tables):
    (rig,) = tables(ROULETTE)
    fill_in(rig, "close_tables", **MANAGER, minutes=60)
    fill_in(rig, "open_tables", **MANAGER)
    entries = read_signed_entries(rig)
    index = next(n for n, raw in enumerate(entries) if raw["kind"] == "tables.closing")
    assert len(audit_findings(remove_entries(entries, index))) == 1
    entries[index]["record"]["persons"] = []
    assert index + 1 in audit_findings(entries)
