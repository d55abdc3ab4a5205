"""The journal entries of staff: sign-in, the roster, work at the machine, device tests, slips and notes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal, TypeAlias

from egm.devices.ioboard.codec import KEYS
from egm.integrity.keys import IntegrityKey
from egm.kernel.entries import EntryDeclaration, PermittedTransfer
from egm.kernel.keys import KernelKey
from egm.kernel.logs import Log
from egm.kernel.significance import ClearCondition, EventEffect, Significance
from egm.money.keys import MoneyKey
from egm.people import Permission
from egm.people.roles import Role
from egm.record_codec import FieldCondition, omit_if_default, stored_as
from egm.record_fields import (
    KEY_SWITCH_NAME_CONDITION,
    ActorId,
    Cents,
    CentsOrZero,
    Count,
    IsoTime,
    KeySwitchName,
    MachineSerialNumber,
    NonBlankText,
    PositiveNumber,
    Sha256Digest,
    StaffNumber,
    StaffNumbers,
)
from egm.staff.keys import StaffKey
from egm.staff.records import CollectedBox, OperatorOptions, OptionName, OptionValues, WorkKind

#: A touch calibration: six integer coefficients that map detected to true positions (:mod:`egm.kernel.touch`).
CalibrationMatrix: TypeAlias = tuple[int, int, int, int, int, int]
#: Condition on a record's field that says how the service menu was opened.
MENU_OPENER: Final = FieldCondition(
    "key switch, or `screen`", "neither a key switch nor the screen", lambda value: value in {*KEYS, "screen"}
)
#: The key switch that opened the menu, or ``screen``.
OpenedBy: TypeAlias = Annotated[str, MENU_OPENER, KEY_SWITCH_NAME_CONDITION]


# ---------------------------------------------------------------------------------------------- values in memory
@dataclass(frozen=True, slots=True, kw_only=True)
class OpenMenu:
    """The state of the open service menu: when it was opened, and who is signed in, if anybody."""

    opened_at: IsoTime = field(metadata=stored_as("since"))
    person: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervention:
    """The open intervention: who is working in the machine, since when, and why."""

    id: NonBlankText
    opened_at: IsoTime = field(metadata=stored_as("since"))
    kind: WorkKind
    reason: NonBlankText
    person: NonBlankText
    persons: StaffNumbers


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionRecord:
    """The last collection of cash boxes, with the metered amounts, and which of the boxes have been counted since."""

    id: NonBlankText
    metered_at_previous_collection_cents: Mapping[str, CentsOrZero] = field(metadata=stored_as("before"))
    """The total metered into each box up to the previous collection, in minor units by box."""
    metered_at_collection_cents: Mapping[str, CentsOrZero] = field(metadata=stored_as("after"))
    """The total metered into each box up to this collection, in minor units by box."""
    counted_boxes: tuple[CollectedBox, ...] = field(metadata=stored_as("counted"))
    """The boxes whose content has been counted since this collection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WithdrawnBase:
    """The machine's stand (base) while it is withdrawn, and the cashier who has its lock and key."""

    withdrawn_at: IsoTime = field(metadata=stored_as("since"))
    base_number: NonBlankText = field(metadata=stored_as("base"))
    lock_number: NonBlankText = field(metadata=stored_as("lock"))
    cashier: NonBlankText
    reason: NonBlankText


