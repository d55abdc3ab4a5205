"""Poker between players at several positions: separate cards, separate money, and the pots that they win."""

import json
from random import Random

import pytest
from rigs.cards import script_cards
from rigs.rounds import TURN_SECONDS_MAX

from egm.kernel.events import EventType, State
from egm.kernel.messages import DecisionRequest
from egm.people import Role
from egm.play.keys import PlayKey
from egm.play.records.games import find_open_game
from egm.play.records.tables import read_shared_state
from egm.seats.decisions import apply_recorded_steps, decide_overdue_turns
from egm.seats.table import SharedTables
from egm.testing.clearing import clear_with_decisions
from egm.testing.machine import ScriptedGenerator
from egm.testing.service_menu import MenuUser, translate_text
from meters import open_view
from meters.entry import decode
from tools.audit.games import GameAudit, GameFiles
from tools.audit.verify import Auditor

GAME, CENTS, BILL_CENTS = "quebec-texas-holdem-room", 25, 10_000
#: The hands of positions 2, 3 and 1 (the button), a card each and again; then the board.
CARDS = "As 7h Kd Ah 2c Kh Ac 9s 8d 3h Qc"


def table_of(rooms):
    return rooms[0].machine.component(SharedTables)


def with_credit(rooms):
    for rig in rooms:
        rig.insert(BILL_CENTS)
    return rooms


def lay(rig, stack):
    rig.engine.handle(EventType.SELECT_BET, value=stack, options={"bets": {"stack": stack}})
    rig.engine.handle(EventType.PLAY)
    assert rig.state is State.BETTING, rig.notice


def sit_down(rooms, cards=CARDS, stacks=(200, 200, 200)):
    """Let everybody play with table stakes and these cards, up to the first decision."""
    generator = script_cards(cards, decks=1)
    with_credit(rooms)
    for rig, stack in zip(rooms, stacks, strict=True):
        rig.machine.random_service = generator
        lay(rig, stack)
    close(rooms)
    return rooms


def close(rooms):
    rig = rooms[0].machine
    table_of(rooms).close_betting(rig.games[rig.selection.game_id].digest)
    apply_recorded_steps(table_of(rooms))
    decide_overdue_turns(table_of(rooms))


def find_deciding_rig(rooms):
    """Return the position that must decide, or None."""
    found = [
        rig
        for rig in rooms
        if isinstance(rig.hands.messages[-1], DecisionRequest) and rig.hands.messages[-1].options
    ]
    assert len(found) < 2
    return found[0] if found else None


def answer(rooms, *options):
    for option in options:
        rig = find_deciding_rig(rooms)
        before = len(find_open_game(rig.machine).steps)
        rig.engine.handle(EventType.CHOOSE, value=option)
        apply_recorded_steps(table_of(rooms))
        assert len(find_open_game(rig.machine).steps) == before + 1, rig.notice


