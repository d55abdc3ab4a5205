"""States and events of the machine: what it can be doing, and everything that can happen to it.

Each event carries a payload: a frozen dataclass that a feature declares for it
(:attr:`egm.kernel.feature.Feature.payload_classes`), or :class:`EmptyPayload`. A payload is checked when the event is
built, with the field types of journal records (:mod:`egm.record_codec`); guards and effects read it with
:meth:`Event.read_payload`.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import Field, dataclass, fields
from enum import StrEnum
from typing import Any, ClassVar, Final, Protocol, TypeVar

from egm.errors import InvariantError, check_invariant
from egm.record_codec import RecordError, check_fields, from_json, get_stored_key, is_record

PayloadT = TypeVar("PayloadT")


class State(StrEnum):
    """States of the machine, such as idle, betting, playing or tilt."""

    BOOT = "boot"
    SELF_TEST = "self_test"
    IDLE = "idle"
    BETTING = "betting"
    """Several positions place their bets for a shared round, which has not started."""
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
    TOURNAMENT = "tournament"
    """The machine is in a tournament, and no game is open."""


class EventName(StrEnum):
    """Base class of the enumerations of event names; features may declare events in subclasses."""


class EventType(EventName):
    """The events of the machine; a feature may declare events that only it uses in an enumeration of its own.

    A name in the imperative is a request of a person; any other name is something that has happened. The journal's
    entries ``event.unexpected`` contain the values, so an event that is renamed here keeps its value.
    """

    # raised by the engine, and at the start
    AFTER_EVENT = "after_event"
    """Raised by the engine after each event, to complete unfinished work."""
    NO_EVENT_WAITING = "at_rest"
    """Raised by the engine in any state when no event is waiting, to start what the machine does by itself."""
    SHARED_MEMORY_CHANGED = "machine_changed"
    """A different position has changed memory that all positions share."""
    MEMORY_READY = "memory_ready"
    """The journal is open and the memory can be read."""
    SELF_TEST_PASSED = "self_test_passed"
    SELF_TEST_FAILED = "self_test_failed"
    GENERATOR_FAILED = "chance_failed"
    """The random number generator has failed."""
    # the player and the screen
    PLAY = "play"
    """The player starts a game."""
    CHOOSE = "choose"
    """The player makes a choice for which the open game is waiting."""
    SELECT_BET = "bet"
    """The player selects a bet."""
    SELECT_GAME = "game"
    """The player selects a game."""
    SELECT_DENOMINATION = "denomination"
    """The player selects a denomination."""
    CASH_OUT = "cash_out"
    SELECT_LANGUAGE = "language"
    """The player selects a language."""
    TOGGLE_SERVICE_CALL = "service"
    """The player calls the attendant, or withdraws the call."""
    OUTCOME_SHOWN = "shown"
    """The screen has shown a game's outcome."""
    USE_RESIDUAL_CREDIT = "residual"
    """The player gives up or stakes the residual credit."""
    # player protection
    REMINDER_DUE = "reminder_due"
    """A reminder of player protection is due."""
    DISMISS_REMINDER = "acknowledge"
    """The player has read a reminder of player protection."""
    SET_OWN_LIMIT = "limit"
    """The player sets a limit of their own."""
    PLAY_PAUSE_OVER = "pause_over"
    """A pause of play, set by a limit, has ended."""
    PLAYER_SESSION_OVER = "session_over"
    """The player has left, so that the session of play has ended."""
    PLAYER_EXCLUSION_NOTED = "exclusion_noted"
    # bill acceptor and coin acceptor
    BILL_ESCROWED = "bill_escrowed"
    BILL_STACKED = "bill_stacked"
    BILL_NOT_STACKED = "bill_not_stacked"
    BILL_LOCATION_UNKNOWN = "bill_lost"
    """It is unknown whether an ordered bill or ticket was stacked or returned."""
    BILL_RETURNED = "bill_returned"
    BILL_REJECTED = "bill_rejected"
    TICKET_ESCROWED = "ticket_escrowed"
    COINS_IN = "coins_in"
    UNORDERED_MONEY_TAKEN = "amount_disputed"
    """A device has taken money without an order, so the amount is disputed."""
    # ticket and transfer hosts
    TICKET_NUMBER_ASSIGNED = "ticket_numbered"
    TICKET_NUMBER_REFUSED = "number_refused"
    TICKET_AUTHORISED = "ticket_authorised"
    TICKET_DECLINED = "ticket_declined"
    TRANSFER_ORDERED = "transfer_ordered"
    TRANSFER_CANCELLED = "transfer_cancelled"
    TRANSFER_LOCK_REQUESTED = "lock_asked"
    TRANSFER_LOCK_ENDED = "lock_ended"
    RESTRICTED_CREDIT_EXPIRED = "promotion_expired"
    """Restricted credit has passed its expiry date."""
    HANDPAY_RESET_BY_HOST = "handpay_reset"
    """A host reports that the hand-pay has been paid."""
    HOST_RESTRICTION_CHANGED = "control"
    """A host requests a restriction of a function of the machine, or withdraws it."""
    # payouts
    TICKET_PRINTED = "ticket_printed"
    TICKET_PRINT_FAILED = "ticket_failed"
    """The printer has failed to print a ticket."""
    COINS_PAID = "coins_paid"
    UNORDERED_COINS_PAID = "coins_strayed"
    """Coins have left the hopper without an order."""
    NO_PAYOUT_DEVICE = "no_payout_device"
    """The player's credits can only be paid by hand."""
    # doors, keys and faults
    DOOR_OPENED = "door_opened"
    DOOR_CLOSED = "door_closed"
    KEY_TURNED = "key_turned"
    """A person has switched on a key other than those of the service menu, to authorise an action."""
    KEY_SWITCH_CHANGED = "key_moved"
    """A key switch was switched on or off."""
    FAULT_RAISED = "fault_raised"
    FAULT_CLEARED = "fault_cleared"
    CLEAR_FAULTS_AS_TECHNICIAN = "faults_settled"
    """Staff clear the active faults that a technician may clear."""
    # the machine in and out of service
    MACHINE_DISABLED = "disabled"
    """A host, a link or the operator disables the machine."""
    MACHINE_ENABLED = "enabled"
    """The reason for which the machine was disabled has ended."""
    # the service menu, and what staff do in it to the machine
    OPEN_SERVICE_MENU = "menu"
    """A person opens the service menu."""
    ANSWER_SERVICE_PAGE = "answer"
    """A person answers the open page of the service menu."""
    SERVICE_MENU_CLOSED = "menu_closed"
    SERVICE_MENU_MOVED = "menu_moved"
    """The service menu continues at another player position."""
    START_DEVICE_TEST = "test"
    """A person starts a test of a device."""
    CHANGE_OPTIONS = "options"
    """Staff change the operator's options."""
    RESTART = "restart"
    """Staff restart the machine."""
    CLOCK_CONFIRMED = "clock_confirmed"
    VERIFY_SOFTWARE = "verify"
    """Staff start a check of the software's signatures."""
    CABINET_FILE_SIGNED = "file_signed"
    ENROL_LINK = "link_enrolment"
    """Staff enrol the machine at the progressive controller."""
    HARD_METERS_EXCHANGED = "counters_exchanged"
    UNLOCK_STAFF_NUMBER = "number_unlocked"
    """Staff unlock a staff number that wrong PINs have locked."""
    # interventions, and the money and the base of the cabinet
    INTERVENTION_OPENED = "intervention_opened"
    INTERVENTION_READ_BY_MONITORING = "intervention_seen"
    """The monitoring system has read who is working at the machine, so that doors may be opened."""
    INTERVENTION_CLOSED = "intervention_closed"
    HOPPER_FILLED = "hopper_filled"
    CASH_BOX_COUNTED = "box_counted"
    CABINET_BASE_WITHDRAWN = "base_withdrawn"
    CABINET_BASE_RETURNED = "base_returned"
    # progressive levels
    MOVE_PROGRESSIVE_LEVEL = "move_level"
    AWARD_LOCKED = "award_locked"
    PROGRESSIVE_CLAIM_CLOSED = "claim_closed"
    MYSTERY_PRIZE_WON = "mystery_won"
    PROGRESSIVE_AMOUNTS_CHANGED = "levels_moved"
    """An amount that a progressive level shows has changed."""
    RULE_ON_HELD_PRIZE = "prize_ruled"
    """Staff rule on a prize that the controller has reported and the machine cannot verify."""
    # forms and rulings about a player's money
    RECORD_HANDPAY_FORM = "handpay_form"
    MACHINE_CHECKED = "machine_checked"
    """Management had the machine checked before a hand-pay."""
    PAY_COMPLEMENT = "complement"
    REGISTER_UNCLAIMED_CREDITS = "orphan_credits"
    REGISTER_UNCLAIMED_HANDPAY = "orphan_handpay"
    REGISTER_FOUND_TICKET = "orphan_ticket"
    FORFEIT_GAME = "forfeit_game"
    FORFEIT_PRIZE = "forfeit_prize"
    FORFEIT_CREDITS = "forfeit_credits"
    REFUND_GAME = "refund_game"
    EXCHANGE_PRIZE = "exchange_prize"
    DISPUTE_DECIDED = "dispute_decided"
    """A dispute of a player was decided."""
    RULE_ON_DISPUTED_AMOUNT = "disputed_amount"
    """Staff rule on a disputed amount."""
    INCIDENT_JUDGED = "incident_judged"


