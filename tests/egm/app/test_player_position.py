"""A running position: how long an outcome is shown, its devices and its screens."""

import asyncio

import pytest

from egm.app.player_position import PlayerPosition
from egm.app.ports import PositionDevices
from egm.app.wiring import iter_reported_events
from egm.config.cabinet_file import GameTable, StateFolder, load_cabinet
from egm.devices.interface import (
    ButtonPressed,
    DeviceFault,
    DoorChanged,
    FaultCode,
    InputsReported,
    LineLost,
    LineRestored,
    MoneyDevices,
)
from egm.devices.ioboard.codec import BUTTONS
from egm.errors import OperatorError
from egm.kernel.events import EventType, State
from egm.kernel.keys import KernelKey
from egm.kernel.messages import PlayButtonPress
from egm.kernel.positions import Position
from egm.kernel.running_positions import RunningPositions
from egm.links.screen.client import ScreenClient
from egm.play.game_messages import build_message
from egm.play.installed_games import admit_games
from egm.profiles import profile as profiles
from egm.testing.machine import MachineRig, write_undeclared_entry

GENERIC = (profiles._PROFILES_FOLDER / "generic.toml").read_text()


def a_player_position(tmp_path, game_time_ms: int) -> tuple[MachineRig, PlayerPosition]:
    profile_file = tmp_path / "place.toml"
    profile_file.write_text(GENERIC.replace("game_time_ms = 0", f"game_time_ms = {game_time_ms}"))
    rig = MachineRig(tmp_path / "state", profile=profile_file)
    installed, _ = admit_games((GameTable(game="maple-classic"),), rig.profile)
    folder = StateFolder(tmp_path / "state")
    folder.create_private_folders()
    handled_events: list = []

    def handle(player_position: PlayerPosition, event) -> None:
        handled_events.append(event)
        player_position.engine.submit(event)

    player_position = PlayerPosition(rig.machine, installed, folder, handle, lambda: None)
    player_position.connect_devices(PositionDevices(drivers=(), kind_by_device_name={}))
    return rig, player_position


class Printer:
    """A driver that stores the faults that it receives."""

    name = "printer"

    def restore_faults(self, codes) -> None:
        self.codes = codes


@pytest.mark.requirement("A-08", "G-06")
def test_a_driver_receives_the_faults_of_its_device_from_the_previous_run(tmp_path):
    rig, player_position = a_player_position(tmp_path, 0)
    for code in ("ticket_printer.paper_out", "ticket_printer.disputed", "bill_acceptor.jam"):
        write_undeclared_entry(
            player_position.engine.machine, "test.fault", state={f"{KernelKey.FAULT}{code}": {"locks": False}}
        )
    printer = Printer()
    player_position.connect_devices(
        PositionDevices(drivers=(printer,), kind_by_device_name={"printer": "ticket_printer"})
    )
    assert printer.codes == {FaultCode.PAPER_OUT}
    rig.close()


def ends_after(player_position: PlayerPosition, seconds: float, act) -> bool:
    """Return whether ``act`` ends the display of the outcome after the given time, on a computer of any speed."""
    loop = asyncio.get_running_loop()
    before = loop.time()
    act()
    assert player_position._game_end_timer is not None
    return before + seconds <= player_position._game_end_timer.when() <= loop.time() + seconds


class Acceptor:
    """An acceptor of bills or coins that stores what it may accept at the moment."""

    taken = None

    def enable(self, values_cents, accepts_tickets=False) -> None:
        self.taken = values_cents

    def disable(self) -> None:
        self.taken = frozenset()

    def route_coins(self, *, to_hopper) -> None:
        pass


@pytest.mark.requirement("G-04")
@pytest.mark.parametrize(
    ("event", "values"),
    [
        (EventType.DOOR_OPENED, {"door": "main"}),
        (EventType.FAULT_RAISED, {"code": "io_board.communication", "detail": ""}),
        (EventType.FAULT_RAISED, {"code": "bill_acceptor.cheat", "detail": ""}),
        (EventType.MACHINE_DISABLED, {"source": "operator", "reason": "closed"}),
        (EventType.OPEN_SERVICE_MENU, {"key": "audit"}),
    ],
)
def test_the_acceptors_are_disabled_while_the_machine_is_not_ready(tmp_path, event, values):
    rig, player_position = a_player_position(tmp_path, 0)
    bills, coins = Acceptor(), Acceptor()
    player_position.connect_devices(
        PositionDevices(drivers=(), kind_by_device_name={}, bill_acceptor=bills, coin_acceptor=coins)
    )
    for started in (EventType.MEMORY_READY, EventType.SELF_TEST_PASSED):
        player_position.engine.handle(started)
    player_position.process_change()
    assert bills.taken
    assert coins.taken
    player_position.engine.handle(event, **values)
    player_position.process_change()
    assert player_position.engine.state is not State.IDLE
    assert (bills.taken, coins.taken) == (frozenset(), frozenset())
    rig.close()


