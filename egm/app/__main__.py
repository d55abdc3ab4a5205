"""The machine process, started by ``egm run`` or by hand with ``python -I -m egm.app --state DIR``.

It refuses to start without ``-I``, which isolates it from code outside the installation.
"""

import asyncio
import gc
import signal
import sys
from collections.abc import Coroutine, Iterator
from functools import partial
from pathlib import Path

import click

from egm.garbage_collector import pause_garbage_collector

with pause_garbage_collector():  # otherwise it takes a third of the time of these imports
    from egm.app.first_start.probing import find_serial_ports
    from egm.app.first_start.wizard import CABINET_PRESET_FILE_NAME, run_first_start
    from egm.app.process import MachineProcess
    from egm.app.tilt_screen import (
        MISSING_MEDIUM_TIMEOUT_SECONDS,
        read_system_fault,
        retry_until_media_respond,
        serve_tilt_screen,
        wait_for_file_change,
    )
    from egm.clock import Clock, SystemClock
    from egm.config.cabinet_file import DEFAULT_CABINET, CabinetFile, StateFolder, load_cabinet
    from egm.errors import OperatorError, RestartRequested
    from egm.isolated import require_isolated_mode
    from egm.private_process import make_process_private
    from egm.progressive.enrolment_data import STICK_PATH
    from egm.record_codec import RecordError
    from egm.terminal import echo
    from egm.tickets.errors import TicketLedgerDamaged, TicketLedgerUnwritable
    from meters import JournalDamaged, JournalError, JournalLocked, SelfAuditFailed
    from meters.lock import FolderLock

#: Exit status after an error that a person must correct; the supervisor does not restart the machine.
_EXIT_CODE_OPERATOR_ERROR = 2
#: Exit status that requests a restart of the machine. The supervisor restarts it after any status except
#: :data:`_EXIT_CODE_OPERATOR_ERROR`.
_EXIT_CODE_RESTART = 3
#: Exit status when a cabinet file that could not be used has been changed, so that it can be tried again.
_EXIT_CODE_CABINET_FILE_CHANGED = 4
#: A request to restart, and the errors of the memory, which end the machine process; the next start examines the
#: memory again.
_ERRORS_THAT_END_THE_PROCESS = (
    RestartRequested,
    RecordError,
    JournalError,
    TicketLedgerUnwritable,
    TicketLedgerDamaged,
)


async def _run_until_signal(coroutine: Coroutine[object, object, None]) -> bool:
    """Run ``coroutine`` until it ends or a signal stops it; return whether it ended by itself."""
    task = asyncio.ensure_future(coroutine)
    loop = asyncio.get_running_loop()
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(signal_number, task.cancel)
    try:
        await task
    except asyncio.CancelledError:
        return False
    return True


def _iter_grouped_errors(group: ExceptionGroup[Exception]) -> Iterator[Exception]:
    """Yield the errors of an exception group, including those of nested groups."""
    for error in group.exceptions:
        if isinstance(error, ExceptionGroup):
            yield from _iter_grouped_errors(error)
        else:
            yield error


def _print_message(text: str) -> None:
    """Print a message for the person who started the machine."""
    echo(f"egm: {text}", err=True)


def _run_until_stopped(
    state_folder: StateFolder,
    cabinet_file: CabinetFile,
    clock: Clock,
    patience_seconds: float,
    usb_stick_path: Path,
    *,
    requires_screen: bool,
) -> bool:
    """Run the machine until it stops; return True if the process must be started again, False after a signal.

    If a restart is requested, or if a storage medium fails or is damaged during operation, print the error and return
    True: the next start examines the memory. If a stored record cannot be read, raise JournalDamaged. Any other
    error is raised.
    """

    async def run_machine(allows_single_medium: bool) -> None:  # noqa: FBT001 (the signature that retry_until_media_respond expects)
        """Run the machine until it stops; ``allows_single_medium``: one of its two storage media may be missing."""
        process = MachineProcess(
            state_folder,
            cabinet_file,
            clock,
            print_message=_print_message,
            allows_single_medium=allows_single_medium,
            requires_screen=requires_screen,
            usb_stick_path=usb_stick_path,
        )
        await process.run()

    async def show_tilt(reason: str, code: str) -> None:
        """Show on the screen why the storage media do not respond, with the tilt code ``code``."""
        _print_message(f"waiting: {reason}")
        await serve_tilt_screen(state_folder, cabinet_file.machine, clock, reason, tilt_code=code)

    try:
        asyncio.run(
            _run_until_signal(
                retry_until_media_respond(run_machine, show_tilt, clock, patience_seconds=patience_seconds)
            )
        )
    except RecordError as error:
        raise JournalDamaged("the memory", str(error)) from error
    except ExceptionGroup as group:
        causes = tuple(_iter_grouped_errors(group))
        if not all(isinstance(cause, _ERRORS_THAT_END_THE_PROCESS) for cause in causes):
            raise
        if unreadable_record_texts := [str(cause) for cause in causes if isinstance(cause, RecordError)]:
            raise JournalDamaged("the memory", "; ".join(unreadable_record_texts)) from group
        for cause in causes:
            if not isinstance(cause, RestartRequested):
                _print_message(f"stopped, and starts again: {cause}")
        return True
    return False


