"""The service menu: admission, permissions, no play while it is open, and a record of every act."""

import asyncio
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egm.app.features import FEATURES, SERVICE_MENU
from egm.app.view import build_snapshot
from egm.integrity.lockups import list_disabling_sources
from egm.kernel.events import EventType, State
from egm.kernel.logs import Log
from egm.kernel.positions import Position
from egm.kernel.running_positions import RunningPosition, RunningPositions
from egm.people import Permission, Person, Role, Roster, find_permissions
from egm.people.wrong_pins import WrongPin, edit_wrong_pins
from egm.profiles import load_profile
from egm.staff.desk import MenuPage, ServiceDesk
from egm.staff.failed_sign_ins import build_wrong_pins_key
from egm.staff.keys import StaffKey
from egm.staff.service.form_filling import FormFillingPage
from egm.staff.service.menu import MENU_SECTIONS
from egm.staff.service.sign_in import reload_staff_roster
from egm.staff.service.timeout import create_service_menu_timeout
from egm.testing.machine import MachineRig, ScriptedGenerator
from egm.testing.service_menu import (
    MAIN_MENU_TITLE_KEYS,
    STAFF_NUMBER_BY_ROLE,
    MenuUser,
    build_pin,
    create_roster,
    list_enabled_actions,
)
from tools.cli.staff import authenticate


@pytest.fixture
def menu(tmp_path):
    rig = MachineRig(tmp_path).boot().insert(2000)
    yield MenuUser(rig)
    rig.close()


def list_entry_kinds(menu, *, after=0):
    return [entry.kind for entry in menu.rig.journal.entries(after_sequence=after)]


@pytest.mark.requirement("J-16")
def test_number_and_pin_open_the_menu_and_the_person_is_recorded(menu):
    before = menu.rig.journal.sequence
    menu.open()
    assert menu.rig.state is State.SERVICE_MENU
    assert menu.page.person is None
    menu.identify(Role.SUPERVISOR)
    assert menu.page.title.value == "service.menu.title"
    menu.touch("leave")
    assert not menu.is_open
    assert menu.rig.state is State.IDLE
    enrolled = ["staff.added"] * len(Role)  # the first sign-in records the roster
    assert list_entry_kinds(menu, after=before) == ["menu.asked", *enrolled, "menu.entered", "menu.left"]
    number = STAFF_NUMBER_BY_ROLE[Role.SUPERVISOR]
    assert menu.rig.records("menu.entered") == [{"menu": "operator", "person": number, "role": "supervisor"}]
    assert menu.rig.records("menu.left") == [{"menu": "operator", "person": number, "why": "left"}]


def test_a_form_with_entries_is_left_only_on_the_second_press(menu):
    """Regression: the menu key (F10) closed a filled-in form at once."""

    def press_menu_key():
        menu.rig.engine.handle(EventType.ANSWER_SERVICE_PAGE, value="leave", options={"page": menu.page.id})

    menu.sign_in(Role.MECHANIC).touch("form:intervention").enter("belt slips")
    before = menu.rig.journal.sequence
    press_menu_key()
    assert menu.notice == "service.unconfirmed"
    assert not menu.page.unconfirmed
    menu.touch("confirm")
    assert menu.notice == "service.done"
    assert "intervention.opened" in list_entry_kinds(menu, after=before)
    menu.home().touch("form:intervention_end").enter("belt replaced")
    assert menu.page.unconfirmed
    menu.touch("back")
    assert menu.notice == "service.unconfirmed"
    menu.touch("back")
    assert menu.page.title.value != "form.intervention_end.title"
    menu.home().touch("form:intervention_end").enter("belt replaced")
    for _ in range(2):
        press_menu_key()
    assert not menu.is_open
    assert "intervention.closed" not in list_entry_kinds(menu, after=before)


def test_every_page_of_the_menu_warns_what_leaving_it_loses():
    """The warning follows what each page declares, not the names of its fields."""
    pages = [entry.create_page() for entry in SERVICE_MENU.menu_items]
    assert pages
    assert all(isinstance(page.entered_values, Mapping) and not page.entered_values for page in pages)
    filling = FormFillingPage(SERVICE_MENU.forms[0])
    filling.entered_values["reason"] = "belt slips"
    assert MenuPage in FormFillingPage.__mro__
    assert filling.entered_values == {"reason": "belt slips"}