class EventError(InvariantError):
    """Raised if an event's payload differs from its declaration.

    The text names the event, the field, its value and what was expected.
    """


class Payload(Protocol):
    """The type of every event payload: an instance of some dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


@dataclass(frozen=True, slots=True)
class EmptyPayload:
    """The payload of an event that has no data."""


#: The payload without fields.
EMPTY_PAYLOAD: Final = EmptyPayload()


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultChange:
    """Event: a fault has occurred or ended. It states the fault's code and details for staff."""

    code: str
    detail: str | None = None
    """Details of the fault for staff, such as the text that the device reports."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its name and its payload, a frozen dataclass whose fields have the types of journal records.

    Raises EventError if the payload is not a dataclass, or if one of its fields has a value of the wrong type.
    """

    name: EventName
    payload: Payload = EMPTY_PAYLOAD

    def __post_init__(self) -> None:
        if self.payload is not EMPTY_PAYLOAD:
            if not is_record(self.payload):
                raise EventError(f"{self.name}: expected a dataclass as payload, found {self.payload!r}")
            try:
                check_fields(self.payload, self.name)
            except RecordError as error:
                raise EventError(str(error)) from None

    def read_payload(self, payload_class: type[PayloadT]) -> PayloadT:
        """Return the event's payload, which must be an instance of the class ``payload_class``.

        Raises EventError if the event carries a payload of a different class.
        """
        if not isinstance(self.payload, payload_class):
            raise EventError(
                f"{self.name}: expected the payload {payload_class.__qualname__}, found {self.payload!r}"
            )
        return self.payload

    def collect_non_default_values(self) -> dict[str, object]:
        """Return the fields of the event's payload that differ from their default, by stored key, for the journal."""
        values = ((field, getattr(self.payload, field.name)) for field in fields(self.payload))
        return {get_stored_key(field): value for field, value in values if value != field.default}


