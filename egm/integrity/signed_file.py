"""Signed cabinet file: once persons have signed one, no other is played under before persons sign that.

The journal holds the digest of the file signed last, its text and who signed it. A file that is another at
the start stops the machine, until it is put back or persons sign it: at the machine, by the form, or before,
at a terminal (``egm cabinet sign``), whose signature lies beside the journal, sealed with the machine's key,
until the machine takes it up. Neither is taken while anything of a player's is on the machine. Where nobody
ever signed, nothing is held.
"""

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Self

from egm.config.cabinet_file import CabinetFile
from egm.errors import OperatorError
from egm.kernel.events import Event, EventType
from egm.kernel.machine import Machine
from egm.kernel.standing_faults import note_fault
from egm.people import Permission, Roster
from egm.records.keys import IntegrityKey
from egm.secret_files import replace_private
from egm.staff.options import nothing_is_owed
from meters import JournalError, JournalView
from meters.entry import canonical
from meters.keys import MachineKey
from meters.recall import details
from meters.storage import DiskStorage

FAULT: Final = "cabinet_file_changed"
"""Not the file that was signed last; ends when it is put back, or signed."""
KIND: Final = "cabinet.signed"
CABINET_TEXT: Final = "cabinet_text"
"""Field of the entry ``clear.kept`` with the text of the file signed before an authorised clear."""
#: The signature's name in the state folder.
FILE_NAME: Final = "cabinet.signature"
_SEAL_PURPOSE: Final = b"cabinet file"


@dataclass(frozen=True, slots=True)
class Signature:
    """Who stands behind a cabinet file; ``digest`` is SHA-256 of its bytes, ``at`` ISO 8601 UTC."""

    digest: str
    persons: tuple[str, ...]
    reason: str
    at: str

    @classmethod
    def read(cls, path: Path) -> "tuple[Self, bool] | None":
        """The signature of a state folder and whether this machine's key sealed it; None without one.

        Raises OperatorError for a file that is none.
        """
        try:
            kept = json.loads(path.read_text(encoding="utf-8"))
            seal = str(kept.pop("seal"))
            found = cls(**{**kept, "persons": tuple(map(str, kept["persons"]))})
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, RecursionError, TypeError, AttributeError) as error:
            raise OperatorError(f"{path}: not a signature of a cabinet file: {error!r}") from error
        expected = found._seal(path.parent)
        return found, bool(expected) and hmac.compare_digest(expected, seal)

    def write(self, path: Path) -> None:
        """Leave it for the machine, sealed with its key where there is one yet. Raises OSError."""
        replace_private(path, json.dumps({**asdict(self), "seal": self._seal(path.parent)}))

    def _seal(self, folder: Path) -> str:
        try:
            key = MachineKey.load(DiskStorage(), folder)
        except JournalError:
            return ""
        if key is None:
            return ""
        return hmac.new(key.derive(_SEAL_PURPOSE), canonical(asdict(self)), "sha256").hexdigest()


@dataclass(frozen=True, slots=True)
class SignedFile:
    """The cabinet file that persons signed last: its text, and by whom."""

    text: str
    digest: str
    persons: tuple[str, ...]


def last_signed_file(journal: JournalView) -> SignedFile | None:
    """Return the cabinet file signed last, also if that was before an authorised clear; None if there is none."""
    entry = next(journal.entries((KIND, "clear.kept"), limit=1, newest_first=True), None)
    stored: Any = journal.state(IntegrityKey.CABINET)
    text = (
        "" if entry is None else str(details(entry).get("text" if entry.kind == KIND else CABINET_TEXT, ""))
    )
    return SignedFile(text, stored["digest"], tuple(stored["persons"])) if text and stored else None


@dataclass(frozen=True, slots=True)
class FileInUse:
    """The cabinet file the machine was started with: its text, empty for a machine made without one."""

    text: str = ""

    @property
    def digest(self) -> str:
        """SHA-256 of the file; empty where there is none."""
        return digest_of(self.text) if self.text else ""


def digest_of(text: str) -> str:
    """SHA-256 of a cabinet file."""
    return hashlib.sha256(text.encode()).hexdigest()


def check_signed_file(machine: Machine, file: CabinetFile, folder: Path) -> None:
    """At start-up: the file is the one signed last, or signed since; else a fault says so."""
    machine.install(FileInUse(file.text))
    now, stored = digest_of(file.text), machine.memory.get(IntegrityKey.CABINET)
    if not file.text:
        return
    path, signed, why = folder / FILE_NAME, None, ""
    try:
        found = Signature.read(path)
        if found is not None and found[0].digest == now and (found[1] or stored is None):
            signed = found[0]
    except OperatorError as error:
        why = str(error)
    if signed is not None and stored is not None and (stored["at"], stored["digest"]) == (signed.at, now):
        path.unlink(missing_ok=True)  # taken up before a power cut
    elif signed is not None:
        why = _refusal(machine, signed, changes=stored is None or stored["digest"] != now)
        if not why:
            _record(machine, signed.persons, signed.reason, signed.at)
            path.unlink(missing_ok=True)
            stored = machine.memory.get(IntegrityKey.CABINET)
    if stored is None:
        note_fault(machine, FAULT, why)
    else:
        note_fault(machine, FAULT, "" if stored["digest"] == now else why or now[:16])


def _refusal(machine: Machine, signed: Signature, *, changes: bool) -> str:
    """Why a signature left for the machine is not taken now; empty where it is.

    A file put back as it was ``changes`` nothing, whatever is on the machine.
    """
    roster = machine.state(Roster)
    people = [roster.get(number) for number in signed.persons]
    if not people or not all(person is not None and person.may(Permission.CONFIGURE) for person in people):
        return f"signed by {', '.join(signed.persons)}, who may not"
    if len(people) < _persons(machine):
        return f"signed by {len(people)}; {_persons(machine)} must"
    owed = changes and not nothing_is_owed(machine, Event(EventType.FILE_SIGNED))
    return "credits" if owed else ""


def _persons(machine: Machine) -> int:
    return 2 if Permission.CONFIGURE in machine.profile.staff.two_persons else 1


# ---------------------------------------------------------------------------------------------- by persons
def file_is_unsigned(machine: Machine, _: Event) -> bool:
    """The cabinet file in use is not the one that was signed last."""
    stored, in_use = machine.memory.get(IntegrityKey.CABINET), machine.state(FileInUse)
    return bool(in_use.text) and (stored is None or stored["digest"] != in_use.digest)


def sign_file(machine: Machine, event: Event) -> None:
    """Persons stand for the file in use."""
    at = machine.clock.now().isoformat(timespec="seconds")
    _record(machine, event.data["persons"], str(event.data["reason"]), at)
    note_fault(machine, FAULT, "")


def _record(machine: Machine, persons: Sequence[str], reason: str, at: str) -> None:
    stored, in_use = machine.memory.get(IntegrityKey.CABINET), machine.state(FileInUse)
    by = {"digest": in_use.digest, "persons": list(persons), "at": at}
    details: dict[str, object] = {
        **by,
        "reason": reason,
        "before": "" if stored is None else stored["digest"],
        "text": in_use.text,
    }
    machine.record(KIND, state={IntegrityKey.CABINET: by}, details=details)
