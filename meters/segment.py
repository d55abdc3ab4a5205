"""One segment of the archive: a range of entries in a signed file.

    blocks   deflated lines of up to 256 entries (64 MiB); a line is an entry's bytes without the previous hash
    trailer  canonical JSON: a description of the segment, and the machine's signature of it
    end      length of the trailer (u32, big-endian), magic (8 bytes)

For each block, the trailer has the hash of the entry before the block. A block can therefore be verified by
itself: the hash chain of its entries must begin at that hash and end at the hash before the next block, or at
the segment's last hash. The MACs of single entries are not stored, because the signature covers all entries. A line
that starts with "=" has all of the entry's bytes, because its previous hash could not be removed and restored.
"""

import hashlib
import struct
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from meters.entry import BODY_BYTES_MAX, StoredEntry, decode_next_entry, encode_canonical_json, parse_json
from meters.errors import JournalDamaged
from meters.fields import read_hex_field
from meters.machine_key import MachineKey, is_signed_by
from meters.packing import deflate, inflate, remove_previous_hash, restore_previous_hash
from meters.storage import Storage, StorageFile

#: Ending of a segment's file name.
SEGMENT_SUFFIX: Final = ".seg"
#: The most entries in a block of an archive segment.
SEGMENT_BLOCK_ENTRIES_MAX: Final = 256
#: Version of the format of an archive segment.
_FORMAT_VERSION: Final = 1
#: Last bytes of a segment.
_MAGIC: Final = b"OEGMSEG1"
#: Layout of the end of a segment: the trailer's length, and the magic.
_END_STRUCT: Final = struct.Struct(">I8s")
#: Prefix of the signed bytes, so that the signature fits no other kind of document.
_SIGNATURE_PREFIX: Final = b"open-egm archive\0"
#: The largest uncompressed size of a block that is accepted. The writer's blocks are smaller: the entries of a block
#: have at most :data:`BODY_BYTES_MAX` bytes together, not counting the mark and the line break of each.
_BLOCK_BYTES_MAX: Final = 2 * BODY_BYTES_MAX
#: The prefix of a line that still contains the hash of the entry before.
_UNSHORTENED_MARK: Final = b"="


class SegmentBlock(NamedTuple):
    """One compressed block of an archive segment; stored as the list of its three fields."""

    first_sequence: int
    """The number of the block's first entry."""
    end_offset: int
    """The offset in the segment file at which the block ends."""
    previous_hex: str
    """The hash of the entry before the block's first entry."""


@dataclass(frozen=True, slots=True)
class SegmentTrailer:
    """The signed trailer of an archive segment. ``digest``, the SHA-256 of its signed part, identifies the segment."""

    first_sequence: int
    """The number of the segment's first entry."""
    last_sequence: int
    """The number of the segment's last entry."""
    previous_hex: str
    """The hash of the entry before the segment's first one."""
    head_hex: str
    """The hash of the segment's last entry."""
    previous_segment_digest: str
    """The digest of the previous archive segment; empty for the first segment."""
    genesis_hex: str
    """The hash of the journal's first entry, which identifies the journal."""
    entry_count_by_kind: Mapping[str, int]
    """The number of entries of each kind in the segment, by kind."""
    kinds_before: Sequence[str]
    """The kinds of entries that occur in earlier segments."""
    blocks: Sequence[SegmentBlock]
    """The blocks of the segment, in order."""
    digest: str
    """The SHA-256 of the trailer's signed part, which identifies the segment."""


