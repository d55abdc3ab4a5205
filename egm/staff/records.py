"""Types that records and events of staff work share: boxes, kinds of work, and rulings."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from egm.record_fields import Persons, Serial, Words

Box: TypeAlias = Literal["coin_box", "bill_box"]
Work: TypeAlias = Literal["repair", "collection"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RulingDetails:
    """Base of the records of staff rulings: at which machine, where, why, and by whom."""

    machine: Serial
    place: str
    """The machine's number on the floor, or the location that the form names."""
    reason: Words
    persons: Persons
