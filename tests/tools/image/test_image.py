"""The image on an emulated computer: its picture, its devices, tampering and intrusion.

The computer is QEMU's, without hardware virtualisation; the simulated devices stand outside it, on its serial
ports. What is asked is seen from outside alone: the picture on the guest's display, and what the devices did.
``EGM_IMAGE`` names a folder with an image that is built already (with its key); else one is built.
"""

import subprocess
import time

import pytest
from rigs.emulated_cabinet import OVERLAY, PATIENCE_S, Cabinet, image_in, initramfs_lines, lacking, program_in
from rigs.screen_words import is_console_text_shown, is_page_shown, is_plate_shown, is_sign_of

from egm.kernel.messages import Notice
from egm.staff.service.sign_in import SignInPage
from egm.staff.words import build_text
from egm.verify.manifest import format_public_key, read_signing_key
from tools.image import image as builder
from tools.image import slot

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(4 * PATIENCE_S),
    pytest.mark.skipif(bool(lacking()), reason=f"missing: {lacking()}"),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with an image, and the key that signed it."""
    return image_in(tmp_path_factory.mktemp("image"))


@pytest.fixture
def cabinet(tmp_path, built):
    emulated = Cabinet(tmp_path, built)
    emulated.on()
    yield emulated
    emulated.close()


def test_a_cabinet_boots_takes_a_bill_plays_pays_and_admits_no_intruder(cabinet):
    """About ten minutes."""
    cabinet.comes_up()
    attract = cabinet.picture()
    cabinet.bill(2000)
    cabinet.until(lambda: cabinet.picture() != attract, "the credit on the display")

    # A keyboard is put in, and everything is typed that means something to a console, a desktop or the screen.
    cabinet.computer("device_add", driver="usb-kbd", id="kbd", bus="usb.0")
    time.sleep(20)
    escapes = (
        ("ctrl", "alt", "f2"),
        ("alt", "f3"),
        ("ctrl", "alt", "delete"),
        ("alt", "sysrq", "b"),
        ("ctrl", "c"),
    )
    for keys in (*escapes, ("f10",), ("f2",), ("spc",), ("c",), ("esc",), ("alt", "f4"), ("meta_l",)):
        for _ in range(8):
            cabinet.computer.press_keys(*keys)
            time.sleep(0.2)
    # A stick with a file system is put in.
    stick = cabinet.folder / "stick.img"
    with stick.open("wb") as stream:
        stream.truncate(8 << 20)
    subprocess.run(("mkfs.fat", str(stick)), check=True, capture_output=True)
    cabinet.plug(stick)
    assert cabinet.colours() > 2000, "no console, no other terminal"
    assert len(cabinet.started()) == 1, "no key starts it again"
    assert not cabinet.tickets(), "no key pays out"
    assert stick.read_bytes().count(b"open-egm") == 0

    # The cabinet's own buttons do.
    played = cabinet.picture()
    cabinet.hand("io", "press", button="play")
    cabinet.until(lambda: cabinet.picture() != played, "a game on the display")
    for _ in range(PATIENCE_S):
        cabinet.hand("io", "press", button="cash_out")
        time.sleep(3)
        if cabinet.tickets():
            break
    cabinet.until(lambda: cabinet.tickets()[0]["barcode_complete"], "a ticket with its bar code")
    (ticket,) = cabinet.tickets()
    # What came out goes in again, once.
    stacked = len(cabinet.hand("bill").state["stacked"])
    cabinet.until(
        lambda: cabinet.hand("bill", "insert_ticket", barcode=ticket["barcode"]).ok, "a ticket goes in"
    )
    cabinet.until(lambda: len(cabinet.hand("bill").state["stacked"]) > stacked, "the ticket is credited")


def test_a_second_display_has_the_top_screen_while_the_first_plays(cabinet):
    """About ten minutes: plugged in under a machine that plays, out, and another in."""

    def top_screen(size):
        shown = cabinet.picture(head=1)
        games = ("maple-classic", "aurora-keno")
        return shown.size == size and any(is_sign_of(shown, game, "en") for game in games)

    cabinet.comes_up()
    starts = cabinet.started()
    assert cabinet.colours(head=1) < 100, "no display, no picture"
    stacked_cents = 0
    for size in ((1200, 675), (1280, 720)):
        cabinet.computer.plug_second_display(*size)
        cabinet.until(lambda size=size: top_screen(size), "the top screen on the second display", every_s=5)
        assert cabinet.colours() > 20_000, "the game on the first"
        assert not is_sign_of(cabinet.picture().crop((0, 40, 1280, 760)), "maple-classic", "en")
        cabinet.computer.plug_second_display(0, 0)
        before = cabinet.picture()
        cabinet.bill(500)
        stacked_cents += 500
        cabinet.until(lambda before=before: cabinet.picture() != before, "the credit on the first display")
    assert cabinet.hand("bill").state["stacked_cents"] == stacked_cents
    assert cabinet.started() == starts


def test_a_clock_set_to_1970_is_reported_to_staff(tmp_path, built):
    """About ten minutes: a machine that has lived knows that it is wrong (systemd itself sets it on to its own day)."""
    cabinet = Cabinet(tmp_path, built)
    try:
        cabinet.on()
        cabinet.comes_up()
        cabinet.off()
        cabinet.on("-rtc", "base=1970-01-01T00:00:00")
        cabinet.comes_up()
        cabinet.keep("clock-attract")
        cabinet.hand("io", "key", name="operator", on=True)
        page = SignInPage(lambda _machine, _person: None, build_text("service.sign_in")).build_page(None)
        notice = Notice(code="fault.clock_doubted", severity="warning")
        cabinet.until(
            lambda: is_page_shown(cabinet.picture(), page, notice), "the fault above the page", every_s=5
        )
        cabinet.keep("clock-menu")
    finally:
        cabinet.close()


def tampered(cabinet, partition, within=0):
    """Overwrite one byte of a partition while the computer is off."""
    (disk, *_) = (disk.split("file=")[1] for disk in cabinet.disks)
    offset = builder.compute_partition_offsets()[partition] + within
    subprocess.run(("qemu-io", "-c", f"write -q -P 0x5a {offset} 1", "-f", "qcow2", disk), check=True)


@pytest.mark.requirement("A-12")
def test_a_changed_byte_in_either_slot_is_detected_before_play(tmp_path, built):
    """About ten minutes: in the other slot, then in the one that runs, where every game's definition is."""
    cabinet = Cabinet(tmp_path, built)
    try:
        tampered(cabinet, "egm-esp-b")
        cabinet.on()
        cabinet.until(
            lambda: is_plate_shown(cabinet.picture(), "software_differs"), "the display says so", every_s=5
        )
        cabinet.keep("other-slot")
        cabinet.hand("bill", "insert", amount_cents=500)
        cabinet.until(lambda: not cabinet.hand("bill").state["inside_cents"], "the bill is given back")
        assert cabinet.hand("bill").state["stacked_cents"] == 0, "a machine that was changed takes no money"
        cabinet.off()

        tampered(cabinet, "egm-root-a", within=50 << 20)
        cabinet.on()
        words = initramfs_lines("tell")
        cabinet.until(
            lambda: is_console_text_shown(cabinet.picture(), words), "the console says so", every_s=2
        )
        cabinet.keep("slot")
        cabinet.until(lambda: len(cabinet.started()) > 1, "it is not started, and tried again after a minute")
        assert cabinet.hand("bill").state["stacked_cents"] == 0
    finally:
        cabinet.close()


