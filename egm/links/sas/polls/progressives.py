"""Progressive polls of SAS: level amounts that the host broadcasts, and wins of these levels.

Their layouts are general knowledge, so their group is off by default. Sources differ on whether 86 counts its
bytes; here it does, like every poll of variable length.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Final, NamedTuple

from egm.config.sas_line import SasPollGroup
from egm.links.entries import PROGRESSIVE_WINS_READ, ProgressiveWinsRead
from egm.links.sas.codec import ACK, MalformedPollError, Reply, decode_bcd, encode_bcd, prepend_length
from egm.links.sas.host import SasHost
from egm.links.sas.poll import ONE_BYTE_REPLY_SIZE, VARIABLE_REPLY_SIZE, PollImplementation
from egm.links.sas.readout import SasReadout
from egm.links.sas.request_sizes import AMOUNT_SIZE_BYTES
from egm.links.sas.wire import LongPoll
from egm.progressive.display import LevelAmountSources
from egm.progressive.keys import ProgressiveKey
from egm.progressive.pools import BroadcastLevel
from egm.progressive.records import BroadcastWin

#: BCD bytes of a total in credits.
_CREDITS_SIZE_BYTES: Final = 4
#: Bytes of the win in the reply to poll 84: group, level and amount.
_WIN_SIZE_BYTES: Final = 2 + AMOUNT_SIZE_BYTES
#: Exception code: a progressive win is unread.
_PROGRESSIVE_HIT_EXCEPTION_CODE: Final = 0x56
#: Highest number of a level in a group.
_LEVEL_NUMBER_MAX: Final = 32
#: Most progressive wins in one reply to poll 87; further wins wait for the next poll.
_WINS_PER_REPLY_MAX: Final = 32
_POLL_GROUP: Final = SasPollGroup.PROGRESSIVES


def receive_level_amount(host: SasHost, request: LongPoll) -> Reply | None:
    """Answer poll 80: store the displayed amount of one progressive level of a group, in cents."""
    return _store_amounts(host, request, request.data[0], request.data[1:])


def receive_level_amounts(host: SasHost, request: LongPoll) -> Reply | None:
    """Answer poll 86: store the displayed amounts of several progressive levels of a group."""
    return _store_amounts(host, request, request.data[1], request.data[2:])


def _store_amounts(host: SasHost, request: LongPoll, group_number: int, level_bytes: bytes) -> Reply | None:
    """Store the broadcast amounts of a progressive group's levels, and acknowledge the poll.

    ``level_bytes`` are the bytes of the level numbers and amounts. Return None, which means no reply, if no game of
    this machine plays for a broadcast level. Raises MalformedPollError for incomplete data or an invalid level.
    """
    row_size_bytes = 1 + AMOUNT_SIZE_BYTES
    if not group_number or not level_bytes or len(level_bytes) % row_size_bytes:
        raise MalformedPollError(request, "expected a group above 0 and complete levels")
    cents_by_level_number = {
        level_bytes[offset]: decode_bcd(request, level_bytes[offset + 1 : offset + row_size_bytes])
        for offset in range(0, len(level_bytes), row_size_bytes)
    }
    if any(not 1 <= level <= _LEVEL_NUMBER_MAX for level in cents_by_level_number):
        raise MalformedPollError(request, f"a level is outside 1 to {_LEVEL_NUMBER_MAX}")
    broadcasts = host.machine.component(LevelAmountSources).broadcasts
    if broadcasts is None:
        return None
    broadcasts.store_broadcast(group_number, cents_by_level_number)
    return ACK


def answer_cumulative_wins(request: LongPoll, readout: SasReadout) -> Reply | None:
    """Answer poll 83: the total of a game's progressive wins in credits; game 0000 stands for the whole machine."""
    game_number = decode_bcd(request, request.data)
    game = readout.find_game(game_number)
    if game_number and game is None:
        return None
    values = readout.read_meters("" if game is None else game.id)
    won_cents = values.get("mach_progressive", 0) + values.get("att_progressive", 0)
    return Reply(request.data + encode_bcd(readout.convert_to_credits(won_cents), _CREDITS_SIZE_BYTES))


# ---------------------------------------------------------------------------------------------- wins
class _UnreadWin(NamedTuple):
    """A progressive win that no host has read, and its storage key in the journal."""

    storage_key: str
    win: BroadcastWin


def _list_unread_wins(host: SasHost) -> list[_UnreadWin]:
    """Return the progressive wins that no host has read, oldest first."""
    broadcast_wins = host.machine.memory.read_all(BroadcastWin, ProgressiveKey.UNREAD_BROADCAST_WIN)
    unread_wins = (
        _UnreadWin(f"{ProgressiveKey.UNREAD_BROADCAST_WIN}{name}", win)
        for name, win in broadcast_wins.items()
    )
    return sorted(unread_wins, key=lambda unread_win: unread_win.win.entry_sequence)


