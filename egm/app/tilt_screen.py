"""Stopped machine: while its memory is damaged or does not respond, it only shows the reason on the screen.

If both copies of the journal are damaged, or a memory clear is incomplete (NZ 1.15.9-11), a restart changes
nothing: the journal refuses to open until an authorised clear, so the machine stops here again. ``egm audit
inspect`` shows which parts can still be read. If a medium only does not respond, the machine waits for it
(:func:`retry_until_media_respond`): a transient disk error does not end the machine. An unusable cabinet file is
also reported on the screen, until it is changed (:func:`wait_for_file_change`).
"""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from egm.app.watchdog import allow_start_up_time, send_watchdog_heartbeats
from egm.clock import Clock
from egm.config.cabinet_file import MachineTable, StateFolder
from egm.errors import OperatorError
from egm.kernel.events import State
from egm.kernel.faults import get_fault_definition
from egm.kernel.messages import Hello, Intent, Notice, Snapshot, Tilt
from egm.links.screen.private_sockets import write_new_token
from egm.links.screen.server import ScreenServer
from egm.profiles import Profile, load_profile
from egm.tickets.errors import TicketLedgerUnwritable
from meters import JournalUnwritable
from meters.errors import MediumFull
from paytables.source import parse_toml, read_contents

#: Seconds to wait for a medium that does not respond before the machine continues with the first medium
#: alone.
MISSING_MEDIUM_TIMEOUT_SECONDS: Final = 60.0
#: Seconds between two attempts to use a medium that does not respond.
_MISSING_MEDIUM_RETRY_PAUSE_SECONDS: Final = 5.0
#: The fault code of a cabinet file that cannot be used.
CABINET_FILE_FAULT: Final = "cabinet_file_unusable"
#: Seconds between two checks of whether the cabinet file, or another watched file, has changed.
_FILE_CHECK_INTERVAL_SECONDS: Final = 1.0


async def retry_until_media_respond(
    run_machine: Callable[[bool], Coroutine[object, object, None]],
    show_tilt: Callable[[str, str], Coroutine[object, object, None]],
    clock: Clock,
    *,
    patience_seconds: float = MISSING_MEDIUM_TIMEOUT_SECONDS,
    pause_seconds: float = _MISSING_MEDIUM_RETRY_PAUSE_SECONDS,
) -> None:
    """Run ``run_machine``; while its storage media do not respond or are full, show the reason and try again.

    ``show_tilt`` receives the reason and a tilt code to show on the screen. ``run_machine`` receives True if one
    of the two storage media may be missing; this is allowed once ``patience_seconds`` have passed. Any other error
    is raised.
    """
    start_ns = clock.monotonic_ns()
    while True:
        try:
            await run_machine(clock.monotonic_ns() - start_ns >= patience_seconds * 1e9)
        except (JournalUnwritable, TicketLedgerUnwritable) as error:
            code = "memory_full" if isinstance(error, MediumFull) else "memory_waits"
            with suppress(TimeoutError):
                async with asyncio.timeout(pause_seconds):
                    await show_tilt(str(error), code)
            allow_start_up_time()
        else:
            return


async def serve_tilt_screen(
    state_folder: StateFolder,
    machine_table: MachineTable,
    clock: Clock,
    reason: str,
    *,
    tilt_code: str = "memory_damaged",
) -> None:
    """Show on the screen, until cancelled, that the machine is stopped by the tilt ``tilt_code`` for ``reason``."""
    profile = _load_profile_or_generic(machine_table)
    now = clock.now().isoformat(timespec="seconds")
    snapshot = build_snapshot_without_memory(machine_table, profile, now).model_copy(
        update={
            "notices": (Notice(code=f"fault.{tilt_code}", severity="alarm", values={"why": reason}),),
            "tilts": (
                Tilt(
                    code=tilt_code,
                    since=now,
                    cleared_by=get_fault_definition(tilt_code).cleared_by,
                    detail=reason,
                ),
            ),
        }
    )

    def ignore_input(_: Intent | str) -> None:
        """Ignore a person's request or a screen's error: without its memory, the machine accepts none."""

    server = ScreenServer(
        state_folder.screen_socket,
        write_new_token(state_folder.screen_token),
        build_greeting=lambda: (Hello(), snapshot),
        on_intent=ignore_input,
        on_peer_error=ignore_input,
    )
    await server.start()
    try:
        await send_watchdog_heartbeats()  # runs forever, as the machine does
    finally:
        await server.close()


