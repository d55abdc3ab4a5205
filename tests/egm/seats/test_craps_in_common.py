"""Several positions at one craps table: one throw for all, a common point, and separate standing bets."""

import random
from copy import deepcopy
from dataclasses import replace

import pytest
from rigs.craps_text import (
    MONACO,
    POINTS,
    QUEBEC,
    apply_changes,
    compute_take_down_return,
    propose_changes,
    settle_throw,
)

from egm.kernel.events import EventType, State
from egm.play.records.games import find_open_game
from egm.play.records.tables import can_join_shared_round, list_tables_with_standing_bets, read_shared_state
from egm.play.standing_bets import read_table_view
from egm.seats.feature import iter_notices
from egm.seats.table import SharedTables
from egm.testing.clearing import clear_with_decisions
from egm.testing.machine import ScriptedGenerator
from meters import open_view
from meters.entry import decode
from paytables import load_game
from tools.audit.games import GameAudit, GameFiles
from tools.audit.verify import Auditor

CENTS = 25
FAULT = "bill_acceptor.cheat"


def digest_of(rig, game=QUEBEC):
    return rig.machine.games[game].digest


def script_throws(rooms, *numbers):
    """Script the next throws, whichever position's game draws them."""
    chance = ScriptedGenerator(*(number - 1 for number in numbers))
    for rig in rooms:
        rig.machine.random_service = chance
    return chance


def place_bets(rig, **bets):
    """Place bets and wait for the others; an underscore stands for a hyphen, and ``pass_`` for pass."""
    laid = {spot.rstrip("_").replace("_", "-"): credits_ for spot, credits_ in bets.items()}
    cost = sum(credits_ for credits_ in laid.values() if credits_ > 0)
    rig.engine.handle(EventType.SELECT_BET, value=cost, options={"bets": laid})
    rig.engine.handle(EventType.PLAY)
    return rig.state


def throw_dice(rooms, a, b, game=QUEBEC):
    """Close the betting, throw for all who play, and end each game; return the positions that played."""
    generator, dice_left = rooms[0].machine.random_service, script_throws(rooms, a, b).values
    rooms[0].machine.component(SharedTables).close_betting(digest_of(rooms[0], game))
    playing = [rig for rig in rooms if rig.state is State.PLAYING and find_open_game(rig.machine).round_id]
    games = [find_open_game(rig.machine) for rig in playing]
    assert dice_left == []
    assert len({game.round_id for game in games}) == 1
    assert {tuple(game.outcome.display["dice"]) for game in games} == {(a, b)}
    for rig in playing:
        rig.report_shown()
    for rig in rooms:
        rig.machine.random_service = generator
    return playing


def clear_fault(rig):
    rig.engine.handle(EventType.FAULT_CLEARED, code=FAULT)
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")


def read_standing_bets(rig):
    """Return a position's standing bets as credits by spot; check that the record has the same amount."""
    found = {}
    for table in list_tables_with_standing_bets(rig.machine):
        found |= {bet["spot"]: bet["credits"] for bet in table.table_state["bets"]}
        assert table.standing_bets_cents == sum(found.values()) * CENTS
    return found


def point_of(rig, game=QUEBEC):
    table_record = read_shared_state(rig.machine, digest_of(rig, game))
    return None if table_record is None else table_record["point"]


def check_books(rooms, folder):
    """Check that the accounts balance, and that the audit derives every game and table state."""
    rooms[0].journal.self_audit()
    rooms[0].close()
    with open_view(folder) as view:
        assert Auditor(GameFiles()).audit_entries(view.iter_bodies()).findings == []
        return list(view.iter_bodies())


def seat_players(seats, count=3, game=QUEBEC):
    rooms = seats(game, count=count)
    for rig in rooms:
        rig.insert(10_000)
    return rooms