def _encode_win(win: BroadcastWin) -> bytes:
    """Return a progressive win as level and amount in cents, encoded for the reply."""
    level_number = BroadcastLevel.parse_pool_id(win.pool_id).level_number
    return bytes((level_number,)) + encode_bcd(win.amount_cents, AMOUNT_SIZE_BYTES)


def _find_group_number(win: BroadcastWin) -> int:
    """Return the number of the progressive group to which a win's level belongs."""
    return BroadcastLevel.parse_pool_id(win.pool_id).group_number


def answer_current_win(host: SasHost, _: LongPoll) -> Reply:
    """Answer poll 84: group, level and amount of the oldest progressive win that no host has read, or zeros.

    The win stays unread.
    """
    unread_wins = _list_unread_wins(host)
    if not unread_wins:
        return Reply(bytes(_WIN_SIZE_BYTES))
    oldest_win = unread_wins[0].win
    return Reply(bytes((_find_group_number(oldest_win),)) + _encode_win(oldest_win))


def answer_queued_win(host: SasHost, request: LongPoll) -> Reply:
    """Answer poll 85: the oldest unread progressive win, in the layout of poll 84.

    The win counts as read once the host has received the reply.
    """
    return replace(answer_current_win(host, request), is_resent_on_repeat=True)


def mark_win_read(host: SasHost, _: LongPoll, reply: Reply) -> None:
    """Mark as read the progressive win in a reply that the host has received, and announce the next unread one."""
    _mark_oldest_wins_read(host, 1 if any(reply.data) else 0)


def answer_queued_wins(host: SasHost, _: LongPoll) -> Reply:
    """Answer poll 87: the unread progressive wins of one group, at most 32, from the oldest unread win on.

    The reply has the group, the number of wins, then each win's level and amount.
    """
    wins = _list_wins_for_one_reply(host)
    if not wins:
        return Reply(prepend_length(bytes(2)), is_resent_on_repeat=True)
    data = bytes((_find_group_number(wins[0]), len(wins))) + b"".join(_encode_win(win) for win in wins)
    return Reply(prepend_length(data), is_resent_on_repeat=True)


def mark_wins_read(host: SasHost, _: LongPoll, reply: Reply) -> None:
    """Mark as read all progressive wins that the reply reported to the host."""
    _mark_oldest_wins_read(host, reply.data[2])  # the count, after the length and the group


def _list_wins_for_one_reply(host: SasHost) -> list[BroadcastWin]:
    """Return the unread progressive wins for one reply: the oldest ones, of one group, and at most 32."""
    wins = [unread_win.win for unread_win in _list_unread_wins(host)]
    return list(takewhile(lambda win: _find_group_number(win) == _find_group_number(wins[0]), wins))[
        :_WINS_PER_REPLY_MAX
    ]


def _mark_oldest_wins_read(host: SasHost, win_count: int) -> None:
    """Mark the ``win_count`` oldest progressive wins as read; if more are unread, raise the exception again."""
    read_wins = _list_unread_wins(host)[:win_count]
    if read_wins:
        state = {read_win.storage_key: None for read_win in read_wins}
        host.machine.post(
            PROGRESSIVE_WINS_READ,
            ProgressiveWinsRead(host_name=host.name, win_count=len(read_wins)),
            state=state,
        )
    if win_count and _list_unread_wins(host):
        host.post_exception(_PROGRESSIVE_HIT_EXCEPTION_CODE)


POLL_IMPLEMENTATIONS: Final[Sequence[PollImplementation]] = (
    PollImplementation(
        code=0x80,
        reply_size_bytes=ONE_BYTE_REPLY_SIZE,
        effect_function=receive_level_amount,
        group=_POLL_GROUP,
        is_executed_as_broadcast=True,
    ),
    PollImplementation(
        code=0x83, reply_size_bytes=10, answer_function=answer_cumulative_wins, group=_POLL_GROUP
    ),
    PollImplementation(code=0x84, reply_size_bytes=11, effect_function=answer_current_win, group=_POLL_GROUP),
    PollImplementation(
        code=0x85,
        reply_size_bytes=11,
        effect_function=answer_queued_win,
        acknowledgement_function=mark_win_read,
        group=_POLL_GROUP,
    ),
    PollImplementation(
        code=0x86,
        reply_size_bytes=ONE_BYTE_REPLY_SIZE,
        effect_function=receive_level_amounts,
        group=_POLL_GROUP,
        is_executed_as_broadcast=True,
    ),
    PollImplementation(
        code=0x87,
        reply_size_bytes=VARIABLE_REPLY_SIZE,
        effect_function=answer_queued_wins,
        acknowledgement_function=mark_wins_read,
        group=_POLL_GROUP,
    ),
)
