"""The journal entries of integrity: starts, self-tests, doors, faults, the clock, the memory and the software."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import NoneType
from typing import Final, Literal

from egm.integrity.keys import IntegrityKey
from egm.kernel.entries import EntryDeclaration
from egm.kernel.keys import KernelKey
from egm.kernel.logs import Log
from egm.kernel.significance import ClearCondition, EventEffect, Significance
from egm.kernel.timekeeping import ClockDoubtReason
from egm.play.keys import PlayKey
from egm.record_codec import omit_if_default, stored_as
from egm.record_fields import ActorId, Count, IsoTime, NonBlankText, Sha256Digest, StaffNumber, StaffNumbers
from egm.staff.entries import StaffAuthorisedEntry
from meters import PeriodMark


# ---------------------------------------------------------------------------------------------- values in memory
@dataclass(frozen=True, slots=True, kw_only=True)
class OutOfServiceRecord:
    """The stored reason why the machine took itself out of service: a failed self-test or generator."""

    cause: Literal["self_test", "chance"]
    """Which of the two failed: ``self_test``, or ``chance`` for the random number generator."""
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CabinetSignatureRecord:
    """The stored signature of the cabinet file that staff signed last: its digest, who signed it, and when."""

    digest: Sha256Digest
    """The SHA-256 digest of the signed cabinet file."""
    persons: StaffNumbers
    signed_time: IsoTime = field(metadata=stored_as("at"))


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

    person: ActorId


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineDisabled:
    """A host, a link or an operator took the machine out of service."""

    source: NonBlankText
    """The host, link or operator function that disables the machine."""
    reason: str
    disabled_at: IsoTime = field(metadata=stored_as("since"))


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineEnabled:
    """A host, link or operator ended its disabling of the machine; staff are named if they did it by a form."""

    source: NonBlankText
    """The host, link or operator function that had disabled the machine."""
    reason: str | None = omit_if_default(None)
    form: str | None = omit_if_default(None)
    """The form with which staff returned the machine to service, or null if the source did it by itself."""
    person: StaffNumber | None = omit_if_default(None)
    persons: StaffNumbers | None = omit_if_default(None)


POWER_UP: Final = EntryDeclaration(
    kind="power.up",
    record=PowerUp,
    counts={"power_resets": 1},
    written_keys=(IntegrityKey.BOOT_COUNT,),
    optional_keys=(PlayKey.RESIDUAL_CREDIT_TERMS, IntegrityKey.CURRENCY),
    marks=(PeriodMark.POWER_UP,),
    significance=Significance(EventEffect.LOG, ClearCondition.ITSELF, sas_exception_code=0x17),
    is_technical=True,
)
RESIDUAL_CREDIT_TERMS: Final = EntryDeclaration(
    kind="residual.terms",
    record=NoneType,
    description="The terms for residual credit of a further position have changed since the last start.",
    written_keys=(PlayKey.RESIDUAL_CREDIT_TERMS,),
)
SELF_TEST_PASSED: Final = EntryDeclaration(
    kind="self_test.passed",
    record=SelfTestPassed,
    optional_keys=(IntegrityKey.OUT_OF_SERVICE,),
    is_technical=True,
)
SELF_TEST_FAILED: Final = EntryDeclaration(
    kind="self_test.failed",
    record=OutOfServiceRecord,
    description="A self-test failed; the machine is out of service.",
    written_keys=(IntegrityKey.OUT_OF_SERVICE,),
    significance=Significance(EventEffect.HARD_STOP, ClearCondition.TECHNICIAN, sas_exception_code=0x37),
    is_technical=True,
)
GENERATOR_FAILED: Final = EntryDeclaration(
    kind="chance.failed",
    record=OutOfServiceRecord,
    description="The random number generator failed; the machine is out of service.",
    written_keys=(IntegrityKey.OUT_OF_SERVICE,),
    significance=Significance(EventEffect.HARD_STOP, ClearCondition.TECHNICIAN, sas_exception_code=0x20),
)
GENERATOR_RESTARTED: Final = EntryDeclaration(
    kind="chance.restarted", record=GeneratorRestarted, written_keys=(IntegrityKey.OUT_OF_SERVICE,)
)
MACHINE_DISABLED: Final = EntryDeclaration(
    kind="service.disabled",
    record=MachineDisabled,
    written_keys=(IntegrityKey.DISABLING_RECORD,),
    significance=Significance(EventEffect.STOP, ClearCondition.ITSELF),
)
MACHINE_ENABLED: Final = EntryDeclaration(
    kind="service.enabled",
    record=MachineEnabled,
    written_keys=(IntegrityKey.DISABLING_RECORD,),
    significance=Significance(EventEffect.LOG),
)


# ---------------------------------------------------------------------------------------------- doors and faults
@dataclass(frozen=True, slots=True, kw_only=True)
class DoorOpenedOrClosed:
    """A door was opened or closed."""

    door: NonBlankText
    """The name of the door's switch."""
    was_unobserved: bool | None = omit_if_default(None, key="unattended")
    """Whether the machine was off, or received no reports of the I/O board, when the door was opened or closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultsClearedByTechnician(StaffAuthorisedEntry):
    """A technician cleared faults whose cause they have found."""

    codes: tuple[NonBlankText, ...]
    """The codes of the cleared faults."""
    finding: NonBlankText
    """The cause that the technician found, in their own words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TiltCleared:
    """An attendant cleared faults."""

    codes: tuple[NonBlankText, ...]
    """The codes of the cleared faults."""
    person: ActorId


