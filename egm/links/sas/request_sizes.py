"""Sizes of SAS long polls, to separate the messages on a line, including those to other machines.

The tables count data bytes: those between the command and the CRC. A poll that states its own length has a length byte
right after the command, which counts the data bytes after it.
"""

from collections.abc import Mapping
from typing import Final

from egm.links.sas.crc import CRC_SIZE_BYTES
from egm.links.sas.definitions import PollType
from egm.links.sas.tables.polls import POLL_BY_CODE

#: Size of a poll's address and command.
REQUEST_HEAD_SIZE_BYTES: Final = 2

#: Bytes of a game number.
GAME_NUMBER_SIZE_BYTES: Final = 2
#: BCD bytes of an amount.
AMOUNT_SIZE_BYTES: Final = 5

#: Data bytes of each fixed-length poll whose type does not give its length (R and S have none, M a game number).
_DATA_SIZE_BYTES_BY_POLL: Final[Mapping[int, int]] = dict.fromkeys((0x4D, 0x50, 0x0E, 0xA8, 0xAA), 1) | {
    0x08: 5,
    0x09: 3,
    0x21: 2,
    0x2E: 2,
    0x4C: 6,
    0x58: 9,
    0x74: 4,
    0x7F: 7,
    0x80: 7,
    0x8A: 5,
    0x8C: 9,
    0xB4: 4,
}
#: Command codes of polls that state their own length.
_POLLS_WITH_LENGTH_BYTE: Final = frozenset(bytes.fromhex("2F 6E 6F 71 72 73 75 76 7A 7B 7C 7D 86 AF B0"))
#: Polls of unknown length: the rest of such a message is skipped.
_POLLS_OF_UNKNOWN_LENGTH: Final = frozenset(bytes.fromhex("5A 5B 5C 5F 8B B6 B7"))


def find_frame_size(head: bytes | bytearray) -> int | None:
    """Return the size in bytes of the SAS request that begins with ``head``.

    ``head`` are the bytes received so far, from the address on. Return 0 if more bytes are needed to determine the
    size, None for an unknown command.
    """
    if len(head) < REQUEST_HEAD_SIZE_BYTES:
        return 0
    code = head[1]
    if code in _POLLS_WITH_LENGTH_BYTE:
        return (
            REQUEST_HEAD_SIZE_BYTES + 1 + head[REQUEST_HEAD_SIZE_BYTES] + CRC_SIZE_BYTES
            if len(head) > REQUEST_HEAD_SIZE_BYTES
            else 0
        )
    if code not in POLL_BY_CODE or code in _POLLS_OF_UNKNOWN_LENGTH:
        return None
    poll_type = POLL_BY_CODE[code].poll_type
    if poll_type is PollType.READ:
        return REQUEST_HEAD_SIZE_BYTES
    data_size_bytes = _DATA_SIZE_BYTES_BY_POLL.get(
        code, GAME_NUMBER_SIZE_BYTES if poll_type is PollType.GAME else 0
    )
    return REQUEST_HEAD_SIZE_BYTES + data_size_bytes + CRC_SIZE_BYTES


def has_crc(code: int) -> bool:
    """Return whether a SAS request with this command ends in a CRC; only read polls do not."""
    return POLL_BY_CODE[code].poll_type is not PollType.READ
