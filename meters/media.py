"""The two media of a machine's memory, each with a label, so that a missing or exchanged medium is recognised.

A label names the machine, says whether this is the first or the second medium, and has two random ids: that of its
own medium and that of the other one. The labels decide how the memory opens:

* Each label names the other medium: normal operation.
* The first medium is blank and the second is this machine's: the first is rebuilt from the second.
* The second medium is absent, blank, a different machine's, or one that has since been replaced: it is left
  untouched. (If it is not mounted, its folder is an empty mount point on another disk, where nothing may be
  written.) If the caller permits it, the machine runs on the first medium until the second is back or a person states
  that a new one replaces it (:func:`replace_second`); otherwise :class:`MediumMissing` is raised.
* A second folder inside the state folder is not a separate medium: its lost files are rebuilt. If all of them are
  gone, it counts as a replaced medium, and a technician must confirm the replacement.

A label is no proof. The authenticity of a copy is verified from its entries.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Self

from meters.errors import JournalDamaged, JournalUnwritable
from meters.machine_key import KEY_FILE_NAME, MachineKey
from meters.memory_findings import MemoryFinding, MemoryFindingKind
from meters.mirror import MirroredValue
from meters.storage import Storage

#: File name of the label.
LABEL_FILE_NAME: Final = "medium.json"
#: The name of the second medium in messages.
SECOND_MEDIUM_NAME: Final = "second medium"
#: The stored keys of a label's fields that are stored under another name.
_STORED_KEY_BY_FIELD: Final = {
    "machine_fingerprint": "machine",
    "name": "which",
    "other_medium_id": "beside",
    "pairing_number": "pairing",
    "inserted_by": "put_in_by",
}
#: The field of a label by the stored key, for the fields that are stored under another name.
_FIELD_BY_STORED_KEY: Final = {key: name for name, key in _STORED_KEY_BY_FIELD.items()}
#: What the label of a rebuilt first medium states instead of a person.
_NO_PERSON_DECLARED: Final = "nobody has declared it"


class MediumName(StrEnum):
    """Names of the machine's two storage media: the first contains the database, the second the log."""

    FIRST = "first"
    SECOND = "second"


@dataclass(frozen=True, slots=True)
class MediumLabel:
    """The label on one of the machine's two storage media."""

    machine_fingerprint: str
    """The fingerprint of the machine's key."""
    machine_id: str
    """The serial number of the machine."""
    name: MediumName
    """Whether this is the first or the second medium."""
    id: str
    """The random id of the medium, 16 hexadecimal digits."""
    other_medium_id: str
    """The random id of the machine's other medium, with which this medium forms a pair."""
    pairing_number: int = 1
    """The number of this pair of media: 1 for the machine's first pair, one more at each replacement of a medium."""
    inserted_by: str = ""
    """Who inserted the medium as a new one; empty once it has been filled with the machine's memory."""

    @classmethod
    def read(cls, storage: Storage, folder: Path) -> "Self | None":
        """Return the label of the medium in ``folder``, or None if it has no intact label.

        Raises :class:`JournalUnwritable` if the medium cannot be read.
        """
        try:
            data = MirroredValue(storage, (folder,), LABEL_FILE_NAME).read(repair=False)
            return None if data is None else cls._from_stored(json.loads(data))
        except (JournalDamaged, ValueError, TypeError, KeyError, RecursionError):
            return None

    @classmethod
    def _from_stored(cls, stored_label: Mapping[str, Any]) -> Self:
        """Return the medium's label, built from the JSON that is stored on the medium."""
        fields = {_FIELD_BY_STORED_KEY.get(key, key): value for key, value in stored_label.items()}
        return cls(**{**fields, "name": MediumName(fields["name"])})

    def write(self, storage: Storage, folder: Path) -> None:
        """Write the label to the medium in ``folder``, durably."""
        label_file = MirroredValue(storage, (folder,), LABEL_FILE_NAME)
        if MediumLabel.read(storage, folder) is None:
            label_file.remove()  # a damaged label is worthless
        stored_label = {_STORED_KEY_BY_FIELD.get(name, name): value for name, value in asdict(self).items()}
        label_file.write(json.dumps(stored_label, indent=1).encode())


@dataclass(frozen=True, slots=True)
class MediaPairing:
    """The pairing of the machine's two storage media: whether and how they belong together, as their labels show."""

    journal_exists: bool = False
    """Whether a journal was started on these media."""
    second_medium_error: str = ""
    """Why the second medium cannot be used; empty if it can."""
    must_refill_second: bool = False
    """Whether the second medium is new, so that its content must be replaced by that of the first."""
    label_for_blank_first_medium: MediumLabel | None = None
    """The label to write on a blank first medium before it is filled from the second; None if it is not blank."""
    findings: tuple[MemoryFinding, ...] = ()
    """What was found about the media, for the event log."""


