"""The machine resets systemd's watchdog only while it makes progress."""

import asyncio
import re
import socket
from pathlib import Path

import pytest

from egm.app.tilt_screen import retry_until_media_respond
from egm.app.watchdog import DriverProgressCheck, send_watchdog_heartbeats
from egm.clock import SystemClock
from egm.devices.driver import LineDriver
from egm.devices.framing import FrameReader
from egm.links.systemd import notify_systemd
from meters import JournalUnwritable
from tools import image

_UNIT_FILE = Path(image.__file__).parent / "debian/open-egm-machine.service"
_PROGRESS = "WATCHDOG=1\nWATCHDOG_USEC=80000"
_READY = f"READY=1\n{_PROGRESS}"


@pytest.fixture
def systemd(monkeypatch):
    """The socket of a simulated systemd whose watchdog expects a message every 80 ms."""
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
    assert [systemd() for _ in range(3)] == [_READY, _PROGRESS, _PROGRESS]


def test_a_machine_that_waits_for_a_medium_feeds_the_watchdog_and_then_has_the_time_of_a_start(systemd):
    """It sent no report to the watchdog while it waited, and each attempt had the short interval of a running machine."""
    (start_up_s,) = (
        60 * int(minutes)
        for minutes in re.findall(r"^TimeoutStartSec=(\d+)min$", _UNIT_FILE.read_text(), re.MULTILINE)
    )
    attempts = []

    async def run_machine(allows_single_medium):
        attempts.append(allows_single_medium)
        if len(attempts) < 3:
            raise JournalUnwritable("the second medium is missing")
        await show_tilt()  # a running machine sends the same reports

    async def show_tilt(*_):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.005):
                await send_watchdog_heartbeats()

    asyncio.run(retry_until_media_respond(run_machine, show_tilt, SystemClock()))
    allowed = f"WATCHDOG_USEC={start_up_s * 1_000_000}"
    assert [systemd() for _ in range(5)] == [_READY, allowed, _READY, allowed, _READY]


def test_without_a_watchdog_its_interval_is_not_changed(systemd, monkeypatch):
    monkeypatch.delenv("WATCHDOG_USEC")

    async def run_machine(_):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.005):
                await send_watchdog_heartbeats()

    asyncio.run(retry_until_media_respond(run_machine, run_machine, SystemClock()))
    assert systemd() == "READY=1\nWATCHDOG=1"


class Silent(LineDriver):
    """A driver whose device never replies."""

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
    turning.loop_turn_count += 1
    assert not moves()
    turning.loop_turn_count += 1
    hanging.loop_turn_count += 1
    assert moves()


@pytest.mark.parametrize("address", ["", "relative", "@nobody", "/nowhere/socket"])
def test_a_missing_notify_socket_blocks_nothing(address, monkeypatch):
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    assert notify_systemd("READY=1") is None
