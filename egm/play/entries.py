"""The journal entries of play: games, tables, prizes in kind, residual credit and player protection."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import NoneType
from typing import Final, Literal

from egm.kernel.entries import EntryDeclaration, PermittedTransfer
from egm.kernel.keys import KernelKey
from egm.kernel.logs import Log
from egm.kernel.messages import ReminderKind
from egm.kernel.significance import ClearCondition, EventEffect, Significance
from egm.money.keys import MoneyKey
from egm.money.records.money import PrizeRecord
from egm.play.keys import PlayKey, TableKey
from egm.play.records.game_record import DrawRecord, GameChoice, GameRecord, TableBetsReturned
from egm.play.records.games import GAME_CHOICE_KIND
from egm.play.records.protection import ReminderRecord
from egm.play.void_rule import VoidReason
from egm.progressive.entries import POOL_TRANSFERS
from egm.progressive.keys import ProgressiveKey
from egm.record_codec import omit_if_default, stored_as
from egm.record_fields import (
    Cents,
    CentsOrZero,
    Count,
    IsoTime,
    MachineSerialNumber,
    Sha256Digest,
    StaffNumbers,
)
from egm.staff.records import RulingDetails
from meters import Phase
from meters.recall import PLAY_PUSH_KIND, PLAY_START_KIND
from meters.transaction import JSON

#: The accounts of the players' cashable credit.
_CASHABLE_ACCOUNT_PATTERN: Final = "credit:*:cashable"
#: The transfer of a stake.
_STAKE_TRANSFER: Final = PermittedTransfer("credit:*:*", "house:wager")
#: The transfer of a returned stake.
_PUSH_TRANSFER: Final = PermittedTransfer("house:push", "credit:*:*")
#: The transfer of a win.
_WIN_TRANSFER: Final = PermittedTransfer("house:win", _CASHABLE_ACCOUNT_PATTERN)
#: The dimensions of a game's meters.
_GAME_DIMENSIONS: Final = frozenset({"game", "paytable", "denomination_cents", "wager_level"})


# ---------------------------------------------------------------------------------------------- games
@dataclass(frozen=True, slots=True, kw_only=True)
class DoubleUpStakes:
    """The stakes of a game's double-ups were recorded: each is the win that the player risked."""

    play_id: str
    stakes_cents: tuple[Cents, ...]
    """The win staked on each double-up, in order, in minor units."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GamePush:
    """A game returned stakes to the player before its end."""

    play_id: str
    push_cents: Cents


@dataclass(frozen=True, slots=True, kw_only=True)
class GameEnd:
    """A game ended; its win, if any, was credited."""

    play_id: str
    win_cents: CentsOrZero
    push_cents: CentsOrZero = omit_if_default(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class GameEndWithHandpay(GameEnd):
    """A game ended, and its win is reserved for a hand-pay."""

    prizes: tuple[PrizeRecord, ...] = omit_if_default(())


@dataclass(frozen=True, slots=True, kw_only=True)
class VoidedOutcome:
    """What the journal had recorded of a game's result when the game was declared void."""

    is_decided: bool = field(metadata=stored_as("decided"))
    """Whether the game had an outcome, or at least the number of its wheel spin was recorded."""
    returned_cents: CentsOrZero | None = field(metadata=stored_as("win_cents"))
    """What the recorded outcome pays: wins and returned stakes in minor units; None if the game had no outcome."""
    progressive_win_cents: CentsOrZero = field(metadata=stored_as("levels_cents"))
    """The total of the game's progressive awards, in minor units."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameVoid(RulingDetails):
    """Two people declared a game void."""

    play_id: str
    refund_cents: CentsOrZero
    """The total of the stakes returned to the player, in minor units."""
    void_reason: VoidReason = field(metadata=stored_as("ruling"))
    """The reason: a defect of the machine, or a player who disrupted the game."""
    settlements: tuple[Mapping[str, JSON], ...] = omit_if_default((), key="settled")
    """The bets of this game that were settled before it was voided; they stay settled."""
    recorded_outcome: VoidedOutcome = field(metadata=stored_as("recorded"))
    """What the journal had recorded of the game's result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayDifference:
    """The recorded draws of a decided game did not give its recorded outcome; the game is paid as recorded."""

    play_id: str
    difference: str = field(metadata=stored_as("why"))
    returned_cents: CentsOrZero = field(metadata=stored_as("win_cents"))
    """What the recorded outcome pays: wins and returned stakes, in minor units."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionConflict:
    """A game is installed with a version number under which a different definition was played here."""

    game_id: str = field(metadata=stored_as("game"))
    version: str
    digest: Sha256Digest
    earlier_digest: Sha256Digest = field(metadata=stored_as("before"))
    """The digest of the definition that was played here under this version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LargestPrizes:
    """The stored value with the largest prizes of one game definition."""

    code_digest: Sha256Digest = field(metadata=stored_as("code"))
    """The digest of the code that computed the prizes."""
    prizes: tuple[tuple[int | None, int], ...]
    """For each way to bet, in the order of the exact analysis: the largest win in credits, and the cost in credits.

    A win is None if the analysis cannot compute it exactly.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class LargestPrizesComputed(LargestPrizes):
    """The largest prizes of a game were computed; the entry also stores them."""

    game_id: str = field(metadata=stored_as("game"))
    digest: Sha256Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallShown:
    """A game was shown in the game recall."""

    play_id: str
    person: str = ""
    """The person who was signed in, or empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineChecked:
    """Staff had the machine checked before a large hand-pay: game, accounts, software, meters, journal head."""

    replay_result: str = field(metadata=stored_as("game"))
    """The result of replaying the last game: ``right``, ``none`` if there is no game, or the difference as text."""
    journal_result: str = field(metadata=stored_as("books"))
    """The result of checking the journal's sums and hash chain: ``right``, or the error as text."""
    play_id: str | None
    game_digest: Sha256Digest | None = field(metadata=stored_as("digest"))
    signed_software: Mapping[str, str] | None = field(metadata=stored_as("software"))
    """The version, the signer and the digest of the signed software; null if the software is not signed."""
    open_handpay_id: str | None = field(metadata=stored_as("handpay"))
    """The id of the hand-pay that is open, or null."""
    meters: Mapping[str, int]
    """The meters at the time of the check, except those that are zero."""
    head_hash: Sha256Digest = field(metadata=stored_as("head"))
    """The hash of the journal's last entry."""
    persons: StaffNumbers
    remark: str
    """The remark that staff entered, or empty."""


