"""An emulated computer on disks that lose unflushed data, of which a part may fail.

The content of its media is read and audited on copies, outside the computer.
"""

import contextlib
import os
import shutil
import subprocess
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

from rigs.emulated_cabinet import PATIENCE_S, Cabinet
from rigs.losing_disk import LosingDisk

from egm.tickets.ledger_access import open_machine_ledger
from egm.tickets.model import TicketState
from meters import Journal
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor
from tools.image import image as builder
from tools.image.emulated import EMULATED_DEVICE_PORTS

BILL_CENTS = 500
_BLOCK_BYTES = 4096
#: Time of the entries that the audit itself records when it opens a copy; they are on no medium of the machine.
OF_THE_AUDIT = datetime(2100, 1, 1, tzinfo=UTC)


class Power:
    """The power of both disks, which can be cut at a given number of writes and flushes."""

    def __init__(self):
        self.disks, self.steps, self.cut_step, self.gone = [], 0, None, threading.Event()
        #: Snapshots of all disks before each step; None while none are taken.
        self.instants = None

    def step(self):
        self.steps += 1
        if self.instants is not None:
            self.instants.append([disk.take_snapshot() for disk in self.disks])
        if self.steps == self.cut_step:
            self.cut()

    def cut(self):
        for disk in self.disks:
            disk.cut_power()
        self.gone.set()

    def restore(self):
        self.steps, self.cut_step = 0, None
        self.gone.clear()
        return sum(disk.restore_power() for disk in self.disks)


class Disk(LosingDisk):
    """One of the two disks."""

    def __init__(self, power, *args):
        self.power = power
        super().__init__(*args)
        power.disks.append(self)

    def _write(self, offset, data):
        self.power.step()
        super()._write(offset, data)

    def _flush(self):
        self.power.step()
        super()._flush()


