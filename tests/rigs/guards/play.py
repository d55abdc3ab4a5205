"""The guards of play: bets and games of one seat and of several, standing bets, reminders, automatic rules."""

from pathlib import Path

from rigs.every_event import VALUES
from rigs.guards.alone import Arrangement, Row, arrange_state, case, extend_arrangement, handle_event, rows
from rigs.guards.integrity import insert
from rigs.guards.money import IDLE, MENU, OPEN_MENU, show_prizes, with_profile_text, with_sign_in
from rigs.guards.staff import KEY
from rigs.jackpot import GAME, OWN, PAIR, choose_bets, make_jackpot_machine, start_game
from rigs.rounds import TURN_SECONDS_MAX
from rigs.three_levels import FixedDisplays, show_linked_hit
from rigs.timed_room import write_timed_room
from rigs.voids import make_undecided_game

from egm.config.levels import LevelScope, ProgressiveLevelTable
from egm.kernel.events import EventType, State
from egm.kernel.positions import Position
from egm.kernel.states import STATES_FOR_BETTING
from egm.play.keys import PlayKey
from egm.play.records.games import find_open_game
from egm.play.records.protection import ReminderRecord
from egm.play.shared_round import PositionRounds, SharedRound
from egm.progressive.display import DisplayedAmount, LevelAmountSources, LevelStatus
from egm.seats.decisions import apply_recorded_steps, decide_overdue_turns
from egm.seats.table import SharedTables
from egm.staff.options import AMOUNT_OPTIONS
from egm.testing.machine import MachineRig, ScriptedGenerator, write_undeclared_entry

FAILED = handle_event(EventType.GENERATOR_FAILED, detail="test")
PLAYING = arrange_state(State.PLAYING)
LINKED = (
    ProgressiveLevelTable(game=GAME, level="jackpot", kind=LevelScope.LINKED, stakes={"100": "JACKPOT"}),
)
AT_LIMIT = ("[coins]", '[protection]\nlimit_spend_cents = 5\nat_limit = "cash_out"\n\n[coins]')
TAXED = ("[by_hand]", "[by_hand]\ntax_cents = 1")


def open_second_seat(folder: Path, **options) -> MachineRig:
    """Return the second of two positions at a stud table with its own jackpot, without credit."""
    rooms, table = [], SharedTables()
    for number in (1, 2):
        rig = MachineRig(
            folder,
            position=Position(number, 2),
            first_rig=rooms[0] if rooms else None,
            **{"games": (GAME,), "denominations_cents": (100,), "levels": OWN, **options},
        )
        rig.machine.install(table)
        table.register_position(
            rig.machine, rig.engine.submit, lambda rig=rig: rig.state in STATES_FOR_BETTING
        )
        rooms.append(rig)
    for rig in rooms:
        rig.boot()
    return rooms[1]


def lay_bets(ante: int) -> object:
    """Return the step in which the player bets this ante, and one credit on the jackpot."""
    return lambda rig: choose_bets(rig, ante=ante, progressive=1)


def open_linked_seat(folder: Path) -> MachineRig:
    """Return the second of two positions at a stud table whose progressive controller is down, with a bet."""
    rig = open_second_seat(folder, levels=LINKED)
    link = FixedDisplays()
    rig.machine.component(LevelAmountSources).link = link
    insert_and_bet(rig)
    link.now = DisplayedAmount(1700, LevelStatus.DOWN)
    return rig


def open_timed_seat(folder: Path) -> MachineRig:
    """Return the second of two positions at a poker room, with credit for the least stakes but not for its charge."""
    folder.mkdir(parents=True, exist_ok=True)
    room = str(write_timed_room(folder))
    rig = open_second_seat(folder / "state", games=(room,), denominations_cents=(), levels=())
    for _ in range(2):
        rig.insert(2000)
    choose_bets(rig, stack=160)
    return rig


def ask_first_seat(folder: Path, **options) -> MachineRig:
    """Return the second of two positions that play poker, while the first, which has the button, must decide."""
    options = {"games": ("quebec-texas-holdem-room",), "denominations_cents": (), "levels": (), **options}
    second = open_second_seat(folder, **options)
    table = second.machine.component(SharedTables)
    for rig in (second.first_rig, second):
        rig.insert(5000)
        choose_bets(rig, stack=160)
        rig.engine.handle(EventType.PLAY)
    table.close_betting(next(iter(second.machine.games.values())).digest)
    apply_recorded_steps(table)
    decide_overdue_turns(table)
    return second


