"""Make a process private: its files belong to its owner only, and no other process can look into it.

Every process of a cabinet calls :func:`close_process` first. Without it, an inherited umask would decide who
can read the journal, and another process of the same user could read keys from its memory or reach files
through ``/proc/PID/root``.
"""

import ctypes
import os
from typing import Final

_PR_SET_DUMPABLE: Final = 4
"""From Linux, linux/prctl.h."""
OTHERS: Final = 0o077
"""The permission bits of everybody except the owner."""


def close_process() -> None:
    """Restrict new files and folders to the owner, and disable core dumps and access to the process's memory."""
    os.umask(OTHERS)
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
