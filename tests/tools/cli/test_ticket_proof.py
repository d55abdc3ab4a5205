"""``egm ticket`` proves a ticket from all journals of its machine together."""

import contextlib
import sqlite3

import pytest
from click.testing import CliRunner

from egm.testing.clearing import clear_with_decisions
from egm.testing.machine import MachineRig
from tools.cli import main


@pytest.fixture
def cleared(tmp_path):
    """A machine whose memory was cleared after it printed a ticket: the ticket's number, and the old journal's path."""
    rig = MachineRig(tmp_path, devices=("printer",)).boot().insert(2000)
    number = rig.cash_out_ticket()
    rig.close()
    for copy in (tmp_path / "journal.sqlite", *sorted(tmp_path.rglob("*.log"))):
        data = bytearray(copy.read_bytes())
        written = len(data.rstrip(b"\0"))
        data[written - 40 : written] = bytes(40)
        copy.write_bytes(data)
    clear_with_decisions(tmp_path)
    [old] = tmp_path.glob("cleared/*/journal.sqlite")
    return number, old


def prove(tmp_path, number):
    result = CliRunner().invoke(main, ["ticket", "prove", number, "--state", str(tmp_path)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, " ".join(result.output.split())


@pytest.mark.requirement("H-07")
def test_a_ticket_redeemed_after_a_memory_clear_is_not_proved(cleared, tmp_path):
    number, _ = cleared
    rig = MachineRig(tmp_path, devices=("printer",)).boot()
    rig.offer_ticket(number)
    rig.escrow_ledger.credit_stacked_paper()
    rig.escrow_ledger.close_confirmed_paper()
    rig.close()
    status, output = prove(tmp_path, number)
    assert status == 1
    assert "has redeemed it" in output


@pytest.mark.requirement("H-07")
def test_a_proof_states_that_cage_payments_are_not_in_the_journals(cleared, tmp_path):
    number, _ = cleared
    status, output = prove(tmp_path, number)
    assert status == 0
    assert "no machine has redeemed it; cage payments are not in the journals" in output


@pytest.mark.parametrize("damage", ["cut", "noise", "inside"])
def test_a_damaged_cleared_journal_is_named_and_proves_nothing(cleared, tmp_path, damage):
    number, old = cleared
    if damage == "inside":
        with contextlib.closing(sqlite3.connect(old)) as database:
            for (name,) in database.execute(
                "SELECT name FROM sqlite_master WHERE type = 'trigger'"
            ).fetchall():
                database.execute(f"DROP TRIGGER {name}")
            database.execute("UPDATE entries SET body = zeroblob(9) WHERE id LIKE '%.printed'")
            database.commit()
    else:
        data = old.read_bytes()
        old.write_bytes({"cut": data[:5000], "noise": b"\x07" * 9000}[damage])
    MachineRig(tmp_path, devices=("printer",)).boot().close()
    status, output = prove(tmp_path, number)
    assert status == 1
    assert f"cannot be read: {old.parent}" in output
