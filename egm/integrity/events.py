"""Payloads of the integrity events: start, faults, doors, disabling and enabling, and technicians' forms."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from egm.kernel.events import EventName, EventType, FaultChange, Payload
from egm.record_codec import stored_as
from egm.staff.events import FilledForm


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryReady:
    """Event: the machine has started and read its memory; the event states the software's version and the profile."""

    version: str | None = None
    profile: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfTestSuccess:
    """Event: the self-test has passed; ``games`` has the digest of each installed game, by id."""

    games: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureDetail:
    """Event: the self-test or the random number generator has failed; ``detail`` says how."""

    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoorChange:
    """Event: a door was opened or closed.

    ``was_unobserved``: no machine was connected to the I/O board at that time, for example because the power was
    off.
    """

    door: str
    was_unobserved: bool | None = field(default=None, metadata=stored_as("unattended"))


@dataclass(frozen=True, slots=True, kw_only=True)
class DisablingRequest(FilledForm):
    """Event: a host, a link or the operator (``source``) disables the machine, with the reason.

    Only the operator does it with a form; for other sources, the form and the persons are empty.
    """

    source: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EnablingRequest(FilledForm):
    """Event: a host, a link or the operator (``source``) enables the machine that it has disabled.

    Only the operator does it with a form; for other sources, the form and the persons are empty.
    """

    source: str
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultClearanceForm(FilledForm):
    """A technician's form to clear faults; it states the cause that they found."""

    finding: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockConfirmationForm(FilledForm):
    """A form with which staff confirm that the clock is right; it has the date as YYYYMMDD."""

    date: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CabinetFileSignatureForm(FilledForm):
    """A form with which staff sign the cabinet file in use; it has the reason."""

    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HardMeterExchangeForm(FilledForm):
    """A form about exchanged hard meters; it has what each hard meter shows after the exchange."""

    reason: str = ""
    readings: str = ""


PAYLOAD_CLASS_BY_EVENT: Final[Mapping[EventName, type[Payload]]] = {
    EventType.MEMORY_READY: MemoryReady,
    EventType.SELF_TEST_PASSED: SelfTestSuccess,
    EventType.SELF_TEST_FAILED: FailureDetail,
    EventType.GENERATOR_FAILED: FailureDetail,
    EventType.FAULT_RAISED: FaultChange,
    EventType.FAULT_CLEARED: FaultChange,
    EventType.DOOR_OPENED: DoorChange,
    EventType.DOOR_CLOSED: DoorChange,
    EventType.MACHINE_DISABLED: DisablingRequest,
    EventType.MACHINE_ENABLED: EnablingRequest,
    EventType.CLEAR_FAULTS_AS_TECHNICIAN: FaultClearanceForm,
    EventType.CLOCK_CONFIRMED: ClockConfirmationForm,
    EventType.CABINET_FILE_SIGNED: CabinetFileSignatureForm,
    EventType.VERIFY_SOFTWARE: FilledForm,
    EventType.HARD_METERS_EXCHANGED: HardMeterExchangeForm,
}