class SegmentWriter:
    """Writer of one archive segment, to a file on each medium (``paths``).

    :meth:`finish` completes the segment, :meth:`sync` makes it durable.
    """

    def __init__(
        self, storage: Storage, paths: Sequence[Path], first_sequence: int, previous_hex: str
    ) -> None:
        self._files: list[StorageFile] = []
        try:
            for path in paths:
                self._files.append(storage.open_file(path, write=True))
                self._files[-1].truncate(0)
        except BaseException:
            self.close()
            raise
        self._first_sequence = first_sequence
        """The number of the segment's first entry."""
        self._previous_hex = previous_hex
        """The hash of the entry before the segment."""
        self._block_previous_hex = previous_hex
        """The hash of the entry before the block in progress."""
        self._head_hex = previous_hex
        """The hash of the last entry added to the segment."""
        self._block_first_sequence = first_sequence
        """The number of the first entry of the block in progress."""
        self._last_sequence = first_sequence - 1
        """The number of the last entry added to the segment."""
        self._end_offset = 0
        """The number of bytes written so far to each segment file."""
        self._lines: list[bytes] = []
        """The entries of the block in progress, each as its line, not compressed yet."""
        self._block_size_bytes = 0
        """The total length of the lines of the block in progress, in bytes."""
        self._finished_blocks: list[SegmentBlock] = []
        self._count_by_kind: Counter[str] = Counter()
        """The number of entries of each kind added so far."""

    def add_entry(self, entry: StoredEntry) -> None:
        """Append the next journal entry to the archive segment."""
        short_body = remove_previous_hash(entry.body, entry.previous_hex)
        line = _UNSHORTENED_MARK + entry.body if short_body is None else short_body
        if (
            len(self._lines) == SEGMENT_BLOCK_ENTRIES_MAX
            or self._block_size_bytes + len(line) > BODY_BYTES_MAX
        ):
            self._write_block()
        self._lines.append(line)
        self._block_size_bytes += len(line)
        self._count_by_kind[entry.kind] += 1
        self._last_sequence, self._head_hex = entry.sequence, entry.hash_hex

    def _write_block(self) -> None:
        """Compress the entries collected for the segment and write them as its next block."""
        if self._lines:
            self._end_offset = self._write_to_all(deflate(b"\n".join(self._lines)))
            self._finished_blocks.append(
                SegmentBlock(self._block_first_sequence, self._end_offset, self._block_previous_hex)
            )
            self._lines, self._block_size_bytes = [], 0
            self._block_first_sequence, self._block_previous_hex = self._last_sequence + 1, self._head_hex

    def _write_to_all(self, data: bytes) -> int:
        """Write ``data`` at the end of the segment file on every medium; return the offset after it."""
        for file in self._files:
            file.write_at(self._end_offset, data)
        return self._end_offset + len(data)

    def finish(
        self, key: MachineKey, previous_segment_digest: str, kinds_before: Sequence[str], genesis_hex: str
    ) -> str:
        """Write the segment's signed trailer; return its digest.

        Args:
            key: Signs the trailer.
            previous_segment_digest: The digest of the previous segment.
            kinds_before: The kinds of entries in earlier segments.
            genesis_hex: The hash of the journal's first entry.
        """
        self._write_block()
        trailer: dict[str, object] = {
            "format": _FORMAT_VERSION,
            "first": self._first_sequence,
            "last": self._last_sequence,
            "previous": self._previous_hex,
            "head": self._head_hex,
            "before": previous_segment_digest,
            "genesis": genesis_hex,
            "kinds": dict(self._count_by_kind),
            "kinds_before": kinds_before,
            "blocks": self._finished_blocks,
        }
        signed_bytes = encode_canonical_json(trailer)
        data = encode_canonical_json(
            {"facts": trailer, "signature": key.sign(_SIGNATURE_PREFIX + signed_bytes).hex()}
        )
        self._write_to_all(data + _END_STRUCT.pack(len(data), _MAGIC))
        return hashlib.sha256(signed_bytes).hexdigest()

    def sync(self) -> Iterator[None]:
        """Make the archive segment durable, on one medium per iteration."""
        for file in self._files:
            file.sync()
            yield

    def close(self) -> None:
        """Close the files of the archive segment that is being written."""
        for file in self._files:
            file.close()
        self._files = []


