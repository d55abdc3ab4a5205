"""Journal entries about the staff roster, written while no machine runs: after a clear, and for a lost roster."""

import contextlib
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from egm.app.features import FEATURES
from egm.clock import SystemClock
from egm.config.cabinet_file import StateFolder
from egm.kernel.entries import EntryDeclaration
from egm.kernel.keys import KernelKey
from egm.kernel.own_entries import ActiveFault
from egm.people import RecordedRoster, Roster
from egm.people.recorded_roster import RECORDED_ROSTER_KEY
from egm.private_files import sync_folder
from egm.record_codec import to_json
from egm.staff.entries import ROSTER_CARRIED_OVER, ROSTER_RENEWED, RosterCarriedOver, RosterRenewed
from egm.staff.service.sign_in import STAFF_ROSTER_FAULT
from meters import Journal, Transaction
from meters.copies import SECOND_FOLDER
from meters.storage import Storage
from meters.transaction import JSON

_RecordT = TypeVar("_RecordT")


def carry_over_roster(
    roster: Roster,
    folder: Path,
    second_folder: Path | None,
    machine_id: str,
    *,
    now: Callable[[], datetime],
    storage: Storage | None = None,
) -> None:
    """Write again the staff roster that existed before a memory clear, and record it in the new journal.

    The roster file gets an HMAC of the machine's new key. If nobody was ever enrolled, do nothing.
    """
    if not roster.changes:
        return
    roster.write_to(StateFolder(folder).roster_file)
    last_change = roster.changes[-1]
    recorded_roster = RecordedRoster(last_change.number, roster.digest).to_json()
    with Journal.open(
        folder, now=now, second_folder=second_folder, machine_id=machine_id, storage=storage
    ) as journal:
        journal.append(
            _build_transaction(
                ROSTER_CARRIED_OVER,
                RosterCarriedOver(
                    change_number=last_change.number,
                    digest=roster.digest,
                    role_by_staff_number={
                        staff_number: person.role
                        for staff_number, person in roster.person_by_staff_number.items()
                    },
                    disabled_staff_numbers=tuple(
                        sorted(
                            staff_number
                            for staff_number, person in roster.person_by_staff_number.items()
                            if person.is_disabled
                        )
                    ),
                ),
                entry_id=f"staff-{last_change.number}-{roster.digest[:16]}",
                state={RECORDED_ROSTER_KEY: recorded_roster},
            )
        )


def renew_roster(folder: Path, second_folder: Path | None, details: Mapping[str, str]) -> None:
    """Start an empty staff roster on a machine whose roster is lost; ``details`` name the people and the reason.

    Remaining roster files are renamed and kept. Raises JournalError, also if the machine is running.
    """
    roster_path = StateFolder(folder).roster_file
    with Journal.open(folder, now=SystemClock().now, second_folder=second_folder) as journal:
        entry_number = journal.sequence + 1
        # Rename the files before writing the entry: it records an empty roster, so that from then on any roster file
        # that is found would be accepted, as at a first enrolment.
        for roster_file in (roster_path, (second_folder or folder / SECOND_FOLDER) / roster_path.name):
            with contextlib.suppress(FileNotFoundError):
                roster_file.rename(roster_file.with_name(f"{roster_file.name}.before-{entry_number}"))
                sync_folder(roster_file.parent)
        fault = ActiveFault(
            active_since=SystemClock().now().isoformat(),
            stops_play=True,
            cleared_by="technician",
            detail=details["reason"],
        )
        journal.append(
            _build_transaction(
                ROSTER_RENEWED,
                RosterRenewed(person=details["person"], witness=details["witness"], reason=details["reason"]),
                entry_id=f"staff-renewed-{entry_number}",
                state={
                    RECORDED_ROSTER_KEY: RecordedRoster().to_json(),
                    f"{KernelKey.FAULT}{STAFF_ROSTER_FAULT}": to_json(fault),
                },
            )
        )


def _build_transaction(
    declaration: EntryDeclaration[_RecordT], record: _RecordT, *, entry_id: str, state: Mapping[str, JSON]
) -> Transaction:
    """Return the transaction that writes one entry to the journal of a stopped machine.

    Raises EntryError if the record or state does not have the form declared for ``declaration``.
    """
    transaction = Transaction(
        id=entry_id, kind=declaration.kind, phase=declaration.phase, state=state, record=to_json(record)
    )
    declaration.check_transaction(transaction, FEATURES.storage_keys)
    return transaction
