"""Check of the staff roster file against the journal.

For each change of the roster, the journal has its number and the digest of the whole roster after it. A roster
file is refused in three cases:

* It lacks the last recorded change: the file was deleted, or an older one was restored.

* Its digest after the last recorded change differs: the file was edited, or belongs to another machine.

* It has later changes that are not authenticated with the machine's own key.

Until a change is recorded there is nothing to compare with, and the first person may enrol freely. A second
copy of the roster is stored with the second copy of the journal; if the first copy is refused, or the second is
authenticated and newer, the second replaces it.
"""

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from egm.people.roster import Roster, RosterError
from meters import checkpoint, open_view
from meters.copies import SECOND_FOLDER, JournalLocation
from meters.database import DATABASE_FILE_NAME, DatabaseReader
from meters.errors import JournalError
from meters.log import AuthenticatedEntry
from meters.machine_key import MachineKey
from meters.storage import DiskStorage

#: Storage key of the :class:`RecordedRoster`.
RECORDED_ROSTER_KEY = "staff"


@dataclass(frozen=True, slots=True)
class RecordedRoster:
    """The number of the last roster change that the journal records, and the digest of the roster after it."""

    last_change_number: int = 0
    digest: str = ""

    @classmethod
    def from_json(cls, stored_value: Any) -> "RecordedRoster":
        """Decode the value stored in the journal; earlier versions stored only the number of the last change."""
        if isinstance(stored_value, dict):
            return cls(int(stored_value["number"]), str(stored_value["digest"]))
        return cls(int(stored_value or 0))

    def to_json(self) -> dict[str, int | str]:
        """Return the number and digest of the roster's last recorded change, as JSON for the journal."""
        return {"number": self.last_change_number, "digest": self.digest}

    def check_roster(self, roster: Roster) -> None:
        """Raise :class:`RosterError` unless the roster is the recorded one, or continues it with authenticated changes.

        Changes after the recorded one must be authenticated with this machine's key.
        """
        change_count = len(roster.changes)
        if change_count < self.last_change_number:
            difference = "is out of date" if roster.changes else "is missing"
            raise RosterError(
                f"{roster.path}: {difference}: it has {change_count} changes, "
                f"but the journal records {self.last_change_number}"
            )
        if self.digest and roster.changes[self.last_change_number - 1].digest != self.digest:
            raise RosterError(
                f"{roster.path}: its change {self.last_change_number} is not the one that the journal records"
            )
        if self.last_change_number and change_count > self.last_change_number and not roster.is_authenticated:
            raise RosterError(
                f"{roster.path}: the changes after {self.last_change_number} are not authenticated with this "
                "machine's key"
            )


def load_recorded_roster(
    path: Path, second_copy_path: Path | None, recorded_roster: RecordedRoster
) -> tuple[Roster, RosterError | None]:
    """Return the staff roster from the copy that agrees with the journal, and why the first copy is not used.

    The reason is None if the first copy (``path``) is used. ``second_copy_path`` is the path of the second copy. A copy
    agrees if it is the recorded roster or continues it. If both do, the first is used, unless the second has more
    changes and is authenticated. Raises :class:`RosterError` if neither does. Nothing is written.
    """
    try:
        roster = Roster.load(path, second_copy_path)
        recorded_roster.check_roster(roster)
    except RosterError as roster_error:
        if second_copy_path is None or not second_copy_path.exists():
            raise
        try:
            second_copy = replace(Roster.load(second_copy_path), path=path, second_copy_path=second_copy_path)
            recorded_roster.check_roster(second_copy)
        except RosterError as second_error:
            raise RosterError(
                f"{roster_error}; the second copy cannot be used either: {second_error}"
            ) from None
        return second_copy, roster_error
    if second_copy_path is not None and second_copy_path.exists():
        with contextlib.suppress(RosterError):
            second_copy = replace(Roster.load(second_copy_path), path=path, second_copy_path=second_copy_path)
            recorded_roster.check_roster(second_copy)
            if second_copy.is_authenticated and len(second_copy.changes) > len(roster.changes):
                difference = f"has {len(roster.changes)} changes, the second copy {len(second_copy.changes)}"
                return second_copy, RosterError(f"{path}: is out of date: it {difference}")
    return roster, None


def read_recorded_roster(folder: Path, second_folder: Path | None = None) -> RecordedRoster:
    """Return what the journal in a state folder records of the staff roster.

    ``second_folder`` is the folder of the journal's second copy. If the journal is too damaged to be opened, the result
    is the last recorded change that can still be read in either copy; entries that this machine's key does not
    authenticate are ignored. Raises :class:`RosterError` for a journal without that key, or if the key is damaged.
    """
    storage, second_folder = DiskStorage(), second_folder or folder / SECOND_FOLDER
    location = JournalLocation(storage, folder, second_folder)
    try:
        key = MachineKey.load(storage, folder, second_folder)
    except JournalError as error:
        raise RosterError(
            f"{folder}: nobody can sign in, because the machine key cannot be used: {error}"
        ) from None
    if key is None:
        if (folder / DATABASE_FILE_NAME).exists():
            raise RosterError(f"{folder}: nobody can sign in, because the machine key is missing")
        return RecordedRoster()
    try:
        with open_view(folder, key=key, second_folder=second_folder) as view:
            return RecordedRoster.from_json(view.state(RECORDED_ROSTER_KEY))
    except JournalError:
        pass
    recorded_rosters = [RecordedRoster()]
    with contextlib.suppress(JournalError):
        database = DatabaseReader.open(storage, folder)
        with contextlib.closing(database):
            _collect_recorded_rosters(recorded_rosters, database.iter_entries(), key)
    with contextlib.suppress(JournalError):
        _collect_recorded_rosters(recorded_rosters, location.open_log_copy().iter_entries(), key)
    return max(recorded_rosters, key=lambda recorded_roster: recorded_roster.last_change_number)


def _collect_recorded_rosters(
    recorded_rosters: list[RecordedRoster], entries: Iterable[AuthenticatedEntry], key: MachineKey
) -> None:
    """Add to ``recorded_rosters`` what journal entries and checkpoints record of the staff roster.

    Those that ``key`` does not authenticate are ignored.
    """
    for authenticated_entry in entries:
        if not key.is_mac_valid(bytes.fromhex(authenticated_entry.entry.hash_hex), authenticated_entry.mac):
            continue
        transaction = authenticated_entry.entry.transaction
        states: list[Any] = [transaction.state]
        if transaction.kind == checkpoint.CHECKPOINT_KIND:  # a checkpoint holds the state of archived entries
            record: Any = transaction.record
            states.append(record["ledger"]["state"])
        recorded_rosters += [
            RecordedRoster.from_json(state[RECORDED_ROSTER_KEY])
            for state in states
            if state.get(RECORDED_ROSTER_KEY) is not None
        ]
