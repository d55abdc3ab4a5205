"""Hard meters follow the electronic meters from their reading at installation, in whole pulses, across restarts."""

import asyncio

import pytest

from egm.app.view import build_snapshot
from egm.config.cabinet_file import StateFolder, load_cabinet
from egm.devices.ioboard import codec
from egm.devices.ioboard.driver import IO_BOARD_LINE_SETTINGS, IoBoardDriver
from egm.devices.line import SerialLine
from egm.errors import OperatorError
from egm.integrity.hard_meters import HardMeterService, create_hard_meter_service
from egm.integrity.keys import IntegrityKey
from egm.kernel.events import EventType
from egm.kernel.services import MachineContext
from egm.people import Role
from egm.profiles import load_profile
from egm.profiles import profile as profiles
from egm.testing.jumping_loop import jump
from egm.testing.machine import MachineRig, ScriptedGenerator
from egm.testing.service_menu import STAFF_NUMBER_BY_ROLE, MenuUser

#: Stops of maple-classic: a small win, and the highest prize.
MAPLES, LANTERNS = (23, 7, 5), (11, 11, 12)
GENERIC = (profiles._PROFILES_FOLDER / "generic.toml").read_text()


@pytest.fixture
def profile(tmp_path):
    path = tmp_path / "place.toml"
    path.write_text(f"{GENERIC}\n[hard_meters]\npulse_cents = 100\n")
    return path


def context(rig, tmp_path, *devices) -> MachineContext:
    folder = StateFolder(tmp_path / "run")
    return MachineContext(rig.engine, load_cabinet(), folder, rig.clock, rig.submit_event, devices)


def create_board(tmp_path) -> IoBoardDriver:
    return IoBoardDriver("io", SerialLine(str(tmp_path / "nowhere"), IO_BOARD_LINE_SETTINGS), lambda _: None)


def report_counters(board: IoBoardDriver, *pulses: int) -> None:
    """Process a report of the board's hard-meter pulse counts."""
    board._board_boot_number = 1
    board._process_message(codec.HardMeterPulseCounts(1, pulses))


@pytest.mark.requirement("D-20")
def test_hard_meters_count_from_their_reading_at_installation_also_after_a_restart(tmp_path, profile):
    rig = MachineRig(tmp_path / "state", profile=profile).boot().insert(1000)
    board = create_board(tmp_path)
    (meters,) = create_hard_meter_service(context(rig, tmp_path, board))
    assert isinstance(meters, HardMeterService)
    assert not meters.update_hard_meters()  # the board has not reported its counters yet
    report_counters(board, 7, 0, 0, 0, 40, 0)
    assert meters.update_hard_meters()
    assert board._hard_meter_totals == (
        7,
        0,
        0,
        0,
        40,
        0,
    )  # no pulses for amounts metered before installation
    rig.insert(2000)
    for _ in range(45):  # 45 games of 5: two pulses and a quarter
        rig.play()
        rig.report_shown()
    meters.update_hard_meters()
    assert (board._hard_meter_totals[0], board._hard_meter_totals[4]) == (7 + 2, 40 + 20)
    assert len(rig.records("hard_meters.fitted")) == 1
    fitted = rig.machine.memory.get(IntegrityKey.HARD_METER_OFFSETS)
    rig.close()

    restarted = MachineRig(tmp_path / "state", profile=profile).boot()
    board = create_board(tmp_path)
    (meters,) = create_hard_meter_service(context(restarted, tmp_path, board))
    report_counters(board, 8, 0, 0, 0, 60, 0)  # one of the two pulses had been sent
    assert meters.update_hard_meters()
    assert (board._hard_meter_totals[0], board._hard_meter_totals[4]) == (9, 60)
    assert restarted.machine.memory.get(IntegrityKey.HARD_METER_OFFSETS) == fitted
    restarted.close()


@pytest.mark.requirement("D-20")
def test_a_hard_meter_pulses_only_for_a_complete_pulse_amount(tmp_path, profile):
    rig = MachineRig(tmp_path / "state", profile=profile).boot().insert(1000)
    board = create_board(tmp_path)
    (meters,) = create_hard_meter_service(context(rig, tmp_path, board))
    report_counters(board, *[0] * codec.HARD_METER_COUNT)
    meters.update_hard_meters()
    for games, pulses in ((19, 0), (1, 1)):  # 95 cents, and then a full dollar
        for _ in range(games):
            rig.play()
            rig.report_shown()
        meters.update_hard_meters()
        assert board._hard_meter_totals[0] == pulses
    rig.close()


