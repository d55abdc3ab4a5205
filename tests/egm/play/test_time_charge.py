"""A poker room may charge each player for playing time: at the start of a game, once per period, from money only."""

import copy
from functools import partial

import pytest
from rigs.cards import script_cards
from rigs.lies import audit_findings, read_signed_entries
from rigs.positions import open_positions
from rigs.three_levels import write_profile
from rigs.timed_room import write_timed_room
from rigs.transfers import transfer_in

from egm.kernel.events import EventType, State
from egm.kernel.messages import DecisionRequest
from egm.play import time_charge
from egm.play.keys import PlayKey
from egm.play.records.protection import SessionRecord
from egm.play.time_charge import TIME_CHARGE_ACCOUNT, iter_time_charge_notices
from egm.seats.decisions import apply_recorded_steps, decide_overdue_turns
from egm.seats.table import SharedTables
from egm.testing.clearing import clear_with_decisions
from meters import open_view
from paytables import DefinitionError
from paytables.game import load_game
from tools.audit.games import GameFiles
from tools.audit.statement import compute_statement
from tools.audit.verify import Auditor

CENTS, BILL_CENTS, CHARGE_CENTS, STACK = 25, 10_000, 500, 160
#: Of two players the button has the first cards; then the board.
CARDS = "As 7h Kd 2c 9s 8d 3h Qc Jd"


@pytest.fixture
def room_file(tmp_path):
    """A room with a charge of 20 credits for 30 minutes."""
    return write_timed_room(tmp_path)


@pytest.fixture
def tables(tmp_path, room_file):
    """Two positions at the timed room."""
    with open_positions(tmp_path / "state") as start:
        yield partial(start, str(room_file), count=2)


def lay(rig, stack=STACK):
    rig.engine.handle(EventType.SELECT_BET, value=stack, options={"bets": {"stack": stack}})
    rig.engine.handle(EventType.PLAY)


def table_of(rooms):
    return rooms[0].machine.component(SharedTables)


def close(rooms):
    machine = rooms[0].machine
    table_of(rooms).close_betting(machine.games[machine.selection.game_id].digest)
    apply_recorded_steps(table_of(rooms))
    decide_overdue_turns(table_of(rooms))


def play(rooms, stack=STACK):
    """Play a game in which the button folds at once and loses its small blind of 4 credits."""
    for rig in rooms:
        rig.machine.random_service = script_cards(CARDS, decks=1)
        lay(rig, stack)
        assert rig.state is State.BETTING, rig.notice
    close(rooms)
    (deciding_rig,) = (
        rig
        for rig in rooms
        if isinstance(rig.hands.messages[-1], DecisionRequest) and rig.hands.messages[-1].options
    )
    deciding_rig.engine.handle(EventType.CHOOSE, value="fold")
    apply_recorded_steps(table_of(rooms))
    for rig in rooms:
        rig.report_shown()
        assert rig.state is State.IDLE, rig.notice


def read_time_charges(rooms):
    values = [rooms[0].journal.meters().select(position=n).values for n in (1, 2)]
    return [value["time_charges"] for value in values]


def list_charge_notices(rig):
    return [(notice.code, *notice.values.values()) for notice in iter_time_charge_notices(rig.machine)]


@pytest.mark.requirement("S-35", "P-04")
def test_a_period_that_ends_while_a_game_starts_is_charged_by_a_later_game(tables, room_file, monkeypatch):
    """Regression: with no credit left for the charge, the machine stopped in the middle of the round's start."""
    rooms = tables()
    for rig in rooms:
        rig.insert(BILL_CENTS)
    play(rooms)
    rig, other = sorted(rooms, key=lambda each: each.credit_cents)
    other.insert(BILL_CENTS)
    stack = rig.credit_cents // CENTS
    rooms[0].clock.pass_seconds(30 * 60 - 1)

    def collect_at_the_end_of_the_period(machine, game):
        rooms[0].clock.pass_seconds(int(machine is rig.machine))
        time_charge.collect_time_charge(machine, game)

    monkeypatch.setattr("egm.play.rounds.collect_time_charge", collect_at_the_end_of_the_period)
    play(rooms, stack)
    assert read_time_charges(rooms)[rig.machine.position.number - 1] == CHARGE_CENTS
    assert list_charge_notices(rig) == [("time_charge_due", CHARGE_CENTS, 30)]
    assert Auditor(GameFiles([room_file])).audit_entries(rooms[0].journal.iter_bodies()).findings == []


