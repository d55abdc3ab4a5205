"""The journal: the one place money, meters and machine state are written."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from meters.database import DatabaseCopy
from meters.entry import StoredEntry, encode, same_content
from meters.errors import IdConflict, JournalError, JournalUnwritable, SelfAuditFailed
from meters.ledger import Ledger, Reservation
from meters.lock import FolderLock
from meters.reading import MeterReading, read_meters
from meters.storage import DiskStorage, Storage
from meters.transaction import JSON, Posted, Transaction


class Journal:
    """An append-only, hash-chained journal of double-entry transactions in one state folder.

    One machine a folder, one thread at a time. :meth:`append` returns once the entry is durable; when it
    raises, either nothing was written (a refusal), or the medium failed and the journal must be reopened
    (:class:`JournalUnwritable`): repeating the same id then tells which.
    """

    def __init__(self, lock: FolderLock, database: DatabaseCopy, now: Callable[[], datetime]) -> None:
        self._lock = lock
        self._database = database
        self._now = now
        self._ledger = Ledger()
        self._failure: JournalError | None = None

    @classmethod
    def open(
        cls, state_dir: Path, *, now: Callable[[], datetime], storage: Storage | None = None
    ) -> "Journal":
        """Open the journal in ``state_dir``, making it at first, and rebuild its exact state.

        ``now`` gives the time in UTC. Raises :class:`JournalLocked`, :class:`JournalUnwritable`,
        :class:`JournalDamaged` or :class:`SelfAuditFailed`.
        """
        lock = FolderLock(state_dir)
        try:
            database = DatabaseCopy.open(storage or DiskStorage(), state_dir, read_only=False)
            journal = cls(lock, database, now)
            journal._ledger.replay(database.chain())
            journal._ledger.full_audit()
        except BaseException:
            lock.release()
            raise
        return journal

    def close(self) -> None:
        """Close the files and give the folder up."""
        self._database.close()
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ------------------------------------------------------------------ writing
    def append(self, transaction: Transaction) -> Posted:
        """Record ``transaction``, all or nothing; it is durable when this returns.

        A repeat of an id with the same content is answered with its first place and ``existed=True``.
        Raises :class:`IdConflict`, :class:`InvalidTransaction` and its kinds, :class:`Overdrawn`,
        :class:`UnknownTransfer` (nothing written), :class:`SelfAuditFailed` (the machine must stop) or
        :class:`JournalUnwritable` (reopen).
        """
        if self._failure is not None:
            raise JournalUnwritable(
                f"the journal stopped and must be reopened: {self._failure}"
            ) from self._failure
        stored = self._database.by_id(transaction.id)
        if stored is not None:
            if not same_content(stored, transaction):
                raise IdConflict(
                    f"id {transaction.id} was used at entry {stored.sequence} with other content"
                )
            return Posted(stored.sequence, stored.hash_hex, existed=True)
        entry = encode(transaction, self._ledger.sequence + 1, self._now(), self._ledger.head_hex)
        plan = self._ledger.plan(entry.transaction)
        try:
            self._ledger.self_audit()
            self._database.append(entry)
            self._ledger.commit(plan, entry)
            self._ledger.self_audit()
        except (JournalUnwritable, SelfAuditFailed) as why:
            self._failure = why
            raise
        return Posted(entry.sequence, entry.hash_hex, existed=False)

    # ------------------------------------------------------------------ reading
    @property
    def sequence(self) -> int:
        """The number of the last entry (0 before the first)."""
        return self._ledger.sequence

    @property
    def head_hash(self) -> str:
        """SHA-256 of the last entry, hexadecimal: it vouches for every entry."""
        return self._ledger.head_hex

    def get(self, tx_id: str) -> StoredEntry | None:
        """Return the entry with this id, or None."""
        return self._database.by_id(tx_id)

    def find(self, ref: str) -> list[StoredEntry]:
        """Return the entries whose ``ref`` is this id, oldest first."""
        return self._database.by_ref(ref)

    def entries(
        self,
        kind: str | Sequence[str] = (),
        *,
        since: int = 0,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> Iterator[StoredEntry]:
        """Yield up to ``limit`` entries after sequence ``since``, of one ``kind`` or several."""
        kinds = (kind,) if isinstance(kind, str) else tuple(kind)
        return self._database.walk(kinds, since, limit, newest_first=newest_first)

    def balance_cents(self, account: str) -> int:
        """Return what flowed into ``account`` minus what flowed out, in minor units."""
        return self._ledger.balance_cents(account)

    def available_cents(self, account: str) -> int:
        """Return the balance of ``account`` minus what pending reservations set aside from it."""
        return self._ledger.available_cents(account)

    def pending(self) -> list[Reservation]:
        """Return the reservations neither settled nor voided, oldest first."""
        return list(self._ledger.pending.values())

    def state(self, key: str, default: JSON = None) -> JSON:
        """Return the machine state kept under ``key``."""
        return self._ledger.state.get(key, default)

    def states(self, prefix: str = "") -> dict[str, JSON]:
        """Return the machine state of every key that starts with ``prefix``."""
        return {k: v for k, v in self._ledger.state.items() if k.startswith(prefix)}

    def meters(self) -> MeterReading:
        """Return every meter as of the last entry."""
        return read_meters(self._ledger)

    def self_audit(self) -> None:
        """Recheck the books on demand: the self-audit, and totals against the meter cells they sum."""
        self._ledger.full_audit()
