"""An emulated computer that runs the image, with simulated devices on its ports.

``EGM_IMAGE`` names a folder with an image and its key; without it, an image is built.
"""

import asyncio
import io
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from PIL import Image

from egm.config.cabinet_file import StateFolder
from egm.errors import OperatorError
from egm.kernel.messages import BenchCommand, BenchReply, Hello, decode_message, encode_message
from egm.unix_sockets import open_socket_address
from egm.verify.manifest import create_signing_key
from tools.image import image as builder
from tools.image.emulated import EMULATED_DEVICE_PORTS, EmulatedComputer

#: Time limit of each wait in seconds; it measures nothing.
PATIENCE_S = 1500
NEEDED = ("qemu-system-x86_64", "qemu-img", "mmdebstrap", "mksquashfs", "veritysetup", "mcopy", "sfdisk")
OVERLAY = Path(builder.__file__).with_name("qemu")
_INITRAMFS = Path(builder.__file__).parent / "root/etc/initramfs-tools/scripts/local-top/open-egm"


def list_missing_image_requirements() -> list[str]:
    """Return the programs and rights that this computer lacks for building and emulating an image."""
    return [
        *(name for name in NEEDED if shutil.which(name) is None),
        *(() if os.geteuid() == 0 else ("root",)),
    ]


def find_or_build_image(image_folder: Path) -> Path:
    """Return the folder of ``EGM_IMAGE``, or build an image and its signing key in ``image_folder``."""
    if built_image := os.environ.get("EGM_IMAGE"):
        return Path(built_image)
    (image_folder / "release.pem").write_bytes(create_signing_key())
    builder.build(image_folder, image_folder / "release.pem", overlays=(OVERLAY,))
    return image_folder


def read_initramfs_texts(verb: str) -> list[str]:
    """Return the texts that the initramfs displays: ``show`` while the machine starts, ``tell`` if it cannot start."""
    return [
        line.partition('"')[2][:-1]
        for line in _INITRAMFS.read_text().splitlines()
        if line.startswith(f'{verb} "')
    ]


def extract_kernel(esp: str, folder: Path) -> str:
    """Write the kernel and the initramfs of an EFI system partition to files; return the kernel's command line.

    ``esp`` names the partition as mtools do.
    """
    program = folder / "program"
    _run("mcopy", "-n", "-i", esp, "::/EFI/BOOT/BOOTX64.EFI", str(program))
    for section, name in (("linux", "vmlinuz"), ("initrd", "initrd"), ("cmdline", "cmdline")):
        _run("objcopy", "-O", "binary", f"--only-section=.{section}", str(program), str(folder / name))
    return (folder / "cmdline").read_bytes().rstrip(b"\0").decode()


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


