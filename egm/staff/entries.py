"""The journal entries of staff: sign-in, the roster, work at the machine, device tests, slips and notes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal, TypeAlias

from egm.devices.ioboard.codec import KEYS
from egm.kernel.entries import Entry, Moves
from egm.kernel.keys import KernelKey
from egm.kernel.logs import Log
from egm.kernel.machine import Machine
from egm.kernel.significance import Clear, Effect, Significance
from egm.people import Permission
from egm.people.roles import Role
from egm.record_codec import Condition, omit_if_default
from egm.record_fields import Cents, Count, Digest, Person, Persons, Serial, Staff, Time, Words
from egm.records.keys import IntegrityKey, MoneyKey, StaffKey

Matrix: TypeAlias = tuple[int, int, int, int, int, int]
"""A touch calibration (:mod:`egm.kernel.touch`)."""
Box: TypeAlias = Literal["coin_box", "bill_box"]
Work: TypeAlias = Literal["repair", "collection"]
OPENER: Final = Condition(
    "key switch, or `screen`", "neither a key switch nor the screen", lambda value: value in {*KEYS, "screen"}
)
OpenedBy: TypeAlias = Annotated[str, OPENER]


# ---------------------------------------------------------------------------------------------- values in memory
@dataclass(frozen=True, slots=True, kw_only=True)
class OpenMenu:
    """The open service menu: since when, and who is signed in, if anybody is."""

    since: Time
    person: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervention:
    """The open intervention: who is working in the machine, since when, and why."""

    id: Words
    since: Time
    kind: Work
    reason: Words
    person: Words
    persons: Persons


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """The last collection: the amounts metered into each box at it and at the one before; the boxes counted."""

    id: Words
    before: Mapping[str, Count]
    after: Mapping[str, Count]
    counted: tuple[Box, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WithdrawnBase:
    """The base withdrawn from under the machine, and the cashier who has its lock and key."""

    since: Time
    base: Words
    lock: Words
    cashier: Words
    reason: Words


@dataclass(frozen=True, slots=True, kw_only=True)
class InventoryGame:
    """An installed game as the inventory describes it; ``return_``: in percent, or empty."""

    game: str
    version: str
    digest: str
    return_: str
    certified_on: str
    certified_by: str | None = omit_if_default(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class InventoryEntry:
    """The machine's entry in the venue's inventory (Monaco art. 19.3)."""

    kind: str
    manufacturer: str
    model: str
    made: str
    serial: str
    operator_number: str
    base_number: str
    site: str
    location: str
    photograph: str
    """Its file's name and digest."""
    profile: str
    games: tuple[InventoryGame, ...]


@dataclass(frozen=True, slots=True)
class Options:
    """Games not offered; the offered denominations by game, if not all; and bet limits, or None."""

    off: tuple[str, ...] = ()
    denominations_cents: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    bet_limit_cents: int | None = None
    bet_minimum_cents: int | None = omit_if_default(None)

    @classmethod
    def of(cls, machine: Machine) -> "Options":
        """Return the options stored in the journal."""
        return machine.memory.read(cls, StaffKey.OPTIONS) or cls()

    def offered(self, game_id: str, admitted_cents: tuple[int, ...]) -> tuple[int, ...]:
        """Return the offered denominations of a game; empty if it is off, all if the options leave none."""
        if game_id in self.off:
            return ()
        chosen = self.denominations_cents.get(game_id, admitted_cents)
        return tuple(cents for cents in admitted_cents if cents in chosen) or admitted_cents


# ---------------------------------------------------------------------------------------------- parts of records
@dataclass(frozen=True, slots=True, kw_only=True)
class ByPersons:
    """Work that members of staff have authorised; ``person`` is the first of ``persons``."""

    person: Staff
    persons: Persons


