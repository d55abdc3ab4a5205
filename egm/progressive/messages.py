"""Messages between a machine and a progressive controller, independent of the carrier.

Each message is one JSON object. Amounts are minor units, exact: an integer, or a fraction as text. A message
may arrive twice, late or out of order: a contribution is identified by (machine, level, number), a claim by
its id, and a repeated message gets the same reply again. A message that does not parse raises
:class:`ProgressiveMessageError`.

::

    machine -> EnrolmentRequest     controller -> EnrolmentAccepted, or Refusal
    machine -> Contribution         controller -> ContributionCount (of all so far), or Refusal: a gap
                                    (with the mystery prizes of the machine whose payment is not confirmed)
    controller -> LevelValue (on every change, and at least once a second)
    controller -> LevelWin (to signs, repeatedly for a while after a hit)
    machine -> Claim                controller -> Award: the locked amount; the level is reset
    machine -> PaymentReport        controller -> ClaimClosure
"""

from enum import StrEnum
from typing import Annotated, Final, Literal, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    StrictInt,
    TypeAdapter,
    ValidationError,
)

from egm.config.levels import LevelId
from egm.config.serials import Serial
from egm.errors import PeerError
from egm.exact import Rational
from egm.message_errors import format_first_error
from egm.progressive.trigger import MysteryTrigger, TriggerError

#: The size of the longest message that is accepted, in bytes.
MESSAGE_BYTES_MAX: Final = 64 * 1024
#: The largest integer that a message may contain: the largest that the databases of both ends can store.
INTEGER_MAX: Final = 2**63 - 1
#: Longest explanation in a refusal, in characters.
DETAIL_CHARACTERS_MAX: Final = 500
_COMBINATION_CHARACTERS_MAX: Final = 200
_TIME_CHARACTERS_MAX: Final = 64


def shorten_to(length_max: int) -> BeforeValidator:
    """Return a pydantic validator that shortens a text to ``length_max`` characters, with an ellipsis at its end.

    It is used for texts that only people read and whose length the sender cannot limit.
    """

    def shorten_text(text: object) -> object:
        """Return the text shortened to ``length_max`` characters; return a value of any other type unchanged."""
        if isinstance(text, str) and len(text) > length_max:
            return f"{text[: length_max - 1]}…"
        return text

    return BeforeValidator(shorten_text)


MachineId = Serial
ClaimId = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]{1,100}$")]
SequenceNumber = Annotated[StrictInt, Field(ge=0, le=INTEGER_MAX)]
Cents = Annotated[StrictInt, Field(ge=0, le=INTEGER_MAX)]
PositiveInteger = Annotated[StrictInt, Field(gt=0, le=INTEGER_MAX)]
TimeText = Annotated[str, shorten_to(_TIME_CHARACTERS_MAX)]


class ProgressiveMessageError(PeerError):
    """Raised if a message of the progressive link is invalid. The text quotes the message's beginning."""


class RefusalReason(StrEnum):
    """The reason why the progressive controller refuses a message of the machine."""

    UNKNOWN_MACHINE = "unknown_machine"
    NOT_ENROLLED = "not_joined"
    UNKNOWN_LEVEL = "unknown_level"
    LEVEL_CLOSED = "level_closed"
    OTHER_STAKE = "other_stake"
    OTHER_ODDS = "other_odds"
    OTHER_INCREMENT = "other_increment"
    OTHER_TERMS = "other_terms"
    """The level's terms do not fit the game: the base is too low, or the kind or the ceiling differs."""
    CONTRIBUTIONS_MISSING = "gap"
    """Contributions before this one are missing; the machine must send again from number ``next_needed_number``."""
    WRONG_AMOUNT = "wrong_amount"
    """The contribution is not the right share of its wager, or differs from the same one sent earlier."""
    CLAIM_BEFORE_CONTRIBUTION = "claim_early"
    """The contribution of the claim's wager has not been counted yet; the machine must send it first."""
    CLAIM_DIFFERS = "claim_differs"
    CLAIM_HELD = "claim_held"
    """The claim is recorded and waits for a person's ruling; the machine must send it again later."""
    CLAIM_DECLINED = "claim_declined"
    """A person has ruled that nothing is awarded for the claim."""
    CLAIM_WITHOUT_WAGER = "no_wager"
    """No wager belongs to the claim that could have won the level."""
    UNKNOWN_CLAIM = "unknown_claim"
    CONTROLLER_FAULT = "controller_fault"


