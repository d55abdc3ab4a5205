"""Journal entries about progressive levels and about the link to their controller.

The life of a linked level's win: a game *hits* the level; the machine reports this to the controller as a *claim*; the
controller *locks* the amount, the *award* (or staff settle the claim without it); the amount is paid; the claim is
*closed*. A *prize* is the win of a mystery level, which the controller reports to the machine; if the machine cannot
verify it, it is *held* until two people rule on it. Every win paid is entered in the register of wins.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import NoneType
from typing import Final, Literal

from egm.kernel.entries import EntryDeclaration, PermittedTransfer
from egm.kernel.keys import KernelKey
from egm.kernel.logs import Log
from egm.kernel.significance import ClearCondition, EventEffect, Significance
from egm.money.keys import MoneyKey
from egm.play.records.game_record import MysteryPrizeRecord
from egm.play.records.games import MYSTERY_WON_KIND
from egm.progressive.keys import ProgressiveKey
from egm.progressive.level import LevelTerms
from egm.progressive.records import ClaimRecord, HeldPrize, ReceivedCommitment
from egm.record_codec import omit_if_default, stored_as
from egm.record_fields import ActorId, Cents, CentsOrZero, Count, IsoTime, MachineSerialNumber, StaffNumbers
from egm.staff.records import RulingDetails
from meters import Phase
from meters.transaction import JSON

#: Transfers from any account of any level to any other, for entries whose accounts are checked by the audit's rules.
POOL_TRANSFERS: Final = PermittedTransfer("pool:*:*", "pool:*:*")


# ---------------------------------------------------------------------------------------------- own levels
@dataclass(frozen=True, slots=True, kw_only=True)
class LevelOpened:
    """A progressive level of this machine was opened, and its base amount was paid in."""

    pool_id: str = field(metadata=stored_as("pool"))
    game_id: str = field(metadata=stored_as("game"))
    level_name: str = field(metadata=stored_as("level"))
    stake_cents: Cents
    """The wager that plays for the level, in minor units."""
    terms: LevelTerms
    """The parameters of the level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelChanged:
    """The parameters of a progressive level were changed; they take effect after its next win."""

    pool_id: str = field(metadata=stored_as("pool"))
    terms: LevelTerms
    """The new parameters of the level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelMoved:
    """Staff moved everything that an abandoned progressive level held to another level."""

    source: str
    """The pool of the abandoned level."""
    target: str
    """The pool of the level that received everything."""
    amount: Fraction
    """The amount moved in minor units, exact."""
    persons: StaffNumbers


LEVEL_OPENED: Final = EntryDeclaration(
    kind="progressive.opened",
    record=LevelOpened,
    permitted_transfers=(PermittedTransfer("pool:*:startup", "pool:*:current"),),
    written_keys=(ProgressiveKey.OWN_LEVEL,),
)
LEVEL_CHANGED: Final = EntryDeclaration(
    kind="progressive.changed", record=LevelChanged, written_keys=(ProgressiveKey.OWN_LEVEL,)
)
LEVEL_MOVED: Final = EntryDeclaration(
    kind="progressive.moved",
    record=LevelMoved,
    permitted_transfers=(POOL_TRANSFERS,),
    written_keys=(ProgressiveKey.OWN_LEVEL,),
)


# ---------------------------------------------------------------------------------------------- the register of wins
@dataclass(frozen=True, slots=True, kw_only=True)
class LevelHitRegistered:
    """A hit of a progressive level was entered in the register of level wins."""

    machine: MachineSerialNumber
    play_id: str
    game_id: str = field(metadata=stored_as("game"))
    pool_id: str = field(metadata=stored_as("pool"))
    level_name: str = field(metadata=stored_as("level"))
    amount_cents: CentsOrZero | None
    """The amount won, or null if it is unknown."""
    payment_method: Literal["credit", "hand"] = field(metadata=stored_as("way"))
    """The payment method of the hit: to the credit meter, or by hand."""
    is_settled_by_staff: bool = field(metadata=stored_as("unanswered"))
    """Whether staff settled the hit, because its controller did not reply or its report could not be verified."""


LEVEL_HIT: Final = EntryDeclaration(
    kind="progressive.hit",
    record=LevelHitRegistered,
    description="A won level of this machine or of a controller is entered in the register of wins.",
    counts={"progressive.hits_paid": 1},
    significance=Significance(EventEffect.LOG, sas_exception_code=0x54),
    logs=(Log.PROGRESSIVES,),
)
BROADCAST_LEVEL_HIT: Final = EntryDeclaration(
    kind="progressive.hit_broadcast",
    record=LevelHitRegistered,
    description="A won level that a SAS host broadcasts is entered in the register of wins.",
    counts={"progressive.hits_paid": 1},
    significance=Significance(EventEffect.LOG, sas_exception_code=0x56),
    logs=(Log.PROGRESSIVES,),
)


# ---------------------------------------------------------------------------------------------- claims
@dataclass(frozen=True, slots=True, kw_only=True)
class LevelAward:
    """The controller has locked the amount that is paid for a claim.

    A claim is the record of one hit that machine and controller share until both have recorded the payment.
    """

    claim_id: str = field(metadata=stored_as("claim"))
    pool_id: str = field(metadata=stored_as("pool"))
    amount_cents: CentsOrZero
    """The locked amount, which is paid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnexpectedAward:
    """A controller stated an amount for a claim that is not open, or that was settled at another amount.

    The stated amount is not paid.
    """

    claim_id: str = field(metadata=stored_as("claim"))
    amount_cents: int
    """The amount that the controller stated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimSettledWithoutController:
    """No controller answered a claim, so an attendant settled the hit at the amount that the machine displayed."""

    claim_id: str = field(metadata=stored_as("claim"))
    pool_id: str = field(metadata=stored_as("pool"))
    amount_cents: CentsOrZero
    """The amount that the machine displayed, which is paid."""
    person: ActorId


@dataclass(frozen=True, slots=True, kw_only=True)
class GameEndedWithUndecidedLevels:
    """An attendant ended a game before the controller reported whether the game had won a mystery level."""

    play_id: str
    pool_ids: tuple[str, ...] = field(metadata=stored_as("pools"))
    """The ids of the mystery levels whose result was not known."""
    person: ActorId


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimClosed(ClaimRecord):
    """The controller has recorded how a claim was settled, paid or void; the claim is now closed."""

    claim_id: str = field(metadata=stored_as("claim"))


AWARD_AWAITED: Final = EntryDeclaration(
    kind="progressive.awaited",
    record=NoneType,
    description="A game was shown and waits for its controller to lock the award.",
    written_keys=(ProgressiveKey.GAME_AWAITING_AWARD,),
)
AWARD_LOCKED: Final = EntryDeclaration(
    kind="progressive.award", record=LevelAward, written_keys=(ProgressiveKey.CLAIM,)
)
AWARD_DIFFERS: Final = EntryDeclaration(kind="progressive.award_differs", record=UnexpectedAward)
CLAIM_SETTLED_WITHOUT_CONTROLLER: Final = EntryDeclaration(
    kind="progressive.unanswered",
    record=ClaimSettledWithoutController,
    counts={"progressive.unanswered": 1},
    written_keys=(ProgressiveKey.CLAIM,),
)
GAME_ENDED_WITH_UNDECIDED_LEVELS: Final = EntryDeclaration(
    kind="progressive.undecided",
    record=GameEndedWithUndecidedLevels,
    written_keys=(ProgressiveKey.GAME_ENDED_UNDECIDED,),
)
CLAIM_CLOSED: Final = EntryDeclaration(
    kind="progressive.closed", record=ClaimClosed, written_keys=(ProgressiveKey.CLAIM,)
)


# ---------------------------------------------------------------------------------------------- mystery prizes
@dataclass(frozen=True, slots=True, kw_only=True)
class PrizePaymentLost:
    """A controller restored from an older copy has lost the payment of a mystery prize; it is reported again."""

    claim_id: str = field(metadata=stored_as("claim"))


@dataclass(frozen=True, slots=True, kw_only=True)
class PrizeHeld(HeldPrize):
    """A controller reported a prize that the machine cannot verify; it is held until two people rule on it."""

    claim_id: str = field(metadata=stored_as("claim"))


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelRuling(RulingDetails):
    """The ruling of two people on a prize that cannot be verified, or on a claim that no controller can answer."""

    claim_id: str = field(metadata=stored_as("claim"))
    decision: Literal["pay", "decline"]
    """Whether the prize or claim is paid or declined."""
    pool_id: str = omit_if_default("", key="pool")
    play_id: str = omit_if_default("")
    amount_cents: CentsOrZero | None = omit_if_default(None)
    doubt_reason: str = omit_if_default("", key="why")
    """Why the prize could not be verified."""
    awarded_cents: CentsOrZero | None = omit_if_default(None)
    """The amount that the ruling awards, if a game's outcome hit the level; null for a mystery prize."""


