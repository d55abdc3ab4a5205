"""Client of the bench (the process of the simulated devices), for terminals and tests."""

import socket
from pathlib import Path
from typing import Self

from egm.kernel.messages import (
    LINE_BYTES_MAX,
    BenchCommand,
    BenchReply,
    Hello,
    MessageError,
    decode_message,
    encode_message,
)
from egm.unix_sockets import open_socket_address


class BenchUnreachableError(Exception):
    """Raised if the bench does not reply.

    The text names the state folder and the reason.
    """


class BenchClient:
    """A client's connection to the bench of one machine.

    Use it as a context manager.
    """

    def __init__(self, run_folder: Path, timeout_seconds: float = 5.0) -> None:
        """Connect to the bench, whose socket is in ``run_folder``.

        Raises :class:`BenchUnreachableError` if it does not reply within ``timeout_seconds`` seconds.
        """
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(timeout_seconds)
        try:
            token = (run_folder / "bench.token").read_text(encoding="utf-8")
            with open_socket_address(run_folder / "bench.sock") as address:
                self._socket.connect(address)
            self._stream = self._socket.makefile("rwb")
            reply = self._request(Hello(token=token))
        except (OSError, MessageError) as error:
            self._socket.close()
            if not (run_folder / "bench.sock").exists():
                raise BenchUnreachableError(
                    f"no simulated device replies at {run_folder}: start the cabinet there with `egm run`"
                ) from error
            raise BenchUnreachableError(f"no connection to the bench at {run_folder}: {error}") from error
        if not isinstance(reply, Hello):
            self.close()
            raise BenchUnreachableError(f"the bench at {run_folder} refused: {reply}")

    def _request(self, message: Hello | BenchCommand) -> object:
        """Send a message to the bench and return its reply.

        Raises ConnectionError if it closes the connection.
        """
        self._stream.write(encode_message(message))
        self._stream.flush()
        line = self._stream.readline(LINE_BYTES_MAX)
        if not line:
            raise ConnectionError("the bench closed the connection")
        return decode_message(line)

    def execute_action(self, device: str, action: str = "state", /, **values: int | str | bool) -> BenchReply:
        """Perform a person's action on a simulated device, such as inserting a bill, and return the result.

        Raises :class:`BenchUnreachableError` if the connection is lost.
        """
        try:
            reply = self._request(BenchCommand(device=device, action=action, values=values))
        except (OSError, MessageError) as error:
            raise BenchUnreachableError(f"the connection to the bench was lost: {error}") from error
        if not isinstance(reply, BenchReply):
            raise BenchUnreachableError(f"the bench sent an unexpected reply: {reply}")
        return reply

    def close(self) -> None:
        """Close the connection to the bench."""
        self._stream.close()
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
