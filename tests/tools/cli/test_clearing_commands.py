"""``egm audit inspect`` and ``egm audit clear`` at the terminal, also if little or no memory is readable."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from egm.config.cabinet_file import StateFolder
from egm.people import Person, Role, Roster
from egm.staff.service.sign_in import reload_staff_roster
from egm.testing.clearing import read_clear_time
from egm.testing.machine import MachineRig
from meters import Journal, Transaction, clear
from tools.cli import main

WHO = ("--person", "1", "--second-person", "2", "--reason", "both copies damaged")


def run(*words: str, typed: str = ""):
    return CliRunner().invoke(main, ["audit", *words], input=typed)


def run_inspect(folder: Path) -> dict:
    result = run("inspect", "--state", str(folder), "--json")
    report = json.loads(result.output)
    damaged = (
        report["first"]["why"] or report["second"]["why"] or not (report["agree"] and report["complete"])
    )
    assert result.exit_code == bool(damaged), result.output
    return report


def run_clear(folder: Path, *words: str, typed: str = ""):
    return run(
        "clear",
        "--state",
        str(folder),
        *WHO,
        "--challenge",
        run_inspect(folder)["challenge"],
        *words,
        typed=typed,
    )


def genesis(folder: Path) -> dict:
    with Journal.open(folder, now=read_clear_time) as journal:
        return next(journal.entries()).record["cleared"]


@pytest.fixture
def staffed(tmp_path) -> Path:
    """A machine with 20 dollars of credit whose journal has recorded its staff."""
    rig = MachineRig(tmp_path).boot().insert(2000)
    roster = Roster.load(StateFolder(tmp_path).roster_file)
    for number, pin in (("1", "90170"), ("2", "90270")):
        roster = roster.enrol_person(
            Person(number, f"P{number}", Role.MANAGER), pin, changed_by="", changed_at=rig.clock.now()
        )
    rig.machine.install(Roster(StateFolder(tmp_path).roster_file))
    reload_staff_roster(rig.machine)
    rig.close()
    return tmp_path


def test_ledger_tickets_are_reported_when_both_journals_are_damaged(tmp_path):
    rig = MachineRig(tmp_path, devices=("printer",)).boot().insert(2000)
    number = rig.cash_out_ticket()
    rig.close()
    result = run("inspect", "--state", str(tmp_path))
    assert (result.exit_code, number[-4:] in result.output) == (0, True)
    for copy in (tmp_path / "journal.sqlite", tmp_path / "second" / "000000000001.log"):
        copy.write_bytes(b"nothing of it")
    damaged = run("inspect", "--state", str(tmp_path))
    assert damaged.exit_code == 1
    assert number[-4:] in damaged.output
    assert "issued" in damaged.output


@pytest.mark.requirement("A-05", "A-21")
def test_two_persons_with_their_pins_settle_each_claim_by_name(staffed):
    output = run("inspect", "--state", str(staffed)).output
    assert "credit:1:cashable" in output
    assert "20.00" in output
    wrong = run_clear(staffed, "--claim", "credit:1:cashable=carry", typed="90170\n11111\n")
    assert wrong.exit_code == 1
    result = run_clear(staffed, "--claim", "credit:1:cashable=carry", typed="90170\n90270\n")
    assert result.exit_code == 0, result.output
    assert genesis(staffed)["roster"] == "proved by PIN"
    assert run("verify", "--state", str(staffed)).exit_code == 0


@pytest.mark.requirement("A-05", "A-21")
@pytest.mark.parametrize("harm", ["deleted", "altered"])
def test_a_missing_or_altered_roster_requires_the_option_without_roster(staffed, harm):
    path = StateFolder(staffed).roster_file
    for copy in (path, staffed / "second" / path.name):
        if harm == "deleted":
            copy.unlink(missing_ok=True)
        elif copy.exists():
            copy.write_text(copy.read_text().replace("P2", "P3"))
    refused_result = run_clear(staffed, "--claim", "credit:1:cashable=carry")
    assert refused_result.exit_code == 1
    assert "nobody can confirm their identity" in refused_result.output
    result = run_clear(staffed, "--claim", "credit:1:cashable=carry", "--without-roster")
    assert result.exit_code == 0, result.output
    assert genesis(staffed)["roster"].startswith("not proved")


@pytest.mark.requirement("A-05", "A-06")
def test_a_memory_that_cannot_be_read_at_all_can_still_be_cleared(staffed):
    for path in (*staffed.glob("journal.*"), *staffed.glob("second/*.log"), *staffed.glob("machine.key")):
        path.write_bytes(b"nothing of it is left")
    StateFolder(staffed).roster_file.unlink()
    (staffed / "second" / "people.json").unlink(missing_ok=True)
    assert run_inspect(staffed)["claims"] == []
    assert run_clear(staffed).exit_code == 1
    result = run_clear(staffed, "--without-roster")
    assert result.exit_code == 0, result.output
    assert genesis(staffed)["complete"] is False


@pytest.mark.requirement("A-05", "A-06")
def test_unreadable_values_are_shown_as_claims_beside_all_others(tmp_path):
    rig = MachineRig(tmp_path).boot().insert(2000)
    nonsense = {"handpay": ["no", "hand-pay"], "game": {"play_id": 7}, "level:x": {"current": "1/0"}}
    rig.journal.append(Transaction(id="nonsense", kind="test.nonsense", state=nonsense))
    rig.close()
    claims = {claim["id"]: claim for claim in run_inspect(tmp_path)["claims"]}
    assert claims["credit:1:cashable"]["amount"] == "2000"
    assert claims["unreadable:handpay"]["says"]["state"] == ["no", "hand-pay"]
    unreadable = {name for name, claim in claims.items() if claim["standing"] == "cannot be read"}
    assert unreadable == {"unreadable:handpay", "unreadable:game", "unreadable:level:x"}
    assert {tuple(claims[name]["acts"]) for name in unreadable} == {("ended",)}
    shown = run("inspect", "--state", str(tmp_path)).output
    assert "the memory's 'handpay' is ['no', 'hand-pay'], not a record" in " ".join(shown.split())
    claim_arguments = [f"{name}={'ended' if name in unreadable else 'carry'}" for name in claims]
    refused_result = run_clear(
        tmp_path,
        *[word for claim in claim_arguments for word in ("--claim", claim.replace("ended", "carry"))],
    )
    assert "unreadable:game: it can be ended, not 'carried'" in refused_result.output
    result = run_clear(tmp_path, *[word for claim in claim_arguments for word in ("--claim", claim)])
    assert result.exit_code == 0, result.output
    assert genesis(tmp_path)["claims"]


@pytest.mark.requirement("A-05")
def test_an_interrupted_clear_is_completed_by_the_same_command(tmp_path, monkeypatch):
    MachineRig(tmp_path).boot().insert(2000).close()
    with monkeypatch.context() as cut:
        cut.setattr(clear, "finish_memory_clear", lambda *_, **__: 1 / 0)
        assert run_clear(tmp_path, "--claim", "credit:1:cashable=carry").exit_code == 1
    assert "egm audit clear" in run("inspect", "--state", str(tmp_path)).output
    result = run_clear(tmp_path)
    assert "the clear that was started is completed" in result.output
    with Journal.open(tmp_path, now=read_clear_time) as journal:
        assert journal.credits_cents() == 2000


@pytest.mark.parametrize(
    "words",
    [
        "credit:1:cashable",
        "x=pay",
        "x=paid",
        "x=paid:1",
        "x=paid:a:b",
        "x=carry:1:A",
        f"x=paid:{'9' * 5000}:A",
    ],
)
def test_an_invalid_claim_option_is_refused_with_its_form(tmp_path, words):
    MachineRig(tmp_path).boot().close()
    result = run_clear(tmp_path, "--claim", words)
    assert result.exit_code == 2
    assert "CLAIM=" in result.output


def damage_column(folder: Path, kind: bytes) -> None:
    """Flip one bit in every stored copy of an entry's kind: in the table and in its index."""
    path = folder / "journal.sqlite"
    data = bytearray(path.read_bytes())
    offset = data.find(kind)
    assert offset >= 0
    while offset >= 0:
        data[offset + 4] ^= 1
        offset = data.find(kind, offset + 1)
    path.write_bytes(data)


