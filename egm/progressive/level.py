"""Arithmetic of a progressive level, exact to the fraction of a minor unit.

A level is an immutable value: each change returns a new one. Machines with their own levels, the controller of
a link, and the audit all use this code. :meth:`Level.check_sums` verifies the invariant (NZ 1.28.2(b); NZ03)::

    contributed + seeded + received = paid + current + hidden + overflow + released

Players are shown and paid whole minor units. Fractions stay in the level and are never lost.
"""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final, Self

from egm.errors import LocalError, OperatorError
from egm.record_codec import RecordError, from_json, stored_as, to_json
from meters.transaction import JSON

_ZERO_AMOUNT: Final = Fraction(0)
#: The share of the level that a full hit wins: all of it.
WHOLE_LEVEL_SHARE: Final = Fraction(1)


class LevelDefectiveError(LocalError):
    """Raised if the sums of a progressive level do not agree, or its stored record is malformed."""


class LevelTermsError(OperatorError):
    """Raised if a progressive level's terms are invalid; the text says which, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelTerms:
    """The terms of a progressive level: base, increment, ceiling.

    They change only when the whole level is won (NY 5321.18(b)(4)).
    """

    base_cents: int
    """The amount to which the level returns after it is won, in minor units."""
    increment: Fraction
    """The fraction of every wager that is added to the displayed amount, such as 1/100."""
    hidden_increment: Fraction = field(default=_ZERO_AMOUNT, metadata=stored_as("hidden"))
    """The fraction of every wager that is added to a hidden reserve, which pays for the next reset."""
    ceiling_cents: int | None = None
    """The highest displayed amount in minor units, or None; contributions above it are stored as overflow."""
    is_mystery: bool = field(default=False, metadata=stored_as("mystery"))
    """Whether the level is a mystery level, won at a secret amount up to its ceiling."""

    def __post_init__(self) -> None:
        if self.base_cents <= 0:
            raise LevelTermsError(f"base_cents is {self.base_cents}; expected more than 0")
        if self.increment < 0 or self.hidden_increment < 0 or self.increment + self.hidden_increment >= 1:
            raise LevelTermsError(
                f"increment is {self.increment} and hidden is {self.hidden_increment}; "
                "expected shares of 0 or more, below 1 together"
            )
        if self.ceiling_cents is not None and self.ceiling_cents <= self.base_cents:
            raise LevelTermsError(
                f"ceiling_cents is {self.ceiling_cents}; expected more than base_cents, {self.base_cents}"
            )
        if self.is_mystery and (self.ceiling_cents is None or not self.increment):
            raise LevelTermsError("a mystery level needs a ceiling_cents and an increment above 0")

    def to_json(self) -> dict[str, JSON]:
        """Return the terms as the journal's records store them; :meth:`from_json` is the inverse."""
        return to_json(self)

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Decode a progressive level's terms from JSON.

        Raises RecordError or :class:`LevelTermsError` if they are invalid.
        """
        return from_json(cls, data, "the terms of a level")


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """The state of a progressive level; immutable. Amounts are exact, in minor units."""

    terms: LevelTerms
    current_amount: Fraction = field(metadata=stored_as("current"))
    """The amount to be won; players see its whole minor units."""
    hidden_amount: Fraction = field(default=_ZERO_AMOUNT, metadata=stored_as("hidden"))
    """The reserve that pays for the next reset."""
    overflow_amount: Fraction = field(default=_ZERO_AMOUNT, metadata=stored_as("overflow"))
    """The contributions above the ceiling, which feed the level after its next hit."""
    contributed_amount: Fraction = field(default=_ZERO_AMOUNT, metadata=stored_as("contributed"))
    """The total of all contributions since the level opened."""
    seeded_cents: int = field(default=0, metadata=stored_as("seeded"))
    """The total that the operator has paid in at the opening and at resets, in minor units."""
    received_amount: Fraction = field(default=_ZERO_AMOUNT, metadata=stored_as("received"))
    """The total that was moved into this level from other levels, in minor units."""
    released_amount: Fraction = field(default=_ZERO_AMOUNT, metadata=stored_as("released"))
    """The amount that was moved out of this level when it was closed, in minor units."""
    paid_cents: int = field(default=0, metadata=stored_as("paid"))
    """The total of all hits paid since the level opened."""
    hit_count: int = field(default=0, metadata=stored_as("hits"))
    """The number of hits since the level opened."""
    next_terms: LevelTerms | None = None
    """Changed terms that take effect when the whole level has been won; None if the terms have not changed (I-06)."""

    # ------------------------------------------------------------------ amounts
    @property
    def shown_cents(self) -> int:
        """Return the amount that the progressive level displays, in whole minor units: what a hit now would pay."""
        return self.current_amount.numerator // self.current_amount.denominator

    @property
    def held_amount(self) -> Fraction:
        """Return all money that the level holds: its current amount, reserve and overflow, in minor units."""
        return self.current_amount + self.hidden_amount + self.overflow_amount

    def compute_mystery_hit_chance(self, stake_cents: int) -> tuple[int, int] | None:
        """Return the probability that a wager hits a mystery level, as (winning_count, bound); None for others.

        The wager hits if a random number below ``bound`` is below ``winning_count``. None also if the wager adds
        nothing.

        The secret amount of a mystery prize is uniform between base and ceiling, but is never stored. Instead,
        each wager hits with the probability that the secret amount lies in the part that this wager adds, given
        that it was not reached before. The distribution is the same, and there is no secret to read.
        """
        ceiling_cents = self.terms.ceiling_cents
        if not self.terms.is_mystery or ceiling_cents is None:
            return None
        remaining_amount = ceiling_cents - self.current_amount
        increment_amount = min(stake_cents * self.terms.increment, remaining_amount)
        if remaining_amount <= 0:  # only a correction raises it to its ceiling
            return 1, 1
        if not increment_amount:
            return None
        chance = increment_amount / remaining_amount
        return chance.numerator, chance.denominator

    # ------------------------------------------------------------------ changes
    @classmethod
    def open(cls, terms: LevelTerms) -> "Level":
        """Return a new progressive level, with its base paid in by the operator."""
        return cls(terms=terms, current_amount=Fraction(terms.base_cents), seeded_cents=terms.base_cents)

    def add_contribution(self, stake_cents: int) -> "Level":
        """Return the level after adding the increments of a stake of ``stake_cents``, which must be above zero."""
        if stake_cents <= 0:
            raise LevelDefectiveError(f"a wager of {stake_cents} minor units cannot contribute")
        shown_increment_amount = stake_cents * self.terms.increment
        hidden_increment_amount = stake_cents * self.terms.hidden_increment
        increased_level = replace(
            self,
            hidden_amount=self.hidden_amount + hidden_increment_amount,
            contributed_amount=self.contributed_amount + shown_increment_amount + hidden_increment_amount,
        )
        return _add_amount(increased_level, shown_increment_amount)

    def pay_hit(self, share: Fraction = WHOLE_LEVEL_SHARE) -> tuple[int, "Level"]:
        """Return the amount that a hit of the level pays, in minor units, and the level after the hit.

        A full hit (``share`` 1) pays the displayed amount. The reserve's whole minor units then go into the new
        base, the operator pays in what is missing, and changed terms take effect. A partial hit pays
        ``share`` of the displayed amount, rounded down, and refills the level only up to its base; changed
        terms do not take effect. In both cases the overflow is then added, up to the ceiling, and
        fractions of a minor unit stay in the level.
        """
        if not 0 < share <= 1:
            raise LevelDefectiveError(
                f"a hit cannot pay {share} of a level; expected more than 0 and at most 1"
            )
        amount_cents = int(self.shown_cents * share)
        return amount_cents, replace(
            self._pay_out(amount_cents, is_whole_level=share == 1), hit_count=self.hit_count + 1
        )

    def correct_paid_hit(self, excess_cents: int) -> "Level":
        """Return the level after correcting a hit that was paid ``excess_cents`` above the amount awarded for it.

        If ``excess_cents`` is negative, the hit was paid below its award, and the difference returns to the level. An
        excess is taken out of the level, and the operator pays in what is then missing below the base.
        """
        if excess_cents > 0:
            return self._pay_out(excess_cents, is_whole_level=False)
        return _add_amount(replace(self, paid_cents=self.paid_cents + excess_cents), Fraction(-excess_cents))

    def _pay_out(self, amount_cents: int, *, is_whole_level: bool) -> "Level":
        """Return the level after ``amount_cents`` of its displayed amount were paid.

        ``is_whole_level``: whether the whole displayed amount was won, not a part.
        """
        terms = (self.next_terms or self.terms) if is_whole_level else self.terms
        remaining_amount = self.current_amount - amount_cents
        missing_cents = max(0, terms.base_cents - remaining_amount.numerator // remaining_amount.denominator)
        hidden_cents = self.hidden_amount.numerator // self.hidden_amount.denominator
        from_hidden_cents = hidden_cents if is_whole_level else min(hidden_cents, missing_cents)
        from_overflow_cents = self.overflow_amount.numerator // self.overflow_amount.denominator
        seed_cents = max(0, missing_cents - from_hidden_cents)
        paid_level = replace(
            self,
            terms=terms,
            next_terms=None if is_whole_level else self.next_terms,
            current_amount=remaining_amount,
            hidden_amount=self.hidden_amount - from_hidden_cents,
            overflow_amount=self.overflow_amount - from_overflow_cents,
            seeded_cents=self.seeded_cents + seed_cents,
            paid_cents=self.paid_cents + amount_cents,
        )
        return _add_amount(paid_level, Fraction(from_hidden_cents + seed_cents + from_overflow_cents))

    def return_award(self, amount_cents: int) -> "Level":
        """Return the level after the hit of a void game is reversed: ``amount_cents`` is added to it again."""
        if not 0 <= amount_cents <= self.paid_cents:
            raise LevelDefectiveError(
                f"{amount_cents} minor units cannot be returned: the level has paid {self.paid_cents}"
            )
        reversed_level = replace(
            self, paid_cents=self.paid_cents - amount_cents, hit_count=self.hit_count - 1
        )
        return _add_amount(reversed_level, Fraction(amount_cents))

    def change_terms(self, terms: LevelTerms) -> "Level":
        """Return the level with new terms, which take effect once the whole level is won (NY 5321.18(b)(4))."""
        return replace(self, next_terms=None if terms == self.terms else terms)

    def release_whole_amount(self) -> tuple[Fraction, "Level"]:
        """Return all money that the level holds, in minor units, and the level as closed and empty (I-12, I-13)."""
        amount = self.held_amount
        empty_level = replace(
            self,
            current_amount=_ZERO_AMOUNT,
            hidden_amount=_ZERO_AMOUNT,
            overflow_amount=_ZERO_AMOUNT,
            released_amount=self.released_amount + amount,
            next_terms=None,
        )
        return amount, empty_level

    def add_received_amount(self, amount: Fraction) -> "Level":
        """Return the progressive level after adding ``amount``, which was moved here from another level."""
        if amount < 0:
            raise LevelDefectiveError(f"a level cannot receive {amount} minor units; expected 0 or more")
        return _add_amount(replace(self, received_amount=self.received_amount + amount), amount)

    # ------------------------------------------------------------------ checks and encoding
    def check_sums(self) -> None:
        """Raise :class:`LevelDefectiveError` unless all money paid into the level is in it or has left it, exactly.

        The error states the figures.
        """
        inflow = self.contributed_amount + self.seeded_cents + self.received_amount
        outflow = (
            self.paid_cents
            + self.current_amount
            + self.hidden_amount
            + self.overflow_amount
            + self.released_amount
        )
        if inflow != outflow:
            raise LevelDefectiveError(
                f"contributed {self.contributed_amount} + seeded {self.seeded_cents} + received "
                f"{self.received_amount} = {inflow}, "
                f"but paid {self.paid_cents} + current {self.current_amount} + hidden {self.hidden_amount} + overflow "
                f"{self.overflow_amount} + released {self.released_amount} = {outflow}"
            )
        if min(self.current_amount, self.hidden_amount, self.overflow_amount) < 0:
            raise LevelDefectiveError(
                f"below zero: current {self.current_amount}, hidden {self.hidden_amount} or overflow "
                f"{self.overflow_amount}"
            )

    def to_json(self) -> dict[str, JSON]:
        """Encode the progressive level for records; :meth:`from_json` is the inverse."""
        return to_json(self)

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Decode and check a progressive level. Raises :class:`LevelDefectiveError` if it is invalid."""
        try:
            level = from_json(cls, data, "a level")
        except RecordError as error:
            raise LevelDefectiveError(f"the stored level cannot be read: {error}") from error
        level.check_sums()
        return level


def _add_amount(level: Level, amount: Fraction) -> Level:
    """Return the level after adding ``amount`` in minor units: up to its ceiling, with the remainder as overflow."""
    ceiling_cents = level.terms.ceiling_cents
    added_amount = (
        amount
        if ceiling_cents is None
        else max(_ZERO_AMOUNT, min(amount, ceiling_cents - level.current_amount))
    )
    return replace(
        level,
        current_amount=level.current_amount + added_amount,
        overflow_amount=level.overflow_amount + amount - added_amount,
    )
