"""Interventions: identified openings, alarms for all others, and a sheet made only from events."""

import json

import pypdfium2
import pytest
from click.testing import CliRunner

from egm.app.features import FEATURES, STAFF_REGISTERS
from egm.integrity.lockups import list_disabling_sources
from egm.kernel.events import EventType, State
from egm.kernel.logs import Log
from egm.people import Role
from egm.screen.text import Texts
from egm.staff.intervention_sheet import iter_sheets
from egm.staff.keys import StaffKey
from egm.staff.registers import iter_register_lines
from egm.testing.machine import MachineRig
from egm.testing.service_menu import STAFF_NUMBER_BY_ROLE, MenuUser, translate_text
from tools.cli import main

MECHANIC = STAFF_NUMBER_BY_ROLE[Role.MECHANIC]


@pytest.fixture
def rig(tmp_path):
    rig = MachineRig(tmp_path, profile="monaco").boot().insert(2000)
    yield rig
    rig.close()


def intervene(rig, reason="bill jam"):
    MenuUser(rig).sign_in(Role.MECHANIC).open_and_fill_form("intervention", reason).touch("leave")
    report_seen(rig)


def report_seen(rig):
    """Report that the monitoring system has read who is at work."""
    opened = rig.machine.memory.get(StaffKey.INTERVENTION)
    rig.engine.handle(EventType.INTERVENTION_READ_BY_MONITORING, id=opened["id"])


def finish(rig, *values):
    MenuUser(rig).sign_in(Role.MECHANIC).open_and_fill_form("intervention_end", *values)
    return MenuUser(rig)


def clear(rig):
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    MenuUser(rig).identify(Role.SUPERVISOR)


@pytest.mark.requirement("J-06:b", "E-12", "K-13", "J-07", "J-15:b")
def test_an_identified_mechanic_opens_the_machine_and_the_sheet_is_complete(rig):
    intervene(rig)
    assert rig.state is State.OUT_OF_SERVICE
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    rig.engine.handle(EventType.DOOR_OPENED, door="hopper")
    assert rig.state is State.DOOR_OPEN
    for door in ("hopper", "main"):
        rig.engine.handle(EventType.DOOR_CLOSED, door=door)
    assert rig.machine.active_faults == {}
    finish(rig, "belt replaced", "belt 12").touch("leave")
    assert (rig.state, rig.credit_cents) == (State.IDLE, 2000)
    (sheet,) = iter_sheets(rig.journal.entries(), FEATURES.entry_declarations)
    assert (sheet.person, sheet.closed_by, sheet.reason) == (MECHANIC, MECHANIC, "bill jam")
    assert (sheet.work, sheet.parts, sheet.opened_doors) == ("belt replaced", "belt 12", ("main", "hopper"))
    assert (sheet.serial, sheet.operator_number) == ("TEST-1", "7")
    assert sheet.changed_meters.keys() == {"door.main.opens", "door.hopper.opens"}
    assert sheet.meters_before["bill_in.value"] == sheet.meters_after["bill_in.value"] == 2000
    assert sheet.opened_time == rig.journal.get(sheet.id).time_utc.isoformat()


@pytest.mark.requirement("J-06:b", "J-06:c", "K-13")
def test_a_door_counts_as_identified_once_the_monitoring_system_has_read_the_mechanic(rig):
    menu = MenuUser(rig).sign_in(Role.MECHANIC).open_and_fill_form("intervention", "bill jam")
    assert rig.notice == "intervention_announced"
    menu.touch("leave")
    rig.engine.handle(EventType.INTERVENTION_READ_BY_MONITORING, id="intervention-of-yesterday")
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    assert rig.machine.active_faults["unidentified_opening"]["detail"] == "main"
    rig.engine.handle(EventType.DOOR_CLOSED, door="main")
    clear(rig)
    report_seen(rig)
    report_seen(rig)
    assert len(rig.records("intervention.seen")) == 1
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    rig.engine.handle(EventType.DOOR_CLOSED, door="main")
    assert rig.machine.active_faults == {}
    finish(rig, "done", "").touch("leave")
    MenuUser(rig).sign_in(Role.MECHANIC).open_and_fill_form("intervention", "again").touch("leave")
    rig.engine.handle(EventType.DOOR_OPENED, door="main")  # readings of the last intervention do not count
    assert rig.machine.active_faults["unidentified_opening"]["detail"] == "main"


