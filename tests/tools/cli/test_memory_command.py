"""``egm memory``: a named person replaces the second medium, and the next start fills it."""

import shutil

import pytest
from click.testing import CliRunner
from rigs.moments import get_fixed_now

from meters import Journal, MediumMissing, Transaction, Transfer
from tools.cli.commands.memory import command

CREDIT = "credit:1:cashable"


def open_journal(state, second):
    return Journal.open(state, second_folder=second, machine_id="M-1", now=get_fixed_now)


def egm(*arguments):
    result = CliRunner().invoke(command, [str(argument) for argument in arguments])
    return result.exit_code, result.output


@pytest.mark.requirement("A-02")
def test_a_named_person_replaces_the_second_medium_and_the_next_start_fills_it(tmp_path):
    state, second = tmp_path / "state", tmp_path / "second"
    where = ("--state", state, "--second", second)
    with open_journal(state, second) as journal:
        bill = Transaction(id="b", kind="bill.in", transfers=(Transfer("world:bill", CREDIT, 500),))
        journal.append(bill)
    code, output = egm("show", *where)
    assert code == 0
    assert "both media are this machine's" in output
    shutil.rmtree(second)
    second.mkdir()
    with pytest.raises(MediumMissing):
        open_journal(state, second)
    assert "contains no medium of this machine" in egm("show", *where)[1]
    code, output = egm("replace", *where, "--person", "7", "--reason", "worn out")
    assert code == 0, output
    with open_journal(state, second) as journal:
        details = [e.record for e in journal.entries("event")]
    assert any(r["code"] == "memory.medium_replaced" and "7: worn out" in r["why"] for r in details)
    shutil.rmtree(state)
    with open_journal(state, second) as journal:
        assert journal.balance_cents(CREDIT) == 500


def test_a_missing_second_folder_is_reported_as_having_no_label(tmp_path):
    second = tmp_path / "second"
    open_journal(tmp_path, second).close()
    assert egm("show", "--state", tmp_path)[1].endswith("both media are this machine's\n")
    shutil.rmtree(second)
    code, output = egm("show", "--state", tmp_path)
    assert (code, output.splitlines()[-1]) == (0, f"the second medium has no label: {second}")


def test_a_medium_in_use_is_not_overwritten(tmp_path):
    state, second = tmp_path / "state", tmp_path / "second"
    open_journal(state, second).close()
    code, output = egm("replace", "--state", state, "--second-copy", second, "--person", "7", "--reason", "x")
    assert code == 1
    assert "in use" in output
