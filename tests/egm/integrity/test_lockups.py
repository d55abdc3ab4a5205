"""Doors, faults, keys, language and service: what stops play, what is only remembered, who may clear what."""

from contextlib import suppress
from dataclasses import replace

import pytest

from egm.app.view import build_snapshot
from egm.app.wiring import find_lit_tower_lights, is_bell_ringing, iter_reported_events
from egm.devices.interface import FaultCode, InputsReported
from egm.integrity.entries import DOOR_OPENED
from egm.integrity.keys import IntegrityKey
from egm.integrity.lockups import list_disabling_sources
from egm.kernel import standing_faults
from egm.kernel.events import EventType, State
from egm.kernel.faults import SIGNIFICANCE_BY_FAULT, get_fault_definition
from egm.kernel.significance import EventEffect
from egm.testing.machine import MachineRig, PowerCutError, ScriptedChance, write_undeclared
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor


@pytest.fixture
def rig(tmp_path):
    rig = MachineRig(tmp_path).boot().insert(2000)
    yield rig
    rig.close()


@pytest.mark.requirement("J-02")
def test_a_door_in_the_middle_of_a_game_holds_it_and_gives_it_back(tmp_path):
    rig = MachineRig(tmp_path, chance=ScriptedChance(23, 7, 5)).boot().insert(2000)
    rig.play()
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    assert rig.state is State.DOOR_OPEN
    rig.report_shown()
    assert rig.records("game.end") == []
    shown = rig.hands.messages[-1]
    rig.engine.handle(EventType.DOOR_CLOSED, door="main")
    assert rig.state is State.PLAYING
    again = rig.hands.messages[
        -1
    ]  # what the screen said while the door was open was not heard: it is asked again
    assert again is not shown
    assert (again.play_id, again.display, again.resumed) == (shown.play_id, shown.display, True)
    rig.report_shown()
    assert rig.credit_cents == 2000 - 5 + 300
    rig.close()


@pytest.mark.requirement("J-01", "J-04")
def test_each_door_counts_and_the_last_one_frees_the_machine(rig):
    for door in ("main", "stacker", "main"):
        rig.engine.handle(EventType.DOOR_OPENED, door=door)
    rig.engine.handle(EventType.DOOR_CLOSED, door="main")
    assert (rig.state, rig.machine.open_doors) == (State.DOOR_OPEN, ("stacker",))
    rig.engine.handle(EventType.DOOR_CLOSED, door="stacker")
    assert rig.state is State.IDLE
    values = rig.journal.meters().values
    assert (values["door.main.opens"], values["door.stacker.opens"]) == (1, 1)


@pytest.mark.requirement("A-09:a")
def test_a_tilt_survives_a_power_cycle_and_needs_the_attendant(rig, tmp_path):
    rig.engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat", detail="string")
    assert rig.state is State.TILT
    rig.close()
    again = MachineRig(tmp_path).boot()
    assert again.state is State.TILT
    again.engine.handle(EventType.FAULT_CLEARED, code="bill_acceptor.cheat")
    assert again.state is State.TILT
    again.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert again.state is State.IDLE
    assert again.records("tilt.cleared") == [{"codes": ["bill_acceptor.cheat"], "person": "attendant"}]
    again.close()


#: Every fault a device of this cabinet can report.
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
def test_each_fault_locks_or_not_and_clears_as_the_table_says(rig, code):
    known = get_fault_definition(code)
    rig.engine.handle(EventType.FAULT_RAISED, code=code)
    rig.engine.handle(EventType.FAULT_RAISED, code=code)  # a repeat is no news
    assert len(rig.records("fault.raised")) == 1
    assert rig.state is (State.TILT if known.stops_play else State.IDLE)
    rig.engine.handle(EventType.FAULT_CLEARED, code=code)
    assert (code in rig.machine.active_faults) is (known.cleared_by != "self")
    if known.cleared_by == "attendant":
        assert known.stops_play, "an attendant can clear only what he is called for"
        rig.engine.handle(EventType.KEY_TURNED, key="attendant")
        assert rig.state is State.IDLE


