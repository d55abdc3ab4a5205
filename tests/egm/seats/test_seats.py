"""Several positions play one round: one betting time and one draw, with separate wagers, wins and hand-pays."""

import asyncio
import re
from copy import deepcopy
from dataclasses import replace

import pytest

from egm.app.features import FEATURES
from egm.app.view import build_snapshot
from egm.devices.interface import PrintState
from egm.errors import InvariantError
from egm.kernel.events import EventType, State
from egm.kernel.services import MachineContext
from egm.play.records.game_record import RecordedStep
from egm.play.records.games import find_open_game
from egm.play.shared_round import PositionRounds, SharedRound
from egm.seats.feature import BettingClock, iter_notices
from egm.seats.table import SharedTables, TableEvent, compute_betting_seconds_left
from egm.testing.machine import ScriptedGenerator
from meters import open_view
from meters.entry import decode
from paytables.definition import read_source
from tools.audit.games import GameAudit, GameFiles
from tools.audit.verify import Auditor

GAME = "quebec-roulette-french"
SEATS = 4


def table_of(rigs):
    return rigs[0].machine.component(SharedTables)


def no_more_bets(rigs):
    table_of(rigs).close_betting(rigs[0].machine.games[GAME].digest)


def join(rig, spot, credits_=5):
    rig.engine.handle(EventType.SELECT_BET, value=credits_, options={"bets": {spot: credits_}})
    assert rig.machine.selection.options == {"bets": {spot: credits_}}
    rig.engine.handle(EventType.PLAY)


SPOTS = ("red", "black", "dozen-1", "straight-17")


@pytest.mark.requirement("P-05", "O-06")
def test_a_seat_that_has_placed_its_bets_waits_and_has_wagered_nothing(seats):
    first, second, *_ = rigs = seats()
    for rig in rigs:
        rig.insert(2000)
    join(first, SPOTS[0])
    assert (first.state, second.state) == (State.BETTING, State.IDLE)
    assert (first.credit_cents, find_open_game(first.machine)) == (2000, None)
    assert first.journal.meters().get_value("coin_in") == 0
    assert [(n.code, n.values) for n in iter_notices(second.machine)] == [("bets_close", {"seconds": 30})]
    assert [(n.code, n.values) for n in iter_notices(first.machine)] == [("bets_placed", {"seconds": 30})]
    first.clock.pass_seconds(22.5)
    assert [n.values["seconds"] for n in iter_notices(second.machine)] == [8]


def test_every_seat_plays_the_same_numbers_with_its_own_wager(seats):
    rigs = seats()
    for number, rig in enumerate(rigs[:3], 1):
        rig.insert(2000)
        join(rig, SPOTS[number - 1])
    no_more_bets(rigs)
    assert [rig.state for rig in rigs] == [State.PLAYING] * 3 + [State.IDLE]
    games = [find_open_game(rig.machine) for rig in rigs[:3]]
    assert len({game.play_id for game in games}) == 3
    assert len({game.round_id for game in games}) == 1
    assert games[0].round_id
    assert len({game.steps for game in games}) == 1
    assert len({game.outcome.display["pocket"] for game in games}) == 1
    for rig, game in zip(rigs, games, strict=False):
        rig.report_shown()
        assert rig.state is State.IDLE
        assert rig.credit_cents == 2000 - game.wager_cents + game.win_cents
    rigs[0].journal.self_audit()


@pytest.mark.requirement("B-01")
def test_the_audit_requires_one_draw_for_all_seats_of_a_round(seats, tmp_path):
    rigs = seats()
    for number, rig in enumerate(rigs, 1):
        rig.insert(2000)
        join(rig, SPOTS[number - 1])
    no_more_bets(rigs)
    for rig in rigs:
        rig.report_shown()
    rigs[0].close()
    with open_view(tmp_path) as view:
        bodies = list(view.iter_bodies())
    assert Auditor(GameFiles()).audit_entries(iter(bodies)).findings == []
    found = []
    audit = GameAudit(GameFiles(), lambda _, reason: found.append(reason))
    starts = [entry for entry in map(decode, bodies) if entry.kind == "game.start"]
    record = deepcopy(starts[2].transaction.record)
    record["steps"][0]["draws"][0][1] += 1
    for entry in (*starts[:2], starts[2]._replace(transaction=replace(starts[2].transaction, record=record))):
        audit.check_entry(entry)
    audit.check_entry(starts[1])
    reasons = [reason for reason in found if "round" in reason]
    assert [
        "differs from the one that another seat recorded" in reasons[0],
        "position 2 or its seat" in reasons[1],
    ] == [True, True]


