"""A process that is not scheduled for some seconds, in which its device goes on."""

import asyncio

from egm.devices.driver import LineDriver


def delay_next_reply(driver: LineDriver, seconds: float, *, replies: int = 1) -> None:
    """Let the driver read a reply ``seconds`` after it has arrived: the next one, or the one after ``replies``."""
    line = driver._line
    read_at_once = line.read
    replies_left = replies

    async def read_late(wait_seconds: float) -> bytes:
        nonlocal replies_left
        data = await read_at_once(wait_seconds)
        replies_left -= bool(data)
        if data and not replies_left:
            line.read = read_at_once
            await asyncio.sleep(seconds)
        return data

    line.read = read_late