@pytest.mark.requirement("B-01", "P-07")
def test_one_throw_decides_for_all_and_does_not_wait_for_silent_players(seats, tmp_path):
    first, second, third = rooms = seat_players(seats)
    assert place_bets(first, pass_=10) is State.BETTING
    assert place_bets(second, dontpass=10) is State.BETTING
    assert throw_dice(rooms, 4, 2) == [first, second]
    assert [point_of(rig) for rig in rooms] == [6] * 3
    _, shut, felt = read_table_view(third.machine)
    assert (felt.point, "pass" in shut, "come" in shut) == (6, True, False)
    third.engine.handle(EventType.SELECT_BET, value=10, options={"bets": {"pass": 10}})
    assert third.notice == "refused.bet_is_offered"  # a line bet waits for the come-out
    first.engine.handle(
        EventType.SELECT_BET, value=5, options={"bets": {"come": 5}}
    )  # chosen, and not placed
    assert place_bets(third, come=10, right_8=6) is State.BETTING
    before = [rig.credit_cents for rig in rooms]
    assert throw_dice(rooms, 5, 4) == rooms
    assert [rig.credit_cents for rig in rooms] == [before[0], before[1], before[2] - 16 * CENTS]
    assert [read_standing_bets(rig) for rig in rooms] == [
        {"pass": 10},
        {"dontpass": 10},
        {"come-9": 10, "right-8": 6},
    ]
    assert place_bets(second) is State.BETTING  # who has bets standing may ask for the throw with nothing new
    assert throw_dice(rooms, 3, 4) == rooms
    assert [rig.credit_cents for rig in rooms] == [
        before[0],
        before[1] + 20 * CENTS,
        before[2] - 16 * CENTS,
    ]
    assert [read_standing_bets(rig) for rig in rooms] == [{}] * 3
    assert point_of(third) is None
    meters = [first.journal.meters().select(position=n).values for n in (1, 2, 3)]
    assert [meter["games_played"] for meter in meters] == [3, 3, 2]
    assert [meter["coin_in"] for meter in meters] == [10 * CENTS, 10 * CENTS, 16 * CENTS]
    check_books(rooms, tmp_path)


def test_the_next_throw_waits_for_the_presentation_but_not_for_silent_players(seats):
    first, second, third = rooms = seat_players(seats)
    place_bets(first, pass_=10)
    place_bets(second, pass_=10)
    script_throws(rooms, 2, 2)
    table, digest = first.machine.component(SharedTables), digest_of(first)
    table.close_betting(digest)
    first.report_shown()
    assert table.must_next_round_wait(digest)
    second.report_shown()
    assert not table.must_next_round_wait(digest)
    place_bets(third, come=5)
    place_bets(first)
    assert (table.have_all_positions_bet(digest), table.compute_seconds_left(digest)) == (False, 20)
    first.clock.pass_seconds(20)
    assert table.compute_seconds_left(digest) == 0
    assert throw_dice(rooms, 2, 1) == rooms


@pytest.mark.requirement("O-06")
def test_a_player_who_cannot_play_keeps_bets_and_point_for_later(seats, tmp_path):
    first, second, third = rooms = seat_players(seats)
    for rig in rooms[:2]:
        place_bets(rig, pass_=10)
    throw_dice(rooms, 4, 2)
    second.engine.handle(EventType.FAULT_RAISED, code=FAULT)
    place_bets(first)
    assert throw_dice(rooms, 3, 4) == [first]
    place_bets(first, pass_=10)
    assert throw_dice(rooms, 2, 2) == [first]
    assert (read_standing_bets(second), read_standing_bets(first), point_of(first)) == (
        {"pass": 10},
        {"pass": 10},
        4,
    )
    clear_fault(second)
    assert (second.state, can_join_shared_round(second.machine, digest_of(second))) == (State.IDLE, False)
    assert [n.code for n in iter_notices(second.machine)] == ["bets_apart"]
    assert read_table_view(second.machine)[2].point == 6
    place_bets(third, come=5)
    assert throw_dice(rooms, 6, 4) == [first, third]  # not his throw
    script_throws(rooms, 4, 2)
    credit_cents = second.credit_cents
    assert place_bets(second, come=5) is State.PLAYING  # at once, without waiting for others
    assert find_open_game(second.machine).round_id == ""
    second.report_shown()
    assert (second.credit_cents, read_standing_bets(second)) == (credit_cents + 15 * CENTS, {"come-6": 5})
    assert point_of(first) == 4
    script_throws(rooms, 4, 2)
    place_bets(second)
    second.report_shown()
    assert (read_standing_bets(second), read_table_view(second.machine)[2].point) == ({}, 4)
    assert place_bets(second, come=5) is State.BETTING
    assert throw_dice(rooms, 2, 2) == rooms
    check_books(rooms, tmp_path)


@pytest.mark.requirement("D-15")
def test_bets_taken_down_between_throws_leave_the_others_point(seats, tmp_path):
    first, second, _ = rooms = seat_players(seats)
    place_bets(first, pass_=10, right_8=12)
    place_bets(second, dontpass=10)
    throw_dice(rooms, 4, 2)
    credit_cents = second.credit_cents
    second.engine.handle(EventType.CASH_OUT)
    assert (read_standing_bets(second), point_of(second)) == ({}, 6)
    assert second.state is State.PAYING
    assert first.journal.entries("table.returned")
    cents = first.credit_cents
    assert place_bets(first, right_8=-12) is State.BETTING
    assert throw_dice(rooms, 2, 1) == [first]
    assert (first.credit_cents, read_standing_bets(first)) == (cents + 12 * CENTS, {"pass": 10})
    first.engine.handle(EventType.CASH_OUT)
    assert (first.notice, read_standing_bets(first)) == ("bets_stay", {"pass": 10})
    assert credit_cents == 10_000 - 10 * CENTS
    check_books(rooms, tmp_path)


