"""The roster: everybody enrolled on one machine, in a file of its state folder that only the machine's user can read.

The file also contains every change ever made to the roster, numbered, with its author and the digest of the
whole roster after that change. Only the machine writes the journal: at its start and at every sign-in it copies new
changes from the file into the journal, so people can be enrolled while it runs. :mod:`egm.people.recorded_roster`
decides whether the file is trusted. A machine without the file has no staff: nobody can sign in.

The file is authenticated by an HMAC made with the machine key, if that key is in the folder of one of the two copies.
So changes that are not yet in the journal can be distinguished from a forgery.
"""

import fcntl
import hashlib
import hmac
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from egm.errors import OperatorError
from egm.people.person import STAFF_NUMBER_PATTERN, Person
from egm.people.pins import UNMATCHABLE_PIN_DIGEST, PinDigest
from egm.people.roles import Permission, Role
from egm.private_files import replace_private_file
from egm.record_codec import RecordError, from_json, stored_as, to_json
from meters.entry import encode_canonical_json
from meters.errors import JournalError
from meters.machine_key import MachineKey
from meters.storage import DiskStorage

#: The format number of the roster files written now.
ROSTER_FORMAT: Final = 2
#: The number of the first format of the roster file, which had no digests and no HMAC.
_UNAUTHENTICATED_ROSTER_FORMAT: Final = 1
#: Included in the HMAC of a roster, so that it is valid for a roster only.
_ROSTER_HMAC_PURPOSE: Final = b"roster"
#: The longest name of a person, in characters.
_PERSON_NAME_LENGTH_MAX: Final = 60


class RosterError(OperatorError):
    """Raised if a staff roster cannot be read or changed as requested; the text says which file and why."""


class RosterDamaged(RosterError):
    """Raised if a roster file cannot be read or is not a roster; another copy may be intact."""


@dataclass(frozen=True, slots=True)
class RosterChange:
    """One change of the staff roster, as the file stores it."""

    number: int
    """The running number of the change, from 1."""
    changed_at: str = field(metadata=stored_as("at"))
    """The time of the change, ISO 8601."""
    changed_by: str = field(metadata=stored_as("by"))
    """The staff number of the author; empty for the first change, ``demonstration`` for a demonstration's staff."""
    change_kind: str = field(metadata=stored_as("what"))
    """The kind of change: ``added``, ``disabled``, ``enabled`` or ``pin``."""
    staff_number: str = field(metadata=stored_as("person"))
    """The staff number of the person whom the change concerns."""
    role: str
    """The role of that person after the change."""
    digest: str = ""
    """SHA-256 of the whole roster after the change, hexadecimal; empty in files of the first format."""


