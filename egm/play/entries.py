"""The journal entries of play: games, tables, prizes in kind, residual credit and player protection."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import NoneType
from typing import Final, Literal

from egm.kernel.entries import Entry, Moves
from egm.kernel.keys import KernelKey
from egm.kernel.logs import Log
from egm.kernel.messages import ReminderKind
from egm.kernel.significance import Clear, Effect, Significance
from egm.money.keys import MoneyKey
from egm.money.records.money import PrizeRecord
from egm.play.keys import PlayKey, TableKey
from egm.play.records.game_record import DrawRecord, GameChoice, GameRecord, TableBetsReturned
from egm.play.records.games import GAME_CHOICE_KIND
from egm.play.records.protection import ReminderRecord
from egm.play.void_rule import Ruling
from egm.progressive.entries import POOL_MOVES
from egm.progressive.keys import ProgressiveKey
from egm.record_codec import omit_if_default, stored_as
from egm.record_fields import Cents, Count, Digest, Persons, Serial, Time
from egm.staff.records import RulingDetails
from meters import Phase
from meters.recall import PLAY_PUSH, PLAY_START
from meters.transaction import JSON

#: The accounts of the players' cashable credit.
_CASHABLE: Final = "credit:*:cashable"
#: The transfer of a stake.
_STAKE_MOVE: Final = Moves("credit:*:*", "house:wager")
#: The transfer of a returned stake.
_PUSH_MOVE: Final = Moves("house:push", "credit:*:*")
#: The transfer of a win.
_WIN_MOVE: Final = Moves("house:win", _CASHABLE)
#: The dimensions of a game's meters.
_GAME_DIMENSIONS: Final = frozenset({"game", "paytable", "denomination_cents", "wager_level"})


# ---------------------------------------------------------------------------------------------- games
@dataclass(frozen=True, slots=True, kw_only=True)
class DoubleUpStakes:
    """The wins that a player staked on the rounds of a game's double-up were posted."""

    play_id: str
    stakes_cents: tuple[Cents, ...]
    """The win staked on each double-up round, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StakesReturned:
    """A game returned stakes to the player before its end."""

    play_id: str
    push_cents: Cents


@dataclass(frozen=True, slots=True, kw_only=True)
class GameEnd:
    """A game ended, and its win was credited."""

    play_id: str
    win_cents: Count
    push_cents: Count = omit_if_default(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class GameEndByHand(GameEnd):
    """A game ended, and its win is reserved for a hand-pay."""

    prizes: tuple[PrizeRecord, ...] = omit_if_default(())


@dataclass(frozen=True, slots=True, kw_only=True)
class VoidedOutcome:
    """The result of a void game: whether it was decided, and what the game and its progressive levels had won."""

    is_decided: bool = field(metadata=stored_as("decided"))
    """Whether the game was decided."""
    win_cents: Count | None
    progressive_win_cents: Count = field(metadata=stored_as("levels_cents"))
    """The sum that the game had won from progressive levels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameVoid(RulingDetails):
    """Two people declared a game void."""

    play_id: str
    refund_cents: Count
    """The stakes returned to the player."""
    ruling: Ruling
    """The reason: a defect of the machine, or a game disrupted from outside."""
    settlements: tuple[Mapping[str, JSON], ...] = omit_if_default((), key="settled")
    """The bets of the void game that stay decided."""
    recorded_outcome: VoidedOutcome = field(metadata=stored_as("recorded"))
    """The result of the game as far as the journal had recorded it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayDifference:
    """The draws of a decided game no longer give its recorded outcome; it is paid as recorded."""

    play_id: str
    why: str
    win_cents: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionConflict:
    """A game is installed under a version number under which another definition was played here."""

    game: str
    version: str
    digest: Digest
    earlier_digest: Digest
    """The digest of the definition that was played here under this version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LargestPrizes:
    """For each way to bet on a game: its largest win (None: no exact figure) and its cost, both in credits."""

    code_digest: Digest = field(metadata=stored_as("code"))
    """The digest of the code that computed the prizes."""
    prizes: tuple[tuple[int | None, int], ...]
    """For each way to bet: the largest win in credits, or None, and the cost of the bet in credits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LargestPrizesComputed(LargestPrizes):
    """The largest prizes of a game were computed and are stored."""

    game: str
    digest: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallShown:
    """A play was shown in the game recall."""

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
    digest: Digest | None
    software: Mapping[str, str] | None
    """Version, signer and one digest of the signed software; null if it is not signed."""
    handpay_id: str | None = field(metadata=stored_as("handpay"))
    """The id of the open hand-pay, or null."""
    meters: Mapping[str, int]
    """The meters at the time of the check, without those that are zero."""
    head_hash: Digest = field(metadata=stored_as("head"))
    """The hash of the journal's last entry."""
    persons: Persons
    remark: str
    """The remark that staff entered, or empty."""


