"""What lasts of a table that several positions play is kept once: each round is dealt from the same shoe."""

from copy import deepcopy
from dataclasses import replace

import pytest

from egm.kernel.events import EventType, State
from egm.play.records.games import open_game
from egm.play.records.tables import read_table
from egm.seats.table import SharedTable
from meters import open_view
from meters.entry import decode
from paytables.cards import Shoe
from tools.audit.games import GameAudit, Shelf
from tools.audit.verify import Auditor

GAME = "quebec-baccarat"


def digest_of(room):
    return room.machine.games[GAME].digest


def bet(room, credits_=20):
    room.engine.handle(EventType.BET, value=credits_, options={"bets": {"player": credits_}})
    room.engine.handle(EventType.PLAY)
    assert room.state is State.BETTING, room.notice


def no_more_bets(room):
    room.machine.component(SharedTable).close(digest_of(room))


def shoe_of(room):
    kept = read_table(room.machine, digest_of(room))
    return None if kept is None else kept.table["shoe"]


def cards_of(game):
    return sum(len(hand["cards"]) for hand in game.outcome.display["hands"])


def play_three_coups(rooms):
    """Everybody, then the first two, then the second and third; how many cards were dealt."""
    dealt = 0
    for playing in (rooms[:3], rooms[:2], rooms[1:3]):
        for room in playing:
            bet(room)
        before = shoe_of(rooms[3])
        no_more_bets(rooms[0])
        games = [open_game(room.machine) for room in playing]
        assert [None if game.table is None else game.table["shoe"] for game in games] == [before] * len(games)
        assert len({str(game.outcome.table) for game in games}) == 1
        assert len({game.round_id for game in games}) == 1
        dealt += cards_of(games[0])
        assert [shoe_of(room) for room in rooms] == [games[0].outcome.table["shoe"]] * len(rooms)
        for room in playing:
            room.report_shown()
    return dealt


@pytest.mark.requirement("B-01")
def test_a_shoe_that_lasts_is_one_for_all_and_who_sat_out_goes_on_with_it(seats, tmp_path):
    rooms = seats(GAME)
    for room in rooms:
        room.insert(10000)
    dealt = play_three_coups(rooms)
    burnt = [d for d in rooms[0].records("game.start")[0]["steps"][0]["draws"] if "burn" in d[2]]
    left = Shoe.from_json(shoe_of(rooms[3])).left
    assert left == 8 * 52 - dealt - len(burnt)
    assert read_table(rooms[0].machine, digest_of(rooms[0])).staked == ()
    rooms[0].close()
    with open_view(tmp_path) as view:
        assert Auditor(Shelf()).run(view.iter_bodies()).findings == []
    again = seats(GAME)
    assert [Shoe.from_json(shoe_of(room)).left for room in again] == [left] * len(again)


def test_the_audit_finds_a_seat_that_was_dealt_from_another_shoe(seats, tmp_path):
    rooms = seats(GAME)
    for room in rooms:
        room.insert(10000)
    play_three_coups(rooms)
    rooms[0].close()
    with open_view(tmp_path) as view:
        entries = [entry for entry in map(decode, view.iter_bodies()) if entry.kind.startswith("game.")]
    key = next(key for key in entries[0].state if key.startswith("in_common:"))

    def found(kind, number, change):
        at = [n for n, entry in enumerate(entries) if entry.kind == kind][number]
        record, state = deepcopy(entries[at].transaction.record), deepcopy(dict(entries[at].state))
        change(record, state)
        lie = replace(entries[at].transaction, record=record, state=state)
        told = []
        audit = GameAudit(Shelf(), lambda _, why: told.append(why))
        for entry in (*entries[:at], entries[at]._replace(transaction=lie), *entries[at + 1 :]):
            audit.check_entry(entry)
        return "; ".join(told)

    def one_card_more(record, _):
        record["table"]["shoe"]["2c"] = 1 + record["table"]["shoe"].get("2c", 0)

    def left_as_before(_, state):
        state[key] = {**state[key], "table": None}

    assert found("game.start", 0, lambda *_: None) == ""
    assert "left by the game before it" in found("game.start", 4, one_card_more)
    assert "state.in_common:" in found("game.start", 5, left_as_before)
    assert "state.in_common:" in found("game.start", 5, lambda _, state: state.pop(key))
