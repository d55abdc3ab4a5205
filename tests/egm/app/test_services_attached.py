"""Each background service is attached to the machine that needs it; other tests cover what the services do."""

import pytest
from rigs.three_levels import make_levels_machine

from egm.app.features import FEATURES
from egm.config.cabinet_file import SoftwareTable, StateFolder, load_cabinet
from egm.config.levels import LevelScope, ProgressiveLevelTable
from egm.devices.ioboard.driver import IO_BOARD_LINE_SETTINGS, IoBoardDriver
from egm.devices.line import SerialLine
from egm.kernel.positions import Position
from egm.kernel.services import MachineContext
from egm.money.host_money import HostMoney, TicketValidator
from egm.profiles import profile as profiles

GENERIC = (profiles._PROFILES_FOLDER / "generic.toml").read_text()
LEVELS = (
    ProgressiveLevelTable(
        game="three-levels", level="top", kind=LevelScope.LINKED, carrier="sas", stakes={"50": "2.3"}
    ),
    ProgressiveLevelTable(game="three-levels", level="luck"),
    ProgressiveLevelTable(game="three-levels", level="mystery"),
)
HOST = HostMoney(ticket_validator=TicketValidator.SYSTEM, can_transfer=True, asset_number=1, is_online=True)


def build_case(name, *rows):
    return pytest.param(name, id=name, marks=pytest.mark.requirement(*rows) if rows else ())


@pytest.mark.parametrize(
    "name",
    [
        build_case("hard_meters", "D-20"),
        build_case("software", "A-14"),
        build_case("clock watch", "E-08"),
        build_case("protection", "N-02", "N-03"),
        build_case("service menu", "J-16"),
        build_case("host", "F-09"),
        build_case("betting", "P-05"),
        build_case("progressive broadcasts", "I-02"),
        build_case("memory"),
    ],
)
def test_a_service_is_attached_to_the_machine_that_needs_it(tmp_path, name):
    profile_file = tmp_path / "place.toml"
    rules = "[hard_meters]\npulse_cents = 100\n[protection]\nremind_minutes = [60]\n"
    profile_file.write_text(f"{GENERIC}\n{rules}")
    rig = make_levels_machine(
        tmp_path / "state", profile=profile_file, host=HOST, levels=LEVELS, position=Position(1, 2)
    ).boot()
    board = IoBoardDriver("io", SerialLine(str(tmp_path / "nowhere"), IO_BOARD_LINE_SETTINGS), lambda _: None)
    file = load_cabinet().model_copy(
        update={"software": SoftwareTable(manifest=tmp_path / "software.manifest", key="00" * 32)}
    )
    folder = StateFolder(tmp_path / "run")
    folder.create_private_folders()
    context = MachineContext(rig.engine, file, folder, rig.clock, rig.submit_event, (board,))
    assert [attachment.name for attachment in FEATURES.create_services(context)].count(name) == 1
    rig.close()
