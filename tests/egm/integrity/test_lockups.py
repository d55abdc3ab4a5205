"""Doors, faults, keys, language and service calls: what stops play, what is only recorded, and who may clear it."""

from contextlib import suppress
from dataclasses import replace

import pytest

from egm.app.view import build_snapshot
from egm.app.wiring import find_lit_tower_lights, is_bell_ringing, iter_reported_events
from egm.devices.interface import FaultCode, InputsReported
from egm.integrity.entries import DOOR_OPENED
from egm.integrity.keys import IntegrityKey
from egm.integrity.lockups import list_disabling_sources
from egm.kernel import active_faults
from egm.kernel.events import EventType, State
from egm.kernel.faults import SIGNIFICANCE_BY_FAULT, get_fault_definition
from egm.kernel.significance import EventEffect
from egm.testing.machine import MachineRig, PowerCutError, ScriptedGenerator, write_undeclared_entry
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor


@pytest.fixture
def rig(tmp_path):
    rig = MachineRig(tmp_path).boot().insert(2000)
    yield rig
    rig.close()


def test_a_passed_self_test_ends_the_outage_after_a_failed_one(tmp_path):
    rig = MachineRig(tmp_path).boot().insert(2000)
    rig.close()
    rig = MachineRig(tmp_path)
    rig.engine.handle(EventType.MEMORY_READY)
    rig.engine.handle(EventType.SELF_TEST_FAILED, detail="a level does not add up")
    assert rig.state is State.OUT_OF_SERVICE
    rig.close()
    rig = MachineRig(tmp_path).boot()
    assert (rig.state, rig.credit_cents) == (State.IDLE, 2000)
    assert rig.machine.memory.get(IntegrityKey.OUT_OF_SERVICE) is None
    rig.play()
    assert rig.state is State.PLAYING
    rig.close()


@pytest.mark.requirement("J-02")
def test_a_door_opened_during_a_game_suspends_it_and_the_game_resumes_when_it_closes(tmp_path):
    rig = MachineRig(tmp_path, generator=ScriptedGenerator(23, 7, 5)).boot().insert(2000)
    rig.play()
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    assert rig.state is State.DOOR_OPEN
    rig.report_shown()
    assert rig.records("game.end") == []
    shown = rig.hands.messages[-1]
    rig.engine.handle(EventType.DOOR_CLOSED, door="main")
    assert rig.state is State.PLAYING
    # The report of the screen while the door was open was ignored, so the message is sent again.
    resent = rig.hands.messages[-1]
    assert resent is not shown
    assert (resent.play_id, resent.display, resent.is_resumed) == (shown.play_id, shown.display, True)
    rig.report_shown()
    assert rig.credit_cents == 2000 - 5 + 300
    rig.close()


@pytest.mark.requirement("J-01", "J-04")
def test_each_door_opening_is_metered_and_play_resumes_when_the_last_door_closes(rig):
    for door in ("main", "stacker", "main"):
        rig.engine.handle(EventType.DOOR_OPENED, door=door)
    rig.engine.handle(EventType.DOOR_CLOSED, door="main")
    assert (rig.state, rig.machine.open_doors) == (State.DOOR_OPEN, ("stacker",))
    rig.engine.handle(EventType.DOOR_CLOSED, door="stacker")
    assert rig.state is State.IDLE
    values = rig.journal.meters().values
    assert (values["door.main.opens"], values["door.stacker.opens"]) == (1, 1)


@pytest.mark.requirement("A-09:a")
def test_a_tilt_survives_a_restart_and_is_cleared_by_the_attendant_key(rig, tmp_path):
    rig.engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat", detail="string")
    assert rig.state is State.TILT
    rig.close()
    restarted = MachineRig(tmp_path).boot()
    assert restarted.state is State.TILT
    restarted.engine.handle(EventType.FAULT_CLEARED, code="bill_acceptor.cheat")
    assert restarted.state is State.TILT
    restarted.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert restarted.state is State.IDLE
    assert restarted.records("tilt.cleared") == [{"codes": ["bill_acceptor.cheat"], "person": "attendant"}]
    restarted.close()


