"""Updates and checks of a running machine's slots: ``python -I -m tools.image.update COMMAND``, for the image's units.

``check`` verifies both slots, and that the first state medium is mounted, before the machine starts, and writes their
faults to the file that the machine reads; ``late`` waits for each state medium that was missing, mounts it and restarts
the machine.
``install`` writes a bundle into the slot that is not running, waits until nobody plays and nothing is owed,
and starts that slot for one boot (``BootNext``). ``good`` runs after each boot: once the machine and its
screen are up, it makes the running release the default; if they do not come up, it starts the other release.
If a release fails before ``good`` runs, the next boot starts the other release anyway.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import click

from egm.errors import OperatorError
from egm.kernel.events import State
from egm.kernel.messages import Snapshot
from egm.links.screen.client import ScreenClient
from egm.terminal import echo
from tools.image.slot import (
    Release,
    SlotError,
    SystemSlot,
    check_slot,
    install_release,
    read_bundle_release,
    read_slot_release,
    require_complete_bundle,
)

#: The names of the two slots.
SYSTEM_SLOT_NAMES: Final = ("a", "b")
#: The folder with the disk's partitions, by their labels.
_PARTITION_FOLDER: Final = Path("/dev/disk/by-partlabel")
#: The publisher's public key.
_PUBLISHER_KEY_FILE: Final = Path("/usr/share/open-egm/release.pub")
#: The mount point of the first state medium.
_STATE_FOLDER: Final = Path("/var/lib/open-egm")
#: The file in which the machine reads what is wrong with the computer.
_FAULTS_FILE: Final = Path("/run/open-egm/trouble")
#: The medium, by label, without which no memory can be opened, and its mount point.
_MOUNT_POINT_BY_STATE_LABEL: Final = {"egm-state-1": _STATE_FOLDER}
#: The medium of the second copy: without it the machine runs, out of service.
_SECOND_STATE_LABEL: Final = "egm-state-2"
#: The mount point of the second state medium.
_SECOND_MEDIUM_FOLDER: Final = Path("/media/second")
#: Seconds between two checks for a missing medium.
_MISSING_MEDIUM_CHECK_SECONDS: Final = 5.0
#: Seconds between two attempts to mount a medium that is present and cannot be mounted.
_MOUNT_RETRY_SECONDS: Final = 60.0
#: Seconds for which nobody must have played before the machine is restarted.
_IDLE_SECONDS_BEFORE_RESTART: Final = 30.0
#: Seconds for which a new release must be up before it is kept; a screen that crashes repeatedly is up for less.
_UP_SECONDS_BEFORE_KEPT: Final = 120.0
#: Seconds that a new release may take to come up.
_RELEASE_START_SECONDS_MAX: Final = 900.0
#: Seconds between two checks of a condition.
_CONDITION_CHECK_SECONDS: Final = 0.5
#: States in which a restart of the machine interrupts nobody.
_RESTARTABLE_STATES: Final = frozenset({State.IDLE, State.OUT_OF_SERVICE, State.DOOR_OPEN, State.TILT})
#: Seconds for which the machine must have been in one of ``_RESTARTABLE_STATES`` before it is restarted.
_RESTARTABLE_SECONDS: Final = 5.0


def find_slots() -> dict[str, SystemSlot]:
    """Return the system slots of this computer's disk by name; each holds one release of the software."""
    return {
        name: SystemSlot(_PARTITION_FOLDER / f"egm-esp-{name}", _PARTITION_FOLDER / f"egm-root-{name}")
        for name in SYSTEM_SLOT_NAMES
    }


def find_running_slot() -> str:
    """Return the name of the running slot. Raises SlotError if none is running."""
    mapped_device = Path("/dev/mapper/root").resolve().name
    backing_devices = {path.name for path in Path(f"/sys/block/{mapped_device}/slaves").glob("*")}
    for name, slot in find_slots().items():
        if slot.root.resolve().name in backing_devices:
            return name
    raise SlotError(
        f"/dev/mapper/{mapped_device}: it is on no slot, because this computer does not run from an image"
    )


