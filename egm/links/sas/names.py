"""Vocabulary of the SAS tables: the confidence in a row, and the kinds of polls and events.

SAS is a licensed standard and none of its text is here. Every row was compiled from public sources and states
how many of them agree; the conformance page shows this in the row.
"""

from dataclasses import dataclass
from enum import StrEnum


class Confidence(StrEnum):
    """How certain the assignment in a row of a SAS table is."""

    TWO_SOURCES = "A"
    """Two or more independent public sources, or an experiment."""
    #: One public source.
    ONE_SOURCE = "B"
    KNOWLEDGE = "K"
    """General knowledge only: the row is off unless the cabinet file switches it on."""
    CONFLICT = "X"
    """Sources conflict; the row's note says how, and what this machine does."""


class PollType(StrEnum):
    """The type of a long poll: how it is sent, and whether it is answered."""

    READ = "R"
    """Address and command, no CRC."""
    SET = "S"
    """Address, command, possibly data, always a CRC."""
    GAME = "M"
    """For one game: a game number of two BCD bytes (0000 for the machine), and a CRC."""
    SET_OR_BROADCAST = "S/G"
    """As S; also to address 0, where nobody answers."""


class Urgency(StrEnum):
    """How a SAS exception waits: queued, with priority, either of these, or in real-time reporting only."""

    #: In the queue, first in, first out.
    QUEUED = "queued"
    PRIORITY = "priority"
    """Before the queue, and repeated until what it announces has been read."""
    EITHER = "either"
    """Depends on the machine's configuration."""
    REAL_TIME = "real_time"
    """Only while real-time event reporting is on."""


class MeterUnit(StrEnum):
    """The unit of a SAS meter."""

    CREDITS = "credits"
    """Credits, each worth the accounting denomination."""
    CENTS = "cents"
    COUNT = "count"
    HUNDREDTHS_PERCENT = "hundredths of a percent"


@dataclass(frozen=True, slots=True)
class SasPoll:
    """A long poll of SAS: command byte, name, type; ``note`` explains a conflict or a doubt."""

    code: int
    name: str
    type: PollType
    confidence: Confidence
    note: str = ""


@dataclass(frozen=True, slots=True)
class ExceptionName:
    """A SAS exception: code, name, how it waits, and whether it is in the smallest published set (Montana)."""

    code: int
    name: str
    urgency: Urgency
    confidence: Confidence = Confidence.TWO_SOURCES
    minimum: bool = False


@dataclass(frozen=True, slots=True)
class MeterName:
    """A SAS meter of polls 2F, 6F and AF: code, name, unit, and its number of BCD bytes in poll 2F."""

    code: int
    name: str
    unit: MeterUnit
    size: int = 4
    confidence: Confidence = Confidence.TWO_SOURCES
