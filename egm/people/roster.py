"""The roster: everybody enrolled on one machine, in a file of its state folder, for its user only.

The file also holds every change ever made to it, numbered, with who made it and the digest of the whole
roster after it. The machine alone writes the journal; it copies the changes it has not yet seen into it when
it starts and at every sign-in, so people can be enrolled while it runs: :mod:`egm.people.recorded` says which
file it believes. A machine without the file has no staff: nobody can sign in.

What is written beside a machine key is sealed with it, so that changes the journal does not have yet can be
told from a forgery.
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
from egm.people.person import NUMBER, Person
from egm.people.pins import NOBODY, PinDigest
from egm.people.roles import Permission, Role
from egm.secret_files import replace_private
from meters.entry import canonical
from meters.errors import JournalError
from meters.keys import MachineKey
from meters.storage import DiskStorage

FORMAT: Final = 2
_UNSEALED_FORMAT: Final = 1
"""As it was before digests and seals."""
_SEAL_PURPOSE: Final = b"roster"
_NAME_MAX: Final = 60


class RosterError(OperatorError):
    """The roster cannot be read or changed as asked: says which file, who and why."""


class RosterDamaged(RosterError):
    """The file cannot be read, or is no roster any more: a medium's doing, where another copy is whole."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change: ``what`` is added, disabled, enabled or pin; ``by`` who made it, "" for the first."""

    number: int
    at: str
    by: str
    what: str
    person: str
    role: str
    digest: str = ""
    """SHA-256 of the whole roster after the change, hexadecimal; empty in files of the first format."""


