"""The image on an emulated computer: its picture, its devices, what was changed in it, and what tries to get in.

The computer is QEMU's, without hardware virtualisation; the simulated devices stand outside it, on its serial
ports. What is asked is seen from outside alone: the picture on the guest's display, and what the devices did.
``EGM_IMAGE`` names a folder with an image that is built already (with its key); else one is built.
"""

import asyncio
import functools
import io
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PIL import Image

from egm.config.cabinet_file import StateFolder
from egm.kernel.messages import BenchCommand, BenchReply, Hello, decode, encode
from egm.verify.manifest import new_key, public_hex, read_key
from tools.image import image as builder
from tools.image import slot
from tools.image.emulated import PORTS, Emulated

#: Nothing here is measured by the clock; this is only when to give up.
PATIENCE_S = 1500
NEEDED = ("qemu-system-x86_64", "qemu-img", "mmdebstrap", "mksquashfs", "veritysetup", "mcopy", "sfdisk")
MISSING = [name for name in NEEDED if shutil.which(name) is None]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(4 * PATIENCE_S),
    pytest.mark.skipif(
        bool(MISSING) or os.geteuid() != 0, reason=f"needs root and {MISSING or 'nothing else'}"
    ),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with an image, and the key that signed it."""
    if there := os.environ.get("EGM_IMAGE"):
        return Path(there)
    out = tmp_path_factory.mktemp("image")
    (out / "release.pem").write_bytes(new_key())
    builder.build(out, out / "release.pem", overlays=(Path(builder.__file__).with_name("qemu"),))
    return out


class Cabinet:
    """A computer with the image on disks of its own, and its devices beside it."""

    def __init__(self, folder, built, *, answered=True):
        """``answered``: its first start is behind it."""
        self.folder, self.state = folder, StateFolder(folder / "devices")
        self.state.prepare()
        self.disks = []
        for name in ("open-egm.img", "second.img"):
            disk = folder / f"{name}.qcow2"
            back = ("-b", str((built / name).resolve()), "-F", "raw")
            subprocess.run(("qemu-img", "create", "-q", "-f", "qcow2", *back, str(disk)), check=True)
            self.disks.append(f"format=qcow2,discard=unmap,file={disk}")
        if answered:
            self.answer()
        command = (sys.executable, "-I", "-m", "egm.app.bench", "--state", str(self.state.root))
        self._bench = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        self.until((self.state.run / "bench.ready").exists)
        self.computer = None

    def answer(self):
        """Put the cabinet file of this test onto the first medium."""
        file, medium = Path(__file__).with_name("cabinet.toml"), self.folder / "medium"
        where = builder.offsets()["egm-state-1"]
        (disk, *_) = (one.split("file=")[1] for one in self.disks)
        length = builder.LENGTHS["egm-state-1"] << 20
        part = f"driver=raw,offset={where},size={length},file.driver=qcow2,file.file.filename={disk}"
        run = functools.partial(subprocess.run, check=True, capture_output=True)
        run(("qemu-img", "convert", "-O", "raw", "--image-opts", part, str(medium)))
        for request in (f"write {file} cabinet.toml", *(f"sif cabinet.toml {x}id 780" for x in "ug")):
            run(("debugfs", "-w", "-R", request, str(medium)))
        run(("qemu-img", "convert", "-n", "-f", "raw", "--target-image-opts", str(medium), part))
        medium.unlink()

    def on(self, *more):
        ports = {name: self.state.run / "dev" / name for name in PORTS}
        self.computer = Emulated(self.folder, self.disks, ports, more=more)

    def off(self):
        if self.computer is not None:
            self.computer.cut()
            self.computer = None

    def close(self):
        self.off()
        self._bench.terminate()
        self._bench.wait()

    def hand(self, device, action="state", **values):
        """Lay a hand on a device; what it is like then."""

        async def ask():
            reader, writer = await asyncio.open_unix_connection(self.state.bench_socket)
            writer.write(encode(Hello(token=self.state.bench_token.read_text())))
            await reader.readline()
            writer.write(encode(BenchCommand(device=device, action=action, values=values)))
            reply = decode(await reader.readline())
            writer.close()
            return reply

        reply = asyncio.run(ask())
        assert isinstance(reply, BenchReply)
        return reply

    def until(self, wanted, what=""):
        end = time.monotonic() + PATIENCE_S
        while not wanted():
            assert time.monotonic() < end, f"never: {what}"
            time.sleep(0.5)

    def picture(self):
        return Image.open(io.BytesIO(self.computer.picture(self.folder / "now.png").read_bytes())).convert(
            "RGB"
        )

    def colours(self):
        """How many colours the display shows: a text console a few, a picture of the game thousands."""
        return len(self.picture().getcolors(1 << 24))

    def is_up(self):
        board = self.hand("io").state
        return "service" in board["lamps"] and not board["tower"]

    def comes_up(self):
        """A picture of a game on the guest's display, and the deck lit by the machine."""
        self.until(
            lambda: self.colours() > 20_000, "a picture of a game: that it is starting is said in 8,000"
        )
        self.until(self.is_up, "lamps that the machine has lit, and no alarm")

    def bill(self, cents):
        before = self.hand("bill").state["stacked_cents"]
        self.until(lambda: self.hand("bill", "insert", amount_cents=cents).ok, "the acceptor takes a bill")
        self.until(
            lambda: self.hand("bill").state["stacked_cents"] == before + cents, "the bill is in the box"
        )

    def tickets(self):
        return self.hand("printer").state["printed"]

    def started(self):
        """Which entries the firmware has started, in order; a name for each."""
        said = (self.folder / "console.log").read_bytes().decode(errors="replace")
        return [line.split('"')[1] for line in said.splitlines() if "BdsDxe: starting" in line]


