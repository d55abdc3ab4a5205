"""Facts that the audit collects from the entries so far: about staff, games, money, and the last power-up."""

from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from egm.app.entries import GAME_REFUSED
from egm.app.features import FEATURES
from egm.devices.ioboard.codec import KEYS
from egm.features.closing.entries import CLOSING_ANNOUNCED, TABLES_OPENED
from egm.features.memory_clear.records import CLAIM_CARRIED_KIND
from egm.gaming_day import GamingDay
from egm.integrity.entries import CABINET_FILE_SIGNED, GENERATOR_FAILED, POWER_UP
from egm.kernel.events import State
from egm.kernel.keys import StorageKeys
from egm.kernel.own_entries import FAULT_RAISED
from egm.money.entries import CREDIT_CONVERTED
from egm.people import Permission
from egm.people.demonstration import DEMONSTRATION_ENROLLER
from egm.people.roles import Role, find_permissions
from egm.play.entries import TABLE_BETS_RETURNED
from egm.progressive.entries import CLAIM_CLOSED
from egm.progressive.records import ClaimRecord
from egm.record_codec import RecordError, from_json
from egm.staff.entries import INVENTORY_CHANGED, MENU_ENTERED, OPTIONS_CHANGED
from meters.entry import StoredEntry
from meters.identifiers import make_journal_tag
from meters.recall import PLAY_START_KIND, read_details
from meters.transaction import Phase

#: Key switches and the screen, recorded as the person if nobody had to identify themselves.
KEY_SWITCH_NAMES: Final = frozenset({*KEYS, "screen"})

#: The recorded authors of the first enrolments, which nobody can authorise: the empty text, or the enroller of a
#: demonstration.
_FIRST_ENROLMENT_AUTHORS: Final = frozenset({"", DEMONSTRATION_ENROLLER})
#: The kinds of entries that change one person in the staff list, without their prefix ``staff.``.
_ROSTER_CHANGES: Final = frozenset({"added", "disabled", "enabled", "pin"})

#: Kinds of entries that explain why no cash-out follows a conversion of credit. A power-up explains it too.
_KINDS_EXCUSING_CASH_OUT: Final = frozenset({FAULT_RAISED.kind, GENERATOR_FAILED.kind})
#: Kinds of entries after which other games, denominations or bets may be offered.
_OFFER_CHANGE_KINDS: Final = frozenset(
    {OPTIONS_CHANGED.kind, INVENTORY_CHANGED.kind, CABINET_FILE_SIGNED.kind, GAME_REFUSED.kind}
)


def is_first_enrolment_author(author: object) -> bool:
    """Return whether the recorded author stands for a first enrolment, which no enrolled person could authorise."""
    return type(author) is str and author in _FIRST_ENROLMENT_AUTHORS


def read_position(entry: StoredEntry) -> int:
    """Return the player position that an entry names; 1 if it names none."""
    position = entry.transaction.dims.get("position", 1)
    return position if type(position) is int else 1


