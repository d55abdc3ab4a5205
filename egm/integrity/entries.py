"""The journal entries of integrity: starts, self-tests, doors, faults, the clock, the memory and the software."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import NoneType
from typing import Final, Literal

from egm.integrity.keys import IntegrityKey
from egm.kernel.entries import Entry
from egm.kernel.keys import KernelKey
from egm.kernel.logs import Log
from egm.kernel.significance import Clear, Effect, Significance
from egm.kernel.timekeeping import ClockDoubtReason
from egm.play.keys import PlayKey
from egm.record_codec import omit_if_default, stored_as
from egm.record_fields import Count, Digest, NonBlankText, Person, Persons, Staff, Time
from egm.staff.entries import ByPersons
from meters import Mark


# ---------------------------------------------------------------------------------------------- values in memory
@dataclass(frozen=True, slots=True, kw_only=True)
class OutOfService:
    """Why the machine took itself out of service: a failed self-test or generator."""

    cause: Literal["self_test", "chance"]
    """The part that failed: the self-test, or the random number generator."""
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledSoftware:
    """The installed software as its manufacturer signed it. ``components`` are the components' short digests."""

    version: str
    signer: str
    components: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedBy:
    """The cabinet file that staff signed last: its digest, who signed it, and when."""

    digest: Digest
    """The SHA-256 digest of the signed cabinet file."""
    persons: Persons
    at: Time


# ---------------------------------------------------------------------------------------------- starts
@dataclass(frozen=True, slots=True, kw_only=True)
class PowerUp:
    """The machine started: its release and profile, and the gaming day of its venue."""

    version: str | None = omit_if_default(None)
    """The release of the software."""
    profile: str | None = omit_if_default(None)
    """The id of the jurisdiction's profile."""
    time_zone: str | None = omit_if_default(None)
    """The venue's time zone, by its IANA name."""
    day_ends_hour: int | None = omit_if_default(None)
    """The hour of the clock at which the gaming day ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfTestPassed:
    """The machine passed its self-test."""

    games: Mapping[str, str] | None = omit_if_default(None)
    """The digest of each installed game's definition, by the game's id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratorRestarted:
    """A person started a new random number generator in place of the failed one."""

    person: Person


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceDisabled:
    """A host, a link or an operator took the machine out of service."""

    source: NonBlankText
    """The host, link or operator function that holds the machine out of service."""
    reason: str
    since: Time


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceEnabled:
    """A host, link or operator ended its disabling of the machine; staff are named if they did it by a form."""

    source: NonBlankText
    """The host, link or operator function that had disabled the machine (as in ``service.disabled``)."""
    reason: str | None = omit_if_default(None)
    form: str | None = omit_if_default(None)
    """The form by which staff returned the machine to service, or null if the source did it by itself."""
    person: Staff | None = omit_if_default(None)
    persons: Persons | None = omit_if_default(None)


POWER_UP: Final = Entry(
    kind="power.up",
    record=PowerUp,
    counts={"power_resets": 1},
    writes=(IntegrityKey.BOOTS,),
    may_write=(PlayKey.RESIDUAL,),
    marks=(Mark.POWER_UP,),
    significance=Significance(Effect.LOG, Clear.ITSELF, sas=0x17),
    is_technical=True,
)
RESIDUAL_TERMS: Final = Entry(
    kind="residual.terms",
    record=NoneType,
    about="The terms for residual credit of a further position have changed since the last start.",
    writes=(PlayKey.RESIDUAL,),
)
SELF_TEST_PASSED: Final = Entry(
    kind="self_test.passed",
    record=SelfTestPassed,
    may_write=(IntegrityKey.OUT_OF_SERVICE,),
    is_technical=True,
)
SELF_TEST_FAILED: Final = Entry(
    kind="self_test.failed",
    record=OutOfService,
    about="A self-test failed; the machine is out of service.",
    writes=(IntegrityKey.OUT_OF_SERVICE,),
    significance=Significance(Effect.HARD_STOP, Clear.TECHNICIAN, sas=0x37),
    is_technical=True,
)
CHANCE_FAILED: Final = Entry(
    kind="chance.failed",
    record=OutOfService,
    about="The random number generator failed; the machine is out of service.",
    writes=(IntegrityKey.OUT_OF_SERVICE,),
    significance=Significance(Effect.HARD_STOP, Clear.TECHNICIAN, sas=0x20),
)
CHANCE_RESTARTED: Final = Entry(
    kind="chance.restarted", record=GeneratorRestarted, writes=(IntegrityKey.OUT_OF_SERVICE,)
)
SERVICE_DISABLED: Final = Entry(
    kind="service.disabled",
    record=ServiceDisabled,
    writes=(IntegrityKey.DISABLED,),
    significance=Significance(Effect.STOP, Clear.ITSELF),
)
SERVICE_ENABLED: Final = Entry(
    kind="service.enabled",
    record=ServiceEnabled,
    writes=(IntegrityKey.DISABLED,),
    significance=Significance(Effect.LOG),
)


