"""Proof that a simulated device's serial line belongs to the running bench (the process of the simulated devices).

The name of a pseudo-terminal (``/dev/pts/4``) is reused as soon as its owner is dead, so a link to it may
lead to another program, or to another cabinet's printer. The bench therefore holds a lock, beside each link,
while it has the line, and names the terminal in the locked file. The kernel releases the lock when the bench
dies, however it dies. The machine writes nothing to a link without a held lock.
"""

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from egm.devices.line import LineLostError, LineSettings, SerialHandle, open_port

#: Most bytes read from a lock file.
_TEXT_BYTES = 256


def find_owner_lock(link: Path) -> Path:
    """Return the path of the lock file beside ``link``, a link to a simulated device's line.

    The process of the simulated devices holds the lock while it runs.
    """
    return link.with_name(f".{link.name}.owner")


def lock_terminal_link(link: Path, terminal: str) -> int:
    """Lock the symbolic link ``link``, which leads to this process's pseudo-terminal; return the lock's descriptor.

    The lock is held until the descriptor is closed.
    """
    new_lock = link.with_name(f".{link.name}.owner.new")
    new_lock.unlink(missing_ok=True)
    descriptor = os.open(new_lock, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.write(descriptor, terminal.encode())
    new_lock.replace(find_owner_lock(link))
    return descriptor


def find_proven_terminal(link: Path) -> str | None:
    """Return the terminal to which the symbolic link ``link`` leads, if its running owner confirms this.

    Return None if no running process owns the link, or if the owner states another terminal.
    """
    try:
        descriptor = os.open(find_owner_lock(link), os.O_RDONLY | os.O_CLOEXEC)
        leads_to = str(link.readlink())
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:  # locked: its owner is running
        stated_path = os.read(descriptor, _TEXT_BYTES).decode(errors="replace")
        return stated_path if stated_path == leads_to else None
    finally:
        os.close(descriptor)
    return None


def open_bench_line(path: str, settings: LineSettings) -> SerialHandle:
    """Open the serial line of a simulated device.

    Raises :class:`LineLostError` if the process of the simulated devices is not running. The owner is checked
    again once the line is open: what is open then belongs to a running owner, and remains so.
    """
    link = Path(path)
    terminal = find_proven_terminal(link)
    if terminal is None:
        raise LineLostError(path, "the device simulator (bench) that owns this line is not running")
    handle = open_port(terminal, settings)
    with suppress(OSError):
        if os.ttyname(handle.fileno()) == terminal == find_proven_terminal(link):
            return handle
    handle.close()
    raise LineLostError(path, "the device simulator (bench) that owned this line has ended")
