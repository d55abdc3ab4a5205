"""``egm run``: the whole cabinet on this computer: bench, machine and screen, each in its own process."""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from egm.clock import SystemClock
from egm.config import StateFolder, default_state_dir, load_cabinet
from egm.errors import OperatorError
from meters import JournalError
from meters.lock import FolderLock
from tools.demonstration import demonstration_staff

#: A child that ends with this status has told the person why; starting it again would only repeat it.
_OPERATOR_ERROR: Final = 2
_RESTARTS_MAX: Final = 5
_RESTART_WINDOW_S: Final = 60.0
_LOCK: Final = "run/cabinet.lock"


@dataclass(frozen=True, slots=True)
class _Child:
    """One process of the cabinet.

    ``ready``: the file whose appearance lets the next child start. ``speaks``: what it prints is for the
    person who started it. ``closes``: when it ends by itself, somebody has closed it, and all end.
    """

    name: str
    arguments: tuple[str, ...]
    ready: Path | None = None
    speaks: bool = False
    closes: bool = False


def _screen_mode(wanted: str) -> str:
    """``auto``: a window where there is a display, else a page in a browser."""
    if wanted != "auto":
        return wanted
    return "window" if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") else "web"


def _children(
    folder: StateFolder, cabinet_path: Path | None, screen: str, port: int | None, *, top: bool = False
) -> tuple[_Child, ...]:
    cabinet = load_cabinet(cabinet_path)
    where = ("--state", str(folder.root))
    which = () if cabinet_path is None else ("--cabinet", str(cabinet_path))
    children = []
    simulated = any(device.port == "bench" for device in cabinet.devices.values())
    if simulated:
        ready = folder.run / "bench.ready"
        children.append(_Child("bench", ("-m", "egm.devices.bench", *where, *which), ready))
    children.append(_Child("machine", ("-m", "egm.cabinet", *where, *which), folder.screen_socket))
    if screen != "none":
        extra = () if port is None else ("--port", str(port))
        bench = ("--bench",) if simulated else ()
        children.append(
            _Child(
                "screen",
                ("-m", "egm.screen", *where, "--mode", screen, *bench, *extra),
                speaks=True,
                closes=True,
            )
        )
    if screen in {"window", "web"}:  # a further player position has a screen of its own
        for position in range(2, cabinet.machine.positions + 1):
            beside = ("--mode", screen, "--position", str(position))
            name = f"screen of position {position}"
            children.append(_Child(name, ("-m", "egm.screen", *where, *beside), speaks=True))
    if top and screen in {"window", "web"}:
        shown = ("--mode", screen, "--top")
        children.append(_Child("top screen", ("-m", "egm.screen", *where, *shown), speaks=True))
    return tuple(children)


def _claim(folder: StateFolder) -> FolderLock:
    """Make the state folder this cabinet's, before anything of another's that runs on it is touched.

    Raises JournalLocked naming the process that has it: another cabinet, or a machine that runs by itself.
    """
    lock = FolderLock(folder.root, _LOCK)
    FolderLock(folder.root).release()
    return lock


class _Supervisor:
    """Starts the children in order and keeps them up; ends when told to, or when one cannot be kept up."""

    def __init__(self, children: Sequence[_Child]) -> None:
        self._children = children
        self._stop = asyncio.Event()
        self._status = 0

    async def run(self) -> int:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._stop.set)
        async with asyncio.TaskGroup() as group:
            for child in self._children:
                if child.ready is not None:
                    child.ready.unlink(missing_ok=True)
                group.create_task(self._keep(child))
                await self._wait_for(child)
        return self._status

    async def _wait_for(self, child: _Child) -> None:
        # A file another process makes cannot be awaited, only looked for.
        while child.ready is not None and not child.ready.exists() and not self._stop.is_set():  # noqa: ASYNC110 (see above)
            await asyncio.sleep(0.02)

    async def _keep(self, child: _Child) -> None:
        loop = asyncio.get_running_loop()
        starts: list[float] = []
        stopped = asyncio.create_task(self._stop.wait())
        while not self._stop.is_set():
            starts = [at for at in starts if loop.time() - at < _RESTART_WINDOW_S] + [loop.time()]
            said = None if child.speaks else asyncio.subprocess.DEVNULL
            process = await asyncio.create_subprocess_exec(sys.executable, *child.arguments, stdout=said)
            ended = asyncio.create_task(process.wait())
            await asyncio.wait((ended, stopped), return_when=asyncio.FIRST_COMPLETED)
            if self._stop.is_set():
                await _end(process)
                await ended
                break
            if child.closes and process.returncode == 0:
                self._stop.set()
            elif process.returncode == _OPERATOR_ERROR or len(starts) >= _RESTARTS_MAX:
                if process.returncode != _OPERATOR_ERROR:
                    click.echo(f"egm: the {child.name} ended {len(starts)} times within a minute", err=True)
                self._status = process.returncode or 1
                self._stop.set()
            else:
                click.echo(
                    f"egm: the {child.name} ended with status {process.returncode}; restarting", err=True
                )
        stopped.cancel()


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.terminate()
        try:
            async with asyncio.timeout(5):
                await process.wait()
        except TimeoutError:
            process.kill()


@click.command()
@click.option("--state", "state", type=click.Path(path_type=Path), help="Where the machine's memory lives.")
@click.option("--cabinet", "cabinet", type=click.Path(path_type=Path), help="The cabinet file.")
@click.option(
    "--screen",
    type=click.Choice(["auto", "window", "kmsdrm", "web", "none"]),
    default="auto",
    show_default=True,
    help="Where the picture goes; auto: a window where there is a display, else a browser.",
)
@click.option("--port", type=click.IntRange(0, 65535), help="The browser screen's port on 127.0.0.1.")
@click.option("--top", is_flag=True, help="A top screen as well: a second window, or a second browser page.")
def command(state: Path | None, cabinet: Path | None, screen: str, port: int | None, *, top: bool) -> None:
    """Start the cabinet: simulated devices, the machine, and the screen. Ctrl-C stops it."""
    folder = StateFolder(state or default_state_dir())
    try:
        folder.prepare()
        lock = _claim(folder)
        children = _children(folder, cabinet, _screen_mode(screen), port, top=top)
        badges = demonstration_staff(load_cabinet(cabinet), folder, SystemClock().now())
    except (OperatorError, JournalError) as error:
        raise click.ClickException(str(error)) from error
    for badge in badges:
        click.echo(f"egm: {badge.role} {badge.name}: staff number {badge.number}, PIN {badge.pin}")
    status = asyncio.run(_Supervisor(children).run())
    lock.release()
    sys.exit(status)