@dataclass(frozen=True, slots=True, kw_only=True)
class AtMachine(ByPersons):
    """Work of staff, with both numbers of the machine, because its record leaves the machine (Monaco art. 19.1)."""

    serial: Serial
    operator_number: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFailed:
    """A print job or test failed: its id, and why."""

    id: Words
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPrinted:
    """A print job without value is printed up to its bar code."""

    id: Words


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why something happened."""

    why: str


# ---------------------------------------------------------------------------------------------- the roster
@dataclass(frozen=True, slots=True, kw_only=True)
class RosterChanged:
    """The roster was changed: by whom (empty for the first change), whose entry, and its digest afterwards."""

    person: str
    whom: Words
    role: Role
    at: Time
    number: Cents
    digest: str | None = omit_if_default(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RosterCarried:
    """The roster of before an authorised memory clear was carried over."""

    number: Cents
    digest: Digest
    people: Mapping[str, Role]
    disabled: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RosterRenewed:
    """Two people started a new roster because the recorded one is lost; they are not enrolled."""

    person: Words
    witness: Words
    reason: Words


def _declare_roster_change(kind: str, about: str) -> Entry[RosterChanged]:
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
)
STAFF_RENEWED: Final = Entry(
    kind="staff.renewed",
    record=RosterRenewed,
    writes=(StaffKey.STAFF, KernelKey.FAULT),
    logs=(Log.ACCESS,),
)
STAFF_RESTORED: Final = Entry(
    kind="staff.restored",
    record=Reason,
    about="The second copy of the roster has replaced the first, which was refused.",
    logs=(Log.ACCESS,),
)
STAFF_UNREADABLE: Final = Entry(
    kind="staff.unreadable",
    record=Reason,
    about="Neither copy of the roster is the recorded one: nobody can sign in.",
    logs=(Log.ACCESS,),
)


# ---------------------------------------------------------------------------------------------- the menu, and sign-in
@dataclass(frozen=True, slots=True, kw_only=True)
class MenuAsked:
    """Somebody opened the service menu with a key switch or from the screen, and was asked to sign in."""

    by: OpenedBy


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuEntered:
    """A member of staff signed in."""

    menu: str
    person: Staff
    role: Role


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuLeft:
    """The signed-in person was signed out."""

    why: str
    menu: str
    person: Staff


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInNotPermitted:
    """A person signed in for an act that their role does not permit."""

    person: Staff
    permission: Permission


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInWhileLocked:
    """Somebody tried to sign in with a locked number; ``person``: the number as typed."""

    person: str
    why: Literal["locked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongPinTyped:
    """Somebody typed a wrong PIN; ``person``: the number as typed; ``tries``: wrong PINs in a row."""

    person: str
    why: Literal["wrong"]
    tries: Cents
    locked_seconds: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongPinAtTerminal:
    """Somebody typed a wrong PIN at a terminal; ``person``: the number, or ``?`` for an impossible one."""

    person: str
    why: Literal["terminal"]
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TriesForgotten:
    """The right PIN was typed, so the number's wrong PINs no longer count."""

    person: Staff


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInUnlocked(ByPersons):
    """A locked number was unlocked before its time; ``whom``: the number."""

    whom: Staff
    reason: Words


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
    record=Reason,
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
    """A key switch was moved; ``unattended``: while the machine was off or not listening."""

    key: str
    on: bool
    unattended: bool | None = omit_if_default(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceCalled:
    """The player switched the candle on to call an attendant, or off again."""

    on: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceAnswered:
    """An attendant answered the player's call; what is known of who came."""

    key: str | None = omit_if_default(None)
    person: Person | None = omit_if_default(None)
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
class OptionsChanged(ByPersons):
    """Staff changed an option of the operator; it takes effect at the next start."""

    option: Literal["bet_limit", "bet_minimum", "game", "denomination"]
    bet_limit_cents: Cents | None = omit_if_default(None)
    bet_minimum_cents: Count | None = omit_if_default(None)
    game: str | None = omit_if_default(None)
    denomination_cents: str | None = omit_if_default(None)
    on: Literal["yes", "no"] | None = omit_if_default(None)
    before: Options
    after: Options


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartRequested:
    """A member of staff requested a restart of the machine."""

    person: Staff


@dataclass(frozen=True, slots=True, kw_only=True)
class InventoryChanged:
    """The machine's inventory entry changed between two starts, or was recorded for the first time."""

    before: InventoryEntry | None
    after: InventoryEntry


OPTIONS_CHANGED: Final = Entry(
    kind="options.changed",
    record=OptionsChanged,
    writes=(StaffKey.OPTIONS,),
    significance=Significance(Effect.LOG, sas=0x3C),
)
MACHINE_RESTART: Final = Entry(kind="machine.restart", record=RestartRequested)
INVENTORY_CHANGED: Final = Entry(
    kind="inventory.changed", record=InventoryChanged, writes=(StaffKey.INVENTORY,)
)


# ---------------------------------------------------------------------------------------------- at the open machine
@dataclass(frozen=True, slots=True, kw_only=True)
class InterventionOpened(AtMachine):
    """Staff declared work at the open machine, which is held out of service; the meters that are not zero."""

    id: Words
    kind: Work
    reason: Words
    meters: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class InterventionSeen:
    """The monitoring system has read who is at work, so doors may be opened."""

    id: Words


@dataclass(frozen=True, slots=True, kw_only=True)
class InterventionClosed(AtMachine):
    """The work at the open machine is done; what was done, and the meters that are not zero."""

    id: Words
    work: Words
    parts: str
    meters: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseMoved(AtMachine):
    """A base of the machine during an intervention: its lock and key, and the cashier who has or had them."""

    base: Words
    lock: Words
    cashier: Words
    intervention: Words


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseReturned(BaseMoved):
    """The base is under the machine again, with a lock and key of the main cashier (Monaco art. 20.2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseWithdrawn(BaseMoved):
    """The base was withdrawn and the machine held out of service; its lock and key went to the main cashier."""

    reason: Words


@dataclass(frozen=True, slots=True, kw_only=True)
class HopperOpening:
    """The simulated coins with which a demonstration's hopper started."""

    amount_cents: Cents
    machine: Serial


@dataclass(frozen=True, slots=True, kw_only=True)
class HopperFilled(ByPersons):
    """Staff added coins of the venue to the hopper."""

    amount_cents: Cents
    machine: Serial


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionCounted(ByPersons):
    """Staff counted a box of the last collection; the difference to the amount metered into it."""

    collection: Words
    box: Box
    counted_cents: Count
    metered_cents: Count
    difference_cents: int
    machine: Serial


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
    """A slip without value is to be printed; its content. ``witness``: the journal head before this entry."""

    title: str
    about: str
    when: Time
    meters: str
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
class TestStarted:
    """A member of staff started the test of a device."""

    device: str
    test: Literal["print", "pay", "take", "light"]
    person: Staff
    coins: Cents | None = omit_if_default(None)
    on: bool | None = omit_if_default(None)
    outputs: tuple[str, ...] | None = omit_if_default(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class TouchCalibrated:
    """The touch screen was calibrated; ``before`` is empty for the first time."""

    person: Staff
    before: tuple[int, ...]
    after: Matrix


@dataclass(frozen=True, slots=True, kw_only=True)
class TestRead:
    """An acceptor under test read a bill or ticket, which is returned; 0 for a ticket."""

    amount_cents: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class TestPaper:
    """An acceptor under test returned or rejected a bill or ticket."""

    event: str
    reason: str | None = omit_if_default(None)
    ticket: bool = omit_if_default(False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TestCoins:
    """The hopper has ended the payout of a test."""

    id: Words
    ordered_coins: Count
    paid_coins: Count


TEST_STARTED: Final = Entry(kind="test.started", record=TestStarted)
TEST_NOT_STARTED: Final = Entry(
    kind="test.failed", record=JobFailed, about="The device could not start a test."
)
TEST_READ: Final = Entry(kind="test.read", record=TestRead)
TEST_PAPER: Final = Entry(kind="test.paper", record=TestPaper)
TEST_PRINTED: Final = Entry(
    kind="test.printed", record=JobPrinted, about="A test ticket was printed.", writes=(MoneyKey.PRINT,)
)
TEST_FAILED: Final = Entry(
    kind="test.failed", record=JobFailed, about="A test ticket was not printed.", writes=(MoneyKey.PRINT,)
)
TEST_COINS: Final = Entry(kind="test.coins", record=TestCoins, writes=(MoneyKey.HOPPER,))
TOUCH_CALIBRATED: Final = Entry(kind="touch.calibrated", record=TouchCalibrated, writes=(StaffKey.TOUCH,))


# ---------------------------------------------------------------------------------------------- notes
@dataclass(frozen=True, slots=True, kw_only=True)
class DisputeDecided:
    """Staff decided a player's dispute."""

    machine: Serial
    claim: Words
    mechanic: Words
    decision: Words
    play_id: str | None = omit_if_default(None)
    persons: Persons


@dataclass(frozen=True, slots=True, kw_only=True)
class ExclusionNoted:
    """Staff excluded a player; ``identity``: commits to the player's name in the register of identities."""

    machine: Serial
    reason: Words
    identity: Digest
    persons: Persons


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentJudged:
    """The management judged an incident; ``informed``: how the control service was, and which officer."""

    machine: Serial
    what: Words
    judgement: Words
    informed: Words
    officer: Words | None = omit_if_default(None)
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