DOOR_OPENED: Final = EntryDeclaration(
    kind="door.opened",
    record=DoorOpenedOrClosed,
    description="A door was opened.",
    counts={"door.*.opens": 1},
    written_keys=(KernelKey.DOOR,),
    subject_field="door",
    significance={
        "main": Significance(EventEffect.STOP, ClearCondition.ITSELF, sas_exception_code=0x11),
        "drop": Significance(EventEffect.LAMP, ClearCondition.ITSELF, sas_exception_code=0x13),
        "logic": Significance(EventEffect.HARD_STOP, ClearCondition.TECHNICIAN, sas_exception_code=0x15),
        "cash_box": Significance(EventEffect.ACCEPTOR_OFF, ClearCondition.ITSELF, sas_exception_code=0x19),
        "belly": Significance(EventEffect.STOP, ClearCondition.ITSELF, sas_exception_code=0x1D),
        "*": Significance(EventEffect.STOP, ClearCondition.ITSELF, sas_exception_code=0x11),
    },
    logs=(Log.ACCESS,),
    is_technical=True,
)
DOOR_OPENED_WHILE_OFF: Final = EntryDeclaration(
    kind="door.opened_while_off",
    record=DoorOpenedOrClosed,
    description="A door was opened while the machine was off or received no reports of the I/O board.",
    counts={"door.*.opens": 1},
    written_keys=(KernelKey.DOOR,),
    subject_field="door",
    significance={
        "logic": Significance(EventEffect.HARD_STOP, ClearCondition.TECHNICIAN, sas_exception_code=0x98),
        "main": Significance(EventEffect.STOP, ClearCondition.ITSELF, sas_exception_code=0x99),
        "cash_box": Significance(EventEffect.ACCEPTOR_OFF, ClearCondition.ITSELF, sas_exception_code=0x9A),
        "drop": Significance(EventEffect.LAMP, ClearCondition.ITSELF, sas_exception_code=0x9B),
        "*": Significance(EventEffect.STOP, ClearCondition.ITSELF, sas_exception_code=0x99),
    },
    logs=(Log.ACCESS,),
    is_technical=True,
)
DOOR_CLOSED: Final = EntryDeclaration(
    kind="door.closed",
    record=DoorOpenedOrClosed,
    description="A door was closed.",
    written_keys=(KernelKey.DOOR,),
    marks=(PeriodMark.DOOR_CLOSE,),
    subject_field="door",
    significance={
        "main": Significance(EventEffect.LOG, sas_exception_code=0x12),
        "drop": Significance(EventEffect.LOG, sas_exception_code=0x14),
        "logic": Significance(EventEffect.LOG, sas_exception_code=0x16),
        "cash_box": Significance(EventEffect.LOG, sas_exception_code=0x1A),
        "belly": Significance(EventEffect.LOG, sas_exception_code=0x1E),
        "*": Significance(EventEffect.LOG, sas_exception_code=0x12),
    },
    logs=(Log.ACCESS,),
    is_technical=True,
)
FAULTS_CLEARED_BY_TECHNICIAN: Final = EntryDeclaration(
    kind="fault.settled",
    record=FaultsClearedByTechnician,
    written_keys=(KernelKey.FAULT,),
    significance=Significance(EventEffect.LOG),
)
TILT_CLEARED: Final = EntryDeclaration(
    kind="tilt.cleared",
    record=TiltCleared,
    written_keys=(KernelKey.FAULT,),
    significance=Significance(EventEffect.LOG),
    logs=(Log.ACCESS,),
)


