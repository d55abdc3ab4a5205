"""A machine with both copies damaged: agreed and disputed values, and the authorised clear."""

import json
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner

from meters import Journal, JournalDamaged, JournalPolicy, Transaction, Transfer
from meters.clear import Clearance, ClearRefused, clear_memory, finish_memory_clear, inspect_journal
from tools.cli import main

CREDIT = "credit:1:cashable"


def clock():
    return datetime(2026, 1, 1, tzinfo=UTC)


def move(tx_id, source, target, cents):
    return Transaction(id=tx_id, kind="move", transfers=(Transfer(source, target, cents),))


@pytest.fixture
def broken(tmp_path):
    """A machine with 300 cents of credit and two damaged copies; the log is damaged after its first entries."""
    with Journal.open(
        tmp_path, now=clock, policy=JournalPolicy(entries_per_checkpoint=5, segment_size_bytes=1000)
    ) as journal:
        journal.append(move("b1", "world:bill", CREDIT, 500))
        for n in range(20):
            journal.append(move(f"w{n}", CREDIT, "house:wager", 10))
    database = tmp_path / "journal.sqlite"
    content = bytearray(database.read_bytes())
    content[-100] ^= 1
    database.write_bytes(content)
    log = sorted((tmp_path / "second").glob("*.log"))[2]
    content = bytearray(log.read_bytes())
    content[300] ^= 1
    log.write_bytes(content)
    with pytest.raises(JournalDamaged, match="both copies"):
        Journal.open(tmp_path, now=clock)
    return tmp_path


def build_clearance(found, **changes):
    fields = {
        "person": "A. Tremblay",
        "second_person": "B. Roy",
        "reason": "both copies damaged",
        "challenge": found.challenge,
        "accounted_credit_cents": found.best_reading.credits_cents,
    }
    return Clearance(**(fields | changes))


def read_files(folder):
    """Return the content of the folder without locks and temporary files of SQLite."""
    scratch = ("-shm", "-wal", ".lock")
    return {p: p.read_bytes() for p in folder.rglob("*") if p.is_file() and not p.name.endswith(scratch)}


@pytest.mark.requirement("A-06", "A-28")
def test_values_are_agreed_where_both_copies_are_intact_and_disputed_elsewhere(broken):
    inspection = inspect_journal(broken)
    assert inspection.agreed_meters["bill_in.value"] == 500
    assert "coin_in" in inspection.differing_meters
    assert not inspection.agreed_meters.keys() & inspection.differing_meters.keys()
    assert inspection.second_reading.damage
    assert inspection.second_reading.sequence < inspection.first_reading.sequence
    assert (
        inspection.best_reading.sequence > inspection.first_reading.sequence
    )  # each copy continues where the other is damaged
    assert (inspection.best_reading.credits_cents, inspection.is_complete) == (300, True)


@pytest.mark.requirement("A-05", "A-20", "A-21")
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"second_person": "A. Tremblay"}, "two different people"),
        ({"person": " "}, "two different people"),
        ({"reason": ""}, "a reason"),
        ({"challenge": "00000000"}, "has changed since it was inspected"),
        ({"accounted_credit_cents": 0}, "settle or carry over each claim"),
    ],
)
def test_a_clear_without_its_authorisation_is_refused(broken, changes, reason):
    before = read_files(broken)
    with pytest.raises(ClearRefused, match=reason):
        clear_memory(broken, build_clearance(inspect_journal(broken), **changes), now=clock)
    assert read_files(broken) == before
    with pytest.raises(JournalDamaged):
        Journal.open(broken, now=clock)


@pytest.mark.requirement("A-05", "A-21")
def test_a_clear_that_carries_over_more_credit_than_was_owed_is_refused(broken):
    inspection, before = inspect_journal(broken), read_files(broken)
    flow = Transfer("house:carried_over", "credit:1:cashable", inspection.best_reading.credits_cents + 1)
    opening = (Transaction(id="c1", kind="clear.carried", transfers=(flow,)),)
    with pytest.raises(ClearRefused, match="would be carried over"):
        clear_memory(broken, build_clearance(inspection, opening_transactions=opening), now=clock)
    assert read_files(broken) == before


