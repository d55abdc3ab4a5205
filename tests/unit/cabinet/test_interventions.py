"""Interventions: identified openings, alarms for the others, and the sheet made from the events alone."""

import json

import pypdfium2
import pytest
from click.testing import CliRunner
from machine_room import Room
from staff_hands import NUMBERS, Menu

from egm.cabinet.staff.sheet import sheets
from egm.cabinet.states import Event, State
from egm.people import Role
from tools.cli import main

MECHANIC = NUMBERS[Role.MECHANIC]


@pytest.fixture
def room(tmp_path):
    room = Room(tmp_path, profile="monaco").boot().insert(2000)
    yield room
    room.close()


def intervene(room, reason="bill jam"):
    Menu(room).sign_in(Role.MECHANIC).fill("intervention", reason).touch("leave")


def finish(room, *values):
    Menu(room).sign_in(Role.MECHANIC).fill("intervention_end", *values)
    return Menu(room)


@pytest.mark.requirement("J-06", "E-12", "J-04")
def test_a_mechanic_who_has_said_who_he_is_opens_the_machine_and_the_sheet_says_all(room):
    intervene(room)
    assert room.state is State.OUT_OF_SERVICE
    room.engine.handle(Event.DOOR_OPENED, door="main")
    room.engine.handle(Event.DOOR_OPENED, door="stacker")
    assert room.state is State.DOOR_OPEN
    for door in ("stacker", "main"):
        room.engine.handle(Event.DOOR_CLOSED, door=door)
    assert room.cabinet.faults == {}
    finish(room, "belt replaced", "belt 12").touch("leave")
    assert (room.state, room.credit_cents) == (State.IDLE, 2000)
    (sheet,) = sheets(room.journal)
    assert (sheet.person, sheet.ended_by, sheet.reason) == (MECHANIC, MECHANIC, "bill jam")
    assert (sheet.work, sheet.parts, sheet.doors) == ("belt replaced", "belt 12", ("main", "stacker"))
    assert (sheet.serial, sheet.operator_number) == ("TEST-1", "7")
    assert sheet.moved.keys() == {"door.main.opens", "door.stacker.opens"}
    assert sheet.before["bill_in.value"] == sheet.after["bill_in.value"] == 2000
    assert sheet.stopped == room.journal.get(sheet.id).time_utc.isoformat()


@pytest.mark.requirement("J-06", "E-12")
@pytest.mark.parametrize("unattended", [False, True])
def test_a_door_opened_by_nobody_known_is_an_alarm_of_its_own(room, unattended):
    room.engine.handle(Event.DOOR_OPENED, door="main", unattended=unattended)
    room.engine.handle(Event.DOOR_CLOSED, door="main")
    assert room.state is State.TILT
    assert room.cabinet.faults["unidentified_opening"]["detail"] == "main"
    room.engine.handle(Event.KEY_TURNED, key="attendant")
    Menu(room).prove(Role.SUPERVISOR)
    assert room.state is State.IDLE


@pytest.mark.requirement("J-04", "J-05")
def test_the_base_is_opened_at_a_collection_only(room):
    intervene(room)
    room.engine.handle(Event.DOOR_OPENED, door="drop")
    assert room.cabinet.faults["unidentified_opening"]["detail"] == "drop"
    room.engine.handle(Event.DOOR_CLOSED, door="drop")
    finish(room, "nothing", "")
    menu = Menu(room)
    menu.touch("leave")
    room.engine.handle(Event.KEY_TURNED, key="attendant")
    menu.prove(Role.SUPERVISOR)
    menu.sign_in(Role.SUPERVISOR).fill("collection", "weekly").touch("leave")
    room.engine.handle(Event.DOOR_OPENED, door="drop")
    room.engine.handle(Event.DOOR_CLOSED, door="drop")
    assert room.cabinet.faults == {}
    menu.sign_in(Role.SUPERVISOR).fill("collection_end", "box 7 taken")
    assert [sheet.kind for sheet in sheets(room.journal)] == ["repair", "collection"]


def test_where_the_place_does_not_ask_a_door_is_a_door(tmp_path):
    room = Room(tmp_path).boot()
    room.engine.handle(Event.DOOR_OPENED, door="main")
    room.engine.handle(Event.DOOR_CLOSED, door="main")
    assert room.state is State.IDLE
    room.close()


def test_only_whoever_may_begins_and_only_behind_closed_doors_ends(room, tmp_path):
    menu = Menu(room).sign_in(Role.MECHANIC).fill("intervention", "check")
    menu.fill("intervention", "again")
    assert menu.notice == "notice.refused.no_intervention_is_open"
    menu.touch("leave")
    room.engine.handle(Event.DOOR_OPENED, door="main")
    menu.sign_in(Role.MECHANIC).touch("form:intervention_end")
    menu.complete("nothing", "")
    assert menu.notice == "notice.refused.every_door_is_closed"
    room.close()
    again = Room(tmp_path, profile="monaco").boot()  # it stays open over a restart, and so does the hold
    again.engine.handle(Event.DOOR_CLOSED, door="main")
    assert again.state is State.OUT_OF_SERVICE
    forged = {"form": "intervention_end", "kind": "repair", "work": "x", "person": "1", "persons": ("1",)}
    again.engine.handle(Event.INTERVENTION_CLOSED, **forged)
    assert again.notice == "refused.authorised"
    Menu(again).sign_in(Role.MECHANIC).fill("intervention_end", "done", "").touch("leave")
    assert again.state is State.IDLE
    assert next(sheets(again.journal)).lines[-1].what.startswith("menu.")
    again.close()


@pytest.mark.requirement("J-07", "J-18", "Q-15", "J-15")
def test_sheets_are_listed_shown_and_exported_from_the_journal(room, tmp_path):
    intervene(room)
    room.engine.handle(Event.DOOR_OPENED, door="main")
    room.engine.handle(Event.DOOR_CLOSED, door="main")
    menu = finish(room, "cleaned", "")
    name = next(sheets(room.journal)).id
    menu.home().touch("interventions").touch(name)
    assert menu.lines()["Doors opened"] == "main"
    room.close()

    def egm(*words):
        run = CliRunner().invoke(main, ["intervention", *words, "--state", str(tmp_path)])
        assert run.exit_code == 0, run.output
        return run.output

    (listed,) = json.loads(egm("list", "--json"))
    assert (listed["id"], listed["person"], listed["doors"]) == (name, MECHANIC, ["main"])
    assert name in egm("list")
    shown = egm("show", name, "--language", "fr")
    assert "Portes ouvertes" in shown
    assert "cleaned" in shown
    paper = tmp_path / "sheet.pdf"
    egm("export", name, "--out", str(paper))
    pdf = pypdfium2.PdfDocument(paper.read_bytes())
    assert [round(side) for side in pdf[0].get_size()] == [595, 842]  # A4 in points
    pdf.close()
    egm("export", name, "--out", str(tmp_path / "sheet.json"), "--format", "json")
    assert json.loads((tmp_path / "sheet.json").read_text())["moved"]["door.main.opens"] == {
        "before": 0,
        "after": 1,
    }
    unknown = CliRunner().invoke(main, ["intervention", "show", "nothing", "--state", str(tmp_path)])
    assert unknown.exit_code == 1
    assert name in unknown.output
