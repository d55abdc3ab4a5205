"""Banque à tout va at several positions: one answers for a tableau, and all who bet on it are settled by that."""

import pytest
from rigs.cards import script_cards

from egm.kernel.events import EventType, State
from egm.play.records.games import find_open_game
from egm.seats.decisions import apply_recorded_steps
from egm.seats.table import SharedTables
from meters import open_view
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

GAME, CENTS, BILL_CENTS = "monaco-banque-a-tout-va", 25, 10_000
#: Five for each tableau and seven for the banker; then a four and a ten.
FIVES = "2s 4h Kd 3s Ad 7d 4s Tc"
#: Six and seven for the tableaux and eight for the banker, so that there is no decision.
NATURAL = "2s 4h Kd 4s 3d 8d"
BETS = ({"a-cheval": 10}, {"tableau-1": 20}, {"tableau-1": 10, "tableau-2": 10})


def lay_bets(rooms):
    for rig, bets in zip(rooms, BETS, strict=True):
        rig.insert(BILL_CENTS)
        rig.machine.random_service = rooms[0].machine.random_service
        rig.engine.handle(EventType.SELECT_BET, value=sum(bets.values()), options={"bets": bets})
        rig.engine.handle(EventType.PLAY)
        assert rig.state is State.BETTING, rig.notice
    rooms[0].machine.component(SharedTables).close_betting(rooms[0].machine.games[GAME].digest)


def answer(rooms, position, choice):
    """Answer at the position that must decide; check that no other may."""
    is_each_asked = [bool(rig.hands.messages[-1].options) for rig in rooms]
    assert is_each_asked == [number == position for number in range(len(rooms))]
    rooms[position].engine.handle(EventType.CHOOSE, value=choice)
    apply_recorded_steps(rooms[0].machine.component(SharedTables))


@pytest.mark.requirement("S-52", "B-01", "P-01")
def test_the_holder_of_each_tableau_answers_for_all_who_bet_on_it(seats, tmp_path):
    rooms = seats(GAME, count=3)
    rooms[0].machine.random_service = script_cards(FIVES, 6)
    lay_bets(rooms)
    for rig, own_hands in zip(rooms, ((), ("tableau-1",), ("tableau-2",)), strict=True):
        hands = {hand["id"]: hand["cards"] for hand in rig.hands.messages[-1].display["hands"]}
        assert {name for name, cards in hands.items() if "??" not in cards} == set(own_hands)
    answer(rooms, 1, "draw")
    answer(rooms, 2, "stand")
    games = [find_open_game(rig.machine) for rig in rooms]
    assert {game.outcome.display["result"] for game in games} == {"9-5-7"}
    assert [game.outcome.returned_credits for game in games] == [10, 40, 20]
    for rig in rooms:
        rig.report_shown()
        assert rig.state is State.IDLE, rig.notice
    for rig, bets, won in zip(rooms, BETS, (10, 40, 20), strict=True):
        assert rig.credit_cents == BILL_CENTS + (won - sum(bets.values())) * CENTS
    rooms[0].journal.self_audit()
    rooms[0].close()
    with open_view(tmp_path) as view:
        assert Auditor(GameFiles()).audit_entries(view.iter_bodies()).findings == []


@pytest.mark.requirement("E-13", "S-52")
def test_a_bet_raised_above_the_credits_stakes_nothing_and_passes_the_audit(seats):
    """The others' games record the bet as it was when betting closed; the game of that bet is refused."""
    rooms = seats(GAME, count=3)
    rooms[0].machine.random_service = script_cards(NATURAL, 6)
    credit_cents, too_much = 500, {"a-cheval": 12, "tableau-2": 10}
    for rig, bets in zip(rooms, BETS, strict=True):
        rig.insert(credit_cents)
        rig.machine.random_service = rooms[0].machine.random_service
        rig.engine.handle(EventType.SELECT_BET, value=sum(bets.values()), options={"bets": bets})
        rig.engine.handle(EventType.PLAY)
    rooms[2].engine.handle(EventType.SELECT_BET, value=sum(too_much.values()), options={"bets": too_much})
    rooms[0].machine.component(SharedTables).close_betting(rooms[0].machine.games[GAME].digest)
    assert [find_open_game(rig.machine) is None for rig in rooms] == [False, False, True]
    assert rooms[2].credit_cents == credit_cents
    assert find_open_game(rooms[0].machine).wager.options["others"]["2"] == too_much
    for rig in rooms[:2]:
        rig.report_shown()
    assert [rig.state for rig in rooms] == [State.IDLE] * 3
