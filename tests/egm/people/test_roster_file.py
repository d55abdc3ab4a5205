"""The roster file and its PINs: what is stored, which changes are refused, and how unreadable files are reported."""

import json
import stat
import time
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egm.people import (
    Permission,
    Person,
    PinRefusedError,
    Role,
    Roster,
    RosterError,
    check_pin_is_permitted,
    find_permissions,
)
from egm.people.pins import PinDigest

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MANAGER = Person("1", "Morgan", Role.MANAGER)
MECHANIC = Person("2", "Max", Role.MECHANIC)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "people.json"


def create_roster(path):
    roster = Roster.load(path).enrol_person(MANAGER, "135790864213", changed_by="", changed_at=NOW)
    return roster.enrol_person(MECHANIC, "246801975318", changed_by="1", changed_at=NOW)


@pytest.mark.requirement("J-16")
def test_enrolled_people_are_read_back_from_a_file_that_only_its_owner_can_read(path):
    create_roster(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    reopened = Roster.load(path)
    assert reopened.person_by_staff_number == {"1": MANAGER, "2": MECHANIC}
    assert reopened.authenticate("2", "246801975318") == MECHANIC
    assert reopened.authenticate("2", "246802") is None
    assert reopened.authenticate("9", "246801975318") is None
    assert [(c.number, c.changed_by, c.change_kind, c.staff_number) for c in reopened.changes] == [
        (1, "", "added", "1"),
        (2, "1", "added", "2"),
    ]
    assert reopened.list_changes_after(1) == reopened.changes[1:]


def test_the_roster_file_holds_no_pin_and_a_separate_salt_for_each_person(path):
    create_roster(path).set_pin(
        "2", "135790864213", changed_by="1", changed_at=NOW
    )  # the same PIN as the manager's
    text = path.read_text()
    assert "135790864213" not in text
    assert "246801975318" not in text
    pins = [entry["pin"] for entry in json.loads(text)["people"].values()]
    assert len({pin["salt_hex"] for pin in pins}) == len({pin["digest_hex"] for pin in pins}) == 2


def test_each_roster_change_is_recorded_with_its_author(path):
    roster = (
        create_roster(path)
        .set_pin("2", "97531086", changed_by="2", changed_at=NOW)
        .disable_person("2", changed_by="1", changed_at=NOW)
    )
    assert roster.find_enabled_person("2") is None
    assert roster.authenticate("2", "97531086") is None
    assert roster.enable_person("2", changed_by="1", changed_at=NOW).authenticate("2", "97531086") == MECHANIC
    assert [(c.change_kind, c.changed_by) for c in Roster.load(path).changes] == [
        ("added", ""),
        ("added", "1"),
        ("pin", "2"),
        ("disabled", "1"),
        ("enabled", "1"),
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda r: r.enrol_person(
                Person("2", "Else", Role.MECHANIC), "246801975318", changed_by="1", changed_at=NOW
            ),
            "2 already belongs to Max",
        ),
        (
            lambda r: r.enrol_person(
                Person("x", "Else", Role.MECHANIC), "246801975318", changed_by="1", changed_at=NOW
            ),
            "1 to 8 digits",
        ),
        (
            lambda r: r.enrol_person(
                Person("3", " ", Role.MECHANIC), "246801975318", changed_by="1", changed_at=NOW
            ),
            "name ' '",
        ),
        (
            lambda r: r.enrol_person(
                Person("3", "A\nB", Role.MECHANIC), "246801975318", changed_by="1", changed_at=NOW
            ),
            "printable",
        ),
        (lambda r: r.disable_person("1", changed_by="1", changed_at=NOW), "the last person who can enrol"),
        (lambda r: r.disable_person("7", changed_by="1", changed_at=NOW), "nobody has the staff number '7'"),
        (lambda r: r.set_pin("7", "246801975318", changed_by="1", changed_at=NOW), "nobody has"),
        (lambda r: r.set_pin("2", "1111", changed_by="1", changed_at=NOW), "equal or consecutive"),
    ],
)
def test_an_invalid_roster_change_is_refused_and_leaves_the_file_unchanged(path, change, message):
    roster = create_roster(path)
    before = path.read_bytes()
    with pytest.raises((RosterError, PinRefusedError), match=message):
        change(roster)
    assert path.read_bytes() == before


