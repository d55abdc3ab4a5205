"""A roulette with a real wheel: bets wait for its ball, and only its number ends the games."""

from contextlib import suppress
from copy import deepcopy
from dataclasses import replace

import pytest
from rigs.forms import TWO, fill_in

from egm.app.features import SERVICE_MENU
from egm.config.cabinet_file import GameTable
from egm.devices.interface import LineLost, MoneyDevices, WheelPhase, WheelPhaseReported
from egm.devices.wheel.driver import WheelDriver
from egm.kernel.events import Event, EventType, State
from egm.kernel.positions import Position
from egm.kernel.running_positions import RunningPosition, RunningPositions
from egm.play.installed_games import admit_games
from egm.play.keys import WheelKey
from egm.play.records.wheel import read_last_spin
from egm.play.rulings import void_game
from egm.play.void_rule import VoidReason
from egm.profiles import load_profile
from egm.seats.feature import iter_notices
from egm.seats.table import SharedTables
from egm.seats.wheel import deliver_spin_number, process_wheel_phase, process_wheel_report
from egm.staff.events import Authorisation, RulingForm
from egm.staff.service.key_switches import iter_concerned_positions
from egm.testing.clearing import clear_with_decisions
from egm.testing.device import DeviceRig
from egm.testing.jumping_loop import jump
from egm.testing.machine import MachineRig, PowerCutError
from meters import open_view
from meters.entry import decode
from paytables import load_game
from paytables.definition import LIBRARY_FOLDER
from paytables.errors import DefinitionError
from tools.audit import rounds
from tools.audit.games import GameAudit, GameFiles
from tools.audit.verify import Auditor

LIBRARY_FILE = LIBRARY_FOLDER / "tables" / "quebec-roulette-french.toml"
SPOT = "straight-17"


def definition(folder, name="wheel-roulette"):
    path = folder / f"{name}.toml"
    text = LIBRARY_FILE.read_text(encoding="utf-8").replace('id = "quebec-roulette-french"', f'id = "{name}"')
    path.write_text(text.replace("[cylinder]", '[cylinder]\ndecided_by = "wheel"'), encoding="utf-8")
    return path


@pytest.fixture
def room(tmp_path):
    with_a_wheel = start_rig(tmp_path)
    with_a_wheel.insert(2000)
    yield with_a_wheel
    if with_a_wheel.is_open:
        with_a_wheel.close()


def start_rig(folder, position=None, first_rig=None, table=None):
    rig = MachineRig(
        folder / "state",
        games=(str(definition(folder)),),
        position=position,
        first_rig=first_rig,
        devices=("printer",),
    )
    table = SharedTables() if table is None else table
    rig.machine.install(table)
    table.register_position(rig.machine, rig.engine.submit)
    return rig.boot()


def bet(room, spot=SPOT, credits_=5):
    room.engine.handle(EventType.SELECT_BET, value=credits_, options={"bets": {spot: credits_}})
    room.engine.handle(EventType.PLAY)


def phase(room, phase, spin=7, **values):
    process_wheel_phase(
        room.machine, WheelPhaseReported(device="wheel", phase=phase, spin_counter=spin, **values)
    )


def list_notice_codes(room):
    return {notice.code for notice in iter_notices(room.machine)}


def spin(room, number, spin=7):
    phase(room, WheelPhase.NO_MORE_BETS, spin)
    phase(room, WheelPhase.NUMBER, spin, number=number)
    deliver_spin_number(room.machine)


@pytest.mark.requirement("B-18", "P-05")
def test_bets_wait_for_the_ball_and_its_number_pays_them(room):
    bet(room)
    assert room.state is State.BETTING
    assert list_notice_codes(room) == {"wheel_awaited"}
    assert room.credit_cents == 2000
    phase(room, WheelPhase.NO_MORE_BETS)
    assert (room.state, room.credit_cents) == (State.PLAYING, 1500)
    assert list_notice_codes(room) == {"wheel_turns"}
    phase(room, WheelPhase.NUMBER, number=17)
    deliver_spin_number(room.machine)
    (received,) = room.records("wheel.number")
    assert (received["spin"], received["number"]) == (7, 17)
    (choice,) = room.records("game.choice")
    assert choice["choice"] == "17"
    assert choice["outcome"]["win_credits"] == 36 * 5
    assert not choice["draws"]


def test_a_game_of_a_wheel_is_not_offered_without_one(tmp_path):
    slot = GameTable(game=str(definition(tmp_path)))
    installed, (refusals,) = admit_games((slot,), load_profile("quebec-casino"))
    assert not installed
    assert "needs a real wheel, but the cabinet file has no wheel device" in refusals.reason


