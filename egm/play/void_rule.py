"""The rule on declaring an open game void: the machine obeys it, and the audit holds the journal to it.

A ruling reaches only what is not decided. A game whose outcome is recorded is paid as it is recorded,
whatever has become of what decided it; a bet that an undecided round has settled already is paid as well.
"""

from dataclasses import dataclass
from enum import StrEnum, unique


@unique
class Ruling(StrEnum):
    """Why two persons declare a game void."""

    DEFECT = "defect"
    """The machine cannot finish it: its undecided stakes are refunded (Québec s.95)."""
    DISRUPTED = "disrupted"
    """The player disrupted the machine: its undecided stakes are forfeit (Québec s.94)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenGame:
    """What the journal says of an open game on which persons are to rule."""

    is_decided: bool
    """Its outcome is recorded."""
    can_be_replayed: bool
    """Its definition is at hand, and its recorded draws give what was recorded."""
    next_is_recorded: bool
    """The number of its spin, or the step another seat took for all, is recorded and waits to be taken."""
    has_won: bool
    """Some answer ends it with a win and needs no number."""
    lacks_numbers: bool
    """The generator is out of service, or the real wheel that decides it has reported no number."""


def reason_not_void(ruling: Ruling, game: OpenGame) -> str | None:
    """Return why a game may not be declared void, or None if it may."""
    if game.is_decided:
        return "it is decided, and is paid as recorded"
    if not game.can_be_replayed:
        return None
    if game.next_is_recorded:
        return "the number or step that it takes next is recorded"
    if game.has_won:
        return "what it has won already can be collected"
    if ruling is Ruling.DEFECT and not game.lacks_numbers:
        return "its record can be taken up, and no number that it needs is missing"
    return None
