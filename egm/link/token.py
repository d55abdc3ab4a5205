"""The secret that stands beside a socket, in a file only the machine's user can read."""

import os
from pathlib import Path


def make_token(path: Path) -> str:
    """Write a new token to ``path`` (mode 0600), in the place of any old one, and return it."""
    token = os.urandom(24).hex()
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(token)
    return token