# ---------------------------------------------------------------------------------------------- doors and faults
@dataclass(frozen=True, slots=True, kw_only=True)
class DoorMoved:
    """A door was opened or closed."""

    door: NonBlankText
    """The name of the door's switch."""
    unattended: bool | None = omit_if_default(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultsSettled(ByPersons):
    """A technician cleared faults whose cause they have found."""

    codes: tuple[NonBlankText, ...]
    """The codes of the cleared faults."""
    finding: NonBlankText
    """The cause that the technician found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TiltCleared:
    """An attendant cleared faults."""

    codes: tuple[NonBlankText, ...]
    """The codes of the cleared faults."""
    person: Person


DOOR_OPENED: Final = Entry(
    kind="door.opened",
    record=DoorMoved,
    about="A door was opened.",
    counts={"door.*.opens": 1},
    writes=(KernelKey.DOOR,),
    subject="door",
    significance={
        "main": Significance(Effect.STOP, Clear.ITSELF, sas=0x11),
        "drop": Significance(Effect.LAMP, Clear.ITSELF, sas=0x13),
        "logic": Significance(Effect.HARD_STOP, Clear.TECHNICIAN, sas=0x15),
        "cash_box": Significance(Effect.ACCEPTOR_OFF, Clear.ITSELF, sas=0x19),
        "belly": Significance(Effect.STOP, Clear.ITSELF, sas=0x1D),
        "*": Significance(Effect.STOP, Clear.ITSELF, sas=0x11),
    },
    logs=(Log.ACCESS,),
    is_technical=True,
)
DOOR_OPENED_WHILE_OFF: Final = Entry(
    kind="door.opened_while_off",
    record=DoorMoved,
    about="A door was opened while the machine was off.",
    counts={"door.*.opens": 1},
    writes=(KernelKey.DOOR,),
    subject="door",
    significance={
        "logic": Significance(Effect.HARD_STOP, Clear.TECHNICIAN, sas=0x98),
        "main": Significance(Effect.STOP, Clear.ITSELF, sas=0x99),
        "cash_box": Significance(Effect.ACCEPTOR_OFF, Clear.ITSELF, sas=0x9A),
        "drop": Significance(Effect.LAMP, Clear.ITSELF, sas=0x9B),
        "*": Significance(Effect.STOP, Clear.ITSELF, sas=0x99),
    },
    logs=(Log.ACCESS,),
    is_technical=True,
)
DOOR_CLOSED: Final = Entry(
    kind="door.closed",
    record=DoorMoved,
    about="A door was closed.",
    writes=(KernelKey.DOOR,),
    marks=(Mark.DOOR_CLOSE,),
    subject="door",
    significance={
        "main": Significance(Effect.LOG, sas=0x12),
        "drop": Significance(Effect.LOG, sas=0x14),
        "logic": Significance(Effect.LOG, sas=0x16),
        "cash_box": Significance(Effect.LOG, sas=0x1A),
        "belly": Significance(Effect.LOG, sas=0x1E),
        "*": Significance(Effect.LOG, sas=0x12),
    },
    logs=(Log.ACCESS,),
    is_technical=True,
)
FAULTS_SETTLED: Final = Entry(
    kind="fault.settled",
    record=FaultsSettled,
    writes=(KernelKey.FAULT,),
    significance=Significance(Effect.LOG),
)
TILT_CLEARED: Final = Entry(
    kind="tilt.cleared",
    record=TiltCleared,
    writes=(KernelKey.FAULT,),
    significance=Significance(Effect.LOG),
    logs=(Log.ACCESS,),
)


# ---------------------------------------------------------------------------------------------- clock and memory
@dataclass(frozen=True, slots=True, kw_only=True)
class ClockChanged:
    """The clock was set forward or back."""

    last_entry: Time
    """The time that the clock should have shown."""
    now: Time
    """The time that the clock shows now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockDoubted:
    """The clock is not trusted."""

    why: ClockDoubtReason
    """The evidence against the clock.

    It shows a time before the software was built, before the last time known to be right, or long after it;
    or it was set while the machine ran.
    """
    last_trusted_time: str = field(metadata=stored_as("good"))
    """The last time known to be right, or empty if there never was one."""
    now: Time


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockBelieved:
    """The clock shows the expected time again, so it is trusted."""

    now: Time


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockConfirmed(ByPersons):
    """Staff confirmed the date, so the clock is trusted."""

    now: Time
    why: str
    """The reason why the clock was not trusted, or empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryNoted:
    """A replaced medium has been recorded as a fault, so its mark in the memory is removed."""

    detail: str


CLOCK_CHANGED: Final = Entry(
    kind="clock.changed",
    record=ClockChanged,
    significance=Significance(Effect.LOG),
    is_technical=True,
)
CLOCK_DOUBTED: Final = Entry(
    kind="clock.doubted",
    record=ClockDoubted,
    writes=(KernelKey.CLOCK,),
    significance=Significance(Effect.LOG),
)
CLOCK_BELIEVED: Final = Entry(
    kind="clock.believed",
    record=ClockBelieved,
    writes=(KernelKey.CLOCK,),
    significance=Significance(Effect.LOG),
)
CLOCK_CONFIRMED: Final = Entry(
    kind="clock.confirmed",
    record=ClockConfirmed,
    writes=(KernelKey.CLOCK, KernelKey.FAULT),
    significance=Significance(Effect.LOG),
)
MEMORY_NOTED: Final = Entry(kind="memory.noted", record=MemoryNoted, writes=(IntegrityKey.MEDIUM_REPLACED,))


# ---------------------------------------------------------------------------------------------- hard meters
@dataclass(frozen=True, slots=True, kw_only=True)
class HardMetersFitted:
    """Hard meters were detected on the machine for the first time."""

    counted: tuple[Count, ...]
    """The number of pulses that each hard meter has counted, in the order of the meters on the I/O board."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HardMetersExchanged(ByPersons):
    """Hard meters were exchanged."""

    reason: NonBlankText
    readings: NonBlankText
    """The readings of the hard meters after the exchange, as the technician entered them."""
    before: tuple[int, ...]
    """Each hard meter's offset until the exchange: electronic meter less hard meter, in pulses."""


HARD_METERS_FITTED: Final = Entry(
    kind="hard_meters.fitted", record=HardMetersFitted, writes=(IntegrityKey.HARD_METERS,), is_technical=True
)
HARD_METERS_EXCHANGED: Final = Entry(
    kind="hard_meters.exchanged",
    record=HardMetersExchanged,
    writes=(IntegrityKey.HARD_METERS,),
    significance=Significance(Effect.LOG),
)


# ---------------------------------------------------------------------------------------------- software, cabinet file
@dataclass(frozen=True, slots=True, kw_only=True)
class SoftwareCheckRequested:
    """A member of staff requested an examination of the software."""

    person: Staff


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftwareVerified:
    """A verification found every software file as signed."""

    version: str
    """The release of the verified software, as signed."""
    when: str
    """The occasion of the examination, such as the start of the machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftwareDiffers:
    """A verification found software files that are not as signed."""

    trouble: tuple[str, ...]
    """The files that differ, and how."""
    when: str
    """The occasion of the examination, such as the start of the machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftwareChanged:
    """Other software is installed than at the last start."""

    version: tuple[str, str]
    """The release before and after; empty if the software is not signed."""
    signer: tuple[str, str]
    """The signer before and after; empty if the software is not signed."""
    reason: str
    """The reason of the release, as its signer stated it."""
    components: Mapping[str, tuple[str, str]]
    """The digest before and after of each component that changed; empty if it was absent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CabinetSigned(SignedBy):
    """Staff signed the cabinet file."""

    reason: NonBlankText
    before: str
    """The digest of the file signed before, or empty."""
    text: NonBlankText
    """The signed text."""


SOFTWARE_CHECK: Final = Entry(
    kind="software.check",
    record=SoftwareCheckRequested,
    significance=Significance(Effect.LOG),
)
SOFTWARE_VERIFIED: Final = Entry(
    kind="software.verified",
    record=SoftwareVerified,
    significance=Significance(Effect.LOG),
    is_technical=True,
)
SOFTWARE_DIFFERS: Final = Entry(
    kind="software.differs",
    record=SoftwareDiffers,
    counts={"verify_fail": 1},
    significance=Significance(Effect.LOG),
    logs=(Log.SOFTWARE,),
    is_technical=True,
)
SOFTWARE_CHANGED: Final = Entry(
    kind="software.changed",
    record=SoftwareChanged,
    writes=(IntegrityKey.SOFTWARE,),
    significance=Significance(Effect.LOG, sas=0x8E),
    logs=(Log.SOFTWARE,),
    is_technical=True,
)
CABINET_SIGNED: Final = Entry(
    kind="cabinet.signed",
    record=CabinetSigned,
    writes=(IntegrityKey.CABINET,),
    significance=Significance(Effect.LOG, sas=0x3C),
    logs=(Log.SOFTWARE,),
)
