"""If a player's act at a shared table is refused, the screen says why, and no money moves."""

from dataclasses import dataclass
from functools import cache

import pytest
import test_chemin_in_common as chemin
import test_player_bank_in_common as player_bank
import test_poker_room_in_common as room
from rigs.rounds import TURN_SECONDS_MAX

from egm.app.view import build_game_view, build_snapshot
from egm.config.cabinet_file import GameTable
from egm.kernel.events import EventType
from egm.kernel.messages import Hello
from egm.play.installed_games import admit_games
from egm.play.records.games import find_open_game
from egm.profiles import load_profile
from egm.screen.layout import LANDSCAPE_LAYOUT
from egm.screen.message_reducer import apply_message
from egm.screen.painter import Painter
from egm.screen.scenes.drawing_context import DrawingContext
from egm.screen.scenes.status import format_notice
from egm.screen.text import Texts
from egm.screen.theme import load_theme
from egm.screen.view import View
from egm.seats.decisions import apply_recorded_steps, decide_overdue_turns


@cache
def list_game_views(game):
    games, _ = admit_games((GameTable(game=game),), load_profile("generic"))
    return tuple(build_game_view(game, includes_advice=True) for game in games.values())


@cache
def create_painter():
    return Painter(load_theme())


def read_notice(rig, language):
    """Return what the position's screen shows of the machine's latest notice."""
    messages = (
        Hello(games=list_game_views(rig.machine.selection.game_id)),
        build_snapshot(rig.engine),
    )
    view = View(now=100.0, last_activity_at=100.0)
    for message in (*messages, *rig.hands.messages):
        view = apply_message(view, message)
    return format_notice(
        DrawingContext(create_painter(), Texts(language), LANDSCAPE_LAYOUT, view), rig.machine.notice
    )


def answer_with(position, value):
    """Return the act of a player who sends this answer at a table of poker."""

    def act(rooms):
        rooms[position].engine.handle(EventType.CHOOSE, value=value)
        return rooms[position]

    return act


def ask_who_can_only_call(rooms):
    """Let the button go all in with as much as the others have."""
    room.sit_down(rooms)
    room.answer(rooms, "all-in")


def let_time_pass(rooms):
    """Let the button's time run out, so that the table folds its hand."""
    room.sit_down(rooms)
    decide_overdue_turns(room.table_of(rooms))
    rooms[0].clock.pass_seconds(TURN_SECONDS_MAX + 1)
    decide_overdue_turns(room.table_of(rooms))
    assert find_open_game(rooms[0].machine).steps[-1].choice == "fold"


def insert_little(rooms):
    for rig in rooms:
        rig.insert(5_000)


def bet_too_large_stack(rooms):
    stack = rooms[0].credit_cents // room.CENTS + 1
    rooms[0].engine.handle(EventType.SELECT_BET, value=stack, options={"bets": {"stack": stack}})
    rooms[0].engine.handle(EventType.PLAY)
    return rooms[0]


def win_as_bank(rooms):
    """Let position 1 win with its bank of 40; 78 must stand in the next round."""
    player_bank.with_credit(rooms)
    chemin.deal(rooms, chemin.FIVE)
    lay_bank_and_stakes(rooms)
    chemin.close(rooms)
    rooms[1].engine.handle(EventType.CHOOSE, value="stand")
    apply_recorded_steps(room.table_of(rooms))
    chemin.end(rooms)


def lay_bank_and_stakes(rooms):
    chemin.lay(rooms[0], bank=40)
    for rig in rooms[1:]:
        chemin.lay(rig, stake=20)


def keep_part_of_bank(rooms):
    lay_bank_and_stakes(rooms)
    chemin.close(rooms)
    return rooms[0]


def withdraw_bank(rooms):
    """Withdraw the only bank before betting closes."""
    lay_bank_and_stakes(rooms)
    rooms[0].engine.handle(EventType.SELECT_BET, value=20, options={"bets": {"stake": 20}})
    chemin.lay(rooms[0], stake=20)
    chemin.close(rooms)
    return rooms[2]


def offer_bank(rooms):
    """Offer the bank to the first of two players in a first round, where neither has won anything."""
    player_bank.with_credit(rooms)
    for rig in rooms:
        player_bank.lay(rig, stake=player_bank.STAKE)
    player_bank.hold_round(rooms)


def bet_too_large_bank(rooms):
    bank = rooms[0].credit_cents // player_bank.CENTS // 20 * 20
    bets = {"stake": 20, "bank": bank}
    rooms[0].engine.handle(EventType.SELECT_BET, value=20 + bank, options={"bets": bets})
    rooms[0].engine.handle(EventType.PLAY)
    return rooms[0]


@dataclass(frozen=True)
class Case:
    """The act of a player at a prepared table, and the start of the text on the screen."""

    prepare: object
    act: object
    says: str
    says_in_french: str
    game: str = room.GAME


OFFERED = "Not offered now. Your choices: FOLD / CALL"
OFFERED_IN_FRENCH = "Cela n’est pas offert maintenant. Vos choix : ABANDONNER / SUIVRE"
CASES = {
    "out of turn": Case(
        room.sit_down,
        answer_with(1, "call"),
        "Another player’s turn: your key had no effect",
        "Un autre joueur doit décider : votre touche n’a eu aucun effet",
    ),
    "above the stack": Case(
        room.sit_down,
        answer_with(0, "raise-1000"),
        "This choice is not offered now: choose one of those shown",
        "Ce choix n’est pas offert maintenant : choisissez parmi les choix affichés",
    ),
    "below the least raise": Case(ask_who_can_only_call, answer_with(1, "raise"), OFFERED, OFFERED_IN_FRENCH),
    "after its time": Case(
        let_time_pass, answer_with(0, "call"), "Your time was up", "Votre temps est écoulé"
    ),
    "stack above the credit": Case(
        insert_little, bet_too_large_stack, "This bet needs $50.25", "Cette mise exige 50,25 $"
    ),
    "part of the bank": Case(
        win_as_bank,
        keep_part_of_bank,
        "Your bets were not accepted: the player who holds the bank must first bring it back to at least 78 credits",
        "Vos mises n’ont pas été acceptées : le joueur qui tient la banque doit d’abord la remettre à au moins 78 crédits",
        chemin.GAME,
    ),
    "bank withdrawn": Case(
        player_bank.with_credit,
        withdraw_bank,
        "Your bets were not accepted: nobody holds the bank",
        "Vos mises n’ont pas été acceptées : personne ne tient la banque",
        chemin.GAME,
    ),
    "bank above the credit": Case(
        offer_bank, bet_too_large_bank, "This bet needs $", "Cette mise exige ", "quebec-super-pan-9"
    ),
}


@pytest.mark.requirement("S-18", "S-33", "S-51")
@pytest.mark.parametrize("name", CASES)
def test_a_refusal_says_why_and_moves_no_money(seats, tmp_path, name):
    case = CASES[name]
    rooms = seats(case.game, count=4 if case.game == chemin.GAME else 3)
    case.prepare(rooms)
    before = [(rig.credit_cents, find_open_game(rig.machine)) for rig in rooms]
    rig = case.act(rooms)
    assert [(rig.credit_cents, find_open_game(rig.machine)) for rig in rooms] == before
    assert read_notice(rig, "en").startswith(case.says), read_notice(rig, "en")
    assert read_notice(rig, "fr").replace("\u00a0", " ").startswith(case.says_in_french), read_notice(
        rig, "fr"
    )
    player_bank.check_audit(rooms, tmp_path)