def settle(rig):
    """A technician has examined the seals and the board, and says so at the service menu."""
    rig.engine.handle(EventType.MENU, key="operator")
    people = {"person": "4", "persons": ("4",)}
    rig.engine.handle(EventType.FAULTS_SETTLED, form="settle_faults", finding="the seals are whole", **people)
    rig.engine.handle(EventType.MENU_CLOSED, why="key")


#: Faults that stay when their cause is gone, and who must see to them.
SEEN_TO = {
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
        for code, by in SEEN_TO.items()
    ],
)
def test_what_somebody_must_see_to_is_cleared_by_nobody_else(rig, code, by):
    rig.engine.handle(EventType.FAULT_RAISED, code=code)
    rig.engine.handle(EventType.FAULT_CLEARED, code=code)
    assert code in rig.machine.active_faults
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (code in rig.machine.active_faults) is (by != "attendant")
    assert get_fault_definition(code).cleared_by == by


@pytest.mark.requirement("G-11")
def test_every_other_fault_ends_with_its_cause():
    assert {code for code in SIGNIFICANCE_BY_FAULT if get_fault_definition(code).cleared_by != "self"} - {
        "*"
    } == SEEN_TO.keys()


@pytest.mark.requirement("A-08", "A-24")
@pytest.mark.parametrize("written", range(3))
def test_a_cut_while_the_logic_door_is_written_down_unlocks_nothing(rig, tmp_path, written):
    rig.cut_power_after(written)
    with suppress(PowerCutError):
        rig.engine.handle(EventType.DOOR_OPENED, door="logic")
    rig.close()
    again = MachineRig(tmp_path).boot()
    inputs = InputsReported(device="io", doors_open=frozenset({"logic"}), keys_on=frozenset())
    for event in iter_reported_events(inputs, "io_board", again.machine.open_doors):
        again.happen(event)
    assert again.machine.open_doors == ("logic",)
    assert len(again.records("door.opened") + again.records("door.opened_while_off")) == 1
    again.engine.handle(EventType.DOOR_CLOSED, door="logic")
    assert again.state is State.TILT
    assert "logic_access" in again.machine.active_faults
    again.close()


@pytest.mark.requirement("A-24", "J-01", "E-10", "E-14")
@pytest.mark.parametrize("unattended", [False, True])
def test_after_the_logic_door_a_technician_must_look(rig, unattended):
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


@pytest.mark.requirement("A-24", "J-01")
@pytest.mark.parametrize(("by", "is_honest"), [("attendant", True), ("technician", True), ("self", False)])
def test_the_audit_follows_who_cleared_a_logic_access_in_earlier_versions(rig, monkeypatch, by, is_honest):
    monkeypatch.setattr(
        standing_faults,
        "get_fault_definition",
        lambda code: replace(get_fault_definition(code), cleared_by=by),
    )
    rig.engine.handle(EventType.DOOR_OPENED, door="logic")
    rig.engine.handle(EventType.DOOR_CLOSED, door="logic")
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (rig.state is State.IDLE) is (by == "attendant")
    assert (Auditor(GameFiles()).audit_entries(rig.journal.iter_bodies()).findings == []) is is_honest