def test_no_request_of_a_screen_replaces_the_wheels_report(room):
    bet(room)
    phase(room, WheelPhase.NO_MORE_BETS)
    room.engine.handle(EventType.CHOOSE, value="17")
    assert not room.records("game.choice")
    assert room.state is State.PLAYING


@pytest.mark.requirement("B-16:b", "B-18")
def test_a_void_spin_is_announced_and_decides_nothing(room):
    bet(room)
    phase(room, WheelPhase.NO_MORE_BETS)
    phase(room, WheelPhase.NO_MORE_BETS, is_void=True)
    assert list_notice_codes(room) == {"wheel_void"}
    assert len(room.records("wheel.no_more_bets")) == 1
    phase(room, WheelPhase.NUMBER, number=4)
    deliver_spin_number(room.machine)
    assert room.records("game.choice")[0]["choice"] == "4"


def test_the_number_of_another_spin_decides_nothing_and_persons_refund(room):
    bet(room)
    phase(room, WheelPhase.NO_MORE_BETS, 7)
    phase(room, WheelPhase.NUMBER, 8, number=17)
    deliver_spin_number(room.machine)
    assert not room.records("game.choice")
    assert room.credit_cents == 1500
    fill_in(room, "refund_game", **TWO, reason="the wheel was not heard")
    assert (room.state, room.credit_cents) == (State.IDLE, 2000)


@pytest.mark.requirement("P-05")
def test_a_bet_while_the_ball_runs_is_for_the_next_spin(room):
    bet(room)
    phase(room, WheelPhase.NO_MORE_BETS, 7)
    phase(room, WheelPhase.NUMBER, 7, number=3)
    deliver_spin_number(room.machine)
    room.engine.handle(EventType.OUTCOME_SHOWN, value=room.records("game.start")[0]["play_id"])
    bet(room)
    phase(room, WheelPhase.NUMBER, 7, number=3)
    deliver_spin_number(room.machine)
    assert room.state is State.BETTING
    spin(room, 17, 8)
    assert [record["choice"] for record in room.records("game.choice")] == ["3", "17"]


def test_a_spin_without_bets_is_not_recorded(room):
    spin(room, 17)
    assert read_last_spin(room.machine) is None


@pytest.mark.requirement("B-18")
@pytest.mark.parametrize("report_moment", ["before", "after"])
def test_a_restart_while_the_ball_runs_goes_on_from_the_number_recorded(tmp_path, report_moment):
    room = start_rig(tmp_path)
    room.insert(2000)
    bet(room)
    phase(room, WheelPhase.NO_MORE_BETS)
    if report_moment == "before":
        phase(room, WheelPhase.NUMBER, number=17)
    room.close()
    restarted = start_rig(tmp_path)
    assert restarted.state is State.PLAYING
    if report_moment == "after":
        phase(restarted, WheelPhase.NUMBER, number=17)
    deliver_spin_number(restarted.machine)
    if report_moment == "before":
        (choice,) = restarted.records("game.choice")
        assert choice["outcome"]["win_credits"] == 36 * 5
    else:  # of the same count, and perhaps of a later spin: a reader that lost its power counts from 1 again
        assert [record["unheard"] for record in restarted.records("wheel.unheard")] == ["restart"]
        assert not restarted.records("game.choice")
    restarted.close()


def check_wheel_lost(room, **waits):
    """Check that the game waits for staff, that this is recorded and shown, and that no later number decides it."""
    assert [record["unheard"] for record in room.records("wheel.unheard")] == [waits["why"]]
    assert list_notice_codes(room) == {"wheel_unheard"}
    for spin_ in (7, 8, 7):
        phase(room, WheelPhase.BETTING, spin_)
        spin(room, 17, spin_)
    assert not room.records("game.choice")
    assert (room.state, room.credit_cents) == (State.PLAYING, 1500)
    fill_in(room, "refund_game", **TWO, reason="the wheel was not heard")
    assert (room.state, room.credit_cents) == (State.IDLE, 2000)


@pytest.mark.requirement("B-18")
@pytest.mark.parametrize("later", [WheelPhase.WAITING, WheelPhase.BETTING, WheelPhase.CLOSED])
def test_spin_without_a_received_number_is_voided_when_the_wheel_continues(room, tmp_path, later):
    bet(room)
    phase(room, WheelPhase.NO_MORE_BETS)
    phase(room, later)  # the reader counts from 1 again, or has wrapped: the same count is another spin
    check_wheel_lost(room, why="went_on")
    room.close()
    with open_view(tmp_path / "state") as view:
        assert Auditor(GameFiles([tmp_path])).audit_entries(view.iter_bodies()).findings == []


