"""Progressive levels and prizes in kind of a game, and remarks on a definition."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from paytables.contract.data import Json


@dataclass(frozen=True, slots=True)
class Remark:
    """A remark on a part of a game's definition that is legal but may surprise: its key, and what it causes."""

    key: str
    """The key of the definition that the remark is on."""
    text: str
    """What the definition causes that may surprise, as a sentence."""


@dataclass(frozen=True, slots=True)
class LevelShare:
    """A part of a progressive level that was won; the remainder stays in the level."""

    level: str
    """The id of the progressive level."""
    share: Fraction
    """The part of the level that was won."""

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise ValueError(f"{self.share} of the level {self.level!r} is not between 0 and 1")

    def to_json(self) -> dict[str, Json]:
        """Return the won part of a level as the JSON object that journal and screen use.

        :func:`parse_level_hit` is the inverse.
        """
        return {"level": self.level, "share": str(self.share)}


#: A progressive hit: the id of a level won whole, or a part of a level.
LevelHit: TypeAlias = str | LevelShare


def parse_level_hit(data: Json) -> LevelHit:
    """Return a progressive hit, of a whole level or a part, from its stored form.

    Raises KeyError, TypeError or ValueError.
    """
    if isinstance(data, str):
        return data
    return LevelShare(str(data["level"]), Fraction(str(data["share"])))


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelPlay:
    """What one wager contributes to one progressive level, and how much of the level it may win.

    Every wager with the same ``stake_credits`` has the same odds (Québec by-law, s.92). The secret amount of
    a mystery level is drawn by the machine or controller that has the level's meter. A level with ``one_price``
    may be shared by machines.

    A level that a side bet plays for is fed only by whole stakes on the bet's ``spots``. The operator
    configures such a level or does not offer the bet.
    """

    level: str
    """The id of the progressive level."""
    names: Mapping[str, str]
    """The name of the level for the player, by language."""
    stake_credits: int
    """The part of the wager that plays for the level."""
    odds: Fraction
    """The exact mean number of hits of the whole level per game."""
    increment: Fraction
    """The part of the whole wager that is added to the level's meter."""
    reset_credits: int
    """The level's amount after a hit, in credits."""
    ceiling_credits: int | None = None
    """The upper limit of a mystery level's secret amount; None: the game decides the hit."""
    one_price: bool = True
    """Whether every wager that plays for the level costs exactly ``stake_credits``."""
    spots: tuple[str, ...] = ()
    """The betting spots of the side bet that plays for the level; empty if there is none."""
    fed_credits: int | None = None
    """The part of the wager that adds to the meter; None: the whole wager adds to it."""
    shares: Mapping[Fraction, Fraction] = field(default_factory=dict)
    """The mean number of hits that pay only a part of the level, by that part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrizeInKind:
    """A prize in kind of a game, by id: its name and description for the player, by language.

    ``value_cents`` is its value as stated by the operator, in minor units; no return includes it.
    """

    id: str
    """The id of the prize in the definition."""
    names: Mapping[str, str]
    """The name of the prize for the player, by language."""
    description: Mapping[str, str]
    """The description of the prize for the player, by language."""
    value_cents: int
    """The value stated by the operator, in minor units of the currency."""