class Segment:
    """An archive segment in one file; its signed trailer is verified on opening, its entries as they are read."""

    def __init__(self, storage: Storage, path: Path, public_key: bytes) -> None:
        """Read the segment's signed trailer; raise :class:`JournalDamaged` unless this machine signed it."""
        self._storage = storage
        self.path = path
        self.trailer = self._read_signed_trailer(public_key)
        """The segment's trailer, whose signature has been verified."""
        self._first_sequences = [block.first_sequence for block in self.trailer.blocks]
        """The number of the first entry of each block, ascending."""

    def _read_signed_trailer(self, public_key: bytes) -> SegmentTrailer:
        """Return the trailer at the end of the segment after verifying its signature.

        Raises :class:`JournalDamaged`.
        """
        file = self._storage.open_file(self.path, write=False)
        try:
            size = file.size()
            end_bytes = (
                file.read_at(size - _END_STRUCT.size, _END_STRUCT.size) if size >= _END_STRUCT.size else b""
            )
            length, magic = _END_STRUCT.unpack(end_bytes) if len(end_bytes) == _END_STRUCT.size else (0, b"")
            if magic != _MAGIC or length > size - _END_STRUCT.size:
                raise JournalDamaged(str(self.path), "its last bytes are not the trailer of a segment")
            data = file.read_at(size - _END_STRUCT.size - length, length)
        finally:
            file.close()
        try:
            signed_trailer = parse_json(data)
            trailer, signature = signed_trailer["facts"], read_hex_field(signed_trailer, "signature")
            signed_bytes = encode_canonical_json(trailer)
            if trailer["format"] != _FORMAT_VERSION:
                raise ValueError(f"expected format {_FORMAT_VERSION}, found {trailer['format']}")
            if not is_signed_by(public_key, _SIGNATURE_PREFIX + signed_bytes, signature):
                raise JournalDamaged(
                    str(self.path), "the signature of the segment was not made with the machine's key"
                )
            return SegmentTrailer(
                first_sequence=trailer["first"],
                last_sequence=trailer["last"],
                previous_hex=trailer["previous"],
                head_hex=trailer["head"],
                previous_segment_digest=trailer["before"],
                genesis_hex=trailer["genesis"],
                entry_count_by_kind=trailer["kinds"],
                kinds_before=trailer["kinds_before"],
                blocks=[SegmentBlock(*block) for block in trailer["blocks"]],
                digest=hashlib.sha256(signed_bytes).hexdigest(),
            )
        except (ValueError, KeyError, TypeError) as error:
            raise JournalDamaged(
                str(self.path), f"the signed trailer of the segment is not valid ({error!r})"
            ) from error

    def find_block_index(self, sequence: int) -> int:
        """Return the index of the segment's block that contains entry ``sequence``.

        For an entry before or after the segment, return the first or last block.
        """
        return max(0, bisect_right(self._first_sequences, sequence) - 1)

    def read_block_entries(self, block_index: int) -> list[StoredEntry]:
        """Return the entries of the segment's block ``block_index`` after verifying their hash chain.

        Raises :class:`JournalDamaged`.
        """
        block = self.trailer.blocks[block_index]
        previous_hex = block.previous_hex
        entries: list[StoredEntry] = []
        for body, hash_hex in self.read_block_bodies(block_index):
            location = f"{self.path} block {block_index + 1}"
            entries.append(
                decode_next_entry(body, hash_hex, block.first_sequence + len(entries), previous_hex, location)
            )
            previous_hex = hash_hex
        return entries

    def read_block_bodies(self, block_index: int) -> list[tuple[bytes, str]]:
        """Return (bytes, hash) of each entry in block ``block_index`` after verifying the hash chain.

        Raises :class:`JournalDamaged`.
        """
        blocks = self.trailer.blocks
        first_sequence, end_offset, previous_hex = blocks[block_index]
        start_offset = blocks[block_index - 1].end_offset if block_index else 0
        end_of_segment = SegmentBlock(self.trailer.last_sequence + 1, 0, self.trailer.head_hex)
        next_block = blocks[block_index + 1] if block_index + 1 < len(blocks) else end_of_segment
        file = self._storage.open_file(self.path, write=False)
        try:
            data = file.read_at(start_offset, end_offset - start_offset)
        finally:
            file.close()
        location = f"{self.path} block {block_index + 1}"
        try:
            lines = inflate(data, _BLOCK_BYTES_MAX).split(b"\n")
        except ValueError as error:
            raise JournalDamaged(location, str(error)) from error
        bodies: list[tuple[bytes, str]] = []
        for line in lines:
            body = line[1:] if line[:1] == _UNSHORTENED_MARK else restore_previous_hash(line, previous_hex)
            previous_hex = hashlib.sha256(body).hexdigest()
            bodies.append((body, previous_hex))
        if (first_sequence + len(bodies), previous_hex) != (
            next_block.first_sequence,
            next_block.previous_hex,
        ):
            raise JournalDamaged(
                location,
                f"its entries differ from those that were signed, {first_sequence} to {next_block.first_sequence - 1}",
            )
        return bodies
