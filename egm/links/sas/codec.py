"""SAS data formats: numbers, texts, and the forms an answer takes."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from egm.errors import PeerError, invariant
from egm.links.sas.crc import sealed
from egm.links.sas.wire import LongPoll

_NACK_BIT: Final = 0x80
EVENT_MARK: Final = 0xFF
"""Stands for the command in a message that reports an event instead of answering."""


class MalformedPollError(PeerError):
    """A poll whose bytes are in order and whose content is not: it is met with silence."""

    def __init__(self, poll: LongPoll, why: str) -> None:
        super().__init__(f"SAS poll {poll.code:02X}: {why} in {poll.frame.hex(' ')}")


class Form(StrEnum):
    """The forms an answer takes on the wire."""

    DATA = "data"
    """Address, command, data, CRC."""
    ACK = "ack"
    """The address alone."""
    NACK = "nack"
    """The address with its highest bit set."""
    BUSY = "busy"
    """The address and a zero byte: ask again."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: ``data`` goes between command and CRC.

    ``once``: what was asked for has been done or read, and must not be again if the host did not hear; a
    repeat of the same poll is answered with the very same bytes. Otherwise it is answered anew.
    """

    data: bytes = b""
    form: Form = Form.DATA
    once: bool = False

    def frame(self, address: int, code: int) -> bytes:
        """The bytes on the wire."""
        if self.form is Form.DATA:
            return sealed(bytes((address, code)) + self.data)
        if self.form is Form.BUSY:
            return bytes((address, 0))
        return bytes((address | (_NACK_BIT if self.form is Form.NACK else 0),))


ACK: Final = Reply(form=Form.ACK, once=True)
NACK: Final = Reply(form=Form.NACK, once=True)
BUSY: Final = Reply(form=Form.BUSY)


# ---------------------------------------------------------------------------------------------- numbers
def bcd(value: int, size: int) -> bytes:
    """``value`` as ``size`` packed decimal bytes, most significant first; it rolls over at its capacity."""
    invariant(value >= 0, "sas.bcd_of_a_negative_number")
    return bytes.fromhex(str(value % 10 ** (2 * size)).zfill(2 * size))


def is_bcd(data: bytes) -> bool:
    """Whether every digit is decimal."""
    return data.hex().isdecimal()


def from_bcd(poll: LongPoll, data: bytes) -> int:
    """The number packed decimal bytes of ``poll`` stand for. Raises :class:`MalformedPollError`."""
    if not is_bcd(data):
        raise MalformedPollError(poll, f"{data.hex(' ')} is not decimal")
    return int(data.hex())


def binary(value: int, size: int) -> bytes:
    """``value`` as ``size`` bytes, least significant first."""
    return value.to_bytes(size, "little")


def from_binary(data: bytes) -> int:
    """The number of binary bytes, least significant first."""
    return int.from_bytes(data, "little")


def counted(data: bytes) -> bytes:
    """``data`` with its length before it."""
    return bytes((len(data),)) + data


def date_and_time(moment: datetime) -> bytes:
    """MMDDYYYY and HHMMSS in packed decimal: seven bytes."""
    return bytes.fromhex(f"{moment:%m%d}{moment.year:04}{moment:%H%M%S}")  # %Y writes year 101 as 101