def write_update(built, folder, number, kernel_parameters=""):
    """Return a signed update like the image in ``built`` with additional ``kernel_parameters``."""
    key = read_signing_key((built / "release.pem").read_bytes(), "release.pem")
    with (built / "open-egm.bundle").open("rb") as bundle:
        release = slot.read_bundle_release(bundle, format_public_key(key), 0, "bundle")
        for name in reversed(slot.SLOT_PARTITION_NAMES):
            with (folder / f"{name}.img").open("wb") as part:
                part.write(bundle.read(release.parts[name].length))
    words = program_in(str(folder / "esp.img"), folder)
    builder._build_esp(folder, f"{words} {kernel_parameters}".strip(), str(release.number))
    parts, update_folder = (
        {name: folder / f"{name}.img" for name in slot.SLOT_PARTITION_NAMES},
        folder / "update",
    )
    slot.write_bundle(
        slot.sign_release(release.number + number, f"update {number}", parts, key), parts, update_folder
    )
    return update_folder


@pytest.mark.timeout(4 * PATIENCE_S + 3600)
def test_an_update_that_does_not_start_falls_back_by_itself(cabinet, tmp_path, built):
    """Half an hour where nothing else is at work: the new release has a quarter of an hour to come up."""
    bundle = write_update(built, tmp_path, 1, "systemd.mask=open-egm-machine.service")
    cabinet.comes_up()
    cabinet.plug(bundle, **{"read-only": True})
    for entry in ("open-egm b", "open-egm a"):
        cabinet.until(lambda entry=entry: cabinet.started()[-1] == entry, f"{entry} is started")
    cabinet.comes_up()
    cabinet.bill(500)
    assert cabinet.started()[1:] == ["open-egm b", "open-egm a"], "once, and not again"


def test_two_builds_are_the_same_bytes(built, tmp_path):
    """About ten minutes."""
    second_build = builder.build(tmp_path, built / "release.pem", overlays=(OVERLAY,))
    for name in ("open-egm.img", "second.img", "open-egm.bundle"):
        same = ("cmp", str(built / name), str(second_build.with_name(name)))
        assert subprocess.run(same, check=False).returncode == 0, name
