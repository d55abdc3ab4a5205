"""The journal entries about a tournament: its rules, its paid entries and rounds, and the games played with points.

The journal entries of a game have the records of an ordinary game (a :class:`~egm.play.records.game_record.GameRecord`
and its choices) but kinds of their own: no meter, register or recall of games for money includes them.
"""

from dataclasses import dataclass, field
from typing import Final

from egm.features.tournament.keys import TournamentKey
from egm.features.tournament.records import InstalledRules
from egm.kernel.entries import EntryDeclaration, PermittedTransfer
from egm.kernel.keys import KernelKey
from egm.kernel.logs import Log
from egm.kernel.significance import EventEffect, Significance
from egm.play.keys import PlayKey
from egm.play.records.game_record import GameChoice, GameRecord
from egm.play.records.games import TOURNAMENT_GAME_CHOICE_KIND
from egm.play.records.tournament_round import RoundEnding
from egm.record_codec import omit_if_default, stored_as
from egm.record_fields import (
    Cents,
    Count,
    MachineSerialNumber,
    NonBlankText,
    PositiveNumber,
    Sha256Digest,
    StaffNumbers,
)
from egm.staff.records import RulingDetails

#: The accounts of the points that positions have to play with.
_POINTS_ACCOUNTS: Final = "tournament:points:*"
#: The accounts of the points that positions have won.
_WON_POINTS_ACCOUNTS: Final = "tournament:won:*"


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesInstalled(InstalledRules):
    """Staff installed the rules of a tournament; the machine shows them from then on."""

    machine: MachineSerialNumber
    persons: StaffNumbers
    number: str = omit_if_default("")
    """The operator's number of this machine, under which the rules list it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesRemoved:
    """Staff removed the rules of a tournament that is over, has no valid entry here, or cannot be played any more."""

    digest: Sha256Digest
    """The SHA-256 of the tournament's rules file."""
    persons: StaffNumbers


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineAssigned:
    """Staff assigned the machine to a tournament: it accepts and pays no money until it is released."""

    digest: Sha256Digest
    """The SHA-256 of the tournament's rules file."""
    persons: StaffNumbers


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineReleased:
    """Staff released the machine from a tournament."""

    digest: Sha256Digest
    """The SHA-256 of the tournament's rules file."""
    persons: StaffNumbers


@dataclass(frozen=True, slots=True, kw_only=True)
class EntrySold:
    """An attendant sold a tournament entry, and has received its fee at the desk."""

    digest: Sha256Digest
    """The SHA-256 of the tournament's rules file."""
    entry_number: PositiveNumber = field(metadata=stored_as("entry"))
    """The number of the entry, in the order of sale at all machines."""
    participant_number: NonBlankText = field(metadata=stored_as("participant"))
    """The venue's number for the participant."""
    fee_cents: Cents
    """The fee received for the tournament entry, in minor units."""
    persons: StaffNumbers


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryVoided(RulingDetails):
    """Staff declared a tournament entry void, and its fee is refunded at the desk."""

    digest: Sha256Digest
    """The SHA-256 of the tournament's rules file."""
    entry_number: PositiveNumber = field(metadata=stored_as("entry"))
    """The number of the tournament entry that is void."""
    participant_number: NonBlankText = field(metadata=stored_as("participant"))
    """The venue's number for the participant."""
    fee_cents: Cents
    """The fee that is refunded, in minor units."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrizePaid:
    """Staff handed over the prize of a tournament entry, in money that was never credited on the machine."""

    digest: Sha256Digest
    """The SHA-256 of the tournament's rules file."""
    entry_number: PositiveNumber = field(metadata=stored_as("entry"))
    """The number of the tournament entry that won the prize."""
    participant_number: NonBlankText = field(metadata=stored_as("participant"))
    """The venue's number for the participant."""
    amount_cents: Cents
    """The prize in minor units, as the settlement of the tournament states it."""
    persons: StaffNumbers


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundStarted:
    """An attendant gave a player position the points for one round of a tournament entry."""

    digest: Sha256Digest
    """The SHA-256 of the tournament's rules file."""
    entry_number: PositiveNumber = field(metadata=stored_as("entry"))
    """The number of the tournament entry that plays the round."""
    participant_number: NonBlankText = field(metadata=stored_as("participant"))
    """The venue's number for the participant."""
    round_number: PositiveNumber = field(metadata=stored_as("round"))
    """The number of the round, from 1."""
    starting_points: PositiveNumber = field(metadata=stored_as("points"))
    """The points that the position received."""
    persons: StaffNumbers


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundEnded:
    """A round of a tournament entry ended: its unplayed points are removed, and the points won are its result."""

    digest: Sha256Digest
    """The SHA-256 of the tournament's rules file."""
    entry_number: PositiveNumber = field(metadata=stored_as("entry"))
    """The number of the tournament entry that played the round."""
    participant_number: NonBlankText = field(metadata=stored_as("participant"))
    """The venue's number for the participant."""
    round_number: PositiveNumber = field(metadata=stored_as("round"))
    """The number of the round, from 1."""
    won_points: Count = field(metadata=stored_as("points"))
    """The points that the tournament entry won in the round."""
    best_game_points: Count = field(metadata=stored_as("best_game"))
    """The most points that it won in one game of the round."""
    games_played: Count = field(metadata=stored_as("games"))
    """The number of games played in the round."""
    status: RoundEnding
    """The way in which the round ended."""
    reason: str = omit_if_default("")
    """The reason why staff ended the round, or empty if it ended by itself."""
    persons: tuple[str, ...] = omit_if_default(())
    """The people who ended the round, if it did not end by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PurseGameEnd:
    """A game played with tournament points ended."""

    play_id: str
    won_points: Count
    """The points that the game won."""
    push_points: Count = omit_if_default(0)
    """The points of returned stakes, which can be played again and do not count as won."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PurseGameVoid(RulingDetails):
    """Staff declared a game void that was played with tournament points; the returned stakes can be played again."""

    play_id: str
    refund_points: Count
    """The points of the returned stakes, which can be played again."""


