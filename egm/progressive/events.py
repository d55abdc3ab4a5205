"""Payloads of the progressive events: the controller's reports, and the forms about levels and prizes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from egm.kernel.events import EmptyPayload, EventName, EventType, Payload
from egm.progressive.messages import MysteryPrizeMessage
from egm.record_codec import NOT_STORED, stored_as
from egm.staff.events import FilledForm, RulingForm


@dataclass(frozen=True, slots=True, kw_only=True)
class AwardLocked:
    """Event: a controller has locked the amount of a claim, in minor units."""

    claim_id: str = field(metadata=stored_as("claim"))
    amount_cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressiveClaimClosed:
    """Event: a controller has recorded the payment of a claim, which closes the claim."""

    claim_id: str = field(metadata=stored_as("claim"))


@dataclass(frozen=True, slots=True, kw_only=True)
class MysteryPrizeReport:
    """Event: a controller reports that a contribution of this machine has won a mystery level."""

    level_id: str = field(metadata=stored_as("level"))
    won_prize: Annotated[MysteryPrizeMessage, NOT_STORED] = field(metadata=stored_as("won"))


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelMoveForm(FilledForm):
    """A form in which staff transfer the whole amount of one progressive level to another level."""

    source: str = ""
    target: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnrolmentForm(FilledForm):
    """A form for one step of the enrolment in the progressive link."""

    step: Literal["request", "answer", "enrol"] = "request"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldPrizeRulingForm(RulingForm):
    """A form in which two people rule whether a prize that cannot be verified is paid or declined."""

    decision: str = ""


PAYLOAD_CLASS_BY_EVENT: Final[Mapping[EventName, type[Payload]]] = {
    EventType.AWARD_LOCKED: AwardLocked,
    EventType.PROGRESSIVE_CLAIM_CLOSED: ProgressiveClaimClosed,
    EventType.MYSTERY_PRIZE_WON: MysteryPrizeReport,
    EventType.PROGRESSIVE_AMOUNTS_CHANGED: EmptyPayload,
    EventType.MOVE_PROGRESSIVE_LEVEL: LevelMoveForm,
    EventType.ENROL_LINK: EnrolmentForm,
    EventType.RULE_ON_HELD_PRIZE: HeldPrizeRulingForm,
}
