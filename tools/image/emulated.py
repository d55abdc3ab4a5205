"""An emulated computer on which a machine's image starts: ``make image-boot``, and the tests of the image.

QEMU with UEFI firmware; the serial ports lead to simulated devices (:mod:`egm.app.bench`), as they would to
real ones. The emulation does not use the virtualisation of the host's processor, and so is about twenty times
slower than with it. It cannot simulate the ninth bit or the timing of a serial line, a firmware that verifies what it
starts, or a real display.
"""

import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, TextIO

import click

from egm.errors import OperatorError
from egm.terminal import echo
from egm.unix_sockets import open_socket_address
from tools.image import deb
from tools.image.image import IMAGE_CONTENT

#: The UEFI firmware.
_FIRMWARE_FILE: Final = Path("/usr/share/OVMF/OVMF_CODE_4M.fd")
#: The firmware's initial variables.
_FIRMWARE_VARIABLES_FILE: Final = Path("/usr/share/OVMF/OVMF_VARS_4M.fd")
#: The USB serial adapters, as named in qemu/etc/open-egm/cabinet.toml. The name of each is also its serial number.
#: With PCI serial cards, this firmware would treat data from a device as key presses in its setup menu.
EMULATED_DEVICE_PORTS: Final = ("bill", "printer", "coin", "hopper", "io")

#: QEMU's options for the hardware of the emulated computer, the same for every image.
_HARDWARE_OPTIONS: Final = (
    *("-machine", "q35,smm=off"),
    *("-accel", "tcg"),
    *("-cpu", "max"),
    *("-smp", "2"),
    *("-m", "1536"),
    "-nodefaults",
    "-no-user-config",
    *("-device", "virtio-gpu-pci,id=card,max_outputs=2"),
    *("-device", "qemu-xhci,id=usb"),
    *("-device", "usb-tablet"),
    *("-device", "virtio-rng-pci"),
    *("-device", "i6300esb"),
    *("-action", "watchdog=reset"),
    *("-device", "virtio-serial-pci"),
)


