"""A screen of a whole computer that hangs or fails repeatedly.

The image has a root shell on a virtual console (``--debug``), by which its screen's program is laid hands on;
``EGM_DEBUG_IMAGE`` names a folder with such an image that is built already, else one is built.
"""

import os
import socket
import time
from pathlib import Path

import pytest
from rigs.emulated_cabinet import OVERLAY, PATIENCE_S, Cabinet, lacking
from rigs.screen_words import is_console_text_shown, is_plate_shown

from egm.verify.manifest import create_signing_key
from tools.image import image as builder

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(6 * PATIENCE_S),
    pytest.mark.skipif(bool(lacking()), reason=f"missing: {lacking()}"),
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
    emulated.on()
    yield emulated
    emulated.close()


def takes(cabinet):
    """Insert a bill and return whether it is accepted; its credit stays on the machine."""
    before = cabinet.hand("bill").state["stacked_cents"]
    cabinet.hand("bill", "insert", amount_cents=BILL_CENTS)
    time.sleep(5)
    cabinet.until(lambda: not cabinet.hand("bill").state["inside_cents"], "the bill is in the box or back")
    return cabinet.hand("bill").state["stacked_cents"] > before


def stopped(cabinet, name):
    """Check that the display reports a missing screen and that no money is accepted."""
    cabinet.until(lambda: cabinet.hand("bill").state["status"] == "disabled", "the acceptor is off")
    assert not takes(cabinet)
    cabinet.until(
        lambda: is_plate_shown(cabinet.picture(), "out_of_service.screen_missing"),
        "the words on the display",
        every_s=1,
    )
    assert not takes(cabinet)
    cabinet.keep(name)


def wait_until_bills_taken(cabinet):
    cabinet.comes_up()
    cabinet.until(lambda: takes(cabinet), "bills are taken again", every_s=5)


def test_no_money_is_accepted_without_a_stable_screen(cabinet):
    """About twenty minutes."""
    cabinet.comes_up()
    lines = _ENDED.read_text().partition("\x1b[H")[2].splitlines()
    with socket.socket(socket.AF_UNIX) as shell:
        shell.connect(str(cabinet.folder / "debug"))

        def does(command):
            """What the shell says to it."""
            shell.sendall(f"{command}; printf '\\4'\n".encode())
            output = b""
            while b"\4" not in output:
                output += shell.recv(1 << 16)
            return output.decode()

        (cabinet.folder / "journal.txt").write_text(
            does("journalctl --no-pager -b -o short-monotonic")
        )  # for who looks

        # It hangs: its last picture stays, until systemd's watchdog ends its program and starts it again.
        does(f"systemctl kill -s STOP {SCREEN}")
        stopped(cabinet, "hung")
        wait_until_bills_taken(cabinet)

        # It dies as often as it is started; the display says that, too.
        does(f"while :; do systemctl kill -s KILL {SCREEN}; sleep 5; done & echo $! >/run/dies")
        cabinet.until(
            lambda: is_console_text_shown(cabinet.picture(), lines), "that the program has ended", every_s=1
        )
        cabinet.keep("dies")
        cabinet.until(lambda: cabinet.hand("bill").state["status"] == "disabled", "the acceptor is off")
        assert not takes(cabinet)
        does("kill $(cat /run/dies)")
        stopped(cabinet, "died")
        wait_until_bills_taken(cabinet)

        # It lives for less than a minute at a time.
        does(f"while :; do systemctl kill -s KILL {SCREEN}; sleep 45; done & echo $! >/run/flaps")
        stopped(cabinet, "flaps")
        for _ in range(6):
            time.sleep(20)
            assert not takes(cabinet)
        does("kill $(cat /run/flaps)")
        wait_until_bills_taken(cabinet)
