"""The last results of a table are sent when a round has ended and after a restart, and only for that table."""

import pytest

from egm.app.view import build_snapshot
from egm.kernel.events import EventType, State
from egm.play.last_results import LAST_RESULTS_MAX, LastResults, TableResult
from egm.testing.clearing import clear_with_decisions
from egm.testing.machine import MachineRig
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

ROULETTE, BACCARAT = "monaco-roulette-european", "quebec-baccarat"


def read_results(rig):
    return build_snapshot(rig.engine).last_results


def play_round(rig, **bets):
    """Play a round to its end; return its result and the results sent while it was shown."""
    if rig.credit_cents < 5000:
        rig.insert(10000)
    rig.engine.handle(EventType.SELECT_BET, value=sum(bets.values()), options={"bets": bets})
    rig.play()
    while rig.state is State.PLAYING and rig.hands.messages[-1].type == "decision":
        rig.engine.handle(EventType.CHOOSE, value="half")
    meanwhile, play = read_results(rig), rig.hands.messages[-1]
    rig.report_shown()
    if rig.state is State.HANDPAY:
        rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert rig.state is State.IDLE
    return str(play.display["result"]), meanwhile


def select(rig, game):
    rig.engine.handle(EventType.SELECT_GAME, value=game)
    assert rig.machine.selection.game_id == game


@pytest.mark.requirement("B-17")
def test_results_are_of_ended_rounds_of_this_table_and_survive_a_restart(tmp_path):
    games = (ROULETTE, BACCARAT)
    rig = MachineRig(tmp_path / "state", games=games).boot()
    select(rig, ROULETTE)
    assert read_results(rig) == ()
    spins = []
    for _ in range(6):
        result, meanwhile = play_round(rig, **{"straight-7": 1, "red": 8})
        assert meanwhile == tuple(reversed(spins))  # nothing of a round that is still being shown
        spins.append(result)
        assert read_results(rig) == tuple(reversed(spins))
    select(rig, BACCARAT)
    assert read_results(rig) == ()
    hands = [play_round(rig, player=10)[0] for _ in range(4)]
    assert read_results(rig) == tuple(reversed(hands))
    select(rig, ROULETTE)
    assert read_results(rig) == tuple(reversed(spins))
    rig.close()
    restarted = MachineRig(tmp_path / "state", games=games).boot()
    for game, results in ((ROULETTE, spins), (BACCARAT, hands)):
        select(restarted, game)
        assert read_results(restarted) == tuple(reversed(results))
    assert Auditor(GameFiles()).audit_entries(restarted.journal.iter_bodies()).findings == []
    restarted.close()


def test_a_new_shoe_starts_a_new_scoreboard(tmp_path):
    rig = MachineRig(tmp_path / "state", games=(BACCARAT,)).boot()
    results, news = [], 0
    for number in range(90):  # eight decks are some eighty rounds
        results.append(play_round(rig, player=10)[0])
        if number and len(read_results(rig)) == 1:
            news, results = news + 1, results[-1:]
        assert read_results(rig) == tuple(reversed(results))
    assert news == 1
    rig.close()


def test_no_more_results_are_shown_than_are_stored(tmp_path):
    rig = MachineRig(tmp_path / "state", games=(ROULETTE,)).boot()
    play_round(rig, red=8)
    known = rig.machine.component(LastResults)
    digest = rig.machine.games[ROULETTE].digest
    known.results_by_digest[digest] = (TableResult("1"),) * LAST_RESULTS_MAX
    play_round(rig, red=8)
    assert len(read_results(rig)) == LAST_RESULTS_MAX
    rig.close()


@pytest.mark.requirement("B-17", "A-05")
def test_a_round_carried_over_by_a_memory_clear_is_a_result_once_ended(tmp_path):
    rig = MachineRig(tmp_path / "state", games=(ROULETTE,)).boot().insert(10000)
    rig.engine.handle(EventType.SELECT_BET, value=8, options={"bets": {"red": 8}})
    rig.play()
    result = str(rig.hands.messages[-1].display["result"])
    rig.close()
    clear_with_decisions(tmp_path / "state")
    restarted = MachineRig(tmp_path / "state", games=(ROULETTE,)).boot()
    assert read_results(restarted) == ()
    restarted.report_shown()
    assert read_results(restarted) == (result,)
    restarted.close()
