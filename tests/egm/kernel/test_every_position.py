"""Whatever is possible at a machine of one position is possible at the second of three, and affects no other.

Each row of the state table is tried at both machines in a suitable state: the entries, money, state and messages must
be equal, and nothing of the neighbours may change. New rows, forms and pages are tested without a change here.
"""

import re

import pytest
from rigs.every_event import make_machine_in, prepare_event

from egm.app.features import FEATURES
from egm.integrity.keys import IntegrityKey
from egm.kernel.events import EventType, State
from egm.kernel.keys import KeyOwner
from egm.kernel.positions import Position
from egm.kernel.running_positions import RunningPosition, RunningPositions
from egm.money.keys import MoneyKey
from egm.people import Role
from egm.staff.desk import ServiceDesk
from egm.staff.service.key_switches import iter_concerned_positions
from egm.testing.machine import MachineRig, RepeatableEntropySource, create_generator
from egm.testing.service_menu import MenuUser, translate_text
from rng import OutOfService
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

#: The states in which a row is tried: the first in which it applies. Only one position ever waits for an award.
PLACES = (
    State.HANDPAY,
    State.SERVICE_MENU,
    State.IDLE,
    State.PLAYING,
    State.PAYING,
    State.TILT,
    State.OUT_OF_SERVICE,
    State.LOCKED,
    State.TOURNAMENT,
    State.BETTING,
    State.DOOR_OPEN,
    State.SELF_TEST,
    State.BOOT,
)
TRIED = sorted(
    {
        (event, next(state for state in PLACES if state in rule.states))
        for rule in FEATURES.state_table
        for event in rule.events
        if rule.states != {State.AWAITING_AWARD}
    },
    key=str,
)
#: Entries that the first position writes for the whole machine, by event.
ONCE = {
    EventType.MEMORY_READY: {"power.up", "residual.terms", "staff.changed"},
    EventType.SELF_TEST_PASSED: {"self_test.passed"},
}


class Three:
    """A machine of three positions with one I/O board; the tests use the position in the middle."""

    def __init__(self, folder, devices: tuple[str, ...] = (), *, boot: bool = False) -> None:
        self.rooms: list[MachineRig] = []
        beside = RunningPositions()
        for number in (1, 2, 3):
            first = self.rooms[0] if self.rooms else None
            RepeatableEntropySource._source_count_by_test.clear()
            rig = MachineRig(
                folder,
                devices=devices,
                position=Position(number, 3),
                first_rig=first,
                generator=create_generator(),
            )
            rig.machine.install(beside)
            beside.position_by_number[number] = RunningPosition(
                engine=rig.engine,
                submit_event=rig.submit_event,
                build_snapshot=lambda: None,
                update_tower_light_and_bell=lambda: None,
                has_own_io_board=number == 1,
            )
            self.rooms.append(rig)
        for rig in self.rooms if boot else (self.rooms[0], self.rooms[2]):
            rig.boot()
        self.first, self.second, self.third = self.rooms

    def board(self, event_type: EventType, **data) -> None:
        """Send an event of the machine's I/O board."""
        event = FEATURES.state_table.payloads.build_event(event_type, data)
        for position in iter_concerned_positions(self.first.machine.component(RunningPositions), 1, event):
            position.submit_event(event)

    def neighbours(self) -> dict[str, object]:
        """Return the stored values and the credit of the first and the third position."""
        own_state = {
            name: value
            for name, value in self.first.journal.states().items()
            if not name.startswith("2/")
            and (key := FEATURES.storage_keys.find_key(name)) is not None
            and key.owner is KeyOwner.POSITION
        }
        return {**own_state, "credit": (self.first.credit_cents, self.third.credit_cents)}


def normalise_name(name: str) -> str:
    """Return a name as a machine with one position has it, without the part that makes an id unique."""
    return re.sub(r"-\d+(-[0-9a-f]{8})?", "-n", re.sub(r"^2/", "", name).replace("credit:2:", "credit:1:"))


def describe_effect(rig: MachineRig, event: EventType, state: State) -> dict[str, object]:
    values = prepare_event(rig, state, event)
    before = rig.journal.sequence
    rig.engine.handle(event, **values)
    entries = [entry.transaction for entry in rig.journal.entries() if entry.sequence > before]
    return {
        "entries": [
            (
                entry.kind,
                entry.phase,
                [
                    (normalise_name(t.source), normalise_name(t.target), t.amount_cents)
                    for t in entry.transfers
                ],
                dict(entry.counts),
                sorted(map(normalise_name, entry.state)),
            )
            for entry in entries
            if entry.kind not in ONCE.get(event, ())
        ],
        "state": rig.state,
        "credit": rig.credit_cents,
        "notice": rig.notice,
        "orders": rig.hands.orders,
        "findings": len(Auditor(GameFiles()).audit_entries(rig.journal.iter_bodies()).findings),
    }


@pytest.mark.not_audited
@pytest.mark.requirement("O-01", "O-06", "D-01")
@pytest.mark.parametrize(("event", "state"), TRIED, ids=str)
def test_a_rule_has_the_same_effect_at_the_second_of_three_positions(tmp_path, event, state):
    def alone(devices: tuple[str, ...]) -> MachineRig:
        RepeatableEntropySource._source_count_by_test.clear()
        return MachineRig(tmp_path / "one", devices=devices, generator=create_generator())

    (tmp_path / "one").mkdir()
    (tmp_path / "three").mkdir()
    opened: list[Three] = []

    def between(devices: tuple[str, ...]) -> MachineRig:
        opened.append(Three(tmp_path / "three", devices))
        return opened[0].second

    due = describe_effect(make_machine_in(state, alone), event, state)
    second = make_machine_in(state, between)
    before = opened[0].neighbours()
    assert describe_effect(second, event, state) == due
    assert opened[0].neighbours() == before