class _Message(BaseModel):
    """Base class of the messages of a progressive link; a message with an unknown field is refused."""

    model_config = ConfigDict(
        defer_build=True, frozen=True, extra="forbid", arbitrary_types_allowed=True, serialize_by_alias=True
    )


class LevelEnrolment(_Message):
    """One level in a machine's request to feed levels.

    It repeats what the machine showed last, so that a controller whose store was restored from an older copy
    learns how far the level had come.
    """

    level_id: LevelId = Field(alias="level")
    stake_cents: PositiveInteger
    """The wager that plays for the level, in minor units."""
    hit_rate: Rational = Field(alias="odds")
    """The exact mean number of hits of the level per wager of ``stake_cents`` (s.92)."""
    shown_cents: Cents = 0
    """The amount of the level that the machine displayed last, in minor units."""
    fall_count: SequenceNumber = Field(default=0, alias="falls")
    """How often the level's amount had been lowered when the machine showed ``shown_cents``."""


class EnrolmentRequest(_Message):
    """A machine's request to feed its linked levels; it is sent after every new connection."""

    type: Literal["join"] = "join"
    machine: MachineId
    nonce: ClaimId
    """A text, new for every connection, that the controller's reply for each level repeats."""
    levels: Annotated[tuple[LevelEnrolment, ...], Field(min_length=1, max_length=32)]


def _parse_trigger(data: object) -> MysteryTrigger:
    """Return the revealed secret of a mystery prize from a message's JSON. Raises ValueError."""
    if isinstance(data, MysteryTrigger):
        return data
    try:
        return MysteryTrigger.from_json(data)
    except TriggerError as error:
        raise ValueError(str(error)) from None


class MysteryPrizeMessage(_Message):
    """The part of a message that reports a mystery prize which a contribution of the receiving machine has won.

    The controller sends it with every count until the machine has confirmed the payment.
    """

    claim_id: ClaimId = Field(alias="claim")
    """The id of the claim under which the prize is paid and confirmed."""
    contribution_number: PositiveInteger = Field(alias="sequence")
    """The number of the machine's contribution that won."""
    amount_cents: Cents
    """The amount of the prize, in minor units; it no longer changes."""
    hit_number: PositiveInteger = Field(alias="order")
    """The number of this hit among all hits of the level."""
    at_utc: TimeText = ""
    trigger: Annotated[
        MysteryTrigger,
        BeforeValidator(_parse_trigger),
        PlainSerializer(MysteryTrigger.to_json, return_type=dict),
    ]
    """The secret amount of the prize, which may be published now."""


class EnrolmentAccepted(_Message):
    """The controller's reply that it accepts the machine's contributions to the level ``level_id``."""

    type: Literal["joined"] = "joined"
    machine: MachineId
    nonce: ClaimId
    level_id: LevelId = Field(alias="level")
    increment: Rational
    """The share of the machine's wagers that is added to the level."""
    base_cents: Cents
    """The amount from which the level starts, in minor units."""
    ceiling_cents: Cents | None = None
    """The amount at which a mystery level is won at the latest, in minor units; None if it is no mystery level."""
    is_mystery: bool = Field(default=False, alias="mystery")
    last_counted_number: SequenceNumber = Field(alias="counted")
    """The number of the last contribution of this machine that the controller has counted."""
    won_prizes: tuple[MysteryPrizeMessage, ...] = Field(default=(), alias="won")
    """The machine's mystery prizes whose payment it has not confirmed."""
    hit_rate_by_share: dict[str, Rational] = Field(default={}, alias="shares")
    """The parts of the level that can be won on their own, such as 1/10, each with its mean hits per wager.

    A machine of an earlier version does not know this field: it rejects the message, and so feeds no such
    level.
    """


#: The time without any message after which the controller may have been replaced, in nanoseconds.
#:
#: A controller normally sends twice a second.
VALUE_TIMEOUT_NS: Final = 5_000_000_000
#: The maximum number of decreases of a level's amount whose messages a machine or its controller can have missed.
#:
#: A count that is further ahead is refused as implausible.
UNREPORTED_FALLS_MAX: Final = 1_000_000


def find_fall_error(
    amount_cents: int, fall_count: int, amount_before_cents: int, fall_count_before: int
) -> str:
    """Return why a level that showed ``amount_before_cents`` may not show ``amount_cents`` now; empty if it may.

    A lower amount needs a larger number of falls (wins, ceilings and corrections): ``fall_count`` above
    ``fall_count_before``.
    """
    if fall_count < fall_count_before:
        return f"the count of falls is {fall_count}; expected at least {fall_count_before}, as before"
    if amount_cents < amount_before_cents and fall_count == fall_count_before:
        return f"the amount decreased from {amount_before_cents} to {amount_cents}, but no fall was counted"
    return ""


