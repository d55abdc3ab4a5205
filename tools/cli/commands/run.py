"""``egm run``: a whole cabinet on this computer: simulated devices, machine and screen, each in its own process."""

import asyncio
import os
import shlex
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Final

import click

from egm.clock import SystemClock
from egm.config.cabinet_file import CabinetFile, StateFolder, find_default_state_folder, load_cabinet
from egm.config.computer_checks import find_missing_ports
from egm.devices.protocols import PROTOCOLS
from egm.errors import OperatorError
from egm.isolated import build_python_command
from egm.people.demonstration import DEMONSTRATION_FILE_NAME
from egm.private_process import end_with_parent, make_process_private
from egm.screen import EXIT_CODE_CLOSED_BY_PERSON, LOOPBACK_ADDRESS
from meters import JournalError
from meters.lock import FolderLock
from tools.cli.demonstration import load_demonstration_badges
from tools.cli.terminal import echo

#: A child that exits with this status has printed the reason; a restart would only repeat it.
_OPERATOR_ERROR_EXIT_CODE: Final = 2
#: The machine exits with this status if it waited for a change of the cabinet file and the file has changed; all
#: processes then restart.
_FILE_CHANGED_EXIT_CODE: Final = 4
#: When the machine has ended this often within ``_RESTART_WINDOW_SECONDS``, it is not restarted again.
_MACHINE_ENDS_MAX: Final = 5
#: The last seconds within which the ends of a process are counted.
_RESTART_WINDOW_SECONDS: Final = 60.0
#: If a child ends with an operator error within this time after its first start, it never worked; the person
#: who started it is present and has read the reason.
_FAILED_START_SECONDS_MAX: Final = 30.0
#: After this many ends within ``_RESTART_WINDOW_SECONDS``, a process other than the machine is restarted only after a
#: pause, which doubles with each further end.
_FIRST_END_WITH_PAUSE: Final = 3
#: The longest pause before a restart, in seconds.
_RESTART_PAUSE_SECONDS_MAX: Final = 10.0
#: The file in the state folder that one cabinet locks.
_CABINET_LOCK_FILE: Final = "run/cabinet.lock"


@dataclass(frozen=True, slots=True)
class _CabinetProcess:
    """One process of the cabinet (such as machine or screen): how it starts, and what happens when it ends."""

    name: str
    command: tuple[str, ...]
    ready_file: Path | None = None
    """The file that the process creates when it is ready, so that the next can start. None: the next starts at once."""
    prints_to_terminal: bool = False
    """Whether the process prints to the terminal of the person who started the cabinet."""
    closing_ends_cabinet: bool = False
    """Whether the whole cabinet ends if a person closes this process, such as its window."""
    clean_up: Callable[[], None] = lambda: None
    """A function called each time the process has ended, to clean up."""
    is_machine: bool = False
    """Whether this is the machine's process, which holds the money: no other process may end it."""
    passed_descriptors: tuple[int, ...] = ()
    """The file descriptors passed to the process at each start."""


@cache
def _open_browser_sockets(name: str, port: int) -> tuple[int, int]:
    """Return the descriptors for a browser screen: its listening socket, and the in-memory file of its sessions.

    The screen process receives both at each start (option ``--held``), so a restart changes neither its address nor the
    sessions of its browsers. Both close when this process ends. Raises ClickException for a port that is in use.
    """
    try:
        listening_descriptor = socket.create_server((LOOPBACK_ADDRESS, port)).detach()
    except OSError as error:
        reason = f"port {port} on {LOOPBACK_ADDRESS}: {os.strerror(error.errno or 0)}"
        raise click.ClickException(
            f"{name}: {reason}; choose another with --port, or 0 for any free one"
        ) from error
    return listening_descriptor, os.memfd_create(name)


def _build_screen_process(
    name: str,
    arguments: Sequence[str],
    screen_options: "_ScreenOptions",
    address_file: Path,
    port: int = 0,
    *,
    closing_ends_cabinet: bool = False,
) -> _CabinetProcess:
    """Return a process of the cabinet that runs a screen.

    A browser screen receives its listening socket; it is ready when it has written its address to a file.
    """
    descriptors = _open_browser_sockets(name, port) if screen_options.mode == "web" else ()
    descriptor_option = ("--held", *map(str, descriptors)) if descriptors else ()
    command = build_python_command(
        "egm.screen", *arguments, "--mode", screen_options.mode, *descriptor_option
    )
    return _CabinetProcess(
        name,
        command,
        address_file if descriptors else None,
        prints_to_terminal=True,
        closing_ends_cabinet=closing_ends_cabinet,
        passed_descriptors=descriptors,
    )


