"""Describe what a stuck program is waiting for: every task, down to the innermost await."""

import asyncio
from collections.abc import Iterable
from typing import Any

_DEPTH_MAX = 50


def describe_waiting_tasks(tasks: Iterable[asyncio.Task[Any]]) -> list[str]:
    """Return a line for each task and for each of its suspended frames, outermost first."""
    lines = []
    for task in sorted(tasks, key=asyncio.Task.get_name):
        cancellations = f", cancelled {task.cancelling()} times" if task.cancelling() else ""
        lines += [
            f"task {task.get_name()}{cancellations}",
            *(f"    {frame}" for frame in _list_suspended_frames(task.get_coro())),
        ]
    return lines


def _list_suspended_frames(waiting: Any) -> list[str]:
    """Return a line for each suspended frame of a coroutine, outermost first.

    ``Task.get_stack`` has only the outermost frame.
    """
    found: list[str] = []
    while waiting is not None and len(found) < _DEPTH_MAX:
        frame = getattr(waiting, "cr_frame", None) or getattr(waiting, "ag_frame", None)
        if frame is None:
            return [*found, type(waiting).__name__]
        found.append(f"{frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_name}")
        waiting = getattr(waiting, "cr_await", None) or getattr(waiting, "ag_await", None)
    return found