@pytest.mark.requirement("O-06")
def test_a_hand_pay_of_one_seat_holds_nobody_else(seats):
    first, second, *_ = rigs = seats()
    for rig in (first, second):
        for _ in range(5):
            rig.insert(2000)
    stop_index = first.machine.games[GAME].build_presentation()["wheel"].index("17")
    for rig in rigs:
        rig.machine.random_service = ScriptedGenerator(stop_index, 3)
    join(first, "straight-17", 100)
    join(second, "red")
    no_more_bets(rigs)
    for rig in (first, second):
        rig.report_shown()
    assert (first.state, second.state) == (State.HANDPAY, State.IDLE)
    second.engine.handle(EventType.PLAY)
    assert second.state is State.BETTING
    no_more_bets(rigs)
    second.report_shown()
    assert (first.state, second.state) == (State.HANDPAY, State.IDLE)
    first.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (first.state, first.credit_cents) == (State.IDLE, 0)
    assert first.journal.meters().get_value("att_jackpot") == 100 * 36 * 100


def test_a_position_alone_at_its_game_plays_at_once(seats):
    first, second, *_ = rigs = seats()
    first.insert(2000)
    join(first, SPOTS[0])
    assert table_of(rigs).have_all_positions_bet(first.machine.games[GAME].digest)
    second.insert(100)
    assert not table_of(rigs).have_all_positions_bet(first.machine.games[GAME].digest)


def test_cash_out_withdraws_the_bets(seats):
    first, *_ = rigs = seats()
    first.insert(2000)
    join(first, SPOTS[0])
    first.engine.handle(EventType.CASH_OUT)
    assert first.state is State.PAYING
    assert table_of(rigs).betting_deadline_ns_by_digest == {}
    no_more_bets(rigs)
    for state in (PrintState.PRINTING, PrintState.BARCODE_DONE, PrintState.TAKEN):
        first.report_print_state(state)
    assert (first.state, first.credit_cents, first.journal.meters().get_value("coin_in")) == (
        State.IDLE,
        0,
        0,
    )


def test_a_seat_with_a_fault_is_left_out_and_informed(seats):
    first, second, *_ = rigs = seats()
    for rig in (first, second):
        rig.insert(2000)
        join(rig, SPOTS[0])
    second.engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
    assert (first.state, second.state) == (State.BETTING, State.TILT)
    no_more_bets(rigs)
    assert first.state is State.PLAYING
    assert (second.credit_cents, find_open_game(second.machine), second.notice) == (
        2000,
        None,
        "bets_not_taken",
    )


def test_a_restart_during_the_betting_time_returns_all_credits(seats):
    rigs = seats()
    for rig in rigs:
        rig.insert(2000)
        join(rig, SPOTS[0])
    rigs[0].close()
    restarted = seats()
    assert [(rig.state, rig.credit_cents) for rig in restarted] == [(State.IDLE, 2000)] * SEATS


def test_a_seat_with_other_draws_than_its_round_is_refused(seats):
    first, *_ = seats()
    first.insert(2000)
    join(first, SPOTS[0])
    drawn = RecordedStep(choice=None, draws=((38, 17, "ball"),))
    first.machine.component(PositionRounds).starting_round = SharedRound("round-1", {}, [drawn])
    with pytest.raises(InvariantError, match=r"the game draws below 37 for spin, the record has 17 below 38"):
        first.engine.handle(TableEvent.NO_MORE_BETS)


