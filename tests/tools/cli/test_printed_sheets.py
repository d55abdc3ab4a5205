"""Printed sheets state their machine, currency, time and readable names."""

import csv
import io
import json

import pytest
from click.testing import CliRunner

from egm.testing.machine import MachineRig, write_undeclared_entry
from tools.cli import main
from tools.cli.tables import Table


def run(*args):
    return CliRunner().invoke(main, [*map(str, args)])


@pytest.fixture
def folder(tmp_path):
    rig = MachineRig(tmp_path / "state", profile="monaco").boot().insert(2000)
    write_undeclared_entry(
        rig.machine, "power.up", transaction_id="power-up-2", details={"profile": "monaco"}
    )
    rig.close()
    return tmp_path / "state"


@pytest.mark.requirement("D-21")
def test_a_statement_names_its_machine_and_what_each_line_counts(folder):
    """Regression: the lines were raw keys without machine, jurisdiction, currency or time."""
    text = run("register", "statement", "--state", folder).output
    assert text.splitlines()[0].startswith("rules monaco, amounts in minor units of EUR, entry ")
    assert text.splitlines()[0].endswith(" UTC; UTC, days end at 00:00")
    rows = {
        row["meter"]: row
        for row in csv.DictReader(
            io.StringIO(run("register", "statement", "--state", folder, "--csv").output)
        )
    }
    assert (rows["money_in"]["name"], rows["money_in"]["unit"]) == ("Money in", "cents (EUR)")
    assert (rows["games_played"]["unit"], rows["money_in"]["value"]) == ("times", "2000")
    assert all(row["name"] != row["meter"] for row in rows.values()), "every line has words"


@pytest.mark.requirement("D-16")
def test_a_printed_readout_states_its_rules_currency_and_time(folder):
    assert run("meters", "--state", folder).output.startswith("rules monaco, amounts in minor units of EUR, ")


@pytest.mark.parametrize("options", [["--sign"], ["--names", "us"], ["--since", __file__]])
def test_an_option_that_by_does_not_support_is_refused(folder, options):
    """Regression: the options were silently ignored."""
    result = run("meters", "--by", "game", "--state", folder, *options)
    assert (result.exit_code, options[0] in result.output) == (2, True), result.output


def test_nested_records_remain_json_in_a_spreadsheet():
    """Regression: nested records were flattened into a row of words without labels."""
    steps = [{"draws": [{"bound": 6, "value": 2}], "choice": None}]
    (row,) = csv.DictReader(io.StringIO(Table(("steps", "persons"), [(steps, ("2", "3"))]).to_csv()))
    assert json.loads(row["steps"]) == steps
    assert row["persons"] == "2, 3"
