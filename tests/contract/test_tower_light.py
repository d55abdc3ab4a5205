"""The tower light, through the machine and the board's own bytes."""

import asyncio

import pytest
from test_io_boards import BoardRig

from egm.app.player_position import PlayerPosition
from egm.app.ports import PositionDevices
from egm.config.cabinet_file import StateFolder
from egm.kernel.events import EventType, State
from egm.kernel.positions import Position
from egm.kernel.running_positions import RunningPosition, RunningPositions
from egm.testing.jumping_loop import jump
from egm.testing.machine import MachineRig, ScriptedGenerator

#: Stops of maple-classic with three lanterns: the jackpot, which is a hand-pay.
LANTERNS = (11, 11, 12)


def win_jackpot(room):
    room.insert(10000)
    room.engine.handle(EventType.SELECT_DENOMINATION, value=100)
    room.engine.handle(EventType.SELECT_BET, value=3)
    room.play()
    room.report_shown()
    assert room.state is State.HANDPAY


def open_main_door(room):
    room.engine.handle(EventType.DOOR_OPENED, door="main")


def raise_tilt(room):
    room.engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat", detail="")
    assert room.state is State.TILT


def turn_attendant_key(room):
    room.engine.handle(EventType.KEY_TURNED, key="attendant")


def toggle_service_call(room):
    room.engine.handle(EventType.TOGGLE_SERVICE_CALL)


def disable_machine(room):
    room.engine.handle(EventType.MACHINE_DISABLED, source="operator", reason="closed")


def open_drop_door(room):
    room.engine.handle(EventType.DOOR_OPENED, door="drop")


def close_main_door(room):
    room.engine.handle(EventType.DOOR_CLOSED, door="main")


def connect(room, board, folder):
    """Connect a position; ``board`` is the driver of its I/O board, or None."""
    state = StateFolder(folder)
    state.create_private_folders()
    player_position = PlayerPosition(room.machine, {}, state, lambda *_: None, lambda: None)
    room.machine.screen_outbox = room.hands
    drivers, kinds = ((), {}) if board is None else ((board,), {"io": "io_board"})
    player_position.devices, player_position.engine = (
        PositionDevices(drivers=drivers, kind_by_device_name=kinds, io_board=board),
        room.engine,
    )
    number = room.machine.position.number
    room.machine.component(RunningPositions).position_by_number[number] = RunningPosition(
        engine=room.engine, submit_event=room.engine.handle, build_snapshot=player_position.build_snapshot, update_tower_light_and_bell=player_position._update_tower_light_and_bell,
        has_own_io_board=board is not None,
    )  # fmt: skip
    room.engine._on_change = player_position.process_change


def read_tower_after(folder, *happenings):
    """Return the tower lamps lit by the board after these events, and whether the bell rings."""

    async def scene():
        room, rig = MachineRig(folder, generator=ScriptedGenerator(*LANTERNS)), BoardRig()
        connect(room, rig.driver, folder)
        await rig.wait_for_inputs()
        room.boot()
        for happening in happenings:
            happening(room)
        return await read_tower(room, rig)

    return jump(scene())


async def read_tower(room, rig):
    """Return the lit lamps and whether the bell rings, and end the scene."""
    await asyncio.sleep(2)  # a few polls, so that the board has received every output
    board_state = rig.twin.describe()
    await rig.stop()
    rig.close()
    room.close()
    return set(board_state["tower"]), board_state["bell"]


@pytest.mark.requirement("J-09", "F-06", "G-12")
@pytest.mark.parametrize(
    ("happenings", "tower", "bell"),
    [
        ((), set(), False),
        ((toggle_service_call,), {"service"}, False),
        ((toggle_service_call, toggle_service_call), set(), False),
        ((open_main_door,), {"door"}, True),
        ((open_main_door, close_main_door), set(), False),
        pytest.param((open_drop_door,), {"door"}, True, marks=pytest.mark.requirement("J-03")),
        ((raise_tilt,), {"tilt"}, False),
        ((raise_tilt, turn_attendant_key), set(), False),
        ((disable_machine,), {"tilt"}, False),
        ((win_jackpot,), {"jackpot"}, True),
        ((win_jackpot, turn_attendant_key), set(), False),
        ((win_jackpot, open_main_door), {"jackpot", "door"}, True),
        ((raise_tilt, open_main_door), {"tilt", "door"}, True),
        (
            (win_jackpot, toggle_service_call, raise_tilt, open_main_door),
            {"jackpot", "service", "tilt", "door"},
            True,
        ),
    ],
)
def test_the_tower_light_shows_the_active_conditions_only(tmp_path, happenings, tower, bell):
    assert read_tower_after(tmp_path, *happenings) == (tower, bell)


@pytest.mark.requirement("J-09", "F-06:a")
@pytest.mark.parametrize("position", [1, 2])
def test_the_tower_light_shows_a_jackpot_of_any_position(tmp_path, position):
    async def scene():
        rig = BoardRig()
        first = MachineRig(tmp_path, position=Position(1, 2), generator=ScriptedGenerator(*LANTERNS))
        connect(first, rig.driver, tmp_path)
        await rig.wait_for_inputs()
        first.boot()
        second = MachineRig(
            tmp_path, position=Position(2, 2), first_rig=first, generator=ScriptedGenerator(*LANTERNS)
        )
        second.machine.install(first.machine.component(RunningPositions))  # as the machine's process does
        connect(second, None, tmp_path)
        second.boot()
        win_jackpot((first, second)[position - 1])
        return await read_tower(first, rig)

    assert jump(scene()) == ({"jackpot"}, True)
