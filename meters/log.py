"""The journal's second copy: a segmented log of checksummed records, in a different format, on the second medium.

A segment is a file named by its first sequence: a header, records, then preallocated zeros (so that syncing
an append need not change the file's size). When the next record would not fit, the segment is closed: a
trailer holds the SHA-256 of every byte before it, and start-up checks closed segments completely without
reading their records. Every byte of the log is covered by the header's CRC-32, a record's CRC-32 or the
trailer's digest, or must be zero. The first segment states where the log begins: at entry 1, or after
archived entries whose segments were removed.

    header   magic 8 | first sequence u64 | previous hash 32 | CRC-32 of these u32
    record   length u32 | CRC-32 of length and payload u32 | payload: MAC 32, packed body
    trailer  FFFFFFFF u32 | last sequence u64 | last hash 32 | SHA-256 of all before 32
"""

import hashlib
import struct
import zlib
from collections.abc import Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from meters.entry import GENESIS_HASH, StoredEntry, decode_next_entry
from meters.errors import JournalDamaged
from meters.machine_key import MAC_SIZE_BYTES
from meters.packing import pack_entry, unpack_entry
from meters.storage import Storage, StorageFile, read_file

#: First bytes of a segment in the format that this program writes.
LOG_MAGIC: Final = b"OEGMLOG2"
#: First bytes of a segment in each format that can be read.
#:
#: Format 1 stored bodies unpacked; :func:`unpack_entry` accepts such bodies too.
_READABLE_LOG_MAGICS: Final = (LOG_MAGIC, b"OEGMLOG1")
#: Ending of a segment's file name.
LOG_SUFFIX: Final = ".log"
#: Size of a segment, in bytes.
LOG_SEGMENT_SIZE_BYTES: Final = 4 << 20

#: Layout of a segment's header, without its CRC.
_HEADER_STRUCT: Final = struct.Struct(">8sQ32s")
#: Layout of a CRC-32.
_CRC_STRUCT: Final = struct.Struct(">I")
#: Layout of a record's head: length and CRC.
_RECORD_STRUCT: Final = struct.Struct(">II")
#: Layout of a trailer, without its digest.
_TRAILER_STRUCT: Final = struct.Struct(">IQ32s")
#: The size of a segment's header, in bytes.
_SEGMENT_HEADER_SIZE_BYTES: Final = _HEADER_STRUCT.size + _CRC_STRUCT.size
#: The size of a closed segment's trailer, in bytes.
_SEGMENT_TRAILER_SIZE_BYTES: Final = _TRAILER_STRUCT.size + 32
#: The value in place of a record's length that marks the trailer of a closed segment.
_CLOSED_SEGMENT_MARK: Final = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class AuthenticatedEntry:
    """A journal entry with the machine's MAC of its hash."""

    entry: StoredEntry
    """The journal entry."""
    mac: bytes
    """The machine's MAC of the entry's hash."""


@dataclass(frozen=True, slots=True)
class LogScan:
    """The result of scanning the journal's log: how far it is intact, and what is wrong after that."""

    last_sequence: int
    """The number of the last intact entry."""
    head_hex: str
    """The hash of the last intact entry."""
    damage: str = ""
    """What is wrong after the last intact entry, as text; empty if nothing is."""
    damaged_segment_start: int = 0
    """The number of the first entry of the damaged segment file; 0 if nothing is damaged."""


@dataclass(frozen=True, slots=True)
class _LogSegment:
    """A scanned segment file of the log."""

    first_sequence: int
    """The number of the segment's first entry."""
    last_sequence: int
    """The number of the segment's last entry."""
    head_hex: str
    """The hash of the segment's last entry."""
    last_record_offset: int
    """The offset in the segment file of the last record or, if the segment is closed, of the trailer."""
    end_offset: int
    """The offset in the segment file at which the next record is written."""
    is_closed: bool
    """Whether the segment has its trailer and takes no more records."""


