"""Only the roster the journal records is believed: edited, deleted or put back, it lets nobody in."""

import contextlib
import json
import sqlite3
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner

from egm.kernel.events import EventType
from egm.kernel.machine import Machine
from egm.people import Person, RecordedRoster, Role, Roster, pins
from egm.people.pins import PinDigest
from egm.staff.desk import ServiceDesk
from egm.testing.machine import MachineRig, PowerCutError, write_undeclared
from meters import open_view
from meters.clear import inspect_journal
from tools.cli import main

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PINS = {"1": "864200", "2": "975310", "3": "135790"}


class Place:
    """A machine whose people were enrolled as people do, and its disk."""

    def __init__(self, folder):
        self.folder = folder
        self.path = folder / "people.json"
        self.spare = folder / "second" / "people.json"
        self.room = None

    def start(self):
        self.stop()
        self.room = MachineRig(self.folder)
        self.room.machine.install(Roster(self.path, spare=self.spare))
        self.room.boot()
        return self

    def stop(self):
        if self.room is not None:
            self.room.close()
            self.room = None

    def egm(self, *words, typed=(), status=0):
        typed = "".join(f"{text}\n" for text in typed)
        done = CliRunner().invoke(main, [*words, "--state", str(self.folder)], input=typed)
        assert done.exit_code == status, done.output
        return done.output

    def enrol(self, number="2", role="technician", *, status=0):
        by = ("--by", "1") if number != "1" else ()
        proof = (PINS["1"],) if by else ()
        words = ("people", "add", number, f"N{number}", "--role", role, *by)
        return self.egm(*words, typed=(*proof, PINS[number], PINS[number]), status=status)

    def sign_in(self, number):
        """What the page says of somebody's number and PIN; empty when the menu opens."""
        rig = self.room
        if rig.machine.component(ServiceDesk).build_page(rig.machine) is None:
            rig.engine.handle(EventType.MENU, key="operator")
        for text in (number, PINS[number]):
            page = rig.machine.component(ServiceDesk).build_page(rig.machine)
            rig.engine.handle(EventType.ANSWER, value="enter", options={"page": page.id, "input": text})
        page = rig.machine.component(ServiceDesk).build_page(rig.machine)
        if page.person is not None:
            rig.engine.handle(EventType.ANSWER, value="leave", options={"page": page.id, "input": ""})
            return ""
        rig.engine.handle(EventType.ANSWER, value="back", options={"page": page.id, "input": ""})
        return page.notice.value

    @property
    def fault(self):
        return self.room.machine.active_faults.get("staff_roster", {}).get("cleared_by")


@pytest.fixture(autouse=True)
def _quick_digests(monkeypatch):
    """Digest each PIN at the least cost: what is tested is who is believed, not how long a guess takes."""
    scrypt = pins._compute_scrypt
    monkeypatch.setattr(pins, "_compute_scrypt", lambda pin, salt, _cost: scrypt(pin, salt, 2))


@pytest.fixture
def place(tmp_path):
    place = Place(tmp_path / "state")
    place.folder.mkdir(mode=0o700)
    place.enrol("1", "manager")
    place.start()
    place.enrol("2")
    assert place.sign_in("2") == ""
    yield place
    place.stop()
    assert "nothing wrong" in place.egm("audit", "verify")


def edited(path, number="2", pin="135790"):
    """A roster as whoever can write the disk, and no more, would make it."""
    kept = json.loads(path.read_text())
    digest = PinDigest.from_pin(pin, cost=2)
    kept["people"][number] = {
        "name": "Mallory", "role": "manager", "disabled": False,
        "pin": {"salt_hex": digest.salt_hex, "digest_hex": digest.digest_hex, "cost": 2},
    }  # fmt: skip
    return kept


def forged(place):
    """The same with the digests fitted, and a change that explains it: all but the machine's seal."""
    roster = Roster.load(place.path)
    other = place.folder.parent / "forged.json"
    other.write_text(place.path.read_text())
    roster = Roster.load(other).enrol_person(Person("3", "Mallory", Role.MANAGER), PINS["3"], by="1", at=NOW)
    assert not roster.has_valid_seal
    return other.read_text()


def test_changes_are_recorded_with_the_digest_of_the_whole_roster(place):
    roster = Roster.load(place.path)
    assert [change.digest for change in roster.changes] == [
        place.room.records(f"staff.{what}")[n]["digest"] for n, what in enumerate(("added", "added"))
    ]
    assert roster.has_valid_seal
    assert RecordedRoster.from_json(place.room.journal.state("staff")) == RecordedRoster(2, roster.digest)
    assert Roster.load(place.spare).changes == roster.changes
    assert place.fault is None