def test_a_series_of_throws_survives_its_players_and_a_restart(seats):
    first, second, _ = rooms = seat_players(seats)
    place_bets(first, dontpass=10)
    throw_dice(rooms, 4, 2)
    first.engine.handle(EventType.SELECT_BET, value=0, options={"bets": {}})
    first.engine.handle(EventType.CASH_OUT)
    assert [point_of(rig) for rig in rooms] == [6] * 3
    place_bets(second, come=5)
    throw_dice(rooms, 5, 5)
    first.close()
    restarted = seats(QUEBEC, count=3)
    assert [point_of(rig) for rig in restarted] == [6] * 3
    assert read_standing_bets(restarted[1]) == {"come-10": 5}
    assert place_bets(restarted[2], right_8=6) is State.BETTING
    assert throw_dice(restarted, 3, 4) == restarted[1:]
    assert [read_standing_bets(rig) for rig in restarted] == [{}] * 3


@pytest.mark.requirement("A-05", "D-15")
def test_a_memory_clear_keeps_each_players_bets_point_and_shown_throw(seats, tmp_path):
    first, second, third = rooms = seat_players(seats)
    for rig in rooms:
        place_bets(rig, pass_=10)
    throw_dice(rooms, 4, 2)
    second.engine.handle(EventType.FAULT_RAISED, code=FAULT)
    place_bets(first)
    throw_dice(rooms, 3, 4)
    place_bets(first, dontpass=10)
    place_bets(third, pass_=10)
    script_throws(rooms, 2, 2)
    first.machine.component(SharedTables).close_betting(digest_of(first))
    assert [rig.state for rig in rooms] == [State.PLAYING, State.TILT, State.PLAYING]
    first.close()
    clear_with_decisions(tmp_path)
    first, second, third = restarted = seats(QUEBEC, count=3)
    for rig in (first, third):
        rig.report_shown()
    clear_fault(second)
    assert [read_standing_bets(rig) for rig in restarted] == [{"dontpass": 10}, {"pass": 10}, {"pass": 10}]
    assert [can_join_shared_round(rig.machine, digest_of(rig)) for rig in restarted] == [True, False, True]
    assert [read_table_view(rig.machine)[2].point for rig in restarted] == [4, 6, 4]
    place_bets(third)
    assert throw_dice(restarted, 3, 1) == [first, third]
    assert [rig.credit_cents for rig in restarted] == [10_000 - 500, 10_000 - 250, 10_000 - 250 + 250]
    check_books(restarted, tmp_path)


@pytest.mark.requirement("B-01")
def test_the_audit_finds_other_dice_and_another_point(seats, tmp_path):
    first, second, _ = rooms = seat_players(seats)
    place_bets(first, pass_=10)
    place_bets(second, pass_=10)
    throw_dice(rooms, 4, 2)
    place_bets(second)
    throw_dice(rooms, 5, 4)
    bodies = check_books(rooms, tmp_path)
    entries = [entry for entry in map(decode, bodies) if entry.kind.startswith("game.")]
    starts = [n for n, entry in enumerate(entries) if entry.kind == "game.start"]
    key = next(key for key in entries[0].state if key.startswith("in_common:"))

    def found(index, change):
        record, state = deepcopy(entries[index].transaction.record), deepcopy(dict(entries[index].state))
        change(record, state)
        reasons = []
        audit = GameAudit(GameFiles(), lambda _, reason: reasons.append(reason))
        lie = replace(entries[index].transaction, record=record, state=state)
        for entry in (*entries[:index], entries[index]._replace(transaction=lie), *entries[index + 1 :]):
            audit.check_entry(entry)
        return "; ".join(reasons)

    def other_dice(record, _):
        record["steps"][0]["draws"][0][1] = 0

    def other_point(_, state):
        state[key] = {**state[key], "table": {"point": 8}}

    def other_table(record, _):
        record["table"]["point"] = 8

    assert found(starts[2], lambda *_: None) == ""
    assert "differs from the one that another seat recorded" in found(starts[3], other_dice)
    assert "state.in_common:" in found(starts[1], other_point)
    assert "stand on a shared table state that has changed since" in found(starts[1], other_point)
    assert "left by the game before it" in found(starts[3], other_table)


