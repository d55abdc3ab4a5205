"""The heading of a printed sheet: machine, jurisdiction rules, currency, and the journal's last entry."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from egm.errors import OperatorError
from egm.features.memory_clear.entries import MACHINE_GENESIS
from egm.gaming_day import UTC_GAMING_DAY, GamingDay
from egm.integrity.entries import POWER_UP
from egm.profiles.profile import load_profile
from meters import JournalView, StoredEntry
from meters.recall import read_details


def find_currency(profile_id: str) -> str:
    """Return the currency of the jurisdiction profile with this id, or "" if the profile is unknown."""
    try:
        return load_profile(profile_id).currency if profile_id else ""
    except OperatorError:
        return ""


@dataclass
class SheetHead:
    """The data in the heading of a printed sheet about a machine, collected from the entries of one journal.

    A field stays empty if an early journal does not contain its data.
    """

    machine_id: str = ""
    """The machine's id."""
    profile_id: str = ""
    """The id of the jurisdiction profile in force."""
    sequence: int = 0
    """The number of the last journal entry."""
    first_time: datetime | None = None
    last_time: datetime | None = None
    gaming_day: GamingDay = UTC_GAMING_DAY
    """The venue's gaming day: its time zone and the hour at which it begins."""

    @classmethod
    def from_view(cls, view: JournalView) -> "SheetHead":
        """Return the heading for a machine's current memory, from its first entry, last power-up and last entry."""
        sheet_head = cls()
        last_entries = view.entries(after_sequence=max(0, view.sequence - 1))
        power_up_entries = view.entries((POWER_UP.kind,), newest_first=True, limit=1)
        for entry in (view.genesis, *power_up_entries, *last_entries):
            sheet_head.update_with_entry(entry)
        return sheet_head

    def update_with_entry(self, entry: StoredEntry) -> None:
        """Update the heading with the next journal entry; a power-up entry states the jurisdiction and gaming day."""
        self.sequence, self.last_time = entry.sequence, entry.time_utc
        self.first_time = self.first_time or entry.time_utc
        if entry.kind == MACHINE_GENESIS.kind:
            self.machine_id = str(read_details(entry).get("machine_id", ""))
        elif entry.kind == POWER_UP.kind:
            self.profile_id = str(read_details(entry).get("profile", ""))
            self.gaming_day = GamingDay.from_power_up(entry.record)

    def watch_entries(self, entries: Iterable[StoredEntry]) -> Iterator[StoredEntry]:
        """Yield the journal entries unchanged, and update the heading's data with each of them."""
        for entry in entries:
            self.update_with_entry(entry)
            yield entry

    @property
    def currency(self) -> str:
        """Return the currency of the jurisdiction profile in force, or "" if this software lacks that profile."""
        return find_currency(self.profile_id)

    def format_line(self) -> str:
        """Return the heading as one line: machine, rules, currency, last entry and its time."""
        parts = (
            f"machine {self.machine_id}" if self.machine_id else "",
            f"rules {self.profile_id}" if self.profile_id else "",
            f"amounts in minor units of {self.currency}" if self.currency else "amounts in minor units",
            f"entry {self.sequence}",
            f"{self.last_time:%Y-%m-%d %H:%M:%S} UTC" if self.last_time else "",
        )
        return ", ".join(part for part in parts if part)
