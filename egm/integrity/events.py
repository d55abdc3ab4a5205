"""Payloads of the integrity events: start, faults, doors, disabling and enabling, and technicians' forms."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from egm.kernel.events import EventName, EventType, FaultChange, Payload
from egm.staff.events import FilledForm


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryReady:
    """Event: the machine has started and read its memory; the version of its software, and its profile."""

    version: str | None = None
    profile: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfTestResult:
    """Event: the self-test has passed; ``games`` are the digests of the installed games, by game id."""

    games: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfTestFailure:
    """Event: the self-test or the random number generator has failed, and how."""

    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoorChange:
    """Event: a door of the machine was opened or closed; ``unattended`` if that happened while the machine was off."""

    door: str
    unattended: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DisablingRequest(FilledForm):
    """Event: a host, a link or an operator (``source``) disables the machine, and why."""

    source: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EnablingRequest(FilledForm):
    """Event: the source of an earlier :class:`DisablingRequest` enables the machine again."""

    source: str
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultsForm(FilledForm):
    """A technician's form: what they found, to clear faults."""

    finding: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockForm(FilledForm):
    """A form that confirms the clock, with the date as YYYYMMDD."""

    date: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureForm(FilledForm):
    """A form that signs the cabinet file in use, with the reason."""

    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountersForm(FilledForm):
    """A form that reports exchanged hard meters, with what the meters show after the exchange."""

    reason: str = ""
    readings: str = ""


EVENTS: Final[Mapping[EventName, type[Payload]]] = {
    EventType.MEMORY_READY: MemoryReady,
    EventType.SELF_TEST_PASSED: SelfTestResult,
    EventType.SELF_TEST_FAILED: SelfTestFailure,
    EventType.CHANCE_FAILED: SelfTestFailure,
    EventType.FAULT_RAISED: FaultChange,
    EventType.FAULT_CLEARED: FaultChange,
    EventType.DOOR_OPENED: DoorChange,
    EventType.DOOR_CLOSED: DoorChange,
    EventType.DISABLED: DisablingRequest,
    EventType.ENABLED: EnablingRequest,
    EventType.FAULTS_SETTLED: FaultsForm,
    EventType.CLOCK_CONFIRMED: ClockForm,
    EventType.FILE_SIGNED: SignatureForm,
    EventType.VERIFY: FilledForm,
    EventType.COUNTERS_EXCHANGED: CountersForm,
}