@pytest.mark.requirement("D-20")
def test_hard_meters_of_a_new_board_pulse_only_after_the_exchange_form_with_the_door_open(tmp_path, profile):
    rig = MachineRig(tmp_path / "state", profile=profile).boot()
    board = create_board(tmp_path)
    (meters,) = create_hard_meter_service(context(rig, tmp_path, board))
    report_counters(board, 20_007, 0, 0, 0, 40_040, 0)
    assert meters.update_hard_meters()
    report_counters(board, *board._hard_meter_totals)
    fitted = rig.machine.memory.get(IntegrityKey.HARD_METER_OFFSETS)
    board = create_board(tmp_path)  # the board is exchanged; its counters are new
    (meters,) = create_hard_meter_service(context(rig, tmp_path, board))
    report_counters(board, 0, 0, 0, 0, 3, 0)
    meters.update_hard_meters()
    report_counters(board, 0, 0, 0, 0, 3, 0)
    assert (
        not board._can_advance_hard_meters
    )  # the difference is more than play explains: a fault, and no pulses
    menu = MenuUser(rig).sign_in(Role.TECHNICIAN)
    menu.touch("form:counters").fill_open_form("a new board", "0, 0, 0, 0, 3, 0")
    assert (
        rig.machine.memory.get(IntegrityKey.HARD_METER_OFFSETS) == fitted
    )  # an exchange is refused while the door is closed
    menu.home().touch("leave")
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    menu.sign_in(Role.TECHNICIAN).open_and_fill_form("counters", "a new board", "0, 0, 0, 0, 3, 0")
    assert meters.update_hard_meters()
    assert board._hard_meter_totals == (0, 0, 0, 0, 3, 0)
    assert board._can_advance_hard_meters
    (exchange,) = rig.records("hard_meters.exchanged")
    assert (exchange["person"], exchange["before"]) == (STAFF_NUMBER_BY_ROLE[Role.TECHNICIAN], fitted)
    assert [record["counted"][4] for record in rig.records("hard_meters.fitted")] == [40_040, 3]
    rig.close()


@pytest.mark.requirement("D-20")
def test_each_hard_meter_follows_its_own_electronic_meter(tmp_path, profile):
    """The order is coin in, drop, coin out, hand-paid wins and bills."""
    numbers = ScriptedGenerator(*MAPLES, *LANTERNS)
    rig = MachineRig(tmp_path / "state", profile=profile, generator=numbers, devices=("hopper",)).boot()
    board = create_board(tmp_path)
    (meters,) = create_hard_meter_service(context(rig, tmp_path, board))
    report_counters(board, 0, 0, 0, 0, 0, 0)
    assert meters.update_hard_meters()
    rig.insert(10000)
    rig.device_ledgers.coin_ledger.credit_coins_in(((200, False), (100, True)), 1)
    rig.engine.handle(EventType.SELECT_DENOMINATION, value=100)
    rig.engine.handle(EventType.SELECT_BET, value=3)
    for _ in range(2):
        rig.play()
        rig.report_shown()
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert meters.update_hard_meters()
    assert board._hard_meter_totals == (6, 2, 180, 1500, 100, 0)
    rig.close()


def test_no_hard_meter_service_runs_without_the_profile_rule_or_the_io_board(tmp_path, profile):
    rig = MachineRig(tmp_path / "state").boot()
    assert list(create_hard_meter_service(context(rig, tmp_path, create_board(tmp_path)))) == []
    rig.close()
    rig = MachineRig(tmp_path / "other", profile=profile).boot()
    assert list(create_hard_meter_service(context(rig, tmp_path))) == []
    rig.close()


@pytest.mark.parametrize("name", ["credits", "games_played", "shoes"])
def test_a_profile_may_assign_hard_meters_only_to_money_meters_that_never_decrease(tmp_path, profile, name):
    profile.write_text(f'{GENERIC}\n[hard_meters]\npulse_cents = 100\nmeters = ["coin_in", "{name}"]\n')
    with pytest.raises(OperatorError, match=name):
        load_profile(profile)


@pytest.mark.requirement("D-20")
def test_the_running_hard_meter_service_follows_each_meter_change(tmp_path, profile):
    rig = MachineRig(tmp_path / "state", profile=profile).boot()
    board = create_board(tmp_path)
    (meters,) = create_hard_meter_service(context(rig, tmp_path, board))
    report_counters(board, 0, 0, 0, 0, 0, 0)
    totals = []

    async def scenario():
        running = asyncio.create_task(meters.run())
        for cents in (0, 500, 2000):
            if cents:
                rig.insert(cents)
                meters.process_change(build_snapshot(rig.engine))
            await asyncio.sleep(2)
            totals.append(board._hard_meter_totals[4])
        running.cancel()

    jump(scenario())
    assert totals == [0, 5, 25]
    rig.close()