@pytest.mark.parametrize("lost", [(), ("spare",)])
def test_a_cut_between_the_first_two_persons_recorded_is_nobodys_doing(tmp_path, monkeypatch, lost):
    """Enrolled before there was a machine key, so nothing had sealed them yet."""
    place = Place(tmp_path / "state")
    place.folder.mkdir(mode=0o700)
    place.enrol("1", "manager")
    place.enrol("2")
    post = Machine.post

    def cut(machine, entry, record=None, **details):
        post(machine, entry, record, **details)
        if entry.kind == "staff.added":
            raise PowerCutError

    with monkeypatch.context() as patched:
        patched.setattr(Machine, "post", cut)
        with pytest.raises(PowerCutError):
            place.start()
    place.stop()
    for each in lost:
        getattr(place, each).unlink()
    place.start()
    assert place.fault is None
    assert not place.room.records("staff.restored")
    assert [told["whom"] for told in place.room.records("staff.added")] == ["1", "2"]
    assert place.sign_in("2") == ""
    place.stop()


def _of_another(place):
    other = place.folder.parent / "other.json"
    roster = Roster.load(other).enrol_person(Person("3", "Mallory", Role.MANAGER), PINS["3"], by="", at=NOW)
    roster.enrol_person(Person("2", "Mallory", Role.MANAGER), PINS["3"], by="3", at=NOW)
    place.path.write_text(other.read_text())


def _older(place):
    kept = place.path.read_text()
    place.egm("people", "disable", "2", "--by", "1", typed=(PINS["1"],))
    assert place.sign_in("2") == "service.refused.wrong_pin"
    place.path.write_text(kept)


ATTACKS = {
    "edited": lambda place: place.path.write_text(json.dumps(edited(place.path))),
    "forged": lambda place: place.path.write_text(forged(place)),
    "deleted": lambda place: place.path.unlink(),
    "broken": lambda place: place.path.write_text("?"),
    "of another machine": _of_another,
    "older": _older,
}


@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("attack", ATTACKS)
def test_a_roster_that_is_not_the_one_recorded_is_replaced_and_a_technician_must_look(place, attack, restart):
    ATTACKS[attack](place)
    if restart:
        place.start()
    assert place.sign_in("3") != ""
    assert place.fault == (None if attack == "broken" else "technician")  # damage is mended, and recorded
    assert len(place.room.records("staff.restored")) == 1
    assert place.sign_in("1") == ""
    assert Roster.load(place.path).get("3") is None


def test_an_older_roster_is_not_taken_where_the_second_copy_has_gone_on(place):
    """The power goes when the second copy has a change and the journal not yet; the first is put back."""
    place.stop()
    kept = place.path.read_text()
    place.egm("people", "disable", "2", "--by", "1", typed=(PINS["1"],))
    Roster.load(place.path, place.spare).write_to(place.spare)
    place.path.write_text(kept)
    place.start()
    assert place.fault == "technician"
    assert Roster.load(place.path).get("2") is None
    assert place.sign_in("2") == "service.refused.wrong_pin"


@pytest.mark.requirement("J-16")
@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("attack", ATTACKS)
def test_with_no_copy_left_nobody_signs_in_and_no_pin_is_skipped(place, attack, restart):
    ATTACKS[attack](place)
    place.spare.unlink()
    if restart:
        place.start()
    for number in PINS:
        assert place.sign_in(number) == "service.refused.staff_unreadable"
    assert place.fault == "technician"
    assert place.room.records("staff.unreadable")
    assert "egm people renew" in place.enrol("3", "manager", status=1)
    place.stop()
    challenge = inspect_journal(place.folder).challenge
    said = place.egm(
        "audit", "clear", "--person", "a", "--second-person", "b", "--reason", "x", "--challenge", challenge,
        typed=("1", "2"), status=1,
    )  # fmt: skip
    assert "people.json" in said
    assert inspect_journal(place.folder).challenge == challenge


def test_two_persons_begin_anew_where_the_roster_is_lost(place):
    words = ("people", "renew", "--person", "Ada", "--witness", "Ben", "--reason", "the disk died")
    place.stop()
    assert "the roster is intact" in place.egm(*words, status=1)
    for copy in (place.path, place.spare):
        copy.unlink()
    place.start()
    assert "in use by the machine" in place.egm(*words, status=1)
    place.stop()
    same = ("people", "renew", "--person", "Ada", "--witness", " Ada", "--reason", "the disk died")
    assert "two different people" in place.egm(*same, status=1)
    place.egm(*words)
    place.enrol("1", "manager")
    place.start()
    place.enrol("2")
    assert place.room.records("staff.renewed") == [
        {"person": "Ada", "witness": "Ben", "reason": "the disk died"}
    ]
    assert place.fault == "technician"
    assert (place.sign_in("1"), place.sign_in("2")) == ("", "")


