"""A visit on the real machine: the state machine with its journal, and a screen that receives its messages.

Where a test needs a certain outcome, the draws are scripted: three maple leaves (60 credits), three canoes (10
credits), a loss.
"""

from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest

from egm.app.view import build_game_view, build_snapshot
from egm.app.wiring import build_event_from_intent, find_lit_tower_lights
from egm.gaming_day import GamingDay
from egm.kernel.events import EventType
from egm.kernel.games import InstalledGames
from egm.kernel.messages import Hello, Notice
from egm.screen.input_reducer import apply_action
from egm.screen.layout import LANDSCAPE_LAYOUT
from egm.screen.message_reducer import advance_time, apply_message
from egm.screen.painter import Painter
from egm.screen.picture import Picture
from egm.screen.scenes import bonus
from egm.screen.scenes.deck import compute_meter_amounts
from egm.screen.scenes.drawing_context import DrawingContext
from egm.screen.scenes.game_field import find_last_step
from egm.screen.scenes.lockup import describe_lockup
from egm.screen.scenes.reel_wins import find_highlighted_win
from egm.screen.scenes.status import choose_status_text_and_colour, format_notice
from egm.screen.scenes.wheel_game import draw_wheel_side_panels
from egm.screen.text import Texts
from egm.screen.view import Action, Scene, View, build_view_timeline, is_presentation_running
from egm.screen.wheel_stakes import read_area_stakes
from egm.testing.machine import MachineRig, ScriptedGenerator, create_generator
from rng import Draw
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

MAPLES, CANOES, LOSS = (23, 7, 5), (2, 1, 3), (0, 0, 0)
GAMES = ("maple-classic", "aurora-twenty")


class Turning:
    """A random service with different numbers at each draw, and the same numbers in every run."""

    def __init__(self):
        self.turn = 0

    def step(self):
        self.draws = []
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def below(self, bound, purpose=""):
        self.turn += 37
        self.draws.append(Draw(bound, self.turn % bound, purpose))
        return self.turn % bound

    def reseed(self, reason):
        pass


class Visit:
    """A machine and its screen; time passes only when a test advances it."""

    def __init__(self, folder, theme, *draws, games=GAMES, devices=("printer",)):
        self.theme = theme
        self.room = MachineRig(
            folder, generator=ScriptedGenerator(*draws) if draws else Turning(), games=games, devices=devices
        )
        self.message_count = 0
        self.view = View(now=100.0, last_activity_at=100.0)
        self.room.boot()
        self.greet()

    def greet(self):
        installed = self.room.machine.games
        games = tuple(
            build_game_view(_resident(self.room, game_id, game)) for game_id, game in installed.items()
        )
        self.view = apply_message(self.view, Hello(games=games))
        self.listen()

    def listen(self):
        """Apply all messages sent since the last call in the link's order, the snapshot first."""
        self.view = apply_message(self.view, build_snapshot(self.room.engine))
        for message in self.room.hands.messages[self.message_count :]:
            self.view = apply_message(self.view, message)
        self.message_count = len(self.room.hands.messages)

    def do(self, act, *args, **kwargs):
        """Execute an act on the machine, and let the screen receive the resulting messages."""
        act(*args, **kwargs)
        self.listen()
        return self

    def submit_event(self, event, **values):
        return self.do(self.room.engine.handle, event, **values)

    def press(self, name, value=None):
        """Press a key; return the names of the requests that the machine received."""
        self.view, messages = apply_action(self.view, Action(name, value), self.theme)
        return self.send(messages)

    def send(self, messages):
        for message in messages:
            self.do(self.room.submit_event, build_event_from_intent(message, self.room.engine.rules.payloads))
        return [message.name for message in messages]

    def wait(self, seconds, step=0.05):
        """Let time pass, and send the requests that the screen makes by itself."""
        sent = []
        for _ in range(round(seconds / step)):
            self.view, messages = advance_time(self.view, self.view.now + step, self.theme)
            sent += self.send(messages)
        return sent

    def play_out(self):
        """Press PLAY, and wait until the whole game has been shown."""
        assert self.press("play") == ["play"]
        self.wait(12.0)
        assert self.view.snapshot.state == "idle"
        return self

    @property
    def context(self):
        return DrawingContext(
            Painter(self.theme), Texts(self.view.snapshot.language), LANDSCAPE_LAYOUT, self.view
        )

    @property
    def bar(self):
        return choose_status_text_and_colour(self.context)[0]


