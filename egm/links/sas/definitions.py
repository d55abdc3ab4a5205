"""Types of the rows of the SAS tables: polls, exceptions and meters, each with how certain the row is.

SAS is a licensed standard and none of its text is here. Every row was compiled from public sources and states
how many of them agree; the conformance page shows this in the row.
"""

from dataclasses import dataclass
from enum import StrEnum


class TableConfidence(StrEnum):
    """The degree of certainty that a row of a SAS table is right, by its sources."""

    TWO_SOURCES = "A"
    """Two or more independent public sources agree on the row, or an experiment has confirmed it."""
    ONE_SOURCE = "B"
    """One public source states the row."""
    GENERAL_KNOWLEDGE = "K"
    """The row rests on general knowledge; its poll is not implemented, or is off until the cabinet file enables it."""
    CONFLICT = "X"
    """Public sources contradict each other; the row's note says how, and what this machine does."""


class PollType(StrEnum):
    """The type of a long poll, as SAS poll lists name it: how it is sent, and whether it is answered."""

    READ = "R"
    """A read poll (R): address and command, no CRC."""
    SET = "S"
    """A set poll (S): address, command, possibly data, always a CRC."""
    GAME = "M"
    """A poll for one game (M): a game number of two BCD bytes (0000 for the machine), and a CRC."""
    SET_OR_BROADCAST = "S/G"
    """A set poll that may also be broadcast to address 0, to which no machine replies."""


class ExceptionUrgency(StrEnum):
    """The way in which a SAS exception waits for the host: queued, with priority, or in real time only."""

    QUEUED = "queued"
    """The exception waits in the queue, first in, first out."""
    PRIORITY = "priority"
    """The exception is sent before those in the queue, and repeated until the host has read what it announces."""
    QUEUED_OR_PRIORITY = "either"
    """SAS lets the machine queue the exception or send it with priority; this machine sends it with priority."""
    REAL_TIME = "real_time"
    """The exception is sent only while real-time event reporting is on."""


class SasMeterUnit(StrEnum):
    """The unit of a SAS meter."""

    CREDITS = "credits"
    """Credits, each worth the accounting denomination."""
    CENTS = "cents"
    COUNT = "count"
    HUNDREDTHS_PERCENT = "hundredths of a percent"


@dataclass(frozen=True, slots=True)
class SasPollDefinition:
    """A row of the table of long polls: command byte, name, type; ``note`` explains a conflict or a doubt."""

    code: int
    name: str
    poll_type: PollType
    confidence: TableConfidence
    note: str = ""


@dataclass(frozen=True, slots=True)
class SasExceptionDefinition:
    """A row of the table of SAS exceptions: code, name and urgency."""

    code: int
    name: str
    urgency: ExceptionUrgency
    confidence: TableConfidence = TableConfidence.TWO_SOURCES
    is_in_regulator_minimum: bool = False
    """Whether the exception is in the set that Montana requires, the smallest that a jurisdiction has published."""


@dataclass(frozen=True, slots=True)
class SasMeterDefinition:
    """A row of the table of meters (polls 2F, 6F and AF): code, name, unit, and its number of BCD bytes in poll 2F."""

    code: int
    name: str
    unit: SasMeterUnit
    byte_count: int = 4
    confidence: TableConfidence = TableConfidence.TWO_SOURCES