def _run_first_start_and_exit(
    state_folder: StateFolder,
    cabinet_path: Path,
    preset_file: Path,
    clock: Clock,
    additional_ports: tuple[str, ...],
    usb_stick_path: Path,
) -> None:
    """Ask the staff for a cabinet file on the screen (the first start), then exit the process.

    The exit status makes the supervisor start the machine with the new file, unless a signal ended the first
    start.
    """

    async def ask_for_cabinet_file(_: bool) -> None:  # noqa: FBT001 (the signature that retry_until_media_respond expects)
        """Ask the staff on the screen for a cabinet file; lock the state folder meanwhile."""
        lock = FolderLock(state_folder.root)
        try:
            await run_first_start(
                state_folder,
                cabinet_path,
                preset_file,
                clock,
                partial(find_serial_ports, additional_ports),
                usb_stick_path,
            )
        finally:
            lock.release()

    async def show_tilt(reason: str, code: str) -> None:
        """Show on the screen, as tilt ``code``, why a storage medium fails, until the cabinet file is changed."""
        _print_message(f"waiting: {reason}")
        await wait_for_file_change(state_folder, cabinet_path, clock, reason, tilt_code=code)

    try:
        is_done = asyncio.run(
            _run_until_signal(retry_until_media_respond(ask_for_cabinet_file, show_tilt, clock))
        )
    except JournalLocked:
        raise
    except JournalError as error:  # there is a memory, but it cannot supply the file
        _print_message(str(error))
        lock = FolderLock(state_folder.root)
        screen_coroutine = wait_for_file_change(
            state_folder, cabinet_path, clock, str(error), tilt_code="memory_damaged"
        )
        is_done = asyncio.run(_run_until_signal(screen_coroutine))
        lock.release()
    sys.exit(_EXIT_CODE_CABINET_FILE_CHANGED if is_done else 0)


def _is_absent(file: Path) -> bool:
    """Return True if ``file`` certainly does not exist; False if it exists or a failing medium prevents the check."""
    try:
        file.stat()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return False


@click.command()
@click.option("--state", "state_path", type=click.Path(path_type=Path), required=True)
@click.option("--cabinet", "cabinet_path", type=click.Path(path_type=Path))
@click.option(
    "--patience",
    "patience_seconds",
    type=click.FloatRange(min=0),
    default=MISSING_MEDIUM_TIMEOUT_SECONDS,
    help="Seconds to wait for a missing second medium.",
)
@click.option(
    "--stay",
    "shows_cabinet_file_fault",
    is_flag=True,
    help="If the cabinet file cannot be used, show the reason on the screen until the file is changed.",
)
@click.option(
    "--trouble",
    "system_fault_file",
    type=click.Path(path_type=Path),
    help="A file in which this computer reports a fault of its own. If there is one, show it and play nothing.",
)
@click.option(
    "--watched",
    "requires_screen",
    is_flag=True,
    help="While no screen shows the machine, start no game and accept no money.",
)
@click.option(
    "--first-start",
    "can_ask_for_cabinet_file",
    is_flag=True,
    help="If there is no cabinet file, ask for its contents on the screen.",
)
@click.option(
    "--seed",
    "preset_file",
    type=click.Path(path_type=Path),
    help=f"At a first start: preset values (default: {CABINET_PRESET_FILE_NAME} in the folder of the cabinet file).",
)
@click.option(
    "--stick",
    "usb_stick_path",
    type=click.Path(path_type=Path),
    default=STICK_PATH,
    help="The device path of the USB stick by which the machine enrols with the progressive link.",
)
@click.option(
    "--port", "additional_ports", multiple=True, help="At a first start: a further serial port to try."
)
def main(
    state_path: Path,
    cabinet_path: Path | None,
    patience_seconds: float,
    additional_ports: tuple[str, ...],
    preset_file: Path | None,
    usb_stick_path: Path,
    *,
    shows_cabinet_file_fault: bool,
    system_fault_file: Path | None,
    requires_screen: bool,
    can_ask_for_cabinet_file: bool,
) -> None:
    """Run the machine, with its memory in the state folder STATE, until a signal stops it."""
    make_process_private()
    gc.freeze()  # what was imported stays: no later collection searches it
    state_folder, clock = StateFolder(state_path), SystemClock()
    try:
        require_isolated_mode("egm.app")
        state_folder.create_private_folders()
        if (system_fault := read_system_fault(system_fault_file)) is not None:
            code, reason = system_fault
            _print_message(f"{code}: {reason}")
            screen_coroutine = wait_for_file_change(
                state_folder,
                cabinet_path or DEFAULT_CABINET,
                clock,
                reason,
                tilt_code=code,
                watched_file=system_fault_file,
            )
            sys.exit(_EXIT_CODE_RESTART if asyncio.run(_run_until_signal(screen_coroutine)) else 0)
        if can_ask_for_cabinet_file and cabinet_path is not None and _is_absent(cabinet_path):
            _run_first_start_and_exit(
                state_folder,
                cabinet_path,
                preset_file or cabinet_path.with_name(CABINET_PRESET_FILE_NAME),
                clock,
                additional_ports,
                usb_stick_path,
            )
        cabinet_file = load_cabinet(cabinet_path)
        try:
            if _run_until_stopped(
                state_folder,
                cabinet_file,
                clock,
                patience_seconds,
                usb_stick_path,
                requires_screen=requires_screen,
            ):
                sys.exit(_EXIT_CODE_RESTART)
        except (JournalDamaged, SelfAuditFailed) as error:
            _print_message(str(error))
            asyncio.run(
                _run_until_signal(serve_tilt_screen(state_folder, cabinet_file.machine, clock, str(error)))
            )
    except (OperatorError, JournalError) as error:
        _print_message(str(error))
        if not shows_cabinet_file_fault or cabinet_path is None or isinstance(error, JournalError):
            sys.exit(_EXIT_CODE_OPERATOR_ERROR)
        if asyncio.run(
            _run_until_signal(wait_for_file_change(state_folder, cabinet_path, clock, str(error)))
        ):
            sys.exit(_EXIT_CODE_CABINET_FILE_CHANGED)


if __name__ == "__main__":
    main()