class Facts:
    """The facts that the audit has collected from earlier entries; every entry updates them, even a faulty one."""

    def __init__(self, keys: StorageKeys = FEATURES.storage_keys) -> None:
        self.keys = keys
        """The storage keys that the machine's features declare."""
        self.role_by_staff_number: dict[str, str] = {}
        """The role of each member of staff enrolled in this journal, by staff number."""
        self.disabled_staff: set[str] = set()
        self.has_first_enrolment_ended = False
        """Whether an enrolled person has signed in or changed the staff list since the list was started.

        From then on only an enrolled person may enrol others.
        """
        self.has_money_moved_since_staff_change = False
        """Whether money has moved since the last change of the staff list or the last power-up, whichever is later."""
        self.may_carry_staff_over = False
        """Whether an entry may carry the staff list over: after a memory clear, before the journal's first power-up."""
        self.gaming_day: GamingDay | None = None
        """The time zone and gaming day that the last power-up recorded; None if it recorded none."""
        self.journal_tag = ""
        """The journal tag: the random last part of each id created in this journal, which identifies the journal."""
        self.fingerprint = ""
        """The fingerprint of the machine's public key, which the first entry states; empty if it states none."""
        self.serial = ""
        """The machine's serial number, from the first entry that contains it."""
        self.original_reservation_kinds: dict[str, str] = {}
        """The kind of the entry that made each reservation carried over by a memory clear, by reservation id."""
        self.closed_claims: dict[str, ClaimRecord] = {}
        """The claims to hits of linked progressive levels that were paid or closed, by claim id."""
        self.entries_name_position: bool | None = None
        """Whether the entries since the last power-up name a player position; None before the first of them."""
        self.cached_machine_states: dict[tuple[int, bool], State] = {}
        """The last derived machine state of each position, so that it need not be derived again for each entry.

        The key is (position, whether position 1 has an open game). An entry that stores values clears the cache. Plain
        games without a table do not: they only change whether a game is open, and the key states that.
        """
        self.last_idle_times: dict[int, datetime] = {}
        """When each position was last found idle, by position.

        It is the time of the last entry that a rule allows only in certain states and that found the position idle. An
        order to a device that was decided while the position was idle may still be recorded for some seconds after it.
        """
        self.last_money_entry_kinds: dict[int, str] = {}
        """The kind of each position's last entry that moved, reserved or released money."""
        self.positions_with_conversion: set[int] = set()
        """The positions whose credit was just converted from nonrestricted to cashable.

        The next entry of such a position must be a cash-out.
        """
        self.games_played: set[tuple[str, int]] = set()
        """The games played since the last power-up, as (definition digest, denomination in minor units)."""
        self.changed_table_games: set[tuple[str, int]] = set()
        """The table games whose bets were returned since the last power-up because the definition had changed.

        Each is (definition digest, denomination in minor units).
        """
        self.smallest_stake_cents: int | None = None
        """The smallest stake of a game since the offered games last changed; None before the first game."""
        self.taxable_min_cents: int | None = None
        """The smallest hand-pay since the last power-up that was recorded as taxable."""
        self.untaxed_max_cents = 0
        """The largest hand-pay since the last power-up that was recorded as not taxable."""
        self.rounds_since_closing: dict[str, set[str]] = {}
        """The ids of the rounds that each table has started since the announced closing time, by table id.

        The table id is the digest of the definition, with the position added if the table is not shared.
        """
        self.last_game_start_times: dict[int, datetime] = {}
        """The time of the last game start of each position, by position."""
        self._closing_time: datetime | None = None
        self.has_player_session: bool | None = None
        """Whether games since the last power-up are counted in a player session; None before the first such game."""

    def find_latest_local_date(self, moment: datetime) -> date:
        """Return the venue's calendar date at a moment, or the latest date that it can be.

        The date is uncertain if the machine recorded no time zone, or if this computer does not know that time zone.
        """
        local_date = None if self.gaming_day is None else self.gaming_day.find_calendar_date(moment)
        return local_date or moment.astimezone(UTC).date() + timedelta(days=1)

    def adopt_or_match_serial_number(self, value: object) -> bool:
        """Return whether ``value`` is the machine's serial number; if none is known yet, store it as that number."""
        if type(value) is not str:
            return False
        self.serial = self.serial or value
        return value == self.serial

    def is_staff(self, value: object) -> bool:
        """Return whether the value is the number of a member of staff who is not disabled.

        If the journal has not recorded any staff yet, any text is accepted.
        """
        is_enabled_number = type(value) is str and value not in self.disabled_staff
        return is_enabled_number and (value in self.role_by_staff_number or not self.role_by_staff_number)

    def is_known_actor(self, value: object) -> bool:
        """Return whether the value names a member of staff, a key switch, or a host."""
        return self.is_staff(value) or (
            type(value) is str and (value in KEY_SWITCH_NAMES or value.startswith("host:"))
        )

    def has_permission(self, person: str, permission: Permission) -> bool:
        """Return whether the role of a member of staff includes the permission.

        Return True if the journal records no role for this person.
        """
        role = self.role_by_staff_number.get(person)
        return role is None or permission in find_permissions(Role(role))

    def update(self, entry: StoredEntry) -> None:
        """Update the collected facts with one more entry."""
        kind = entry.kind
        if entry.state:
            self.cached_machine_states.clear()
        if entry.transfers or entry.phase is not Phase.POST:
            self.last_money_entry_kinds[read_position(entry)] = kind
            self.has_money_moved_since_staff_change = True
        self._track_conversion(entry)
        self._track_game_starts(entry)
        if kind == POWER_UP.kind:
            self.entries_name_position, self.has_player_session = "position" in entry.transaction.dims, None
            self.gaming_day = (
                GamingDay.from_power_up(entry.record) if "time_zone" in read_details(entry) else None
            )
            self.games_played, self.changed_table_games = set(), set()
            self.taxable_min_cents, self.untaxed_max_cents = None, 0
            self.has_money_moved_since_staff_change = self.may_carry_staff_over = False
        elif kind in _OFFER_CHANGE_KINDS:
            self.smallest_stake_cents = None
        elif entry.sequence == 1:
            self.journal_tag = make_journal_tag(entry.hash_hex)
            self.serial = str(read_details(entry).get("machine_id", ""))
            self.may_carry_staff_over = "cleared" in read_details(entry)
        elif kind == CLAIM_CARRIED_KIND and "reserved_as" in read_details(entry):
            self.original_reservation_kinds[entry.id] = str(read_details(entry)["reserved_as"])
        elif kind == CLAIM_CLOSED.kind:
            record = dict(read_details(entry))
            claim = str(record.pop("claim", ""))
            with suppress(RecordError):
                self.closed_claims[claim] = from_json(ClaimRecord, record, kind)
        elif kind.startswith(("game.", "table.")):
            # if the record is wrong, the entry's rule reports it
            with suppress(KeyError, TypeError, ValueError, AttributeError):
                self._update_tables_and_stakes(kind, read_details(entry))
        elif kind.startswith("staff.") or kind == MENU_ENTERED.kind:
            self._update_staff(kind.removeprefix("staff."), read_details(entry))

    def _track_conversion(self, entry: StoredEntry) -> None:
        """Store that a position's credit was converted to cashable, so that a cash-out must follow; or clear this fact.

        The cash-out is not required after an entry about a fault, a failed random number generator (which numbers
        the tickets) or a power-up: each explains why it is missing.
        """
        if entry.kind == CREDIT_CONVERTED.kind:
            self.positions_with_conversion.add(read_position(entry))
        elif entry.kind == POWER_UP.kind:
            self.positions_with_conversion.clear()
        elif entry.transfers or entry.phase is not Phase.POST or entry.kind in _KINDS_EXCUSING_CASH_OUT:
            self.positions_with_conversion.discard(read_position(entry))

    def _track_game_starts(self, entry: StoredEntry) -> None:
        """Store the times of game starts, the announced closing time of tables, and the rounds started after it.

        An entry that cannot be read is ignored: its rule reports what is wrong.
        """
        if entry.kind == PLAY_START_KIND:
            self.last_game_start_times[read_position(entry)] = entry.time_utc
        with suppress(KeyError, TypeError, ValueError, AttributeError):
            if entry.kind in {CLOSING_ANNOUNCED.kind, TABLES_OPENED.kind}:
                self.rounds_since_closing, self._closing_time = {}, None
                if entry.kind == CLOSING_ANNOUNCED.kind:
                    self._closing_time = datetime.fromisoformat(read_details(entry)["at"])
            elif (
                self._closing_time is not None
                and entry.kind == PLAY_START_KIND
                and entry.time_utc >= self._closing_time
            ):
                table_id, round_id = self.identify_table_and_round(entry)
                self.rounds_since_closing.setdefault(table_id, set()).add(round_id)

    @staticmethod
    def identify_table_and_round(entry: StoredEntry) -> tuple[str, str]:
        """Return (table id, round id) for an entry that starts a game at a table."""
        record = read_details(entry)
        digest, round_id = str(record["game"]["digest"]), str(record.get("round_id", ""))
        if round_id:
            return digest, round_id
        return f"{digest}/{read_position(entry)}", str(record["play_id"])

    def _update_tables_and_stakes(self, kind: str, record: Any) -> None:
        """Store the game and stake of a game start, or the game whose bets were returned because it had changed.

        ``kind`` is the entry's kind, and ``record`` its record. Any other entry is ignored.
        """
        if kind in {PLAY_START_KIND, TABLE_BETS_RETURNED.kind}:
            digest, denomination_cents = str(record["game"]["digest"]), int(record["denomination_cents"])
            if kind == PLAY_START_KIND:
                self.games_played.add((digest, denomination_cents))
                self.record_stake(int(record["bet_credits"]) * denomination_cents)
            elif record["why"] == "changed":
                self.changed_table_games.add((digest, denomination_cents))

    def record_stake(self, stake_cents: int) -> None:
        """Store the stake of a game if it is the smallest since the offered games last changed."""
        if stake_cents and (self.smallest_stake_cents is None or stake_cents < self.smallest_stake_cents):
            self.smallest_stake_cents = stake_cents

    def record_handpay(self, worth_cents: int, *, is_taxable: bool) -> None:
        """Store a hand-pay as evidence of the tax limit, the smallest amount of a taxable hand-pay.

        A hand-pay that is not taxable is below the limit; a taxable one is at or above it.
        """
        if not is_taxable:
            self.untaxed_max_cents = max(self.untaxed_max_cents, worth_cents)
        elif self.taxable_min_cents is None or worth_cents < self.taxable_min_cents:
            self.taxable_min_cents = worth_cents

    def is_tax_status_consistent(self, worth_cents: int, *, is_taxable: bool) -> bool:
        """Return whether a hand-pay's tax status agrees with the hand-pays since the last power-up.

        A taxable hand-pay must be larger than every untaxed one, and an untaxed one smaller than every taxable one.
        """
        if is_taxable:
            return worth_cents > self.untaxed_max_cents
        return self.taxable_min_cents is None or worth_cents < self.taxable_min_cents

    def _update_staff(self, staff_change: str, record: Any) -> None:
        """Update the staff and their roles from an entry about staff, or about a sign-in to the service menu.

        ``staff_change`` is the entry's kind, without the prefix ``staff.`` if it has it.
        """
        if staff_change == MENU_ENTERED.kind:
            self.has_first_enrolment_ended |= bool(self.role_by_staff_number)
            return
        if staff_change in {"carried", "renewed"}:
            carried_roles = record.get("people", {})
            self.role_by_staff_number = {
                str(number): str(role) for number, role in carried_roles.items() if role in set(Role)
            }
            self.disabled_staff = {str(number) for number in record.get("disabled", ())}
            self.has_first_enrolment_ended = staff_change == "carried"
            return
        person_id, role = record.get("whom"), record.get("role")
        if staff_change not in _ROSTER_CHANGES or type(person_id) is not str or role not in set(Role):
            return
        self.has_money_moved_since_staff_change = False
        self.has_first_enrolment_ended |= not is_first_enrolment_author(record.get("person"))
        if staff_change == "disabled":
            self.disabled_staff.add(person_id)
        else:
            self.role_by_staff_number[person_id] = role
            if staff_change != "pin":
                self.disabled_staff.discard(person_id)