@pytest.mark.requirement("J-04", "J-06:c")
@pytest.mark.parametrize("door", ["stacker", "drop", "cash_box"])
def test_a_bill_box_and_a_base_open_at_a_collection_only(rig, door):
    intervene(rig)
    rig.engine.handle(EventType.DOOR_OPENED, door=door)
    assert rig.machine.active_faults["unidentified_opening"]["detail"] == door
    rig.engine.handle(EventType.DOOR_CLOSED, door=door)
    clear(rig)
    finish(rig, "nothing", "").touch("leave")
    MenuUser(rig).sign_in(Role.SUPERVISOR).open_and_fill_form("collection", "weekly").touch("leave")
    report_seen(rig)
    rig.engine.handle(EventType.DOOR_OPENED, door=door)
    rig.engine.handle(EventType.DOOR_CLOSED, door=door)
    assert rig.machine.active_faults == {}
    MenuUser(rig).sign_in(Role.SUPERVISOR).open_and_fill_form("collection_end", "box 7 taken")
    assert [sheet.kind for sheet in iter_sheets(rig.journal.entries(), FEATURES.entry_declarations)] == [
        "repair",
        "collection",
    ]


@pytest.mark.requirement("J-04", "E-12", "J-06:c")
def test_a_removed_bill_box_counts_as_an_opening_whatever_its_door_reports(rig):
    def gone(event):
        rig.engine.handle(event, code="bill_acceptor.stacker_removed", detail="")

    intervene(rig)
    gone(EventType.FAULT_RAISED)
    assert rig.machine.active_faults["unidentified_opening"]["detail"] == "stacker"
    gone(EventType.FAULT_CLEARED)
    clear(rig)
    finish(rig, "nothing", "").touch("leave")
    MenuUser(rig).sign_in(Role.SUPERVISOR).open_and_fill_form("collection", "weekly").touch("leave")
    report_seen(rig)
    gone(EventType.FAULT_RAISED)
    assert "unidentified_opening" not in rig.machine.active_faults


@pytest.mark.requirement("J-05")
def test_the_lock_and_key_of_a_base_out_of_service_are_handed_to_the_cashier(rig, tmp_path):
    menu = MenuUser(rig).sign_in(Role.SUPERVISOR)
    menu.open_and_fill_form("base_out", "S-7", "lock 41", "H. Main", "hinge bent")
    assert menu.notice == "notice.refused.somebody_is_at_work"
    menu.home().open_and_fill_form("collection", "weekly")
    report_seen(rig)
    menu.home().open_and_fill_form("base_out", "S-7", "lock 41", "H. Main", "hinge bent")
    (handed,) = rig.records("base.withdrawn")
    assert (handed["lock"], handed["cashier"], handed["person"]) == (
        "lock 41",
        "H. Main",
        STAFF_NUMBER_BY_ROLE[Role.SUPERVISOR],
    )
    menu.home().open_and_fill_form("collection_end", "base taken out").touch("leave")
    assert (rig.state, set(list_disabling_sources(rig.machine))) == (State.OUT_OF_SERVICE, {"base"})
    rig.close()
    restarted = MachineRig(tmp_path, profile="monaco").boot()  # nor does a restart give it back
    assert restarted.state is State.OUT_OF_SERVICE
    menu = MenuUser(restarted).sign_in(Role.SUPERVISOR).open_and_fill_form("collection", "new base")
    menu.home().open_and_fill_form("base_in", "S-7", "lock 42", "H. Main")
    (returned,) = restarted.records("base.returned")
    assert (returned["base"], returned["lock"], returned["cashier"]) == ("S-7", "lock 42", "H. Main")
    lines = list(iter_register_lines(STAFF_REGISTERS["bases"], restarted.journal.entries()))
    assert [(line["event"], line["base"], line["lock"], line["cashier"]) for line in lines] == [
        ("base.withdrawn", "S-7", "lock 41", "H. Main"),
        ("base.returned", "S-7", "lock 42", "H. Main"),
    ]
    menu.home().open_and_fill_form("collection_end", "base in place").touch("leave")
    assert restarted.state is State.IDLE
    first, second = iter_sheets(restarted.journal.entries(), FEATURES.entry_declarations)
    assert "base.withdrawn" in {line.event_and_subject for line in first.lines}
    assert "base.returned" in {line.event_and_subject for line in second.lines}
    restarted.close()