class LevelValue(_Message):
    """Message with the amount that a level shows now.

    A lower amount with an unchanged number of falls is an error and is not shown (NM 15.1.24.12(E)).
    """

    type: Literal["value"] = "value"
    level_id: LevelId = Field(alias="level")
    sequence: SequenceNumber
    """The number of this message; it rises with every message about the level."""
    time_utc: TimeText
    """The controller's time, ISO 8601."""
    run: Annotated[str, Field(pattern=r"^[0-9a-f]{0,32}$")] = ""
    """A random name, new at each start of the controller's program.

    Within a run the sequence alone orders the messages. A new run may have started from an older copy of the
    store.
    """
    amount_cents: Cents
    fall_count: SequenceNumber = Field(default=0, alias="falls")
    """How many wins, ceilings and corrections have ever lowered the level's amount."""
    last_fall_cause: Literal["", "win", "ceiling", "correction"] = Field(default="", alias="fell_by")
    """The kind of event that lowered the amount last; empty if nothing did."""
    names: dict[str, str] = {}
    prize_number: SequenceNumber = Field(default=0, alias="prize")
    """The number of the current mystery prize of the level; 0 for a level without one."""
    commitment: Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")] = ""
    """The commitment to the secret amount of the current mystery prize; empty without one."""

    def is_after(self, run: str, sequence: int, time_utc: str, *, has_timed_out: bool) -> bool:
        """Return whether this message about a level is newer than the one with that run, sequence and time.

        A message of another run is newer if its sequence or its time is higher. If nothing was received for a
        while (``has_timed_out``), every message of another run is newer: that run may have an older copy of the store,
        and a clock that is behind.
        """
        if self.run and self.run == run:
            return self.sequence > sequence
        return self.sequence > sequence or self.time_utc > time_utc or has_timed_out

    def find_amount_error(self, amount_before_cents: int, fall_count_before: int) -> str:
        """Return why a level that showed ``amount_before_cents`` may not show this amount now; empty if it may.

        ``fall_count_before`` is how often the level's amount had been lowered when it showed ``amount_before_cents``.
        """
        contradiction = find_fall_error(
            self.amount_cents, self.fall_count, amount_before_cents, fall_count_before
        )
        if (
            not contradiction
            and amount_before_cents
            and self.fall_count - fall_count_before > UNREPORTED_FALLS_MAX
        ):
            contradiction = (
                f"the count of falls rose from {fall_count_before} to {self.fall_count}, "
                "more than is possible"
            )
        return f"{self.level_id}: {contradiction}" if contradiction else ""


class LevelWin(_Message):
    """Message to the signs on the floor: ``machine`` has won ``amount_cents`` of a level (IN 2-6-38).

    Machines do not receive it.
    """

    type: Literal["won"] = "won"
    level_id: LevelId = Field(alias="level")
    machine: MachineId
    amount_cents: Cents


class Contribution(_Message):
    """Message with one wager's contribution to a level.

    The controller adds the level's hidden share by itself.
    """

    type: Literal["contribution"] = "contribution"
    machine: MachineId
    level_id: LevelId = Field(alias="level")
    number: PositiveInteger = Field(alias="sequence")
    """The number of this machine's contribution to the level, counted from 1 without gaps."""
    wager_cents: PositiveInteger
    amount: Rational
    """The exact product of the wager and the level's increment, in minor units."""


class ContributionCount(_Message):
    """Message that the controller has durably counted this machine's contributions up to ``last_counted_number``."""

    type: Literal["counted"] = "counted"
    machine: MachineId
    level_id: LevelId = Field(alias="level")
    last_counted_number: SequenceNumber = Field(alias="sequence")
    """The number of the last contribution that the controller has durably counted."""
    won_prizes: tuple[MysteryPrizeMessage, ...] = Field(default=(), alias="won")
    """The mystery prizes that these contributions won and whose payment is unconfirmed; the others won nothing."""


class Claim(_Message):
    """Message that a wager has hit a progressive level; the machine has stored the hit durably.

    The controller replies with an :class:`Award`.
    """

    type: Literal["claim"] = "claim"
    machine: MachineId
    level_id: LevelId = Field(alias="level")
    claim_id: ClaimId = Field(alias="claim")
    contribution_number: SequenceNumber = Field(alias="after")
    """The number of the contribution of the wager that hit the level."""
    shown_cents: Cents
    """The amount of the level that the machine displayed at the hit, in minor units."""
    combination: Annotated[str, shorten_to(_COMBINATION_CHARACTERS_MAX)] = ""
    """The winning combination, for the controller's register."""
    at_utc: TimeText = ""
    """The machine's time of the hit; it is only recorded."""
    share: Rational | None = None
    """The part of the level that was won; None for the whole."""


