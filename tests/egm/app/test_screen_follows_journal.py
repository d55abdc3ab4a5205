"""Every journal entry is sent to the screens, including entries written outside an event."""

import asyncio
import random

from egm.testing.jumping_loop import jump
from meters import open_view
from tools.dev.simulation.cabinet_setup import CabinetSetup
from tools.dev.simulation.player import Player
from tools.dev.simulation.world import SimulatedWorld

QUIET_SECONDS = 20.0


def test_the_screen_is_sent_the_last_entry_whichever_code_wrote_it(tmp_path):
    """The drivers' ledgers write the entries bill.confirmed and ticket.taken after the event."""
    shown_entries = []

    async def life():
        world = SimulatedWorld(tmp_path, CabinetSetup(games=("maple-classic",)), 1)
        player = Player(world, 1, random.Random(1))
        world.start()
        watching = asyncio.ensure_future(player.watch_screen())
        for act in (
            lambda: world.act_on_device("bill-1", "insert", amount_cents=500),
            lambda: player.press("cash_out"),
        ):
            await asyncio.sleep(QUIET_SECONDS)
            assert act() is not False
            await asyncio.sleep(QUIET_SECONDS)
            with open_view(world.folder.root) as view:
                shown_entries.append(
                    (
                        player.snapshot.journal_sequence,
                        view.sequence,
                        next(view.entries(newest_first=True)).kind,
                    )
                )
        watching.cancel()
        await world.stop()
        world.shut_down_devices()

    jump(life())
    assert [kind for _, _, kind in shown_entries] == ["bill.confirmed", "ticket.taken"]
    for shown, written, kind in shown_entries:
        assert shown == written, f"{kind}: the screen was shown entry {shown} of {written}"
