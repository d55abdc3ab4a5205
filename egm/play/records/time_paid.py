"""The record of the time that a player has paid for."""

from dataclasses import dataclass, field

from egm.record_codec import stored_as
from egm.record_fields import Digest, Time


@dataclass(frozen=True, slots=True, kw_only=True)
class TimePaid:
    """The table for whose time a position has paid, and until when."""

    digest: Digest
    """The definition of the table's game."""
    paid_until: Time = field(metadata=stored_as("until"))
    """No further charge is due for games that start before this time."""