def find_pairing(storage: Storage, state_folder: Path, second_folder: Path, machine_id: str) -> MediaPairing:
    """Return how the machine's two media belong together, from their labels; nothing is written.

    If the second medium cannot be used, the result says why.

    Raises:
        JournalDamaged: The memory belongs to a different machine.
        JournalUnwritable: The first medium cannot be read, the media are swapped, or they were never used together.
    """
    first_label = MediumLabel.read(storage, state_folder)
    try:
        second_label = MediumLabel.read(storage, second_folder)
        has_key = storage.exists(second_folder / KEY_FILE_NAME)
    except JournalUnwritable as error:
        return MediaPairing(journal_exists=first_label is not None, second_medium_error=str(error))
    # If only the second medium belongs to a different machine, that is no error: it is not used (see _pair_labels).
    if first_label is not None:
        _check_machine(first_label, state_folder, machine_id)
    elif second_label is not None:
        _check_machine(second_label, second_folder, machine_id)
    if first_label is not None and second_label is not None:
        return _pair_labels(first_label, second_label, state_folder, second_folder)
    if first_label is not None:
        return _pair_without_second_label(storage, state_folder, second_folder, has_key=has_key)
    if second_label is not None:
        return _pair_without_first(storage, second_label, state_folder, second_folder)
    return MediaPairing()


def _pair_without_second_label(
    storage: Storage, state_folder: Path, second_folder: Path, *, has_key: bool
) -> MediaPairing:
    """Return the pairing if only the first medium has a label: the second may be new, or its label lost."""
    is_inside = state_folder in second_folder.parents
    if has_key and (is_inside or _have_same_key(storage, state_folder, second_folder)):
        return MediaPairing(journal_exists=True)
    if is_inside:
        reason = "it was emptied, and is made again from the first medium"
        return MediaPairing(
            journal_exists=True,
            findings=(MemoryFinding(MemoryFindingKind.MEDIUM_REPLACED, SECOND_MEDIUM_NAME, reason),),
        )
    return MediaPairing(
        journal_exists=True, second_medium_error=f"{second_folder}: contains no medium of this machine"
    )


def _check_machine(label: MediumLabel, folder: Path, machine_id: str) -> None:
    """Raise :class:`JournalDamaged` if a medium's label names a machine other than ``machine_id``."""
    if machine_id and label.machine_id and label.machine_id != machine_id:
        raise JournalDamaged(
            str(folder), f"the medium belongs to machine {label.machine_id}, not {machine_id}"
        )


def _pair_labels(
    first_label: MediumLabel, second_label: MediumLabel, state_folder: Path, second_folder: Path
) -> MediaPairing:
    """Return the pairing of two media that both have a label.

    Raises :class:`JournalUnwritable` if they are swapped or were never used together.
    """
    if (first_label.name, second_label.name) == (MediumName.SECOND, MediumName.FIRST):
        raise JournalUnwritable(f"the media in {state_folder} and {second_folder} are swapped: exchange them")
    if (
        second_label.machine_fingerprint != first_label.machine_fingerprint
        or second_label.name is not MediumName.SECOND
    ):
        owner = second_label.machine_id or second_label.machine_fingerprint
        return MediaPairing(
            journal_exists=True,
            second_medium_error=f"{second_folder}: the medium is the {second_label.name} of machine {owner}",
        )
    if second_label.inserted_by and second_label.other_medium_id == first_label.id:
        reason = f"a new one, put in by {second_label.inserted_by}"
        finding = MemoryFinding(MemoryFindingKind.MEDIUM_REPLACED, SECOND_MEDIUM_NAME, reason)
        return MediaPairing(journal_exists=True, must_refill_second=True, findings=(finding,))
    if first_label.inserted_by and first_label.other_medium_id == second_label.id:
        return MediaPairing(journal_exists=True, findings=(_build_replaced_first_finding(first_label),))
    if _are_paired(first_label, second_label):
        return MediaPairing(journal_exists=True)
    if first_label.pairing_number == second_label.pairing_number:
        raise JournalUnwritable(f"the media in {state_folder} and {second_folder} were never used together")
    if first_label.pairing_number > second_label.pairing_number:
        return MediaPairing(
            journal_exists=True,
            second_medium_error=f"{second_folder}: the medium was replaced since it was last used",
        )
    reason = "it was replaced since it was last used"
    return MediaPairing(
        journal_exists=True,
        findings=(MemoryFinding(MemoryFindingKind.MEDIUM_REPLACED, "first medium", reason),),
    )


def _are_paired(first_label: MediumLabel, second_label: MediumLabel) -> bool:
    """Return whether each label names the other medium and both have the same pairing number."""
    return (first_label.other_medium_id, second_label.other_medium_id, first_label.pairing_number) == (
        second_label.id,
        first_label.id,
        second_label.pairing_number,
    )


