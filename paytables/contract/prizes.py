"""What a game plays for beside credits, and what a definition may be remarked on."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Remark:
    """What is legal in a definition and may surprise: at which key, and what it does."""

    key: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelPlay:
    """One progressive level as one wager plays for it: what it feeds, and what it may win.

    ``stake_credits`` plays for it at the exact mean number of hits ``odds``; every wager of that stake has
    the same odds (Québec by-law, s.92). ``increment`` is the share of the whole wager the meter grows by.
    ``reset_credits`` is what the meter starts from for that stake. ``ceiling_credits``: the meter is hit at
    a secret amount below it, which whoever keeps the meter draws; None: the game says when it is hit.
    ``one_price``: every wager that plays for it costs exactly ``stake_credits``, so machines may share it.
    ``names`` is what the player reads, by language.
    """

    level: str
    names: Mapping[str, str]
    stake_credits: int
    odds: Fraction
    increment: Fraction
    reset_credits: int
    ceiling_credits: int | None = None
    one_price: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class PrizeInKind:
    """A thing a game gives, by its id: what it is called and what it is, by language.

    ``value_cents`` is what the house states it is worth, in minor units; it counts in no return.
    """

    id: str
    names: Mapping[str, str]
    description: Mapping[str, str]
    value_cents: int
