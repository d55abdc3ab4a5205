"""The rule on whether staff may declare an open game void. The machine applies it, and the audit checks it.

A ruling affects only undecided stakes. A game with a recorded outcome is paid as recorded, even if its
definition has changed since; a bet that an undecided round has already settled is paid as well. If players
win each other's stakes, one game cannot be taken out of their round: its stakes would be missing, or would go
to the operator. Once one of its games is refunded, the round does not go on, and the others are refunded.
"""

from dataclasses import dataclass
from enum import StrEnum, unique


@unique
class Ruling(StrEnum):
    """The reason why two people declare a game void."""

    DEFECT = "defect"
    """The machine cannot finish the game: its undecided stakes are refunded (Québec s.95)."""
    DISRUPTED = "disrupted"
    """The player disrupted the game: its undecided stakes are forfeited (Québec s.94)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenGameFacts:
    """The facts in the journal about an open game that two people are to rule on."""

    is_decided: bool
    """Whether the journal has the game's outcome."""
    can_be_replayed: bool
    """Whether the definition is available, and the recorded draws reproduce the recorded game."""
    is_next_step_recorded: bool
    """Whether the number of its wheel spin, or a step that another seat drew, is recorded but not taken yet."""
    can_collect_win: bool
    """Whether an answer to its pending decision would end the game with a win without drawing a number."""
    lacks_numbers: bool
    """Whether the generator is out of service, or the real wheel that decides the game has reported no number."""
    is_between_players: bool
    """Whether the players of its round win each other's stakes."""
    is_round_void: bool
    """Whether another game of a round between players was declared void, so that this game cannot go on."""


def reason_void_is_refused(ruling: Ruling, game: OpenGameFacts) -> str | None:
    """Return the reason why a game may not be declared void with this ruling, or None if it may."""
    if game.is_decided:
        return "the game is decided, and is paid as recorded"
    if game.is_between_players and ruling is Ruling.DISRUPTED:
        return "other players play for its stake"
    return None if game.is_round_void or not game.can_be_replayed else _reason_to_continue(ruling, game)


def _reason_to_continue(ruling: Ruling, game: OpenGameFacts) -> str | None:
    """Return why an undecided game that can be replayed must be continued rather than ruled on, or None."""
    if game.is_next_step_recorded:
        return "the next number or step of the game is already recorded"
    if game.can_collect_win:
        return "the game has already won an amount that can be collected"
    if ruling is Ruling.DEFECT and not game.lacks_numbers:
        return "the game can be continued from its record, and no number that it needs is missing"
    return None
