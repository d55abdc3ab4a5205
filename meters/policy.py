"""Journal settings from the profile and the cabinet file."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from meters.errors import ExcessiveIncrement
from meters.log import LOG_SEGMENT_BYTES
from meters.transaction import Transfer


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Settings of the journal from the profile and the cabinet file.

    A signed checkpoint is made every ``checkpoint_every`` entries. ``increment_max_cents`` maps an account to
    the most that one transaction may move into or out of it (A-26); an account that is not listed has no
    limit. The oldest ``archive_entries`` entries, and those up to the next checkpoint, are archived together
    as soon as ``at_hand_entries`` newer entries remain. ``reserve_bytes`` are kept free on each medium
    (:mod:`meters.disk_reserve`).
    """

    checkpoint_every: int = 1000
    segment_bytes: int = LOG_SEGMENT_BYTES
    """Size of a log segment file, in bytes."""
    archive_entries: int = 20_000
    at_hand_entries: int = 20_000
    reserve_bytes: int = 0
    increment_max_cents: Mapping[str, int] = field(default_factory=dict)

    def check_increments(self, tx_id: str, moves: tuple[Transfer, ...]) -> None:
        """Raise :class:`ExcessiveIncrement` if a transaction's ``moves`` exceed an account's limit."""
        for name, most_cents in self.increment_max_cents.items():
            moved_cents = sum(t.amount_cents for t in moves if name in {t.source, t.target})
            if moved_cents > most_cents:
                raise ExcessiveIncrement(
                    f"{tx_id}: {name} would move by {moved_cents} cents; at most {most_cents} are plausible"
                )