# ---------------------------------------------------------------------------------------------- clock and memory
@dataclass(frozen=True, slots=True, kw_only=True)
class ClockChanged:
    """The clock was set forward or back."""

    expected_time: IsoTime = field(metadata=stored_as("last_entry"))
    """The time that the clock should have shown."""
    clock_time: IsoTime = field(metadata=stored_as("now"))
    """The time that the clock shows now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockDoubted:
    """The machine has found a reason not to trust its clock."""

    reason: ClockDoubtReason = field(metadata=stored_as("why"))
    """The reason for the doubt.

    The clock shows a time before the software was built, before the last time known to be right, or long after
    that time; or it was set while the machine ran.
    """
    last_trusted_time: str = field(metadata=stored_as("good"))
    """The last time known to be right, or empty if there never was one."""
    clock_time: IsoTime = field(metadata=stored_as("now"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockTrusted:
    """The clock shows the expected time again, so it is trusted."""

    clock_time: IsoTime = field(metadata=stored_as("now"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockConfirmed(StaffAuthorisedEntry):
    """Staff confirmed the date, so the clock is trusted."""

    clock_time: IsoTime = field(metadata=stored_as("now"))
    doubt_reason: str = field(metadata=stored_as("why"))
    """The reason why the clock was not trusted, or empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MediumReplacementNoted:
    """The machine has raised a fault about a replaced medium, and removed the journal's note of the replacement."""

    detail: str


CLOCK_CHANGED: Final = EntryDeclaration(
    kind="clock.changed",
    record=ClockChanged,
    significance=Significance(EventEffect.LOG),
    is_technical=True,
)
CLOCK_DOUBTED: Final = EntryDeclaration(
    kind="clock.doubted",
    record=ClockDoubted,
    written_keys=(KernelKey.CLOCK_DOUBT,),
    significance=Significance(EventEffect.LOG),
)
CLOCK_TRUSTED: Final = EntryDeclaration(
    kind="clock.believed",
    record=ClockTrusted,
    written_keys=(KernelKey.CLOCK_DOUBT,),
    significance=Significance(EventEffect.LOG),
)
CLOCK_CONFIRMED: Final = EntryDeclaration(
    kind="clock.confirmed",
    record=ClockConfirmed,
    written_keys=(KernelKey.CLOCK_DOUBT, KernelKey.FAULT),
    significance=Significance(EventEffect.LOG),
)
MEDIUM_REPLACEMENT_NOTED: Final = EntryDeclaration(
    kind="memory.noted", record=MediumReplacementNoted, written_keys=(IntegrityKey.MEDIUM_REPLACED,)
)


