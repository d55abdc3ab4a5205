"""Only a machine that makes progress feeds systemd's watchdog."""

import asyncio
import socket

import pytest

from egm.app.watchdog import DriverProgressCheck, send_watchdog_heartbeats
from egm.devices.driver import LineDriver
from egm.devices.framing import FrameReader
from egm.links.systemd import notify_systemd


@pytest.fixture
def systemd(monkeypatch):
    """The socket of a systemd whose watchdog expects a message every 80 ms."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind("\0open-egm-test-heartbeat")
        listening.settimeout(60)
        monkeypatch.setenv(
            "NOTIFY_SOCKET", "@open-egm-test-heartbeat"
        )  # an abstract address: no path, no length
        monkeypatch.setenv("WATCHDOG_USEC", "80000")
        yield lambda: listening.recv(100).decode()
        listening.setblocking(False)
        with pytest.raises(BlockingIOError):
            listening.recv(100)


def beats(turns, *, progress):
    async def run():
        task = asyncio.create_task(send_watchdog_heartbeats(progress))
        while turns():  # noqa: ASYNC110 (what is asked is a plain function)
            await asyncio.sleep(0.001)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(run())


def test_the_watchdog_is_fed_only_after_progress(systemd):
    queries = []

    def progress():
        queries.append(len(queries))
        return queries[-1] in {1, 3}

    beats(lambda: len(queries) < 6, progress=progress)
    assert [systemd() for _ in range(3)] == ["READY=1", "WATCHDOG=1", "WATCHDOG=1"]


class Silent(LineDriver):
    """A driver whose device never answers."""

    def __init__(self):
        super().__init__("silent", None, print, FrameReader, "none")

    def _reset_session(self):
        pass

    async def _run_cycle(self):
        pass


def test_a_hanging_driver_is_no_progress_and_one_with_a_silent_device_is():
    turning, hanging = Silent(), Silent()
    moves = DriverProgressCheck([turning, hanging, object()])
    assert moves()
    turning.turns += 1
    assert not moves()
    turning.turns += 1
    hanging.turns += 1
    assert moves()


@pytest.mark.parametrize("address", ["", "relative", "@nobody", "/nowhere/socket"])
def test_a_missing_notify_socket_blocks_nothing(address, monkeypatch):
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    assert notify_systemd("READY=1") is None
