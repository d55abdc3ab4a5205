"""Payloads of the play events: what the player selects and decides, and the forms about a game.

Every field of a player's request has a default, so that a guard refuses a request without a value in the same
way as a request for a value that is not offered.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from egm.kernel.events import EmptyPayload, EventName, EventType, Payload
from egm.kernel.messages import Notice
from egm.record_codec import NOT_STORED
from egm.staff.events import FilledForm, RulingForm
from meters.transaction import JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeShown:
    """Payload of an event: the outcome of the game with this id has been shown."""

    value: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BetRequest:
    """The player's selection of a bet: its cost in credits, and further choices that the game's rules need."""

    value: int | None = None
    options: Mapping[str, JSON] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GameRequest:
    """The player's selection of a game by its id."""

    value: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DenominationRequest:
    """The player's selection of a denomination, in minor units."""

    value: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageRequest:
    """The player's selection of a language by its code."""

    value: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredDecision:
    """The decision that the player saw when they answered: the game, and how many steps it had had."""

    play_id: str = ""
    step: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceRequest:
    """An answer to the open game's pending decision, by the player, by a real wheel or by another seat of the round."""

    value: JSON = None
    options: AnsweredDecision = AnsweredDecision()
    spin: int | None = None
    """The wheel's own count of the spin, if a real wheel answers."""
    seat: int | None = None
    """The number of the other seat whose recorded answer is repeated here."""
    notice: Annotated[Notice, NOT_STORED] | None = None
    """The notice that stays on the screen when another seat's answer is repeated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitOptions:
    """The quantities that a player's own limit can restrict: time, or the net cost."""

    of: Literal["minutes", "cents"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitRequest:
    """The player's request to set a limit for themselves; 0 removes it."""

    value: int | None = None
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
