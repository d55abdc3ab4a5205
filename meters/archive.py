"""The journal's archive: older entries, in signed segment files on both media.

The journal records where the archive ends: the entry ``journal.archived`` has the digest of the last segment,
and each segment has the digest of the previous one. A segment that is missing, altered, exchanged or from
another journal is therefore detected, and the error names it. Archived entries are deleted from the two copies
of the journal only once both have a later checkpoint, which states where the archive ends. A start could otherwise
find that out only from the deleted entries. If a segment is missing on one medium, it is read from the
other medium.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, TypeVar

from meters import checkpoint
from meters.entry import GENESIS_HASH, StoredEntry, decode
from meters.errors import JournalDamaged, JournalUnwritable
from meters.identifiers import (
    INDEX_SUFFIX,
    IdentifierIndex,
    parse_lowest_possible_sequence,
    parse_own_entry_sequence,
    parse_play_start,
)
from meters.segment import SEGMENT_SUFFIX, Segment
from meters.storage import Storage
from meters.transaction import JSON

#: Name of the archive's folder.
ARCHIVE_FOLDER: Final = "archive"
#: Kind of the entry that records an archived segment.
SEGMENT_ARCHIVED_KIND: Final = "journal.archived"
#: Storage key of the :class:`ArchiveEnd`.
#:
#: Every checkpoint includes it, so it can be read at every start.
ARCHIVE_END_KEY: Final = "journal.archive"
T = TypeVar("T")
#: Form of a segment's file name: its first and last entry.
_SEGMENT_NAME_PATTERN: Final = re.compile(r"(\d{12})-(\d{12})" + re.escape(SEGMENT_SUFFIX))


@dataclass(frozen=True)
class ArchiveEnd:
    """The end of the journal's archive: its last entry, and the digests by which its files are verified."""

    last_sequence: int
    """The number of the last archived entry."""
    head_hex: str
    """The hash of the last archived entry."""
    segment_digest: str
    """The digest of the last archive segment."""
    index_digest: str
    """The SHA-256 of the file with the index of archived entry ids."""
    genesis_body: str
    """The bytes of the journal's first entry, as text."""

    @classmethod
    def from_state(cls, stored_state: JSON) -> "ArchiveEnd | None":
        """Return where the archive ends, from the JSON that the journal stores; None if nothing was ever archived."""
        if stored_state is None:
            return None
        try:
            if not isinstance(stored_state, Mapping):
                raise TypeError(f"{type(stored_state).__name__}")
            archive_end = cls(
                int(str(stored_state["through"])),
                *(str(stored_state[name]) for name in ("head", "segment", "index", "genesis")),
            )
            _ = archive_end.genesis
        except (KeyError, TypeError, ValueError) as error:
            raise JournalDamaged(
                "journal", f"the stored end of its archive cannot be read: {error!r}"
            ) from error
        return archive_end

    def to_state(self) -> dict[str, JSON]:
        """Return the archive end as the JSON that the journal stores."""
        return {
            "through": self.last_sequence,
            "head": self.head_hex,
            "segment": self.segment_digest,
            "index": self.index_digest,
            "genesis": self.genesis_body,
        }

    @cached_property
    def genesis(self) -> StoredEntry:
        """Return the first entry of the journal, decoded."""
        return decode(self.genesis_body.encode())


def format_segment_name(first_sequence: int, last_sequence: int) -> str:
    """Return the file name of the archive segment from entry ``first_sequence`` to ``last_sequence``."""
    return f"{first_sequence:012d}-{last_sequence:012d}{SEGMENT_SUFFIX}"


def format_index_name(last_archived_sequence: int) -> str:
    """Return the name of the file with the index of archived entry ids, up to entry ``last_archived_sequence``."""
    return f"{last_archived_sequence:012d}{INDEX_SUFFIX}"