@pytest.mark.requirement("J-16")
def test_wrong_pins_lock_the_number_for_a_while_also_over_a_restart(menu, tmp_path):
    menu.open()
    for expected in ("wrong_pin", "wrong_pin", "locked"):
        menu.identify(Role.MECHANIC, pin="1379")
        assert menu.notice == f"service.refused.{expected}"
    menu.identify(Role.MECHANIC)
    assert menu.notice == "service.refused.locked"
    assert [r["tries"] for r in menu.rig.records("sign_in.refused") if r["why"] == "wrong"] == [1, 2]
    assert [r["tries"] for r in menu.rig.records("sign_in.locked")] == [3]
    menu.rig.close()
    restarted = MenuUser(MachineRig(tmp_path).boot()).open()
    restarted.identify(Role.MECHANIC)
    assert restarted.notice == "service.refused.locked"
    restarted.identify(Role.SUPERVISOR)  # another number is not locked with it
    assert restarted.page.person is not None
    restarted.touch("leave")
    seconds = restarted.rig.profile.staff.pin_lock_minutes * 60
    restarted.rig.clock.wall += timedelta(days=365)  # setting the clock on opens nothing
    restarted.open()
    restarted.identify(Role.MECHANIC)
    assert restarted.notice == "service.refused.locked"
    restarted.rig.clock.pass_seconds(seconds - 1)
    restarted.rig.close()
    restarted = MenuUser(
        MachineRig(tmp_path).boot()
    ).open()  # the entries of an unfinished attempt are discarded
    restarted.rig.clock.pass_seconds(seconds - 1)
    restarted.identify(Role.MECHANIC)
    assert restarted.notice == "service.refused.locked"
    restarted.rig.clock.pass_seconds(1)
    restarted.identify(Role.MECHANIC)
    assert restarted.page.person is not None
    assert restarted.rig.journal.states(StaffKey.WRONG_PINS) == {}
    restarted.rig.close()


def sign_in_at_terminal(menu, role, pin, monkeypatch):
    """Return a terminal's reply to a PIN on this machine: a name, or the reason for a refusal."""
    monkeypatch.setattr("click.prompt", lambda *_, **__: pin)
    try:
        return authenticate(menu.rig.machine.component(Roster), STAFF_NUMBER_BY_ROLE[role]).name
    except click.ClickException as error:
        return error.message


@pytest.mark.requirement("J-16")
def test_wrong_pins_at_the_machine_and_at_terminals_are_counted_together(menu, monkeypatch, tmp_path):
    """Three guesses at the screen and three at a terminal count as six."""
    roster, manager = Roster.load(tmp_path / "people.json"), STAFF_NUMBER_BY_ROLE[Role.MANAGER]
    for role in (Role.MANAGER, Role.MECHANIC, Role.SUPERVISOR):
        person = Person(STAFF_NUMBER_BY_ROLE[role], role.value.title(), role)
        roster = roster.enrol_person(
            person,
            build_pin(STAFF_NUMBER_BY_ROLE[role]),
            changed_by=manager,
            changed_at=datetime(2026, 1, 1, tzinfo=UTC),
        )
    menu.machine.install(roster)
    menu.open()
    for _ in range(3):
        menu.identify(Role.MECHANIC, pin="1379")
    assert "locked" in sign_in_at_terminal(
        menu, Role.MECHANIC, build_pin(STAFF_NUMBER_BY_ROLE[Role.MECHANIC]), monkeypatch
    )
    assert [sign_in_at_terminal(menu, Role.MANAGER, "1379", monkeypatch) for _ in range(2)] == [
        "number or PIN is wrong"
    ] * 2
    menu.identify(Role.MANAGER, pin="1379")
    assert menu.notice == "service.refused.wrong_pin"
    menu.identify(Role.MANAGER)
    assert menu.notice == "service.refused.locked", "the right one too: three were wrong"
    assert "locked" in sign_in_at_terminal(
        menu, Role.MANAGER, build_pin(STAFF_NUMBER_BY_ROLE[Role.MANAGER]), monkeypatch
    )
    menu.identify(Role.SUPERVISOR)  # another number is not locked with it
    assert menu.page.person is not None, menu.notice
    assert [r["why"] for r in menu.rig.records("sign_in.refused")].count("terminal") == 2, (
        "each typed there, once"
    )


