"""Server of the screen's socket: in the state folder, for its owner only.

Who connects must first say hello with the token that stands beside the socket in a file only the machine's
user can read. Then it is sent the games and a snapshot, and every change after that. It can send requests,
say that it lives, and nothing else: any other line ends the connection.
"""

import asyncio
import math
import time
from collections.abc import Callable
from pathlib import Path

from egm.kernel.messages import REQUEST_BYTES_MAX, Alive, Hello, Intent, Message, MessageError, decode, encode
from egm.links.screen.private import is_token, listen

_BACKLOG_BYTES_MAX = 8 * 1024 * 1024
"""A screen that does not read is dropped rather than buffered without end; it reconnects and is told all."""
_QUIET_S = 10.0
"""A screen that promised to say that it lives, and has said nothing for so long, hangs."""


class ScreenServer:
    """Serves any number of screens; each gets every message, and whoever asks first is heard first."""

    def __init__(
        self,
        socket_path: Path,
        token: str,
        *,
        greeting: Callable[[], tuple[Message, ...]],
        on_intent: Callable[[Intent], None],
        on_peer_error: Callable[[str], None],
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """``now_s``: monotonic seconds."""
        self._path = socket_path
        self._token = token
        self._greeting = greeting
        self._on_intent = on_intent
        self._on_peer_error = on_peer_error
        self._writers: set[asyncio.StreamWriter] = set()
        self._now_s = now_s
        #: When each was last heard; never too long ago for one that makes no promise.
        self._screens: dict[asyncio.StreamWriter, float] = {}
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Listen. A socket left by a machine that was killed is replaced: the state folder's lock is ours."""
        self._server = await listen(self._path, self._serve, line_bytes_max=REQUEST_BYTES_MAX)

    async def close(self) -> None:
        """Stop listening and let every screen go."""
        if self._server is not None:
            self._server.close()
        for writer in list(self._writers):
            writer.close()

    @property
    def audience(self) -> int:
        """How many screens show it to a player: who only looks on is none."""
        return len(self._screens)

    @property
    def living(self) -> int:
        """How many of them go on: a program that hangs keeps its socket, and shows what was once so."""
        now_s = self._now_s()
        return sum(now_s - heard_s < _QUIET_S for heard_s in self._screens.values())

    def send(self, message: Message) -> None:
        """Tell every screen."""
        line = encode(message)
        for writer in list(self._writers):
            if writer.transport.get_write_buffer_size() > _BACKLOG_BYTES_MAX:
                self._on_peer_error("a screen does not read; dropped")
                writer.transport.abort()
                self._forget(writer)
            elif not writer.is_closing():  # else it is forgotten as soon as its line is read to the end
                writer.write(line)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            hello = decode(await reader.readline())
            if not isinstance(hello, Hello) or not is_token(hello.token, self._token):
                raise MessageError("a screen without the token")
            for message in self._greeting():
                writer.write(encode(message))
            self._writers.add(writer)
            if not hello.onlooker:
                self._screens[writer] = self._now_s() if hello.proves else math.inf
            while line := await reader.readline():
                message = decode(line)
                if hello.proves and writer in self._screens:
                    self._screens[writer] = self._now_s()
                if isinstance(message, Alive):
                    continue
                if not isinstance(message, Intent):
                    raise MessageError(f"a screen sent {message.type!r}; only intents are taken")
                self._on_intent(message)
        except (MessageError, ValueError) as error:  # ValueError: a line over the limit
            self._on_peer_error(str(error))
        except (
            ConnectionError,
            asyncio.CancelledError,
        ):  # gone, or the machine stops; nobody awaits this task
            pass
        finally:
            self._forget(writer)
            writer.close()

    def _forget(self, writer: asyncio.StreamWriter) -> None:
        self._writers.discard(writer)
        self._screens.pop(writer, None)