@pytest.mark.requirement("G-03")
def test_the_acceptor_accepts_only_bills_of_the_profile_that_every_host_allows(tmp_path):
    rig, player_position = a_player_position(tmp_path, 0)
    bills = Acceptor()
    player_position.connect_devices(PositionDevices(drivers=(), kind_by_device_name={}, bill_acceptor=bills))
    for started in (EventType.MEMORY_READY, EventType.SELF_TEST_PASSED):
        player_position.engine.handle(started)
    player_position.process_change()
    assert bills.taken == frozenset(rig.profile.value_in.bills_cents)
    selected = {"source": "host:main", "name": "bills"}
    for value, taken in (((500, 1000, 123), {500, 1000}), (None, rig.profile.value_in.bills_cents)):
        player_position.engine.handle(EventType.HOST_RESTRICTION_CHANGED, **selected, value=value)
        player_position.process_change()
        assert bills.taken == frozenset(taken)
    rig.close()


@pytest.mark.requirement("N-04", "C-24")
def test_a_game_lasts_at_least_the_profiles_time_from_button_to_button(tmp_path):
    async def scene() -> None:
        rig, player_position = a_player_position(tmp_path, 2500)
        player_position.engine.handle(EventType.MEMORY_READY)
        player_position.engine.handle(EventType.SELF_TEST_PASSED)
        rig.machine.component(MoneyDevices).acceptor = rig.hands
        rig.engine = player_position.engine
        rig.device_ledgers.escrow_ledger._process_event = player_position.engine.handle
        rig.insert(500)
        rig.machine.component(MoneyDevices).acceptor = None
        assert ends_after(
            player_position, 2.5, lambda: player_position.engine.handle(EventType.PLAY)
        )  # nobody looks
        assert player_position.engine.state is State.PLAYING
        player_position.engine.handle(EventType.PLAY)
        assert rig.machine.notice.code == "refused.playing"

        play_id = player_position._shown_play_id
        rig.clock.pass_seconds(0.4)  # a screen that shows it in less does not hurry the machine
        assert ends_after(player_position, 2.1, lambda: player_position._end_shown_game(play_id))
        rig.clock.pass_seconds(9)  # a display that takes longer delays nobody
        assert ends_after(player_position, 0.0, lambda: player_position._end_shown_game(play_id))
        player_position._game_end_timer.cancel()
        rig.close()

    asyncio.run(scene())


@pytest.mark.requirement("A-08")
def test_a_game_open_at_the_start_waits_for_the_screen_even_if_decided_later(tmp_path):
    """A wheel's number, recorded before a power cut, decides the game after it, while the screen reconnects."""

    async def scene() -> None:
        rig, player_position = a_player_position(tmp_path, 2500)
        player_position.engine.handle(EventType.MEMORY_READY)
        player_position.engine.handle(EventType.SELF_TEST_PASSED)
        rig.engine, rig.device_ledgers.escrow_ledger._process_event = (
            player_position.engine,
            player_position.engine.handle,
        )
        player_position.connect_devices(PositionDevices(drivers=(), kind_by_device_name={}))
        rig.machine.component(MoneyDevices).acceptor = rig.hands
        rig.insert(500)
        assert ends_after(player_position, 2.5, lambda: player_position.engine.handle(EventType.PLAY))
        outcome = build_message(rig.machine, is_resumed=False)
        player_position.connect_devices(PositionDevices(drivers=(), kind_by_device_name={}))
        assert ends_after(player_position, 10.0, lambda: player_position.send_message(outcome))
        player_position._game_end_timer.cancel()
        rig.close()

    asyncio.run(scene())


def test_a_late_message_about_an_earlier_game_ends_nothing(tmp_path):
    async def scene() -> None:
        rig, player_position = a_player_position(tmp_path, 0)
        player_position._end_shown_game("play-1")
        assert player_position._game_end_timer is None
        rig.close()

    asyncio.run(scene())


CABINET = """
[machine]
serial = "EGM-1"
operator_number = "1"
site = "somewhere"
profile = "generic"
positions = 2
[[games]]
game = "maple-classic"
[devices.bill2]
protocol = "id003"
position = 2
"""


@pytest.mark.parametrize(
    ("old", "new", "expected_text"),
    [
        (
            "position = 2",
            "position = 3",
            "devices.bill2.position: there is no position 3: machine.positions is 2",
        ),
        ("positions = 2", "positions = 0", "machine.positions"),
        ("position = 2", "position = 0", "devices.bill2.position"),
        (
            "[devices.bill2]",
            '[sas.one]\nport = "pty"\n[host]\ntickets = "system"\n[devices.bill2]',
            "requires a machine with one position",
        ),
        (
            "[devices.bill2]",
            '[[progressives]]\ngame = "g"\nlevel = "l"\nkind = "linked"\nstakes = { 50 = "L" }\n[devices.bill2]',
            "requires a machine with one position",
        ),
    ],
)
def test_invalid_positions_are_refused(tmp_path, old, new, expected_text):
    path = tmp_path / "cabinet.toml"
    path.write_text(CABINET)
    assert load_cabinet(path).machine.position_count == 2
    path.write_text(CABINET.replace(old, new))
    with pytest.raises(OperatorError) as refusal:
        load_cabinet(path)
    assert expected_text in str(refusal.value)