def _resident(rig, game_id, game):
    from egm.play.installed_games import InstalledGame
    from egm.progressive.pools import ProgressivePools

    return InstalledGame(
        game,
        rig.machine.denominations_cents[game_id],
        rig.machine.component(InstalledGames).lowest_return_by_game[game_id],
        ProgressivePools(),
    )


@pytest.fixture
def visit(tmp_path, theme):
    visits = []

    def make(*draws, **options):
        visits.append(Visit(tmp_path / str(len(visits)), theme, *draws, **options))
        return visits[-1]

    yield make
    for opened_visit in visits:
        opened_visit.room.close()


# ------------------------------------------------------------------ nothing of one game stays on the next
def test_the_win_and_message_of_a_game_are_removed_at_the_next(visit):
    player_visit = visit(*MAPLES)
    player_visit.do(player_visit.room.insert, 2000).play_out()
    assert player_visit.view.snapshot.paid_cents == 300
    assert "3.00" in player_visit.bar
    assert compute_meter_amounts(player_visit.context).win_cents == 300
    player_visit.press("game", "aurora-twenty")
    assert player_visit.view.snapshot.game_id == "aurora-twenty"
    assert compute_meter_amounts(player_visit.context).win_cents == 0
    assert "3.00" not in player_visit.bar
    assert find_last_step(player_visit.view) is None
    player_visit.press("game", "maple-classic")
    assert player_visit.view.snapshot.paid_cents == 300  # the last game of this player on this game


@pytest.mark.requirement("C-16")
def test_the_last_bet_result_and_win_stay_visible_until_the_player_acts(visit):
    player_visit = visit(*MAPLES)
    player_visit.do(player_visit.room.insert, 2000).submit_event(EventType.SELECT_BET, value=2).play_out()
    for _ in range(2):
        figures = compute_meter_amounts(player_visit.context)
        assert (figures.bet_credits, figures.win_cents) == (2, 600)
        assert find_last_step(player_visit.view).stops == MAPLES
        assert "6.00" in player_visit.bar
        player_visit.wait(10)
    player_visit.view = View(now=player_visit.view.now, last_activity_at=player_visit.view.now)
    player_visit.greet()  # a screen that starts again shows them too
    figures = compute_meter_amounts(player_visit.context)
    assert (figures.bet_credits, figures.win_cents) == (2, 600)
    assert find_last_step(player_visit.view).stops == MAPLES
    player_visit.submit_event(EventType.SELECT_BET, value=1)
    assert compute_meter_amounts(player_visit.context).bet_credits == 1


@pytest.mark.requirement("C-16", "C-15:b")
def test_a_restarted_screen_shows_the_last_result_and_its_winning_line(visit):
    player_visit = visit(*MAPLES)
    player_visit.do(player_visit.room.insert, 2000).play_out()
    player_visit.view, player_visit.message_count = (
        View(now=300.0, last_activity_at=300.0),
        len(player_visit.room.hands.messages),
    )
    player_visit.greet()
    assert player_visit.view.presentation is None
    assert find_last_step(player_visit.view).stops == MAPLES
    assert (
        compute_meter_amounts(player_visit.context).win_cents,
        find_highlighted_win(player_visit.context).credits,
    ) == (300, 60)


@pytest.mark.requirement("N-01:c")
def test_the_screen_is_sent_the_time_of_day_and_the_zone_of_the_venue(tmp_path, theme):
    room = MachineRig(tmp_path, gaming_day=GamingDay("America/Toronto"))
    view = apply_message(View(now=100.0), build_snapshot(room.engine))
    utc = room.clock.now()
    shown = Picture(theme).find_texts(view).format_time_of_day(view.time_utc)
    assert shown == Texts("en", ZoneInfo("America/Toronto")).format_time_of_day(utc.isoformat())
    assert shown != Texts("en", ZoneInfo("UTC")).format_time_of_day(utc.isoformat())
    room.close()


