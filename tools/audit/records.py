"""The records of entries as types: the machine's own where it has one, else what only the audit reads again.

A type is the shape of a record and nothing more: what its values must come to, the audit derives itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

from egm.progressive.level import Terms
from egm.record_codec import RecordError, from_json, omitted
from egm.records.game_record import DrawRecord
from egm.records.money import PrizeRecord
from meters import StoredEntry
from meters.transaction import JSON

R = TypeVar("R")

#: Of games, parts whose classes would read more than they write.
_OWN_JSON: Final = ("wager", "outcome")


def record_of(entry: StoredEntry, kind: type[R]) -> R:
    """Return the record of an entry. Raises RecordError, which says its kind and key."""
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
    """What a game paid for its outcome, levels apart; its prizes in kind."""

    play_id: str
    win_cents: int
    push_cents: int = omitted(0)
    prizes: tuple[PrizeRecord, ...] = omitted(())


@dataclass(frozen=True, slots=True, kw_only=True)
class VoidedOutcome:
    """What the record of a void game held: whether it was decided, what it and its levels had won."""

    decided: bool
    win_cents: int | None
    levels_cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GameVoid:
    """A game declared void: who ruled so and why, and what went back."""

    play_id: str
    refund_cents: int
    machine: str
    place: str
    reason: str
    persons: tuple[str, ...]
    ruling: str
    settled: tuple[JSON, ...] = omitted(())
    recorded: VoidedOutcome | None = omitted(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class StakesBack:
    """Stakes that a game gave back before its end."""

    play_id: str
    push_cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubleUpStakes:
    """What a game put at stake again, round by round."""

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
    """A rest of credit played off for ``prize_cents``."""

    amount_cents: int
    prize_cents: int
    draws: tuple[DrawRecord, ...]
    won_cents: int


# ---------------------------------------------------------------------------------------------- levels
@dataclass(frozen=True, slots=True, kw_only=True)
class LevelOpened:
    """A level of this machine, of a game and stake, with its terms."""

    pool: str
    game: str
    level: str
    stake_cents: int
    terms: Terms


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelChanged:
    """The terms a level has from its next reset on."""

    pool: str
    terms: Terms


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelMoved:
    """What a level given up leaves to another."""

    source: str
    target: str
    amount: str
    persons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelHit:
    """A line of the register of level wins; ``amount_cents`` is None where nobody knows it."""

    machine: str
    play_id: str
    game: str
    pool: str
    level: str
    amount_cents: int | None
    way: str
    unanswered: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelAward:
    """What a claim is worth: its controller says so, or, where nobody answered, a ``person``."""

    claim: str
    pool: str
    amount_cents: int
    person: str = omitted("")


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelsUndecided:
    """Pools of a game that was let end without knowing whether it has won them."""

    play_id: str
    pools: tuple[str, ...]
    person: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelRuling:
    """What persons ruled of a claim, and what of it was doubted."""

    machine: str
    place: str
    reason: str
    persons: tuple[str, ...]
    claim: str
    decision: str
    pool: str = omitted("")
    play_id: str = omitted("")
    amount_cents: int | None = omitted(None)
    why: str = omitted("")
    awarded_cents: int | None = omitted(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkAhead:
    """How many contributions a controller has counted that this machine does not know of."""

    pool: str
    counted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelCarried:
    """A level that a clear has carried over, and how it was opened, where that is known."""

    claim: str
    pool: str
    opened: LevelOpened | None
