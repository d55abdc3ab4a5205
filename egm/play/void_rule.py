"""The rule on whether two people may declare an open game void; the machine applies it, and the audit checks it.

Declaring a game void affects only its undecided stakes. A game with a recorded outcome is paid as recorded, even if its
definition has changed; so is a bet that an undecided game has already settled. If players win each other's
stakes, a game cannot be taken out of their round, because its stakes would be missing: once one game of the
round is refunded, all are.
"""

from dataclasses import dataclass
from enum import StrEnum, unique


@unique
class VoidReason(StrEnum):
    """The reason why two people declare a game void."""

    DEFECT = "defect"
    """The machine cannot finish the game: its undecided stakes are refunded, if the profile says so (Québec s.95)."""
    DISRUPTED = "disrupted"
    """The player disrupted the game: its undecided stakes are forfeited (Québec s.94)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenGameState:
    """The facts in the journal about an open game on which two people are to rule."""

    is_decided: bool
    """Whether the game's outcome is recorded."""
    can_be_replayed: bool
    """Whether the game's definition is available, and replaying its recorded draws gives the recorded steps."""
    is_next_step_recorded: bool
    """Whether what the game needs next is recorded already: its wheel's number, or the same step at another seat."""
    can_collect_win: bool
    """Whether the player could end the game with a win by an answer that draws no number."""
    are_next_numbers_unavailable: bool
    """Whether the generator is out of service, or a real wheel decides the game and has reported no number."""
    is_round_between_players: bool
    """Whether the players of the game's round win each other's stakes."""
    is_round_void: bool
    """Whether another game of the round was declared void; False unless the players win each other's stakes."""


def find_reason_void_is_refused(void_reason: VoidReason, open_game: OpenGameState) -> str | None:
    """Return the reason why the game may not be declared void for ``void_reason``, or None if it may."""
    if open_game.is_decided:
        return "the game is decided, and is paid as recorded"
    if open_game.is_round_between_players and void_reason is VoidReason.DISRUPTED:
        return "other players play for its stake"
    return (
        None
        if open_game.is_round_void or not open_game.can_be_replayed
        else _find_reason_to_continue(void_reason, open_game)
    )


def _find_reason_to_continue(void_reason: VoidReason, open_game: OpenGameState) -> str | None:
    """Return why an undecided game must be continued and not be declared void, or None if there is no such reason."""
    if open_game.is_next_step_recorded:
        return "the next number or step of the game is already recorded"
    if open_game.can_collect_win:
        return "the game has already won an amount that can be collected"
    if void_reason is VoidReason.DEFECT and not open_game.are_next_numbers_unavailable:
        return "the game can be continued from its record, and no number that it needs is missing"
    return None
