"""When both copies are damaged: what can still be read, and the authorised clear that starts anew.

Nothing here guesses. :func:`inspect` reads each copy as far as it is whole and says which values both vouch
for (good) and which only one does, or they disagree on (suspect). :func:`clear` moves everything aside as
evidence, never deletes, and begins a new journal whose first entry tells who cleared what and why
(A-05, A-06, A-20, A-21).
"""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from meters import stop
from meters.anchor import FILE_NAME as ANCHOR_NAME
from meters.copies import Place
from meters.database import FILE_NAME as DATABASE_NAME
from meters.database import DatabaseReader
from meters.entry import canonical
from meters.errors import JournalDamaged, JournalError, JournalUnwritable
from meters.journal import SECOND_FOLDER, Journal, Policy
from meters.keys import FILE_NAME as KEY_NAME
from meters.keys import MachineKey
from meters.ledger import Ledger
from meters.lock import FolderLock
from meters.log import SUFFIX as LOG_SUFFIX
from meters.log import Sealed
from meters.reading import read_meters
from meters.storage import DiskStorage, Storage, replace_file
from meters.transaction import JSON

FOLDER: Final = "cleared"


class ClearRefused(JournalError):
    """The clear is not authorised, or may not run now."""


@dataclass(frozen=True, slots=True)
class Salvage:
    """One copy read as far as it is whole: up to entry ``sequence``; ``why`` it ends there, or nothing."""

    sequence: int
    head_hex: str
    values: dict[str, int]
    credits_cents: int
    why: str


@dataclass(frozen=True, slots=True)
class Inspection:
    """Both copies side by side."""

    first: Salvage
    second: Salvage

    @property
    def good(self) -> dict[str, int]:
        """Meters both copies vouch for."""
        return {k: v for k, v in self.first.values.items() if self.second.values.get(k) == v}

    @property
    def suspect(self) -> dict[str, tuple[int | None, int | None]]:
        """Meters only one copy has, or they disagree on: what each says."""
        names = sorted(self.first.values.keys() | self.second.values.keys())
        both = ((n, self.first.values.get(n), self.second.values.get(n)) for n in names)
        return {name: (one, two) for name, one, two in both if one != two}

    @property
    def credits_cents(self) -> int:
        """The most credit either copy shows: what may be owed to a player, in minor units."""
        return max(self.first.credits_cents, self.second.credits_cents)

    @property
    def challenge(self) -> str:
        """Eight hex digits of what was found; a clear must quote them, so that it clears what was seen."""
        return hashlib.sha256(canonical(self.to_json())).hexdigest()[:8]

    def to_json(self) -> dict[str, JSON]:
        """Return the inspection as the new journal keeps it."""
        return {
            name: {
                "sequence": copy.sequence,
                "head": copy.head_hex,
                "why": copy.why,
                "credits_cents": copy.credits_cents,
                "meters": copy.values,
            }
            for name, copy in (("first", self.first), ("second", self.second))
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Clearance:
    """Who authorises the clear: two persons, the reason, what was seen, and what was paid to the player."""

    person: str
    second_person: str
    reason: str
    challenge: str
    settled_cents: int = 0


def inspect(state_dir: Path, *, second_dir: Path | None = None, storage: Storage | None = None) -> Inspection:
    """Read both copies as far as each is whole, changing nothing."""
    medium = storage or DiskStorage()
    place = Place(medium, state_dir, second_dir or state_dir / SECOND_FOLDER)
    try:
        database = DatabaseReader.open(medium, state_dir)
    except JournalError as why:
        first = _salvage((), str(why))
    else:
        first = _salvage(database.sealed())
        database.close()
    return Inspection(first, _salvage(place.log().records()))


def _salvage(items: Iterable[Sealed], why: str = "") -> Salvage:
    ledger = Ledger()
    try:
        ledger.replay(item.entry for item in items)
    except (JournalDamaged, JournalUnwritable) as damage:
        why = str(damage)
    values = read_meters(ledger).values if ledger.sequence else {}
    return Salvage(ledger.sequence, ledger.head_hex, values, ledger.credits_cents(), why)


def clear(
    state_dir: Path,
    clearance: Clearance,
    *,
    now: Callable[[], datetime],
    second_dir: Path | None = None,
    machine_id: str = "",
    policy: Policy | None = None,
    storage: Storage | None = None,
) -> Path:
    """Move the whole memory aside and begin a new journal; return the folder of the evidence.

    Raises :class:`ClearRefused` when the clearance does not name two persons and a reason, does not quote
    the inspection's challenge, or credits are on the machine that were not settled to the cent.
    """
    medium = storage or DiskStorage()
    second = second_dir or state_dir / SECOND_FOLDER
    locks = [FolderLock(folder) for folder in dict.fromkeys((state_dir, second))]
    try:
        found = inspect(state_dir, second_dir=second, storage=medium)
        _check(clearance, found)
        stamp = f"{now().astimezone(UTC):%Y%m%dT%H%M%SZ}-{found.challenge}"
        evidence = state_dir / FOLDER / stamp
        origin: dict[str, JSON] = {
            "person": clearance.person,
            "second_person": clearance.second_person,
            "reason": clearance.reason,
            "settled_cents": clearance.settled_cents,
            "evidence": stamp,
            "before": found.to_json(),
        }
        medium.make_folder(evidence)
        replace_file(medium, evidence / "before.json", canonical(origin))
        stop.mark(medium, state_dir, f"the clear {stamp} was begun and not finished")
        _move_aside(medium, second, second / FOLDER / stamp, (LOG_SUFFIX,))
        _move_aside(medium, state_dir, evidence, (DATABASE_NAME, "-wal", ".sums", ANCHOR_NAME))
        if not _key_is_whole(medium, state_dir):
            _move_aside(medium, state_dir, evidence, (KEY_NAME,))
        # The mark last: until everything is aside, a restart stops again.
        _move_aside(medium, state_dir, evidence, (stop.FILE_NAME,))
    finally:
        for lock in locks:
            lock.release()
    with Journal.open(
        state_dir,
        now=now,
        second_dir=second,
        machine_id=machine_id,
        policy=policy,
        storage=medium,
        cleared=origin,
    ) as journal:
        after: dict[str, JSON] = {"head": journal.head_hash, "meters": journal.meters().values}
        replace_file(medium, evidence / "after.json", canonical(after))
    return evidence


def _check(clearance: Clearance, found: Inspection) -> None:
    persons = {clearance.person.strip(), clearance.second_person.strip()}
    if "" in persons or len(persons) != 2:
        raise ClearRefused("a clear needs two different persons")
    if not clearance.reason.strip():
        raise ClearRefused("a clear needs a reason")
    if clearance.challenge != found.challenge:
        raise ClearRefused("the challenge is not that of what is stored now; inspect it again")
    if clearance.settled_cents != found.credits_cents:
        raise ClearRefused(
            f"the machine may owe the player {found.credits_cents} cents, "
            f"{clearance.settled_cents} were settled: pay by hand first, and say so"
        )


def _move_aside(medium: Storage, folder: Path, target: Path, endings: tuple[str, ...]) -> None:
    medium.make_folder(target)
    for name in medium.names(folder):
        if name.endswith(endings):
            medium.rename(folder / name, target / name)
    medium.sync_folder(target)
    medium.sync_folder(folder)


def _key_is_whole(medium: Storage, state_dir: Path) -> bool:
    try:
        return MachineKey.load(medium, state_dir) is not None
    except JournalDamaged:
        return False
