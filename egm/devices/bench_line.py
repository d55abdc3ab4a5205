"""Proof that a simulated device's serial line belongs to the running bench (the process of the simulated devices).

The machine opens such a line by a symbolic link to a pseudo-terminal (``/dev/pts/4``). The kernel reuses that name as
soon as the process that had it ends, so an old link may lead to another program, or to the printer of another cabinet.
For each link, the bench therefore holds a lock on a file next to it, which names the link's terminal. The kernel
releases the lock when the bench ends, however it ends. The machine sends nothing over a link whose lock is not held.
"""

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from egm.devices.line import LineLostError, LineSettings, SerialHandle, open_port

#: Most bytes read from a lock file.
_LOCK_FILE_BYTES_MAX = 256


def build_owner_lock_path(link: Path) -> Path:
    """Return the path of the lock file for ``link``, the symbolic link to a simulated device's line.

    The bench holds the lock on this file while it runs.
    """
    return link.with_name(f".{link.name}.owner")


def lock_terminal_link(link: Path, terminal: str) -> int:
    """Lock the symbolic link ``link``, which leads to this process's pseudo-terminal; return the lock's descriptor.

    The lock is held until the descriptor is closed.
    """
    new_lock_path = link.with_name(f".{link.name}.owner.new")
    new_lock_path.unlink(missing_ok=True)
    descriptor = os.open(new_lock_path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.write(descriptor, terminal.encode())
    new_lock_path.replace(build_owner_lock_path(link))
    return descriptor


def find_running_bench_terminal(link: Path) -> str | None:
    """Return the terminal to which the symbolic link ``link`` leads, if a running bench owns it.

    The bench holds a lock on the file next to the link, and the file names the terminal. Return None if the lock is not
    held or the file names another terminal.
    """
    try:
        descriptor = os.open(build_owner_lock_path(link), os.O_RDONLY | os.O_CLOEXEC)
        link_target = str(link.readlink())
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:  # locked: the bench is running
        stated_terminal = os.read(descriptor, _LOCK_FILE_BYTES_MAX).decode(errors="replace")
        return stated_terminal if stated_terminal == link_target else None
    finally:
        os.close(descriptor)
    return None


def open_bench_line(path: str, settings: LineSettings) -> SerialHandle:
    """Open the serial line of a simulated device by its link ``path``.

    Whether the bench still owns the line is checked again once it is open. Raises :class:`LineLostError` if the bench
    is not running.
    """
    link = Path(path)
    terminal = find_running_bench_terminal(link)
    if terminal is None:
        raise LineLostError(path, "the bench that owns this line is not running")
    handle = open_port(terminal, settings)
    with suppress(OSError):
        if os.ttyname(handle.fileno()) == terminal == find_running_bench_terminal(link):
            return handle
    handle.close()
    raise LineLostError(path, "the bench that owned this line has ended")
