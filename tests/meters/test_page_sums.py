"""The checksums of the first copy's pages.

Beyond 1 GiB, the file contains one page that SQLite never writes (its lock-byte page), so that no WAL names it. A
journal of that size takes an hour to write; here, the WAL of a small one omits a page.
"""

import struct

import pytest

from meters import JournalDamaged
from meters.machine_key import MachineKey
from meters.page_checksums import DATABASE_PAGE_SIZE_BYTES, PageChecksums
from meters.storage import DiskStorage

SALT = b"saltsalt"


def wal_of(pages):
    """Return a WAL with a frame for each page, as far as the sums read it (SQLite file format, section 4)."""
    head = bytes(16) + SALT + bytes(8)
    return head + b"".join(
        struct.pack(">II8s8x", page, 0, SALT) + bytes(DATABASE_PAGE_SIZE_BYTES) for page in pages
    )


@pytest.fixture
def grown(tmp_path):
    """The sums of a file that has grown from two pages to six; nothing has written its fifth page."""
    path = tmp_path / "journal.sqlite"
    path.write_bytes(b"a" * 2 * DATABASE_PAGE_SIZE_BYTES)
    key = MachineKey.create(DiskStorage(), tmp_path)
    sums = PageChecksums(DiskStorage(), path, key)
    sums.record_all()
    path.with_name("journal.sqlite-wal").write_bytes(wal_of([1, 3, 4, 6]))

    def move_wal():
        with path.open("r+b") as file:
            for page in (1, 3, 4, 6):
                file.seek((page - 1) * DATABASE_PAGE_SIZE_BYTES)
                file.write(bytes([page]) * DATABASE_PAGE_SIZE_BYTES)
        return True

    assert sums.move_wal_and_record(move_wal)
    sums.close()
    return PageChecksums(DiskStorage(), path, key), path


@pytest.mark.requirement("A-02", "A-03")
def test_a_page_that_was_never_written_is_not_reported_as_damage(grown):
    sums, _ = grown
    sums.verify()
    assert sums.verify_page_range(1, 6) == 1
    sums.close()


@pytest.mark.parametrize("page", range(1, 7))
def test_a_flipped_byte_in_any_page_is_detected(grown, page):
    sums, path = grown
    with path.open("r+b") as file:
        file.seek(page * DATABASE_PAGE_SIZE_BYTES - 1)
        byte = file.read(1)
        file.seek(page * DATABASE_PAGE_SIZE_BYTES - 1)
        file.write(bytes([byte[0] ^ 1]))
    with pytest.raises(JournalDamaged, match=f"page {page}"):
        sums.verify()
    sums.close()


@pytest.mark.requirement("A-02", "A-03")
def test_pages_that_the_machine_moves_during_a_check_are_not_reported_as_damage(grown):
    """The reader has older sums; the machine records which pages it moves before it moves them."""
    reader, path = grown
    machine = PageChecksums(DiskStorage(), path, MachineKey.load(DiskStorage(), path.parent))
    machine.verify()
    load, moves = reader._load, []

    def load_and_let_the_machine_move():
        load()
        if not moves:
            moves.append(True)

            def move_wal():
                with path.open("r+b") as file:
                    file.write(b"b" * 7 * DATABASE_PAGE_SIZE_BYTES)
                return True

            path.with_name("journal.sqlite-wal").write_bytes(wal_of(range(1, 8)))
            assert machine.move_wal_and_record(move_wal)

    reader._load = load_and_let_the_machine_move
    reader.verify()
    assert moves
    reader.close()
    machine.close()
