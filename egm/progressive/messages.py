"""Messages between a machine and a progressive controller, independent of the carrier.

Each message is one JSON object. Amounts are minor units, exact: an integer, or a fraction as text. Nothing
depends on arrival once or in order: a contribution is identified by (machine, level, sequence), a claim by
its id, and the reply to a repeat is the first reply again. A message that does not parse raises
:class:`ProgressiveMessageError`.

::

    machine -> Join                     controller -> Joined, or Refused
    machine -> Contribution             controller -> Counted (cumulative), or Refused: a gap
                                        (of a mystery level: with what this machine has won and not committed)
    controller -> Value (on every change, and at least once a second)
    controller -> LevelWin (to signs, repeatedly for a while after a hit)
    machine -> Claim                    controller -> Award: the locked amount; the level is reset
    machine -> Commit (it is paid)      controller -> Closed
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
from egm.progressive.trigger import MysteryTrigger, TriggerError
from egm.validation import format_first_error

MESSAGE_BYTES_MAX: Final = 64 * 1024
"""The longest accepted message, in bytes."""
INTEGER_MAX: Final = 2**63 - 1
"""The largest integer in a message, limited by the columns of both stores."""
#: Longest explanation in a refusal, in characters.
DETAIL_MAX: Final = 500
_COMBINATION_MAX: Final = 200
_TIME_MAX: Final = 64


def shorten_to(length_max: int) -> BeforeValidator:
    """Return a validator that shortens a text to ``length_max`` characters, ending it in an ellipsis.

    It is for texts that only people read, and that a sender composes of other texts and numbers.
    """

    def shorten_text(text: object) -> object:
        """Return the text shortened to ``length_max`` characters; anything but a text is returned unchanged."""
        if isinstance(text, str) and len(text) > length_max:
            return f"{text[: length_max - 1]}…"
        return text

    return BeforeValidator(shorten_text)


MachineId = Serial
ClaimId = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]{1,100}$")]
Sequence = Annotated[StrictInt, Field(ge=0, le=INTEGER_MAX)]
Cents = Annotated[StrictInt, Field(ge=0, le=INTEGER_MAX)]
PositiveInteger = Annotated[StrictInt, Field(gt=0, le=INTEGER_MAX)]
TimeText = Annotated[str, shorten_to(_TIME_MAX)]


class ProgressiveMessageError(PeerError):
    """The error that a message of the progressive link is invalid. The text quotes the message's beginning."""


class RefusalReason(StrEnum):
    """The reason why the progressive controller refuses a message of the machine."""

    UNKNOWN_MACHINE = "unknown_machine"
    NOT_JOINED = "not_joined"
    UNKNOWN_LEVEL = "unknown_level"
    LEVEL_CLOSED = "level_closed"
    OTHER_STAKE = "other_stake"
    OTHER_ODDS = "other_odds"
    OTHER_INCREMENT = "other_increment"
    OTHER_TERMS = "other_terms"
    """The level's base is lower than the game's return assumes, or its kind or ceiling differs from the game's."""
    GAP = "gap"
    """A contribution out of sequence; the machine must send again from number ``next``."""
    WRONG_AMOUNT = "wrong_amount"
    """A contribution that is not the right share of its wager, or differs from an earlier copy of itself."""
    CLAIM_EARLY = "claim_early"
    """A claim whose own wager's contribution has not been counted yet; the machine must send that first."""
    CLAIM_DIFFERS = "claim_differs"
    CLAIM_HELD = "claim_held"
    """A claim that is recorded and waits for a person's ruling; the machine must ask again later."""
    CLAIM_DECLINED = "claim_declined"
    """A claim for which a person has ruled that nothing is awarded."""
    NO_WAGER = "no_wager"
    """A claim without a wager that could have won."""
    UNKNOWN_CLAIM = "unknown_claim"
    CONTROLLER_FAULT = "controller_fault"


class _Message(BaseModel):
    """Base class of the messages of a progressive link; an unknown member is refused."""

    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid", arbitrary_types_allowed=True)