@dataclass(frozen=True, slots=True)
class Roster:
    """The staff roster: the people who work on the machine, as read from the roster file.

    Methods that change the roster write the file and return the new roster.
    """

    path: Path | None = None
    person_by_staff_number: Mapping[str, Person] = field(default_factory=dict)
    pin_digest_by_staff_number: Mapping[str, PinDigest] = field(default_factory=dict)
    changes: tuple[RosterChange, ...] = ()
    is_authenticated: bool = field(default=False, compare=False)
    """Whether the HMAC of the roster file is the one that the machine key gives."""
    second_copy_path: Path | None = field(default=None, compare=False)
    """The path of the roster's second copy, or None."""

    @classmethod
    def load(cls, path: Path, second_copy_path: Path | None = None) -> "Roster":
        """Return the staff roster in a file, or an empty one if there is no such file.

        Raises :class:`RosterError` if the file cannot be read, is not a roster of the present format, or was altered.
        """
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return cls(path, second_copy_path=second_copy_path)
        except (OSError, UnicodeDecodeError) as error:
            raise RosterDamaged(f"{path}: cannot be read: {error}") from error
        try:
            roster_data = json.loads(text)
            if roster_data["format"] not in {ROSTER_FORMAT, _UNAUTHENTICATED_ROSTER_FORMAT}:
                raise RosterError(f"{path}: format {roster_data['format']!r} is not {ROSTER_FORMAT}")
            person_by_staff_number = {
                staff_number: Person(
                    staff_number,
                    stored_person["name"],
                    Role(stored_person["role"]),
                    bool(stored_person["disabled"]),
                )
                for staff_number, stored_person in roster_data["people"].items()
            }
            pin_digest_by_staff_number = {
                staff_number: PinDigest(**stored_person["pin"])
                for staff_number, stored_person in roster_data["people"].items()
            }
            changes = tuple(
                from_json(RosterChange, change, "a change of the roster") for change in roster_data["changes"]
            )
            stored_hmac = str(roster_data.get("seal", ""))
        except (ValueError, KeyError, RecursionError, TypeError, AttributeError, RecordError) as error:
            raise RosterDamaged(f"{path}: not a roster: {error!r}") from error
        roster = cls(
            path,
            person_by_staff_number,
            pin_digest_by_staff_number,
            changes,
            second_copy_path=second_copy_path,
        )
        if changes and roster_data["format"] == _UNAUTHENTICATED_ROSTER_FORMAT:
            roster = replace(
                roster, changes=(*changes[:-1], replace(changes[-1], digest=_compute_digest(roster)))
            )
        if roster.digest != _compute_digest(roster):
            raise RosterError(f"{path}: was altered by something other than this program")
        expected_hmac = _compute_hmac(roster)
        return replace(
            roster, is_authenticated=bool(expected_hmac) and hmac.compare_digest(expected_hmac, stored_hmac)
        )

    # ------------------------------------------------------------------ content
    @property
    def digest(self) -> str:
        """Return the digest of the staff roster after its last change; "" if it was never changed."""
        return self.changes[-1].digest if self.changes else ""

    # ------------------------------------------------------------------ look-ups
    def find_enabled_person(self, staff_number: str) -> Person | None:
        """Return the person with this staff number, or None if none exists or the person is disabled."""
        person = self.person_by_staff_number.get(staff_number)
        return None if person is None or person.is_disabled else person

    def authenticate(self, staff_number: str, pin: str) -> Person | None:
        """Return the person with this staff number if the PIN is right, or else None.

        For an unknown number this takes as long as for a known one.
        """
        digest = self.pin_digest_by_staff_number.get(staff_number, UNMATCHABLE_PIN_DIGEST)
        return self.find_enabled_person(staff_number) if digest.is_digest_of(pin) else None

    def list_changes_after(self, change_number: int) -> tuple[RosterChange, ...]:
        """Return the roster's changes with a higher number than ``change_number``."""
        return tuple(change for change in self.changes if change.number > change_number)

    # ------------------------------------------------------------------ changing
    def enrol_person(
        self, person: Person, pin: str | PinDigest, *, changed_by: str, changed_at: datetime
    ) -> "Roster":
        """Enrol a person with a new PIN or a stored digest of one; return the new staff roster.

        ``changed_by`` is the staff number of the author, ``changed_at`` the time. The role of the first person must
        permit enrolling others; otherwise nobody ever could. Raises :class:`RosterError` if the number is taken, or if
        number, name or first role is not permitted; PinRefusedError if the PIN is too weak.
        """
        if not STAFF_NUMBER_PATTERN.fullmatch(person.id):
            raise RosterError(f"staff number {person.id!r}: it must be 1 to 8 digits")
        if person.id in self.person_by_staff_number:
            raise RosterError(
                f"staff number {person.id} already belongs to {self.person_by_staff_number[person.id].name}"
            )
        if (
            not person.name.strip()
            or len(person.name) > _PERSON_NAME_LENGTH_MAX
            or not person.name.isprintable()
        ):
            raise RosterError(
                f"name {person.name!r}: it must be 1 to {_PERSON_NAME_LENGTH_MAX} printable characters"
            )
        if not self.person_by_staff_number and not person.has_permission(Permission.ENROL_STAFF):
            raise RosterError(f"the first person must be able to enrol others; {person.role} cannot")
        digest = PinDigest.from_pin(pin) if isinstance(pin, str) else pin
        return self._store_change("added", person, digest, changed_by, changed_at)

    def disable_person(self, staff_number: str, *, changed_by: str, changed_at: datetime) -> "Roster":
        """Disable a person, and return the new roster.

        Raises :class:`RosterError` if nobody has this staff number, or nobody else may enrol others.
        """
        person = self.require_person(staff_number)
        other_people = (other for other in self.person_by_staff_number.values() if other.id != staff_number)
        if person.has_permission(Permission.ENROL_STAFF) and not any(
            other.has_permission(Permission.ENROL_STAFF) for other in other_people
        ):
            raise RosterError(f"{staff_number} is the last person who can enrol others")
        return self._store_change(
            "disabled",
            replace(person, is_disabled=True),
            self.pin_digest_by_staff_number[staff_number],
            changed_by,
            changed_at,
        )

    def enable_person(self, staff_number: str, *, changed_by: str, changed_at: datetime) -> "Roster":
        """Enable a disabled person again, and return the new roster.

        Raises :class:`RosterError` if nobody has this staff number.
        """
        person = replace(self.require_person(staff_number), is_disabled=False)
        return self._store_change(
            "enabled", person, self.pin_digest_by_staff_number[staff_number], changed_by, changed_at
        )

    def set_pin(self, staff_number: str, pin: str, *, changed_by: str, changed_at: datetime) -> "Roster":
        """Set a person's new PIN, and return the new roster.

        Raises :class:`RosterError` if nobody has this staff number, and PinRefusedError for a PIN that is too weak.
        """
        return self._store_change(
            "pin", self.require_person(staff_number), PinDigest.from_pin(pin), changed_by, changed_at
        )

    def require_person(self, staff_number: str) -> Person:
        """Return the person with this staff number, disabled or not. Raises :class:`RosterError` if none exists."""
        person = self.person_by_staff_number.get(staff_number)
        if person is None:
            raise RosterError(f"nobody has the staff number {staff_number!r}")
        return person

    def _store_change(
        self, change_kind: str, person: Person, pin_digest: PinDigest, changed_by: str, changed_at: datetime
    ) -> "Roster":
        """Return the roster with one more change; write it to the roster's file, if it has one, with a new HMAC.

        Raises RosterError if the file cannot be written or was changed in the meantime.
        """
        change = RosterChange(
            number=len(self.changes) + 1,
            changed_at=changed_at.isoformat(timespec="seconds"),
            changed_by=changed_by,
            change_kind=change_kind,
            staff_number=person.id,
            role=person.role.value,
        )
        roster = replace(
            self,
            person_by_staff_number={**self.person_by_staff_number, person.id: person},
            pin_digest_by_staff_number={**self.pin_digest_by_staff_number, person.id: pin_digest},
            changes=(*self.changes, change),
        )
        change = replace(change, digest=_compute_digest(roster))
        roster = replace(roster, changes=(*self.changes, change))
        if self.path is None:
            return roster
        try:
            with _lock_roster_file(self.path):
                if Roster.load(self.path).changes != self.changes:
                    raise RosterError(f"{self.path}: somebody else has just changed it; try again")
                return roster.write_to(self.path)
        except OSError as error:
            raise RosterError(f"{self.path}: cannot be written: {error}") from error

    def write_to(self, path: Path) -> "Roster":
        """Write the roster to ``path``, with its HMAC if the machine has a key.

        Return the roster with ``is_authenticated`` set accordingly. Raises OSError if the file cannot be written.
        """
        roster_hmac = _compute_hmac(self)
        document = _encode_roster(self) | {"seal": roster_hmac}
        replace_private_file(path, json.dumps(document, ensure_ascii=False, indent=1))
        return replace(self, is_authenticated=bool(roster_hmac))