@pytest.mark.requirement("J-06:a")
@pytest.mark.parametrize("role", [Role.ATTENDANT, Role.SUPERVISOR, Role.MANAGER, Role.INSPECTOR])
def test_a_door_is_opened_by_nobody_but_a_mechanic(rig, role):
    """Other staff are not offered the form, and a message that bypasses the menu is refused too."""
    menu = MenuUser(rig).sign_in(role)
    assert "form:intervention" not in menu.collect_all_actions()
    person = {"person": STAFF_NUMBER_BY_ROLE[role], "persons": (STAFF_NUMBER_BY_ROLE[role],)}
    forged = {"form": "intervention", "kind": "repair", "reason": "x", **person}
    rig.engine.handle(EventType.INTERVENTION_OPENED, **forged)
    assert rig.notice == "refused.authorised"
    assert rig.machine.memory.get(StaffKey.INTERVENTION) is None
    menu.home().touch("leave")
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    assert rig.machine.active_faults["unidentified_opening"]["detail"] == "main"


@pytest.mark.requirement("J-04", "J-06:c", "E-12")
@pytest.mark.parametrize("unattended", [False, True])
@pytest.mark.parametrize("door", ["main", "drop", "stacker"])
def test_a_door_opened_by_an_unidentified_person_raises_its_own_alarm(rig, door, unattended):
    rig.engine.handle(EventType.DOOR_OPENED, door=door, unattended=unattended)
    rig.engine.handle(EventType.DOOR_CLOSED, door=door)
    assert rig.state is State.TILT
    assert rig.machine.active_faults["unidentified_opening"]["detail"] == door
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    MenuUser(rig).identify(Role.SUPERVISOR)
    assert rig.state is State.IDLE


@pytest.mark.requirement("E-12", "J-06:c")
def test_the_printers_housing_opened_by_an_unidentified_person_raises_an_alarm(rig):
    rig.engine.handle(EventType.FAULT_RAISED, code="ticket_printer.chassis_open", detail="")
    assert rig.machine.active_faults["unidentified_opening"]["detail"] == "main"


@pytest.mark.requirement("E-12", "J-04")
@pytest.mark.parametrize(("door", "is_alarm"), [("cash_box", False), ("main", False), ("logic", True)])
def test_a_collector_is_identified_for_the_money_doors_only(rig, door, is_alarm):
    MenuUser(rig).sign_in(Role.SUPERVISOR).open_and_fill_form("collection", "weekly").touch("leave")
    report_seen(rig)
    rig.engine.handle(EventType.DOOR_OPENED, door=door)
    assert ("unidentified_opening" in rig.machine.active_faults) is is_alarm


def test_without_the_profiles_rule_doors_need_no_identification(tmp_path):
    rig = MachineRig(tmp_path).boot()
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    rig.engine.handle(EventType.DOOR_CLOSED, door="main")
    assert rig.state is State.IDLE
    rig.close()


