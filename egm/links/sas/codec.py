"""SAS data formats: numbers, texts, and the forms of a reply."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from egm.errors import PeerError, check_invariant
from egm.links.sas.crc import append_crc
from egm.links.sas.wire import LongPoll

#: The bit of the address byte that makes a reply a NACK.
_NACK_BIT: Final = 0x80
#: The byte in place of the command code in the report of a real-time event.
EVENT_REPORT_MARK: Final = 0xFF


class MalformedPollError(PeerError):
    """Raised if a SAS poll is framed correctly but its data are invalid; the host gets no reply."""

    def __init__(self, poll: LongPoll, reason: str) -> None:
        super().__init__(f"SAS poll {poll.code:02X}: {reason} in {poll.frame.hex(' ')}")


class ReplyForm(StrEnum):
    """The forms in which a SAS reply is sent on the line."""

    DATA = "data"
    """Reply with data: address, command, data, CRC."""
    ACK = "ack"
    """Acknowledgement: the address alone."""
    NACK = "nack"
    """Refusal: the address with its highest bit set."""
    BUSY = "busy"
    """Request still being processed: the address and a zero byte; the host polls again."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply to a SAS poll: ``data`` is sent between command and CRC.

    If ``is_resent_on_repeat``, a host that missed the reply and repeats the poll gets the same bytes, and the request
    is not executed again. This is set if the request changes something, or reads something that can be read only once.
    Otherwise a repeated poll is answered anew.
    """

    data: bytes = b""
    form: ReplyForm = ReplyForm.DATA
    is_resent_on_repeat: bool = False

    def build_frame(self, address: int, code: int) -> bytes:
        """Return the complete reply to command ``code`` as the bytes to send from the machine at ``address``."""
        if self.form is ReplyForm.DATA:
            return append_crc(bytes((address, code)) + self.data)
        if self.form is ReplyForm.BUSY:
            return bytes((address, 0))
        return bytes((address | (_NACK_BIT if self.form is ReplyForm.NACK else 0),))


#: The acknowledgement of a poll whose request was carried out.
ACK: Final = Reply(form=ReplyForm.ACK, is_resent_on_repeat=True)
#: The refusal of a poll whose request was not carried out.
NACK: Final = Reply(form=ReplyForm.NACK, is_resent_on_repeat=True)
#: The reply that the request is still being processed; the host polls again.
BUSY: Final = Reply(form=ReplyForm.BUSY)


# ---------------------------------------------------------------------------------------------- numbers
def encode_bcd(value: int, byte_count: int) -> bytes:
    """Return ``value`` as ``byte_count`` packed decimal (BCD) bytes, most significant first.

    High digits that do not fit are cut off.
    """
    check_invariant(value >= 0, "sas.bcd_of_a_negative_number")
    return bytes.fromhex(str(value % 10 ** (2 * byte_count)).zfill(2 * byte_count))


def is_bcd(data: bytes) -> bool:
    """Return whether every half byte of ``data`` is a decimal digit (BCD)."""
    return data.hex().isdecimal()


def decode_bcd(poll: LongPoll, data: bytes) -> int:
    """Return the number in ``data``, which are packed decimal (BCD) bytes of the poll ``poll``.

    Raises :class:`MalformedPollError`, which names the poll, if a half byte is not a digit.
    """
    if not is_bcd(data):
        raise MalformedPollError(poll, f"{data.hex(' ')} is not decimal")
    return int(data.hex())


def encode_binary(value: int, byte_count: int) -> bytes:
    """Return ``value`` as ``byte_count`` bytes, least significant first."""
    return value.to_bytes(byte_count, "little")


def decode_binary(data: bytes) -> int:
    """Return the number in binary bytes, least significant first."""
    return int.from_bytes(data, "little")


def prepend_length(data: bytes) -> bytes:
    """Return ``data`` preceded by its length in one byte."""
    return bytes((len(data),)) + data


def encode_date_and_time(moment: datetime) -> bytes:
    """Return a date and time as MMDDYYYY and HHMMSS in packed decimal (BCD): seven bytes."""
    return bytes.fromhex(f"{moment:%m%d}{moment.year:04}{moment:%H%M%S}")  # %Y writes year 101 as 101
