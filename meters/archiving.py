"""Moving journal entries into the archive: in small steps between games, the same bytes to both media.

A power loss at any time leaves the journal unchanged: files are written under a temporary name and renamed, a
segment belongs to the archive only once a journal entry names it, and the next attempt overwrites leftover files.
"""

import hashlib
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Final

from meters import checkpoint
from meters.archive import (
    ARCHIVE_END_KEY,
    SEGMENT_ARCHIVED_KIND,
    Archive,
    ArchiveEnd,
    format_index_name,
    format_segment_name,
    is_left_over_file,
)
from meters.database import DatabaseReader
from meters.entry import GENESIS_HASH
from meters.errors import JournalDamaged
from meters.identifiers import IdentifierCollector, IdentifierIndex, iter_chunks_of_records
from meters.log import AuthenticatedEntry
from meters.machine_key import MachineKey
from meters.segment import Segment, SegmentWriter
from meters.storage import Storage, StorageFile
from meters.transaction import Transaction

#: Entries written in one step.
_ENTRIES_PER_ARCHIVING_STEP: Final = 32
#: Bytes copied or compared in one step.
_BYTES_PER_ARCHIVING_STEP: Final = 64 << 10


class Archivist:
    """Writes the journal's archive, and compares and repairs the segment copies.

    It writes one segment at a time, with entries from the first copy of the journal.
    """

    def __init__(
        self,
        storage: Storage,
        archive: Archive,
        source: DatabaseReader,
        key: MachineKey,
        check_mac: Callable[[AuthenticatedEntry, MachineKey], None],
    ) -> None:
        self._storage = storage
        self._archive = archive
        self._source = source
        """The first journal copy, from which entries are archived."""
        self._key = key
        self._check_mac = check_mac
        """The function that raises an error if the machine did not authenticate the given entry."""

    def find_next_segment_end(
        self,
        archive_end: ArchiveEnd | None,
        segment_entries_min: int,
        retained_entry_count: int,
        journal_last_sequence: int,
    ) -> int | None:
        """Return the number of the checkpoint entry that ends the next archive segment; None if entries are too few.

        A segment has ``segment_entries_min`` entries, plus those up to the next signed checkpoint. The newest
        ``retained_entry_count`` entries are not archived. ``journal_last_sequence`` is the number of the
        journal's last entry.
        """
        last_archived_sequence = 0 if archive_end is None else archive_end.last_sequence
        if journal_last_sequence - last_archived_sequence < segment_entries_min + retained_entry_count:
            return None
        checkpoints = self._source.iter_entries_between(
            (checkpoint.CHECKPOINT_KIND,),
            last_archived_sequence + segment_entries_min - 1,
            None,
            1,
            newest_first=False,
        )
        end_checkpoint = next(checkpoints, None)
        return (
            None
            if end_checkpoint is None
            or end_checkpoint.sequence > journal_last_sequence - retained_entry_count
            else end_checkpoint.sequence
        )

    def write_segment_in_steps(
        self, archive_end: ArchiveEnd | None, segment_last_sequence: int, genesis_body: str
    ) -> Generator[None, None, Transaction]:
        """Write the archive segment that ends with entry ``segment_last_sequence``, one small step per iteration.

        The Python generator returns the transaction that records the segment in the journal.
        """
        last_archived_sequence = 0 if archive_end is None else archive_end.last_sequence
        for folder in self._archive.folders:
            self._remove_left_over_files(folder, last_archived_sequence)
        previous_segment_digest = "" if archive_end is None else archive_end.segment_digest
        known_kinds = self._archive.list_kinds()
        name = format_segment_name(last_archived_sequence + 1, segment_last_sequence)
        new_paths = [folder / (name + ".new") for folder in self._archive.folders]
        writer = SegmentWriter(
            self._storage,
            new_paths,
            last_archived_sequence + 1,
            archive_end.head_hex if archive_end else GENESIS_HASH,
        )
        try:
            identifiers, head_hex = IdentifierCollector(), ""
            for number, item in enumerate(self._source.iter_entries(last_archived_sequence)):
                self._check_mac(item, self._key)
                writer.add_entry(item.entry)
                identifiers.add_entry(item.entry)
                if item.entry.sequence == segment_last_sequence:
                    head_hex = item.entry.hash_hex
                    break
                if number % _ENTRIES_PER_ARCHIVING_STEP == 0:
                    yield
            genesis_hex = hashlib.sha256(genesis_body.encode()).hexdigest()
            segment_digest = writer.finish(
                self._key, previous_segment_digest, sorted(known_kinds), genesis_hex
            )
            yield from writer.sync()
        finally:
            writer.close()
        yield
        self._publish_new_files(new_paths)
        yield
        index_digest = yield from self._write_index(segment_last_sequence, identifiers.build_records())
        new_archive_end = ArchiveEnd(
            segment_last_sequence, head_hex, segment_digest, index_digest, genesis_body
        )
        return Transaction(
            id=f"{SEGMENT_ARCHIVED_KIND}:{segment_last_sequence}",
            kind=SEGMENT_ARCHIVED_KIND,
            state={ARCHIVE_END_KEY: new_archive_end.to_state()},
            record={
                "first": last_archived_sequence + 1,
                "last": segment_last_sequence,
                "head": head_hex,
                "segment": segment_digest,
            },
        )

    def _remove_left_over_files(self, folder: Path, last_archived_sequence: int) -> None:
        """Remove files from the archive's ``folder`` that are not part of the archive that the journal records.

        ``last_archived_sequence`` is the last entry that is recorded as archived.
        """
        self._storage.make_folder(folder)
        left_over_names = [
            name
            for name in self._storage.list_names(folder)
            if is_left_over_file(name, last_archived_sequence)
        ]
        for name in left_over_names:
            self._storage.remove(folder / name)
        if left_over_names:
            self._storage.sync_folder(folder)

    def _publish_new_files(self, new_paths: list[Path]) -> None:
        """Rename finished archive files ``NAME.new`` to ``NAME``, and sync the folders."""
        for path in new_paths:
            self._storage.rename(path, path.with_name(path.name.removesuffix(".new")))
        for folder in self._archive.folders:
            self._storage.sync_folder(folder)

    def _write_index(self, last_covered_sequence: int, records: list[bytes]) -> Generator[None, None, str]:
        """Write the index of archived entry ids with ``records`` added, step by step; return its SHA-256.

        ``last_covered_sequence`` is the last entry that it covers.
        """
        known_index = self._archive.load_identifier_index()
        chunks: Iterator[bytes] = (
            iter_chunks_of_records(iter(records))
            if known_index is None
            else known_index.iter_merged_chunks(records)
        )
        new_paths = [
            folder / (format_index_name(last_covered_sequence) + ".new") for folder in self._archive.folders
        ]
        files: list[StorageFile] = []
        digest, end_offset = hashlib.sha256(), 0
        try:
            for path in new_paths:
                files.append(self._storage.open_file(path, write=True))
                files[-1].truncate(0)
            for chunk in chunks:
                digest.update(chunk)
                for file in files:
                    file.write_at(end_offset, chunk)
                end_offset += len(chunk)
                yield
            for file in files:
                file.sync()
                yield
        finally:
            for file in files:
                file.close()
        self._publish_new_files(new_paths)
        return digest.hexdigest()

    def compare_and_repair_copies_in_steps(self) -> Generator[None, None, list[Path]]:
        """Compare the archive segments on both media in small steps; return the paths of the repaired files.

        A segment that is missing or altered on one medium is copied from the other medium. Raises
        :class:`JournalDamaged` if neither medium has it intact.
        """
        repaired_paths: list[Path] = []
        for copies in self._archive.iter_segment_copies():
            paths = [folder / copies[0].path.name for folder in self._archive.folders]
            are_equal = len(copies) == len(paths)
            if are_equal:
                are_equal = yield from self._have_equal_content(paths)
            if are_equal:
                continue
            intact_path = yield from self._find_intact_copy(copies)
            for path in paths:
                if path != intact_path:
                    yield from self._copy(intact_path, path)
                    repaired_paths.append(path)
        return repaired_paths

    def _have_equal_content(self, paths: list[Path]) -> Generator[None, None, bool]:
        """Compare files step by step; return whether all of them have the same content."""
        files = [self._storage.open_file(path, write=False) for path in paths]
        try:
            size = files[0].size()
            if any(file.size() != size for file in files):
                return False
            for offset in range(0, size, _BYTES_PER_ARCHIVING_STEP):
                first_part, *other_parts = (file.read_at(offset, _BYTES_PER_ARCHIVING_STEP) for file in files)
                if any(other != first_part for other in other_parts):
                    return False
                yield
        finally:
            for file in files:
                file.close()
        return True

    def _find_intact_copy(self, copies: list[Segment]) -> Generator[None, None, Path]:
        """Return the path of the first of these segment copies that is intact.

        One block is verified per iteration. Raises :class:`JournalDamaged` if no copy is intact.
        """
        reasons = []
        for copy in copies:
            try:
                for number in range(len(copy.trailer.blocks)):
                    copy.read_block_entries(number)
                    yield
            except JournalDamaged as error:
                reasons.append(str(error))
            else:
                return copy.path
        trailer = copies[0].trailer
        raise JournalDamaged(
            f"the archive, entries {trailer.first_sequence} to {trailer.last_sequence}", "; ".join(reasons)
        )

    def _copy(self, intact_path: Path, path: Path) -> Generator[None, None, None]:
        """Copy the intact archive file ``intact_path``, a segment or the index, to ``path``, step by step.

        An existing file is replaced only when the new one is durable.
        """
        self._storage.make_folder(path.parent)
        new_path = path.with_name(path.name + ".new")
        source = self._storage.open_file(intact_path, write=False)
        try:
            target = self._storage.open_file(new_path, write=True)
            try:
                target.truncate(0)
                for offset in range(0, source.size(), _BYTES_PER_ARCHIVING_STEP):
                    target.write_at(offset, source.read_at(offset, _BYTES_PER_ARCHIVING_STEP))
                    yield
                target.sync()
            finally:
                target.close()
        finally:
            source.close()
        self._storage.rename(new_path, path)
        self._storage.sync_folder(path.parent)

    def repair_index(self, index: IdentifierIndex | None) -> list[Path]:
        """Copy the verified index of entry ids to each medium where it is missing or different.

        Return the paths of the files written.
        """
        if index is None:
            return []
        paths = self._archive.list_paths_lacking_index(index)
        for path in paths:
            for _ in self._copy(index.path, path):
                pass
        return paths