def _resolve_screen_mode(requested_mode: str) -> str:
    """Return ``requested_mode``; for ``auto``, a window if there is a display, otherwise a web page."""
    if requested_mode != "auto":
        return requested_mode
    return "window" if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") else "web"


@dataclass(frozen=True, slots=True, kw_only=True)
class _ScreenOptions:
    """The options of the screen processes: where the screen is displayed, and how."""

    mode: str
    """The kind of screen: a window, a full display, a web page, or none."""
    port: int | None = None
    """The port of a browser screen, or None."""
    has_top_screen: bool = False
    """Whether the cabinet has a top screen."""
    display: int = 0
    """The number of the display for the players' screens."""
    top_display: int | None = None
    """The number of the display for the top screen, or None."""
    flags: tuple[str, ...] = ()
    """Flags for every player's screen: ``--fullscreen``, ``--portrait``, ``--reduced-motion``, ``--silent``."""
    asks_for_cabinet_file: bool = False
    """Whether the screen, rather than the terminal, asks for a missing cabinet file."""
    stick: Path | None = None
    """The file used in place of the enrolment USB stick on a computer that has no port for it."""

    @property
    def is_kiosk(self) -> bool:
        """Return whether the screen fills the display, so that errors printed to a terminal would not be seen."""
        return self.mode == "kmsdrm" or "--fullscreen" in self.flags


def _build_child_processes(
    folder: StateFolder,
    cabinet_path: Path | None,
    cabinet: CabinetFile | None,
    screen_options: _ScreenOptions,
) -> tuple[_CabinetProcess, ...]:
    """Return the cabinet's processes in the order of their start.

    ``cabinet`` is None if the cabinet file is unusable; then the screen displays the reason.
    """
    screen_mode = screen_options.mode
    state_option = ("--state", str(folder.root))
    cabinet_option = () if cabinet_path is None else ("--cabinet", str(cabinet_path))
    children = []
    if _list_simulated_devices(cabinet):
        ready_file = folder.run_folder / "bench.ready"
        children.append(
            _CabinetProcess(
                "bench", build_python_command("egm.app.bench", *state_option, *cabinet_option), ready_file
            )
        )
    flags = [
        *(("--stay",) if screen_options.is_kiosk else ()),
        *(("--first-start",) if screen_options.asks_for_cabinet_file else ()),
    ]
    if screen_options.is_kiosk and (  # and every position has a screen
        screen_mode != "kmsdrm" or cabinet is None or cabinet.machine.position_count == 1
    ):
        flags.append("--watched")
    flags += [] if screen_options.stick is None else ["--stick", str(screen_options.stick)]
    machine_command = build_python_command("egm.app", *state_option, *cabinet_option, *flags)
    children.append(
        _CabinetProcess("machine", machine_command, clean_up=folder.remove_line_links, is_machine=True)
    )
    if screen_mode != "none":
        display_option = ("--display", str(screen_options.display))
        has_several_screens = (
            cabinet is not None and cabinet.machine.position_count > 1 and screen_mode in {"window", "web"}
        )
        first_screen_arguments = (
            *state_option,
            *_list_drawer_options(cabinet, 1),
            *display_option,
            *(("--position", "1") if has_several_screens else ()),
            *screen_options.flags,
        )
        address_file = folder.get_screen_address_path(1)
        children.append(
            _build_screen_process(
                "screen",
                first_screen_arguments,
                screen_options,
                address_file,
                screen_options.port or 0,
                closing_ends_cabinet=True,
            )
        )
    if cabinet is not None and screen_mode in {"window", "web"}:
        for position in range(2, cabinet.machine.position_count + 1):  # each has its own screen
            screen_arguments = (
                *state_option,
                *_list_drawer_options(cabinet, position),
                "--position",
                str(position),
                *screen_options.flags,
            )
            address_file = folder.get_screen_address_path(position)
            children.append(
                _build_screen_process(
                    f"screen of position {position}", screen_arguments, screen_options, address_file
                )
            )
    if screen_options.has_top_screen and screen_mode in {"window", "web"}:
        top_display_option = (
            () if screen_options.top_display is None else ("--display", str(screen_options.top_display))
        )
        children.append(
            _build_screen_process(
                "top screen",
                (*state_option, "--top", *top_display_option),
                screen_options,
                folder.get_screen_address_path(None),
            )
        )
    return tuple(children)