@pytest.mark.requirement("J-16")
def test_after_a_wrong_pin_no_field_shows_typed_characters(menu):
    """The PIN is requested again and shown as dots; BACK leads to the number, and then to the game."""
    menu.open().enter(STAFF_NUMBER_BY_ROLE[Role.MECHANIC])
    for _ in range(5):
        menu.enter("1379")
        assert menu.page.prompt.kind == "pin"
    menu.touch("back")
    assert (menu.page.prompt.kind, menu.page.notice) == ("digits", None)
    menu.touch("back")
    assert (menu.is_open, menu.rig.state) == (False, State.IDLE)
    menu.open().enter(STAFF_NUMBER_BY_ROLE[Role.MECHANIC]).touch("leave", page=menu.page.id)
    assert (menu.is_open, menu.rig.state) == (False, State.IDLE)


@pytest.mark.requirement("J-16")
def test_wrong_pins_at_the_screen_lock_the_number_only_there(tmp_path):
    """If the menu opens from the screen, wrong PINs there lock the number there and nowhere else."""
    profile_file = tmp_path / "generic.toml"
    profile_file.write_bytes(load_profile("generic").file.data + b"\n[staff]\nmenu_key = false\n")
    rig = MachineRig(tmp_path / "state", profile=profile_file).boot()
    menu = MenuUser(rig)
    rig.engine.handle(EventType.OPEN_SERVICE_MENU)
    for _ in range(4):
        menu.identify(Role.SUPERVISOR, pin="1379")
    menu.identify(Role.SUPERVISOR)
    assert menu.notice == "service.refused.locked"
    menu.touch("leave", page=menu.page.id).open().identify(Role.SUPERVISOR)
    assert menu.page.person is not None
    menu.touch("leave").open().identify(Role.MANAGER).open_and_fill_form(
        "unlock", STAFF_NUMBER_BY_ROLE[Role.SUPERVISOR], "children"
    )
    menu.touch("leave")
    rig.engine.handle(EventType.OPEN_SERVICE_MENU)
    menu.identify(Role.SUPERVISOR)
    assert menu.page.person is not None
    rig.close()


@pytest.mark.requirement("J-16")
def test_a_number_locked_with_and_without_a_key_is_unlocked_at_once(tmp_path):
    profile_file = tmp_path / "generic.toml"
    profile_file.write_bytes(load_profile("generic").file.data + b"\n[staff]\nmenu_key = false\n")
    rig = MachineRig(tmp_path / "state", profile=profile_file).boot()
    menu = MenuUser(rig)
    for open_menu in (menu.open, lambda: rig.engine.handle(EventType.OPEN_SERVICE_MENU)):
        open_menu()
        for _ in range(3):
            menu.identify(Role.SUPERVISOR, pin="1379")
        assert menu.notice == "service.refused.locked"
        menu.touch("leave", page=menu.page.id)
    menu.open().identify(Role.MANAGER).open_and_fill_form(
        "unlock", STAFF_NUMBER_BY_ROLE[Role.SUPERVISOR], "children"
    )
    menu.touch("leave")
    for open_menu in (menu.open, lambda: rig.engine.handle(EventType.OPEN_SERVICE_MENU)):
        open_menu()
        menu.identify(Role.SUPERVISOR)
        assert menu.page.person is not None
        menu.touch("leave")
    rig.close()


@pytest.mark.requirement("J-16")
def test_the_management_unlocks_a_locked_number(menu):
    menu.open()
    for _ in range(3):
        menu.identify(Role.MECHANIC, pin="1379")
    number = STAFF_NUMBER_BY_ROLE[Role.MECHANIC]
    menu.identify(Role.MANAGER).touch("form:unlock").fill_open_form(
        STAFF_NUMBER_BY_ROLE[Role.ATTENDANT], "it is not locked"
    )
    assert menu.notice.startswith("notice.refused")
    assert menu.rig.records("sign_in.unlocked") == []
    menu.home().open_and_fill_form("unlock", number, "he mistook the keys")
    assert menu.notice == "service.done"
    (record,) = menu.rig.records("sign_in.unlocked")
    assert (record["person"], record["whom"]) == (STAFF_NUMBER_BY_ROLE[Role.MANAGER], number)
    menu.touch("leave")
    menu.sign_in(Role.MECHANIC)
    assert all(Permission.ENROL_STAFF not in find_permissions(role) for role in set(Role) - {Role.MANAGER})


