"""The cabinet ends with its machine or on request; the failure of another process never ends the machine."""

import asyncio

import pytest

from egm.screen import EXIT_CODE_CLOSED_BY_PERSON
from tools.cli.commands import run as module
from tools.cli.commands.run import _CabinetProcess, _compute_restart_pause_seconds, _Supervisor

WAITS = ("/bin/sleep", "infinity")
ENDS = 7


def build_failing_command(status):
    """Return the command of a program that ends at once: with a status, or by a signal if it is negative."""
    return ("/bin/sh", "-c", f"kill {status} $$" if status < 0 else f"exit {status}")


class Cabinet:
    """A supervisor with a running machine and one other child; ``ends`` counts how often the child ended."""

    def __init__(self, monkeypatch, child):
        self.ends, self.lines = 0, []
        self.enough = asyncio.Event()
        self.supervisor = _Supervisor((_CabinetProcess("machine", WAITS, is_machine=True), child))
        monkeypatch.setattr(module, "echo", self.echo)

    def echo(self, line, **_):
        self.lines.append(line)
        self.ends += "restarting" in line
        if self.ends >= ENDS:
            self.enough.set()

    async def run_until_enough(self):
        """Run until the child has ended often enough or the supervisor ends; return whether it was still running."""
        running = asyncio.create_task(self.supervisor.run())
        enough = asyncio.create_task(self.enough.wait())
        async with asyncio.timeout(60):
            await asyncio.wait((running, enough), return_when=asyncio.FIRST_COMPLETED)
            goes_on = not running.done()
            self.supervisor._stop_event.set()
            self.status = await running
        enough.cancel()
        return goes_on


@pytest.mark.requirement("A-08")
@pytest.mark.parametrize(
    ("name", "status"),
    [
        pytest.param(name, status, marks=() if name == "screen" or status == -9 else pytest.mark.slow)
        for name in ("screen", "screen of position 2", "top screen", "bench")
        for status in (1, 0, 4, 70, -9, -11)
    ],
)
def test_a_screen_or_bench_that_fails_repeatedly_never_ends_the_machine(monkeypatch, name, status):
    """Regression: five screen failures within a minute ended the cabinet while the machine had credits."""
    monkeypatch.setattr(module, "_RESTART_PAUSE_SECONDS_MAX", 0.0)

    async def scene():
        child = _CabinetProcess(name, build_failing_command(status), closing_ends_cabinet=name == "screen")
        cabinet = Cabinet(monkeypatch, child)
        assert await cabinet.run_until_enough()
        assert (cabinet.status, cabinet.ends) == (0, ENDS)
        assert not any("machine ended" in line for line in cabinet.lines)

    asyncio.run(scene())


@pytest.mark.parametrize(("settled_s", "goes_on"), [(60.0, False), (0.0, True)])
def test_a_screens_operator_error_ends_the_cabinet_only_while_it_starts(monkeypatch, settled_s, goes_on):
    """A start without a display ends with an error; later the cabinet must continue, because it may have credits."""
    monkeypatch.setattr(module, "_RESTART_PAUSE_SECONDS_MAX", 0.0)
    monkeypatch.setattr(module, "_FAILED_START_SECONDS_MAX", settled_s)

    async def scene():
        cabinet = Cabinet(
            monkeypatch, _CabinetProcess("screen", build_failing_command(2), closing_ends_cabinet=True)
        )
        assert await cabinet.run_until_enough() is goes_on
        assert cabinet.status == (0 if goes_on else 2)

    asyncio.run(scene())


def test_closing_the_window_ends_the_cabinet(monkeypatch):
    async def scene():
        cabinet = Cabinet(
            monkeypatch,
            _CabinetProcess(
                "screen", build_failing_command(EXIT_CODE_CLOSED_BY_PERSON), closing_ends_cabinet=True
            ),
        )
        assert not await cabinet.run_until_enough()
        assert (cabinet.status, cabinet.ends) == (0, 0)

    asyncio.run(scene())


@pytest.mark.parametrize(("status", "ends"), [(2, 0), (4, 0), (1, 4), (0, 4)])
def test_a_machine_that_cannot_be_restarted_ends_the_cabinet(monkeypatch, status, ends):
    async def scene():
        cabinet = Cabinet(
            monkeypatch, _CabinetProcess("machine", build_failing_command(status), is_machine=True)
        )
        assert not await cabinet.run_until_enough()
        assert (cabinet.status, cabinet.ends) == (status or 1, ends)

    asyncio.run(scene())


def test_a_process_that_fails_at_every_start_is_restarted_ever_more_slowly():
    assert [_compute_restart_pause_seconds(ends) for ends in range(1, 10)] == [0, 0, 1, 2, 4, 8, 10, 10, 10]