#: Every fault that a device of this cabinet can report.
CODES = [
    *(
        f"{kind}.{code}"
        for kind in ("bill_acceptor", "coin_acceptor", "hopper", "ticket_printer", "io_board")
        for code in FaultCode
    ),
    *("bill_acceptor.disputed", "game_defective", "logic_access"),
]


@pytest.mark.requirement("G-06", "G-07", "G-08", "G-10", "G-11", "E-14")
@pytest.mark.parametrize("code", CODES)
def test_each_fault_stops_play_and_clears_as_its_definition_states(rig, code):
    definition = get_fault_definition(code)
    rig.engine.handle(EventType.FAULT_RAISED, code=code)
    rig.engine.handle(EventType.FAULT_RAISED, code=code)  # a repeated report is not recorded
    assert len(rig.records("fault.raised")) == 1
    assert rig.state is (State.TILT if definition.stops_play else State.IDLE)
    rig.engine.handle(EventType.FAULT_CLEARED, code=code)
    assert (code in rig.machine.active_faults) is (definition.cleared_by != "self")
    if definition.cleared_by == "attendant":
        assert definition.stops_play, "an attendant clears only faults that stop play"
        rig.engine.handle(EventType.KEY_TURNED, key="attendant")
        assert rig.state is State.IDLE


def settle(rig):
    """Record a technician's finding about the seals and the board at the service menu."""
    rig.engine.handle(EventType.OPEN_SERVICE_MENU, key="operator")
    people = {"person": "4", "persons": ("4",)}
    rig.engine.handle(
        EventType.CLEAR_FAULTS_AS_TECHNICIAN, form="settle_faults", finding="the seals are whole", **people
    )
    rig.engine.handle(EventType.SERVICE_MENU_CLOSED, why="key")


#: Faults that stay active when their cause has ended, and who clears them.
CLEARED_BY = {
    **dict.fromkeys(
        (
            "bill_acceptor.cheat",
            "coin_acceptor.coin_cheat",
            "coin_acceptor.diverter",
            "coin_acceptor.jam",
            "coin_acceptor.sensor_stuck",
            "coin_acceptor.uninvited",
            "coin_acceptor.wrong_lane",
            "hopper.hopper_runaway",
            "hopper.jam",
            "io_board.battery_low",
            "unidentified_opening",
        ),
        "attendant",
    ),
    **dict.fromkeys(
        (
            "cabinet_file_unusable",
            "game_defective",
            "holder_gone",
            "logic_access",
            "memory_replaced",
            "meter_jump",
            "progressive_unproved",
            "software_check",
            "staff_roster",
            "ticket_contradiction",
        ),
        "technician",
    ),
    "bill_acceptor.disputed": "ruling",
    "coin_acceptor.disputed": "ruling",
    "hopper.disputed": "ruling",
    "ticket_printer.disputed": "ruling",
    "memory_damaged": "memory_clear",
}


@pytest.mark.requirement("G-11")
@pytest.mark.parametrize(
    ("code", "by"),
    [
        pytest.param(code, by, marks=pytest.mark.requirement("A-05") if by == "memory_clear" else ())
        for code, by in CLEARED_BY.items()
    ],
)
def test_a_fault_that_outlasts_its_cause_is_cleared_only_by_the_role_responsible(rig, code, by):
    rig.engine.handle(EventType.FAULT_RAISED, code=code)
    rig.engine.handle(EventType.FAULT_CLEARED, code=code)
    assert code in rig.machine.active_faults
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (code in rig.machine.active_faults) is (by != "attendant")
    assert get_fault_definition(code).cleared_by == by


@pytest.mark.requirement("G-11")
def test_all_other_faults_clear_with_their_cause():
    assert {code for code in SIGNIFICANCE_BY_FAULT if get_fault_definition(code).cleared_by != "self"} - {
        "*"
    } == CLEARED_BY.keys()