def test_the_end_of_betting_of_another_spin_abandons_the_open_spin(tmp_path):
    table = SharedTables()
    first = start_rig(tmp_path, Position(1, 2), table=table)
    second = start_rig(tmp_path, Position(2, 2), first, table)
    for rig in (first, second):
        rig.insert(2000)
    bet(first)
    phase(first, WheelPhase.NO_MORE_BETS, 7)
    bet(second)
    spin(first, 17, 8)
    assert [record["unheard"] for record in first.records("wheel.unheard")] == ["another_spin"]
    assert [record["play_id"] for record in first.records("game.choice")] == [
        first.records("game.start")[1]["play_id"]
    ]
    assert first.state is State.PLAYING
    first.close()


@pytest.mark.requirement("B-18")
def test_a_spin_during_which_the_readers_line_was_lost_is_not_decided_by_it(room):
    """Simulated wheel, protocol and driver; the cable is unplugged while the ball runs."""
    bet(room)

    def process_event(event):
        process_wheel_report(room.machine, event)
        deliver_spin_number(room.machine)

    async def session():
        rig = DeviceRig("wheel", react=process_event)
        rig.start(WheelDriver("wheel", rig.create_serial_line(), rig.receive_event))
        await rig.advance_until(lambda: room.records("wheel.no_more_bets"))
        rig.cable.unplug()
        await rig.advance_until(lambda: room.records("wheel.unheard"))
        rig.cable.plug()
        rig.perform_action("land", number=17)
        await rig.advance_until(
            lambda: any(report.number is not None for report in rig.list_events(WheelPhaseReported))
        )
        await rig.stop()
        rig.close()

    jump(session())
    assert not room.records("game.choice")
    assert room.records("wheel.unheard")[0]["unheard"] == "line_lost"


@pytest.mark.requirement("B-18")
def test_a_ball_launched_again_decides_the_bets_of_its_spin(room):
    bet(room)
    phase(room, WheelPhase.NO_MORE_BETS)
    phase(room, WheelPhase.BETTING, is_void=True)
    phase(room, WheelPhase.BETTING)
    spin(room, 4)
    assert room.records("game.choice")[0]["choice"] == "4"
    assert not room.records("wheel.unheard")


@pytest.mark.requirement("P-05")
def test_a_bet_after_the_ball_has_come_to_rest_is_not_in_that_spin(room):
    bet(room)
    spin(room, 17)
    room.report_shown()
    bet(room)
    spin(room, 17)  # the reader repeats itself
    assert (room.state, len(room.records("game.start"))) == (State.BETTING, 1)


def check_number_in_menu(room):
    """Check that a number reported while staff use the menu is recorded, and decides no game."""
    bet(room)
    phase(room, WheelPhase.NO_MORE_BETS)
    room.engine.handle(EventType.OPEN_SERVICE_MENU, key="operator")
    phase(room, WheelPhase.NUMBER, number=17)
    deliver_spin_number(room.machine)
    assert room.state is State.SERVICE_MENU
    assert not room.records("game.choice")


@pytest.mark.requirement("F-14", "F-15")
@pytest.mark.parametrize("name", ["refund_game", "forfeit_game"])
def test_a_game_whose_number_is_recorded_is_ended_with_it_and_not_voided(room, name):
    check_number_in_menu(room)
    (form,) = (form for form in SERVICE_MENU.forms if form.id == name)
    assert not all(needed(room.machine, Event(form.event, RulingForm())) for needed in form.submission_guards)
    room.engine.handle(form.event, form=form.id, **TWO, reason="he asked for it")
    assert not room.records("game.void")
    room.engine.handle(EventType.SERVICE_MENU_CLOSED, why="key")
    deliver_spin_number(room.machine)
    room.report_shown()
    assert (room.state, room.credit_cents) == (State.IDLE, 1500 + 36 * 500)


def test_a_recorded_number_belongs_to_its_game_however_many_spins_follow(tmp_path):
    table = SharedTables()
    first = start_rig(tmp_path, Position(1, 2), table=table)
    second = start_rig(tmp_path, Position(2, 2), first, table)
    for rig in (first, second):
        rig.insert(2000)
        bet(rig)
    phase(first, WheelPhase.NO_MORE_BETS, 7)
    second.engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
    phase(first, WheelPhase.NUMBER, 7, number=17)
    deliver_spin_number(first.machine)
    first.report_shown()
    for number in (3, 4):
        bet(first)
        spin(first, number, 8 + number)
        first.report_shown()
    fill_in(second, "refund_game", **TWO, reason="it was not played")
    assert not first.records("game.void")
    second.engine.handle(EventType.FAULT_CLEARED, code="bill_acceptor.cheat")
    second.engine.handle(EventType.KEY_TURNED, key="attendant")
    deliver_spin_number(first.machine)
    second.report_shown()
    assert (second.state, second.credit_cents) == (State.IDLE, 1500 + 36 * 500)
    first.close()
    with open_view(tmp_path / "state") as view:
        assert Auditor(GameFiles([tmp_path])).audit_entries(view.iter_bodies()).findings == []


