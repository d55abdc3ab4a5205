"""The long polls as we read them: what each asks, and how its answer is laid out.

Every answer that is not a bare acknowledgement is address, poll, data, CRC; only the data is described here.
The confidence of a row says how well it is known publicly: A two independent sources, B one, K general
knowledge only. The licensed SAS document outranks all of it.
"""

from collections.abc import Mapping
from typing import Final

from tools.dev.host.fields import Layout
from tools.dev.host.poll import GAME, Poll, bcd, four_byte_meters, lsb
from tools.dev.host.polls_acting import ACTING, TICKETS, TRANSFERS
from tools.dev.host.polls_reading import READING, plain_rows

POLLS: Final[Mapping[int, Poll]] = {
    row.code: row
    for row in sorted((*plain_rows(), *READING, *ACTING, *TICKETS, *TRANSFERS), key=lambda row: row.code)
}
"""Every long poll whose layout is known, by its code."""

EVENTS: Final[Mapping[int, Layout]] = {
    0x4F: (
        bcd("country", 1),
        lsb("bill", 1),
        bcd("count", 4),
    ),
    0x7E: (
        bcd("wagered", 2),
        *four_byte_meters("coin_in"),
        lsb("wager_type", 1),
        lsb("progressive_group", 1),
    ),
    0x7F: four_byte_meters("win"),
    0x88: (lsb("reel", 1), lsb("stop", 1)),
    0x89: (lsb("count", 1),),
    0x8A: (GAME, bcd("recall_index", 2)),
    0x8B: (lsb("card", 1),),
    0x8C: (GAME,),
}
"""What follows the event code in a real-time event (1.3); all of it is confidence K. Others: nothing."""
