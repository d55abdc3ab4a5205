"""The register of identities is on both media: one restores the other, and erased records stay erased."""

import asyncio
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

from egm.app.process import MachineProcess
from egm.config.cabinet_file import StateFolder, load_cabinet
from egm.staff import identities
from egm.staff.identities import IDENTITY_FILE_NAME, IdentityRegister
from egm.testing.machine import MachineRig, StoppedClock

AT = datetime(2026, 1, 1, tzinfo=UTC)
ANNA = {"name": "Anna", "document": "passport X1"}


def open_register(tmp_path):
    return closing(IdentityRegister.open(tmp_path / "first", tmp_path / "second"))


def read_identities(tmp_path):
    with open_register(tmp_path) as register:
        return [
            (record.subject, record.text_by_field, record.matches_commitment)
            for record in register.iter_records()
        ]


def overwrite_with_noise(path):
    path.write_bytes(b"\x07" * 9000)


def cut_to_half(path):
    path.write_bytes(path.read_bytes()[:4096])


def put_back(path):
    path.write_bytes(path.with_name("before").read_bytes())


@pytest.mark.requirement("A-05", "Q-01")
@pytest.mark.parametrize("medium", ["first", "second"])
@pytest.mark.parametrize(
    "lose",
    [type(IDENTITY_FILE_NAME), overwrite_with_noise, cut_to_half, put_back],
    ids=["lost", "noise", "half", "put_back"],
)
def test_either_medium_alone_keeps_every_identity(tmp_path, medium, lose):
    with open_register(tmp_path) as register:
        register.store_identity("handpay-1", ANNA, AT)
        (tmp_path / medium / "before").write_bytes((tmp_path / medium / IDENTITY_FILE_NAME).read_bytes())
        register.store_identity("handpay-2", ANNA, AT)
    path = tmp_path / medium / IDENTITY_FILE_NAME
    if lose is type(IDENTITY_FILE_NAME):
        path.unlink()
    else:
        lose(path)
    both = [("handpay-1", ANNA, True), ("handpay-2", ANNA, True)]
    assert read_identities(tmp_path) == both
    (tmp_path / ("second" if medium == "first" else "first") / IDENTITY_FILE_NAME).unlink()
    assert read_identities(tmp_path) == both
    assert path.stat().st_mode & 0o077 == 0


def test_an_erased_identity_is_on_no_medium(tmp_path):
    with open_register(tmp_path) as register:
        register.store_identity("handpay-1", ANNA, AT)
    before = (tmp_path / "second" / IDENTITY_FILE_NAME).read_bytes()
    with open_register(tmp_path) as register:
        assert register.erase_before(AT + timedelta(days=1)) == 1
    (tmp_path / "second" / IDENTITY_FILE_NAME).write_bytes(before)
    assert read_identities(tmp_path) == [("handpay-1", None, True)]
    assert b"Anna" not in (tmp_path / "second" / IDENTITY_FILE_NAME).read_bytes()


def test_an_altered_identity_is_repaired_from_the_intact_copy(tmp_path):
    with open_register(tmp_path) as register:
        register.store_identity("handpay-1", ANNA, AT)
    with closing(sqlite3.connect(tmp_path / "first" / IDENTITY_FILE_NAME)) as database:
        database.execute("UPDATE identity SET fields = replace(fields, 'Anna', 'Otto')")
        database.commit()
    assert read_identities(tmp_path) == [("handpay-1", ANNA, True)]


@pytest.mark.parametrize("medium", ["first", "second"])
def test_a_full_medium_does_not_stop_the_start_and_gets_the_identities_later(tmp_path, monkeypatch, medium):
    def connect(path):
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute(identities._CREATE_TABLE_SQL)
        if path.parent.name == medium:
            (pages,) = connection.execute("PRAGMA page_count").fetchone()
            connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    long = {"name": "Anna " * 4000}
    with open_register(tmp_path) as register:
        register.store_identity("handpay-1", ANNA, AT)
    with monkeypatch.context() as full:
        full.setattr(identities, "_connect", connect)
        with open_register(tmp_path) as register:
            register.store_identity("handpay-2", long, AT)
        for _ in range(2):
            assert read_identities(tmp_path) == [("handpay-1", ANNA, True), ("handpay-2", long, True)]
    read_identities(tmp_path)
    (tmp_path / ("second" if medium == "first" else "first") / IDENTITY_FILE_NAME).unlink()
    assert read_identities(tmp_path) == [("handpay-1", ANNA, True), ("handpay-2", long, True)]


@pytest.mark.parametrize("medium", ["first", "second"])
def test_a_copy_that_is_damaged_while_the_machine_runs_loses_no_identity(tmp_path, medium):
    with open_register(tmp_path) as register:
        register.store_identity("handpay-1", ANNA, AT)
        overwrite_with_noise(tmp_path / medium / IDENTITY_FILE_NAME)
        register.store_identity("handpay-2", ANNA, AT)
    for _ in range(2):
        assert read_identities(tmp_path) == [("handpay-1", ANNA, True), ("handpay-2", ANNA, True)]


def test_identities_are_stored_beside_both_copies_of_the_memory(tmp_path, monkeypatch):
    MachineRig(tmp_path).boot().close()
    opened_in = []
    monkeypatch.setattr(
        "egm.app.process.IdentityRegister.open", lambda *given: opened_in.append(given[:2]) or 1 / 0
    )
    state = StateFolder(tmp_path)
    state.create_private_folders()
    with pytest.raises(ZeroDivisionError):
        asyncio.run(MachineProcess(state, load_cabinet(), StoppedClock()).run())
    assert opened_in == [(tmp_path, tmp_path / "second")]
