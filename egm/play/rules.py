"""Rules of play: wagers and choices, the outcome shown and paid, limits, reminders, residual credit."""

from typing import Final

from egm.kernel.events import EventType, Next, State
from egm.kernel.machine import Cabinet
from egm.kernel.rules import TELL, Rule
from egm.kernel.states import NOT_PLAYING, PAYABLE, SHOWING, only
from egm.money.host.controls import game_is_enabled
from egm.play.player_protection import (
    acknowledge,
    end_pause,
    end_session,
    limit_is_offered,
    no_reminder_stands,
    pause_is_over,
    remind,
    reminder_is_due,
    reminder_may_go,
    session_is_over,
    set_limit,
)
from egm.play.residual_credit import play_residual, remove_residual, residual_may_be_played, residual_may_go
from egm.play.rounds import (
    bet_is_covered,
    bet_is_offered,
    chance_is_ready,
    choice_is_offered,
    choice_may_be_taken,
    continue_game,
    conversation_is_open,
    denomination_is_offered,
    end_conversation,
    end_game,
    end_game_by_hand,
    game_is_not_taken_up,
    game_is_offered,
    is_this_game,
    select_denomination,
    select_game,
    set_bet,
    start_game,
    take_game_up,
    win_is_paid_by_hand,
)
from egm.progressive.game_levels import await_award, awards_are_locked, levels_are_up

_IDLE: Final = only(State.IDLE)
_PLAYING: Final = only(State.PLAYING)

RULES: Final[tuple[Rule[Cabinet], ...]] = (
    Rule(
        EventType.PLAY,
        _IDLE,
        (no_reminder_stands, bet_is_covered, game_is_enabled, levels_are_up, chance_is_ready),
        (start_game,),
        State.PLAYING,
        TELL,
    ),
    Rule(EventType.BET, _IDLE, (bet_is_offered,), (set_bet,), Next.SAME, TELL),
    Rule(EventType.GAME, _IDLE, (game_is_offered,), (select_game,), Next.SAME, TELL),
    Rule(EventType.DENOMINATION, _IDLE, (denomination_is_offered,), (select_denomination,), Next.SAME, TELL),
    # ------------------------------------------------------------------ a game, already decided, being shown
    Rule(
        EventType.CHOOSE,
        _PLAYING,
        (choice_is_offered, choice_may_be_taken),
        (continue_game,),
        Next.SAME,
        TELL,
    ),
    Rule(
        EventType.SHOWN,
        SHOWING,
        (is_this_game, awards_are_locked, win_is_paid_by_hand),
        (end_game_by_hand,),
        State.HANDPAY,
    ),
    Rule(EventType.SHOWN, SHOWING, (is_this_game, awards_are_locked), (end_game,), Next.DERIVED),
    Rule(EventType.SHOWN, _PLAYING, (is_this_game,), (await_award,), State.AWAITING_AWARD),
    Rule(EventType.AFTER_EVENT, NOT_PLAYING, (conversation_is_open,), (end_conversation,)),
    Rule(EventType.AFTER_EVENT, _PLAYING, (game_is_not_taken_up,), (take_game_up,)),
    # ------------------------------------------------------------------ player protection, as time passes
    Rule(EventType.ACKNOWLEDGE, _IDLE, (reminder_may_go,), (acknowledge,), Next.SAME, TELL),
    Rule(EventType.LIMIT, _IDLE, (limit_is_offered,), (set_limit,), Next.SAME, TELL),
    Rule(EventType.REMINDER_DUE, _IDLE, (reminder_is_due,), (remind,)),
    Rule(EventType.PAUSE_OVER, PAYABLE, (pause_is_over,), (end_pause,)),
    Rule(EventType.SESSION_OVER, PAYABLE, (session_is_over,), (end_session,)),
    # ------------------------------------------------------------------ credit too small for anything
    Rule(EventType.RESIDUAL, _IDLE, (residual_may_be_played,), (play_residual,), Next.SAME, TELL),
    Rule(EventType.RESIDUAL, PAYABLE, (residual_may_go,), (remove_residual,), Next.SAME, TELL),
)
