"""The record of a tournament round that a position plays with points (a purse) in place of credits.

The points themselves are balances of accounts of the journal: those given and not yet played, and those won.
The stored record says to which entry they belong, and how far the round has progressed. Points are credits of
the game and no money.
"""

from dataclasses import dataclass, field
from typing import Literal

from egm.kernel.machine import Machine
from egm.play.keys import PlayKey
from egm.play.records.game_record import LastGame
from egm.record_codec import omit_if_default, stored_as
from egm.record_fields import Count, NonBlankText, Positive
from meters.transaction import JSON

Ending = Literal["complete", "interrupted", "failed"]
"""How a tournament round ended: completely, interrupted by a fault, or failed by the participant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Purse:
    """The record of one round that a tournament entry plays at a player position with points."""

    entry_number: Positive = field(metadata=stored_as("entry"))
    """The number of the tournament entry, in the order of sale."""
    participant: NonBlankText
    round_number: Positive = field(metadata=stored_as("round"))
    """The number of the tournament round, from 1."""
    bet_credits: Positive
    """The points staked by one wager."""
    games_max: Count = field(metadata=stored_as("games_most"))
    """The number of games of the round, or 0 if it is limited by time."""
    round_minutes: Count = field(metadata=stored_as("minutes"))
    """The time of the round in minutes, or 0 if it is limited by games."""
    round_end: str = omit_if_default("", key="until")
    """When the time of the round ends, set by its first game; empty before that, and for a round without a time."""
    games_played: Count = omit_if_default(0, key="games")
    """The number of games of the round that have ended."""
    won_points: Count = omit_if_default(0)
    best_points: Count = omit_if_default(0)
    """The most points won in one game."""
    table_state: JSON = omit_if_default(None, key="table")
    """The state of the game's table after the last game."""
    last_game: LastGame | None = omit_if_default(None, key="last")
    """The last game of the round that has ended; its return is stated as minor units at the game's denomination."""
    ending: Literal["", "complete", "interrupted", "failed"] = omit_if_default("")
    """The way in which the round ended; empty while it is played."""


def find_purse(machine: Machine) -> Purse | None:
    """Return the points record of this position's present tournament round, or of the last one that has ended."""
    return machine.memory.read(Purse, PlayKey.PURSE)


def find_open_purse(machine: Machine) -> Purse | None:
    """Return the points record of the tournament round that is being played at this position, or None."""
    purse = find_purse(machine)
    return None if purse is None or purse.ending else purse


def name_points_account(position: int) -> str:
    """Return the account of the points that a position has to play with."""
    return f"tournament:points:{position}"


def name_won_points_account(position: int) -> str:
    """Return the account of the points that a position has won in the round."""
    return f"tournament:won:{position}"


def read_points(machine: Machine) -> int:
    """Return the points that this position still has to play with."""
    return machine.journal.available_cents(name_points_account(machine.position.number))
