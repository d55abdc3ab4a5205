"""The journal entries of staff: sign-in, the roster, work at the machine, device tests, slips and notes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal, TypeAlias

from egm.devices.ioboard.codec import KEYS
from egm.integrity.keys import IntegrityKey
from egm.kernel.entries import Entry, Moves
from egm.kernel.keys import KernelKey
from egm.kernel.logs import Log
from egm.kernel.significance import Clear, Effect, Significance
from egm.money.keys import MoneyKey
from egm.people import Permission
from egm.people.roles import Role
from egm.record_codec import FieldCondition, omit_if_default, stored_as
from egm.record_fields import (
    KEY_SWITCH,
    Cents,
    Count,
    Digest,
    KeySwitch,
    NonBlankText,
    Person,
    Persons,
    Positive,
    Serial,
    Staff,
    Time,
)
from egm.staff.keys import StaffKey
from egm.staff.records import Box, OperatorOptions, OptionName, OptionValues, Work

Matrix: TypeAlias = tuple[int, int, int, int, int, int]
"""A touch calibration: six integer coefficients that map detected to true positions (:mod:`egm.kernel.touch`)."""
#: Which text the field that names the opener of the menu may have.
MENU_OPENER: Final = FieldCondition(
    "key switch, or `screen`", "neither a key switch nor the screen", lambda value: value in {*KEYS, "screen"}
)
#: The key switch that opened the menu, or ``screen``.
OpenedBy: TypeAlias = Annotated[str, MENU_OPENER, KEY_SWITCH]


# ---------------------------------------------------------------------------------------------- values in memory
@dataclass(frozen=True, slots=True, kw_only=True)
class OpenMenu:
    """The open service menu: when it was opened, and who is signed in, if anybody."""

    since: Time
    person: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervention:
    """The open intervention: who is working in the machine, since when, and why."""

    id: NonBlankText
    since: Time
    kind: Work
    reason: NonBlankText
    person: NonBlankText
    persons: Persons


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """The last collection, and which of its boxes have been counted since."""

    id: NonBlankText
    before: Mapping[str, Count]
    """The amount metered into each box until the collection before."""
    after: Mapping[str, Count]
    """The amount metered into each box until this collection."""
    counted: tuple[Box, ...]
    """The boxes whose content has been counted since this collection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WithdrawnBase:
    """The machine's stand (base) while it is withdrawn, and the cashier who has its lock and key."""

    since: Time
    base: NonBlankText
    lock: NonBlankText
    cashier: NonBlankText
    reason: NonBlankText


@dataclass(frozen=True, slots=True, kw_only=True)
class InventoryGame:
    """An installed game as the inventory describes it."""

    game: str
    version: str
    digest: str
    return_: str
    """The return to the player in percent, or empty."""
    certified_on: str
    """The date of the certificate, or empty."""
    certified_by: str | None = omit_if_default(None)
    """The laboratory that certified the game."""
    levy: str = omit_if_default("")
    """The levy in percent, instead of a return, if players play against each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InventoryEntry:
    """The machine's entry in the venue's inventory (Monaco art. 19.3)."""

    kind: str
    """The kind of machine."""
    manufacturer: str
    """The name of the manufacturer."""
    model: str
    """The name of the model."""
    made: str
    """The date of manufacture."""
    serial: str
    operator_number: str
    base_number: str
    """The number of the base under the machine."""
    site: str
    """The name of the venue."""
    location: str
    """Where in the venue the machine is."""
    photograph: str
    """The name and digest of the photograph's file."""
    profile: str
    """The id of the jurisdiction's profile."""
    games: tuple[InventoryGame, ...]
    """The installed games."""


# ---------------------------------------------------------------------------------------------- parts of records
@dataclass(frozen=True, slots=True, kw_only=True)
class ByPersons:
    """Base of the records of work that members of staff have authorised; ``person`` is the first of ``persons``."""

    person: Staff
    persons: Persons


