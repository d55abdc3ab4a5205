"""A bench's line proves its owner, so that no driver writes to a terminal of another program."""

import asyncio
import os
import pty
import subprocess
import sys
import tty

import pytest

from egm.devices.bench_line import build_owner_lock_path, find_running_bench_terminal, open_bench_line
from egm.devices.line import LineLostError, LineSettings
from egm.devices.twin import SimulatedPort

#: A bench in another process: it connects one line, reports that, and waits to be killed.
BENCH = """
import asyncio, sys
from pathlib import Path
from egm.devices.twin import SimulatedPort

async def main():
    port = SimulatedPort(Path(sys.argv[1]))
    port.plug()
    print("READY", flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.fixture
def link(tmp_path):
    return tmp_path / "dev" / "printer"


@pytest.fixture
def bench(link):
    process = subprocess.Popen([sys.executable, "-c", BENCH, str(link)], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"READY\n"
    yield process
    process.kill()
    process.communicate()


def test_the_line_of_a_running_bench_can_be_opened_repeatedly(bench, link):
    for _ in range(3):
        handle = open_bench_line(str(link), LineSettings(data_bits=7, parity="E"))
        assert os.ttyname(handle.fileno()) == str(link.readlink())
        handle.close()


def test_the_line_of_a_killed_bench_is_refused_even_if_its_terminal_is_reused(bench, link):
    terminal = str(link.readlink())
    bench.kill()
    bench.wait()
    assert link.is_symlink(), "nobody was there to take it away"
    terminals = []
    try:
        while not terminals or os.ttyname(terminals[-1][1]) != terminal:  # another cabinet's printer
            terminals.append(pty.openpty())
            assert len(terminals) < 500
        near, far = terminals[-1]
        tty.setraw(far)
        os.set_blocking(near, False)
        with pytest.raises(LineLostError, match="that owns this line is not running"):
            open_bench_line(str(link), LineSettings())
        with pytest.raises(BlockingIOError):
            os.read(near, 1)  # no byte has arrived
    finally:
        for near, far in terminals:
            os.close(near)
            os.close(far)


def test_a_link_to_another_terminal_than_its_owner_states_is_refused(bench, link):
    near, far = pty.openpty()
    try:
        link.unlink()
        link.symlink_to(os.ttyname(far))
        assert find_running_bench_terminal(link) is None
        with pytest.raises(LineLostError):
            open_bench_line(str(link), LineSettings())
    finally:
        os.close(near)
        os.close(far)


def test_an_unplugged_port_leaves_neither_link_nor_lock(link):
    async def scene():
        port = SimulatedPort(link)
        port.plug()
        assert find_running_bench_terminal(link) == str(link.readlink())
        port.unplug()
        assert not link.is_symlink()
        assert not build_owner_lock_path(link).exists()
        port.plug()
        open_bench_line(str(link), LineSettings()).close()
        port.unplug()

    asyncio.run(scene())
