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


def _list_suspended_frames(awaitable: Any) -> list[str]:
    """Return a line for each suspended frame of a coroutine, outermost first.

    ``Task.get_stack`` has only the outermost frame.
    """
    frame_lines: list[str] = []
    while awaitable is not None and len(frame_lines) < _DEPTH_MAX:
        frame = getattr(awaitable, "cr_frame", None) or getattr(awaitable, "ag_frame", None)
        if frame is None:
            return [*frame_lines, type(awaitable).__name__]
        frame_lines.append(f"{frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_name}")
        awaitable = getattr(awaitable, "cr_await", None) or getattr(awaitable, "ag_await", None)
    return frame_lines
