"""A machine whose memory cannot be trusted: it plays nothing, moves nothing, and says so until it is cleared.

Both copies of the journal are damaged, or a clear is half done (NZ 1.15.9-11). Restarting changes nothing:
the journal refuses to open until an authorised clear, so the machine comes back here. What can still be read,
good and suspect, is shown by ``egm audit inspect``.
"""

import asyncio

from egm.cabinet.states import State
from egm.clock import Clock
from egm.config import CabinetFile, StateFolder
from egm.link.messages import Hello, Intent, Notice, Snapshot, Tilt
from egm.link.private import make_token
from egm.link.server import ScreenServer
from egm.profiles import load_profile

CODE = "memory_damaged"


async def stand_still(folder: StateFolder, cabinet_file: CabinetFile, clock: Clock, why: str) -> None:
    """Serve the screen with the hard tilt until cancelled."""
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
        notices=(Notice(code=f"fault.{CODE}", severity="alarm", values={"why": why}),),
        tilts=(Tilt(code=CODE, since=now, cleared_by="memory_clear"),),
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