@dataclass(frozen=True, slots=True, kw_only=True)
class InventoryGame:
    """An installed game as the machine's inventory entry describes it."""

    game_id: str = field(metadata=stored_as("game"))
    version: str
    digest: str
    return_percent: str = field(metadata=stored_as("return"))
    """The lowest return to the player in percent; empty if it is unknown or the game has a commission instead."""
    certified_on: str
    """The date on which the game was certified; empty if it is not known."""
    certified_by: str | None = omit_if_default(None)
    """The public key of the laboratory that signed the game's certificate, in hexadecimal; None without one."""
    commission_percent: str = omit_if_default("", key="levy")
    """The operator's commission in percent (games between players, such as poker); empty for all other games."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InventoryEntry:
    """The machine's entry in the venue's inventory (Monaco art. 19.3)."""

    kind: str
    """The type of the machine, as stated in the cabinet file."""
    manufacturer: str
    """The name of the machine's manufacturer."""
    model: str
    """The manufacturer's name for the machine's model."""
    manufacture_date: str = field(metadata=stored_as("made"))
    """The date on which the machine was manufactured (ISO 8601); empty if the cabinet file states none."""
    serial: str
    operator_number: str
    base_number: str
    """The number of the base (stand) under the machine."""
    site: str
    """The name of the venue."""
    location: str
    """Where in the venue the machine is."""
    photograph: str
    """The file name and digest of the machine's photograph."""
    profile: str
    """The id of the jurisdiction's profile."""
    games: tuple[InventoryGame, ...]
    """The installed games."""


# ---------------------------------------------------------------------------------------------- parts of records
@dataclass(frozen=True, slots=True, kw_only=True)
class StaffAuthorisedEntry:
    """Base class of entries about work that members of staff have authorised; ``person`` is the first of them."""

    person: StaffNumber
    persons: StaffNumbers


@dataclass(frozen=True, slots=True, kw_only=True)
class StaffAuthorisedEntryAtMachine(StaffAuthorisedEntry):
    """Base class of entries with the machine's serial number and the operator's number for it.

    The entries state both numbers because they are used outside the machine (Monaco art. 19.1).
    """

    serial: MachineSerialNumber
    operator_number: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintJobOrTestFailed:
    """A slip or test page was not printed, or a device test could not be started."""

    id: NonBlankText
    """The id of the print job or test."""
    reason: str = field(metadata=stored_as("why"))