class LevelEnrolment(_Message):
    """One level in a machine's request to feed levels: its stake, and the exact mean hits of one such wager (s.92).

    ``shown_cents`` and ``falls`` are the amount that the machine showed last, and the level's number of falls
    then. A controller whose store was restored from an older copy learns from them how far the level had
    come.
    """

    level: LevelId
    stake_cents: PositiveInteger
    odds: Rational
    """The exact mean number of hits of one wager of ``stake_cents``."""
    shown_cents: Cents = 0
    """The amount of the level that the machine displayed last, in minor units."""
    falls: Sequence = 0
    """The number of falls of the level's amount that the machine knew when it displayed that amount."""


class Join(_Message):
    """Message that enrols a machine after every connection; the reply for each level repeats its ``nonce``."""

    type: Literal["join"] = "join"
    machine: MachineId
    nonce: ClaimId
    """A random text that the controller's reply for each level repeats."""
    levels: Annotated[tuple[LevelEnrolment, ...], Field(min_length=1, max_length=32)]


def _parse_trigger(data: object) -> MysteryTrigger:
    """Return the revealed secret of a mystery prize that a message holds. Raises ValueError."""
    if isinstance(data, MysteryTrigger):
        return data
    try:
        return MysteryTrigger.from_json(data)
    except TriggerError as error:
        raise ValueError(str(error)) from None


class Won(_Message):
    """A mystery prize that contribution number ``sequence`` of the receiving machine has won.

    ``amount_cents`` is locked, and the level is reset; ``order`` is the number of the hit among those of the
    level. ``trigger`` is the secret amount, which may now be known. The message is sent with every count
    until the machine has confirmed the payment.
    """

    claim: ClaimId
    """The claim id of the prize."""
    sequence: PositiveInteger
    """The number of the machine's contribution that won."""
    amount_cents: Cents
    order: PositiveInteger
    """The number of this hit among those of the level."""
    at_utc: TimeText = ""
    trigger: Annotated[
        MysteryTrigger,
        BeforeValidator(_parse_trigger),
        PlainSerializer(MysteryTrigger.to_json, return_type=dict),
    ]


class Joined(_Message):
    """Message that the machine is enrolled in ``level``; ``increment`` is the share of its wagers added to it.

    The level starts from ``base_cents``; a mystery level must be won by ``ceiling_cents``. ``counted`` is the
    last contribution of this machine that the controller has, and ``won`` its wins that are not committed.
    ``shares`` are the parts of the level that can be won as well as the whole, with the mean hits of a wager:
    a machine that does not know this field rejects the message, and so feeds no such level.
    """

    type: Literal["joined"] = "joined"
    machine: MachineId
    nonce: ClaimId
    level: LevelId
    increment: Rational
    """The share of the machine's wagers that is added to the level."""
    base_cents: Cents
    ceiling_cents: Cents | None = None
    mystery: bool = False
    counted: Sequence
    """The number of the last contribution of this machine that the controller has counted."""
    won: tuple[Won, ...] = ()
    """The machine's mystery prizes whose payment it has not confirmed."""
    shares: dict[str, Rational] = {}
    """The parts of the level that can be won on their own, with the mean hits of a wager."""


SILENT_NS: Final = 5_000_000_000
"""The silence, in nanoseconds, after which a controller may have been replaced; it normally sends twice a second."""
FALLS_AHEAD_MAX: Final = 1_000_000
"""The most falls of a level's amount that machine or controller can have missed; a larger number is implausible."""


def find_unlawful_fall(amount_cents: int, falls: int, before_cents: int, falls_before: int) -> str:
    """Return why a progressive level cannot show ``amount_cents`` after ``before_cents``, or an empty string.

    A lower amount needs a larger count of falls (wins, ceilings and corrections).
    """
    if falls < falls_before:
        return f"the count of falls is {falls}; expected at least {falls_before}, as before"
    if amount_cents < before_cents and falls == falls_before:
        return f"the amount decreased from {before_cents} to {amount_cents}, but no fall was counted"
    return ""


