"""The table of long polls: the layouts of each request and its reply.

A reply that is not a bare acknowledgement consists of address, poll, data and CRC; only the data is described here. The
confidence of a row says how well its layout is known publicly: A two independent sources, B one, K general knowledge
only. The licensed SAS document takes precedence over all of it.
"""

from collections.abc import Mapping
from typing import Final

from tools.dev.host.fields import Layout
from tools.dev.host.poll import GAME_FIELD, Poll, bcd_field, binary_field, four_byte_meters
from tools.dev.host.polls_acting import CONTROL_POLLS, TICKET_POLLS, TRANSFER_POLLS
from tools.dev.host.polls_reading import READING_POLLS, create_single_value_polls

#: Every long poll whose layout is known, by its code.
POLL_BY_CODE: Final[Mapping[int, Poll]] = {
    row.code: row
    for row in sorted(
        (*create_single_value_polls(), *READING_POLLS, *CONTROL_POLLS, *TICKET_POLLS, *TRANSFER_POLLS),
        key=lambda row: row.code,
    )
}

#: The layout of the data after each event code of a real-time event (1.3), with confidence ``GENERAL_KNOWLEDGE``.
#:
#: Events that are not listed have no data.
EVENT_LAYOUT_BY_CODE: Final[Mapping[int, Layout]] = {
    0x4F: (
        bcd_field("country", 1),
        binary_field("bill", 1),
        bcd_field("count", 4),
    ),
    0x7E: (
        bcd_field("wagered", 2),
        *four_byte_meters("coin_in"),
        binary_field("wager_type", 1),
        binary_field("progressive_group", 1),
    ),
    0x7F: four_byte_meters("win"),
    0x88: (binary_field("reel", 1), binary_field("stop", 1)),
    0x89: (binary_field("count", 1),),
    0x8A: (GAME_FIELD, bcd_field("recall_index", 2)),
    0x8B: (binary_field("card", 1),),
    0x8C: (GAME_FIELD,),
}
