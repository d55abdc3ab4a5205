"""Journal settings from the profile and the cabinet file."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from meters.errors import ExcessiveIncrement
from meters.log import LOG_SEGMENT_SIZE_BYTES
from meters.transaction import Transfer


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalPolicy:
    """Settings of the journal from the profile and the cabinet file.

    As soon as there are ``entries_archived_together_min`` entries in addition to ``newest_entries_not_archived``, the
    oldest ones up to the next checkpoint are archived together.
    """

    entries_per_checkpoint: int = 1000
    """The number of entries from one signed checkpoint to the next."""
    segment_size_bytes: int = LOG_SEGMENT_SIZE_BYTES
    """Size of a log segment file, in bytes."""
    entries_archived_together_min: int = 20_000
    """The smallest number of old entries that are archived together."""
    newest_entries_not_archived: int = 20_000
    """The number of the latest entries that stay in both copies and are not moved to the archive."""
    reserve_size_bytes: int = 0
    """The space reserved on each medium, in bytes (:mod:`meters.disk_reserve`)."""
    increment_max_cents: Mapping[str, int] = field(default_factory=dict)
    """The most that one transaction may move into or out of an account, by account name (A-26).

    An account that is not listed has no limit.
    """

    def check_increments(self, entry_id: str, transfers: tuple[Transfer, ...]) -> None:
        """Raise :class:`ExcessiveIncrement` if a transaction moves more into or out of an account than its limit."""
        for name, max_cents in self.increment_max_cents.items():
            moved_cents = sum(t.amount_cents for t in transfers if name in {t.source, t.target})
            if moved_cents > max_cents:
                raise ExcessiveIncrement(
                    f"{entry_id}: {name} would move by {moved_cents} cents; at most {max_cents} are plausible"
                )
