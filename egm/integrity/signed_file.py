"""The signature of the cabinet file: once one has been signed, the machine plays only with a signed one.

The journal stores the digest and text of the file signed last, and who signed it. If the file in use differs at
the start, the machine stops until the file is restored or signed: at the machine by a form, or before the start
at a terminal (``egm cabinet sign``). Until the machine accepts it, a terminal's signature is a file next to the
journal, authenticated with the machine's key. No signature of a changed file is accepted while the machine has
money or a game of a player.

As long as no cabinet file has been signed, an unsigned one is accepted. If there is then a terminal's signature for
it, the machine records it even if its key does not authenticate it (the key may not have existed yet). If the
signature is not acceptable, for example because the signers are not authorised, the machine stops.
"""

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Self

from egm.config.cabinet_file import CabinetFile
from egm.errors import OperatorError
from egm.integrity.entries import CABINET_FILE_SIGNED, CabinetFileSigned, CabinetSignatureRecord
from egm.integrity.events import CabinetFileSignatureForm
from egm.integrity.keys import IntegrityKey
from egm.kernel.active_faults import raise_or_clear_fault
from egm.kernel.events import Event, EventType
from egm.kernel.machine import PositionMachine
from egm.kernel.rules import refusal_code
from egm.people import Permission, Roster
from egm.private_files import replace_private_file
from egm.staff.options import no_position_is_in_use
from meters import JournalError, JournalView
from meters.entry import encode_canonical_json
from meters.machine_key import MachineKey
from meters.recall import read_details
from meters.storage import DiskStorage

#: The code of the fault that is active while the cabinet file in use is not the one signed last.
#:
#: It is also active if none was ever signed and the terminal's signature cannot be accepted. It is cleared when the
#: signed file is restored or the one in use is signed.
CABINET_FILE_CHANGED_FAULT: Final = "cabinet_file_changed"
#: The field of the entry ``clear.kept`` with the text of the cabinet file signed before a memory clear.
SIGNED_CABINET_TEXT_FIELD: Final = "cabinet_text"
#: The signature's file name in the state folder.
SIGNATURE_FILE_NAME: Final = "cabinet.signature"
#: Included in the HMAC of a signature, so that it is valid for a cabinet file only.
_SIGNATURE_HMAC_PURPOSE: Final = b"cabinet file"


@dataclass(frozen=True, slots=True)
class CabinetFileSignature:
    """A signature of a cabinet file: the file's SHA-256, who signed it, why, and when."""

    digest: str
    persons: tuple[str, ...]
    reason: str
    at: str
    """The time of the signature, ISO 8601, UTC."""

    @classmethod
    def read(cls, path: Path) -> "tuple[Self, bool] | None":
        """Return the signature in the file ``path``, and whether this machine's key authenticates it.

        Return None if there is no such file. Raises OperatorError if the file is not a signature.
        """
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            stored_hmac = str(data.pop("seal"))
            signature = cls(**{**data, "persons": tuple(map(str, data["persons"]))})
            datetime.fromisoformat(signature.at)
            if not signature.reason.strip():
                raise ValueError("the reason of the signature is blank")
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, RecursionError, TypeError, AttributeError) as error:
            raise OperatorError(f"{path}: not a signature of a cabinet file: {error!r}") from error
        expected_hmac = signature._compute_hmac(path.parent)
        return signature, bool(expected_hmac) and hmac.compare_digest(expected_hmac, stored_hmac)

    def write(self, path: Path) -> None:
        """Write the signature to a file.

        It is authenticated with the machine's key, if the machine has one already. Raises OSError if the file cannot be
        written.
        """
        replace_private_file(path, json.dumps({**asdict(self), "seal": self._compute_hmac(path.parent)}))

    def _compute_hmac(self, folder: Path) -> str:
        """Return the signature's HMAC with the machine key in ``folder``, or "" if there is no intact key."""
        try:
            key = MachineKey.load(DiskStorage(), folder)
        except JournalError:
            return ""
        if key is None:
            return ""
        return hmac.new(
            key.derive_key(_SIGNATURE_HMAC_PURPOSE), encode_canonical_json(asdict(self)), "sha256"
        ).hexdigest()


@dataclass(frozen=True, slots=True)
class SignedCabinetFile:
    """The cabinet file that staff signed last: its text, its digest, and who signed it."""

    text: str
    digest: str
    persons: tuple[str, ...]


def find_last_signed_cabinet_file(journal: JournalView) -> SignedCabinetFile | None:
    """Return the cabinet file signed last, or None if none was ever signed.

    A file signed before an authorised memory clear counts.
    """
    entry = next(journal.entries((CABINET_FILE_SIGNED.kind, "clear.kept"), limit=1, newest_first=True), None)
    signature = journal.state(IntegrityKey.SIGNED_CABINET_FILE)
    text = (
        ""
        if entry is None
        else str(
            read_details(entry).get(
                "text" if entry.kind == CABINET_FILE_SIGNED.kind else SIGNED_CABINET_TEXT_FIELD, ""
            )
        )
    )
    if not text or not isinstance(signature, dict):
        return None
    return SignedCabinetFile(text, str(signature["digest"]), tuple(map(str, signature["persons"])))