@pytest.mark.requirement("J-16", "J-07")
def test_an_intervention_needs_permission_and_ends_behind_closed_doors(rig, tmp_path):
    menu = MenuUser(rig).sign_in(Role.MECHANIC).open_and_fill_form("intervention", "check")
    report_seen(rig)
    menu.open_and_fill_form("intervention", "again")
    assert menu.notice == "notice.refused.no_intervention_is_open"
    menu.touch("leave")
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    menu.sign_in(Role.MECHANIC).touch("form:intervention_end")
    menu.fill_open_form("nothing", "")
    assert menu.notice == "notice.refused.every_door_is_closed"
    rig.close()
    restarted = MachineRig(
        tmp_path, profile="monaco"
    ).boot()  # it stays open over a restart, and so does the hold
    restarted.engine.handle(EventType.DOOR_CLOSED, door="main")
    assert restarted.state is State.OUT_OF_SERVICE
    forged = {"form": "intervention_end", "kind": "repair", "work": "x", "person": "1", "persons": ("1",)}
    restarted.engine.handle(EventType.INTERVENTION_CLOSED, **forged)
    assert restarted.notice == "refused.authorised"
    MenuUser(restarted).sign_in(Role.MECHANIC).open_and_fill_form("intervention_end", "done", "").touch(
        "leave"
    )
    assert restarted.state is State.IDLE
    assert (
        next(iter_sheets(restarted.journal.entries(), FEATURES.entry_declarations))
        .lines[-1]
        .event_and_subject.startswith("menu.")
    )
    restarted.close()


@pytest.mark.requirement("J-18")
def test_the_access_log_shows_each_step_of_an_intervention(rig):
    intervene(rig)
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    rig.engine.handle(EventType.DOOR_CLOSED, door="main")
    finish(rig, "cleaned", "")
    log = {
        entry.kind: entry.record for entry in FEATURES.entry_declarations.read_log(rig.journal, Log.ACCESS)
    }
    started, ended = log["intervention.opened"], log["intervention.closed"]
    assert (started["reason"], started["person"], started["serial"]) == ("bill jam", MECHANIC, "TEST-1")
    assert (ended["work"], ended["person"], ended["serial"]) == ("cleaned", MECHANIC, "TEST-1")
    assert {"menu.entered", "menu.left", "door.opened", "door.closed"} <= log.keys()


@pytest.mark.requirement("J-07", "E-12")
def test_a_sheet_and_the_logs_list_work_that_is_signed_by_name_in_a_form(rig, tmp_path):
    intervene(rig)
    MenuUser(rig).sign_in(Role.SUPERVISOR).open_and_fill_form("machine_check", "seal whole").touch("leave")
    finish(rig, "belt replaced", "").touch("leave")
    (sheet,) = iter_sheets(rig.journal.entries(), FEATURES.entry_declarations)
    signers = (STAFF_NUMBER_BY_ROLE[Role.SUPERVISOR],)
    assert [line.actors for line in sheet.lines if line.event_and_subject == "machine.checked"] == [signers]
    rows = MenuUser(rig).sign_in(Role.INSPECTOR).touch("log.events").page.tables[0].rows
    shown = {translate_text(row.cells[1], "en"): translate_text(row.cells[-1], "en") for row in rows}
    assert shown["Last game and accounts checked"] == STAFF_NUMBER_BY_ROLE[Role.SUPERVISOR]
    rig.close()
    log = CliRunner().invoke(main, ["audit", "log", "events", "--state", str(tmp_path), "--json"])
    assert log.exit_code == 0, log.output
    persons = {line["kind"]: line["person"] for line in json.loads(log.output)}
    assert persons["machine.checked"] == STAFF_NUMBER_BY_ROLE[Role.SUPERVISOR]


@pytest.mark.requirement("J-07", "E-08")
def test_sheets_and_logs_are_the_same_from_an_exported_journal(rig, tmp_path):
    intervene(rig)
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    rig.engine.handle(EventType.DOOR_CLOSED, door="main")
    finish(rig, "cleaned", "").touch("leave")
    intervene(rig, "still at work")
    name = next(iter_sheets(rig.journal.entries(), FEATURES.entry_declarations)).id
    rig.close()
    file, sheet = str(tmp_path / "journal.jsonl"), str(tmp_path / "sheet.txt")

    def egm(*words, code=0):
        run = CliRunner().invoke(main, list(words))
        assert run.exit_code == code, run.output
        return run.output

    egm("audit", "export", file, "--state", str(tmp_path))
    today, pdf = rig.clock.wall.date().isoformat(), str(tmp_path / "day.pdf")
    for words in (
        ["intervention", "list", "--json"],
        ["intervention", "show", name],
        ["intervention", "export", name, "--out", sheet, "--format", "text"],
        ["intervention", "day", today, "--out", pdf],
        ["audit", "log", "access", "--json"],
        ["audit", "log", "events", "--json", "--last", "7"],
        ["audit", "log", "transfers"],
    ):
        assert egm(*words, "--file", file) == egm(*words, "--state", str(tmp_path)) != ""
    assert len(json.loads(egm("audit", "log", "events", "--json", "--last", "7", "--file", file))) == 7
    assert egm("audit", "log", "transfers", "--file", file) == "the log has no entries\n"
    assert egm("audit", "log", "plays", "--file", file) == "the log has no entries\n"


