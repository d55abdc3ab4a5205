"""Only the roster in the journal is used: with an edited, deleted or older file, nobody can sign in."""

import contextlib
import json
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from egm.kernel.events import EventType
from egm.kernel.machine import PositionMachine
from egm.people import Person, RecordedRoster, Role, Roster, pins
from egm.people.pins import PinDigest
from egm.staff.desk import ServiceDesk
from egm.testing.machine import MachineRig, PowerCutError, write_undeclared_entry
from meters import open_view
from meters.clear import inspect_journal
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor
from tools.cli import main

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PINS = {"1": "864200", "2": "975310", "3": "135790"}


class EnrolledMachine:
    """A machine whose staff was enrolled by the command line, and its state folder."""

    def __init__(self, folder):
        self.folder = folder
        self.path = folder / "people.json"
        self.spare = folder / "second" / "people.json"
        self.rig = None

    def start(self):
        self.stop()
        self.rig = MachineRig(self.folder)
        self.rig.machine.install(Roster(self.path, second_copy_path=self.spare))
        self.rig.boot()
        return self

    def stop(self):
        if self.rig is not None:
            self.rig.close()
            self.rig = None

    def egm(self, *words, typed=(), status=0):
        typed = "".join(f"{text}\n" for text in typed)
        result = CliRunner().invoke(main, [*words, "--state", str(self.folder)], input=typed)
        assert result.exit_code == status, result.output
        return result.output

    def enrol(self, number="2", role="technician", *, status=0):
        by = ("--by", "1") if number != "1" else ()
        proof = (PINS["1"],) if by else ()
        words = ("people", "add", number, f"N{number}", "--role", role, *by)
        return self.egm(*words, typed=(*proof, PINS[number], PINS[number]), status=status)

    def sign_in(self, number):
        """Sign in with this number and its PIN; return the notice of the page, or "" if the menu opens."""
        rig = self.rig
        if rig.machine.component(ServiceDesk).build_page(rig.machine) is None:
            rig.engine.handle(EventType.OPEN_SERVICE_MENU, key="operator")
        for text in (number, PINS[number]):
            page = rig.machine.component(ServiceDesk).build_page(rig.machine)
            rig.engine.handle(
                EventType.ANSWER_SERVICE_PAGE, value="enter", options={"page": page.id, "input": text}
            )
        page = rig.machine.component(ServiceDesk).build_page(rig.machine)
        if page.person is not None:
            rig.engine.handle(
                EventType.ANSWER_SERVICE_PAGE, value="leave", options={"page": page.id, "input": ""}
            )
            return ""
        rig.engine.handle(EventType.ANSWER_SERVICE_PAGE, value="back", options={"page": page.id, "input": ""})
        return page.notice.value

    @property
    def fault(self):
        return self.rig.machine.active_faults.get("staff_roster", {}).get("cleared_by")


@pytest.fixture(autouse=True)
def _quick_digests(monkeypatch):
    """Derive PIN digests at the lowest cost, because these tests do not measure the cost of guessing."""
    scrypt = pins._compute_scrypt
    monkeypatch.setattr(pins, "_compute_scrypt", lambda pin, salt, _cost: scrypt(pin, salt, 2))


@pytest.fixture
def machine(tmp_path):
    machine = EnrolledMachine(tmp_path / "state")
    machine.folder.mkdir(mode=0o700)
    machine.enrol("1", "manager")
    machine.start()
    machine.enrol("2")
    assert machine.sign_in("2") == ""
    yield machine
    machine.stop()
    assert "nothing wrong" in machine.egm("audit", "verify")


def edit_roster(path, number="2", pin="135790"):
    """Return a roster edited by somebody with access to the disk but without the key."""
    roster = json.loads(path.read_text())
    digest = PinDigest.from_pin(pin, cost=2)
    roster["people"][number] = {
        "name": "Mallory", "role": "manager", "disabled": False,
        "pin": {"salt_hex": digest.salt_hex, "digest_hex": digest.digest_hex, "cost": 2},
    }  # fmt: skip
    return roster


