"""What a game plays for beside credits, and what a definition may be remarked on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from paytables.contract.data import Json


@dataclass(frozen=True, slots=True)
class Remark:
    """What is legal in a definition and may surprise: at which key, and what it does."""

    key: str
    text: str


@dataclass(frozen=True, slots=True)
class LevelShare:
    """A part of a progressive level, won: the rest of it stays there."""

    level: str
    share: Fraction

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise ValueError(f"{self.share} of the level {self.level!r} is no part of it")

    def to_json(self) -> dict[str, Json]:
        """Return the hit as the journal and the screen see it; :func:`level_hit` is the inverse."""
        return {"level": self.level, "share": str(self.share)}


#: A level hit: the whole of one, by its id, or a part.
LevelHit: TypeAlias = str | LevelShare


def level_hit(data: Json) -> LevelHit:
    """Read a hit back. Raises KeyError, TypeError or ValueError where it is none."""
    if isinstance(data, str):
        return data
    return LevelShare(str(data["level"]), Fraction(str(data["share"])))


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelPlay:
    """One progressive level as one wager plays for it: what it feeds, and what it may win.

    ``stake_credits`` plays for it at the exact mean number of hits ``odds``; every wager of that stake has
    the same odds (Québec by-law, s.92). ``increment`` is the share of the whole wager the meter grows by.
    ``reset_credits`` is what the meter starts from for that stake. ``ceiling_credits``: the meter is hit at
    a secret amount below it, which whoever keeps the meter draws; None: the game says when it is hit.
    ``one_price``: every wager that plays for it costs exactly ``stake_credits``, so machines may share it.
    ``names`` is what the player reads, by language.

    A side bet plays by itself: ``spots`` are its places, and ``fed_credits`` what the wager stakes there, in
    whole stakes, which alone feeds the level. A house keeps such a level or does not offer the bet.
    ``shares`` are the parts of the level that a stake may win, too, each with its exact mean number of hits.
    """

    level: str
    names: Mapping[str, str]
    stake_credits: int
    odds: Fraction
    increment: Fraction
    reset_credits: int
    ceiling_credits: int | None = None
    one_price: bool = True
    spots: tuple[str, ...] = ()
    fed_credits: int | None = None
    shares: Mapping[Fraction, Fraction] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrizeInKind:
    """A thing a game gives, by its id: what it is called and what it is, by language.

    ``value_cents`` is what the house states it is worth, in minor units; it counts in no return.
    """

    id: str
    names: Mapping[str, str]
    description: Mapping[str, str]
    value_cents: int
