"""A driver whose process is delayed does not count the delay as a missing reply of the device."""

import asyncio
import socket

import pytest

from egm.devices.interface import LineLost, LineRestored
from egm.devices.ioboard.codec import IdentityReply
from egm.devices.ioboard.driver import IoBoardDriver
from egm.devices.line import SerialLine
from egm.devices.protocols import PROTOCOLS
from egm.testing.jumping_loop import jump


class _Handle:
    def __init__(self, end):
        self._end = end

    def fileno(self):
        return self._end.fileno()

    def close(self):
        self._end.close()


class _Line(SerialLine):
    """A line to a device that replies at once, in two halves; after each half the driver is delayed."""

    def __init__(self, answer):
        self._ours, self.device = socket.socketpair()
        self._ours.setblocking(False)
        self._answer = answer
        super().__init__(
            "line", PROTOCOLS["ioboard"].line_settings, lambda _path, _settings: _Handle(self._ours)
        )

    def write(self, data):
        super().write(data)
        self.device.send(self._answer[:3])
        _sleep()

    async def read(self, seconds):
        data = await super().read(seconds)
        if data == self._answer[:3]:
            self.device.send(self._answer[3:])
        if data:
            _sleep()
        return data


def _sleep():
    """Block the event loop for two seconds."""
    asyncio.get_running_loop()._jumping_selector.now_seconds += 2.0


def _run_driver_until(answer, until):
    """Run the driver of an I/O board until a condition on the driver and its reports holds."""

    async def session():
        line, events = _Line(answer), []
        driver = IoBoardDriver("io", line, events.append)
        task = asyncio.ensure_future(driver.run())
        for _ in range(1000):
            if until(driver, events):
                break
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        line.device.close()
        return driver, events

    return jump(session())


@pytest.mark.library_only("G-14")
def test_a_waiting_reply_is_read_even_if_the_driver_reads_late():
    driver, events = _run_driver_until(
        IdentityReply(1, "board").encode(),
        lambda driver, _: (
            driver.exchange_counts.answered_query_count + driver.exchange_counts.unanswered_query_count >= 20
        ),
    )
    assert driver.exchange_counts.unanswered_query_count == 0
    assert [type(event) for event in events if isinstance(event, LineRestored | LineLost)] == [LineRestored]


@pytest.mark.library_only("G-14")
def test_a_silent_device_is_lost_after_what_the_driver_waited_and_not_what_it_slept():
    driver, _ = _run_driver_until(b"", lambda _, events: any(isinstance(event, LineLost) for event in events))
    # 0.15 s of waiting at a question and 5 ms between two: ten of them are 1.5 s
    assert 9 <= driver.exchange_counts.unanswered_query_count <= 11