def end(rooms):
    for rig in rooms:
        if rig.state is State.PLAYING:
            rig.report_shown()
        assert rig.state is State.IDLE, rig.notice
    return [(rig.credit_cents - BILL_CENTS) // CENTS for rig in rooms]


def check_audit(rooms, folder):
    rooms[0].journal.self_audit()
    rooms[0].close()
    with open_view(folder) as view:
        assert Auditor(GameFiles()).audit_entries(view.iter_bodies()).findings == []


@pytest.mark.requirement("S-32", "S-33", "S-34", "S-35", "P-01")
def test_three_positions_play_a_game_for_a_pot_and_the_commission_is_the_houses(seats, tmp_path):
    rooms = sit_down(seats(GAME, count=4)[:3])
    assert find_deciding_rig(rooms) is rooms[0]  # the button, left of the big blind
    answer(rooms, "call", "call", "raise")  # the third raises its big blind of 8 to 16
    answer(rooms, "call", "fold")
    answer(rooms, "bet", "call")  # the third and the button, 8 each
    answer(rooms, "check", "check", "check", "check")
    # 16 + 16 + 8 and twice 8 are 56, of which 5 are taken; kings win against a pair of nothing
    assert [find_open_game(rig.machine).outcome.display["commission"] for rig in rooms] == [5, 5, 5]
    assert end(rooms) == [-24 + 51, -8, -24]
    meters = rooms[0].journal.meters()
    values = [meters.select(position=n).values for n in (1, 2, 3)]
    assert [value["coin_in"] for value in values] == [200 * CENTS] * 3
    assert [value["push"] for value in values] == [176 * CENTS, 192 * CENTS, 176 * CENTS]
    assert sum(value["coin_in"] - value["coin_out"] for value in values) == 5 * CENTS
    digest = rooms[0].machine.games[GAME].digest
    assert read_shared_state(rooms[0].machine, digest) == {"button": 1}
    check_audit(rooms, tmp_path)


@pytest.mark.requirement("S-33", "B-01")
def test_no_message_to_a_screen_has_the_hole_cards_of_another_position(seats, tmp_path):
    rooms = sit_down(seats(GAME, count=3))
    hole_cards = [{"Kd", "Kh"}, {"As", "Ah"}, {"7h", "2c"}]
    answer(rooms, "raise", "call", "fold", "bet", "fold")  # the third folds, then the button: no showdown
    assert find_deciding_rig(rooms) is None
    for number, rig in enumerate(rooms):
        sent_text = json.dumps([message.model_dump(mode="json") for message in rig.hands.messages])
        others = set().union(*(cards for seat, cards in enumerate(hole_cards) if seat != number))
        assert [card for card in others if f'"{card}"' in sent_text] == []
        assert all(f'"{card}"' in sent_text for card in hole_cards[number])
        assert "Your turn" not in sent_text
    end(rooms)
    menu = MenuUser(rooms[1]).sign_in(Role.ATTENDANT).touch("recall")
    menu.touch(rooms[1].machine.memory.get(PlayKey.LAST_GAME)["play_id"])
    cells = [cell for table in menu.page.tables for row in table.rows for cell in row.cells]
    words = {translate_text(cell, "en") for cell in cells}
    assert {"Table stakes", "Not played: returned", "Won"} <= words
    check_audit(rooms, tmp_path)


@pytest.mark.requirement("S-32")
def test_a_position_that_is_all_in_wins_the_main_pot_and_the_others_a_side_pot(seats, tmp_path):
    stacks = (400, 160, 300)
    rooms = sit_down(seats(GAME, count=3), "7h Kd As 2c Kh Ah Ac 9s 8d 3h Qc", stacks)
    # Position 2 (small blind) has 7h 2c, position 3 Kd Kh, the button As Ah.
    pots = []
    for option in ("call", "all-in", "all-in"):
        answer(rooms, option)
        pots.append(find_deciding_rig(rooms).hands.messages[-1].display["hands"][0].get("pots"))
    assert pots == [None, None, [328, 140]]
    answer(rooms, "fold")
    assert find_deciding_rig(rooms) is None
    # 160 + 160 + 8 are the main pot, of which 20 are taken at most; 140 that nobody called are returned.
    assert end(rooms) == [-8, -160, 160 + 8 - 20]
    check_audit(rooms, tmp_path)


@pytest.mark.requirement("S-33")
def test_an_answer_out_of_turn_or_of_another_amount_is_refused_and_nothing_is_lost(seats, tmp_path):
    rooms = sit_down(seats(GAME, count=3))
    before = [find_open_game(rig.machine) for rig in rooms]
    for rig in rooms:
        for value in ("raise-1000", "bet", "check", "stakes-returned", "all-staked", 17, None):
            rig.engine.handle(EventType.CHOOSE, value=value)
        if rig is not rooms[0]:
            rig.engine.handle(EventType.CHOOSE, value="call")
    assert [find_open_game(rig.machine) for rig in rooms] == before
    answer(rooms, "all-in")
    rooms[0].engine.handle(EventType.CHOOSE, value="fold")  # standing bets stay
    assert find_deciding_rig(rooms).hands.messages[-1].options == (
        "fold",
        "call",
    )  # nothing above the stakes of 200
    answer(rooms, "fold", "call")
    assert end(rooms) == [2 * 200 + 4 - 20 - 200, -4, -200]
    check_audit(rooms, tmp_path)


@pytest.mark.requirement("S-33", "P-01")
def test_timeout_checks_if_free_and_folds_otherwise(seats, tmp_path):
    rooms = sit_down(seats(GAME, count=3))
    answer(rooms, "call", "call")

    def pass_time():
        decide_overdue_turns(table_of(rooms))
        rooms[0].clock.pass_seconds(TURN_SECONDS_MAX + 1)
        decide_overdue_turns(table_of(rooms))

    pass_time()  # the third checks its big blind
    assert find_open_game(rooms[2].machine).steps[-1].choice == "check"
    assert rooms[2].notice == "answered_for"
    answer(rooms, "bet")
    late = find_deciding_rig(rooms)
    pass_time()
    assert find_open_game(late.machine).steps[-1].choice == "fold"
    late.engine.handle(EventType.CHOOSE, value="call")  # after its time
    answer(rooms, "fold")
    assert end(rooms) == [-8, 24 - 8 - 2, -8]
    check_audit(rooms, tmp_path)


@pytest.mark.requirement("S-33")
def test_a_position_with_a_fault_folds_and_loses_no_more_than_it_has_bet(seats, tmp_path):
    rooms = sit_down(seats(GAME, count=3))
    rooms[1].engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
    assert rooms[1].state is State.TILT
    answer(rooms, "raise")
    decide_overdue_turns(table_of(rooms))
    rooms[0].clock.pass_seconds(TURN_SECONDS_MAX + 1)
    decide_overdue_turns(table_of(rooms))
    answer(rooms, "fold")
    rooms[1].engine.handle(EventType.FAULT_CLEARED, code="bill_acceptor.cheat")
    rooms[1].engine.handle(EventType.KEY_TURNED, key="attendant")
    apply_recorded_steps(table_of(rooms))
    assert end(rooms) == [12, -4, -8]
    check_audit(rooms, tmp_path)


@pytest.mark.requirement("S-32")
def test_a_single_position_stakes_nothing_and_learns_how_many_are_needed(seats, tmp_path):
    rooms = with_credit(seats(GAME, count=2))
    lay(rooms[0], 160)
    close(rooms)
    assert (rooms[0].state, rooms[0].credit_cents) == (State.IDLE, BILL_CENTS)
    assert (rooms[0].machine.notice.code, rooms[0].machine.notice.values) == ("too_few_players", {"count": 2})
    rooms[0].engine.handle(EventType.SELECT_BET, value=159, options={"bets": {"stack": 159}})
    assert rooms[0].notice.startswith("refused.")  # less than the least table stakes
    check_audit(rooms, tmp_path)


@pytest.mark.requirement("S-32", "A-05")
def test_a_round_that_not_every_position_has_started_returns_the_table_stakes(seats, tmp_path):
    """This happens after a power loss between two starts; nobody wins or loses what was never wagered."""
    rooms = with_credit(seats(GAME, count=3))
    generator = script_cards(CARDS, decks=1)
    for rig in rooms:
        rig.machine.random_service = generator
        lay(rig, 200)
    seat = table_of(rooms).position_by_number[2]
    seat.submit_event, handle = lambda _: None, seat.submit_event  # its game has not started
    table_of(rooms).close_betting(rooms[0].machine.games[GAME].digest)
    seat.submit_event = handle
    assert [find_open_game(rig.machine) is None for rig in rooms] == [False, True, False]
    rooms[0].close()
    rooms = seats(GAME, count=3)
    apply_recorded_steps(table_of(rooms))
    decide_overdue_turns(table_of(rooms))
    assert end(rooms) == [0, 0, 0]
    assert generator.values  # no card was drawn
    assert read_shared_state(rooms[0].machine, rooms[0].machine.games[GAME].digest) == {"button": 0}
    check_audit(rooms, tmp_path)


@pytest.mark.requirement("S-32", "A-05")
def test_a_game_goes_on_after_a_memory_clear_with_the_same_cards(seats, tmp_path):
    rooms = sit_down(seats(GAME, count=3))
    answer(rooms, "raise", "call")
    before = [find_open_game(rig.machine).steps for rig in rooms]
    rooms[0].close()
    clear_with_decisions(tmp_path)
    rooms = seats(GAME, count=3)
    assert [find_open_game(rig.machine).steps for rig in rooms] == before
    generator = ScriptedGenerator(*script_cards(CARDS, decks=1).values[6:])
    for rig in rooms:
        rig.machine.random_service = generator
    apply_recorded_steps(table_of(rooms))
    answer(rooms, "fold", "bet", "fold")  # the third; then the second bets at the board, and the button folds
    assert end(rooms) == [-16, 16 + 8 - 4, -8]
    check_audit(rooms, tmp_path)


@pytest.mark.requirement("S-32", "A-05")
def test_the_audit_reports_a_round_that_is_played_although_a_seat_wagered_nothing(seats, tmp_path):
    rooms = sit_down(seats(GAME, count=3))
    answer(rooms, "fold", "fold")
    end(rooms)
    dropped = [entry.id for entry in rooms[0].journal.entries("game.start")][1].removesuffix(".start")
    rooms[0].close()
    reasons = []
    audit = GameAudit(GameFiles(), lambda _, reason: reasons.append(reason))
    with open_view(tmp_path) as view:
        for entry in map(decode, view.iter_bodies()):
            if not entry.id.startswith(dropped):
                audit.check_entry(entry)
    assert any("seat 1 has not wagered its stake" in reason for reason in reasons)


def check_hidden(rooms):
    """Check that during a decision no screen has been sent another position's cards."""
    for rig in rooms:
        for message in rig.hands.messages:
            for hand in message.display["hands"] if isinstance(message, DecisionRequest) else ():
                open_cards = hand["cards"][2:6] if "stud" in rig.machine.selection.game_id else []
                hidden = [card for card in hand["cards"] if card not in open_cards]
                assert hand.get("own") or "seat" not in hand or set(hidden) <= {"??"}


def play_random_game(rooms, rng):
    """Play with random table stakes and answers; return the number of decisions."""
    stacks = [rng.choice((240, 300, 400)) for _ in rooms]
    for rig, stack in zip(rooms, stacks, strict=True):
        while rig.credit_cents < stack * CENTS:
            rig.insert(BILL_CENTS)
        lay(rig, stack)
    close(rooms)
    count = 0
    while (rig := find_deciding_rig(rooms)) is not None:
        options = rig.hands.messages[-1].options
        answer(rooms, rng.choice([*options, options[min(1, len(options) - 1)]]))
        count += 1
    return count


@pytest.mark.requirement("S-32", "S-33", "S-34", "S-35", "D-15")
@pytest.mark.parametrize(
    ("game", "count"),
    [(GAME, 2), (GAME, 9), ("quebec-omaha-room", 4), ("quebec-seven-card-stud-room", 7)],
)
@pytest.mark.parametrize("games", [3, pytest.param(40, marks=pytest.mark.slow)])
def test_random_games_at_the_positions_of_a_machine_are_audited(seats, tmp_path, game, count, games):
    rooms, rng, asked_in_all = seats(game, count=count), Random(count), 0
    for _ in range(games):
        asked_in_all += play_random_game(rooms, rng)
        check_hidden(rooms)
        taken = {find_open_game(rig.machine).outcome.display["commission"] for rig in rooms}
        before = sum(rig.credit_cents for rig in rooms)
        for rig in rooms:
            staked = find_open_game(rig.machine).staked_cents
            before += staked
            rig.report_shown()
            if rig.state is State.HANDPAY:
                rig.engine.handle(EventType.KEY_TURNED, key="attendant")
                before = None
                break
        if before is None:
            for rig in rooms:
                if rig.state is State.PLAYING:
                    rig.report_shown()
                if rig.state is State.HANDPAY:
                    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
        else:
            (commission,) = taken
            assert sum(rig.credit_cents for rig in rooms) == before - commission * CENTS
    assert asked_in_all >= games
    check_audit(rooms, tmp_path)