def forge_roster(machine):
    """Return an edited roster with valid digests and a matching change, but without the machine's HMAC."""
    roster = Roster.load(machine.path)
    other = machine.folder.parent / "forged.json"
    other.write_text(machine.path.read_text())
    roster = Roster.load(other).enrol_person(
        Person("3", "Mallory", Role.MANAGER), PINS["3"], changed_by="1", changed_at=NOW
    )
    assert not roster.is_authenticated
    return other.read_text()


def test_roster_changes_are_recorded_with_the_digest_of_the_whole_roster(machine):
    roster = Roster.load(machine.path)
    assert [change.digest for change in roster.changes] == [
        machine.rig.records(f"staff.{action}")[n]["digest"] for n, action in enumerate(("added", "added"))
    ]
    assert roster.is_authenticated
    assert RecordedRoster.from_json(machine.rig.journal.state("staff")) == RecordedRoster(2, roster.digest)
    assert Roster.load(machine.spare).changes == roster.changes
    assert machine.fault is None


@pytest.mark.parametrize("lost_copies", [(), ("spare",)])
def test_a_power_cut_while_the_first_people_are_recorded_raises_no_roster_fault(
    tmp_path, monkeypatch, lost_copies
):
    """The people were enrolled before the machine had a key, so that the roster has no HMAC yet."""
    machine = EnrolledMachine(tmp_path / "state")
    machine.folder.mkdir(mode=0o700)
    machine.enrol("1", "manager")
    machine.enrol("2")
    post = PositionMachine.post

    def post_then_cut_power(machine, entry, record=None, **details):
        post(machine, entry, record, **details)
        if entry.kind == "staff.added":
            raise PowerCutError

    with monkeypatch.context() as patched:
        patched.setattr(PositionMachine, "post", post_then_cut_power)
        with pytest.raises(PowerCutError):
            machine.start()
    machine.stop()
    for copy in lost_copies:
        getattr(machine, copy).unlink()
    machine.start()
    assert machine.fault is None
    assert not machine.rig.records("staff.restored")
    assert [record["whom"] for record in machine.rig.records("staff.added")] == ["1", "2"]
    assert machine.sign_in("2") == ""
    machine.stop()


def _copy_roster_of_another_machine(machine):
    other = machine.folder.parent / "other.json"
    roster = Roster.load(other).enrol_person(
        Person("3", "Mallory", Role.MANAGER), PINS["3"], changed_by="", changed_at=NOW
    )
    roster.enrol_person(Person("2", "Mallory", Role.MANAGER), PINS["3"], changed_by="3", changed_at=NOW)
    machine.path.write_text(other.read_text())


def _restore_older_roster(machine):
    older_text = machine.path.read_text()
    machine.egm("people", "disable", "2", "--by", "1", typed=(PINS["1"],))
    assert machine.sign_in("2") == "service.refused.wrong_pin"
    machine.path.write_text(older_text)


ATTACKS = {
    "edited": lambda machine: machine.path.write_text(json.dumps(edit_roster(machine.path))),
    "forged": lambda machine: machine.path.write_text(forge_roster(machine)),
    "deleted": lambda machine: machine.path.unlink(),
    "broken": lambda machine: machine.path.write_text("?"),
    "of another machine": _copy_roster_of_another_machine,
    "older": _restore_older_roster,
}


@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("attack", ATTACKS)
def test_a_roster_that_is_not_the_recorded_one_is_replaced_by_the_second_copy(machine, attack, restart):
    ATTACKS[attack](machine)
    if restart:
        machine.start()
    assert machine.sign_in("3") != ""
    assert machine.fault == (
        None if attack == "broken" else "technician"
    )  # damage alone is repaired and recorded
    assert len(machine.rig.records("staff.restored")) == 1
    assert machine.sign_in("1") == ""
    assert Roster.load(machine.path).find_enabled_person("3") is None


def test_an_older_roster_is_replaced_by_a_newer_second_copy_after_a_power_cut(machine):
    """The power is cut when the second copy has a change that the journal lacks; the first copy is older."""
    machine.stop()
    older_text = machine.path.read_text()
    machine.egm("people", "disable", "2", "--by", "1", typed=(PINS["1"],))
    Roster.load(machine.path, machine.spare).write_to(machine.spare)
    machine.path.write_text(older_text)
    machine.start()
    assert machine.fault == "technician"
    assert Roster.load(machine.path).find_enabled_person("2") is None
    assert machine.sign_in("2") == "service.refused.wrong_pin"