class LogCopy:
    """The journal's log (its second copy) in one folder.

    Call :meth:`scan` before the log is written or checked. :meth:`list_segment_starts`, :meth:`iter_entries`,
    :meth:`rename_as_evidence` and :meth:`remove_unacknowledged_record` work without it.
    """

    def __init__(
        self, storage: Storage, folder: Path, *, segment_size_bytes: int = LOG_SEGMENT_SIZE_BYTES
    ) -> None:
        self._storage = storage
        self._folder = folder
        self._segment_size_bytes = segment_size_bytes
        """The size of a new segment file."""
        self._file: StorageFile | None = None
        """The segment file that takes the next record, or None."""
        self._first_sequence = 0
        """The number of the first entry of the segment that takes the next record."""
        self._open_segment_size_bytes = 0
        """The size in bytes of the segment file that takes the next record."""
        self._write_offset = 0
        """The offset in the segment file at which the next record is written."""
        self._last_record_offset = 0
        """The offset of the last record in the segment file that takes the next record."""
        self._digest = hashlib.sha256()
        """The SHA-256 of all bytes written so far to the segment file that takes the next record."""
        self._last_sequence = 0
        """The number of the last entry in the log."""
        self._head_hex = GENESIS_HASH
        """The hash of the last entry in the log."""
        self._check_in_progress: Generator[int] | None = None
        """The generator that checks the whole log step by step, or None if no check is running."""
        self._sequence_without_removal: int | None = None
        """The last argument for which :meth:`remove_oldest_segment_through` found nothing to remove, or None."""
        self.head_before_first: tuple[int, str] = 0, GENESIS_HASH
        """The number and hash of the entry before the first one in the log; valid after :meth:`scan`."""

    def close(self) -> None:
        """Close the segment file that is written, and the one that :meth:`check_next_part` is reading."""
        self._sequence_without_removal = None
        if self._check_in_progress is not None:
            self._check_in_progress.close()
            self._check_in_progress = None
        if self._file is not None:
            self._file.close()
            self._file = None

    # ------------------------------------------------------------------ reading
    def list_segment_starts(self) -> list[int]:
        """Return the number of the first entry of every segment of the log, in order."""
        return [
            int(name.removesuffix(LOG_SUFFIX))
            for name in self._storage.list_names(self._folder)
            if name.endswith(LOG_SUFFIX) and name.removesuffix(LOG_SUFFIX).isdigit()
        ]

    def scan(self) -> LogScan:
        """Check every byte of the log.

        If nothing is damaged, the log is then ready for the next record.
        """
        self.close()
        first_sequences, segment = self.list_segment_starts(), None
        try:
            sequence, head_hex = (
                self._read_head_before_first(first_sequences[0]) if first_sequences else (0, GENESIS_HASH)
            )
        except JournalDamaged as error:
            return LogScan(0, GENESIS_HASH, str(error), first_sequences[0])
        self.head_before_first = self._last_sequence, self._head_hex = sequence, head_hex
        for first_sequence in first_sequences:
            try:
                if segment is not None and not segment.is_closed:
                    raise JournalDamaged(
                        str(self._build_segment_path(segment.first_sequence)),
                        "the segment before the last is not closed",
                    )
                segment = self._scan_segment(first_sequence, sequence, head_hex)
            except JournalDamaged as error:
                return LogScan(sequence, head_hex, str(error), min(first_sequence, sequence + 1))
            sequence, head_hex = segment.last_sequence, segment.head_hex
        self._last_sequence, self._head_hex = sequence, head_hex
        if segment is not None and not segment.is_closed:
            self._reopen_segment(segment)
        return LogScan(sequence, head_hex)

    def _read_head_before_first(self, first_sequence: int) -> tuple[int, str]:
        """Return the number and hash of the entry before the log's first one.

        They are in the header of the segment that begins with entry ``first_sequence``.
        """
        if first_sequence == 1:
            return 0, GENESIS_HASH
        path = self._build_segment_path(first_sequence)
        file = self._storage.open_file(path, write=False)
        try:
            header = file.read_at(0, _SEGMENT_HEADER_SIZE_BYTES)
        finally:
            file.close()
        if len(header) < _SEGMENT_HEADER_SIZE_BYTES:
            raise JournalDamaged(str(path), f"the header is not that of entry {first_sequence}")
        previous_hex = _HEADER_STRUCT.unpack_from(header)[2].hex()
        self._check_header(path, header, first_sequence - 1, previous_hex)
        return first_sequence - 1, previous_hex

    def _scan_segment(self, first_sequence: int, sequence: int, head_hex: str) -> _LogSegment:
        """Check the log segment that begins with entry ``first_sequence``; return its scan.

        The segment must follow the entry with the number ``sequence`` and the hash ``head_hex``.
        """
        path = self._build_segment_path(first_sequence)
        data = read_file(self._storage, path) or b""
        self._check_header(path, data, sequence, head_hex)
        records_end = _find_records_end(data)
        if records_end < len(data):
            _, last_sequence, digest = _TRAILER_STRUCT.unpack_from(data, records_end)
            if hashlib.sha256(memoryview(data)[: records_end + _TRAILER_STRUCT.size]).digest() == data[-32:]:
                return _LogSegment(
                    first_sequence, last_sequence, digest.hex(), records_end, len(data), is_closed=True
                )
            raise JournalDamaged(str(path), "the closed segment is not what was written")
        last_record_offset = end_offset = _SEGMENT_HEADER_SIZE_BYTES
        for authenticated_entry, record_end in _iter_records(path, data, records_end, sequence, head_hex):
            last_record_offset, end_offset = end_offset, record_end
            sequence, head_hex = authenticated_entry.entry.sequence, authenticated_entry.entry.hash_hex
        return _LogSegment(
            first_sequence, sequence, head_hex, last_record_offset, end_offset, is_closed=False
        )

    @staticmethod
    def _check_header(path: Path, data: bytes, sequence: int, head_hex: str) -> None:
        """Raise :class:`JournalDamaged` unless a log segment's header is intact and names its previous entry correctly.

        That entry has the number ``sequence`` and the hash ``head_hex``.
        """
        headers = [
            _HEADER_STRUCT.pack(magic, sequence + 1, bytes.fromhex(head_hex))
            for magic in _READABLE_LOG_MAGICS
        ]
        if data[:_SEGMENT_HEADER_SIZE_BYTES] not in [
            header + _CRC_STRUCT.pack(zlib.crc32(header)) for header in headers
        ]:
            raise JournalDamaged(str(path), f"the header is not that of entry {sequence + 1}")

    def iter_entries(
        self, after_sequence: int = 0, last_sequence: int | None = None
    ) -> Iterator[AuthenticatedEntry]:
        """Yield the log's entries after ``after_sequence`` and up to ``last_sequence`` (None: to the end).

        Raises :class:`JournalDamaged` at the first record that is not intact.
        """
        first_sequences = self.list_segment_starts()
        for n, first_sequence in enumerate(first_sequences):
            if n + 1 < len(first_sequences) and first_sequences[n + 1] <= after_sequence + 1:
                continue
            path = self._build_segment_path(first_sequence)
            data = read_file(self._storage, path) or b""
            magic, header_sequence, previous_hash = (
                _HEADER_STRUCT.unpack_from(data) if len(data) >= _SEGMENT_HEADER_SIZE_BYTES else (b"", 0, b"")
            )
            if magic not in _READABLE_LOG_MAGICS or header_sequence != first_sequence:
                raise JournalDamaged(str(path), f"the header is not that of entry {first_sequence}")
            for authenticated_entry, _ in _iter_records(
                path, data, _find_records_end(data), first_sequence - 1, previous_hash.hex()
            ):
                if authenticated_entry.entry.sequence > after_sequence:
                    yield authenticated_entry
                if authenticated_entry.entry.sequence == last_sequence:
                    return

    def read_hash(self, sequence: int) -> str:
        """Return the hash of the log's entry ``sequence``, which must be intact."""
        if sequence == self.head_before_first[0]:
            return self.head_before_first[1]
        return next(self.iter_entries(sequence - 1)).entry.hash_hex

    # ------------------------------------------------------------------ writing
    def write(self, authenticated_entry: AuthenticatedEntry) -> None:
        """Append the next journal entry to the log as a record; it is durable only after :meth:`sync`."""
        payload = authenticated_entry.mac + pack_entry(
            authenticated_entry.entry.body, authenticated_entry.entry.previous_hex
        )
        length = _CRC_STRUCT.pack(len(payload))
        record = length + _CRC_STRUCT.pack(zlib.crc32(payload, zlib.crc32(length))) + payload
        if (
            self._file is None
            or self._write_offset + len(record) + _SEGMENT_TRAILER_SIZE_BYTES > self._open_segment_size_bytes
        ):
            self._start_segment(len(record))
        if self._file is None:
            raise JournalDamaged(str(self._folder), "the log has no open segment")
        self._file.write_at(self._write_offset, record)
        self._last_record_offset = self._write_offset
        self._write_offset += len(record)
        self._digest.update(record)
        self._last_sequence, self._head_hex = (
            authenticated_entry.entry.sequence,
            authenticated_entry.entry.hash_hex,
        )

    def sync(self) -> None:
        """Return once everything written to the log is durable."""
        if self._file is not None:
            self._file.sync()

    def _start_segment(self, record_size_bytes: int) -> None:
        """Close the segment file that is being written, if there is one, and create the next segment file.

        It has room for at least a record of ``record_size_bytes`` bytes.
        """
        if self._file is not None:
            trailer = _TRAILER_STRUCT.pack(
                _CLOSED_SEGMENT_MARK, self._last_sequence, bytes.fromhex(self._head_hex)
            )
            self._digest.update(trailer)
            # Set the size first: a trailer is only recognised at the end of its file.
            self._file.truncate(self._write_offset + _SEGMENT_TRAILER_SIZE_BYTES)
            self._file.sync()
            self._file.write_at(self._write_offset, trailer + self._digest.digest())
            self._file.sync()
            self._file.close()
            self._file = None
        self._first_sequence = self._last_sequence + 1
        header = _HEADER_STRUCT.pack(LOG_MAGIC, self._first_sequence, bytes.fromhex(self._head_hex))
        header += _CRC_STRUCT.pack(zlib.crc32(header))
        self._open_segment_size_bytes = max(
            self._segment_size_bytes, len(header) + record_size_bytes + _SEGMENT_TRAILER_SIZE_BYTES
        )
        # Create it under another name and rename it: a power loss never leaves an incomplete segment.
        path = self._build_segment_path(self._first_sequence)
        new_path = path.with_name(path.name + ".new")
        self._file = self._storage.open_file(new_path, write=True)
        self._file.truncate(0)
        self._file.write_at(0, header + bytes(self._open_segment_size_bytes - len(header)))
        self._file.sync()
        self._storage.rename(new_path, path)
        self._storage.sync_folder(self._folder)
        self._write_offset = len(header)
        self._digest = hashlib.sha256(header)

    def _reopen_segment(self, segment: _LogSegment) -> None:
        """Open the log's last segment, which was scanned and is not closed, to append to it."""
        self._first_sequence = segment.first_sequence
        self._last_record_offset = segment.last_record_offset
        self._write_offset = segment.end_offset
        self._file = self._storage.open_file(self._build_segment_path(segment.first_sequence), write=True)
        self._open_segment_size_bytes = self._file.size()
        self._digest = hashlib.sha256(self._file.read_at(0, self._write_offset))

    def rename_as_evidence(self, sequence: int) -> None:
        """Rename the log segment that begins with entry ``sequence``, and all later ones, to keep them as evidence.

        The caller then writes their entries again from the first copy.
        """
        self.close()
        for first_sequence in reversed(self.list_segment_starts()):
            if first_sequence >= sequence:
                path = self._build_segment_path(first_sequence)
                self._storage.rename(path, path.with_name(path.name + ".damaged"))
        self._storage.sync_folder(self._folder)

    def remove_unacknowledged_record(self, acknowledged_sequence: int, head_hex: str) -> bool:
        """Remove an incomplete record after the last acknowledged entry; return whether the log now ends there.

        ``acknowledged_sequence`` and ``head_hex`` are the number and hash of that entry. This is used if the first copy
        is damaged too: an entry whose record was torn before it was synced was never acknowledged. Any other
        damage is left as it is, and False is returned.
        """
        self.close()
        first_sequences = self.list_segment_starts()
        if not first_sequences:
            return False
        path = self._build_segment_path(first_sequences[-1])
        data, end_offset = read_file(self._storage, path) or b"", _SEGMENT_HEADER_SIZE_BYTES
        last_intact: tuple[int, str] | None = None
        with suppress(JournalDamaged):
            last_intact = self._read_head_before_first(first_sequences[-1])
            for authenticated_entry, record_end in _iter_records(
                path, data, _find_records_end(data), *last_intact
            ):
                last_intact, end_offset = (
                    (authenticated_entry.entry.sequence, authenticated_entry.entry.hash_hex),
                    record_end,
                )
        if last_intact != (acknowledged_sequence, head_hex):
            return False
        file = self._storage.open_file(path, write=True)
        try:
            file.write_at(end_offset, bytes(len(data) - end_offset))
            file.sync()
        finally:
            file.close()
        return True

    def begin_after(self, sequence: int, head_hex: str) -> None:
        """Let an empty log begin after entry ``sequence`` with this hash.

        That entry and all earlier ones are archived.
        """
        if self.list_segment_starts():
            raise JournalDamaged(str(self._folder), "a log that has entries cannot be started again")
        self.head_before_first = self._last_sequence, self._head_hex = sequence, head_hex

    def remove_oldest_segment_through(self, sequence: int) -> None:
        """Remove the log's oldest segment if all its entries are archived.

        ``sequence`` is the last entry that may be removed. Segments are removed one at a time, each durably
        before the next, so that a power loss never leaves a gap.
        """
        if sequence == self._sequence_without_removal:
            return
        first_start, *later_starts = self.list_segment_starts() or [0]
        if not later_starts or later_starts[0] - 1 > sequence:
            self._sequence_without_removal = sequence
            return
        if self._check_in_progress is not None:
            self._check_in_progress.close()
            self._check_in_progress = None
        new_head_before_first = self._read_head_before_first(later_starts[0])
        self._storage.remove(self._build_segment_path(first_start))
        self._storage.sync_folder(self._folder)
        self.head_before_first = new_head_before_first

    # ------------------------------------------------------------------ while the machine runs
    def check_last(self, sequence: int, head_hex: str) -> None:
        """Read the log's last record back.

        Raises :class:`JournalDamaged` unless it has the entry with this number and hash.
        """
        found_hex = self._head_hex
        if self._file is not None and self._last_record_offset < self._write_offset:
            record = self._file.read_at(
                self._last_record_offset, self._write_offset - self._last_record_offset
            )
            with suppress(ValueError):
                found_hex = ""
                found_hex = hashlib.sha256(
                    unpack_entry(record[_RECORD_STRUCT.size + MAC_SIZE_BYTES :])
                ).hexdigest()
        if (self._last_sequence, found_hex) != (sequence, head_hex):
            location = f"{self._build_segment_path(self._first_sequence)} entry {sequence}"
            raise JournalDamaged(location, "the last record is not what was written")

    def check_next_part(self, size_bytes: int) -> None:
        """Check about ``size_bytes`` more bytes of the log for damage; after the last segment, continue with the first.

        Raises :class:`JournalDamaged`.
        """
        if self._check_in_progress is None:
            self._check_in_progress = self._check_in_steps(size_bytes)
        if next(self._check_in_progress, None) is None:
            self._check_in_progress = None

    def _check_in_steps(self, size_bytes: int) -> Generator[int]:
        """Check the whole log once, a chunk of ``size_bytes`` bytes per iteration.

        First the closed segments are checked, then the segment that is being written, as it is at that time.
        """
        for first_sequence in self.list_segment_starts():
            path = self._build_segment_path(first_sequence)
            file = self._storage.open_file(path, write=False)
            try:
                is_being_written = first_sequence == self._first_sequence
                end_offset = self._write_offset if is_being_written else file.size() - 32
                expected_digest = self._digest.digest() if is_being_written else file.read_at(end_offset, 32)
                hasher = hashlib.sha256()
                for offset in range(0, end_offset, size_bytes):
                    hasher.update(file.read_at(offset, min(size_bytes, end_offset - offset)))
                    yield first_sequence
            finally:
                file.close()
            if hasher.digest() != expected_digest:
                raise JournalDamaged(str(path), "the segment is not what was written")

    def _build_segment_path(self, first_sequence: int) -> Path:
        """Return the path of the log segment whose first entry is ``first_sequence``."""
        return self._folder / f"{first_sequence:012d}{LOG_SUFFIX}"


