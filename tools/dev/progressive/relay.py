"""Relay a connection to the broker, so that it can be interrupted without the broker or its client noticing."""

import asyncio
import contextlib

from egm.progressive.connection import cancel_tasks, run_together

_CHUNK_BYTES = 65536


class Relay:
    """A port that relays bytes to and from the broker, and holds them back while disconnected."""

    def __init__(self, port: int) -> None:
        """Create the relay. ``port`` is the port of the broker on this computer."""
        self._far_port = port
        self._connected = asyncio.Event()
        self._connected.set()
        self._delay_seconds = 0.0
        self._wires: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.port = 0

    async def start(self) -> None:
        """Start to listen on a free port."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    @property
    def is_disconnected(self) -> bool:
        """Return whether the relay holds bytes back now."""
        return not self._connected.is_set()

    def disconnect(self) -> None:
        """Hold all bytes back.

        After :meth:`reconnect` they are delivered if there is still a receiver.
        """
        self._connected.clear()

    def delay(self, seconds: float) -> None:
        """Delay all data by ``seconds`` from now on."""
        self._delay_seconds = seconds

    def reconnect(self) -> None:
        """Deliver bytes again, without delay."""
        self._delay_seconds = 0.0
        self._connected.set()

    async def stop(self) -> None:
        """Close every connection and stop listening."""
        if self._server is not None:
            self._server.close()
        await cancel_tasks(*self._wires)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        wire = asyncio.get_running_loop().create_task(self._relay_connection(reader, writer), name="relay")
        self._wires.add(wire)
        wire.add_done_callback(self._wires.discard)

    async def _relay_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers = [writer]
        try:
            with contextlib.suppress(OSError):
                far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._far_port)
                writers.append(far_writer)
                await run_together(self._copy_bytes(reader, far_writer), self._copy_bytes(far_reader, writer))
        finally:
            for each in writers:
                each.transport.abort()

    async def _copy_bytes(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(_CHUNK_BYTES):
            await self._connected.wait()
            await asyncio.sleep(self._delay_seconds)
            sink.write(data)
            await sink.drain()
