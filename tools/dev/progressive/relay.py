"""A wire to the broker that can be disconnected without either end noticing: a network partition."""

import asyncio
import contextlib

from egm.progressive.connection import finish, run_together

_CHUNK_BYTES = 65536


class Relay:
    """A separate port that carries bytes to and from the broker; while disconnected, it holds them back."""

    def __init__(self, port: int) -> None:
        """``port``: the broker's, on this computer."""
        self._far_port = port
        self._whole = asyncio.Event()
        self._whole.set()
        self._late_seconds = 0.0
        self._wires: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.port = 0

    async def start(self) -> None:
        """Listen."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    @property
    def parted(self) -> bool:
        """Return whether the wire is disconnected."""
        return not self._whole.is_set()

    def part(self) -> None:
        """Disconnect; bytes sent meanwhile arrive after :meth:`heal` if there is still a receiver."""
        self._whole.clear()

    def slow(self, seconds: float) -> None:
        """Everything takes so long from now on."""
        self._late_seconds = seconds

    def heal(self) -> None:
        """Everything passes again, at once."""
        self._late_seconds = 0.0
        self._whole.set()

    async def stop(self) -> None:
        """End every wire, and listen no more."""
        if self._server is not None:
            self._server.close()
        await finish(*self._wires)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        wire = asyncio.get_running_loop().create_task(self._carry(reader, writer), name="relay")
        self._wires.add(wire)
        wire.add_done_callback(self._wires.discard)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers = [writer]
        try:
            with contextlib.suppress(OSError):
                far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._far_port)
                writers.append(far_writer)
                await run_together(self._pump(reader, far_writer), self._pump(far_reader, writer))
        finally:
            for each in writers:
                each.transport.abort()

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(_CHUNK_BYTES):
            await self._whole.wait()
            await asyncio.sleep(self._late_seconds)
            sink.write(data)
            await sink.drain()