@pytest.mark.requirement("F-08")
def test_the_cash_out_key_is_lit_and_pays_at_rest_and_not_while_a_game_is_played(visit):
    player_visit = visit(*MAPLES, 0)
    player_visit.do(player_visit.room.insert, 2000)
    assert player_visit.view.is_request_accepted("cash_out")
    player_visit.press("play")
    assert not player_visit.view.is_request_accepted("cash_out")
    player_visit.press("cash_out")
    assert (player_visit.view.snapshot.state, player_visit.view.snapshot.credit_cents) == ("playing", 1995)
    player_visit.wait(12.0)
    assert player_visit.view.is_request_accepted("cash_out")
    player_visit.press("cash_out")
    assert (player_visit.view.snapshot.state, player_visit.view.snapshot.credit_cents) == ("paying", 0)


def test_after_cash_out_the_status_line_says_where_the_money_is(visit):
    player_visit = visit(*MAPLES)
    player_visit.do(player_visit.room.insert, 2000).play_out()
    player_visit.room.machine.random_service = create_generator()
    player_visit.do(player_visit.room.cash_out_ticket)
    assert compute_meter_amounts(player_visit.context).win_cents == 0
    assert player_visit.bar == "Thank you! Please take your ticket: $22.95"
    player_visit.wait(20)
    assert player_visit.bar == "Thank you! Please take your ticket: $22.95"
    player_visit.wait(15)
    assert player_visit.bar == "Insert a bill or a ticket to play"
    player_visit.do(player_visit.room.insert, 500)  # the next player: nothing of the last one's is seen again
    assert player_visit.view.snapshot.paid_cents == compute_meter_amounts(player_visit.context).win_cents == 0
    assert player_visit.bar == "$5.00 added to your credits"
    player_visit.wait(6)
    assert player_visit.bar == "Choose your bet, then press PLAY"


def test_a_restart_does_not_show_the_last_players_win_again(visit, tmp_path):
    player_visit = visit(*MAPLES, devices=())
    player_visit.do(player_visit.room.insert, 2000).play_out()
    player_visit.submit_event(EventType.CASH_OUT).submit_event(EventType.KEY_TURNED, key="attendant")
    player_visit.do(player_visit.room.insert, 500)
    player_visit.room.close()
    rig = MachineRig(tmp_path / "0", games=GAMES).boot()
    assert rig.credit_cents == 500
    assert build_snapshot(rig.engine).paid_cents == 0
    notice_text = format_notice(player_visit.context, build_snapshot(rig.engine).notices[0])
    assert notice_text == "The machine has restarted. Your credits are safe: $5.00"
    rig.close()


def test_standing_bets_at_another_game_are_shown_with_its_name(visit):
    player_visit = visit(*MAPLES)
    notice = Notice(code="bets_stay_elsewhere", values={"amount_cents": 625, "game": "maple-classic"})
    title = player_visit.context.view.game_by_id["maple-classic"].title["en"]
    assert format_notice(player_visit.context, notice).startswith(
        f"Your bet of $6.25 in {title} cannot be taken back"
    )


def test_a_hand_pay_ends_with_paid_by_the_attendant(visit):
    player_visit = visit(devices=())
    player_visit.do(player_visit.room.insert, 2000)
    player_visit.submit_event(EventType.TOGGLE_SERVICE_CALL)
    player_visit.submit_event(EventType.CASH_OUT)
    assert player_visit.view.snapshot.state == "handpay"
    player_visit.submit_event(EventType.KEY_TURNED, key="attendant")
    assert player_visit.bar == "Paid by the attendant: $20.00. Thank you!"


def test_a_message_disappears_with_its_cause(visit):
    """A closed door is not announced again after a jam; a refusal disappears with the state that caused it."""
    player_visit = visit(*MAPLES)
    player_visit.do(player_visit.room.insert, 2000)
    player_visit.submit_event(EventType.DOOR_OPENED, door="belly").submit_event(
        EventType.DOOR_CLOSED, door="belly"
    )
    assert player_visit.bar == "Door closed. Your credits are safe: $20.00"
    player_visit.wait(60)
    player_visit.submit_event(EventType.FAULT_RAISED, code="bill_acceptor.jam")
    player_visit.submit_event(EventType.FAULT_CLEARED, code="bill_acceptor.jam")
    assert "Door closed" not in player_visit.bar
    player_visit.press("play")
    player_visit.press("cash_out")
    assert player_visit.bar == "Please wait until the game is over"
    player_visit.wait(8.0)
    assert player_visit.view.snapshot.state == "idle"
    assert "Please wait" not in player_visit.bar


