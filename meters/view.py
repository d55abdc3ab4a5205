"""Read access to a journal: by the machine itself, or by a different process without stopping play."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from meters import checkpoint
from meters.archive import ARCHIVE_END_KEY, Archive, ArchiveEnd
from meters.copies import SECOND_FOLDER, JournalLocation, check_mac
from meters.database import DatabaseReader, EntriesArchived, verify_pages
from meters.entry import StoredEntry
from meters.errors import JournalDamaged, JournalError, JournalUnwritable
from meters.identifiers import IdentifierIndex, make_journal_tag
from meters.journal_head import JOURNAL_HEAD_FILE_NAME, JournalHead, JournalHeadFile
from meters.ledger import Ledger, Reservation
from meters.machine_key import MachineKey, format_fingerprint
from meters.reading import MeterReading, read_meters
from meters.storage import DiskStorage, Storage
from meters.transaction import JSON


class JournalView:
    """Balances, meters, stored values and entries of a journal as of its last entry."""

    def __init__(
        self,
        database: DatabaseReader,
        ledger: Ledger,
        public_key: bytes,
        key: MachineKey | None = None,
        *,
        storage: Storage,
        archives: Sequence[Path],
    ) -> None:
        self._database = database
        self._archive = Archive(storage, archives, self._read_archive_end)
        self._identifier_index: tuple[int, IdentifierIndex | None] = -1, None
        """The archive's index of ids, with the number of the last entry that it covers (-1: not loaded yet)."""
        self._parsed_archive_end: tuple[JSON, ArchiveEnd | None] = None, None
        """The stored end of the archive as JSON, with the object parsed from it, to parse it only once."""
        self._ledger = ledger
        self._mac_key = key
        """The machine's key, by which MACs are checked; None if they are not checked."""
        self.public_key = public_key
        self._journal_tag = ""
        """The journal tag, the digits that end each id made by the journal; "" until it is first used."""

    @property
    def sequence(self) -> int:
        """Return the number of the journal's last entry."""
        return self._ledger.sequence

    @property
    def head_hash(self) -> str:
        """Return the SHA-256 of the journal's last entry, hexadecimal; it covers every entry."""
        return self._ledger.head_hex

    @property
    def journal_tag(self) -> str:
        """Return the journal tag, the digits that end each id made by this journal."""
        if not self._journal_tag:
            self._journal_tag = make_journal_tag(self.genesis.hash_hex)
        return self._journal_tag

    def fresh_id(self, kind: str) -> str:
        """Return a new id for the journal's next entry, or for the ticket or other object that this entry is about.

        It consists of ``kind``, the number of that entry, and the journal's tag. All ids of this form are made here. An
        id may be stored elsewhere (ticket ledger, controller, register) and outlive the journal. The tag keeps it
        unique, because the numbers begin again in the next journal.
        """
        return f"{kind}-{self.sequence + 1}-{self.journal_tag}"

    @property
    def fingerprint(self) -> str:
        """Return the short form of the machine's public key, for comparison with the one on the machine's screen."""
        return format_fingerprint(self.public_key)

    def get(self, entry_id: str) -> StoredEntry | None:
        """Return the journal entry with this id, or None; an archived entry is read from the archive."""
        return self._database.find_by_id(entry_id) or self._archive.find_by_id(
            entry_id, self.journal_tag, self._load_identifier_index()
        )

    def has_entry(self, entry_id: str) -> bool:
        """Return whether the journal has an entry with this id.

        If the archive segment of the entry was taken away, the archive's index of ids is sufficient.
        """
        return self._database.find_by_id(entry_id) is not None or self._archive.has_entry(
            entry_id, self.journal_tag, self._load_identifier_index()
        )

    def entries(
        self,
        kind: str | Sequence[str] = (),
        *,
        after_sequence: int = 0,
        before_sequence: int | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> Iterator[StoredEntry]:
        """Yield the journal entries after ``after_sequence`` and before ``before_sequence``, in order of their numbers.

        Yield only those of the given kind or kinds, if any is given, and at most ``limit``. Archived entries are
        read from the archive.
        """
        kinds = (kind,) if isinstance(kind, str) else tuple(kind)
        iter_in_order = self._iter_newest_first if newest_first else self._iter_oldest_first
        return itertools.islice(iter_in_order(kinds, after_sequence, before_sequence), limit)

    def _iter_oldest_first(
        self, kinds: Sequence[str], after_sequence: int, before_sequence: int | None
    ) -> Iterator[StoredEntry]:
        """Yield journal entries from the archive, then from the database.

        Entries that are moved to the archive meanwhile are read from there.
        """
        while True:
            sequence_before_first = self._find_last_sequence_only_in_archive()
            if after_sequence < sequence_before_first:
                end = (
                    sequence_before_first + 1
                    if before_sequence is None
                    else min(before_sequence, sequence_before_first + 1)
                )
                for entry in self._archive.iter_entries_between(
                    kinds, after_sequence, end, newest_first=False
                ):
                    after_sequence = entry.sequence
                    yield entry
                after_sequence = max(after_sequence, sequence_before_first)
            try:
                for entry in self._database.iter_entries_between(
                    kinds, after_sequence, before_sequence, None, newest_first=False
                ):
                    after_sequence = entry.sequence
                    yield entry
            except EntriesArchived:  # the running machine archived them while they were being read
                continue
            return

    def _iter_newest_first(
        self, kinds: Sequence[str], after_sequence: int, before_sequence: int | None
    ) -> Iterator[StoredEntry]:
        """Yield journal entries from the database, then from the archive, newest first."""
        for entry in self._database.iter_entries_between(
            kinds, after_sequence, before_sequence, None, newest_first=True
        ):
            before_sequence = entry.sequence
            yield entry
        sequence_before_first = self._find_last_sequence_only_in_archive()
        if after_sequence < sequence_before_first:
            end = (
                sequence_before_first + 1
                if before_sequence is None
                else min(before_sequence, sequence_before_first + 1)
            )
            yield from self._archive.iter_entries_between(kinds, after_sequence, end, newest_first=True)

    def list_kinds(self) -> list[str]:
        """Return every kind of entry in the journal, sorted."""
        return sorted({*self._database.list_kinds(), *self._archive.list_kinds()})

    def credits_cents(self) -> int:
        """Return all players' credit on the machine, in minor units."""
        return self._ledger.credits_cents()

    def iter_bodies(self, after_sequence: int = 0) -> Iterator[bytes]:
        """Yield the bytes of every entry after ``after_sequence`` and up to :attr:`sequence`, verifying the hash chain.

        Archived entries are included. If the view was opened with the machine's key, each MAC is verified too
        (the archive's segments are signed). Raises :class:`JournalDamaged`.
        """
        last_sequence = after_sequence
        while last_sequence < self.sequence:
            sequence_before_first = self._find_last_sequence_only_in_archive()
            try:
                for sequence, body in self._iter_chained_bodies(last_sequence):
                    last_sequence = sequence
                    yield body
            except JournalDamaged:
                if self._find_last_sequence_only_in_archive() == sequence_before_first:
                    raise
                # The running machine archived them while they were being read.

    def iter_second_medium_bodies(
        self, location: JournalLocation, after_sequence: int = 0
    ) -> Iterator[bytes]:
        """Yield what :meth:`iter_bodies` yields, but read from the second medium: its archive, then its log."""
        log = location.open_log_copy()
        first_sequences = log.list_segment_starts()
        sequence_before_first = first_sequences[0] - 1 if first_sequences else 0
        for sequence, body, _ in Archive(
            location.storage, location.archive_folders[1:], self._read_archive_end
        ).iter_bodies(after_sequence):
            if sequence > sequence_before_first:
                break
            after_sequence = sequence
            yield body
        # The machine may be writing: the log is read up to where the first copy had come.
        for authenticated_entry in (
            log.iter_entries(after_sequence, last_sequence=self.sequence)
            if after_sequence < self.sequence
            else ()
        ):
            if self._mac_key is not None:
                check_mac(authenticated_entry, self._mac_key)
            yield authenticated_entry.entry.body

    def _iter_chained_bodies(self, after_sequence: int) -> Iterator[tuple[int, bytes]]:
        """Yield (number, bytes) of all entries after ``after_sequence``, from the archive and then the database."""
        sequence_before_first, hash_before_first = self._database.read_head_before_first()
        if after_sequence < sequence_before_first:
            for sequence, body, hash_hex in self._archive.iter_bodies(after_sequence):
                if sequence == sequence_before_first and hash_hex != hash_before_first:
                    raise JournalDamaged(
                        "the archive",
                        f"its entry {sequence_before_first} is not the one that the journal's next entry follows",
                    )
                yield sequence, body
                if sequence == sequence_before_first:
                    break
        for authenticated_entry in self._database.iter_entries(max(after_sequence, sequence_before_first)):
            if authenticated_entry.entry.sequence > self.sequence:
                return
            if self._mac_key is not None:
                check_mac(authenticated_entry, self._mac_key)
            yield authenticated_entry.entry.sequence, authenticated_entry.entry.body

    @property
    def archive(self) -> Archive:
        """Return the archive, which holds the older entries of this journal."""
        return self._archive

    def _read_archive_end(self) -> ArchiveEnd | None:
        """Return where the archive ends according to the stored values, or None if nothing was archived."""
        stored_archive_end = self._ledger.state.get(ARCHIVE_END_KEY)
        if stored_archive_end is not self._parsed_archive_end[0]:
            self._parsed_archive_end = stored_archive_end, ArchiveEnd.from_state(stored_archive_end)
        return self._parsed_archive_end[1]

    def _find_last_sequence_only_in_archive(self) -> int:
        """Return the number of the last entry that is only in the archive, because the first copy begins after it.

        A running machine may have archived more entries since this view was opened; the known end of the archive is
        then updated.
        """
        sequence_before_first = self._database.read_first_sequence() - 1
        archive_end = self._read_archive_end()
        if sequence_before_first > (0 if archive_end is None else archive_end.last_sequence):
            newest_checkpoint = next(
                self._database.iter_entries_between(
                    (checkpoint.CHECKPOINT_KIND,), 0, None, 1, newest_first=True
                ),
                None,
            )
            newest_archive_end = (
                None if newest_checkpoint is None else read_checkpoint_archive_end(newest_checkpoint)
            )
            self._parsed_archive_end = self._ledger.state.get(ARCHIVE_END_KEY), newest_archive_end
        return sequence_before_first

    @property
    def genesis(self) -> StoredEntry:
        """Return the first entry, which identifies the journal."""
        if self._find_last_sequence_only_in_archive():
            archive_end = self._read_archive_end()
            if archive_end is not None:
                return archive_end.genesis
        return next(self._database.iter_entries_between((), 0, None, 1, newest_first=False))

    def _load_identifier_index(self) -> IdentifierIndex | None:
        """Return the archive's index of entry ids, or None if nothing was archived.

        Its digest is checked on the first call.
        """
        last_archived_sequence = self._archive.last_sequence
        if self._identifier_index[0] != last_archived_sequence:
            self._identifier_index = last_archived_sequence, self._archive.load_identifier_index()
        return self._identifier_index[1]

    def balance_cents(self, account: str) -> int:
        """Return what flowed into the account minus what flowed out, in minor units."""
        return self._ledger.balance_cents(account)

    def available_cents(self, account: str) -> int:
        """Return the balance of the account minus its pending reservations, in minor units."""
        return self._ledger.available_cents(account)

    def list_pending(self) -> list[Reservation]:
        """Return the reservations of value that are neither settled nor voided, oldest first."""
        return list(self._ledger.pending_reservations.values())

    def state(self, key: str, default: JSON = None) -> JSON:
        """Return the value stored under the storage key ``key``, or ``default`` if none exists."""
        return self._ledger.state.get(key, default)

    def states(self, prefix: str = "") -> dict[str, JSON]:
        """Return the stored value of every storage key that starts with ``prefix``."""
        return {k: v for k, v in self._ledger.state.items() if k.startswith(prefix)}

    def meters(self) -> MeterReading:
        """Return a reading of every meter as of the journal's last entry."""
        return read_meters(self._ledger)

    def self_audit(self) -> None:
        """Run the self-audit, and compare account totals with the meter cells that they sum.

        Raises :class:`SelfAuditFailed`.
        """
        self._ledger.run_full_audit()

    def close(self) -> None:
        """Close the files of the journal."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def load_ledger(database: DatabaseReader, key: MachineKey | None = None) -> tuple[Ledger, bytes]:
    """Return (ledger, machine's public key) of a journal.

    The ledger is rebuilt from the newest signed checkpoint and the entries after it.

    With ``key`` (as in the machine itself) the MAC of each replayed entry is checked too. Raises
    :class:`JournalDamaged`.
    """
    location = "journal"
    sequence_before_first, _ = database.read_head_before_first()
    newest_checkpoint = next(
        database.iter_entries_between((checkpoint.CHECKPOINT_KIND,), 0, None, 1, newest_first=True), None
    )
    checkpoint_archive_end = (
        None if newest_checkpoint is None else read_checkpoint_archive_end(newest_checkpoint)
    )
    if sequence_before_first and checkpoint_archive_end is None:
        raise JournalDamaged(
            location,
            f"entries 1 to {sequence_before_first} are missing, and no checkpoint states that they are archived",
        )
    genesis = (
        checkpoint_archive_end.genesis
        if sequence_before_first and checkpoint_archive_end
        else next(database.iter_entries_between((), 0, None, 1, newest_first=False), None)
    )
    public_key = checkpoint.read_public_key(genesis, location)
    ledger = Ledger()
    if newest_checkpoint is not None:
        saved = checkpoint.check_checkpoint(newest_checkpoint, public_key, location)
        ledger = checkpoint.decode_ledger(saved, newest_checkpoint.sequence, newest_checkpoint.hash_hex)
    for authenticated_entry in database.iter_entries(ledger.sequence):
        if key is not None:
            check_mac(authenticated_entry, key)
        ledger.replay((authenticated_entry.entry,))
    archive_end = ArchiveEnd.from_state(ledger.state.get(ARCHIVE_END_KEY))
    if sequence_before_first > (0 if archive_end is None else archive_end.last_sequence):
        raise JournalDamaged(
            location, f"entries up to {sequence_before_first} are missing, and were not archived"
        )
    if archive_end is not None and database.read_hash(archive_end.last_sequence) != archive_end.head_hex:
        raise JournalDamaged(location, f"entry {archive_end.last_sequence} is not the one that was archived")
    return ledger, public_key


def read_checkpoint_archive_end(entry: StoredEntry) -> ArchiveEnd | None:
    """Return where the archive ended at the time of a checkpoint, or None if nothing was archived."""
    record: Any = entry.record
    try:
        return ArchiveEnd.from_state(record["ledger"]["state"].get(ARCHIVE_END_KEY))
    except (KeyError, TypeError, AttributeError) as error:
        raise JournalDamaged(f"journal entry {entry.sequence}", f"not a checkpoint: {error!r}") from error


def open_view(
    state_folder: Path,
    *,
    key: MachineKey | None = None,
    storage: Storage | None = None,
    second_folder: Path | None = None,
    check_pages: bool = False,
) -> JournalView:
    """Open the journal in ``state_folder`` read-only, whether the machine is running or stopped.

    This needs no write access and takes no lock.

    With the machine's ``key``, it is verified that the machine wrote the last checkpoint, the entries after it and
    those that :meth:`JournalView.iter_bodies` yields, and that no acknowledged entry is cut off the end. With
    ``check_pages``, every page of the file is compared with its checksum, if the machine key can be read: otherwise an
    entry whose kind or index is damaged would be left out unnoticed. That opens the file independently of SQLite,
    so the process that writes this journal must not use it.

    Raises :class:`JournalUnwritable` if there is no journal, :class:`JournalDamaged` if it is not what was
    written.
    """
    storage = storage or DiskStorage()
    medium_folders = state_folder, second_folder or state_folder / SECOND_FOLDER
    # Read this head before the entries: a running machine may write more of both meanwhile.
    acknowledged_head = None if key is None else _read_acknowledged_head(storage, medium_folders, key)
    if check_pages and (readable_key := key or _load_readable_key(storage, medium_folders)) is not None:
        verify_pages(storage, state_folder, readable_key)
    database = DatabaseReader.open(storage, state_folder)
    try:
        ledger, public_key = load_ledger(database, key)
        if key is not None:
            if public_key != key.public_key:
                raise JournalDamaged(str(state_folder), "the machine key is not the one this journal names")
            _check_end(database, acknowledged_head, medium_folders)
    except BaseException:
        database.close()
        raise
    archives = JournalLocation(storage, *medium_folders).archive_folders
    return JournalView(database, ledger, public_key, key, storage=storage, archives=archives)


def _load_readable_key(storage: Storage, medium_folders: tuple[Path, Path]) -> MachineKey | None:
    """Return the machine's key; None if it is absent, damaged, or not readable by this process."""
    try:
        return MachineKey.load(storage, *medium_folders)
    except JournalError:
        return None


def _read_acknowledged_head(
    storage: Storage, medium_folders: Iterable[Path], key: MachineKey
) -> JournalHead | None:
    """Return the journal head of the last acknowledged entry, from the newest valid head file on the media.

    Return None if no file is valid.
    """
    heads = []
    for folder in dict.fromkeys(medium_folders):
        with suppress(JournalUnwritable, OSError):  # a missing medium contributes nothing
            heads.append(JournalHeadFile.read(storage, folder, key).head)
    return max((head for head in heads if head), key=lambda head: head.sequence, default=None)


def _check_end(
    database: DatabaseReader, acknowledged_head: JournalHead | None, medium_folders: tuple[Path, Path]
) -> None:
    """Raise :class:`JournalDamaged` if the journal ends before an entry that the machine acknowledged."""
    if acknowledged_head is None:
        raise JournalDamaged(
            " and ".join(str(folder / JOURNAL_HEAD_FILE_NAME) for folder in dict.fromkeys(medium_folders)),
            "every journal head is missing or damaged, so entries may be missing at the end undetected",
        )
    sequence, _ = database.read_head()
    if sequence < acknowledged_head.sequence:
        raise JournalDamaged(
            str(medium_folders[0]),
            f"it ends at entry {sequence}, but entry {acknowledged_head.sequence} was acknowledged",
        )
    sequence_before_first, _ = database.read_head_before_first()
    if (
        acknowledged_head.sequence >= sequence_before_first
        and database.read_hash(acknowledged_head.sequence) != acknowledged_head.hash_hex
    ):
        raise JournalDamaged(
            str(medium_folders[0]), f"entry {acknowledged_head.sequence} differs from the acknowledged one"
        )