@pytest.mark.requirement("C-21")
def test_the_play_button_is_sent_to_a_connected_screen_and_plays_directly_without_one(tmp_path):
    """A connected screen interprets the PLAY button, because it may be showing a page or counting up a win."""

    async def scene() -> None:
        rig, player_position = a_player_position(tmp_path, 0)
        player_position.connect_devices(
            PositionDevices(drivers=(), kind_by_device_name={"board": "io_board"})
        )
        player_position.engine.handle(EventType.MEMORY_READY)
        player_position.engine.handle(EventType.SELF_TEST_PASSED)
        await player_position.server.start()
        folder = StateFolder(tmp_path / "state")
        screen = ScreenClient(folder.get_screen_socket_path(1), folder.get_screen_token_path(1))
        messages: list = []
        press = ButtonPressed(device="board", button="play")
        player_position.handle_device_report(press)
        assert rig.machine.notice.code == "refused.bet_is_covered"  # requested without credit
        rig.machine.notice = None
        while not player_position.server.player_screen_count:
            messages += screen.poll(asyncio.get_running_loop().time()).messages
            await asyncio.sleep(0.01)
        player_position.handle_device_report(press)
        assert rig.machine.notice is None
        while not any(isinstance(message, PlayButtonPress) for message in messages):
            messages += screen.poll(asyncio.get_running_loop().time()).messages
            await asyncio.sleep(0.01)
        screen.close()
        await player_position.server.close()
        rig.close()

    asyncio.run(scene())


@pytest.mark.requirement("C-19")
def test_each_button_of_the_board_has_only_the_effect_of_its_name():
    presses = {button: ButtonPressed(device="board", button=button) for button in BUTTONS}
    does = {
        button: [event.name for event in iter_reported_events(press, "io_board", ())]
        for button, press in presses.items()
    }
    assert {button: types for button, types in does.items() if types} == {
        "play": [EventType.PLAY],
        "cash_out": [EventType.CASH_OUT],
        "service": [EventType.TOGGLE_SERVICE_CALL],
    }


class Board:
    """The I/O board of a position, of which only the reports matter."""

    name = "board"

    def restore_faults(self, codes) -> None:
        pass

    def light_lamps(self, lit) -> None:
        pass

    def light_tower(self, lit) -> None:
        pass

    def switch_bell(self, *, on) -> None:
        pass


def start_two_boards(tmp_path):
    """Return the first machine of two positions, and the function that takes the reports of each position's board."""
    folder, running_positions = StateFolder(tmp_path), RunningPositions()
    folder.create_private_folders()
    rigs, player_positions = [], []
    for number in (1, 2):
        rig = MachineRig(tmp_path, position=Position(number, 2), first_rig=rigs[0] if rigs else None)
        rig.machine.install(running_positions)
        player_position = PlayerPosition(
            rig.machine,
            {},
            folder,
            lambda player_position, event: player_position.engine.submit(event),
            lambda: None,
        )
        player_position.connect_devices(
            PositionDevices(drivers=(), kind_by_device_name={"board": "io_board"}, io_board=Board())
        )
        rigs.append(rig)
        player_positions.append(player_position)
    for player_position in player_positions:
        for started in (EventType.MEMORY_READY, EventType.SELF_TEST_PASSED):
            player_position.engine.handle(started)
    return rigs[0], *(player_position.handle_device_report for player_position in player_positions)


@pytest.mark.requirement("A-24")
def test_a_door_is_closed_only_once_the_boards_of_all_positions_report_it_closed(tmp_path):
    """A second I/O board that starts, or whose door closes, says nothing about the door of the first board."""
    rig, first, second = start_two_boards(tmp_path)

    def report(handle, *doors):
        handle(InputsReported(device="board", doors_open=frozenset(doors), keys_on=frozenset()))
        return rig.machine.open_doors

    assert report(first, "main") == ("main",)
    assert report(second) == ("main",)
    first(DoorChanged(device="board", door="main", is_open=False))
    assert rig.machine.open_doors == ()
    for handle in (first, second):
        handle(DoorChanged(device="board", door="main", is_open=True))
    second(DoorChanged(device="board", door="main", is_open=False))
    assert rig.machine.open_doors == ("main",)
    assert report(second, "main") == ("main",)
    assert report(first) == ("main",)
    assert report(second) == ()
    rig.close()


@pytest.mark.parametrize(
    ("begins", "ends", "code"),
    [
        (LineLost(device="board", reason="unplugged"), LineRestored(device="board"), "communication"),
        (
            DeviceFault(device="board", code=FaultCode.POWER_SUPPLY, is_active=True),
            DeviceFault(device="board", code=FaultCode.POWER_SUPPLY, is_active=False),
            "power",
        ),
    ],
)
def test_a_fault_of_one_board_stays_active_while_that_of_another_ends(tmp_path, begins, ends, code):
    rig, first, second = start_two_boards(tmp_path)
    second(begins)
    first(begins)
    first(ends)
    assert f"io_board.{code}" in rig.machine.active_faults
    second(ends)
    assert f"io_board.{code}" not in rig.machine.active_faults
    rig.close()