#: Keys of the player's session and of progressive levels, which a game's entries may change.
_LEVELS_AND_SESSION: Final = (
    PlayKey.SESSION,
    TableKey.SHARED,
    ProgressiveKey.LEVEL,
    ProgressiveKey.LINK,
    ProgressiveKey.CLAIM,
    ProgressiveKey.WIN,
)
#: Keys that a game's end may change.
_CLOSING: Final = (
    PlayKey.SESSION,
    TableKey.TABLE,
    ProgressiveKey.AWAITING,
    ProgressiveKey.UNDECIDED,
    ProgressiveKey.CLAIM,
)
GAME_START: Final = Entry(
    kind=PLAY_START,
    is_bookkeeping=True,
    record=GameRecord,
    about="A game was started: staked, drawn and, unless a decision is pending, decided.",
    moves=(_STAKE_MOVE, POOL_MOVES),
    counts={"games_played": 1},
    writes=(PlayKey.GAME,),
    may_write=(PlayKey.DEFINITION, *_LEVELS_AND_SESSION),
    dimension_names=_GAME_DIMENSIONS,
)
GAME_CHOICE: Final = Entry(
    kind=GAME_CHOICE_KIND,
    is_bookkeeping=True,
    record=GameChoice,
    about="A further step of a game was taken: a choice, with its stake and draws.",
    moves=(_STAKE_MOVE, POOL_MOVES),
    may_write=_LEVELS_AND_SESSION,
    dimension_names=_GAME_DIMENSIONS,
)
GAME_DOUBLE_UP: Final = Entry(
    kind="game.double_up",
    record=DoubleUpStakes,
    moves=(
        _WIN_MOVE,
        Moves("house:double_up_win", _CASHABLE),
        Moves(_CASHABLE, "house:double_up_bet"),
    ),
    dimension_names=_GAME_DIMENSIONS,
)
GAME_PUSH: Final = Entry(
    kind=PLAY_PUSH,
    is_bookkeeping=True,
    record=StakesReturned,
    moves=(_PUSH_MOVE,),
    may_write=(PlayKey.SESSION,),
    dimension_names=_GAME_DIMENSIONS,
)
GAME_END: Final = Entry(
    kind="game.end",
    record=GameEnd,
    moves=(_WIN_MOVE, Moves("house:double_up_win", _CASHABLE), Moves("house:progressive:*", _CASHABLE)),
    counts={"games_won": None, "games_pushed": None, "games_lost": None},
    writes=(PlayKey.GAME, PlayKey.LAST),
    may_write=_CLOSING,
    dimension_names=_GAME_DIMENSIONS,
    is_bookkeeping=True,
)
GAME_END_BY_HAND: Final = Entry(
    kind="game.end",
    record=GameEndByHand,
    phase=Phase.RESERVE,
    moves=(
        Moves("house:attendant_jackpot", "out:handpay_jackpot"),
        Moves("house:progressive:*", "out:handpay_progressive"),
        Moves("prizes:*:offered", "prizes:*:given"),
    ),
    counts={"games_won": 1},
    writes=(PlayKey.GAME, PlayKey.LAST, MoneyKey.HANDPAY),
    may_write=_CLOSING,
    dimension_names=_GAME_DIMENSIONS,
    is_bookkeeping=True,
)
GAME_VOID: Final = Entry(
    kind="game.void",
    record=GameVoid,
    moves=(Moves("house:refund_defect", "credit:*:*"), _WIN_MOVE, _PUSH_MOVE, POOL_MOVES),
    counts={"games_void": 1},
    writes=(PlayKey.GAME,),
    may_write=(KernelKey.FAULT, ProgressiveKey.LEVEL, ProgressiveKey.WIN, *_CLOSING),
    significance=Significance(Effect.LOG),
    is_bookkeeping=True,
)
GAME_DIFFERS: Final = Entry(
    kind="game.differs",
    record=ReplayDifference,
    significance=Significance(Effect.LOG),
)
GAME_SAME_VERSION: Final = Entry(kind="game.same_version", record=VersionConflict)
GAME_EXAMINED: Final = Entry(kind="game.examined", record=LargestPrizesComputed, writes=(PlayKey.EXAMINED,))
TABLE_RETURNED: Final = Entry(
    kind="table.returned",
    record=TableBetsReturned,
    about="Bets were returned from a table between two games.",
    moves=(_PUSH_MOVE,),
    writes=(TableKey.TABLE,),
    may_write=(PlayKey.SESSION,),
    dimension_names=frozenset({"game", "paytable", "denomination_cents"}),
)
RECALL_SHOWN: Final = Entry(
    kind="recall.shown",
    record=RecallShown,
    significance=Significance(Effect.LOG, sas=0x8A),
)
MACHINE_CHECKED: Final = Entry(
    kind="machine.checked",
    record=MachineChecked,
    significance=Significance(Effect.LOG),
    logs=(Log.DISPUTES,),
)


