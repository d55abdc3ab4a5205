"""Every false entry about the staff list, a collection of cash boxes or the authorisation of an act is reported."""

import copy
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from rigs.forms import TWO, fill_in
from rigs.lies import audit_findings, read_signed_entries

from egm.people import Person, Role, Roster
from egm.people.pins import PinDigest
from egm.people.roster import RosterError
from egm.staff.service.sign_in import reload_staff_roster
from egm.testing.machine import MachineRig
from egm.testing.service_menu import STAFF_NUMBER_BY_ROLE, MenuUser, build_pin

ATTENDANT, MANAGER = STAFF_NUMBER_BY_ROLE[Role.ATTENDANT], STAFF_NUMBER_BY_ROLE[Role.MANAGER]
MECHANIC = STAFF_NUMBER_BY_ROLE[Role.MECHANIC]


def collect_and_count(folder):
    rig = MachineRig(folder / "state", devices=("hopper",)).boot().insert(2000)
    menu = MenuUser(rig).sign_in(Role.SUPERVISOR).open_and_fill_form("collection", "weekly")
    menu.home().open_and_fill_form("collection_end", "boxes taken")
    menu.home().open_and_fill_form("box_count", "bill_box", "1500")
    menu.home().open_and_fill_form("hopper_fill", "20000")
    return rig


def give_up_credit(folder):
    rig = MachineRig(folder / "state").boot().insert(2000)
    MenuUser(rig)
    fill_in(rig, "forfeit_credits", amount_cents=100, reason="left alone", **TWO)
    return rig


def change_staff_list(folder):
    rig = MachineRig(folder / "state").boot()
    MenuUser(rig).sign_in(Role.MANAGER).touch("leave")
    roster, now = rig.machine.component(Roster), rig.clock.now()
    changes = {"changed_by": MANAGER, "changed_at": now}
    roster = roster.disable_person(ATTENDANT, **changes).enable_person(ATTENDANT, **changes)
    rig.machine.install(roster.set_pin(ATTENDANT, build_pin("8"), changed_by=ATTENDANT, changed_at=now))
    reload_staff_roster(rig.machine)
    return rig


def type_wrong_pins(folder):
    """A mechanic is locked out after wrong PINs, and unlocked; a later wrong PIN is forgotten after the right one."""
    rig = MachineRig(folder / "state").boot()
    menu = MenuUser(rig).open()
    for _ in range(3):
        menu.identify(Role.MECHANIC, pin="1379")
    menu.identify(Role.MECHANIC)
    assert menu.notice == "service.refused.locked"
    menu.identify(Role.MANAGER).open_and_fill_form("unlock", MECHANIC, "mistook the keys")
    menu.touch("leave")
    menu.open().identify(Role.MECHANIC, pin="1379").identify(Role.MECHANIC)
    assert [record["tries"] for record in rig.records("sign_in.refused") if "tries" in record] == [1, 2, 1]
    return rig


def enrol(rig, number, role, author):
    """Enrol a person in the machine's staff list, which the machine has not read again yet."""
    person, digest = Person(number, role.value, role), PinDigest.from_pin(build_pin(number), cost=2)
    roster = rig.machine.component(Roster)
    rig.machine.install(roster.enrol_person(person, digest, changed_by=author, changed_at=rig.clock.now()))


def enrol_further_people(folder):
    """Enrol two people without an author, as a first start does; the first of them enrols two more."""
    rig = MachineRig(folder / "state").boot()
    rig.machine.install(Roster())
    enrol(rig, "1", Role.MANAGER, "")
    enrol(rig, "2", Role.ATTENDANT, "")
    reload_staff_roster(rig.machine)
    enrol(rig, "3", Role.SUPERVISOR, "1")
    enrol(rig, "4", Role.MECHANIC, "1")
    reload_staff_roster(rig.machine)
    return rig


@cache
def honest_entries(session):
    with TemporaryDirectory() as folder:
        return read_signed_entries(session(Path(folder)))


def write(name, value):
    """Return a change that replaces one member of the entry's record."""

    def change(raw):
        raw["record"][name] = value

    return change


