"""The second copy: a segmented log of checksummed records, another format on a medium of its own choice.

A segment is a file named by its first sequence: a header, records, then zeros laid out ahead (so that
syncing an append needs no change of the file's size). When the next record would not fit, the segment is
closed: a trailer carries the SHA-256 of every byte before it, and start-up checks closed segments whole
without reading their records. Every byte of the log is under the header's CRC-32, a record's CRC-32, the
trailer's digest, or must be zero. The first segment says where the log begins: at entry 1, or after the
entries that were archived, whose segments were then removed.

    header   magic 8 | first sequence u64 | previous hash 32 | CRC-32 of these u32
    record   length u32 | CRC-32 of length and payload u32 | payload: seal 32, packed body
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

from meters.entry import GENESIS_HASH, StoredEntry, follow
from meters.errors import JournalDamaged
from meters.keys import SEAL_BYTES
from meters.packing import pack, unpack
from meters.storage import Storage, StorageFile, read_file

MAGIC: Final = b"OEGMLOG2"
_MAGICS: Final = (MAGIC, b"OEGMLOG1")
"""The first form held bodies as they are, which :func:`unpack` takes too."""
SUFFIX: Final = ".log"
SEGMENT_BYTES: Final = 4 << 20

_HEADER: Final = struct.Struct(">8sQ32s")
_CRC: Final = struct.Struct(">I")
_RECORD: Final = struct.Struct(">II")
_TRAILER: Final = struct.Struct(">IQ32s")
_HEADER_BYTES: Final = _HEADER.size + _CRC.size
_TRAILER_BYTES: Final = _TRAILER.size + 32
_CLOSED: Final = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Sealed:
    """An entry with the machine's seal of its hash."""

    entry: StoredEntry
    seal: bytes


@dataclass(frozen=True, slots=True)
class LogScan:
    """What a scan proved: entries up to ``sequence`` are whole; ``damage`` says what is wrong after them.

    ``bad_segment`` is the first sequence of the segment the damage is in.
    """

    sequence: int
    head_hex: str
    damage: str = ""
    bad_segment: int = 0


@dataclass(frozen=True, slots=True)
class _Segment:
    """A scanned segment: its end (where the next record goes) and last entry; closed or not."""

    first: int
    sequence: int
    head_hex: str
    last: int
    end: int
    closed: bool


