"""The part that the journal entries of staff rulings share."""

from dataclasses import dataclass

from egm.record_fields import Persons, Serial, Words


@dataclass(frozen=True, slots=True, kw_only=True)
class RulingDetails:
    """A ruling of staff: at which machine, where, why, and by whom."""

    machine: Serial
    place: str
    """The machine's number on the floor, or the location that the form names."""
    reason: Words
    persons: Persons
