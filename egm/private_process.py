"""A private process: what it makes is its owner's alone, and no other process looks into it.

Every process of a cabinet calls :func:`close_process` before anything else. Without it a mask that was
inherited would decide who reads the journal, and whoever runs as the same user could read keys out of the
memory, or reach files through ``/proc/PID/root``.
"""

import ctypes
import os
from typing import Final

_PR_SET_DUMPABLE: Final = 4
"""Linux, linux/prctl.h."""
OTHERS: Final = 0o077
"""The rights of everybody but the owner."""


def close_process() -> None:
    """Make files and folders for the owner only from now on; leave no core, show no process our memory."""
    os.umask(OTHERS)
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
