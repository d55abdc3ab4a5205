"""Recorded roster: the one that the journal names, or a later one sealed with the machine's own key.

For each change the journal holds its number and the digest of the whole roster after it. A roster is refused
in three cases:

* It lacks the last recorded change: the file was deleted, or an older one was restored.
* The last recorded change has another digest in it: the file was edited, or belongs to another machine.
* It has later changes without the machine's seal.

Until a change is recorded, there is nothing to compare with, and the first person may enrol freely.

The machine stores a second copy of the roster with the second copy of the journal. It replaces a refused
roster by that copy.
"""

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from egm.people.roster import Roster, RosterError
from meters import checkpoint, open_view
from meters.copies import SECOND_FOLDER, JournalLocation
from meters.database import DATABASE_FILE_NAME as JOURNAL_NAME
from meters.database import DatabaseReader
from meters.errors import JournalError
from meters.keys import MachineKey
from meters.log import SealedEntry
from meters.storage import DiskStorage

STATE_KEY = "staff"
"""The key under which the journal's machine state stores the last recorded change of the staff roster."""


@dataclass(frozen=True, slots=True)
class RecordedRoster:
    """What the journal records of the staff roster: the number of its last change, and its digest after it."""

    number: int = 0
    digest: str = ""

    @classmethod
    def of(cls, state: Any) -> "RecordedRoster":
        """Return the journal's record of the staff roster, decoded; earlier versions stored only the number."""
        if isinstance(state, dict):
            return cls(int(state["number"]), str(state["digest"]))
        return cls(int(state or 0))

    def to_json(self) -> dict[str, int | str]:
        """Return the number and digest of the roster's last recorded change as JSON for the journal."""
        return {"number": self.number, "digest": self.digest}

    def check_roster(self, roster: Roster) -> None:
        """Raise :class:`RosterError` unless the roster is the recorded one, or the recorded one with later changes.

        Later changes must be signed with this machine's key.
        """
        count = len(roster.changes)
        if count < self.number:
            difference = "is out of date" if roster.changes else "is missing"
            raise RosterError(
                f"{roster.path}: {difference}: it has {count} changes, but the journal records {self.number}"
            )
        if self.digest and roster.changes[self.number - 1].digest != self.digest:
            raise RosterError(
                f"{roster.path}: its change {self.number} is not the one that the journal records"
            )
        if self.number and count > self.number and not roster.has_valid_seal:
            raise RosterError(
                f"{roster.path}: the changes after {self.number} are not sealed by this machine's key"
            )


def load_recorded_roster(
    path: Path, spare: Path | None, recorded: RecordedRoster
) -> tuple[Roster, RosterError | None]:
    """Return the staff roster to trust of its two copies, and why the first copy was refused.

    The reason is None if the first copy is trusted. A copy is trusted if it is the recorded roster or
    continues it; of two such copies the newer is used. Raises :class:`RosterError` if neither is trusted.
    Nothing is written.
    """
    try:
        roster = Roster.load(path, spare)
        recorded.check_roster(roster)
    except RosterError as roster_error:
        if spare is None or not spare.exists():
            raise
        try:
            second_copy = replace(Roster.load(spare), path=path, spare=spare)
            recorded.check_roster(second_copy)
        except RosterError as worse:
            raise RosterError(f"{roster_error}; the second copy cannot be used either: {worse}") from None
        return second_copy, roster_error
    if spare is not None and spare.exists():
        with contextlib.suppress(RosterError):
            newer = replace(Roster.load(spare), path=path, spare=spare)
            recorded.check_roster(newer)
            if newer.has_valid_seal and len(newer.changes) > len(roster.changes):
                difference = f"has {len(roster.changes)} changes, the second copy {len(newer.changes)}"
                return newer, RosterError(f"{path}: is out of date: it {difference}")
    return roster, None


def read_recorded_roster(folder: Path, second: Path | None = None) -> RecordedRoster:
    """Return what the journal of a state folder records of the staff roster: its last change and digest.

    If the journal is too damaged to be opened, the last change that either copy of it still shows is
    returned. Only entries written with this machine's key count. Raises :class:`RosterError` for a journal
    without that key.
    """
    storage, second = DiskStorage(), second or folder / SECOND_FOLDER
    place = JournalLocation(storage, folder, second)
    try:
        key = MachineKey.load(storage, folder, second)
    except JournalError as error:
        raise RosterError(f"{folder}: nobody can confirm their identity: {error}") from None
    if key is None:
        if (folder / JOURNAL_NAME).exists():
            raise RosterError(
                f"{folder}: the machine key is missing, so nobody can prove their identity with the journal"
            )
        return RecordedRoster()
    try:
        with open_view(folder, key=key, second_dir=second) as view:
            return RecordedRoster.of(view.state(STATE_KEY))
    except JournalError:
        pass
    roster_states = [RecordedRoster()]
    with contextlib.suppress(JournalError):
        database = DatabaseReader.open(storage, folder)
        with contextlib.closing(database):
            _collect_recorded(roster_states, database.iter_sealed_entries(), key)
    with contextlib.suppress(JournalError):
        _collect_recorded(roster_states, place.log().records(), key)
    return max(roster_states, key=lambda roster_state: roster_state.number)


def _collect_recorded(
    roster_states: list[RecordedRoster], items: Iterable[SealedEntry], key: MachineKey
) -> None:
    """Add to ``roster_states`` what entries and checkpoints record of the staff roster.

    Only those written with the machine's key count.
    """
    for item in items:
        if not key.is_seal_valid(bytes.fromhex(item.entry.hash_hex), item.seal):
            continue
        transaction = item.entry.transaction
        states: list[Any] = [transaction.state]
        if transaction.kind == checkpoint.CHECKPOINT_KIND:  # a checkpoint holds the state of archived entries
            record: Any = transaction.record
            states.append(record["ledger"]["state"])
        roster_states += [
            RecordedRoster.of(state[STATE_KEY]) for state in states if state.get(STATE_KEY) is not None
        ]
