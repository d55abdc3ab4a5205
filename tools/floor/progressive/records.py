"""The stored records of a controller (levels, mystery prizes, claims) and their JSON form."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from egm.progressive.definition import LevelDefinition
from egm.progressive.level import Level
from egm.record_codec import from_json, stored_as, to_json
from meters.transaction import JSON

#: Why the displayed amount of a level was reduced: not yet, a win, a lower ceiling, or a correction.
FallCause = Literal["", "win", "ceiling", "correction"]


def build_hit_rate_by_share(definition: LevelDefinition) -> dict[str, Fraction]:
    """Return the mean hits per wager of each partial share of a level, by the share's text in records and messages."""
    return {
        str(share): hit_rate for share, hit_rate in definition.stake_and_hit_rate.hit_rate_by_share.items()
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelRecord:
    """One progressive level with its amount, its terms and its history.

    A machine may contribute only on the same terms.
    """

    id: str
    names: Mapping[str, str]
    """The name of the level by language."""
    stake_cents: int
    hit_rate: Fraction
    """The exact mean number of hits (of the full amount) by one wager of ``stake_cents``."""
    level: Level
    """The exact amount of the level and its terms."""
    falls: int = 0
    """The number of times that the displayed amount has fallen."""
    last_fall_cause: FallCause = ""
    """The cause of the last fall of the displayed amount; empty before the first."""
    successor_id: str = ""
    """The id of the level that received the amount of this closed level; empty while this level is open."""
    closing_cents: int = 0
    """The amount displayed when the level was closed, less the hits paid since."""
    hits_per_wager_max: int = 1
    """The maximum number of hits that one wager can have."""
    hit_rate_by_share: Mapping[str, Fraction] = field(default_factory=dict)
    """The partial shares of the level that can be won, by their text; the value is the mean hits per wager."""
    last_claim_id: str = ""
    """The id of the claim of the last hit, or empty."""
    peak_cents: int = 0
    """The highest amount of the level that this controller has ever shown; no machine can have shown more."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "peak_cents", max(self.peak_cents, self.level.shown_cents))

    @classmethod
    def open(cls, definition: LevelDefinition) -> "LevelRecord":
        """Return a new level that contains its base amount, which the operator pays."""
        return cls(
            id=definition.id,
            names=dict(definition.names),
            stake_cents=definition.stake_and_hit_rate.stake_cents,
            hit_rate=definition.stake_and_hit_rate.hit_rate,
            level=Level.open(definition.terms),
            hits_per_wager_max=definition.stake_and_hit_rate.hits_per_wager_max,
            hit_rate_by_share=build_hit_rate_by_share(definition),
        )

    def to_text(self) -> str:
        """Return the record as JSON text."""
        return json.dumps(
            {
                "names": dict(self.names),
                "stake_cents": self.stake_cents,
                "odds": str(self.hit_rate),
                "level": self.level.to_json(),
                "falls": self.falls,
                "fell_by": self.last_fall_cause,
                "successor": self.successor_id,
                "closing_cents": self.closing_cents,
                "hits_most": self.hits_per_wager_max,
                "shares": {share: str(hit_rate) for share, hit_rate in self.hit_rate_by_share.items()},
                "peak_cents": self.peak_cents,
                "last_claim": self.last_claim_id,
            },
            ensure_ascii=False,
            sort_keys=True,
        )

    @classmethod
    def from_text(cls, level_id: str, text: str) -> "LevelRecord":
        """Return a record decoded from JSON text, after checking that its amounts add up.

        Raises LevelDefectiveError, KeyError or ValueError.
        """
        data: dict[str, Any] = json.loads(text)
        return cls(
            id=level_id,
            names=data["names"],
            stake_cents=int(data["stake_cents"]),
            hit_rate=Fraction(data["odds"]),
            level=Level.from_json(data["level"]),
            falls=int(data["falls"]),
            last_fall_cause=data["fell_by"],
            successor_id=data["successor"],
            closing_cents=int(data["closing_cents"]),
            hits_per_wager_max=int(data.get("hits_most", 1)),
            hit_rate_by_share={
                share: Fraction(hit_rate) for share, hit_rate in data.get("shares", {}).items()
            },
            peak_cents=int(data.get("peak_cents", 0)),
            last_claim_id=data.get("last_claim", ""),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PrizeRecord:
    """One prize of a mystery level, from the draw of its secret amount to its win."""

    level_id: str = field(metadata=stored_as("level"))
    number: int
    commitment: str
    encrypted_secret: str = field(metadata=stored_as("sealed"))
    """The encrypted secret."""
    opened_at: str
    start_amount: Fraction = field(metadata=stored_as("start"))
    """The level's amount, in minor units, when the secret was drawn."""
    contribution_count_before: int = field(metadata=stored_as("turns_before"))
    """The number of contributions to the level before the secret was drawn."""
    added_amount: Fraction = field(default=Fraction(0), metadata=stored_as("lifted"))
    """The money that the level has received since then other than by wagers."""
    contribution_count_at_end: int = field(default=0, metadata=stored_as("turns"))
    """The number of contributions when the prize was won or its level closed; 0 until then."""
    trigger: Mapping[str, JSON] | None = None
    """The disclosed secret; None until the prize is won or its level closed."""
    claim_id: str = field(default="", metadata=stored_as("claim"))
    """The id of the hit that won the prize; empty if there is none."""

    def to_text(self) -> str:
        """Return the record as JSON text."""
        return json.dumps(to_json(self), ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_text(cls, text: str) -> "PrizeRecord":
        """Return a prize's record decoded from JSON text. Raises :class:`~egm.record_codec.RecordError`."""
        return from_json(cls, json.loads(text), "mystery prize")


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldMessage:
    """A claim or a payment that is held until two persons rule on it."""

    claim_id: str = field(metadata=stored_as("claim"))
    """The id of the held claim. A held payment report has the id that ``held_messages.format_payment_id`` returns."""
    message: Mapping[str, JSON]
    """The machine's message, as JSON."""
    hold_reason: str = field(metadata=stored_as("why"))
    """The reason why the claim or payment is held."""
    held_at: str
    ruling: str = ""
    """The ruling: ``award`` or ``decline``; empty until staff have ruled."""
    persons: tuple[str, ...] = ()
    reason: str = ""
    """The reason that staff gave for the ruling."""
    ruled_at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRecord:
    """One hit of a progressive level: a line of the win register (I-17). Times are ISO 8601, UTC."""

    claim_id: str = field(metadata=stored_as("claim"))
    machine: str
    level_id: str = field(metadata=stored_as("level"))
    contribution_number: int = field(metadata=stored_as("after"))
    """The number of the machine's contribution to the level by the wager that hit it."""
    shown_cents: int
    """The amount that the machine showed when the level was hit, in minor units."""
    combination: str
    """The winning combination of the game."""
    hit_at: str
    """The time of the hit by the machine's clock; only recorded, never used."""
    amount_cents: int
    """The amount awarded to the machine, in minor units."""
    hit_number: int = field(metadata=stored_as("place"))
    """The number of the hit among all hits of its level, in order."""
    awarded_at: str
    paid_cents: int | None = None
    """The amount that the machine paid; None until it has reported the payment."""
    payment_method: str = field(default="", metadata=stored_as("way"))
    """How the machine paid the hit, or ``void``; empty until it has reported the payment."""
    closed_at: str = ""
    """The time at which the machine reported the payment; empty until then."""
    won_share: str = field(default="", metadata=stored_as("share"))
    """The partial share of the level that was won; empty for the full amount."""