#: Keys of the player's session, the shared table state and progressive levels, which a game's steps may change.
_KEYS_CHANGED_BY_STEP: Final = (
    PlayKey.SESSION,
    TableKey.SHARED_STATE,
    ProgressiveKey.OWN_LEVEL,
    ProgressiveKey.LINK_PROGRESS,
    ProgressiveKey.CLAIM,
    ProgressiveKey.UNREAD_BROADCAST_WIN,
)
#: Keys that a game's end may change.
_KEYS_CHANGED_AT_GAME_END: Final = (
    PlayKey.SESSION,
    TableKey.TABLE_STATE,
    ProgressiveKey.GAME_AWAITING_AWARD,
    ProgressiveKey.GAME_ENDED_UNDECIDED,
    ProgressiveKey.CLAIM,
)
GAME_START: Final = EntryDeclaration(
    kind=PLAY_START_KIND,
    is_omitted_from_event_log=True,
    record=GameRecord,
    description="A game was started: staked, drawn and, unless a decision is pending, decided.",
    permitted_transfers=(_STAKE_TRANSFER, POOL_TRANSFERS),
    counts={"games_played": 1},
    written_keys=(PlayKey.GAME,),
    optional_keys=(PlayKey.GAME_DEFINITION, *_KEYS_CHANGED_BY_STEP),
    dimension_names=_GAME_DIMENSIONS,
)
GAME_CHOICE: Final = EntryDeclaration(
    kind=GAME_CHOICE_KIND,
    is_omitted_from_event_log=True,
    record=GameChoice,
    description="A further step of a game was taken: a choice, with its stake and draws.",
    permitted_transfers=(_STAKE_TRANSFER, POOL_TRANSFERS),
    optional_keys=_KEYS_CHANGED_BY_STEP,
    dimension_names=_GAME_DIMENSIONS,
)
GAME_DOUBLE_UP: Final = EntryDeclaration(
    kind="game.double_up",
    record=DoubleUpStakes,
    permitted_transfers=(
        _WIN_TRANSFER,
        PermittedTransfer("house:double_up_win", _CASHABLE_ACCOUNT_PATTERN),
        PermittedTransfer(_CASHABLE_ACCOUNT_PATTERN, "house:double_up_bet"),
    ),
    dimension_names=_GAME_DIMENSIONS,
)
GAME_PUSH: Final = EntryDeclaration(
    kind=PLAY_PUSH_KIND,
    is_omitted_from_event_log=True,
    record=GamePush,
    permitted_transfers=(_PUSH_TRANSFER,),
    optional_keys=(PlayKey.SESSION,),
    dimension_names=_GAME_DIMENSIONS,
)
GAME_END: Final = EntryDeclaration(
    kind="game.end",
    record=GameEnd,
    permitted_transfers=(
        _WIN_TRANSFER,
        PermittedTransfer("house:double_up_win", _CASHABLE_ACCOUNT_PATTERN),
        PermittedTransfer("house:progressive:*", _CASHABLE_ACCOUNT_PATTERN),
    ),
    counts={"games_won": None, "games_pushed": None, "games_lost": None},
    written_keys=(PlayKey.GAME, PlayKey.LAST_GAME),
    optional_keys=_KEYS_CHANGED_AT_GAME_END,
    dimension_names=_GAME_DIMENSIONS,
    is_omitted_from_event_log=True,
)
GAME_END_WITH_HANDPAY: Final = EntryDeclaration(
    kind="game.end",
    record=GameEndWithHandpay,
    phase=Phase.RESERVE,
    permitted_transfers=(
        PermittedTransfer("house:attendant_jackpot", "out:handpay_jackpot"),
        PermittedTransfer("house:progressive:*", "out:handpay_progressive"),
        PermittedTransfer("prizes:*:offered", "prizes:*:given"),
    ),
    counts={"games_won": 1},
    written_keys=(PlayKey.GAME, PlayKey.LAST_GAME, MoneyKey.HANDPAY),
    optional_keys=_KEYS_CHANGED_AT_GAME_END,
    dimension_names=_GAME_DIMENSIONS,
    is_omitted_from_event_log=True,
)
GAME_VOID: Final = EntryDeclaration(
    kind="game.void",
    record=GameVoid,
    permitted_transfers=(
        PermittedTransfer("house:refund_defect", "credit:*:*"),
        _WIN_TRANSFER,
        _PUSH_TRANSFER,
        POOL_TRANSFERS,
    ),
    counts={"games_void": 1},
    written_keys=(PlayKey.GAME,),
    optional_keys=(
        KernelKey.FAULT,
        ProgressiveKey.OWN_LEVEL,
        ProgressiveKey.UNREAD_BROADCAST_WIN,
        *_KEYS_CHANGED_AT_GAME_END,
    ),
    significance=Significance(EventEffect.LOG),
    is_omitted_from_event_log=True,
)
GAME_REPLAY_DIFFERS: Final = EntryDeclaration(
    kind="game.differs",
    record=ReplayDifference,
    significance=Significance(EventEffect.LOG),
)
GAME_VERSION_CONFLICT: Final = EntryDeclaration(kind="game.same_version", record=VersionConflict)
LARGEST_PRIZES_COMPUTED: Final = EntryDeclaration(
    kind="game.examined", record=LargestPrizesComputed, written_keys=(PlayKey.LARGEST_PRIZES,)
)
TABLE_BETS_RETURNED: Final = EntryDeclaration(
    kind="table.returned",
    record=TableBetsReturned,
    description="Bets were returned from a table between two games.",
    permitted_transfers=(_PUSH_TRANSFER,),
    written_keys=(TableKey.TABLE_STATE,),
    optional_keys=(PlayKey.SESSION,),
    dimension_names=frozenset({"game", "paytable", "denomination_cents"}),
)
RECALL_SHOWN: Final = EntryDeclaration(
    kind="recall.shown",
    record=RecallShown,
    significance=Significance(EventEffect.LOG, sas_exception_code=0x8A),
)
MACHINE_CHECKED: Final = EntryDeclaration(
    kind="machine.checked",
    record=MachineChecked,
    significance=Significance(EventEffect.LOG),
    logs=(Log.DISPUTES,),
)