class Session:
    """Random players at one table, each compared with the rules of the text, to the cent."""

    SEATS = 3

    def __init__(self, seats, house, seed):
        self.seats, self.house, self.chance = seats, house, random.Random(seed)
        self.spots = [spot.id for spot in load_game(house).rules.list_spots()]
        self.credits = [0] * self.SEATS
        self.bets = [{} for _ in range(self.SEATS)]
        self.points = [None] * self.SEATS
        """The point each one's standing bets are on."""
        self.point, self.down = None, set()
        self.rounds = self.apart = 0
        self.begin()

    def begin(self):
        self.rooms = self.seats(self.house, count=self.SEATS)

    def point_of(self, n):
        return self.points[n] if self.bets[n] else self.point

    def offer(self, n):
        """Return a player's change of bets and the resulting bets; None for no change."""
        point = self.point_of(n)
        change = propose_changes(self.house, self.spots, point, self.bets[n], self.chance)
        laid = apply_changes(self.house, point, self.bets[n], change)
        cost = sum(credits_ for credits_ in change.values() if credits_ > 0)
        if laid is None or sum(laid.values()) * CENTS > 10_000 or self.chance.random() < 0.4:
            return None  # the profile's highest stake
        while self.credits[n] < cost * CENTS:
            self.rooms[n].insert(10_000)
            self.credits[n] += 10_000
        self.rooms[n].engine.handle(EventType.SELECT_BET, value=cost, options={"bets": change})
        assert self.rooms[n].machine.selection.options == {"bets": change}
        return change, laid, cost

    def settle(self, n, offered, numbers, point):
        change, laid, cost = offered or ({}, self.bets[n], 0)
        given, self.bets[n], _ = settle_throw(self.house, laid, point, (), *numbers)
        taken = sum(
            compute_take_down_return(spot, -credits_) for spot, credits_ in change.items() if credits_ < 0
        )
        self.credits[n] += int((sum(given.values()) + taken - cost) * CENTS)
        total = sum(numbers)
        after = total if total in POINTS else None
        self.points[n] = after if point is None else None if total in {7, point} else point

    def numbers(self):
        return self.chance.randint(1, 6), self.chance.randint(1, 6)

    def throw(self):
        """Place bets at some positions, close the betting, and compare every game with the rules of the text."""
        offers = {}
        for n, rig in enumerate(self.rooms):
            if n not in self.down and (offered := self.offer(n)) is not None:
                if self.bets[n] and self.points[n] != self.point:
                    self.play_apart(n, offered)
                    continue
                rig.engine.handle(EventType.PLAY)
                assert rig.state is State.BETTING, rig.notice
                offers[n] = offered
        if not offers:
            return
        point, numbers = self.point, self.numbers()
        playing = throw_dice(self.rooms, *numbers, self.house)
        due = {n for n in range(self.SEATS) if self.bets[n] and self.points[n] == point} - self.down
        assert playing == [self.rooms[n] for n in sorted(due | set(offers))]
        for n in due | set(offers):
            self.settle(n, offers.get(n), numbers, point)
            self.point = self.points[n]
        self.rounds += 1

    def play_apart(self, n, offered):
        rig, numbers = self.rooms[n], self.numbers()
        generator, script = rig.machine.random_service, script_throws([rig], *numbers)
        rig.engine.handle(EventType.PLAY)
        assert (rig.state, script.values) == (State.PLAYING, [])
        rig.report_shown()
        rig.machine.random_service = generator
        self.settle(n, offered, numbers, self.points[n])
        self.apart += 1

    def disturb(self):
        """Raise or clear a tilt at some position, or cut the power between two throws."""
        n, chance_value = self.chance.randrange(self.SEATS), self.chance.random()
        if n in self.down:
            clear_fault(self.rooms[n])
            self.down.remove(n)
        elif chance_value < 0.3:
            self.rooms[n].engine.handle(EventType.FAULT_RAISED, code=FAULT)
            self.down.add(n)
        elif chance_value > 0.9 and not self.down:
            self.rooms[0].close()
            self.begin()

    def check(self):
        for n, rig in enumerate(self.rooms):
            assert (rig.credit_cents, read_standing_bets(rig)) == (self.credits[n], self.bets[n])
            assert point_of(rig, self.house) == self.point
            _, _, felt = read_table_view(rig.machine)
            assert felt.point == self.point_of(n)


@pytest.mark.parametrize("house", [QUEBEC, MONACO])
@pytest.mark.parametrize(
    ("seed", "rounds"), [(1, 25), *(pytest.param(n, 150, marks=pytest.mark.slow) for n in (2, 3))]
)
@pytest.mark.requirement("D-15", "F-08", "P-07", "O-06")
def test_random_players_with_tilts_and_restarts_balance_to_the_cent(seats, tmp_path, house, seed, rounds):
    session = Session(seats, house, seed)
    while session.rounds < rounds:
        session.throw()
        session.check()
        session.disturb()
    assert session.apart
    check_books(session.rooms, tmp_path)
