"""The table state of several positions is stored once: each round is dealt from the same shoe."""

from copy import deepcopy
from dataclasses import replace

import pytest

from egm.kernel.events import EventType, State
from egm.play.records.games import find_open_game
from egm.play.records.tables import read_table
from egm.seats.table import SharedTables
from meters import open_view
from meters.entry import decode
from paytables.cards import Shoe
from tools.audit.games import GameAudit, GameFiles
from tools.audit.verify import Auditor

GAME = "quebec-baccarat"


def digest_of(rig):
    return rig.machine.games[GAME].digest


def bet(rig, credits_=20):
    rig.engine.handle(EventType.SELECT_BET, value=credits_, options={"bets": {"player": credits_}})
    rig.engine.handle(EventType.PLAY)
    assert rig.state is State.BETTING, rig.notice


def no_more_bets(rig):
    rig.machine.component(SharedTables).close_betting(digest_of(rig))


def shoe_of(rig):
    table_record = read_table(rig.machine, digest_of(rig))
    return None if table_record is None else table_record.table_state["shoe"]


def cards_of(game):
    return sum(len(hand["cards"]) for hand in game.outcome.display["hands"])


def play_three_coups(rigs):
    """Play with everybody, the first two, then the second and third; return the number of dealt cards."""
    dealt = 0
    for playing in (rigs[:3], rigs[:2], rigs[1:3]):
        for rig in playing:
            bet(rig)
        before = shoe_of(rigs[3])
        no_more_bets(rigs[0])
        games = [find_open_game(rig.machine) for rig in playing]
        assert [None if game.table_state is None else game.table_state["shoe"] for game in games] == [
            before
        ] * len(games)
        assert len({str(game.outcome.table_state) for game in games}) == 1
        assert len({game.round_id for game in games}) == 1
        dealt += cards_of(games[0])
        assert [shoe_of(rig) for rig in rigs] == [games[0].outcome.table_state["shoe"]] * len(rigs)
        for rig in playing:
            rig.report_shown()
    return dealt


@pytest.mark.requirement("B-01")
def test_all_seats_share_one_shoe_even_after_sitting_out(seats, tmp_path):
    rigs = seats(GAME)
    for rig in rigs:
        rig.insert(10000)
    dealt = play_three_coups(rigs)
    burnt = [d for d in rigs[0].records("game.start")[0]["steps"][0]["draws"] if "burn" in d[2]]
    cards_left = Shoe.from_json(shoe_of(rigs[3])).cards_left
    assert cards_left == 8 * 52 - dealt - len(burnt)
    assert read_table(rigs[0].machine, digest_of(rigs[0])).standing_stakes == ()
    rigs[0].close()
    with open_view(tmp_path) as view:
        assert Auditor(GameFiles()).audit_entries(view.iter_bodies()).findings == []
    restarted = seats(GAME)
    assert [Shoe.from_json(shoe_of(rig)).cards_left for rig in restarted] == [cards_left] * len(restarted)


def test_the_audit_names_a_seat_dealt_from_another_shoe(seats, tmp_path):
    rigs = seats(GAME)
    for rig in rigs:
        rig.insert(10000)
    play_three_coups(rigs)
    rigs[0].close()
    with open_view(tmp_path) as view:
        entries = [entry for entry in map(decode, view.iter_bodies()) if entry.kind.startswith("game.")]
    key = next(key for key in entries[0].state if key.startswith("in_common:"))

    def found(kind, number, change):
        index = [n for n, entry in enumerate(entries) if entry.kind == kind][number]
        record, state = deepcopy(entries[index].transaction.record), deepcopy(dict(entries[index].state))
        change(record, state)
        lie = replace(entries[index].transaction, record=record, state=state)
        reasons = []
        audit = GameAudit(GameFiles(), lambda _, reason: reasons.append(reason))
        for entry in (*entries[:index], entries[index]._replace(transaction=lie), *entries[index + 1 :]):
            audit.check_entry(entry)
        return "; ".join(reasons)

    def one_card_more(record, _):
        record["table"]["shoe"]["2c"] = 1 + record["table"]["shoe"].get("2c", 0)

    def left_as_before(_, state):
        state[key] = {**state[key], "table": None}

    assert found("game.start", 0, lambda *_: None) == ""
    assert "left by the game before it" in found("game.start", 4, one_card_more)
    assert "state.in_common:" in found("game.start", 5, left_as_before)
    assert "state.in_common:" in found("game.start", 5, lambda _, state: state.pop(key))