@dataclass(frozen=True, slots=True, kw_only=True)
class SlipOrTestPagePrinted:
    """A print job without value (a slip or a test page) was printed up to its bar code."""

    id: NonBlankText
    """The id of the print job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StaffActReason:
    """Base class of entries that state the reason for an act of staff."""

    reason: str = field(metadata=stored_as("why"))
    """The reason that staff gave for what the entry records."""


# ---------------------------------------------------------------------------------------------- the roster
@dataclass(frozen=True, slots=True, kw_only=True)
class RosterChanged:
    """The staff roster was changed."""

    person: str
    """The person who changed the roster; empty for the first change."""
    changed_number: NonBlankText = field(metadata=stored_as("whom"))
    """The staff number whose entry was changed."""
    role: Role
    """The role of the person with that staff number."""
    change_time: IsoTime = field(metadata=stored_as("at"))
    change_number: PositiveNumber = field(metadata=stored_as("number"))
    """The running number of the change."""
    digest: str | None = omit_if_default(None)
    """The digest of the whole roster after the change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RosterCarriedOver:
    """The staff roster was carried into this journal by an authorised memory clear."""

    change_number: PositiveNumber = field(metadata=stored_as("number"))
    """The number of the last change of the roster."""
    digest: Sha256Digest
    """The digest of the roster."""
    role_by_staff_number: Mapping[str, Role] = field(metadata=stored_as("people"))
    """The role of each person, by staff number."""
    disabled_staff_numbers: tuple[str, ...] = field(metadata=stored_as("disabled"))
    """The staff numbers that cannot sign in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RosterRenewed:
    """Two people who are not enrolled started a new staff roster, because the recorded one is lost."""

    person: NonBlankText
    witness: NonBlankText
    """The second of the two people who started the new roster; ``person`` is the first."""
    reason: NonBlankText


def _declare_roster_change(kind: str, meaning: str) -> EntryDeclaration[RosterChanged]:
    """Return the declaration of the journal entry ``kind`` for one kind of change of the staff roster.

    ``meaning`` describes the change.
    """
    return EntryDeclaration(
        kind=kind,
        record=RosterChanged,
        description=meaning,
        written_keys=(StaffKey.ROSTER_CHANGE,),
        logs=(Log.ACCESS,),
    )


STAFF_ADDED: Final = _declare_roster_change("staff.added", "A person was enrolled.")
STAFF_DISABLED: Final = _declare_roster_change("staff.disabled", "A staff number was disabled.")
STAFF_ENABLED: Final = _declare_roster_change("staff.enabled", "A disabled staff number was enabled.")
STAFF_PIN_CHANGED: Final = _declare_roster_change("staff.pin", "A member of staff received a new PIN.")
ROSTER_CARRIED_OVER: Final = EntryDeclaration(
    kind="staff.carried",
    record=RosterCarriedOver,
    written_keys=(StaffKey.ROSTER_CHANGE,),
    logs=(Log.ACCESS,),
    is_technical=True,
)
ROSTER_RENEWED: Final = EntryDeclaration(
    kind="staff.renewed",
    record=RosterRenewed,
    written_keys=(StaffKey.ROSTER_CHANGE, KernelKey.FAULT),
    logs=(Log.ACCESS,),
)
ROSTER_RESTORED: Final = EntryDeclaration(
    kind="staff.restored",
    record=StaffActReason,
    description="The second copy of the roster has replaced the first, which was refused.",
    logs=(Log.ACCESS,),
    is_technical=True,
)
ROSTER_UNREADABLE: Final = EntryDeclaration(
    kind="staff.unreadable",
    record=StaffActReason,
    description="Neither copy of the roster is the recorded one: nobody can sign in.",
    logs=(Log.ACCESS,),
    is_technical=True,
)


# ---------------------------------------------------------------------------------------------- the menu, and sign-in
@dataclass(frozen=True, slots=True, kw_only=True)
class MenuRequested:
    """Somebody opened the service menu with a key switch or from the screen, and was asked to sign in."""

    opened_by: OpenedBy = field(metadata=stored_as("by"))
    """The key switch that was turned, or the screen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuEntered:
    """A member of staff signed in."""

    menu: str
    """The menu that was opened: ``attendant`` or ``operator``."""
    person: StaffNumber
    role: Role
    """The role of the person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuLeft:
    """The signed-in person was signed out."""

    reason: str = field(metadata=stored_as("why"))
    menu: str
    """The menu that was open: ``attendant`` or ``operator``."""
    person: StaffNumber


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInNotPermitted:
    """A person signed in, but their role does not permit what they intended to do."""

    person: StaffNumber
    permission: Permission
    """The permission that the role lacks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInWhileLocked:
    """Somebody tried to sign in with a locked staff number."""

    person: str
    """The staff number as typed."""
    reason: Literal["locked"] = field(metadata=stored_as("why"))


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongPinTyped:
    """Somebody typed a wrong PIN."""

    person: str
    """The staff number as typed."""
    reason: Literal["wrong"] = field(metadata=stored_as("why"))
    wrong_pin_count: PositiveNumber = field(metadata=stored_as("tries"))
    """The number of wrong PINs that were typed for this staff number without a right one in between."""
    locked_seconds: Count
    """The time for which the staff number is now locked, in seconds; 0 if it is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongPinAtTerminal:
    """Somebody typed a wrong PIN at a computer terminal (command line), not at the machine's screen."""

    person: str
    """The staff number, or ``?`` if what was typed cannot be a staff number."""
    reason: Literal["terminal"] = field(metadata=stored_as("why"))
    typed_at: str = field(metadata=stored_as("at"))
    """The time of day at which the PIN was typed, for display only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongPinsCleared:
    """The right PIN was typed, so that earlier wrong PINs of this staff number no longer count."""

    person: StaffNumber


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInUnlocked(StaffAuthorisedEntry):
    """A locked staff number was unlocked before its time."""

    locked_number: StaffNumber = field(metadata=stored_as("whom"))
    """The locked staff number."""
    reason: NonBlankText


MENU_REQUESTED: Final = EntryDeclaration(
    kind="menu.asked",
    record=MenuRequested,
    written_keys=(StaffKey.OPEN_MENU,),
    logs=(Log.ACCESS,),
)
MENU_ENTERED: Final = EntryDeclaration(
    kind="menu.entered",
    record=MenuEntered,
    written_keys=(StaffKey.OPEN_MENU,),
    subject_field="menu",
    significance={
        "attendant": Significance(EventEffect.LOG, sas_exception_code=0x82),
        "operator": Significance(EventEffect.LOG, sas_exception_code=0x84),
    },
    logs=(Log.ACCESS,),
)
MENU_LEFT: Final = EntryDeclaration(
    kind="menu.left",
    record=MenuLeft,
    written_keys=(StaffKey.OPEN_MENU,),
    subject_field="menu",
    significance={
        "attendant": Significance(EventEffect.LOG, sas_exception_code=0x83),
        "operator": Significance(EventEffect.LOG, sas_exception_code=0x85),
    },
    logs=(Log.ACCESS,),
)
MENU_GIVEN_UP: Final = EntryDeclaration(
    kind="menu.given_up",
    record=StaffActReason,
    description="The service menu was closed before anybody had signed in.",
    written_keys=(StaffKey.OPEN_MENU,),
    logs=(Log.ACCESS,),
)
SIGN_IN_NOT_PERMITTED: Final = EntryDeclaration(
    kind="sign_in.not_permitted",
    record=SignInNotPermitted,
    logs=(Log.ACCESS,),
)
SIGN_IN_WHILE_LOCKED: Final = EntryDeclaration(
    kind="sign_in.refused",
    record=SignInWhileLocked,
    optional_keys=(StaffKey.WRONG_PINS,),
    logs=(Log.ACCESS,),
)
SIGN_IN_REFUSED: Final = EntryDeclaration(
    kind="sign_in.refused",
    record=WrongPinTyped,
    counts={"sign_in_refused": 1},
    written_keys=(StaffKey.WRONG_PINS,),
    logs=(Log.ACCESS,),
)
SIGN_IN_REFUSED_AT_TERMINAL: Final = EntryDeclaration(
    kind="sign_in.refused",
    record=WrongPinAtTerminal,
    counts={"sign_in_refused": 1},
    logs=(Log.ACCESS,),
)
SIGN_IN_LOCKED: Final = EntryDeclaration(
    kind="sign_in.locked",
    record=WrongPinTyped,
    description="Somebody typed a wrong PIN once too often; the number is locked for a while.",
    counts={"sign_in_refused": 1},
    written_keys=(StaffKey.WRONG_PINS,),
    significance=Significance(EventEffect.LOG, ClearCondition.ITSELF),
    logs=(Log.ACCESS,),
)
WRONG_PINS_CLEARED: Final = EntryDeclaration(
    kind="sign_in.tries_forgotten",
    record=WrongPinsCleared,
    written_keys=(StaffKey.WRONG_PINS,),
    logs=(Log.ACCESS,),
)
SIGN_IN_UNLOCKED: Final = EntryDeclaration(
    kind="sign_in.unlocked",
    record=SignInUnlocked,
    written_keys=(StaffKey.WRONG_PINS,),
    significance=Significance(EventEffect.LOG),
    logs=(Log.ACCESS,),
)


# ---------------------------------------------------------------------------------------------- keys and calls
@dataclass(frozen=True, slots=True, kw_only=True)
class KeySwitchTurned:
    """A key switch was turned on or off."""

    key_switch: KeySwitchName = field(metadata=stored_as("key"))
    is_turned_on: bool = field(metadata=stored_as("on"))
    """True if the key switch was turned on, False if it was turned back off."""
    was_unobserved: bool | None = omit_if_default(None, key="unattended")
    """Whether the machine was off, or received no reports of the I/O board, when the key switch was turned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceCallToggled:
    """The player called an attendant (the candle was switched on), or cancelled the call."""

    is_candle_on: bool = field(metadata=stored_as("on"))
    """Whether the candle is on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceCallAnswered:
    """An attendant answered the player's call."""

    key_switch: KeySwitchName | None = omit_if_default(None, key="key")
    """The key switch with which the attendant answered the call, or null."""
    person: ActorId | None = omit_if_default(None)
    """The person who answered the call, if known."""
    persons: StaffNumbers | None = omit_if_default(None)


