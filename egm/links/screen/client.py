"""Client of a message socket, used by the machine's screen and by the panel that operates simulated devices.

Made for a frame loop: nothing blocks. :meth:`ScreenClient.poll` connects when possible, sends a hello with the
token, and returns whatever has arrived; if the connection is lost, it is tried again after a delay that
doubles up to a limit.
"""

import contextlib
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from egm.kernel.messages import LINE_BYTES_MAX, Hello, Message, MessageError, decode_message, encode_message
from egm.unix_sockets import open_socket_address

#: Delay in seconds before the first attempt to reconnect.
FIRST_RECONNECT_DELAY_SECONDS: Final = 0.1
#: Longest delay in seconds between attempts to reconnect.
RECONNECT_DELAY_SECONDS_MAX: Final = 0.5
#: Most bytes read at a time.
_READ_BYTES_MAX: Final = 1 << 18
#: Most bytes that wait to be sent; beyond them messages are dropped.
_UNSENT_BYTES_MAX: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class PollResult:
    """The result of one :meth:`ScreenClient.poll`: messages received, and whether the connection was opened or lost.

    ``error_text`` describes an error of the connection. It is "" if the server is merely not running.
    """

    messages: tuple[Message, ...] = ()
    has_link_opened: bool = False
    has_link_been_lost: bool = False
    error_text: str = ""


class ScreenClient:
    """One client connection to the machine or to the bench (the process of the simulated devices)."""

    def __init__(
        self,
        socket_path: Path,
        token_path: Path,
        *,
        is_onlooker: bool = False,
        sends_heartbeats: bool = False,
    ) -> None:
        """Create a client for the socket at ``socket_path``; its token is in the file at ``token_path``.

        ``is_onlooker``: the client only observes; no player uses its picture. ``sends_heartbeats``: the client sends
        :class:`~egm.kernel.messages.ScreenHeartbeat` regularly, so that the machine notices if it hangs.
        """
        self._sends_heartbeats = sends_heartbeats
        self._is_onlooker = is_onlooker
        self._path = socket_path
        self._token_path = token_path
        self._socket: socket.socket | None = None
        self._received_bytes = bytearray()
        self._unsent_bytes = bytearray()
        self._reconnect_delay_seconds = FIRST_RECONNECT_DELAY_SECONDS
        self._next_attempt_at = 0.0

    def send(self, message: Message) -> bool:
        """Queue a message to the server; return False if it is dropped.

        It is dropped without a connection, or if too many bytes wait to be sent.
        """
        if self._socket is None or len(self._unsent_bytes) > _UNSENT_BYTES_MAX:
            return False
        self._unsent_bytes += encode_message(message)
        return True

    def poll(self, now: float) -> PollResult:
        """Connect if necessary, send queued messages, and return the messages received.

        ``now`` is in monotonic seconds. The call never blocks or raises.
        """
        has_opened = False
        if self._socket is None:
            if now < self._next_attempt_at or not self._connect(now):
                return PollResult()
            has_opened = True
        try:
            self._write()
            messages = self._read()
        except (OSError, MessageError) as error:
            self.close()
            self._back_off(now)
            is_server_gone = isinstance(error, ConnectionError)  # a server that stops or restarts is no error
            return PollResult(
                has_link_opened=has_opened,
                has_link_been_lost=True,
                error_text="" if is_server_gone else str(error),
            )
        if messages:
            self._reconnect_delay_seconds = FIRST_RECONNECT_DELAY_SECONDS
        return PollResult(messages, has_link_opened=has_opened)

    def close(self) -> None:
        """Close the connection, and drop unsent messages."""
        if self._socket is not None:
            self._socket.close()
        self._socket = None
        self._received_bytes.clear()
        self._unsent_bytes.clear()

    def _back_off(self, now: float) -> None:
        """Schedule the next attempt to connect; each delay is twice the one before, up to a limit."""
        self._next_attempt_at = now + self._reconnect_delay_seconds
        self._reconnect_delay_seconds = min(RECONNECT_DELAY_SECONDS_MAX, self._reconnect_delay_seconds * 2)

    def _connect(self, now: float) -> bool:
        """Connect and queue the hello; on failure schedule the next attempt and return False."""
        new_socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            token = self._token_path.read_text("utf-8").strip()
            with open_socket_address(self._path) as address:
                new_socket.connect(address)
        except (OSError, UnicodeDecodeError):
            new_socket.close()
            self._back_off(now)
            return False
        new_socket.setblocking(False)
        self._socket = new_socket
        self._unsent_bytes += encode_message(
            Hello(token=token, is_onlooker=self._is_onlooker, sends_heartbeats=self._sends_heartbeats)
        )
        return True

    def _write(self) -> None:
        """Send as many queued bytes as the socket accepts now."""
        if self._socket is not None and self._unsent_bytes:
            with contextlib.suppress(BlockingIOError):
                sent_byte_count = self._socket.send(self._unsent_bytes)
                del self._unsent_bytes[:sent_byte_count]

    def _read(self) -> tuple[Message, ...]:
        """Return every complete message received. Raises OSError for a closed link, MessageError for a bad line."""
        assert self._socket is not None
        while True:
            try:
                block = self._socket.recv(_READ_BYTES_MAX)
            except BlockingIOError:
                break
            if not block:
                if self._received_bytes:
                    break
                raise ConnectionResetError("the peer closed the link")
            self._received_bytes += block
            if len(self._received_bytes) > LINE_BYTES_MAX and b"\n" not in self._received_bytes:
                raise MessageError(f"a line of more than {LINE_BYTES_MAX} bytes")
        *lines, incomplete_line = self._received_bytes.split(b"\n")
        self._received_bytes = bytearray(incomplete_line)
        return tuple(decode_message(bytes(line)) for line in lines if line)