class Value(_Message):
    """Message with the amount that a level shows. ``sequence`` rises with every message; ``time_utc`` is ISO 8601.

    ``run`` is a random name of the run of the controller's program: within a run the sequence alone orders
    values, and a run that started from an older copy of the store can be distinguished from the previous one.
    ``falls`` counts the wins, ceilings and corrections that ever lowered the amount: a lower amount with the
    same ``falls`` is a fault and is not shown (NM 15.1.24.12(E)). ``commitment`` is to the secret amount of
    the ``prize``-th prize of a mystery level (:mod:`egm.progressive.trigger`). The time is the controller's.
    """

    type: Literal["value"] = "value"
    level: LevelId
    sequence: Sequence
    """The number of this message; it rises with every message about the level."""
    time_utc: TimeText
    run: Annotated[str, Field(pattern=r"^[0-9a-f]{0,32}$")] = ""
    """The random name of this run of the controller's program."""
    amount_cents: Cents
    falls: Sequence = 0
    """How many wins, ceilings and corrections have ever lowered the amount."""
    fell_by: Literal["", "win", "ceiling", "correction"] = ""
    """What lowered the amount last; empty if nothing did."""
    names: dict[str, str] = {}
    prize: Sequence = 0
    """The number of the current mystery prize of the level; 0 for a level without one."""
    commitment: Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")] = ""
    """The commitment to the secret amount of the current mystery prize; empty without one."""

    def is_after(self, run: str, sequence: int, time_utc: str, *, was_silent: bool) -> bool:
        """Return whether this message about a level was sent after the message with that run, sequence and time.

        A message of another run was sent later if its sequence or its time is later. If nothing was received from
        the previous run for a while (``was_silent``), every message of the new run counts as later, because the
        new run's store may be an older copy and its clock may be behind.
        """
        if self.run and self.run == run:
            return self.sequence > sequence
        return self.sequence > sequence or self.time_utc > time_utc or was_silent

    def find_contradiction(self, amount_cents: int, falls: int) -> str:
        """Return how this message contradicts what a progressive level has shown, or an empty text if it does not."""
        contradiction = find_unlawful_fall(self.amount_cents, self.falls, amount_cents, falls)
        if not contradiction and amount_cents and self.falls - falls > FALLS_AHEAD_MAX:
            contradiction = f"the count of falls rose from {falls} to {self.falls}, more than is possible"
        return f"{self.level}: {contradiction}" if contradiction else ""


class LevelWin(_Message):
    """Message for signs: ``machine`` has won ``amount_cents`` of a level (IN 2-6-38). Machines do not receive it."""

    type: Literal["won"] = "won"
    level: LevelId
    machine: MachineId
    amount_cents: Cents


class Contribution(_Message):
    """Message with one wager's contribution to a level; ``sequence`` counts this machine's from 1, without gaps.

    ``amount`` is the exact product of wager and increment; the controller adds its own hidden share.
    """

    type: Literal["contribution"] = "contribution"
    machine: MachineId
    level: LevelId
    sequence: PositiveInteger
    """The number of the contribution to this level, counted on this machine from 1 without gaps."""
    wager_cents: PositiveInteger
    amount: Rational
    """The exact product of the wager and the level's increment, in minor units."""


class Counted(_Message):
    """Message that the controller has durably counted this machine's contributions to a level up to ``sequence``.

    ``won`` are the mystery prizes that these contributions have won and that are not committed yet. The other
    contributions up to ``sequence`` have won nothing.
    """

    type: Literal["counted"] = "counted"
    machine: MachineId
    level: LevelId
    sequence: Sequence
    """The number of the last contribution that the controller has durably counted."""
    won: tuple[Won, ...] = ()