def store(name, value):
    """Return a change that replaces one member of the last collection in the entry's state."""

    def change(raw):
        raw["state"]["collected"][name] = value

    return change


def skip_change_number(raw):
    raw["record"]["number"] += 1


def store_another_digest(raw):
    raw["state"]["staff"]["digest"] = "0" * 64


def rename(raw):
    raw["id"] += ".again"


def authorise_as_attendant(raw):
    raw["record"] |= {"person": ATTENDANT, "persons": [ATTENDANT]}


def count_for_another_number(raw):
    (count,) = raw["state"].values()
    raw["state"] = {"tries:1024": count}


def count_one_more(raw):
    raw["record"]["tries"] += 1
    (count,) = raw["state"].values()
    count["wrong"] += 1


def unlock_another_number_too(raw):
    raw["state"]["tries:1024"] = None


BOXES = {"bill_box": 2000, "coin_box": 0}
LIES = [
    (collect_and_count, "intervention.closed", store("after", BOXES | {"bill_box": 1500}), "state.collected"),
    (collect_and_count, "intervention.closed", store("before", BOXES), "state.collected does not agree"),
    (collect_and_count, "intervention.closed", store("counted", ["bill_box"]), "state.collected"),
    (collect_and_count, "collection.counted", write("collection", "other"), "record.collection does not"),
    (collect_and_count, "collection.counted", write("metered_cents", 1500), "record.metered_cents does not"),
    (collect_and_count, "collection.counted", write("difference_cents", 0), "record.difference_cents does"),
    (collect_and_count, "collection.counted", store("counted", []), "state.collected: expected"),
    (collect_and_count, "hopper.filled", write("person", MANAGER), "the first of record.persons"),
    (collect_and_count, "hopper.filled", authorise_as_attendant, "lacks the permission"),
    (give_up_credit, "forfeit.credits", write("persons", ["2"]), "expected at least 2 people"),
    (change_staff_list, "staff.disabled", skip_change_number, "record.number: expected 7, found 8"),
    (change_staff_list, "staff.disabled", store_another_digest, "state.staff: expected"),
    (change_staff_list, "staff.disabled", rename, "id: expected"),
    (change_staff_list, "staff.disabled", write("whom", "nobody"), "is not a staff number"),
    (change_staff_list, "staff.disabled", write("whom", "77"), "'77' was not in the staff list"),
    (change_staff_list, "staff.disabled", write("person", "77"), "is not an enrolled member of staff"),
    (change_staff_list, "staff.disabled", write("role", "manager"), "before this entry; found 'manager'"),
    (change_staff_list, "staff.disabled", write("person", ""), "is not an enrolled member of staff"),
    (change_staff_list, "staff.disabled", write("person", "demonstration"), "is not an enrolled member"),
    (
        change_staff_list,
        "staff.enabled",
        write("person", STAFF_NUMBER_BY_ROLE[Role.MECHANIC]),
        "lacks the permission enrol",
    ),
    (change_staff_list, "staff.enabled", write("role", "king"), "role is 'king'"),
    (
        change_staff_list,
        "staff.pin",
        write("person", STAFF_NUMBER_BY_ROLE[Role.MECHANIC]),
        "lacks the permission enrol",
    ),
    (change_staff_list, "staff.pin", write("role", "manager"), "before this entry; found 'manager'"),
    (type_wrong_pins, "sign_in.refused", count_for_another_number, "does not count the wrong PINs"),
    (type_wrong_pins, "sign_in.refused", write("person", MANAGER), f"the wrong PINs of {MANAGER}"),
    (type_wrong_pins, "sign_in.refused", count_one_more, "record.tries: expected 1, found 2"),
    (type_wrong_pins, "sign_in.locked", count_for_another_number, "does not count the wrong PINs"),
    (type_wrong_pins, "sign_in.locked", count_one_more, "record.tries: expected 3, found 4"),
    (type_wrong_pins, "sign_in.unlocked", unlock_another_number_too, "does not count the wrong PINs"),
    (type_wrong_pins, "sign_in.tries_forgotten", count_for_another_number, "does not count the wrong PINs"),
]
#: The authors that only the first enrolments have.
UNPROVED_AUTHORS = ("", "demonstration")


