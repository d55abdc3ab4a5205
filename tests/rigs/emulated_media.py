"""An image's computer on disks of the rig: they forget what was not flushed, and a part of one may die.

What is on its media is read from outside and audited there, on copies.
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
#: What opening a copy records about what had to be mended is on no medium of the machine's.
OF_THE_AUDIT = datetime(2100, 1, 1, tzinfo=UTC)


class Power:
    """What both disks hang on; it goes by itself after so many of their writes and flushes."""

    def __init__(self):
        self.disks, self.steps, self.cut_step, self.gone = [], 0, None, threading.Event()
        #: What all disks held before each step, while a list stands here.
        self.instants = None

    def step(self):
        self.steps += 1
        if self.instants is not None:
            self.instants.append([disk.now() for disk in self.disks])
        if self.steps == self.cut_step:
            self.off()

    def off(self):
        for disk in self.disks:
            disk.off()
        self.gone.set()

    def on(self):
        self.steps, self.cut_step = 0, None
        self.gone.clear()
        return sum(disk.on() for disk in self.disks)


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
    """The image on disks that forget."""

    def __init__(self, folder, built, chance, *, answered=True):
        super().__init__(folder, built, answered=answered)
        self.power = Power()
        #: What its journal must still hold; how many bills in the box are of other lives than this.
        self.journal, self.earlier = [], 0
        bases = [folder / "first.base", folder / "second.base"]
        for qcow, base in zip(self.disks, bases, strict=True):
            image = qcow.split("file=")[1]
            _run("qemu-img", "convert", "-f", "qcow2", "-O", "raw", image, str(base))
        disks = [Disk(self.power, base.with_suffix(".nbd"), base, chance) for base in bases]
        self.disks = [f"driver=nbd,server.type=unix,server.path={disk.path}" for disk in disks]
        first = builder.compute_partition_offsets()["egm-state-1"]
        #: What is on each medium, as a file: whose disk it is on, and where.
        self.parts = {folder / "state.part": (disks[0], first), folder / "second.part": (disks[1], 0)}
        length = (
            "bs=1M",
            f"skip={first >> 20}",
            f"count={builder.PARTITION_SIZE_MIB['egm-state-1']}",
            "conv=sparse",
        )
        _run("dd", f"if={bases[0]}", f"of={folder / 'state.part'}", *length, "status=none")
        shutil.copyfile(bases[1], folder / "second.part")

    def on(self, *arguments):
        """The plug is back, and with it the power of every device."""
        for name in EMULATED_DEVICE_PORTS:
            self.hand(name, "power_on")
        super().on(*arguments)

    def cut(self):
        """The plug of the whole cabinet: its devices stand still where they are; how many sectors were lost."""
        self.power.off()
        self.off()
        for name in EMULATED_DEVICE_PORTS:
            self.hand(name, "power_off")
        for disk in self.power.disks:
            disk.refuse()
        return self.power.on()

    def cut_at(self, instant):
        """The computer being off, another life: its power went at an instant that was kept; how many sectors were lost."""
        self.journal, self.earlier = [], len(self.hand("bill").state["stacked"])
        for disk, then in zip(self.power.disks, instant, strict=True):
            disk.back(then)
        return self.power.on()

    def close(self):
        super().close()
        for disk in self.power.disks:
            disk.close()

    def dies(self, part):
        """A medium gives nothing back from now on, and takes nothing; the rest of its disk does."""
        disk, begin = self.parts[part]
        disk.bad = range(begin, begin + part.stat().st_size)

    def repair_media(self):
        """Make every medium readable again."""
        for disk in self.power.disks:
            disk.bad = range(0)

    def _mended(self, part):
        """A copy of a medium, whose file system is mended as the machine would: what a cut left is in its journal."""
        disk, begin = self.parts[part]
        copy = part.with_suffix(".copy")
        shutil.copyfile(part, copy)
        disk.copy_to(copy, begin)
        checked = subprocess.run(("e2fsck", "-y", str(copy)), check=False, capture_output=True)
        assert checked.returncode in {0, 1}, checked.stdout
        return copy

    @contextlib.contextmanager
    def edited(self, part):
        """What is on a medium, the computer being off: a file to work on, which is mended and put back."""
        disk, begin = self.parts[part]
        yield (copy := self._mended(part))
        disk.copy_from(copy, begin)
        copy.unlink()

    def edit(self, part, *command):
        """Let a command work on the file system of a medium, the computer being off."""
        with self.edited(part) as copy:
            _run(*command, str(copy))

    def changes(self, part, file, old, new):
        """As many bytes of a small file on a medium are others, the computer being off."""
        with self.edited(part) as copy:
            begin = int(_run("debugfs", "-R", f"bmap {file} 0", str(copy))) * _BLOCK_BYTES
            with copy.open("r+b") as stream:
                stream.seek(begin)
                offset = stream.read(_BLOCK_BYTES).index(old)
                stream.seek(begin + offset)
                stream.write(new)

    @contextlib.contextmanager
    def full(self, part):
        """No room is left on a medium, the computer being off at the beginning and at the end."""
        for work in (_fill, Path.unlink):
            with self.edited(part) as copy:
                mount_point = part.with_suffix(".mounted")
                mount_point.mkdir(exist_ok=True)
                _run("mount", "-o", "loop,noatime", str(copy), str(mount_point))
                try:
                    work(mount_point / "filled")
                finally:
                    _run("umount", str(mount_point))
            if work is _fill:
                yield

    def plays(self):
        """Lay a hand on it, without waiting for anything."""
        self.hand("bill", "insert", amount_cents=BILL_CENTS)
        self.hand("io", "press", button="play")

    def lives_until_gone(self, seconds):
        """Come up and play until its power goes, by itself or after so long."""
        end = time.monotonic() + min(seconds, PATIENCE_S)
        while not self.power.gone.wait(2) and time.monotonic() < end:
            if self.is_up():
                self.plays()

    def boots(self):
        """A whole boot, until all that went in has come out on paper; how long it took to come up."""
        began = time.monotonic()
        self.on()
        self.comes_up()
        took, steps = time.monotonic() - began, self.power.steps
        self.bill(BILL_CENTS)
        self.hand("io", "press", button="play")
        before = len(self.tickets())
        end = time.monotonic() + PATIENCE_S
        while len(self.tickets()) == before or not self.tickets()[-1]["barcode_complete"]:
            assert time.monotonic() < end, "never: a ticket of what it has"
            self.hand("io", "press", button="cash_out")
            time.sleep(3)
        time.sleep(10)
        return took, steps

    @contextlib.contextmanager
    def read(self):
        """What is on the media, mended on copies as the machine would: folders of the first and the second copy."""
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

    def audited(self, *, rests=False):
        """Hold the media against the world outside: nothing lost, nothing made up. ``rests``: nothing is owed."""
        with (
            self.read() as (first, second),
            Journal.open(first, now=lambda: OF_THE_AUDIT, second_dir=second) as journal,
        ):
            journal.self_audit()
            assert Auditor(GameFiles(())).audit_entries(journal.iter_bodies()).findings == []
            entries = list(journal.entries())
            known = [entry.hash_hex for entry in entries if entry.time_utc != OF_THE_AUDIT]
            assert known[: len(self.journal)] == self.journal, "what an earlier life has kept is there"
            self.journal = known
            credited = [entry.record["amount_cents"] for entry in entries if entry.kind == "bill.in"]
            acceptor = self.hand("bill").state
            # A bill past the point of return is credited before the acceptor is commanded to release it.
            inside = [acceptor["inside_cents"]] if acceptor["inside_cents"] and not rests else []
            taken = [*acceptor["stacked"][self.earlier :], *inside]
            assert credited == taken[: len(credited)], "credited that nobody put in, or another bill"
            assert len(taken) - len(credited) <= (0 if rests else 1), "one that is under way is asked for"
            if rests:
                self._nothing_is_owed(journal, first, second)

    def _nothing_is_owed(self, journal, first, second):
        assert journal.credits_cents() == 0
        assert journal.list_pending() == []
        with open_machine_ledger(first, second_folder=second) as store:
            records = list(store.iter_records())
        issued = [record.ticket for record in records if record.state is TicketState.ISSUED]
        assert {record.state for record in records} <= {TicketState.ISSUED, TicketState.VOID}
        assert sum(record.amount_cents for record in issued) == journal.balance_cents("out:voucher:cashable")
        on_paper = {paper["barcode"] for paper in self.tickets() if paper["barcode_complete"]}
        assert {record.number for record in issued} <= on_paper, "a ticket is owed that nobody holds"


def _fill(file):
    """Take all the room there is."""
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