def _list_drawer_options(cabinet: CabinetFile | None, position: int) -> tuple[str, ...]:
    """Return the screen options that let a person operate a position's simulated devices on its screen."""
    simulated_devices = _list_simulated_devices(cabinet, position)
    if cabinet is None or not simulated_devices:
        return ()
    has_several_positions = cabinet.machine.position_count > 1
    return (
        "--bench",
        *(word for name in simulated_devices for word in ("--device", name) if has_several_positions),
    )


def _list_start_notes(folder: StateFolder, mode: str, cabinet: CabinetFile) -> tuple[str, ...]:
    """Return the notes printed at each start of a cabinet: its folder, how to open the screen, and the keys."""
    notes, has_several_positions = (
        [f"the machine's memory is in {folder.root}"],
        cabinet.machine.position_count > 1,
    )
    if mode == "web":
        addresses_text = (
            "each address below in a browser" if has_several_positions else "the address below in a browser"
        )
        options_text = " --position N" if has_several_positions else ""
        if folder.root != find_default_state_folder():
            options_text += f" --state {shlex.quote(str(folder.root))}"
        notes.append(
            f"open {addresses_text} on this computer, as soon as it is printed"
            f" (for a new address: egm screen address{options_text})"
        )
    screen_count = {"none": 0, "kmsdrm": 1}.get(mode, cabinet.machine.position_count)
    positions_with_drawer = [
        position for position in range(1, screen_count + 1) if _list_simulated_devices(cabinet, position)
    ]
    if positions_with_drawer:
        takes_bills = any(
            device.port == "bench" and PROTOCOLS[device.protocol].device_kind == "bill_acceptor"
            for device in cabinet.devices.values()
        )
        position_text = (
            f" of position {' and of '.join(map(str, positions_with_drawer))}"
            if has_several_positions
            else ""
        )
        insert_text = ": insert a bill there" * takes_bills
        notes.append(f"F2, or the tab at the right edge, opens the drawer{position_text}{insert_text}")
    if mode != "none":
        notes.append(
            "keys: space plays, c cashes out, arrows change the bet, h shows the help, l changes the language,"
            " F10 opens the service menu for staff"
        )
    return (*notes, "Ctrl-C stops the cabinet; nothing is lost")


def _lock_state_folder(folder: StateFolder) -> FolderLock:
    """Lock the state folder for this cabinet, before anything in it is used.

    Raises JournalLocked, which names the process that uses the folder: another cabinet, or a machine started
    alone.
    """
    lock = FolderLock(folder.root, _CABINET_LOCK_FILE)
    # This only checks that no machine uses the folder: the cabinet's own machine will take this lock itself.
    FolderLock(folder.root).release()
    return lock


class _Supervisor:
    """A supervisor that starts the cabinet's processes and restarts those that end, until a signal or a final error."""

    def __init__(self, children: Sequence[_CabinetProcess]) -> None:
        self._children = children
        self._stop_event = asyncio.Event()
        self._exit_status = 0

    async def run(self) -> int:
        """Start the processes in order and keep them running until a signal; return the exit status."""
        loop = asyncio.get_running_loop()
        for signal_number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(signal_number, self._stop_event.set)
        async with asyncio.TaskGroup() as group:
            for child in self._children:
                if child.ready_file is not None:
                    child.ready_file.unlink(missing_ok=True)
                group.create_task(self._run_with_restarts(child))
                await self._wait_for(child)
        return self._exit_status

    async def _wait_for(self, child: _CabinetProcess) -> None:
        """Wait until the process has created the file that shows that it is ready."""
        if child.ready_file is None:
            return
        # A file that another process creates can only be polled.
        while not child.ready_file.exists() and not self._stop_event.is_set():  # noqa: ASYNC110 (see above)
            await asyncio.sleep(0.02)

    async def _run_with_restarts(self, child: _CabinetProcess) -> None:
        """Run a process, and restart it whenever it ends, until the supervisor stops."""
        loop = asyncio.get_running_loop()
        start_times_seconds: list[float] = []
        first_start_seconds = loop.time()
        stop_task = asyncio.create_task(self._stop_event.wait())
        while not self._stop_event.is_set():
            start_times_seconds = [
                s for s in start_times_seconds if loop.time() - s < _RESTART_WINDOW_SECONDS
            ] + [loop.time()]
            standard_output = None if child.prints_to_terminal else asyncio.subprocess.DEVNULL
            process = await asyncio.create_subprocess_exec(
                *child.command,
                stdout=standard_output,
                preexec_fn=partial(end_with_parent, os.getpid(), signal.SIGTERM),
                pass_fds=child.passed_descriptors,
            )
            wait_task = asyncio.create_task(process.wait())
            await asyncio.wait((wait_task, stop_task), return_when=asyncio.FIRST_COMPLETED)
            if self._stop_event.is_set():
                await _end_process(process)
                await wait_task
            child.clean_up()
            if self._stop_event.is_set():
                break
            if child.closing_ends_cabinet and process.returncode == EXIT_CODE_CLOSED_BY_PERSON:
                self._stop_event.set()
            elif self._should_end_cabinet(
                child, process.returncode, len(start_times_seconds), loop.time() - first_start_seconds
            ):
                self._exit_status = process.returncode or 1
                self._stop_event.set()
            else:
                echo(f"egm: the {child.name} ended with status {process.returncode}; restarting", err=True)
                if not child.is_machine:
                    await asyncio.wait(
                        (stop_task,), timeout=_compute_restart_pause_seconds(len(start_times_seconds))
                    )
        stop_task.cancel()

    def _should_end_cabinet(
        self,
        child: _CabinetProcess,
        exit_status: int | None,
        end_count: int,
        seconds_since_first_start: float,
    ) -> bool:
        """Return whether the end of the process ``child`` ends the whole cabinet.

        The machine's process ends the cabinet with an operator error, with a changed cabinet file, or after
        too many restarts. Any other process ends it only with an operator error soon after its first start.
        """
        if not child.is_machine:
            return (
                exit_status == _OPERATOR_ERROR_EXIT_CODE
                and seconds_since_first_start < _FAILED_START_SECONDS_MAX
            )
        if exit_status in {_OPERATOR_ERROR_EXIT_CODE, _FILE_CHANGED_EXIT_CODE}:
            return True
        if end_count >= _MACHINE_ENDS_MAX:
            echo(f"egm: the {child.name} ended {end_count} times within a minute", err=True)
        return end_count >= _MACHINE_ENDS_MAX