@pytest.mark.requirement("E-13")
@pytest.mark.parametrize(("session", "kind", "change", "finding"), LIES)
def test_a_lie_about_staff_or_their_work_is_named(session, kind, change, finding):
    entries = copy.deepcopy(honest_entries(session))
    index = [raw["kind"] for raw in entries].index(kind)
    change(entries[index])
    assert finding in audit_findings(entries)[index + 1]


@pytest.mark.requirement("E-13", "J-16")
def test_deleting_the_count_of_an_early_version_is_no_lie_but_deleting_a_present_one_is():
    """Early versions counted under the staff number itself, which may also be the number of a group."""
    entries = copy.deepcopy(honest_entries(type_wrong_pins))
    kinds = [raw["kind"] for raw in entries]
    unlocking = kinds.index("sign_in.unlocked")
    entries[unlocking]["state"] |= {f"tries:{MECHANIC}": None}
    assert audit_findings(entries) == {}
    for early_count, is_named in (
        ({"wrong": 2, "until": 9}, False),
        ({"wrong": 2, "locked_seconds": 9}, True),
    ):
        carrying = copy.deepcopy(entries)
        carrying[unlocking - 1]["state"][f"tries:{MECHANIC}"] = early_count
        findings = audit_findings(carrying)
        assert ("does not count the wrong PINs" in findings.get(unlocking + 1, "")) == is_named


@pytest.mark.requirement("E-13", "J-16")
@pytest.mark.parametrize(
    "false_count",
    [
        {"wrong": 1, "locked_seconds": 900},
        {"wrong": 3, "locked_seconds": 0},
        {"wrong": 3, "locked_seconds": 901},
    ],
)
def test_an_attempt_while_locked_that_changes_the_lock_is_named(false_count):
    entries = copy.deepcopy(honest_entries(type_wrong_pins))
    index = [raw.get("record", {}).get("why") for raw in entries].index("locked")
    (key,) = entries[index]["state"]
    entries[index]["state"][key] = false_count
    assert (
        f"state.{key}: expected the count 3 and 1 to 900 seconds; found" in audit_findings(entries)[index + 1]
    )


@pytest.mark.requirement("E-13", "D-21")
def test_a_cash_box_that_was_counted_twice_for_a_collection_is_named():
    entries = copy.deepcopy(honest_entries(collect_and_count))
    index = [raw["kind"] for raw in entries].index("collection.counted")
    again = copy.deepcopy(entries[index])
    again["sequence"] += 1
    again["id"] = again["id"].replace(f"-{index + 1}-", f"-{index + 2}-")
    entries = [*entries[: index + 1], again]
    assert "was already counted for this collection" in audit_findings(entries)[index + 2]


@pytest.mark.requirement("E-13", "J-16")
def test_enrolling_a_person_twice_is_named():
    entries = copy.deepcopy(honest_entries(change_staff_list))
    index = [raw["kind"] for raw in entries].index("staff.disabled")
    entries[index]["kind"] = "staff.added"
    assert "was already in the staff list" in audit_findings(entries)[index + 1]


@pytest.mark.requirement("E-13", "J-16")
@pytest.mark.parametrize("author", UNPROVED_AUTHORS)
def test_an_enrolment_without_an_author_is_named_once_an_enrolled_person_has_enrolled_another(author):
    entries = copy.deepcopy(honest_entries(enrol_further_people))
    *_, first, last = (index for index, raw in enumerate(entries) if raw["kind"] == "staff.added")
    entries[last]["record"]["person"] = author
    findings = audit_findings(entries)
    assert "may enrol people only before an enrolled person has signed in" in findings[last + 1]
    assert first + 1 not in findings