@pytest.mark.not_audited
def test_the_audit_names_a_void_of_a_game_whose_number_is_recorded(room, tmp_path, monkeypatch):
    check_number_in_menu(room)
    void_game(
        room.machine,
        is_refunded=True,
        void_reason=VoidReason.DEFECT,
        persons=["2", "5"],
        reason="a lie",
        machine=room.machine.identity.serial,
        location="",
    )
    assert room.records("game.void")[0]["recorded"]["decided"]
    room.close()
    with open_view(tmp_path / "state") as view:
        findings = Auditor(GameFiles([tmp_path])).audit_entries(view.iter_bodies()).findings
    assert [
        finding.text
        for finding in findings
        if "the next number or step of the game is already recorded" in finding.text
    ]


@pytest.mark.requirement("O-06")
def test_a_game_may_wait_with_its_number_for_more_spins_than_are_remembered(tmp_path, monkeypatch):
    monkeypatch.setattr(rounds, "_STORED_ENDED_ROUNDS_MAX", 1)
    table = SharedTables()
    first = start_rig(tmp_path, Position(1, 2), table=table)
    second = start_rig(tmp_path, Position(2, 2), first, table)
    for rig in (first, second):
        rig.insert(2000)
    bet(second)
    for number in range(3):
        bet(first)
        spin(first, number, 7 + number)
        first.report_shown()
        second.engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
    assert [rig.state for rig in (first, second)] == [State.IDLE, State.TILT]
    second.engine.handle(EventType.FAULT_CLEARED, code="bill_acceptor.cheat")
    second.engine.handle(EventType.KEY_TURNED, key="attendant")
    second.report_shown()
    assert second.state is State.IDLE
    first.close()
    with open_view(tmp_path / "state") as view:
        assert Auditor(GameFiles([tmp_path])).audit_entries(view.iter_bodies()).findings == []


@pytest.mark.requirement("A-05")
@pytest.mark.parametrize(
    ("number", "found"),
    [(17, []), (18, ["the recorded number is 17, but the wheel reported 18 for this spin"])],
)
def test_a_number_reported_before_a_clear_decides_the_game_after_it(tmp_path, number, found):
    room = start_rig(tmp_path).insert(2000)
    bet(room)
    phase(room, WheelPhase.NO_MORE_BETS)
    phase(room, WheelPhase.NUMBER, number=17)
    room.close()
    clear_with_decisions(tmp_path / "state")
    room = start_rig(tmp_path)
    deliver_spin_number(room.machine)
    room.report_shown()
    assert (room.state, room.credit_cents) == (State.IDLE, 1500 + 36 * 500)
    room.close()
    wrong = []
    audit = GameAudit(GameFiles([tmp_path]), lambda _, reason: wrong.append(reason))
    with open_view(tmp_path / "state") as view:
        for entry in map(decode, view.iter_bodies()):
            state = deepcopy(entry.transaction.state)
            if entry.kind == "clear.kept":
                state[WheelKey.LAST_SPIN]["number"] = number
            audit.check_entry(entry._replace(transaction=replace(entry.transaction, state=state)))
    assert wrong == found


@pytest.mark.parametrize("entries", range(4))
def test_a_power_cut_between_any_two_entries_of_a_spin(tmp_path, entries):
    room = start_rig(tmp_path)
    room.insert(2000)
    bet(room)
    room.cut_power_after(entries)
    with suppress(PowerCutError):
        spin(room, 17)
    room.close()
    restarted = start_rig(tmp_path)
    phase(restarted, WheelPhase.NUMBER, number=17)  # the reader repeats its report
    deliver_spin_number(restarted.machine)
    starts, ended = restarted.records("game.start"), restarted.records("game.choice")
    assert len(starts) == (entries > 1)
    assert len(ended) == (entries > 2)  # with its number recorded before the cut, or never
    assert restarted.credit_cents == (1500 if starts else 2000)
    restarted.close()