# ------------------------------------------------------------------ before the machine starts
def find_slot_and_medium_faults(mount_point_by_label: Mapping[str, Path], public_key_hex: str) -> list[str]:
    """Return a line (code and detail) for each faulty system slot, and for each of the media that is not mounted.

    Also print what each slot contains.
    """
    faults = []
    for name, slot in find_slots().items():
        try:
            release = check_slot(slot, public_key_hex)
            text = "empty" if release is None else f"{release.version}, release {release.number}"
            echo(f"slot {name}: {text}")
        except (OperatorError, OSError) as error:
            faults.append(f"software_differs {error}")
    faults += [
        f"first_memory_missing {label}"
        for label, path in mount_point_by_label.items()
        if not _is_mounted(path)
    ]
    return faults


def _is_mounted(path: Path) -> bool:
    """Return whether a medium is mounted at the path and can be read."""
    try:
        return path.is_mount()
    except OSError:
        return False


# ------------------------------------------------------------------ what the machine says
@contextmanager
def _act_as_owner(folder: Path) -> Iterator[None]:
    """Run the ``with`` block with only the rights of the folder's owner, if this process is root's.

    A symbolic link that the owner has placed in the folder then gives no access to files of others.
    """
    if os.geteuid() != 0 or not folder.exists():  # before a first start there is no folder
        yield
        return
    owner = folder.stat()
    groups = os.getgroups()
    os.setgroups([])
    os.setegid(owner.st_gid)
    os.seteuid(owner.st_uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)


class ScreenWatch:
    """A read-only view of what the running machine's screens display, received through each position's socket."""

    def __init__(self, state_folder: Path) -> None:
        self._state_folder = state_folder
        self._clients: dict[Path, ScreenClient] = {}
        self._latest_snapshots: dict[Path, Snapshot] = {}

    def list_snapshots(self) -> list[Snapshot]:
        """Return the current snapshot (state and display data) of each position; omit positions without one."""
        with _act_as_owner(self._state_folder):
            return self._read_snapshots()

    def _read_snapshots(self) -> list[Snapshot]:
        """Receive new messages from each position's socket; return the latest snapshot of each position."""
        for path in (self._state_folder / "run").glob("screen*.sock"):
            if path not in self._clients:
                self._clients[path] = ScreenClient(path, path.with_suffix(".token"), is_onlooker=True)
        for path, client in self._clients.items():
            update = client.poll(time.monotonic())
            if update.has_link_been_lost:
                self._latest_snapshots.pop(path, None)
            for message in update.messages:
                if isinstance(message, Snapshot):
                    self._latest_snapshots[path] = message
        return list(self._latest_snapshots.values())

    @property
    def is_idle(self) -> bool:
        """Return whether every position is idle: no play, no credit or payment left, nothing that needs attention.

        The result is False if no position replies.
        """
        snapshots = self.list_snapshots()
        return bool(snapshots) and all(
            snapshot.journal_sequence > 0
            and snapshot.state == State.IDLE.value
            and not snapshot.credit_cents
            and not snapshot.tilts
            for snapshot in snapshots
        )

    @property
    def can_restart(self) -> bool:
        """Return whether the machine may be restarted: no game, payment or service is in progress.

        The result is True if no position replies.
        """
        return all(snapshot.state in _RESTARTABLE_STATES for snapshot in self.list_snapshots())

    @property
    def is_up(self) -> bool:
        """Return whether a position replies, and the machine behind each reply has opened its memory.

        Without its memory, a machine cannot play.
        """
        snapshots = self.list_snapshots()
        return bool(snapshots) and all(snapshot.journal_sequence > 0 for snapshot in snapshots)


def wait_until_lasting(
    condition: Callable[[], bool], seconds: float, limit_seconds: float | None = None
) -> bool:
    """Wait until ``condition`` has been true for ``seconds`` without interruption; return True.

    Return False if this has not happened after ``limit_seconds`` seconds; None means no limit.
    """
    started_seconds = true_since_seconds = time.monotonic()
    while (now_seconds := time.monotonic()) - true_since_seconds < seconds:
        if not condition():
            true_since_seconds = now_seconds
        if limit_seconds is not None and now_seconds - started_seconds > limit_seconds:
            return False
        time.sleep(_CONDITION_CHECK_SECONDS)
    return True


