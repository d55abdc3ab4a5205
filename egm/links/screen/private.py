"""Sockets and secrets in the state folder, for the machine's own user only."""

import asyncio
import hmac
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from egm.secret_files import replace_private, share
from egm.unix_sockets import socket_address

HOST: Final = "127.0.0.1"
"""Where the browser screen listens: this computer alone."""


def make_token(path: Path) -> str:
    """Write a new token to ``path`` (mode 0600), in the place of any old one, and return it."""
    token = os.urandom(24).hex()
    replace_private(path, token)
    share(path, 0o640)
    return token


def kept_token(path: Path) -> str:
    """The token of ``path``, made there the first time, and again where a cut left it empty."""
    kept = path.read_text("ascii").strip() if path.exists() else ""
    return kept or make_token(path)


def is_token(shown: str, token: str) -> bool:
    """Whether what was shown is the token; any text may be shown, and the time says nothing."""
    return hmac.compare_digest(shown.encode("utf-8", "surrogatepass"), token.encode())


async def listen(
    path: Path,
    serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
    *,
    line_bytes_max: int,
) -> asyncio.Server:
    """Serve on a socket at ``path`` (mode 0600), in the place of one left by a process that was killed."""
    path.unlink(missing_ok=True)  # noqa: ASYNC240 (one local file, before anybody is served)
    mask = os.umask(0o177)
    try:
        with socket_address(path) as address:
            server = await asyncio.start_unix_server(serve, address, limit=line_bytes_max)
        share(path, 0o660)
    finally:
        os.umask(mask)
    return server