@dataclass(frozen=True, slots=True)
class Roster:
    """Everybody, as of one reading of the file. What changes it writes the file and returns the new one."""

    path: Path | None = None
    people: Mapping[str, Person] = field(default_factory=dict)
    pins: Mapping[str, PinDigest] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()
    is_sealed: bool = field(default=False, compare=False)
    """Whether it was written with the machine key that lies beside it."""
    spare: Path | None = field(default=None, compare=False)
    """Where the machine keeps its second copy."""

    @classmethod
    def load(cls, path: Path, spare: Path | None = None) -> "Roster":
        """Read the file; without one, nobody. Raises :class:`RosterError` naming what is wrong with it."""
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return cls(path, spare=spare)
        except (OSError, UnicodeDecodeError) as error:
            raise RosterDamaged(f"{path}: cannot be read: {error}") from error
        try:
            kept = json.loads(text)
            if kept["format"] not in {FORMAT, _UNSEALED_FORMAT}:
                raise RosterError(f"{path}: format {kept['format']!r} is not {FORMAT}")
            people = {
                key: Person(key, entry["name"], Role(entry["role"]), bool(entry["disabled"]))
                for key, entry in kept["people"].items()
            }
            pins = {key: PinDigest(**entry["pin"]) for key, entry in kept["people"].items()}
            changes = tuple(Change(**change) for change in kept["changes"])
            seal = str(kept.get("seal", ""))
        except (ValueError, KeyError, RecursionError, TypeError, AttributeError) as error:
            raise RosterDamaged(f"{path}: not a roster: {error!r}") from error
        roster = cls(path, people, pins, changes, spare=spare)
        if changes and kept["format"] == _UNSEALED_FORMAT:
            roster = replace(roster, changes=(*changes[:-1], replace(changes[-1], digest=_digest(roster))))
        if roster.digest != _digest(roster):
            raise RosterError(f"{path}: is not as it was written: somebody has changed it by other means")
        expected = _seal(roster)
        return replace(roster, is_sealed=bool(expected) and hmac.compare_digest(expected, seal))

    # ------------------------------------------------------------------ what it is
    @property
    def digest(self) -> str:
        """The digest of the whole roster, as its last change says it."""
        return self.changes[-1].digest if self.changes else ""

    # ------------------------------------------------------------------ asking
    def get(self, person_id: str) -> Person | None:
        """The person of this number, unless there is none or the person is disabled."""
        person = self.people.get(person_id)
        return None if person is None or person.disabled else person

    def proves(self, person_id: str, pin: str) -> Person | None:
        """The person of this number if this is the PIN; takes as long for a number nobody has."""
        digest = self.pins.get(person_id, NOBODY)
        return self.get(person_id) if digest.matches(pin) else None

    def since(self, number: int) -> tuple[Change, ...]:
        """The changes after the one of this number."""
        return tuple(change for change in self.changes if change.number > number)

    # ------------------------------------------------------------------ changing
    def added(self, person: Person, pin: str | PinDigest, *, by: str, at: datetime) -> "Roster":
        """Enrol somebody, with a new PIN or what is kept of one.

        Raises :class:`RosterError`, or PinRefusedError.

        The first person enrolled must be able to enrol others, or nobody ever could.
        """
        if not NUMBER.fullmatch(person.id):
            raise RosterError(f"staff number {person.id!r}: it must be 1 to 8 digits")
        if person.id in self.people:
            raise RosterError(
                f"staff number {person.id} is {self.people[person.id].name}'s; none is given twice"
            )
        if not person.name.strip() or len(person.name) > _NAME_MAX or not person.name.isprintable():
            raise RosterError(f"name {person.name!r}: it must be 1 to {_NAME_MAX} printable characters")
        if not self.people and not person.may(Permission.ENROL):
            raise RosterError(f"the first person must be able to enrol others; {person.role} cannot")
        digest = PinDigest.of(pin) if isinstance(pin, str) else pin
        return self._changed("added", person, digest, by, at)

    def disabled(self, person_id: str, *, by: str, at: datetime) -> "Roster":
        """Let somebody in no more. Raises :class:`RosterError` for the last who can enrol."""
        person = self._known(person_id)
        others = (other for other in self.people.values() if other.id != person_id)
        if person.may(Permission.ENROL) and not any(other.may(Permission.ENROL) for other in others):
            raise RosterError(f"{person_id} is the last person who can enrol others")
        return self._changed("disabled", replace(person, disabled=True), self.pins[person_id], by, at)

    def enabled(self, person_id: str, *, by: str, at: datetime) -> "Roster":
        """Let somebody in again."""
        person = replace(self._known(person_id), disabled=False)
        return self._changed("enabled", person, self.pins[person_id], by, at)

    def with_pin(self, person_id: str, pin: str, *, by: str, at: datetime) -> "Roster":
        """Give somebody a new PIN."""
        return self._changed("pin", self._known(person_id), PinDigest.of(pin), by, at)

    def _known(self, person_id: str) -> Person:
        person = self.people.get(person_id)
        if person is None:
            raise RosterError(f"nobody has the staff number {person_id!r}")
        return person

    def _changed(self, what: str, person: Person, pin: PinDigest, by: str, at: datetime) -> "Roster":
        change = Change(
            number=len(self.changes) + 1,
            at=at.isoformat(timespec="seconds"),
            by=by,
            what=what,
            person=person.id,
            role=person.role.value,
        )
        roster = replace(
            self,
            people={**self.people, person.id: person},
            pins={**self.pins, person.id: pin},
            changes=(*self.changes, change),
        )
        change = replace(change, digest=_digest(roster))
        roster = replace(roster, changes=(*self.changes, change))
        if self.path is None:
            return roster
        try:
            with _only_one(self.path):
                if Roster.load(self.path).changes != self.changes:
                    raise RosterError(f"{self.path}: somebody else has just changed it; try again")
                return roster.written_to(self.path)
        except OSError as error:
            raise RosterError(f"{self.path}: cannot be written: {error}") from error

    def written_to(self, path: Path) -> "Roster":
        """Write it to ``path``, sealed by the machine key of its own folder. Raises OSError."""
        seal = _seal(self)
        document = _content(self) | {"seal": seal}
        replace_private(path, json.dumps(document, ensure_ascii=False, indent=1))
        return replace(self, is_sealed=bool(seal))


def _content(roster: Roster) -> dict[str, object]:
    people = {
        key: {
            "name": person.name,
            "role": person.role.value,
            "disabled": person.disabled,
            "pin": asdict(roster.pins[key]),
        }
        for key, person in roster.people.items()
    }
    return {"format": FORMAT, "people": people, "changes": [asdict(change) for change in roster.changes]}


def _digest(roster: Roster) -> str:
    """The digest over everything but the last change's own."""
    if not roster.changes:
        return ""
    changes = (*roster.changes[:-1], replace(roster.changes[-1], digest=""))
    return hashlib.sha256(canonical(_content(replace(roster, changes=changes)))).hexdigest()


def _seal(roster: Roster) -> str:
    """The seal by the machine key beside the file; empty where there is none yet, or none whole."""
    folders = [file.parent for file in (roster.path, roster.spare) if file is not None]
    try:
        key = MachineKey.load(DiskStorage(), *folders) if folders else None
    except JournalError:
        return ""
    if key is None:
        return ""
    return hmac.new(key.derive(_SEAL_PURPOSE), canonical(_content(roster)), "sha256").hexdigest()


@contextmanager
def _only_one(path: Path) -> Iterator[None]:
    """Keep every other process from changing the file meanwhile."""
    descriptor = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