@pytest.fixture
def printed(tmp_path) -> Path:
    """A stopped machine that has printed a ticket and has 20 dollars of credit."""
    rig = MachineRig(tmp_path, devices=("printer",)).boot().insert(2000)
    rig.cash_out_ticket()
    rig.journal.append(Transaction(id="again", kind="power.up", record={"profile": "quebec-casino"}))
    rig.insert(2000).close()
    return tmp_path


@pytest.mark.requirement("A-02")
def test_the_audit_names_a_damaged_column_of_an_otherwise_valid_memory(tmp_path):
    rig = MachineRig(tmp_path, devices=("printer",)).boot().insert(2000)
    rig.cash_out_ticket()
    rig.close()
    assert run("verify", "--state", str(tmp_path)).exit_code == 0
    damage_column(tmp_path, b"voucher.request")
    result = run("verify", "--state", str(tmp_path))
    assert result.exit_code == 1
    assert "journal.sqlite page" in result.output


@pytest.mark.requirement("A-02", "A-06")
def test_a_damaged_column_of_a_stopped_memory_is_reported(printed):
    """No entry body is altered, so every hash is valid, but logs selected by kind would omit the entry."""
    assert "voucher.out" in run("log", "vouchers", "--state", str(printed)).output
    damage_column(printed, b"voucher.out")
    for words in (("log", "vouchers"), ("entry", "1")):
        result = run(*words, "--state", str(printed))
        assert result.exit_code == 1, words
        assert "journal.sqlite page" in result.output
    inspection = run_inspect(printed)
    assert "journal.sqlite page" in inspection["first"]["why"]
    assert inspection["second"]["why"] == ""
    shown = run("inspect", "--state", str(printed)).output
    assert "start the machine: it makes the first copy again from the second" in shown
    MachineRig(printed, devices=("printer",)).boot().close()
    assert run("inspect", "--state", str(printed)).exit_code == 0
    assert "voucher.out" in run("log", "vouchers", "--state", str(printed)).output


