"""A machine whose memory cannot be trusted, or does not answer: it plays and moves nothing, and says so.

Both copies of the journal are damaged, or a clear is half done (NZ 1.15.9-11). Restarting changes nothing:
the journal refuses to open until an authorised clear, so the machine comes back here. What can still be read,
good and suspect, is shown by ``egm audit inspect``. A medium that only does not answer is waited for
(:func:`come_up`): a passing error of a disk ends no cabinet.
"""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final

from egm.cabinet.events import State
from egm.cabinet.faults import ClearedBy
from egm.clock import Clock
from egm.config import CabinetFile, StateFolder
from egm.link.messages import Hello, Intent, Notice, Snapshot, Tilt
from egm.link.private import make_token
from egm.link.server import ScreenServer
from egm.profiles import load_profile
from egm.tickets.errors import TicketLedgerUnwritable
from meters import JournalUnwritable

#: How long a medium is waited for before the machine goes on on the first alone, and between two tries.
PATIENCE_S: Final = 60.0
_PAUSE_S: Final = 5.0


async def come_up(
    machine: Callable[[bool], Coroutine[Any, Any, None]],
    still: Callable[[str], Coroutine[Any, Any, None]],
    clock: Clock,
    *,
    patience_s: float = PATIENCE_S,
    pause_s: float = _PAUSE_S,
) -> None:
    """Run ``machine`` and, while its media do not answer, ``still`` in between, which tells people why.

    ``machine`` is told whether it may do without the second medium: only after ``patience_s``. What is not
    the media's passing fault is raised.
    """
    began_ns = clock.monotonic_ns()
    while True:
        try:
            await machine(clock.monotonic_ns() - began_ns >= patience_s * 1e9)
        except (JournalUnwritable, TicketLedgerUnwritable) as error:
            with suppress(TimeoutError):
                async with asyncio.timeout(pause_s):
                    await still(str(error))
        else:
            return


async def stand_still(
    folder: StateFolder,
    cabinet_file: CabinetFile,
    clock: Clock,
    why: str,
    *,
    code: str = "memory_damaged",
    cleared_by: ClearedBy = "memory_clear",
) -> None:
    """Serve the screen with the tilt ``code`` until cancelled."""
    profile = load_profile(cabinet_file.machine.profile)
    now = clock.now().isoformat(timespec="seconds")
    shown = Snapshot(
        journal_sequence=0,
        state=State.TILT.value,
        time_utc=now,
        site=cabinet_file.machine.site,
        serial=cabinet_file.machine.serial,
        operator_number=cabinet_file.machine.operator_number,
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
        notices=(Notice(code=f"fault.{code}", severity="alarm", values={"why": why}),),
        tilts=(Tilt(code=code, since=now, cleared_by=cleared_by),),
        defect=profile.pay_out.defect,
    )

    def ignore(_: Intent | str) -> None:
        """Nobody's wish moves a machine that does not know what it holds."""

    server = ScreenServer(
        folder.screen_socket,
        make_token(folder.screen_token),
        greeting=lambda: (Hello(), shown),
        on_intent=ignore,
        on_peer_error=ignore,
    )
    await server.start()
    try:
        await asyncio.Event().wait()
    finally:
        await server.close()
