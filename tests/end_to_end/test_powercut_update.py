"""Power cuts at random steps of an update, on disks that lose, tear and reorder unflushed data.

Afterwards the slot is empty, or contains the complete old or new release. ``--kills N`` sets the number of cuts.
"""

import random
import subprocess
import threading
import time

import pytest
from powercut_rig import list_missing_requirements
from rigs.losing_disk import LosingDisk

from egm.verify.manifest import create_signing_key, format_public_key, read_signing_key
from tools.image import slot

KEY = read_signing_key(create_signing_key(), "key")
PUBLIC = format_public_key(KEY)
SIZES = {"esp": 300_000, "root": 1_500_000}
#: Cuts for each one of ``--kills``: an update takes a second, a run of the machine ten.
CUTS_EACH = 4
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(
        bool(list_missing_requirements()),
        reason=f"needs root, FUSE and loop devices; missing: {list_missing_requirements()}",
    ),
]


class Power:
    """The power of both partitions, which is cut after a given number of writes and flushes."""

    def __init__(self):
        self.steps, self.left, self.gone = 0, None, threading.Event()

    def step(self):
        self.steps += 1
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                self.gone.set()


class Partition(LosingDisk):
    """A partition as a file of this computer, on a disk that loses unflushed data."""

    def __init__(self, folder, name, power, generator, *, ignores_flushes=False):
        base = folder / f"{name}.base"
        base.write_bytes(bytes(-(-(SIZES[name] + 2 * slot.RELEASE_SIZE_BYTES) // 4096) * 4096))
        self.power, self.file = power, folder / f"{name}.part"
        super().__init__(folder / f"{name}.nbd", base, generator, ignores_flushes=ignores_flushes)

    def _write(self, offset, data):
        self.power.step()
        if not self.power.gone.is_set():
            super()._write(offset, data)

    def _flush(self):
        self.power.step()
        if not self.power.gone.is_set():
            super()._flush()

    def plug(self):
        self.file.touch()
        where = f"driver=nbd,node-name=d,server.type=unix,server.path={self.path}"
        export = f"type=fuse,id=e,node-name=d,mountpoint={self.file},writable=on"
        self._daemon = subprocess.Popen(("qemu-storage-daemon", "--blockdev", where, "--export", export))
        while self.file.stat().st_size == 0:
            assert self._daemon.poll() is None
            time.sleep(0.002)

    def pull(self):
        self.fail_waiting_requests()
        self._daemon.kill()
        self._daemon.wait()

    def put_away(self):
        """Unmount the file; nobody may have it open, because this process itself answers its requests."""
        subprocess.run(("umount", "-l", str(self.file)), check=False, capture_output=True)


class Update:
    """A slot with release 6, and bundles of releases 6 and 7."""

    def __init__(self, folder, *, ignores_flushes=False):
        self.generator, self.power, self.bundles = random.Random(20261123), Power(), {}
        for number in (6, 7):
            parts = {name: folder / f"{name}-{number}" for name in SIZES}
            for name, path in parts.items():
                path.write_bytes(random.Random(number).randbytes(SIZES[name]))
            self.bundles[number] = folder / f"bundle-{number}"
            slot.write_bundle(slot.sign_release(number, "1.0", parts, KEY), parts, self.bundles[number])
        self.disks = {
            name: Partition(folder, name, self.power, self.generator, ignores_flushes=ignores_flushes)
            for name in SIZES
        }
        self.slot = slot.SystemSlot(self.disks["esp"].file, self.disks["root"].file)

    def install(self, number):
        with self.bundles[number].open("rb") as bundle:
            slot.install_release(
                bundle, slot.read_bundle_release(bundle, PUBLIC, 1, "stick"), self.slot, "stick"
            )

    def cut(self, number, step, survival=None):
        """Install a release until the power is cut at this step; return the release in the slot afterwards."""
        for disk in self.disks.values():
            disk.plug()
        self.power.left = step

        def work():
            try:
                self.install(number)
            except (OSError, slot.SlotError):
                return

        at_work = threading.Thread(target=work)
        at_work.start()
        while at_work.is_alive() and not self.power.gone.is_set():
            self.power.gone.wait(0.01)
        self.power.gone.set()
        for disk in self.disks.values():
            disk.cut_power()
        for disk in self.disks.values():
            disk.pull()
        at_work.join()
        self.power.left = None
        for disk in self.disks.values():
            disk.put_away()
        self.power.gone.clear()
        for disk in self.disks.values():
            disk.restore_power(survival)
        return self.read_slot_content()

    def read_slot_content(self):
        """Return the number of the release in the slot, or None if it is empty. Raises SlotError."""
        for disk in self.disks.values():
            disk.plug()
        try:
            release = slot.check_slot(self.slot, PUBLIC)
            return None if release is None else release.number
        finally:
            for disk in self.disks.values():
                disk.pull()
                disk.put_away()
                disk.restore_power(1.0)

    def steps(self, number):
        """Return the number of steps of an uninterrupted update."""
        before = self.power.steps
        assert self.cut(number, 1 << 30, 1.0) == number
        return self.power.steps - before

    def close(self):
        for disk in self.disks.values():
            disk.close()


@pytest.fixture
def fine(monkeypatch):
    """Small blocks, so that an update has many steps at which the power can be cut."""
    monkeypatch.setattr(slot, "_COPY_BLOCK_SIZE_BYTES", 1 << 14)


@pytest.mark.requirement("A-17")
def test_a_slot_is_complete_or_empty_after_any_power_cut(tmp_path, request, fine):
    """Each cut takes about a second."""
    update, found = Update(tmp_path), {6: 0, 7: 0, None: 0}
    try:
        steps = update.steps(6)
        for number in range(CUTS_EACH * request.config.getoption("--kills")):
            ends = number % 4 == 0  # the first and the last steps decide: they have a quarter of the cuts
            last = update.generator.randrange(8)
            cut_step = (
                update.generator.choice((last, steps - 1 - last))
                if ends
                else update.generator.randrange(steps)
            )
            slot_content = update.cut(7, cut_step)
            found[slot_content] += 1
            if slot_content != 6:
                assert update.cut(6, 1 << 30, 1.0) == 6
    finally:
        update.close()
    print(f" [{sum(found.values())} cuts at {steps} steps: {found}]")
    assert found[None]


def test_a_disk_that_reports_false_syncs_leaves_a_partial_slot_that_is_detected(tmp_path, fine):
    """The negative control: the slot has the last sector, but not all sectors before it."""
    update = Update(tmp_path, ignores_flushes=True)
    try:
        steps = update.steps(6)
        with pytest.raises(slot.SlotError, match=r"differs from release|does not contain a release"):
            [update.cut(7, steps, 0.5) for _ in range(50)]
    finally:
        update.close()
