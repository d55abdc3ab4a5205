"""Stopped machine: its memory cannot be trusted or does not answer; it plays and moves nothing, and says so.

Both copies of the journal are damaged, or a clear is half done (NZ 1.15.9-11). Restarting changes nothing:
the journal refuses to open until an authorised clear, so the machine comes back here. What can still be read,
good and suspect, is shown by ``egm audit inspect``. A medium that only does not answer is waited for
(:func:`come_up`): a passing error of a disk ends no cabinet. A cabinet file that cannot be used is told on
the screen as well, until there is another (:func:`wait_for_file`).
"""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from egm.app.watchdog import heartbeat
from egm.clock import Clock
from egm.config.cabinet_file import Machine, StateFolder
from egm.errors import OperatorError
from egm.kernel.events import State
from egm.kernel.faults import fault
from egm.kernel.messages import Hello, Intent, Notice, Snapshot, Tilt
from egm.links.screen.private import make_token
from egm.links.screen.server import ScreenServer
from egm.profiles import Profile, load_profile
from egm.tickets.errors import TicketLedgerUnwritable
from meters import JournalUnwritable
from meters.errors import MediumFull
from paytables.source import contents, toml

#: How long a medium is waited for before the machine goes on on the first alone, and between two tries.
PATIENCE_S: Final = 60.0
_PAUSE_S: Final = 5.0
#: The cabinet file cannot be used; and how often it is looked at again.
FILE_FAULT: Final = "cabinet_file_unusable"
_LOOK_S: Final = 1.0


async def come_up(
    machine: Callable[[bool], Coroutine[object, object, None]],
    still: Callable[[str, str], Coroutine[object, object, None]],
    clock: Clock,
    *,
    patience_s: float = PATIENCE_S,
    pause_s: float = _PAUSE_S,
) -> None:
    """Run ``machine`` and, while its media do not answer or are full, ``still`` in between.

    ``still`` tells people why, under the code it is given. ``machine`` is told whether it may do without the
    second medium: only after ``patience_s``. What is not the media's passing fault is raised.
    """
    began_ns = clock.monotonic_ns()
    while True:
        try:
            await machine(clock.monotonic_ns() - began_ns >= patience_s * 1e9)
        except (JournalUnwritable, TicketLedgerUnwritable) as error:
            code = "memory_full" if isinstance(error, MediumFull) else "memory_waits"
            with suppress(TimeoutError):
                async with asyncio.timeout(pause_s):
                    await still(str(error), code)
        else:
            return


async def stand_still(
    folder: StateFolder,
    identity: Machine,
    clock: Clock,
    why: str,
    *,
    code: str = "memory_damaged",
) -> None:
    """Serve the screen with the tilt ``code`` until cancelled."""
    profile = _profile_of(identity)
    now = clock.now().isoformat(timespec="seconds")
    shown = bare_snapshot(identity, profile, now).model_copy(
        update={
            "notices": (Notice(code=f"fault.{code}", severity="alarm", values={"why": why}),),
            "tilts": (Tilt(code=code, since=now, cleared_by=fault(code).cleared_by, detail=why),),
        }
    )

    def ignore(_: Intent | str) -> None:
        """Nobody's request moves a machine that does not know what it holds."""

    server = ScreenServer(
        folder.screen_socket,
        make_token(folder.screen_token),
        greeting=lambda: (Hello(), shown),
        on_intent=ignore,
        on_peer_error=ignore,
    )
    await server.start()
    try:
        await heartbeat()  # for ever: it does what it still can
    finally:
        await server.close()


def bare_snapshot(identity: Machine, profile: Profile, now: str) -> Snapshot:
    """What a screen shows of a machine without a memory: who it is, stopped, nothing on it."""
    return Snapshot(
        journal_sequence=0,
        state=State.TILT.value,
        time_utc=now,
        time_zone=identity.time_zone,
        site=identity.site,
        serial=identity.serial,
        operator_number=identity.operator_number,
        currency=profile.currency,
        language=profile.languages[0],
        languages=profile.languages,
        game_id=None,
        denomination_cents=1,
        bet_credits=0,
        credit_cents=0,
        win_cents=0,
        last_display=None,
        accepts=(),
        defect=profile.pay_out.defect,
    )


def trouble_in(file: Path | None) -> tuple[str, str] | None:
    """Code and detail of what the computer under the machine found wrong with itself; None where nothing is.

    Its first line: a fault's code, a space, the detail. A file that is not there says that all is well.
    """
    with suppress(FileNotFoundError):
        if file is not None and (said := file.read_text("utf-8").splitlines()):
            code, _, detail = said[0].partition(" ")
            return code, detail
    return None


async def wait_for_file(
    folder: StateFolder,
    file: Path,
    clock: Clock,
    why: str,
    *,
    code: str = FILE_FAULT,
    until: Path | None = None,
) -> None:
    """Say on the screen that the cabinet ``file`` cannot be used, and why, until it is changed.

    With another ``code``: that fault instead, until the file ``until`` is changed.
    """
    said = asyncio.create_task(stand_still(folder, _identity_in(file), clock, why, code=code))
    watched = until or file
    try:
        before = _stamp(watched)
        while _stamp(watched) == before:
            await asyncio.wait({said}, timeout=_LOOK_S)
            if said.done():
                return said.result()
    finally:
        said.cancel()
        await asyncio.gather(said, return_exceptions=True)
    return None


def _stamp(file: Path) -> tuple[int, int] | None:
    """What changes when a file does; None while there is none."""
    try:
        stat = file.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size


def _identity_in(file: Path) -> Machine:
    """Which machine it is, as far as a wrong file says it."""
    known: dict[str, Any] = {"serial": "-", "operator_number": "-", "profile": "", "site": ""}
    with suppress(OSError, ValueError, KeyError, AttributeError):
        table = toml(contents(file).decode())["machine"]
        known |= {key: table[key] for key in known if isinstance(table.get(key), str)}
    return Machine.model_construct(**known)


def _profile_of(identity: Machine) -> Profile:
    try:
        return load_profile(identity.profile)
    except OperatorError:  # which is what stopped it; its words and money are nobody's business now
        return load_profile("generic")