@pytest.mark.requirement("J-16", "O-01")
def test_a_wrong_pin_at_a_terminal_is_recorded_once_on_a_machine_with_several_positions(tmp_path):
    with edit_wrong_pins(tmp_path, must_wait=True) as wrong_pins:
        wrong_pins.append(WrongPin.create_now("3", "2026-01-01T00:00:00+00:00"))
    first = MachineRig(tmp_path, position=Position(1, 2))
    second = MachineRig(tmp_path, position=Position(2, 2), first_rig=first)
    for rig in (first, second):
        rig.machine.install(Roster(tmp_path / "people.json"))
        rig.boot()
    reload_staff_roster(first.machine)
    assert [record["why"] for record in first.records("sign_in.refused")] == ["terminal"]
    assert first.journal.meters().values["sign_in_refused"] == 1
    first.close()


def start_two_positions(tmp_path):
    """Return the two player positions of a machine, each of which can reach the other."""
    first = MachineRig(tmp_path, position=Position(1, 2)).boot()
    second = MachineRig(tmp_path, position=Position(2, 2), first_rig=first).boot()
    running_positions = RunningPositions(
        {
            rig.machine.position.number: RunningPosition(
                engine=rig.engine,
                submit_event=rig.submit_event,
                build_snapshot=lambda rig=rig: build_snapshot(rig.machine, rig.state),
                update_tower_light_and_bell=lambda: None,
                has_own_io_board=True,
            )
            for rig in (first, second)
        }
    )
    for rig in (first, second):
        rig.machine.install(running_positions)
    return first, second


@pytest.mark.requirement("J-16", "O-01")
def test_attempts_at_another_position_do_not_shorten_the_lock_of_a_staff_number(tmp_path):
    first, second = start_two_positions(tmp_path)
    menus = [MenuUser(rig).open() for rig in (first, second)]
    for _ in range(first.machine.profile.staff.wrong_pin_count_max):
        menus[0].identify(Role.MECHANIC, pin="1379")
    half_s = first.machine.profile.staff.pin_lock_minutes * 30
    assert menus[1].identify(Role.MECHANIC).notice == "service.refused.locked"
    first.clock.pass_seconds(half_s)
    assert menus[0].identify(Role.MECHANIC).notice == "service.refused.locked"
    first.clock.pass_seconds(half_s - 1)
    assert menus[1].identify(Role.MECHANIC).notice == "service.refused.locked"
    first.clock.pass_seconds(1)
    assert menus[1].identify(Role.MECHANIC).page.person is not None
    first.close()


@pytest.mark.requirement("J-16", "O-01")
def test_a_person_enrolled_since_the_start_takes_the_menu_to_another_position(tmp_path):
    path, manager = tmp_path / "people.json", STAFF_NUMBER_BY_ROLE[Role.MANAGER]
    roster = Roster.load(path)
    first, second = start_two_positions(tmp_path)
    menus = [MenuUser(rig) for rig in (first, second)]
    for role in (Role.MANAGER, Role.SUPERVISOR):
        number = STAFF_NUMBER_BY_ROLE[role]
        person = Person(number, role.value.title(), role)
        at = datetime(2026, 1, 1, tzinfo=UTC)
        roster = roster.enrol_person(person, build_pin(number), changed_by=manager, changed_at=at)
        if role is Role.MANAGER:
            for rig in (first, second):
                rig.machine.install(Roster(path))
                reload_staff_roster(rig.machine)
    menus[0].sign_in(Role.SUPERVISOR)
    first.engine.handle(EventType.SERVICE_MENU_MOVED, position=2)
    assert (first.notice, menus[0].is_open) == (None, False)
    assert menus[1].page.person is not None
    first.close()


@pytest.mark.requirement("J-16")
def test_a_lock_may_expire_while_its_number_is_unlocked(menu, monkeypatch):
    menu.open()
    for _ in range(3):
        menu.identify(Role.MECHANIC, pin="1379")
    menu.identify(Role.MANAGER)
    monkeypatch.setattr(
        "egm.staff.number_unlocking.clear_wrong_pins_at_terminals",
        lambda *_: menu.rig.clock.pass_seconds(menu.machine.profile.staff.pin_lock_minutes * 60),
    )
    menu.open_and_fill_form("unlock", STAFF_NUMBER_BY_ROLE[Role.MECHANIC], "he mistook the keys")
    assert len(menu.rig.records("sign_in.unlocked")) == 1
    menu.touch("leave")
    menu.sign_in(Role.MECHANIC)


