"""The record of the time at a table that a player has paid for."""

from dataclasses import dataclass, field

from egm.record_codec import stored_as
from egm.record_fields import IsoTime, Sha256Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidPlayingTime:
    """The table at which a position has paid for time, and the end of that time."""

    digest: Sha256Digest
    """The digest of the definition of the table's game."""
    paid_until: IsoTime = field(metadata=stored_as("until"))
    """The end of the paid time; a game that starts before it takes no further charge."""