@pytest.mark.requirement("A-05", "A-20", "A-21")
def test_an_authorised_clear_stores_the_evidence_and_starts_at_zero(broken):
    inspection = inspect_journal(broken)
    damaged = (broken / "journal.sqlite").read_bytes()
    evidence = clear_memory(broken, build_clearance(inspection), now=clock, machine_id="EGM-7")
    assert (evidence / "journal.sqlite").read_bytes() == damaged
    assert json.loads((evidence / "before.json").read_bytes())["reason"] == "both copies damaged"
    before, after = (json.loads((evidence / name).read_bytes()) for name in ("before.json", "after.json"))
    assert before["before"]["first"]["meters"] == inspection.first_reading.meter_values
    assert after["meters"]["bill_in.value"] == 0
    with Journal.open(broken, now=clock, machine_id="EGM-7") as journal:
        assert not any(journal.meters().values.values())
        genesis = next(journal.entries())
        assert genesis.record["cleared"]["person"] == "A. Tremblay"
        assert (
            genesis.record["cleared"]["before"]["first"]["credits_cents"]
            == inspection.first_reading.credits_cents
        )


@pytest.mark.requirement("A-05")
def test_an_interrupted_clear_leaves_the_machine_stopped(broken, monkeypatch):
    from meters import clear as module

    real, calls = module._move_files_aside, []
    first = inspect_journal(broken)

    def dies(*arguments):
        calls.append(arguments)
        if len(calls) > 1:
            raise KeyboardInterrupt
        real(*arguments)

    monkeypatch.setattr(module, "_move_files_aside", dies)
    with pytest.raises(KeyboardInterrupt):
        clear_memory(broken, build_clearance(inspect_journal(broken)), now=clock)
    monkeypatch.undo()
    with pytest.raises(JournalDamaged):
        Journal.open(broken, now=clock)
    with pytest.raises(ClearRefused, match="complete it first"):
        clear_memory(broken, build_clearance(inspect_journal(broken)), now=clock)
    finish_memory_clear(broken, now=clock)
    with Journal.open(broken, now=clock) as journal:
        assert next(journal.entries()).record["cleared"]["before"] == first.to_json()


@pytest.mark.requirement("A-05", "A-20")
def test_a_clear_interrupted_while_writing_the_new_journal_leaves_the_machine_stopped(broken, monkeypatch):
    """Both new copies are intact but do not contain the player's credit yet."""
    flow = Transfer("house:carried_over", CREDIT, 300)
    opening = (Transaction(id="c1", kind="clear.carried", transfers=(flow,)),)

    def lose_power(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Journal, "append", lose_power)
    with pytest.raises(KeyboardInterrupt):
        clear_memory(
            broken, build_clearance(inspect_journal(broken), opening_transactions=opening), now=clock
        )
    monkeypatch.undo()
    for _ in range(2):
        with pytest.raises(JournalDamaged, match="stopped until an authorised clear"):
            Journal.open(broken, now=clock)
    finish_memory_clear(broken, now=clock)
    with Journal.open(broken, now=clock) as journal:
        assert journal.balance_cents(CREDIT) == 300


@pytest.mark.requirement("A-23")
def test_the_memory_of_another_machine_is_refused(tmp_path):
    Journal.open(tmp_path, now=clock, machine_id="EGM-1").close()
    with pytest.raises(JournalDamaged, match="belongs to machine EGM-1, not EGM-2"):
        Journal.open(tmp_path, now=clock, machine_id="EGM-2")
    Journal.open(tmp_path, now=clock, machine_id="EGM-1").close()


def test_the_commands_inspect_and_clear_a_damaged_memory(broken):
    run = CliRunner().invoke(main, ["audit", "inspect", "--state", str(broken), "--json"])
    report = json.loads(run.output)
    options = [
        "--person",
        "A",
        "--second-person",
        "B",
        "--reason",
        "test",
        "--challenge",
        report["challenge"],
    ]
    run = CliRunner().invoke(main, ["audit", "clear", "--state", str(broken), *options])
    assert run.exit_code == 1
    assert "these claims are neither settled nor carried over: credit:1:cashable" in run.output
    assert [(claim["id"], claim["amount"]) for claim in report["claims"]] == [("credit:1:cashable", "300")]
    for wrong, reason in (("paid:299:A", "300 cents are owed, 299"), ("ended", "not 'ended'")):
        claim_options = ["--claim", f"credit:1:cashable={wrong}"]
        run = CliRunner().invoke(main, ["audit", "clear", "--state", str(broken), *options, *claim_options])
        assert run.exit_code == 1
        assert reason in run.output
    claim_options = ["--claim", "credit:1:cashable=paid:300:A"]
    run = CliRunner().invoke(main, ["audit", "clear", "--state", str(broken), *options, *claim_options])
    assert run.exit_code == 0, run.output
    assert CliRunner().invoke(main, ["audit", "verify", "--state", str(broken)]).exit_code == 0