def _compute_restart_pause_seconds(end_count: int) -> float:
    """Return the pause before a process is restarted, in seconds; it has ended ``end_count`` times within a minute."""
    return (
        0.0
        if end_count < _FIRST_END_WITH_PAUSE
        else min(_RESTART_PAUSE_SECONDS_MAX, 2.0 ** (end_count - _FIRST_END_WITH_PAUSE))
    )


def _find_one_game_folder(game: str) -> Path:
    """Return the state folder for a demonstration cabinet with only this game, next to the demonstration's folder."""
    default_folder = find_default_state_folder()
    return default_folder.with_name(f"{default_folder.name}-{Path(game).stem}")


async def _end_process(process: asyncio.subprocess.Process) -> None:
    """Terminate a process, and kill it if it has not ended after five seconds."""
    if process.returncode is None:
        process.terminate()
        try:
            async with asyncio.timeout(5):
                await process.wait()
        except TimeoutError:
            process.kill()


@click.command()
@click.option("--state", "state_folder", type=click.Path(path_type=Path), help="The machine's state folder.")
@click.option("--cabinet", "cabinet_path", type=click.Path(path_type=Path), help="The cabinet file.")
@click.option(
    "--game",
    metavar="GAME",
    help="Run a demonstration cabinet with only this game: a definition file or a library id.",
)
@click.option(
    "--screen",
    type=click.Choice(["auto", "window", "kmsdrm", "web", "none"]),
    default="auto",
    show_default=True,
    help="How to show the screen; auto: a window if there is a display, else a browser.",
)
@click.option("--port", type=click.IntRange(0, 65535), help="The browser screen's port on 127.0.0.1.")
@click.option(
    "--top",
    is_flag=True,
    help="Also show a top screen: a second window or browser page; kmsdrm always has one.",
)
@click.option(
    "--display", type=click.IntRange(0), default=0, help="The number of the display for the window."
)
@click.option(
    "--top-display", type=click.IntRange(0), help="The number of the display for the top screen's window."
)
@click.option(
    "--fullscreen",
    is_flag=True,
    help="Cover the whole display, with no way to leave it; cabinet-file errors are shown there.",
)
@click.option("--portrait", is_flag=True, help="In a browser: always show the picture upright.")
@click.option("--reduced-motion", is_flag=True, help="Show steady lamps, without flashing or fountains.")
@click.option("--silent", is_flag=True, help="Play no sound.")
@click.option(
    "--first-start",
    is_flag=True,
    help="If the cabinet file is missing, ask for its settings on the screen: jurisdiction, devices, games, staff.",
)
@click.option(
    "--stick",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="The USB stick that enrols the machine with the floor, or a file used instead"
    " (default: the stick plugged in as /dev/egm/stick).",
)
def command(
    state_folder: Path | None,
    cabinet_path: Path | None,
    game: str | None,
    stick: Path | None,
    screen: str,
    port: int | None,
    *,
    top: bool,
    display: int,
    top_display: int | None,
    fullscreen: bool,
    portrait: bool,
    reduced_motion: bool,
    silent: bool,
    first_start: bool,
) -> None:
    """Start the cabinet: simulated devices, the machine, and the screen. Ctrl-C stops it."""
    make_process_private()
    flags = {
        "--fullscreen": fullscreen,
        "--portrait": portrait,
        "--reduced-motion": reduced_motion,
        "--silent": silent,
    }
    screen_options = _ScreenOptions(
        mode=_resolve_screen_mode(screen),
        port=port,
        has_top_screen=top,
        display=display,
        top_display=top_display,
        flags=tuple(flag for flag, is_on in flags.items() if is_on),
        asks_for_cabinet_file=first_start,
        stick=None if stick is None else stick.absolute(),
    )
    if first_start and cabinet_path is None:
        raise click.UsageError("--first-start writes a cabinet file: name it with --cabinet")
    if game is not None and cabinet_path is not None:
        raise click.UsageError("--game writes its own cabinet file: give either --game or --cabinet")
    folder = StateFolder(
        state_folder or (find_default_state_folder() if game is None else _find_one_game_folder(game))
    )
    try:
        # a kiosk shows the error on its screen until the file is changed
        if not (screen_options.is_kiosk or _does_screen_ask_for_file(cabinet_path, screen_options)):
            if cabinet_path is not None and not cabinet_path.exists():
                raise click.ClickException(
                    f"there is no cabinet file {cabinet_path}: write one with `egm cabinet new {cabinet_path}`, "
                    "or create it on the screen with --first-start"
                )
            load_cabinet(cabinet_path)
        folder.create_private_folders()
        cabinet_lock = _lock_state_folder(folder)
        folder.remove_line_links()
        if game is not None:
            from tools.cli.one_game import write_one_game_cabinet  # noqa: PLC0415 (it loads all that analyses a game)

            cabinet_path = write_one_game_cabinet(game, folder)
    except (OperatorError, JournalError) as error:
        raise click.ClickException(str(error)) from error
    exit_status = _FILE_CHANGED_EXIT_CODE
    while exit_status == _FILE_CHANGED_EXIT_CODE:
        exit_status = asyncio.run(_Supervisor(_prepare_children(folder, cabinet_path, screen_options)).run())
    cabinet_lock.release()
    sys.exit(exit_status)