RULES_INSTALLED: Final = EntryDeclaration(
    kind="tournament.rules",
    record=RulesInstalled,
    written_keys=(TournamentKey.INSTALLED_RULES,),
    significance=Significance(EventEffect.LOG),
    logs=(Log.ACCESS,),
)
RULES_REMOVED: Final = EntryDeclaration(
    kind="tournament.rules_removed",
    record=RulesRemoved,
    written_keys=(TournamentKey.INSTALLED_RULES,),
    significance=Significance(EventEffect.LOG),
    logs=(Log.ACCESS,),
)
MACHINE_ASSIGNED: Final = EntryDeclaration(
    kind="tournament.entered",
    record=MachineAssigned,
    written_keys=(TournamentKey.TOURNAMENT_MODE,),
    significance=Significance(EventEffect.LOG),
    logs=(Log.ACCESS,),
)
MACHINE_RELEASED: Final = EntryDeclaration(
    kind="tournament.left",
    record=MachineReleased,
    written_keys=(TournamentKey.TOURNAMENT_MODE,),
    significance=Significance(EventEffect.LOG),
    logs=(Log.ACCESS,),
)
ENTRY_SOLD: Final = EntryDeclaration(
    kind="tournament.entry",
    record=EntrySold,
    permitted_transfers=(PermittedTransfer("fees:participants", "fees:sold"),),
    logs=(Log.ACCESS,),
)
ENTRY_VOIDED: Final = EntryDeclaration(
    kind="tournament.entry_void",
    record=EntryVoided,
    permitted_transfers=(PermittedTransfer("fees:sold", "fees:participants"),),
    significance=Significance(EventEffect.LOG),
    logs=(Log.ACCESS,),
)
PRIZE_PAID: Final = EntryDeclaration(
    kind="tournament.prize",
    record=PrizePaid,
    permitted_transfers=(PermittedTransfer("fees:prizes", "fees:participants"),),
    significance=Significance(EventEffect.LOG),
    logs=(Log.ACCESS,),
)
ROUND_STARTED: Final = EntryDeclaration(
    kind="tournament.round",
    record=RoundStarted,
    permitted_transfers=(PermittedTransfer("tournament:entry", _POINTS_ACCOUNTS),),
    written_keys=(PlayKey.TOURNAMENT_ROUND,),
    optional_keys=(KernelKey.SELECTION,),
    logs=(Log.ACCESS,),
)
ROUND_ENDED: Final = EntryDeclaration(
    kind="tournament.round_end",
    record=RoundEnded,
    permitted_transfers=(
        PermittedTransfer(_POINTS_ACCOUNTS, "tournament:closed"),
        PermittedTransfer(_WON_POINTS_ACCOUNTS, "tournament:closed"),
    ),
    written_keys=(PlayKey.TOURNAMENT_ROUND,),
    logs=(Log.ACCESS,),
)
TOURNAMENT_GAME_START: Final = EntryDeclaration(
    kind="tournament.game",
    is_omitted_from_event_log=True,
    record=GameRecord,
    description="A game was started with points: staked, drawn and, unless a decision is pending, decided.",
    permitted_transfers=(PermittedTransfer(_POINTS_ACCOUNTS, "tournament:wager"),),
    counts={"tournament_games": 1},
    written_keys=(PlayKey.TOURNAMENT_GAME,),
    optional_keys=(PlayKey.GAME_DEFINITION, PlayKey.TOURNAMENT_ROUND),
)
TOURNAMENT_GAME_CHOICE: Final = EntryDeclaration(
    kind=TOURNAMENT_GAME_CHOICE_KIND,
    is_omitted_from_event_log=True,
    record=GameChoice,
    description="A further step of a game played with points was taken: a choice, with its stake and draws.",
    permitted_transfers=(PermittedTransfer(_POINTS_ACCOUNTS, "tournament:wager"),),
)
TOURNAMENT_GAME_END: Final = EntryDeclaration(
    kind="tournament.game_end",
    is_omitted_from_event_log=True,
    record=PurseGameEnd,
    permitted_transfers=(
        PermittedTransfer("tournament:win", _WON_POINTS_ACCOUNTS),
        PermittedTransfer("tournament:push", _POINTS_ACCOUNTS),
    ),
    written_keys=(PlayKey.TOURNAMENT_GAME, PlayKey.TOURNAMENT_ROUND),
)
TOURNAMENT_GAME_VOID: Final = EntryDeclaration(
    kind="tournament.game_void",
    is_omitted_from_event_log=True,
    record=PurseGameVoid,
    permitted_transfers=(PermittedTransfer("tournament:push", _POINTS_ACCOUNTS),),
    written_keys=(PlayKey.TOURNAMENT_GAME,),
    optional_keys=(KernelKey.FAULT,),
    significance=Significance(EventEffect.LOG),
)
