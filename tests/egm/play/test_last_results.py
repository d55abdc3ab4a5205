"""The last results of a table: told when a round has ended, of that table alone, and over a restart."""

import pytest

from egm.app.view import snapshot
from egm.kernel.events import EventType, State
from egm.play.last_results import MAX_RESULTS, LastResults, Result
from egm.testing.machine import MachineRig
from tools.audit.games import Shelf
from tools.audit.verify import Auditor

ROULETTE, BACCARAT = "monaco-roulette-european", "quebec-baccarat"


def told(room):
    return snapshot(room.engine, fingerprint="").results


def played(room, **bets):
    """Play a round to its end; what it came to, and what was told while it was shown."""
    if room.credit_cents < 5000:
        room.insert(10000)
    room.engine.handle(EventType.BET, value=sum(bets.values()), options={"bets": bets})
    room.play()
    while room.state is State.PLAYING and room.hands.told[-1].type == "decision":
        room.engine.handle(EventType.CHOOSE, value="half")
    meanwhile, play = told(room), room.hands.told[-1]
    room.report_shown()
    if room.state is State.HANDPAY:
        room.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert room.state is State.IDLE
    return str(play.display["result"]), meanwhile


def select(room, game):
    room.engine.handle(EventType.GAME, value=game)
    assert room.machine.selection.game_id == game


@pytest.mark.requirement("B-17")
def test_results_are_of_ended_rounds_of_this_table_and_survive_a_restart(tmp_path):
    games = (ROULETTE, BACCARAT)
    room = MachineRig(tmp_path / "state", games=games).boot()
    select(room, ROULETTE)
    assert told(room) == ()
    spins = []
    for _ in range(6):
        result, meanwhile = played(room, **{"straight-7": 1, "red": 8})
        assert meanwhile == tuple(reversed(spins))  # nothing of a round that is still being shown
        spins.append(result)
        assert told(room) == tuple(reversed(spins))
    select(room, BACCARAT)
    assert told(room) == ()
    hands = [played(room, player=10)[0] for _ in range(4)]
    assert told(room) == tuple(reversed(hands))
    select(room, ROULETTE)
    assert told(room) == tuple(reversed(spins))
    room.close()
    again = MachineRig(tmp_path / "state", games=games).boot()
    for game, results in ((ROULETTE, spins), (BACCARAT, hands)):
        select(again, game)
        assert told(again) == tuple(reversed(results))
    assert Auditor(Shelf()).run(again.journal.iter_bodies()).findings == []
    again.close()


def test_a_new_shoe_begins_a_new_scoreboard(tmp_path):
    room = MachineRig(tmp_path / "state", games=(BACCARAT,)).boot()
    results, news = [], 0
    for number in range(90):  # eight decks are some eighty rounds
        results.append(played(room, player=10)[0])
        if number and len(told(room)) == 1:
            news, results = news + 1, results[-1:]
        assert told(room) == tuple(reversed(results))
    assert news == 1
    room.close()


def test_no_more_than_what_is_kept_is_told(tmp_path):
    room = MachineRig(tmp_path / "state", games=(ROULETTE,)).boot()
    played(room, red=8)
    known = room.machine.component(LastResults)
    digest = room.machine.games[ROULETTE].digest
    known.by_digest[digest] = (Result("1"),) * MAX_RESULTS
    played(room, red=8)
    assert len(told(room)) == MAX_RESULTS
    room.close()
