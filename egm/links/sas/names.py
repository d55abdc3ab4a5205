"""Vocabulary of the SAS tables: how far a row is to be trusted, and the kinds of polls and events.

SAS is a licensed standard and none of its text is here. Every row of the tables was put together from public
sources, and carries how many of them agree; the conformance page shows it beside the row.
"""

from dataclasses import dataclass
from enum import StrEnum


class Confidence(StrEnum):
    """How well a row is founded."""

    TWO_SOURCES = "A"
    """Two or more independent public sources, or an experiment."""
    ONE_SOURCE = "B"
    KNOWLEDGE = "K"
    """General knowledge only: switched off unless the cabinet file switches it on."""
    CONFLICT = "X"
    """Sources conflict; the row's note says how, and what this machine does."""


class PollType(StrEnum):
    """How a long poll is asked, and whether it is answered."""

    READ = "R"
    """Address and command, no CRC."""
    SET = "S"
    """Address, command, perhaps data, always a CRC."""
    GAME = "M"
    """Of one game: a game number of two BCD bytes (0000 for the machine), and a CRC."""
    SET_OR_BROADCAST = "S/G"
    """As S; also to address 0, where nobody answers."""


class Urgency(StrEnum):
    """Where an exception waits."""

    QUEUED = "queued"
    PRIORITY = "priority"
    """Outside the queue, before it, and raised again until what it announces has been read."""
    EITHER = "either"
    """As the machine is configured."""
    REAL_TIME = "real_time"
    """Only while real-time event reporting is on."""


class MeterUnit(StrEnum):
    """What a meter of SAS counts."""

    CREDITS = "credits"
    """Of the accounting denomination."""
    CENTS = "cents"
    COUNT = "count"
    HUNDREDTHS_PERCENT = "hundredths of a percent"


@dataclass(frozen=True, slots=True)
class PollName:
    """A long poll: command byte, name, type; ``note`` says what a conflict or a doubt is about."""

    code: int
    name: str
    type: PollType
    confidence: Confidence
    note: str = ""


@dataclass(frozen=True, slots=True)
class ExceptionName:
    """An exception: code, name, where it waits, and whether it is in the smallest published set (Montana)."""

    code: int
    name: str
    urgency: Urgency
    confidence: Confidence = Confidence.TWO_SOURCES
    minimum: bool = False


@dataclass(frozen=True, slots=True)
class MeterName:
    """A meter of polls 2F, 6F and AF: code, name, unit, and how many BCD bytes poll 2F gives it."""

    code: int
    name: str
    unit: MeterUnit
    size: int = 4
    confidence: Confidence = Confidence.TWO_SOURCES
