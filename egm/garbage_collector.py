"""Pause Python's garbage collector while many long-lived objects are created.

Otherwise it would examine each of these objects again and again.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pause_garbage_collector() -> Iterator[None]:
    """Pause Python's cyclic garbage collector in this process while the context lasts.

    If the collector was off already, it stays off.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
