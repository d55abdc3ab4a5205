"""Journal settings from the profile and the cabinet file."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from meters.errors import ExcessiveIncrement
from meters.log import LOG_SEGMENT_BYTES
from meters.transaction import Transfer


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Settings of the journal from the profile and the cabinet file.

    The oldest ``archive_entries`` entries, and those up to the next checkpoint, are archived together as soon
    as ``at_hand_entries`` newer entries remain. An account that ``increment_max_cents`` does not list has no
    limit. For ``reserve_bytes`` see :mod:`meters.disk_reserve`.
    """

    checkpoint_every: int = 1000
    """The number of entries from one signed checkpoint to the next."""
    segment_bytes: int = LOG_SEGMENT_BYTES
    """Size of a log segment file, in bytes."""
    archive_entries: int = 20_000
    """The least number of old entries that are archived together."""
    at_hand_entries: int = 20_000
    """The number of newest entries that are not archived."""
    reserve_bytes: int = 0
    """The space kept free on each medium, in bytes."""
    increment_max_cents: Mapping[str, int] = field(default_factory=dict)
    """The most that one transaction may move into or out of an account, by account (A-26)."""

    def check_increments(self, tx_id: str, moves: tuple[Transfer, ...]) -> None:
        """Raise :class:`ExcessiveIncrement` if a transaction's ``moves`` exceed an account's limit."""
        for name, most_cents in self.increment_max_cents.items():
            moved_cents = sum(t.amount_cents for t in moves if name in {t.source, t.target})
            if moved_cents > most_cents:
                raise ExcessiveIncrement(
                    f"{tx_id}: {name} would move by {moved_cents} cents; at most {most_cents} are plausible"
                )
