"""A computer set up at its display and enrolled with the floor's stick, whose cabinet file is then changed.

Every page is waited for on the guest's own display, and touched where it is drawn there.
"""

import random
import subprocess

import pytest
from click.testing import CliRunner
from rigs.emulated_cabinet import PATIENCE_S, image_in, lacking
from rigs.emulated_hands import BROKER, SERIAL, FirstStart
from rigs.emulated_media import BILL_CENTS, Computer
from rigs.screen_words import is_plate_shown

from tools.cli import main
from tools.dev.progressive.broker import find_mosquitto
from tools.floor.progressive.certificates import write_broker_configuration

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(8 * PATIENCE_S),
    pytest.mark.skipif(bool(lacking()), reason=f"missing: {lacking()}"),
]
#: An adapter, by which the computer below is the broker's address.
ADAPTER = ("-nic", "user,model=virtio-net-pci")


def floor(*arguments):
    """What the floor does."""
    result = CliRunner().invoke(main, ["progressive", *map(str, arguments)])
    assert result.exit_code == 0, result.output


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """The floor: its certificates, and the log of its broker."""
    folder = tmp_path_factory.mktemp("floor")
    host, port = BROKER
    floor("certificates", folder, "--host", host, "--port", port)
    configuration = write_broker_configuration(folder, port)
    with (folder / "broker.log").open("wb") as log:
        broker = subprocess.Popen((find_mosquitto(), "-c", str(configuration)), stderr=log)
    yield folder
    broker.terminate()
    broker.wait()


@pytest.fixture(scope="module")
def computer(tmp_path_factory, house):
    """A computer that two people have set up and signed for."""
    folder = tmp_path_factory.mktemp("computer")
    built = image_in(tmp_path_factory.mktemp("image"))
    computer = Computer(folder, built, random.Random(20261123), answered=False)
    stick = folder / "stick"
    stick.write_bytes(bytes(1 << 20))
    host, port = BROKER
    broker = ("--host", host, "--port", port)
    floor("enrol", house, stick, "--prepare")

    def answers(stick, key):
        floor("enrol", house, stick, "--key", key, *broker)

    try:
        computer.on(*ADAPTER)
        FirstStart(computer, folder, stick, answers).run()
        yield computer
    finally:
        computer.close()


@pytest.mark.requirement("A-22")
def test_a_first_start_by_hand_enrols_it_with_the_floor(computer, house):
    """About fifteen minutes, all of it before this: now it plays, and the broker knows it by its certificate."""
    computer.comes_up()
    computer.bill(BILL_CENTS)
    known = f"u'{SERIAL}'"
    computer.until(lambda: known in (house / "broker.log").read_text(), "its certificate at the broker")
    computer.keep("plays")
    computer.cut()
    with computer.read() as (first, _):
        file = (first / "cabinet.toml").read_text()
    assert f'serial = "{SERIAL}"' in file
    assert "[progressive_link]" in file
    computer.audited()


@pytest.mark.requirement("A-22", "E-11")
def test_one_changed_byte_of_the_signed_cabinet_file_stops_the_machine(computer):
    """About five minutes."""
    first, _ = computer.parts
    computer.changes(first, "cabinet.toml", b'"hall"', b'"ball"')
    computer.on(*ADAPTER)
    computer.until(lambda: is_plate_shown(computer.picture(), "cabinet_file_changed"), "the fault", every_s=5)
    computer.keep("file")
    before = computer.hand("bill").state["stacked_cents"]
    computer.hand("bill", "insert", amount_cents=BILL_CENTS)
    computer.until(lambda: not computer.hand("bill").state["inside_cents"], "the bill is given back")
    assert computer.hand("bill").state["stacked_cents"] == before
    computer.cut()
    computer.changes(first, "cabinet.toml", b'"ball"', b'"hall"')
    computer.audited()
