"""The columns of the poll table, and fields that several polls share."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from egm.links.sas.definitions import TableConfidence
from tools.dev.host.fields import Field, FieldKind, Layout


class LongPollType(StrEnum):
    """Which frame a long poll has."""

    READ = "R"
    """Address and poll code, without data and CRC."""
    SET = "S"
    """Address, poll code, data (possibly none) and CRC."""
    MULTI_GAME = "M"
    """Like SET, but the data begins with a game number."""


@dataclass(frozen=True, slots=True)
class Poll:
    """One long poll: the layouts of its request and its reply.

    If ``reply`` is None, the machine replies with one byte (ACK or NACK).
    """

    code: int
    name: str
    type: LongPollType
    request: Layout
    reply: Layout | None
    confidence: TableConfidence
    can_be_broadcast: bool = False
    """Whether the poll may also be sent to address 0, to which no machine replies."""


def bcd_field(name: str, size: int) -> Field:
    """Return a field of packed decimal digits."""
    return Field(name, size, FieldKind.BCD)


def binary_field(name: str, size: int) -> Field:
    """Return a field for a binary number, least significant byte first."""
    return Field(name, size, FieldKind.BINARY)


def four_byte_meters(*names: str) -> tuple[Field, ...]:
    """Return fields for meters of four BCD bytes (credits or counts)."""
    return tuple(bcd_field(name, 4) for name in names)


GAME_FIELD: Final = bcd_field("game", 2)
DATE_FIELD: Final = Field("date", 4, FieldKind.DIGITS)
TIME_FIELD: Final = Field("time", 3, FieldKind.DIGITS)
EXPIRATION_FIELD: Final = Field("expiration", 4, FieldKind.DIGITS)
POOL_FIELD: Final = binary_field("pool", 2)
DENOMINATION_FIELD: Final = binary_field("denomination", 1)
ENABLE_FIELDS: Final = (binary_field("enable", 1),)

TWO_SOURCES: Final = TableConfidence.TWO_SOURCES
ONE_SOURCE: Final = TableConfidence.ONE_SOURCE
GENERAL_KNOWLEDGE: Final = TableConfidence.GENERAL_KNOWLEDGE
CONFLICT: Final = TableConfidence.CONFLICT
READ: Final = LongPollType.READ
SET: Final = LongPollType.SET
MULTI_GAME: Final = LongPollType.MULTI_GAME
