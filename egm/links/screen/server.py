"""Server of the machine's screens, on a private socket in the state folder (:mod:`egm.links.screen.private_sockets`).

A screen must first send a hello with the token, which is stored next to the socket in a file with the same access. It
then receives the games and a snapshot, and every change after that. It may send requests and heartbeats; any other line
ends the connection.
"""

import asyncio
import math
import time
from collections.abc import Callable
from pathlib import Path

from egm.kernel.messages import (
    REQUEST_BYTES_MAX,
    Hello,
    Intent,
    Message,
    MessageError,
    ScreenHeartbeat,
    decode_message,
    encode_message,
)
from egm.links.screen.private_sockets import is_same_token, serve_unix_socket

#: The number of unread bytes at which a screen is disconnected; it may reconnect and receive everything again.
_BACKLOG_BYTES_MAX = 8 * 1024 * 1024
#: The time in seconds without a heartbeat after which a screen that sends heartbeats counts as hung.
_SCREEN_HEARTBEAT_GAP_SECONDS_MAX = 10.0


class ScreenServer:
    """Server of the connections of any number of screens.

    Each screen receives every message; the requests of all screens are handled one after the other.
    """

    def __init__(
        self,
        socket_path: Path,
        token: str,
        *,
        build_greeting: Callable[[], tuple[Message, ...]],
        on_intent: Callable[[Intent], None],
        on_peer_error: Callable[[str], None],
        read_monotonic_seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create the server of the machine's screens.

        ``build_greeting`` returns the messages that a new screen receives; ``on_intent`` handles a person's
        request, ``on_peer_error`` the text of a screen's error. ``read_monotonic_seconds`` returns the monotonic time.
        """
        self._path = socket_path
        self._token = token
        self._build_greeting = build_greeting
        self._on_intent = on_intent
        self._on_peer_error = on_peer_error
        self._writers: set[asyncio.StreamWriter] = set()
        self._read_monotonic_seconds = read_monotonic_seconds
        #: Time of the last message of each screen that a player uses, in monotonic seconds; infinite for a screen that
        #: sends no heartbeats.
        self._last_message_at_by_screen: dict[asyncio.StreamWriter, float] = {}
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Start to accept screens.

        A socket left by a killed machine is replaced: this process holds the state folder's lock.
        """
        self._server = await serve_unix_socket(self._path, self._serve, line_bytes_max=REQUEST_BYTES_MAX)

    async def close(self) -> None:
        """Stop listening for screens and disconnect every one."""
        if self._server is not None:
            self._server.close()
        for writer in list(self._writers):
            writer.close()

    @property
    def player_screen_count(self) -> int:
        """Return the number of connected screens that a player uses; screens that only observe are not counted."""
        return len(self._last_message_at_by_screen)

    @property
    def responding_screen_count(self) -> int:
        """Return the number of connected screens that a player uses and that do not hang.

        A hung program keeps its socket open and shows an outdated picture. It is recognised by missing heartbeats; a
        screen that never sends heartbeats is always counted.
        """
        now = self._read_monotonic_seconds()
        return sum(
            now - last_message_at < _SCREEN_HEARTBEAT_GAP_SECONDS_MAX
            for last_message_at in self._last_message_at_by_screen.values()
        )

    def send(self, message: Message) -> None:
        """Send a message to every connected screen."""
        line = encode_message(message)
        for writer in list(self._writers):
            if writer.transport.get_write_buffer_size() > _BACKLOG_BYTES_MAX:
                self._on_peer_error("a screen does not read its messages, so its connection was closed")
                writer.transport.abort()
                self._remove_screen(writer)
            elif not writer.is_closing():  # a closing one is removed when its input ends
                writer.write(line)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one screen: check its token, send the greeting, then pass on its messages until it disconnects."""
        try:
            hello = decode_message(await reader.readline())
            if not isinstance(hello, Hello) or not is_same_token(hello.token, self._token):
                raise MessageError("a screen did not send the machine's token first")
            for message in self._build_greeting():
                writer.write(encode_message(message))
            self._writers.add(writer)
            if not hello.is_onlooker:
                self._last_message_at_by_screen[writer] = (
                    self._read_monotonic_seconds() if hello.sends_heartbeats else math.inf
                )
            while line := await reader.readline():
                message = decode_message(line)
                if hello.sends_heartbeats and writer in self._last_message_at_by_screen:
                    self._last_message_at_by_screen[writer] = self._read_monotonic_seconds()
                if isinstance(message, ScreenHeartbeat):
                    continue
                if not isinstance(message, Intent):
                    raise MessageError(f"a screen sent {message.type!r}; only intents are accepted")
                self._on_intent(message)
                # A buffered line is returned without waiting: let devices and timers run between two requests.
                await asyncio.sleep(0)
        except (MessageError, ValueError) as error:  # ValueError: a line over the limit
            self._on_peer_error(str(error))
        except (ConnectionError, asyncio.CancelledError):
            pass  # disconnected, or the machine stops; nobody awaits this task
        finally:
            self._remove_screen(writer)
            writer.close()

    def _remove_screen(self, writer: asyncio.StreamWriter) -> None:
        """Remove a disconnected screen from the list of connected screens."""
        self._writers.discard(writer)
        self._last_message_at_by_screen.pop(writer, None)