@pytest.mark.requirement("F-09", "J-09")
@pytest.mark.parametrize("line_lost", [False, True], ids=["awaited", "not heard"])
def test_the_key_pays_the_second_position_while_the_first_waits_for_the_wheel(tmp_path, line_lost):
    """The generator works, so that the key has nothing to clear at the first position, and does not restart it."""
    first = start_rig(tmp_path, Position(1, 2))
    second = start_rig(tmp_path, Position(2, 2), first, first.machine.component(SharedTables))
    beside = RunningPositions()
    for number, room in enumerate((first, second), 1):
        beside.position_by_number[number] = RunningPosition(
            engine=room.engine,
            submit_event=lambda event, room=room: room.engine.submit(event),
            build_snapshot=lambda: None,
            update_tower_light_and_bell=lambda: None,
            has_own_io_board=number == 1,
        )
        room.insert(2000)
    bet(first)
    phase(first, WheelPhase.NO_MORE_BETS)
    if line_lost:
        process_wheel_report(first.machine, LineLost(device="wheel", reason="planted"))
    second.machine.component(MoneyDevices).printer = None
    second.engine.handle(EventType.CASH_OUT)
    assert [room.state for room in (first, second)] == [State.PLAYING, State.HANDPAY]
    for _ in range(2):
        turned_key = Event(EventType.KEY_TURNED, Authorisation(key="attendant"))
        for position in iter_concerned_positions(beside, 1, turned_key):
            position.submit_event(turned_key)
    assert [room.state for room in (first, second)] == [State.PLAYING, State.IDLE]
    assert first.journal.balance_cents("out:handpay_cancelled_credit") == 2000
    assert first.records("chance.restarted") == []
    assert first.notice == "refused.game_waits_for_generator"
    first.close()


def test_all_positions_have_the_number_of_the_wheel(tmp_path):
    first = start_rig(tmp_path, Position(1, 2))
    table = first.machine.component(SharedTables)
    second = start_rig(tmp_path, Position(2, 2), first, table)
    for room in (first, second):
        room.insert(2000)
    bet(first)
    bet(second, "red")
    spin(first, 17)
    assert [record["choice"] for record in first.records("game.choice")] == ["17", "17"]
    rounds = {record["round_id"] for record in first.records("game.start")}
    assert rounds == {read_last_spin(first.machine).round_id}
    first.close()


def test_the_wheel_itself_decides_through_its_reader(room):
    """Simulated wheel, protocol, driver and machine."""

    def process_event(event):
        process_wheel_report(room.machine, event)
        deliver_spin_number(room.machine)

    async def session():
        rig = DeviceRig("wheel", react=process_event)
        rig.start(WheelDriver("wheel", rig.create_serial_line(), rig.receive_event))
        bet(room)
        rig.perform_action("land", number=17)
        await rig.advance_until(lambda: room.records("game.choice"))
        await rig.stop()
        rig.close()

    jump(session())
    assert room.records("game.choice")[0]["outcome"]["win_credits"] == 36 * 5


def test_the_audit_compares_a_game_with_the_reported_number(room, tmp_path):
    bet(room)
    spin(room, 17)
    room.report_shown()
    room.close()
    with open_view(tmp_path / "state") as view:
        bodies = list(view.iter_bodies())
    game_files = GameFiles([tmp_path])
    assert Auditor(game_files).audit_entries(iter(bodies)).findings == []
    found = []
    audit = GameAudit(game_files, lambda _, reason: found.append(reason))
    for entry in map(decode, bodies):
        if entry.kind == "wheel.number":
            lie = {**entry.transaction.record, "number": 16}
            audit.check_entry(entry._replace(transaction=replace(entry.transaction, record=lie)))
        else:
            audit.check_entry(entry)
    assert [reason for reason in found if "the wheel reported 16" in reason]


def test_an_american_wheel_has_no_reader(tmp_path):
    text = LIBRARY_FILE.with_name("quebec-roulette-american.toml").read_text(encoding="utf-8")
    path = tmp_path / "other.toml"
    path.write_text(text.replace("[cylinder]", '[cylinder]\ndecided_by = "wheel"'), encoding="utf-8")
    with pytest.raises(DefinitionError, match="pockets: must be 0 to 36"):
        load_game(path)


@pytest.mark.requirement("B-18")
def test_a_spin_whose_number_was_missed_is_recorded_when_the_wheel_reports_the_next(room):
    bet(room)
    phase(room, WheelPhase.NO_MORE_BETS, 7)
    phase(room, WheelPhase.NUMBER, 8, number=17)
    deliver_spin_number(room.machine)
    (missed,) = room.records("wheel.unheard")
    assert (missed["spin"], missed["unheard"]) == (7, "another_spin")
    assert room.records("wheel.number") == []