@pytest.mark.requirement("S-35", "P-04")
def test_the_first_game_of_each_period_takes_the_charge_and_the_next_ones_do_not(tables, tmp_path):
    rooms = tables()
    for rig in rooms:
        assert list_charge_notices(rig) == []  # nobody is here
        rig.insert(BILL_CENTS)
        assert list_charge_notices(rig) == [("time_charge_due", CHARGE_CENTS, 30)]
    play(rooms)
    assert read_time_charges(rooms) == [CHARGE_CENTS, CHARGE_CENTS]
    assert sum(rig.credit_cents for rig in rooms) == 2 * (BILL_CENTS - CHARGE_CENTS)
    assert [list_charge_notices(rig) for rig in rooms] == [[], []]
    rooms[0].clock.pass_seconds(30 * 60 - 1)
    play(rooms)
    assert read_time_charges(rooms) == [CHARGE_CENTS, CHARGE_CENTS]
    rooms[0].clock.pass_seconds(1)
    assert list_charge_notices(rooms[1]) == [("time_charge_due", CHARGE_CENTS, 30)]
    play(rooms)
    assert read_time_charges(rooms) == [2 * CHARGE_CENTS, 2 * CHARGE_CENTS]
    values = rooms[0].journal.meters().values
    assert values["coin_in"] == 6 * STACK * CENTS, "a charge is no wager"
    rooms[0].journal.self_audit()
    (period,) = compute_statement(rooms[0].journal.entries(), "day", position=1).values()
    won_cents = period["coin_in"] - period["coin_out"] - period["hand_paid"]
    assert period["house_win"] == won_cents + 2 * CHARGE_CENTS
    rooms[0].close()
    with open_view(tmp_path / "state") as view:
        assert Auditor(GameFiles()).audit_entries(view.iter_bodies()).findings == []


@pytest.mark.requirement("S-35")
def test_a_player_who_cannot_pay_stakes_and_charge_is_informed_and_keeps_the_credit(tables):
    rooms = tables()
    rooms[1].insert(BILL_CENTS)
    rooms[0].insert(2000).insert(2000)  # the least stakes are 4,000
    lay(rooms[0])
    assert (rooms[0].state, rooms[0].credit_cents) == (State.IDLE, 4000)
    assert rooms[0].notice == "refused.time_charge_is_covered"
    rooms[0].insert(500)
    play(rooms)
    assert read_time_charges(rooms) == [CHARGE_CENTS, CHARGE_CENTS]


@pytest.mark.requirement("S-35")
def test_stakes_that_leave_no_credit_for_the_time_charge_are_not_played(tables):
    rooms = tables()
    for rig in rooms:
        rig.insert(BILL_CENTS)
        lay(rig)
    rooms[0].engine.handle(
        EventType.SELECT_BET, value=BILL_CENTS // CENTS, options={"bets": {"stack": BILL_CENTS // CENTS}}
    )
    close(rooms)
    assert [(rig.state, rig.credit_cents) for rig in rooms] == [(State.IDLE, BILL_CENTS)] * 2
    assert read_time_charges(rooms) == [0, 0]


@pytest.mark.requirement("S-35")
def test_promotional_credit_that_can_only_be_played_pays_no_charge(tables):
    rooms = tables()
    transfer_in(rooms[0], restricted=BILL_CENTS)
    lay(rooms[0])
    assert rooms[0].notice == "refused.time_charge_is_covered"
    rooms[0].insert(500)
    rooms[1].insert(BILL_CENTS)
    play(rooms)
    moved = [
        (part.source, part.amount_cents)
        for entry in rooms[0].journal.entries("room.time_charged")
        for part in entry.transfers
        if part.target == TIME_CHARGE_ACCOUNT
    ]
    assert sorted(moved) == [("credit:1:cashable", CHARGE_CENTS), ("credit:2:cashable", CHARGE_CENTS)]