@pytest.mark.requirement("P-05")
def test_each_round_has_a_whole_betting_time_that_no_later_bet_makes_longer(seats):
    first, second, *_ = rigs = seats()
    for rig in (first, second):
        rig.insert(2000)
    for _ in range(2):
        join(first, SPOTS[0])
        assert compute_betting_seconds_left(first.machine) == 30
        first.clock.pass_seconds(20)
        join(second, SPOTS[1])
        assert compute_betting_seconds_left(first.machine) == 10
        no_more_bets(rigs)
        assert [rig.state for rig in (first, second)] == [State.PLAYING] * 2
        assert compute_betting_seconds_left(first.machine) is None
        for rig in (first, second):
            rig.report_shown()


@pytest.mark.requirement("P-05")
def test_the_betting_time_goes_on_for_the_others_when_one_takes_the_bets_back(seats):
    first, second, *_ = seats()
    for rig in (first, second):
        rig.insert(2000)
    join(first, SPOTS[0])
    first.clock.pass_seconds(20)
    join(second, SPOTS[1])
    first.engine.handle(EventType.CASH_OUT)
    assert (first.state is State.BETTING, second.state) == (False, State.BETTING)
    assert compute_betting_seconds_left(second.machine) == 10


@pytest.mark.requirement("P-05")
def test_the_clock_ends_the_betting_time_and_counts_it_down(seats):
    first, second, *_ = rigs = seats()
    events = []
    for rig in rigs:
        seat = table_of(rigs).position_by_number[rig.machine.position.number]
        seat.submit_event = lambda event, handle=seat.submit_event: (events.append(event.name), handle(event))
    handle = table_of(rigs).position_by_number[1].submit_event
    clock = BettingClock(MachineContext(first.engine, None, None, first.clock, handle))
    for rig in (first, second):
        rig.insert(2000)
    join(first, SPOTS[0])

    async def session():
        running = asyncio.create_task(clock.run())
        await asyncio.sleep(0)
        assert events == [EventType.SHARED_MEMORY_CHANGED] * SEATS
        first.clock.pass_seconds(31)
        clock.process_change(None)
        for _ in range(9):  # it hears of it, and looks
            await asyncio.sleep(0)
        running.cancel()

    asyncio.run(session())
    assert events[-1] is TableEvent.NO_MORE_BETS
    assert (first.state, second.state) == (State.PLAYING, State.IDLE)


def test_shared_tables_are_a_feature_of_the_machine():
    assert "seats" in [feature.name for feature in FEATURES.features]


def test_shared_round_has_one_result_and_is_not_sent_to_seats_that_still_see_it_spin(seats):
    first, second, other, *_ = rigs = seats()
    for rig in rigs[:2]:
        rig.insert(2000)
        join(rig, "red")
    no_more_bets(rigs)
    result = (find_open_game(first.machine).outcome.display["result"],)

    def read_results(rig):
        return build_snapshot(rig.engine).last_results

    first.report_shown()
    assert [read_results(rig) for rig in (first, second, other)] == [result, (), result]
    second.report_shown()
    assert [read_results(rig) for rig in (first, second, other)] == [result] * 3


def write_table_with_seats(folder, name, seats):
    """Write a copy of a table game with this number of seats; return its path."""
    text = read_source(name).path.read_text(encoding="utf-8")
    found = re.sub(r"(?m)^seats = \d+$", f"seats = {seats}", text)
    assert found != text, f"{name} names no seats"
    path = folder / f"{name}.toml"
    path.write_text(found, encoding="utf-8")
    return str(path)


@pytest.mark.requirement("S-31:b")
@pytest.mark.parametrize(
    ("name", "spot"),
    [("quebec-blackjack", "main"), ("quebec-baccarat", "player"), (GAME, "red"), ("quebec-craps", "pass")],
)
def test_no_more_positions_play_at_a_table_than_it_has_seats(seats, tmp_path, name, spot):
    """The last player finds no free seat: nothing is wagered, and the screen says why."""
    rigs = seats(write_table_with_seats(tmp_path, name, 2), count=3)
    for rig in rigs:
        rig.insert(2000)
        join(rig, spot, 20)
    assert [rig.state for rig in rigs] == [State.BETTING] * 3
    table_of(rigs).close_betting(rigs[0].machine.games[name].digest)
    last = rigs[-1]
    assert [find_open_game(rig.machine) is None for rig in rigs] == [False, False, True]
    assert (last.state, last.credit_cents, last.notice) == (State.IDLE, 2000, "bets_not_taken")
