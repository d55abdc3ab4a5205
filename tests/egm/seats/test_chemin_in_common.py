"""Chemin de fer at several positions: at least four players, a rotating bank, and separate money."""

import json

import pytest
from click.testing import CliRunner
from rigs.cards import script_cards

from egm.config.cabinet_file import DEFAULT_CABINET
from egm.kernel.events import EventType, State
from egm.play.records.games import find_open_game
from egm.play.records.tables import read_shared_state
from egm.seats.decisions import apply_recorded_steps, decide_overdue_turns
from egm.seats.table import SharedTables
from meters import open_view
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor
from tools.cli import main

GAME, CENTS, BILL_CENTS = "monaco-chemin-de-fer", 100, 10_000
#: Player and bank by turns: five and six, then a ten; the bank wins. Seven against nine: it wins again.
FIVE, SEVEN = "2s Ks 3h 6c Td", "7h 9c Kh Kd"


def lay(rig, **bets):
    rig.engine.handle(EventType.SELECT_BET, value=sum(bets.values()), options={"bets": bets})
    rig.engine.handle(EventType.PLAY)
    assert rig.state is State.BETTING, rig.notice


def close(rooms):
    table = rooms[0].machine.component(SharedTables)
    table.close_betting(rooms[0].machine.games[GAME].digest)
    apply_recorded_steps(table)
    decide_overdue_turns(table)


def with_credit(rooms):
    for rig in rooms:
        rig.insert(BILL_CENTS)
    return rooms


def deal(rooms, cards):
    generator = script_cards(cards, 6)
    for rig in rooms:
        rig.machine.random_service = generator


def end(rooms):
    for rig in rooms:
        if rig.state is State.PLAYING:
            rig.report_shown()
        assert rig.state is State.IDLE, rig.notice


def check_audit(rooms, folder):
    rooms[0].journal.self_audit()
    rooms[0].close()
    with open_view(folder) as view:
        assert Auditor(GameFiles()).audit_entries(view.iter_bodies()).findings == []


@pytest.mark.requirement("S-51")
def test_fewer_than_four_players_stake_nothing_and_are_informed(seats, tmp_path):
    rooms = with_credit(seats(GAME, count=5))
    lay(rooms[0], bank=20)
    lay(rooms[1], stake=10)
    lay(rooms[2], stake=10)
    close(rooms)
    for rig in rooms[:3]:
        assert (rig.state, rig.credit_cents, rig.notice) == (State.IDLE, BILL_CENTS, "too_few_players")
    for rig in rooms[:4]:
        lay(rig, stake=10)
    close(rooms)
    assert {rig.notice for rig in rooms[:4]} == {"no_bank"}
    assert {find_open_game(rig.machine) for rig in rooms} == {None}
    check_audit(rooms, tmp_path)


@pytest.mark.requirement("S-51", "P-01")
def test_the_bank_stays_with_its_position_in_the_next_round(seats, tmp_path):
    rooms = with_credit(seats(GAME, count=6))
    deal(rooms, FIVE)
    lay(rooms[1], bank=40)
    lay(rooms[2], stake=30)
    lay(rooms[3], stake=30)
    lay(rooms[5], banco=20)
    close(rooms)
    playing = [rig for rig in rooms if rig.state is State.PLAYING]
    assert playing == [rooms[n] for n in (1, 2, 3, 5)]
    (deciding_rig,) = (rig for rig in playing if rig.hands.messages[-1].options)
    assert deciding_rig is rooms[5]  # it holds the banco of half the bank
    deciding_rig.engine.handle(EventType.CHOOSE, value="draw")
    apply_recorded_steps(rooms[0].machine.component(SharedTables))
    end(rooms)
    won = [rig.credit_cents - BILL_CENTS for rig in rooms]
    assert won == [0, 38 * CENTS, -20 * CENTS, 0, 0, -20 * CENTS]
    digest = rooms[0].machine.games[GAME].digest
    assert read_shared_state(rooms[0].machine, digest)["bank"] == {"seat": 1, "least": 78, "follower": 5}
    deal(rooms, SEVEN)
    lay(rooms[0], bank=20)
    lay(rooms[1], bank=78)
    lay(rooms[2], stake=30)
    lay(rooms[5], stake=48)
    close(rooms)
    end(rooms)
    assert read_shared_state(rooms[0].machine, digest)["bank"] == {"seat": 1, "least": 153}
    won = [rig.credit_cents - BILL_CENTS for rig in rooms]
    assert won == [0, (38 + 75) * CENTS, -50 * CENTS, 0, 0, -68 * CENTS]
    check_audit(rooms, tmp_path)


