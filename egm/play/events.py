"""Payloads of the play events: what the player selects and decides, and the forms about a game.

Every field of a player's request has a default, so that a guard refuses a request without a value in the same
way as a request for a value that is not offered.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from egm.kernel.events import EmptyPayload, EventName, EventType, Payload
from egm.kernel.messages import Notice
from egm.record_codec import NOT_STORED, stored_as
from egm.staff.events import FilledForm, RulingForm
from meters.transaction import JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeShown:
    """Event: the outcome of the game with this id has been shown."""

    play_id: str | None = field(default=None, metadata=stored_as("value"))


@dataclass(frozen=True, slots=True, kw_only=True)
class BetRequest:
    """Event: the player selects a bet: its cost in credits, and further choices that the game's rules need."""

    bet_credits: int | None = field(default=None, metadata=stored_as("value"))
    options: Mapping[str, JSON] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GameRequest:
    """Event: the player selects a game by its id."""

    game_id: str = field(default="", metadata=stored_as("value"))


@dataclass(frozen=True, slots=True, kw_only=True)
class DenominationRequest:
    """Event: the player selects a denomination, in minor units."""

    denomination_cents: int = field(default=0, metadata=stored_as("value"))


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageRequest:
    """Event: the player selects a language by its code."""

    language: str = field(default="", metadata=stored_as("value"))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredDecision:
    """The decision that the player saw when they answered: the game, and how many steps it had had."""

    play_id: str = ""
    step_count: int | None = field(default=None, metadata=stored_as("step"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceRequest:
    """Event: the player, a real wheel or another seat of the round answers the open game's pending decision."""

    choice: JSON = field(default=None, metadata=stored_as("value"))
    answered_decision: AnsweredDecision = field(default=AnsweredDecision(), metadata=stored_as("options"))
    spin_counter: int | None = field(default=None, metadata=stored_as("spin"))
    """The spin's number in the wheel's own count; None if no real wheel answers."""
    answering_seat: int | None = field(default=None, metadata=stored_as("seat"))
    """The seat whose recorded answer is repeated at this one; None if no other seat answers."""
    notice: Annotated[Notice, NOT_STORED] | None = None
    """The notice to leave on the screen while another seat's answer is recorded here; None: no notice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitOptions:
    """The quantities that a player's own limit can restrict: time or net spending."""

    quantity: Literal["minutes", "cents"] | None = field(default=None, metadata=stored_as("of"))


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitRequest:
    """Event: the player requests a limit of their own, in minutes or minor units; 0: no limit."""

    limit: int | None = field(default=None, metadata=stored_as("value"))
    options: LimitOptions = LimitOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineCheckForm(FilledForm):
    """A form in which management requests the check of the machine, with a remark."""

    remark: str | None = None


PAYLOAD_CLASS_BY_EVENT: Final[Mapping[EventName, type[Payload]]] = {
    EventType.PLAY: EmptyPayload,
    EventType.SELECT_BET: BetRequest,
    EventType.SELECT_GAME: GameRequest,
    EventType.SELECT_DENOMINATION: DenominationRequest,
    EventType.SELECT_LANGUAGE: LanguageRequest,
    EventType.CHOOSE: ChoiceRequest,
    EventType.OUTCOME_SHOWN: OutcomeShown,
    EventType.DISMISS_REMINDER: EmptyPayload,
    EventType.SET_OWN_LIMIT: LimitRequest,
    EventType.REMINDER_DUE: EmptyPayload,
    EventType.PLAY_PAUSE_OVER: EmptyPayload,
    EventType.PLAYER_SESSION_OVER: EmptyPayload,
    EventType.USE_RESIDUAL_CREDIT: EmptyPayload,
    EventType.EXCHANGE_PRIZE: FilledForm,
    EventType.REFUND_GAME: RulingForm,
    EventType.FORFEIT_GAME: RulingForm,
    EventType.MACHINE_CHECKED: MachineCheckForm,
}