@pytest.mark.requirement("G-12:a")
def test_a_jam_says_where_the_bill_is_and_calls_an_attendant(visit):
    player_visit = visit()
    player_visit.do(player_visit.room.offer, 500)
    player_visit.submit_event(EventType.FAULT_RAISED, code="bill_acceptor.jam")
    words = (
        "Bill jam: your $5.00 is held, not lost. An attendant has been called: "
        "the amount will be paid, credited or returned"
    )
    assert player_visit.bar == words
    assert "service" in find_lit_tower_lights(player_visit.view.snapshot)
    player_visit.wait(60)
    statuses = {
        choose_status_text_and_colour(
            replace(player_visit.context, view=replace(player_visit.view, now=player_visit.view.now + i))
        )[0]
        for i in range(12)
    }
    assert words in statuses


@pytest.mark.requirement("G-12:a")
def test_after_the_logic_door_the_screen_asks_for_a_technician_who_examines_seals_and_board(visit):
    player_visit = visit()
    player_visit.submit_event(EventType.DOOR_OPENED, door="logic")
    opened = describe_lockup(player_visit.context, Scene.DOOR)
    assert opened.remedy == "Close the door. A technician must then examine the seals and the logic board."
    player_visit.submit_event(EventType.DOOR_CLOSED, door="logic")
    player_visit.submit_event(EventType.FAULT_RAISED, code="unidentified_opening", detail="logic")
    closed = describe_lockup(player_visit.context, Scene.TILT)
    assert "The seals and the logic board must be examined." in closed.lines
    assert closed.remedy == "A technician must clear this fault."
    player_visit.submit_event(EventType.KEY_TURNED, key="attendant")
    assert player_visit.view.snapshot.state == "tilt"


