"""Whatever is written in the journal is told to whoever watches, also what is written outside every event."""

import asyncio
import random

from egm.testing.jumping_loop import jump
from meters import open_view
from tools.dev.soak.floor import Floor
from tools.dev.soak.people import Player

CABINET = """
[machine]
serial = "TOLD-1"
operator_number = "1"
site = "rig"
profile = "generic"
[[games]]
game = "maple-classic"
[devices.bill]
protocol = "id003"
[devices.printer]
protocol = "tcl"
[devices.io]
protocol = "ioboard"
[metrics]
port = 0
"""
QUIET_SECONDS = 20.0


def test_the_screen_is_told_of_the_last_entry_whoever_wrote_it(tmp_path):
    """A bill's confirmation and a ticket's taking are written by their drivers' ledgers, after the event."""
    file = tmp_path / "cabinet.toml"
    file.write_text(CABINET)
    told = []

    async def life():
        floor = Floor(tmp_path, 1, file, "generic")
        player = Player(floor, random.Random(1))
        floor.start()
        watching = asyncio.ensure_future(player.attend())
        for act in (lambda: floor.hand("bill", "insert", amount_cents=500), lambda: player.wish("cash_out")):
            await asyncio.sleep(QUIET_SECONDS)
            assert act() is not False
            await asyncio.sleep(QUIET_SECONDS)
            with open_view(floor.folder.root) as view:
                told.append(
                    (player.seen.journal_sequence, view.sequence, next(view.entries(newest_first=True)).kind)
                )
        watching.cancel()
        await floor.stop()
        floor.put_away()

    jump(life())
    assert [kind for _, _, kind in told] == ["bill.confirmed", "ticket.taken"]
    for shown, written, kind in told:
        assert shown == written, f"{kind}: the screen was shown entry {shown} of {written}"