@pytest.mark.requirement("J-16")
def test_no_sequence_of_attempts_reveals_whether_a_number_exists(menu):
    """The same PINs cause the same texts for an existing and a missing number, after any earlier attempts."""
    machine, real = menu.rig.machine, STAFF_NUMBER_BY_ROLE[Role.MECHANIC]
    counted = {
        build_wrong_pins_key(machine, real): real
    }  # numbers that are not counted together, whatever the machine's key
    for number in map(str, range(6000, 9000)):
        counted.setdefault(build_wrong_pins_key(machine, number), number)
    _, nobody, first, second, *_ = counted.values()
    replies = {real: [], nobody: []}
    menu.open()
    for number in (first, first, first, first, second, second, second):  # lock other missing numbers first
        menu.enter(number).enter("1379").touch("back")
    for _ in range(5):
        for number, words in replies.items():
            menu.enter(number).enter("1379")
            words.append(menu.notice)
            menu.touch("back")
    assert replies[real] == replies[nobody]
    assert replies[real] == [
        f"service.refused.{code}" for code in ("wrong_pin", "wrong_pin", *["locked"] * 3)
    ]
    menu.enter("not a number")
    assert menu.notice == "service.refused.not_digits"
    menu.enter("")
    assert menu.notice == "service.refused.missing"


def test_typing_numbers_fills_no_memory(menu):
    buckets = {build_wrong_pins_key(menu.machine, str(number)) for number in range(20_000)}
    assert len(buckets) == 1024


def test_a_pin_is_stored_nowhere(menu):
    menu.sign_in(Role.MANAGER).touch("leave")
    menu.open().identify(Role.MANAGER, pin="864209864213")
    menu.rig.journal.append_checkpoint()
    everything = b"".join(menu.rig.journal.iter_bodies())
    assert build_pin(STAFF_NUMBER_BY_ROLE[Role.MANAGER]).encode() not in everything
    assert b"864209864213" not in everything


@pytest.mark.requirement("J-16", "J-08", "Q-12")
@pytest.mark.parametrize("role", Role, ids=str)
def test_each_role_reaches_what_its_permissions_allow_and_nothing_else(menu, role):
    menu.sign_in(role)
    reached = menu.collect_all_actions()
    for entry in SERVICE_MENU.menu_items:
        allowed = entry.permission is None or entry.permission in find_permissions(role)
        assert (entry.id in reached) is allowed, entry.id
    hidden = next((entry.id for entry in SERVICE_MENU.menu_items if entry.id not in reached), None)
    if hidden is not None:
        menu.touch(hidden, page=menu.page.id)  # a forged touch on a key that is not shown
        assert menu.notice == "service.refused.not_offered"
    for action in sorted(reached):
        menu.touch(action)
        assert menu.page.title.value not in MAIN_MENU_TITLE_KEYS, action
        menu.home()
    menu.touch("search")
    found = [row.action for table in menu.page.tables for row in table.rows]
    assert (set(found), len(found)) == (reached, len(reached))
    menu.touch(found[0])
    assert menu.page.title.value not in MAIN_MENU_TITLE_KEYS


def test_every_page_and_every_form_is_under_one_subject_of_the_menu():
    assert {entry.menu_section for entry in SERVICE_MENU.menu_items} == set(MENU_SECTIONS)
    assert {form.menu_section for form in SERVICE_MENU.forms} == {"", *MENU_SECTIONS}
    for lines in (SERVICE_MENU.menu_items, SERVICE_MENU.forms):
        assert len({line.id for line in lines}) == len(lines)


@pytest.mark.requirement("J-10", "J-16")
def test_while_the_menu_is_open_nothing_is_played_and_credits_stay(menu):
    menu.sign_in(Role.TECHNICIAN)
    before = menu.rig.journal.meters().values
    for event, values in (
        (EventType.PLAY, {}),
        (EventType.CASH_OUT, {}),
        (EventType.SELECT_BET, {"value": 2}),
    ):
        menu.rig.engine.handle(event, **values)
        assert menu.rig.notice == "refused.service_menu"
    menu.rig.offer(500)
    assert menu.rig.hands.orders[-1][0] == "return"
    menu.touch("leave")
    assert menu.rig.journal.meters().values == before
    assert (menu.rig.state, menu.rig.credit_cents) == (State.IDLE, 2000)