@pytest.mark.requirement("S-35", "N-03")
def test_the_charge_counts_towards_the_cost_of_the_players_session(tables, tmp_path):
    rooms = tables(profile=write_profile(tmp_path, "[coins]", "[protection]\nown_limits = true\n\n[coins]"))
    for rig in rooms:
        rig.insert(BILL_CENTS)
    play(rooms)
    sessions = [rig.machine.memory.read(SessionRecord, PlayKey.SESSION) for rig in rooms]
    assert [BILL_CENTS - rig.credit_cents for rig in rooms] == [session.spent_cents for session in sessions]
    assert sum(session.spent_cents for session in sessions) == 2 * CHARGE_CENTS
    rooms[0].close()
    with open_view(tmp_path / "state") as view:
        assert Auditor(GameFiles()).audit_entries(view.iter_bodies()).findings == []


@pytest.mark.requirement("S-35", "A-05", "A-08")
@pytest.mark.parametrize("is_cleared", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_paid_time_survives_a_restart_and_a_memory_clear(tables, tmp_path, is_cleared):
    rooms = tables()
    for rig in rooms:
        rig.insert(BILL_CENTS)
    play(rooms)
    wall = rooms[0].clock.wall
    rooms[0].close()
    if is_cleared:
        clear_with_decisions(tmp_path / "state")
    rooms = tables(wall_time=wall)
    play(rooms)
    assert read_time_charges(rooms) == (
        [0, 0] if is_cleared else [CHARGE_CENTS, CHARGE_CENTS]
    )  # meters since the clear


@pytest.mark.requirement("S-35", "E-13")
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"amount_cents": 525}, "the definition states 500 cents for 30 minutes"),
        ({"minutes": 29}, "the definition states 500 cents for 30 minutes"),
        ({"until": "2026-01-01T00:29:59+00:00"}, "is not 30 minutes after the game's start"),
        ({"play_id": "another"}, "play_id"),
    ],
)
def test_the_audit_names_another_amount_time_or_game(tables, change, reason):
    rooms = tables()
    for rig in rooms:
        rig.insert(BILL_CENTS)
    play(rooms)
    entries = read_signed_entries(rooms[0])
    index = next(n for n, raw in enumerate(entries) if raw["kind"] == "room.time_charged")
    entries[index]["record"] |= change
    if "until" in change:
        entries[index]["state"]["time_charge"]["until"] = change["until"]
    if "amount_cents" in change:
        entries[index]["transfers"][0][2] = change["amount_cents"]
    assert reason in audit_findings(entries)[index + 1]


@pytest.mark.requirement("S-35", "E-13")
def test_the_audit_names_a_second_charge_for_time_that_is_paid(tables):
    rooms = tables()
    for rig in rooms:
        rig.insert(BILL_CENTS)
    play(rooms)
    rooms[0].clock.pass_seconds(30 * 60)
    play(rooms)
    entries = read_signed_entries(rooms[0])
    first, second = [
        n
        for n, raw in enumerate(entries)
        if raw["kind"] == "room.time_charged" and "time_charge" in raw["state"]
    ]
    later = copy.deepcopy(entries)
    later[first]["record"]["until"] = later[first]["state"]["time_charge"]["until"] = (
        "2026-01-01T00:30:30+00:00"
    )
    assert "not 30 minutes after the game's start" in audit_findings(later)[first + 1]
    assert "was already paid" in audit_findings(later)[second + 1]


@pytest.mark.requirement("S-35", "C-10:a")
def test_the_pay_table_states_the_charge_in_both_languages(room_file):
    rows = load_game(str(room_file)).rules.definition.format_pay_table_rows()
    assert (
        "Charge for the time played: 20 credits of each player, when a game starts, for 30 min" in rows["en"]
    )
    assert (
        "Commission pour le temps de jeu : 20 crédits de chaque joueur, au début d'une partie, pour 30 min"
        in rows["fr"]
    )
    library = load_game("quebec-texas-holdem-room").rules
    assert library.time_charge is None
    assert "time played" not in " ".join(library.definition.format_pay_table_rows()["en"])


@pytest.mark.parametrize(("key", "value"), [("credits", 0), ("minutes", 0), ("minutes", 241)])
def test_a_time_charge_of_zero_or_for_no_time_is_refused(room_file, key, value):
    terms = {"credits": 20, "minutes": 30}
    text = room_file.read_text(encoding="utf-8")
    room_file.write_text(text.replace(f"{key} = {terms[key]}", f"{key} = {value}"), encoding="utf-8")
    with pytest.raises(DefinitionError, match=rf"time_charge\.{key}"):
        load_game(str(room_file))