@pytest.mark.requirement("G-12:a")
def test_a_fault_that_stops_the_machine_says_what_is_wrong_and_who_clears_it(visit):
    player_visit = visit()
    player_visit.submit_event(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
    lockup = describe_lockup(player_visit.context, Scene.TILT)
    assert "Bill acceptor: fraud suspected" in (lockup.title, lockup.headline, *lockup.lines)
    assert lockup.remedy == "An attendant can clear this fault with the attendant key."


@pytest.mark.requirement("C-18")
def test_the_player_of_a_machine_with_two_languages_reads_it_in_french(visit):
    player_visit = visit()
    player_visit.do(player_visit.room.insert, 2000).wait(10)
    assert player_visit.bar == "Choose your bet, then press PLAY"
    assert player_visit.press("language") == ["language"]
    assert player_visit.bar == "Choisissez votre mise, puis appuyez sur JOUER"


@pytest.mark.requirement("N-05")
@pytest.mark.parametrize(("profile", "balance"), [("quebec-casino", "20,00 $"), ("monaco", "20,00 €")])
def test_amounts_are_in_the_currency_of_the_jurisdiction(tmp_path, theme, profile, balance):
    room = MachineRig(tmp_path, profile=profile).boot().insert(2000)
    view = apply_message(View(now=100.0), build_snapshot(room.engine))
    shown = Picture(theme)._build_context(view).format_money(view.snapshot.credit_cents)
    assert shown.replace("\xa0", " ") == balance
    room.close()


@pytest.mark.requirement("F-07:b")
@pytest.mark.parametrize(
    ("code", "explanation"),
    [
        ("jam", "No ticket possible: the paper is jammed in the printer."),
        ("paper_out", "No ticket possible: the printer is out of paper."),
        ("head_up", "No ticket possible: the printer has a fault."),
    ],
)
def test_a_printer_fault_is_named_and_no_hand_pay_is_requested_with_a_ticket_offer(visit, code, explanation):
    player_visit = visit()
    player_visit.do(player_visit.room.insert, 2000)
    player_visit.submit_event(EventType.FAULT_RAISED, code=f"ticket_printer.{code}")
    player_visit.submit_event(EventType.CASH_OUT)
    waits = describe_lockup(player_visit.context, Scene.HANDPAY)
    assert (waits.headline, waits.lines[0]) == ("$20.00", explanation)
    assert "pay the player" in waits.remedy
    player_visit.submit_event(EventType.FAULT_CLEARED, code=f"ticket_printer.{code}")
    offered = describe_lockup(player_visit.context, Scene.HANDPAY)
    assert offered.lines[0] == "A ticket can now be printed instead of the hand-pay: press CASH OUT."
    assert not any("No ticket" in line or "paid to you by an attendant" in line for line in offered.lines)
    assert offered.remedy == "Attendant: first ask whether the player wants a ticket or a hand-pay."
    player_visit.submit_event(EventType.CASH_OUT)
    assert describe_lockup(player_visit.context, Scene.HANDPAY).remedy.startswith("Attendant: do not pay")
    assert Auditor(GameFiles()).audit_entries(player_visit.room.journal.iter_bodies()).findings == []


def test_a_call_ends_when_an_attendant_has_paid_by_hand(visit):
    player_visit = visit(*LOSS, devices=())
    player_visit.do(player_visit.room.insert, 2000).submit_event(EventType.TOGGLE_SERVICE_CALL)
    assert any(notice.code == "service_called" for notice in player_visit.view.snapshot.notices)
    player_visit.submit_event(EventType.CASH_OUT).submit_event(EventType.KEY_TURNED, key="attendant")
    check_call_ended(player_visit)


def test_a_call_ends_when_an_attendant_has_cleared_a_tilt(visit):
    player_visit = visit(*LOSS)
    player_visit.do(player_visit.room.insert, 2000).submit_event(EventType.TOGGLE_SERVICE_CALL)
    player_visit.submit_event(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
    player_visit.submit_event(EventType.KEY_TURNED, key="attendant")
    check_call_ended(player_visit)


def test_a_call_ends_when_a_tilt_is_cleared_and_another_stays(visit):
    player_visit = visit(*LOSS)
    player_visit.do(player_visit.room.insert, 2000).submit_event(EventType.TOGGLE_SERVICE_CALL)
    player_visit.submit_event(EventType.DOOR_OPENED, door="logic").submit_event(
        EventType.DOOR_CLOSED, door="logic"
    )
    player_visit.submit_event(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
    player_visit.submit_event(EventType.KEY_TURNED, key="attendant")
    assert player_visit.view.snapshot.state == "tilt"
    check_call_ended(player_visit)


def test_a_call_ends_when_a_host_has_reset_the_hand_pay(visit):
    player_visit = visit(*LOSS, devices=())
    player_visit.do(player_visit.room.insert, 2000).submit_event(EventType.TOGGLE_SERVICE_CALL)
    player_visit.submit_event(EventType.CASH_OUT).submit_event(
        EventType.HANDPAY_RESET_BY_HOST, key="host:main"
    )
    check_call_ended(player_visit)


def test_a_call_ends_when_a_ticket_replaces_the_hand_pay(visit):
    player_visit = visit(*LOSS)
    player_visit.do(player_visit.room.insert, 2000).submit_event(EventType.TOGGLE_SERVICE_CALL)
    player_visit.submit_event(EventType.FAULT_RAISED, code="ticket_printer.jam").submit_event(
        EventType.CASH_OUT
    )
    player_visit.submit_event(EventType.FAULT_CLEARED, code="ticket_printer.jam").submit_event(
        EventType.CASH_OUT
    )
    player_visit.submit_event(EventType.KEY_TURNED, key="attendant")
    assert player_visit.view.snapshot.handpay is None
    check_call_ended(player_visit)


def check_call_ended(player_visit):
    """Check that the call has ended, that the journal records it once, and that the audit has no findings."""
    assert not any(notice.code == "service_called" for notice in player_visit.view.snapshot.notices)
    assert "service" not in find_lit_tower_lights(player_visit.view.snapshot)
    assert len(player_visit.room.records("service.answered")) == 1
    assert Auditor(GameFiles()).audit_entries(player_visit.room.journal.iter_bodies()).findings == []


@pytest.mark.requirement("J-02")
def test_for_other_doors_the_screen_asks_only_to_close_them(visit):
    player_visit = visit()
    player_visit.submit_event(EventType.DOOR_OPENED, door="main")
    lockup = describe_lockup(player_visit.context, Scene.DOOR)
    assert (lockup.headline, lockup.remedy) == ("Main door", "Close the door to continue.")


# ------------------------------------------------------------------ the rhythm of PLAY
def test_play_stops_the_reels_then_ends_the_roll_up_and_starts_the_next_game(visit):
    player_visit = visit(*CANOES, *LOSS)
    player_visit.do(player_visit.room.insert, 2000)
    assert player_visit.press("play") == ["play"]
    player_visit.wait(0.3)
    full_timeline = build_view_timeline(player_visit.view, player_visit.theme)
    assert player_visit.press("play") == []  # the reels stop
    stopped = build_view_timeline(player_visit.view, player_visit.theme)
    assert stopped.last_stop_seconds < full_timeline.last_stop_seconds - 0.5
    player_visit.wait(stopped.last_stop_seconds - 0.2)
    assert is_presentation_running(player_visit.view, player_visit.theme)
    assert player_visit.press("play") == []  # counted, and the next game is asked for
    assert compute_meter_amounts(player_visit.context).win_cents == 50
    assert player_visit.room.records("game.start")[1:] == []
    assert player_visit.wait(1.0) == ["shown", "play"]
    assert len(player_visit.room.records("game.start")) == 2
    assert player_visit.room.credit_cents == 2000 - 5 + 50 - 5


def test_one_press_while_a_win_counts_stakes_once(visit):
    player_visit = visit(*CANOES, *LOSS, *LOSS)
    player_visit.do(player_visit.room.insert, 2000).press("play")
    player_visit.wait(build_view_timeline(player_visit.view, player_visit.theme).last_stop_seconds + 0.1)
    player_visit.press("play")
    player_visit.wait(30)
    assert player_visit.view.snapshot.state == "idle"
    assert len(player_visit.room.records("game.start")) == 2


@pytest.mark.parametrize("page", ["help", "games"])
def test_play_under_an_open_page_closes_it_and_stakes_nothing(visit, page):
    player_visit = visit(*LOSS)
    player_visit.do(player_visit.room.insert, 2000).press(page)
    assert player_visit.view.player_page.value == page
    assert player_visit.press("play") == []
    assert player_visit.view.player_page.value == "none"
    assert player_visit.room.credit_cents == 2000
    assert player_visit.press("play") == ["play"]
    assert player_visit.press(page) == []  # and none is opened over a game
    assert player_visit.view.player_page.value == "none"


def test_a_requested_game_is_not_staked_if_the_player_changes_the_bet(visit):
    player_visit = visit(*CANOES, *LOSS)
    player_visit.do(player_visit.room.insert, 2000).press("play")
    player_visit.wait(build_view_timeline(player_visit.view, player_visit.theme).last_stop_seconds + 0.1)
    player_visit.press("play")
    player_visit.press("bet_less")
    player_visit.wait(30)
    assert len(player_visit.room.records("game.start")) == 1


def test_after_the_greatest_wins_a_press_ends_only_the_roll_up(visit):
    player_visit = visit(*MAPLES, *LOSS)
    player_visit.do(player_visit.room.insert, 2000).press("play")
    player_visit.wait(build_view_timeline(player_visit.view, player_visit.theme).last_stop_seconds + 0.1)
    assert player_visit.press("play") == []
    assert compute_meter_amounts(player_visit.context).win_cents == 300
    assert player_visit.wait(5) == ["shown"]
    assert player_visit.press("play") == ["play"]


# ------------------------------------------------------------------ stakes on a layout
@pytest.mark.requirement("P-05", "P-06", "P-07")
def test_wheel_bets_keep_their_chips_until_the_wheel_stops(visit, theme, monkeypatch):
    """Québec by-law, ss. 118 and 119: before closing the betting, the player sees each stake at its area."""
    player_visit = visit(games=("river-wheel",))
    player_visit.do(player_visit.room.insert, 2000)
    for area in ("bear", "bear", "bear", "otter"):
        assert player_visit.press("area", area) == ["bet"]
    chips = []
    text = Painter.draw_text
    monkeypatch.setattr(
        Painter,
        "draw_text",
        lambda self, words, *arguments, **options: (
            chips.append(words) or text(self, words, *arguments, **options)
        ),
    )
    draw_wheel_side_panels(player_visit.context)
    lying = read_area_stakes(player_visit.view.game, player_visit.view.snapshot)
    names = {
        area["id"]: player_visit.context.texts.choose_translation(area["name"])
        for area in player_visit.view.game.presentation["areas"]
    }
    assert lying == {"bear": 5, "otter": 2}
    drawn = {area: chips[chips.index(names[area]) + 2] for area in lying}
    assert drawn == {area: str(stake) for area, stake in lying.items()}
    assert player_visit.press("play") == ["play"]
    started = player_visit.room.records("game.start")[-1]
    assert started["wager"]["options"]["bets"] == lying
    staked_cents = sum(lying.values()) * started["denomination_cents"]
    assert player_visit.room.journal.meters().get_value("coin_in") == staked_cents
    # betting is closed: no stake is laid, moved or taken back, by the screen or by whoever speaks for it
    assert player_visit.press("area", "star") == []
    player_visit.submit_event(EventType.SELECT_BET, value=5, options={"bets": {"star": 5}})
    player_visit.wait(12.0)
    assert player_visit.view.snapshot.state == "idle"
    assert len(player_visit.room.records("game.start")) == 1
    assert player_visit.room.journal.meters().get_value("coin_in") == staked_cents


# ------------------------------------------------------------------ what is bought, and for how much
@pytest.mark.requirement("C-16")
def test_a_keno_ticket_states_its_kind_and_price_before_it_is_bought(visit):
    player_visit = visit(games=("aurora-keno",))
    player_visit.do(player_visit.room.insert, 2000)
    unit_cents = player_visit.view.snapshot.denomination_cents
    for form in player_visit.view.game.presentation["forms"]:
        player_visit.press("form", form["id"])
        price = player_visit.context.format_money(player_visit.view.snapshot.bet_credits * unit_cents)
        assert player_visit.bar == f"PLAY buys {form['name']['en']}, picked for you: {price}"
        before_cents = player_visit.room.credit_cents
        player_visit.press("play")
        assert player_visit.context.format_money(before_cents - player_visit.room.credit_cents) == price
        player_visit.wait(40)
    picked = frozenset(find_last_step(player_visit.view).way_results[0].numbers)
    gone = min(picked)
    player_visit.press("mark", gone)  # what was picked stays marked, but the number touched
    assert player_visit.view.marked_keno_slip.current_card_numbers == picked - {gone}
    count = len(picked) - 1
    assert player_visit.bar.startswith(f"PLAY buys your {count} numbers: ")
    before_cents = player_visit.room.credit_cents
    price = player_visit.bar.rpartition(": ")[2]
    player_visit.press("play")
    assert player_visit.context.format_money(before_cents - player_visit.room.credit_cents) == price
    player_visit.wait(40)
    assert player_visit.view.marked_keno_slip.current_card_numbers == picked - {gone}


def test_a_wheel_states_the_price_of_its_stakes(visit):
    player_visit = visit(games=("river-wheel",))
    player_visit.do(player_visit.room.insert, 2000)
    for area in ("otter", "bear"):
        player_visit.press("area", area)
        staked = player_visit.view.snapshot.bet_wager["bets"]
        price = player_visit.context.format_money(
            player_visit.view.snapshot.bet_credits * player_visit.view.snapshot.denomination_cents
        )
        assert (
            player_visit.bar
            == f"PLAY stakes {price} on {len(staked)} {'area' if len(staked) == 1 else 'areas'}"
        )


@pytest.mark.requirement("B-15")
@pytest.mark.parametrize("revolutions", [3, 7])
def test_pressing_play_does_not_shorten_the_wheels_minimum_turns(visit, revolutions, monkeypatch):
    """Québec by-law, s. 121: a spin of fewer turns is void; the machine shows no such spin."""
    player_visit = visit(games=("river-wheel",))
    player_visit.do(player_visit.room.insert, 2000).press("area", "bear")
    player_visit.press("play")
    shown = player_visit.view.game.presentation | {"revolutions": revolutions}
    game = player_visit.view.game.model_copy(update={"presentation": shown})
    monkeypatch.setattr(View, "game", property(lambda _: game))
    angles = []
    turned_by = bonus.compute_wheel_degrees
    monkeypatch.setattr(
        bonus, "compute_wheel_degrees", lambda *of: angles.append(turned_by(*of)) or angles[-1]
    )
    line = build_view_timeline(player_visit.view, player_visit.theme)
    began_at, step = player_visit.view.presentation.began_at, player_visit.view.presentation.steps[0]
    while (since := player_visit.view.now - began_at) < line.last_stop_seconds:
        player_visit.press("play")
        bonus.draw_wheel(
            player_visit.context,
            step,
            build_view_timeline(player_visit.view, player_visit.theme).steps[0],
            since,
        )
        player_visit.wait(0.5)
    bonus.draw_wheel(
        player_visit.context,
        step,
        build_view_timeline(player_visit.view, player_visit.theme).steps[0],
        line.last_stop_seconds,
    )
    assert angles == sorted(angles)
    assert angles[-1] >= 360 * revolutions
    assert len({int(angle // 360) for angle in angles}) > revolutions / 2, "it is seen to turn"
