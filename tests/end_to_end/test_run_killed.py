"""A killed ``egm run`` leaves no process running and no link to a terminal that another process may use."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from run_rig import PATIENCE_SECONDS, Visit, cabinet

from egm.config.cabinet_file import StateFolder
from egm.private_process import end_with_parent


def descendants(pid: int) -> set[int]:
    """Return the ids of every running process below this one."""
    found, fresh = set(), {pid}
    while fresh:
        below = set()
        for parent in fresh:
            for task in Path(f"/proc/{parent}/task").glob("*/children"):
                with contextlib.suppress(OSError):
                    below |= {int(child) for child in task.read_text().split()}
        fresh = below - found
        found |= fresh
    return found


def is_alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def inode_of(link: Path) -> int | None:
    """Return the inode of a path, or None if the path does not exist."""
    try:
        return link.lstat().st_ino
    except FileNotFoundError:
        return None


async def until(holds):
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not holds():  # noqa: ASYNC110 (another process)
            await asyncio.sleep(0.05)


def machine_of(run: int) -> int:
    """Return the machine's process among those of ``egm run``."""
    return next(
        pid
        for pid in descendants(run)
        if b"egm.app" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    )


@pytest.mark.requirement("A-08")
def test_killing_the_run_ends_machine_and_devices_and_the_next_starts(tmp_path):
    folder = StateFolder(tmp_path / "state")

    async def scene():
        async with cabinet(folder) as process:
            async with Visit.connect(folder):
                children = descendants(process.pid)
                assert len(children) >= 2
                await until(folder.get_sas_port_path("main").is_symlink)
            process.send_signal(signal.SIGKILL)
            await until(lambda: not any(is_alive(pid) for pid in children))
        async with cabinet(folder), Visit.connect(folder):
            pass
        assert process.returncode == -signal.SIGKILL

    asyncio.run(scene())


@pytest.mark.requirement("A-08")
def test_a_killed_machine_leaves_no_terminal_link_for_another_process(tmp_path):
    folder = StateFolder(tmp_path / "state")
    link = folder.get_sas_port_path("main")

    async def scene():
        async with cabinet(folder) as process, Visit.connect(folder):
            await until(link.is_symlink)
            first = inode_of(link)
            machine = machine_of(process.pid)
            os.kill(machine, signal.SIGKILL)
            seen = [first]

            def have_displays_changed() -> bool:
                seen.append(inode_of(link))
                return seen[-1] != first

            await until(have_displays_changed)
            assert seen[-1] is None, "another line's name before the first was removed"
            await until(link.is_symlink)

    asyncio.run(scene())


def test_a_cabinet_process_ignores_ctrl_c_from_its_start():
    """A terminal sends the signal to every process, but only the supervisor may end the others."""
    program = "import os, signal; os.kill(os.getpid(), signal.SIGINT); print('goes on')"
    child = subprocess.run(
        [sys.executable, "-c", program],
        preexec_fn=partial(end_with_parent, os.getpid(), signal.SIGTERM),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (child.returncode, child.stdout, child.stderr) == (0, "goes on\n", "")