def answer_for_second_seat(folder: Path, **options) -> MachineRig:
    """Return the second of two positions that play poker, whose hand is folded because its time to act ran out."""
    second = ask_first_seat(folder, **options)
    table = second.machine.component(SharedTables)
    second.first_rig.engine.handle(EventType.CHOOSE, value="raise")
    apply_recorded_steps(table)
    decide_overdue_turns(table)
    second.clock.pass_seconds(TURN_SECONDS_MAX + 1)
    decide_overdue_turns(table)
    return second


def insert_and_bet(rig: MachineRig) -> None:
    """Insert five dollars; bet one on the ante and one on the jackpot."""
    rig.insert(500)
    choose_bets(rig, ante=1, progressive=1)


def pause_at_limit(folder: Path, **options) -> MachineRig:
    """Return a machine with credit whose play is paused at a spending limit."""
    rig = MachineRig(folder, **options).boot().insert(500)
    _store_reminder(rig, "spend_limit")
    return rig


def pause_without_credit(folder: Path, **options) -> MachineRig:
    """Return a machine without credit whose play is paused at a spending limit."""
    rig = MachineRig(folder, **options).boot()
    _store_reminder(rig, "spend_limit")
    return rig


def _store_reminder(rig: MachineRig, kind: str = "time") -> None:
    """Store an active reminder of the session's time, or a pause at a limit."""
    reminder = ReminderRecord(kind=kind, minutes=60, spent_cents=0, pause_end="", is_own_limit=False)
    write_undeclared_entry(rig.machine, "protection.reminder", state={PlayKey.REMINDER: reminder})


def _set_back_state(rig: MachineRig) -> None:
    """Set the engine's state back to the payout that has ended."""
    rig.engine.state = State.PAYING


def _lower_limit(rig: MachineRig) -> None:
    """Lower the bet limit to one dollar, as the operator's option does at the next start."""
    rig.machine.profile = AMOUNT_OPTIONS["bet_limit"].narrow_profile(rig.machine.profile, 100)


def _fail_at_first_position(rig: MachineRig) -> None:
    """Fail the generator at the first position, before the engine of this one updates its state."""
    assert rig.first_rig is not None
    rig.first_rig.engine.handle(EventType.GENERATOR_FAILED, detail="test")


def _begin_round(rig: MachineRig) -> None:
    """Start a shared round that has a seat for this position."""
    rig.machine.component(PositionRounds).starting_round = SharedRound("round-1")


def _disable_game(rig: MachineRig) -> None:
    rig.engine.handle(
        EventType.HOST_RESTRICTION_CHANGED, source="host:test", name=f"game.{GAME}", value=False
    )


def deal_pair(folder: Path) -> MachineRig:
    """Return a machine whose player at stud has a pair and must raise by twice the bet or fold."""
    rig = make_jackpot_machine(folder, PAIR).boot().insert(500)
    start_game(rig)
    return rig


WITH_BET = extend_arrangement(open_second_seat, insert_and_bet)
NO_BET = ("bet_is_taken", "bet_is_covered", "raises_are_covered")
#: The guards on starting a game, by the arrangement in which each fails, and the later guards that fail too.
MAY_PLAY: dict[str, tuple[Arrangement, tuple[str, ...]]] = {
    "no_reminder_is_active": (extend_arrangement(WITH_BET, _store_reminder), ()),
    "bet_is_taken": (extend_arrangement(WITH_BET, _lower_limit), ()),
    "bet_is_laid": (extend_arrangement(open_second_seat, insert), NO_BET),
    "bet_is_covered": (extend_arrangement(open_second_seat, insert, lay_bets(5)), ("raises_are_covered",)),
    "raises_are_covered": (extend_arrangement(open_second_seat, insert, lay_bets(4)), ()),
    "time_charge_is_covered": (open_timed_seat, ()),
    "game_is_enabled": (extend_arrangement(WITH_BET, _disable_game), ()),
    "levels_are_up": (open_linked_seat, ()),
    "chance_is_ready": (extend_arrangement(WITH_BET, _fail_at_first_position), ()),
}


