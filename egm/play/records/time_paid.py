"""The record of the time that a player has paid for."""

from dataclasses import dataclass

from egm.record_fields import Digest, Time


@dataclass(frozen=True, slots=True, kw_only=True)
class TimePaid:
    """The table for whose time a position has paid, and until when."""

    digest: Digest
    """The definition of the table's game."""
    until: Time
    """No further charge is due for games that start before this time."""
