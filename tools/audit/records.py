"""Entry records as types: the machine's own type if there is one, otherwise a type used only by the audit.

A type is only the shape of a record; the audit derives the expected values itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

from egm.progressive.entries import LevelOpened
from egm.record_codec import RecordError, from_json, omit_if_default
from egm.records.game_record import DrawRecord
from egm.records.money import PrizeRecord
from meters import StoredEntry
from meters.transaction import JSON

R = TypeVar("R")

#: Parts of game records that are read as plain JSON, because their classes accept more than they write.
_OWN_JSON: Final = ("wager", "outcome")


def record_of(entry: StoredEntry, kind: type[R]) -> R:
    """Return the record of an entry as ``kind``. Raises RecordError, which names its kind and key."""
    data = entry.transaction.record
    found = from_json(kind, data, entry.transaction.kind)
    for name in _OWN_JSON:
        part = getattr(found, name, None)
        if part is not None and isinstance(data, Mapping) and part.to_json() != data[name]:
            raise RecordError(f"{entry.transaction.kind}: {name} is not written as the machine writes it")
    return found


# ---------------------------------------------------------------------------------------------- games
@dataclass(frozen=True, slots=True, kw_only=True)
class GameEnd:
    """The end of a game: its payment without levels, and its prizes in kind."""

    play_id: str
    win_cents: int
    push_cents: int = omit_if_default(0)
    prizes: tuple[PrizeRecord, ...] = omit_if_default(())


@dataclass(frozen=True, slots=True, kw_only=True)
class VoidedOutcome:
    """The result of a void game: whether it was decided, and what the game and its levels had won."""

    decided: bool
    win_cents: int | None
    levels_cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GameVoid:
    """A game declared void: who ruled so and why, and what was returned."""

    play_id: str
    refund_cents: int
    machine: str
    place: str
    reason: str
    persons: tuple[str, ...]
    ruling: str
    settled: tuple[JSON, ...] = omit_if_default(())
    recorded: VoidedOutcome | None = omit_if_default(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class StakesBack:
    """Stakes that a game returned before its end."""

    play_id: str
    push_cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubleUpStakes:
    """The double-up stakes of a game, round by round."""

    play_id: str
    stakes_cents: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrizesWon:
    """A line of the register of prizes in kind."""

    machine: str
    play_id: str
    game: str
    prizes: tuple[PrizeRecord, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidualPlayed:
    """Residual credit played off for ``prize_cents``."""

    amount_cents: int
    prize_cents: int
    draws: tuple[DrawRecord, ...]
    won_cents: int


# ---------------------------------------------------------------------------------------------- levels
@dataclass(frozen=True, slots=True, kw_only=True)
class LevelCarried:
    """A level carried over by a clear, and how it was opened if that is known."""

    claim: str
    pool: str
    opened: LevelOpened | None
