"""Contents of a row of the poll table, and fields that several rows share."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from egm.links.sas.names import Confidence
from egm.links.sas.tables.meters import METERS
from tools.dev.host import codes
from tools.dev.host.fields import Field, Kind, Layout


class Type(StrEnum):
    """How a poll is sent."""

    READ = "R"
    """Address and poll, no CRC."""
    SET = "S"
    """With data, perhaps none, and CRC."""
    GAME = "M"
    """As S; the data begins with a game number."""


@dataclass(frozen=True, slots=True)
class Poll:
    """One long poll. ``answer`` None: the machine acknowledges with one byte (ACK or NACK)."""

    code: int
    name: str
    type: Type
    request: Layout
    answer: Layout | None
    confidence: Confidence
    broadcast: bool = False
    """Whether it may also be sent to address 0, which is never answered."""


def bcd(name: str, size: int, unit: str = "") -> Field:
    """Packed decimal digits."""
    return Field(name, size, Kind.BCD, unit)


def lsb(name: str, size: int, unit: str = "") -> Field:
    """Return a field for a binary number, least significant byte first."""
    return Field(name, size, Kind.BINARY, unit)


def coded(name: str, names: Mapping[int, str]) -> Field:
    """One byte whose values have names."""
    return Field(name, 1, Kind.BINARY, names=names)


def flags(name: str, size: int, bits: Mapping[int, str]) -> Field:
    """Bits with names."""
    return Field(name, size, Kind.BINARY, bits=bits)


def credit_meters(*names: str) -> tuple[Field, ...]:
    """Meters of four BCD bytes in accounting credits."""
    return tuple(bcd(name, 4, "credits") for name in names)


def count_meters(*names: str) -> tuple[Field, ...]:
    """Meters of four BCD bytes that count."""
    return tuple(bcd(name, 4) for name in names)


def cents(name: str) -> Field:
    """Five BCD bytes in cents."""
    return bcd(name, 5, "cents")


def days(name: str) -> Field:
    """Two BCD bytes of days."""
    return bcd(name, 2, "days")


GAME: Final = bcd("game", 2)
DATE: Final = Field("date", 4, Kind.DIGITS)
TIME: Final = Field("time", 3, Kind.DIGITS)
EXPIRATION: Final = Field("expiration", 4, Kind.DIGITS)
POOL: Final = lsb("pool", 2)
METER_NAMES: Final = {code: row.name for code, row in METERS.items()}
DENOMINATION: Final = coded("denomination", codes.DENOMINATIONS)
ON: Final = (coded("enable", {0: "off", 1: "on"}),)

A, B, K = Confidence.TWO_SOURCES, Confidence.ONE_SOURCE, Confidence.KNOWLEDGE
X = Confidence.CONFLICT
R, S, M = Type.READ, Type.SET, Type.GAME
