"""The journal: the one place money, meters and machine state are written."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

from meters import checkpoint, stop
from meters.copies import Copies, Finding, Mending, Place
from meters.entry import encode, same_content
from meters.errors import (
    ExcessiveIncrement,
    IdConflict,
    JournalDamaged,
    JournalError,
    JournalUnwritable,
    SelfAuditFailed,
)
from meters.keys import MachineKey
from meters.ledger import Ledger
from meters.lock import FolderLock
from meters.log import SEGMENT_BYTES, Sealed
from meters.storage import DiskStorage, Storage
from meters.transaction import JSON, Posted, Transaction, Transfer
from meters.view import JournalView, load

SECOND_FOLDER: Final = "second"
"""Where the second copy lies inside the state folder, unless the operator names another medium."""
FORMAT: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What the profile decides about the journal.

    ``checkpoint_every`` entries a signed checkpoint is made. ``increment_max_cents`` maps an account to the
    most one transaction may move out of or into it (A-26); an account not named has no limit.
    """

    checkpoint_every: int = 1000
    segment_bytes: int = SEGMENT_BYTES
    increment_max_cents: Mapping[str, int] = field(default_factory=dict)


class Journal(JournalView):
    """An append-only, hash-chained journal of double-entry transactions, in two copies.

    One machine a state folder, one thread at a time. :meth:`append` returns once the entry is durable in
    both copies. When it raises, either nothing was written (a refusal), or the medium failed
    (:class:`JournalUnwritable`): reopen, and repeating the same id tells which.
    """

    def __init__(
        self,
        place: Place,
        key: MachineKey,
        locks: list[FolderLock],
        now: Callable[[], datetime],
        policy: Policy,
    ) -> None:
        self._place = place
        self._key = key
        self._locks = locks
        self._now = now
        self._policy = policy
        self._failure: JournalError | None = None
        self._copies = Copies(place, key)
        super().__init__(self._copies.database, Ledger(), key.public_key, key)

    @classmethod
    def open(
        cls,
        state_dir: Path,
        *,
        now: Callable[[], datetime],
        second_dir: Path | None = None,
        machine_id: str = "",
        policy: Policy | None = None,
        storage: Storage | None = None,
        cleared: JSON = None,
    ) -> "Journal":
        """Open the journal in ``state_dir``, making it at first, and rebuild its exact state.

        ``now`` gives the time (aware). ``second_dir`` is the second copy's medium. ``machine_id`` is written
        into a new journal; a journal of another machine is refused (A-23). One copy damaged is repaired from
        the other and an event says so. ``cleared`` tells a new journal of the clear it begins with.
        Raises :class:`JournalLocked`, :class:`JournalUnwritable`, :class:`JournalDamaged` or
        :class:`SelfAuditFailed`.
        """
        policy = policy or Policy()
        medium = storage or DiskStorage()
        second = second_dir or state_dir / SECOND_FOLDER
        locks = [FolderLock(folder) for folder in dict.fromkeys((state_dir, second))]
        journal = None
        try:
            place = Place(medium, state_dir, second, policy.segment_bytes)
            stop.check(medium, state_dir)
            journal = cls(place, _key(place), locks, now, policy)
            journal._start(machine_id, cleared)
        except BaseException:
            if journal is not None:
                journal._copies.close()
            for lock in locks:
                lock.release()
            raise
        return journal

    def _start(self, machine_id: str, cleared: JSON) -> None:
        """Rebuild the state of an existing journal or begin a new one, and record what was mended."""
        if self._copies.database.last()[0] == 0:
            record: dict[str, JSON] = {"format": FORMAT, "machine_id": machine_id}
            record["public_key"] = self.public_key.hex()
            if cleared is not None:
                record["cleared"] = cleared
            self._write(
                Transaction(id=f"genesis:{self.fingerprint}", kind=checkpoint.GENESIS_KIND, record=record)
            )
        else:
            self._load(machine_id)
            self._note_clock()
        for number, finding in enumerate(self._copies.findings):
            self._write(
                Transaction(
                    id=f"{finding.mending}:{self.sequence + 1}:{number}",
                    kind="event",
                    counts={finding.mending: 1},
                    record={"code": finding.mending, "where": finding.where, "why": finding.why},
                )
            )

    def _note_clock(self) -> None:
        """Record that the clock was set back. The order of entries is their sequence, never their time."""
        last = next(self._copies.database.walk((), 0, None, 1, newest_first=True)).time_utc
        now = self._now()
        if now < last:
            self._write(
                Transaction(
                    id=f"clock.changed:{self.sequence + 1}",
                    kind="clock.changed",
                    record={"last_entry": last.isoformat(), "now": now.isoformat()},
                )
            )

    def _load(self, machine_id: str) -> None:
        ledger, public_key = load(self._copies.database, self._key)
        if public_key != self.public_key:
            raise JournalDamaged(
                str(self._place.state_dir), "the machine key is not the one this journal names"
            )
        genesis = next(self._copies.database.walk((), 0, None, 1, newest_first=False)).record
        found = genesis.get("machine_id") if isinstance(genesis, Mapping) else None
        if machine_id and found and found != machine_id:
            raise JournalDamaged(
                str(self._place.state_dir), f"the journal is of machine {found}, not {machine_id}"
            )
        ledger.full_audit()
        self._ledger = ledger

    def close(self) -> None:
        """Sign a last checkpoint, close the files and give the folders up."""
        try:
            if self._failure is None:
                self.checkpoint()
        finally:
            self._copies.close()
            for lock in self._locks:
                lock.release()

    def abandon(self) -> None:
        """Close the files and give the folders up without writing anything more."""
        self._copies.close()
        for lock in self._locks:
            lock.release()

    # ------------------------------------------------------------------ writing
    def append(self, transaction: Transaction) -> Posted:
        """Record ``transaction``, all or nothing; it is durable in both copies when this returns.

        A repeat of an id with the same content is answered with its first place and ``existed=True``.
        Raises :class:`IdConflict`, :class:`InvalidTransaction` and its kinds, :class:`Overdrawn`,
        :class:`UnknownTransfer`, :class:`ExcessiveIncrement` (nothing written), :class:`SelfAuditFailed`
        (the machine must stop) or :class:`JournalUnwritable` (reopen).
        """
        if self._failure is not None:
            raise JournalUnwritable(
                f"the journal stopped and must be reopened: {self._failure}"
            ) from self._failure
        try:
            stored = self._database.by_id(transaction.id)
        except JournalDamaged as why:
            self._mend(why)
            stored = self._database.by_id(transaction.id)
        if stored is not None:
            if not same_content(stored, transaction):
                raise IdConflict(
                    f"id {transaction.id} was used at entry {stored.sequence} with other content"
                )
            return Posted(stored.sequence, stored.hash_hex, existed=True)
        posted = self._write(transaction)
        if posted.sequence % self._policy.checkpoint_every == 0:
            try:
                self.checkpoint()
            except JournalUnwritable as why:
                # The caller's entry is durable all the same; the next append says that the medium fails.
                self._failure = why
        return posted

    def _write(self, transaction: Transaction) -> Posted:
        entry = encode(transaction, self.sequence + 1, self._now(), self.head_hash)
        plan = self._ledger.plan(entry.transaction)
        self._check_increments(transaction.id, plan.moves)
        try:
            self._ledger.self_audit()
            self._copies.append(Sealed(entry, self._key.seal(bytes.fromhex(entry.hash_hex))))
            self._ledger.commit(plan, entry)
            self._ledger.self_audit()
        except SelfAuditFailed as why:
            self._failure = why
            stop.mark(self._place.storage, self._place.state_dir, str(why))
            raise
        except JournalError as why:
            self._failure = why
            raise
        return Posted(entry.sequence, entry.hash_hex, existed=False)

    def _check_increments(self, tx_id: str, moves: tuple[Transfer, ...]) -> None:
        for name, most_cents in self._policy.increment_max_cents.items():
            moved_cents = sum(t.amount_cents for t in moves if name in {t.source, t.target})
            if moved_cents > most_cents:
                raise ExcessiveIncrement(
                    f"{tx_id}: {name} would move by {moved_cents} cents, {most_cents} at most"
                )

    def checkpoint(self) -> None:
        """Move SQLite's WAL into its file and append a signed checkpoint, unless the last entry is one.

        In this order: the checkpoint's own commit starts the WAL over, and what it held before is void.
        """
        self._copies.database.settle()
        if self._database.by_id(f"{checkpoint.KIND}:{self.sequence}") is None:
            self._ledger.full_audit()
            self._write(checkpoint.make(self._ledger, self._key))

    # ------------------------------------------------------------------ checking while running
    def check(self) -> None:
        """Before play (A-03): the self-audit, both copies' last entry, and the next stretch of each.

        Damage to one copy is repaired here and now; damage to both raises :class:`JournalDamaged`, a failed
        self-audit :class:`SelfAuditFailed`: the machine must then stop.
        """
        if self._failure is not None:
            raise JournalUnwritable(
                f"the journal stopped and must be reopened: {self._failure}"
            ) from self._failure
        self._ledger.self_audit()
        try:
            self._copies.check(self.sequence, self.head_hash)
        except JournalDamaged as why:
            self._mend(why)

    def _mend(self, damage: JournalDamaged) -> None:
        """Close both copies and open them as at start-up: check everything, repair, verify, record."""
        acknowledged = (self.sequence, self.head_hash)
        self._failure = damage
        self._copies.close()
        self._copies = Copies(self._place, self._key)
        self._database = self._copies.database
        if self._database.last() != acknowledged:
            raise damage
        if not self._copies.findings:
            # The damaged page was due to be written over from SQLite's WAL, and now is.
            self._copies.findings.append(Finding(Mending.REPAIRED, damage.where, damage.why))
        self._failure = None
        self._start("", None)


def _key(place: Place) -> MachineKey:
    """Load the machine key, or make it where no journal was ever begun."""
    key = MachineKey.load(place.storage, place.state_dir)
    if key is not None:
        return key
    if place.used:
        raise JournalDamaged(str(place.state_dir / "machine.key"), "the machine key is missing")
    return MachineKey.create(place.storage, place.state_dir)