@pytest.fixture
def cabinet(tmp_path, built):
    there = Cabinet(tmp_path, built)
    there.on()
    yield there
    there.close()


def test_a_machine_comes_up_takes_a_bill_plays_pays_and_nothing_else_gets_in(cabinet):
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
            cabinet.computer.keys(*keys)
            time.sleep(0.2)
    # A stick with a file system is put in.
    stick = cabinet.folder / "stick.img"
    with stick.open("wb") as stream:
        stream.truncate(8 << 20)
    subprocess.run(("mkfs.fat", str(stick)), check=True, capture_output=True)
    cabinet.computer(
        "blockdev-add",
        driver="raw",
        **{"node-name": "stick", "file": {"driver": "file", "filename": str(stick)}},
    )
    cabinet.computer("device_add", driver="usb-storage", id="stick", bus="usb.0", drive="stick")
    time.sleep(30)
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


def tampered(cabinet, partition, within=0):
    """The disk of a computer that is off, with one byte of a partition written over."""
    (disk, *_) = (one.split("file=")[1] for one in cabinet.disks)
    at = builder.offsets()[partition] + within
    subprocess.run(("qemu-io", "-c", f"write -q -P 0x5a {at} 1", "-f", "qcow2", disk), check=True)


@pytest.mark.requirement("A-12")
def test_a_changed_byte_is_found_before_play(tmp_path, built):
    """About ten minutes: in the other slot, then in the one that runs."""
    cabinet = Cabinet(tmp_path, built)
    try:
        tampered(cabinet, "egm-esp-b")
        cabinet.on()
        cabinet.until(lambda: cabinet.colours() > 500, "a picture that says so")
        time.sleep(120)
        cabinet.hand("bill", "insert", amount_cents=500)
        time.sleep(60)
        assert cabinet.hand("bill").state["stacked_cents"] == 0, "a machine that was changed takes no money"
        cabinet.off()

        tampered(cabinet, "egm-root-a", within=50 << 20)
        cabinet.on()
        cabinet.until(lambda: len(cabinet.started()) > 1, "it is not started, and tried again after a minute")
        assert cabinet.hand("bill").state["stacked_cents"] == 0
    finally:
        cabinet.close()


def released(built, folder, number, more=""):
    """A signed update like the image in ``built``, whose kernel is told ``more`` words."""
    key = read_key((built / "release.pem").read_bytes(), "release.pem")
    with (built / "open-egm.bundle").open("rb") as bundle:
        release = slot.begin(bundle, public_hex(key), 0, "bundle")
        for name in reversed(slot.PARTS):
            with (folder / f"{name}.img").open("wb") as part:
                part.write(bundle.read(release.parts[name].length))
    run = functools.partial(subprocess.run, check=True, capture_output=True)
    program = folder / "program"
    run(("mcopy", "-n", "-i", str(folder / "esp.img"), "::/EFI/BOOT/BOOTX64.EFI", str(program)))
    for section, name in (("linux", "vmlinuz"), ("initrd", "initrd"), ("cmdline", "cmdline")):
        run(("objcopy", "-O", "binary", f"--only-section=.{section}", str(program), str(folder / name)))
    words = (folder / "cmdline").read_bytes().rstrip(b"\0").decode()
    builder._esp(folder, f"{words} {more}".strip(), str(release.number))
    parts, out = {name: folder / f"{name}.img" for name in slot.PARTS}, folder / "update"
    slot.write_bundle(slot.sign(release.number + number, f"update {number}", parts, key), parts, out)
    return out


@pytest.mark.timeout(4 * PATIENCE_S + 3600)
def test_an_update_that_does_not_come_up_falls_back_by_itself(cabinet, tmp_path, built):
    """Half an hour where nothing else is at work: the new release has a quarter of an hour to come up."""
    bundle = released(built, tmp_path, 1, "systemd.mask=open-egm-machine.service")
    cabinet.comes_up()
    file = {"driver": "file", "filename": str(bundle), "read-only": True}
    cabinet.computer("blockdev-add", driver="raw", **{"node-name": "stick", "read-only": True, "file": file})
    cabinet.computer("device_add", driver="usb-storage", id="stick", bus="usb.0", drive="stick")
    for entry in ("open-egm b", "open-egm a"):
        cabinet.until(lambda entry=entry: cabinet.started()[-1] == entry, f"{entry} is started")
    cabinet.comes_up()
    cabinet.bill(500)
    assert cabinet.started()[1:] == ["open-egm b", "open-egm a"], "once, and not again"


def test_two_builds_are_the_same_bytes(built, tmp_path):
    """About ten minutes."""
    again = builder.build(
        tmp_path, built / "release.pem", overlays=(Path(builder.__file__).with_name("qemu"),)
    )
    for name in ("open-egm.img", "second.img", "open-egm.bundle"):
        same = ("cmp", str(built / name), str(again.with_name(name)))
        assert subprocess.run(same, check=False).returncode == 0, name
