"""The heading of a printed sheet: machine, rules of the place, currency, and how far its journal went."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from egm.errors import OperatorError
from egm.gaming_day import UTC_DAY, GamingDay
from egm.profiles.profile import load_profile
from meters import JournalView, StoredEntry
from meters.recall import details


def currency_of(rules: str) -> str:
    """Return the currency of a profile, by its name in the journal; empty where it is not to be had here."""
    try:
        return load_profile(rules).currency if rules else ""
    except OperatorError:
        return ""


@dataclass
class SheetHead:
    """What the entries of one journal say of the machine; an older journal does not say all of it."""

    machine: str = ""
    rules: str = ""
    sequence: int = 0
    first: datetime | None = None
    last: datetime | None = None
    day: GamingDay = UTC_DAY

    @classmethod
    def of(cls, view: JournalView) -> "SheetHead":
        """The head of a machine's memory as it is now, from its first entry, last power-up and last entry."""
        head = cls()
        last = view.entries(since=max(0, view.sequence - 1))
        powered = view.entries(("power.up",), newest_first=True, limit=1)
        for entry in (view.genesis, *powered, *last):
            head.note(entry)
        return head

    def note(self, entry: StoredEntry) -> None:
        """Take what an entry says; the last power-up says the rules in force."""
        self.sequence, self.last = entry.sequence, entry.time_utc
        self.first = self.first or entry.time_utc
        if entry.kind == "machine.genesis":
            self.machine = str(details(entry).get("machine_id", ""))
        elif entry.kind == "power.up":
            self.rules = str(details(entry).get("profile", ""))
            self.day = GamingDay.recorded(entry.record)

    def watching(self, entries: Iterable[StoredEntry]) -> Iterator[StoredEntry]:
        """The same entries, noted as they pass."""
        for entry in entries:
            self.note(entry)
            yield entry

    @property
    def currency(self) -> str:
        """The currency of the rules in force; empty where they are not to be had here."""
        return currency_of(self.rules)

    def text(self) -> str:
        """One line: machine, rules, currency, entry and time."""
        said = (
            f"machine {self.machine}" if self.machine else "",
            f"rules {self.rules}" if self.rules else "",
            f"amounts in minor units of {self.currency}" if self.currency else "amounts in minor units",
            f"entry {self.sequence}",
            f"{self.last:%Y-%m-%d %H:%M:%S} UTC" if self.last else "",
        )
        return ", ".join(part for part in said if part)
