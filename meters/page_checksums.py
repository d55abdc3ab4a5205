"""Checksums of the SQLite file's pages, so that each byte of the journal's first copy is checked at start-up.

SQLite has no checksums on its pages. The database file changes only when SQLite's write-ahead log (WAL) is
moved into it (SQLite calls this a checkpoint), and only :meth:`PageChecksums.move_wal_and_record` does that: it
first records durably which pages will change, lets SQLite move them, then records their new CRC-32. The WAL
itself has SQLite's own chained checksums. The checksums are authenticated with the machine key, so they cannot be
adjusted to an edited page.
"""

import struct
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from meters.errors import JournalDamaged
from meters.machine_key import MAC_SIZE_BYTES, MachineKey
from meters.storage import Storage, StorageFile, read_file, replace_file

#: Ending of the checksum file's name.
PAGE_CHECKSUMS_SUFFIX: Final = ".sums"
#: Bytes of a page of the database.
DATABASE_PAGE_SIZE_BYTES: Final = 4096
#: Layout of the head of the checksum file.
_FILE_HEAD_STRUCT: Final = struct.Struct(">8sIII")
#: First bytes of the checksum file.
_MAGIC: Final = b"OEGMSUM1"
#: Pages that are read at a time.
_CHUNK_PAGE_COUNT: Final = 256
#: The size of the header of SQLite's write-ahead log (WAL), in bytes.
_WAL_HEADER_SIZE_BYTES: Final = 32
#: Layout of a WAL frame's header, as far as read.
_WAL_FRAME_STRUCT: Final = struct.Struct(">II8s")
#: Bytes of a WAL frame's header.
_WAL_FRAME_HEADER_SIZE_BYTES: Final = 24
#: The part of the WAL's header that is the salt.
_WAL_SALT_SLICE: Final = slice(16, 24)


