"""The two copies as one memory: every entry in both, each checked whole, each able to mend the other.

Order of writes for one entry: inserted in SQLite (open transaction), written to the log, committed in SQLite
(synced), log synced, then the anchor. Whatever instant the power is cut:

* An acknowledged entry is whole and synced in both copies.
* The one entry under way is whole in both, in one, or in none. Whole in one, it is completed in the other:
  it passed every check before it was written, its caller repeats its id and is told it exists. In none, it
  never was, and its caller repeats it. Nothing is ever guessed.
* A torn log record is seen by its CRC, a torn SQLite commit by SQLite itself.

Damage in one copy is repaired from the other, the rewrite is verified whole, and a :class:`Finding` says so
for the journal. Damage in both, copies that disagree, or a journal that ends before the anchor stops the
machine (:class:`JournalDamaged`) until an authorised clear.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from meters.anchor import FILE_NAME as ANCHOR_NAME
from meters.anchor import Anchor
from meters.database import DatabaseCopy
from meters.entry import GENESIS_HASH
from meters.errors import JournalDamaged, JournalUnwritable
from meters.keys import MachineKey
from meters.log import SEGMENT_BYTES, LogCopy, LogScan, Sealed
from meters.storage import Storage

FIRST: Final = "first copy"
SECOND: Final = "second copy"
_SCRUB_PAGES: Final = 16
_SCRUB_BYTES: Final = 64 << 10


class Mending(StrEnum):
    """What start-up found and did."""

    COMPLETED = "memory.completed"
    """One entry under way at a power cut was in one copy only."""
    REPAIRED = "memory.repaired"
    """A copy was damaged or fell behind, and was rebuilt from the other and verified."""
    ANCHOR_LOST = "memory.anchor_lost"
    """The sealed head was missing or broken."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something start-up mended: ``where`` and ``why``, for the event log."""

    mending: Mending
    where: str
    why: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where the memory of one machine lies: two folders on media of the operator's choice."""

    storage: Storage
    state_dir: Path
    second_dir: Path
    segment_bytes: int = SEGMENT_BYTES

    @property
    def used(self) -> bool:
        """Whether anything of a journal is there."""
        copies = (self.state_dir / ANCHOR_NAME, self.state_dir / "journal.sqlite")
        return any(self.storage.exists(p) for p in copies) or bool(self.log().firsts())

    def log(self) -> LogCopy:
        """Return the log copy, not yet scanned."""
        return LogCopy(self.storage, self.second_dir, segment_bytes=self.segment_bytes)