PRIZE_COMMITTED: Final = EntryDeclaration(
    kind="progressive.sealed",
    record=ReceivedCommitment,
    description="The commitment to the secret amount of a mystery prize was received.",
    written_keys=(ProgressiveKey.PRIZE_COMMITMENT,),
)
# These three entries have one kind; the field ``late_decision`` of the record distinguishes them.
PRIZE_WON: Final = EntryDeclaration(
    kind=MYSTERY_WON_KIND,
    record=MysteryPrizeRecord,
    description="A controller found that the open game has won a mystery prize, which is paid with the game.",
    written_keys=(ProgressiveKey.CLAIM,),
)
PRIZE_RETURNED: Final = EntryDeclaration(
    kind=MYSTERY_WON_KIND,
    record=MysteryPrizeRecord,
    description="A mystery prize returns to its level: its game is void, or staff have declined it.",
    written_keys=(ProgressiveKey.CLAIM,),
    optional_keys=(ProgressiveKey.HELD_PRIZE,),
)
PRIZE_PAID_BY_HAND: Final = EntryDeclaration(
    kind=MYSTERY_WON_KIND,
    record=MysteryPrizeRecord,
    description="A mystery prize of a game that is over is reserved for a hand-pay.",
    phase=Phase.RESERVE,
    permitted_transfers=(PermittedTransfer("house:progressive:*", "out:handpay_progressive"),),
    dimension_names=frozenset({"game", "paytable", "denomination_cents", "wager_level"}),
    written_keys=(ProgressiveKey.CLAIM, MoneyKey.HANDPAY),
    optional_keys=(ProgressiveKey.HELD_PRIZE,),
)
PRIZE_PAYMENT_LOST: Final = EntryDeclaration(
    kind="progressive.payment_lost", record=PrizePaymentLost, written_keys=(ProgressiveKey.CLAIM,)
)
PRIZE_NOT_OF_THIS_MACHINE: Final = EntryDeclaration(
    kind="progressive.not_ours",
    record=MysteryPrizeRecord,
    description="A controller reported a mystery prize that no wager of this machine has won; it is not paid.",
)
PRIZE_HELD: Final = EntryDeclaration(
    kind="progressive.held",
    record=PrizeHeld,
    written_keys=(ProgressiveKey.HELD_PRIZE,),
    significance=Significance(EventEffect.LOG),
)
PRIZE_RULED: Final = EntryDeclaration(
    kind="progressive.ruled",
    record=LevelRuling,
    optional_keys=(ProgressiveKey.HELD_PRIZE, ProgressiveKey.CLAIM, KernelKey.FAULT),
    significance=Significance(EventEffect.LOG),
)


