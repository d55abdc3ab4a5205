"""Make a process private, and tie it to its parent.

No other user can read a private process's files, and no other process can read its memory. Every process of a
cabinet calls :func:`make_process_private` first. Without it, an inherited umask would decide who can read the
journal, and another process of the same user could read keys from its memory or reach files through
``/proc/PID/root``.
"""

import ctypes
import os
import signal
from typing import Final

#: The C library, for calls of ``prctl``.
_LIBC: Final = ctypes.CDLL(None)
#: Options of ``prctl`` (linux/prctl.h): the signal when the parent ends, and whether others may read the process.
_PR_SET_PDEATHSIG: Final = 1
_PR_SET_DUMPABLE: Final = 4
#: The permission bits of group and others: everybody except a file's owner.
GROUP_AND_OTHERS_PERMISSION_BITS: Final = 0o077


def make_process_private() -> None:
    """Restrict this process's new files to their owner, and prevent other processes from reading its memory.

    Core dumps are disabled as well.
    """
    os.umask(GROUP_AND_OTHERS_PERMISSION_BITS)
    _LIBC.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def end_with_parent(parent: int, with_signal: signal.Signals) -> None:
    """Let the kernel send ``with_signal`` to this process when its parent process, ``parent``, ends.

    Also ignore Ctrl-C, which a terminal sends to every process: the parent decides when this one ends.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _LIBC.prctl(_PR_SET_PDEATHSIG, with_signal, 0, 0, 0)
    if os.getppid() != parent:  # the parent ended before the call took effect
        os._exit(1)
