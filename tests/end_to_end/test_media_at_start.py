"""A machine with a missing, blank or full medium: real processes, folders and a tmpfs."""

import asyncio
import contextlib
import os
import shutil
import subprocess

import pytest
from rigs.moments import get_real_now
from run_rig import connect, egm, snapshot, until

from egm.app.tilt_screen import retry_until_media_respond
from egm.clock import SystemClock
from egm.config.cabinet_file import StateFolder
from egm.isolated import build_python_command
from egm.kernel.messages import MessageError, Snapshot
from meters import Journal, JournalDamaged, JournalUnwritable, MediumMissing, Phase, Transaction, Transfer
from meters.errors import MediumFull

SERIAL = "EGM-0000001"


@pytest.fixture
def file(tmp_path):
    """The file of a cabinet without devices, with its second copy on a separate medium."""
    path = tmp_path / "cabinet.toml"
    path.write_text(
        f'[machine]\nserial = "{SERIAL}"\noperator_number = "1"\nsite = "t"\nprofile = "generic"\n'
        f'[[games]]\ngame = "maple-classic"\n[memory]\nsecond_copy = "{tmp_path / "second"}"\n'
        "[metrics]\nport = 0\n"
    )
    return path


@contextlib.asynccontextmanager
async def machine(folder, file, *options):
    """Run the machine's process, and connect to it as a screen."""
    where = ("--state", str(folder.root), "--cabinet", str(file))
    process = await asyncio.create_subprocess_exec(
        *build_python_command("egm.app"), *where, *options, stderr=subprocess.PIPE
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        _, error_output = await process.communicate()
        assert "Traceback" not in error_output.decode()


async def wait_for_snapshot(folder, expected):
    """Return the first snapshot that satisfies the condition, reconnecting when the machine ends."""
    while True:
        reader, writer = await connect(folder.screen_socket, folder.screen_token)
        with contextlib.suppress(MessageError, OSError):
            try:
                return await until(reader, expected)
            finally:
                writer.close()


def has_notices(*codes):
    return lambda m: isinstance(m, Snapshot) and set(codes) <= {notice.code for notice in m.notices}


def put_in(folder, second, cents):
    """Record a bill as the cabinet does."""
    with Journal.open(folder.root, second_folder=second, machine_id=SERIAL, now=get_real_now) as journal:
        bill = journal.fresh_id("bill")
        paper = {"id": bill, "amount_cents": cents, "ticket": "", "phase": "ordered", "mark": 0}
        entries = (
            Transaction(
                id=bill,
                kind="bill.escrow",
                phase=Phase.RESERVE,
                transfers=(Transfer("world:bill", "credit:1:cashable", cents, {"bill_cents": cents}),),
                state={"paper": paper},
            ),
            Transaction(
                id=f"{bill}.in",
                kind="bill.in",
                phase=Phase.SETTLE,
                ref=bill,
                counts={"bills_accepted": 1},
                state={"paper": paper | {"phase": "vended"}},
                record={"amount_cents": cents},
            ),
        )
        for entry in entries:
            journal.append(entry)


@pytest.mark.requirement("A-02", "A-09")
def test_a_missing_medium_is_awaited_then_omitted_and_a_lost_one_recreated(tmp_path, file):
    folder, second = StateFolder(tmp_path / "state"), tmp_path / "second"

    async def session():
        async with machine(folder, file):
            await wait_for_snapshot(folder, snapshot(state="idle"))
        put_in(folder, second, 500)
        second.rename(tmp_path / "taken-out")
        second.mkdir()  # the mount point, empty
        async with machine(folder, file, "--patience", "0.1"):
            waits = await wait_for_snapshot(folder, snapshot(state="tilt"))
            assert [(tilt.code, tilt.cleared_by) for tilt in waits.tilts] == [("memory_waits", "self")]
            alone = await wait_for_snapshot(folder, has_notices("out_of_service.memory_missing"))
            assert (alone.state, alone.credit_cents) == ("out_of_service", 500)
            assert "cash_out" in alone.accepted_inputs
            assert "play" not in alone.accepted_inputs
        assert not list(second.iterdir())
        second.rmdir()
        (tmp_path / "taken-out").rename(second)
        async with machine(folder, file):
            await wait_for_snapshot(folder, snapshot(state="idle", credit_cents=500))
        shutil.rmtree(folder.root)
        async with machine(folder, file):
            reopened = await wait_for_snapshot(folder, has_notices("out_of_service.memory_replaced"))
            assert (reopened.state, reopened.credit_cents) == ("out_of_service", 500)
        async with machine(folder, file):  # until a technician has seen to it
            await wait_for_snapshot(folder, has_notices("out_of_service.memory_replaced"))

    asyncio.run(session())


@pytest.mark.requirement("A-09")
def test_a_temporary_error_at_start_is_retried():
    tries, reports = [], []

    async def comes_up(alone):
        tries.append(alone)
        if len(tries) < 3:
            raise JournalUnwritable("journal.sqlite: Input/output error")
        if len(tries) < 4:
            raise MediumFull("journal.sqlite: No space left on device")

    async def still(reason, code):
        reports.append((reason, code))
        await asyncio.Event().wait()

    asyncio.run(
        retry_until_media_respond(comes_up, still, SystemClock(), patience_seconds=3600, pause_seconds=0.01)
    )
    assert tries == [False] * 4
    waits = ("journal.sqlite: Input/output error", "memory_waits")
    assert reports == [waits, waits, ("journal.sqlite: No space left on device", "memory_full")]

    async def goes_on_alone(alone):
        tries.append(alone)
        if not alone:
            raise MediumMissing("/mnt/second: no medium of this machine is there")

    tries.clear()
    asyncio.run(
        retry_until_media_respond(
            goes_on_alone, still, SystemClock(), patience_seconds=0.05, pause_seconds=0.02
        )
    )
    assert tries[-1]
    assert not tries[0]


@pytest.mark.requirement("A-05")
def test_damage_of_the_memory_is_not_retried():
    """A second attempt would succeed, but damage must remain until an authorised clear."""
    attempts = []

    async def is_damaged_once(alone):
        attempts.append(alone)
        if len(attempts) == 1:
            raise JournalDamaged("both copies", "gone")

    async def show_tilt(_why, _code):
        await asyncio.Event().wait()

    with pytest.raises(JournalDamaged):
        asyncio.run(retry_until_media_respond(is_damaged_once, show_tilt, SystemClock(), pause_seconds=0.01))
    assert attempts == [False]


def test_a_damaged_ticket_ledger_stops_tickets_without_a_traceback(tmp_path, file):
    folder = StateFolder(tmp_path / "state")

    async def session():
        async with machine(folder, file):
            await wait_for_snapshot(folder, snapshot(state="idle"))
        for found in [*folder.root.glob("tickets.*"), *(tmp_path / "second").glob("tickets.*")]:
            if found.suffix in {".sqlite", ".log"}:
                found.write_bytes(b"no ledger at all, of either kind\n" * 300)
            elif found.name.endswith(("-wal", "-shm")):
                found.unlink()
        async with machine(folder, file) as process:
            await wait_for_snapshot(folder, has_notices("fault.ticket_ledger"))
            assert process.returncode is None

    asyncio.run(session())


@pytest.fixture
def small(tmp_path):
    """A medium of 40 MiB."""
    where = tmp_path / "small"
    where.mkdir()
    mounted = (
        os.geteuid() == 0
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", where], capture_output=True, check=False
        ).returncode
    )
    if not mounted:
        pytest.skip("only root mounts a small medium")
    try:
        yield where
    finally:
        subprocess.run(["umount", "--lazy", where], check=True)