# ---------------------------------------------------------------------------------------------- prizes in kind
@dataclass(frozen=True, slots=True, kw_only=True)
class PrizesWon:
    """The prizes in kind that a game won were entered in the register of wins."""

    machine: MachineSerialNumber
    play_id: str
    game_id: str = field(metadata=stored_as("game"))
    prizes: tuple[PrizeRecord, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrizesExchanged:
    """Staff exchanged prizes in kind for their stated value, which is reserved for a hand-pay."""

    handpay_id: str = field(metadata=stored_as("handpay"))
    prizes: tuple[PrizeRecord, ...]
    amount_cents: Cents
    machine: MachineSerialNumber
    persons: StaffNumbers


@dataclass(frozen=True, slots=True, kw_only=True)
class HandpayReplaced:
    """A hand-pay of prizes in kind was voided, because they were exchanged for money; another hand-pay replaces it."""

    handpay_id: str = field(metadata=stored_as("handpay"))
    replacement_id: str = field(metadata=stored_as("by"))
    """The id of the hand-pay that replaces the voided one."""


PRIZES_WON: Final = EntryDeclaration(
    kind="merchandise.won",
    record=PrizesWon,
    counts={"merchandise_won": 1},
    significance=Significance(EventEffect.LOCK, ClearCondition.ATTENDANT),
    logs=(Log.HANDPAYS,),
)
PRIZES_EXCHANGED: Final = EntryDeclaration(
    kind="handpay.exchanged",
    record=PrizesExchanged,
    phase=Phase.RESERVE,
    permitted_transfers=(
        PermittedTransfer("house:attendant_jackpot", "out:handpay_jackpot"),
        PermittedTransfer("house:progressive:*", "out:handpay_progressive"),
    ),
    written_keys=(MoneyKey.HANDPAY,),
    logs=(Log.HANDPAYS,),
)
HANDPAY_REPLACED: Final = EntryDeclaration(
    kind="handpay.replaced",
    record=HandpayReplaced,
    phase=Phase.VOID,
    closed_reservations=(GAME_END_WITH_HANDPAY,),
    written_keys=(MoneyKey.HANDPAY,),
    logs=(Log.HANDPAYS,),
)


# ---------------------------------------------------------------------------------------------- residual credit
@dataclass(frozen=True, slots=True, kw_only=True)
class ResidualGivenUp:
    """A player gave up residual credit; the venue keeps it."""

    amount_cents: Cents


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidualPlayed:
    """A player staked residual credit on one random draw."""

    amount_cents: Cents
    prize_cents: Cents
    """The prize that the draw offered, in minor units."""
    draws: tuple[DrawRecord, ...]
    won_cents: CentsOrZero
    """The amount won: the prize, or 0 if the stake was lost."""


RESIDUAL_GIVEN_UP: Final = EntryDeclaration(
    kind="residual.removed",
    record=ResidualGivenUp,
    permitted_transfers=(PermittedTransfer("credit:*:*", "house:residual"),),
    counts={"residuals": 1},
    significance=Significance(EventEffect.LOG),
)
RESIDUAL_PLAYED: Final = EntryDeclaration(
    kind="residual.played",
    record=ResidualPlayed,
    permitted_transfers=(
        PermittedTransfer("credit:*:*", "house:residual"),
        PermittedTransfer("house:residual_win", _CASHABLE_ACCOUNT_PATTERN),
    ),
    counts={"residuals": 1},
)


# ---------------------------------------------------------------------------------------------- player protection
@dataclass(frozen=True, slots=True, kw_only=True)
class ReminderOrPauseEnded:
    """A reminder or a pause of player protection has ended."""

    kind: ReminderKind
    """The kind of the reminder, or of the limit at which play was paused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnded:
    """A player's session ended, because the player had left."""

    minutes: Count
    """The length of the session, in minutes."""
    spent_cents: int
    """The net spending of the session, wagers minus wins, in minor units."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSet:
    """A player set a limit for themselves."""

    limited_quantity: Literal["minutes", "cents"] = field(metadata=stored_as("of"))
    """What is limited: time or net spending."""
    limit_value: Count = field(metadata=stored_as("value"))
    """The limit, in minutes or in minor units; 0: no limit."""


REMINDER_SHOWN: Final = EntryDeclaration(
    kind="protection.reminder",
    record=ReminderRecord,
    description="A reminder of time or money was shown, or a limit was reached and a pause began.",
    counts={"reminders.*": None},
    written_keys=(PlayKey.REMINDER, PlayKey.SESSION),
    significance=Significance(EventEffect.LOG),
    logs=(Log.PROTECTION,),
)
REMINDER_ACKNOWLEDGED: Final = EntryDeclaration(
    kind="protection.acknowledged",
    record=ReminderOrPauseEnded,
    description="The player confirmed a reminder.",
    written_keys=(PlayKey.REMINDER,),
    significance=Significance(EventEffect.LOG),
    logs=(Log.PROTECTION,),
)
PAUSE_OVER: Final = EntryDeclaration(
    kind="protection.pause_over",
    record=ReminderOrPauseEnded,
    description="The pause at a limit ended, and the counting of time and money started again at zero.",
    written_keys=(PlayKey.REMINDER, PlayKey.SESSION),
    significance=Significance(EventEffect.LOG),
    logs=(Log.PROTECTION,),
)
#: Keys that the end of a player's session removes.
_SESSION_KEYS: Final = (PlayKey.SESSION, PlayKey.REMINDER, PlayKey.OWN_LIMITS)
SESSION_ENDED: Final = EntryDeclaration(
    kind="protection.session_ended",
    record=SessionEnded,
    written_keys=_SESSION_KEYS,
    significance=Significance(EventEffect.LOG),
    logs=(Log.PROTECTION,),
)
SESSION_ENDED_WITHOUT_GAME: Final = EntryDeclaration(
    kind="protection.session_ended",
    record=NoneType,
    description="The limits of a player who had left without a game were cleared.",
    written_keys=_SESSION_KEYS,
    significance=Significance(EventEffect.LOG),
    logs=(Log.PROTECTION,),
)
LIMIT_SET: Final = EntryDeclaration(
    kind="protection.limit_set",
    record=LimitSet,
    written_keys=(PlayKey.OWN_LIMITS,),
    significance=Significance(EventEffect.LOG),
    logs=(Log.PROTECTION,),
)


# ---------------------------------------------------------------------------------------------- the time played
@dataclass(frozen=True, slots=True, kw_only=True)
class TimeCharged:
    """The charge for the time at a table was taken from the player's credit at the start of a game."""

    digest: Sha256Digest
    """The digest of the definition of the table's game, which states the charge."""
    play_id: str
    """The id of the game at whose start the charge was taken."""
    amount_cents: Cents
    minutes: Count
    """The time that the charge pays for, in minutes."""
    paid_until: IsoTime = field(metadata=stored_as("until"))
    """The time until which the position has paid."""


TIME_CHARGED: Final = EntryDeclaration(
    kind="room.time_charged",
    record=TimeCharged,
    permitted_transfers=(PermittedTransfer("credit:*:*", "house:time_charge"),),
    written_keys=(PlayKey.PAID_PLAYING_TIME,),
    optional_keys=(PlayKey.SESSION,),
)
