"""``egm register`` prints the same lines from the machine's memory and from the exported journal."""

import contextlib
import csv
import hashlib
import io
import json
import sqlite3
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from rigs.moments import NOW

from egm.app.features import STAFF_REGISTERS
from egm.kernel.events import EventType
from egm.staff.identities import IDENTITY_FILE_NAME
from egm.testing.machine import MachineRig
from meters import export
from meters.entry import encode_canonical_json
from meters.machine_key import MachineKey
from meters.storage import DiskStorage
from tools.cli import main

NAMED = {"name": "Anna Example", "document": "passport", "number": "X1234567"}


def run(*args: object):
    return CliRunner().invoke(main, ["register", *map(str, args)])


@pytest.fixture
def folder(tmp_path):
    rig = MachineRig(tmp_path / "state", profile="monaco").boot().insert(20000)
    for _ in range(10):
        rig.insert(20000)
    rig.engine.handle(EventType.CASH_OUT)
    rig.engine.handle(EventType.OPEN_SERVICE_MENU, key="operator")
    for event, values in (
        (EventType.RECORD_HANDPAY_FORM, {"form": "handpay", "method": "cheque", **NAMED}),
        (EventType.KEY_TURNED, {"key": "attendant"}),
        (EventType.PAY_COMPLEMENT, {"form": "complement", "amount_cents": 700, "reason": "line 2"}),
    ):
        rig.engine.handle(event, person="2", persons=("2",), **values)
    with (tmp_path / "audit.jsonl").open("wb") as stream:
        key = MachineKey.load(DiskStorage(), tmp_path / "state")
        assert key is not None
        export.write_export(rig.journal, key, stream, NOW)
    rig.close()
    return tmp_path / "state"


@pytest.mark.requirement("Q-01", "Q-05")
def test_a_register_is_the_same_from_memory_and_from_the_export(folder, tmp_path):
    for name in STAFF_REGISTERS:
        from_memory = run("show", name, "--state", folder, "--json")
        from_export = run("show", name, "--file", tmp_path / "audit.jsonl", "--json")
        assert from_memory.exit_code == from_export.exit_code == 0, (from_memory.output, from_export.output)
        assert from_memory.output == from_export.output
    (paid,) = json.loads(run("show", "handpays", "--state", folder, "--json").output)
    assert (paid["method"], paid["amount_cents"]) == ("cheque", 220000)
    (row,) = csv.DictReader(io.StringIO(run("show", "complements", "--state", folder, "--csv").output))
    assert (row["amount_cents"], row["persons"]) == ("700", "2")
    assert "line 2" in run("show", "complements", "--state", folder).output
    assert "orphans" in run("list").output


def change(folder, statement):
    """Execute the statement on both copies, because a single changed copy would be repaired from the other."""
    for path in (folder / IDENTITY_FILE_NAME, folder / "second" / IDENTITY_FILE_NAME):
        with contextlib.closing(sqlite3.connect(path)) as register:
            register.execute(statement)
            register.commit()


@pytest.mark.requirement("F-16:c", "Q-01")
def test_identities_are_compared_with_the_digests_in_the_journal(folder):
    right = run("identities", "--state", folder, "--json")
    assert right.exit_code == 0, right.output
    assert [row["record"] for row in json.loads(right.output)] == ["right"]
    assert "Anna Example" in run("identities", "--state", folder).output

    change(folder, "UPDATE identity SET fields = replace(fields, 'Anna', 'Otto')")
    altered = run("identities", "--state", folder, "--json")
    assert (altered.exit_code, json.loads(altered.output)[0]["record"]) == (1, "altered")

    assert "1 erased" in run("erase", "--state", folder, "--before", "2027-01-01").output
    erased = run("identities", "--state", folder, "--json")
    assert (erased.exit_code, json.loads(erased.output)[0]["record"]) == (0, "erased")

    change(folder, "DELETE FROM identity")
    missing = run("identities", "--state", folder, "--json")
    assert (missing.exit_code, json.loads(missing.output)[0]["record"]) == (1, "missing")


def test_a_missing_or_altered_source_of_a_register_is_reported(folder, tmp_path):
    (tmp_path / "broken.jsonl").write_bytes(
        (tmp_path / "audit.jsonl").read_bytes().replace(b"cheque", b"change")
    )
    for args, expected_text in (
        (("show", "handpays", "--state", tmp_path / "nowhere"), "nowhere"),
        (
            ("show", "handpays", "--file", tmp_path / "broken.jsonl"),
            "does not follow entry 40: one is missing, moved or altered",
        ),
        (("erase", "--state", tmp_path, "--before", "2027-01-01"), "there is no identity register"),
    ):
        result = run(*args)
        assert result.exit_code == 1
        assert expected_text in result.output


COMMANDS = (("collusion",), ("statement",), ("show", "handpays"))


@pytest.mark.parametrize("args", COMMANDS)
def test_a_line_that_is_not_an_entry_is_reported_by_its_number(folder, tmp_path, args):
    lines = (tmp_path / "audit.jsonl").read_bytes().splitlines(keepends=True)
    for line, expected_text in (
        (b"{}\n", "sequence is missing"),
        (b"[]\n", "not a JSON object"),
        (b'{"id":\n', "JSON"),
        (b"\xff\n", "utf-8"),
    ):
        (tmp_path / "broken.jsonl").write_bytes(b"".join([*lines[:3], line, *lines[4:]]))
        result = run(*args, "--file", tmp_path / "broken.jsonl")
        assert (result.exit_code, type(result.exception)) == (1, SystemExit)
        assert f"{tmp_path / 'broken.jsonl'} line 4: " in result.output
        assert expected_text.lower() in result.output.lower()


def forge(source, target, change):
    """Write a copy of an export with ``change`` applied to each entry, chained again and signed with a forger's key."""
    head_hex, bodies = "0" * 64, []
    for line in source.read_bytes().splitlines()[1:-1]:
        bodies.append(encode_canonical_json({**json.loads(line), **change, "previous": head_hex}))
        head_hex = hashlib.sha256(bodies[-1]).hexdigest()
    key = MachineKey(bytes(32))
    view = SimpleNamespace(
        public_key=key.public_key, sequence=len(bodies), head_hash="0" * 64, iter_bodies=lambda _: bodies
    )
    with target.open("wb") as stream:
        export.write_export(view, key, stream, NOW)


def test_signed_content_that_no_machine_writes_is_reported(folder, tmp_path):
    forged = tmp_path / "forged.jsonl"
    forge(tmp_path / "audit.jsonl", forged, {"time": "9999-12-31T23:59:59.000000-23:00"})
    result = run("statement", "--file", forged)
    assert (result.exit_code, type(result.exception)) == (1, SystemExit)
    assert (
        f"{forged}: entry 3, power.up, or one before it has a content that no machine writes" in result.output
    )


def test_an_entry_with_an_unknown_account_is_reported(folder, tmp_path):
    forged = tmp_path / "forged.jsonl"
    forge(tmp_path / "audit.jsonl", forged, {"transfers": [["purse", "world:bill", 5]]})
    result = run("statement", "--file", forged)
    assert result.exit_code == 1
    assert "has a content that no machine writes: account 'purse' is not in the chart" in result.output