@pytest.mark.requirement("A-08", "A-24")
@pytest.mark.parametrize("written_count", range(3))
def test_a_power_cut_during_the_logic_door_entry_does_not_lift_its_tilt(rig, tmp_path, written_count):
    rig.cut_power_after(written_count)
    with suppress(PowerCutError):
        rig.engine.handle(EventType.DOOR_OPENED, door="logic")
    rig.close()
    restarted = MachineRig(tmp_path).boot()
    inputs = InputsReported(device="io", doors_open=frozenset({"logic"}), keys_on=frozenset())
    for event in iter_reported_events(inputs, "io_board", restarted.machine.open_doors):
        restarted.submit_event(event)
    assert restarted.machine.open_doors == ("logic",)
    assert len(restarted.records("door.opened") + restarted.records("door.opened_while_off")) == 1
    restarted.engine.handle(EventType.DOOR_CLOSED, door="logic")
    assert restarted.state is State.TILT
    assert "logic_access" in restarted.machine.active_faults
    restarted.close()


@pytest.mark.requirement("A-24", "J-01", "E-10", "E-14")
@pytest.mark.parametrize("unattended", [False, True])
def test_the_logic_access_tilt_is_cleared_only_by_a_technicians_finding(rig, unattended):
    rig.engine.handle(EventType.DOOR_OPENED, door="logic", unattended=unattended)
    rig.engine.handle(EventType.DOOR_CLOSED, door="logic")
    assert rig.state is State.TILT
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (rig.state, rig.notice) == (State.TILT, "not_yours_to_clear")
    settle(rig)
    assert rig.state is State.IDLE
    [settled] = rig.records("fault.settled")
    assert (settled["codes"], settled["finding"]) == (["logic_access"], "the seals are whole")
    assert Auditor(GameFiles()).audit_entries(rig.journal.iter_bodies()).findings == []
    kind = "door.opened_while_off" if unattended else "door.opened"
    assert len(rig.records(kind)) == 1


@pytest.mark.not_audited
@pytest.mark.requirement("A-24", "J-01")
@pytest.mark.parametrize(("by", "is_honest"), [("attendant", True), ("technician", True), ("self", False)])
def test_the_audit_accepts_logic_access_cleared_by_an_attendant_or_a_technician_only(
    rig, monkeypatch, by, is_honest
):
    monkeypatch.setattr(
        active_faults,
        "get_fault_definition",
        lambda code: replace(get_fault_definition(code), cleared_by=by),
    )
    rig.engine.handle(EventType.DOOR_OPENED, door="logic")
    rig.engine.handle(EventType.DOOR_CLOSED, door="logic")
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (rig.state is State.IDLE) is (by == "attendant")
    assert (Auditor(GameFiles()).audit_entries(rig.journal.iter_bodies()).findings == []) is is_honest


@pytest.mark.not_audited
@pytest.mark.requirement("E-13")
def test_the_audit_reports_a_fault_entry_that_stores_a_second_fault(rig):
    active = {"since": rig.machine.clock.now().isoformat(), "cleared_by": "self", "detail": ""}
    write_undeclared_entry(
        rig.machine,
        "fault.raised",
        counts={"fault.hopper.jam": 1},
        state={
            "fault:hopper.jam": {**active, "locks": get_fault_definition("hopper.jam").stops_play},
            "fault:hopper.empty": {**active, "locks": False},
        },
        details={"code": "hopper.jam"},
    )
    [finding] = Auditor(GameFiles()).audit_entries(rig.journal.iter_bodies()).findings
    assert "'fault:hopper.empty': not expected here" in finding.text


def test_a_tilt_that_clears_with_its_cause_cannot_be_cleared_by_the_attendant_key(rig):
    rig.engine.handle(EventType.FAULT_RAISED, code="io_board.communication")
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (rig.state, rig.notice) == (State.TILT, "not_yours_to_clear")


def test_an_unknown_fault_stops_play(rig):
    assert get_fault_definition("martians").stops_play
    rig.engine.handle(EventType.FAULT_RAISED, code="martians")
    assert rig.state is State.TILT