def _encode_roster(roster: Roster) -> dict[str, object]:
    """Return the roster as the JSON object that its file stores, without the HMAC."""
    people = {
        staff_number: {
            "name": person.name,
            "role": person.role.value,
            "disabled": person.is_disabled,
            "pin": asdict(roster.pin_digest_by_staff_number[staff_number]),
        }
        for staff_number, person in roster.person_by_staff_number.items()
    }
    return {
        "format": ROSTER_FORMAT,
        "people": people,
        "changes": [to_json(change) for change in roster.changes],
    }


def _compute_digest(roster: Roster) -> str:
    """Return the digest of the whole roster, computed without the digest in its last change."""
    if not roster.changes:
        return ""
    changes = (*roster.changes[:-1], replace(roster.changes[-1], digest=""))
    return hashlib.sha256(encode_canonical_json(_encode_roster(replace(roster, changes=changes)))).hexdigest()


def _compute_hmac(roster: Roster) -> str:
    """Return the roster's HMAC with the machine key beside either copy, or "" if there is no intact key."""
    folders = [file.parent for file in (roster.path, roster.second_copy_path) if file is not None]
    try:
        key = MachineKey.load(DiskStorage(), *folders) if folders else None
    except JournalError:
        return ""
    if key is None:
        return ""
    return hmac.new(
        key.derive_key(_ROSTER_HMAC_PURPOSE), encode_canonical_json(_encode_roster(roster)), "sha256"
    ).hexdigest()


@contextmanager
def _lock_roster_file(path: Path) -> Iterator[None]:
    """Lock the roster file against changes by other processes during the ``with`` block."""
    descriptor = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