def _list_may_play() -> list[Row]:
    """Return the rows of the guards on starting a game, for one seat, for a shared table, and when betting closes."""
    found = []
    for guard, (arrange, also) in MAY_PLAY.items():
        found += rows("play in idle: start_game", WITH_BET, **{guard: case(arrange, also=also)})
        found += rows("play in idle: join_betting_period", WITH_BET, **{guard: case(arrange, also=also)})
        found += rows(
            "no_more_bets in for betting: start_game",
            WITH_BET,
            **{
                guard: case(
                    extend_arrangement(arrange, _begin_round), also=also, then="notify_bets_not_accepted"
                )
            },
        )
    return found


def leave_bet_on_table(folder: Path) -> MachineRig:
    """Return a machine with a standing bet on its craps table."""
    generator = ScriptedGenerator(1, 1)
    rig = MachineRig(folder, games=("quebec-craps",), generator=generator).boot().insert(2000)
    rig.engine.handle(EventType.SELECT_BET, value=4, options={"bets": {"pass": 4}})
    rig.play()
    rig.report_shown()
    assert rig.state is State.IDLE
    return rig


FAILED_GAME = extend_arrangement(make_undecided_game, FAILED)
SIGN_IN_GAME = with_sign_in(make_undecided_game)
#: The id of the game that is shown, as the screen reports it.
SHOWN = {"value": lambda rig: find_open_game(rig.machine).play_id}
#: Rules of unfinished work and their guards, all of which fail on an idle machine.
AUTOMATIC = {
    "after_event in for cash-out: return_abandoned_bets": "standing_bets_are_abandoned",
    "after_event in everywhere: resume_disputed_amounts": "ruling_or_fault_is_pending",
    "after_event in everywhere: post_unclaimed_handpay": "unclaimed_handpay_is_unposted",
    "after_event in after boot: complete_cash_out_by_ruling": "ticket_ruling_is_unfinished",
    "after_event in everywhere: finish_interrupted_cash_out": "cash_out_is_unfinished",
    "after_event in everywhere: void_exchanged_reservation": "exchange_is_unfinished",
    "after_event in not playing: unload_ended_game": "ended_game_has_conversation",
    "after_event in after self-test: settle_ruled_mystery_prizes": "ruled_mystery_prize_can_be_settled",
    "after_event in after self-test: end_finished_round": "round_is_over",
    "at_rest in for deferred host orders: build_pending_order_event": "order_is_open",
    "at_rest in idle: build_lock_grant_event": "transfer_lock_is_requested",
    "at_rest in for cash-out: start_declined_cash_out": "host_has_declined_cash_out",
    "at_rest in idle: build_automatic_cash_out_event": "payout_is_due",
}
ROWS = (
    *_list_may_play(),
    *rows("play in idle: join_betting_period", WITH_BET, plays_in_common=case(IDLE, then="start_game")),
    *rows(
        "no_more_bets in for betting: start_game",
        extend_arrangement(WITH_BET, _begin_round),
        has_a_place=case(WITH_BET, then="notify_bets_not_accepted"),
    ),
    # ------------------------------------------------------------------ what the player chooses
    *rows("bet in for betting: set_bet", IDLE, {"value": 1}, bet_is_offered=case(value=10**6)),
    *rows(
        "game in idle: select_game",
        IDLE,
        VALUES[EventType.SELECT_GAME],
        game_is_offered=case(value="another"),
    ),
    *rows(
        "denomination in idle: select_denomination",
        IDLE,
        {"value": 25},
        denomination_is_offered=case(value=3),
        no_bets_stand=case(leave_bet_on_table),
    ),
    *rows(
        "language in after self-test: set_language",
        IDLE,
        {"value": "fr"},
        language_is_offered=case(value="xx"),
    ),
    *rows("acknowledge in idle: dismiss_reminder", IDLE, reminder_may_go=case()),
    *rows("limit in idle: set_own_limit", IDLE, {"value": 20}, limit_is_offered=case()),
    *rows("reminder_due in idle: show_reminder", IDLE, reminder_is_due=case()),
    *rows("pause_over in for cash-out: end_pause", IDLE, pause_is_over=case()),
    *rows("session_over in for cash-out: end_session", IDLE, session_is_over=case()),
    *rows("residual in idle: play_residual_credit", IDLE, residual_may_be_played=case()),
    *rows("residual in for cash-out: give_up_residual_credit", IDLE, residual_may_go=case()),
    # ------------------------------------------------------------------ standing bets
    *rows(
        "cash_out in out_of_service: return_bets_and_cash_out",
        arrange_state(State.OUT_OF_SERVICE),
        bets_stand=case(extend_arrangement(IDLE, FAILED), then="open_cancelled_credit"),
    ),
    *rows(
        "cash_out in idle: take_down_bets_and_cash_out",
        IDLE,
        bets_may_leave=case(then="open_cancelled_credit"),
    ),
    *rows("cash_out in idle: notify_bets_stay", IDLE, bets_stand=case(then="open_cancelled_credit")),
    *rows(
        "orphan_credits in service_menu: return_bets_before_event",
        extend_arrangement(leave_bet_on_table, OPEN_MENU),
        VALUES[EventType.REGISTER_UNCLAIMED_CREDITS],
        marks="Q-06",
        bets_stand=case(MENU, then="register_unclaimed_credits"),
        location_is_stated=case(place=" "),
    ),
    # ------------------------------------------------------------------ a game, already decided, being shown
    *rows(
        "choose in playing: continue_game",
        ask_first_seat,
        {"value": "call"},
        answer_is_in_time=case(answer_for_second_seat, also=("choice_is_offered", "choice_is_covered")),
        turn_is_yours=case(also=("choice_is_offered",)),
    ),
    *rows(
        "choose in playing: continue_game",
        make_undecided_game,
        {"value": 0},
        answered_decision_is_pending=case(options={"play_id": "another", "step": 1}),
        choice_is_offered=case(value="another", also=("choice_is_covered",)),
        choice_may_be_taken=case(FAILED_GAME),
    ),
    *rows(
        "choose in playing: continue_game",
        deal_pair,
        {"value": "raise"},
        choice_is_covered=case(extend_arrangement(deal_pair, _lower_limit)),
    ),
    *rows(
        "shown in showing outcome: end_game_with_handpay",
        show_prizes,
        SHOWN,
        is_this_game=case(value="another", then="nothing"),
        are_awards_locked=case(with_profile_text(show_linked_hit, *TAXED), then="start_awaiting_award"),
        win_is_paid_by_hand=case(PLAYING, then="end_game"),
    ),
    *rows(
        "shown in showing outcome: end_game",
        PLAYING,
        SHOWN,
        is_this_game=case(value="another", then="nothing"),
        are_awards_locked=case(show_linked_hit, then="start_awaiting_award"),
    ),
    *rows(
        "shown in playing: start_awaiting_award",
        show_linked_hit,
        SHOWN,
        is_this_game=case(value="another", then="nothing"),
    ),
    # ------------------------------------------------------------------ a game that waits for its generator
    *rows(
        "key_turned in playing: restart_generator",
        FAILED_GAME,
        KEY,
        game_waits_for_generator=case(make_undecided_game),
        key_is_enough=case(extend_arrangement(SIGN_IN_GAME, FAILED), then="ask_for_sign_in"),
    ),
    *rows(
        "key_turned in playing: ask_for_sign_in",
        extend_arrangement(SIGN_IN_GAME, FAILED),
        KEY,
        game_waits_for_generator=case(SIGN_IN_GAME),
    ),
    *rows(
        "menu in playing: open_menu",
        FAILED_GAME,
        VALUES[EventType.OPEN_SERVICE_MENU],
        game_waits_for_chance=case(make_undecided_game),
        menu_may_open=case(key="screen"),
    ),
    # ------------------------------------------------------------------ unfinished work
    *(row for rule, guard in AUTOMATIC.items() for row in rows(rule, IDLE, **{guard: case(then="nothing")})),
    *rows(
        "after_event in playing: resume_open_game",
        PLAYING,
        open_game_has_no_conversation=case(then="nothing"),
    ),
    *rows(
        "at_rest in paying: resume_payout",
        arrange_state(State.PAYING),
        credits_are_reserved_for_payout=case(extend_arrangement(IDLE, _set_back_state), then="nothing"),
    ),
    *rows(
        "at_rest in out_of_service: build_automatic_cash_out_event",
        arrange_state(State.OUT_OF_SERVICE),
        unpaid_remainder_is_stored=case(then="nothing"),
    ),
    *rows(
        "at_rest in idle: build_automatic_cash_out_event (2)",
        with_profile_text(pause_at_limit, *AT_LIMIT),
        reached_limit_pays_out=case(IDLE, then="nothing"),
        automatic_payout_is_possible=case(with_profile_text(pause_without_credit, *AT_LIMIT), then="nothing"),
    ),
)