# ---------------------------------------------------------------------------------------------- hard meters
@dataclass(frozen=True, slots=True, kw_only=True)
class HardMetersFitted:
    """Hard meters were fitted: the machine has detected them for the first time, or anew after an exchange."""

    counted_pulses: tuple[Count, ...] = field(metadata=stored_as("counted"))
    """The number of pulses that each hard meter has counted, in the order of the meters on the I/O board."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HardMetersExchanged(StaffAuthorisedEntry):
    """Hard meters were exchanged."""

    reason: NonBlankText
    readings: NonBlankText
    """The readings of the hard meters after the exchange, as the technician entered them."""
    offsets_before: tuple[int, ...] = field(metadata=stored_as("before"))
    """For each hard meter, electronic meter less hard meter in pulses, as it was until the exchange."""


HARD_METERS_FITTED: Final = EntryDeclaration(
    kind="hard_meters.fitted",
    record=HardMetersFitted,
    written_keys=(IntegrityKey.HARD_METER_OFFSETS,),
    is_technical=True,
)
HARD_METERS_EXCHANGED: Final = EntryDeclaration(
    kind="hard_meters.exchanged",
    record=HardMetersExchanged,
    written_keys=(IntegrityKey.HARD_METER_OFFSETS,),
    significance=Significance(EventEffect.LOG),
)


# ---------------------------------------------------------------------------------------------- software, cabinet file
@dataclass(frozen=True, slots=True, kw_only=True)
class SoftwareCheckRequested:
    """A member of staff requested a verification of the software."""

    person: StaffNumber


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftwareVerified:
    """A verification of the software found every file as signed."""

    version: str
    """The release of the verified software, as signed."""
    occasion: str = field(metadata=stored_as("when"))
    """The occasion of the verification, such as the start of the machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftwareDiffers:
    """A verification found software files that are not as signed."""

    differences: tuple[str, ...] = field(metadata=stored_as("trouble"))
    """The files that differ, and how."""
    occasion: str = field(metadata=stored_as("when"))
    """The occasion of the verification, such as the start of the machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftwareChanged:
    """The installed software differs from the software at the last start."""

    version: tuple[str, str]
    """The release before and after the change; empty if the software is not signed."""
    signer: tuple[str, str]
    """The signer before and after the change; empty if the software is not signed."""
    reason: str
    """The manufacturer's reason for the new release."""
    components: Mapping[str, tuple[str, str]]
    """For each component that changed, its digest before and after; empty if the component was absent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CabinetFileSigned(CabinetSignatureRecord):
    """Staff signed the cabinet file."""

    reason: NonBlankText
    previous_digest: str = field(metadata=stored_as("before"))
    """The digest of the cabinet file that was signed before, or empty if none was."""
    text: NonBlankText
    """The text of the signed cabinet file."""


SOFTWARE_CHECK_REQUESTED: Final = EntryDeclaration(
    kind="software.check",
    record=SoftwareCheckRequested,
    significance=Significance(EventEffect.LOG),
)
SOFTWARE_VERIFIED: Final = EntryDeclaration(
    kind="software.verified",
    record=SoftwareVerified,
    significance=Significance(EventEffect.LOG),
    is_technical=True,
)
SOFTWARE_DIFFERS: Final = EntryDeclaration(
    kind="software.differs",
    record=SoftwareDiffers,
    counts={"verify_fail": 1},
    significance=Significance(EventEffect.LOG),
    logs=(Log.SOFTWARE,),
    is_technical=True,
)
SOFTWARE_CHANGED: Final = EntryDeclaration(
    kind="software.changed",
    record=SoftwareChanged,
    written_keys=(IntegrityKey.INSTALLED_SOFTWARE,),
    significance=Significance(EventEffect.LOG, sas_exception_code=0x8E),
    logs=(Log.SOFTWARE,),
    is_technical=True,
)
CABINET_FILE_SIGNED: Final = EntryDeclaration(
    kind="cabinet.signed",
    record=CabinetFileSigned,
    written_keys=(IntegrityKey.SIGNED_CABINET_FILE,),
    significance=Significance(EventEffect.LOG, sas_exception_code=0x3C),
    logs=(Log.SOFTWARE,),
)
