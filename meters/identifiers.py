"""The ids of journal entries, and the permanent index of archived ids that do not state their entry's number.

Most ids contain the number of their entry, because the machine forms them from it. The ids of a game's later entries
contain the number of the game's first entry, and the entries are found from there. All other ids (a host's transfer,
later entries about a ticket or a hand-pay) are in the index, sorted, sixteen bytes each: the first eight bytes of the
id's SHA-256 and the entry's number. A repeated id is therefore recognised, however old it is.
"""

import hashlib
import re
import struct
from collections.abc import Iterator
from heapq import merge
from pathlib import Path
from typing import Final, NamedTuple

from meters.entry import StoredEntry
from meters.errors import JournalDamaged
from meters.storage import Storage

#: Ending of an index file's name.
INDEX_SUFFIX: Final = ".ids"
#: Layout of a record: the first bytes of a SHA-256, and an entry number.
_RECORD_STRUCT: Final = struct.Struct(">8sQ")
#: The most index records that are read or written at a time.
_RECORDS_PER_CHUNK: Final = 2048
#: Digits of a journal tag.
JOURNAL_TAG_DIGIT_COUNT: Final = 8
#: The form of a journal tag, as a regular expression.
JOURNAL_TAG_PATTERN: Final = f"[0-9a-f]{{{JOURNAL_TAG_DIGIT_COUNT}}}"
#: Form of an id that states its own entry's number.
_SELF_NUMBERED_ID_PATTERN: Final = re.compile(
    rf"checkpoint:(\d+)|[a-z0-9_.]+-(\d+)-(?:{JOURNAL_TAG_PATTERN})(\.start)?"
)
#: Form of an id that states the number of its play's first entry.
_PLAY_ID_PATTERN: Final = re.compile(rf"(play-(\d+)-{JOURNAL_TAG_PATTERN})\.(?!start\b)[a-z0-9_.-]+")
#: Form of an id that was made by a journal: its number and journal tag.
_NUMBERED_ID_PATTERN: Final = re.compile(rf"[a-z0-9_.]+-(\d+)-({JOURNAL_TAG_PATTERN})(?:\..+)?")


def make_journal_tag(first_hash_hex: str) -> str:
    """Return the journal tag, which ends the ids that a journal makes: the first digits of its first entry's hash."""
    return first_hash_hex[:JOURNAL_TAG_DIGIT_COUNT]


def parse_own_entry_sequence(entry_id: str) -> int | None:
    """Return the number in an entry's id if it is the number of that same entry, otherwise None."""
    match = _SELF_NUMBERED_ID_PATTERN.fullmatch(entry_id)
    return None if match is None else int(match[1] or match[2])


class PlayStart(NamedTuple):
    """The number and the id of a game's first entry."""

    sequence: int
    entry_id: str


def parse_play_start(entry_id: str) -> PlayStart | None:
    """Return the number and the id of a game's first entry, from the id of a later entry of that game.

    Return None for any other id.
    """
    match = _PLAY_ID_PATTERN.fullmatch(entry_id)
    return None if match is None else PlayStart(int(match[2]), f"{match[1]}.start")


def parse_lowest_possible_sequence(entry_id: str, journal_tag: str) -> int | None:
    """Return the lowest entry number that an id made by the journal with this tag can have; None for any other id.

    It is the number in the id. An id may be derived from an earlier id (``ID.end``) and then contains the earlier
    one's number. A search for the entry can start at this number.
    """
    match = _NUMBERED_ID_PATTERN.fullmatch(entry_id)
    return int(match[1]) if match is not None and match[2] == journal_tag else None


