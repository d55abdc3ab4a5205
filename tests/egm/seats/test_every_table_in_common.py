"""Every table that deals hands, played by several positions: one deal, decisions in turn, separate money."""

import pytest
from rigs.seated import DEALT_FACE_DOWN, SEATED_GAMES, is_hidden

from egm.kernel.events import EventType, State
from egm.play.records.games import find_open_game
from egm.seats.decisions import apply_recorded_steps
from egm.seats.table import SharedTables
from meters import open_view
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

CREDIT_CENTS = 10_000


def lay_forms(rooms, game):
    """Place a bet of the game's first form at every position with credit."""
    rules = rooms[0].machine.games[game].rules
    bets = dict(rules.definition.preset_bets[0].bets)
    for rig in rooms:
        rig.insert(CREDIT_CENTS)
        rig.engine.handle(EventType.SELECT_BET, value=sum(bets.values()), options={"bets": bets})
        rig.engine.handle(EventType.PLAY)
        assert rig.state is State.BETTING, rig.notice
    rooms[0].machine.component(SharedTables).close_betting(rooms[0].machine.games[game].digest)
    assert [rig.state for rig in rooms] == [State.PLAYING] * len(rooms)


def answer_next(rooms):
    """Let the deciding seat give its last answer and pass it to the others; return False if none is deciding."""
    for rig in rooms:
        shown = rig.hands.messages[-1]
        if getattr(shown, "options", ()):
            rig.engine.handle(EventType.CHOOSE, value=shown.options[-1])
            apply_recorded_steps(rig.machine.component(SharedTables))
            return True
    return False


def check_hidden(rooms, game):
    """Check that during a decision no screen has another position's face-down cards."""
    for rig in rooms:
        shown = rig.hands.messages[-1]
        for hand in shown.display["hands"] if game in DEALT_FACE_DOWN and hasattr(shown, "options") else ():
            assert hand.get("own") or "seat" not in hand or is_hidden(hand)


def check_end(rooms, folder):
    """Check that each player has the return of their own bets, and that the audit has no findings."""
    games = [find_open_game(rig.machine) for rig in rooms]
    assert len({game.round_id for game in games}) == 1
    assert len({game.steps for game in games}) == 1
    for rig, game in zip(rooms, games, strict=True):
        assert game.outcome is not None
        rig.report_shown()
        if rig.state is State.HANDPAY:
            continue
        assert rig.state is State.IDLE
        won_cents = game.outcome.returned_credits * game.denomination_cents
        assert rig.credit_cents == CREDIT_CENTS - game.staked_cents + won_cents
    rooms[0].journal.self_audit()
    rooms[0].close()
    with open_view(folder) as view:
        assert Auditor(GameFiles()).audit_entries(view.iter_bodies()).findings == []


@pytest.mark.requirement("B-01", "O-01", "P-01")
@pytest.mark.parametrize("game", SEATED_GAMES)
def test_three_positions_play_one_round_of_every_table_that_deals_hands(seats, tmp_path, game):
    rooms = seats(game, count=3)
    lay_forms(rooms, game)
    check_hidden(rooms, game)
    while answer_next(rooms):
        check_hidden(rooms, game)
    check_end(rooms, tmp_path)


@pytest.mark.requirement("A-05", "B-01")
@pytest.mark.parametrize("game", DEALT_FACE_DOWN)
def test_after_a_power_loss_between_two_answers_the_round_goes_on_with_the_same_cards(seats, tmp_path, game):
    rooms = seats(game, count=3)
    lay_forms(rooms, game)
    answer_next(rooms)
    before = [find_open_game(rig.machine).steps for rig in rooms]
    rooms[0].close()
    rooms = seats(game, count=3)
    assert [find_open_game(rig.machine).steps for rig in rooms] == before
    check_hidden(rooms, game)
    while answer_next(rooms):
        check_hidden(rooms, game)
    check_end(rooms, tmp_path)


@pytest.mark.requirement("S-20", "S-24")
@pytest.mark.parametrize("game", ["quebec-pai-gow", "quebec-caribbean-stud"])
def test_seven_positions_play_one_round(seats, tmp_path, game):
    rooms = seats(game, count=7)
    lay_forms(rooms, game)
    decision_count = 0
    while answer_next(rooms):
        decision_count += 1
    assert decision_count == 7
    check_end(rooms, tmp_path)
