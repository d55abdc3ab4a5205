"""Mystery trigger: the secret amount of a shared prize, fixed in advance and provable afterwards.

The manager of a shared mystery level draws, at each reset, the amount at which it will be won, and publishes
a commitment to it: SHA-256 over the drawn number, everything it applies to, and a salt of 256 bits. Nobody
can derive the amount from the commitment, and nobody can change it afterwards. The wager that raises the
level to the amount wins; then number and salt are published, and everyone can compare them with the
commitment.

The amount is one of ``points`` that divide the interval from the start to the ceiling evenly, so finely that
each wager but the last covers the same number of them: all wagers of all machines have the same chance
(Québec by-law, s.92), and the distribution is that of :meth:`egm.progressive.level.Level.compute_mystery_odds`.
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
    """The error that a mystery prize's secret amount is invalid or does not match its published commitment."""


class RandomSource(Protocol):
    """Source of the random numbers that decide the secret amount of a mystery prize."""

    def below(self, bound: int, purpose: str) -> int:
        """Return a uniform integer in [0, ``bound``)."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MysteryTrigger:
    """The secret of one mystery prize, which is prize number ``number`` of the level ``level``.

    ``start_amount`` is what the level showed when the secret was drawn; ``step`` is what each wager adds (both
    exact, in minor units). ``drawn_point`` is one of ``point_count``. ``salt`` is hexadecimal.
    """

    level: str
    number: int
    start_amount: Fraction = field(metadata=stored_as("start"))
    step: Fraction
    ceiling_cents: int
    drawn_point: int = field(metadata=stored_as("drawn"))
    salt: str

    @classmethod
    def draw(
        cls,
        level: str,
        number: int,
        start: Fraction,
        terms: LevelTerms,
        stake_cents: int,
        random_source: RandomSource,
    ) -> "MysteryTrigger":
        """Draw the secret amount of a mystery prize that starts from ``start``. Raises :class:`TriggerError`."""
        if not terms.is_mystery or terms.ceiling_cents is None:
            raise TriggerError(f"level {level} has no mystery prize")
        undrawn = cls(
            level=level,
            number=number,
            start_amount=start,
            step=stake_cents * terms.increment,
            ceiling_cents=terms.ceiling_cents,
            drawn_point=0,
            salt="",
        )
        drawn_point = random_source.below(undrawn.point_count, f"progressive.{level}")
        salt = random_source.below(1 << _SALT_BITS, f"progressive.{level}.salt")
        return replace(undrawn, drawn_point=drawn_point, salt=f"{salt:064x}")

    @property
    def point_count(self) -> int:
        """Return the number of equally likely secret amounts; one if the progressive level starts at its ceiling."""
        return max(1, ((self.ceiling_cents - self.start_amount) / self.step).numerator)

    @property
    def trigger_amount(self) -> Fraction:
        """Return the secret amount, exact: a wager that raises the progressive level to it wins."""
        room = self.ceiling_cents - self.start_amount
        return self.start_amount + max(Fraction(0), room) * Fraction(self.drawn_point + 1, self.point_count)

    @property
    def commitment(self) -> str:
        """Return the commitment to the secret that is published in advance (SHA-256, hexadecimal)."""
        return hashlib.sha256(self.to_text().encode("ascii")).hexdigest()

    def to_json(self) -> dict[str, JSON]:
        """Encode the secret for records, once it may be known; :meth:`from_json` is the inverse.

        Numbers that may be too large for some JSON readers are encoded as text, and so are fractions.
        """
        return {**to_json(self), "drawn": str(self.drawn_point)}

    def to_text(self) -> str:
        """Return the secret's canonical text, over which the commitment is computed."""
        return json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, data: object) -> "MysteryTrigger":
        """Decode the prize's secret from JSON. Raises :class:`TriggerError` if it is invalid."""
        try:
            numbers = {**data, "drawn": int(str(data["drawn"]))} if isinstance(data, Mapping) else data
            trigger = from_json(cls, numbers, "its record")
            is_valid = (
                trigger.step > 0
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