def install_in_other_slot(bundle_file: Path, public_key_hex: str) -> tuple[str, Release]:
    """Install the bundle at ``bundle_file`` in the slot that is not running; return slot and release.

    Raises SlotError.
    """
    running_slot = find_running_slot()
    (other_slot,) = set(SYSTEM_SLOT_NAMES) - {running_slot}
    with bundle_file.open("rb") as bundle:
        release = read_bundle_release(
            bundle,
            public_key_hex,
            read_slot_release(find_slots()[running_slot], public_key_hex).number,
            str(bundle_file),
        )
        require_complete_bundle(bundle, release, str(bundle_file))
        try:
            install_release(bundle, release, find_slots()[other_slot], str(bundle_file))
        except (SlotError, OSError) as error:
            raise SlotError(
                f"{error}; slot {other_slot} is empty now, so there is no release to fall back to"
            ) from error
    return other_slot, release


# ------------------------------------------------------------------ what the firmware starts
def _run_efibootmgr(*arguments: str) -> str:
    """Return the output of efibootmgr. Raises CalledProcessError if it fails."""
    return subprocess.run(("efibootmgr", *arguments), check=True, capture_output=True, text=True).stdout


def ensure_boot_entries() -> dict[str, str]:
    """Return the firmware's boot entry number of each slot; missing entries are created."""
    for name, slot in find_slots().items():
        if f"open-egm {name}" not in _run_efibootmgr():
            partition = slot.esp.resolve()
            disk, partition_number = re.fullmatch(r"(.*?)p?(\d+)", str(partition)).groups()  # type: ignore[union-attr]
            _run_efibootmgr(
                "-q",
                "-C",
                "-d",
                disk,
                "-p",
                partition_number,
                "-L",
                f"open-egm {name}",
                "-l",
                r"\EFI\BOOT\BOOTX64.EFI",
            )
    entries = re.findall(r"^Boot([0-9A-F]{4})\*? open-egm ([ab])\b", _run_efibootmgr(), re.MULTILINE)
    return {name: number for number, name in entries}


def find_first_slot(efibootmgr_output: str, boot_number_by_slot: Mapping[str, str]) -> str | None:
    """Return the slot that comes first in the boot order of efibootmgr's output, or None if no slot is in it.

    ``boot_number_by_slot`` has the boot entry number of each slot.
    """
    boot_order_match = re.search(r"^BootOrder: (\S+)", efibootmgr_output, re.MULTILINE)
    slot_by_boot_number = {number: name for name, number in boot_number_by_slot.items()}
    return next(
        (
            slot_by_boot_number[boot_number]
            for boot_number in (boot_order_match[1].split(",") if boot_order_match else ())
            if boot_number in slot_by_boot_number
        ),
        None,
    )


def set_first_slot(name: str) -> None:
    """Set the firmware's boot order: this system slot first, then the other one."""
    boot_number_by_slot = ensure_boot_entries()
    (other_slot,) = set(SYSTEM_SLOT_NAMES) - {name}
    _run_efibootmgr("-q", "-o", f"{boot_number_by_slot[name]},{boot_number_by_slot[other_slot]}")


def _reboot_computer() -> None:
    """Restart the computer (reboot)."""
    subprocess.run(("systemctl", "--no-block", "reboot"), check=True)


def _is_screen_up() -> bool:
    """Return whether the systemd unit of the screen is running."""
    return subprocess.run(("systemctl", "is-active", "-q", "open-egm-screen"), check=False).returncode == 0


@click.group()
def main() -> None:
    """Manage this computer's two system slots; each holds one release of the software."""


@main.command("check")
def check_command() -> None:
    """Check the system slots and the first state medium, and write their faults to the file that the machine reads."""
    _write_faults()


def _write_faults() -> None:
    """Write the faults of the system slots and the first state medium to the file that the machine reads."""
    faults = find_slot_and_medium_faults(
        _MOUNT_POINT_BY_STATE_LABEL, _PUBLISHER_KEY_FILE.read_text("ascii").strip()
    )
    _FAULTS_FILE.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    _FAULTS_FILE.write_text("".join(f"{line}\n" for line in faults), encoding="utf-8")
    for line in faults:
        echo(line, err=True)


@main.command("late")
def mount_late_media_command() -> None:
    """Wait for each storage medium that was missing at the start, mount it, and start or restart the machine."""
    label_folder, screen_watch = Path("/dev/disk/by-label"), ScreenWatch(_STATE_FOLDER)
    wait_for_media(_MOUNT_POINT_BY_STATE_LABEL, label_folder, _write_faults)
    wait_for_second_medium(
        label_folder / _SECOND_STATE_LABEL,
        _SECOND_MEDIUM_FOLDER,
        lambda: wait_until_lasting(lambda: screen_watch.can_restart, _RESTARTABLE_SECONDS),
    )