class PayloadClasses:
    """The declared payload class of each event of a machine."""

    def __init__(self, declarations: Iterable[Mapping[EventName, type[Payload]]]) -> None:
        """Combine the features' declarations. Raises InvariantError if an event is declared twice."""
        self._class_by_event: Final[dict[EventName, type[Payload]]] = {}
        for declaration in declarations:
            for event, payload_class in declaration.items():
                check_invariant(
                    event not in self._class_by_event, f"the payload of {event} is declared twice"
                )
                self._class_by_event[event] = payload_class
        self._default_event_by_name: Final[dict[EventName, Event]] = {}

    def __getitem__(self, event: EventName) -> type[Payload]:
        """Return the class of an event's payload. Raises EventError if no feature declares it."""
        payload_class = self._class_by_event.get(event)
        if payload_class is None:
            raise EventError(f"no feature declares the payload of {event}")
        return payload_class

    def __iter__(self) -> Iterator[EventName]:
        return iter(self._class_by_event)

    def __contains__(self, event: EventName) -> bool:
        return event in self._class_by_event

    def build_event(self, event_name: EventName, values: Mapping[str, object]) -> Event:
        """Return an event with a payload of these values.

        Raises EventError if the values differ from the payload that is declared for the event.
        """
        cached_event = None if values else self._default_event_by_name.get(event_name)
        if cached_event is not None:
            return cached_event
        try:
            built_event = Event(event_name, from_json(self[event_name], values, event_name))
        except RecordError as error:
            raise EventError(str(error)) from None
        if not values:
            self._default_event_by_name[event_name] = built_event
        return built_event

    def check_payload(self, event: Event) -> None:
        """Raise EventError if an event does not carry the payload that is declared for it."""
        if type(event.payload) is not self[event.name]:
            raise EventError(
                f"{event.name}: expected the payload {self[event.name].__qualname__}, found {event.payload!r}"
            )


#: The payloads of the events that the engine itself raises.
PAYLOAD_CLASS_BY_EVENT: Final[Mapping[EventName, type[Payload]]] = {
    EventType.AFTER_EVENT: EmptyPayload,
    EventType.NO_EVENT_WAITING: EmptyPayload,
    EventType.SHARED_MEMORY_CHANGED: EmptyPayload,
}


class EventReplacement(Exception):
    """Raised by an effect so that the engine processes a different event in place of the current one.

    An effect may raise it only before it has moved any value.
    """

    def __init__(self, event: Event) -> None:
        super().__init__(event.name.value)
        self.event = event


class NextState(StrEnum):
    """The ways in which the engine finds the next state after a rule that names no state."""

    SAME = "same"
    """The machine stays in its present state."""
    DERIVED = "derived"
    """The next state is the one that follows from the values in the machine's memory."""
    DERIVED_ONCE_TESTED = "derived_once_tested"
    """Like DERIVED, but a running self-test keeps the state SELF_TEST until it passes or fails."""