class LogCopy:
    """The log in one folder. :meth:`scan` first; then append, sync, read."""

    def __init__(self, storage: Storage, folder: Path, *, segment_bytes: int = SEGMENT_BYTES) -> None:
        self._storage = storage
        self._folder = folder
        self._segment_bytes = segment_bytes
        self._file: StorageFile | None = None
        self._first = 0
        self._size = 0
        self._end = 0
        self._last = 0
        self._digest = hashlib.sha256()
        self._sequence = 0
        self._head_hex = GENESIS_HASH
        self._scrub: Generator[int] | None = None
        self.base: tuple[int, str] = 0, GENESIS_HASH
        """The entry before the first one here, and its hash; valid after :meth:`scan`."""

    def close(self) -> None:
        """Close the active segment, and the one a round of checking stands in."""
        if self._scrub is not None:
            self._scrub.close()
            self._scrub = None
        if self._file is not None:
            self._file.close()
            self._file = None

    # ------------------------------------------------------------------ reading
    def firsts(self) -> list[int]:
        """Return the first sequence of every segment, in order."""
        return [
            int(name.removesuffix(SUFFIX))
            for name in self._storage.names(self._folder)
            if name.endswith(SUFFIX) and name.removesuffix(SUFFIX).isdigit()
        ]

    def scan(self) -> LogScan:
        """Check every byte and get ready to append after the last whole record, if nothing is damaged."""
        self.close()
        firsts, segment = self.firsts(), None
        try:
            sequence, head_hex = self._read_base(firsts[0]) if firsts else (0, GENESIS_HASH)
        except JournalDamaged as why:
            return LogScan(0, GENESIS_HASH, str(why), firsts[0])
        self.base = self._sequence, self._head_hex = sequence, head_hex
        for first in firsts:
            try:
                if segment is not None and not segment.closed:
                    raise JournalDamaged(
                        str(self._path(segment.first)), "the segment before the last is not closed"
                    )
                segment = self._scan_segment(first, sequence, head_hex)
            except JournalDamaged as why:
                return LogScan(sequence, head_hex, str(why), min(first, sequence + 1))
            sequence, head_hex = segment.sequence, segment.head_hex
        self._sequence, self._head_hex = sequence, head_hex
        if segment is not None and not segment.closed:
            self._resume(segment)
        return LogScan(sequence, head_hex)

    def _read_base(self, first: int) -> tuple[int, str]:
        """Return the entry before the first segment, and its hash, as that segment's header names it."""
        if first == 1:
            return 0, GENESIS_HASH
        path = self._path(first)
        file = self._storage.open_file(path, write=False)
        try:
            header = file.read_at(0, _HEADER_BYTES)
        finally:
            file.close()
        if len(header) < _HEADER_BYTES:
            raise JournalDamaged(str(path), f"the header is not that of entry {first}")
        previous_hex = _HEADER.unpack_from(header)[2].hex()
        self._check_header(path, header, first - 1, previous_hex)
        return first - 1, previous_hex

    def _scan_segment(self, first: int, sequence: int, head_hex: str) -> _Segment:
        """Check the segment starting at ``first``, which must follow entry ``sequence``."""
        path = self._path(first)
        data = read_file(self._storage, path) or b""
        self._check_header(path, data, sequence, head_hex)
        limit = _records_limit(data)
        if limit < len(data):
            _, last, digest = _TRAILER.unpack_from(data, limit)
            if hashlib.sha256(memoryview(data)[: limit + _TRAILER.size]).digest() == data[-32:]:
                return _Segment(first, last, digest.hex(), limit, len(data), closed=True)
            raise JournalDamaged(str(path), "the closed segment is not what was written")
        start = end = _HEADER_BYTES
        for item, after in _records(path, data, limit, sequence, head_hex):
            start, end = end, after
            sequence, head_hex = item.entry.sequence, item.entry.hash_hex
        return _Segment(first, sequence, head_hex, start, end, closed=False)

    @staticmethod
    def _check_header(path: Path, data: bytes, sequence: int, head_hex: str) -> None:
        headers = [_HEADER.pack(magic, sequence + 1, bytes.fromhex(head_hex)) for magic in _MAGICS]
        if data[:_HEADER_BYTES] not in [header + _CRC.pack(zlib.crc32(header)) for header in headers]:
            raise JournalDamaged(str(path), f"the header is not that of entry {sequence + 1}")

    def records(self, after: int = 0, until: int | None = None) -> Iterator[Sealed]:
        """Yield the records after sequence ``after`` and up to ``until``.

        Raises :class:`JournalDamaged` where they break.
        """
        firsts = self.firsts()
        for n, first in enumerate(firsts):
            if n + 1 < len(firsts) and firsts[n + 1] <= after + 1:
                continue
            path = self._path(first)
            data = read_file(self._storage, path) or b""
            magic, start, previous = (
                _HEADER.unpack_from(data) if len(data) >= _HEADER_BYTES else (b"", 0, b"")
            )
            if magic not in _MAGICS or start != first:
                raise JournalDamaged(str(path), f"the header is not that of entry {first}")
            for item, _ in _records(path, data, _records_limit(data), first - 1, previous.hex()):
                if item.entry.sequence > after:
                    yield item
                if item.entry.sequence == until:
                    return

    def hash_at(self, sequence: int) -> str:
        """Return the hash of entry ``sequence`` (which must be whole)."""
        if sequence == self.base[0]:
            return self.base[1]
        return next(self.records(sequence - 1)).entry.hash_hex

    # ------------------------------------------------------------------ writing
    def write(self, item: Sealed) -> None:
        """Write the next record; durable only after :meth:`sync`."""
        payload = item.seal + pack(item.entry.body, item.entry.previous_hex)
        length = _CRC.pack(len(payload))
        record = length + _CRC.pack(zlib.crc32(payload, zlib.crc32(length))) + payload
        if self._file is None or self._end + len(record) + _TRAILER_BYTES > self._size:
            self._roll(len(record))
        if self._file is None:
            raise JournalDamaged(str(self._folder), "the log has no open segment")
        self._file.write_at(self._end, record)
        self._last = self._end
        self._end += len(record)
        self._digest.update(record)
        self._sequence, self._head_hex = item.entry.sequence, item.entry.hash_hex

    def sync(self) -> None:
        """Return when everything written is durable."""
        if self._file is not None:
            self._file.sync()

    def _roll(self, record_bytes: int) -> None:
        """Close the active segment, if any, and lay out the next one."""
        if self._file is not None:
            trailer = _TRAILER.pack(_CLOSED, self._sequence, bytes.fromhex(self._head_hex))
            self._digest.update(trailer)
            # The size first: a trailer is one only at the end of its file.
            self._file.truncate(self._end + _TRAILER_BYTES)
            self._file.sync()
            self._file.write_at(self._end, trailer + self._digest.digest())
            self._file.sync()
            self._file.close()
            self._file = None
        self._first = self._sequence + 1
        header = _HEADER.pack(MAGIC, self._first, bytes.fromhex(self._head_hex))
        header += _CRC.pack(zlib.crc32(header))
        self._size = max(self._segment_bytes, len(header) + record_bytes + _TRAILER_BYTES)
        # Laid out under another name and then renamed: a power cut never leaves a half-made segment.
        path = self._path(self._first)
        fresh = path.with_name(path.name + ".new")
        self._file = self._storage.open_file(fresh, write=True)
        self._file.truncate(0)
        self._file.write_at(0, header + bytes(self._size - len(header)))
        self._file.sync()
        self._storage.rename(fresh, path)
        self._storage.sync_folder(self._folder)
        self._end = len(header)
        self._digest = hashlib.sha256(header)

    def _resume(self, segment: _Segment) -> None:
        """Get ready to append to a scanned open segment."""
        self._first, self._last, self._end = segment.first, segment.last, segment.end
        self._file = self._storage.open_file(self._path(segment.first), write=True)
        self._size = self._file.size()
        self._digest = hashlib.sha256(self._file.read_at(0, self._end))

    def put_aside(self, sequence: int) -> None:
        """Keep the segment starting at ``sequence`` and all after it as evidence, out of the log.

        What they held is then rewritten from the other copy.
        """
        self.close()
        for first in reversed(self.firsts()):
            if first >= sequence:
                path = self._path(first)
                self._storage.rename(path, path.with_name(path.name + ".damaged"))
        self._storage.sync_folder(self._folder)

    def drop_torn(self, acknowledged: int, head_hex: str) -> bool:
        """Take away what was being written after the last acknowledged entry; whether that is where it ends.

        For a log that is alone: nobody was told of a record that was torn before it was synced. Anything else
        that is wrong with the log stays as it is.
        """
        self.close()
        firsts = self.firsts()
        if not firsts:
            return False
        path = self._path(firsts[-1])
        data, end = read_file(self._storage, path) or b"", _HEADER_BYTES
        found: tuple[int, str] | None = None
        with suppress(JournalDamaged):
            found = self._read_base(firsts[-1])
            for item, after in _records(path, data, _records_limit(data), *found):
                found, end = (item.entry.sequence, item.entry.hash_hex), after
        if found != (acknowledged, head_hex):
            return False
        file = self._storage.open_file(path, write=True)
        try:
            file.write_at(end, bytes(len(data) - end))
            file.sync()
        finally:
            file.close()
        return True

    def begin_after(self, sequence: int, head_hex: str) -> None:
        """Let an empty log begin after entry ``sequence`` with this hash; what is before is archived."""
        if self.firsts():
            raise JournalDamaged(str(self._folder), "a log that holds entries cannot begin anew")
        self.base = self._sequence, self._head_hex = sequence, head_hex

    def drop_through(self, sequence: int) -> None:
        """Remove the oldest segment when all of it is at or before entry ``sequence``, which is archived.

        One at a time, each gone for good before the next: a power cut never leaves a gap.
        """
        first, *rest = self.firsts() or [0]
        if not rest or rest[0] - 1 > sequence:
            return
        if self._scrub is not None:
            self._scrub.close()
            self._scrub = None
        base = self._read_base(rest[0])
        self._storage.remove(self._path(first))
        self._storage.sync_folder(self._folder)
        self.base = base

    # ------------------------------------------------------------------ while the machine runs
    def check_last(self, sequence: int, head_hex: str) -> None:
        """Read the last record back; raise :class:`JournalDamaged` unless it is this entry."""
        found_hex = self._head_hex
        if self._file is not None and self._last < self._end:
            record = self._file.read_at(self._last, self._end - self._last)
            with suppress(ValueError):
                found_hex = ""
                found_hex = hashlib.sha256(unpack(record[_RECORD.size + SEAL_BYTES :])).hexdigest()
        if (self._sequence, found_hex) != (sequence, head_hex):
            where = f"{self._path(self._first)} entry {sequence}"
            raise JournalDamaged(where, "the last record is not what was written")

    def check_some(self, size: int) -> None:
        """Check the next ``size`` bytes, going round all segments; raise :class:`JournalDamaged`."""
        if self._scrub is None:
            self._scrub = self._check_steps(size)
        if next(self._scrub, None) is None:
            self._scrub = None

    def _check_steps(self, size: int) -> Generator[int]:
        """One round over the log, a step a chunk: every closed segment, then the open one as it stands."""
        for first in self.firsts():
            path = self._path(first)
            file = self._storage.open_file(path, write=False)
            try:
                active = first == self._first
                end = self._end if active else file.size() - 32
                expected = self._digest.digest() if active else file.read_at(end, 32)
                found = hashlib.sha256()
                for at in range(0, end, size):
                    found.update(file.read_at(at, min(size, end - at)))
                    yield first
            finally:
                file.close()
            if found.digest() != expected:
                raise JournalDamaged(str(path), "the segment is not what was written")

    def _path(self, first: int) -> Path:
        return self._folder / f"{first:012d}{SUFFIX}"