def build_snapshot_without_memory(machine_table: MachineTable, profile: Profile, now: str) -> Snapshot:
    """Return the snapshot of a machine without a memory: its identity, out of play, without money or games."""
    return Snapshot(
        journal_sequence=0,
        state=State.TILT.value,
        time_utc=now,
        time_zone=machine_table.time_zone,
        site=machine_table.site,
        serial=machine_table.serial,
        operator_number=machine_table.operator_number,
        currency=profile.currency,
        language=profile.languages[0],
        languages=profile.languages,
        game_id=None,
        denomination_cents=1,
        bet_credits=0,
        credit_cents=0,
        paid_cents=0,
        last_display=None,
        accepted_inputs=(),
        defect_rule=profile.pay_out.defect_rule,
    )


def read_system_fault(file: Path | None) -> tuple[str, str] | None:
    """Return the (code, detail) of a fault that this computer reports in ``file``; None if it reports none.

    The first line of the file is the fault's code, a space, and the detail. Without a fault, the file is missing or
    empty.
    """
    with suppress(FileNotFoundError):
        if file is not None and (lines := file.read_text("utf-8").splitlines()):
            code, _, detail = lines[0].partition(" ")
            return code, detail
    return None


async def wait_for_file_change(
    state_folder: StateFolder,
    cabinet_path: Path,
    clock: Clock,
    reason: str,
    *,
    tilt_code: str = CABINET_FILE_FAULT,
    watched_file: Path | None = None,
) -> None:
    """Show on the screen, as tilt ``tilt_code``, why the machine cannot start, until its cabinet file is changed.

    ``cabinet_path`` is the cabinet file. By default the tilt says that this file cannot be used. If ``watched_file`` is
    given, wait until that file is changed instead.
    """
    screen_task = asyncio.create_task(
        serve_tilt_screen(state_folder, _read_machine_table(cabinet_path), clock, reason, tilt_code=tilt_code)
    )
    watched_path = watched_file or cabinet_path
    try:
        stamp_at_start = _read_modification_stamp(watched_path)
        while _read_modification_stamp(watched_path) == stamp_at_start:
            await asyncio.wait({screen_task}, timeout=_FILE_CHECK_INTERVAL_SECONDS)
            if screen_task.done():
                return screen_task.result()
    finally:
        screen_task.cancel()
        await asyncio.gather(screen_task, return_exceptions=True)
    return None


def _read_modification_stamp(file: Path) -> tuple[int, int] | None:
    """Return a value that differs whenever the file has been changed; None while the file does not exist."""
    try:
        stat = file.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size


def _read_machine_table(file: Path) -> MachineTable:
    """Return the machine's identity from the ``machine`` table of a cabinet file that may be invalid.

    A number that cannot be read is "-".
    """
    identity: dict[str, Any] = {"serial": "-", "operator_number": "-", "profile": "", "site": ""}
    with suppress(OSError, ValueError, KeyError, AttributeError):
        table = parse_toml(read_contents(file).decode())["machine"]
        identity |= {key: table[key] for key in identity if isinstance(table.get(key), str)}
    return MachineTable.model_construct(**identity)


def _load_profile_or_generic(machine_table: MachineTable) -> Profile:
    """Return the profile (rules) that ``machine_table`` names, or the generic profile if that cannot be loaded."""
    try:
        return load_profile(machine_table.profile)
    except OperatorError:  # the screen shows only the fault, for which the generic profile is enough
        return load_profile("generic")
