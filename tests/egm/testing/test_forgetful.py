"""Simulated media: a reader sees what survived a power loss, and a medium without power refuses reads."""

import random

import pytest

from egm.testing.forgetful import ForgetfulStorage, SimulatedMedium
from meters.errors import JournalUnwritable
from meters.storage import MediumError, read_file


@pytest.fixture
def medium():
    return SimulatedMedium(random.Random(1))


@pytest.fixture
def storage(medium):
    opened = ForgetfulStorage(medium, random.Random(2).randbytes)
    yield opened
    opened.close_open_files()


def write_rows(path, medium):
    """Write two rows durably into the write-ahead log of a database, and cut the power."""
    process = ForgetfulStorage(medium, random.Random(3).randbytes)
    database = process.connect(path, read_only=False)
    for sql in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", "CREATE TABLE numbers (n)"):
        database.execute(sql)
    for number in (1, 2):
        database.execute("INSERT INTO numbers VALUES (?)", (number,))
    medium.cut_power()
    process.close_open_files()
    medium.lose_unsynced_data_and_power_on()


def test_a_database_with_a_write_ahead_log_from_a_power_loss_can_be_read(tmp_path, medium, storage):
    """An inspection reads the memory this way; otherwise no clear after a power loss could read the first copy."""
    path = tmp_path / "a.sqlite"
    write_rows(path, medium)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert len(before["a.sqlite-wal"]) > 0
    rows = storage.connect(path, read_only=True).execute("SELECT n FROM numbers").fetchall()
    assert rows == [(1,), (2,)]
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_a_medium_without_power_refuses_every_read(tmp_path, medium, storage):
    database, file = tmp_path / "a.sqlite", tmp_path / "file"
    write_rows(database, medium)
    file.write_bytes(b"content")
    connection, handle = storage.connect(database, read_only=True), storage.open_file(file, write=False)
    assert handle.read_at(0, handle.size()) == b"content"
    medium.cut_power()
    for read in (
        lambda: handle.read_at(0, 1),
        handle.size,
        lambda: storage.open_file(file, write=False),
        lambda: storage.exists(file),
        lambda: storage.list_names(tmp_path),
        lambda: read_file(storage, file),
    ):
        with pytest.raises(JournalUnwritable, match="has no power"):
            read()
    for query in (
        lambda: connection.execute("SELECT n FROM numbers"),
        lambda: storage.connect(database, read_only=True).execute("SELECT n FROM numbers"),
    ):
        with pytest.raises(MediumError, match="has no power"):
            query()
    handle.close()
    medium.lose_unsynced_data_and_power_on()