def test_a_clear_carries_the_roster_into_the_new_journal(place):
    place.stop()
    said = place.egm(
        "audit", "clear", "--person", "1", "--second-person", "2", "--reason", "x",
        "--challenge", inspect_journal(place.folder).challenge, typed=(PINS["1"], PINS["2"]),
    )  # fmt: skip
    assert "cleared" in said
    with open_view(place.folder) as view:
        assert RecordedRoster.from_json(view.state("staff")) == RecordedRoster(
            2, Roster.load(place.path).digest
        )
    place.start()
    assert place.sign_in("2") == ""
    assert place.fault is None
    place.path.unlink()
    place.spare.unlink()
    assert place.sign_in("2") == "service.refused.staff_unreadable"


def test_a_roster_and_a_journal_from_before_digests_go_on(tmp_path):
    place = Place(tmp_path / "state")
    place.folder.mkdir(mode=0o700)
    place.enrol("1", "manager")
    kept = json.loads(place.path.read_text())
    kept = {"format": 1, "people": kept["people"], "changes": [
        {name: value for name, value in change.items() if name != "digest"} for change in kept["changes"]
    ]}  # fmt: skip
    place.path.write_text(json.dumps(kept))
    place.start()
    place.enrol("2")
    assert place.sign_in("2") == ""
    assert place.fault is None
    place.stop()


@pytest.mark.requirement("A-20")
def test_a_clear_of_a_damaged_journal_asks_the_pins_of_the_roster_it_recorded(place):
    """Both copies of the journal are damaged, and the roster is gone or an older one: still no way around."""
    place.stop()
    for copy in (place.folder / "journal.sqlite", *sorted(place.folder.rglob("*.log"))):
        data = bytearray(copy.read_bytes())
        written = len(data.rstrip(b"\0"))
        data[written - 200 : written] = bytes(200)
        copy.write_bytes(data)
    kept = place.path.read_bytes()
    found = inspect_journal(place.folder)
    assert found.second_copy.damage or found.first_copy.damage

    def clears(*typed, status):
        return place.egm(
            "audit", "clear", "--person", "1", "--second-person", "2", "--reason", "damage",
            "--challenge", inspect_journal(place.folder).challenge, typed=typed, status=status,
        )  # fmt: skip

    place.path.unlink()
    assert "number or PIN is wrong" in clears("000000", status=1)  # the second copy is asked
    place.spare.unlink()
    assert "people.json: is missing" in clears(status=1)
    place.path.write_bytes(kept)
    assert "cleared" in clears(PINS["1"], PINS["2"], status=0)
    place.start()
    assert place.sign_in("2") == ""


@pytest.mark.requirement("A-20")
def test_a_journal_entry_that_the_machine_has_not_sealed_says_nothing_of_persons(tmp_path):
    """Whoever has the disk and not the key forges a roster and the entry that records it, chain and all."""
    place = Place(tmp_path / "state")
    place.folder.mkdir(mode=0o700)
    place.enrol("1", "manager")
    place.start()
    place.enrol("2")
    assert place.sign_in("2") == ""
    text = forged(place)
    digest = json.loads(text)["changes"][-1]["digest"]
    before = place.room.journal.sequence
    write_undeclared(place.room.machine, "staff.added", state={"staff": RecordedRoster(3, digest).to_json()})
    path, taken = place.folder / "journal.sqlite", place.folder.parent / "taken.sqlite"
    forgery = sqlite3.connect(taken)
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.backup(forgery)
    for (name,) in forgery.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        forgery.execute(f"DROP TRIGGER {name}")
    forgery.execute("UPDATE entries SET seal = zeroblob(32) WHERE sequence > ?", (before,))
    forgery.commit()
    forgery.close()
    place.stop()
    path.write_bytes(taken.read_bytes())
    place.path.write_text(text)
    for path in place.folder.rglob("*.log"):
        path.unlink()
    place.spare.unlink()
    said = place.egm("people", "list", status=1)
    assert "Mallory" not in said
    assert "not sealed by this machine's key" in said


def test_without_the_machine_key_nothing_is_proved_of_persons(place):
    place.stop()
    keys = list(place.folder.rglob("machine.key"))
    saved = {path: path.read_bytes() for path in keys}
    for path in keys:
        path.unlink()
    assert "the machine key is missing" in place.egm("people", "list", status=1)
    for path, data in saved.items():
        path.write_bytes(data)
        path.chmod(0o600)
