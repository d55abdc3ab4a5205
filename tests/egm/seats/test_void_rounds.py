"""A round in which players win each other's stakes, and of which staff declare one game void."""

import pytest
from rigs.cards import script_cards
from rigs.rounds import TURN_SECONDS_MAX

from egm.app.features import FEATURES
from egm.features.memory_clear.carrying import inspect_claims
from egm.kernel.events import EventType, State
from egm.play.records.games import find_open_game
from egm.seats.decisions import apply_recorded_steps, decide_overdue_turns, iter_turn_notices
from egm.seats.table import SharedTables
from egm.testing.machine import GeneratorOutOfService
from meters import open_view
from meters.entry import decode
from tools.audit.games import GameAudit, GameFiles
from tools.audit.verify import Auditor

BILL_CENTS = 10_000
TWO = {"person": "2", "persons": ("2", "5"), "reason": "as seen on the floor"}
HOLDEM = "quebec-texas-holdem-room"
#: The bets of each position.
ROUNDS = {
    HOLDEM: [{"stack": 200}] * 3,
    "quebec-omaha-room": [{"stack": 240}] * 3,
    "quebec-seven-card-stud-room": [{"stack": 240}] * 3,
    "quebec-pai-gow-poker": [{"stake": 20}] * 3,
    "monaco-chemin-de-fer": [{"bank": 40}, {"stake": 20}, {"stake": 20}, {"stake": 20}],
}
#: Player and bank by turns: five and six.
FIVE_AND_SIX = "2s Ks 3h 6c"


def table_of(rooms):
    return rooms[0].machine.component(SharedTables)


def stake_everywhere(rooms, game, generator):
    """Stake at every position, and wait for the others."""
    for rig, bet in zip(rooms, ROUNDS[game], strict=True):
        rig.machine.random_service = generator
        rig.insert(BILL_CENTS)
        rig.engine.handle(EventType.SELECT_BET, value=sum(bet.values()), options={"bets": bet})
        rig.engine.handle(EventType.PLAY)
        assert rig.state is State.BETTING, rig.notice


def sit_down(rooms, game=HOLDEM):
    """Stake at every position and close the betting; the table reports that all have staked."""
    stake_everywhere(
        rooms, game, script_cards(FIVE_AND_SIX, 6) if "chemin" in game else rooms[0].machine.random_service
    )
    table_of(rooms).close_betting(next(iter(rooms[0].machine.games.values())).digest)
    go_on(rooms)
    return rooms


def go_on(rooms):
    apply_recorded_steps(table_of(rooms))
    decide_overdue_turns(table_of(rooms))


def find_asked(rooms):
    """Return the position that must decide, or None."""
    undecided = [rig for rig in rooms if (game := find_open_game(rig.machine)) and game.outcome is None]
    return next((rig for rig in undecided if rig.hands.messages[-1].options), None)


def answer(rooms, number=1):
    """Take this option at the position that must decide; return whether the game continued."""
    rig = find_asked(rooms)
    before = len(find_open_game(rig.machine).steps)
    rig.engine.handle(EventType.CHOOSE, value=rig.hands.messages[-1].options[number])
    apply_recorded_steps(table_of(rooms))
    return len(find_open_game(rig.machine).steps) > before


def let_the_generator_fail(rooms):
    """Answer until a number is needed that the generator does not provide; return the generator."""
    working = rooms[0].machine.random_service
    for rig in rooms:
        rig.machine.random_service = GeneratorOutOfService()
    while answer(rooms):
        pass
    assert {find_open_game(rig.machine).outcome for rig in rooms} == {None}
    return working


def repair(rooms, working):
    rooms[0].next_generators = [working]
    rooms[0].engine.handle(EventType.KEY_TURNED, key="attendant")
    for rig in rooms:
        rig.machine.random_service = working
        rig.engine.update_state()


def rule(rig, form):
    """Declare a position's game void as two people; return the reason for a refusal, or None."""
    rig.engine.handle(EventType.OPEN_SERVICE_MENU, key="operator")
    rig.engine.handle(EventType(form), form=form, **TWO)
    refusal = rig.notice
    rig.engine.handle(EventType.SERVICE_MENU_CLOSED, why="key")
    return refusal


def wait(rooms):
    """Let the time for answers expire often enough to end any round."""
    for _ in range(20):
        go_on(rooms)
        rooms[0].clock.pass_seconds(TURN_SECONDS_MAX + 1)
        go_on(rooms)


def audit(rooms, folder):
    rooms[0].journal.self_audit()
    rooms[0].close()
    with open_view(folder) as view:
        return Auditor(GameFiles()).audit_entries(view.iter_bodies()).findings