class Award(_Message):
    """Message with the amount that the controller has locked for a claim; the machine pays exactly this amount."""

    type: Literal["award"] = "award"
    machine: MachineId
    level_id: LevelId = Field(alias="level")
    claim_id: ClaimId = Field(alias="claim")
    amount_cents: Cents
    hit_number: PositiveInteger = Field(alias="order")
    """The number of this hit among all hits of the level."""
    at_utc: TimeText = ""


class PaymentReport(_Message):
    """Message that the machine has paid a claim, or that its game is void; the machine has stored this durably."""

    type: Literal["commit"] = "commit"
    machine: MachineId
    level_id: LevelId = Field(alias="level")
    claim_id: ClaimId = Field(alias="claim")
    amount_cents: Cents
    """The paid amount in minor units.

    It differs from the award only if the displayed amount was paid instead: an attendant settled the hit before the
    award arrived, or two people ruled so.
    """
    payment_method: Literal["credit", "hand", "void"] = Field(default="credit", alias="way")
    """Whether the award was paid to the credits or by hand; ``void``: the game was void, and the award returns."""


class ClaimClosure(_Message):
    """Message that the controller has recorded the payment of a progressive claim, which is thus closed."""

    type: Literal["closed"] = "closed"
    machine: MachineId
    claim_id: ClaimId = Field(alias="claim")


class Refusal(_Message):
    """Message in which the controller refuses a message of the machine, with the reason."""

    type: Literal["refused"] = "refused"
    machine: MachineId
    reason: RefusalReason
    refused_type: Literal["join", "contribution", "claim", "commit"] = Field(alias="of")
    """The kind of message that is refused."""
    level_id: str = Field("", alias="level")
    claim_id: str = Field("", alias="claim")
    nonce: str = ""
    contribution_number: SequenceNumber = Field(default=0, alias="sequence")
    """The number of the refused contribution; 0 for another message."""
    next_needed_number: SequenceNumber = Field(default=0, alias="next")
    """If contributions are missing: the number of the first one that the controller needs."""
    detail: Annotated[str, shorten_to(DETAIL_CHARACTERS_MAX)] = ""


#: Any message that a machine sends to the controller.
MachineMessage = Annotated[
    EnrolmentRequest | Contribution | Claim | PaymentReport, Field(discriminator="type")
]
#: Any message that the controller sends.
ControllerMessage = Annotated[
    EnrolmentAccepted | LevelValue | LevelWin | ContributionCount | Award | ClaimClosure | Refusal,
    Field(discriminator="type"),
]
_MACHINE_MESSAGE_ADAPTER: Final[TypeAdapter[MachineMessage]] = TypeAdapter(MachineMessage)
_CONTROLLER_MESSAGE_ADAPTER: Final[TypeAdapter[ControllerMessage]] = TypeAdapter(ControllerMessage)


MessageT = TypeVar("MessageT")


def encode(message: MachineMessage | ControllerMessage) -> bytes:
    """Encode a message as JSON. Fields that earlier versions do not know are left out if they are empty."""
    omitted_fields = {
        name for name in ("hit_rate_by_share", "share", "run") if not getattr(message, name, True)
    }
    return message.model_dump_json(exclude=omitted_fields, by_alias=True).encode()


def decode_machine_message(data: bytes) -> MachineMessage:
    """Decode a machine's message to the controller. Raises :class:`ProgressiveMessageError`."""
    return _decode_message(_MACHINE_MESSAGE_ADAPTER, data)


def decode_controller_message(data: bytes) -> ControllerMessage:
    """Decode a controller's message. Raises :class:`ProgressiveMessageError`."""
    return _decode_message(_CONTROLLER_MESSAGE_ADAPTER, data)


def _decode_message(adapter: TypeAdapter[MessageT], data: bytes) -> MessageT:
    """Decode a message of the progressive link by the types that ``adapter`` allows. Raises ProgressiveMessageError."""
    if len(data) > MESSAGE_BYTES_MAX:
        raise ProgressiveMessageError(f"{len(data)} bytes; at most {MESSAGE_BYTES_MAX} are read")
    try:
        return adapter.validate_json(data)
    except ValidationError as error:
        raise ProgressiveMessageError(format_first_error(error, data)) from None