@pytest.mark.requirement("J-16")
@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("attack", ATTACKS)
def test_without_a_valid_roster_copy_nobody_signs_in_and_no_pin_check_is_skipped(machine, attack, restart):
    ATTACKS[attack](machine)
    machine.spare.unlink()
    if restart:
        machine.start()
    for number in PINS:
        assert machine.sign_in(number) == "service.refused.staff_unreadable"
    assert machine.fault == "technician"
    assert machine.rig.records("staff.unreadable")
    assert "egm people renew" in machine.enrol("3", "manager", status=1)
    machine.stop()
    challenge = inspect_journal(machine.folder).challenge
    output = machine.egm(
        "audit", "clear", "--person", "a", "--second-person", "b", "--reason", "x", "--challenge", challenge,
        typed=("1", "2"), status=1,
    )  # fmt: skip
    assert "people.json" in output
    assert inspect_journal(machine.folder).challenge == challenge


def test_two_people_may_renew_a_lost_roster_while_the_machine_is_stopped(machine):
    words = ("people", "renew", "--person", "Ada", "--witness", "Ben", "--reason", "the disk died")
    machine.stop()
    assert "the roster is intact" in machine.egm(*words, status=1)
    for copy in (machine.path, machine.spare):
        copy.unlink()
    machine.start()
    assert "in use by the machine" in machine.egm(*words, status=1)
    machine.stop()
    same = ("people", "renew", "--person", "Ada", "--witness", " Ada", "--reason", "the disk died")
    assert "two different people" in machine.egm(*same, status=1)
    machine.egm(*words)
    machine.enrol("1", "manager")
    machine.start()
    machine.enrol("2")
    assert machine.rig.records("staff.renewed") == [
        {"person": "Ada", "witness": "Ben", "reason": "the disk died"}
    ]
    assert machine.fault == "technician"
    assert (machine.sign_in("1"), machine.sign_in("2")) == ("", "")
    with open_view(machine.folder) as view:
        report = Auditor(GameFiles()).audit_entries(view.iter_bodies())
    assert [notice.text for notice in report.notices if notice.id.startswith("staff-")] == [
        "Ada and Ben, who are not enrolled, began a new staff list: the disk died"
    ]


@pytest.mark.parametrize("renamed_count", [0, 1])
def test_a_renewal_that_a_power_cut_interrupts_admits_no_forged_roster(
    machine, tmp_path, monkeypatch, renamed_count
):
    forged = Roster.load(tmp_path / "forged.json").enrol_person(
        Person("3", "Eve", Role.MANAGER), PINS["3"], changed_by="", changed_at=NOW
    )
    machine.stop()
    for copy in (machine.path, machine.spare):
        forged.write_to(copy)
    left = iter(range(renamed_count))
    rename = Path.rename

    def fail(path, target):
        if next(left, None) is None:
            raise PowerCutError
        return rename(path, target)

    words = ("people", "renew", "--person", "Ada", "--witness", "Ben", "--reason", "it was forged")
    with monkeypatch.context() as cut:
        cut.setattr(Path, "rename", fail)
        machine.egm(*words, status=1)
    machine.start()
    assert machine.sign_in("3") == "service.refused.staff_unreadable"
    machine.stop()
    machine.egm(*words)
    machine.enrol("1", "manager")
    machine.start()
    assert machine.sign_in("1") == ""


def test_a_memory_clear_carries_the_recorded_roster_into_the_new_journal(machine):
    machine.stop()
    output = machine.egm(
        "audit", "clear", "--person", "1", "--second-person", "2", "--reason", "x",
        "--challenge", inspect_journal(machine.folder).challenge, typed=(PINS["1"], PINS["2"]),
    )  # fmt: skip
    assert "cleared" in output
    with open_view(machine.folder) as view:
        assert RecordedRoster.from_json(view.state("staff")) == RecordedRoster(
            2, Roster.load(machine.path).digest
        )
    machine.start()
    assert machine.sign_in("2") == ""
    assert machine.fault is None
    machine.path.unlink()
    machine.spare.unlink()
    assert machine.sign_in("2") == "service.refused.staff_unreadable"


