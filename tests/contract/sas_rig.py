"""A machine with SAS lines on pseudo-terminals, whose bytes a test writes and reads."""

import asyncio
import os
import select
import tty
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Self

from egm.config.cabinet_file import StateFolder
from egm.links.sas.crc import append_crc, has_valid_crc
from egm.links.sas.line_service import SasLineService, create_sas_line_services
from egm.links.sas.wire import escape_message_with_wakeup
from egm.testing.machine import MachineRig
from egm.testing.sas import attach_sas_lines, create_machine_context

PATIENCE_SECONDS = 60.0
"""A limit that only a machine that does not answer reaches, however loaded the computer is."""


class Wire:
    """The host's end of a line: raw bytes."""

    def __init__(self, path: Path, *, strict: bool = True, address: int = 1) -> None:
        self._fd = os.open(path, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(self._fd)
        self._strict = strict
        self.address = address

    @classmethod
    def on(cls, fileno: int, *, strict: bool, address: int = 1) -> Self:
        """Return the host's end of a line that is already open."""
        wire = cls.__new__(cls)
        wire._fd, wire._strict, wire.address = fileno, strict, address
        return wire

    def write(self, message: bytes) -> None:
        """Send one message; on a line with a wakeup bit, its first byte carries it."""
        os.write(self._fd, escape_message_with_wakeup(message) if self._strict else message)

    def raw(self, data: bytes) -> None:
        """Send bytes unchanged."""
        os.write(self._fd, data)

    def read(self, size: int, seconds: float = PATIENCE_SECONDS) -> bytes:
        """Return ``size`` bytes, or fewer if no more arrive in time."""
        data = b""
        while len(data) < size and select.select([self._fd], [], [], seconds)[0]:
            data += os.read(self._fd, size - len(data))
        return data

    def read_until(self, wanted: bytes, seconds: float = PATIENCE_SECONDS) -> bool:
        """Return whether ``wanted`` arrives in time, possibly after other bytes."""
        data = b""
        while not data.endswith(wanted) and select.select([self._fd], [], [], seconds)[0]:
            data += os.read(self._fd, 4096)
        return data.endswith(wanted)

    def silent(self, seconds: float = 0.05) -> bool:
        """Return whether no byte arrives within the given time."""
        return not select.select([self._fd], [], [], seconds)[0]

    def general(self) -> int:
        """Send a general poll; return the exception code."""
        self.write(bytes((0x80 | self.address,)))
        return self.read(1)[0]

    def sync(self) -> None:
        """Send a poll to no machine, which acknowledges the last reply."""
        self.write(b"\x80")

    def read_poll(self, code: int, size: int) -> bytes:
        """Send a poll of type R; return the data of the reply."""
        return self._ask(bytes((self.address, code)), size)

    def long(self, code: int, data: bytes, size: int) -> bytes:
        """Send a poll with a CRC; return the data of the reply, or the byte of a one-byte reply."""
        return self._ask(append_crc(bytes((self.address, code)) + data), size)

    def _ask(self, poll: bytes, size: int) -> bytes:
        """Repeat a poll until the reply is not "busy", which can occur on a loaded computer."""
        busy = bytes((self.address, 0))
        while True:
            self.write(poll)
            answer = self.read(min(size, 2))
            if size == 1 and not self.silent(0):  # both bytes of "busy" arrive together
                answer += self.read(1)
            if answer != busy:
                break
        if size == 1:
            return answer
        answer += self.read(size - len(answer))
        assert len(answer) == size, f"{poll.hex(' ')}: {answer.hex(' ') or 'silence'}, {size} bytes wanted"
        assert answer[:2] == poll[:2], answer.hex(" ")
        assert has_valid_crc(answer), answer.hex(" ")
        return answer[2:-2]

    def close(self) -> None:
        """Close the line."""
        os.close(self._fd)


class Rig:
    """One machine on one state folder, with the lines of ``sas`` attached."""

    def __init__(self, folder: Path, sas: dict[str, dict[str, Any]], **room: Any) -> None:
        self.folder = StateFolder(folder)
        self.room = MachineRig(folder, **room)
        context = create_machine_context(self.room, folder, sas)
        self.file = context.cabinet_file
        self.lines = [line for line in create_sas_line_services(context) if isinstance(line, SasLineService)]
        attach_sas_lines(self.room, self.lines)
        self._tasks: list[asyncio.Task[None]] = []

    def wire(self, name: str, **settings: Any) -> Wire:
        """Return the host's end of a started line."""
        line = next(line for line in self.lines if line.name == f"sas-{name}")
        return Wire(
            self.folder.run_folder / "sas" / name,
            strict=line.host.settings.framing == "strict",
            address=line.host.settings.address,
            **settings,
        )

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.create_task(line.run()) for line in self.lines]
        for line in self.lines:
            assert await asyncio.to_thread(line._line.port_open_event.wait, PATIENCE_SECONDS)
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.room.close()


def with_machine(
    folder: Path,
    scenario: Callable[[Rig], Awaitable[None]],
    sas: dict[str, dict[str, Any]] | None = None,
    **room: Any,
) -> None:
    """Run ``scenario`` on a started machine."""

    async def run() -> None:
        async with Rig(folder, sas or {"main": {}}, **room) as rig:
            rig.room.boot()
            await scenario(rig)

    asyncio.run(run())
