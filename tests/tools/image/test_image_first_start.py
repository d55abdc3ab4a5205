"""A computer that is set up at its display and enrolled with the floor's stick, and whose file is then changed.

Each page is awaited on the guest's own display, and touched as it is drawn there.
"""

import random
import subprocess

import pytest
from click.testing import CliRunner
from rigs.emulated_cabinet import PATIENCE_S, find_or_build_image, list_missing_image_requirements
from rigs.emulated_first_start import BROKER, SERIAL, FirstStart
from rigs.emulated_media import BILL_CENTS, Computer
from rigs.screen_words import is_plate_shown

from tools.cli import main
from tools.dev.progressive.broker import find_mosquitto
from tools.floor.progressive.certificates import write_broker_configuration

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(8 * PATIENCE_S),
    pytest.mark.skipif(
        bool(list_missing_image_requirements()), reason=f"missing: {list_missing_image_requirements()}"
    ),
]
#: A network adapter through which the host has the broker's address.
ADAPTER = ("-nic", "user,model=virtio-net-pci")


def run_floor_command(*arguments):
    """Run a command of the floor."""
    result = CliRunner().invoke(main, ["progressive", *map(str, arguments)])
    assert result.exit_code == 0, result.output


@pytest.fixture(scope="module")
def floor_folder(tmp_path_factory):
    """The folder of the floor: its certificates, and the log of its running broker."""
    folder = tmp_path_factory.mktemp("floor")
    host, port = BROKER
    run_floor_command("certificates", folder, "--host", host, "--port", port)
    configuration = write_broker_configuration(folder, port)
    with (folder / "broker.log").open("wb") as log:
        broker = subprocess.Popen((find_mosquitto(), "-c", str(configuration)), stderr=log)
    yield folder
    broker.terminate()
    broker.wait()


@pytest.fixture(scope="module")
def computer(tmp_path_factory, floor_folder):
    """A computer that two people have set up and signed."""
    folder = tmp_path_factory.mktemp("computer")
    built = find_or_build_image(tmp_path_factory.mktemp("image"))
    computer = Computer(folder, built, random.Random(20261123), has_cabinet_file=False)
    stick = folder / "stick"
    stick.write_bytes(bytes(1 << 20))
    host, port = BROKER
    broker = ("--host", host, "--port", port)
    run_floor_command("enrol", floor_folder, stick, "--prepare")

    def answers(stick, key):
        run_floor_command("enrol", floor_folder, stick, "--key", key, *broker)

    try:
        computer.switch_on(*ADAPTER)
        FirstStart(computer, folder, stick, answers).run()
        yield computer
    finally:
        computer.close()


@pytest.mark.requirement("A-22")
def test_a_first_start_by_hand_enrols_it_with_the_floor(computer, floor_folder):
    """The machine plays, and the broker knows it by its certificate. The set-up takes about fifteen minutes."""
    computer.wait_until_up()
    computer.insert_bill(BILL_CENTS)
    known = f"u'{SERIAL}'"
    computer.until(
        lambda: known in (floor_folder / "broker.log").read_text(), "its certificate at the broker"
    )
    computer.save_picture("plays")
    computer.cut_power()
    with computer.mounted_media() as (first, _):
        file = (first / "cabinet.toml").read_text()
    assert f'serial = "{SERIAL}"' in file
    assert "[progressive_link]" in file
    computer.audit_media()


@pytest.mark.requirement("A-22", "E-11")
def test_one_changed_byte_of_the_signed_cabinet_file_stops_the_machine(computer):
    """The test takes about five minutes."""
    first, _ = computer.parts
    computer.replace_bytes(first, "cabinet.toml", b'"hall"', b'"ball"')
    computer.switch_on(*ADAPTER)
    computer.until(lambda: is_plate_shown(computer.picture(), "cabinet_file_changed"), "the fault", every_s=5)
    computer.save_picture("file")
    before = computer.command_device("bill").state["stacked_cents"]
    computer.command_device("bill", "insert", amount_cents=BILL_CENTS)
    computer.until(
        lambda: not computer.command_device("bill").state["inside_cents"], "the bill is given back"
    )
    assert computer.command_device("bill").state["stacked_cents"] == before
    computer.cut_power()
    computer.replace_bytes(first, "cabinet.toml", b'"ball"', b'"hall"')
    computer.audit_media()