KEY_TURNED: Final = EntryDeclaration(
    kind="key.turned",
    record=KeySwitchTurned,
    description="A key switch was turned.",
    logs=(Log.ACCESS,),
)
KEY_RETURNED: Final = EntryDeclaration(
    kind="key.returned",
    record=KeySwitchTurned,
    description="A key switch was turned back.",
    logs=(Log.ACCESS,),
)
SERVICE_CALL_TOGGLED: Final = EntryDeclaration(
    kind="service.call",
    record=ServiceCallToggled,
    written_keys=(IntegrityKey.SERVICE_CALL,),
    subject_field="on",
    significance={
        "on": Significance(EventEffect.LAMP, ClearCondition.ATTENDANT, sas_exception_code=0x71),
        "off": Significance(EventEffect.LOG, sas_exception_code=0x72),
    },
)
SERVICE_CALL_ANSWERED: Final = EntryDeclaration(
    kind="service.answered",
    record=ServiceCallAnswered,
    written_keys=(IntegrityKey.SERVICE_CALL,),
    significance=Significance(EventEffect.LOG, sas_exception_code=0x72),
)


# ---------------------------------------------------------------------------------------------- options, inventory
@dataclass(frozen=True, slots=True, kw_only=True)
class OptionsChanged(StaffAuthorisedEntry, OptionValues):
    """Staff changed an option of the operator; it takes effect at the next start."""

    option: OptionName
    """The name of the changed option (:class:`~egm.staff.records.OptionValues`)."""
    options_before: OperatorOptions = field(metadata=stored_as("before"))
    """All options before the change."""
    options_after: OperatorOptions = field(metadata=stored_as("after"))
    """All options after the change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartRequested:
    """A member of staff requested a restart of the machine."""

    person: StaffNumber


@dataclass(frozen=True, slots=True, kw_only=True)
class InventoryChanged:
    """The machine's inventory entry changed between two starts, or was recorded for the first time."""

    inventory_before: InventoryEntry | None = field(metadata=stored_as("before"))
    """The inventory entry before the change, or null the first time."""
    inventory_after: InventoryEntry = field(metadata=stored_as("after"))
    """The inventory entry after the change."""


