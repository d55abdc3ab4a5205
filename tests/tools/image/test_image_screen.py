"""The screen of an emulated computer hangs or fails repeatedly.

The image has a root shell on a virtual console (``--debug``), through which the test stops the screen's program.
``EGM_DEBUG_IMAGE`` names a folder with such an image; without it, one is built.
"""

import os
import socket
import time
from pathlib import Path

import pytest
from rigs.emulated_cabinet import OVERLAY, PATIENCE_S, Cabinet, list_missing_image_requirements
from rigs.screen_words import is_console_text_shown, is_plate_shown

from egm.unix_sockets import open_socket_address
from egm.verify.manifest import create_signing_key
from tools.image import image as builder

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(6 * PATIENCE_S),
    pytest.mark.skipif(
        bool(list_missing_image_requirements()), reason=f"missing: {list_missing_image_requirements()}"
    ),
]
_ENDED = Path(builder.__file__).parent / "root/usr/share/open-egm/screen-ended"
SCREEN = "open-egm-screen"
BILL_CENTS = 500


@pytest.fixture
def cabinet(tmp_path):
    image_folder = Path(os.environ.get("EGM_DEBUG_IMAGE", tmp_path / "image"))
    if not image_folder.exists():
        image_folder.mkdir()
        (image_folder / "release.pem").write_bytes(create_signing_key())
        builder.build(image_folder, image_folder / "release.pem", overlays=(OVERLAY,), debug=True)
    emulated = Cabinet(tmp_path, image_folder)
    emulated.switch_on()
    yield emulated
    emulated.close()


def is_bill_accepted(cabinet):
    """Insert a bill and return whether it is accepted; its credit stays on the machine."""
    before = cabinet.command_device("bill").state["stacked_cents"]
    cabinet.command_device("bill", "insert", amount_cents=BILL_CENTS)
    time.sleep(5)
    cabinet.until(
        lambda: not cabinet.command_device("bill").state["inside_cents"], "the bill is in the box or back"
    )
    return cabinet.command_device("bill").state["stacked_cents"] > before


def check_no_money_accepted(cabinet, name):
    """Check that the display reports a missing screen and that no money is accepted."""
    cabinet.until(lambda: cabinet.command_device("bill").state["status"] == "disabled", "the acceptor is off")
    assert not is_bill_accepted(cabinet)
    cabinet.until(
        lambda: is_plate_shown(cabinet.picture(), "out_of_service.screen_missing"),
        "the words on the display",
        every_s=1,
    )
    assert not is_bill_accepted(cabinet)
    cabinet.save_picture(name)


def wait_until_bills_taken(cabinet):
    cabinet.wait_until_up()
    cabinet.until(lambda: is_bill_accepted(cabinet), "bills are taken again", every_s=5)


def test_no_money_is_accepted_without_a_stable_screen(cabinet):
    """The test takes about twenty minutes."""
    cabinet.wait_until_up()
    lines = _ENDED.read_text().partition("\x1b[H")[2].splitlines()
    with socket.socket(socket.AF_UNIX) as shell:
        with open_socket_address(cabinet.folder / "debug") as address:
            shell.connect(address)

        def run_in_shell(command):
            """Run a command in the shell; return its output."""
            shell.sendall(f"{command}; printf '\\4'\n".encode())
            output = b""
            while b"\4" not in output:
                output += shell.recv(1 << 16)
            return output.decode()

        (cabinet.folder / "journal.txt").write_text(
            run_in_shell("journalctl --no-pager -b -o short-monotonic")
        )  # for inspection

        # The screen hangs: its last picture stays until systemd's watchdog restarts its program.
        run_in_shell(f"systemctl kill -s STOP {SCREEN}")
        check_no_money_accepted(cabinet, "hung")
        wait_until_bills_taken(cabinet)

        # The screen fails after every start; the display says so.
        run_in_shell(f"while :; do systemctl kill -s KILL {SCREEN}; sleep 5; done & echo $! >/run/dies")
        cabinet.until(
            lambda: is_console_text_shown(cabinet.picture(), lines), "that the program has ended", every_s=1
        )
        cabinet.save_picture("dies")
        cabinet.until(
            lambda: cabinet.command_device("bill").state["status"] == "disabled", "the acceptor is off"
        )
        assert not is_bill_accepted(cabinet)
        run_in_shell("kill $(cat /run/dies)")
        check_no_money_accepted(cabinet, "died")
        wait_until_bills_taken(cabinet)

        # The screen runs for less than a minute at a time.
        run_in_shell(f"while :; do systemctl kill -s KILL {SCREEN}; sleep 45; done & echo $! >/run/flaps")
        check_no_money_accepted(cabinet, "flaps")
        for _ in range(6):
            time.sleep(20)
            assert not is_bill_accepted(cabinet)
        run_in_shell("kill $(cat /run/flaps)")
        wait_until_bills_taken(cabinet)
