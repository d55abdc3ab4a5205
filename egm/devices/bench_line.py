"""Bench line: a simulated device proves that it owns a line before the machine writes to it.

After its owner has died, the name of a pseudo-terminal (``/dev/pts/4``) is reused for the next one that is
opened, so a link to it may lead to another program, or to another cabinet's printer. The bench therefore
holds a lock beside each link for as long as it has the line, and names its terminal in the locked file. The
kernel releases the lock when the bench dies, for whatever reason. A link without a lock is not used.
"""

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from egm.devices.line import Handle, LineLostError, LineSettings, open_port

_TEXT_BYTES = 256


def owner_of(link: Path) -> Path:
    """Return the lock file that proves the owner of a link."""
    return link.with_name(f".{link.name}.owner")


def claim(link: Path, terminal: str) -> int:
    """Prove that ``link`` leads to ``terminal`` of this process, until the descriptor returned is closed."""
    fresh = link.with_name(f".{link.name}.owner.new")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.write(descriptor, terminal.encode())
    fresh.replace(owner_of(link))
    return descriptor


def proven_terminal(link: Path) -> str | None:
    """Return the terminal that a running owner names for ``link``, or None if it has no owner or leads elsewhere."""
    try:
        descriptor = os.open(owner_of(link), os.O_RDONLY | os.O_CLOEXEC)
        leads_to = str(link.readlink())
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:  # held: its owner lives
        said = os.read(descriptor, _TEXT_BYTES).decode(errors="replace")
        return said if said == leads_to else None
    finally:
        os.close(descriptor)
    return None


def open_bench_line(path: str, settings: LineSettings) -> Handle:
    """Open a bench's line. Raises :class:`LineLostError` if no running bench owns it.

    The owner is checked again once the line is open: the open line then belongs to a running owner.
    """
    link = Path(path)
    terminal = proven_terminal(link)
    if terminal is None:
        raise LineLostError(path, "no running bench owns this line")
    handle = open_port(terminal, settings)
    with suppress(OSError):
        if os.ttyname(handle.fileno()) == terminal == proven_terminal(link):
            return handle
    handle.close()
    raise LineLostError(path, "the bench that owned this line has gone")