def test_the_first_person_enrolled_must_have_the_permission_to_enrol_others(path):
    with pytest.raises(RosterError, match="the first person must be able"):
        Roster.load(path).enrol_person(MECHANIC, "246801975318", changed_by="", changed_at=NOW)
    assert not path.exists()


def test_a_roster_change_based_on_an_outdated_read_is_refused(path):
    first = create_roster(path)
    second = Roster.load(path)
    first.disable_person("2", changed_by="1", changed_at=NOW)
    with pytest.raises(RosterError, match="somebody else has just changed it"):
        second.set_pin("2", "864200", changed_by="1", changed_at=NOW)
    assert Roster.load(path).find_enabled_person("2") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"format": 2}',
        '{"format": 1, "people": {"1": {}}, "changes": []}',
        "\x00",
        '{"format":1}',
        "[" * 5000,
    ],
)
def test_an_unreadable_roster_file_is_refused_with_its_name(path, text):
    path.write_text(text)
    with pytest.raises(RosterError, match=r"people\.json"):
        Roster.load(path)


def test_without_a_roster_file_nobody_is_authenticated(path):
    assert Roster.load(path).authenticate("1", "135790864213") is None


@pytest.mark.parametrize("pin", ["", "123", "1234", "987654", "0000", "12a4", "1" * 13, "１３５７", "-135"])
def test_obvious_and_malformed_pins_are_refused(pin):
    with pytest.raises(PinRefusedError):
        check_pin_is_permitted(pin)


@given(st.from_regex(r"[0-9]{4,12}", fullmatch=True), st.text(max_size=12))
@settings(max_examples=50)
def test_a_pin_digest_matches_only_its_own_pin(pin, other):
    try:
        digest = PinDigest.from_pin(pin, cost=2)
    except PinRefusedError:
        return
    assert digest.is_digest_of(pin)
    assert digest.is_digest_of(other) is (other == pin)


def test_a_pin_digest_is_costly_enough_to_slow_down_guessing(path):
    digest = PinDigest.from_pin("135790864213")
    assert digest.cost >= 2**14
    start_seconds = time.process_time()
    digest.is_digest_of("000000")
    assert time.process_time() - start_seconds > 0.005  # limits guessing to some hundred attempts a second


@pytest.mark.requirement("J-16", "J-08", "Q-12")
def test_no_role_both_services_devices_and_handles_money_and_only_managers_enrol():
    assert {role for role in Role if Permission.ENROL_STAFF in find_permissions(role)} == {Role.MANAGER}
    technical = {Permission.OPEN_DOORS, Permission.TEST_DEVICES}
    money = {Permission.PAY_BY_HAND, Permission.RULE_ON_MONEY, Permission.COLLECT_CASH}
    for role in Role:
        permissions = find_permissions(role)
        assert permissions, role
        assert not (permissions & technical and permissions & money), (
            f"{role} both opens the machine and pays"
        )
    read_permissions = {permission for permission in Permission if permission.value.startswith("read_")}
    assert find_permissions(Role.INSPECTOR) == read_permissions


@pytest.mark.requirement("Q-12", "J-16")
def test_each_of_monacos_roles_may_do_its_duties_and_no_other_work():
    """Art. 23-1: supervisors control, collect and pay; mechanics repair; changers serve players; agents only read."""
    supervisor, mechanic = find_permissions(Role.SUPERVISOR), find_permissions(Role.MECHANIC)
    changer, agent = find_permissions(Role.ATTENDANT), find_permissions(Role.INSPECTOR)
    duties = {
        Permission.READ_METERS,
        Permission.COLLECT_CASH,
        Permission.RULE_ON_MONEY,
        Permission.PAY_BY_HAND,
    }
    assert supervisor >= duties
    assert mechanic >= {Permission.OPEN_DOORS, Permission.TEST_DEVICES}
    assert not mechanic & {*duties - {Permission.READ_METERS}, Permission.CONFIGURE, Permission.ENROL_STAFF}
    assert changer == {
        Permission.ANSWER_SERVICE_CALLS,
        Permission.CLEAR_TILTS,
        Permission.PAY_BY_HAND,
        Permission.READ_GAME_RECALL,
    }
    assert {Permission.READ_LOGS, Permission.READ_METERS} <= agent
