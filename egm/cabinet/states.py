"""The state table: every state, event, guard and effect of the machine. What is not here does not happen.

Three rules, held by tests:

* Everything that decides what the machine does next stands in :data:`TABLE`. The first row of a state and
  event whose guards all hold is taken; where there is none, the event is refused and the person is told why.
* Facts of the physical world (a bill is in the box, a door is open) are recorded in every state: refusing to
  know a fact would lose money or blind the audit.
* ``Next.DERIVED`` is the state that the machine's memory says it is in (:func:`derived_state`).
  A restart, a closed door and a cleared tilt all lead there, so nothing needs to remember where it was.
"""

from dataclasses import dataclass
from typing import Final

from egm.cabinet.events import EventType, Next, State

__all__ = [
    "FACTS",
    "OWN",
    "REQUESTS",
    "SAID_AGAIN",
    "TABLE",
    "EventType",
    "Next",
    "Row",
    "State",
    "derived_state",
    "rows",
]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. Guards and effects are names; the engine refuses to start if one is unknown."""

    state: State
    event: EventType
    guards: tuple[str, ...]
    effects: tuple[str, ...]
    next: State | Next


#: Rows of facts: they hold in each of these states, in addition to its own rows.
_AWAKE: Final = tuple(state for state in State if state is not State.BOOT)

FACTS: Final[tuple[tuple[EventType, tuple[str, ...], Next], ...]] = (
    (EventType.BILL_STACKED, ("credit_bill",), Next.DERIVED),
    (EventType.BILL_NOT_STACKED, ("void_bill",), Next.SAME),
    (EventType.BILL_LOST, ("dispute_bill",), Next.DERIVED),
    (EventType.AMOUNT_DISPUTED, ("dispute_amount",), Next.DERIVED),
    (EventType.COINS_IN, ("credit_coins",), Next.DERIVED),
    (EventType.COINS_STRAYED, ("record_stray_coins",), Next.DERIVED),
    (EventType.TICKET_PRINTED, ("settle_ticket",), Next.DERIVED),
    (EventType.TICKET_FAILED, ("give_ticket_up",), Next.DERIVED),
    (EventType.COINS_PAID, ("settle_coins",), Next.DERIVED),
    (EventType.BILL_RETURNED, ("record_bill_returned",), Next.SAME),
    (EventType.BILL_REJECTED, ("record_bill_rejected",), Next.SAME),
    (EventType.DOOR_OPENED, ("record_door_opened",), Next.DERIVED),
    (EventType.DOOR_CLOSED, ("record_door_closed",), Next.DERIVED),
    (EventType.FAULT_RAISED, ("record_fault",), Next.DERIVED),
    (EventType.FAULT_CLEARED, ("record_fault_cleared",), Next.DERIVED),
    (EventType.CHANCE_FAILED, ("take_out_of_service",), Next.DERIVED),
    (EventType.AWARD_LOCKED, ("record_award", "tell_award"), Next.DERIVED),
    (EventType.CLAIM_CLOSED, ("close_claim",), Next.SAME),
    (EventType.MYSTERY_WON, ("record_mystery",), Next.DERIVED),
    (EventType.LEVELS_MOVED, ("show_levels",), Next.SAME),
    (EventType.DISABLED, ("record_disabled",), Next.DERIVED),
    (EventType.ENABLED, ("record_enabled",), Next.DERIVED),
    (EventType.CONTROL, ("record_control",), Next.SAME),
    (EventType.KEY_MOVED, ("record_key",), Next.SAME),
    (EventType.INTERVENTION_SEEN, ("record_intervention_seen",), Next.SAME),
    (EventType.MENU_CLOSED, ("close_menu",), Next.DERIVED),
)

#: Where the attendant and the player can always be heard.
_LISTENING: Final = (
    State.IDLE,
    State.PLAYING,
    State.AWAITING_AWARD,
    State.PAYING,
    State.HANDPAY,
    State.DOOR_OPEN,
    State.TILT,
    State.OUT_OF_SERVICE,
    State.SERVICE_MENU,
    State.LOCKED,
)

#: Where the service menu may be opened: whenever no game and no payout is under way.
_SERVICEABLE: Final = (
    State.IDLE,
    State.HANDPAY,
    State.AWAITING_AWARD,
    State.DOOR_OPEN,
    State.TILT,
    State.OUT_OF_SERVICE,
)
#: Where a form may arrive: the menu is a state of its own, unless something more pressing holds.
_FILLING_IN: Final = (State.SERVICE_MENU, State.HANDPAY, State.DOOR_OPEN, State.TILT)

#: Where persons rule on what a controller said: also while the game waits for it.
_RULING: Final = (*_FILLING_IN, State.AWAITING_AWARD)

#: What a device reports of a test: known by the test's own ids, and kept from every meter.
_TESTED: Final = (
    (EventType.BILL_ESCROWED, "acceptor_is_tested", "return_test_paper"),
    (EventType.TICKET_ESCROWED, "acceptor_is_tested", "return_test_paper"),
    (EventType.BILL_RETURNED, "acceptor_is_tested", "record_test_paper"),
    (EventType.BILL_REJECTED, "acceptor_is_tested", "record_test_paper"),
    (EventType.TICKET_PRINTED, "ticket_is_a_test", "record_test_ticket"),
    (EventType.TICKET_FAILED, "ticket_is_a_test", "record_test_ticket_failed"),
    (EventType.COINS_PAID, "payout_is_a_test", "record_test_coins"),
    (EventType.TICKET_PRINTED, "ticket_is_a_slip", "record_slip"),
    (EventType.TICKET_FAILED, "ticket_is_a_slip", "record_slip_failed"),
)
_OPENED, _CLOSED = EventType.INTERVENTION_OPENED, EventType.INTERVENTION_CLOSED
#: What the staff does at the machine itself.
_WORK: Final = (
    (EventType.TEST, ("may_test", "device_is_free"), "start_test"),
    (
        EventType.OPTIONS,
        ("authorised", "machine_is_open", "nothing_is_owed", "option_is_sound"),
        "change_options",
    ),
    (
        EventType.MOVE_LEVEL,
        ("authorised", "machine_is_open", "nothing_is_owed", "level_may_move"),
        "move_level",
    ),
    (EventType.RESTART, ("authorised",), "start_again"),
    (EventType.FAULTS_SETTLED, ("authorised", "technician_is_needed"), "settle_faults"),
    (
        EventType.CLOCK_CONFIRMED,
        ("authorised", "clock_is_doubted", "date_is_the_clocks"),
        "confirm_clock",
    ),
    (EventType.VERIFY, ("authorised", "software_is_signed"), "verify_software"),
    (
        EventType.COUNTERS_EXCHANGED,
        ("authorised", "machine_is_open", "hard_meters_are_fitted"),
        "refit_hard_meters",
    ),
    (EventType.NUMBER_UNLOCKED, ("authorised", "number_is_locked"), "unlock_number"),
    (_OPENED, ("authorised", "no_intervention_is_open"), "open_intervention"),
    (_CLOSED, ("authorised", "intervention_is_open", "every_door_is_closed"), "close_intervention"),
    (EventType.HOPPER_FILLED, ("authorised", "fill_is_whole"), "fill_hopper"),
    (EventType.BOX_COUNTED, ("authorised", "box_is_to_be_counted"), "count_box"),
    (EventType.BASE_WITHDRAWN, ("authorised", "somebody_is_at_work", "base_is_in_place"), "withdraw_base"),
    (EventType.BASE_RETURNED, ("authorised", "somebody_is_at_work", "base_is_withdrawn"), "return_base"),
)

OWN: Final[tuple[Row, ...]] = (
    # ------------------------------------------------------------------ devices under test
    *(Row(state, event, (guard,), (name,), Next.SAME) for event, guard, name in _TESTED for state in _AWAKE),
    # ------------------------------------------------------------------ coming up
    Row(
        State.BOOT,
        EventType.MEMORY_READY,
        (),
        ("record_power_up", "close_menu", "note_staff"),
        State.SELF_TEST,
    ),
    Row(State.SELF_TEST, EventType.SELF_TEST_PASSED, (), ("record_self_test",), Next.DERIVED),
    Row(State.SELF_TEST, EventType.SELF_TEST_FAILED, (), ("take_out_of_service",), Next.DERIVED),
    # ------------------------------------------------------------------ idle
    Row(
        State.IDLE,
        EventType.PLAY,
        ("no_reminder_stands", "bet_is_covered", "game_is_enabled", "levels_are_up", "chance_is_ready"),
        ("start_game",),
        State.PLAYING,
    ),
    Row(State.IDLE, EventType.ACKNOWLEDGE, ("reminder_may_go",), ("acknowledge",), Next.SAME),
    Row(State.IDLE, EventType.LIMIT, ("limit_is_offered",), ("set_limit",), Next.SAME),
    Row(State.IDLE, EventType.REMINDER_DUE, ("reminder_is_due",), ("remind",), Next.SAME),
    Row(State.IDLE, EventType.BET, ("bet_is_offered",), ("set_bet",), Next.SAME),
    Row(State.IDLE, EventType.GAME, ("game_is_offered",), ("select_game",), Next.SAME),
    Row(
        State.IDLE, EventType.DENOMINATION, ("denomination_is_offered",), ("select_denomination",), Next.SAME
    ),
    Row(State.IDLE, EventType.CASH_OUT, ("host_takes_cash_out",), ("offer_to_host",), State.LOCKED),
    *(
        row
        for state in (State.IDLE, State.OUT_OF_SERVICE)  # a machine that cannot play still owes the player
        for row in (
            Row(
                state,
                EventType.CASH_OUT,
                ("has_credit", "ticket_comes_first"),
                ("reserve_ticket",),
                State.PAYING,
            ),
            Row(
                state,
                EventType.CASH_OUT,
                ("has_credit", "coins_come_first"),
                ("reserve_coins",),
                State.PAYING,
            ),
            Row(
                state,
                EventType.CASH_OUT,
                ("restricted_may_leave",),
                ("reserve_restricted_ticket",),
                Next.DERIVED,
            ),
            Row(state, EventType.CASH_OUT, ("has_credit",), ("open_cancelled_credit",), State.HANDPAY),
            Row(
                state, EventType.NO_PAYOUT_DEVICE, ("has_credit",), ("open_cancelled_credit",), State.HANDPAY
            ),
        )
    ),
    Row(
        State.IDLE,
        EventType.TICKET_ESCROWED,
        ("ticket_is_welcome", "host_validates"),
        ("ask_host",),
        Next.SAME,
    ),
    Row(State.IDLE, EventType.TICKET_ESCROWED, ("ticket_is_welcome",), ("redeem_ticket",), Next.SAME),
    Row(State.IDLE, EventType.BILL_ESCROWED, ("bill_is_welcome",), ("stack_bill",), Next.SAME),
    Row(State.IDLE, EventType.BILL_ESCROWED, (), ("return_bill",), Next.SAME),
    # ------------------------------------------------------------------ a host's transfers, and its lock
    *(
        Row(state, EventType.TRANSFER_ORDERED, ("order_is_open",), ("transfer",), Next.DERIVED)
        for state in (State.IDLE, State.LOCKED)
    ),
    Row(
        State.PLAYING, EventType.TRANSFER_ORDERED, ("order_is_open",), (), Next.SAME
    ),  # when the game is over
    *(
        Row(state, EventType.LOCK_ASKED, ("lock_is_asked",), ("take_lock",), State.LOCKED)
        for state in (State.IDLE, State.LOCKED)
    ),
    Row(
        State.IDLE,
        EventType.PROMOTION_EXPIRED,
        ("restricted_has_expired",),
        ("expire_restricted",),
        Next.SAME,
    ),
    # ------------------------------------------------------------------ a game, already decided, being shown
    Row(
        State.PLAYING,
        EventType.CHOOSE,
        ("choice_is_offered", "choice_may_be_taken"),
        ("continue_game",),
        Next.SAME,
    ),
    *(
        row
        for state in (State.PLAYING, State.AWAITING_AWARD)
        for row in (
            Row(
                state,
                EventType.SHOWN,
                ("is_this_game", "awards_are_locked", "win_is_paid_by_hand"),
                ("end_game_by_hand",),
                State.HANDPAY,
            ),
            Row(state, EventType.SHOWN, ("is_this_game", "awards_are_locked"), ("end_game",), Next.DERIVED),
        )
    ),
    Row(State.PLAYING, EventType.SHOWN, ("is_this_game",), ("await_award",), State.AWAITING_AWARD),
    # ------------------------------------------------------------------ an award no controller has locked yet
    Row(
        State.AWAITING_AWARD,
        EventType.KEY_TURNED,
        ("attendant_may_settle", "key_is_enough"),
        ("settle_unanswered",),
        Next.DERIVED,
    ),
    Row(
        State.AWAITING_AWARD,
        EventType.KEY_TURNED,
        ("nobody_is_asked", "attendant_may_settle"),
        ("ask_who",),
        Next.DERIVED,
    ),
    # ------------------------------------------------------------------ the attendant's key
    Row(State.HANDPAY, EventType.CASH_OUT, ("ticket_may_replace",), ("choose_way",), Next.SAME),
    Row(
        State.HANDPAY,
        EventType.KEY_TURNED,
        ("ticket_is_asked", "ticket_may_replace", "key_is_enough"),
        ("return_handpay",),
        Next.DERIVED,
    ),
    Row(
        State.HANDPAY,
        EventType.KEY_TURNED,
        ("ticket_is_asked", "ticket_may_replace", "nobody_is_asked"),
        ("ask_who",),
        Next.DERIVED,
    ),
    Row(State.HANDPAY, EventType.KEY_TURNED, ("asked_ticket_is_gone",), ("keep_handpay",), Next.SAME),
    Row(
        State.HANDPAY,
        EventType.KEY_TURNED,
        ("hand_is_asked", "handpay_is_in_order", "key_is_enough"),
        ("settle_handpay",),
        Next.DERIVED,
    ),
    Row(
        State.HANDPAY,
        EventType.KEY_TURNED,
        ("hand_is_asked", "handpay_is_in_order", "nobody_is_asked"),
        ("ask_who",),
        Next.DERIVED,
    ),
    Row(
        State.HANDPAY,
        EventType.HANDPAY_RESET,  # by a host
        ("no_prize_waits", "hand_is_asked", "handpay_is_in_order"),
        ("settle_handpay",),
        Next.DERIVED,
    ),
    Row(State.TILT, EventType.KEY_TURNED, ("key_is_enough",), ("clear_tilts",), Next.DERIVED),
    *(
        row
        for state in (State.IDLE, State.OUT_OF_SERVICE, State.SERVICE_MENU)
        for row in (
            Row(
                state,
                EventType.KEY_TURNED,
                ("has_failed", "key_is_enough"),
                ("restart_generator",),
                Next.DERIVED,
            ),
            Row(state, EventType.KEY_TURNED, ("key_is_enough",), ("answer_service_call",), Next.DERIVED),
        )
    ),
    *(
        Row(state, EventType.KEY_TURNED, ("nobody_is_asked",), ("ask_who",), Next.DERIVED)
        for state in (State.IDLE, State.TILT, State.OUT_OF_SERVICE)
    ),
    # ------------------------------------------------------------------ the service menu
    *(Row(state, EventType.MENU, ("menu_may_open",), ("open_menu",), Next.DERIVED) for state in _SERVICEABLE),
    *(
        Row(state, EventType.ANSWER, ("page_is_open",), ("answer_page",), Next.DERIVED)
        for state in (*_SERVICEABLE, State.SERVICE_MENU)
    ),
    *(
        Row(state, event, guards, (effect,), Next.DERIVED)
        for event, guards, effect in _WORK
        for state in (*_SERVICEABLE, State.SERVICE_MENU)
    ),
    # ------------------------------------------------------------------ what persons decide about money
    Row(
        State.HANDPAY,
        EventType.HANDPAY_FORM,
        ("authorised", "form_is_whole"),
        ("record_handpay_form",),
        Next.SAME,
    ),
    *(
        Row(state, event, ("authorised", guard), (effect,), Next.DERIVED)
        for states, event, guard, effect in (
            ((State.HANDPAY,), EventType.FORFEIT_PRIZE, "prize_is_forfeit", "forfeit_prize"),
            ((State.HANDPAY,), EventType.EXCHANGE_PRIZE, "prize_may_be_cash", "exchange_prizes"),
            ((State.SERVICE_MENU,), EventType.FORFEIT_CREDITS, "credits_are_forfeit", "forfeit_credits"),
            (_FILLING_IN, EventType.REFUND_GAME, "game_cannot_end", "refund_game"),
            (_FILLING_IN, EventType.FORFEIT_GAME, "game_is_forfeit", "forfeit_game"),
            (_FILLING_IN, EventType.COMPLEMENT, "complement_is_sound", "pay_complement"),
            (_FILLING_IN, EventType.DISPUTED_AMOUNT, "ruling_is_sound", "rule_disputed_amount"),
            (_FILLING_IN, EventType.DISPUTE_DECIDED, "note_is_whole", "record_note"),
            (_FILLING_IN, EventType.EXCLUSION_NOTED, "note_is_whole", "record_note"),
            (_FILLING_IN, EventType.INCIDENT_JUDGED, "note_is_whole", "record_note"),
        )
        for state in states
    ),
    *(
        Row(state, event, ("authorised", guard, "place_is_said"), (effect,), Next.DERIVED)
        for states, event, guard, effect in (
            ((State.HANDPAY,), EventType.ORPHAN_HANDPAY, "handpay_waits", "take_orphan_handpay"),
            ((State.SERVICE_MENU,), EventType.ORPHAN_CREDITS, "credits_are_unclaimed", "take_orphan_credits"),
            (_FILLING_IN, EventType.ORPHAN_TICKET, "found_ticket_is_named", "take_orphan_ticket"),
        )
        for state in states
    ),
    *(
        Row(
            state,
            EventType.PRIZE_RULED,
            ("authorised", "prize_is_held", "ruling_is_whole"),
            ("rule_on_prize",),
            Next.DERIVED,
        )
        for state in _RULING
    ),
    *(
        Row(state, EventType.MACHINE_CHECKED, ("authorised",), ("record_machine_check",), Next.SAME)
        for state in _FILLING_IN
    ),
    Row(State.IDLE, EventType.RESIDUAL, ("residual_may_be_played",), ("play_residual",), Next.SAME),
    *(
        row
        for state in (State.IDLE, State.OUT_OF_SERVICE)
        for row in (
            Row(state, EventType.RESIDUAL, ("residual_may_go",), ("remove_residual",), Next.SAME),
            Row(state, EventType.PAUSE_OVER, ("pause_is_over",), ("end_pause",), Next.SAME),
            Row(state, EventType.SESSION_OVER, ("session_is_over",), ("end_session",), Next.SAME),
        )
    ),
    # ------------------------------------------------------------------ a game waits for a failed generator
    Row(
        State.PLAYING,
        EventType.MENU,
        ("game_waits_for_chance", "menu_may_open"),
        ("open_menu",),
        Next.DERIVED,
    ),
    Row(
        State.PLAYING,
        EventType.KEY_TURNED,
        ("game_waits_for_chance", "key_is_enough"),
        ("restart_generator",),
        Next.DERIVED,
    ),
    Row(
        State.PLAYING,
        EventType.KEY_TURNED,
        ("game_waits_for_chance", "nobody_is_asked"),
        ("ask_who",),
        Next.DERIVED,
    ),
    # ------------------------------------------------------------------ a bill that comes at a wrong moment
    *(
        Row(state, EventType.BILL_ESCROWED, (), ("return_bill",), Next.SAME)
        for state in _AWAKE
        if state is not State.IDLE
    ),
    *(Row(state, EventType.TICKET_ESCROWED, (), ("return_bill",), Next.SAME) for state in _AWAKE),
    # ------------------------------------------------------------------ what a host says, whenever it says it
    *(
        Row(state, EventType.TICKET_AUTHORISED, ("inquiry_is_open",), ("stack_authorised",), Next.SAME)
        for state in (State.IDLE, State.PLAYING)
    ),
    *(
        row
        for state in _AWAKE
        for row in (
            Row(state, EventType.TICKET_AUTHORISED, ("inquiry_is_open",), ("return_inquired",), Next.SAME),
            Row(state, EventType.TICKET_DECLINED, ("inquiry_is_open",), ("return_inquired",), Next.SAME),
            Row(state, EventType.TICKET_NUMBERED, ("number_is_awaited",), ("take_number",), Next.DERIVED),
            Row(state, EventType.TRANSFER_ORDERED, ("order_is_open",), ("refuse_transfer",), Next.SAME),
            Row(state, EventType.TRANSFER_CANCELLED, ("order_is_open",), ("cancel_transfer",), Next.SAME),
            Row(state, EventType.LOCK_ENDED, ("lock_is_asked",), ("end_lock",), Next.DERIVED),
            Row(
                state, EventType.NUMBER_REFUSED, ("number_is_awaited",), ("do_without_number",), Next.DERIVED
            ),
        )
    ),
    # ------------------------------------------------------------------ always heard
    *(
        Row(state, EventType.LANGUAGE, ("language_is_offered",), ("set_language",), Next.SAME)
        for state in _LISTENING
    ),
    *(Row(state, EventType.SERVICE, (), ("call_service",), Next.SAME) for state in _LISTENING),
)

#: A self-test ends with its own result: what it finds is recorded meanwhile, and stands when it is over.
TABLE: Final[tuple[Row, ...]] = OWN + tuple(
    Row(state, event, (), effects, Next.SAME if state is State.SELF_TEST else next_)
    for event, effects, next_ in FACTS
    for state in _AWAKE
)

#: What a person wishes at the screen, the buttons or the keys.
_AT_THE_MACHINE: Final = frozenset(
    {
        EventType.PLAY,
        EventType.CHOOSE,
        EventType.BET,
        EventType.GAME,
        EventType.DENOMINATION,
        EventType.CASH_OUT,
        EventType.LANGUAGE,
        EventType.SERVICE,
        EventType.ACKNOWLEDGE,
        EventType.LIMIT,
        EventType.RESIDUAL,
        EventType.KEY_TURNED,
        EventType.MENU,
        EventType.TEST,
    }
)
#: Wishes of a person: refused out loud. So is every form, which is what ``authorised`` guards. Anything else
#: that no row takes is recorded as unexpected, but for what is due or said again and again.
REQUESTS: Final = _AT_THE_MACHINE | {row.event for row in TABLE if "authorised" in row.guards}


#: What a clock or a screen says as often as it likes, and what means nothing once its moment is over.
SAID_AGAIN: Final = frozenset(
    {
        EventType.SHOWN,
        EventType.ANSWER,
        EventType.REMINDER_DUE,
        EventType.PAUSE_OVER,
        EventType.SESSION_OVER,
        EventType.PROMOTION_EXPIRED,
    }
)


def rows(state: State, event: EventType) -> tuple[Row, ...]:
    """The rows of one state and event, in the order they are tried."""
    return _INDEX.get((state, event), ())


def _index() -> dict[tuple[State, EventType], tuple[Row, ...]]:
    index: dict[tuple[State, EventType], tuple[Row, ...]] = {}
    for row in TABLE:
        index[row.state, row.event] = (*index.get((row.state, row.event), ()), row)
    return index


_INDEX: Final = _index()


def derived_state(
    *,
    door_open: bool,
    tilted: bool,
    handpay: bool,
    awaiting: bool,
    serving: bool,
    paying: bool,
    playing: bool,
    out_of_service: bool,
    locked: bool,
) -> State:
    """The state that follows from what the memory holds, the most pressing first.

    A door and a tilt stop everything. Money owed and a game begun come before being out of service: a durable
    outcome is shown and paid whatever has happened to the generator since. While the service menu is open
    nothing of the player's goes on.
    """
    for holds, state in (
        (door_open, State.DOOR_OPEN),
        (tilted, State.TILT),
        (handpay, State.HANDPAY),
        (awaiting, State.AWAITING_AWARD),
        (serving, State.SERVICE_MENU),
        (paying, State.PAYING),
        (playing, State.PLAYING),
        (out_of_service, State.OUT_OF_SERVICE),
        (locked, State.LOCKED),
    ):
        if holds:
            return state
    return State.IDLE