def _find_records_end(data: bytes) -> int:
    """Return the offset at which a log segment's records must end.

    It is the start of the trailer or, without one, the end of the file.
    """
    trailer_start = len(data) - _SEGMENT_TRAILER_SIZE_BYTES
    return (
        trailer_start
        if trailer_start >= _SEGMENT_HEADER_SIZE_BYTES
        and data[trailer_start : trailer_start + 4] == _CRC_STRUCT.pack(_CLOSED_SEGMENT_MARK)
        else len(data)
    )


def _iter_records(
    path: Path, data: bytes, records_end: int, sequence: int, head_hex: str
) -> Iterator[tuple[AuthenticatedEntry, int]]:
    """Yield each record of a log segment before ``records_end``, and the offset at which the record ends.

    ``sequence`` and ``head_hex`` are the number and hash of the entry before the first record. Any byte other
    than zero after the records is damage. Raises :class:`JournalDamaged`.
    """
    offset = _SEGMENT_HEADER_SIZE_BYTES
    while offset + _RECORD_STRUCT.size <= records_end:
        length, crc = _RECORD_STRUCT.unpack_from(data, offset)
        if length == 0:
            break
        payload = data[offset + _RECORD_STRUCT.size : offset + _RECORD_STRUCT.size + length]
        if len(payload) != length or crc != zlib.crc32(payload, zlib.crc32(data[offset : offset + 4])):
            raise JournalDamaged(
                f"{path} entry {sequence + 1}", f"the record at byte {offset} is torn or altered"
            )
        try:
            body = unpack_entry(payload[MAC_SIZE_BYTES:])
        except ValueError as error:
            raise JournalDamaged(f"{path} entry {sequence + 1}", str(error)) from error
        entry = decode_next_entry(body, hashlib.sha256(body).hexdigest(), sequence + 1, head_hex, str(path))
        sequence, head_hex = entry.sequence, entry.hash_hex
        offset += _RECORD_STRUCT.size + length
        yield AuthenticatedEntry(entry, payload[:MAC_SIZE_BYTES]), offset
    if data.count(0, offset, records_end) != records_end - offset:
        raise JournalDamaged(
            f"{path} entry {sequence + 1}", f"the bytes after {offset} are not zero, as in an unused part"
        )
