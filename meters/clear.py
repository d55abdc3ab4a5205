"""Authorised clear of a memory that cannot be repaired: it starts a new journal that owes what the old one owed.

The old memory is moved aside as evidence; nothing is deleted. The first entry of the new journal records who
cleared what and why; its next entries settle or carry over each amount owed (A-05, A-20, A-21). The caller
decides what is owed and how it is carried over: this module knows nothing of a cabinet. The whole procedure is
stored as a plan before anything is moved, and the machine stays stopped until the last step is done:
:func:`finish_memory_clear` completes a clear that was interrupted at any point.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from meters import stop_flag
from meters.archive import ARCHIVE_FOLDER
from meters.copies import SECOND_FOLDER
from meters.database import DATABASE_FILE_NAME
from meters.entry import build_entry_content, decode_transaction, encode_canonical_json
from meters.errors import JournalDamaged, JournalError, JournalUnwritable
from meters.identifiers import INDEX_SUFFIX
from meters.journal import Journal
from meters.journal_head import JOURNAL_HEAD_FILE_NAME
from meters.lock import FolderLock
from meters.log import LOG_SUFFIX
from meters.machine_key import KEY_FILE_NAME, MachineKey
from meters.policy import JournalPolicy
from meters.salvage import IgnoringVisitor, JournalInspection, SalvagedJournal, inspect_journal
from meters.segment import SEGMENT_SUFFIX
from meters.storage import DiskStorage, Storage, read_file, replace_file
from meters.transaction import JSON, Transaction

__all__ = [
    "ClearRefused",
    "Clearance",
    "JournalInspection",
    "SalvagedJournal",
    "clear_memory",
    "finish_memory_clear",
    "inspect_journal",
    "is_clear_unfinished",
]

#: Name of the folder with the evidence of memory clears.
CLEARED_FOLDER: Final = "cleared"
#: Name of the file in the state folder with the plan of an authorised clear, until the clear is completed.
CLEAR_PLAN_FILE_NAME: Final = "clear.plan"
#: The account from which amounts carried over come.
CARRIED_OVER_ACCOUNT: Final = "house:carried_over"


class ClearRefused(JournalError):
    """Raised if the memory clear is not authorised, does not account for the credit owed, or may not run now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clearance:
    """Authorisation of a memory clear: two people, the reason, the inspection, and how each owed amount is handled.

    The credit in ``accounted_credit_cents`` must equal the credit found in the first copy, in the second, or in both
    read together.
    """

    person: str
    """The first person who authorises the clear."""
    second_person: str
    """The second person who authorises the clear."""
    reason: str
    """Why the memory is cleared."""
    challenge: str
    """The value of :attr:`JournalInspection.challenge` for the memory that the two people inspected."""
    opening_transactions: Sequence[Transaction] = ()
    """The second and further entries of the new journal, which settle or carry over each amount owed."""
    claims_record: Mapping[str, JSON] | None = None
    """What the first entry of the new journal records about the amounts owed; None: nothing."""
    accounted_credit_cents: int = 0
    """The credit that ``opening_transactions`` accounts for, in minor units."""


def clear_memory(
    state_folder: Path,
    clearance: Clearance,
    *,
    now: Callable[[], datetime],
    second_folder: Path | None = None,
    machine_id: str = "",
    policy: JournalPolicy | None = None,
    storage: Storage | None = None,
) -> Path:
    """Move the machine's whole memory aside and start a new journal; return the folder of the evidence.

    Raises :class:`ClearRefused` if the clearance does not name two people and a reason, does not quote the
    inspection's challenge, does not account for the credit exactly, or if another clear was started and not completed.
    """
    medium = storage or DiskStorage()
    second_copy_folder = second_folder or state_folder / SECOND_FOLDER
    locks = [FolderLock(folder) for folder in dict.fromkeys((state_folder, second_copy_folder))]
    try:
        if medium.exists(state_folder / CLEAR_PLAN_FILE_NAME):
            raise ClearRefused(
                "another clear was started and not completed: complete it first with `egm audit clear`"
            )
        inspection: JournalInspection[IgnoringVisitor] = inspect_journal(
            state_folder, second_folder=second_copy_folder, storage=medium
        )
        _check_clearance(clearance, inspection)
        evidence_name = f"{now().astimezone(UTC):%Y%m%dT%H%M%SZ}-{inspection.challenge}"
        memory_clear_record: dict[str, JSON] = {
            "person": clearance.person,
            "second_person": clearance.second_person,
            "reason": clearance.reason,
            "evidence": evidence_name,
            "before": inspection.to_json(),
            **(clearance.claims_record or {}),
            "opening": [
                [transaction.id, compute_transaction_digest(transaction)]
                for transaction in clearance.opening_transactions
            ],
        }
        opening = [build_entry_content(transaction) for transaction in clearance.opening_transactions]
        plan = {"origin": memory_clear_record, "opening": opening, "machine_id": machine_id, "moved": False}
        # Stop the machine first: without the plan, its memory is unchanged except for this flag.
        stop_flag.write_stop_flag(
            medium,
            (state_folder, second_copy_folder),
            f"the clear {evidence_name} was started and not completed",
        )
        replace_file(medium, state_folder / CLEAR_PLAN_FILE_NAME, encode_canonical_json(plan))
    finally:
        for lock in locks:
            lock.release()
    return finish_memory_clear(
        state_folder, now=now, second_folder=second_copy_folder, policy=policy, storage=medium
    )


