"""The player's own Keno numbers: marking them, and the bet that carries them to the machine.

A marked card is one selection of one group, staked at one of the game's stakes. The machine keeps the bet;
the marks here are what the player is doing with a finger, told to it as soon as they make a card.
"""

from collections.abc import Mapping
from typing import Any

from egm.link.messages import GameView, Intent, Snapshot


def is_keno(game: GameView | None) -> bool:
    """Whether numbers are marked in this game."""
    return game is not None and "tables" in game.presentation and "marks" in game.presentation


def spots(game: GameView) -> tuple[int, ...]:
    """How many numbers a card may have (M-03)."""
    return tuple(sorted(int(count) for count in game.presentation["tables"]))


def stakes(game: GameView) -> tuple[int, ...]:
    """What may be staked on one card, in credits."""
    return tuple(int(stake) for stake in game.presentation["marks"]["stakes"])


def is_card(game: GameView, marks: frozenset[int]) -> bool:
    """Whether the marks make a card that can be played."""
    return len(marks) in spots(game)


def toggled(game: GameView, marks: frozenset[int], number: int) -> frozenset[int]:
    """The marks with this number marked or unmarked; a number beyond the largest card is not taken."""
    if number in marks:
        return marks - {number}
    return marks | {number} if len(marks) < max(spots(game)) else marks


def bet(game: GameView, marks: frozenset[int], stake: int) -> tuple[Intent, ...]:
    """The wish for a card of these marks: nothing while they make none; without marks, a quick pick."""
    if not marks:
        return (Intent(name="bet", value=min(game.bet_options)),)
    if not is_card(game, marks):
        return ()
    selection = {"groups": [sorted(marks)], "stakes": {str(len(marks)): stake}}
    return (Intent(name="bet", value=stake, options={"selections": [selection]}),)


def stake_of(snapshot: Snapshot, game: GameView) -> int:
    """The stake on the card in force, or the lowest."""
    return snapshot.bet_credits if snapshot.bet_credits in stakes(game) else min(stakes(game))


def marks_of(wager: Mapping[str, Any]) -> frozenset[int]:
    """The marks of a bet in force: one card of one group; anything else has none to show."""
    selections = wager.get("selections", ())
    if len(selections) != 1 or len(selections[0].get("groups", ())) != 1:
        return frozenset()
    group = selections[0]["groups"][0]
    return frozenset(map(int, group)) if isinstance(group, list) else frozenset()