def fill(medium):
    with contextlib.suppress(OSError), (medium / "filler").open("wb", buffering=0) as filler:
        while True:
            filler.write(bytes(1 << 16))


@pytest.mark.requirement("A-08", "A-09")
def test_a_full_medium_accepts_no_money_pays_what_is_owed_and_is_readable(tmp_path, small, file):
    folder = StateFolder(small / "state")
    file.write_text(file.read_text().replace(str(tmp_path / "second"), str(small / "second")))

    async def session():
        async with machine(folder, file):
            await wait_for_snapshot(folder, snapshot(state="idle"))
        put_in(folder, small / "second", 500)
        async with machine(folder, file):
            await wait_for_snapshot(folder, snapshot(state="idle", credit_cents=500))
            fill(small)
            full = await wait_for_snapshot(folder, has_notices("out_of_service.memory_full"))
            assert (full.state, full.credit_cents) == ("out_of_service", 500)
            assert "play" not in full.accepted_inputs
            assert "cash_out" in full.accepted_inputs
        fill(small)  # with the space that it freed, except for what a start needs
        check_commands_read(folder, tmp_path)
        (small / "filler").unlink()
        fill_but(small, 9 << 20)
        async with machine(folder, file):
            await wait_for_snapshot(folder, has_notices("out_of_service.memory_full"))
        remount(small, "ro")
        check_commands_read(folder, tmp_path)
        remount(small, "rw")
        (small / "filler").unlink()
        async with machine(folder, file):
            await wait_for_snapshot(folder, snapshot(state="idle", credit_cents=500))

    asyncio.run(session())


def remount(medium, mode):
    subprocess.run(["mount", "-o", f"remount,{mode}", medium], check=True)


def fill_but(medium, free_bytes):
    free = os.statvfs(medium).f_bavail * os.statvfs(medium).f_frsize
    with (medium / "filler").open("wb") as filler:
        os.posix_fallocate(filler.fileno(), 0, free - free_bytes)


def check_commands_read(folder, tmp_path):
    """Check that meters, export and audit work on a medium that is not writable."""
    egm("meters", "--state", folder.root, "--json")
    export_file = tmp_path / "export.jsonl"
    export_file.unlink(missing_ok=True)
    egm("audit", "export", export_file, "--state", folder.root)
    egm("audit", "verify", export_file)