@pytest.mark.requirement("J-10")
def test_a_game_that_a_door_interrupted_waits_until_the_menu_is_left(tmp_path):
    rig = MachineRig(tmp_path, generator=ScriptedGenerator(23, 7, 5)).boot().insert(2000)
    rig.play()
    rig.engine.handle(EventType.OPEN_SERVICE_MENU, key="operator")
    assert rig.notice == "refused.game_waits_for_chance"
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    menu = MenuUser(rig).sign_in(Role.TECHNICIAN)
    rig.engine.handle(EventType.DOOR_CLOSED, door="main")
    assert rig.state is State.SERVICE_MENU
    rig.report_shown()
    assert rig.records("game.end") == []
    menu.touch("leave")
    assert rig.state is State.PLAYING
    rig.report_shown()
    assert rig.credit_cents == 2000 - 5 + 300
    rig.close()


@pytest.mark.requirement("J-10")
def test_turning_the_key_back_or_a_restart_signs_out(menu, tmp_path):
    menu.sign_in(Role.MANAGER)
    menu.rig.engine.handle(EventType.SERVICE_MENU_CLOSED, why="key")
    assert (menu.is_open, menu.rig.state) == (False, State.IDLE)
    menu.sign_in(Role.MANAGER)
    menu.rig.close()
    restarted = MenuUser(MachineRig(tmp_path).boot())
    assert (restarted.is_open, restarted.rig.state) == (False, State.IDLE)
    assert [record["why"] for record in restarted.rig.records("menu.left")] == ["key", "restart"]
    restarted.rig.close()


def test_an_answer_to_a_closed_page_is_ignored(menu):
    menu.open()
    old = menu.page.id
    menu.enter(STAFF_NUMBER_BY_ROLE[Role.MANAGER])
    before = menu.rig.journal.sequence
    menu.touch("enter", build_pin(STAFF_NUMBER_BY_ROLE[Role.MANAGER]), page=old)
    assert menu.page.prompt.kind == "pin"
    assert menu.rig.journal.sequence == before


@pytest.mark.requirement("J-16")
def test_a_disabled_person_cannot_sign_in(menu):
    number = STAFF_NUMBER_BY_ROLE[Role.TECHNICIAN]
    menu.machine.install(
        create_roster().disable_person(
            number, changed_by=STAFF_NUMBER_BY_ROLE[Role.MANAGER], changed_at=menu.rig.clock.now()
        )
    )
    menu.open().identify(Role.TECHNICIAN)
    assert menu.notice == "service.refused.wrong_pin"


@pytest.mark.requirement("J-16")
@pytest.mark.parametrize("jurisdiction", ["generic", "quebec-vlt", "quebec-casino", "monaco"])
def test_without_the_operators_key_no_page_opens(tmp_path, jurisdiction):
    rig = MachineRig(tmp_path, profile=jurisdiction).boot()
    rig.engine.handle(EventType.OPEN_SERVICE_MENU)
    assert rig.notice == "refused.menu_may_open"
    rig.engine.handle(EventType.OPEN_SERVICE_MENU, key="audit")
    assert rig.state is State.SERVICE_MENU
    rig.engine.handle(EventType.OPEN_SERVICE_MENU, key="audit")
    assert rig.notice == "refused.service_menu"
    rig.close()


# ---------------------------------------------------------------------------------------------- the attendant's key
@pytest.mark.requirement("J-08", "J-16")
def test_key_turn_asks_for_identification_where_the_key_alone_is_insufficient(tmp_path):
    rig = MachineRig(tmp_path, profile="monaco").boot().insert(2000)
    menu = MenuUser(rig)
    rig.engine.handle(EventType.CASH_OUT)
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert rig.state is State.HANDPAY
    assert menu.page.title.value == "service.act.pay_by_hand"
    menu.identify(Role.MECHANIC)
    assert menu.notice == "service.refused.not_permitted"
    assert rig.records("sign_in.not_permitted")[0]["permission"] == "pay_by_hand"
    menu.identify(Role.ATTENDANT)
    assert (menu.is_open, rig.state, rig.credit_cents) == (False, State.IDLE, 0)
    assert rig.records("handpay.paid")[0]["person"] == STAFF_NUMBER_BY_ROLE[Role.ATTENDANT]
    rig.close()