def _pair_without_first(
    storage: Storage, second_label: MediumLabel, state_folder: Path, second_folder: Path
) -> MediaPairing:
    """Return the pairing if only the second medium has a label: the first may be new, or its label lost.

    Raises :class:`JournalUnwritable` if the media belong to two machines.
    """
    if second_label.name is not MediumName.SECOND:
        raise JournalUnwritable(
            f"{second_folder}: expected the second medium of a machine, found one labelled {second_label.name.value!r}"
        )
    if storage.exists(state_folder / KEY_FILE_NAME):
        if not _have_same_key(storage, state_folder, second_folder):
            raise JournalUnwritable(f"{state_folder} and {second_folder} contain media of different machines")
        return MediaPairing(journal_exists=True)
    rebuilt_label = MediumLabel(
        second_label.machine_fingerprint,
        second_label.machine_id,
        MediumName.FIRST,
        create_medium_id(storage),
        second_label.id,
        second_label.pairing_number,
        _NO_PERSON_DECLARED,
    )
    return MediaPairing(
        journal_exists=True,
        label_for_blank_first_medium=rebuilt_label,
        findings=(_build_replaced_first_finding(rebuilt_label),),
    )


def _build_replaced_first_finding(first_label: MediumLabel) -> MemoryFinding:
    """Return a finding for the event log: the first medium was replaced, and is copied from the second."""
    reason = f"it was blank ({first_label.inserted_by}), and is made again from the second medium"
    return MemoryFinding(MemoryFindingKind.MEDIUM_REPLACED, "first medium", reason)


def _have_same_key(storage: Storage, state_folder: Path, second_folder: Path) -> bool:
    """Return whether the machine's key can be read from the two media and is the same on both."""
    try:
        return MachineKey.load(storage, state_folder, second_folder) is not None
    except JournalDamaged:
        return False


def write_labels(storage: Storage, folders: tuple[Path, ...], key: MachineKey, machine_id: str) -> None:
    """Write the label of each of the two media so that it names the other one.

    Call this once the copies are intact and equal. If one medium is new, the older one is labelled first: if
    the power fails between the two writes, the new medium is still recognised as new.
    """
    if len(folders) != len(MediumName):
        return
    stored_labels = [MediumLabel.read(storage, folder) for folder in folders]
    old_labels = [
        label if label is not None and label.machine_fingerprint == key.fingerprint else None
        for label in stored_labels
    ]
    ids = [create_medium_id(storage) if label is None else label.id for label in old_labels]
    first_label, second_label = old_labels
    pairing_number = max((label.pairing_number for label in old_labels if label is not None), default=1)
    is_second_new = second_label is not None and bool(second_label.inserted_by)
    if (
        first_label is not None
        and second_label is not None
        and not is_second_new
        and not _are_paired(first_label, second_label)
    ):
        pairing_number += 1
    for index in (0, 1) if is_second_new else (1, 0):
        old_label = old_labels[index]
        known_machine_id = machine_id or ("" if old_label is None else old_label.machine_id)
        new_label = MediumLabel(
            key.fingerprint,
            known_machine_id,
            tuple(MediumName)[index],
            ids[index],
            ids[1 - index],
            pairing_number,
        )
        if new_label != old_label:
            new_label.write(storage, folders[index])


def create_medium_id(storage: Storage) -> str:
    """Return a new random id for a storage medium: 16 hexadecimal digits."""
    return storage.random_bytes(8).hex()


def replace_second(
    storage: Storage, state_folder: Path, second_folder: Path, inserted_by: str
) -> MediumLabel:
    """Label the medium in ``second_folder`` as the new second medium; the machine fills it at its next start.

    ``inserted_by`` names who declares it and why. Raises :class:`JournalDamaged` if nobody is named, if the first
    medium has no label, or if the medium in ``second_folder`` is in use: it belongs to a different machine, or is
    the current second medium of this one.
    """
    first_label = MediumLabel.read(storage, state_folder)
    if first_label is None or not inserted_by.strip():
        raise JournalDamaged(
            str(state_folder),
            "the second medium can be replaced only if the first medium has a label and the person is named",
        )
    old_label = MediumLabel.read(storage, second_folder)
    if old_label is not None and (
        old_label.machine_fingerprint != first_label.machine_fingerprint
        or old_label.id == first_label.other_medium_id
    ):
        owner = old_label.machine_id or old_label.machine_fingerprint
        raise JournalDamaged(
            str(second_folder), f"the medium is in use as the {old_label.name} of machine {owner}"
        )
    new_label = MediumLabel(
        first_label.machine_fingerprint,
        first_label.machine_id,
        MediumName.SECOND,
        create_medium_id(storage),
        first_label.id,
        first_label.pairing_number + 1,
        inserted_by,
    )
    storage.make_folder(second_folder)
    new_label.write(storage, second_folder)
    return new_label
