"""State-table rules of play: wagers and choices, outcomes, limits, reminders, residual credit."""

from typing import Final

from egm.integrity.lockups import restart_generator
from egm.kernel.events import EventType, NextState, State
from egm.kernel.machine import PositionMachine
from egm.kernel.rules import REPORT_REFUSAL, Rule
from egm.kernel.states import (
    ALL_STATES,
    STATES_AFTER_BOOT,
    STATES_AFTER_SELF_TEST,
    STATES_FOR_BETTING,
    STATES_FOR_CASH_OUT,
    STATES_FOR_RULINGS,
    STATES_NOT_PLAYING,
    STATES_SHOWING_OUTCOME,
    single_state,
)
from egm.money.cash_out_remainder import build_automatic_cash_out_event
from egm.money.host_restrictions import game_is_enabled
from egm.money.pay_out import automatic_payout_is_possible
from egm.play.endings import end_game, end_game_with_handpay, outcome_is_of_open_game, win_is_paid_by_hand
from egm.play.forms import PLAY_FORMS
from egm.play.machine_check import record_machine_check
from egm.play.mystery_prizes import (
    handle_mystery_prize_report,
    ruled_mystery_prize_can_be_settled,
    send_award_to_screen,
    settle_ruled_mystery_prizes,
)
from egm.play.player_protection import (
    dismiss_reminder,
    end_pause,
    end_session,
    no_reminder_is_active,
    pause_is_over,
    reached_limit_pays_out,
    reminder_can_be_dismissed,
    reminder_is_due,
    requested_limit_is_allowed,
    session_is_over,
    set_own_limit,
    show_reminder,
)
from egm.play.prizes_in_kind import (
    exchange_is_unfinished,
    exchange_prizes,
    prize_can_be_exchanged_for_money,
    void_exchanged_reservation,
)
from egm.play.residual_credit import (
    give_up_residual_credit,
    play_residual_credit,
    residual_credit_can_be_given_up,
    residual_credit_can_be_staked,
)
from egm.play.resuming import (
    resume_open_game,
    stepped_game_is_loaded,
    stepped_game_is_not_loaded,
    unload_ended_game,
)
from egm.play.rounds import (
    answer_is_not_overdue,
    answered_decision_is_pending,
    bet_is_covered,
    bet_is_selected_or_standing,
    choice_can_be_processed,
    choice_is_offered,
    continue_game,
    credits_cover_bet_and_raises,
    generator_is_in_service,
    no_other_seat_is_asked,
    selected_bet_is_accepted,
    stake_of_choice_is_allowed,
    start_game,
)
from egm.play.rulings import (
    forfeit_game,
    forfeiting_game_is_permitted,
    game_cannot_end,
    game_waits_for_generator,
    game_waits_for_staff,
    open_game_has_neither_outcome_nor_win,
    refund_game,
)
from egm.play.selections import (
    bet_is_offered,
    denomination_is_offered,
    game_is_offered,
    language_is_offered,
    no_bets_stand_on_selected_table,
    select_denomination,
    select_game,
    set_bet,
    set_language,
)
from egm.play.time_charge import credits_cover_time_charge
from egm.progressive.game_levels import (
    levels_show_payable_amounts,
    no_claim_or_mystery_is_pending,
    record_award,
    start_awaiting_award,
)
from egm.staff.form import build_form_rule
from egm.staff.service.effects import (
    ask_for_sign_in,
    key_may_act_without_sign_in,
    menu_may_open,
    open_menu,
)

#: Only while the machine is idle.
_IDLE_STATE: Final = single_state(State.IDLE)
#: Only while a game is in progress.
_PLAYING_STATE: Final = single_state(State.PLAYING)

#: Only while a hand-pay waits.
_HANDPAY_STATE: Final = single_state(State.HANDPAY)

#: The guards on starting a game.
PLAY_GUARDS: Final = (
    no_reminder_is_active,
    bet_is_selected_or_standing,
    selected_bet_is_accepted,
    bet_is_covered,
    credits_cover_bet_and_raises,
    credits_cover_time_charge,
    game_is_enabled,
    levels_show_payable_amounts,
    generator_is_in_service,
)