@pytest.mark.requirement("E-14", "J-16")
def test_a_tilt_is_cleared_by_a_named_person(tmp_path):
    rig = MachineRig(tmp_path, profile="monaco").boot()
    menu = MenuUser(rig)
    rig.engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    menu.identify(Role.INSPECTOR)
    assert menu.notice == "service.refused.not_permitted"
    menu.identify(Role.MECHANIC)
    assert rig.state is State.IDLE
    cleared = rig.records("tilt.cleared")[0]
    assert (cleared["codes"], cleared["person"]) == (
        ["bill_acceptor.cheat"],
        STAFF_NUMBER_BY_ROLE[Role.MECHANIC],
    )
    rig.close()


@pytest.mark.requirement("J-16")
@pytest.mark.parametrize(("role", "pays"), [(Role.TECHNICIAN, "attendant"), (Role.SUPERVISOR, "2")])
def test_a_payment_by_key_beside_an_unauthorised_person_is_recorded_as_the_keys(menu, role, pays):
    """The person who is signed in to the menu is not recorded for an act that their role does not permit."""
    menu.rig.engine.handle(EventType.CASH_OUT)
    assert menu.rig.state is State.HANDPAY
    menu.sign_in(role)
    menu.rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    paid = menu.rig.records("handpay.paid")[-1]
    assert (paid["person"], paid["persons"]) == (pays, [pays])


def test_a_failed_generator_waits_for_a_technician(tmp_path):
    rig = MachineRig(tmp_path, profile="monaco").boot().insert(500)
    rig.next_generators.append(rig.machine.random_service)
    menu = MenuUser(rig)
    rig.engine.handle(EventType.GENERATOR_FAILED, detail="planted")
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert menu.page.title.value == "service.act.restart"
    menu.identify(Role.TECHNICIAN)
    assert rig.state is State.IDLE
    assert rig.records("chance.restarted")[0]["person"] == STAFF_NUMBER_BY_ROLE[Role.TECHNICIAN]
    rig.close()


@pytest.mark.requirement("J-16")
def test_every_turn_of_a_key_is_recorded(menu):
    menu.rig.engine.handle(EventType.KEY_SWITCH_CHANGED, key="audit", on=True, unattended=True)
    menu.rig.engine.handle(EventType.KEY_SWITCH_CHANGED, key="audit", on=False, unattended=False)
    assert menu.rig.records("key.turned") == [{"key": "audit", "on": True, "unattended": True}]
    assert menu.rig.records("key.returned") == [{"key": "audit", "on": False, "unattended": False}]
    logged = [entry.kind for entry in FEATURES.entry_declarations.read_log(menu.rig.journal, Log.ACCESS)]
    assert logged == ["key.returned", "key.turned"]


# ---------------------------------------------------------------------------------------------- forms
def test_the_form_hold_takes_the_machine_out_of_service_until_the_form_release(menu):
    menu.sign_in(Role.MECHANIC).open_and_fill_form("hold", "cleaning")
    assert menu.notice == "service.done"
    assert list_disabling_sources(menu.rig.machine)["operator"]["reason"] == "cleaning"
    menu.touch("leave")
    assert menu.rig.state is State.OUT_OF_SERVICE
    menu.sign_in(Role.SUPERVISOR).open_and_fill_form("release")
    menu.touch("leave")
    assert menu.rig.state is State.IDLE
    assert find_permissions(Role.ATTENDANT).isdisjoint({Permission.TAKE_OUT_OF_SERVICE})


# ---------------------------------------------------------------------------------------------- PINs and time
@pytest.mark.requirement("J-16")
def test_everybody_can_change_their_own_pin_which_is_recorded(menu):
    number = STAFF_NUMBER_BY_ROLE[Role.INSPECTOR]
    menu.sign_in(Role.INSPECTOR).touch("own_pin").enter("1111")
    assert menu.notice == "service.refused.weak_pin"
    menu.enter("975310").enter("975311")
    assert menu.notice == "service.refused.not_the_same"
    menu.enter("975310").enter("975310")
    assert menu.notice == "service.done"
    menu.touch("leave")
    menu.open().identify(Role.INSPECTOR)
    assert menu.notice == "service.refused.wrong_pin"
    menu.identify(Role.INSPECTOR, pin="975310")
    assert menu.page.person is not None
    (changed,) = menu.rig.records("staff.pin")
    assert (changed["person"], changed["whom"]) == (number, number)
    assert b"975310" not in b"".join(menu.rig.journal.iter_bodies())