class PageChecksums:
    """The page checksums of the SQLite file ``path``, and this process's only descriptor of that file.

    When a process closes any descriptor of a file, POSIX releases all of the process's locks on that file,
    including those of SQLite. This descriptor is therefore opened before SQLite connects, and closed after
    SQLite has closed the file.
    """

    def __init__(self, storage: Storage, path: Path, key: MachineKey) -> None:
        self._storage = storage
        self._path = path
        self._key = key
        self._checksums = array("I")
        """The CRC-32 of each page of the database file, in the order of the pages."""
        self._pages_being_moved: frozenset[int] = frozenset()
        """The numbers of the pages that SQLite is moving from its WAL into the file; they are not checked."""
        self._file: StorageFile = storage.open_file(path, write=False)

    def close(self) -> None:
        """Close the descriptor of the database file; call it only after SQLite has closed its own."""
        self._file.close()

    # ------------------------------------------------------------------ checking
    def verify(self) -> None:
        """Check every page of the database except those that are being overwritten from the WAL.

        Raises :class:`JournalDamaged` with the number of the first bad page. A running machine may change the
        file meanwhile. So if a page does not match its checksum, the checksum file is read again; the page is bad
        only if the checksums have not changed.
        """
        self._load()
        page = 1
        while (page_and_error := self._find_first_bad_page(page)) is not None:
            page, error = page_and_error
            loaded_before = self._pages_being_moved, self._checksums
            self._load()
            if loaded_before == (self._pages_being_moved, self._checksums):
                raise error

    def _find_first_bad_page(self, first_page: int) -> tuple[int, JournalDamaged] | None:
        """Return the number of the first page that does not match its checksum, and the error for it, or None.

        Pages before ``first_page`` are not checked.
        """
        size = self._file.size()
        if not self._pages_being_moved and size != len(self._checksums) * DATABASE_PAGE_SIZE_BYTES:
            reason = f"the file has {size} bytes; expected {len(self._checksums)} pages"
            return first_page, JournalDamaged(str(self._path), reason)
        for page, page_checksum in self._compute_page_checksums(range(first_page, len(self._checksums) + 1)):
            if page_checksum != self._checksums[page - 1] and page not in self._pages_being_moved:
                reason = "the page is not what was written"
                return page, JournalDamaged(f"{self._path} page {page}", reason)
        return None

    def verify_page_range(self, first_page: int, page_count: int) -> int:
        """Check up to ``page_count`` pages of the database, beginning with ``first_page``, against their checksums.

        Return the page with which to continue; after the last page, 1. Raises :class:`JournalDamaged` at a bad
        page.
        """
        last_page = min(first_page + page_count - 1, len(self._checksums))
        for page, page_checksum in self._compute_page_checksums(range(first_page, last_page + 1)):
            if page_checksum != self._checksums[page - 1] and page not in self._pages_being_moved:
                raise JournalDamaged(f"{self._path} page {page}", "the page is not what was written")
        return last_page + 1 if last_page < len(self._checksums) else 1

    def _compute_page_checksums(self, pages: range) -> Iterator[tuple[int, int]]:
        """Yield the number and CRC-32 of each of these pages, read from the database file."""
        for start in range(pages.start, pages.stop, _CHUNK_PAGE_COUNT):
            page_count = min(_CHUNK_PAGE_COUNT, pages.stop - start)
            chunk = memoryview(
                self._file.read_at(
                    (start - 1) * DATABASE_PAGE_SIZE_BYTES, page_count * DATABASE_PAGE_SIZE_BYTES
                )
            )
            for n in range(page_count):
                yield (
                    start + n,
                    zlib.crc32(chunk[n * DATABASE_PAGE_SIZE_BYTES : (n + 1) * DATABASE_PAGE_SIZE_BYTES]),
                )

    # ------------------------------------------------------------------ moving the WAL
    @property
    def is_wal_move_unfinished(self) -> bool:
        """Return whether a move of SQLite's WAL into the database file was started and not finished.

        If so, call :meth:`move_wal_and_record` before using the file, because the pages being moved are not checked.
        """
        return bool(self._pages_being_moved)

    def move_wal_and_record(self, move_wal: Callable[[], bool]) -> bool:
        """Move SQLite's WAL into the database file and record the checksums of the changed pages.

        ``move_wal`` does the move and returns whether the whole WAL was moved; this method returns the same. If
        the WAL was not moved completely, because a reader still uses it, the pages stay recorded as being moved,
        and the next call records their checksums.
        """
        pages_being_moved = self._pages_being_moved | self._list_wal_pages()
        if not pages_being_moved:
            return True
        self._save(pages_being_moved)
        is_moved = move_wal()
        if is_moved:
            self._record(pages_being_moved)
            self._save(frozenset())
        return is_moved

    def record_all(self) -> None:
        """Record the current checksums of every page of a database file that was just created and verified."""
        self._checksums = array("I")
        self._record(range(1, self._file.size() // DATABASE_PAGE_SIZE_BYTES + 1))
        self._save(frozenset())

    def _record(self, pages: Iterable[int]) -> None:
        """Record the present checksums of these pages, and of every page added to the end of the database file.

        SQLite never writes the page at 1 GiB (file format, section 1.4: the lock-byte page), so it is in no
        WAL; yet it exists, all zeros, once the file is larger.
        """
        page_count = self._file.size() // DATABASE_PAGE_SIZE_BYTES
        del self._checksums[page_count:]
        new_pages = range(len(self._checksums) + 1, page_count + 1)
        self._checksums.extend([0] * len(new_pages))
        for page in {*pages, *new_pages}:
            if page <= page_count:
                self._checksums[page - 1] = zlib.crc32(
                    self._file.read_at((page - 1) * DATABASE_PAGE_SIZE_BYTES, DATABASE_PAGE_SIZE_BYTES)
                )

    def _list_wal_pages(self) -> frozenset[int]:
        """Return the numbers of the pages in SQLite's current WAL (SQLite file format, section 4: frame header).

        Frames written before the WAL was last restarted have a different salt and are not counted.
        """
        path = self._path.with_name(self._path.name + "-wal")
        if not self._storage.exists(path):
            return frozenset()
        wal = self._storage.open_file(path, write=False)
        try:
            header = wal.read_at(0, _WAL_HEADER_SIZE_BYTES)
            pages = set()
            for frame_offset in range(
                _WAL_HEADER_SIZE_BYTES, wal.size(), _WAL_FRAME_HEADER_SIZE_BYTES + DATABASE_PAGE_SIZE_BYTES
            ):
                frame = wal.read_at(frame_offset, _WAL_FRAME_STRUCT.size)
                if len(frame) < _WAL_FRAME_STRUCT.size:
                    break
                page, _, salt = _WAL_FRAME_STRUCT.unpack(frame)
                if salt != header[_WAL_SALT_SLICE]:
                    break
                pages.add(page)
            return frozenset(pages)
        finally:
            wal.close()

    # ------------------------------------------------------------------ the checksum file
    def _load(self) -> None:
        """Read the page checksums, and the numbers of the pages being moved, from the checksum file.

        Raises :class:`JournalDamaged`.
        """
        path = self._path.with_name(self._path.name + PAGE_CHECKSUMS_SUFFIX)
        data = read_file(self._storage, path)
        if data is None:
            raise JournalDamaged(str(path), "the page checksums are missing")
        body, mac = data[:-MAC_SIZE_BYTES], data[-MAC_SIZE_BYTES:]
        if not self._key.is_mac_valid(body, mac):
            raise JournalDamaged(str(path), "the page checksums are not what was written")
        magic, page_bytes, moving_page_count, page_count = _FILE_HEAD_STRUCT.unpack_from(body)
        if magic != _MAGIC or page_bytes != DATABASE_PAGE_SIZE_BYTES:
            raise JournalDamaged(
                str(path), "the page checksums are in a format that this program cannot read"
            )
        numbers = array("I")
        numbers.frombytes(body[_FILE_HEAD_STRUCT.size :])
        self._pages_being_moved, self._checksums = (
            frozenset(numbers[:moving_page_count]),
            numbers[moving_page_count : moving_page_count + page_count],
        )

    def _save(self, pages_being_moved: frozenset[int]) -> None:
        """Replace the checksum file durably.

        ``pages_being_moved`` are the pages that SQLite will overwrite from its WAL next; empty after that.
        """
        self._pages_being_moved = pages_being_moved
        body = _FILE_HEAD_STRUCT.pack(
            _MAGIC, DATABASE_PAGE_SIZE_BYTES, len(pages_being_moved), len(self._checksums)
        )
        body += array("I", sorted(pages_being_moved)).tobytes() + self._checksums.tobytes()
        path = self._path.with_name(self._path.name + PAGE_CHECKSUMS_SUFFIX)
        replace_file(self._storage, path, body + self._key.compute_mac(body))