@pytest.mark.requirement("E-13")
def test_the_audit_names_an_entry_that_stores_a_second_fault(rig):
    active = {"since": rig.machine.clock.now().isoformat(), "cleared_by": "self", "detail": ""}
    write_undeclared(
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
    assert "'fault:hopper.empty': not expected here" in finding.why


def test_a_tilt_only_its_cause_can_clear_is_not_the_attendants(rig):
    rig.engine.handle(EventType.FAULT_RAISED, code="io_board.communication")
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (rig.state, rig.notice) == (State.TILT, "not_yours_to_clear")


def test_an_unknown_fault_stops_play(rig):
    assert get_fault_definition("martians").stops_play
    rig.engine.handle(EventType.FAULT_RAISED, code="martians")
    assert rig.state is State.TILT


def test_language_and_service(rig):
    rig.engine.handle(EventType.LANGUAGE, value="fr")
    assert rig.machine.selection.language == "fr"
    rig.engine.handle(EventType.LANGUAGE, value="tlh")
    assert rig.notice == "refused.language_is_offered"
    rig.engine.handle(EventType.SERVICE)
    assert rig.machine.memory.get(IntegrityKey.SERVICE) is True
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert rig.machine.memory.get(IntegrityKey.SERVICE) is None


@pytest.mark.requirement("F-07:d")
def test_a_cancelled_credit_is_paid_by_the_attendant(rig, tmp_path):
    rig.engine.handle(EventType.CASH_OUT)
    assert (rig.state, rig.credit_cents) == (State.HANDPAY, 0)
    rig.close()
    again = MachineRig(tmp_path).boot()
    assert again.state is State.HANDPAY
    again.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert again.state is State.IDLE
    assert again.journal.balance_cents("out:handpay_cancelled_credit") == 2000
    assert again.journal.list_pending() == []
    again.engine.handle(EventType.CASH_OUT)
    assert again.notice == "refused.has_credit"
    again.close()


@pytest.mark.requirement("Q-21", "F-20")
def test_out_of_service_hold_is_released_only_by_its_source_and_the_player_can_cash_out(tmp_path):
    rig = MachineRig(tmp_path, devices=("printer",)).boot().insert(500)
    rig.engine.handle(EventType.DISABLED, source="host:main", reason="end of day")
    rig.engine.handle(EventType.DISABLED, source="operator", reason="cleaning")
    rig.engine.handle(EventType.DISABLED, source="host:main", reason="again")
    assert [record["source"] for record in rig.records("service.disabled")] == ["host:main", "operator"]
    rig.engine.handle(
        EventType.KEY_TURNED, key="attendant"
    )  # nothing has failed: there is nothing to start anew
    assert rig.state is State.OUT_OF_SERVICE
    rig.play()
    assert rig.notice == "refused.out_of_service"
    rig.engine.handle(EventType.ENABLED, source="operator")
    rig.close()
    again = MachineRig(tmp_path, devices=("printer",)).boot()
    assert (again.state, tuple(list_disabling_sources(again.machine))) == (
        State.OUT_OF_SERVICE,
        ("host:main",),
    )
    again.cash_out_ticket()
    assert (again.state, again.credit_cents) == (State.OUT_OF_SERVICE, 0)
    again.engine.handle(EventType.ENABLED, source="host:main")
    again.engine.handle(EventType.ENABLED, source="host:main")
    assert again.state is State.IDLE
    assert len(again.records("service.enabled")) == 2
    again.close()


@pytest.mark.requirement("J-09", "F-06:a", "G-12:b")
def test_the_tower_tells_a_door_money_owed_a_tilt_and_a_call(rig):
    def lit():
        return find_lit_tower_lights(build_snapshot(rig.engine))

    assert lit() == frozenset()
    rig.engine.handle(EventType.SERVICE)
    assert lit() == {"service"}
    rig.engine.handle(EventType.SERVICE)
    rig.engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
    assert "tilt" in lit()
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert lit() == frozenset()
    rig.insert(2000)
    rig.engine.handle(EventType.CASH_OUT)
    assert rig.state is State.HANDPAY
    assert lit() == {"jackpot"}
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert lit() == frozenset()
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    assert lit() == {"door"}


@pytest.mark.requirement("J-03", "J-09")
def test_the_drop_door_lights_rings_and_is_reported(rig):
    rig.engine.handle(EventType.DOOR_OPENED, door="drop")
    shown = build_snapshot(rig.engine)
    assert "door" in find_lit_tower_lights(shown)
    assert is_bell_ringing(shown)
    assert rig.records("door.opened") == [{"door": "drop"}]
    assert DOOR_OPENED.significance["drop"].effect is EventEffect.LAMP