class Claim(_Message):
    """Message that a wager has hit a progressive level. The hit is stored durably on the machine.

    ``after`` is the number of the wager's contribution. ``shown_cents`` is the amount that the machine
    displayed. ``share`` is the part of the level that was won, if not the whole. ``at_utc`` is the machine's
    time, for the record only.
    """

    type: Literal["claim"] = "claim"
    machine: MachineId
    level: LevelId
    claim: ClaimId
    after: Sequence
    """The number of the contribution of the wager that hit the level."""
    shown_cents: Cents
    """The amount of the level that the machine displayed at the hit, in minor units."""
    combination: Annotated[str, shorten_to(_COMBINATION_MAX)] = ""
    """The winning combination, for the controller's register."""
    at_utc: TimeText = ""
    share: Rational | None = None
    """The part of the level that was won; None for the whole."""


class Award(_Message):
    """Message with the locked amount of a progressive claim, which is paid exactly.

    ``order`` is the number of the hit among those of the level.
    """

    type: Literal["award"] = "award"
    machine: MachineId
    level: LevelId
    claim: ClaimId
    amount_cents: Cents
    order: PositiveInteger
    """The number of this hit among those of the level."""
    at_utc: TimeText = ""


class Commit(_Message):
    """Message that the machine has paid a progressive award, durably. ``way``: to the credits or by hand.

    ``amount_cents`` differs from the award only if an attendant settled the displayed amount before the award
    arrived; both sides record it. ``void`` means that the game was void and nothing was paid: the award
    returns to the level.
    """

    type: Literal["commit"] = "commit"
    machine: MachineId
    level: LevelId
    claim: ClaimId
    amount_cents: Cents
    way: Literal["credit", "hand", "void"] = "credit"
    """Whether the award was paid to the credits, by hand, or returned because the game was void."""


class Closed(_Message):
    """Message that the controller has recorded the payment of a progressive claim, which is thus closed."""

    type: Literal["closed"] = "closed"
    machine: MachineId
    claim: ClaimId


class Refused(_Message):
    """Message in which the progressive controller refuses a machine's message, with reason and subject.

    For a gap, ``next`` is the number of the next contribution needed.
    """

    type: Literal["refused"] = "refused"
    machine: MachineId
    reason: RefusalReason
    of: Literal["join", "contribution", "claim", "commit"]
    """The kind of message that is refused."""
    level: str = ""
    claim: str = ""
    nonce: str = ""
    sequence: Sequence = 0
    next: Sequence = 0
    """The number of the next contribution that the controller needs, after a gap."""
    detail: Annotated[str, shorten_to(DETAIL_MAX)] = ""


#: Any message that a machine sends to the controller.
FromMachine = Annotated[Join | Contribution | Claim | Commit, Field(discriminator="type")]
#: Any message that the controller sends.
FromController = Annotated[
    Joined | Value | LevelWin | Counted | Award | Closed | Refused, Field(discriminator="type")
]
_FROM_MACHINE: Final[TypeAdapter[FromMachine]] = TypeAdapter(FromMachine)
_FROM_CONTROLLER: Final[TypeAdapter[FromController]] = TypeAdapter(FromController)


M = TypeVar("M")


def encode(message: FromMachine | FromController) -> bytes:
    """Encode a message of the progressive link as JSON, without empty fields that earlier versions do not know."""
    omitted_fields = {name for name in ("shares", "share", "run") if not getattr(message, name, True)}
    return message.model_dump_json(exclude=omitted_fields).encode()


def decode_machine_message(data: bytes) -> FromMachine:
    """Decode a machine's message to the controller. Raises :class:`ProgressiveMessageError`."""
    return _read_message(_FROM_MACHINE, data)


def decode_controller_message(data: bytes) -> FromController:
    """Decode a controller's message. Raises :class:`ProgressiveMessageError`."""
    return _read_message(_FROM_CONTROLLER, data)


def _read_message(adapter: TypeAdapter[M], data: bytes) -> M:
    """Return the message of the progressive link that ``data`` contains. Raises ProgressiveMessageError."""
    if len(data) > MESSAGE_BYTES_MAX:
        raise ProgressiveMessageError(f"{len(data)} bytes; at most {MESSAGE_BYTES_MAX} are read")
    try:
        return adapter.validate_json(data)
    except ValidationError as error:
        raise ProgressiveMessageError(format_first_error(error, data)) from None
