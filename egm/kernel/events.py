"""States and events of the machine: what it can be doing, and everything that can happen to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class State(StrEnum):
    """What the machine is doing."""

    BOOT = "boot"
    SELF_TEST = "self_test"
    IDLE = "idle"
    BETTING = "betting"
    """Betting on a round shared by several positions is open."""
    PLAYING = "playing"
    AWAITING_AWARD = "awaiting_award"
    PAYING = "paying"
    HANDPAY = "handpay"
    DOOR_OPEN = "door_open"
    TILT = "tilt"
    OUT_OF_SERVICE = "out_of_service"
    SERVICE_MENU = "service_menu"
    LOCKED = "locked"
    """A host has locked the machine for a transfer."""


class EventName(StrEnum):
    """Base class of event names. A feature may declare events in a subclass."""


class EventType(EventName):
    """Events that the machine itself declares."""

    # the machine itself
    AFTER_EVENT = "after_event"
    """Raised by the engine after each event, to complete unfinished work."""
    AT_REST = "at_rest"
    """Raised by the engine when no event is waiting, to start what the machine does by itself."""
    MACHINE_CHANGED = "machine_changed"
    """Memory shared by all positions has changed at another position."""
    MEMORY_READY = "memory_ready"
    SELF_TEST_PASSED = "self_test_passed"
    SELF_TEST_FAILED = "self_test_failed"
    CHANCE_FAILED = "chance_failed"
    # the player, at the screen or the button deck
    PLAY = "play"
    CHOOSE = "choose"
    BET = "bet"
    GAME = "game"
    DENOMINATION = "denomination"
    CASH_OUT = "cash_out"
    LANGUAGE = "language"
    SERVICE = "service"
    SHOWN = "shown"
    ACKNOWLEDGE = "acknowledge"
    LIMIT = "limit"
    # bill acceptor and coin acceptor
    BILL_ESCROWED = "bill_escrowed"
    BILL_STACKED = "bill_stacked"
    BILL_NOT_STACKED = "bill_not_stacked"
    BILL_LOST = "bill_lost"
    BILL_RETURNED = "bill_returned"
    BILL_REJECTED = "bill_rejected"
    TICKET_ESCROWED = "ticket_escrowed"
    COINS_IN = "coins_in"
    # ticket and transfer hosts
    TICKET_NUMBERED = "ticket_numbered"
    NUMBER_REFUSED = "number_refused"
    TICKET_AUTHORISED = "ticket_authorised"
    TICKET_DECLINED = "ticket_declined"
    TRANSFER_ORDERED = "transfer_ordered"
    TRANSFER_CANCELLED = "transfer_cancelled"
    LOCK_REQUESTED = "lock_asked"
    LOCK_ENDED = "lock_ended"
    PROMOTION_EXPIRED = "promotion_expired"
    # payouts
    TICKET_PRINTED = "ticket_printed"
    TICKET_FAILED = "ticket_failed"
    COINS_PAID = "coins_paid"
    COINS_STRAYED = "coins_strayed"
    NO_PAYOUT_DEVICE = "no_payout_device"
    # doors, keys and device faults
    DOOR_OPENED = "door_opened"
    DOOR_CLOSED = "door_closed"
    KEY_TURNED = "key_turned"
    KEY_MOVED = "key_moved"
    FAULT_RAISED = "fault_raised"
    FAULT_CLEARED = "fault_cleared"
    # staff, in the service menu
    MENU = "menu"
    ANSWER = "answer"
    MENU_CLOSED = "menu_closed"
    MENU_MOVED = "menu_moved"
    TEST = "test"
    OPTIONS = "options"
    RESTART = "restart"
    CLOCK_CONFIRMED = "clock_confirmed"
    FAULTS_SETTLED = "faults_settled"
    VERIFY = "verify"
    FILE_SIGNED = "file_signed"
    LINK_ENROLMENT = "link_enrolment"
    COUNTERS_EXCHANGED = "counters_exchanged"
    NUMBER_UNLOCKED = "number_unlocked"
    INTERVENTION_OPENED = "intervention_opened"
    INTERVENTION_SEEN = "intervention_seen"
    INTERVENTION_CLOSED = "intervention_closed"
    HOPPER_FILLED = "hopper_filled"
    BOX_COUNTED = "box_counted"
    BASE_WITHDRAWN = "base_withdrawn"
    BASE_RETURNED = "base_returned"
    # progressive levels of a controller
    MOVE_LEVEL = "move_level"
    AWARD_LOCKED = "award_locked"
    CLAIM_CLOSED = "claim_closed"
    MYSTERY_WON = "mystery_won"
    LEVELS_MOVED = "levels_moved"
    PRIZE_RULED = "prize_ruled"
    # player protection timers
    REMINDER_DUE = "reminder_due"
    PAUSE_OVER = "pause_over"
    SESSION_OVER = "session_over"
    # forms and rulings about a player's money
    HANDPAY_FORM = "handpay_form"
    MACHINE_CHECKED = "machine_checked"
    COMPLEMENT = "complement"
    ORPHAN_CREDITS = "orphan_credits"
    ORPHAN_HANDPAY = "orphan_handpay"
    ORPHAN_TICKET = "orphan_ticket"
    FORFEIT_GAME = "forfeit_game"
    FORFEIT_PRIZE = "forfeit_prize"
    FORFEIT_CREDITS = "forfeit_credits"
    REFUND_GAME = "refund_game"
    EXCHANGE_PRIZE = "exchange_prize"
    RESIDUAL = "residual"
    DISPUTE_DECIDED = "dispute_decided"
    AMOUNT_DISPUTED = "amount_disputed"
    DISPUTED_AMOUNT = "disputed_amount"
    EXCLUSION_NOTED = "exclusion_noted"
    INCIDENT_JUDGED = "incident_judged"
    # hosts, links and operators that disable and enable the machine
    DISABLED = "disabled"
    ENABLED = "enabled"
    CONTROL = "control"
    HANDPAY_RESET = "handpay_reset"


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its name, and its data by name."""

    type: EventName
    data: Mapping[str, Any] = field(default_factory=dict)


class SupersededBy(Exception):
    """Raised by an effect that has moved no value, because another event must be processed in place of its own."""

    def __init__(self, event: Event) -> None:
        super().__init__(event.type.value)
        self.event = event


class Next(StrEnum):
    """The next state of a rule that does not name one."""

    SAME = "same"
    DERIVED = "derived"
    """The state that follows from the machine's memory."""
    DERIVED_ONCE_TESTED = "derived_once_tested"
    """Like DERIVED, but the state stays SELF_TEST during a self-test, which ends with its own result."""