OPTIONS_CHANGED: Final = EntryDeclaration(
    kind="options.changed",
    record=OptionsChanged,
    written_keys=(StaffKey.OPERATOR_OPTIONS,),
    significance=Significance(EventEffect.LOG, sas_exception_code=0x3C),
    is_technical=True,
)
MACHINE_RESTART: Final = EntryDeclaration(kind="machine.restart", record=RestartRequested)
INVENTORY_CHANGED: Final = EntryDeclaration(
    kind="inventory.changed", record=InventoryChanged, written_keys=(StaffKey.INVENTORY,), is_technical=True
)


# ---------------------------------------------------------------------------------------------- at the open machine
@dataclass(frozen=True, slots=True, kw_only=True)
class InterventionOpened(StaffAuthorisedEntryAtMachine):
    """Staff declared work inside the machine, which is held out of service."""

    id: NonBlankText
    """The id of the intervention, by which later entries refer to it."""
    kind: WorkKind
    """The kind of work."""
    reason: NonBlankText
    meters: Mapping[str, int]
    """The meters at the start of the intervention, by name, except those that are zero."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InterventionReadByMonitoring:
    """The monitoring system has read who is working at the machine, so that doors may be opened."""

    id: NonBlankText
    """The id of the intervention about which the monitoring system has read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InterventionClosed(StaffAuthorisedEntryAtMachine):
    """The work at the open machine was finished, and the intervention closed."""

    id: NonBlankText
    """The id of the intervention that was closed."""
    work: NonBlankText
    """The work that was done."""
    parts: str
    """The parts that were replaced, or empty."""
    meters: Mapping[str, int]
    """The meters at the end of the intervention, by name, except those that are zero."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CabinetBaseMoved(StaffAuthorisedEntryAtMachine):
    """Base class of entries about moving the machine's stand (base) in an intervention, with its lock and key."""

    base_number: NonBlankText = field(metadata=stored_as("base"))
    """The number of the base (stand) that was moved."""
    lock_number: NonBlankText = field(metadata=stored_as("lock"))
    """The number of the base's lock."""
    cashier: NonBlankText
    """The cashier who receives the lock and its key, or has issued them."""
    intervention_id: NonBlankText = field(metadata=stored_as("intervention"))
    """The id of the intervention during which the base was moved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CabinetBaseReturned(CabinetBaseMoved):
    """A stand (base) was put under the machine again; the main cashier issued its lock and key (Monaco art. 20.2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CabinetBaseWithdrawn(CabinetBaseMoved):
    """The machine's stand (base) was withdrawn; the main cashier has lock and key, the machine is out of service."""

    reason: NonBlankText


@dataclass(frozen=True, slots=True, kw_only=True)
class HopperOpeningStock:
    """The hopper of a demonstration machine was given a stock of simulated coins."""

    amount_cents: Cents
    machine: MachineSerialNumber


@dataclass(frozen=True, slots=True, kw_only=True)
class HopperFilled(StaffAuthorisedEntry):
    """Staff added coins of the venue to the hopper."""

    amount_cents: Cents
    machine: MachineSerialNumber


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectedBoxCounted(StaffAuthorisedEntry):
    """Staff counted a box of the last collection."""

    intervention_id: NonBlankText = field(metadata=stored_as("collection"))
    """The id of the intervention in which the box was removed."""
    box: CollectedBox
    """The box that was counted."""
    counted_cents: CentsOrZero
    """The amount counted, in minor units."""
    metered_cents: CentsOrZero
    """The amount metered into the box between the last two collections, in minor units."""
    difference_cents: int
    """The counted amount minus the metered amount, in minor units."""
    machine: MachineSerialNumber


#: The transfer of coins that are added to the hopper.
_HOPPER_FILL_TRANSFERS: Final = (PermittedTransfer("stock:fill", "stock:hopper"),)
INTERVENTION_OPENED: Final = EntryDeclaration(
    kind="intervention.opened",
    record=InterventionOpened,
    written_keys=(StaffKey.INTERVENTION, IntegrityKey.DISABLING_RECORD),
    significance=Significance(EventEffect.LOG),
    logs=(Log.ACCESS,),
)
INTERVENTION_READ: Final = EntryDeclaration(
    kind="intervention.seen",
    record=InterventionReadByMonitoring,
    written_keys=(StaffKey.MONITORED_INTERVENTION,),
    significance=Significance(EventEffect.LOG),
    logs=(Log.ACCESS,),
)
INTERVENTION_CLOSED: Final = EntryDeclaration(
    kind="intervention.closed",
    record=InterventionClosed,
    written_keys=(StaffKey.INTERVENTION, IntegrityKey.DISABLING_RECORD),
    optional_keys=(StaffKey.LAST_COLLECTION,),
    significance=Significance(EventEffect.LOG),
    logs=(Log.ACCESS,),
)
CABINET_BASE_WITHDRAWN: Final = EntryDeclaration(
    kind="base.withdrawn",
    record=CabinetBaseWithdrawn,
    written_keys=(StaffKey.WITHDRAWN_BASE, IntegrityKey.DISABLING_RECORD),
    significance=Significance(EventEffect.LOG),
)
CABINET_BASE_RETURNED: Final = EntryDeclaration(
    kind="base.returned",
    record=CabinetBaseReturned,
    written_keys=(StaffKey.WITHDRAWN_BASE, IntegrityKey.DISABLING_RECORD),
    significance=Significance(EventEffect.LOG),
)
HOPPER_OPENING_STOCK: Final = EntryDeclaration(
    kind="hopper.opening",
    record=HopperOpeningStock,
    permitted_transfers=_HOPPER_FILL_TRANSFERS,
    significance=Significance(EventEffect.LOG),
)
HOPPER_FILLED: Final = EntryDeclaration(
    kind="hopper.filled",
    record=HopperFilled,
    permitted_transfers=_HOPPER_FILL_TRANSFERS,
    counts={"hopper_fills": 1},
    significance=Significance(EventEffect.LOG),
)
COLLECTED_BOX_COUNTED: Final = EntryDeclaration(
    kind="collection.counted",
    record=CollectedBoxCounted,
    written_keys=(StaffKey.LAST_COLLECTION,),
    significance=Significance(EventEffect.LOG),
)


# ---------------------------------------------------------------------------------------------- slips
@dataclass(frozen=True, slots=True, kw_only=True)
class SlipOrdered:
    """A slip without value is to be printed; this entry has its content."""

    title: str
    """The heading of the slip."""
    subject_lines: str = field(metadata=stored_as("about"))
    """The lines that state what the slip is about: a door and its opening, or who works on the machine and why."""
    printed_time: IsoTime = field(metadata=stored_as("when"))
    """The time that is printed on the slip."""
    meter_lines: str = field(metadata=stored_as("meters"))
    """The lines that state some meters, by name, in minor units."""
    serial: MachineSerialNumber
    journal_head: str = field(metadata=stored_as("witness"))


SLIP_ORDERED: Final = EntryDeclaration(
    kind="slip.ordered",
    record=SlipOrdered,
    significance=Significance(EventEffect.LOG),
)
SLIP_NOT_STARTED: Final = EntryDeclaration(
    kind="slip.failed",
    record=PrintJobOrTestFailed,
    description="The printer could not start to print a slip.",
    significance=Significance(EventEffect.LOG),
)
SLIP_PRINTED: Final = EntryDeclaration(
    kind="slip.printed",
    record=SlipOrTestPagePrinted,
    description="A slip was printed.",
    counts={"slips_printed": 1},
    written_keys=(MoneyKey.PRINT_JOB,),
    significance=Significance(EventEffect.LOG),
)
SLIP_FAILED: Final = EntryDeclaration(
    kind="slip.failed",
    record=PrintJobOrTestFailed,
    description="A slip was not printed.",
    written_keys=(MoneyKey.PRINT_JOB,),
    significance=Significance(EventEffect.LOG),
)


# ---------------------------------------------------------------------------------------------- device tests
@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceTestStarted:
    """A member of staff started the test of a device."""

    device: str
    """The device under test."""
    test_kind: Literal["print", "pay", "take", "light"] = field(metadata=stored_as("test"))
    """The kind of test: print a page, pay coins, accept and return bills and tickets, or switch outputs on."""
    person: StaffNumber
    coin_count: PositiveNumber | None = omit_if_default(None, key="coins")
    """The number of coins to pay, or null for another test."""
    takes_paper: bool | None = omit_if_default(None, key="on")
    """Whether the acceptor under test is to accept bills and tickets; null for the test of another device."""
    switched_on_outputs: tuple[str, ...] | None = omit_if_default(None, key="outputs")
    """The outputs of the I/O board that the test switches on, or null for another test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TouchCalibrated:
    """The touch screen was calibrated."""

    person: StaffNumber
    matrix_before: tuple[int, ...] = field(metadata=stored_as("before"))
    """The six coefficients of the previous touch calibration; empty if there was none."""
    matrix_after: CalibrationMatrix = field(metadata=stored_as("after"))
    """The six coefficients of the new touch calibration, which maps detected to true positions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestPaperRead:
    """An acceptor under test has read a bill or ticket, which it returns."""

    amount_cents: CentsOrZero
    """The value of the bill; 0 for a ticket."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestPaperReturned:
    """An acceptor under test returned or rejected a bill or ticket."""

    reported_event: str = field(metadata=stored_as("event"))
    """The event that the acceptor reported."""
    reason: str | None = omit_if_default(None)
    """The reason that the acceptor gave for rejecting the item, or null."""
    is_ticket: bool = omit_if_default(False, key="ticket")
    """Whether the item was a ticket."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestCoinsPaid:
    """The hopper has ended a test payout."""

    id: NonBlankText
    """The id of the test's payout."""
    ordered_coins: Count
    """The number of coins that the test was to pay."""
    paid_coins: Count


TEST_STARTED: Final = EntryDeclaration(kind="test.started", record=DeviceTestStarted)
TEST_NOT_STARTED: Final = EntryDeclaration(
    kind="test.failed",
    record=PrintJobOrTestFailed,
    description="The device could not start a test.",
    is_technical=True,
)
TEST_PAPER_READ: Final = EntryDeclaration(kind="test.read", record=TestPaperRead, is_technical=True)
TEST_PAPER_RETURNED: Final = EntryDeclaration(kind="test.paper", record=TestPaperReturned, is_technical=True)
TEST_TICKET_PRINTED: Final = EntryDeclaration(
    kind="test.printed",
    record=SlipOrTestPagePrinted,
    description="A test ticket was printed.",
    written_keys=(MoneyKey.PRINT_JOB,),
    is_technical=True,
)
TEST_TICKET_FAILED: Final = EntryDeclaration(
    kind="test.failed",
    record=PrintJobOrTestFailed,
    description="A test ticket was not printed.",
    written_keys=(MoneyKey.PRINT_JOB,),
    is_technical=True,
)
TEST_COINS_PAID: Final = EntryDeclaration(
    kind="test.coins", record=TestCoinsPaid, written_keys=(MoneyKey.HOPPER_PAYOUT,), is_technical=True
)
TOUCH_CALIBRATED: Final = EntryDeclaration(
    kind="touch.calibrated", record=TouchCalibrated, written_keys=(StaffKey.TOUCH_CALIBRATION,)
)


# ---------------------------------------------------------------------------------------------- notes
@dataclass(frozen=True, slots=True, kw_only=True)
class DisputeDecided:
    """Staff decided a dispute with a player."""

    machine: MachineSerialNumber
    claim: NonBlankText
    """What the player claims, as staff entered it."""
    mechanic_statement: NonBlankText = field(metadata=stored_as("mechanic"))
    """What the mechanic who was called has stated about the dispute."""
    decision: NonBlankText
    """The decision of staff on what the player claims."""
    play_id: str | None = omit_if_default(None)
    persons: StaffNumbers


@dataclass(frozen=True, slots=True, kw_only=True)
class ExclusionNoted:
    """Staff excluded a player."""

    machine: MachineSerialNumber
    reason: NonBlankText
    name_commitment: Sha256Digest = field(metadata=stored_as("identity"))
    """The salted digest of the player's name; the name itself is only in the register of identities."""
    persons: StaffNumbers


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentJudged:
    """The management judged an incident."""

    machine: MachineSerialNumber
    incident_description: NonBlankText = field(metadata=stored_as("what"))
    """The incident, as staff described it."""
    judgement: NonBlankText
    """How the management judged the incident."""
    notification_means: NonBlankText = field(metadata=stored_as("informed"))
    """By which means the public control service was informed."""
    officer_and_time: NonBlankText | None = omit_if_default(None, key="officer")
    """The officer who was informed, and when; or null."""
    play_id: str | None = omit_if_default(None)
    persons: StaffNumbers


DISPUTE_DECIDED: Final = EntryDeclaration(
    kind="dispute.decided",
    record=DisputeDecided,
    significance=Significance(EventEffect.LOG),
    logs=(Log.DISPUTES,),
)
EXCLUSION_NOTED: Final = EntryDeclaration(
    kind="exclusion.noted",
    record=ExclusionNoted,
    significance=Significance(EventEffect.LOG),
)
INCIDENT_JUDGED: Final = EntryDeclaration(
    kind="incident.judged",
    record=IncidentJudged,
    significance=Significance(EventEffect.LOG),
)