def is_clear_unfinished(state_folder: Path, storage: Storage | None = None) -> bool:
    """Return whether a memory clear was started in ``state_folder`` and not completed."""
    return (storage or DiskStorage()).exists(state_folder / CLEAR_PLAN_FILE_NAME)


def finish_memory_clear(
    state_folder: Path,
    *,
    now: Callable[[], datetime],
    second_folder: Path | None = None,
    policy: JournalPolicy | None = None,
    storage: Storage | None = None,
) -> Path:
    """Complete a memory clear that was started; return the folder of the evidence.

    It may be called again after any interruption. Raises :class:`ClearRefused` if no clear was started.
    """
    medium = storage or DiskStorage()
    second_copy_folder = second_folder or state_folder / SECOND_FOLDER
    plan = _read_plan(medium, state_folder)
    memory_clear_record: dict[str, Any] = plan["origin"]
    evidence: Path = state_folder / CLEARED_FOLDER / memory_clear_record["evidence"]
    if not plan["moved"]:
        locks = [FolderLock(folder) for folder in dict.fromkeys((state_folder, second_copy_folder))]
        try:
            _move_all(medium, state_folder, second_copy_folder, evidence, memory_clear_record)
            replace_file(
                medium, state_folder / CLEAR_PLAN_FILE_NAME, encode_canonical_json({**plan, "moved": True})
            )
        finally:
            for lock in locks:
                lock.release()
    with Journal.open(
        state_folder,
        now=now,
        second_folder=second_copy_folder,
        machine_id=plan["machine_id"],
        policy=policy,
        storage=medium,
        memory_clear_record=memory_clear_record,
    ) as journal:
        for stored_transaction in plan["opening"]:
            journal.append(decode_transaction(stored_transaction))
        if not medium.exists(evidence / "after.json"):
            state_after: dict[str, JSON] = {"head": journal.head_hash, "meters": journal.meters().values}
            replace_file(medium, evidence / "after.json", encode_canonical_json(state_after))
    # The new journal now has every claim, so remove the stop flag; until here, a restart would stop again. Remove
    # the plan after the flag: if the power fails in between, the clear is resumed and changes nothing.
    _move_files_aside(
        medium,
        second_copy_folder,
        second_copy_folder / CLEARED_FOLDER / evidence.name,
        (stop_flag.STOP_FILE_NAME,),
    )
    _move_files_aside(medium, state_folder, evidence, (stop_flag.STOP_FILE_NAME,))
    _move_files_aside(medium, state_folder, evidence, (CLEAR_PLAN_FILE_NAME,))
    return evidence


def compute_transaction_digest(transaction: Transaction) -> str:
    """Return the SHA-256 of a transaction's content.

    The first entry of the new journal after a clear has this digest of each entry that must follow it.
    """
    return hashlib.sha256(encode_canonical_json(build_entry_content(transaction))).hexdigest()


def _read_plan(storage: Storage, state_folder: Path) -> dict[str, Any]:
    """Return the stored plan of a memory clear that was started. Raises :class:`ClearRefused` if none exists."""
    data = read_file(storage, state_folder / CLEAR_PLAN_FILE_NAME)
    if data is None:
        raise ClearRefused(f"{state_folder}: no clear was started")
    try:
        plan: dict[str, object] = json.loads(data)
    except ValueError as error:
        raise ClearRefused(
            f"{state_folder / CLEAR_PLAN_FILE_NAME}: not the plan of a clear: {error}"
        ) from error
    return plan