def _records_limit(data: bytes) -> int:
    """Where a segment's records must end: before its trailer, or at the end of what was laid out."""
    at = len(data) - _TRAILER_BYTES
    return at if at >= _HEADER_BYTES and data[at : at + 4] == _CRC.pack(_CLOSED) else len(data)


def _records(
    path: Path, data: bytes, limit: int, sequence: int, head_hex: str
) -> Iterator[tuple[Sealed, int]]:
    """Yield each record before ``limit`` and where it ends; anything else than zeros after them is damage."""
    at = _HEADER_BYTES
    while at + _RECORD.size <= limit:
        length, crc = _RECORD.unpack_from(data, at)
        if length == 0:
            break
        payload = data[at + _RECORD.size : at + _RECORD.size + length]
        if len(payload) != length or crc != zlib.crc32(payload, zlib.crc32(data[at : at + 4])):
            raise JournalDamaged(
                f"{path} entry {sequence + 1}", f"the record at byte {at} is torn or altered"
            )
        try:
            body = unpack(payload[SEAL_BYTES:])
        except ValueError as why:
            raise JournalDamaged(f"{path} entry {sequence + 1}", str(why)) from why
        entry = follow(body, hashlib.sha256(body).hexdigest(), sequence + 1, head_hex, str(path))
        sequence, head_hex = entry.sequence, entry.hash_hex
        at += _RECORD.size + length
        yield Sealed(entry, payload[:SEAL_BYTES]), at
    if data.count(0, at, limit) != limit - at:
        raise JournalDamaged(f"{path} entry {sequence + 1}", f"bytes after {at} are not what was laid out")