@dataclass(frozen=True, slots=True, kw_only=True)
class AtMachine(ByPersons):
    """Base of records that state both numbers of the machine, because they are used outside it (Monaco art. 19.1)."""

    serial: Serial
    operator_number: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFailed:
    """A print job or test failed."""

    id: NonBlankText
    """The id of the print job or test."""
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPrinted:
    """A print job without value (a slip or a test page) has been printed up to its bar code."""

    id: NonBlankText
    """The id of the print job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasonedAct:
    """Base of the records that state the reason for an act of staff."""

    why: str
    """The reason."""


# ---------------------------------------------------------------------------------------------- the roster
@dataclass(frozen=True, slots=True, kw_only=True)
class RosterChanged:
    """The staff roster was changed."""

    person: str
    """The person who changed the roster; empty for the first change."""
    changed_number: NonBlankText = field(metadata=stored_as("whom"))
    """The staff number whose entry was changed."""
    role: Role
    """The role of that person."""
    at: Time
    number: Positive
    """The number of the change."""
    digest: str | None = omit_if_default(None)
    """The digest of the roster after the change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RosterCarried:
    """The staff roster from before an authorised memory clear was carried over."""

    number: Positive
    """The number of the last change of the roster."""
    digest: Digest
    """The digest of the roster."""
    people: Mapping[str, Role]
    """The role of each person, by staff number."""
    disabled: tuple[str, ...]
    """The staff numbers that cannot sign in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RosterRenewed:
    """Two people, who are not enrolled themselves, started a new staff roster because the recorded one is lost."""

    person: NonBlankText
    witness: NonBlankText
    """The second person, who was present."""
    reason: NonBlankText


def _declare_roster_change(kind: str, about: str) -> Entry[RosterChanged]:
    """Declare the journal entry of one kind of change of the staff roster."""
    return Entry(kind=kind, record=RosterChanged, about=about, writes=(StaffKey.STAFF,), logs=(Log.ACCESS,))


STAFF_ADDED: Final = _declare_roster_change("staff.added", "A person was enrolled.")
STAFF_DISABLED: Final = _declare_roster_change("staff.disabled", "A member of staff was disabled.")
STAFF_ENABLED: Final = _declare_roster_change("staff.enabled", "A disabled member of staff was enabled.")
STAFF_PIN: Final = _declare_roster_change("staff.pin", "A member of staff received a new PIN.")
STAFF_CARRIED: Final = Entry(
    kind="staff.carried",
    record=RosterCarried,
    writes=(StaffKey.STAFF,),
    logs=(Log.ACCESS,),
    is_technical=True,
)
STAFF_RENEWED: Final = Entry(
    kind="staff.renewed",
    record=RosterRenewed,
    writes=(StaffKey.STAFF, KernelKey.FAULT),
    logs=(Log.ACCESS,),
)
STAFF_RESTORED: Final = Entry(
    kind="staff.restored",
    record=ReasonedAct,
    about="The second copy of the roster has replaced the first, which was refused.",
    logs=(Log.ACCESS,),
    is_technical=True,
)
STAFF_UNREADABLE: Final = Entry(
    kind="staff.unreadable",
    record=ReasonedAct,
    about="Neither copy of the roster is the recorded one: nobody can sign in.",
    logs=(Log.ACCESS,),
    is_technical=True,
)


# ---------------------------------------------------------------------------------------------- the menu, and sign-in
@dataclass(frozen=True, slots=True, kw_only=True)
class MenuAsked:
    """Somebody opened the service menu with a key switch or from the screen, and was asked to sign in."""

    by: OpenedBy
    """The key switch that was turned, or the screen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuEntered:
    """A member of staff signed in."""

    menu: str
    """The menu that was opened: ``attendant`` or ``operator``."""
    person: Staff
    role: Role
    """The role of the person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuLeft:
    """The signed-in person was signed out."""

    why: str
    menu: str
    """The menu that was open: ``attendant`` or ``operator``."""
    person: Staff


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInNotPermitted:
    """A person signed in to do something that their role does not permit."""

    person: Staff
    permission: Permission
    """The permission that the role lacks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInWhileLocked:
    """Somebody tried to sign in with a locked staff number."""

    person: str
    """The staff number as typed."""
    why: Literal["locked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongPinTyped:
    """Somebody typed a wrong PIN."""

    person: str
    """The staff number as typed."""
    why: Literal["wrong"]
    tries: Positive
    """The number of wrong PINs that were typed in a row."""
    locked_seconds: Count
    """The time for which the staff number is locked, in seconds; 0 if it is not locked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongPinAtTerminal:
    """Somebody typed a wrong PIN at a terminal."""

    person: str
    """The staff number, or ``?`` if what was typed cannot be a staff number."""
    why: Literal["terminal"]
    at: str
    """The name of the terminal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TriesForgotten:
    """The right PIN was typed, so the earlier wrong PINs of this staff number no longer count."""

    person: Staff


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInUnlocked(ByPersons):
    """A locked staff number was unlocked before its time."""

    locked_number: Staff = field(metadata=stored_as("whom"))
    """The locked staff number."""
    reason: NonBlankText


MENU_ASKED: Final = Entry(
    kind="menu.asked",
    record=MenuAsked,
    writes=(StaffKey.MENU,),
    logs=(Log.ACCESS,),
)
MENU_ENTERED: Final = Entry(
    kind="menu.entered",
    record=MenuEntered,
    writes=(StaffKey.MENU,),
    subject="menu",
    significance={
        "attendant": Significance(Effect.LOG, sas=0x82),
        "operator": Significance(Effect.LOG, sas=0x84),
    },
    logs=(Log.ACCESS,),
)
MENU_LEFT: Final = Entry(
    kind="menu.left",
    record=MenuLeft,
    writes=(StaffKey.MENU,),
    subject="menu",
    significance={
        "attendant": Significance(Effect.LOG, sas=0x83),
        "operator": Significance(Effect.LOG, sas=0x85),
    },
    logs=(Log.ACCESS,),
)
MENU_GIVEN_UP: Final = Entry(
    kind="menu.given_up",
    record=ReasonedAct,
    about="The service menu was closed before anybody had signed in.",
    writes=(StaffKey.MENU,),
    logs=(Log.ACCESS,),
)
SIGN_IN_NOT_PERMITTED: Final = Entry(
    kind="sign_in.not_permitted",
    record=SignInNotPermitted,
    logs=(Log.ACCESS,),
)
SIGN_IN_WHILE_LOCKED: Final = Entry(
    kind="sign_in.refused",
    record=SignInWhileLocked,
    may_write=(StaffKey.TRIES,),
    logs=(Log.ACCESS,),
)
SIGN_IN_REFUSED: Final = Entry(
    kind="sign_in.refused",
    record=WrongPinTyped,
    counts={"sign_in_refused": 1},
    writes=(StaffKey.TRIES,),
    logs=(Log.ACCESS,),
)
SIGN_IN_REFUSED_AT_TERMINAL: Final = Entry(
    kind="sign_in.refused",
    record=WrongPinAtTerminal,
    counts={"sign_in_refused": 1},
    logs=(Log.ACCESS,),
)
SIGN_IN_LOCKED: Final = Entry(
    kind="sign_in.locked",
    record=WrongPinTyped,
    about="Somebody typed a wrong PIN once too often; the number is locked for a while.",
    counts={"sign_in_refused": 1},
    writes=(StaffKey.TRIES,),
    significance=Significance(Effect.LOG, Clear.ITSELF),
    logs=(Log.ACCESS,),
)
TRIES_FORGOTTEN: Final = Entry(
    kind="sign_in.tries_forgotten",
    record=TriesForgotten,
    writes=(StaffKey.TRIES,),
    logs=(Log.ACCESS,),
)
SIGN_IN_UNLOCKED: Final = Entry(
    kind="sign_in.unlocked",
    record=SignInUnlocked,
    writes=(StaffKey.TRIES,),
    significance=Significance(Effect.LOG),
    logs=(Log.ACCESS,),
)


# ---------------------------------------------------------------------------------------------- keys and calls
@dataclass(frozen=True, slots=True, kw_only=True)
class KeyMoved:
    """A key switch was moved."""

    key: KeySwitch
    on: bool
    """Whether the key switch was turned on."""
    unattended: bool | None = omit_if_default(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceCalled:
    """The player switched the candle on to call an attendant, or off again."""

    on: bool
    """Whether the candle is on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceAnswered:
    """An attendant answered the player's call."""

    key: KeySwitch | None = omit_if_default(None)
    """The key switch that was turned, or null."""
    person: Person | None = omit_if_default(None)
    """The person who answered the call, if known."""
    persons: Persons | None = omit_if_default(None)


KEY_TURNED: Final = Entry(
    kind="key.turned",
    record=KeyMoved,
    about="A key switch was turned.",
    logs=(Log.ACCESS,),
)
KEY_RETURNED: Final = Entry(
    kind="key.returned",
    record=KeyMoved,
    about="A key switch was turned back.",
    logs=(Log.ACCESS,),
)
SERVICE_CALL: Final = Entry(
    kind="service.call",
    record=ServiceCalled,
    writes=(IntegrityKey.SERVICE,),
    subject="on",
    significance={
        "on": Significance(Effect.LAMP, Clear.ATTENDANT, sas=0x71),
        "off": Significance(Effect.LOG, sas=0x72),
    },
)
SERVICE_ANSWERED: Final = Entry(
    kind="service.answered",
    record=ServiceAnswered,
    writes=(IntegrityKey.SERVICE,),
    significance=Significance(Effect.LOG, sas=0x72),
)


# ---------------------------------------------------------------------------------------------- options, inventory
@dataclass(frozen=True, slots=True, kw_only=True)
class OptionsChanged(ByPersons, OptionValues):
    """Staff changed an option of the operator; it takes effect at the next start."""

    option: OptionName
    """The option that was changed; the field of that option has its new value."""
    before: OperatorOptions
    """All options before the change."""
    after: OperatorOptions
    """All options after the change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartRequested:
    """A member of staff requested a restart of the machine."""

    person: Staff


@dataclass(frozen=True, slots=True, kw_only=True)
class InventoryChanged:
    """The machine's inventory entry changed between two starts, or was recorded for the first time."""

    before: InventoryEntry | None
    """The inventory entry before the change, or null the first time."""
    after: InventoryEntry
    """The inventory entry after the change."""


OPTIONS_CHANGED: Final = Entry(
    kind="options.changed",
    record=OptionsChanged,
    writes=(StaffKey.OPTIONS,),
    significance=Significance(Effect.LOG, sas=0x3C),
    is_technical=True,
)
MACHINE_RESTART: Final = Entry(kind="machine.restart", record=RestartRequested)
INVENTORY_CHANGED: Final = Entry(
    kind="inventory.changed", record=InventoryChanged, writes=(StaffKey.INVENTORY,), is_technical=True
)


# ---------------------------------------------------------------------------------------------- at the open machine
@dataclass(frozen=True, slots=True, kw_only=True)
class InterventionOpened(AtMachine):
    """Staff declared work at the open machine, which is held out of service."""

    id: NonBlankText
    """The id of the intervention."""
    kind: Work
    """The kind of work."""
    reason: NonBlankText
    meters: Mapping[str, int]
    """The meters at the start of the intervention, without those that are zero."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InterventionSeen:
    """The monitoring system has read who is at work, so doors may be opened."""

    id: NonBlankText
    """The id of the intervention."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InterventionClosed(AtMachine):
    """The work at the open machine is done, and the intervention is closed."""

    id: NonBlankText
    """The id of the intervention."""
    work: NonBlankText
    """The work that was done."""
    parts: str
    """The parts that were replaced, or empty."""
    meters: Mapping[str, int]
    """The meters at the end of the intervention, without those that are zero."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseMoved(AtMachine):
    """The machine's stand (base) was moved in an intervention, with its lock and key.

    The record names the cashier who has, or had, the lock and key.
    """

    base: NonBlankText
    """The number of the base."""
    lock: NonBlankText
    """The number of the base's lock."""
    cashier: NonBlankText
    """The cashier who has, or had, the lock and its key."""
    intervention: NonBlankText
    """The id of the intervention during which the base was moved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseReturned(BaseMoved):
    """A stand (base) is under the machine again, with a lock and key of the main cashier (Monaco art. 20.2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseWithdrawn(BaseMoved):
    """The machine's stand (base) was withdrawn, so the machine is out of service; the main cashier has lock and key."""

    reason: NonBlankText


@dataclass(frozen=True, slots=True, kw_only=True)
class HopperOpening:
    """The hopper of a demonstration started with a stock of simulated coins."""

    amount_cents: Cents
    machine: Serial


@dataclass(frozen=True, slots=True, kw_only=True)
class HopperFilled(ByPersons):
    """Staff added coins of the venue to the hopper."""

    amount_cents: Cents
    machine: Serial


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionCounted(ByPersons):
    """Staff counted a box of the last collection."""

    collection: NonBlankText
    """The id of the intervention in which the box was collected."""
    box: Box
    """The box that was counted."""
    counted_cents: Count
    """The amount counted."""
    metered_cents: Count
    """The amount metered into the box since the collection before."""
    difference_cents: int
    """The counted amount less the metered amount."""
    machine: Serial


#: The transfer of coins that staff add to the hopper.
_FILL: Final = (Moves("stock:fill", "stock:hopper"),)
INTERVENTION_OPENED: Final = Entry(
    kind="intervention.opened",
    record=InterventionOpened,
    writes=(StaffKey.INTERVENTION, IntegrityKey.DISABLED),
    significance=Significance(Effect.LOG),
    logs=(Log.ACCESS,),
)
INTERVENTION_SEEN: Final = Entry(
    kind="intervention.seen",
    record=InterventionSeen,
    writes=(StaffKey.MONITORED,),
    significance=Significance(Effect.LOG),
    logs=(Log.ACCESS,),
)
INTERVENTION_CLOSED: Final = Entry(
    kind="intervention.closed",
    record=InterventionClosed,
    writes=(StaffKey.INTERVENTION, IntegrityKey.DISABLED),
    may_write=(StaffKey.COLLECTED,),
    significance=Significance(Effect.LOG),
    logs=(Log.ACCESS,),
)
BASE_WITHDRAWN: Final = Entry(
    kind="base.withdrawn",
    record=BaseWithdrawn,
    writes=(StaffKey.BASE, IntegrityKey.DISABLED),
    significance=Significance(Effect.LOG),
)
BASE_RETURNED: Final = Entry(
    kind="base.returned",
    record=BaseReturned,
    writes=(StaffKey.BASE, IntegrityKey.DISABLED),
    significance=Significance(Effect.LOG),
)
HOPPER_OPENING: Final = Entry(
    kind="hopper.opening",
    record=HopperOpening,
    moves=_FILL,
    significance=Significance(Effect.LOG),
)
HOPPER_FILLED: Final = Entry(
    kind="hopper.filled",
    record=HopperFilled,
    moves=_FILL,
    counts={"hopper_fills": 1},
    significance=Significance(Effect.LOG),
)
COLLECTION_COUNTED: Final = Entry(
    kind="collection.counted",
    record=CollectionCounted,
    writes=(StaffKey.COLLECTED,),
    significance=Significance(Effect.LOG),
)


# ---------------------------------------------------------------------------------------------- slips
@dataclass(frozen=True, slots=True, kw_only=True)
class SlipOrdered:
    """A slip without value is to be printed; the record has its content."""

    title: str
    """The heading of the slip."""
    about: str
    """The lines that state the subject of the slip."""
    when: Time
    """The printed time."""
    meters: str
    """The lines with the meters."""
    serial: Serial
    witness: str


SLIP_ORDERED: Final = Entry(
    kind="slip.ordered",
    record=SlipOrdered,
    significance=Significance(Effect.LOG),
)
SLIP_NOT_STARTED: Final = Entry(
    kind="slip.failed",
    record=JobFailed,
    about="The printer could not start to print a slip.",
    significance=Significance(Effect.LOG),
)
SLIP_PRINTED: Final = Entry(
    kind="slip.printed",
    record=JobPrinted,
    about="A slip was printed.",
    counts={"slips_printed": 1},
    writes=(MoneyKey.PRINT,),
    significance=Significance(Effect.LOG),
)
SLIP_FAILED: Final = Entry(
    kind="slip.failed",
    record=JobFailed,
    about="A slip was not printed.",
    writes=(MoneyKey.PRINT,),
    significance=Significance(Effect.LOG),
)


# ---------------------------------------------------------------------------------------------- device tests
@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceTestStarted:
    """A member of staff started the test of a device."""

    device: str
    """The device under test."""
    test: Literal["print", "pay", "take", "light"]
    """The kind of test: print a page, pay coins, accept and return bills and tickets, or switch outputs on."""
    person: Staff
    coins: Positive | None = omit_if_default(None)
    """The number of coins to pay, or null for another test."""
    on: bool | None = omit_if_default(None)
    """Whether the acceptor takes bills and tickets, or null for another test."""
    outputs: tuple[str, ...] | None = omit_if_default(None)
    """The outputs of the I/O board to switch on, or null for another test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TouchCalibrated:
    """The touch screen was calibrated."""

    person: Staff
    before: tuple[int, ...]
    """The coefficients of the touch calibration before; empty if there was none."""
    after: Matrix
    """The coefficients of the new touch calibration, which maps detected to true positions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestRead:
    """An acceptor under test read a bill or ticket, which is returned."""

    amount_cents: Count
    """The value of the bill; 0 for a ticket."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestPaperReturned:
    """An acceptor under test returned or rejected a bill or ticket."""

    event: str
    """The event that the acceptor reported."""
    reason: str | None = omit_if_default(None)
    """The acceptor's reason, or null."""
    ticket: bool = omit_if_default(False)
    """Whether the item was a ticket."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestCoins:
    """The hopper has ended the payout of a test."""

    id: NonBlankText
    """The id of the test's payout."""
    ordered_coins: Count
    """The number of coins that the test was to pay."""
    paid_coins: Count


TEST_STARTED: Final = Entry(kind="test.started", record=DeviceTestStarted)
TEST_NOT_STARTED: Final = Entry(
    kind="test.failed", record=JobFailed, about="The device could not start a test.", is_technical=True
)
TEST_PAPER_READ: Final = Entry(kind="test.read", record=TestRead, is_technical=True)
TEST_PAPER_RETURNED: Final = Entry(kind="test.paper", record=TestPaperReturned, is_technical=True)
TEST_TICKET_PRINTED: Final = Entry(
    kind="test.printed",
    record=JobPrinted,
    about="A test ticket was printed.",
    writes=(MoneyKey.PRINT,),
    is_technical=True,
)
TEST_TICKET_FAILED: Final = Entry(
    kind="test.failed",
    record=JobFailed,
    about="A test ticket was not printed.",
    writes=(MoneyKey.PRINT,),
    is_technical=True,
)
TEST_COINS_PAID: Final = Entry(
    kind="test.coins", record=TestCoins, writes=(MoneyKey.HOPPER,), is_technical=True
)
TOUCH_CALIBRATED: Final = Entry(kind="touch.calibrated", record=TouchCalibrated, writes=(StaffKey.TOUCH,))


# ---------------------------------------------------------------------------------------------- notes
@dataclass(frozen=True, slots=True, kw_only=True)
class DisputeDecided:
    """Staff decided a player's dispute."""

    machine: Serial
    claim: NonBlankText
    """The player's claim, as staff entered it."""
    mechanic: NonBlankText
    """The mechanic's statement."""
    decision: NonBlankText
    """The decision on the claim."""
    play_id: str | None = omit_if_default(None)
    persons: Persons


@dataclass(frozen=True, slots=True, kw_only=True)
class ExclusionNoted:
    """Staff excluded a player."""

    machine: Serial
    reason: NonBlankText
    identity: Digest
    """A commitment to the player's name in the register of identities."""
    persons: Persons


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentJudged:
    """The management judged an incident."""

    machine: Serial
    what: NonBlankText
    """The incident, as staff described it."""
    judgement: NonBlankText
    """The management's judgement."""
    notification_way: NonBlankText = field(metadata=stored_as("informed"))
    """The means by which the control service was informed."""
    officer: NonBlankText | None = omit_if_default(None)
    """The officer who was informed, and when; or null."""
    play_id: str | None = omit_if_default(None)
    persons: Persons


DISPUTE_DECIDED: Final = Entry(
    kind="dispute.decided",
    record=DisputeDecided,
    significance=Significance(Effect.LOG),
    logs=(Log.DISPUTES,),
)
EXCLUSION_NOTED: Final = Entry(
    kind="exclusion.noted",
    record=ExclusionNoted,
    significance=Significance(Effect.LOG),
)
INCIDENT_JUDGED: Final = Entry(
    kind="incident.judged",
    record=IncidentJudged,
    significance=Significance(Effect.LOG),
)