# ---------------------------------------------------------------------------------------------- prizes in kind
@dataclass(frozen=True, slots=True, kw_only=True)
class PrizesWon:
    """Prizes in kind that a game won are entered in the register of wins."""

    machine: Serial
    play_id: str
    game: str
    prizes: tuple[PrizeRecord, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrizesExchanged:
    """Staff exchanged prizes in kind for their stated value, which is reserved for a hand-pay."""

    handpay_id: str = field(metadata=stored_as("handpay"))
    prizes: tuple[PrizeRecord, ...]
    amount_cents: Cents
    machine: Serial
    persons: Persons


@dataclass(frozen=True, slots=True, kw_only=True)
class HandpayReplaced:
    """A hand-pay was voided, because its prizes in kind were exchanged for money; another hand-pay replaces it."""

    handpay_id: str = field(metadata=stored_as("handpay"))
    replacement_id: str = field(metadata=stored_as("by"))
    """The id of the hand-pay that replaces the voided one."""


PRIZE_REGISTERED: Final = Entry(
    kind="merchandise.won",
    record=PrizesWon,
    counts={"merchandise_won": 1},
    significance=Significance(Effect.LOCK, Clear.ATTENDANT),
    logs=(Log.HANDPAYS,),
)
PRIZES_EXCHANGED: Final = Entry(
    kind="handpay.exchanged",
    record=PrizesExchanged,
    phase=Phase.RESERVE,
    moves=(
        Moves("house:attendant_jackpot", "out:handpay_jackpot"),
        Moves("house:progressive:*", "out:handpay_progressive"),
    ),
    writes=(MoneyKey.HANDPAY,),
    logs=(Log.HANDPAYS,),
)
HANDPAY_REPLACED: Final = Entry(
    kind="handpay.replaced",
    record=HandpayReplaced,
    phase=Phase.VOID,
    settles=(GAME_END_BY_HAND,),
    writes=(MoneyKey.HANDPAY,),
    logs=(Log.HANDPAYS,),
)


# ---------------------------------------------------------------------------------------------- residual credit
@dataclass(frozen=True, slots=True, kw_only=True)
class ResidualRemoved:
    """A player gave up residual credit."""

    amount_cents: Cents


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidualPlayed:
    """A player staked residual credit on one random draw."""

    amount_cents: Cents
    prize_cents: Cents
    """The prize that the draw offered, in minor units."""
    draws: tuple[DrawRecord, ...]
    won_cents: Count
    """The amount won: the prize, or 0 if the stake was lost."""


RESIDUAL_REMOVED: Final = Entry(
    kind="residual.removed",
    record=ResidualRemoved,
    moves=(Moves("credit:*:*", "house:residual"),),
    counts={"residuals": 1},
    significance=Significance(Effect.LOG),
)
RESIDUAL_PLAYED: Final = Entry(
    kind="residual.played",
    record=ResidualPlayed,
    moves=(Moves("credit:*:*", "house:residual"), Moves("house:residual_win", _CASHABLE)),
    counts={"residuals": 1},
)


# ---------------------------------------------------------------------------------------------- player protection
@dataclass(frozen=True, slots=True, kw_only=True)
class ReminderEnded:
    """A reminder or a pause of player protection has ended."""

    kind: ReminderKind
    """The kind of reminder that ended, or of limit whose pause of play ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnded:
    """The session of a player who has left was ended."""

    minutes: Count
    """The length of the session, in minutes."""
    spent_cents: int
    """The net cost of the session: wagers less wins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSet:
    """A player set a limit for themselves."""

    limited_quantity: Literal["minutes", "cents"] = field(metadata=stored_as("of"))
    """Whether the limit is a time or a net cost."""
    limit_value: Count = field(metadata=stored_as("value"))
    """The limit, in minutes or in minor units; 0 removes it."""


REMINDER_SHOWN: Final = Entry(
    kind="protection.reminder",
    record=ReminderRecord,
    about="A reminder of time or money was shown, or a limit was reached and a pause began.",
    counts={"reminders.*": None},
    writes=(PlayKey.REMINDER, PlayKey.SESSION),
    significance=Significance(Effect.LOG),
    logs=(Log.PROTECTION,),
)
REMINDER_ACKNOWLEDGED: Final = Entry(
    kind="protection.acknowledged",
    record=ReminderEnded,
    about="The player has read a reminder.",
    writes=(PlayKey.REMINDER,),
    significance=Significance(Effect.LOG),
    logs=(Log.PROTECTION,),
)
PAUSE_OVER: Final = Entry(
    kind="protection.pause_over",
    record=ReminderEnded,
    about="The pause at a limit is over, and time and money are counted from zero.",
    writes=(PlayKey.REMINDER, PlayKey.SESSION),
    significance=Significance(Effect.LOG),
    logs=(Log.PROTECTION,),
)
#: Keys that the end of a player's session removes.
_SESSION_KEYS: Final = (PlayKey.SESSION, PlayKey.REMINDER, PlayKey.LIMITS)
SESSION_ENDED: Final = Entry(
    kind="protection.session_ended",
    record=SessionEnded,
    writes=_SESSION_KEYS,
    significance=Significance(Effect.LOG),
    logs=(Log.PROTECTION,),
)
SESSION_ENDED_UNPLAYED: Final = Entry(
    kind="protection.session_ended",
    record=NoneType,
    about="The limits of a player who has left without a game were cleared.",
    writes=_SESSION_KEYS,
    significance=Significance(Effect.LOG),
    logs=(Log.PROTECTION,),
)
LIMIT_SET: Final = Entry(
    kind="protection.limit_set",
    record=LimitSet,
    writes=(PlayKey.LIMITS,),
    significance=Significance(Effect.LOG),
    logs=(Log.PROTECTION,),
)


# ---------------------------------------------------------------------------------------------- the time played
@dataclass(frozen=True, slots=True, kw_only=True)
class TimeCharged:
    """The charge for the time played at a table was taken from the player's credit when a game had started."""

    digest: Digest
    """The definition of the table's game, which states the charge."""
    play_id: str
    """The game at whose start the charge was taken."""
    amount_cents: Cents
    minutes: Count
    """The time that the charge pays for."""
    paid_until: Time = field(metadata=stored_as("until"))
    """The time until which the position has paid."""


TIME_CHARGED: Final = Entry(
    kind="room.time_charged",
    record=TimeCharged,
    moves=(Moves("credit:*:*", "house:time_charge"),),
    writes=(PlayKey.TIME_PAID,),
    may_write=(PlayKey.SESSION,),
)
