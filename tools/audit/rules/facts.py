"""What the entries so far say of persons, and of the run of the machine they stand in."""

from contextlib import suppress
from datetime import datetime
from typing import Any, Final

from egm.devices.ioboard.codec import KEYS as HARDWARE_KEYS
from egm.kernel.events import State
from egm.people import Permission
from egm.people.roles import Role, permissions_of
from egm.progressive.records import ClaimRecord
from egm.record_codec import RecordError, from_json
from meters.entry import StoredEntry
from meters.recall import PLAY_START, details
from meters.transaction import Phase

#: Keys and places that stand for whoever had them, where nobody had to say who he was.
KEYS: Final = frozenset({*HARDWARE_KEYS, "screen"})

#: After these, other games, denominations or bets may be offered.
_OFFER_CHANGES: Final = frozenset({"options.changed", "inventory.changed", "cabinet.signed", "game.refused"})


def position_of(entry: StoredEntry) -> int:
    """The number of the position an entry is of."""
    found = entry.transaction.dims.get("position", 1)
    return found if type(found) is int else 1


class Facts:
    """Kept up to date with each entry, whether anything was wrong with it or not."""

    def __init__(self) -> None:
        self.people: dict[str, str] = {}
        """Everybody enrolled by the journal's own changes to the staff: number -> role."""
        self.disabled: set[str] = set()
        self.mark = ""
        """Which journal this is, as its ids tell: the beginning of its first entry's hash."""
        self.serial = ""
        """The machine's number, from its first entry or from the first that tells it."""
        self.reserved_as: dict[str, str] = {}
        """Reservations that a clear has carried over: id -> the kind of entry that first made it."""
        self.closed: dict[str, ClaimRecord] = {}
        """Hits of linked levels that are paid and over, by claim."""
        self.positions: bool | None = None
        """Whether the entries of this run name their position; None until one has told."""
        self.states: dict[tuple[int, bool], State] = {}
        """What is known of the state of each position, while a game of the first is open or not (plain games
        alone change nothing else): :func:`tools.audit.rules.states.state_of`."""
        self.idle_at: dict[int, datetime] = {}
        """When each position was last seen to be idle, as its memory says."""
        self.moved: dict[int, str] = {}
        """The kind of the last entry of each position that moved, reserved or released money."""
        self.converted: set[int] = set()
        """Positions whose nonrestricted credit has become cashable, and whose cash-out is to follow."""
        self.played: set[tuple[str, int]] = set()
        """Tables with bets that were played in this run: by definition and denomination."""
        self.changed: set[tuple[str, int]] = set()
        """Tables that this run does not have any more as they were."""
        self.least_stake_cents: int | None = None
        """The least that a game was begun for since what is offered last changed; None before the first."""
        self.taxable_from_cents: int | None = None
        """The least hand-pay of this run that was said to be taxable."""
        self.untaxed_to_cents = 0
        """The most of those that were not."""
        self.session: bool | None = None
        """Whether the games of this run count a session; None until one has told."""

    def is_serial(self, value: object) -> bool:
        """Whether this is the machine's own number."""
        if type(value) is not str:
            return False
        self.serial = self.serial or value
        return value == self.serial

    def is_staff(self, value: object) -> bool:
        """Whether this is a member of the staff; anybody may be, of whom the journal says nothing."""
        known = type(value) is str and value not in self.disabled
        return known and (value in self.people or not self.people)

    def is_person(self, value: object) -> bool:
        """Whether this is a member of the staff, or the key that somebody turned."""
        return self.is_staff(value) or (type(value) is str and (value in KEYS or value.startswith("host:")))

    def may(self, person: str, permission: Permission) -> bool:
        """Whether somebody's role allows this; of a staff the journal does not know, it is not known."""
        role = self.people.get(person)
        return role is None or permission in permissions_of(Role(role))

    def see(self, entry: StoredEntry) -> None:
        """Take an entry in."""
        kind = entry.kind
        if entry.state:
            self.states.clear()
        if entry.transfers or entry.phase is not Phase.POST:
            self.moved[position_of(entry)] = kind
        self._follow_conversion(entry)
        if kind == "power.up":
            self.positions, self.session = "position" in entry.transaction.dims, None
            self.played, self.changed = set(), set()
            self.taxable_from_cents, self.untaxed_to_cents = None, 0
        elif kind in _OFFER_CHANGES:
            self.least_stake_cents = None
        elif entry.sequence == 1:
            self.mark = entry.hash_hex[:8]
            self.serial = str(details(entry).get("machine_id", ""))
        elif kind == "clear.carried" and "reserved_as" in details(entry):
            self.reserved_as[entry.id] = str(details(entry)["reserved_as"])
        elif kind == "progressive.closed":
            told = dict(details(entry))
            claim = str(told.pop("claim", ""))
            with suppress(RecordError):
                self.closed[claim] = from_json(ClaimRecord, told, kind)
        elif kind.startswith(("game.", "table.")):
            with suppress(KeyError, TypeError, ValueError, AttributeError):  # its rule says what is wrong
                self._play(kind, details(entry))
        elif kind.startswith("staff."):
            self._staff(kind.removeprefix("staff."), details(entry))

    def _follow_conversion(self, entry: StoredEntry) -> None:
        """A fault is perhaps why the cash-out could not be recorded; a power-up says that there was a cut."""
        if entry.kind == "credit.converted":
            self.converted.add(position_of(entry))
        elif entry.kind == "power.up":
            self.converted.clear()
        elif entry.transfers or entry.phase is not Phase.POST or entry.kind == "fault.raised":
            self.converted.discard(position_of(entry))

    def _play(self, kind: str, told: Any) -> None:
        """What is known of tables and stakes."""
        if kind in {PLAY_START, "table.returned"}:
            table = str(told["game"]["digest"]), int(told["denomination_cents"])
            if kind == PLAY_START:
                self.played.add(table)
                self.stake(int(told["bet_credits"]) * table[1])
            elif told["why"] == "changed":
                self.changed.add(table)

    def stake(self, cents: int) -> None:
        """A game is begun for so much."""
        if cents and (self.least_stake_cents is None or cents < self.least_stake_cents):
            self.least_stake_cents = cents

    def pays(self, worth_cents: int, *, taxable: bool) -> None:
        """A hand-pay of this worth is said to be taxable or not."""
        if not taxable:
            self.untaxed_to_cents = max(self.untaxed_to_cents, worth_cents)
        elif self.taxable_from_cents is None or worth_cents < self.taxable_from_cents:
            self.taxable_from_cents = worth_cents

    def may_be_taxable(self, worth_cents: int, *, taxable: bool) -> bool:
        """Whether a hand-pay can be: one amount of the place's decides, the same while the machine runs."""
        if taxable:
            return worth_cents > self.untaxed_to_cents
        return self.taxable_from_cents is None or worth_cents < self.taxable_from_cents

    def _staff(self, what: str, told: Any) -> None:
        if what in {"carried", "renewed"}:
            roles = told.get("people", {})
            self.people = {str(number): str(role) for number, role in roles.items() if role in set(Role)}
            self.disabled = {str(number) for number in told.get("disabled", ())}
            return
        whom, role = told.get("whom"), told.get("role")
        if type(whom) is not str or role not in set(Role):
            return
        if what == "disabled":
            self.disabled.add(whom)
        elif what in {"added", "enabled", "pin"}:
            self.people[whom] = role
            if what != "pin":
                self.disabled.discard(whom)
