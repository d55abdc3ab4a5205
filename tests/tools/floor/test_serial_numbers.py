"""A machine's serial number is accepted only in one form, wherever it is entered."""

import contextlib
import sqlite3

import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pydantic import ValidationError

from egm.config.cabinet_file import MachineTable
from egm.errors import OperatorError
from egm.progressive.enrolment_data import create_request, read_request
from tools.cli import main
from tools.floor.progressive.store import SqliteStore

NONE = ["not a serial!", "", "egm-1", "EGM-1\n", "../EGM-1", "É-1", "A" * 25, "a/b"]


def egm(*args, code=0):
    result = CliRunner().invoke(main, ["progressive", *map(str, args)])
    assert result.exit_code == code, result.output
    return result.output


@pytest.mark.parametrize("serial", NONE)
def test_an_invalid_serial_number_is_refused_everywhere(tmp_path, serial):
    store, folder = tmp_path / "levels.db", tmp_path / "keys"
    assert "is not a valid machine serial number" in egm("admit", "--store", store, "--", serial, code=1)
    assert "is not a valid machine serial number" in egm("certificates", folder, "EGM-1", serial, code=1)
    assert not folder.exists()  # before anything is made
    with pytest.raises(ValidationError):
        MachineTable(serial=serial, operator_number="1", profile="generic", site="x")
    if serial:
        with pytest.raises(OperatorError, match="not a valid machine serial number"):
            read_request(create_request(Ed25519PrivateKey.generate(), serial))


def test_a_valid_serial_number_is_admitted_and_requested_unchanged(tmp_path):
    store = tmp_path / "levels.db"
    assert egm("admit", "--store", store, "EGM-0000001") == "EGM-0000001 may enrol in progressive levels\n"
    assert "EGM-0000001 may no longer enrol" in egm("dismiss", "--store", store, "EGM-0000001")
    assert read_request(create_request(Ed25519PrivateKey.generate(), "EGM-1"))[0] == "EGM-1"


def test_a_certificate_of_another_folder_is_not_revoked(tmp_path):
    egm("certificates", tmp_path / "one", "EGM-1")
    egm("certificates", tmp_path / "two")
    before_bytes = (tmp_path / "one" / "EGM-1.crt").read_bytes()
    assert "is not the name of a certificate in" in egm("revoke", tmp_path / "two", "../one/EGM-1", code=1)
    assert (tmp_path / "one" / "EGM-1.crt").read_bytes() == before_bytes


@pytest.mark.parametrize("content", [b"", b"no database at all", None])
def test_a_file_that_is_not_a_controller_store_is_reported_and_not_changed(tmp_path, content):
    """Every command refuses an empty file, another program's database, and any other file."""
    path = tmp_path / "levels.db"
    if content is None:
        with contextlib.closing(sqlite3.connect(path)) as base:
            base.execute("CREATE TABLE other (a INTEGER)")
    else:
        path.write_bytes(content)
    before = path.read_bytes()
    for verb in ("status", "register", "daily", "show", "prizes", "held"):
        assert f"{path} is not a controller store" in egm(verb, "--store", path, code=1)
    assert path.read_bytes() == before


def test_a_store_of_an_earlier_version_is_reported_and_not_changed(tmp_path):
    """Every command refuses a store that lacks a newer table, until a controller has opened and extended the store."""
    path = tmp_path / "levels.db"
    SqliteStore(path).close()
    with contextlib.closing(sqlite3.connect(path)) as base:
        base.execute("DROP TABLE heard")
        base.execute("PRAGMA journal_mode = DELETE")
    before = path.read_bytes()
    for verb in ("status", "register", "daily", "show", "prizes", "held"):
        assert "no table heard: it was written by an earlier version" in egm(verb, "--store", path, code=1)
    assert path.read_bytes() == before
    SqliteStore(path).close()
    assert "no machine may enrol" in egm("status", "--store", path)