def test_the_player_changes_the_language_and_calls_the_attendant(rig):
    rig.engine.handle(EventType.SELECT_LANGUAGE, value="fr")
    assert rig.machine.selection.language == "fr"
    rig.engine.handle(EventType.SELECT_LANGUAGE, value="tlh")
    assert rig.notice == "refused.language_is_offered"
    rig.engine.handle(EventType.TOGGLE_SERVICE_CALL)
    assert rig.machine.memory.get(IntegrityKey.SERVICE_CALL) is True
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert rig.machine.memory.get(IntegrityKey.SERVICE_CALL) is None


@pytest.mark.requirement("F-07:d")
def test_a_cancelled_credit_hand_pay_survives_a_restart_and_is_paid_once(rig, tmp_path):
    rig.engine.handle(EventType.CASH_OUT)
    assert (rig.state, rig.credit_cents) == (State.HANDPAY, 0)
    rig.close()
    restarted = MachineRig(tmp_path).boot()
    assert restarted.state is State.HANDPAY
    restarted.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert restarted.state is State.IDLE
    assert restarted.journal.balance_cents("out:handpay_cancelled_credit") == 2000
    assert restarted.journal.list_pending() == []
    restarted.engine.handle(EventType.CASH_OUT)
    assert restarted.notice == "refused.has_credit"
    restarted.close()


@pytest.mark.requirement("Q-21", "F-20")
def test_out_of_service_hold_is_released_only_by_its_source_and_the_player_can_cash_out(tmp_path):
    rig = MachineRig(tmp_path, devices=("printer",)).boot().insert(500)
    rig.engine.handle(EventType.MACHINE_DISABLED, source="host:main", reason="end of day")
    rig.engine.handle(EventType.MACHINE_DISABLED, source="operator", reason="cleaning")
    rig.engine.handle(EventType.MACHINE_DISABLED, source="host:main", reason="again")
    assert [record["source"] for record in rig.records("service.disabled")] == ["host:main", "operator"]
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")  # no fault is active, so the key clears nothing
    assert rig.state is State.OUT_OF_SERVICE
    rig.play()
    assert rig.notice == "refused.out_of_service"
    rig.engine.handle(EventType.MACHINE_ENABLED, source="operator")
    rig.close()
    restarted = MachineRig(tmp_path, devices=("printer",)).boot()
    assert (restarted.state, tuple(list_disabling_sources(restarted.machine))) == (
        State.OUT_OF_SERVICE,
        ("host:main",),
    )
    restarted.cash_out_ticket()
    assert (restarted.state, restarted.credit_cents) == (State.OUT_OF_SERVICE, 0)
    restarted.engine.handle(EventType.MACHINE_ENABLED, source="host:main")
    restarted.engine.handle(EventType.MACHINE_ENABLED, source="host:main")
    assert restarted.state is State.IDLE
    assert len(restarted.records("service.enabled")) == 2
    restarted.close()


@pytest.mark.requirement("J-09", "F-06:a", "G-12:b")
def test_the_tower_light_shows_a_door_a_hand_pay_a_tilt_and_a_service_call(rig):
    def list_lit():
        return find_lit_tower_lights(build_snapshot(rig.engine))

    assert list_lit() == frozenset()
    rig.engine.handle(EventType.TOGGLE_SERVICE_CALL)
    assert list_lit() == {"service"}
    rig.engine.handle(EventType.TOGGLE_SERVICE_CALL)
    rig.engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
    assert "tilt" in list_lit()
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert list_lit() == frozenset()
    rig.insert(2000)
    rig.engine.handle(EventType.CASH_OUT)
    assert rig.state is State.HANDPAY
    assert list_lit() == {"jackpot"}
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert list_lit() == frozenset()
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    assert list_lit() == {"door"}


@pytest.mark.requirement("J-03", "J-09")
def test_an_open_drop_door_lights_the_tower_rings_the_bell_and_is_recorded(rig):
    rig.engine.handle(EventType.DOOR_OPENED, door="drop")
    shown = build_snapshot(rig.engine)
    assert "door" in find_lit_tower_lights(shown)
    assert is_bell_ringing(shown)
    assert rig.records("door.opened") == [{"door": "drop"}]
    assert DOOR_OPENED.significance["drop"].effect is EventEffect.LAMP