@dataclass(frozen=True, slots=True)
class CabinetFileInUse:
    """The text of the cabinet file that the machine was started with; empty for a machine without one."""

    text: str = ""

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the cabinet file in use, or an empty string without one."""
        return compute_cabinet_file_digest(self.text) if self.text else ""


def compute_cabinet_file_digest(text: str) -> str:
    """Return the SHA-256 of a cabinet file's text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def check_cabinet_file_signature(machine: PositionMachine, file: CabinetFile, folder: Path) -> None:
    """Check at start-up that the cabinet file in use is the one signed last; otherwise raise a fault.

    If ``folder`` (the state folder) contains the terminal's signature of the cabinet file in use, that signature is
    accepted first if possible.
    """
    machine.install(CabinetFileInUse(file.text))
    digest, last_record = (
        compute_cabinet_file_digest(file.text),
        machine.memory.get(IntegrityKey.SIGNED_CABINET_FILE),
    )
    if not file.text:
        return
    path, signature, rejection_reason = folder / SIGNATURE_FILE_NAME, None, ""
    try:
        stored_signature = CabinetFileSignature.read(path)
        if stored_signature is not None:
            found_signature, is_authentic = stored_signature
            # Before the first signature the machine may have had no key to authenticate one with.
            if found_signature.digest == digest and (is_authentic or last_record is None):
                signature = found_signature
    except OperatorError as error:
        rejection_reason = str(error)
    if (
        signature is not None
        and last_record is not None
        and (last_record["at"], last_record["digest"]) == (signature.at, digest)
    ):
        path.unlink(missing_ok=True)  # accepted before a power loss
    elif signature is not None:
        rejection_reason = _find_rejection_reason(
            machine, signature, has_file_changed=last_record is None or last_record["digest"] != digest
        )
        if not rejection_reason:
            _record_signature(machine, signature.persons, signature.reason, signature.at)
            path.unlink(missing_ok=True)
            last_record = machine.memory.get(IntegrityKey.SIGNED_CABINET_FILE)
    # An empty reason clears the fault; any other is shown with it.
    if last_record is None:
        raise_or_clear_fault(machine, CABINET_FILE_CHANGED_FAULT, rejection_reason)
    else:
        raise_or_clear_fault(
            machine,
            CABINET_FILE_CHANGED_FAULT,
            "" if last_record["digest"] == digest else rejection_reason or digest[:16],
        )


def _find_rejection_reason(
    machine: PositionMachine, signature: CabinetFileSignature, *, has_file_changed: bool
) -> str:
    """Return why the terminal's signature of the cabinet file is not accepted now, or "" if it is.

    ``has_file_changed`` says whether the file differs from the one signed last. If not, it was only restored,
    and then money on the machine does not prevent the signature.
    """
    roster = machine.component(Roster)
    signers = [roster.find_enabled_person(number) for number in signature.persons]
    if not signers or not all(
        person is not None and person.has_permission(Permission.CONFIGURE) for person in signers
    ):
        return f"signed by {', '.join(signature.persons)}, who are not authorised to sign"
    if len(signers) < _count_persons_required(machine):
        return f"signed by {len(signers)} of the {_count_persons_required(machine)} persons required"
    is_player_owed = has_file_changed and not no_position_is_in_use(
        machine, Event(EventType.CABINET_FILE_SIGNED, CabinetFileSignatureForm())
    )
    return "credits" if is_player_owed else ""


def _count_persons_required(machine: PositionMachine) -> int:
    """Return the number of persons who must sign a cabinet file under this machine's profile."""
    return 2 if Permission.CONFIGURE in machine.profile.staff.two_person_permissions else 1


# ---------------------------------------------------------------------------------------------- by staff
@refusal_code("file_is_unsigned")
def cabinet_file_is_unsigned(machine: PositionMachine, _: Event) -> bool:
    """Return whether the cabinet file in use is not the one that was signed last."""
    record, in_use = machine.memory.get(IntegrityKey.SIGNED_CABINET_FILE), machine.component(CabinetFileInUse)
    return bool(in_use.text) and (record is None or record["digest"] != in_use.digest)


def sign_cabinet_file(machine: PositionMachine, event: Event) -> None:
    """Record that staff have signed the cabinet file in use."""
    form = event.read_payload(CabinetFileSignatureForm)
    signed_time = machine.clock.now().isoformat(timespec="seconds")
    _record_signature(machine, form.persons, form.reason, signed_time)
    raise_or_clear_fault(machine, CABINET_FILE_CHANGED_FAULT, "")


def _record_signature(
    machine: PositionMachine, persons: Sequence[str], reason: str, signed_time: str
) -> None:
    """Record that the cabinet file in use is signed, with its text and by whom."""
    last_record = machine.memory.get(IntegrityKey.SIGNED_CABINET_FILE)
    in_use = machine.component(CabinetFileInUse)
    machine.post(
        CABINET_FILE_SIGNED,
        CabinetFileSigned(
            digest=in_use.digest,
            persons=tuple(persons),
            signed_time=signed_time,
            reason=reason,
            previous_digest="" if last_record is None else last_record["digest"],
            text=in_use.text,
        ),
        state={
            IntegrityKey.SIGNED_CABINET_FILE: CabinetSignatureRecord(
                digest=in_use.digest, persons=tuple(persons), signed_time=signed_time
            )
        },
    )