class EmulatedComputer:
    """One running emulated computer; ``folder`` holds its firmware's variables and its control sockets."""

    def __init__(
        self,
        folder: Path,
        disks: Sequence[str],
        terminal_by_port: Mapping[str, Path],
        *,
        display: str = "none",
        more_arguments: Sequence[str] = (),
    ) -> None:
        """Start the emulated computer.

        ``disks`` are the system disk, then the second medium, in QEMU's syntax. ``terminal_by_port`` has
        the pseudo-terminal of the simulated device at each serial port. Raises OperatorError if QEMU is
        missing.
        """
        self.events: list[tuple[int, str]] = []
        """Time (UTC, seconds) and name of each QMP event received so far, in order: RESET, WATCHDOG ..."""
        variables = folder / "firmware"
        if not variables.exists():
            shutil.copyfile(_FIRMWARE_VARIABLES_FILE, variables)
        self._folder = folder
        self._socket = folder / "qmp"
        self._socket.unlink(missing_ok=True)
        command = ["qemu-system-x86_64", *_HARDWARE_OPTIONS, "-display", display]
        # QEMU inherits a descriptor of the folder, because the path of a socket may be too long for its address.
        folder_descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
        sockets = f"/proc/self/fd/{folder_descriptor}"
        command += ["-vnc", f"unix:{sockets}/second,display=card,head=1"]
        command += ["-drive", f"if=pflash,format=raw,readonly=on,file={_FIRMWARE_FILE}"]
        command += ["-drive", f"if=pflash,format=raw,file={variables}"]
        command += ["-qmp", f"unix:{sockets}/{self._socket.name},server=on,wait=off"]
        command += ["-chardev", f"socket,id=debug,path={sockets}/debug,server=on,wait=off"]
        command += ["-device", "virtconsole,chardev=debug"]
        command += ["-chardev", f"file,id=console,path={folder / 'console.log'}"]
        command += ["-device", "isa-serial,chardev=console"]
        for i, disk in enumerate(disks):
            command += ["-drive", f"if=none,id=disk{i},{disk}"]
            command += ["-device", f"virtio-blk-pci,drive=disk{i}"]
        for name, terminal in terminal_by_port.items():
            command += ["-chardev", f"serial,id={name},path={terminal}"]
            command += ["-device", f"usb-serial,chardev={name},serial={name}"]
        self._log = (folder / "qemu.log").open("wb")
        try:
            self.process = subprocess.Popen(
                (*command, *more_arguments),
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=subprocess.STDOUT,
                pass_fds=(folder_descriptor,),
            )
        except FileNotFoundError as error:
            raise OperatorError(
                "qemu-system-x86_64: is not installed on this computer (Debian packages: qemu-system-x86, ovmf)"
            ) from error
        finally:
            os.close(folder_descriptor)
        self._qmp = self._connect(folder / "qemu.log")
        self.run_qmp_command("qmp_capabilities")

    def _connect(self, log: Path) -> TextIO:
        """Connect to QEMU's control socket within a minute. Raises OperatorError with QEMU's log."""
        end = time.monotonic() + 60
        while True:
            connection = socket.socket(socket.AF_UNIX)
            try:
                with open_socket_address(self._socket) as address:
                    connection.connect(address)
            except OSError:
                connection.close()
                if self.process.poll() is not None or time.monotonic() > end:
                    raise OperatorError(f"QEMU: {log.read_text(errors='replace').strip()}") from None
                time.sleep(0.1)
            else:
                stream = connection.makefile("rw", encoding="utf-8")
                connection.close()  # the stream owns it now
                stream.readline()
                return stream

    def run_qmp_command(self, command: str, **arguments: object) -> object:
        """Run one QMP command and return its result. Raises OperatorError if QEMU refuses it."""
        self._qmp.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self._qmp.flush()
        while True:
            reply = json.loads(self._qmp.readline() or '{"error": "gone"}')
            if "error" in reply:
                raise OperatorError(f"QEMU: {command}: {reply['error']}")
            if "return" in reply:
                return reply["return"]
            self.events.append((reply["timestamp"]["seconds"], reply["event"]))

    def plug_second_display(self, width: int, height: int) -> None:
        """Connect a second display of this size in dots to the emulated computer; zero disconnects it.

        QEMU accepts this from a VNC client (RFC 6143 and its extension for the desktop size).
        """
        with socket.socket(socket.AF_UNIX) as connection, connection.makefile("rb") as stream:
            connection.settimeout(60)
            with open_socket_address(self._folder / "second") as address:
                connection.connect(address)
            connection.sendall(stream.read(12))  # reply with the server's own version
            stream.read(*stream.read(1))  # the security types, one of which must be "None"
            connection.sendall(b"\x01")
            stream.read(4)
            connection.sendall(b"\x01")
            stream.read(20)
            stream.read(int.from_bytes(stream.read(4), "big"))
            connection.sendall(struct.pack(">BxHi", 2, 1, -308))  # declare support for desktop sizes
            connection.sendall(struct.pack(">BxHHBxI4HI", 251, width, height, 1, 0, 0, 0, width, height, 0))
            connection.shutdown(socket.SHUT_WR)
            stream.read()

    def touch(self, x: float, y: float) -> None:
        """Touch the emulated computer's display at a point given as shares of its width and height."""
        moves: list[dict[str, object]] = [
            {"type": "abs", "data": {"axis": axis, "value": round(share * 32767)}}
            for axis, share in (("x", x), ("y", y))
        ]
        for event in (
            moves,
            [_build_mouse_button_event(is_pressed=True)],
            [_build_mouse_button_event(is_pressed=False)],
        ):
            self.run_qmp_command("input-send-event", events=event)
            time.sleep(0.3)

    def cut_power(self) -> None:
        """Cut the power of the emulated computer."""
        self.process.kill()
        self.process.wait()
        self._qmp.close()
        self._log.close()


def _build_mouse_button_event(*, is_pressed: bool) -> dict[str, object]:
    """Return the QMP event of pressing or releasing the button of the touch screen."""
    return {"type": "btn", "data": {"button": "left", "down": is_pressed}}


@click.command()
@click.argument(
    "image", type=click.Path(exists=True, file_okay=False, path_type=Path), default=Path("build/image")
)
@click.option(
    "--display",
    help="QEMU's display: gtk, none, vnc=127.0.0.1:0 ... (default: a window, or VNC without a display).",
)
@click.option(
    "--state",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="State folder of a running bench (python -m egm.app.bench), to whose devices the serial ports are connected.",
)
def main(image: Path, display: str | None, state: Path | None) -> None:
    """Start the image in the folder IMAGE on an emulated computer; its disks keep all changes."""
    terminal_by_port = (
        {} if state is None else {name: state / "run/dev" / name for name in EMULATED_DEVICE_PORTS}
    )
    disks = [f"format=raw,file={image / name}" for name in ("open-egm.img", "second.img")]
    with tempfile.TemporaryDirectory() as scratch:
        has_window_system = "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ
        try:
            deb.install_missing_packages(IMAGE_CONTENT["emulator"])
            display_option = display or ("gtk" if has_window_system else "vnc=127.0.0.1:0")
            computer = EmulatedComputer(Path(scratch), disks, terminal_by_port, display=display_option)
        except OperatorError as error:
            raise click.ClickException(str(error)) from error
        display_text = f"; {display_option}" if display_option.startswith("vnc") else ""
        echo(f"it is running{display_text}; the first picture takes a minute or more")
        try:
            computer.process.wait()
        except KeyboardInterrupt:
            computer.cut_power()


if __name__ == "__main__":
    main()