def wait_for_media(
    mount_point_by_label: Mapping[str, Path], label_folder: Path, update_faults: Callable[[], None]
) -> None:
    """Wait until each of these media is mounted; if one was late, call ``update_faults``.

    A running machine does not see a medium that is mounted over its folder later. So the machine is stopped before
    the mount, and started again afterwards.
    """
    late_mount_point_by_label = {
        label: path for label, path in mount_point_by_label.items() if not _is_mounted(path)
    }
    for label, path in late_mount_point_by_label.items():
        while True:
            while not (label_folder / label).exists():
                time.sleep(_MISSING_MEDIUM_CHECK_SECONDS)
            unit, run_unit = _find_mount_unit(path), _find_mount_unit(path / "run")
            _run_systemctl("stop", "open-egm-machine.service", "open-egm-screen.service", run_unit)
            _run_systemctl("start", unit, run_unit)
            if _is_mounted(path):
                break
            # the medium cannot be mounted yet; until it can, the screen shows the fault
            _run_systemctl("start", "open-egm.target")
            time.sleep(_MOUNT_RETRY_SECONDS)
    if late_mount_point_by_label:
        subprocess.run(("systemd-tmpfiles", "--create", "open-egm.conf"), check=False)
        update_faults()
        _run_systemctl("start", "open-egm.target")


def wait_for_second_medium(
    device: Path, path: Path, wait_until_restart_is_allowed: Callable[[], object]
) -> None:
    """Wait until the second medium is mounted; if it was late, restart the machine.

    ``wait_until_restart_is_allowed`` returns when the machine may be restarted. A running machine does not see media
    mounted after its start, because its unit has a mount namespace.
    """
    if _is_mounted(path):
        return
    while not device.exists():
        time.sleep(_MISSING_MEDIUM_CHECK_SECONDS)
    while True:
        _run_systemctl("start", _find_mount_unit(path))
        if _is_mounted(path):
            break
        time.sleep(_MOUNT_RETRY_SECONDS)
    wait_until_restart_is_allowed()
    _run_systemctl("restart", "open-egm-machine.service")


def _find_mount_unit(path: Path) -> str:
    """Return the name of the systemd unit that mounts this folder."""
    return str(path).strip("/").replace("-", "\\x2d").replace("/", "-") + ".mount"


def _run_systemctl(*arguments: str) -> None:
    """Run a systemctl command; its failure is ignored."""
    subprocess.run(("systemctl", *arguments), check=False)


@main.command("install")
@click.argument("path", type=click.Path(path_type=Path))
def install_command(path: Path) -> None:
    """Install the update bundle at PATH in the system slot that is not running, and start it when nobody plays."""
    try:
        name, release = install_in_other_slot(path, _PUBLISHER_KEY_FILE.read_text("ascii").strip())
    except (SlotError, OSError) as error:
        raise click.ClickException(f"refused: {error}") from error
    echo(
        f"{release.version}, release {release.number}: installed in slot {name}; waiting for an idle machine"
    )
    screen_watch = ScreenWatch(_STATE_FOLDER)
    wait_until_lasting(lambda: screen_watch.is_idle, _IDLE_SECONDS_BEFORE_RESTART)
    set_first_slot(find_running_slot())  # the fallback, also if the firmware still has another boot order
    _run_efibootmgr("-q", "-n", ensure_boot_entries()[name])
    echo(f"slot {name} starts once, and becomes the default if it comes up")
    _reboot_computer()


@main.command("good")
def keep_or_revert_release_command() -> None:
    """Make the running release the default once it is up; if it does not come up, start the other release, if any."""
    screen_watch, running_slot = ScreenWatch(_STATE_FOLDER), find_running_slot()
    has_previous = find_first_slot(_run_efibootmgr(), ensure_boot_entries()) not in {running_slot, None}
    if wait_until_lasting(
        lambda: screen_watch.is_up and _is_screen_up(),
        _UP_SECONDS_BEFORE_KEPT,
        limit_seconds=_RELEASE_START_SECONDS_MAX if has_previous else None,
    ):
        set_first_slot(running_slot)
        echo(f"slot {running_slot} is up, and is the default from now on")
        return
    echo(f"slot {running_slot} did not come up in {_RELEASE_START_SECONDS_MAX:.0f} s", err=True)
    _reboot_computer()


if __name__ == "__main__":
    main()
    sys.exit(0)