@pytest.mark.requirement("S-32", "F-14", "B-01")
@pytest.mark.parametrize("game", [game for game in ROUNDS if "pai-gow" not in game])
@pytest.mark.parametrize("restarted", [False, True])
def test_a_refund_of_one_position_ends_the_round_of_all(seats, tmp_path, game, restarted):
    count = len(ROUNDS[game])
    rooms = sit_down(seats(game, count=count), game)
    working = let_the_generator_fail(rooms)
    assert rule(rooms[-1], "refund_game") is None
    if restarted:
        rooms[0].close()
        rooms = seats(game, count=count)
    repair(rooms, working)
    before = [rig.credit_cents for rig in rooms]
    wait(rooms)
    for rig in rooms[:-1]:
        assert [notice.code for notice in iter_turn_notices(rig.machine)] == ["round_is_void"]
        for value in rig.hands.messages[-1].options:
            rig.engine.handle(EventType.CHOOSE, value=value)
    assert [rig.credit_cents for rig in rooms] == before
    assert rule(rooms[0], "forfeit_game") == "refused.game_may_be_forfeit"
    assert [rule(rig, "refund_game") for rig in rooms[:-1]] == [None] * (len(rooms) - 1)
    assert [(rig.state, rig.credit_cents) for rig in rooms] == [(State.IDLE, BILL_CENTS)] * len(rooms)
    assert audit(rooms, tmp_path) == []


@pytest.mark.requirement("S-32", "F-14", "B-01")
def test_the_stake_of_a_position_that_disrupts_the_machine_stays_in_the_pot(seats, tmp_path):
    rooms = sit_down(seats(HOLDEM, count=3))
    answer(rooms)
    rooms[1].engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
    rooms[1].engine.handle(EventType.FORFEIT_GAME, form="forfeit_game", **TWO)
    assert rooms[1].notice == "refused.game_may_be_forfeit"
    wait(rooms)
    rooms[1].engine.handle(EventType.FAULT_CLEARED, code="bill_acceptor.cheat")
    rooms[1].engine.handle(EventType.KEY_TURNED, key="attendant")
    go_on(rooms)
    commission = find_open_game(rooms[0].machine).outcome.display["commission"]
    for rig in rooms:
        rig.report_shown()
    assert sum(rig.credit_cents for rig in rooms) == 3 * BILL_CENTS - 25 * commission
    assert audit(rooms, tmp_path) == []


@pytest.mark.requirement("S-18", "F-14", "B-01")
@pytest.mark.parametrize("void", [0, 1])
def test_a_refund_under_a_players_bank_ends_the_round_of_all(seats, tmp_path, void):
    rooms = sit_down(seats("quebec-pai-gow-poker", count=3), "quebec-pai-gow-poker")
    while find_asked(rooms):
        answer(rooms, 0)
    for rig in rooms:
        rig.report_shown()
    before = [rig.credit_cents for rig in rooms]
    for rig, bet in zip(rooms, ({"stake": 20, "bank": 40}, {"stake": 20}, {"stake": 20}), strict=True):
        rig.engine.handle(EventType.SELECT_BET, value=sum(bet.values()), options={"bets": bet})
        rig.engine.handle(EventType.PLAY)
    table_of(rooms).close_betting(next(iter(rooms[0].machine.games.values())).digest)
    go_on(rooms)
    working = rooms[0].machine.random_service
    for rig in rooms:
        rig.machine.random_service = GeneratorOutOfService()
        rig.engine.handle(EventType.GENERATOR_FAILED, detail="planted")
    refusal = rule(rooms[void], "refund_game")
    assert refusal is None, refusal
    repair(rooms, working)
    wait(rooms)
    for rig in rooms:
        if find_open_game(rig.machine) is not None:
            assert rule(rig, "refund_game") is None
    assert [rig.credit_cents for rig in rooms] == before
    assert audit(rooms, tmp_path) == []


@pytest.mark.requirement("S-32", "F-14")
def test_the_audit_reports_a_round_that_goes_on_without_a_void_game(seats, tmp_path):
    rooms = sit_down(seats(HOLDEM, count=3))
    working = let_the_generator_fail(rooms)
    assert rule(rooms[1], "refund_game") is None
    (void,) = rooms[0].journal.entries("game.void")
    repair(rooms, working)
    rooms[0].close()
    with open_view(tmp_path) as view:
        entries = [*map(decode, view.iter_bodies())]
    choices = [entry for entry in entries if entry.kind == "game.choice"]
    reasons = []
    report = GameAudit(GameFiles(), lambda _, reason: reasons.append(reason))
    early = [
        entry for entry in entries if entry.sequence < choices[-1].sequence and entry.kind != "game.void"
    ]
    for entry in (*early, void, choices[-1]):
        report.check_entry(entry)
    assert any("was declared void, and another one continues" in reason for reason in reasons)


@pytest.mark.requirement("S-32", "F-14")
@pytest.mark.parametrize("is_void", [False, True])
def test_a_memory_clear_treats_all_games_of_the_round_alike(seats, tmp_path, is_void):
    rooms = sit_down(seats(HOLDEM, count=3))
    let_the_generator_fail(rooms)
    if is_void:
        assert rule(rooms[1], "refund_game") is None
    rooms[0].close()
    claim_inspection = inspect_claims(tmp_path, FEATURES)
    acts = [
        proposal.possible_decisions
        for proposal in claim_inspection.proposals
        if proposal.id.startswith("game:")
    ]
    assert acts == [("paid",)] * 2 if is_void else [("carried",)] * 3