class Copies:
    """Both copies, whole and equal, open for writing. ``findings`` is what had to be mended."""

    def __init__(self, place: Place, key: MachineKey) -> None:
        """Open, check and if need be mend both copies in ``place``.

        Raises :class:`JournalDamaged` when they cannot be mended, :class:`JournalUnwritable` when a
        medium refuses.
        """
        self.findings: list[Finding] = []
        self._place = place
        self._key = key
        place.storage.make_folder(place.state_dir)
        place.storage.make_folder(place.second_dir)
        self.log = place.log()
        self._database: DatabaseCopy | None = None
        self._anchor: Anchor | None = None
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close everything.

        SQLite moves the WAL when its last connection closes, so it is settled first. Where a failing medium
        prevents that, the next start finds pages that differ from their sums and mends them from the log.
        """
        self.log.close()
        if self._database is not None:
            with suppress(JournalUnwritable):
                self._database.settle()
            self._database.close()
            self._database = None
        if self._anchor is not None:
            with suppress(JournalUnwritable):
                self._anchor.close()
            self._anchor = None

    @property
    def database(self) -> DatabaseCopy:
        """The first copy."""
        if self._database is None:
            raise JournalDamaged(str(self._place.state_dir), "the first copy is not open")
        return self._database

    # ------------------------------------------------------------------ opening
    def _open(self) -> None:
        place = self._place
        scan = self.log.scan()
        damage = ""
        try:
            self._database = DatabaseCopy.attach(place.storage, place.state_dir, self._key)
        except JournalDamaged as why:
            damage = str(why)
        anchored = place.storage.exists(place.state_dir / ANCHOR_NAME)
        absent = not place.storage.exists(place.state_dir / "journal.sqlite")
        if not anchored and scan.sequence == 0 and (absent or (not damage and self.database.last()[0] == 0)):
            self._begin(scan, absent=absent)
        elif damage and (scan.damage or not scan.sequence):
            raise JournalDamaged("both copies", f"{damage}; {scan.damage or 'the log is empty'}")
        elif damage:
            self._rebuild_database(damage)
        elif scan.damage:
            scan = self._rebuild_log(scan)
        self._level(scan)
        self._check_anchor(anchored=anchored)

    def _begin(self, scan: LogScan, *, absent: bool) -> None:
        """Nothing was ever acknowledged here: make both copies, empty."""
        place = self._place
        if absent:
            DatabaseCopy.build(place.storage, place.state_dir, self._key, ())
            self._database = DatabaseCopy.attach(place.storage, place.state_dir, self._key)
        if scan.damage:
            self.log.put_aside(1)
            self.log.scan()

    def _rebuild_database(self, damage: str) -> None:
        place = self._place
        DatabaseCopy.put_aside(place.storage, place.state_dir)
        DatabaseCopy.build(place.storage, place.state_dir, self._key, self._authentic(self.log.records()))
        self._database = DatabaseCopy.attach(place.storage, place.state_dir, self._key)
        self.findings.append(Finding(Mending.REPAIRED, FIRST, damage))

    def _rebuild_log(self, scan: LogScan) -> LogScan:
        """Rewrite the log from its damaged segment on, and prove the rewrite."""
        last, _ = self.database.last()
        keep = scan.bad_segment - 1
        if scan.sequence > last or keep > last:
            raise JournalDamaged("both copies", f"the first ends at entry {last}; {scan.damage}")
        self.log.put_aside(scan.bad_segment)
        before = self.log.scan()
        if before.damage or before.sequence != keep or before.head_hex != self.database.hash_at(keep):
            raise JournalDamaged("both copies", f"they disagree at entry {keep}; {scan.damage}")
        self._extend_log(self._authentic(self.database.sealed(keep)))
        after = self.log.scan()
        if after.damage or after.sequence != last:
            raise JournalDamaged(SECOND, f"it cannot be rewritten: {after.damage}; before: {scan.damage}")
        self.findings.append(Finding(Mending.REPAIRED, SECOND, scan.damage))
        return after

    def _level(self, scan: LogScan) -> None:
        """Complete the copy that is behind from the other; they must agree on what both have."""
        last, head_hex = self.database.last()
        common = min(last, scan.sequence)
        ours = head_hex if common == last else self.database.hash_at(common)
        theirs = scan.head_hex if common == scan.sequence else self.log.hash_at(common)
        if ours != theirs:
            raise JournalDamaged("both copies", f"they disagree at entry {common}: {ours} and {theirs}")
        behind = max(last, scan.sequence) - common
        if not behind:
            return
        if last < scan.sequence:
            self.database.extend(self._authentic(self.log.records(last)))
        else:
            self._extend_log(self._authentic(self.database.sealed(common)))
        where = FIRST if last < scan.sequence else SECOND
        mending = Mending.COMPLETED if behind == 1 else Mending.REPAIRED
        self.findings.append(
            Finding(mending, where, f"{behind} entries after {common} were in the other copy only")
        )

    def _extend_log(self, items: Iterable[Sealed]) -> None:
        for item in items:
            self.log.write(item)
        self.log.sync()

    def _authentic(self, items: Iterable[Sealed]) -> Iterable[Sealed]:
        """Pass on what this machine wrote: nothing forged in one copy is ever carried into the other."""
        for item in items:
            check_seal(item, self._key)
            yield item

    def _check_anchor(self, *, anchored: bool) -> None:
        place = self._place
        sequence, head_hex = self.database.last()
        head = Anchor.read(place.storage, place.state_dir, self._key)
        if head is not None:
            if head.sequence > sequence:
                raise JournalDamaged(
                    "both copies", f"they end at entry {sequence}, {head.sequence} was acknowledged"
                )
            if self.database.hash_at(head.sequence) != head.hash_hex:
                raise JournalDamaged("both copies", f"entry {head.sequence} is not the one acknowledged")
        elif anchored or sequence > 1:
            self.findings.append(
                Finding(Mending.ANCHOR_LOST, ANCHOR_NAME, "the sealed head is missing or broken")
            )
        self._anchor = Anchor(place.storage, place.state_dir)
        if head_hex != GENESIS_HASH:
            self._anchor.write(self._key, sequence, head_hex)

    # ------------------------------------------------------------------ running
    def append(self, item: Sealed) -> None:
        """Make ``item`` durable in both copies; on any error the journal must be reopened.

        Both are synced side by side: it takes as long as the slower, and a power cut may leave the entry in
        either, which the next opening settles as it does any other difference.
        """
        try:
            self.database.insert(item)
            self.log.write(item)
            log_is_synced = self.log.start_sync()
            try:
                self.database.commit()
            finally:
                log_is_synced()
        except BaseException:
            self.database.rollback()
            raise
        if self._anchor is not None:
            self._anchor.write(self._key, item.entry.sequence, item.entry.hash_hex)

    def check(self, sequence: int, head_hex: str) -> None:
        """Before play: both copies must end at this entry, and the next stretch of each must be whole (A-03).

        Stretches go round, so that all of both copies is read again and again while the machine runs.
        Raises :class:`JournalDamaged`.
        """
        last = self.database.last()
        if last != (sequence, head_hex):
            raise JournalDamaged(FIRST, f"it ends at entry {last[0]}, {sequence} was acknowledged")
        self.log.check_last(sequence, head_hex)
        self.database.scrub(_SCRUB_PAGES)
        self.log.check_some(_SCRUB_BYTES)


def check_seal(item: Sealed, key: MachineKey) -> None:
    """Raise :class:`JournalDamaged` unless this machine sealed ``item``."""
    if not key.sealed(bytes.fromhex(item.entry.hash_hex), item.seal):
        raise JournalDamaged(f"entry {item.entry.sequence}", "it was not written by this machine (seal)")