@pytest.fixture
def three(tmp_path):
    three = Three(tmp_path, boot=True)
    yield three
    three.first.close()


@pytest.mark.requirement("F-09", "J-09")
def test_one_key_turn_pays_one_position_after_another(three):
    for rig, cents in ((three.third, 500), (three.second, 2000)):
        rig.insert(cents).engine.handle(EventType.CASH_OUT)
        assert rig.state is State.HANDPAY
    three.board(EventType.KEY_TURNED, key="attendant")
    assert (three.second.state, three.third.state) == (State.IDLE, State.HANDPAY)
    three.board(EventType.KEY_TURNED, key="attendant")
    assert three.third.state is State.IDLE
    assert three.first.journal.balance_cents("out:handpay_cancelled_credit") == 2500


@pytest.mark.parametrize("state", [State.HANDPAY, State.TILT, State.OUT_OF_SERVICE])
def test_the_key_skips_what_no_key_can_clear(tmp_path, state):
    """A fault of the first position that only a technician can clear delays nobody at the second."""
    three = Three(tmp_path, boot=True)
    three.first.engine.handle(
        EventType.UNORDERED_MONEY_TAKEN, device="bill_acceptor", why="test", amount_max_cents=500
    )
    assert three.first.state is State.TILT
    if state is State.HANDPAY:
        three.second.insert(500).engine.handle(EventType.CASH_OUT)
    elif state is State.TILT:
        three.second.engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
    else:
        three.second.next_generators.append(three.second.machine.random_service)
        three.second.engine.handle(EventType.GENERATOR_FAILED, detail="test")
    assert three.second.state is state
    three.board(EventType.KEY_TURNED, key="attendant")
    assert three.second.state is State.IDLE
    three.first.close()


@pytest.mark.requirement("F-09", "J-09")
def test_another_generator_failure_delays_no_hand_pay_or_tilt(three):
    three.first.next_generators += [OutOfService("planted")] * 2
    three.second.insert(500).engine.handle(EventType.CASH_OUT)
    three.third.engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
    three.first.engine.handle(EventType.GENERATOR_FAILED, detail="test")
    for _ in range(3):
        three.board(EventType.KEY_TURNED, key="attendant")
    assert three.first.journal.balance_cents("out:handpay_cancelled_credit") == 500
    assert three.third.machine.active_faults == {}
    assert three.first.notice == "chance_still_fails"


def test_a_call_at_the_third_position_is_answered(three):
    three.third.engine.handle(EventType.TOGGLE_SERVICE_CALL)
    assert three.third.machine.memory.get(IntegrityKey.SERVICE_CALL) is True
    three.board(EventType.KEY_TURNED, key="attendant")
    assert three.third.machine.memory.get(IntegrityKey.SERVICE_CALL) is None


def take_menu_to(three: Three, number: int, role: Role) -> MenuUser:
    """Sign in at the machine's first position and move the menu to another; return that position's menu."""
    menus = [MenuUser(rig) for rig in three.rooms]
    three.board(EventType.OPEN_SERVICE_MENU, key="operator")
    menus[0].identify(role)
    menus[0].touch(f"position:{number}")
    assert not menus[0].is_open
    return menus[number - 1]


@pytest.mark.requirement("F-09", "O-06", "J-12")
@pytest.mark.parametrize("role", Role, ids=str)
def test_the_open_menu_moves_to_the_second_position_with_its_content(three, tmp_path, role):
    (tmp_path / "one").mkdir()
    alone = MenuUser(MachineRig(tmp_path / "one").boot())
    alone.open().identify(role)
    menu = take_menu_to(three, 2, role)
    lines = menu.collect_all_actions()
    assert lines == alone.collect_all_actions()
    for line in sorted(lines):
        titles = {position_menu.touch(line).page.title.value for position_menu in (menu, alone)}
        assert len(titles) == 1, line
        for position_menu in (menu, alone):
            position_menu.home()
    three.board(EventType.SERVICE_MENU_CLOSED, why="key")
    assert not menu.is_open
    assert three.second.state is State.IDLE
    leave_reasons = [record["why"] for record in three.first.records("menu.left")]
    assert leave_reasons == ["to position 2", "key"]


def test_the_first_page_says_where_a_hand_pay_waits_and_leads_there(three):
    three.second.insert(2000).engine.handle(EventType.CASH_OUT)
    MenuUser(three.second)
    menu = MenuUser(three.first)
    three.board(EventType.OPEN_SERVICE_MENU, key="operator")
    menu.identify(Role.SUPERVISOR)
    [table] = menu.page.tables
    shown = [tuple(translate_text(cell, "en") for cell in row.cells) for row in table.rows]
    assert shown == [("1", "Service menu open", ""), ("2", "Hand-pay", "$20.00"), ("3", "Ready", "")]
    menu.touch("position:2")
    second = MenuUser(three.second)
    assert second.is_open
    second.open_and_fill_form("handpay", "cash", "", "", "")
    assert three.second.machine.memory.get(MoneyKey.HANDPAY)["form"]["method"] == "cash"
    assert second.page.person is not None


def test_a_position_at_play_is_not_entered(three):
    three.second.insert(500).play()
    menu = MenuUser(three.first)
    three.board(EventType.OPEN_SERVICE_MENU, key="operator")
    menu.identify(Role.SUPERVISOR).touch("position:2")
    assert menu.notice == "notice.refused.position_is_busy"
    assert not three.second.machine.component(ServiceDesk).is_open