@pytest.mark.requirement("E-13", "J-16")
@pytest.mark.parametrize("author", UNPROVED_AUTHORS)
def test_an_enrolment_without_an_author_is_named_once_anybody_has_signed_in(author):
    def sign_in_and_enrol(folder):
        rig = MachineRig(folder / "state").boot()
        MenuUser(rig).sign_in(Role.MANAGER).touch("leave")
        enrol(rig, "99", Role.ATTENDANT, MANAGER)
        reload_staff_roster(rig.machine)
        return rig

    entries = copy.deepcopy(honest_entries(sign_in_and_enrol))
    enrolments = [raw for raw in entries if raw["kind"] == "staff.added"]
    for raw in enrolments:
        raw["record"]["person"] = author
    findings = audit_findings(entries)
    assert (
        "may enrol people only before an enrolled person has signed in"
        in findings[enrolments[-1]["sequence"]]
    )
    assert not {raw["sequence"] for raw in enrolments[:-1]} & set(findings)


@pytest.mark.requirement("E-13", "J-16")
@pytest.mark.parametrize("author", UNPROVED_AUTHORS)
def test_a_second_enrolment_without_an_author_is_named_after_money_was_inserted(author):
    def enrol_before_and_after_a_bill(folder):
        rig = MachineRig(folder / "state").boot()
        rig.machine.install(Roster())
        for number, role, by in (("1", Role.MANAGER, ""), ("2", Role.ATTENDANT, "1")):
            enrol(rig, number, role, by)
            reload_staff_roster(rig.machine)
            rig.insert(2000)
        return rig

    entries = copy.deepcopy(honest_entries(enrol_before_and_after_a_bill))
    *_, last = (raw for raw in entries if raw["kind"] == "staff.added")
    last["record"]["person"] = author
    assert "only right after the previous person" in audit_findings(entries)[last["sequence"]]


def record_list_after_a_failed_reading(folder):
    """The file of the first staff list cannot be read at first, and is complete afterwards."""
    rig = MachineRig(folder / "state").boot()
    path = folder / "people.json"
    path.mkdir()
    rig.machine.install(Roster(path))
    with pytest.raises(RosterError):
        reload_staff_roster(rig.machine)
    path.rmdir()
    enrol(rig, "1", Role.MANAGER, "")
    enrol(rig, "2", Role.ATTENDANT, "")
    reload_staff_roster(rig.machine)
    return rig


def record_list_from_its_second_copy(folder):
    """The first copy of the first staff list is damaged before the machine reads it."""
    rig = MachineRig(folder / "state").boot()
    path, second_path = folder / "people.json", folder / "people-2.json"
    rig.machine.install(Roster(path, second_copy_path=second_path))
    enrol(rig, "1", Role.MANAGER, "")
    enrol(rig, "2", Role.ATTENDANT, "")
    second_path.write_bytes(path.read_bytes())
    path.write_text("damaged", encoding="utf-8")
    reload_staff_roster(rig.machine)
    return rig


@pytest.mark.requirement("E-13", "J-16")
@pytest.mark.parametrize(
    ("session", "kind"),
    [
        (record_list_after_a_failed_reading, "staff.unreadable"),
        (record_list_from_its_second_copy, "staff.restored"),
    ],
)
def test_a_first_staff_list_whose_file_was_damaged_is_not_accused(session, kind):
    kinds = [raw["kind"] for raw in honest_entries(session)]
    assert kinds.index(kind) < kinds.index("staff.added")
    assert kinds.count("staff.added") == 2


@pytest.mark.requirement("E-13", "J-16")
def test_a_staff_list_carried_over_without_a_clear_is_named():
    """Such an entry replaced the list by people of its own."""
    entries = copy.deepcopy(honest_entries(change_staff_list))
    index = [raw["kind"] for raw in entries].index("staff.disabled")
    recorded = next(
        raw["state"]["staff"] for raw in reversed(entries[:index]) if "staff" in (raw.get("state") or {})
    )
    forged = copy.deepcopy(entries[index]) | {
        "kind": "staff.carried",
        "id": "staff-forged",
        "record": {**recorded, "people": {"99": "manager"}, "disabled": []},
        "state": {"staff": recorded},
    }
    findings = audit_findings([*entries[:index], forged])
    assert "carried over otherwise than by a memory clear" in findings[index + 1]