def is_left_over_file(name: str, last_archived_sequence: int) -> bool:
    """Return whether an archive file is left over from an interrupted attempt or replaced, so it can be removed.

    ``name`` is the file's name. Left over are a segment that begins after ``last_archived_sequence`` (the last entry
    recorded as archived), a temporary file, and an index of entry ids that ends at a different entry.
    """
    match = _SEGMENT_NAME_PATTERN.fullmatch(name)
    if match is not None:
        return int(match[1]) > last_archived_sequence
    return name.endswith(".new") or (
        name.endswith(INDEX_SUFFIX) and name != format_index_name(last_archived_sequence)
    )


class Archive:
    """The archive of a journal in ``folders``, one per medium.

    ``read_archive_end`` returns where the archive ends, or None if nothing was archived.
    """

    def __init__(
        self, storage: Storage, folders: Sequence[Path], read_archive_end: Callable[[], ArchiveEnd | None]
    ) -> None:
        self._storage = storage
        self.folders = tuple(dict.fromkeys(folders))
        self._read_archive_end = read_archive_end
        """The function that returns where the archive ends, or None if nothing was archived."""

    @property
    def last_sequence(self) -> int:
        """Return the number of the last archived entry; 0 if nothing was archived."""
        archive_end = self._read_archive_end()
        return 0 if archive_end is None else archive_end.last_sequence

    # ------------------------------------------------------------------ segments
    def _list_segment_ranges(self) -> list[tuple[int, int]]:
        """Return (first entry number, last entry number) of every archive segment on any medium, in order."""
        last_archived_sequence = self.last_sequence
        ranges = {
            (int(match[1]), int(match[2]))
            for folder in self.folders
            for match in map(_SEGMENT_NAME_PATTERN.fullmatch, self._storage.list_names(folder))
            if match is not None
        }
        return sorted((first, last) for first, last in ranges if last <= last_archived_sequence)

    def find_newer_archived_sequence(self, sequence: int, genesis: StoredEntry) -> int:
        """Return the number of the last entry in this journal's newest segment file.

        Return 0 if it is not later than ``sequence``. ``genesis`` is the journal's first entry.
        """
        public_key, last_found = checkpoint.read_public_key(genesis, "journal"), 0
        for folder in self.folders:
            with suppress(JournalUnwritable):
                for match in map(_SEGMENT_NAME_PATTERN.fullmatch, self._storage.list_names(folder)):
                    if match is None or int(match[2]) <= max(sequence, last_found):
                        continue
                    with suppress(JournalDamaged):
                        trailer = Segment(self._storage, folder / match[0], public_key).trailer
                        last_found = (
                            trailer.last_sequence if trailer.genesis_hex == genesis.hash_hex else last_found
                        )
        return last_found

    def _open_copies_with_valid_trailer(self, first_sequence: int, last_sequence: int) -> list[Segment]:
        """Return the segment copies with a valid signed trailer, at most one per medium.

        The trailer must also name these entries and this journal; the entries themselves are not verified yet.

        Raises :class:`JournalDamaged`, with the reason for each medium, if none exists.
        """
        archive_end = self._read_archive_end()
        if archive_end is None:
            raise JournalDamaged("the archive", "nothing was archived")
        public_key = checkpoint.read_public_key(archive_end.genesis, "journal")
        copies, reasons = [], []
        for folder in self.folders:
            path = folder / format_segment_name(first_sequence, last_sequence)
            if not self._storage.exists(path):
                reasons.append(f"{path} is missing")
                continue
            try:
                segment = Segment(self._storage, path, public_key)
                trailer = segment.trailer
                if (trailer.first_sequence, trailer.last_sequence, trailer.genesis_hex) != (
                    first_sequence,
                    last_sequence,
                    archive_end.genesis.hash_hex,
                ):
                    raise JournalDamaged(
                        str(path), "the segment belongs to other entries or to another journal"
                    )
                if (
                    last_sequence == archive_end.last_sequence
                    and trailer.digest != archive_end.segment_digest
                ):
                    raise JournalDamaged(str(path), "its digest is not that of the segment the journal names")
            except JournalDamaged as error:
                reasons.append(str(error))
            else:
                copies.append(segment)
        if not copies:
            raise JournalDamaged(
                f"the archive, entries {first_sequence} to {last_sequence}", "; ".join(reasons)
            )
        return copies

    def iter_segment_copies(self, after_sequence: int = 0) -> Iterator[list[Segment]]:
        """Yield, in order, the segment copies of each archive segment that has entries after ``after_sequence``.

        The signed trailer of each segment copy is valid; its entries are verified only when they are read. Raises
        :class:`JournalDamaged`, naming the segment, if one is missing, altered or in the wrong place.
        """
        expected_first, previous_segment_digest = 0, None
        for first_sequence, last_sequence in self._list_segment_ranges():
            if last_sequence <= after_sequence:
                continue
            if not expected_first and first_sequence <= after_sequence + 1:
                expected_first = first_sequence
            if first_sequence != expected_first:
                raise self._build_missing_error(expected_first or after_sequence + 1, first_sequence - 1)
            copies = self._open_copies_with_valid_trailer(first_sequence, last_sequence)
            if previous_segment_digest is not None:
                copies = [
                    copy for copy in copies if copy.trailer.previous_segment_digest == previous_segment_digest
                ]
                if not copies:
                    raise JournalDamaged(
                        f"the archive, entries {first_sequence} to {last_sequence}",
                        "the segment does not follow the one before it: one of the two was exchanged",
                    )
            yield copies
            expected_first, previous_segment_digest = last_sequence + 1, copies[0].trailer.digest
        if (expected_first or after_sequence + 1) <= self.last_sequence:
            raise self._build_missing_error(expected_first or after_sequence + 1, self.last_sequence)

    def _build_missing_error(self, first_sequence: int, last_sequence: int) -> JournalDamaged:
        """Return the error for an archive segment that is missing on every medium."""
        locations = " and ".join(str(folder) for folder in self.folders)
        return JournalDamaged(
            locations,
            f"the segment with entries {first_sequence} to {last_sequence} is missing from the archive",
        )

    @staticmethod
    def _read_intact_copy(copies: Sequence[Segment], read_segment: Callable[[Segment], list[T]]) -> list[T]:
        """Call ``read_segment`` on each segment copy in turn, and return the first undamaged result.

        Raises :class:`JournalDamaged` if every copy is damaged in the part that is read.
        """
        reasons = []
        for copy in copies:
            try:
                return read_segment(copy)
            except JournalDamaged as error:
                reasons.append(str(error))
        trailer = copies[0].trailer
        raise JournalDamaged(
            f"the archive, entries {trailer.first_sequence} to {trailer.last_sequence}", "; ".join(reasons)
        )

    # ------------------------------------------------------------------ entries
    def iter_bodies(self, after_sequence: int = 0) -> Iterator[tuple[int, bytes, str]]:
        """Yield archived entries after ``after_sequence`` as (entry number, bytes, hash), verifying the hash chain."""
        head_hex = GENESIS_HASH if not after_sequence else None
        for copies in self.iter_segment_copies(after_sequence):
            trailer = copies[0].trailer
            if head_hex is not None and trailer.previous_hex != head_hex:
                raise JournalDamaged(
                    f"the archive, entries {trailer.first_sequence} to {trailer.last_sequence}",
                    f"the segment follows hash {trailer.previous_hex}, but the one before it ends with {head_hex}",
                )
            for block_index in range(copies[0].find_block_index(after_sequence + 1), len(trailer.blocks)):
                sequence = trailer.blocks[block_index].first_sequence
                bodies = self._read_intact_copy(copies, lambda copy, i=block_index: copy.read_block_bodies(i))  # type: ignore[misc]
                for body, hash_hex in bodies:
                    if sequence > after_sequence:
                        yield sequence, body, hash_hex
                    sequence += 1
            head_hex = trailer.head_hex

    def _read_block_entries(self, copies: Sequence[Segment], block_index: int) -> list[StoredEntry]:
        """Return the entries in a block of a segment, from the first segment copy in which this block is intact."""
        return self._read_intact_copy(copies, lambda copy: copy.read_block_entries(block_index))

    def iter_entries_between(
        self, kinds: Sequence[str], after_sequence: int, before_sequence: int | None, *, newest_first: bool
    ) -> Iterator[StoredEntry]:
        """Yield the archived entries of these kinds (all if empty) between two entry numbers, both excluded.

        Segments without any of the kinds are not read.
        """
        archive_end = self._read_archive_end()
        last_sequence = (
            self.last_sequence if before_sequence is None else min(before_sequence - 1, self.last_sequence)
        )
        if archive_end is None or after_sequence >= last_sequence:
            return
        if tuple(kinds) == (checkpoint.GENESIS_KIND,):
            if after_sequence == 0:
                yield archive_end.genesis
            return
        ranges = [
            (segment_first, segment_last)
            for segment_first, segment_last in self._list_segment_ranges()
            if segment_last > after_sequence and segment_first <= last_sequence
        ]
        step = -1 if newest_first else 1
        for segment_range in ranges[::step]:
            copies = self._open_copies_with_valid_trailer(*segment_range)
            trailer = copies[0].trailer
            if kinds and not any(kind in trailer.entry_count_by_kind for kind in kinds):
                continue
            blocks = range(
                copies[0].find_block_index(after_sequence + 1), copies[0].find_block_index(last_sequence) + 1
            )
            for block_index in blocks[::step]:
                for entry in self._read_block_entries(copies, block_index)[::step]:
                    if after_sequence < entry.sequence <= last_sequence and (
                        not kinds or entry.kind in kinds
                    ):
                        yield entry

    def read_entry(self, sequence: int) -> StoredEntry:
        """Return the archived entry with the number ``sequence``.

        Raises :class:`JournalDamaged` if no medium has its segment intact.
        """
        for entry in self._iter_rest_of_segment(sequence):
            return entry
        raise self._build_missing_error(sequence, sequence)

    def _iter_rest_of_segment(self, sequence: int) -> Iterator[StoredEntry]:
        """Yield the archived entries from ``sequence`` to the end of the archive segment that contains it."""
        ranges = [(first, last) for first, last in self._list_segment_ranges() if first <= sequence <= last]
        if not ranges:
            raise self._build_missing_error(sequence, sequence)
        copies = self._open_copies_with_valid_trailer(*ranges[0])
        for block_index in range(copies[0].find_block_index(sequence), len(copies[0].trailer.blocks)):
            yield from (
                entry for entry in self._read_block_entries(copies, block_index) if entry.sequence >= sequence
            )

    def list_kinds(self) -> set[str]:
        """Return every kind of entry in the archive, as recorded in the newest segment with a valid trailer."""
        for segment_range in reversed(self._list_segment_ranges()):
            with suppress(JournalDamaged):  # damage is reported where the segment is read
                trailer = self._open_copies_with_valid_trailer(*segment_range)[0].trailer
                return {*trailer.entry_count_by_kind, *trailer.kinds_before}
        return set()

    # ------------------------------------------------------------------ identifiers
    def load_identifier_index(self) -> IdentifierIndex | None:
        """Return the index of archived entry ids, verified by its digest; None if nothing was archived.

        Raises :class:`JournalDamaged` if no medium has it intact.
        """
        archive_end = self._read_archive_end()
        if archive_end is None:
            return None
        reasons = []
        for folder in self.folders:
            index = IdentifierIndex(self._storage, folder / format_index_name(archive_end.last_sequence))
            index_error = self._find_index_error(index, archive_end.index_digest)
            if not index_error:
                return index
            reasons.append(index_error)
        raise JournalDamaged("the archive", "; ".join(reasons))

    def _find_index_error(self, index: IdentifierIndex, digest: str) -> str:
        """Return why the index of archived ids is missing or lacks this SHA-256 ``digest``; "" if it is intact."""
        if not self._storage.exists(index.path):
            return f"{index.path} is missing"
        try:
            index.check(digest)
        except JournalDamaged as error:
            return str(error)
        return ""

    def list_paths_lacking_index(self, index: IdentifierIndex) -> list[Path]:
        """Return the path of the index of entry ids on each medium whose index is missing or damaged.

        ``index`` is an intact index; its own path is never returned.
        """
        archive_end = self._read_archive_end()
        digest = "" if archive_end is None else archive_end.index_digest
        candidates = (IdentifierIndex(self._storage, folder / index.path.name) for folder in self.folders)
        return [
            candidate.path
            for candidate in candidates
            if candidate.path != index.path and self._find_index_error(candidate, digest)
        ]

    def find_by_id(
        self, entry_id: str, journal_tag: str, index: IdentifierIndex | None
    ) -> StoredEntry | None:
        """Return the archived entry with this id, or None if the archive has none.

        ``journal_tag`` marks the ids that this journal made; ``index`` is the index of archived ids. Raises
        :class:`JournalDamaged` if the segment that must be read is missing.
        """
        last_archived_sequence = self.last_sequence
        if (
            index is None
            or (parse_lowest_possible_sequence(entry_id, journal_tag) or 0) > last_archived_sequence
        ):
            return None
        for number in index.find_entry_numbers(entry_id):
            archived_entry = self.read_entry(number)
            if archived_entry.id == entry_id:
                return archived_entry
        # An id that contains its own entry's number is not in the index.
        own_sequence = parse_own_entry_sequence(entry_id)
        if own_sequence is not None and 0 < own_sequence <= last_archived_sequence:
            archived_entry = self.read_entry(own_sequence)
            return archived_entry if archived_entry.id == entry_id else None
        # The id of a later entry of a game contains the number of the game's first entry, and is not in the index.
        play_start = parse_play_start(entry_id)
        if (
            play_start is None
            or not 0 < play_start.sequence <= last_archived_sequence
            or index.find_entry_numbers(play_start.entry_id)
        ):
            return None
        return next(
            (entry for entry in self._iter_rest_of_segment(play_start.sequence) if entry.id == entry_id), None
        )

    def has_entry(self, entry_id: str, journal_tag: str, index: IdentifierIndex | None) -> bool:
        """Return whether an archived entry has this id, even if its segment cannot be read.

        If the index has the id, its segment is not needed. An id that contains its own entry's number is not in the
        index: if its segment cannot be read, :class:`JournalDamaged` is raised.
        """
        try:
            return self.find_by_id(entry_id, journal_tag, index) is not None
        except JournalDamaged:
            if index is None or not index.find_entry_numbers(entry_id):
                raise
            return True


def find_archive_in_folder(storage: Storage, folder: Path, public_key: bytes) -> Archive:
    """Return the journal archive in ``folder``, reconstructed from its files alone, if the journal is not at hand.

    Its content is verified as usual, except that segments missing at its end cannot be detected.
    """
    names = sorted(
        match[0]
        for match in map(_SEGMENT_NAME_PATTERN.fullmatch, storage.list_names(folder))
        if match is not None
    )
    if not names:
        return Archive(storage, (folder,), lambda: None)
    first_entry = Segment(storage, folder / names[0], public_key).read_block_entries(0)[0]
    trailer = Segment(storage, folder / names[-1], public_key).trailer
    archive_end = ArchiveEnd(
        trailer.last_sequence, trailer.head_hex, trailer.digest, "", first_entry.body.decode()
    )
    return Archive(storage, (folder,), lambda: archive_end)
