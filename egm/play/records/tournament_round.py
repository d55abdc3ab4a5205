"""The record of a tournament round, which a position plays with points (its purse) in place of credits.

The points are balances of two accounts of the journal: points to play with, and points won. The stored record
says for which tournament entry the round is played, and how far it has progressed. Points are not money.
"""

from dataclasses import dataclass, field
from typing import Literal

from egm.kernel.machine import PositionMachine
from egm.play.keys import PlayKey
from egm.play.records.game_record import LastGame
from egm.record_codec import omit_if_default, stored_as
from egm.record_fields import Count, NonBlankText, PositiveNumber
from meters.transaction import JSON

#: How a tournament round ended: played to its end, interrupted by a fault, or forfeited by the participant.
RoundEnding = Literal["complete", "interrupted", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentRound:
    """The record of one tournament round that a position plays with points."""

    entry_number: PositiveNumber = field(metadata=stored_as("entry"))
    """The number of the tournament entry, in the order in which entries were sold."""
    participant_number: NonBlankText = field(metadata=stored_as("participant"))
    round_number: PositiveNumber = field(metadata=stored_as("round"))
    """The number of the tournament round, from 1."""
    bet_points: PositiveNumber = field(metadata=stored_as("bet_credits"))
    """The points that one wager stakes."""
    games_max: Count = field(metadata=stored_as("games_most"))
    """The number of games of the round, or 0 if it is limited by time."""
    round_minutes: Count = field(metadata=stored_as("minutes"))
    """The time of the round in minutes, or 0 if it is limited by games."""
    round_end: str = omit_if_default("", key="until")
    """The time at which the round ends, set by its first game; empty before, and for a round without a time limit."""
    games_played: Count = omit_if_default(0, key="games")
    """The number of games of the round that have ended."""
    won_points: Count = omit_if_default(0)
    best_points: Count = omit_if_default(0)
    """The most points won in one game."""
    table_state: JSON = omit_if_default(None, key="table")
    """The state of the game's table after the last game; None without a table."""
    last_game: LastGame | None = omit_if_default(None, key="last")
    """The last game of the round that has ended. Its amounts are points x denomination, as if they were minor units."""
    ending: Literal["", RoundEnding] = omit_if_default("")
    """How the round ended; empty while it is played."""


def find_last_round(machine: PositionMachine) -> TournamentRound | None:
    """Return the record of the tournament round that this position plays or has played last; None if none exists."""
    return machine.memory.read(TournamentRound, PlayKey.TOURNAMENT_ROUND)


def find_open_round(machine: PositionMachine) -> TournamentRound | None:
    """Return the record of the tournament round that has begun and not ended at this position, or None."""
    tournament_round = find_last_round(machine)
    return None if tournament_round is None or tournament_round.ending else tournament_round


def name_points_account(position_number: int) -> str:
    """Return the name of the account with the points that a position can still play with."""
    return f"tournament:points:{position_number}"


def name_won_points_account(position_number: int) -> str:
    """Return the name of the account with the points that a position has won in the round."""
    return f"tournament:won:{position_number}"


def read_playable_points(machine: PositionMachine) -> int:
    """Return the points that are left to this position for play."""
    return machine.journal.available_cents(name_points_account(machine.position.number))
