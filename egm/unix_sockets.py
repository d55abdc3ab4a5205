"""Addresses of Unix sockets whose path may be longer than a socket address can hold."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

#: Maximum length in bytes of a socket's address, without the terminating null byte (unix(7), ``sun_path``).
_ADDRESS_BYTES_MAX: Final = 107


def can_be_socket_address(path: Path) -> bool:
    """Return whether the address of a Unix socket can hold ``path``."""
    return len(os.fsencode(path)) <= _ADDRESS_BYTES_MAX


@contextmanager
def open_socket_address(path: Path) -> Iterator[str]:
    """Yield an address at which the socket at ``path`` can be bound or connected while the context lasts.

    A path that is too long is reached through an open descriptor of its folder. Raises OSError if that folder
    does not exist or may not be entered.
    """
    if can_be_socket_address(path):
        yield str(path)
        return
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)
