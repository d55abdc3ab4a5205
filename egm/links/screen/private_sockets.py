"""Sockets and access tokens in the state folder, accessible only to the machine's user.

If the run folder is shared with the screens' group, that group has access too (:mod:`egm.private_files`).
"""

import asyncio
import hmac
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

from egm.private_files import replace_private_file, share_with_screens
from egm.unix_sockets import open_socket_address


def write_new_token(path: Path) -> str:
    """Write a new random token to ``path``, replacing any old one, and return it.

    The file has mode 0600, or 0640 in a folder that is shared with the screens' group.
    """
    token = os.urandom(24).hex()  # noqa: TID251 (it makes a token)
    replace_private_file(path, token)
    share_with_screens(path, 0o640)
    return token


def read_or_create_token(path: Path) -> str:
    """Return the token stored at ``path``; create it if it is missing or a power loss left it empty."""
    stored_token = path.read_text("ascii").strip() if path.exists() else ""
    return stored_token or write_new_token(path)


def is_same_token(text: str, token: str) -> bool:
    """Return whether the text that a client sent is the token; the comparison takes constant time."""
    return hmac.compare_digest(text.encode("utf-8", "surrogatepass"), token.encode())


async def serve_unix_socket(
    path: Path,
    serve_client: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
    *,
    line_bytes_max: int,
) -> asyncio.Server:
    """Serve clients on a unix socket at ``path``, replacing one left by a killed process.

    The socket has mode 0600, or 0660 in a folder that is shared with the screens' group. If this call fails
    or is cancelled, the socket is closed.
    """
    path.unlink(missing_ok=True)  # noqa: ASYNC240 (one local file, before the server starts)
    previous_umask = os.umask(0o177)
    try:
        with open_socket_address(path) as address:
            server = await asyncio.start_unix_server(
                serve_client, address, limit=line_bytes_max, start_serving=False
            )
    finally:
        os.umask(previous_umask)
    try:
        share_with_screens(path, 0o660)
        await server.start_serving()
    except BaseException:
        server.close()
        raise
    return server