def test_a_roster_file_of_the_first_format_without_digests_remains_usable(tmp_path):
    machine = EnrolledMachine(tmp_path / "state")
    machine.folder.mkdir(mode=0o700)
    machine.enrol("1", "manager")
    roster = json.loads(machine.path.read_text())
    roster = {"format": 1, "people": roster["people"], "changes": [
        {name: value for name, value in change.items() if name != "digest"} for change in roster["changes"]
    ]}  # fmt: skip
    machine.path.write_text(json.dumps(roster))
    machine.start()
    machine.enrol("2")
    assert machine.sign_in("2") == ""
    assert machine.fault is None
    machine.stop()


@pytest.mark.requirement("A-20")
def test_a_memory_clear_of_a_damaged_journal_requires_the_pins_of_its_recorded_roster(machine):
    """Both copies of the journal are damaged; a lost or older roster does not avoid the PIN check."""
    machine.stop()
    for copy in (machine.folder / "journal.sqlite", *sorted(machine.folder.rglob("*.log"))):
        data = bytearray(copy.read_bytes())
        written = len(data.rstrip(b"\0"))
        data[written - 200 : written] = bytes(200)
        copy.write_bytes(data)
    roster_data = machine.path.read_bytes()
    inspection = inspect_journal(machine.folder)
    assert inspection.second_reading.damage or inspection.first_reading.damage

    def clear(*typed, status):
        return machine.egm(
            "audit", "clear", "--person", "1", "--second-person", "2", "--reason", "damage",
            "--challenge", inspect_journal(machine.folder).challenge, typed=typed, status=status,
        )  # fmt: skip

    machine.path.unlink()
    assert "number or PIN is wrong" in clear("000000", status=1)  # the second copy of the roster is used
    machine.spare.unlink()
    assert "people.json: is missing" in clear(status=1)
    machine.path.write_bytes(roster_data)
    assert "cleared" in clear(PINS["1"], PINS["2"], status=0)
    machine.start()
    assert machine.sign_in("2") == ""


@pytest.mark.not_audited
@pytest.mark.requirement("A-20")
def test_a_forged_roster_and_journal_entry_without_the_machines_seal_are_refused(tmp_path):
    """Somebody with the disk but not the key forges a roster and the chained journal entry that records it."""
    machine = EnrolledMachine(tmp_path / "state")
    machine.folder.mkdir(mode=0o700)
    machine.enrol("1", "manager")
    machine.start()
    machine.enrol("2")
    assert machine.sign_in("2") == ""
    text = forge_roster(machine)
    digest = json.loads(text)["changes"][-1]["digest"]
    before = machine.rig.journal.sequence
    write_undeclared_entry(
        machine.rig.machine, "staff.added", state={"staff": RecordedRoster(3, digest).to_json()}
    )
    path, forged_path = machine.folder / "journal.sqlite", machine.folder.parent / "taken.sqlite"
    forgery = sqlite3.connect(forged_path)
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.backup(forgery)
    for (name,) in forgery.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        forgery.execute(f"DROP TRIGGER {name}")
    forgery.execute("UPDATE entries SET seal = zeroblob(32) WHERE sequence > ?", (before,))
    forgery.commit()
    forgery.close()
    machine.stop()
    path.write_bytes(forged_path.read_bytes())
    machine.path.write_text(text)
    for path in machine.folder.rglob("*.log"):
        path.unlink()
    machine.spare.unlink()
    output = machine.egm("people", "list", status=1)
    assert "Mallory" not in output
    assert "not authenticated with this machine's key" in output


def test_without_the_machine_key_the_roster_cannot_be_listed(machine):
    machine.stop()
    keys = list(machine.folder.rglob("machine.key"))
    saved = {path: path.read_bytes() for path in keys}
    for path in keys:
        path.unlink()
    assert "the machine key is missing" in machine.egm("people", "list", status=1)
    for path, data in saved.items():
        path.write_bytes(data)
        path.chmod(0o600)