def test_roster_changes_are_recorded_once_and_a_damaged_roster_admits_nobody(tmp_path):
    path = tmp_path / "people.json"
    manager = Person("7", "Morgan", Role.MANAGER)
    Roster.load(path).enrol_person(
        manager, "864200", changed_by="", changed_at=datetime(2026, 1, 1, tzinfo=UTC)
    )
    rig = MachineRig(tmp_path / "state")
    rig.machine.install(Roster(path))
    rig.boot()
    (added,) = rig.records("staff.added")
    assert (added["whom"], added["role"], added["number"]) == ("7", "manager", 1)
    rig.engine.handle(EventType.OPEN_SERVICE_MENU, key="operator")
    page = rig.machine.component(ServiceDesk).build_page(rig.machine)
    rig.engine.handle(EventType.ANSWER_SERVICE_PAGE, value="enter", options={"page": page.id, "input": "7"})
    path.write_text("broken")
    page = rig.machine.component(ServiceDesk).build_page(rig.machine)
    rig.engine.handle(
        EventType.ANSWER_SERVICE_PAGE, value="enter", options={"page": page.id, "input": "864200"}
    )
    assert (
        rig.machine.component(ServiceDesk).build_page(rig.machine).notice.value
        == "service.refused.staff_unreadable"
    )
    assert len(rig.records("staff.added")) == 1
    rig.close()


@pytest.mark.requirement("J-16")
def test_an_untouched_menu_signs_out(menu):
    async def session():
        expired = asyncio.Event()

        def handle(event):
            menu.rig.engine.submit(event)
            expired.set()

        machine_context = SimpleNamespace(engine=menu.rig.engine, submit_event=handle)
        (timeout,) = create_service_menu_timeout(machine_context)
        timeout._seconds = 0.01
        menu.sign_in(Role.MANAGER)
        timeout.process_change(build_snapshot(menu.rig.engine))
        await expired.wait()
        timeout.process_change(build_snapshot(menu.rig.engine))
        assert timeout._timer is None

    asyncio.run(session())
    assert not menu.is_open
    assert [record["why"] for record in menu.rig.records("menu.left")] == ["time_out"]


# ---------------------------------------------------------------------------------------------- anything at all
WORDS = st.sampled_from(["", "0", "5", "yes", "no", "2", "999999999", "\ud800", "é" * 500, "x; drop", "1e9"])


@pytest.mark.requirement("A-11", "J-10")
@pytest.mark.parametrize("role", [Role.TECHNICIAN, Role.MECHANIC, Role.INSPECTOR], ids=str)
@given(steps=st.lists(st.tuples(st.integers(0, 1000), WORDS), min_size=30, max_size=80))
@settings(max_examples=5)
def test_every_reachable_page_has_its_texts_and_moves_no_credit(role, steps):
    with tempfile.TemporaryDirectory() as folder:
        rig = MachineRig(Path(folder), devices=("printer", "hopper")).boot().insert(2000)
        rig.engine.handle(EventType.DOOR_OPENED, door="main")
        rig.machine.component(ServiceDesk).device_page_data.kind_by_device_name = {
            "printer": "ticket_printer",
            "hopper": "hopper",
            "io": "io_board",
        }
        menu = MenuUser(rig).sign_in(role)
        for choice, text in steps:
            if not menu.is_open:
                menu.sign_in(role)
            actions = [*list_enabled_actions(menu.page), "enter", "nonsense"]
            menu.touch(actions[choice % len(actions)], text, page=menu.page.id)
            assert rig.credit_cents == 2000
        rig.journal.self_audit()
        rig.close()


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"options": {"page": 5}},
        {"options": {"page": ["x"], "input": {}}},
        {"value": {}},
    ],
)
def test_an_invalid_answer_is_ignored(menu, values):
    menu.sign_in(Role.MANAGER)
    before = menu.rig.journal.sequence
    menu.rig.engine.handle(EventType.ANSWER_SERVICE_PAGE, **values)
    assert menu.rig.journal.sequence == before
    shown = {"page": menu.page.id, "input": {"no": "text"}}
    menu.rig.engine.handle(EventType.ANSWER_SERVICE_PAGE, value=["leave"], options=shown)
    assert menu.is_open