# ---------------------------------------------------------------------------------------------- the link
@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateInUse:
    """The digest of the certificate that identifies this machine on its progressive link."""

    certificate_digest: str = field(metadata=stored_as("certificate"))


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelLinked:
    """A level of a controller is in the cabinet file for the first time. Its contributions are counted from now on."""

    pool_id: str = field(metadata=stored_as("pool"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ContributionCountDiffers:
    """A controller's count of this machine's contributions to a level differs from the machine's own count."""

    pool_id: str = field(metadata=stored_as("pool"))
    last_counted_number: Count = field(metadata=stored_as("counted"))
    """The number of the last contribution that the controller has counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRefused:
    """The controller refused a message of the progressive link, or sent one that could not be understood."""

    code: str
    """The code of the refusal."""
    text: str
    """The reason, as the controller stated it, or what this machine found wrong with the controller's message."""
    is_last_recorded: bool = omit_if_default(False, key="last")
    """Whether this is the last refusal that is recorded for this connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkDisconnected:
    """The connection to the progressive controller was lost."""

    reason: str = field(metadata=stored_as("why"))


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelLinkChanged:
    """The link to a controller's or host's progressive level was lost, or came back."""

    pool_id: str = field(metadata=stored_as("pool"))
    status: str = omit_if_default("")
    """The status of a controller's level, such as up or down; empty for a broadcast level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BroadcastAmountFell:
    """A broadcast level was received with a lower amount, as after a win."""

    pool_id: str = field(metadata=stored_as("pool"))
    from_cents: CentsOrZero
    """The amount received before."""
    to_cents: CentsOrZero
    """The lower amount received now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnrolmentRequested:
    """The machine's request for a link certificate was written to a USB stick."""

    key_digest: str = field(metadata=stored_as("key"))
    """The digest of the public key in the request."""
    persons: StaffNumbers


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkCertificate:
    """The details of a link certificate, with the digests that people compare."""

    serial: MachineSerialNumber
    key_digest: str = field(metadata=stored_as("key"))
    """The digest of the machine's public key."""
    certificate_digest: str = field(metadata=stored_as("certificate"))
    """The digest of the machine's certificate."""
    authority_digest: str = field(metadata=stored_as("authority"))
    """The digest of the certificate of the authority that signed the machine's certificate."""
    issuer: str
    """The name of the authority."""
    valid_from: IsoTime = field(metadata=stored_as("since"))
    """The beginning of the certificate's validity."""
    valid_until: IsoTime = field(metadata=stored_as("until"))
    """The end of the certificate's validity."""
    broker: str
    """The address of the message broker of the link, as host and port."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkCertificateWithPersons(LinkCertificate):
    """The details of a link certificate, and the people who put it into use or read it."""

    persons: StaffNumbers


@dataclass(frozen=True, slots=True, kw_only=True)
class EnrolmentRefused:
    """A step of the enrolment in the progressive link failed."""

    step: Literal["request", "answer", "enrol", "start"]
    """The step that failed: writing the request, reading the answer, putting it into use, or the start-up with it."""
    reason: str = field(metadata=stored_as("why"))
    """The code of the error."""
    values: Mapping[str, JSON]
    """The values that complete the error's text; their names depend on the error code."""
    persons: tuple[str, ...]
    """The people who performed the step; empty at a start-up."""


LEVEL_LINKED: Final = EntryDeclaration(
    kind="progressive.linked", record=LevelLinked, written_keys=(ProgressiveKey.LINK_PROGRESS,)
)
CONTROLLER_COUNT_AHEAD: Final = EntryDeclaration(
    kind="progressive.ahead",
    record=ContributionCountDiffers,
    description="A controller has counted contributions that this machine has not recorded.",
    written_keys=(ProgressiveKey.LINK_PROGRESS,),
)
CONTROLLER_COUNT_BEHIND: Final = EntryDeclaration(
    kind="progressive.behind",
    record=ContributionCountDiffers,
    description="A controller has lost contributions and claims, which are reported to it again.",
    optional_keys=(ProgressiveKey.CLAIM,),
)
MESSAGE_REFUSED: Final = EntryDeclaration(kind="progressive.refused", record=MessageRefused)
LINK_DISCONNECTED: Final = EntryDeclaration(kind="progressive.disconnected", record=LinkDisconnected)
LEVEL_LINK_LOST: Final = EntryDeclaration(
    kind="progressive.link_lost",
    record=LevelLinkChanged,
    description="A level is no longer received.",
    significance=Significance(EventEffect.LOG, ClearCondition.ITSELF, sas_exception_code=0x53),
)
LEVEL_LINK_BACK: Final = EntryDeclaration(
    kind="progressive.link_back", record=LevelLinkChanged, description="A level is received again."
)
BROADCAST_AMOUNT_FELL: Final = EntryDeclaration(kind="progressive.fell", record=BroadcastAmountFell)
ENROLMENT_REQUESTED: Final = EntryDeclaration(kind="link.requested", record=EnrolmentRequested)
ENROLMENT_ANSWERED: Final = EntryDeclaration(
    kind="link.answered",
    record=LinkCertificateWithPersons,
    description="The authority's answer was read from a stick and belongs to this machine; it is not in use yet.",
)
LINK_ENROLLED: Final = EntryDeclaration(
    kind="link.enrolled",
    record=LinkCertificateWithPersons,
    description="Persons who compared the digests put a link certificate into use.",
    written_keys=(ProgressiveKey.LINK_CERTIFICATE,),
)
LINK_CERTIFICATE_FOUND: Final = EntryDeclaration(
    kind="link.found",
    record=LinkCertificate,
    description="A link certificate was found in use that the journal did not name.",
    written_keys=(ProgressiveKey.LINK_CERTIFICATE,),
    is_technical=True,
)
ENROLMENT_REFUSED: Final = EntryDeclaration(kind="link.refused", record=EnrolmentRefused)