class Computer(Cabinet):
    """An emulated computer on two disks that lose unflushed data."""

    def __init__(self, folder, built, generator, *, has_cabinet_file=True):
        super().__init__(folder, built, has_cabinet_file=has_cabinet_file)
        self.power = Power()
        #: The hashes that the journal must still contain; the number of bills in the box from before the last restart.
        self.journal, self.earlier = [], 0
        bases = [folder / "first.base", folder / "second.base"]
        for qcow, base in zip(self.disks, bases, strict=True):
            image = qcow.split("file=")[1]
            _run("qemu-img", "convert", "-f", "qcow2", "-O", "raw", image, str(base))
        disks = [Disk(self.power, base.with_suffix(".nbd"), base, generator) for base in bases]
        self.disks = [f"driver=nbd,server.type=unix,server.path={disk.path}" for disk in disks]
        first = builder.compute_partition_offsets()["egm-state-1"]
        #: The disk of each medium and its offset there, by the file with the medium's first content.
        self.parts = {folder / "state.part": (disks[0], first), folder / "second.part": (disks[1], 0)}
        length = (
            "bs=1M",
            f"skip={first >> 20}",
            f"count={builder.PARTITION_SIZE_MIB['egm-state-1']}",
            "conv=sparse",
        )
        _run("dd", f"if={bases[0]}", f"of={folder / 'state.part'}", *length, "status=none")
        shutil.copyfile(bases[1], folder / "second.part")

    def switch_on(self, *arguments):
        """Switch on the computer and all devices."""
        for name in EMULATED_DEVICE_PORTS:
            self.command_device(name, "power_on")
        super().switch_on(*arguments)

    def cut_power(self):
        """Cut the power of the computer and all devices; return how many sectors were lost."""
        self.power.cut()
        self.switch_off()
        for name in EMULATED_DEVICE_PORTS:
            self.command_device(name, "power_off")
        for disk in self.power.disks:
            disk.fail_waiting_requests()
        return self.power.restore()

    def cut_power_at(self, instant):
        """Cut the power at the instant of a snapshot; return how many sectors were lost.

        The computer must be off; its next boot starts from that instant.
        """
        self.journal, self.earlier = [], len(self.command_device("bill").state["stacked"])
        for disk, then in zip(self.power.disks, instant, strict=True):
            disk.restore_snapshot(then)
        return self.power.restore()

    def close(self):
        super().close()
        for disk in self.power.disks:
            disk.close()

    def fail_medium(self, part):
        """Make every read and write of a medium fail from now on; the rest of its disk works."""
        disk, begin = self.parts[part]
        disk.bad_bytes = range(begin, begin + part.stat().st_size)

    def repair_media(self):
        """Make every medium readable again."""
        for disk in self.power.disks:
            disk.bad_bytes = range(0)

    def _mended(self, part):
        """Return a copy of a medium with its file system repaired from its journal, as the machine would do."""
        disk, begin = self.parts[part]
        copy = part.with_suffix(".copy")
        shutil.copyfile(part, copy)
        disk.copy_to(copy, begin)
        checked = subprocess.run(("e2fsck", "-y", str(copy)), check=False, capture_output=True)
        assert checked.returncode in {0, 1}, checked.stdout
        return copy

    @contextlib.contextmanager
    def medium_copy(self, part):
        """Yield a repaired copy of a medium to be changed, and write it back; the computer must be off."""
        disk, begin = self.parts[part]
        yield (copy := self._mended(part))
        disk.copy_from(copy, begin)
        copy.unlink()

    def run_on_medium(self, part, *command):
        """Run a command on the file system of a medium; the computer must be off."""
        with self.medium_copy(part) as copy:
            _run(*command, str(copy))

    def replace_bytes(self, part, file, old, new):
        """Replace bytes in a small file on a medium by as many others; the computer must be off."""
        with self.medium_copy(part) as copy:
            begin = int(_run("debugfs", "-R", f"bmap {file} 0", str(copy))) * _BLOCK_BYTES
            with copy.open("r+b") as stream:
                stream.seek(begin)
                offset = stream.read(_BLOCK_BYTES).index(old)
                stream.seek(begin + offset)
                stream.write(new)

    @contextlib.contextmanager
    def filled_medium(self, part):
        """Fill a medium, and free it again at the end; the computer must be off at both moments."""
        for work in (_fill, Path.unlink):
            with self.medium_copy(part) as copy:
                mount_point = part.with_suffix(".mounted")
                mount_point.mkdir(exist_ok=True)
                _run("mount", "-o", "loop,noatime", str(copy), str(mount_point))
                try:
                    work(mount_point / "filled")
                finally:
                    _run("umount", str(mount_point))
            if work is _fill:
                yield

    def insert_bill_and_play(self):
        """Insert a bill and press PLAY, without waiting for a result."""
        self.command_device("bill", "insert", amount_cents=BILL_CENTS)
        self.command_device("io", "press", button="play")

    def play_until_power_loss(self, seconds):
        """Start and play until the power is cut, or until this time is over."""
        end = time.monotonic() + min(seconds, PATIENCE_S)
        while not self.power.gone.wait(2) and time.monotonic() < end:
            if self.is_up():
                self.insert_bill_and_play()

    def boot_and_cash_out(self):
        """Boot, play and cash out everything by ticket; return the seconds and disk steps until it was up."""
        began = time.monotonic()
        self.switch_on()
        self.wait_until_up()
        took, steps = time.monotonic() - began, self.power.steps
        self.insert_bill(BILL_CENTS)
        self.command_device("io", "press", button="play")
        before = len(self.list_tickets())
        end = time.monotonic() + PATIENCE_S
        while len(self.list_tickets()) == before or not self.list_tickets()[-1]["barcode_complete"]:
            assert time.monotonic() < end, "never: a ticket for the credit"
            self.command_device("io", "press", button="cash_out")
            time.sleep(3)
        time.sleep(10)
        return took, steps

    @contextlib.contextmanager
    def mounted_media(self):
        """Mount repaired copies of both media; yield the folders of the first and the second copy."""
        with contextlib.ExitStack() as cleanup:
            places = []
            for part in self.parts:
                copy, mount_point = self._mended(part), part.with_suffix(".mounted")
                mount_point.mkdir(exist_ok=True)
                _run("mount", "-o", "loop,noatime", str(copy), str(mount_point))
                cleanup.callback(copy.unlink)
                cleanup.callback(_run, "umount", str(mount_point))
                places.append(mount_point)
            yield places[0], places[1] / "egm"

    def audit_media(self, *, is_settled=False):
        """Compare the media with the devices: nothing is lost or invented. ``is_settled``: nothing may be owed."""
        with (
            self.mounted_media() as (first, second),
            Journal.open(first, now=lambda: OF_THE_AUDIT, second_folder=second) as journal,
        ):
            journal.self_audit()
            assert Auditor(GameFiles(())).audit_entries(journal.iter_bodies()).findings == []
            entries = list(journal.entries())
            known = [entry.hash_hex for entry in entries if entry.time_utc != OF_THE_AUDIT]
            assert known[: len(self.journal)] == self.journal, (
                "the journal lacks entries of before the restart"
            )
            self.journal = known
            credited = [entry.record["amount_cents"] for entry in entries if entry.kind == "bill.in"]
            acceptor = self.command_device("bill").state
            # A bill past the point of return is credited before the acceptor is commanded to release it.
            inside = [acceptor["inside_cents"]] if acceptor["inside_cents"] and not is_settled else []
            taken = [*acceptor["stacked"][self.earlier :], *inside]
            assert credited == taken[: len(credited)], "a credit without its bill"
            assert len(taken) - len(credited) <= (0 if is_settled else 1), "more than one bill without credit"
            if is_settled:
                self._nothing_is_owed(journal, first, second)

    def _nothing_is_owed(self, journal, first, second):
        assert journal.credits_cents() == 0
        assert journal.list_pending() == []
        with open_machine_ledger(first, second_folder=second) as store:
            records = list(store.iter_records())
        issued = [record.ticket for record in records if record.state is TicketState.ISSUED]
        assert {record.state for record in records} <= {TicketState.ISSUED, TicketState.VOID}
        assert sum(record.amount_cents for record in issued) == journal.balance_cents("out:voucher:cashable")
        on_paper = {paper["barcode"] for paper in self.list_tickets() if paper["barcode_complete"]}
        assert {record.number for record in issued} <= on_paper, "a ticket is owed but not printed"


def _fill(file):
    """Write a file that fills its file system."""
    with file.open("wb") as stream:
        size, piece = 0, 1 << 28
        while piece >= _BLOCK_BYTES:
            try:
                os.posix_fallocate(stream.fileno(), size, piece)
                size += piece
            except OSError:
                piece //= 2


def _run(*command):
    result = subprocess.run(command, check=False, capture_output=True, text=True)
    assert result.returncode == 0, (command, result.stderr)
    return result.stdout
