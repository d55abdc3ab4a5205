"""Play on a machine whose two media lose power together with it: real files on two disks that lose unsynced data.

Each medium is an ext4 file system of this kernel, on a loop device, on a disk that loses unflushed data
(:class:`losing_disk.LosingDisk`). The rig needs root, FUSE and ``qemu-storage-daemon``.
"""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

from kill_rig import CABINET, Rig
from rigs.losing_disk import LosingDisk

_MIB = 1 << 20


def list_missing_requirements() -> list[str]:
    """Return the programs, devices and rights that this computer lacks for the rig."""
    tools = [name for name in ("qemu-storage-daemon", "losetup", "mkfs.ext4") if shutil.which(name) is None]
    devices = [name for name in ("/dev/fuse", "/dev/loop-control") if not os.access(name, os.W_OK)]
    return [*tools, *devices, *(() if os.geteuid() == 0 else ("root",))]


class Medium:
    """A file system on a disk that loses unflushed data, mounted at ``mount_point``."""

    def __init__(
        self,
        mount_point: Path,
        work: Path,
        generator: random.Random,
        *,
        ignores_flushes: bool = False,
        mib: int = 96,
    ) -> None:
        self.mount_point, self._file = mount_point, work / f"{mount_point.name}.block"
        mount_point.mkdir(parents=True, exist_ok=True)
        base = work / f"{mount_point.name}.img"
        with base.open("wb") as stream:
            stream.truncate(mib * _MIB)
        _run("mkfs.ext4", "-q", "-F", "-m", "0", str(base))
        self.disk = LosingDisk(
            work / f"{mount_point.name}.nbd", base, generator, ignores_flushes=ignores_flushes
        )
        self._loop, self.repairs = "", 0

    def mount(self) -> None:
        self._file.touch()
        where = f"driver=nbd,node-name=d,server.type=unix,server.path={self.disk.path}"
        export = f"type=fuse,id=e,node-name=d,mountpoint={self._file},writable=on"
        self._daemon = subprocess.Popen(("qemu-storage-daemon", "--blockdev", where, "--export", export))
        while self._file.stat().st_size == 0:
            assert self._daemon.poll() is None
            time.sleep(0.002)
        self._loop = _run("losetup", "-f", "--show", str(self._file)).strip()
        # As the image does before it mounts (fsck.repair=yes): half a superblock may have been written.
        checked = subprocess.run(("e2fsck", "-y", self._loop), check=False, capture_output=True, text=True)
        assert checked.returncode in {0, 1}, checked.stdout
        self.repairs += checked.returncode
        _run("mount", "-t", "ext4", "-o", "noatime,errors=remount-ro", self._loop, str(self.mount_point))
        self.mount_point.chmod(0o700)  # the machine refuses a folder that others may read

    def unmount(self) -> None:
        """Unmount the file system of a disk without power; no more data reaches the disk."""
        for command in (("umount", "-l", str(self.mount_point)), ("losetup", "-d", self._loop)):
            subprocess.run(command, check=False, capture_output=True)
        self._daemon.kill()
        self._daemon.wait()
        subprocess.run(("umount", "-l", str(self._file)), check=False, capture_output=True)

    def close(self) -> None:
        """Write all data and unmount the file system."""
        subprocess.run(("umount", str(self.mount_point)), check=False, capture_output=True)
        self.unmount()
        self.disk.close()


class PowerRig(Rig):
    """The rig of the killed machine, with media that lose power at the same instant."""

    def __init__(self, root: Path, seed: int, *, ignores_flushes: bool = False) -> None:
        state, second = root / "state", root / "second"
        generator = random.Random(seed + 1)
        self.media = [
            Medium(mount_point, root, generator, ignores_flushes=ignores_flushes)
            for mount_point in (state, second)
        ]
        self.second, self.survival, self.sectors_lost = second / "egm", None, 0
        self._outside = root / "outside"  # sockets and devices are no files of the machine
        for name in ("run", "bench"):
            (self._outside / name).mkdir(parents=True, mode=0o700)
        self._mount()
        super().__init__(root, seed)
        self.cabinet.write_text(f'{CABINET}\n[memory]\nsecond_copy = "{self.second}"\n')

    def _mount(self) -> None:
        for medium in self.media:
            medium.mount()
        for name in ("run", "bench"):
            (self.media[0].mount_point / name).mkdir(mode=0o700, exist_ok=True)
            _run("mount", "--bind", str(self._outside / name), str(self.media[0].mount_point / name))

    def _end(self, pid: int) -> None:
        """Cut the power of the media first, so that no machine acknowledges data written to a disk without power."""
        for medium in self.media:
            medium.disk.cut_power()
        os.kill(pid, signal.SIGKILL)
        for medium in self.media:
            medium.disk.fail_waiting_requests()

    def _prepare_next_run(self) -> None:
        self._unbind()
        for medium in self.media:
            medium.unmount()
            self.sectors_lost += medium.disk.restore_power(self.survival)
        self._mount()

    def _unbind(self) -> None:
        for name in ("run", "bench"):
            subprocess.run(
                ("umount", "-l", str(self.media[0].mount_point / name)), check=False, capture_output=True
            )

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._unbind()
        for medium in self.media:
            medium.close()


def _run(*command: str) -> str:
    result = subprocess.run(command, check=False, capture_output=True, text=True)
    assert result.returncode == 0, (command, result.stderr)
    return result.stdout