class IdentifierCollector:
    """Collector of the index records for the ids in one archive segment, whose entries are added in order."""

    def __init__(self) -> None:
        self._sequence_by_open_play: dict[str, int] = {}
        """The entry number of each game that started but did not end in this segment, by the id of its first entry."""
        self._records: list[bytes] = []
        """The index records collected so far."""

    def add_entry(self, entry: StoredEntry) -> None:
        """Add the segment's next entry.

        Its id is not indexed if it contains the entry's number, or if it belongs to a game that this segment starts.
        """
        play_start = parse_play_start(entry.id)
        if parse_own_entry_sequence(entry.id) == entry.sequence:
            if entry.id.endswith(".start"):
                self._sequence_by_open_play[entry.id] = entry.sequence
        elif (
            play_start is None or self._sequence_by_open_play.get(play_start.entry_id) != play_start.sequence
        ):
            self._records.append(_pack_record(entry.id, entry.sequence))
        elif entry.id.endswith(".end"):
            del self._sequence_by_open_play[play_start.entry_id]

    def build_records(self) -> list[bytes]:
        """Return the segment's records for the index of ids, sorted.

        A game that is still open gets a record for its first entry, because its last entry will be in a later
        segment.
        """
        return sorted(
            [
                *self._records,
                *(
                    _pack_record(entry_id, sequence)
                    for entry_id, sequence in self._sequence_by_open_play.items()
                ),
            ]
        )


def _pack_record(entry_id: str, sequence: int) -> bytes:
    """Return the index record of an id: the first 8 bytes of its SHA-256, and the number of its entry."""
    return _RECORD_STRUCT.pack(hashlib.sha256(entry_id.encode()).digest()[:8], sequence)


class IdentifierIndex:
    """The file that indexes the ids of archived entries; it is searched without reading all of it."""

    def __init__(self, storage: Storage, path: Path) -> None:
        self._storage = storage
        self.path = path

    def check(self, digest: str) -> None:
        """Raise :class:`JournalDamaged` unless the index file has the SHA-256 ``digest``."""
        hasher = hashlib.sha256()
        for chunk in self._iter_chunks():
            hasher.update(chunk)
        if hasher.hexdigest() != digest:
            raise JournalDamaged(str(self.path), "the index of identifiers is not what was written")

    def find_entry_numbers(self, entry_id: str) -> list[int]:
        """Return the numbers of the archived entries that may have this id: usually none or one.

        Different ids with the same first 8 hash bytes give several.
        """
        lowest_record = _pack_record(entry_id, 0)
        file = self._storage.open_file(self.path, write=False)
        try:
            record_index, end_index = 0, file.size() // _RECORD_STRUCT.size
            while record_index < end_index:
                middle_index = (record_index + end_index) // 2
                if file.read_at(middle_index * _RECORD_STRUCT.size, _RECORD_STRUCT.size) < lowest_record:
                    record_index = middle_index + 1
                else:
                    end_index = middle_index
            numbers = []
            while (record := file.read_at(record_index * _RECORD_STRUCT.size, _RECORD_STRUCT.size))[
                :8
            ] == lowest_record[:8]:
                numbers.append(_RECORD_STRUCT.unpack(record)[1])
                record_index += 1
            return numbers
        finally:
            file.close()

    def _iter_chunks(self) -> Iterator[bytes]:
        """Yield the bytes of the index file, a chunk of records at a time."""
        file = self._storage.open_file(self.path, write=False)
        try:
            chunk_size = _RECORDS_PER_CHUNK * _RECORD_STRUCT.size
            for offset in range(0, file.size(), chunk_size):
                yield file.read_at(offset, chunk_size)
        finally:
            file.close()

    def iter_merged_chunks(self, records: list[bytes]) -> Iterator[bytes]:
        """Yield the bytes of the index with ``records`` added in order, a chunk at a time."""
        known_records = (
            chunk[offset : offset + _RECORD_STRUCT.size]
            for chunk in self._iter_chunks()
            for offset in range(0, len(chunk), _RECORD_STRUCT.size)
        )
        return iter_chunks_of_records(merge(known_records, records))


def iter_chunks_of_records(records: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the index records joined into chunks of at most ``_RECORDS_PER_CHUNK`` records."""
    chunk: list[bytes] = []
    for record in records:
        chunk.append(record)
        if len(chunk) == _RECORDS_PER_CHUNK:
            yield b"".join(chunk)
            chunk = []
    yield b"".join(chunk)