def _prepare_children(
    folder: StateFolder, cabinet_path: Path | None, screen_options: _ScreenOptions
) -> tuple[_CabinetProcess, ...]:
    """Print the start information, and return the cabinet's processes in the order of their start.

    Raises ClickException for an unusable cabinet file.
    """
    if _does_screen_ask_for_file(cabinet_path, screen_options):
        echo(f"egm: {cabinet_path} does not exist yet: the screen asks for its contents")
        return _build_child_processes(folder, cabinet_path, None, screen_options)
    try:
        cabinet = load_cabinet(cabinet_path)
        badges = load_demonstration_badges(cabinet, folder, SystemClock().now())
    except OperatorError as error:
        if not screen_options.is_kiosk:
            raise click.ClickException(str(error)) from error
        return _build_child_processes(folder, cabinet_path, None, screen_options)
    if badges and not sys.stdout.isatty():  # readers of a log may not be staff
        echo(
            f"egm: staff numbers and PINs of this demonstration are in {folder.root / DEMONSTRATION_FILE_NAME}"
        )
    for badge in badges if sys.stdout.isatty() else ():
        echo(f"egm: {badge.role} {badge.name}: staff number {badge.number}, PIN {badge.pin}")
    for fault in find_missing_ports(cabinet):
        echo(f"egm: {fault}", err=True)
    for line in _list_start_notes(folder, screen_options.mode, cabinet):
        echo(f"egm: {line}")
    return _build_child_processes(folder, cabinet_path, cabinet, screen_options)


def _does_screen_ask_for_file(cabinet_path: Path | None, screen_options: _ScreenOptions) -> bool:
    """Return whether the screen, not the terminal, asks for a missing cabinet file."""
    return screen_options.asks_for_cabinet_file and cabinet_path is not None and not cabinet_path.exists()


def _list_simulated_devices(cabinet: CabinetFile | None, position: int | None = None) -> list[str]:
    """Return the names of the simulated devices of a position; None means all positions."""
    return [
        name
        for name, device in (cabinet.devices.items() if cabinet is not None else ())
        if device.port == "bench" and position in {None, device.position}
    ]