def _move_all(
    storage: Storage,
    state_folder: Path,
    second_folder: Path,
    evidence_folder: Path,
    memory_clear_record: Mapping[str, object],
) -> None:
    """Move the old memory and its archive aside, into one folder on each medium, and store ``memory_clear_record``.

    ``evidence_folder`` is the folder on the first medium, which also gets ``memory_clear_record``: who cleared the
    memory and why, and what could be read of it. An intact machine key is not moved. Files already moved by an
    interrupted attempt stay where they are.
    """
    storage.make_folder(evidence_folder)
    replace_file(storage, evidence_folder / "before.json", encode_canonical_json(memory_clear_record))
    _move_files_aside(
        storage,
        second_folder,
        second_folder / CLEARED_FOLDER / evidence_folder.name,
        (LOG_SUFFIX, JOURNAL_HEAD_FILE_NAME),
    )
    _move_files_aside(
        storage,
        state_folder,
        evidence_folder,
        (DATABASE_FILE_NAME, "-wal", "-shm", ".sums", JOURNAL_HEAD_FILE_NAME),
    )
    archive_file_suffixes = (SEGMENT_SUFFIX, INDEX_SUFFIX, ".new")
    for folder, aside in (
        (second_folder, second_folder / CLEARED_FOLDER / evidence_folder.name),
        (state_folder, evidence_folder),
    ):
        if storage.list_names(folder / ARCHIVE_FOLDER):
            _move_files_aside(storage, folder / ARCHIVE_FOLDER, aside / ARCHIVE_FOLDER, archive_file_suffixes)
    if not _is_key_intact(storage, state_folder, second_folder):
        _move_files_aside(
            storage, second_folder, second_folder / CLEARED_FOLDER / evidence_folder.name, (KEY_FILE_NAME,)
        )
        _move_files_aside(storage, state_folder, evidence_folder, (KEY_FILE_NAME,))


def _check_clearance(clearance: Clearance, inspection: JournalInspection[Any]) -> None:
    """Raise :class:`ClearRefused` unless the clearance has two people, a reason, the challenge and the exact credit."""
    persons = {clearance.person.strip(), clearance.second_person.strip()}
    if "" in persons or len(persons) != 2:
        raise ClearRefused("a clear needs two different people")
    if not clearance.reason.strip():
        raise ClearRefused("a clear needs a reason")
    if clearance.challenge != inspection.challenge:
        raise ClearRefused(
            "the stored data has changed since it was inspected: inspect it again with `egm audit inspect`"
        )
    credits_found = sorted(
        {
            reading.credits_cents
            for reading in (inspection.first_reading, inspection.second_reading, inspection.best_reading)
        }
    )
    if clearance.accounted_credit_cents not in credits_found:
        raise ClearRefused(
            f"the machine may owe the player {' or '.join(map(str, credits_found))} cents of credit,"
            f" but {clearance.accounted_credit_cents} are accounted for: settle or carry over each claim"
        )
    carried_over_transfers = [
        transfer
        for transaction in clearance.opening_transactions
        for transfer in transaction.transfers
        if transfer.source == CARRIED_OVER_ACCOUNT
    ]
    carried_cents = sum(transfer.amount_cents for transfer in carried_over_transfers)
    if carried_cents > clearance.accounted_credit_cents:
        raise ClearRefused(
            f"{carried_cents} cents would be carried over, but only {clearance.accounted_credit_cents} are owed"
        )


def _move_files_aside(storage: Storage, folder: Path, target: Path, name_endings: tuple[str, ...]) -> None:
    """Move the files of ``folder`` whose names have one of these endings into the folder ``target``, durably."""
    storage.make_folder(target)
    for name in storage.list_names(folder):
        if name.endswith(name_endings):
            _move_file(storage, folder / name, target / name)
    storage.sync_folder(target)
    storage.sync_folder(folder)


def _move_file(storage: Storage, old_path: Path, new_path: Path) -> None:
    """Rename a file; if the new name is on another medium, copy the file and remove the old one."""
    try:
        storage.rename(old_path, new_path)
    except JournalUnwritable:  # the archive may be on another medium
        replace_file(storage, new_path, read_file(storage, old_path) or b"")
        storage.remove(old_path)


def _is_key_intact(storage: Storage, *folders: Path) -> bool:
    """Return whether an intact machine key can be read from one of the folders."""
    try:
        return MachineKey.load(storage, *folders) is not None
    except JournalDamaged:
        return False