PLAY_RULES: Final[tuple[Rule[PositionMachine], ...]] = (
    Rule(EventType.PLAY, _IDLE_STATE, PLAY_GUARDS, (start_game,), State.PLAYING, REPORT_REFUSAL),
    Rule(
        EventType.SELECT_BET,
        STATES_FOR_BETTING,
        (bet_is_offered,),
        (set_bet,),
        NextState.SAME,
        REPORT_REFUSAL,
    ),
    Rule(
        EventType.SELECT_GAME, _IDLE_STATE, (game_is_offered,), (select_game,), NextState.SAME, REPORT_REFUSAL
    ),
    Rule(
        EventType.SELECT_DENOMINATION,
        _IDLE_STATE,
        (denomination_is_offered, no_bets_stand_on_selected_table),
        (select_denomination,),
        NextState.SAME,
        REPORT_REFUSAL,
    ),
    # ------------------------------------------------------------------ a game in progress: choices, outcome, end
    Rule(
        EventType.CHOOSE,
        _PLAYING_STATE,
        (
            answer_is_not_overdue,
            no_other_seat_is_asked,
            answered_decision_is_pending,
            choice_is_offered,
            stake_of_choice_is_allowed,
            choice_can_be_processed,
        ),
        (continue_game,),
        NextState.SAME,
        REPORT_REFUSAL,
    ),
    Rule(
        EventType.OUTCOME_SHOWN,
        STATES_SHOWING_OUTCOME,
        (outcome_is_of_open_game, no_claim_or_mystery_is_pending, win_is_paid_by_hand),
        (end_game_with_handpay,),
        State.HANDPAY,
    ),
    Rule(
        EventType.OUTCOME_SHOWN,
        STATES_SHOWING_OUTCOME,
        (outcome_is_of_open_game, no_claim_or_mystery_is_pending),
        (end_game,),
        NextState.DERIVED,
    ),
    Rule(
        EventType.OUTCOME_SHOWN,
        _PLAYING_STATE,
        (outcome_is_of_open_game,),
        (start_awaiting_award,),
        State.AWAITING_AWARD,
    ),
    Rule(
        EventType.AFTER_EVENT,
        STATES_NOT_PLAYING,
        (stepped_game_is_loaded,),
        (unload_ended_game,),
    ),
    Rule(EventType.AFTER_EVENT, _PLAYING_STATE, (stepped_game_is_not_loaded,), (resume_open_game,)),
    # ------------------------------------------------------------------ player protection, as time passes
    Rule(
        EventType.DISMISS_REMINDER,
        _IDLE_STATE,
        (reminder_can_be_dismissed,),
        (dismiss_reminder,),
        NextState.SAME,
        REPORT_REFUSAL,
    ),
    Rule(
        EventType.SET_OWN_LIMIT,
        _IDLE_STATE,
        (requested_limit_is_allowed,),
        (set_own_limit,),
        NextState.SAME,
        REPORT_REFUSAL,
    ),
    Rule(EventType.REMINDER_DUE, _IDLE_STATE, (reminder_is_due,), (show_reminder,)),
    Rule(EventType.PLAY_PAUSE_OVER, STATES_FOR_CASH_OUT, (pause_is_over,), (end_pause,)),
    Rule(EventType.PLAYER_SESSION_OVER, STATES_FOR_CASH_OUT, (session_is_over,), (end_session,)),
    # ------------------------------------------------------------------ credit too small for anything
    Rule(
        EventType.USE_RESIDUAL_CREDIT,
        _IDLE_STATE,
        (residual_credit_can_be_staked,),
        (play_residual_credit,),
        NextState.SAME,
        REPORT_REFUSAL,
    ),
    Rule(
        EventType.USE_RESIDUAL_CREDIT,
        STATES_FOR_CASH_OUT,
        (residual_credit_can_be_given_up,),
        (give_up_residual_credit,),
        NextState.SAME,
        REPORT_REFUSAL,
    ),
    # ------------------------------------------------------------------ a game that waits for its generator
    Rule(
        EventType.KEY_TURNED,
        _PLAYING_STATE,
        (game_waits_for_generator, key_may_act_without_sign_in),
        (restart_generator,),
        NextState.DERIVED,
        REPORT_REFUSAL,
    ),
    Rule(
        EventType.KEY_TURNED,
        _PLAYING_STATE,
        (game_waits_for_generator,),
        (ask_for_sign_in,),
        NextState.DERIVED,
        REPORT_REFUSAL,
    ),
    Rule(
        EventType.OPEN_SERVICE_MENU,
        _PLAYING_STATE,
        (game_waits_for_staff, menu_may_open),
        (open_menu,),
        NextState.DERIVED,
        REPORT_REFUSAL,
    ),
    # ------------------------------------------------------------------ awards and mystery prizes of a controller
    Rule(
        EventType.AWARD_LOCKED,
        STATES_AFTER_BOOT,
        (),
        (record_award, send_award_to_screen),
        NextState.DERIVED_ONCE_TESTED,
    ),
    Rule(
        EventType.MYSTERY_PRIZE_WON,
        STATES_AFTER_BOOT,
        (),
        (handle_mystery_prize_report,),
        NextState.DERIVED_ONCE_TESTED,
    ),
    Rule(
        EventType.AFTER_EVENT,
        STATES_AFTER_SELF_TEST,
        (ruled_mystery_prize_can_be_settled,),
        (settle_ruled_mystery_prizes,),
        NextState.DERIVED,
    ),
    # ------------------------------------------------------------------ what persons decide about a game
    build_form_rule(
        PLAY_FORMS,
        EventType.EXCHANGE_PRIZE,
        _HANDPAY_STATE,
        (prize_can_be_exchanged_for_money,),
        exchange_prizes,
    ),
    Rule(EventType.AFTER_EVENT, ALL_STATES, (exchange_is_unfinished,), (void_exchanged_reservation,)),
    build_form_rule(PLAY_FORMS, EventType.REFUND_GAME, STATES_FOR_RULINGS, (game_cannot_end,), refund_game),
    build_form_rule(
        PLAY_FORMS,
        EventType.FORFEIT_GAME,
        STATES_FOR_RULINGS,
        (forfeiting_game_is_permitted, open_game_has_neither_outcome_nor_win),
        forfeit_game,
    ),
    build_form_rule(
        PLAY_FORMS, EventType.MACHINE_CHECKED, STATES_FOR_RULINGS, (), record_machine_check, NextState.SAME
    ),
    Rule(
        EventType.SELECT_LANGUAGE,
        STATES_AFTER_SELF_TEST,
        (language_is_offered,),
        (set_language,),
        NextState.SAME,
        REPORT_REFUSAL,
    ),
    Rule(
        EventType.NO_EVENT_WAITING,
        _IDLE_STATE,
        (reached_limit_pays_out, automatic_payout_is_possible),
        (build_automatic_cash_out_event,),
    ),
)
