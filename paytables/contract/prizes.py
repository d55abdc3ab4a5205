"""Progressive levels and prizes in kind of a game, and remarks on a definition."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from paytables.contract.data import Json


@dataclass(frozen=True, slots=True)
class DefinitionRemark:
    """A remark on a legal entry of a game's definition whose effect the game's designer may not expect."""

    key: str
    """The key of the entry in the definition."""
    text: str
    """The unexpected effect, as a sentence."""


@dataclass(frozen=True, slots=True)
class PartialLevelHit:
    """A part of a progressive level that was won; the remainder stays in the level."""

    level: str
    """The id of the progressive level."""
    share: Fraction
    """The won part of the level's amount: more than 0 and less than 1."""

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise ValueError(f"{self.share} of the level {self.level!r} is not between 0 and 1")

    def to_json(self) -> dict[str, Json]:
        """Return the won part of a level as the JSON object that journal and screen use.

        :func:`parse_level_hit` is the inverse.
        """
        return {"level": self.level, "share": str(self.share)}


#: A progressive hit: the id of a level won whole, or a part of a level.
LevelHit: TypeAlias = str | PartialLevelHit


def parse_level_hit(hit_data: Json) -> LevelHit:
    """Return a progressive hit from its JSON form: the id of a level won whole, or a :class:`PartialLevelHit`.

    Raises KeyError, TypeError or ValueError if ``hit_data`` is neither.
    """
    if isinstance(hit_data, str):
        return hit_data
    return PartialLevelHit(str(hit_data["level"]), Fraction(str(hit_data["share"])))


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelParticipation:
    """What one wager adds to one progressive level, and how often it wins the level.

    Every wager that plays for the level with the same ``stake_credits`` has the same ``hit_rate`` (Québec by-law,
    s.92). Machines can share a level only if ``has_single_stake`` is true. A mystery level is won when its amount
    reaches a secret amount, which the machine or controller that runs the level draws.

    If the level belongs to a side bet, only whole stakes on the bet's ``spots`` add to it. If the venue does not run
    the level, the machine does not offer the side bet.

    Example: a wager has three side bets of one credit each. Then ``stake_credits`` is 1, ``hit_rate`` is for one side
    bet, and ``qualifying_credits`` is 3.
    """

    level: str
    """The id of the progressive level."""
    names: Mapping[str, str]
    """The name of the level for the player, by language."""
    stake_credits: int
    """The credits of one stake that plays for the level."""
    hit_rate: Fraction
    """The exact mean number of hits of the whole level per game, for one such stake."""
    increment: Fraction
    """The fraction of ``qualifying_credits`` that is added to the level's amount."""
    reset_credits: int
    """The level's amount after a hit, in credits."""
    ceiling_credits: int | None = None
    """The upper limit of a mystery level's secret amount; None: the game decides the hit."""
    has_single_stake: bool = True
    """Whether every wager that plays for the level costs exactly ``stake_credits``."""
    spots: tuple[str, ...] = ()
    """The betting spots of the side bet that plays for the level; empty if there is none."""
    qualifying_credits: int | None = None
    """The credits to which ``increment`` applies: all stakes that play for the level; None: the whole wager."""
    partial_hit_rates: Mapping[Fraction, Fraction] = field(default_factory=dict)
    """The exact mean number of hits per game that pay only a part of the level, by that part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrizeInKind:
    """A prize in kind that a game can award, such as a car. Its value is not part of any return figure."""

    id: str
    """The id of the prize in the definition."""
    names: Mapping[str, str]
    """The name of the prize for the player, by language."""
    description: Mapping[str, str]
    """The description of the prize for the player, by language."""
    value_cents: int
    """The value stated by the operator, in minor units of the currency."""