@pytest.mark.requirement("S-51", "P-01")
def test_a_position_that_cannot_start_covers_nothing(seats, tmp_path):
    """Otherwise the bank would win a stake that was never wagered."""
    rooms = with_credit(seats(GAME, count=6))
    deal(rooms, FIVE)
    lay(rooms[0], bank=40)
    for rig in rooms[1:5]:
        lay(rig, stake=30)
    rooms[1].engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
    assert rooms[1].state is State.TILT
    close(rooms)
    assert [find_open_game(rig.machine) is not None for rig in rooms] == [
        True,
        False,
        True,
        True,
        True,
        False,
    ]
    assert rooms[1].credit_cents == BILL_CENTS
    assert rooms[2].hands.messages[-1].options == ("draw", "stand")
    rooms[2].engine.handle(EventType.CHOOSE, value="stand")
    apply_recorded_steps(rooms[0].machine.component(SharedTables))
    won = [
        0 if (game := find_open_game(rig.machine)) is None else game.outcome.returned_credits for rig in rooms
    ]
    assert won == [78, 0, 0, 20, 30, 0]


@pytest.mark.requirement("S-51", "A-05")
def test_after_a_power_loss_before_the_answer_the_round_continues(seats, tmp_path):
    rooms = with_credit(seats(GAME, count=4))
    deal(rooms, FIVE)
    lay(rooms[0], bank=40)
    for rig in rooms[1:]:
        lay(rig, stake=20)
    close(rooms)
    before = [find_open_game(rig.machine).steps for rig in rooms]
    rooms[0].close()
    rooms = seats(GAME, count=4)
    assert [find_open_game(rig.machine).steps for rig in rooms] == before
    apply_recorded_steps(rooms[0].machine.component(SharedTables))
    rooms[1].engine.handle(EventType.CHOOSE, value="stand")
    apply_recorded_steps(rooms[0].machine.component(SharedTables))
    assert [find_open_game(rig.machine).outcome.returned_credits for rig in rooms] == [78, 0, 0, 20]
    end(rooms)
    check_audit(rooms, tmp_path)


@pytest.mark.requirement("S-51")
def test_a_machine_of_fewer_positions_takes_no_bet(seats):
    rooms = with_credit(seats(GAME, count=3))
    rooms[0].engine.handle(EventType.SELECT_BET, value=20, options={"bets": {"bank": 20}})
    assert rooms[0].notice.startswith("refused.")
    assert rooms[0].machine.selection.bet_credits == 0


@pytest.mark.requirement("S-51")
@pytest.mark.parametrize(("positions", "is_reported"), [(3, True), (4, False)])
def test_the_check_of_a_cabinet_file_says_that_its_positions_are_too_few(tmp_path, positions, is_reported):
    text = DEFAULT_CABINET.read_text().partition("[[games]]")[0]
    text = text.replace("[machine]\n", f"[machine]\npositions = {positions}\n", 1)
    file = tmp_path / "cabinet.toml"
    file.write_text(f'{text}\n[[games]]\ngame = "{GAME}"\n')
    result = CliRunner().invoke(main, ["cabinet", "check", "--json", str(file)])
    found = [fault["what"] for fault in json.loads(result.output) if fault["key"] == "games[1].game"]
    assert (
        any("needs at least 4 positions, but machine.positions is" in problem for problem in found)
        == is_reported
    ), result.output