@pytest.mark.requirement("A-05", "A-06")
def test_a_damaged_memory_is_described_with_amounts_and_a_next_step(printed):
    (printed / "journal.sqlite").write_bytes(b"nothing of it")
    log = printed / "second" / "000000000001.log"
    log.write_bytes(log.read_bytes()[:-1] + b"\1")
    shown = run("inspect", "--state", str(printed)).output
    assert len(shown.splitlines()) < 32
    assert "all money that became credit, excluding wins" in shown
    assert "money_in" not in shown
    assert "$40.00" in shown
    command = next(line for line in shown.splitlines() if line.startswith("  egm audit clear"))
    assert f"--state {printed} " in command
    assert f"--challenge {run_inspect(printed)['challenge']} --carry-others" in command
    assert run("inspect", "--state", str(printed), "--csv").output.count("suspect") > 100


@pytest.mark.requirement("A-05", "A-21")
def test_claims_not_named_are_carried_over_together(tmp_path):
    rig = MachineRig(tmp_path).boot().insert(2000)
    rig.journal.append(Transaction(id="nonsense", kind="test.nonsense", state={"handpay": ["no"]}))
    rig.close()
    refused_result = run_clear(tmp_path, "--carry-others")
    assert "these claims are neither settled nor carried over: unreadable:handpay" in refused_result.output
    result = run_clear(tmp_path, "--carry-others", "--claim", "unreadable:handpay=ended")
    assert result.exit_code == 0, result.output
    assert {claim["id"]: claim["act"] for claim in genesis(tmp_path)["claims"]} == {
        "credit:1:cashable": "carried",
        "unreadable:handpay": "ended",
    }
    with Journal.open(tmp_path, now=read_clear_time) as journal:
        assert journal.credits_cents() == 2000
