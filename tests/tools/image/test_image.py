"""The image on an emulated computer: its picture, its devices, tampering and intrusion.

QEMU emulates the computer without hardware virtualisation; the simulated devices are on its serial ports. The tests
observe only the picture on the guest's display and the devices. ``EGM_IMAGE`` names a folder with an image and its
key; without it, an image is built.
"""

import subprocess
import time

import pytest
from rigs.emulated_cabinet import (
    OVERLAY,
    PATIENCE_S,
    Cabinet,
    extract_kernel,
    find_or_build_image,
    list_missing_image_requirements,
    read_initramfs_texts,
)
from rigs.screen_words import is_console_text_shown, is_page_shown, is_plate_shown, is_sign_of

from egm.kernel.messages import Notice
from egm.staff.page_texts import build_text
from egm.staff.service.sign_in import SignInPage
from egm.verify.manifest import format_public_key, read_signing_key
from tools.image import image as builder
from tools.image import slot

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(4 * PATIENCE_S),
    pytest.mark.skipif(
        bool(list_missing_image_requirements()), reason=f"missing: {list_missing_image_requirements()}"
    ),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with an image and the key that signed it."""
    return find_or_build_image(tmp_path_factory.mktemp("image"))


@pytest.fixture
def cabinet(tmp_path, built):
    emulated = Cabinet(tmp_path, built)
    emulated.switch_on()
    yield emulated
    emulated.close()


def test_a_cabinet_boots_takes_a_bill_plays_pays_and_admits_no_intruder(cabinet):
    """The test takes about ten minutes."""
    cabinet.wait_until_up()
    attract = cabinet.picture()
    cabinet.insert_bill(2000)
    cabinet.until(lambda: cabinet.picture() != attract, "the credit on the display")

    # Plug in a keyboard, and type every key that a console, a desktop or the screen would act on.
    cabinet.computer.run_qmp_command("device_add", driver="usb-kbd", id="kbd", bus="usb.0")
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
            cabinet.press_keys(*keys)
            time.sleep(0.2)
    # Plug in a stick with a file system.
    stick = cabinet.folder / "stick.img"
    with stick.open("wb") as stream:
        stream.truncate(8 << 20)
    subprocess.run(("mkfs.fat", str(stick)), check=True, capture_output=True)
    cabinet.plug_stick(stick)
    assert cabinet.count_colours() > 2000, "no console, no other terminal"
    assert len(cabinet.list_started_entries()) == 1, "no key restarts the computer"
    assert not cabinet.list_tickets(), "no key pays out"
    assert stick.read_bytes().count(b"open-egm") == 0

    # The cabinet's own buttons have an effect.
    played = cabinet.picture()
    cabinet.command_device("io", "press", button="play")
    cabinet.until(lambda: cabinet.picture() != played, "a game on the display")
    for _ in range(PATIENCE_S):
        cabinet.command_device("io", "press", button="cash_out")
        time.sleep(3)
        if cabinet.list_tickets():
            break
    cabinet.until(lambda: cabinet.list_tickets()[0]["barcode_complete"], "a ticket with its bar code")
    (ticket,) = cabinet.list_tickets()
    # The printed ticket is accepted once.
    stacked = len(cabinet.command_device("bill").state["stacked"])
    cabinet.until(
        lambda: cabinet.command_device("bill", "insert_ticket", barcode=ticket["barcode"]).ok,
        "a ticket goes in",
    )
    cabinet.until(
        lambda: len(cabinet.command_device("bill").state["stacked"]) > stacked, "the ticket is credited"
    )


def test_a_second_display_has_the_top_screen_while_the_first_plays(cabinet):
    """The display is plugged in during play, removed, and replaced by another. The test takes about ten minutes."""

    def top_screen(size):
        shown = cabinet.picture(head=1)
        games = ("maple-classic", "aurora-keno")
        return shown.size == size and any(is_sign_of(shown, game, "en") for game in games)

    cabinet.wait_until_up()
    starts = cabinet.list_started_entries()
    assert cabinet.count_colours(head=1) < 100, "no display, no picture"
    stacked_cents = 0
    for size in ((1200, 675), (1280, 720)):
        cabinet.computer.plug_second_display(*size)
        cabinet.until(lambda size=size: top_screen(size), "the top screen on the second display", every_s=5)
        assert cabinet.count_colours() > 20_000, "the game on the first"
        assert not is_sign_of(cabinet.picture().crop((0, 40, 1280, 760)), "maple-classic", "en")
        cabinet.computer.plug_second_display(0, 0)
        before = cabinet.picture()
        cabinet.insert_bill(500)
        stacked_cents += 500
        cabinet.until(lambda before=before: cabinet.picture() != before, "the credit on the first display")
    assert cabinet.command_device("bill").state["stacked_cents"] == stacked_cents
    assert cabinet.list_started_entries() == starts


def test_a_clock_set_to_1970_is_reported_to_staff(tmp_path, built):
    """A machine that has run before detects the wrong clock. The test takes about ten minutes.

    (At the start, systemd itself sets such a clock to the date of its own build.)
    """
    cabinet = Cabinet(tmp_path, built)
    try:
        cabinet.switch_on()
        cabinet.wait_until_up()
        cabinet.switch_off()
        cabinet.switch_on("-rtc", "base=1970-01-01T00:00:00")
        cabinet.wait_until_up()
        cabinet.save_picture("clock-attract")
        cabinet.command_device("io", "key", name="operator", on=True)
        page = SignInPage(lambda _machine, _person: None, build_text("service.sign_in")).build_page(None)
        notice = Notice(code="fault.clock_doubted", severity="warning")
        cabinet.until(
            lambda: is_page_shown(cabinet.picture(), page, notice), "the fault above the page", every_s=5
        )
        cabinet.save_picture("clock-menu")
    finally:
        cabinet.close()


def overwrite_byte(cabinet, partition, within=0):
    """Overwrite one byte of a partition while the computer is off."""
    (disk, *_) = (disk.split("file=")[1] for disk in cabinet.disks)
    offset = builder.compute_partition_offsets()[partition] + within
    subprocess.run(("qemu-io", "-c", f"write -q -P 0x5a {offset} 1", "-f", "qcow2", disk), check=True)


@pytest.mark.requirement("A-12")
def test_a_changed_byte_in_either_slot_is_detected_before_play(tmp_path, built):
    """First in the inactive slot, then in the running one, where the game definitions are. Takes about ten minutes."""
    cabinet = Cabinet(tmp_path, built)
    try:
        overwrite_byte(cabinet, "egm-esp-b")
        cabinet.switch_on()
        cabinet.until(
            lambda: is_plate_shown(cabinet.picture(), "software_differs"), "the display says so", every_s=5
        )
        cabinet.save_picture("other-slot")
        cabinet.command_device("bill", "insert", amount_cents=500)
        cabinet.until(
            lambda: not cabinet.command_device("bill").state["inside_cents"], "the bill is given back"
        )
        assert cabinet.command_device("bill").state["stacked_cents"] == 0, (
            "a changed machine accepts no money"
        )
        cabinet.switch_off()

        overwrite_byte(cabinet, "egm-root-a", within=50 << 20)
        cabinet.switch_on()
        words = read_initramfs_texts("tell")
        cabinet.until(
            lambda: is_console_text_shown(cabinet.picture(), words), "the console says so", every_s=2
        )
        cabinet.save_picture("slot")
        cabinet.until(
            lambda: len(cabinet.list_started_entries()) > 1,
            "a restart after a minute",
        )
        assert cabinet.command_device("bill").state["stacked_cents"] == 0
    finally:
        cabinet.close()


def write_update(built, folder, number, kernel_parameters=""):
    """Write a signed update equal to the image in ``built`` but with ``kernel_parameters`` added; return its path."""
    key = read_signing_key((built / "release.pem").read_bytes(), "release.pem")
    with (built / "open-egm.bundle").open("rb") as bundle:
        release = slot.read_bundle_release(bundle, format_public_key(key), 0, "bundle")
        for name in reversed(slot.SLOT_PARTITION_NAMES):
            with (folder / f"{name}.img").open("wb") as part:
                part.write(bundle.read(release.partitions[name].length))
    words = extract_kernel(str(folder / "esp.img"), folder)
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
    """The new release has a quarter of an hour to start. The test takes half an hour on idle processors."""
    bundle = write_update(built, tmp_path, 1, "systemd.mask=open-egm-machine.service")
    cabinet.wait_until_up()
    cabinet.plug_stick(bundle, **{"read-only": True})
    for entry in ("open-egm b", "open-egm a"):
        cabinet.until(lambda entry=entry: cabinet.list_started_entries()[-1] == entry, f"{entry} is started")
    cabinet.wait_until_up()
    cabinet.insert_bill(500)
    assert cabinet.list_started_entries()[1:] == ["open-egm b", "open-egm a"], "once, and not again"


def test_two_builds_are_the_same_bytes(built, tmp_path):
    """The test takes about ten minutes."""
    second_build = builder.build(tmp_path, built / "release.pem", overlays=(OVERLAY,))
    for name in ("open-egm.img", "second.img", "open-egm.bundle"):
        same = ("cmp", str(built / name), str(second_build.with_name(name)))
        assert subprocess.run(same, check=False).returncode == 0, name