class Cabinet:
    """An emulated computer with its own copies of the image's disks, and its simulated devices."""

    def __init__(self, folder, built, *, has_cabinet_file=True):
        """``has_cabinet_file``: the first medium already has a cabinet file, so that no first start is needed."""
        self.folder, self.state = folder, StateFolder(folder / "devices")
        self.state.create_private_folders()
        self.disks = []
        for name in ("open-egm.img", "second.img"):
            disk = folder / f"{name}.qcow2"
            back = ("-b", str((built / name).resolve()), "-F", "raw")
            subprocess.run(("qemu-img", "create", "-q", "-f", "qcow2", *back, str(disk)), check=True)
            self.disks.append(f"format=qcow2,discard=unmap,file={disk}")
        if has_cabinet_file:
            self.write_cabinet_file()
        command = (sys.executable, "-I", "-m", "egm.app.bench", "--state", str(self.state.root))
        self._bench = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        self.until((self.state.run_folder / "bench.ready").exists)
        self.computer = None

    def write_cabinet_file(self):
        """Write this test's cabinet file to the first medium."""
        file, medium = Path(__file__).with_suffix(".toml"), self.folder / "medium"
        part = self._copy_first_medium(medium)
        for request in (f"write {file} cabinet.toml", *(f"sif cabinet.toml {x}id 780" for x in "ug")):
            _run("debugfs", "-w", "-R", request, str(medium))
        _run("qemu-img", "convert", "-n", "-f", "raw", "--target-image-opts", str(medium), part)
        medium.unlink()

    def _copy_first_medium(self, file):
        """Copy the first medium from the system disk into ``file``; return the partition in QEMU's image options."""
        disk, where = self.disks[0].split("file=")[1], builder.compute_partition_offsets()["egm-state-1"]
        length = builder.PARTITION_SIZE_MIB["egm-state-1"] << 20
        part = f"driver=raw,offset={where},size={length},file.driver=qcow2,file.file.filename={disk}"
        _run("qemu-img", "convert", "-O", "raw", "--image-opts", part, str(file))
        return part

    def move_first_medium(self):
        """Move the first medium to a disk of its own, so that it can be plugged in; return its file (raw)."""
        medium = self.folder / "first.img"
        self._copy_first_medium(medium)
        disk, where = self.disks[0].split("file=")[1], builder.compute_partition_offsets()["egm-state-1"]
        # Without its superblock the partition has no label: the new disk is the only first medium.
        _run("qemu-io", "-c", f"write -q -P 0 {where} 4096", "-f", "qcow2", disk)
        return medium

    def switch_on(self, *arguments):
        ports = {name: self.state.run_folder / "dev" / name for name in EMULATED_DEVICE_PORTS}
        self.computer = EmulatedComputer(self.folder, self.disks, ports, more_arguments=arguments)

    def switch_off(self):
        if self.computer is not None:
            self.computer.cut_power()
            self.computer = None

    def close(self):
        self.switch_off()
        self._bench.terminate()
        self._bench.wait()

    def command_device(self, device, action="state", **values):
        """Send a command to a simulated device; return the reply with the device's state."""

        async def ask():
            with open_socket_address(self.state.bench_socket) as address:
                reader, writer = await asyncio.open_unix_connection(address)
            writer.write(encode_message(Hello(token=self.state.bench_token.read_text())))
            await reader.readline()
            writer.write(encode_message(BenchCommand(device=device, action=action, values=values)))
            reply = decode_message(await reader.readline())
            writer.close()
            return reply

        reply = asyncio.run(ask())
        assert isinstance(reply, BenchReply)
        return reply

    def until(self, condition, condition_text="", every_s=0.5):
        end = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < end, f"never: {condition_text}"
            time.sleep(every_s)

    def picture(self, head=0):
        shown = self.folder / "now.png"
        shown.unlink(missing_ok=True)
        self.computer.run_qmp_command(
            "screendump", filename=str(shown), format="png", device="card", head=head
        )
        return Image.open(io.BytesIO(shown.read_bytes())).convert("RGB")

    def save_picture(self, name):
        """Save a picture of the display beside the disks, for inspection."""
        self.picture().save(self.folder / f"{name}.png")

    def plug_stick(self, file, **options):
        """Plug a USB stick into the computer, and give the computer time to detect it."""
        file_node = {"driver": "file", "filename": str(file), **options}
        self.computer.run_qmp_command(
            "blockdev-add", driver="raw", file=file_node, **{"node-name": "stick", **options}
        )
        self.computer.run_qmp_command(
            "device_add", driver="usb-storage", id="stick", bus="usb.0", drive="stick"
        )
        time.sleep(30)

    def press_keys(self, *names):
        """Press the named keys of the emulated keyboard together; the names are QEMU's."""
        self.computer.run_qmp_command("send-key", keys=[{"type": "qcode", "data": name} for name in names])

    def plug_medium(self, file, image_format):
        """Plug a disk with one of the two media into a USB port of the running computer."""
        file_node = {"driver": "file", "filename": str(file)}
        self.computer.run_qmp_command(
            "blockdev-add", driver=image_format, file=file_node, **{"node-name": "late"}
        )
        self.computer.run_qmp_command(
            "device_add", driver="usb-storage", id="late", bus="usb.0", drive="late"
        )

    def unplug_stick(self):
        """Unplug the USB stick, and wait until it is gone."""
        self.computer.run_qmp_command("device_del", id="stick")
        self.until(self._stick_is_out, "the stick is out")

    def _stick_is_out(self):
        try:
            self.computer.run_qmp_command("blockdev-del", **{"node-name": "stick"})
        except OperatorError:
            return False
        return True

    def count_colours(self, head=0):
        """Return the number of colours on a display: a few on a text console, thousands in a game."""
        return len(self.picture(head).getcolors(1 << 24))

    def is_up(self):
        board = self.command_device("io").state
        return "service" in board["lamps"] and not board["tower"]

    def wait_until_up(self):
        """Wait until the display shows a game and the machine has lit its button deck."""
        # (Taking a picture delays the emulated processors.)
        self.until(
            lambda: self.count_colours() > 20_000,
            "a picture of a game (the starting text has 8,000 colours)",
            every_s=5,
        )
        self.until(self.is_up, "lamps that the machine has lit, and no alarm")

    def insert_bill(self, cents):
        before = self.command_device("bill").state["stacked_cents"]
        self.until(
            lambda: self.command_device("bill", "insert", amount_cents=cents).ok, "the acceptor takes a bill"
        )
        self.until(
            lambda: self.command_device("bill").state["stacked_cents"] == before + cents,
            "the bill is in the box",
        )

    def list_tickets(self):
        return self.command_device("printer").state["printed"]

    def list_started_entries(self):
        """Return the names of the boot entries that the firmware has started, in order."""
        console_text = (self.folder / "console.log").read_bytes().decode(errors="replace")
        return [line.split('"')[1] for line in console_text.splitlines() if "BdsDxe: starting" in line]