@pytest.mark.requirement("J-07", "J-18", "Q-15", "J-15")
def test_sheets_are_listed_shown_and_exported_from_the_journal(rig, tmp_path):
    stopped = rig.clock.now()
    intervene(rig)
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    rig.engine.handle(EventType.DOOR_CLOSED, door="main")
    rig.clock.pass_seconds(3600)
    menu = finish(rig, "cleaned", "")
    name = next(iter_sheets(rig.journal.entries(), FEATURES.entry_declarations)).id
    menu.home().touch("interventions").touch(name)
    shown = menu.read_rows()
    assert (shown["Doors opened"], shown["Machine"], shown["Person"]) == (
        "Main door",
        "7  (TEST-1)",
        MECHANIC,
    )
    texts = Texts("en")
    assert shown["Machine stopped"] == texts.format_date_and_time(stopped.isoformat())
    assert shown["Machine returned to service"] == texts.format_date_and_time(rig.clock.now().isoformat())
    assert shown["Machine stopped"] != shown["Machine returned to service"]
    assert (shown["Reason"], shown["Work done"]) == ("bill jam", "cleaned")
    assert "Signature" in shown
    meters = menu.page.tables[-1]
    rows = [tuple(translate_text(cell, "en") for cell in row.cells) for row in meters.rows]
    assert [row for row in rows if row[1] != row[2]] == [("Main door", "0", "1")]
    rig.close()

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
    bundle, today = tmp_path / "day.pdf", rig.clock.wall.date().isoformat()
    assert egm("day", today, "--out", str(bundle)) == f"{bundle}: 1 sheet\n"
    pdf = pypdfium2.PdfDocument(bundle.read_bytes())
    assert len(pdf) >= 1
    pdf.close()
    assert egm("day", "2020-01-01", "--out", str(bundle), "--language", "fr") == f"{bundle}: 0 sheets\n"
    assert MECHANIC in egm("show", name).split("signed by PIN")[1].splitlines()[0]
    unknown = CliRunner().invoke(main, ["intervention", "show", "nothing", "--state", str(tmp_path)])
    assert unknown.exit_code == 1
    assert name in unknown.output


@pytest.mark.requirement("Q-15", "Q-16", "J-15:b")
def test_interventions_parts_and_visits_are_registered_by_serial_number(rig, tmp_path):
    intervene(rig)
    finish(rig, "belt replaced", "belt 12; bearing 6").touch("leave")
    intervene(rig, "check")
    finish(rig, "nothing found", "").touch("leave")
    rig.close()

    def register(name):
        run = CliRunner().invoke(main, ["register", "show", name, "--state", str(tmp_path), "--json"])
        assert run.exit_code == 0, run.output
        return json.loads(run.output)

    work = register("interventions")
    assert [line["event"] for line in work] == ["intervention.opened", "intervention.closed"] * 2
    assert {(line["serial"], line["operator_number"]) for line in work} == {("TEST-1", "7")}
    assert [line["work"] for line in work if line["work"]] == ["belt replaced", "nothing found"]
    (replaced,) = register("parts")  # an intervention that replaced none has no line
    assert (replaced["serial"], replaced["operator_number"]) == ("TEST-1", "7")
    assert (replaced["parts"], replaced["time_utc"]) == ("belt 12; bearing 6", work[1]["time_utc"])
    assert (replaced["id"], replaced["persons"]) == (work[0]["id"], [MECHANIC])
    visits = register("visits")
    assert {(line["person"], line["role"]) for line in visits} == {(MECHANIC, str(Role.MECHANIC))}
    assert len(visits) == 4  # to begin and to end each intervention
