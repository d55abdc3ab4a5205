"""The secret amount of a shared mystery prize: drawn in advance, committed to, and published afterwards.

At each reset the level's controller draws the amount at which the level will be won, and publishes a
commitment: SHA-256 over the drawn number, the prize to which it applies, and a salt of 256 bits. Nobody can derive
the amount from the commitment, or change it later. The wager that raises the level to the amount wins. Then the drawn
number and the salt are published, so that everyone can verify them against the commitment.

The amount is one of ``point_count`` points that divide the interval from the start to the ceiling evenly. Each
wager but the last covers the same number of points: all wagers of all machines have the same chance (Québec
by-law, s.92), as :meth:`egm.progressive.level.Level.compute_mystery_hit_chance` assumes.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final, Protocol

from egm.errors import LocalError
from egm.progressive.level import LevelTerms
from egm.record_codec import RecordError, from_json, stored_as, to_json
from meters.transaction import JSON

#: Bits of the random salt in a commitment.
_SALT_BITS: Final = 256


class TriggerError(LocalError):
    """Raised if a mystery prize's secret amount is invalid or does not match its published commitment."""


class RandomSource(Protocol):
    """Source of the random numbers that decide the secret amount of a mystery prize."""

    def below(self, bound: int, purpose: str) -> int:
        """Return a uniform random integer from 0 to ``bound`` - 1, and record its ``purpose``."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MysteryTrigger:
    """The secret amount of one mystery prize of a shared level, with what is needed to verify it."""

    level_id: str = field(metadata=stored_as("level"))
    prize_number: int = field(metadata=stored_as("number"))
    """The number of the prize, counted from 1 for each level."""
    start_amount: Fraction = field(metadata=stored_as("start"))
    """The amount that the level showed when the secret was drawn, exact, in minor units."""
    step_amount: Fraction = field(metadata=stored_as("step"))
    """The amount by which one wager of the level's stake raises the level, exact, in minor units."""
    ceiling_cents: int
    drawn_point: int = field(metadata=stored_as("drawn"))
    """The drawn number, from 0 to ``point_count`` - 1, which determines the secret amount."""
    salt: str
    """The salt of the commitment, hexadecimal."""

    @classmethod
    def draw(
        cls,
        level_id: str,
        prize_number: int,
        start_amount: Fraction,
        terms: LevelTerms,
        stake_cents: int,
        random_source: RandomSource,
    ) -> "MysteryTrigger":
        """Draw the secret amount of prize number ``prize_number`` of a level that starts from ``start_amount``.

        Raises :class:`TriggerError`.
        """
        if not terms.is_mystery or terms.ceiling_cents is None:
            raise TriggerError(f"level {level_id} has no mystery prize")
        undrawn_trigger = cls(
            level_id=level_id,
            prize_number=prize_number,
            start_amount=start_amount,
            step_amount=stake_cents * terms.increment,
            ceiling_cents=terms.ceiling_cents,
            drawn_point=0,
            salt="",
        )
        drawn_point = random_source.below(undrawn_trigger.point_count, f"progressive.{level_id}")
        salt = random_source.below(1 << _SALT_BITS, f"progressive.{level_id}.salt")
        return replace(undrawn_trigger, drawn_point=drawn_point, salt=f"{salt:064x}")

    @property
    def point_count(self) -> int:
        """Return the number of equally likely secret amounts; one if the level starts at its ceiling."""
        return max(1, ((self.ceiling_cents - self.start_amount) / self.step_amount).numerator)

    @property
    def trigger_amount(self) -> Fraction:
        """Return the secret amount, exact, in minor units: the wager that raises the level to it wins."""
        rise_amount = self.ceiling_cents - self.start_amount
        return self.start_amount + max(Fraction(0), rise_amount) * Fraction(
            self.drawn_point + 1, self.point_count
        )

    @property
    def commitment(self) -> str:
        """Return the commitment to the secret amount that is published in advance (SHA-256, hexadecimal)."""
        return hashlib.sha256(self.to_text().encode("ascii")).hexdigest()

    def to_json(self) -> dict[str, JSON]:
        """Return the secret as a JSON object, to be recorded once it may be published.

        Fractions, and numbers that are too large for some JSON readers, are texts. :meth:`from_json` is the
        inverse.
        """
        return {**to_json(self), "drawn": str(self.drawn_point)}

    def to_text(self) -> str:
        """Return the secret's canonical text, over which the commitment is computed."""
        return json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, data: object) -> "MysteryTrigger":
        """Decode the prize's secret from JSON. Raises :class:`TriggerError` if it is invalid."""
        try:
            fields = {**data, "drawn": int(str(data["drawn"]))} if isinstance(data, Mapping) else data
            trigger = from_json(cls, fields, "its record")
            is_valid = (
                trigger.step_amount > 0
                and 0 <= trigger.drawn_point < trigger.point_count
                and len(trigger.salt) == _SALT_BITS // 4
            )
        except (KeyError, ValueError, RecordError) as error:
            raise TriggerError(f"the secret of a mystery prize cannot be read: {error!r}") from None
        if not is_valid:
            raise TriggerError(
                f"the secret of a mystery prize is not in the form that the controller writes: {trigger.to_text()}"
            )
        return trigger
