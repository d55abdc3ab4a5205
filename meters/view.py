"""What can be read from a journal: by the machine itself, or beside it without stopping play."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from meters import checkpoint
from meters.anchor import FILE_NAME as ANCHOR_NAME
from meters.anchor import Anchor, Head
from meters.copies import check_seal
from meters.database import DatabaseReader
from meters.entry import StoredEntry
from meters.errors import JournalDamaged
from meters.keys import MachineKey, fingerprint
from meters.ledger import Ledger, Reservation
from meters.reading import MeterReading, read_meters
from meters.storage import DiskStorage, Storage
from meters.transaction import JSON


class JournalView:
    """Balances, meters, machine state and entries of a journal as of its last entry."""

    def __init__(
        self, database: DatabaseReader, ledger: Ledger, public_key: bytes, key: MachineKey | None = None
    ) -> None:
        self._database = database
        self._ledger = ledger
        self._sealed_by = key
        self.public_key = public_key

    @property
    def sequence(self) -> int:
        """The number of the last entry."""
        return self._ledger.sequence

    @property
    def head_hash(self) -> str:
        """SHA-256 of the last entry, hexadecimal: it vouches for every entry."""
        return self._ledger.head_hex

    @property
    def fingerprint(self) -> str:
        """The short name of the machine's public key, to be compared with what its screen shows."""
        return fingerprint(self.public_key)

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
        until: int | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> Iterator[StoredEntry]:
        """Yield up to ``limit`` entries after ``since`` and before ``until``, of one ``kind`` or several."""
        kinds = (kind,) if isinstance(kind, str) else tuple(kind)
        return self._database.walk(kinds, since, until, limit, newest_first=newest_first)

    def kinds(self) -> list[str]:
        """Return every kind of entry there is, sorted."""
        return self._database.kinds()

    def credits_cents(self) -> int:
        """Return all players' credit on the machine, in minor units."""
        return self._ledger.credits_cents()

    def bodies(self) -> Iterator[bytes]:
        """Yield the bytes of every entry up to :attr:`sequence`, proving the chain.

        Where the view was opened with the machine's key, each seal is proved too. Raises
        :class:`JournalDamaged`.
        """
        for item in self._database.sealed():
            if item.entry.sequence > self.sequence:
                return
            if self._sealed_by is not None:
                check_seal(item, self._sealed_by)
            yield item.entry.body

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
        """Recheck the books: the self-audit, and account totals against the meter cells they sum.

        Raises :class:`SelfAuditFailed`.
        """
        self._ledger.full_audit()

    def close(self) -> None:
        """Close the files."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def load(database: DatabaseReader, key: MachineKey | None = None) -> tuple[Ledger, bytes]:
    """Rebuild the ledger: the newest signed checkpoint, then every entry after it; and the public key.

    With ``key`` (the machine itself) the seal of each replayed entry is checked too. Raises
    :class:`JournalDamaged`.
    """
    where = "journal"
    public_key = checkpoint.public_key_of(
        next(database.walk((), 0, None, 1, newest_first=False), None), where
    )
    newest = next(database.walk((checkpoint.KIND,), 0, None, 1, newest_first=True), None)
    ledger = Ledger()
    if newest is not None:
        saved = checkpoint.check(newest, public_key, where)
        ledger = checkpoint.restore(saved, newest.sequence, newest.hash_hex)
    for item in database.sealed(ledger.sequence):
        if key is not None:
            check_seal(item, key)
        ledger.replay((item.entry,))
    return ledger, public_key


def open_view(
    state_dir: Path, *, key: MachineKey | None = None, storage: Storage | None = None
) -> JournalView:
    """Open the journal in ``state_dir`` for reading only, beside a running machine or a stopped one.

    Needs no write access and takes no lock. With the machine's ``key`` it is proved to be what this machine
    wrote: every entry read is sealed by it, and none that it acknowledged is cut off the end. Raises
    :class:`JournalUnwritable` when there is none, :class:`JournalDamaged` when it is not what was written.
    """
    medium = storage or DiskStorage()
    # First: a machine at work may go on after it was read.
    acknowledged = None if key is None else Anchor.read(medium, state_dir, key)
    database = DatabaseReader.open(medium, state_dir)
    try:
        ledger, public_key = load(database, key)
        if key is not None:
            if public_key != key.public_key:
                raise JournalDamaged(str(state_dir), "the machine key is not the one this journal names")
            _check_end(database, acknowledged, state_dir)
    except BaseException:
        database.close()
        raise
    return JournalView(database, ledger, public_key, key)


def _check_end(database: DatabaseReader, acknowledged: Head | None, state_dir: Path) -> None:
    """Raise :class:`JournalDamaged` where the journal ends before what the machine acknowledged."""
    if acknowledged is None:
        raise JournalDamaged(
            str(state_dir / ANCHOR_NAME),
            "the sealed head is missing or broken, so entries may be missing at the end unseen;"
            " the machine makes it anew when it next starts, and records that it was gone",
        )
    sequence, _ = database.last()
    if sequence < acknowledged.sequence:
        raise JournalDamaged(
            str(state_dir), f"it ends at entry {sequence}, {acknowledged.sequence} was acknowledged"
        )
    if database.hash_at(acknowledged.sequence) != acknowledged.hash_hex:
        raise JournalDamaged(str(state_dir), f"entry {acknowledged.sequence} is not the one acknowledged")
